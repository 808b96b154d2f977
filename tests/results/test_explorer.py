"""What must hold of the attention explorer: what it shows is what the model gave, in a browser."""

import json
import re
import shutil

import numpy as np
import pytest
from helpers import call, user_environment

from nmt.decoding.attention import KINDS, Attention
from nmt.results import explorer

SOURCE = ["<s>", "▁um", "▁</script><b>", "שלום", "</s>"]  # the last but one continues a word
TARGET = ["<s>", "▁one", "▁&amp;", "</s>"]


TEXT = "um </script><b>"


def sentence(layers=2, heads=3, seed=0, text=TEXT):
    """Returns a made-up sentence's Attention, of random weights, and markup among its tokens."""
    rng = np.random.default_rng(seed)

    own, other = len(SOURCE), len(TARGET) - 1
    sizes = dict(encoder=(own, own), decoder=(other, other), cross=(other, own))
    weights = {}
    for kind, (name, _) in KINDS.items():
        for layer in range(1, layers + 1):
            found = rng.exponential(size=(heads, *sizes[kind]))
            found /= found.sum(axis=-1, keepdims=True)
            weights[name.format(layer)] = found.astype(np.float32)
    return Attention(SOURCE, TARGET, weights, (text, "one &amp;"))


def long_sentence():
    """Returns the Attention of a sentence of 60 tokens, one word of which is wider than a phone."""
    source = ["<s>", *["▁palavra"] * 57, "▁" + "x" * 80, "</s>"]
    target = ["<s>", *["▁word"] * 58, "</s>"]
    sizes = dict(encoder=(60, 60), decoder=(59, 59), cross=(59, 60))
    weights = {
        name.format(1): np.full((1, *sizes[kind]), 1 / sizes[kind][1], np.float32)
        for kind, (name, _) in KINDS.items()
    }
    return Attention(source, target, weights, ("palavra " * 57 + "x" * 80, "word " * 58))


def data(page):
    """Returns what a page holds."""
    (found,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found)


def test_a_page_holds_the_weights_and_nothing_that_is_markup():
    one = sentence()
    held = data(explorer.page("my run", [one]))
    assert held["run"] == "my run"
    (found,) = held["sentences"]
    assert (found["text"], found["translation"]) == (TEXT, "one &amp;")
    assert (found["source"], found["target"]) == (SOURCE, TARGET)
    for kind in KINDS:
        for number, weights in enumerate(found[kind], start=1):
            np.testing.assert_allclose(weights, one.select(kind, number)[0], atol=1e-4)
        assert len(found[kind]) == 2
    assert "http" not in explorer.page("my run", [one]).replace("http://www.w3.org/2000/svg", "")


def test_sentences_are_explored_where_it_is_said(finished, capsys, tmp_path):
    assert call("explore", "um dois.", "três.", "--run", finished / "run") == 0
    path = finished / "run" / "explorer.html"
    assert capsys.readouterr().out.strip() == str(path)
    held = data(path.read_text(encoding="utf-8"))
    found = held["sentences"]
    assert held["run"] == "run"
    assert [one["text"] for one in found] == ["um dois.", "três."]
    assert call("translate", "um dois.", "três.", "--run", finished / "run") == 0
    translations = capsys.readouterr().out.splitlines()
    assert [one["translation"] for one in found] == translations
    for one in found:
        cross = np.array(one["cross"])
        assert cross.shape == (1, 2, len(one["target"]) - 1, len(one["source"]))
        np.testing.assert_allclose(cross.sum(axis=-1), 1, atol=1e-2)
    path.unlink()
    for wrong, message in (
        (["um " * 200], "more than 200 tokens"),
        ([" "], "no sentence to explore"),
    ):
        assert call("explore", *wrong, "--run", finished / "run", "--to", tmp_path / "x.html") == 2
        assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("*"))


# ---- In a browser ----


@pytest.fixture
def browser(tmp_path):
    """Chromium without a display, looking at a page of two sentences."""
    from selenium import webdriver

    page = tmp_path / "page.html"
    sentences = [sentence(), sentence(seed=1, text="two"), long_sentence()]
    page.write_text(explorer.page("my run", sentences), encoding="utf-8")
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--window-size=900,900"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    path = shutil.which("chromedriver")
    service = webdriver.ChromeService(executable_path=path, env=user_environment())
    driver = webdriver.Chrome(options=options, service=service)
    driver.get(page.as_uri())
    yield driver
    assert driver.get_log("browser") == []  # no error, nothing fetched
    driver.quit()


def shown(browser):
    """Returns the weights of the lines that are drawn, by (query, key)."""
    lines = browser.execute_script(
        "return [...document.querySelectorAll('line')].map(one => [one.dataset.query, "
        "one.dataset.key, getComputedStyle(one).strokeOpacity, one.getTotalLength()])"
    )
    assert all(length > 50 for *_, length in lines)  # from one side to the other
    return {(int(q), int(k)): float(weight) for q, k, weight, _ in lines}


def labels(browser, side):
    """Returns the texts of the buttons of "queries" or "keys"."""
    return [one.text for one in browser.find_elements("css selector", f"#{side} button")]


def choose(browser, name, value):
    from selenium.webdriver.support.select import Select

    Select(browser.find_element("id", name)).select_by_value(value)


@pytest.mark.slow
def test_hovering_shows_the_weights_that_the_model_gave(browser):
    from selenium.webdriver import ActionChains

    choose(browser, "units", "tokens")
    for number, kind, layer, head in (
        ("0", "cross", "0", "0"), ("1", "encoder", "1", "2"), ("0", "decoder", "1", "mean"),
    ):  # fmt: skip
        for name, value in zip(
            ("sentence", "kind", "layer", "head"), (number, kind, layer, head), strict=True
        ):
            choose(browser, name, value)
        weights, *_ = sentence(seed=int(number)).select(kind, int(layer) + 1)
        weights = weights.mean(axis=0) if head == "mean" else weights[int(head)]
        queries = browser.find_elements("css selector", "#queries button")
        keys = browser.find_elements("css selector", "#keys button")
        assert (len(queries), len(keys)) == weights.shape
        ActionChains(browser).move_to_element(queries[1]).perform()
        found = shown(browser)
        assert list(found) == [(1, k) for k in range(len(keys))]
        np.testing.assert_allclose(list(found.values()), weights[1], atol=1e-3)
        ActionChains(browser).move_to_element(keys[2]).perform()
        found = shown(browser)
        assert list(found) == [(q, 2) for q in range(len(queries))]
        np.testing.assert_allclose(list(found.values()), weights[:, 2], atol=1e-3)


@pytest.mark.slow
def test_tokens_are_text_whatever_they_hold(browser):
    choose(browser, "units", "tokens")
    assert labels(browser, "keys") == ["<s>", "um", "</script><b>", "·שלום", "</s>"]
    assert labels(browser, "queries") == ["one", "&amp;", "</s>"]
    assert "· before a token" in browser.find_element("id", "legend").text
    assert browser.find_element("id", "source").text == TEXT
    assert browser.find_element("id", "translation").text == "one &amp;"
    assert browser.find_elements("tag name", "b") == []


@pytest.mark.slow
def test_a_page_begins_with_words_and_the_mean_of_heads(browser):
    weights = sentence().select("cross", 2)[0].mean(axis=0)  # (T, S)
    merged = np.concatenate(
        [weights[:, :2], weights[:, 2:4].sum(1, keepdims=True), weights[:, 4:]], 1
    )
    assert labels(browser, "keys") == ["<s>", "um", "</script><b>שלום", "</s>"]
    expected = {(q, k): w for (q, k), w in np.ndenumerate(merged) if w >= 0.02}
    assert shown(browser) == pytest.approx(expected, abs=1e-3)
    choose(browser, "kind", "encoder")  # where queries are merged, too: their mean
    weights = sentence().select("encoder", 2)[0].mean(axis=0)
    merged = np.concatenate(
        [weights[:, :2], weights[:, 2:4].sum(1, keepdims=True), weights[:, 4:]], 1
    )
    merged = np.concatenate([merged[:2], merged[2:4].mean(0, keepdims=True), merged[4:]])
    expected = {(q, k): w for (q, k), w in np.ndenumerate(merged) if w >= 0.02}
    assert shown(browser) == pytest.approx(expected, abs=1e-3)
    assert browser.find_element("tag name", "h1").text == "Attention weights of my run"


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(browser, width):
    metrics = dict(width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for number in ("0", "2"):
        for units in ("words", "tokens"):
            choose(browser, "sentence", number)
            choose(browser, "units", units)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_the_keyboard_goes_where_the_mouse_goes(browser):
    from selenium.webdriver import ActionChains, Keys

    choose(browser, "units", "tokens")
    weights = sentence().select("cross", 2)[0].mean(axis=0)  # the last layer's: how a page begins
    browser.execute_script("document.querySelector('#queries button').focus()")
    ActionChains(browser).send_keys(Keys.ARROW_DOWN).perform()
    np.testing.assert_allclose(list(shown(browser).values()), weights[1], atol=1e-3)
    assert browser.find_element("id", "description").text.replace("⁨", "").startswith("&amp;")
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    np.testing.assert_allclose(list(shown(browser).values()), weights[:, 1], atol=1e-3)
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert len(shown(browser)) == (weights >= 0.02).sum()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(browser, scheme):
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    colors = browser.execute_script(
        "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
    )
    light = [_luminance(color) for color in colors]
    assert (max(light) + 0.05) / (min(light) + 0.05) > 7  # WCAG 2.1, 1.4.6
    assert (light[0] < light[1]) == (scheme == "light")


def _luminance(color):
    """Returns the relative luminance of "rgb(r, g, b)" (WCAG 2.1)."""
    values = [int(value) / 255 for value in re.findall(r"\d+", color)[:3]]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return np.dot(linear, (0.2126, 0.7152, 0.0722))
