"""Inside a trained network: what its heads, neurons and embeddings have learned.

docs/walkthrough.ipynb uses it, in this order: byte-pair encoding by steps, embeddings, heads, the
feed-forward networks, one batch by hand, and what translating costs. Each part measures something
and draws it. The network is that of transformer_model.py, of any size:

    translate = run_demo.load_translator("data/trained", plain=True)
    transformer, tokenizer = translate.transformer, translate.tokenizer

Shapes in comments as in transformer_model.py; N hidden neurons, K entries of the vocabulary.
"""

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from matplotlib.patches import Rectangle

import transformer_model as model
from nmt.results.figures import labels, save, subplots
from nmt.results.plots import WEIGHTS
from nmt.text.tokenizer import Tokenizer

# ---- Byte-pair encoding, by steps (Sennrich et al. 2016, arXiv 1508.07909) ----


def pair_counts(words: Mapping[tuple[str, ...], int]) -> dict[tuple[str, str], int]:
    """Returns how often each pair of neighboring tokens occurs; `words` are tokens -> frequency."""
    counts: dict[tuple[str, str], int] = {}
    for tokens, frequency in words.items():
        for pair in itertools.pairwise(tokens):
            counts[pair] = counts.get(pair, 0) + frequency
    return counts


def merged(tokens: Sequence[str], pair: tuple[str, str]) -> tuple[str, ...]:
    """Returns tokens with each occurrence of a pair as one token, from left to right."""
    result: list[str] = []
    place = 0
    while place < len(tokens):
        is_pair = tuple(tokens[place : place + 2]) == pair
        result.append("".join(pair) if is_pair else tokens[place])
        place += 2 if is_pair else 1
    return tuple(result)


def encoding_steps(word: str, entries: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Returns the tokens of a word after each merge, from its characters to its encoding.

    SentencePiece marks its beginning by U+2581. Entries that were learned first have the lowest
    ids.
    """
    steps = [tuple(word)]
    while True:
        pairs = [pair for pair in itertools.pairwise(steps[-1]) if "".join(pair) in entries]
        if not pairs:
            return steps
        steps.append(merged(steps[-1], min(pairs, key=lambda pair: entries["".join(pair)])))


def draw_merges(path: Path, steps: Sequence[Sequence[str]]) -> Path:
    """Draws the tokens of a word after each merge, a row of boxes per step."""
    characters = len("".join(steps[0]))
    figure, axes = subplots(figsize=(0.7 * characters, 0.45 * len(steps) + 0.8))
    for row, tokens in enumerate(steps):
        left = 0
        for token in tokens:
            color = "#cfe2f3" if len(token) > 1 else "white"
            corner = (left + 0.06, row - 0.35)
            axes.add_patch(Rectangle(corner, len(token) - 0.12, 0.7, fc=color, ec="#4a6d8c"))
            axes.text(left + len(token) / 2, row, token, ha="center", va="center", fontsize=13)
            left += len(token)
    axes.set(xlim=(0, characters), ylim=(len(steps) - 0.5, -0.5), ylabel="merges done")
    axes.set_yticks(range(len(steps)))
    axes.set_xticks([])
    return save(figure, path)


# ---- Embeddings ----


def most_similar(table: np.ndarray, vector: np.ndarray, number: int) -> list[int]:
    """Returns the rows of a table (V, D) with the highest cosines to a vector (D,), best first."""
    lengths = np.linalg.norm(table, axis=1) * np.linalg.norm(vector) + 1e-9
    order: list[int] = np.argsort(-(table @ vector) / lengths, kind="stable")[:number].tolist()
    return order


def principal_components(vectors: np.ndarray) -> np.ndarray:
    """Returns vectors (K, D) in the two directions in which they vary most, (K, 2).

    Of both directions, the sign is that by which the coordinate of largest amount is positive.
    """
    centered = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centered, full_matrices=False)
    points = centered @ directions[:2].T
    largest = np.abs(points).argmax(axis=0)
    return points * np.sign(points[largest, [0, 1]])


def draw_map(
    path: Path, panels: Mapping[str, np.ndarray], groups: Mapping[str, Sequence[str]]
) -> Path:
    """Draws words as points, one color per group, in a panel for each of several tables.

    `panels` are vectors (K, D) of all words, in the order of the words of all groups.
    """
    figure, all_axes = subplots(1, len(panels), figsize=(7 * len(panels), 6), squeeze=False)
    for axes, (title, vectors) in zip(all_axes[0], panels.items(), strict=True):
        points = iter(principal_components(vectors))
        for number, (group, words) in enumerate(groups.items()):
            places = np.array([next(points) for _ in words])
            axes.plot(*places.T, "o", color=f"C{number}", label=group)
            for word, place in zip(words, places, strict=True):
                offset = {"xytext": (4, 3), "textcoords": "offset points"}
                axes.annotate(word.strip("\u2581"), place, **offset, fontsize=9, parse_math=False)
        axes.set(title=title, xlabel="first principal component", ylabel="second")
        axes.margins(0.2)
        axes.grid(alpha=0.3)
    all_axes[0, -1].legend()
    return save(figure, path)


# ---- Sub-layers: what each of them returns, and what the loss is without it ----


class Pairs(NamedTuple):
    """Sentence pairs as ids, padded."""

    inp: tf.Tensor  # (B, S)
    tar: tf.Tensor  # (B, T)


def encoded(tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> Pairs:
    """Returns pairs of sentences as ids."""
    sides = (tokenizer.encode(side) for side in zip(*pairs, strict=True))
    return Pairs(*(tf.ragged.constant(side, tf.int32).to_tensor() for side in sides))


def attentions(transformer: model.Transformer) -> dict[str, model.MultiHeadAttention]:
    """Returns all multi-head attentions of a network, by name."""
    layers = {
        f"encoder {number}": layer.mha
        for number, layer in enumerate(transformer.encoder.enc_layers, start=1)
    }
    for number, layer in enumerate(transformer.decoder.dec_layers, start=1):
        layers[f"decoder {number}, self"] = layer.mha1
        layers[f"decoder {number}, cross"] = layer.mha2
    return layers


def feed_forwards(transformer: model.Transformer) -> dict[str, keras.Sequential]:
    """Returns all feed-forward networks of a network, by name."""
    stacks = {"encoder": transformer.encoder.enc_layers, "decoder": transformer.decoder.dec_layers}
    return {
        f"{name} {number}": layer.ffn
        for name, layers in stacks.items()
        for number, layer in enumerate(layers, start=1)
    }


@contextlib.contextmanager
def replaced(variable: keras.Variable, value: np.ndarray) -> Iterator[None]:
    """Within the block, a variable has another value."""
    before = variable.numpy()
    variable.assign(value)
    try:
        yield
    finally:
        variable.assign(before)


def without_head(
    attention: model.MultiHeadAttention, head: int
) -> contextlib.AbstractContextManager:
    """Within the block, head 0, 1, ... adds nothing: its rows of the last matrix are 0."""
    kernel = attention.dense.kernel.numpy().copy()  # (H d, D)
    kernel[head * attention.depth : (head + 1) * attention.depth] = 0.0
    return replaced(attention.dense.kernel, kernel)


@contextlib.contextmanager
def without_output(dense: keras.layers.Dense) -> Iterator[None]:
    """Within the block, a sub-layer that ends with a dense layer adds nothing to the residual."""
    with contextlib.ExitStack() as stack:
        for variable in (dense.kernel, dense.bias):
            stack.enter_context(replaced(variable, np.zeros(variable.shape)))
        yield


class Losses:
    """The mean loss of a network on some pairs, with its weights as they are at that moment."""

    def __init__(self, transformer: model.Transformer, pairs: Pairs):
        self.pairs = pairs

        @tf.function
        def loss(inp, tar):
            logits, _ = transformer((inp, tar[:, :-1]), training=False)
            return model.loss_function(tar[:, 1:], logits)

        self._loss = loss

    def __call__(self) -> float:
        """Returns the loss in nats per token."""
        return float(self._loss(*self.pairs))

    def without_heads(self, attention: model.MultiHeadAttention) -> list[float]:
        """Returns the loss without head 0, without head 1, ..."""
        losses = []
        for head in range(attention.num_heads):
            with without_head(attention, head):
                losses.append(self())
        return losses

    def without(self, dense: keras.layers.Dense) -> float:
        """Returns the loss without the sub-layer that ends with a dense layer."""
        with without_output(dense):
            return self()


class Call(NamedTuple):
    """One call of a layer."""

    arguments: tuple  # by position
    output: tf.Tensor


@contextlib.contextmanager
def recorded(layer: keras.layers.Layer) -> Iterator[list[Call]]:
    """Within the block, calls of a layer are put into the list that is returned."""
    calls: list[Call] = []
    call = layer.call

    def recording(*arguments, **options):
        output = call(*arguments, **options)
        calls.append(Call(arguments, output))
        return output

    with mock.patch.object(layer, "call", recording):
        yield calls


# ---- Neurons of the feed-forward networks ----


class TokenMeans(NamedTuple):
    """Mean activations of neurons, by the token at whose position they were."""

    ids: np.ndarray  # (K,)
    means: np.ndarray  # (K, N)

    def top(self, neuron: int, number: int) -> list[int]:
        """Returns the ids of the tokens at which a neuron is most active, in descending order."""
        order = np.argsort(-self.means[:, neuron], kind="stable")[:number]
        return [int(token) for token in self.ids[order]]

    def neuron_for(self, members: Sequence[int]) -> int:
        """Returns the neuron that separates some ids from all others best.

        By the difference of both means, in standard deviations over all tokens.
        """
        inside = np.isin(self.ids, members)
        if not inside.any():
            raise ValueError("none of these tokens is in the text")
        gap = self.means[inside].mean(axis=0) - self.means[~inside].mean(axis=0)
        return int((gap / (self.means.std(axis=0) + 1e-6)).argmax())


MIN_COUNT = 3  # occurrences of a token, for a mean


def token_means(transformer: model.Transformer, ffn: keras.Sequential, pairs: Pairs) -> TokenMeans:
    """Returns the mean activations of the hidden layer of a feed-forward network."""
    hidden = ffn.layers[0]
    with recorded(hidden) as calls:
        transformer((pairs.inp, pairs.tar[:, :-1]), training=False)
    activations = calls[0].output.numpy()  # (B, L, N)
    sides = (pairs.inp.numpy(), pairs.tar[:, :-1].numpy())
    in_encoder = any(layer.ffn is ffn for layer in transformer.encoder.enc_layers)
    ids = sides[0] if in_encoder else sides[1]  # (B, L)
    is_real = ids != model.PAD
    activations, ids = activations[is_real], ids[is_real]  # (tokens, N), (tokens,)
    known, counts = np.unique(ids, return_counts=True)
    known = known[counts >= MIN_COUNT]
    return TokenMeans(known, np.stack([activations[ids == token].mean(axis=0) for token in known]))


# ---- Pictures of numbers ----


def draw_grid(
    path: Path, values: np.ndarray, rows: Sequence[str], columns: Sequence[str],
    digits: int = 2, limit: float | None = None, **axis_texts: str,
) -> Path:  # fmt: skip
    """Draws numbers (rows, columns) of at least 0 as a grid of cells, darker where they are larger.

    From `limit` on cells are darkest; None for the largest number. `axis_texts` are title, xlabel,
    ylabel.
    """
    figure, axes = subplots(figsize=(0.75 * len(columns) + 2.2, 0.42 * len(rows) + 1.4))
    limit = limit or float(values.max())
    axes.imshow(values, cmap=WEIGHTS, vmin=0, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axes.text(
            column, row, f"{value:.{digits}f}", ha="center", va="center", fontsize=9,
            color="white" if value > 0.6 * limit else "black",
        )  # fmt: skip
    axes.set_xticks(range(len(columns)), columns, parse_math=False)
    axes.set_yticks(range(len(rows)), rows, parse_math=False)
    axes.set(**axis_texts)
    return save(figure, path)


def draw_tokens(
    path: Path, lines: Sequence[Sequence[str]], values: Sequence[Sequence[float]], title: str
) -> Path:
    """Draws lines of tokens, each in a cell with a number, darker where that is larger."""
    width = max(map(len, lines))
    figure, axes = subplots(figsize=(1.05 * width, 0.75 * len(lines) + 0.6))
    limit = max(map(max, values))
    for row, (tokens, numbers) in enumerate(zip(lines, values, strict=True)):
        for column, (token, number) in enumerate(zip(labels(tokens), numbers, strict=True)):
            color = WEIGHTS(number / limit * 0.8)
            axes.add_patch(Rectangle((column, row), 0.96, 0.92, fc=color, ec="silver"))
            text = f"{token}\n{number:.2f}"
            axes.text(
                column + 0.48, row + 0.46, text, ha="center", va="center", fontsize=9,
                color="white" if number > 0.7 * limit else "black", parse_math=False,
            )  # fmt: skip
    axes.set(xlim=(0, width), ylim=(len(lines), 0), title=title)
    axes.axis("off")
    return save(figure, path)


def draw_curves(
    path: Path, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], **axis_options: Any
) -> Path:
    """Draws curves by name, each x and y; `axis_options` are of matplotlib's `Axes.set`."""
    figure, axes = subplots(figsize=(8, 4.5))
    for (name, (x, y)), style in zip(curves.items(), itertools.cycle(("o-", "s--", "^:"))):
        axes.plot(x, y, style, markersize=4, label=name)
    axes.set(**axis_options)
    axes.grid(alpha=0.3)
    axes.legend()
    return save(figure, path)


# ---- What translating costs ----


def layer_multiplications(queries: int, keys: int, d_model: int, dff: int) -> int:
    """Returns the multiplications of a layer of self-attention and feed-forward network.

    Projections of as many queries, keys and values and of the output, scores, weighted values, and
    two dense layers; without biases, softmax and normalization. Each of the queries attends to all
    keys.
    """
    projections = 4 * queries * d_model**2
    scores_and_values = 2 * queries * keys * d_model
    return projections + scores_and_values + 2 * queries * d_model * dff


def generation_multiplications(tokens: int, cached: bool, d_model: int, dff: int) -> int:
    """Returns the multiplications of a decoder layer to generate tokens, without cross-attention.

    If keys and values of earlier tokens are cached, a step computes one position.
    """
    return sum(
        layer_multiplications(1 if cached else length, length, d_model, dff)
        for length in range(1, tokens + 1)
    )
