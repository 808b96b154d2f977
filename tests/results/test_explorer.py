"""What must hold of the explorer: the page computes what the program computes, in a browser."""

import base64
import json
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf
from explorer_page import SIZES, Page, random_network
from helpers import as_dataset, call, check_contrasts, sentences
from selenium.webdriver import ActionChains, Keys
from sentencepiece.sentencepiece_model_pb2 import ModelProto

import run_demo
import transformer_model
from nmt import UserError
from nmt.decoding.beam import beam_search
from nmt.decoding.greedy import greedy_search
from nmt.decoding.padding import pad
from nmt.exports.browser import browser_model
from nmt.results.explorer import page
from nmt.runs import loading
from nmt.text import spelling
from nmt.text.protected import kinds
from transformer_model import greedy_translate

MARKUP = "um </script><b>dois</b> &amp; <img src=x onerror=alert(1)>"
LINES = 400  # compared with the program
ODD = [
    "", "  ", "😀 um", "日本語", "a   b", "\u00a0um\u200b", "e\u0301", "\u2581x", "um\x00\x1fdois",
    "ﬁ ½ 1º", "क़", "\u1100\u1161\u11a8", "um " * 199, "\ufeff\u00ad", "שלום עולם", MARKUP,
]  # fmt: skip


@pytest.fixture(scope="module")
def run(finished):
    """The tokenizer and the Transformer of a trained run."""
    _, tokenizer, model = loading.load(finished / "run")
    return tokenizer, model.transformer


def data(html):
    """Returns what a page holds."""
    (held,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', html, re.S)
    return json.loads(held)


# ---- Assembly ----


def test_a_page_holds_the_run_and_nothing_that_is_markup(run):
    tokenizer, transformer = run
    html = page.assemble(
        "my </script> run", transformer, tokenizer, [page.Example(MARKUP, "&", [2, 3])]
    )
    held = data(html)
    assert held["run"] == "my </script> run"
    assert held["examples"] == [dict(text=MARKUP, translation="&", target=[2, 3])]
    assert held["vocabulary"]["pieces"] == tokenizer.tokens(np.arange(tokenizer.vocab_size))
    sizes = [int(np.prod(tensor["shape"])) for tensor in held["tensors"]]
    assert sum(sizes) == held["parameters"] == transformer.count_params()
    assert html.count("</script>") == 6
    assert "<b>" not in html
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", html)


def test_texts_are_in_both_languages_and_all_are_used():
    texts = json.loads((page.FOLDER / "texts.json").read_text(encoding="utf-8"))
    for name, (english, chinese) in texts.items():
        assert english, name
        assert chinese, name
        places = re.compile(r"\{\w+\}")
        assert sorted(places.findall(english)) == sorted(places.findall(chinese)), name
    used = {*re.findall(r'data-(?:text|label)="([\w-]+)"', (page.FOLDER / "page.html").read_text())}
    assert used <= texts.keys()
    program = browser_model.scripts(page.FOLDER, [page.STARTING, *page.SCRIPTS])
    assert {*re.findall(r'say\("([\w-]+)"', program)} <= texts.keys()
    asked = {name for name in texts if re.match("(what|ask|expect|menu)-", name)}
    asked |= {f"learn-{name}" for name in re.findall(r'slider\(learner, "(\w+)"', program)}
    (parts,) = re.findall(r"PARTS = \[(.*)\]", program)
    asked |= {f"learn-expect-{name}" for name in re.findall(r"\w+", parts)}
    asked |= {f"exercise-{name}" for name in re.findall(r'name: "(\w+)", section', program)}
    (searches,) = re.findall(r"TREES = \[(.*)\]", program)
    asked |= {f"tree-{name}" for name in re.findall(r"\w+", searches)}
    steps = re.findall(r'name: "(\w+)", target', program)
    asked |= {f"tour-{kind}{step}" for step in steps for kind in ("", "title-")}
    assert asked <= texts.keys()
    assert [name for name in texts.keys() - used - asked if f'"{name}"' not in program] == []


def test_a_network_that_is_too_large_is_refused(finished, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(browser_model, "MAX_PAGE_PARAMETERS", 1000)
    html = tmp_path / "page.html"
    assert call("explore", "um.", "--run", finished / "run", "--to", html) == 2
    assert "a page holds at most 1,000; explore a smaller run" in capsys.readouterr().err
    assert not html.exists()


def test_a_tag_of_any_punctuation_is_a_regular_expression_of_javascript():
    tag = "<2pt-BR>#&~ [a-b]."
    source, flags = browser_model.in_javascript(re.compile(re.escape(tag)))
    assert (source, flags) == (r"<2pt-BR>#&~ \[a-b\]\.", "u")
    several = re.escape("<[a]>") + "|" + re.escape("<#>") + r"|[\w]"
    assert browser_model.in_javascript(re.compile(several))[0] == r"<\[a\]>|<#>|[\p{L}\p{N}_]"
    assert browser_model.in_javascript(re.compile(r"[\w-]\d\w"))[0] == (
        r"[\p{L}\p{N}_-]\p{Nd}[\p{L}\p{N}_]"
    )
    pattern = re.compile(r"""[^\s\\/\"\-\]\#]""")
    assert browser_model.in_javascript(pattern)[0] == r"""[^\s\\/"\-\]#]"""


def test_what_javascript_lacks_is_left_out_of_a_regular_expression():
    pattern = re.compile(r"(?>(?:a\(?b)*)[^\w\-]++\-")
    assert browser_model.in_javascript(pattern)[0] == r"(?:(?:a\(?b)*)[^\p{L}\p{N}_\-]+-"


@pytest.mark.slow
def test_each_kind_of_span_is_a_regular_expression_of_the_browser(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer)
    spans = {
        "path": r"C:\Users\ana",
        "handle": "@ana",
        "email": "ana@a.org",
        "url": "https://a.org",
    }
    for kind, pattern in kinds().items():
        source, flags = browser_model.in_javascript(pattern)
        text = f"um {spans.get(kind, '')} dois"
        match = browser.ask(
            "return arguments[0].match(new RegExp(arguments[1], arguments[2]))", text, source, flags
        )
        assert (match is not None) == (pattern.search(text) is not None), kind


@pytest.mark.parametrize("number", [np.nan, -np.inf])
def test_weights_that_are_no_numbers_are_refused(number):
    with pytest.raises(UserError, match="x: holds NaN or an infinite number"):
        browser_model.encode_weights({"x": np.array([1, number], np.float32)})


def test_weights_keep_sixteen_bits_in_four_characters():
    numbers = np.random.default_rng(0).normal(0, 1, 300).astype(np.float32)
    numbers[:6] = 0, 1, -1, 1e30, 1e-30, 1.999999
    text = browser_model.encode_weights({"a": numbers[:100].reshape(10, 10), "b": numbers[100:]})
    assert len(text) == 4 * len(numbers)
    octets = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 3)
    padded = np.pad(octets, ((0, 0), (1, 0)))  # the lowest octet of a float32 is 0
    np.testing.assert_allclose(padded.view("<f4").ravel(), numbers, rtol=2**-16)


@pytest.mark.usefixtures("eagerly")
def test_sentences_are_explored_where_it_is_said(finished, capsys, tmp_path):
    assert call("explore", "um dois.", "três.", "--run", finished / "run") == 0
    path = finished / "run" / "explorer.html"
    assert capsys.readouterr().out.strip() == str(path)
    held = data(path.read_text(encoding="utf-8"))
    assert held["run"] == "run"
    assert [one["text"] for one in held["examples"]] == ["um dois.", "três."]
    assert held["sentences"]["language"] == "en"  # of a run without languages
    assert call("translate", "um dois.", "três.", "--run", finished / "run") == 0
    translations = capsys.readouterr().out.splitlines()
    assert [one["translation"] for one in held["examples"]] == translations
    path.unlink()
    for wrong, message in (
        (["um " * 200], "more than 200 tokens"),
        ([" "], "no sentence to explore"),
    ):
        assert call("explore", *wrong, "--run", finished / "run", "--to", tmp_path / "x.html") == 2
        assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("*"))


@pytest.mark.usefixtures("eagerly")
def test_what_a_page_leaves_out_is_reported(finished, tmp_path, capsys, monkeypatch):
    run = shutil.copytree(finished / "run", tmp_path / "run")
    (run / "translations.txt").write_text(f"{'um ' * 200}\tx\tx\num.\tone.\tone.\n")
    monkeypatch.setattr("sys.stdin", None)
    assert call("explore", "--run", run) == 0
    said = capsys.readouterr().err
    assert "leaves out 1 sentence of the test split, of more than 200 tokens" in said
    held = data((run / "explorer.html").read_text(encoding="utf-8"))
    assert [example["text"] for example in held["examples"]] == ["um."]
    assert call("explore", "um.", " ", "--run", run) == 0
    assert "leaves out 1 blank line" in capsys.readouterr().err


# ---- In a browser ----


@pytest.fixture
def browser(driver, tmp_path):
    """A Page in Chromium."""
    return Page(driver, tmp_path)


def greedy_ids(transformer, sources):
    """Returns the ids of the program's own greedy search, up to END, for each source."""
    ids = []
    for first in range(0, len(sources), 100):
        batch = tf.constant(pad(sources[first : first + 100]))
        ids += [
            row[row != 0].tolist() for row in greedy_search(transformer, batch).ids[:, 0].numpy()
        ]
    return ids


@pytest.mark.slow
def test_ids_and_translations_are_those_of_the_program(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer)
    texts = ODD + [source for source, _ in sentences(LINES, seed=5)]
    ids = browser.ids(texts)
    expected = tokenizer.encode([spelling.trimmed(text) for text in texts])
    for text, got, wanted in zip(texts, ids, expected, strict=True):
        assert got == wanted, text
    sources = ids[len(ODD) :]
    targets = browser.ask(
        "return arguments[0].map(source => new Translation(network, source).finish().target)",
        sources,
    )
    expected = greedy_ids(transformer, sources)
    differences = sum(got != wanted for got, wanted in zip(targets, expected, strict=True))
    assert differences <= LINES // 200  # ties: weights are rounded to 24 bits
    decoded = browser.ask("return arguments[0].map(ids => tokenizer.decode(ids))", targets)
    assert decoded == [tokenizer.decode(np.array([ids]))[0] for ids in targets]


TEXT = "o menino come uma <b>maçã</b> e o gato come o peixe <ph> e bebe água todos os dias"


def vocabulary_of(**options):
    """Returns a Tokenizer of a short text."""
    pairs = as_dataset([(TEXT, TEXT.upper())] * 30)
    return run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 400, words_per_piece=1, **options))


def without_some_entries(tokenizer):
    """Returns a Tokenizer whose every third piece of several characters is unused."""
    model = ModelProto.FromString(tokenizer.model)
    long = [piece for piece in model.pieces if piece.type == piece.NORMAL and len(piece.piece) > 2]
    for piece in long[::3]:
        piece.type = piece.UNUSED
    return run_demo.Tokenizer(model.SerializeToString())


@pytest.mark.slow
def test_odd_vocabularies_give_the_ids_and_the_text_of_the_program(browser):
    vocabularies = (
        vocabulary_of(pieces="word"), vocabulary_of(symbols="<b> </b> <ph>"),
        without_some_entries(vocabulary_of()),
    )  # fmt: skip
    texts = [TEXT, TEXT.title(), "o zebra come  <ph><ph> x", "maçã<b>maçã", *ODD]
    for tokenizer in vocabularies:
        network = random_network(tokenizer.vocab_size, num_layers=1)
        browser.open(network, tokenizer, "come <b>maçã</b>", name="<img src=x onerror=alert(1)>")
        expected = tokenizer.encode([spelling.trimmed(text) for text in texts])
        for text, ids, wanted in zip(texts, browser.ids(texts), expected, strict=True):
            assert ids == wanted, text
        decoded = browser.ask("return arguments[0].map(ids => tokenizer.decode(ids))", expected)
        assert decoded == [tokenizer.decode(np.array([ids]))[0] for ids in expected]
        assert browser.texts("#source-tokens span") == browser.ask(
            "return tokenizer.encode('come <b>maçã</b>').map(id => `${label(id)} ${id}`)"
        )
        assert "<img src=x onerror=alert(1)>" in browser.at("about").text
        assert browser.texts("img, b") == []


@pytest.mark.slow
def test_odd_text_is_typed_without_a_fault(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer)
    for text, number in (("😀", 7), ("", 2), ("um " * 300, 200), ("  ", 2), (MARKUP, None)):
        browser.type(text)
        shown = browser.texts("#source-tokens span")
        assert len(shown) == (number or len(tokenizer.encode([text])[0])), text
        assert (browser.at("warning").text != "") == (number == 200)
        if number == 2:
            assert browser.at("translation").text == ""
        if text == "😀":
            assert [token[:6] for token in shown[-5:-1]] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    assert browser.texts("b, img") == []


CONFIGURATIONS = [
    dict(), dict(pre_norm=True, tie_embeddings=True), dict(num_heads=1, num_layers=1),
    dict(num_layers=3, decoder_layers=1), dict(dtype="mixed_bfloat16", pre_norm=True),
    dict(tie_embeddings=True, activation="swish", norm_epsilon=0.1, logits_bias=True),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("changes", CONFIGURATIONS, ids=str)
def test_logits_and_weights_are_those_of_the_program(browser, tokenizer, changes):
    network = random_network(tokenizer.vocab_size, **changes)
    browser.open(network, tokenizer)
    source = tokenizer.encode(["um dois três."])[0]
    target = browser.ask(
        "window.done = new Translation(network, arguments[0]).finish(); return done.target", source
    )
    inp, tar = tf.constant([source]), tf.constant([target[:-1]])
    logits, weights = network((inp, tar), training=False)
    got = np.array(browser.ask("return done.steps.map(step => [...step.logits])"))
    tolerance = 0.2 if "dtype" in changes else 1e-4
    np.testing.assert_allclose(got, logits[0, : len(got)].numpy(), atol=tolerance)
    in_parallel = browser.ask(  # masked, not step by step
        "const state = complete(network.start(done.encoded)), ids = done.target.slice(0, -1);"
        "return complete(network.decode(state, ids)).map(row => [...row])"
    )
    np.testing.assert_allclose(in_parallel, got, atol=1e-4)
    for kind, name in (("encoder", "encoder_layer1"), ("cross", "decoder_layer1_block2")):
        attention = browser.ask("return done.attention(arguments[0], 1)", kind)
        expected = tf.cast(weights[name][0], tf.float32).numpy()
        np.testing.assert_allclose(attention, expected, atol=0.02 if "dtype" in changes else 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "alpha"), [(1, 0.6), (4, 0.6), (3, 0.0)])
def test_the_tree_finds_what_beam_search_finds(browser, run, width, alpha):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer)
    sources = tokenizer.encode([source for source, _ in sentences(25, seed=7)])
    found = browser.ask(
        "const [sources, width, alpha] = arguments;"
        "return sources.map((source) => {"
        "  const tree = new SearchTree(network, source, width, alpha);"
        "  while (!tree.done) complete(tree.step());"
        "  return [tree.ids(tree.best), tree.best.log]; });",
        sources, width, alpha,
    )  # fmt: skip
    expected = beam_search(transformer, tf.constant(pad(sources)), width, alpha)
    wanted = [row[row != 0].tolist()[1:] for row in expected.ids[:, 0].numpy()]
    assert sum(ids != one for (ids, _), one in zip(found, wanted, strict=True)) <= 1  # a tie
    logs = [log for _, log in found]
    np.testing.assert_allclose(logs, expected.log_probabilities[:, 0], atol=0.01)


@pytest.mark.slow
def test_trees_grow_by_tokens_and_start_anew_with_the_sentence(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois.")
    columns = "return trees.map(({ columns }) => columns.length)"
    for number in (1, 2):
        browser.click("grow")
        browser.wait_for(f"return trees.length && trees[0].columns.length === {number}")
    assert browser.ask(columns) == [2, 2, 2]
    browser.click("grow-all")
    browser.wait_for("return trees.every(({ done }) => done)")
    assert len(browser.texts("#trees .tree")) == 3
    assert len(browser.texts("#trees .tree .best")) > 3
    number = browser.ask("return trees[2].columns[0].reduce((sum, node) => sum + node.number, 0)")
    assert number == 4  # samples
    browser.type("tres.")
    assert browser.texts("#trees .tree") == []


@pytest.mark.slow
def test_exercises_are_ticked_as_they_are_done(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois tres.")
    ticked = "return [...solved]"
    assert browser.ask(ticked) == []
    browser.ask("document.querySelector('#candidates button:not(.chosen):not(:disabled)').click()")
    assert browser.ask(ticked) == ["token"]
    browser.choose("kind", "decoder")
    browser.choose("hand-numbers", "run")
    browser.choose("hand-query", "0")
    browser.choose("hand-key", "1")
    assert browser.ask(ticked) == ["token", "masked"]
    browser.type("dezdezdezdez")
    assert browser.ask("return solved.has('pieces')") == browser.ask(
        "return translation.source.length > 6"
    )
    browser.click("learn-second")
    browser.ask("Object.assign(learners[0], {peak: 0.02}); endLearning()")
    browser.ask("Object.assign(learners[1], {peak: 0.02, warmup: 0}); endLearning()")
    browser.click("learn")
    browser.wait_for("return solved.has('warmup')")
    browser.click("learn")
    assert any(text.endswith("✓") for text in browser.texts("#exercise-list li"))
    assert browser.at("exercises-done").text[0] in "34"


@pytest.mark.slow
def test_a_token_that_is_put_in_changes_no_other(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois tres.")
    lists = [[1, 2, 3], [1, 9, 2, 3]], [[1, 2], [2, 1]], [[], [1]], [[1, 2], [1, 2]]
    common = "return arguments[0].map(([one, other]) => commonLength(one, other))"
    assert browser.ask(common, lists) == [3, 1, 0, 2]


@pytest.mark.slow
def test_the_tour_solves_no_exercise_and_pointing_at_crossing_words_does(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois tres.")
    browser.click("start-tour")
    for _ in range(12):
        browser.click("tour-next")
    assert browser.ask("return [...solved]") == []
    browser.click("tour-close")
    browser.choose("kind", "cross")
    assert browser.ask(
        "sides.weights = sides.weights.map((row, q) => row.map((_, k) => Number(k === Math.max(0,"
        " row.length - 1 - q)))); choose({ side: 'queries', number: 0 });"
        "return solved.has('crossing')"
    )


@pytest.mark.slow
def test_fields_take_whole_numbers_within_their_bounds(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois.")
    values = "2.7", "", "-1", "99"
    changed = (
        "const field = at('width'); return arguments[0].map((value) => { field.value = value;"
        "field.dispatchEvent(new Event('change')); return field.value; });"
    )
    assert browser.ask(changed, values) == ["3", "4", "2", "8"]
    browser.ask("at('position').value = '3.5'; showPositions()")
    assert "undefined" not in browser.at("formula").text
    browser.ask("at('what-cross').click()")
    browser.click("grow-all")
    browser.wait_for("return trees.length && trees.every(({ done }) => done)")
    assert browser.ask("return trees[0].ids(trees[0].best)") == browser.target()[1:]  # as switched
    assert "switched off" in browser.at("doubt").text


@pytest.mark.slow
def test_an_address_leads_to_what_was_seen(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois.")
    browser.type("três & <b>.")
    browser.choose("kind", "encoder")
    browser.choose("head", "1")
    browser.choose("what-layer", "encoder.1")
    browser.ask("at('what-positions').click()")
    browser.ask("chooseStep(1)")
    browser.ask("at('map').scrollIntoView(); at('link').click();")
    seen = (
        "return [view.source, view.what, view.step, at('kind').value, at('head').value,"
        " translation.target, at('map').getBoundingClientRect().top < innerHeight]"
    )
    before, url = browser.ask(seen), browser.driver.current_url
    browser.driver.get("about:blank")
    browser.driver.get(url)
    assert browser.ask(seen) == before
    assert before[:2] == ["três & <b>.", before[1] | dict(positions=False)]
    wrong = "see?tokens=1+99999999+x&step=-4&heads=foo&kind=%3Cb%3E&language=7&section=%22"
    browser.driver.get("about:blank")
    browser.driver.get(url.split("#")[0] + "#" + wrong)
    assert browser.ask(seen)[:5] == [
        "",
        before[1] | dict(positions=True, withoutLayers=[]),
        0,
        "cross",
        "mean",
    ]


@pytest.mark.slow
def test_a_word_that_is_typed_is_translated_and_stepped_through(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois.")
    browser.at("source").clear()
    browser.at("source").send_keys("três quatro.")
    source = tokenizer.encode(["três quatro."])
    wanted = greedy_translate(transformer, tf.constant(source))[0].numpy()
    assert browser.target() == wanted.tolist()
    assert browser.at("translation").text == tokenizer.decode(wanted[np.newaxis])[0]
    browser.click("restart")
    assert browser.target() == [2]
    browser.click("step")
    assert browser.target() == wanted[:2].tolist()
    browser.click("all")
    assert browser.target() == wanted.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ("\nopen();\n", "\nabsent();\n", "ReferenceError: absent is not defined"),
        ("\nopen();\n", "\nopen(;\n", "SyntaxError"),
        ("async function open() {", "async function open() { absent();", "ReferenceError"),
    ],
    ids=["throws", "is unreadable", "rejects"],
)
def test_a_page_that_cannot_start_says_so(driver, tmp_path, tokenizer, before, after, error):
    html = page.assemble("my run", random_network(tokenizer.vocab_size), tokenizer, [])
    assert html.count(before) == 1
    path = tmp_path / "page.html"
    path.write_text(html.replace(before, after), encoding="utf-8")
    driver.get(path.as_uri())
    about = driver.find_element("id", "about")
    assert about.is_displayed()
    assert f"This page cannot start: {error}" in about.text
    (logged,) = driver.get_log("browser")  # which no other test may leave
    assert error in logged["message"]


@pytest.mark.slow
def test_an_error_of_a_started_page_leaves_its_description(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um.")
    browser.ask("dispatchEvent(new ErrorEvent('error', { error: new Error('late') }))")
    assert "my run" in browser.at("about").text


@pytest.mark.slow
def test_a_text_of_several_sentences_is_named_in_both_languages(browser, tokenizer):
    text = "O Sr. Silva viu um carro. Onde fica?"
    browser.open(random_network(tokenizer.vocab_size), tokenizer, text, languages=("pt", "en"))
    assert "one sentence at a time" in browser.at("warning").text
    browser.click("language")
    assert "一次只翻译一个句子" in browser.at("warning").text
    for sentence in ("O Sr. Silva viu um carro.", "Um!", "3.5 ou 4", "um dois\n", ""):
        browser.type(sentence)
        assert browser.at("warning").text == "", sentence
    for several in ("Um dois!  Três?", "um\ndois"):
        browser.type(several)
        assert browser.at("warning").text, several


@pytest.mark.slow
def test_work_under_way_ends_when_other_work_is_asked_for(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois.")
    type_text = (
        "const box = document.getElementById('source'); for (const text of arguments[0]) {"
        "box.value = text; box.dispatchEvent(new Event('input')); }"
    )
    browser.ask(type_text, ["um " * 150, "dois " * 150, "três."])
    assert browser.ask("return translation.source") == tokenizer.encode(["três."])[0]
    assert len(browser.texts("#source-tokens span")) == len(tokenizer.encode(["três."])[0])
    for text in ("três.", "um " * 190):  # the second takes more than one slice
        browser.ask(type_text + "oneStep(); oneStep(); oneStep();", [text])
        assert len(browser.target()) == 4  # no step is lost
    browser.ask(type_text, ["um dois."])
    assert browser.ask("return translation.done")


@pytest.mark.slow
def test_of_many_keys_those_around_the_chosen_one_have_a_row(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três quatro. " * 20)
    browser.choose("kind", "encoder")
    browser.choose("hand-numbers", "run")
    browser.choose("hand-key", "60")
    rows, chosen = browser.ask(
        "const rows = [...document.querySelectorAll('#hand table')[1].tBodies[0].rows];"
        "return [rows.map(row => [...row.cells].map(cell => cell.textContent)),"
        "rows.findIndex(row => row.matches('.chosen'))]"
    )
    assert len(rows) == 41
    assert rows[-1][0] == "160 other keys together"  # of the 200 that are translated
    assert sum(float(row[-1]) for row in rows) == pytest.approx(1, abs=0.003)
    assert rows[chosen][-1] == browser.at("hand-weight").text.split("= ")[1]


@pytest.mark.slow
def test_the_translation_continues_from_the_token_that_is_chosen(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, "um dois.")
    browser.ask("document.querySelector('#target-tokens button').click()")
    shown = browser.ask(
        "return [...document.querySelectorAll('#candidates button')].map(one => +one.dataset.id)"
    )
    source = tf.constant(tokenizer.encode(["um dois."]))
    logits, _ = transformer((source, tf.constant([[2]])), training=False)
    assert shown[:5] == tf.math.top_k(logits[0, 0], 5).indices.numpy().tolist()
    other = next(number for number in shown[1:] if number > 3)
    browser.ask(
        "document.querySelector(`#candidates button[data-id='${arguments[0]}']`).click()", other
    )
    target = browser.target()
    assert target[1] == other
    logits, _ = transformer((source, tf.constant([[2, other]])), training=False)
    assert target[2] == int(tf.argmax(logits[0, 1]))


# ---- Every number of a small network, compared with the story's ----


@pytest.fixture
def small_page(browser, tokenizer):
    """A page of random weights and a source, its translation finished; network, source, target."""
    network = random_network(tokenizer.vocab_size, pre_norm=True)
    browser.open(network, tokenizer, "um dois.")
    source = tokenizer.encode(["um dois."])[0]
    return browser, network, source, browser.target()


def switched_logits(network, source, target, monkeypatch, name):
    """Returns the logits (V,) after `target`, by the story with one part switched off."""
    no_mask = {"lookAhead": "create_look_ahead_mask", "paddingMask": "create_padding_mask"}
    if name in no_mask:
        mask = getattr(transformer_model, no_mask[name])
        monkeypatch.setattr(transformer_model, no_mask[name], lambda x: tf.zeros_like(mask(x)))
    if name == "positions":

        def no_encoding(length, width):
            return tf.zeros((1, length, width))

        monkeypatch.setattr(transformer_model, "positional_encoding", no_encoding)
    if name in ("paddingTokens", "paddingMask"):
        source = source + [0] * 8
    encoder, decoder = network.encoder.enc_layers, network.decoder.dec_layers
    attentions = [layer.mha for layer in encoder]
    attentions += [attention for layer in decoder for attention in (layer.mha1, layer.mha2)]
    depth = SIZES["d_model"] // SIZES["num_heads"]
    if name == "scaling":
        for attention in attentions:
            for weight in attention.wq.weights:
                weight.assign(weight * np.sqrt(depth))
    silent = {  # layers whose output becomes 0
        "cross": [layer.mha2.dense for layer in decoder],
        "layer": [decoder[0].mha1.dense, decoder[0].mha2.dense, decoder[0].ffn.layers[1]],
    }
    for layer in silent.get(name, []):
        for weight in layer.weights:
            weight.assign(tf.zeros_like(weight))
    if name == "head":  # cross.1.2: the second half of what enters the last projection
        kernel = decoder[0].mha2.dense.kernel
        kernel.assign(tf.concat([kernel[:depth], tf.zeros_like(kernel[depth:])], axis=0))
    if name == "residual":
        stream = decoder_streams(network, [source], [target], residual=0.0)[-1]
        return network.final_layer(network.decoder.layernorm(stream[np.newaxis]))[0, -1]
    logits, _ = network((tf.constant([source]), tf.constant([target])), training=False)
    return logits[0, -1]


SWITCHES = {
    "positions": dict(positions=False), "scaling": dict(scaling=False),
    "lookAhead": dict(lookAhead=False), "paddingTokens": dict(paddingTokens=8),
    "paddingMask": dict(paddingTokens=8, paddingMask=False), "cross": dict(cross=False),
    "residual": dict(residual=False), "head": dict(withoutHeads=["cross.1.2"]),
    "layer": dict(withoutLayers=["decoder.1"]),
}  # fmt: skip


@pytest.mark.slow
def test_each_switch_computes_what_the_story_computes_without_that_part(small_page, monkeypatch):
    browser, network, source, target = small_page
    forced = target[1:4]
    weights = network.get_weights()
    as_trained, _ = network((tf.constant([source]), tf.constant([target[:4]])), training=False)
    for name, what in SWITCHES.items():
        logits = browser.ask(
            "const [source, what, forced] = arguments;"
            "const all = new Translation(network, source, {...AS_TRAINED, ...what}, forced);"
            "return [...all.finish().steps[forced.length].logits]",
            source, what, forced,
        )  # fmt: skip
        with monkeypatch.context() as patches:
            expected = switched_logits(network, source, target[:4], patches, name)
        network.set_weights(weights)
        np.testing.assert_allclose(logits, expected, atol=1e-3, err_msg=name)
        changed = np.abs(as_trained[0, -1] - expected).max() > 1e-3
        assert changed == (name != "paddingTokens"), name


@pytest.mark.slow
def test_each_switch_of_the_page_is_the_one_that_it_names(small_page):
    browser, *_ = small_page
    default = browser.ask("return AS_TRAINED")
    for name, what in SWITCHES.items():
        if name in ("head", "layer"):
            browser.choose(f"what-{name}", *next(iter(what.values())))
        else:
            browser.ask("document.getElementById(arguments[0]).click()", f"what-{name}")
        assert browser.ask("return view.what") == default | what, name
        assert re.search("tokens? changed", browser.at("changed").text)
        browser.ask("document.getElementById('reset').click()")
        assert browser.at("changed").text == "Nothing is switched off."


def embedded(embedding, ids):
    """Returns what enters the first layer, (B, L, D)."""
    x = embedding(tf.constant(ids))
    return x * x.shape[-1] ** 0.5 + transformer_model.positional_encoding(x.shape[1], x.shape[-1])


def decoder_streams(network, inp, tar, residual=1.0):
    """Returns the residual stream (T, D) of a pre-norm decoder, at the start and per sub-layer.

    Args:
      inp, tar: ids (1, S) and (1, T).
      residual: what the input of each sub-layer is multiplied with before it is added.
    """
    x = embedded(network.encoder.embedding, inp)
    for layer in network.encoder.enc_layers:
        normalized = layer.layernorm1(x)
        x = residual * x + layer.mha(normalized, normalized, normalized, None)[0]
        x = residual * x + layer.ffn(layer.layernorm2(x))
    source = network.encoder.layernorm(x)
    x = embedded(network.decoder.embedding, tar)
    mask = transformer_model.create_look_ahead_mask(len(tar[0]))
    streams = [x]
    for layer in network.decoder.dec_layers:
        normalized = layer.layernorm1(x)
        streams.append(residual * x + layer.mha1(normalized, normalized, normalized, mask)[0])
        x = streams[-1]
        streams.append(residual * x + layer.mha2(source, source, layer.layernorm2(x), None)[0])
        x = streams[-1]
        streams.append(residual * x + layer.ffn(layer.layernorm3(x)))
        x = streams[-1]
    return [stream[0].numpy() for stream in streams]


@pytest.mark.slow
def test_the_inside_of_the_layers_is_that_of_the_story(small_page, tokenizer):
    browser, network, source, target = small_page
    step = 2
    browser.ask("document.querySelectorAll('#target-tokens button')[arguments[0]].click()", step)
    streams = [stream[step] for stream in decoder_streams(network, [source], [target[: step + 1]])]
    rows = browser.ask(
        "return [...document.querySelectorAll('#stream tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert len(rows) == len(streams)
    for stream, (_, length, prediction) in zip(streams, rows, strict=True):
        assert float(length) == pytest.approx(np.linalg.norm(stream), abs=1e-3)
        logits = network.final_layer(network.decoder.layernorm(stream[np.newaxis]))[0]
        probabilities = tf.nn.softmax(logits).numpy()
        (token,) = tokenizer.tokens([probabilities.argmax()])
        assert token.strip("\u2581") in prediction
        share = float(prediction.split()[-1].rstrip("%"))
        assert share == pytest.approx(100 * probabilities.max(), abs=0.06)
    for number, layer in enumerate(network.decoder.dec_layers):
        before = streams[3 * number + 2]
        (text,) = browser.texts(f"#layernorm p:nth-child({number + 1})")
        *_, mean, deviation = re.findall(r"[−\d.]+", text)
        assert float(mean.replace("−", "-")) == pytest.approx(before.mean(), abs=1e-3)
        assert float(deviation) == pytest.approx(before.std(), abs=1e-3)
        hidden = layer.ffn.layers[0](layer.layernorm3(before[np.newaxis]))[0].numpy()
        (text,) = browser.texts(f"#fires p:nth-child({number + 1})")
        assert f"{(hidden > 0).sum()} of {SIZES['dff']} units" in text
        strongest = hidden.argmax()
        assert f": {strongest}: {hidden[strongest]:.3f}" in text


@pytest.mark.slow
def test_positions_are_those_of_the_story(small_page):
    browser, *_ = small_page
    encoding = transformer_model.positional_encoding(200, SIZES["d_model"])[0].numpy()
    for position, dimension in ((0, 0), (1, 0), (7, 5), (199, 15)):
        for name, value in (("position", position), ("dimension", dimension)):
            browser.ask(
                "const box = document.getElementById(arguments[0]); box.value = arguments[1];"
                "box.dispatchEvent(new Event('input'))",
                name, value,
            )  # fmt: skip
        text = browser.at("formula").text.replace("−", "-")
        assert text.startswith("cos" if dimension % 2 else "sin")
        value = float(text.split("= ")[-1])
        assert value == pytest.approx(encoding[position, dimension], abs=1e-4)


def drawn(logits, temperature, top_k, top_p, uniform):
    """Returns the token that is drawn from logits (V,), by NumPy in float64."""
    shares = np.exp(logits.astype(np.float64) / temperature)
    tokens = np.argsort(-shares, kind="stable")[: top_k or None]
    shares = shares[tokens] / shares[tokens].sum()
    shares = shares[np.cumsum(shares) - shares < top_p]  # the fewest that reach top_p together
    return int(tokens[np.searchsorted(np.cumsum(shares) / shares.sum(), uniform, side="right")])


@pytest.mark.slow
def test_sampling_draws_what_numpy_draws(small_page):
    browser, *_ = small_page
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, 50).astype(np.float32)
    cases = [
        (temperature, top_k, top_p, uniform)
        for temperature in (0.5, 1.0, 2.0) for top_k in (0, 1, 5) for top_p in (0.3, 0.9, 1.0)
        for uniform in rng.random(20)
    ]  # fmt: skip
    tokens = browser.ask(
        "const [logits, cases] = arguments;"
        "return cases.map(([temperature, topK, topP, uniform]) => draw(Float32Array.from(logits),"
        " { temperature, topK, topP, random: () => uniform }))",
        logits.tolist(), cases,
    )  # fmt: skip
    assert tokens == [drawn(logits, *case) for case in cases]
    assert len(set(tokens)) > 20


@pytest.mark.slow
def test_a_calculation_by_hand_is_that_of_the_network(browser, tokenizer):
    network = random_network(tokenizer.vocab_size)
    browser.open(network, tokenizer, "um dois três.")
    text = browser.at("hand").text
    for number in ("0.6405", "0.3595", "1.3595", "1.1547", "0.7191"):  # the notebook's example
        assert number in text
    browser.choose("hand-numbers", "run")
    browser.choose("kind", "encoder")
    browser.choose("hand-head", "1")
    browser.choose("hand-query", "1")
    browser.choose("hand-key", "2")
    layer = network.encoder.enc_layers[1]
    inp = tf.constant(tokenizer.encode(["um dois três."]))
    _, weights = network((inp, tf.constant([[2]])), training=False)
    expected = float(weights["encoder_layer2"][0, 1, 1, 2])
    assert float(browser.at("hand-weight").text.split("=")[1]) == pytest.approx(expected, abs=1e-3)
    assert layer.mha.depth == browser.ask(
        "return document.querySelectorAll('#hand table')[0].rows.length - 1"
    )


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0, 1000, -1000])  # e^1000 overflows, e^-1000 is 0
def test_weights_by_hand_are_numbers_whatever_the_scores(browser, run, scale):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer)
    share = 1 / (1 + np.e)
    first, second, total, output = browser.ask(
        "const [score] = arguments, keys = [[score], [score + 1]];"
        "const { weights, total, output } = calculate([1], keys, [[1], [2]], 1, [false, false]);"
        "return [...weights, total, output[0]]",
        scale,
    )
    assert [first, second] == pytest.approx([share, 1 - share])
    assert output == pytest.approx(share + 2 * (1 - share))
    assert total == pytest.approx(1 + np.e if scale == 0 else 1 + 1 / np.e)


def block_shapes(pre_norm, source, target, vocab_size):
    """Returns the shapes that each block of the map shows, of encoder and decoder, upwards.

    What matters most comes first: weights and output, then q, k and v, which are folded.

    Args:
      pre_norm: whether the normalization stands before a sub-layer, which then shows its sum.
      source, target: numbers of tokens.
      vocab_size: of the target.
    """
    width, heads, hidden = SIZES["d_model"], SIZES["num_heads"], SIZES["dff"]

    def pair(rows, shapes):
        sums = [[rows, width]] if pre_norm else []
        weights, inner = shapes
        block, norm = [*weights, [rows, width], *sums, *inner], [[rows, width]]
        return [norm, block] if pre_norm else [block, norm]

    def attention(queries, keys):
        inputs = [[queries, width], [keys, width], [keys, width]]
        return pair(queries, ([[queries, heads, keys]], inputs))

    def ffn(rows):
        return pair(rows, ([], [[rows, hidden]]))

    def stack(rows, *layers):
        embedding, final = [[[rows, width]]] * 2, [[[rows, width]]] if pre_norm else []
        return [*embedding, *(shapes for layer in layers for shapes in layer), *final]

    encoder = stack(source, attention(source, source), ffn(source))
    attentions = attention(target, target), attention(target, source)
    logits = [[[target, vocab_size]]] * 2
    return [encoder, stack(target, *attentions, ffn(target)) + logits]


@pytest.mark.slow
@pytest.mark.parametrize("pre_norm", [True, False])
def test_each_block_of_the_map_shows_its_tensors_by_keyboard(browser, tokenizer, pre_norm):
    network = random_network(tokenizer.vocab_size, pre_norm=pre_norm)
    browser.open(network, tokenizer, "um dois três.")
    lengths = browser.ask("return [translation.source.length, translation.steps.length]")
    for stack, column in enumerate(block_shapes(pre_norm, *lengths, tokenizer.vocab_size)):
        for number, shapes in enumerate(column):
            block = f"#architecture [data-stack='{stack}'][data-number='{number}']"
            browser.ask(f'document.querySelector("{block}").focus()')
            key = Keys.SPACE if number % 2 else Keys.ENTER
            browser.press(key)
            titles = browser.texts("#block h3 .shape")
            assert titles == [" × ".join(map(str, shape)) for shape in shapes], block
            assert browser.texts("#architecture [aria-pressed=true]") == browser.texts(block)
        assert len(browser.texts(f"#architecture [data-stack='{stack}']")) == len(column)
    browser.ask("document.querySelector('#architecture [data-stack=\"0\"]').click()")
    (written,) = browser.texts("#block .figures")
    row = network.encoder.embedding(tf.constant([[2]]))[0, 0].numpy() * 4  # sqrt(d_model)
    numbers = [float(number) for number in written.replace("−", "-").split()]
    np.testing.assert_allclose(numbers, row, atol=1e-3)
    assert len(browser.texts("#paths .residual")) == 5  # around each sub-layer of two layers


@pytest.mark.slow
def test_a_block_of_attention_leads_to_its_weights(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três.")
    browser.ask("document.querySelector('#architecture [data-stack=\"0\"].attention').click()")
    browser.choose("block-layer", "0")
    assert browser.ask("return document.activeElement.id") == "block-layer"
    browser.choose("block-position", "2")
    followed = "return ['kind', 'layer'].map(id => at(id).value).concat(flowQuery(view.held))"
    browser.choose("units", "tokens")
    assert browser.ask(followed) == ["encoder", "0", 2]
    browser.ask("document.querySelector('#block a[href=\"#by-hand\"]').click()")
    values = "return ['kind', 'layer', 'hand-numbers'].map(id => document.getElementById(id).value)"
    assert browser.ask(values) == ["encoder", "0", "run"]
    assert browser.driver.current_url.endswith("#by-hand")
    assert "self.wq.kernel 16 × 16, self.wq.bias 16" in browser.at("parameters").text


@pytest.mark.slow
def test_layers_to_choose_are_those_of_the_encoder_or_of_the_decoder(browser, tokenizer):
    network = random_network(tokenizer.vocab_size, num_layers=3, decoder_layers=1)
    browser.open(network, tokenizer, "um dois três.")
    assert "3 layers in the encoder and 1 in the decoder" in browser.at("about").text
    assert browser.texts("#architecture .layers > small") == ["3 ×", "1 ×"]
    block = "document.querySelector('#architecture [data-stack=\"{}\"].attention').click()"
    for stack, layers in ((0, 3), (1, 1)):
        browser.ask(block.format(stack))
        assert len(browser.texts("#block-layer option")) == layers
        browser.choose("block-layer", str(layers - 1))
        assert len(browser.texts("#block h3 .shape")) >= 5  # q, k, v, weights, output
    browser.choose("kind", "encoder")
    assert browser.texts("#layer option") == ["1", "2", "3"]
    browser.choose("layer", "2")
    browser.choose("kind", "cross")
    assert browser.texts("#layer option") == ["1"]
    layers = [name for name in browser.texts("#what-layer option") if "layer" in name]
    heads = [name for name in browser.texts("#what-head option") if "head" in name]
    assert (len(layers), len(heads)) == (3 + 1, 2 * (3 + 1 + 1))


@pytest.mark.slow
def test_the_network_shows_the_decoder_at_the_chosen_step(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três.")
    browser.ask("document.querySelectorAll('#target-tokens button')[1].click()")
    boxes = "[...document.querySelectorAll('#block select')]"
    shown = f"return {boxes}.map(box => box.selectedOptions[0].text)"
    assert browser.ask(shown) == ["Layer 2", "Position 1 (step 2)"]
    browser.choose("block-position", "0")
    assert browser.ask("return view.step") == 0
    pressed = "return document.querySelector('#target-tokens [aria-pressed=true]').textContent"
    first = "return document.querySelector('#target-tokens button').textContent"
    assert browser.ask(pressed) == browser.ask(first)


@pytest.mark.slow
def test_lines_show_weights_by_mouse_and_by_keyboard(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois.")
    browser.choose("units", "tokens")
    weights = np.array(browser.ask("return translation.attention('cross', 2)")).mean(axis=0)
    browser.ask("document.querySelector('#queries button').focus()")
    browser.press(Keys.ARROW_DOWN)
    np.testing.assert_allclose(list(browser.lines().values()), weights[1], atol=1e-3)
    assert "attends to" in browser.at("description").text
    browser.press(Keys.ARROW_RIGHT)
    np.testing.assert_allclose(list(browser.lines().values()), weights[:, 1], atol=1e-3)
    browser.press(Keys.ESCAPE)
    assert len(browser.lines()) == (weights >= 0.02).sum()
    browser.choose("head", "1")
    head = np.array(browser.ask("return translation.attention('cross', 2)"))[1]
    query = browser.driver.find_elements("css selector", "#queries button")[0]
    ActionChains(browser.driver).move_to_element(query).perform()
    np.testing.assert_allclose(list(browser.lines().values()), head[0], atol=1e-3)
    browser.choose("units", "words")
    units = browser.ask("return sides.weights")
    np.testing.assert_allclose(np.sum(units, axis=1), 1, atol=1e-3)


@pytest.mark.slow
def test_ribbons_are_as_wide_as_weights_and_as_the_shares_of_heads(browser, tokenizer):
    network = random_network(tokenizer.vocab_size)
    browser.open(network, tokenizer, "um dois três.")
    browser.choose("units", "tokens")
    browser.ask("choose(view.held = { side: 'queries', number: 1 })")
    paths = browser.ask(
        "return [...document.querySelectorAll('.ribbon')].map(one => one.getAttribute('d'))"
    )
    numbers = [[float(number) for number in re.findall(r"-?[\d.]+", path)] for path in paths]
    weights = np.array(browser.ask("return translation.attention('cross', 2)"))[
        :, 1
    ]  # (heads, keys)
    heads, keys = weights.shape
    widths = np.array([number[-1] - number[1] for number in numbers])
    np.testing.assert_allclose(
        widths[: heads * keys].reshape(keys, heads).T, 22 * weights, atol=1e-3
    )
    joined = np.array(browser.ask("return [...translation.state.layers[1].cross[1].heads]"))
    kernel = network.decoder.dec_layers[1].mha2.dense.kernel.numpy()
    parts = [joined[part] @ kernel[part] for part in (slice(0, 8), slice(8, 16))]
    lengths = np.linalg.norm(parts, axis=1)
    ends = np.array([number[8] - number[7] for number in numbers[heads * keys :]])
    np.testing.assert_allclose(ends, 22 * heads * lengths / lengths.sum(), atol=1e-3)
    browser.ask("document.querySelectorAll('#flow button')[1].click()")
    assert browser.ask("return document.getElementById('head').value") == "1"
    faded = browser.ask(
        "return [...document.querySelectorAll('.faded')].map(one => one.dataset.head)"
    )
    assert set(faded) == {"0"}


# What the text of each step of the tour holds; `word` is the pair that the tour follows.
TOUR_NUMBERS = {
    "welcome": "translation.steps.length",
    "tokens": "ids[word.source]",
    "embedding": "network.embed('encoder', [ids[word.source]], {})[0][0].toFixed(2)",
    "positions": "Math.sin(word.source).toFixed(2)",
    "self": "translation.attention('encoder', layer)[head][word.source][key].toFixed(2)",
    "heads": "percent(headShares('encoder', layer, [word.source])[head])",
    "hand": "Number(at('hand-weight').textContent.split('=')[1]).toFixed(2)",
    "norm": "spread(encoderLayer.self[word.source]).toFixed(2)",
    "ffn": "Math.max(...translation.encoded.layers.map(firing))",
    "encoded": "ids.length",
    "masked": "word.step + 1",
    "crossing": "translation.attention('cross', 2)[word.head][word.step][word.source].toFixed(2)",
    "lens": "at('stream').querySelector('tbody tr:last-child').textContent.split(' ').at(-1)",
    "softmax": "percent(Math.max(...translation.steps[word.step].probabilities))",
    "decode": "translation.steps.length",
    "gpt": "ids.length + translation.steps.length",
}
TOUR_NUMBER = """
const { word } = tour, { layer, head, key } = word.other, { ids } = translation.encoded;
const encoderLayer = translation.encoded.layers[layer - 1], isPositive = (x) => x > 0;
const firing = ({ ffn }) => ffn[word.source].hidden.filter(isPositive).length;
const spread = ({ input, output }) => {
  const sum = input.map((x, n) => x + output[n]), mean = sum.reduce((a, b) => a + b) / sum.length;
  return Math.sqrt(sum.reduce((all, x) => all + (x - mean) ** 2, 0) / sum.length);
};
return String(%s).replace("-", "−");
"""
LIT = """
const box = (one) => one.getBoundingClientRect();
const lit = [...document.querySelectorAll('.lit')].map(box), spot = box(at('spot'));
const isInside = (one) => one.height > 0 && one.top >= spot.top && one.bottom <= spot.bottom;
const card = box(at('tour')), isBeside = spot.right <= card.left || spot.left >= card.right;
return lit.length > 0 && lit.every(isInside) && spot.top > -20
  && spot.top < (isBeside ? innerHeight : card.top);
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_the_tour_lights_each_block_with_numbers_of_the_sentence(browser, tokenizer, width):
    browser.resize(width)
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três quatro.")
    for language in range(2):
        browser.at("start-tour").send_keys(Keys.ENTER)
        texts = []
        for number, (name, value) in enumerate(TOUR_NUMBERS.items(), 1):
            browser.wait_for(LIT)
            title, text = browser.at("tour-title").text, browser.at("tour-text").text
            assert title.startswith(f"{number} / {len(TOUR_NUMBERS)} · "), name
            assert browser.ask(TOUR_NUMBER % value) in text, (name, text)
            assert "{" not in text
            assert ("GPT" in text) == (name == "gpt")
            assert browser.ask("return document.documentElement.scrollWidth") <= width
            texts.append(text)
            browser.press(Keys.ARROW_RIGHT)
        assert len(set(texts)) == len(texts)
        assert bool(re.search("[\u4e00-\u9fff]", texts[0])) == (language == 1)
        browser.settle()
        assert not browser.at("tour").is_displayed()  # the last step ends it
        browser.click("language")


@pytest.mark.slow
def test_the_tour_shows_the_feed_forward_layer_where_most_units_fire(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três quatro.")
    browser.click("start-tour")
    number = [*TOUR_NUMBERS].index("ffn")
    for layer, silent in ((1, 2), (2, 1)):
        browser.ask(
            "const { layers } = translation.encoded;"
            "layers[arguments[0] - 1].ffn[tour.word.source].hidden = Float32Array.of(1, 1, 0, 1);"
            "layers[arguments[1] - 1].ffn[tour.word.source].hidden = Float32Array.of(0, 1, 0, 0);"
            "goTo(arguments[2])",
            layer, silent, number,
        )  # fmt: skip
        assert f"in layer {layer} than in any other: 3 of 4" in browser.at("tour-text").text
        assert browser.at("block-layer").get_property("value") == str(layer - 1)


@pytest.mark.slow
def test_the_head_that_the_texts_name_is_the_one_that_is_lit(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três quatro.")
    browser.click("start-tour")
    browser.ask("goTo(arguments[0])", [*TOUR_NUMBERS].index("heads"))
    followed = browser.ask("return tour.word.other.head + 1")
    shares = browser.ask("return headShares('encoder', tour.word.other.layer, [tour.word.source])")
    most = 1 + int(np.argmax(shares))
    for head in (followed, 3 - followed):  # of two; each is chosen, and then none
        browser.ask("at('head').value = arguments[0]; show(['attention'])", str(head - 1))
        check_named_head(browser, head)
    browser.ask("at('head').value = MEAN; show(['attention'])")
    check_named_head(browser, most)


def check_named_head(browser, head):
    """Checks that a head is lit, and that the tour and the text below the ribbons name it."""
    browser.settle()
    assert browser.texts("#flow button.chosen") == [str(head)]
    assert f"Head {head}, lit here" in browser.at("tour-text").text
    assert f"In head {head}," in browser.at("flow-description").get_property("textContent")


@pytest.mark.slow
def test_the_tour_goes_back_follows_a_new_sentence_and_waits_without_one(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size, pre_norm=True), tokenizer, "um dois três.")
    browser.click("what-cross")  # the tour switches all on again
    browser.click("start-tour")
    browser.wait_for("return document.getElementById('tour-text').textContent.includes('um dois')")
    assert not browser.ask("return isSwitched()")
    browser.press(Keys.ARROW_RIGHT)
    browser.press(Keys.ARROW_LEFT)
    browser.settle()
    assert browser.at("tour-title").text.startswith("1 / ")
    browser.type("três quatro cinco.")
    browser.wait_for("return document.getElementById('tour-text').textContent.includes('cinco')")
    browser.type("")
    browser.wait_for("return document.getElementById('tour-text').textContent.includes('Type')")
    assert browser.ask("return document.querySelectorAll('.lit').length") == 0
    browser.press(Keys.ESCAPE)
    browser.settle()
    assert not browser.at("tour").is_displayed()


@pytest.mark.slow
def test_each_step_of_a_played_translation_moves_its_token_to_the_target(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três.")
    target = browser.target()
    browser.click("restart")
    assert browser.at("decoder-input").text.endswith("The decoder starts from \u2068<s>\u2069.")
    browser.ask(
        "window.flown = [];"
        "const note = (one) => { if (one.className === 'flying') flown.push(one.textContent); };"
        "new MutationObserver((changes) => changes.forEach(one => one.addedNodes.forEach(note)))"
        ".observe(document.body, { childList: true })"
    )
    for number in (1, 2):
        browser.click("step")
        assert browser.target() == target[: number + 1]
        labels = browser.ask("return arguments[0].map(label)", target[: number + 1])
        quoted = [f"\u2068{text}\u2069" for text in labels]
        read = browser.at("decoder-input").text
        assert read.startswith(
            f"The decoder has read {' '.join(quoted[:-1])} and predicts {quoted[-1]}"
        )
        assert browser.ask("return flown") == labels[1:]
    browser.wait_for("return !document.querySelector('.flying')")
    browser.click("play")
    browser.wait_for("return translation.steps.length >= 4")
    browser.click("play")
    assert browser.at("play").text == "Play"
    assert browser.target() == target[: len(browser.target())]
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": still})
    flown = browser.ask("return flown.length")
    browser.click("step")
    assert browser.ask("return flown.length") == flown


@pytest.mark.slow
def test_a_long_text_says_that_it_is_being_computed(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois.")
    said, timing = browser.ask(
        "window.notes = []; const timing = at('timing');"
        "new MutationObserver(() => notes.push(timing.textContent))"
        ".observe(timing, { childList: true });"
        "at('source').value = arguments[0]; at('source').dispatchEvent(new Event('input'));"
        "return [at('working').textContent, at('timing').textContent]",
        "um " * 150,
    )
    assert said == "computing …"
    assert "tokens: " in timing  # of the translation before: nothing is computed yet
    notes = browser.ask("return notes")
    assert "computing … the encoder reads" in notes[0]
    assert any("tokens generated" in note for note in notes)
    browser.wait_for("return document.getElementById('working').textContent === ''")


@pytest.mark.slow
def test_a_phone_shows_folded_sections_a_whole_menu_and_targets_for_a_thumb(browser, tokenizer):
    browser.resize(390)
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três.")
    assert browser.ask("return document.documentElement.scrollHeight") < 3000
    browser.click("menu")
    inside = "const { left, right, top, bottom } = one.getBoundingClientRect();"
    links = browser.ask(
        f"return [...document.querySelectorAll('nav a')].map(one => {{ {inside}"
        "return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight; })"
    )
    assert links == [True] * 10
    browser.ask("document.querySelector('nav a[href=\"#map\"]').click()")
    assert browser.at("architecture").is_displayed()
    assert not browser.at("by-hand").find_element("id", "hand").is_displayed()
    browser.open_details()
    browser.click("menu")
    small = browser.ask(
        "const all = document.querySelectorAll('nav a, button, select, summary, [type=number]');"
        f"return [...all].filter(one => one.checkVisibility()).filter(one => {{ {inside}"
        "return bottom - top < 39.5; }).map(one => one.outerHTML)"
    )
    assert small == []
    assert browser.ask("return document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_the_network_has_no_scroll_box_and_its_numbers_are_folded(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois três.")
    boxes = browser.ask(
        "return [...document.querySelectorAll('#map *')].filter(one =>"
        "/auto|scroll/.test(getComputedStyle(one).overflow)).length"
    )
    assert boxes == 0
    weights = np.array(browser.ask("return translation.attention('cross', 2)"))
    step = browser.ask("return view.step")
    colors = browser.ask(
        "return [...document.querySelectorAll('.weights i')].map(one => one.style.background)"
    )
    shown = [float(color.rstrip(")").split(",")[-1]) for color in colors]
    np.testing.assert_allclose(shown, weights[:, step].ravel(), atol=0.01)
    assert not browser.driver.find_element("css selector", "#numbers p").is_displayed()
    browser.ask("document.querySelector('#numbers summary').click()")
    assert browser.driver.find_element("css selector", "#numbers p").is_displayed()
    browser.choose("block-layer", "0")
    assert browser.driver.find_element("css selector", "#numbers p").is_displayed()  # it stays open


@pytest.mark.slow
def test_a_tiny_probability_is_not_written_as_zero(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois.")
    numbers = [0, 1e-7, 0.00002, 0.012, 1]
    expected = ["0.000%", "<0.001%", "0.002%", "1.2%", "100.0%"]
    assert browser.ask("return arguments[0].map(percent)", numbers) == expected


@pytest.mark.slow
def test_text_is_text_whatever_it_holds_in_both_languages_and_widths(browser, run):
    tokenizer, transformer = run
    browser.open(transformer, tokenizer, MARKUP, "um " * 150)
    for width in (390, 1280):
        browser.resize(width)
        browser.open_details()
        for number in ("0", "1"):
            browser.choose("sentence", number)
            for _ in range(2):
                assert browser.ask("return document.documentElement.scrollWidth") <= width
                browser.click("language")
    assert browser.ask("return document.querySelectorAll('b, img').length") == 0
    browser.click("language")
    assert browser.ask("return document.documentElement.lang") == "zh"
    assert browser.driver.find_element("tag name", "h1").text == "翻译，并查看每一个数"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_readable_in_light_and_dark(browser, tokenizer, scheme):
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois 3.")
    browser.ask("sides.weights[0][0] = 1; choose({ side: 'queries', number: 0 });")
    browser.open_details()
    browser.settle()
    assert len(check_contrasts(browser.driver, scheme)) > 100


CONTROLS = {"button", "link", "textbox", "combobox", "checkbox", "spinbutton", "DisclosureTriangle"}


@pytest.mark.slow
def test_each_control_has_a_name_and_is_reached_and_seen_by_keyboard(browser, tokenizer):
    browser.open(random_network(tokenizer.vocab_size), tokenizer, "um dois.")
    for _ in range(2):  # languages
        browser.settle()  # most controls appear with the translation
        nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        names = [
            node["name"]["value"] for node in nodes
            if not node["ignored"] and node["role"]["value"] in CONTROLS
        ]  # fmt: skip
        assert len(names) > 50
        assert all(name.strip() for name in names)
        browser.click("language")
    number = browser.ask(
        "const all = [...document.querySelectorAll('a, button, select, textarea, input, summary,"
        "[tabindex]')].filter(one => one.checkVisibility() && !one.disabled);"
        "scrollTo(0, 0); document.activeElement.blur(); return all.length"
    )
    stops = set()
    for _ in range(number):
        browser.press(Keys.TAB)
        stop, outline, top, bottom = browser.driver.execute_script(
            "const one = document.activeElement, { top, bottom } = one.getBoundingClientRect();"
            "return [one, getComputedStyle(one).outlineStyle, top, innerHeight - bottom]"
        )
        stops.add(stop.id)
        assert outline == "solid", stop.get_attribute("outerHTML")
        assert min(top, bottom) > -2, stop.get_attribute("outerHTML")
    assert len(stops) == number
