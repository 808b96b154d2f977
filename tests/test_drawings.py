"""What must hold of the drawings of docs/drawings: they are current, their numbers right."""

import itertools
import re
import runpy
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import ROOT

import transformer_model

PROGRAM = runpy.run_path(str(ROOT / "docs" / "make_drawings.py"))
FOLDER = ROOT / "docs" / "drawings"
NAMES = [
    "q-k-v", "heads", "residual-stream", "architecture", "decoder-step",
    "training-and-translating", "batch-and-masks",
]  # fmt: skip
BOXES = """
const edges = (box) => [box.left, box.top, box.right, box.bottom];
return [...document.querySelectorAll("text")].map((text) =>
  [text.textContent, edges(text.getBoundingClientRect())])"""


def words(name):
    """Returns the texts of a drawing."""
    texts = ElementTree.fromstring(PROGRAM["files"]()[name]).iter(
        "{http://www.w3.org/2000/svg}text"
    )
    return ["".join(element.itertext()) for element in texts]


def test_the_stored_drawings_are_those_that_the_program_writes():
    written = PROGRAM["files"]()
    assert [*written] == [f"{name}{ending}.svg" for name in NAMES for ending in ("", ".zh-CN")]
    assert {path.name for path in FOLDER.iterdir()} == {*written}
    for name, content in written.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == content, name


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_a_slide_with_a_background_and_needs_no_other_file(name):
    for ending in ("", ".zh-CN"):
        content = PROGRAM["files"]()[f"{name}{ending}.svg"]
        root = ElementTree.fromstring(content)
        assert (root.get("width"), root.get("height")) == ("1280", "720")
        background = root.find("{http://www.w3.org/2000/svg}rect")
        assert (background.get("width"), background.get("fill")) == ("1280", "#ffffff")
        assert "http" not in content.replace("http://www.w3.org/2000/svg", "")


def test_every_text_of_the_table_is_drawn():
    said = set()
    for draw in PROGRAM["DRAWINGS"].values():
        draw(lambda text: said.add(text) or text)
    assert said == {*PROGRAM["CHINESE"]}


def test_the_weights_of_the_lookup_are_those_of_the_network():
    query, entries = np.array([PROGRAM["QUERY"]], np.float32), PROGRAM["ENTRIES"]
    keys = np.array([entry.key for entry in entries], np.float32)
    values = np.array([entry.value for entry in entries], np.float32)
    output, weights = transformer_model.scaled_dot_product_attention(query, keys, values, None)
    assert PROGRAM["attend"](PROGRAM["QUERY"], entries)[1] == pytest.approx(weights[0].numpy())
    drawn = words("q-k-v.svg")
    start = drawn.index("sum of the column") + 1
    assert [f"{number:.2f}" for number in output[0].numpy()] == drawn[start : start + 4]
    assert [f"{weight:.2f}" for weight in weights[0].numpy()] == [
        drawn[drawn.index(entry.token) + 7] for entry in entries
    ]


def test_the_probabilities_of_the_next_token_add_up_to_one():
    probabilities, others = PROGRAM["next_token_probabilities"]()
    assert sum(probabilities.values()) + others == pytest.approx(1)
    drawn = [float(text) for text in words("decoder-step.svg") if re.fullmatch(r"0\.\d\d", text)]
    assert drawn == [round(share, 2) for share in (*probabilities.values(), others)]
    assert sum(drawn) == pytest.approx(1)


def test_the_masks_are_those_of_the_network():
    batch = np.array([sentence.ids for sentence in PROGRAM["BATCH"]])
    _, combined, padding = transformer_model.create_masks(batch, batch)
    for row, sentence in enumerate(PROGRAM["BATCH"]):
        masks = PROGRAM["masks_of"](sentence)
        assert np.array_equal(masks[2], combined[row, 0])
        assert np.array_equal(masks[0], np.broadcast_to(padding[row, 0], (6, 6)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_texts_of_a_drawing_are_inside_and_do_not_run_into_each_other(name, driver):
    for ending in ("", ".zh-CN"):
        driver.get((FOLDER / f"{name}{ending}.svg").as_uri())
        texts = driver.execute_script(BOXES)
        for text, (left, top, right, bottom) in texts:
            assert left > 8, text
            assert top > 4, text
            assert right < 1272, text
            assert bottom < 716, text
        for (one, a), (two, b) in itertools.combinations(texts, 2):
            across = min(a[2], b[2]) - max(a[0], b[0])
            down = min(a[3], b[3]) - max(a[1], b[1])
            assert across <= 1 or down <= 4, (one, two)
