"""The tutorial's pictures as PNG files, drawn without a display.

Every function draws one picture into `path` and returns `path`. Colours: diverging RdBu where the
sign matters, viridis for shares between 0 and 1; both are readable by the colour-blind.
"""

import matplotlib

matplotlib.use("Agg")  # before pyplot: no display is needed, none is looked for

import matplotlib.pyplot as plt
import numpy as np

import transformer_model as model


def save(figure, path):
    """Writes `figure` to `path` and frees it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return path


def positional_encoding(path, position=50, d_model=128):
    """The tutorial's map: a row a position, a column a dimension, sine and cosine from -1 to 1."""
    figure, axes = plt.subplots(figsize=(9, 5))
    encoding = model.positional_encoding(position, d_model)[0]  # (position, D)
    mesh = axes.pcolormesh(encoding, cmap="RdBu", vmin=-1, vmax=1)
    axes.set(
        title=f"Positional encoding of {position} positions in {d_model} dimensions",
        xlabel="Depth",
        ylabel="Position",
        xlim=(0, d_model),
    )
    figure.colorbar(mesh, label="value")
    return save(figure, path)


def masks(path, source, target, inp, tar):
    """The three masks of one pair, dark where attention may not look.

    Args:
      source, target: token strings, for the axes.
      inp, tar: their ids (1, S) and (1, T), padding included.
    """
    enc_padding, combined, dec_padding = model.create_masks(inp, tar)
    panels = (
        ("Encoder self-attention: padding", enc_padding, source, source),
        ("Decoder self-attention: future and padding", combined, target, target),
        ("Decoder cross-attention: padding of the source", dec_padding, target, source),
    )
    side = min(max(6.0, 0.27 * max(len(source), len(target))), 16.0)  # inches, for the tick labels
    figure, all_axes = plt.subplots(1, 3, figsize=(3 * side, side), layout="constrained")
    for axes, (title, mask, queries, keys) in zip(all_axes, panels, strict=True):
        grid = np.broadcast_to(mask[0, 0], (len(queries), len(keys)))
        axes.imshow(grid, cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
        axes.set_xticks(range(len(keys)), keys, rotation=90, parse_math=False)
        axes.set_yticks(range(len(queries)), queries, parse_math=False)
        axes.set_xticks(np.arange(len(keys)) - 0.5, minor=True)
        axes.set_yticks(np.arange(len(queries)) - 0.5, minor=True)
        axes.grid(which="minor", color="silver", linewidth=0.5)
        axes.tick_params(which="minor", length=0)
        axes.set(title=title, xlabel="keys (looked at)", ylabel="queries (looking)")
    figure.suptitle("Masks of one padded pair: dark = masked")
    return save(figure, path)


def schedule(path, rates, steps):
    """The learning rate over `steps` steps by the schedule `rates`, its peak marked."""
    figure, axes = plt.subplots(figsize=(9, 5))
    step, warmup_steps = np.arange(steps + 1), rates.warmup_steps
    axes.plot(step, rates(step))
    if steps >= warmup_steps:
        peak = float(rates(warmup_steps))
        axes.plot([warmup_steps], [peak], "o", label=f"peak {peak:.2e} at step {warmup_steps}")
        axes.legend()
    axes.set(
        title=f"Learning rate: d_model {rates.d_model}, {warmup_steps} warm-up steps",
        xlabel="Step",
        ylabel="Learning rate",
    )
    axes.grid(alpha=0.3)
    return save(figure, path)


def curves(path, history):
    """Loss and accuracy by epoch, of training and validation.

    Args:
      history: a dict for each epoch, with epoch, loss, accuracy, val_loss, val_accuracy.
    """
    figure, all_axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    epochs = [row["epoch"] for row in history]
    for axes, name, unit in zip(
        all_axes, ("loss", "accuracy"), ("nats a token", "share of tokens"), strict=True
    ):
        for key, label, style in (
            (name, "training (with dropout, any label smoothing)", "o-"),
            (f"val_{name}", "validation", "s--"),
        ):
            axes.plot(epochs, [row[key] for row in history], style, markersize=4, label=label)
        axes.set(title=f"{name.capitalize()} by epoch", xlabel="Epoch", ylabel=f"{name}, {unit}")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        axes.legend()
    return save(figure, path)


def attention(path, weights, source, target, title):
    """Attention of one sentence, a panel a head: source tokens across, produced tokens down.

    Args:
      weights: (H, T, S), each row of sum 1.
      source, target: S and T token strings.
      title: what is seen.
    """
    heads = len(weights)
    columns = min(heads, 4)
    rows = -(-heads // columns)
    width, height = (min(0.28 * len(tokens), 20.0) + 1.6 for tokens in (source, target))  # inches
    figure, all_axes = plt.subplots(
        rows,
        columns,
        figsize=(max(columns * width, 6), rows * height + 0.8),
        layout="constrained",
        squeeze=False,
    )
    for head, axes in enumerate(all_axes.flat):
        if head >= heads:
            axes.axis("off")
            continue
        image = axes.imshow(weights[head], cmap="viridis", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(source)), source, rotation=90, fontsize=9, parse_math=False)
        axes.set_yticks(range(len(target)), target, fontsize=9, parse_math=False)
        axes.set_title(f"Head {head + 1}", fontsize=10)
    figure.colorbar(image, ax=all_axes, label="attention weight", shrink=0.7)
    figure.suptitle(title)
    return save(figure, path)
