"""Drawing: the tutorial's pictures and some more.

Every function draws one picture into `path` and returns `path`; see figures.py for the format.
Colors: diverging RdBu where the sign matters, white to blue for shares between 0 and 1; both are
readable for the color-blind, and on paper.
"""

import numpy as np

import transformer_model as model
from nmt.messages import plural
from nmt.results.figures import EXPLAINED, labels, limited, save, subplots


def positional_encoding(path, position=50, d_model=128, chosen=None):
    """The tutorial's map, one row per position and one column per dimension, and similarities.

    Args:
      path: of the file.
      position: number of positions.
      d_model: number of dimensions.
      chosen: the position that the others are compared with; None for the middle one.
    """
    chosen = position // 2 if chosen is None else chosen
    encoding = model.positional_encoding(position, d_model)[0]  # (position, D)
    figure, (axes, beside) = subplots(1, 2, figsize=(13, 5), sharey=True, width_ratios=(3, 1))
    mesh = axes.pcolormesh(
        np.arange(d_model + 1), np.arange(position + 1) - 0.5, encoding,
        cmap="RdBu", vmin=-1, vmax=1,
    )  # fmt: skip
    axes.set(
        title=f"Positional encoding of {position} positions in {d_model} dimensions",
        xlabel="Dimension", ylabel="Position", xlim=(0, d_model),
    )  # fmt: skip
    figure.colorbar(mesh, ax=axes, label="value")
    # Every encoding has the same length, sqrt(d_model / 2): sin^2 + cos^2 of each frequency.
    similarity = np.asarray(encoding) @ np.asarray(encoding)[chosen] / (d_model / 2)
    beside.plot(similarity, np.arange(position))
    beside.axhline(chosen, color="grey", linestyle=":")
    beside.set(
        title=f"Similarity to position {chosen}",
        xlabel="cosine of the angle between encodings",
        xlim=(min(similarity) - 0.05, 1.05),
    )
    beside.grid(alpha=0.3)
    return save(figure, path)


def masks(path, source, target, look_ahead=True, padding=2):
    """The three masks of one pair, dark where attention is masked.

    Args:
      path: of the file.
      source, target: token strings, the inputs of encoder and decoder.
      look_ahead: whether the decoder may not attend to later positions.
      padding: tokens of padding after each.
    """
    (source, cut_off), (target, and_more) = limited(source, "source"), limited(target, "target")
    ids = (np.pad(np.ones((1, len(side))), ((0, 0), (0, padding))) for side in (source, target))
    inp, tar = ids
    enc_padding, combined, dec_padding = model.create_masks(inp, tar)
    decoder = "future and padding", combined
    if not look_ahead:
        decoder = "padding", model.create_padding_mask(tar)
    source, target = ([*labels(side), *["<pad>"] * padding] for side in (source, target))
    panels = (
        ("Encoder self-attention: padding", enc_padding, source, source),
        (f"Decoder self-attention: {decoder[0]}", decoder[1], target, target),
        ("Decoder cross-attention: padding of the source", dec_padding, target, source),
    )
    side = min(max(6.0, 0.27 * max(len(source), len(target))), 16.0)  # inches, for the tick labels
    figure, all_axes = subplots(1, 3, figsize=(3 * side, side))
    for axes, (title, mask, queries, keys) in zip(all_axes, panels, strict=True):
        grid = np.broadcast_to(mask[0, 0], (len(queries), len(keys)))
        axes.imshow(grid, cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
        axes.set_xticks(range(len(keys)), keys, rotation=90, parse_math=False)
        axes.set_yticks(range(len(queries)), queries, parse_math=False)
        axes.set_xticks(np.arange(len(keys)) - 0.5, minor=True)
        axes.set_yticks(np.arange(len(queries)) - 0.5, minor=True)
        axes.grid(which="minor", color="silver", linewidth=0.5)
        axes.tick_params(which="minor", length=0)
        axes.set(title=title, xlabel="keys", ylabel="queries")
    title = "Masks of one padded pair: dark = masked"
    figure.suptitle("; ".join(part for part in (title, cut_off, and_more) if part))
    figure.supxlabel(EXPLAINED, fontsize=9)
    return save(figure, path)


def schedule(path, schedules, steps):
    """The learning rate over `steps` steps by each of `schedules`, by name; peaks are marked."""
    figure, axes = subplots(figsize=(9, 5))
    step = np.linspace(0, steps, 1000)
    for (name, rates), style in zip(schedules.items(), ("-", "--", ":", "-."), strict=False):
        (line,) = axes.plot(step, rates(step), style, linewidth=2)
        warmup_steps = rates.warmup_steps
        peak = float(rates(warmup_steps))
        line.set_label(f"{name}: peak {peak:.2e} at step {warmup_steps:,}")
        if steps >= warmup_steps:
            axes.plot([warmup_steps], [peak], "o", color=line.get_color())
    axes.set(
        title=f"Learning rate over {steps:,} steps, d_model {rates.d_model}",
        xlabel="Step", ylabel="Learning rate",
    )  # fmt: skip
    axes.grid(alpha=0.3)
    axes.legend()
    return save(figure, path)


def scaling(path, depths=(8, 64, 512), keys=16, samples=2000):
    """Why scores are divided by sqrt(d_k) (paper 3.2.1), with random queries and keys.

    Mean weights of `samples` queries for `keys` keys, the largest first, for each of `depths`; and
    the norm of the softmax's gradient, which vanishes where one weight is near 1.
    """
    rng = np.random.default_rng(0)
    figure, (plain, scaled, slope) = subplots(1, 3, figsize=(15, 5))
    lengths = []
    for d_k, style in zip(depths, ("o-", "s--", "^:"), strict=True):
        key = rng.standard_normal((samples, keys, d_k), np.float32)
        query = rng.standard_normal((samples, d_k, 1), np.float32)
        scores = (key @ query)[..., 0]  # (samples, keys), of variance d_k
        for axes, divisor in ((plain, 1.0), (scaled, np.sqrt(d_k))):
            powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / divisor)
            weights = powers / powers.sum(axis=1, keepdims=True)
            means = np.sort(weights, axis=1)[:, ::-1].mean(axis=0)
            axes.plot(range(1, keys + 1), means, style, markersize=4, label=f"d_k = {d_k}")
            # The derivative of weights by scores: diag(w) - w w^T, by its Frobenius norm.
            jacobian = weights[:, :, None] * (np.eye(keys) - weights[:, None, :])
            lengths.append(np.sqrt((jacobian**2).sum(axis=(1, 2))).mean())
    for axes, title in (
        (plain, "softmax(q · k): one key takes all"),
        (scaled, "softmax(q · k / √d_k): the same for every d_k"),
    ):
        axes.set(
            title=title, xlabel=f"rank of the key among {keys}, 1 = largest weight",
            ylabel=f"attention weight, mean of {samples:,} queries", ylim=(0, 1),
        )  # fmt: skip
        axes.grid(alpha=0.3)
        axes.legend()
    slope.plot(depths, lengths[0::2], "o-", label="q · k")
    slope.plot(depths, lengths[1::2], "s--", label="q · k / √d_k")
    slope.set(
        title="Gradient of the weights with respect to the scores",
        xlabel="d_k, the width of queries and keys", ylabel="norm of the gradient, mean",
        xscale="log", ylim=(0, None),
    )  # fmt: skip
    slope.set_xticks(depths, depths)
    slope.minorticks_off()
    slope.grid(alpha=0.3)
    slope.legend()
    figure.suptitle(f"Why scores are scaled: random queries and {keys} keys of d_k values each")
    return save(figure, path)


def curves(path, histories):
    """Loss, accuracy, learning rate by epoch; training solid, validation dashed, a color per run.

    Args:
      path: of the file.
      histories: by name of the run, a dict for each epoch, with epoch, loss, accuracy, val_loss,
        val_accuracy, learning_rate.
    """
    figure, all_axes = subplots(1, 3, figsize=(16, 5))
    alone = len(histories) == 1  # training and validation in two hues; else a hue for each run
    panels = (
        ("loss", "nats per token"),
        ("accuracy", "share of tokens predicted right"),
        ("learning_rate", "at the end of the epoch"),
    )
    for axes, (key, unit) in zip(all_axes, panels, strict=True):
        for number, (name, history) in enumerate(histories.items()):
            epochs = [row["epoch"] for row in history]
            for prefix, split, style in (("", "training", "o-"), ("val_", "validation", "s--")):
                values = [row.get(prefix + key) for row in history]
                if None not in values:
                    label = split if alone else f"{name}: {split}"
                    axes.plot(
                        epochs, values, style, markersize=4,
                        color=f"C{int(bool(prefix)) if alone else number}",
                        label=name if key == "learning_rate" else label,
                    )  # fmt: skip
        title = key.replace("_", " ")
        axes.set(title=f"{title.capitalize()} by epoch", xlabel="Epoch", ylabel=f"{title}, {unit}")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        if key != "learning_rate" or not alone:
            for text in axes.legend().get_texts():
                text.set_parse_math(False)  # a path may hold a $
    figure.suptitle(", ".join(histories), parse_math=False)
    note = "Values of training are means over the epoch, with dropout and label smoothing"
    figure.supxlabel(note, fontsize=9)
    return save(figure, path)


def lengths(path, counts, dropped, buckets):
    """The lengths of the training pairs, and the buckets.

    Args:
      path: of the file.
      counts: pairs by length, in tokens of the longer side.
      dropped: pairs that are longer.
      buckets: the maximum length of each.
    """
    figure, axes = subplots(figsize=(10, 5))
    axes.bar(range(len(counts)), counts, width=1.0, label="training pairs of that length")
    for number, length in enumerate(buckets):
        label = "where a bucket ends: pairs of one bucket share batches" if number == 0 else None
        axes.axvline(length + 0.5, color="C1", linewidth=1, linestyle="--", label=label)
    share = dropped / (dropped + sum(counts))
    axes.set(
        title=f"Training pairs by length: {sum(counts):,} in {plural(len(buckets), 'bucket')}; "
        f"{dropped:,} ({share:.1%}) dropped for more than {len(counts) - 1} tokens",
        xlabel="Tokens of the longer side, START and END included", ylabel="Pairs",
    )  # fmt: skip
    axes.grid(alpha=0.3, axis="y")
    axes.legend(loc="upper right", framealpha=1)
    return save(figure, path)


def attention(path, weights, names, keys, queries, title):
    """Attention weights of one sentence, a panel per head: keys across, queries down.

    Args:
      path: of the file.
      weights: (H, T, S), each row with sum 1.
      names: H titles of panels.
      keys, queries: S and T token strings.
      title: of the figure.
    """
    (keys, cut_off), (queries, and_more) = limited(keys, "across"), limited(queries, "down")
    weights = weights[:, : len(queries), : len(keys)]
    heads, keys, queries = len(weights), labels(keys), labels(queries)
    columns = min(heads, 4)
    rows = -(-heads // columns)
    width, height = (min(0.28 * len(tokens), 20.0) + 1.6 for tokens in (keys, queries))  # inches
    figure, all_axes = subplots(
        rows, columns, figsize=(max(columns * width, 6), rows * height + 0.8), squeeze=False,
    )  # fmt: skip
    for head, axes in enumerate(all_axes.flat):
        if head >= heads:
            axes.axis("off")
            continue
        image = axes.imshow(weights[head], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(keys)), keys, rotation=90, fontsize=9, parse_math=False)
        axes.set_yticks(range(len(queries)), queries, fontsize=9, parse_math=False)
        axes.set_title(names[head], fontsize=10)
    scale = "attention weight" + ", one scale for all heads" * (heads > 1)
    figure.colorbar(image, ax=all_axes, label=scale, shrink=0.7)
    figure.suptitle("; ".join(part for part in (title, cut_off, and_more) if part))
    figure.supxlabel(EXPLAINED, fontsize=9)
    return save(figure, path)
