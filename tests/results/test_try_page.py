"""docs/try.html, the run that comes with the program as a page: what pages say of it holds."""

import json
import re
import runpy
from types import SimpleNamespace

import pytest
from explorer_page import Page
from helpers import ROOT

from nmt import load_translator
from nmt.results.explorer import page

CAR = "Meu irmão acabou de comprar um carro vermelho."
SEES = "O menino vê o gato.", "O gato vê o menino."
BEGUN = """
const [text, first, how] = arguments, source = tokenizer.encode(text);
const forced = first ? [tokenizer.encode(first)[1]] : [];
const it = new Translation(network, source, AS_TRAINED, forced, { ...GREEDY, ...how });
return tokenizer.decode(it.finish().words());
"""
CONFIDENCES = """
return arguments[0].map((text) => {
  const source = tokenizer.encode(learnedWords.read(tokenizer.trimmed(text)).text);
  return confidence(data.estimator, new Translation(network, source).finish());
});
"""
make_pictures, make_outputs = (
    SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / f"{name}.py")))
    for name in ("make_pictures", "make_outputs")
)


@pytest.fixture
def tried(driver, tmp_path):
    """The page in Chromium."""
    driver.get((ROOT / "docs" / "try.html").as_uri())
    return Page(driver, tmp_path)


@pytest.mark.slow
def test_the_exercises_have_the_results_that_the_page_of_exercises_expects(tried):
    pieces = tried.ask("return tokenizer.encode('Wittgenstein').slice(1, -1).map(label)")
    assert len(pieces) == 8
    assert all(piece.startswith("·") for piece in pieces[1:])
    assert tried.ask("return tokenizer.encode('😀').map(label)")[2:6] == [
        "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"
    ]  # fmt: skip
    assert tried.at("translation").text == "My brother has just bought a red car."
    assert tried.ask("return translation.target.map(label)").index("</s>") == 10
    assert "Does" in tried.ask(
        "return likeliest(translation.steps[0].probabilities, CANDIDATES).map(({id}) => label(id))"
    )
    assert tried.ask(BEGUN, CAR, "Does", {}) == "Does my brother have just bought a red car?"
    sampled = [tried.ask(BEGUN, CAR, "", {"temperature": 4, "topK": 2}) for _ in range(20)]
    assert sum(text.endswith("red car.") for text in sampled) > 10
    wild = [tried.ask(BEGUN, CAR, "", {"temperature": 4}) for _ in range(5)]
    assert not any(text.endswith("red car.") for text in wild)
    attended = tried.ask(
        "const heads = translation.attention('cross', 2), source = translation.source.map(label);"
        "return Object.fromEntries(translation.target.slice(1).map((id, q) => [label(id), source["
        "highest(source.map((_, k) => heads.reduce((sum, head) => sum + head[q][k], 0)))]]));"
    )
    assert (attended["red"], attended["car"]) == ("vermel", "carro")
    both = [tried.ask(make_pictures.TRANSLATE, text, {"positions": False}) for text in SEES]
    assert both == ["The boy sees the cat."] * 2
    assert tried.ask(make_pictures.TRANSLATE, SEES[1], {}) == "The cat sees the boy."
    same = {tried.ask(make_pictures.TRANSLATE, text, {"cross": False}) for text in (CAR, *SEES)}
    assert len(same) == 1
    tried.ask("chooseStep(translation.target.map(label).indexOf('red') - 1)")
    stream = [re.sub(r"\W+[\d.]+%|\W", "", text) for text in tried.texts("#stream td:last-child")]
    assert stream[0] == "a"
    assert stream[-2:] == ["red", "red"]
    assert "red" not in stream[:-2]


@pytest.mark.slow
def test_it_is_as_sure_as_the_program_and_marks_what_is_doubtful(tried):
    rows = (ROOT / "data" / "pt_en" / "test.tsv").read_text(encoding="utf-8").splitlines()
    texts = [row.split("\t")[0] for row in rows[:60]]
    texts = [text for text in texts if not re.search(r"\d", text)]
    texts += ["A hiperinflação devastou a economia.", "Os satélites orbitavam silenciosamente."]
    translate = load_translator(ROOT / "data" / "trained", confidence=True, split=False)
    expected = [line[0].confidence for line in translate.hypotheses(texts)]
    assert tried.ask(CONFIDENCES, texts) == pytest.approx(expected, abs=0.5)
    for text, is_doubtful in ((texts[-1], True), (CAR, False)):
        tried.type(text)
        assert bool(tried.at("doubt").text) is is_doubtful
        assert ("doubtful" in tried.at("translation").get_attribute("class")) is is_doubtful


def test_what_the_switches_do_is_what_was_counted():
    said = json.loads((page.FOLDER / "texts.json").read_text(encoding="utf-8"))
    counted = make_outputs.read(make_outputs.FOLDER / "explorer-switches.txt").text
    counts = dict(re.findall(r"^(.*): (\d+) of 40 change", counted, re.M))
    expected = {[*values][-1]: [counts[name]] for name, values in make_pictures.SWITCHES.items()}

    def counts_of(start):
        return sorted({int(n) for name, n in counts.items() if name.startswith(start)})

    first, cross = counts_of("without head encoder.1"), counts_of("without head cross.2")
    expected["head"] = [first[-1], cross[0], cross[-1]]
    expected["layer"] = counts_of("without layer")
    for name, numbers in expected.items():
        for text in said[f"expect-{name}"]:
            assert {*map(int, numbers)} <= {*map(int, re.findall(r"\d+", text))}, text
