"""What must hold of the codes of languages: in flags, in names of files, in any usual form."""

import pytest
from helpers import languages_of

from nmt import UserError
from nmt.text import languages, sentences


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.hsb", "hsb"), ("a.zh-CN", "zh-CN"), ("a.pt_BR", "pt-BR"), ("a.pt_br", "pt-BR"),
        ("a.de.txt", "de"), ("train_de.txt", "de"), ("x/train.de.gz", "de"), ("a.deu", "de"),
        ("a.ger", "de"), ("a.zh_Hant", "zh-Hant"), ("europarl.de-en.de", "de"),
        ("a.tok.de", "de"), ("a.de.tok", "de"), ("my.de_DE", "de-DE"), ("a.fr-be", "fr-BE"),
        ("train.src", None), ("train.tgt", None), ("a.xx", None), ("readme", None), ("de", "de"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_says_its_language(name, code):
    assert languages.of_file(name) == code


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("de-en.tsv", ("de", "en")), ("train.de-en.tsv.gz", ("de", "en")),
        ("pt_to_en.csv", ("pt", "en")), ("train_pt_en.tsv", ("pt", "en")),
        ("news.pt_BR-en.tsv", ("pt-BR", "en")), ("WikiMatrix.zh-CN-en.tsv", ("zh-CN", "en")),
        ("opus.deu-eng.tmx", ("de", "en")), ("pairs.tsv", None), ("no.tsv", None),
        ("de-de.tsv", None), ("my_data.tsv", None),
    ],
)  # fmt: skip
def test_the_name_of_a_file_of_pairs_says_both(name, pair):
    assert languages.of_table(name) == pair


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("pt-en", ["pt", "en"]), ("pt-BR-en", ["pt-BR", "en"]), ("pt_BR-en", ["pt-BR", "en"]),
        ("deu-eng", ["de", "en"]), ("hsb-de", ["hsb", "de"]), ("en-de,fr", ["en", "de", "fr"]),
        ("zh-Hant-TW-en", ["zh-Hant-TW", "en"]), ("es-419-en", ["es-419", "en"]),
    ],
)  # fmt: skip
def test_a_flag_names_languages_in_any_usual_form(text, codes):
    assert languages.parse_direction(text) == codes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cz-en", "cz is no code of a language; write cs"),
        ("en-jp", "jp is no code of a language; write ja"),
        ("xx-en", "xx is no code of a language; see ISO 639"),
        ("pt-br-en", "regions have capitals, as in pt-BR-en"),
        ("german-en", "write SOURCE-TARGET"),
        ("en", "write SOURCE-TARGET"),
        ("", "write SOURCE-TARGET"),
    ],
)
def test_a_wrong_code_is_one_line_with_the_right_one(text, said):
    with pytest.raises(UserError, match=said):
        languages.parse_direction(text)
    with pytest.raises(UserError, match="name one target, as in en-de"):
        languages.as_pair(["en", "de", "fr"])


@pytest.mark.parametrize(
    ("wanted", "given", "expected"),
    [
        ("pt", "pt_br", True), ("en", "eng", True), ("en", "EN-us", True), ("de", "de", True),
        ("zh-Hant", "zh", False), ("e", "en", False), ("en", "klingon", False),
    ],
)  # fmt: skip
def test_text_of_a_region_is_text_of_the_language(wanted, given, expected):
    assert languages.matches(wanted, given) is expected


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ({"train": ["a.hsb", "a.de"]}, ["hsb", "de"]),
        ({"train": ["train_de.txt", "train_en.txt"]}, ["de", "en"]),
        ({"train": ["a.pt_BR", "a.en:2", "b.pt_BR.gz", "b.en"]}, ["pt-BR", "en"]),
        ({"train": ["a.de", "a.en"], "reverse": True}, ["en", "de"]),
        ({"train": ["x", "y"], "languages": ["de", "en"], "reverse": True}, ["de", "en"]),
        ({"dataset": "ted_hrlr_translate/pt_to_en"}, ["pt", "en"]),
        ({"dataset": "opus/deu-eng:1.0.0"}, ["de", "en"]),
        ({"train": ["a.src", "a.tgt"]}, []),
        ({"train": ["core.en", "core.fr", "a.tsv", "b.tsv"]}, ["en", "fr"]),
        ({"train": ["a.tsv"], "valid": ["val.en", "val.fr"]}, ["en", "fr"]),
        ({"train": ["a.tsv"], "test": ["t.en", "t.fr"], "reverse": True}, ["fr", "en"]),
        ({"train": ["a.en", "a.pt", "b.en-GB", "b.pt_BR"]}, ["en", "pt"]),
        ({"train": ["a.en-US", "a.pt", "b.en-GB", "b.pt"]}, []),
        ({"train": ["a.de", "a.en", "b.fr", "b.en"], "valid": ["v.de", "v.en"]}, []),
        ({"dataset": "a_tfds_name"}, []),
    ],
)
def test_the_languages_of_a_corpus_are_those_of_its_names(source, codes):
    assert languages_of(source) == codes


def test_sentences_are_divided_by_the_rules_of_the_language_whatever_its_region():
    text = "Das Fest ist am 3. Oktober."
    for code, number in {"en": 2, "de": 1, "de-AT": 1, "de_Latn": 1}.items():
        assert len(sentences.split(text, code)) == number
