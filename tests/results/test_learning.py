"""What must hold of the network that learns in the explorer's page."""

import numpy as np
import pytest
import tensorflow as tf
from explorer_page import Page, random_network

import transformer_model
from nmt.exports.browser import browser_model
from nmt.results.explorer import page
from nmt.results.explorer.learning import rare_words, short_pairs
from transformer_model import Transformer, loss_function

PROGRAM = page.learner(page.LEARNER[:-1])  # without the worker
SIZES = dict(num_layers=2, d_model=8, num_heads=2, dff=12)
TEXTS = [
    ["um dois .", "one two ."],
    ["tres .", "three ."],
    ["um .", "one ."],
] * 30  # some are padded


def test_each_word_of_the_short_pairs_stands_in_several():
    pairs = short_pairs()
    split = {tuple(source.split()): tuple(target.split()) for source, target in pairs}
    assert len(split) == len(pairs) > 1000
    assert rare_words(split) == set()
    assert rare_words({("um", "."): ("one", ".")}) == {(0, "um"), (0, "."), (1, "one"), (1, ".")}
    assert max(len(words) for pair in split.items() for words in pair) == 5
    assert short_pairs.__wrapped__() == pairs


# ---- In the browser ----

STEP = """
const task = sentenceTask(arguments[0]), parts = { ...ALL_PARTS, ...arguments[2] };
const settings = { seed: 3, parts, peak: 0.01, warmup: 0 };
const training = new Training(task, arguments[1], settings);
const { weights } = training.transformer, lists = (name) =>
  Object.fromEntries(Object.entries(weights).map(([key, matrix]) => [key, [...matrix[name]]]));
for (const { values } of Object.values(weights)) { // no bias is 0, no gamma 1
  values.forEach((_, n) => { values[n] += 0.3 * (training.random() - 0.5); });
}
const before = lists("values");
let batch, gradients;
task.batch = ((draw) => (random) => (batch = draw(random)))(task.batch);
const { apply } = Adam.prototype;
training.adam.apply = (rate) => { gradients = lists("gradient"); apply.call(training.adam, rate); };
const { loss, accuracy } = training.trainStep();
const after = lists("values"), sizes = task.vocabularySizes;
return { before, batch, gradients, loss, accuracy, after, sizes };
"""


def variables(transformer):
    """Returns the variables of a Transformer by their names in the page."""
    encoder, decoder = transformer.encoder, transformer.decoder
    layers = {"final": transformer.final_layer}
    for stack, stacked in (("encoder", encoder.enc_layers), ("decoder", decoder.dec_layers)):
        for number, layer in enumerate(stacked, start=1):
            for name, part in browser_model.parts_of(layer).items():
                layers[f"{stack}.{number}.{name}"] = part
    named = {f"{name}.{one.name}": one for name, layer in layers.items() for one in layer.weights}
    named["encoder.embedding"] = encoder.embedding.embeddings
    named["decoder.embedding"] = decoder.embedding.embeddings
    return named


def without_part(monkeypatch, part):
    """Takes a part out of the story, as the page does."""
    if part == "positions":
        monkeypatch.setattr(
            transformer_model, "positional_encoding", lambda n, d: tf.zeros((1, n, d))
        )
    if part == "lookAhead":
        monkeypatch.setattr(transformer_model, "create_look_ahead_mask", lambda n: tf.zeros((n, n)))


@pytest.mark.slow
@pytest.mark.parametrize("part", [None, "positions", "lookAhead"])
def test_a_step_in_the_page_is_one_of_tensorflow(driver, monkeypatch, part):
    driver.get("about:blank")
    step = driver.execute_script(PROGRAM + STEP, TEXTS, SIZES, {part: False} if part else {})
    without_part(monkeypatch, part)
    transformer = Transformer(**SIZES, **step["sizes"], rate=0.0)
    inputs, targets = (tf.constant(step["batch"][name]) for name in ("inputs", "targets"))
    transformer((inputs, targets), training=False)  # which builds it
    named = variables(transformer)
    assert named.keys() == step["before"].keys()
    for name, variable in named.items():
        variable.assign(np.reshape(step["before"][name], variable.shape))
    with tf.GradientTape() as tape:
        logits, _ = transformer((inputs, targets[:, :-1]), training=True)
        loss = loss_function(targets[:, 1:], logits)
    assert np.isclose(step["loss"], loss, atol=1e-5)
    gradients = tape.gradient(loss, [variable.value for variable in named.values()])
    optimizer = tf.keras.optimizers.Adam(0.01, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    for name, gradient in zip(named, gradients, strict=True):
        expected = np.ravel(tf.convert_to_tensor(gradient))
        np.testing.assert_allclose(step["gradients"][name], expected, atol=1e-4, err_msg=name)
        named[name].assign(np.reshape(step["before"][name], gradient.shape))
    given = [np.reshape(step["gradients"][name], one.shape) for name, one in named.items()]
    optimizer.apply_gradients(zip(map(tf.constant, given), named.values(), strict=True))
    for name, variable in named.items():
        counts = np.abs(step["gradients"][name]) > 1e-5  # others are rounding, which Adam magnifies
        after, expected = np.array(step["after"][name])[counts], np.ravel(variable)[counts]
        np.testing.assert_allclose(after, expected, atol=1e-5, err_msg=name)


LEARN = """
const parts = { ...ALL_PARTS, ...arguments[0] };
const settings = { seed: 1, parts, peak: 0.003, warmup: 100, ...arguments[1] };
const sizes = { num_layers: settings.layers ?? 1, d_model: 32, num_heads: 4, dff: 64 };
const training = new Training(TASKS.reverse(), sizes, settings);
let result;
while (training.step < 200) result = training.trainStep();
return [result.accuracy, training.examine().isRight.filter(Boolean).length];
"""


@pytest.mark.slow
def test_the_texts_of_the_page_say_what_is_learned_without_a_part(driver):
    driver.get("about:blank")

    def learn(settings, *without):
        return driver.execute_script(PROGRAM + LEARN, dict.fromkeys(without, False), settings)

    assert learn({}) == [1, 64]
    assert learn({}, "positions")[1] < 5
    accuracy, right = learn({}, "lookAhead")
    assert accuracy == 1
    assert right < 50  # all tokens of the batch, but not when it writes by itself
    assert learn(dict(layers=2))[1] == 64
    assert learn(dict(layers=2), "residual")[1] == 0
    assert learn({}, "scaling")[1] > 60
    assert learn(dict(peak=0.02))[1] > 55
    assert learn(dict(peak=0.02, warmup=0))[1] == 0


@pytest.fixture
def learning(driver, tmp_path, tokenizer):
    """The page, with a network of random weights for the rest of it."""
    seen = Page(driver, tmp_path)
    seen.open(random_network(tokenizer.vocab_size), tokenizer, "um dois.")
    return seen


@pytest.mark.slow
def test_two_networks_learn_pause_go_on_and_forget(learning):
    steps = "return shownLearners().map(({ report }) => report?.step ?? -1)"
    learning.click("learn-second")
    learning.ask("learners[1].without = ['positions']; endLearning();")
    learning.click("learn")
    learning.wait_for("return learners.every(({ report }) => report?.step > 20)")
    learning.click("learn")
    assert learning.at("learn").text == "Go on"
    learning.driver.execute_async_script(
        "setTimeout(arguments[0], 1000)"
    )  # what was under way is reported
    paused = learning.ask(steps)
    learning.driver.execute_async_script("setTimeout(arguments[0], 1000)")
    assert learning.ask(steps) == paused
    learning.click("learn")
    learning.wait_for("return learners[0].report.isRight.every(Boolean)")
    assert "64 of 64 examples right" in learning.texts(".progress")[0]
    assert learning.ask("return learners[1].report.isRight.filter(Boolean).length") < 10
    assert len(learning.texts("#learner-1 .heads table")) == 4
    assert all(text.endswith("✓") for text in learning.texts("#learner-1 .written li"))
    learning.choose("learn-task", "sentences")  # a change begins anew
    assert learning.texts(".progress") == ["", ""]
    assert learning.at("learn").text == "Learn"


@pytest.mark.slow
def test_short_sentences_are_learned(learning):
    learning.choose("learn-task", "sentences")
    learning.click("learn")
    learning.wait_for("return learners[0].report?.isRight.filter(Boolean).length > 40")
    learning.click("language")
    assert "个例子中" in learning.texts(".progress")[0]
