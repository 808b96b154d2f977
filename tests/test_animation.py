"""What must hold of docs/translating.svg, the moving picture of README.md, and of its script."""

import re
import runpy
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers import ROOT

from nmt.decoding.attention import Attention

PICTURES = [ROOT / "docs" / name for name in ("translating.svg", "translating.zh-CN.svg")]
TAG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def script():
    """The names of docs/make_animation.py."""
    return runpy.run_path(str(ROOT / "docs" / "make_animation.py"))


def labels(root):
    """Returns the texts of a picture."""
    return [text.text for text in root.iter(f"{TAG}text")]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_the_picture_shows_the_sentence_of_the_readme_and_its_translation(script, picture):
    texts = labels(ET.parse(picture).getroot())
    assert script["SENTENCE"] in texts
    assert "My brother has just bought a red car." in texts
    assert {"My", "brother", "red", "car", "Meu", "carro"} < {*texts}
    car = r"“car” (attends to|关注) “carro”(: |：)[5-9]\d%"
    assert any(re.fullmatch(car, text) for text in texts)
    assert ("You type" in texts) != ("输入" in texts)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_the_picture_is_small_and_needs_nothing_else(picture):
    text = picture.read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert not re.search(r"<script|href|url\(|@import", text)
    assert "prefers-reduced-motion" in text


def test_ribbons_are_as_wide_as_the_mean_of_the_heads_weights(script):
    # START, "▁a", "▁b", END; two heads; the tokens "▁x" and END are generated.
    heads = np.array([[[0.0, 0.2, 0.8, 0.0]] * 2, [[0.0, 0.6, 0.38, 0.02]] * 2])
    source, target = ["START", "▁a", "▁b", "END"], ["START", "▁x", "END"]
    attention = Attention(source, target, {"decoder_layer1_block2": heads}, ("a b", "x"))
    film = script["film_of"](attention)
    root = ET.fromstring(film.svg("title"))
    widths = [float(path.get("stroke-width")) for path in root.iter(f"{TAG}path")]
    assert widths == [0.4 * script["MAX_RIBBON"], pytest.approx(0.59 * script["MAX_RIBBON"], 0.01)]
    assert "“x” attends to “b”: 59%" in labels(root)
    assert "END" not in labels(root)
