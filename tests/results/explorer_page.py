"""The page of the explorer in Chromium, which several tests look at."""

import time

import keras
import numpy as np
import tensorflow as tf
from selenium.webdriver import ActionChains
from selenium.webdriver.support.select import Select

from nmt.network.keras_layers import dtype_policy_scope
from nmt.network.variants import Variant, network_of
from nmt.results.explorer import page

SIZES = dict(num_layers=2, d_model=16, num_heads=2, dff=24)
SECONDS = 60  # until the page is at rest, on a busy machine


def random_network(vocab_size, dtype="float32", **changes):
    """Returns a Transformer of random weights that float16 holds exactly."""
    keras.utils.set_random_seed(1)
    sizes = SIZES | dict(input_vocab_size=vocab_size, target_vocab_size=vocab_size) | changes
    variant = Variant(**{name: sizes.pop(name) for name in Variant._fields if name in sizes})
    with dtype_policy_scope(dtype):
        network = network_of(variant, **sizes)
    network((tf.constant([[2, 3]]), tf.constant([[2]])))
    rng = np.random.default_rng(0)
    for weight in network.trainable_variables:
        values = weight.numpy() + rng.normal(0, 0.1, weight.shape)
        weight.assign(values.astype(np.float16).astype(np.float32))
    return network


class Page:
    """Chromium without a display, looking at a page."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder

    def open(self, transformer, tokenizer, *texts, name="my run", languages=()):
        examples = [page.Example(text, "", []) for text in texts]
        path = self.folder / "page.html"
        html = page.assemble(name, transformer, tokenizer, examples, languages)
        path.write_text(html, encoding="utf-8")
        self.driver.get(path.as_uri())

    def settle(self):
        """Waits until all that is under way is computed and drawn."""
        until = time.monotonic() + SECONDS
        while not self.driver.execute_script("return network && !isWorking && !waiting.size"):
            assert time.monotonic() < until, "the page is still at work"
            time.sleep(0.02)

    def ask(self, script, *arguments):
        """Returns what a script in the page returns, once the page is at rest."""
        self.settle()
        return self.driver.execute_script(script, *arguments)

    def ids(self, texts):
        return self.ask("return arguments[0].map(text => tokenizer.encode(text))", texts)

    def target(self):
        return self.ask("return translation.target")

    def type(self, text):
        """Replaces the source by a text, as if it were typed."""
        self.ask(
            "const box = document.getElementById('source'); box.value = arguments[0];"
            "box.dispatchEvent(new Event('input'))",
            text,
        )

    def at(self, name):
        self.settle()
        return self.driver.find_element("id", name)

    def click(self, name):
        self.ask("document.getElementById(arguments[0]).click()", name)

    def choose(self, name, value):
        Select(self.at(name)).select_by_value(value)

    def texts(self, selector):
        """Returns the texts of the elements that a CSS selector chooses."""
        script = "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)"
        return self.ask(script, selector)

    def resize(self, width):
        """Sets the width of the page in pixels: 390 is a phone's."""
        metrics = dict(width=width, height=844, deviceScaleFactor=1, mobile=width < 500)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open_details(self):
        self.ask("for (const one of document.querySelectorAll('details')) one.open = true;")

    def press(self, key):
        self.settle()
        ActionChains(self.driver).send_keys(key).perform()

    def wait_for(self, script):
        """Waits until a script in the page returns what is true."""
        until = time.monotonic() + SECONDS
        while not self.driver.execute_script(script):
            assert time.monotonic() < until, script
            time.sleep(0.02)

    def lines(self):
        """Returns the weights of the lines that are drawn, by (query, key)."""
        lines = self.ask(
            "return [...document.querySelectorAll('line')].map(one => [one.dataset.query, "
            "one.dataset.key, getComputedStyle(one).strokeOpacity])"
        )
        return {(int(q), int(k)): float(weight) for q, k, weight in lines}
