"""The architecture of a Transformer, drawn from its real layers: blocks, shapes, parameters."""

from pathlib import Path
from typing import Any, NamedTuple

import keras
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch

from nmt.network.variants import sizes_of, variant_of
from nmt.results import figures
from nmt.results.texts import Say, english
from transformer_model import Decoder, Encoder, MultiHeadAttention, Transformer

Point = tuple[float, float]
COLORS = {  # of blocks; as in the paper's figure 1, lighter
    "embedding": "#f9dcdc", "attention": "#fde3c4", "norm": "#f4f2c0", "ffn": "#d3e8f4",
    "output": "#dcd9ec", "positions": "#ffffff",
}  # fmt: skip
INK, GRAY = "#444444", "#666666"
WIDTH, HEIGHT = 4.7, 0.66  # of a block, in units of the axes
GAP, ADD_GAP, FRAME_GAP = 0.36, 0.82, 0.8  # between two blocks; with a +; where a frame begins
LEAVING_GAP = 0.16  # more, where a frame ends
ADD_ABOVE = 0.36  # from a sub-layer to the middle of its +
BRANCH = 0.2  # below a block: where its residual connection begins
RADIUS = 0.13  # of a +
COLUMNS = 0.0, 7.2  # where those of encoder and decoder begin
RESIDUAL = 0.34  # right of the blocks: the line of the residual connections
FONT_SIZE = 9
LINE = 0.25  # from one line in a block to the next


class Block(NamedTuple):
    """A box of the figure."""

    kind: str  # one of COLORS
    title: str
    detail: str
    parameters: int  # of one such block
    layers: int = 0  # that have such a block; 0: it stands outside of them
    shared: str = ""  # with what its parameters are shared, which counts them
    keys_from_encoder: bool = False  # cross-attention

    @property
    def is_sublayer(self) -> bool:
        """Whether a residual connection leads around it."""
        return self.kind in ("attention", "ffn")


class _Blocks(NamedTuple):
    """Makes the Blocks of a stack of a Transformer; a method for each part of it."""

    transformer: Transformer
    layers: int  # of the stack
    say: Say

    def embedding(
        self, title: str, embedding: keras.layers.Embedding, vocab_size: int, shared: str = ""
    ) -> list[Block]:
        """Returns the Blocks of an embedding and its positions."""
        sizes, say = sizes_of(self.transformer), self.say
        text = "{vocabulary:,} × {width}, output times √{width}"
        detail = say(text, vocabulary=vocab_size, width=sizes["d_model"])
        waves = "sines and cosines; then dropout {rate:g}" if sizes["rate"] else "sines and cosines"
        return [
            Block("embedding", title, detail, embedding.count_params(), shared=shared),
            Block("positions", say("+ positional encoding"), say(waves, rate=sizes["rate"]), 0),
        ]

    def attention(
        self,
        title: str,
        mha: MultiHeadAttention,
        norm: keras.layers.Layer,
        keys_from_encoder: bool = False,
    ) -> list[Block]:
        """Returns the Blocks of an attention and its normalization."""
        sizes = sizes_of(self.transformer)
        heads, depth = sizes["num_heads"], sizes["d_model"] // sizes["num_heads"]
        text = "{heads} heads: softmax(q · k / √{depth}) v"
        detail = self.say(text, heads=heads, depth=depth)
        block = Block(
            "attention", title, detail, mha.count_params(), self.layers,
            keys_from_encoder=keys_from_encoder,
        )  # fmt: skip
        return self._with_normalization(block, norm)

    def feed_forward(self, ffn: keras.Model, norm: keras.layers.Layer) -> list[Block]:
        """Returns the Blocks of a feed-forward network and its normalization."""
        sizes = sizes_of(self.transformer)
        text = "{width} → {inner:,} → {width}, ReLU"
        detail = self.say(text, width=sizes["d_model"], inner=sizes["dff"])
        block = Block("ffn", self.say("Feed-forward"), detail, ffn.count_params(), self.layers)
        return self._with_normalization(block, norm)

    def end(self, stack: Encoder | Decoder) -> list[Block]:
        """Returns the Block of the normalization that ends a stack, if there is one."""
        if not variant_of(self.transformer).pre_norm:
            return []
        return [Block("norm", self.say("Layer normalization"), "", stack.layernorm.count_params())]

    def output(self, shared: str) -> list[Block]:
        """Returns the Blocks of the logits and the softmax."""
        sizes, final_layer = sizes_of(self.transformer), self.transformer.final_layer
        detail = f"{sizes['d_model']} → {sizes['target_vocab_size']:,}"
        parameters = 0 if sizes["tie_embeddings"] else final_layer.count_params()
        return [
            Block("output", self.say("Linear"), detail, parameters, shared=shared),
            Block("output", self.say("Softmax"), "", 0),
        ]

    def _with_normalization(self, block: Block, norm: keras.layers.Layer) -> list[Block]:
        title = self.say("Layer normalization")
        layer_norm = Block("norm", title, "", norm.count_params(), self.layers)
        pre_norm = variant_of(self.transformer).pre_norm
        return [layer_norm, block] if pre_norm else [block, layer_norm]


def blocks(transformer: Transformer, say: Say = english) -> tuple[list[Block], list[Block]]:
    """Returns the Blocks of encoder and decoder, from the input upwards."""
    sizes = sizes_of(transformer)
    in_encoder = _Blocks(transformer, sizes["num_layers"], say)
    in_decoder = _Blocks(transformer, sizes["decoder_layers"], say)
    encoder, decoder = transformer.encoder, transformer.decoder
    enc_layer, dec_layer = encoder.enc_layers[0], decoder.dec_layers[0]
    shared = say("shared with source embedding") if sizes["tie_embeddings"] else ""
    encoder_blocks = [
        *in_encoder.embedding(
            say("Source embedding"), encoder.embedding, sizes["input_vocab_size"]
        ),
        *in_encoder.attention(say("Self-attention"), enc_layer.mha, enc_layer.layernorm1),
        *in_encoder.feed_forward(enc_layer.ffn, enc_layer.layernorm2),
        *in_encoder.end(encoder),
    ]
    decoder_blocks = [
        *in_decoder.embedding(
            say("Target embedding"), decoder.embedding, sizes["target_vocab_size"], shared
        ),
        *in_decoder.attention(say("Masked self-attention"), dec_layer.mha1, dec_layer.layernorm1),
        *in_decoder.attention(
            say("Cross-attention"), dec_layer.mha2, dec_layer.layernorm2, keys_from_encoder=True
        ),
        *in_decoder.feed_forward(dec_layer.ffn, dec_layer.layernorm3),
        *in_decoder.end(decoder),
        *in_decoder.output(shared),
    ]
    return encoder_blocks, decoder_blocks


# ---- Drawing ----


def bottoms(column: list[Block]) -> list[float]:
    """Returns the heights at which the Blocks begin, and the height above the last one."""
    heights = [0.0]
    aboves: list[Block | None] = [*column[1:], None]
    for below, above in zip(column, aboves, strict=True):
        enters = above is not None and above.layers and not below.layers
        leaves = below.layers and (above is None or not above.layers)
        gap = FRAME_GAP if enters else ADD_GAP if below.is_sublayer else GAP
        gap += LEAVING_GAP if leaves else 0
        heights.append(heights[-1] + HEIGHT + gap)
    return heights


def arrow(axes: Axes, start: Point, end: Point) -> None:
    """Draws an arrow between two points."""
    axes.annotate(
        "", end, start, arrowprops=dict(arrowstyle="-|>", color=INK, shrinkA=0, shrinkB=0)
    )


def note(axes: Axes, x: float, y: float, text: str, align: str = "left", **options: Any) -> None:
    """Writes a small gray text beside an arrow."""
    axes.text(
        x, y, text, fontsize=FONT_SIZE, color=GRAY, va="center", ha=align, zorder=4, **options
    )


def draw_block(axes: Axes, left: float, bottom: float, block: Block) -> None:
    """Draws one Block, with its parameters at the right."""
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=COLORS[block.kind], edgecolor=INK, linewidth=0.8, zorder=2,
        )
    )  # fmt: skip
    begin, end, middle = left + 0.12, left + WIDTH - 0.12, bottom + HEIGHT / 2
    above, below = middle + LINE / 2, middle - LINE / 2  # of two lines
    text: dict[str, Any] = dict(va="center", fontsize=FONT_SIZE, zorder=3)
    axes.text(begin, above if block.detail else middle, block.title, **text)
    axes.text(begin, below, block.detail, **text)
    number = f"{block.parameters:,}" if block.parameters else ""
    # In the first line, where the title leaves more room than the detail.
    axes.text(end, above if block.shared else middle, block.shared or number, ha="right", **text)


def draw_residual(axes: Axes, left: float, branch: float, bottom: float) -> float:
    """Draws a residual connection: from the height `branch` to the + above a sub-layer.

    Args:
      bottom: of the sub-layer.

    Returns:
      The height of the +.
    """
    middle, right, add = left + WIDTH / 2, left + WIDTH + RESIDUAL, bottom + HEIGHT + ADD_ABOVE
    axes.plot([middle, right, right], [branch, branch, add], color=INK, linewidth=1, zorder=1.5)
    arrow(axes, (right, add), (middle + RADIUS, add))
    axes.add_patch(Circle((middle, add), RADIUS, facecolor="white", edgecolor=INK, zorder=3))
    axes.plot([middle - 0.07, middle + 0.07], [add, add], color=INK, linewidth=1, zorder=4)
    axes.plot([middle, middle], [add - 0.07, add + 0.07], color=INK, linewidth=1, zorder=4)
    note(axes, right - 0.08, add - 0.15, "x", align="right", style="italic")
    return add


def draw_frame(axes: Axes, left: float, bottom: float, top: float, layers: int) -> None:
    """Draws the frame around the blocks of a layer, and at its outer side how many layers."""
    begin, width = left - 0.3, WIDTH + RESIDUAL + 0.55
    axes.add_patch(
        FancyBboxPatch(
            (begin, bottom), width, top - bottom, zorder=1, facecolor="#f5f5f5",
            boxstyle="round,pad=0,rounding_size=0.15", edgecolor="#999999",
        )
    )  # fmt: skip
    is_encoder = left == COLUMNS[0]
    axes.text(
        begin - 0.12 if is_encoder else begin + width + 0.12, (bottom + top) / 2, f"{layers} ×",
        ha="right" if is_encoder else "left", va="center", fontsize=14,
    )  # fmt: skip


def is_pre_norm(column: list[Block]) -> bool:
    """Whether the first Block of a layer is its normalization."""
    return next(block for block in column if block.layers).kind == "norm"


def draw_column(axes: Axes, left: float, column: list[Block]) -> list[float]:
    """Draws the Blocks of one stack, upwards. Returns the heights at which they begin.

    Args:
      axes: of matplotlib.
      left: where the column begins.
      column: Blocks.
    """
    heights, middle = bottoms(column), left + WIDTH / 2
    arrow_from = -GAP
    for number, (block, bottom) in enumerate(zip(column, heights, strict=False)):
        draw_block(axes, left, bottom, block)
        arrow(axes, (middle, arrow_from), (middle, bottom))
        arrow_from = bottom + HEIGHT
        if block.is_sublayer:
            first = heights[number - 1 if is_pre_norm(column) else number]
            add = draw_residual(axes, left, first - BRANCH, bottom)
            arrow(axes, (middle, bottom + HEIGHT), (middle, add - RADIUS))
            arrow_from = add + RADIUS
        if block.kind == "attention":
            queries = "q" if block.keys_from_encoder else "q, k, v"
            note(axes, middle - 0.1, bottom - 0.17, queries, align="right", style="italic")
    arrow(axes, (middle, arrow_from), (middle, heights[-1]))
    layer = [number for number, block in enumerate(column) if block.layers]
    frame_top = heights[layer[-1] + 1] - LEAVING_GAP - 0.15
    draw_frame(axes, left, heights[layer[0]] - BRANCH - 0.16, frame_top, column[layer[0]].layers)
    return heights


def draw_shapes(
    axes: Axes, left: float, heights: list[float], below: str, inside: str, above: str
) -> None:
    """Writes the shapes of tensors: below the first block, after the positions, at the top."""
    middle = left + WIDTH / 2
    note(axes, middle, -GAP - 0.18, below, align="center")
    note(axes, middle + 0.12, heights[2] - FRAME_GAP + 0.2, inside)
    note(axes, middle, heights[-1] + 0.18, above, align="center")


def draw_keys_and_values(
    axes: Axes, encoder_top: float, column: list[Block], heights: list[float]
) -> None:
    """Draws the encoder's output to cross-attention, as keys and values."""
    cross = next(n for n, block in enumerate(column) if block.keys_from_encoder)
    height, start = heights[cross] + HEIGHT / 2, COLUMNS[0] + WIDTH / 2
    between = (COLUMNS[0] + WIDTH + RESIDUAL + COLUMNS[1]) / 2 - 0.2
    level = encoder_top - GAP / 2
    axes.plot([start, between, between], [level, level, height], color=INK, linewidth=1)
    arrow(axes, (between, height), (COLUMNS[1], height))
    note(axes, between + 0.08, height + 0.17, "k, v", style="italic")


def heading(transformer: Transformer, say: Say) -> str:
    """Returns the title: the number of parameters, the order of normalization, dropout."""
    norm = (
        "pre-norm: x + sublayer(LayerNorm(x))"
        if variant_of(transformer).pre_norm
        else "post-norm: LayerNorm(x + sublayer(x))"
    )
    rate = transformer.config["rate"]
    dropout = say("dropout {rate:g} before each +", rate=rate) if rate else say("no dropout")
    return "\n".join(
        (
            say(
                "Transformer with {parameters:,} parameters", parameters=transformer.count_params()
            ),
            f"{say(norm)}; {dropout}",
            say("right: parameters per block; B sentences, S source and T target tokens"),
        )
    )


def draw(path: Path, transformer: Transformer, say: Say = english) -> Path:
    """Draws the blocks of a built Transformer, with the parameters of each, into `path`.

    The numbers add up to all parameters, those of a block in the layers times their number.
    """
    encoder, decoder = blocks(transformer, say)
    width, vocabulary = (transformer.config[name] for name in ("d_model", "target_vocab_size"))
    top = max(bottoms(encoder)[-1], bottoms(decoder)[-1])
    figure, axes = figures.subplots(figsize=(10.8, 0.9 + 0.7 * top))
    encoder_heights = draw_column(axes, COLUMNS[0], encoder)
    draw_shapes(
        axes, COLUMNS[0], encoder_heights, say("source ids (B, S)"), f"(B, S, {width})",
        say("output of the encoder (B, S, {width})", width=width),
    )  # fmt: skip
    decoder_heights = draw_column(axes, COLUMNS[1], decoder)
    draw_shapes(
        axes, COLUMNS[1], decoder_heights, say("target ids so far (B, T)"), f"(B, T, {width})",
        say("next tokens: (B, T, {vocabulary:,})", vocabulary=vocabulary),
    )  # fmt: skip
    draw_keys_and_values(axes, encoder_heights[-1], decoder, decoder_heights)
    axes.set(xlim=(-1.3, COLUMNS[1] + WIDTH + RESIDUAL + 1.2), ylim=(-0.85, top + 0.4))
    axes.axis("off")
    axes.set_title(heading(transformer, say), fontsize=11)
    return figures.save(figure, path)
