"""What must hold of the bundled corpus (data/): size, variety, what it teaches."""

import re

import pytest

from nmt.corpus import corpora, files

SPLITS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def pairs():
    """All pairs of strings, by split."""
    named = zip(SPLITS, corpora.BUILT_IN_CORPORA["bundled"], strict=True)
    return {split: list(files.read_pairs(paths)) for split, paths in named}


def words(text):
    """Returns the lower-cased words of a line, without punctuation."""
    return re.findall(r"\w+(?:[-'’]\w+)*", text.lower())


def test_it_is_large_enough_to_learn_from(pairs):
    sizes = [len(pairs[split]) for split in SPLITS]
    assert sizes[0] >= 30_000
    assert sizes[1] >= 1000
    assert sizes[2] >= 1000


def test_no_source_line_is_in_two_splits_or_has_two_translations(pairs):
    sources = [source for split in SPLITS for source, _ in pairs[split]]
    assert len(set(sources)) == len(sources)


def test_both_sides_have_many_word_types(pairs):
    for side in (0, 1):
        types = {word for split in SPLITS for pair in pairs[split] for word in words(pair[side])}
        assert len(types) > 1500


def test_sentences_are_short_and_end(pairs):
    for side in (0, 1):
        lines = [pair[side] for split in SPLITS for pair in pairs[split]]
        lengths = [len(line.split()) for line in lines]
        assert max(lengths) <= 25
        assert 6 <= sum(lengths) / len(lengths) <= 8
        assert all(line == " ".join(line.split()) for line in lines)


def test_every_translation_has_a_capital_and_a_mark_at_its_end(pairs):
    targets = [target for split in SPLITS for _, target in pairs[split]]
    assert all(re.search(r"[.?!]\"?$", target) for target in targets)
    assert all(target.lstrip('"')[0].isupper() for target in targets)


def test_some_sources_are_written_as_visitors_type_them(pairs):
    sources = [source for split in SPLITS for source, _ in pairs[split]]
    lower = sum(source[0].islower() for source in sources)
    without = sum(not re.search(r"[.?!]\"?$", source) for source in sources)
    assert 0.02 < lower / len(sources) < 0.1
    assert 0.03 < without / len(sources) < 0.1


def test_a_question_always_keeps_its_mark(pairs):
    # "você gosta de café" without it would be a statement.
    everything = [pair for split in SPLITS for pair in pairs[split]]
    assert all(target.endswith("?") for source, target in everything if source.endswith("?"))
    asked = [source for source, target in everything if target.endswith("?")]
    assert all("?" in source for source in asked)


def test_capitals_and_marks_aside_a_source_has_one_translation(pairs):
    translations = {}
    for split in SPLITS:
        for source, target in pairs[split]:
            plain = source.lower().rstrip(".!")
            assert translations.setdefault(plain, target.rstrip(".!")) == target.rstrip(".!"), (
                source
            )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Eu te amo.", "I love you."),
        ("eu te amo", "I love you."),
        ("Eu gosto de café.", "I like coffee."),
        ("Onde fica o banheiro?", "Where is the bathroom?"),
        ("Bom dia!", "Good morning!"),
        ("Obrigado.", "Thank you."),
        ("Está chovendo.", "It is raining."),
    ],
)
def test_what_a_visitor_types_first_is_to_be_learned(pairs, source, target):
    assert (source, target) in pairs["train"]


def share(pairs, pattern):
    """How many source lines match."""
    return sum(bool(re.search(pattern, source)) for source, _ in pairs["train"])


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b(sou|é|somos|são)\b",
        r"\b(estou|está|estamos|estão)\b",
        r"\b(tenho|tem|temos|têm)\b",
        r"\b(gosto|gosta|gostamos|gostam) d",
        r"\b(quero|quer|queremos|querem)\b",
        r"\b(vou|vai|vamos|vão) \w+[aei]r\b",
        r"\b\w+[aei]ndo\b",
        r"\b(posso|pode|podemos|podem)\b",
        r"^[Oo]nde\b",
        r"^[Qq]ue[mn]",
        r"^([Oo] que|[Qq]ual|[Qq]uando|[Pp]or que|[Cc]omo)\b",
        r"\bpor favor\b",
        r"\b(vermelh|azu|verde|amarel|branc|pret)",
        r"\b(mãe|pai|irmão|irmã|filhos?|avó)\b",
        r"\bnão\b",
        r"\b(segunda|terça|quarta|quinta|sexta)-feira|sábado|domingo",
        r"\b(esta|este|estes|estas|esse|essa|aquele|aquela)\b",
    ],
)
def test_the_patterns_of_a_beginners_textbook_are_frequent(pairs, pattern):
    assert share(pairs, pattern) >= 200


# The plural and the feminine of articles and possessives must fit the noun after them.
FORMS = {
    "m": r"\b(?:o|um|meu|seu|nosso|este|esse|aquele)",
    "f": r"\b(?:a|uma|minha|sua|nossa|esta|essa|aquela)",
}
NOUNS = {"m": ("carro", "livro", "gato", "vestido"), "f": ("casa", "mesa", "camisa", "porta")}


@pytest.mark.parametrize("gender", ["m", "f"])
def test_articles_agree_with_their_noun(pairs, gender):
    other = {"m": "f", "f": "m"}[gender]
    nouns = "|".join(NOUNS[gender])
    sources = [source for split in SPLITS for source, _ in pairs[split]]
    assert sum(bool(re.search(rf"{FORMS[gender]} (?:{nouns})\b", s)) for s in sources) > 150
    assert not [s for s in sources if re.search(rf"{FORMS[other]} (?:{nouns})s?\b", s)]


def test_adjectives_agree_with_their_noun(pairs):
    sources = [source for split in SPLITS for source, _ in pairs[split]]
    adjectives = "vermelh|amarel|pret|branc|nov|velh|car|barat|bonit|pequen|abert|suj|limp"
    for gender, vowel, numbers in (("m", "o", "os"), ("f", "a", "as")):
        nouns = "|".join(NOUNS[gender])
        singular = rf".*\b(?:{nouns}) (?:é|está) (?:muito )?((?:{adjectives})\w+)"
        plural = rf".*\b(?:{nouns})s (?:são|estão) (?:muito )?((?:{adjectives})\w+)"
        for pattern, ending in ((singular, vowel), (plural, numbers)):
            words_after = [match[1] for s in sources if (match := re.match(pattern, s))]
            assert len(words_after) >= 2
            assert all(re.fullmatch(rf"(?:{adjectives}){ending}", word) for word in words_after)


def test_every_word_of_a_beginners_topic_is_in_it(pairs):
    known = {word for source, _ in pairs["train"] for word in words(source)}
    topics = """quem onde quando como quanto quantos quantas qual que
        é está tem há quer pode precisa gosta ama vai vem comer beber comprar falar
        pai mãe irmão irmã filho filha avô avó tio tia primo família
        pão água leite café chá arroz carne peixe queijo sopa maçã banana ovo suco
        vermelho azul verde amarelo branco preto rosa cinza marrom roxo
        um dois três quatro cinco seis sete oito nove dez vinte trinta
        segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo
        janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
        hoje amanhã ontem agora sempre nunca cedo tarde sol chuva neve frio calor quente
        cabeça mão pé olho boca braço perna camisa calça vestido sapatos chapéu óculos
        casa quarto cozinha banheiro sala porta janela mesa cadeira cama
        escola professor aluno livro caneta médico hospital banco rua cidade praia
        gato cachorro cavalo pássaro peixe vaca carro ônibus trem avião bicicleta
        oi olá tchau obrigado desculpe sim não talvez parabéns""".split()
    assert not [word for word in topics if word not in known]


def test_no_contraction_is_left_open_and_articles_fit(pairs):
    for split in SPLITS:
        for source, target in pairs[split]:
            assert not re.search(r"\b(de|em) (o|a|os|as)\b(?! \w+[aei]r\b)", source), source
            assert not re.search(r"\ba [aeio]\w|\ban [bcdfgjklmnpqrstvwxyz]", target), target


def test_hand_written_pairs_are_all_in_it(pairs):
    everything = {pair for split in SPLITS for pair in pairs[split]}
    for name in ("everyday", "beginner"):
        written = list(files.read_pairs([corpora.DATA / f"{name}.tsv"]))
        assert len(written) >= 400
        assert set(written) <= everything
    phrases = list(files.read_pairs([corpora.DATA / "phrases.tsv"]))
    assert len(phrases) >= 2500
    assert set(phrases) <= set(pairs["train"])


def test_training_pairs_hold_numbers_in_digits_the_same_on_both_sides(pairs):
    numbers = [[re.findall(r"\d+", side) for side in pair] for pair in pairs["train"]]
    assert sum(source == target != [] for source, target in numbers) >= 1400
    assert sum(source != target for source, target in numbers) <= 10


def test_training_pairs_hold_sentences_that_are_typed_without_accents(pairs):
    assert share(pairs, r"(?i)\b(nao|voce|irmao|amanha|estao|cafe)\b") >= 500


# ---- What bundled-conversation adds ----


@pytest.fixture(scope="module")
def conversation():
    """The pairs that it adds to the training split."""
    return list(files.read_pairs([corpora.DATA / "pt_en" / "conversation.tsv"]))


def test_conversation_is_added_to_training_alone(pairs, conversation):
    corpus = corpora.built_in("bundled-conversation")
    assert sorted(corpus.train) == sorted(pairs["train"] + conversation)
    assert [*corpus.test] == pairs["test"]
    written = {*files.read_pairs([corpora.DATA / "conversation.tsv"])}
    assert len(written) >= 9000
    assert len(written & {*conversation}) >= 0.95 * len(written)  # others are in it already


def bare(source):
    return source.lower().rstrip(".!?")


def test_no_source_of_conversation_is_elsewhere_but_for_its_mark(pairs, conversation):
    others = {source.lower().rstrip(".!") for split in SPLITS for source, _ in pairs[split]}
    sources = [source.lower().rstrip(".!") for source, _ in conversation]
    assert len({*sources}) == len(sources)
    assert others.isdisjoint(sources)


@pytest.mark.parametrize("name", ["independent", "learners"])
def test_no_sentence_of_the_benchmarks_is_in_conversation(conversation, name):
    path = corpora.DATA.parent / "benchmarks" / f"{name}_sentences.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    asked = {bare(line.split("\t")[0]) for line in lines}
    assert len(asked) >= 100
    assert asked.isdisjoint(bare(source) for source, _ in conversation)


def test_conversation_is_well_formed(conversation):
    for source, target in conversation:
        assert source == " ".join(source.split())
        assert target == " ".join(target.split())
        assert target[0].isupper() or target[0].isdigit(), target
        assert target[-1] in ".?!", target
        assert sorted(re.findall(r"\d+", source)) == sorted(re.findall(r"\d+", target)), source
        assert source[-1] == target[-1] or source[-1] not in ".?!", source
