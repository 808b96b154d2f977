"""Drawing: the tutorial's pictures and some more.

Every function draws one picture into `path` and returns `path`; see figures.py for the format.
Colors mean the same everywhere, and in the explorer: the stronger the blue, the larger a weight or
a positive value; orange is negative, gray is masked. The color-blind see them apart. Maps are
linear; rows go down: position 0, or the first token that attends, is at the top.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import transformer_model as model
from nmt.decoding.attention import KINDS, Attention
from nmt.results.figures import explained, labels, limited, notes, save, subplots
from nmt.results.ranking import Ranking
from nmt.results.texts import Say, english
from transformer_model import CustomSchedule

BLUE, ORANGE, GRAY = "#0b57b0", "#c45c10", "#9a9a9a"  # blue and orange as in the explorer
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["white", BLUE])
SIGNED = LinearSegmentedColormap.from_list("signed", [ORANGE, "white", BLUE])
MASKED = LinearSegmentedColormap.from_list("masked", ["white", GRAY])
COVERED = 0.98  # at least this share of attention weights lies within the color scale


def positional_encoding(
    path: Path,
    position: int = 50,
    d_model: int = 128,
    chosen: int | None = None,
    say: Say = english,
) -> Path:
    """The tutorial's map, one row per position and one column per dimension, and similarities.

    The others are compared with the position `chosen`, or the middle one.
    """
    chosen = position // 2 if chosen is None else chosen
    encoding = model.positional_encoding(position, d_model)[0]  # (position, D)
    figure, (axes, beside) = subplots(1, 2, figsize=(13, 5.4), sharey=True, width_ratios=(3, 1))
    mesh = axes.pcolormesh(
        np.arange(d_model + 1), np.arange(position + 1) - 0.5, encoding,
        cmap=SIGNED, vmin=-1, vmax=1,
    )  # fmt: skip
    title = "Positional encoding of {positions} positions in {depth} dimensions"
    axes.set(
        title=say(title, positions=position, depth=d_model),
        xlabel=say("Dimension"), ylabel=say("Position"), xlim=(0, d_model),
        ylim=(position - 0.5, -0.5),
    )  # fmt: skip
    figure.colorbar(
        mesh, ax=axes, location="bottom", label=say("value of the encoding"), aspect=50, shrink=0.6
    )
    vectors = np.asarray(encoding)
    # All have the length sqrt(d_model / 2) if it is even: sin^2 + cos^2 of each frequency.
    lengths = np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)
    similarity = vectors @ vectors[chosen] / (lengths * lengths[chosen])
    beside.plot(similarity, np.arange(position), color=BLUE)
    beside.axhline(chosen, color=GRAY, linestyle=":")
    beside.set(
        title=say("Similarity to position {position}", position=chosen),
        xlabel=say("cosine of the angle between encodings"), ylabel=say("Position"),
        xlim=(min(similarity) - 0.05, 1.05),
    )  # fmt: skip
    beside.tick_params(labelleft=True)
    beside.grid(alpha=0.3)
    return save(figure, path)


def steps(read: Sequence[str], predicted: Sequence[str]) -> list[str]:
    """Returns labels of queries of the decoder: "g → reet", the token read, the one predicted."""
    return [f"{a} → {b}" for a, b in zip(labels(read), labels(predicted), strict=True)]


def draw_mask(axes: Axes, mask: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> None:
    """Draws one mask (Q, K) or (1, K), a cell for each of Q `queries` and K `keys`, strings."""
    grid = np.broadcast_to(mask, (len(queries), len(keys)))
    axes.imshow(grid, cmap=MASKED, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(keys)), keys, rotation=90, fontsize=11, parse_math=False)
    axes.set_yticks(range(len(queries)), queries, fontsize=11, parse_math=False)
    axes.set_xticks(np.arange(len(keys)) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(queries)) - 0.5, minor=True)
    axes.grid(which="minor", color="silver", linewidth=0.5)
    axes.tick_params(which="minor", length=0)


PADDING = 2  # tokens after each side, in the picture of the masks


def masks(
    path: Path,
    source: Sequence[str],
    target: Sequence[str],
    predicted: Sequence[str],
    say: Say = english,
) -> Path:
    """The three masks of one pair, gray where attention is masked.

    Source and target are the inputs of encoder and decoder; `predicted` are the tokens predicted at
    each of `target`.
    """
    source, cut_off = limited(source, "source", say)
    target, and_more = limited(target, "target", say)
    inp, tar = (
        np.pad(np.ones((1, len(side))), ((0, 0), (0, PADDING))) for side in (source, target)
    )
    enc_padding, dec_mask, dec_padding = model.create_masks(inp, tar)
    pad = ["<pad>"] * PADDING
    rows = [*steps(target, predicted[: len(target)]), *pad]
    source, target = ([*labels(side), *pad] for side in (source, target))
    decoder_queries = "queries: token read → token predicted"
    panels = (
        ("Encoder self-attention: padding", enc_padding, source, source, "queries"),
        ("Decoder self-attention: future and padding", dec_mask, rows, target, decoder_queries),
        ("Decoder cross-attention: padding of the source", dec_padding, rows, source, decoder_queries),  # noqa: E501
    )  # fmt: skip
    side = min(max(6.0, 0.27 * max(len(source), len(target))), 16.0)  # inches, for the tick labels
    figure, all_axes = subplots(1, 3, figsize=(3 * side, side))
    for axes, (title, mask, queries, keys, ylabel) in zip(all_axes, panels, strict=True):
        draw_mask(axes, mask[0, 0], queries, keys)
        axes.set_title(say(title), fontsize=13)
        axes.set_xlabel(say("keys"), fontsize=12)
        axes.set_ylabel(say(ylabel), fontsize=12)
    title = say("Masks of one padded pair: gray = masked")
    figure.suptitle(notes(title, cut_off, and_more), fontsize=14)
    padding_rows = say(
        "Rows of <pad> need no mask: they are computed, but nothing attends to them, and the loss "
        "leaves them out"
    )
    figure.supxlabel(notes(padding_rows, explained([*source, *target], say)), fontsize=11)
    return save(figure, path)


def schedule(
    path: Path,
    schedules: dict[str, CustomSchedule],
    steps: int,
    scale: float = 1.0,
    say: Say = english,
) -> Path:
    """The learning rate over `steps` steps by each of `schedules`, by name; peaks are marked.

    `scale` multiplies the paper's rate in all of them.
    """
    figure, axes = subplots(figsize=(9, 5))
    step, peaks = np.linspace(0, steps, 1000), {}
    for (name, rates), style in zip(schedules.items(), ("-", "--", ":", "-."), strict=False):
        axes.plot(step, rates(step), style, linewidth=2, label=name)
        peaks[name] = rates.warmup_steps, float(rates(rates.warmup_steps))
    if len(schedules) > 1 and len({(at, f"{peak:.2e}") for at, peak in peaks.values()}) == 1:
        peaks = {"": next(iter(peaks.values()))}  # one mark for all
    for name, (warmup_steps, peak) in peaks.items():
        if steps >= warmup_steps:
            text = "{name}: peak {peak:.2e} at step {step:,}"
            text = text if name else "all reach {peak:.2e} at step {step:,}"
            axes.plot(
                [warmup_steps], [peak], "o", color="black", markersize=5, zorder=3,
                label=say(text, name=name, peak=peak, step=warmup_steps),
            )  # fmt: skip
    rates = next(iter(schedules.values()))
    text = "Learning rate over {steps:,} steps: d_model {depth}, {warmup:,} warm-up steps"
    title = say(text, steps=steps, depth=rates.d_model, warmup=rates.warmup_steps)
    scaled = say("{times:g} times the paper's rate (--learning-rate-scale)", times=scale)
    axes.set(
        title=f"{title}\n{scaled}" if scale != 1 else title,
        xlabel=say("Step"), ylabel=say("Learning rate"), ylim=(0, None),
    )  # fmt: skip
    axes.grid(alpha=0.3)
    axes.legend()
    return save(figure, path)


def softmax_weights(scores: np.ndarray) -> np.ndarray:
    """Softmax over the last axis of an array."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def random_scores(d_k: int, keys: int, samples: int) -> np.ndarray:
    """Scores (samples, keys) of random queries and keys of d_k values: their variance is d_k."""
    rng = np.random.default_rng(d_k)
    key = rng.standard_normal((samples, keys, d_k), np.float32)
    query = rng.standard_normal((samples, d_k, 1), np.float32)
    return (key @ query)[..., 0]


def gradient_norm(weights: np.ndarray) -> float:
    """Mean Frobenius norm of the derivative of softmax weights (samples, keys) by their scores."""
    # diag(w) - w w^T
    jacobian = weights[:, :, None] * (np.eye(weights.shape[-1]) - weights[:, None, :])
    return float(np.sqrt((jacobian**2).sum(axis=(1, 2))).mean())


def draw_gradient_norms(axes: Axes, keys: int, samples: int, say: Say) -> None:
    """Draws the norm of the softmax's gradient by d_k, for scores as they are and scaled ones."""
    widths = [2**power for power in range(10)]  # 1 to 512
    norms: dict[str, list[float]] = {"q · k": [], "q · k / √d_k": []}
    for width in widths:
        scores = random_scores(width, keys, samples)
        norms["q · k"].append(gradient_norm(softmax_weights(scores)))
        norms["q · k / √d_k"].append(gradient_norm(softmax_weights(scores / np.sqrt(width))))
    for (name, values), style in zip(norms.items(), ("o-", "s--"), strict=True):
        axes.plot(widths, values, style, markersize=4, label=name)
    axes.set(
        title=say("Gradient of the weights with respect to the scores"),
        xlabel=say("d_k, the width of queries and keys (logarithmic)"),
        ylabel=say("norm of the gradient, mean"),
        xscale="log",
        ylim=(0, None),
    )
    axes.set_xticks(widths, widths)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()


def scaling(path: Path, say: Say = english) -> Path:
    """Why scores are divided by sqrt(d_k) (paper 3.2.1), with random queries and keys.

    Mean weights of many queries, the largest first, for several depths; and the norm of the
    softmax's gradient, which vanishes where one weight is near 1.
    """
    depths, keys, samples = (8, 64, 512), 16, 2000
    figure, (plain, scaled, slope) = subplots(1, 3, figsize=(15, 5))
    for d_k, style in zip(depths, ("o-", "s--", "^:"), strict=True):
        scores = random_scores(d_k, keys, samples)
        for axes, divisor in ((plain, 1.0), (scaled, np.sqrt(d_k))):
            weights = softmax_weights(scores / divisor)
            means = np.sort(weights, axis=1)[:, ::-1].mean(axis=0)
            axes.plot(range(1, keys + 1), means, style, markersize=4, label=f"d_k = {d_k}")
    for axes, title in (
        (plain, "softmax(q · k): one key takes all"),
        (scaled, "softmax(q · k / √d_k): the same for every d_k"),
    ):
        axes.set(
            title=say(title),
            xlabel=say("rank of the key among {keys}, 1 = largest weight", keys=keys),
            ylabel=say("attention weight, mean of {samples:,} queries", samples=samples),
            ylim=(0, 1),
        )
        axes.grid(alpha=0.3)
        axes.legend()
    draw_gradient_norms(slope, keys, samples // 4, say)
    figure.suptitle(
        say("Why scores are scaled: random queries and {keys} keys of d_k values each", keys=keys)
    )
    return save(figure, path)


class Curve(NamedTuple):
    """What is drawn of the training of a run."""

    history: list[dict[str, Any]]  # by epoch: epoch, (val_)loss, (val_)accuracy, learning_rate
    schedule: CustomSchedule
    steps_per_epoch: float


def draw_by_epoch(axes: Axes, metric: str, curves: dict[str, Curve], say: Say) -> None:
    """Draws a metric: training solid, validation dashed; a color for each of several runs."""
    alone = len(curves) == 1  # training and validation in two hues; else a hue for each run
    for number, (name, curve) in enumerate(curves.items()):
        epochs = [row["epoch"] for row in curve.history]
        for prefix, split, style in (("", "training", "o-"), ("val_", "validation", "s--")):
            values: list[Any] = [row.get(prefix + metric) for row in curve.history]
            if None not in values:
                text = say(split)
                axes.plot(
                    epochs, values, style, markersize=4,
                    color=f"C{int(bool(prefix)) if alone else number}",
                    label=text if alone else say("{run}: {split}", run=name, split=text),
                )  # fmt: skip
    axes.set_xlabel(say("Epoch"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_learning_rates(axes: Axes, curves: dict[str, Curve], say: Say) -> None:
    """Draws the schedule of each run by step, and a point for what was recorded of each epoch."""
    alone, recorded = len(curves) == 1, say("at the end of each epoch")
    for number, (name, curve) in enumerate(curves.items()):
        ends = [row.get("step", row["epoch"] * curve.steps_per_epoch) for row in curve.history]
        step = np.linspace(0, max(ends, default=0), 1000)  # no epoch may be finished yet
        axes.plot(
            step, curve.schedule(step), color=f"C{number}", label=say("schedule") if alone else name
        )
        rates = [row["learning_rate"] for row in curve.history]
        axes.plot(
            ends, rates, "o", markersize=4, color=f"C{number}",
            label=recorded if number + 1 == len(curves) else None,
        )  # fmt: skip
    axes.set(xlabel=say("Step"), xlim=(0, None), ylim=(0, None))


def curves(
    path: Path,
    curves: dict[str, Curve],
    dropout: bool = False,
    label_smoothing: bool = False,
    say: Say = english,
) -> Path:
    """Loss and accuracy by epoch, and the learning rate by step, of runs by name.

    A note says whether one of them trains with dropout or label smoothing.
    """
    figure, (loss, accuracy, rate) = subplots(1, 3, figsize=(16, 5))
    draw_by_epoch(loss, "loss", curves, say)
    draw_by_epoch(accuracy, "accuracy", curves, say)
    draw_learning_rates(rate, curves, say)
    for axes, title, unit in (
        (loss, "Loss by epoch", "loss, nats per token"),
        (accuracy, "Accuracy by epoch", "accuracy, share of tokens predicted right"),
        (rate, "Learning rate by step", "learning rate"),
    ):
        axes.set(title=say(title), ylabel=say(unit))
        axes.grid(alpha=0.3)
        for text in axes.legend().get_texts():
            text.set_parse_math(False)  # a path may hold a $
    figure.suptitle(", ".join(curves), parse_math=False)
    note = say("Training values are averages over an epoch in which the weights still change")
    noise = ["dropout"] * dropout + ["label smoothing"] * label_smoothing
    if noise:
        note = say("{note}, computed with {what}", note=note, what=say(" and ".join(noise)))
    figure.supxlabel(note, fontsize=10)
    return save(figure, path)


def confidence(path: Path, predicted: Sequence[float], actual: np.ndarray) -> Path:
    """The chrF that a run expects of its translations, and the chrF that they have, 0 to 100."""
    expected = np.asarray(predicted)
    figure, (points, counts) = subplots(1, 2, figsize=(12, 5.4))
    points.plot([0, 100], [0, 100], color=GRAY, linewidth=1, label="as predicted")
    points.plot(expected, actual, ".", color=BLUE, alpha=0.25, label="a translation")
    tenths = np.array_split(np.argsort(expected, kind="stable"), min(10, len(expected)))
    points.plot(
        [expected[numbers].mean() for numbers in tenths],
        [actual[numbers].mean() for numbers in tenths],
        "o", color=ORANGE, label="mean of a tenth",
    )  # fmt: skip
    points.set(
        title="What a run expects, and what it gets", xlabel="confidence", ylabel="chrF",
        xlim=(0, 100), ylim=(0, 100), aspect="equal",
    )  # fmt: skip
    points.legend()
    counts.hist(expected, bins=range(0, 101, 5), color=BLUE)
    counts.set(
        title="How many translations have it", xlabel="confidence", ylabel="translations",
        xlim=(0, 100),
    )  # fmt: skip
    return save(figure, path)


LOG_SPREAD = 30  # a flag whose highest value is so many times the lowest has a logarithmic axis


def sweep(path: Path, ranking: Ranking, say: Say = english) -> Path:
    """The validation result of all runs of a search, by the value of each flag."""
    number = len(ranking.flags)
    figure, panels = subplots(
        1, number, figsize=(max(4 * number, 7), 4), sharey=True, squeeze=False
    )
    results = [run.result for run in ranking.runs]
    for column, (flag, axes) in enumerate(zip(ranking.flags, panels[0], strict=True)):
        values = positions_of([run.values[column] for run in ranking.runs], axes)
        axes.plot(values, results, "o", color=BLUE, alpha=0.6, label=say("a run"))
        axes.plot(values[:1], results[:1], "o", color=ORANGE, label=say("the best run"))
        axes.set_xlabel(f"--{flag}")
        axes.grid(alpha=0.3)
    panels[0, 0].set_ylabel(say("validation: {metric}", metric=say(ranking.metric)))
    panels[0, 0].legend()
    figure.suptitle(say("{number} runs by the value of each flag", number=len(ranking.runs)))
    return save(figure, path)


def positions_of(values: Sequence[str], axes: Axes) -> list[float]:
    """Returns the positions of values on the x-axis: numbers as such, words in their order."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        words = list(dict.fromkeys(values))
        axes.set_xticks(range(len(words)), words, parse_math=False)
        return [float(words.index(value)) for value in values]
    if min(numbers) > 0 and max(numbers) >= LOG_SPREAD * min(numbers):
        axes.set_xscale("log")
    return numbers


def lengths(
    path: Path, counts: np.ndarray, dropped: int, buckets: Sequence[int], say: Say = english
) -> Path:
    """The lengths of the training pairs, and the buckets.

    `counts` are pairs by length, in tokens of the longer side; `dropped` are pairs that are longer.
    """
    figure, axes = subplots(figsize=(10, 5))
    bars = say("training pairs of that length")
    axes.bar(range(len(counts)), counts, width=1.0, label=bars)
    boundary = say("bucket boundary: pairs of one bucket share batches")
    for number, length in enumerate(buckets):
        label = boundary if number == 0 else None
        axes.axvline(length + 0.5, color="C1", linewidth=1, linestyle="--", label=label)
    in_buckets = say("1 bucket" if len(buckets) == 1 else "{number} buckets", number=len(buckets))
    title = say(
        "Training pairs by length: {pairs:,} in {buckets}; {dropped:,} ({share:.1%}) dropped for "
        "more than {most} tokens",
        pairs=sum(counts), buckets=in_buckets, dropped=dropped, most=len(counts) - 1,
        share=dropped / (dropped + sum(counts)),
    )  # fmt: skip
    shortest = next((length for length, pairs in enumerate(counts) if pairs), 0)
    axes.set(
        title=title, ylabel=say("Pairs"), xlim=(shortest - 1, len(counts)),
        xlabel=say("Tokens of the longer side, START and END included"),
    )  # fmt: skip
    axes.grid(alpha=0.3, axis="y")
    axes.legend(loc="upper right", framealpha=1)
    return save(figure, path)


def color_limit(weights: np.ndarray) -> float:
    """Returns where the color scale of attention weights ends, a number of one digit: 0.02, 0.4, 1.

    It ends with the largest weight, unless COVERED of them are less than half as large: a single
    weight near 1 would turn all others white.
    """
    largest, covered = max(weights.max(), 1e-3), max(np.quantile(weights, COVERED), 1e-3)
    end = largest if 2 * covered >= largest else covered
    digit = 10.0 ** np.floor(np.log10(end))
    return round(float(np.ceil(end / digit - 1e-6) * digit), 6)


def attention(
    path: Path,
    weights: np.ndarray,
    names: Sequence[str],
    keys: Sequence[str],
    queries: Sequence[str],
    title: str,
    rows: str = "",
    say: Say = english,
) -> Path:
    """Attention weights (H, T, S) of one sentence, a panel per head: keys across, queries down.

    Queries are T token strings, or the labels that `steps` returns; `rows` says what the labels
    are.
    """
    keys, cut_off = limited(keys, "across", say)
    queries, and_more = limited(queries, "down", say)
    weights = weights[:, : len(queries), : len(keys)]
    keys = labels(keys)
    if not any(" → " in query for query in queries):
        queries = labels(queries)
    figure = draw_heads(weights, names, keys, queries, say)
    figure.suptitle(notes(title, cut_off, and_more), fontsize=13)
    below = [text for text in (rows, explained([*keys, *queries], say)) if text]
    figure.supxlabel("\n".join(below), fontsize=10)
    return save(figure, path)


def head_panels(
    heads: int, keys: Sequence[str], queries: Sequence[str]
) -> tuple[Figure, np.ndarray]:
    """Returns a new figure with room for all labels, and its axes, four panels across at most."""
    columns = min(heads, 4)
    grid_rows = -(-heads // columns)
    width = min(0.3 * len(keys), 20.0)  # inches, without labels
    height = min(0.28 * len(queries), 20.0)
    left = 0.09 * max(map(len, queries)) + 0.4  # of the labels of the first column
    return subplots(
        grid_rows, columns, sharex=True, sharey=True, squeeze=False,
        figsize=(max(columns * width + left + 1.4, 6), grid_rows * (height + 0.4) + 1.8),
    )  # fmt: skip


def draw_heads(
    weights: np.ndarray,
    names: Sequence[str],
    keys: Sequence[str],
    queries: Sequence[str],
    say: Say,
) -> Figure:
    """Returns a figure of attention weights (H, T, S) with one color scale for all heads."""
    heads = len(weights)
    figure, all_axes = head_panels(heads, keys, queries)
    columns = all_axes.shape[1]
    limit = color_limit(weights)
    for head, axes in enumerate(all_axes.flat):
        if head >= heads:
            axes.axis("off")
            continue
        image = axes.imshow(weights[head], cmap=WEIGHTS, vmin=0, vmax=limit, aspect="auto")
        axes.set_xticks(range(len(keys)), keys, rotation=90, fontsize=11, parse_math=False)
        axes.set_yticks(range(len(queries)), queries, fontsize=11, parse_math=False)
        axes.set_title(names[head], fontsize=12)
        axes.tick_params(labelbottom=head + columns >= heads)
    exceeded = weights.max() > limit
    scale = say("attention weight, one scale for all heads" if heads > 1 else "attention weight")
    figure.colorbar(
        image, ax=all_axes, shrink=0.7, pad=0.02, extend="max" if exceeded else "neither",
        label=notes(scale, say("darkest: above {limit:g}", limit=limit) if exceeded else ""),
    )  # fmt: skip
    return figure


def attention_of(
    path: Path,
    seen: Attention,
    kind: str = "cross",
    layer: int | None = None,
    head: int | None = None,
    mean: bool = False,
    say: Say = english,
) -> Path:
    """Attention weights of a translated sentence: one head, all heads, or their mean.

    Layers and heads count from 1; None for the last layer, and for all heads.
    """
    weights, queries, keys = seen.select(kind, layer)
    rows = "row: query, column: key"
    if kind != "encoder":
        queries = steps(seen.target[:-1], seen.target[1:])
        rows = "row: the token read (the query) → the token predicted from it; column: the key"
    names = [say("Head {number}", number=number) for number in range(1, len(weights) + 1)]
    if mean:
        names = [say("Mean of {number} heads", number=len(weights))]
        weights = weights.mean(axis=0, keepdims=True)
    elif head:
        weights, names = weights[head - 1 : head], names[head - 1 : head]
    number = layer or seen.layers(kind)
    title = say("{title}; layer {number}", title=say(KINDS[kind].title), number=number)
    return attention(path, weights, names, keys, queries, title, say(rows), say)
