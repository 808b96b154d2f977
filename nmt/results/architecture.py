"""The architecture of a Transformer, drawn from its real layers: blocks, shapes, parameters."""

from typing import NamedTuple

from matplotlib.patches import FancyBboxPatch

from nmt.results import figures

COLORS = {  # of blocks; as in the paper's figure 1, lighter
    "embedding": "#f9dcdc", "attention": "#fde3c4", "norm": "#f4f2c0", "ffn": "#d3e8f4",
    "output": "#dcd9ec", "positions": "#ffffff",
}  # fmt: skip
WIDTH, HEIGHT, GAP = 4.4, 0.62, 0.34  # of a block and between two, in units of the axes
CROSS = "Cross-attention"
COLUMNS = 0.0, 6.4  # where those of encoder and decoder begin


class Block(NamedTuple):
    """A box of the figure."""

    kind: str  # one of COLORS
    title: str
    detail: str
    parameters: int  # of one such block
    layers: int = 0  # that have such a block; 0: it stands outside of them
    shared: bool = False  # its parameters are counted elsewhere


def blocks(transformer):
    """Returns the Blocks of encoder and decoder, each from the input upwards."""
    sizes, encoder, decoder = transformer.config, transformer.encoder, transformer.decoder
    width, heads, layers = sizes["d_model"], sizes["num_heads"], sizes["num_layers"]
    vocab, tied = sizes["target_vocab_size"], sizes["tie_embeddings"]
    per_head = f"{heads} heads of {width // heads}"
    pre_norm = sizes["pre_norm"]

    add = ", add" if pre_norm else ""  # to the input of the sub-layer

    def attention(title, layer, norm):
        return pair(Block("attention", title + add, per_head, layer.count_params(), layers), norm)

    def ffn(layer, norm):
        detail = f"{width} → {sizes['dff']:,} → {width}, ReLU"
        return pair(Block("ffn", "Feed-forward" + add, detail, layer.count_params(), layers), norm)

    def pair(block, norm):  # the normalization stands before the sub-layer, or after it
        count = norm.count_params()
        if pre_norm:
            return [Block("norm", "Layer normalization", "", count, layers), block]
        return [block, Block("norm", "Add, layer normalization", "", count, layers)]

    def begin(side, embedding, vocab_size, shared=False):
        count = embedding.count_params()
        return [
            Block(
                "embedding", f"{side} embedding", f"{vocab_size:,} × {width}", count, shared=shared
            ),
            Block("positions", "+ positional encoding", "sines and cosines", 0),
        ]

    def end(stack):
        if not pre_norm:
            return []
        return [Block("norm", "Layer normalization", "", stack.layernorm.count_params())]

    first, last = encoder.enc_layers[0], decoder.dec_layers[0]
    masked = "Self-attention" if sizes["non_autoregressive"] else "Masked self-attention"
    linear = 0 if tied else transformer.final_layer.count_params()
    return (
        [
            *begin("Source", encoder.embedding, sizes["input_vocab_size"]),
            *attention("Self-attention", first.mha, first.layernorm1),
            *ffn(first.ffn, first.layernorm2),
            *end(encoder),
        ],
        [
            *begin("Target", decoder.embedding, vocab, tied),
            *attention(masked, last.mha1, last.layernorm1),
            *attention(CROSS, last.mha2, last.layernorm2),
            *ffn(last.ffn, last.layernorm3),
            *end(decoder),
            Block("output", "Linear", f"{width} → {vocab:,}", linear, shared=tied),
            Block("output", "Softmax", "", 0),
        ],
    )


def number(block):
    """Returns the parameters of a Block as text."""
    if block.shared:
        return "shared"
    return f"{block.parameters:,}" if block.parameters else ""


def draw_column(axes, left, column, shapes):
    """Draws the Blocks of one stack, upwards. Returns the heights of their middles by title.

    Args:
      axes: of matplotlib.
      left: where the column begins.
      column: Blocks.
      shapes: texts below the first block, after the positions, and above the last block.
    """
    middles, layered = {}, []
    for level, block in enumerate(column):
        bottom = level * (HEIGHT + GAP)
        middle = bottom + HEIGHT / 2
        axes.add_patch(
            FancyBboxPatch(
                (left, bottom), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.08",
                facecolor=COLORS[block.kind], edgecolor="#444444", linewidth=0.8, zorder=2,
            )
        )  # fmt: skip
        title = f"{block.title}\n{block.detail}" if block.detail else block.title
        axes.text(left + 0.12, middle, title, va="center", fontsize=8, zorder=3, linespacing=1.2)
        axes.text(
            left + WIDTH - 0.12,
            middle,
            number(block),
            va="center",
            ha="right",
            fontsize=8,
            zorder=3,
        )
        arrow(axes, (left + WIDTH / 2, bottom - GAP), (left + WIDTH / 2, bottom))
        middles.setdefault(block.title.removesuffix(", add"), middle)
        layered += [bottom] if block.layers else []
    top = len(column) * (HEIGHT + GAP)
    arrow(axes, (left + WIDTH / 2, top - GAP), (left + WIDTH / 2, top))
    bottom, above = min(layered), max(layered) + HEIGHT
    layers = max(block.layers for block in column)
    axes.add_patch(
        FancyBboxPatch(
            (left - 0.25, bottom - 0.17), WIDTH + 0.5, above - bottom + 0.34, zorder=1,
            boxstyle="round,pad=0,rounding_size=0.15", facecolor="#f5f5f5", edgecolor="#999999",
        )
    )  # fmt: skip
    axes.text(
        left - 0.38, (bottom + above) / 2, f"{layers} ×", ha="right", va="center", fontsize=13
    )
    heights = (-GAP - 0.06, 2 * (HEIGHT + GAP) - GAP / 2, top + 0.06)
    for text, height, align in zip(shapes, heights, ("top", "center", "bottom"), strict=True):
        side = left + WIDTH / 2 + (0.1 if align == "center" else 0)
        axes.text(
            side, height, text, fontsize=8, color="#555555", va=align,
            ha="left" if align == "center" else "center", zorder=4,
            bbox=dict(facecolor="white", edgecolor="none", pad=0.5),
        )  # fmt: skip
    return middles


def arrow(axes, start, end):
    """Draws an arrow between two points."""
    axes.annotate(
        "", end, start, arrowprops=dict(arrowstyle="-|>", color="#444444", shrinkA=0, shrinkB=0)
    )


def draw(path, transformer):
    """Draws the blocks of a built Transformer, with the parameters of each, into `path`.

    The numbers add up to all parameters, those of a block in the layers times their number.
    """
    encoder, decoder = blocks(transformer)
    width = transformer.config["d_model"]
    vocab = transformer.config["target_vocab_size"]
    levels = max(len(encoder), len(decoder))
    figure, axes = figures.subplots(figsize=(9.2, 0.6 + 0.62 * levels))
    draw_column(
        axes, COLUMNS[0], encoder,
        ("source ids (B, S)", f"(B, S, {width})", f"output of the encoder (B, S, {width})"),
    )  # fmt: skip
    middles = draw_column(
        axes, COLUMNS[1], decoder,
        ("target ids so far (B, T)", f"(B, T, {width})", f"next tokens: (B, T, {vocab:,})"),
    )  # fmt: skip
    top = len(encoder) * (HEIGHT + GAP) - GAP / 2  # the encoder's output goes to cross-attention
    start, between = COLUMNS[0] + WIDTH / 2, (COLUMNS[0] + WIDTH + COLUMNS[1]) / 2 - 0.25
    axes.plot([start, between, between], [top, top, middles[CROSS]], color="#444444", linewidth=1)
    arrow(axes, (between, middles[CROSS]), (COLUMNS[1], middles[CROSS]))
    axes.set(xlim=(-1.3, COLUMNS[1] + WIDTH + 0.4), ylim=(-0.75, levels * (HEIGHT + GAP) + 0.4))
    axes.axis("off")
    axes.set_title(
        f"Transformer of {transformer.count_params():,} parameters\n"
        "right in each block: the parameters of one; B sentences, S and T tokens",
        fontsize=10,
    )
    return figures.save(figure, path)
