"""What must hold of translating many lines: their order, and company that changes nothing."""

import functools
import sys
import time
import unicodedata
from concurrent import futures
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    as_dataset,
    make_translator,
    network_for,
    run_process,
    searcher_of,
    sentences,
)

import run_demo
from nmt import UserError
from nmt.decoding import (
    batch_sizes,
    consensus,
    given_pairs,
    search,
    tracing,
    translator,
)
from nmt.decoding.attention import KINDS
from nmt.decoding.line_counts import LineCounts, TranslatedLine
from nmt.decoding.search_options import Repetition, Sampling, SearchOptions
from nmt.decoding.sentence import Translation
from nmt.exports.saved_model import SavedTranslator
from nmt.text import spelling
from nmt.text.differences import Difference
from nmt.text.learned_words import SENTENCE, in_case

ROOT = Path(__file__).resolve().parents[2]
GROWTH = """
import gc
import os
from pathlib import Path

import params
import transformer_model as tm
from nmt.decoding import search_options, searcher

sizes = params.NUM_LAYERS, params.D_MODEL, params.NUM_HEADS, params.DFF
transformer = tm.Transformer(*sizes, params.VOCAB_SIZE, params.VOCAB_SIZE)
transformer.build(((None, None), (None, None)))
kernel, bias = transformer.final_layer.get_weights()
bias[tm.END] += 1000
transformer.final_layer.set_weights([kernel, bias])
tested = searcher.Searcher(transformer, search_options.SearchOptions(beam=4))


def resident():
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


for length in (8, 256):
    tested.searched([[tm.START] * length], [0], [[tm.PAD]], 0, scored=True)
before = resident()
for length in (*range(8, 129, 8), 256):
    tested.search([[tm.START] * length])
print(resident() - before)  # MiB
"""
SOURCES = [source for source, _ in sentences(30)]
HOSTILE = [
    "",
    "um",
    "um dois " * 500,
    "😀 👩‍👩‍👧 Привет 你好 नमस्ते עברית",
    "um\x00dois \x01\x02\x1b[31m\x7f",
    "\x00",
    "dois\x00",
    "x" * 900,
    "   ",
    "a\u2028b\x0bc\x0cd\x85e",
    "um dois.",
]


@pytest.fixture(scope="module")
def model(finished):  # trained before: a training run drops the tokenizers that exist
    """A small Transformer of random weights that ends its translations, and a tokenizer."""
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(200)), 320))
    return network_for(tokenizer), tokenizer


@pytest.fixture(scope="module")
def translator_of(model):
    """A function that makes the Translator of some options once: to trace a search takes long."""
    return functools.cache(functools.partial(make_translator, *model))


@pytest.fixture(scope="module")
def alone(model):
    """What gives the best translation of one line, and its score, without any Translator."""
    transformer, tokenizer = model

    @functools.cache
    def graph(beam):
        find = functools.partial(search.search, transformer, options=SearchOptions(beam=beam))
        return tf.function(find, [tf.TensorSpec((1, None), tf.int32)])

    def translate(line, beam=1):
        hypotheses = graph(beam)(tf.constant(tokenizer.encode([line])))
        (text,) = tokenizer.decode(hypotheses.ids.numpy()[:, 0])
        return text, float(hypotheses.log_probabilities[0, 0])

    return translate


def warnings_of_translation(capsys):
    """Returns what was logged, but that a random network adds numbers and repeats itself."""
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if "other numbers" not in line and "one part" not in line]


@pytest.fixture
def silent(capsys):
    """Checks that a test logs no message."""
    yield
    assert not warnings_of_translation(capsys)


@pytest.mark.parametrize("beam", [1, 3])
def test_lines_come_back_in_their_order_as_if_each_were_alone(
    translator_of, alone, beam, monkeypatch, silent
):
    """In several chunks, each in several batches, two at a time."""
    monkeypatch.setattr(batch_sizes, "BATCH_TOKENS", 64)
    lines = [*SOURCES[:5], "", *SOURCES[5:]]
    hypotheses = translator_of(beam=beam, workers=2).hypotheses(iter(lines), at_a_time=15)
    for line, best in zip(lines, hypotheses, strict=True):
        text, total = alone(line, beam) if line else ("", 0.0)
        assert best[0].text == text
        assert best[0].log_probability == pytest.approx(total, rel=1e-5, abs=1e-4)


@pytest.mark.slow
def test_memory_of_a_resident_translator_is_bounded_over_all_widths():
    """Of the default model with a beam, in a process of its own."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    done = run_process([sys.executable, "-c", GROWTH], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 400


def test_a_penalty_gives_the_same_text_whether_it_is_scored_or_not(translator_of):
    """It multiplies log-probabilities: raw logits may be positive, and would grow."""
    penalized, free = translator_of(repetition=Repetition(1.5)), translator_of()
    texts = [best[0].text for best in penalized.hypotheses(SOURCES)]
    assert list(penalized(SOURCES)) == texts
    assert list(free(SOURCES)) != texts


@pytest.mark.parametrize("beam", [1, 2])
def test_a_translation_has_what_was_asked_for_and_else_none(translator_of, beam):
    """0 would be the log-probability of a translation that is certain."""
    (plain,) = next(translator_of(beam=beam).hypotheses(["um dois."], scored=False))
    assert set(plain[1:]) == {None}
    reporting = translator_of(beam=beam, alignments=True, token_scores=True)
    (full,) = next(reporting.hypotheses(["um dois."]))
    assert full.text == plain.text
    total = sum(score.log_probability for score in full.tokens)
    assert full.log_probability == pytest.approx(total, abs=1e-4)
    assert {i for i, _ in full.links} == {0, 1}


def test_weights_that_still_change_are_read_anew(model, translator_of, silent):
    """As those of a training are, which is validated after each epoch."""
    transformer, tokenizer = model
    translate = translator_of()
    before = list(translate(["um dois."]))
    layer = transformer.final_layer
    kernel, bias = layer.get_weights()
    chosen = tokenizer.encode(["nove"])[0][1]
    layer.set_weights([kernel, bias + 100.0 * (np.arange(len(bias)) == chosen)])
    try:
        after = list(translate(["um dois."]))
    finally:
        layer.set_weights([kernel, bias])
    assert after != before
    assert set(after[0].replace(" ", "")) <= set("nove")


def test_any_text_gets_a_translation_in_order(translator_of, alone, monkeypatch, capsys):
    monkeypatch.setattr(translator, "MAX_SOURCE_TOKENS", 500)
    hypotheses = list(translator_of(protect=False).hypotheses(HOSTILE))
    said = warnings_of_translation(capsys)
    assert len(hypotheses) == len(HOSTILE)
    assert all("\n" not in best[0].text for best in hypotheses)
    assert hypotheses[0] == hypotheses[8] == [Translation("", 0.0)]
    for place in (1, 3, 4, 10):
        text, _ = alone(spelling.trimmed(HOSTILE[place]))
        assert hypotheses[place][0].text in (text, in_case(text, SENTENCE))
    assert said == ["2 of 11 lines: cut off after 500 tokens."]


def of_sentence(alone, sentence):
    """Returns the translation of a sentence for a run that knows small letters alone."""
    text, _ = alone(sentence.lower())
    return in_case(text, SENTENCE) if sentence[0].isupper() else text


def test_each_sentence_of_a_line_is_translated_by_itself(translator_of, alone):
    lines = ["um dois. Três.", "", "nove.\n\nquatro um.  Dois.", "zero.", "um. Dois. Três."]
    hypotheses = translator_of(language="pt").hypotheses(lines, at_a_time=2)
    parts = [["um dois.", "Três."], [""], ["nove.", "", "quatro um.", "Dois."], ["zero."]]
    parts.append(["um.", "Dois.", "Três."])
    spaces = [[" ", ""], [""], ["\n", "\n", "  ", ""], [""], [" ", " ", ""]]
    for (best,), own, between in zip(hypotheses, parts, spaces, strict=True):
        texts = [of_sentence(alone, sentence) if sentence else "" for sentence in own]
        pairs = zip(texts, between, strict=True)
        assert best.text == "".join(text + space for text, space in pairs)
    assert (
        next(iter(translator_of()(lines))) == alone(lines[0].lower())[0]
    )  # without a language, as it is


def test_lines_longer_than_those_of_training_are_counted_in_a_warning(model, capsys):
    words = "um dois três quatro cinco seis"
    length = len(model[1].encode([words])[0])
    translate = make_translator(*model, language="pt", trained_length=length)
    assert len(list(translate([words, f"{words} sete", f"{words}. {words} oito", ""]))) == 4
    expected = f"2 of 4 lines: longer than the {length} tokens that the run was trained on"
    assert expected in capsys.readouterr().err
    assert list(translate([words, f"{words}"]))
    assert not capsys.readouterr().err


def test_translations_that_are_empty_or_go_in_circles_are_named(capsys):
    counts = LineCounts(None, 500)
    for source, translation in [
        ("um", ""),
        ("", ""),
        ("dois", "two two, two two two two"),
        ("três", "the cat " * 6),
        ("ha ha ha ha ha ha", "ha ha ha ha ha ha"),
        ("quatro", "no, no, no"),
    ]:
        translations = [Translation(translation, None)]
        line = TranslatedLine(translations, 3, Difference([], []), 0, not translation)
        counts.add(source, line)
    counts.warn()
    assert capsys.readouterr().err.splitlines() == [
        "1 of 6 lines: translated by nothing. The first: um",
        "2 of 6 lines: translated by one part again and again. The first: dois",
        "2 of 6 lines: doubtful, with a confidence below 40. To see it: --confidence, or --review "
        "of a file",
    ]


def test_one_string_is_not_taken_for_a_list_of_its_letters(translator_of):
    with pytest.raises(TypeError, match="lines is one string"):
        list(translator_of()("um dois."))


def test_n_best_are_of_all_hypotheses_of_the_beam_where_several_are_one_text(model):
    transformer, tokenizer = model
    short = SimpleNamespace(  # many hypotheses have the same first letters
        encode=tokenizer.encode,
        decode=lambda ids: [text[:2] for text in tokenizer.decode(ids)],
        words=[],
        tokens=tokenizer.tokens,
        characters=tokenizer.characters,
        text_ids=tokenizer.text_ids,
        vocab_size=tokenizer.vocab_size,
        empty_length=tokenizer.empty_length,
        target=tokenizer,
        spells_numbers=False,
    )
    every, best = (
        list(make_translator(transformer, short, beam=8, n_best=number).hypotheses(SOURCES[:6]))
        for number in (8, 2)
    )
    assert [len(rows) for rows in best] == [min(2, len(rows)) for rows in every]
    for rows, first in zip(every, best, strict=True):
        assert len({row.text for row in rows}) == len(rows)
        assert [row.text for row in first] == [row.text for row in rows[:2]]
        expected = [row.log_probability for row in rows[:2]]
        np.testing.assert_allclose([row.log_probability for row in first], expected, atol=1e-4)
    assert max(map(len, every)) > 1


@pytest.mark.parametrize(
    "options", [dict(beam=6), dict(sampling=Sampling(temperature=0.7, seed=1))]
)
def test_minimum_bayes_risk_weights_those_of_a_beam_and_counts_samples(translator_of, options):
    candidates = list(translator_of(n_best=6, **options).hypotheses(SOURCES))
    chosen = list(translator_of(n_best=6, mbr="chrf", **options).hypotheses(SOURCES))
    sampled = "sampling" in options
    right, wrong = (
        [[consensus.choose(rows, way)] for rows in candidates] for way in (sampled, not sampled)
    )
    assert chosen == right
    assert chosen != wrong  # else this test would see nothing


def test_tags_are_no_words_of_a_line_but_at_its_start(model):
    lines = ["<2de> Um dois. Três quatro. Nove.", "Um dois. Três quatro. Nove."]
    translate = make_translator(*model, language="pt", symbols=("<2de>",), alignments=True)
    for line, (best,) in zip(lines, translate.hypotheses(lines), strict=True):
        words, translated = line.split(), best.text.split()
        assert {i for i, _ in best.links} - {0} == {*range(1, len(words))}
        assert all(j < len(translated) for _, j in best.links)


def test_scores_of_given_pairs_are_those_of_the_translations_themselves(
    model, translator_of, monkeypatch, silent
):
    monkeypatch.setattr(batch_sizes, "BATCH_TOKENS", 64)
    monkeypatch.setattr(given_pairs, "CHUNK_LINES", 15)
    transformer, tokenizer = model
    pairs = [*sentences(30), ("um", ""), ("", "")]
    pair_scores = list(translator_of().score(iter(pairs)))
    for pair, total in zip(pairs, pair_scores, strict=True):
        inp, tar = (tf.constant(tokenizer.encode([side])) for side in pair)
        each = tf.nn.log_softmax(transformer((inp, tar[:, :-1]))[0])[0].numpy()  # (T - 1, V)
        expected = sum(each[place, token] for place, token in enumerate(tar.numpy()[0, 1:]))
        assert total == pytest.approx(expected, abs=1e-3)
    with pytest.raises(UserError, match="pair 2 has more than 2048 tokens on a side"):
        list(translator_of().score([("um", "one"), ("um", "one " * 3000)]))


@pytest.mark.usefixtures("eagerly")
def test_an_ensemble_scores_pairs_by_the_means_of_probabilities(model, silent):
    transformer, tokenizer = model
    other = network_for(tokenizer, seed=9)
    (pair_score,) = make_translator(*model, ensemble=(other,)).score([("um dois.", "one two.")])
    inp, tar = (tf.constant(tokenizer.encode([side])) for side in ("um dois.", "one two."))
    each = [tf.nn.softmax(one((inp, tar[:, :-1]))[0])[0].numpy() for one in (transformer, other)]
    mean = np.log(np.mean(each, axis=0))  # (T - 1, V)
    expected = sum(mean[place, token] for place, token in enumerate(tar.numpy()[0, 1:]))
    assert pair_score == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (dict(mbr="ter", n_best=2, beam=2), "mbr: 'ter' is not one of chrf"),
        (dict(length_penalty=-1.0), "length_penalty: -1.0 is less than 0"),
        (dict(length_penalty=float("nan")), "length_penalty: nan is not a number"),
        (dict(alternatives=-1), "alternatives: -1 is less than 0"),
    ],
)
def test_options_out_of_range_are_refused_at_once(model, wrong, said):
    with pytest.raises(UserError, match=said):
        make_translator(*model, **wrong)


def test_attention_is_that_of_one_pass_over_the_translation(model, translator_of, alone, silent):
    transformer, tokenizer = model
    seen = translator_of().attend("um dois.")
    inp, tar = (np.array([tokenizer.processor.piece_to_id(side)]) for side in seen[:2])
    assert tokenizer.decode(tar)[0] == alone("um dois.")[0]
    _, expected = transformer((inp, tar[:, :-1]))
    assert set(seen.weights) == set(expected)
    for name, weight in seen.weights.items():
        np.testing.assert_allclose(weight, expected[name][0], atol=1e-6)
    for kind in KINDS:
        weights, queries, keys = seen.select(kind, 1)
        assert weights.shape[1:] == (len(queries), len(keys))
    with pytest.raises(ValueError, match="kinds are encoder, decoder, cross"):
        seen.select(kind="other")


@pytest.mark.usefixtures("eagerly")
def test_attention_is_of_the_layers_that_encoder_and_decoder_have(tokenizer):
    network = network_for(tokenizer, num_layers=3, decoder_layers=1)
    translate = make_translator(network, tokenizer)
    seen = translate.attend("um dois.")
    assert [seen.layers(kind) for kind in KINDS] == [3, 1, 1]
    for kind, name in (("encoder", "encoder_layer3"), ("cross", "decoder_layer1_block2")):
        np.testing.assert_array_equal(seen.select(kind)[0], seen.weights[name])
    for kind, wrong in (("encoder", 4), ("encoder", 0), ("decoder", 2), ("cross", 2)):
        with pytest.raises(ValueError, match=f"layers of {kind} attention are 1 to"):
            seen.select(kind, wrong)
    (links,) = translate.align([("um dois.", "one two.")])  # of the decoder's last layer
    assert {target for _, target in links} == {0, 1}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<2de> Um dois. Três.", [("<2de> Um dois.", " "), ("<2de> Três.", "")]),
        (" <2de><x> Um. Dois. ", [("<2de><x> Um.", " "), ("<2de><x> Dois.", "")]),
        ("Um <2de> dois. Três.", [("Um <2de> dois.", " "), ("Três.", "")]),
        ("<2de>", [("<2de>", "")]),
        ("", [("", "")]),
    ],
)
def test_tags_at_the_start_of_a_line_belong_to_each_of_its_sentences(model, line, expected):
    assert make_translator(*model, language="pt", symbols=("<2de>", "<x>")).parts(line) == expected


def test_what_divides_texts_stays(model):
    parts = make_translator(*model, language="pt", symbols=("<2de>",)).parts
    assert parts("Um. Dois. | três") == [("Um.", " "), ("Dois.", " | "), ("três", "")]
    assert parts("<2de> um || dois") == [("<2de> um", " || "), ("<2de> dois", "")]
    assert parts("um.\\NDois") == [("um.", "\\N"), ("Dois", "")]
    assert parts("um | ") == [("um", " | ")]
    assert parts("| um | dois |") == [("", "| "), ("um", " | "), ("dois", " |")]
    assert parts("um|dois") == [("um|dois", "")]
    assert parts("- Um. Dois.") == [("", "- "), ("Um.", " "), ("Dois.", "")]
    assert parts("– Um.") == [("", "– "), ("Um.", "")]
    for label in ("a) ", "(b) ", "iv) ", "12) "):
        assert parts(f"{label}Um. Dois.") == [("", label), ("Um.", " "), ("Dois.", "")]
    assert parts("um - dois -3") == [("um - dois -3", "")]
    assert parts("<p>Um.</p><p>Dois.<br/> Três.</p>") == [
        ("", "<p>"), ("Um.", "</p><p>"), ("Dois.", "<br/> "), ("Três.", "</p>")
    ]  # fmt: skip
    assert parts("*Um. Dois.*") == [("*Um.", " "), ("Dois.*", "")]
    assert parts(" | ") == [("", " | ")]
    started = time.process_time()
    for part in (" ", "<p>", "<p ", " |", "|", "\t"):
        assert "".join(map("".join, parts(f"a{part * 20_000}b"))).startswith("a")
    assert time.process_time() - started < 60  # minutes if it took quadratic time
    translate = make_translator(*model, language="pt")
    (begun,) = translate.hypotheses(["- um dois"], prefixes=["nine nine"])
    assert begun[0].text.startswith("- nine nine")
    again = translate.hypotheses(["- um dois"], prefixes=["- nine nine"])
    assert [best[0].text for best in again] == [begun[0].text]


def test_translations_begin_with_what_their_lines_are_given(translator_of, alone):
    lines = ["um dois três.", "Quatro. Cinco.", "", "seis"]
    prefixes = ["nine nine", "", "one", "two  "]
    for more in (dict(), dict(beam=3, n_best=2), dict(n_best=2, sampling=Sampling(seed=1))):
        translate = translator_of(language="pt", **more)
        translations = [best[0].text for best in translate.hypotheses(lines, prefixes=prefixes)]
        assert translations[0].startswith("nine nine")
        assert translations[2] == ""
        assert translations[3].startswith("two")
    hypotheses = translator_of(language="pt").hypotheses(lines, prefixes=["", "three", "", ""])
    texts = [best[0].text for best in hypotheses]
    assert texts[0] == alone(lines[0])[0]
    assert texts[1].startswith("three")
    assert texts[1].endswith(of_sentence(alone, "Cinco."))  # the second sentence is free
    with pytest.raises(UserError, match="fewer prefixes than lines"):
        list(translator_of().hypotheses(lines, prefixes=["one"]))


def test_long_prefixes_make_batches_small(finished, monkeypatch):
    translate = run_demo.load_translator(finished / "run", engine="tensorflow")
    batches = []

    def search(rows, begins, *_):
        batches.append((len(rows), max(map(len, begins))))
        raise StopAsyncIteration  # a search of such prefixes takes long

    monkeypatch.setattr(searcher_of(translate), "search", search)
    prefixes = ["one two " * 200] * 40
    with pytest.raises(StopAsyncIteration):
        list(translate.hypotheses(["um."] * 40, prefixes=prefixes))
    rows, length = batches[0]
    assert rows == batch_sizes.BATCH_TOKENS // length < 10


def test_a_search_on_a_gpu_has_larger_batches(tokenizer, monkeypatch):
    network = network_for(tokenizer)
    rows, length = [], len(tokenizer.encode(["um."])[0])

    def search(sources, *_):
        rows.append(len(sources))
        raise StopAsyncIteration  # of the first batch

    for devices in ([], ["a GPU"]):
        monkeypatch.setattr(tf.config, "list_physical_devices", lambda _, seen=devices: seen)
        translate = make_translator(network, tokenizer)
        monkeypatch.setattr(searcher_of(translate), "search", search)
        with pytest.raises(StopAsyncIteration):
            list(translate.hypotheses(["um."] * 4096))
    assert rows == [batch_sizes.BATCH_TOKENS // length, batch_sizes.GPU_BATCH_TOKENS // length]


def test_no_more_of_a_long_line_is_tokenized_than_counts(tokenizer):
    line = "um " * 50_000
    first = tokenizer.surfaces(line, 10)
    assert 10 < len(first) < 10_000
    assert first[:10] == tokenizer.surfaces(line)[:10]


def test_a_prefix_that_is_too_long_for_any_engine_is_refused(tokenizer):
    translate = make_translator(network_for(tokenizer), tokenizer)
    with pytest.raises(UserError, match=r"a prefix has .* tokens or more, and may have 1,000"):
        list(translate.hypotheses(["um."], prefixes=["one two three " * 1000]))


def test_wrong_values_from_python_are_one_line(tokenizer):
    network = network_for(tokenizer)
    whole, kind = "must be a whole number", "not of type int"
    for options, said in (
        (dict(n_best=2.0, beam=4), kind), (dict(beam="4"), kind), (dict(rows=1.5), whole),
        (dict(workers=2.5), whole),
    ):  # fmt: skip
        with pytest.raises(UserError, match=said):
            make_translator(network, tokenizer, **options)
    translate = make_translator(network, tokenizer)
    with pytest.raises(UserError, match="prefixes is one string"):
        translate.hypotheses(["um."] * 3, prefixes="Two")
    for language in (None, "pt"):
        translate = make_translator(network, tokenizer, language=language)
        with pytest.raises(UserError, match=r"U\+D83D is half a character"):
            list(translate(["um.", "dois \ud83d. Tr\u00eas."]))
    with pytest.raises(UserError, match=r"U\+DCFF is half a character"):
        list(translate.score([("um.", "one\udcff")]))
    with pytest.raises(UserError, match="an empty list; name one run"):
        run_demo.load_translator([])
    with pytest.raises(UserError, match="patterns is one string; give a list"):
        run_demo.load_translator(patterns="SKU")


BLANK = [
    "\u200b",
    "\ufeff",
    "\u00ad",
    "\u2060",
    "\u2581",
    "\u00a0",
    "\u3000",
    " \u3000\u200b\u2581",
]


@pytest.mark.parametrize("language", ["pt", None])
def test_lines_that_show_nothing_stay_as_they_are(translator_of, language):
    translate = translator_of(language=language)
    assert list(translate(BLANK)) == [line.strip(" ") for line in BLANK]
    assert list(translate(["\u2028", "\x85\t", "\u2029\u200b\x1c"])) == ["", "", "\u200b"]
    assert list(translate.hypotheses(BLANK[:1])) == [[Translation(BLANK[0], 0.0)]]


@pytest.mark.parametrize("language", ["pt", None])
def test_a_line_is_one_line_whatever_a_reader_could_split_it_at(translator_of, language):
    translate = translator_of(language=language)
    separators = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    lines = [f"um{separator}dois. Três." for separator in separators]
    lines += [f"um dois.{separator}Três." for separator in separators]
    translations = list(translate(lines))
    assert translations == list(translate(["um dois. Três."])) * len(lines)
    assert all(line.splitlines() == [line] for line in translations)


@pytest.mark.parametrize("language", ["pt", None])
def test_a_line_has_the_same_translation_in_every_spelling(translator_of, language):
    translate = translator_of(language=language)
    line = "Três é mais. São dois."
    spellings = [
        unicodedata.normalize("NFD", line),
        f"\ufeff{line}",
        line.replace("mais", "m\u00adais"),
        line.replace("é ", "é\u00a0"),
        line.replace("é ", "é\u200b "),
        line.replace("São ", "São\t"),
    ]
    assert {*translate(spellings)} == {*translate([line])}


def test_functions_of_many_models_and_threads_are_traced_once_each_without_a_warning(caplog):
    traces = []

    def find(inp):
        traces.append(1)
        return inp + 1

    signature = [tf.TensorSpec((None,), tf.int32)]
    functions = [tracing.TracedOnce(find, *signature) for _ in range(12)]
    with futures.ThreadPoolExecutor(8) as pool:
        results = [*pool.map(lambda index: functions[index % 12]([index]), range(96))]
    assert [int(ids[0]) for ids in results] == [*range(1, 97)]
    assert len(traces) == 12
    assert "retracing" not in caplog.text


def test_a_saved_model_reads_every_line_as_translate_does(model, translator_of):
    """Those that show nothing, other spellings, and what it could print that ends a line."""
    transformer, tokenizer = model
    lines = [
        *BLANK,
        "\u2028",
        "",
        "um dois.",
        "um\u00a0dois.",
        "\u200bum\x85dois. ",
        "é",
        "e\u0301",
    ]
    expected = list(translator_of()(lines))
    served = SavedTranslator(transformer, tokenizer)
    results = served.greedy(tf.constant(lines))
    assert [text.decode() for text in results["translations"].numpy()] == expected
    assert expected[: len(BLANK)] == [line.strip(" ") for line in BLANK]
    assert len({*expected[-5:-2]}) == len({*expected[-2:]}) == 1
    assert not any(results["scores"].numpy()[: len(BLANK) + 2])
