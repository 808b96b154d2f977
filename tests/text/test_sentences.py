"""What must hold of sentences: texts are split where sentences end, and come back whole."""

import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nmt.text import sentences as splitting
from nmt.text.sentences import join, split, split_tagged, tags

# "|" where a sentence ends: after abbreviations, numbers, quotes and ellipses, and not in them.
TEXTS = {
    "pt": [
        "O Sr. Silva chegou às 17h30.| A Dra. Ana disse: «Está bem.»| O preço é de R$ 3.500,00.",
        "Vive na Av. Paulista, n.º 12.| E agora?| Ele saiu...| Depois voltou.| Veja a pág. 3.",
        "O estádio é novo.| Onde fica a estação?| «Vens?», perguntou ela.| Chegou o Prof. Costa!",
    ],
    "en": [
        "Dr. Smith arrived at 5 p.m. yesterday.| Mr. and Mrs. Brown live there.| It was $3.50!",
        'He said: "It works."| Really?| Yes... and it is cheap!| See Fig. 3 on p. 12.| Go!',
        "Version 2.21 is out, i.e. the new one.| They moved there in Jan. 2020.| (He did not.)",
    ],
    "de": [
        "Herr Dr. Müller kam am 3. Oktober um 5 Uhr an.| Er sagte: „Es geht.“| Wirklich?| Ja...",
        "Er feiert seinen 50. Geburtstag in der 5. Klasse.| Das war 1999.| Ja.",
        "Das kostet z. B. 3,50 Euro.| Die Fa. Huber usw. sind da.| Am 1. Januar 2020 zog er um.",
    ],
    "fr": [
        "M. Dupont et Mme. Durand vivent au no. 5.| Me. Petit et Mlle. Roy au bd. Voltaire.| Oui.",
        "M. Dupont est arrivé à 17 h 30.| Mme Durand a dit : « Ça marche. »| Vraiment ?| Oui !",
        "Il est né le 1er janv. 2020.| Le prix est de 3,50 €.| « Viens-tu ? » demanda-t-elle.",
    ],
    "ar": ["قال د. أحمد نعم.| جاء أ.د. علي وأ. سعيد.", "انظر ص. 5 من الكتاب.| ذهب علي."],
    "hi": ["डॉ. शर्मा आए।| प्रो. गुप्ता और श्री. वर्मा गए।| एम.ए. की पढ़ाई हुई।"],
    "mr": ["काल प्रा. पाटील आले.| मी गेलो."],
    "he": ["אתמול פרופ. כהן בא.| הוא דיבר עם ד. לוי."],
    "pl": ["Wczoraj przyszedł prof. Nowak.| Ks. Jan i mgr inż. Maj poszli.| Wrócili."],
    "cs": ["Včera přišel pplk. Novák.| Viz odst. 5 a tab. 3.| Odešel."],
    "tr": ["Dün Doç. Dr. Yılmaz geldi.| Sn. Demir gitti."],
    "ru": ["Вчера пришёл д-р. Иванов и г-н. Петров.| Ген. Сидоров ушёл."],
    "ja": [
        "「行け。」と言った。|彼は「行くな！」って叫んだ。|今日は晴れ。|明日は雨。",
        "『本を読む。』という題だ。|そして出た。",
        "「はい。」と彼は言った。|そして出た。",
    ],
    "km": ["ខ្ញុំទៅផ្សារ។| គាត់នៅផ្ទះ។"],
    "bo": ["ང་འགྲོ།| ཁོང་འདུག།"],
    "ko": ["“가라.”라고 말했다.| 그는 갔다."],
    "zh": [
        "“走吧！”他大声说道。|然后走了。|他来了。",
        "体育场是新的。|车站在哪里？|他说：“没问题。”|真的吗？|是的……价格是3.5元！|我们走吧。",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("language", "text"), [(k, text) for k in TEXTS for text in TEXTS[k]])
def test_a_text_is_split_where_its_sentences_end(language, text):
    expected = [sentence.strip() for sentence in text.split("|")]
    assert [sentence for sentence, _ in split(text.replace("|", ""), language)] == expected


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fr", "Mme Mmes Mlle Mgr Me Dr Pr St"), ("pl", "dr mgr ks św red gen płk kpt bp"),
        ("de", "Hr Fr Dipl.-Ing Prof Dr"), ("es", "Sr Sra Srta Dr Dra Profa Cnel Tte"),
        ("pt", "Srta Profa Arq Ten Sgto Mons"), ("nl", "mevr mw ds kol kap"),
        ("sv", "dr prof hr resp"), ("fi", "tri ins past"), ("hu", "ifj özv gr"),
        ("ro", "dl dna d-na acad"), ("el", "κος καθ Αγ"), ("uk", "д-р ген інж"),
        ("bn", "ডা মো ড"), ("fa", "د م ص"), ("en", "Mr Mrs Br Messrs"), ("xx", "Dr Prof"),
    ],
)  # fmt: skip
def test_no_sentence_ends_after_a_title(language, words):
    for word in words.split():
        assert len(split(f"Aaa bbb {word}. Ccc ddd.", language)) == 1, word


@pytest.mark.parametrize("piece", ["a.", "“", "अ.", "د.", "(", "。」と"])
def test_splitting_takes_linear_time(piece):
    begin = time.process_time()
    split(f"A b. C {piece * (20_000 // len(piece))} D. E", "ja")
    assert time.process_time() - begin < 4  # half a second; a minute if it took quadratic time


def test_line_breaks_end_sentences_too():
    assert split("Title\n\nOne. Two.\n  Three") == [
        ("Title", "\n"), ("", "\n"), ("One.", " "), ("Two.", "\n  "), ("Three", ""),
    ]  # fmt: skip


# Of such characters a segmenter fails within 20,000 strings, of any in Unicode in none.
TEXT_LIKE = st.text(
    st.sampled_from("ABCÉab1 .?!…,;:'\"“”»«()[]-–。？\u00a0\u2009\u3000\t\x85\u2028")
)


@settings(max_examples=300)
@example("Ele tomou vitamina C\u00a0. Depois saiu.", "pt")
@given(st.text() | TEXT_LIKE, st.sampled_from(["pt", "en", "de", "zh", "xx"]))
def test_sentences_with_the_spaces_between_them_are_the_text(text, language):
    parts = split(text, language)
    assert parts
    assert "".join(sentence + space for sentence, space in parts).strip() == text.strip()
    assert not any(sentence != sentence.rstrip() for sentence, _ in parts)
    assert not any(sentence != sentence.strip() for sentence, _ in parts[1:])


def test_translations_are_joined_by_the_spaces_of_the_source():
    assert join(["One.", "Two.", "", "Three."], [" ", "\n", "\n", ""]) == "One. Two.\n\nThree."
    assert join(["One.", "Two."], ["", ""]) == "One. Two."  # from Chinese, which has no spaces
    assert join(["一。", "二。"], ["", ""]) == "一。二。"
    assert join(["“好。”", "走吧。"], ["", ""]) == "“好。”走吧。"
    assert join(["“Good.”", "Go."], ["", ""]) == "“Good.” Go."


def test_tags_are_given_to_each_sentence_and_placeholders_are_not():
    pattern = tags(["<2de>", "((NAME))", "de"])
    parts = split_tagged("<2de> ((NAME)) chegou. Ele saiu.", "pt", pattern)
    assert [text for text, _ in parts] == ["<2de> ((NAME)) chegou.", "<2de> Ele saiu."]
    parts = split_tagged("dezembro chegou. Ele saiu.", "pt", pattern)
    assert [text for text, _ in parts] == ["dezembro chegou.", "Ele saiu."]
    parts = split_tagged("<2de> Um.\n\nDois.", "pt", pattern)
    assert [text for text, _ in parts] == ["<2de> Um.", "", "<2de> Dois."]


def paragraphs():
    """Returns (language, sentences) of the paragraphs in paragraphs.txt."""
    text = (Path(__file__).parent / "paragraphs.txt").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    return [(language, sentences) for language, *sentences in blocks]


@pytest.mark.parametrize("space", [" ", "\n", "  "])
@pytest.mark.parametrize(("language", "sentences"), paragraphs())
def test_every_sentence_of_a_paragraph_comes_back(language, sentences, space):
    parts = split(space.join(sentences), language)
    assert [sentence for sentence, _ in parts] == sentences
    upper = [sentence.upper() for sentence, _ in parts]
    assert join(upper, [after for _, after in parts]) == space.join(sentences).upper()


OTHER_ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029\t\u00a0\u202f\u3000"


@pytest.mark.parametrize("space", OTHER_ENDS)
def test_only_line_feeds_and_carriage_returns_end_a_line(space):
    text = f"O estádio{space}novo é grande."
    assert split(text, "pt") == [(text, "")]
    assert split("One\r\nTwo\rThree\nFour") == [
        ("One", "\r\n"), ("Two", "\r"), ("Three", "\n"), ("Four", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("space", OTHER_ENDS)
def test_sentences_end_at_the_same_places_whatever_the_spaces(space):
    text = "O Sr. Silva chegou. A Dra. Ana saiu? Ele tomou vitamina C . Depois saiu."
    expected = [sentence for sentence, _ in split(text, "pt")]
    assert len(expected) > 2
    parts = split(text.replace(" ", space), "pt")
    assert [sentence.replace(space, " ") for sentence, _ in parts] == expected


def fail_with(error):
    """Returns a function that raises an error."""

    def fail(*_):
        raise error

    return fail


@pytest.mark.parametrize("error", [ValueError, type("PanicException", (BaseException,), {})])
def test_a_line_at_which_a_segmenter_fails_is_left_whole(error, monkeypatch):
    monkeypatch.setattr(splitting.sentencex, "segment", fail_with(error))
    assert split("One. Two.\nThree.") == [("One. Two.", "\n"), ("Three.", "")]
    monkeypatch.setattr(splitting.sentencex, "segment", fail_with(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        split("One. Two.")


@pytest.mark.parametrize("code", ["{{ x }}", "<%= x %>", "{name}", "%s"])
def test_a_sentence_may_begin_with_a_placeholder(code):
    text = f"O gato dorme. {code} Bom dia. Tenho no máx. {code} gatos. {code}"
    assert split(text, "pt") == [
        ("O gato dorme.", " "), (f"{code} Bom dia.", " "),
        (f"Tenho no máx. {code} gatos. {code}", ""),
    ]  # fmt: skip


def test_a_note_belongs_to_the_sentence_before_it():
    text = "O gato dorme.\U000f0001 Ele é o Sr.\U000f0002 Ramos."
    assert split(text, "pt") == [
        ("O gato dorme.\U000f0001", " "), ("Ele é o Sr.\U000f0002 Ramos.", ""),
    ]  # fmt: skip


def test_a_mark_is_a_name_to_the_ends_of_sentences():
    mark = "\U000f0001"
    texts = [f"O gato dorme. {mark} está em casa.", f"Vi {mark}. Ele dorme."]
    assert [len(split(text, "pt")) for text in texts] == [2, 2]
