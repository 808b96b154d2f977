# ruff: noqa: E501 (a text and its translation stand together)
"""Writes drawings/NAME.svg and NAME.zh-CN.svg: seven slides on what a Transformer does.

python docs/make_drawings.py

Needs no packages. Weights are computed here. A drawing has a background of its own, and the colors
of the program's pictures: blue is a weight or the residual stream, gray is masked, blocks are as in
the explorer. Magenta is what to notice.
"""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent / "drawings"
WIDTH, HEIGHT = 1280, 720  # of a slide, in pixels
FONTS = (
    "'Helvetica Neue', Arial, 'DejaVu Sans', 'PingFang SC', 'Microsoft YaHei', "
    "'Noto Sans CJK SC', 'WenQuanYi Micro Hei', sans-serif"
)
PAPER, INK, FAINT, EDGE, CARD = "#ffffff", "#1b1b1b", "#5c5f66", "#b4b9c1", "#f6f8fa"
BLUE, MASKED, NOTICED = "#0b57b0", "#9a9a9a", "#a3195b"
EMBEDDING, ATTENTION, NORM, FEED_FORWARD = "#f9dcdc", "#fde3c4", "#f4f2c0", "#d3e8f4"
OUTPUT = "#dcd9ec"
ARROWS = {INK: "arrow", NOTICED: "noticed-arrow", FAINT: "faint-arrow"}
LINE = 1.4  # times the font size: from one line to the next

Say = Callable[[str], str]  # an English text -> the text in a language
Point = tuple[float, float]

# fmt: off
CHINESE = {
    # q-k-v
    "Attention is a soft dictionary lookup": "注意力是一种“软”的字典查找",
    "A dictionary returns the value of the one key that equals the query. Attention returns a mean of all values:\n"
    "the better a key fits the query, the more its value counts.":
        "字典只返回与查询相等的那个键的值。注意力返回所有值的加权平均：\n键与查询越吻合，它的值所占的比重就越大。",
    "query q of “a”,\nwhich predicts “red”": "“a” 的查询 q，\n由它预测 “red”",
    "source token": "源句词元",
    "key k": "键 k",
    "1. score\nq · k": "1. 分数\nq · k",
    "2. scale\n÷ √4": "2. 缩放\n÷ √4",
    "3. softmax:\nthe weight": "3. softmax：\n权重",
    "value v": "值 v",
    "4. weight × v": "4. 权重 × v",
    "sum of the column": "逐列相加",
    "output: mostly the value of “vermelho”": "输出：主要是 “vermelho” 的值",
    "q = x W^Q, from the token x that attends. k = y W^K and v = y W^V, from the tokens y attended to. The three matrices are learned.\n"
    "Example figures; d_k = 4 values in q and in k, so the scores are divided by √4. In self-attention, x is one of the tokens y.":
        "q = x W^Q，x 是作出关注的词元；k = y W^K、v = y W^V，y 是被关注的词元。三个矩阵都是学来的。\n"
        "数字仅为示例；q 和 k 各有 d_k = 4 个数，所以分数除以 √4。在自注意力中，x 就是各个 y 之一。",
    # heads
    "Heads: 128 = 8 × 16": "多头：128 = 8 × 16",
    "Eight heads share the 128 dimensions of q, k and v. Each attends on its own, with 16 of them,\n"
    "so that one token can attend to several others for several reasons.":
        "八个头平分 q、k、v 的 128 维，每个头用其中 16 维独立计算注意力，\n因此一个词元可以出于不同的原因，同时关注几个别的词元。",
    "input x": "输入 x",
    "times W^Q\n(and W^K, W^V)": "乘以 W^Q\n及 W^K、W^V",
    "q (and k, v)": "q（以及 k、v）",
    "split": "拆分",
    "head {number}": "第 {number} 头",
    "attend": "计算注意力",
    "join": "合并",
    "joined": "合并后",
    "times W^O": "乘以 W^O",
    "output": "输出",
    "T tokens down, dimensions across": "纵向 T 个词元，横向各维",
    "Each head: softmax(q kᵀ / √16) v, with weights (T, T) of its own.": "每个头：softmax(q kᵀ / √16) v，各有自己的权重 (T, T)。",
    "W^O mixes what the heads return: until then, each has 16 columns of its own.": "W^O 把各个头的结果混合起来；在此之前，每个头各占 16 列。",
    "With B sentences, split: (B, T, 128) → (B, T, 8, 16) → (B, 8, T, 16); join: the same way back.":
        "一批 B 个句子，拆分：(B, T, 128) → (B, T, 8, 16) → (B, 8, T, 16)；合并：原路返回。",
    # residual-stream
    "The residual stream": "残差流",
    "The 128 numbers of a token run upwards through all layers. A sub-layer reads them, and its output is added to them.":
        "一个词元的 128 个数自下而上流过所有的层。每个子层读取它们，再把输出加到它们上面。",
    "Post-norm, the paper: LayerNorm(x + sublayer(x))": "后归一化（论文）：LayerNorm(x + sublayer(x))",
    "Pre-norm, GPT-2 and later: x + sublayer(LayerNorm(x))": "前归一化（GPT-2 及以后）：x + sublayer(LayerNorm(x))",
    "embedding + position": "词嵌入 + 位置编码",
    "self-attention": "自注意力",
    "feed-forward": "前馈网络",
    "LayerNorm": "层归一化",
    "sub-layer 1": "子层 1",
    "sub-layer 2": "子层 2",
    "to the next layer": "到下一层",
    "to the next layer; one LayerNorm after the last": "到下一层；最后一层之后再归一化一次",
    "add": "相加",
    "LayerNorm is on the stream: it rescales every sum, and every\ngradient on its way back. Training needs warm-up.":
        "层归一化就在残差流上：它重新缩放每个和，\n也缩放往回传的每个梯度。训练需要预热。",
    "Only additions are on the stream: along it, gradients reach the\nembedding unchanged. Deep networks train more easily.":
        "残差流上只有加法：梯度沿着它原样传到词嵌入，\n深的网络更容易训练。",
    # architecture
    "The architecture": "整体结构",
    "The network that --preset quick trains, in the order of the paper's figure 1. B sentences, S source and T target tokens.":
        "--preset quick 训练的网络，与论文图 1 的次序相同。B 个句子，S 个源词元，T 个目标词元。",
    "source ids (B, S)": "源句的词元编号 (B, S)",
    "target ids so far (B, T)": "已有译文的词元编号 (B, T)",
    "masked self-attention": "带掩码的自注意力",
    "cross-attention": "交叉注意力",
    "add, LayerNorm": "相加，层归一化",
    "linear, softmax": "线性层、softmax",
    "next token: (B, T, V)": "下一个词元：(B, T, V)",
    "encoder\n2 ×": "编码器\n2 ×",
    "decoder\n2 ×": "解码器\n2 ×",
    # decoder-step
    "The decoder at step t": "解码器的第 t 步",
    "From the source and the tokens so far, the decoder predicts one token. It is appended, and the next step begins,\nuntil the token is </s>.":
        "解码器根据源句和已有的词元预测一个词元，把它接在末尾，再开始下一步，\n直到这个词元是 </s>。",
    "tokens so far": "已有的词元",
    "masked\nself-attention": "带掩码的\n自注意力",
    "cross-\nattention": "交叉\n注意力",
    "feed-\nforward": "前馈\n网络",
    "linear,\nsoftmax": "线性层、\nsoftmax",
    "to itself and\nearlier tokens": "关注自己和\n前面的词元",
    "to the source": "关注源句",
    "each token separately": "各词元分别计算",
    "last position": "最后一个位置",
    "k, v: output of the encoder, computed once": "k、v：编码器的输出，只计算一次",
    "probability of the next token": "下一个词元的概率",
    "{number} others": "其余 {number} 个",
    "the likeliest is appended: step t + 1": "接上最可能的词元：第 t + 1 步",
    "N layers": "N 层",
    "Example figures. The width of a blue line is an attention weight of the last position.":
        "数字仅为示例。蓝线的粗细是最后一个位置的注意力权重。",
    # training-and-translating
    "Training and translating": "训练与翻译",
    "Training knows the reference translation, and predicts all positions in parallel. Translating predicts one token after the other.":
        "训练时已知参考译文，所有位置并行预测。翻译时逐个预测词元。",
    "Training: one pass": "训练：一遍",
    "Translating: a pass per token": "翻译：每个词元一遍",
    "reads": "读入",
    "decoder, with look-ahead mask": "解码器，带前瞻掩码",
    "decoder": "解码器",
    "predicts": "预测",
    "target": "目标",
    "loss": "损失",
    "The target is the input shifted by one: each position learns to predict\nthe token after it. The mask keeps it from reading that token.":
        "目标是错开一位的输入：每个位置都学习预测后一个词元。\n掩码使它读不到那个词元。",
    "Teacher forcing: “blue” is wrong and costs loss, but the next position\nreads the reference, “red”.":
        "教师强制：“blue” 错了，增加损失，\n但下一个位置读入的仍是参考译文 “red”。",
    "pass {number}": "第 {number} 遍",
    "The decoder reads what it has predicted, until it predicts </s>.\nA wrong token stays, and later ones build on it.":
        "解码器读入自己预测的词元，直到预测出 </s>。\n错的词元会留下来，影响后面的词元。",
    "Keys and values of earlier tokens are kept from pass to pass:\nthe KV cache.":
        "前面词元的键和值留到后面各遍再用：键值缓存。",
    # batch-and-masks
    "A batch and its masks": "一个批次和它的掩码",
    "Sentences of a batch are padded to one length. A mask keeps attention away from padding and, in the decoder,\nfrom later tokens.":
        "同一批的句子填充到同样的长度。掩码使注意力不落在填充上；\n在解码器中，也不落在后面的词元上。",
    "decoder input (B, T) = (2, 6)": "解码器输入 (B, T) = (2, 6)",
    "row: the token that attends\ncolumn: the token attended to": "行：作出关注的词元\n列：被关注的词元",
    "masked (1): −10⁹ is added to the score,\nso that the weight is 0": "遮住（1）：分数加上 −10⁹，\n权重变为 0",
    "may be attended to (0)": "可以关注（0）",
    "padding mask": "填充掩码",
    "look-ahead mask": "前瞻掩码",
    "combined: the maximum": "合并：取最大值",
    "The encoder, and cross-attention, need\nonly the padding mask of the source.": "编码器和交叉注意力\n只需要源句的填充掩码。",
    "Rows of <pad> are computed, too;\nthe loss leaves them out.": "<pad> 所在的行照常计算，\n但不计入损失。",
}
# fmt: on


def english(text: str) -> str:
    """Returns an English text as it is."""
    return text


class Style(NamedTuple):
    """How a text is written."""

    size: float = 17
    color: str = INK
    anchor: str = "start"  # of (x, y) in each line: start, middle or end
    weight: str = "normal"


PLAIN = Style()
CENTERED = Style(anchor="middle")
SMALL = Style(15, FAINT)
SMALL_CENTERED = SMALL._replace(anchor="middle")
HEADING = Style(20, weight="bold")


def short(number: float) -> str:
    """Returns a coordinate with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def raised(text: str, size: float) -> str:
    """Returns a text as SVG: W^Q with the Q above the line, d_k with the k below it."""
    result, back = "", 0.0
    for part in re.split(r"([\^_]\w)", text):
        if part[:1] in ("^", "_") and len(part) == 2:
            back = {"^": 0.35, "_": -0.2}[part[0]] * size
            result += (
                f'<tspan dy="{short(-back)}" font-size="{short(0.7 * size)}">{part[1]}</tspan>'
            )
        elif back and part:
            result += f'<tspan dy="{short(back)}">{escape(part)}</tspan>'
        else:
            result += escape(part)
    return result


class Drawing:
    """A slide, as the elements of an SVG file; `say` gives the texts in its language."""

    def __init__(self, title: str, lead: str, say: Say):
        self.elements = [f"<title>{escape(say(title))}</title>"]
        self.say = say
        self.box(0, 0, WIDTH, HEIGHT, PAPER, edge=PAPER, radius=0)
        self.text(40, 46, title, Style(30, weight="bold"))
        self.text(40, 88, lead, Style(18, FAINT))

    def add(self, element: str, content: str = "", **attributes: str | float) -> None:
        """Adds an element; the attribute stroke_width becomes stroke-width."""
        pairs = "".join(
            f' {name.replace("_", "-")}="{value if isinstance(value, str) else short(value)}"'
            for name, value in attributes.items()
        )
        end = f">{content}</{element}>" if content else "/>"
        self.elements.append(f"<{element}{pairs}{end}")

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str = INK,
        radius: float = 6,
    ) -> None:  # fmt: skip
        """Draws a rectangle."""
        self.add(
            "rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill, stroke=edge
        )  # fmt: skip

    def write(self, x: float, y: float, text: str, style: Style = PLAIN) -> None:
        """Writes a text as it is, the middle of its first line at the height `y`."""
        for number, line in enumerate(text.split("\n")):
            self.add(
                "text", raised(line, style.size), x=x, y=y + (0.35 + LINE * number) * style.size,
                font_size=style.size, text_anchor=style.anchor, fill=style.color,
                font_weight=style.weight,
            )  # fmt: skip

    def turned(self, x: float, y: float, text: str) -> None:
        """Writes a text upwards from a point."""
        turn = f"rotate(-90 {short(x)} {short(y)})"
        self.add("text", escape(text), x=x, y=y + 5, font_size=15.0, fill=INK, transform=turn)

    def text(self, x: float, y: float, text: str, style: Style = PLAIN, **gaps: int | str) -> None:
        """Writes an English text in the language of the drawing, its gaps filled."""
        self.write(x, y, self.say(text).format(**gaps), style)

    def labelled(
        self, x: float, y: float, width: float, height: float, text: str, fill: str = CARD,
        style: Style = CENTERED, edge: str = INK,
    ) -> None:  # fmt: skip
        """Draws a rectangle with a text, as it is, in its middle."""
        self.box(x, y, width, height, fill, edge)
        first = y + height / 2 - LINE * style.size * text.count("\n") / 2
        self.write(x + width / 2, first, text, style)

    def block(self, x: float, y: float, width: float, height: float, text: str, fill: str) -> None:
        """Draws a rectangle with a text in the language of the drawing."""
        self.labelled(x, y, width, height, self.say(text), fill)

    def line(
        self, *points: Point, arrow: bool = True, color: str = INK, width: float = 1.6,
        opacity: float = 1,
    ) -> None:  # fmt: skip
        """Draws a line through points, with an arrow at its end."""
        marker = {"marker_end": f"url(#{ARROWS[color]})"} if arrow else {}
        self.add(
            "polyline", points=" ".join(f"{short(x)},{short(y)}" for x, y in points), fill="none",
            stroke=color, stroke_width=width, stroke_opacity=opacity, **marker,
        )  # fmt: skip

    def plus(self, x: float, y: float) -> None:
        """Draws a sum: a plus in a circle."""
        self.add("circle", cx=x, cy=y, r=13, fill=PAPER, stroke=INK, stroke_width=1.6)
        self.line((x - 7, y), (x + 7, y), arrow=False)
        self.line((x, y - 7), (x, y + 7), arrow=False)

    def svg(self) -> str:
        """Returns the whole file."""
        markers = "".join(
            f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" '
            'markerHeight="10" markerUnits="userSpaceOnUse" orient="auto">'
            f'<path d="M0,1 L10,5 L0,9 Z" fill="{color}"/></marker>'
            for color, name in ARROWS.items()
        )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="{FONTS}">'
        )
        return "\n".join([head, f"<defs>{markers}</defs>", *self.elements, "</svg>", ""])


def shade(share: float, color: str = BLUE) -> str:
    """Returns the color of a share from 0, white, to 1."""
    parts = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)


def softmax(scores: Sequence[float]) -> list[float]:
    """Returns weights that add up to 1."""
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def figure(number: float) -> str:
    """Returns a number with two decimals, or none if it is whole."""
    return f"{number:.2f}" if isinstance(number, float) else str(number)


# ---- q, k, v ----


class Entry(NamedTuple):
    """A token that is attended to."""

    token: str
    key: tuple[int, ...]
    value: tuple[int, ...]


QUERY = (1, 2, 0, 1)
ENTRIES = (
    Entry("um", (0, 0, 2, 1), (3, 0, 1, 0)),
    Entry("carro", (2, 0, 1, 0), (0, 4, 0, 1)),
    Entry("vermelho", (1, 2, 0, 1), (1, 0, 0, 4)),
)


def attend(query: Sequence[int], entries: Sequence[Entry]) -> tuple[list[int], list[float]]:
    """Returns the products of a query and the keys, and the attention weights."""
    fits = [sum(a * b for a, b in zip(query, entry.key, strict=True)) for entry in entries]
    return fits, softmax([fit / math.sqrt(len(query)) for fit in fits])


def draw_vector(
    drawing: Drawing, x: float, y: float, numbers: Sequence[float], width: float, fill: str
) -> None:
    """Draws a row of numbers in boxes."""
    for number, value in enumerate(numbers):
        drawing.labelled(x + width * number, y, width, 40, figure(value), fill)


def q_k_v(say: Say) -> Drawing:
    """A query, three keys, their weights, and the weighted mean of three values."""
    drawing = Drawing(
        "Attention is a soft dictionary lookup",
        "A dictionary returns the value of the one key that equals the query. Attention returns a "
        "mean of all values:\nthe better a key fits the query, the more its value counts.",
        say,
    )
    heading = Style(17, FAINT, "middle")
    fits, weights = attend(QUERY, ENTRIES)
    drawing.text(190, 176, "query q of “a”,\nwhich predicts “red”", Style(anchor="end"))
    draw_vector(drawing, 210, 168, QUERY, 40, EMBEDDING)
    for x, text in (
        (290, "key k"), (452, "1. score\nq · k"), (548, "2. scale\n÷ √4"),
        (700, "3. softmax:\nthe weight"), (900, "value v"), (1118, "4. weight × v"),
    ):  # fmt: skip
        drawing.text(x, 262, text, heading)
    drawing.text(190, 262, "source token", heading._replace(anchor="end"))
    for row, (entry, fit, weight) in enumerate(zip(ENTRIES, fits, weights, strict=True)):
        y = 306 + 74 * row
        drawing.write(190, y + 20, entry.token, Style(anchor="end"))
        draw_vector(drawing, 210, y, entry.key, 40, ATTENTION)
        drawing.line((290, 212), (290, 240), color=FAINT)
        drawing.write(452, y + 20, str(fit), CENTERED)
        drawing.write(548, y + 20, figure(fit / math.sqrt(len(QUERY))), CENTERED)
        drawing.box(620, y + 4, 160, 32, PAPER, EDGE)
        drawing.box(620, y + 4, 160 * weight, 32, shade(weight), BLUE)
        end = 620 + 160 * weight
        place = Style(color=PAPER, anchor="end") if weight > 0.5 else PLAIN
        drawing.write(end + (-10 if weight > 0.5 else 8), y + 20, figure(weight), place)
        draw_vector(drawing, 820, y, entry.value, 40, FEED_FORWARD)
        weighted = [weight * value for value in entry.value]
        draw_vector(drawing, 1008, y, weighted, 55, shade(0.4 * weight))
        for x in (388, 480, 578, 788, 984):
            drawing.line((x, y + 20), (x + 20, y + 20), color=FAINT)
    draw_mean(drawing, weights)
    drawing.text(
        40, 648,
        "q = x W^Q, from the token x that attends. k = y W^K and v = y W^V, from the tokens y "
        "attended to. The three matrices are learned.\n"
        "Example figures; d_k = 4 values in q and in k, so the scores are divided by √4. In "
        "self-attention, x is one of the tokens y.",
        Style(16, FAINT),
    )  # fmt: skip
    return drawing


def draw_mean(drawing: Drawing, weights: Sequence[float]) -> None:
    """Draws the sum of the weighted values, and the sum of the weights."""
    y = 306 + 74 * len(ENTRIES) + 16
    drawing.line((620, y - 12), (780, y - 12), arrow=False)
    drawing.line((1008, y - 12), (1228, y - 12), arrow=False)
    drawing.write(700, y + 20, figure(sum(weights)), CENTERED)
    drawing.text(984, y + 20, "sum of the column", Style(color=FAINT, anchor="end"))
    means = [
        sum(weight * entry.value[n] for weight, entry in zip(weights, ENTRIES, strict=True))
        for n in range(len(ENTRIES[0].value))
    ]
    draw_vector(drawing, 1008, y, means, 55, shade(0.35))
    text = "output: mostly the value of “vermelho”"
    drawing.text(1228, y + 64, text, Style(anchor="end", weight="bold"))


# ---- heads ----

HEADS = ("#cfe3f7", "#fde3c4", "#dff0d2", "#f9dcdc", "#dcd9ec", "#f4f2c0", "#d2efec", "#ecdcc8")


def draw_stripes(drawing: Drawing, x: float, title: str, shape: str) -> None:
    """Draws T rows of 128 dimensions, in the colors of the heads that own them."""
    width = 15.0
    for number, color in enumerate(HEADS):
        drawing.box(x + width * number, 290, width, 140, color, EDGE, radius=0)
    drawing.box(x, 290, width * len(HEADS), 140, "none", radius=0)
    drawing.text(x + 60, 262, title, CENTERED._replace(weight="bold"))
    drawing.write(x + 60, 452, shape, SMALL_CENTERED)


def draw_whole(drawing: Drawing, x: float, title: str) -> None:
    """Draws T rows of 128 dimensions that belong to no head."""
    drawing.box(x, 290, 120, 140, CARD, radius=0)
    drawing.text(x + 60, 262, title, CENTERED._replace(weight="bold"))
    drawing.write(x + 60, 452, "(T, 128)", SMALL_CENTERED)


def heads(say: Say) -> Drawing:
    """From the input through split, attention and join to the output of multi-head attention."""
    drawing = Drawing(
        "Heads: 128 = 8 × 16",
        "Eight heads share the 128 dimensions of q, k and v. Each attends on its own, with 16 of "
        "them,\nso that one token can attend to several others for several reasons.",
        say,
    )
    draw_whole(drawing, 40, "input x")
    draw_stripes(drawing, 290, "q (and k, v)", "(T, 128)")
    for number, color in enumerate(HEADS):
        y = 170 + 47 * number
        middle = y + 17
        drawing.line((415, 360), (500, middle), color=FAINT)
        drawing.box(504, y, 24, 34, color, radius=0)
        drawing.text(538, middle, "head {number}", SMALL, number=number + 1)
        drawing.line((612, middle), (640, middle), color=FAINT)
        drawing.block(644, y, 116, 34, "attend", ATTENTION)
        drawing.line((764, middle), (784, middle), color=FAINT)
        drawing.box(788, y, 24, 34, color, radius=0)
        drawing.line((816, middle), (896, 360), color=FAINT)
    drawing.write(516, 560, "(T, 16)", SMALL_CENTERED)
    drawing.write(800, 560, "(T, 16)", SMALL_CENTERED)
    drawing.text(440, 206, "split", CENTERED)
    drawing.text(884, 206, "join", CENTERED)
    draw_stripes(drawing, 900, "joined", "(T, 128)")
    draw_whole(drawing, 1120, "output")
    drawing.line((166, 360), (284, 360))
    drawing.text(225, 316, "times W^Q\n(and W^K, W^V)", SMALL_CENTERED)
    drawing.write(225, 380, "128 × 128", SMALL_CENTERED)
    drawing.line((1026, 360), (1114, 360))
    drawing.text(1070, 340, "times W^O", SMALL_CENTERED)
    drawing.write(1070, 380, "128 × 128", SMALL_CENTERED)
    drawing.text(40, 490, "T tokens down, dimensions across", SMALL)
    for y, text in (
        (612, "Each head: softmax(q kᵀ / √16) v, with weights (T, T) of its own."),
        (642, "W^O mixes what the heads return: until then, each has 16 columns of its own."),
        (672, "With B sentences, split: (B, T, 128) → (B, T, 8, 16) → (B, 8, T, 16); join: the "
         "same way back."),
    ):  # fmt: skip
        drawing.text(40, y, text)
    return drawing


# ---- The residual stream ----

STREAM = 5.0  # the width of its line


def draw_sublayer(
    drawing: Drawing, x: float, y: float, block: tuple[str, str], pre_norm: bool
) -> None:
    """Draws a sub-layer, text and color, beside the stream at `x`, which it leaves at `y`."""
    add, center = y - 128, x + 190
    top = y - 104 if pre_norm else y - 84
    if pre_norm:
        drawing.block(center - 75, y - 48, 150, 30, "LayerNorm", NORM)
        drawing.line((x, y), (center, y), (center, y - 17))
        drawing.line((center, y - 48), (center, top + 37))
    else:
        drawing.line((x, y), (center, y), (center, top + 37))
    drawing.block(center - 75, top, 150, 36, block[0], block[1])
    drawing.line((center, top), (center, add), (x + 14, add))
    drawing.plus(x, add)
    drawing.text(x - 22, add, "add", Style(15, FAINT, "end"))


def draw_stream(drawing: Drawing, x: float, pre_norm: bool) -> None:
    """Draws one layer with two sub-layers on a stream that runs upwards at `x`."""
    blocks = (("self-attention", ATTENTION), ("feed-forward", FEED_FORWARD))
    drawing.line((x, 596), (x, 190), arrow=False, color=BLUE, width=STREAM)
    drawing.add("path", d=f"M{short(x - 9)},192 h18 l-9,-16 Z", fill=BLUE)
    drawing.block(x - 110, 596, 220, 40, "embedding + position", EMBEDDING)
    for number, block in enumerate(blocks):
        y = 574 - 190 * number
        draw_sublayer(drawing, x, y, block, pre_norm)
        drawing.text(x + 282, y - 66, f"sub-layer {number + 1}", SMALL)
        if not pre_norm:
            drawing.block(x - 75, y - 180, 150, 30, "LayerNorm", NORM)
    after = "to the next layer; one LayerNorm after the last" if pre_norm else "to the next layer"
    drawing.text(x + 18, 184, after, SMALL)


def residual_stream(say: Say) -> Drawing:
    """Post-norm, and pre-norm beside it."""
    drawing = Drawing(
        "The residual stream",
        "The 128 numbers of a token run upwards through all layers. A sub-layer reads them, and "
        "its output is added to them.",
        say,
    )
    for left, heading, note, pre_norm in (
        (
            40, "Post-norm, the paper: LayerNorm(x + sublayer(x))",
            "LayerNorm is on the stream: it rescales every sum, and every\ngradient on its way "
            "back. Training needs warm-up.", False,
        ),
        (
            660, "Pre-norm, GPT-2 and later: x + sublayer(LayerNorm(x))",
            "Only additions are on the stream: along it, gradients reach the\nembedding unchanged. "
            "Deep networks train more easily.", True,
        ),
    ):  # fmt: skip
        drawing.box(left, 116, 580, 584, CARD, EDGE)
        drawing.text(left + 20, 146, heading, HEADING)
        draw_stream(drawing, left + 150, pre_norm)
        drawing.text(left + 20, 660, note, Style(16))
    return drawing


# ---- The architecture ----

BLOCK_WIDTH = 260
FOOT = 596  # where the lowest layer of a stack begins
SUBLAYER = 122  # the height of a sub-layer with its sum and its normalization
ENCODER = (("self-attention", ATTENTION, "q, k, v"), ("feed-forward", FEED_FORWARD, ""))
DECODER = (
    ("masked self-attention", ATTENTION, "q, k, v"), ("cross-attention", ATTENTION, "q"),
    ("feed-forward", FEED_FORWARD, ""),
)  # fmt: skip


def draw_stack(
    drawing: Drawing, x: float, ids: str, shape: str, sublayers: Sequence[tuple[str, str, str]]
) -> float:
    """Draws an embedding and, above it, a layer. Returns the height at which the layer ends.

    `sublayers` are text, color and what comes from below, upwards.
    """
    center, end = x + BLOCK_WIDTH / 2, FOOT - SUBLAYER * len(sublayers)
    drawing.box(x - 24, end - 10, BLOCK_WIDTH + 76, FOOT - end + 18, CARD, EDGE)
    drawing.text(center, 694, ids, SMALL_CENTERED)
    drawing.line((center, 682), (center, 662))
    drawing.block(x, 626, BLOCK_WIDTH, 36, "embedding + position", EMBEDDING)
    drawing.write(center + 12, 612, shape, SMALL)
    drawing.line((center, 626), (center, FOOT - 26))
    for number, (text, color, inputs) in enumerate(sublayers):
        foot, right = FOOT - SUBLAYER * number, x + BLOCK_WIDTH + 28
        drawing.line(
            (center, foot - 8), (right, foot - 8), (right, foot - 105),
            (x + BLOCK_WIDTH + 2, foot - 105), color=FAINT,
        )  # fmt: skip
        drawing.block(x, foot - 66, BLOCK_WIDTH, 40, text, color)
        if inputs:
            drawing.write(center - 10, foot - 17, inputs, Style(15, FAINT, "end"))
        drawing.line((center, foot - 66), (center, foot - 88))
        drawing.block(x, foot - 122, BLOCK_WIDTH, 34, "add, LayerNorm", NORM)
        if number:
            drawing.line((center, foot), (center, foot - 26))
    return end


def architecture(say: Say) -> Drawing:
    """Encoder and decoder, from the ids to the probabilities of the next token."""
    drawing = Drawing(
        "The architecture",
        "The network that --preset quick trains, in the order of the paper's figure 1. B sentences, "
        "S source and T target tokens.",
        say,
    )
    left, right = 200, 760
    middle, between = left + BLOCK_WIDTH / 2, 640
    end = draw_stack(drawing, left, "source ids (B, S)", "(B, S, 128)", ENCODER)
    drawing.text(left - 100, 450, "encoder\n2 ×", CENTERED)
    top = draw_stack(drawing, right, "target ids so far (B, T)", "(B, T, 128)", DECODER)
    drawing.text(right + BLOCK_WIDTH + 124, 400, "decoder\n2 ×", CENTERED)
    cross = FOOT - SUBLAYER - 46
    drawing.line(
        (middle, end), (middle, end - 40), (between, end - 40), (between, cross), (right - 2, cross)
    )  # fmt: skip
    drawing.write(between + 10, cross - 16, "k, v", SMALL)
    middle = right + BLOCK_WIDTH / 2
    drawing.line((middle, top), (middle, top - 34))
    drawing.block(right, top - 70, BLOCK_WIDTH, 36, "linear, softmax", OUTPUT)
    drawing.line((middle, top - 70), (middle, top - 92))
    drawing.text(middle + 14, top - 88, "next token: (B, T, V)", SMALL)
    return drawing


# ---- The decoder at step t ----

SOURCE = ("<s>", "um", "carro", "vermelho", ".", "</s>")
SO_FAR = ("<s>", "a")
LOGITS = {"red": 7.2, "new": 4.9, "car": 4.4, "blue": 3.6}
OTHER_LOGIT = -3.4  # of each of the tokens that are not drawn
VOCABULARY = 3000
SELF_SCORES = (0.4, 1.3)  # of the last position, divided by the root of d_k
CROSS_SCORES = (-1.0, 0.5, 1.2, 3.4, -1.0, -0.5)


def next_token_probabilities() -> tuple[dict[str, float], float]:
    """Returns the probabilities of LOGITS, and those of all other tokens together."""
    other_logits = [OTHER_LOGIT] * (VOCABULARY - len(LOGITS))
    shares = softmax([*LOGITS.values(), *other_logits])
    return dict(zip(LOGITS, shares, strict=False)), sum(shares[len(LOGITS) :])


def draw_tokens(
    drawing: Drawing, x: float, y: float, tokens: Sequence[str], fill: str, last: str | None = None
) -> list[Point]:
    """Draws tokens downwards. Returns the middles of their right edges."""
    for number, token in enumerate(tokens):
        color = last if last and number == len(tokens) - 1 else fill
        drawing.labelled(x, y + 44 * number, 100, 34, token, color)
    return [(x + 100, y + 44 * number + 17) for number in range(len(tokens))]


def draw_probabilities(drawing: Drawing, x: float, y: float) -> None:
    """Draws the likeliest tokens with bars."""
    likeliest, other_share = next_token_probabilities()
    drawing.text(x, y, "probability of the next token", Style(weight="bold"))
    rows = [*likeliest.items(), (None, other_share)]
    for number, (token, share) in enumerate(rows):
        middle = y + 36 + 34 * number
        if token is None:
            count = f"{VOCABULARY - len(LOGITS):,}"
            drawing.text(x + 92, middle, "{number} others", Style(15, FAINT, "end"), number=count)
        else:
            drawing.write(x + 92, middle, token, Style(anchor="end"))
        drawing.box(x + 102, middle - 12, max(110 * share, 1), 24, shade(share), BLUE, radius=2)
        drawing.write(x + 110 + 110 * share, middle, f"{share:.2f}", Style(15))


def draw_attended(
    drawing: Drawing, starts: Sequence[Point], end: Point, scores: Sequence[float]
) -> None:
    """Draws a line for each attention weight, as wide as the weight."""
    for start, weight in zip(starts, softmax(scores), strict=True):
        opacity = 0.35 + 0.65 * weight
        drawing.line(start, end, arrow=False, color=BLUE, width=1 + 11 * weight, opacity=opacity)


def decoder_step(say: Say) -> Drawing:
    """From the tokens so far through a decoder layer to the next token, which is appended."""
    drawing = Drawing(
        "The decoder at step t",
        "From the source and the tokens so far, the decoder predicts one token. It is appended, "
        "and the next step begins,\nuntil the token is </s>.",
        say,
    )
    drawing.box(258, 236, 524, 240, CARD, EDGE)
    drawing.text(770, 460, "N layers", Style(15, FAINT, "end"))
    drawing.text(90, 296, "tokens so far", CENTERED)
    starts = draw_tokens(drawing, 40, 320, SO_FAR, EMBEDDING, NORM)
    likeliest = max(LOGITS, key=LOGITS.__getitem__)
    drawing.labelled(40, 408, 100, 34, likeliest, PAPER, Style(17, NOTICED, "middle"), NOTICED)
    draw_attended(drawing, starts, (280, 381), SELF_SCORES)
    for x, text, fill, note in (
        (280, "masked\nself-attention", ATTENTION, "to itself and\nearlier tokens"),
        (466, "cross-\nattention", ATTENTION, "to the source"),
        (640, "feed-\nforward", FEED_FORWARD, "each token separately"),
        (820, "linear,\nsoftmax", OUTPUT, "last position"),
    ):
        width = 136 if x == 280 else 120
        drawing.block(x, 344, width, 74, text, fill)
        drawing.text(x + width / 2, 438, note, SMALL_CENTERED)
    for x, end in ((416, 464), (586, 638), (760, 818), (940, 978)):
        drawing.line((x, 381), (end, 381))
    drawing.write(440, 366, "q", SMALL_CENTERED)
    draw_source(drawing)
    draw_probabilities(drawing, 984, 280)
    drawing.line(
        (1124, 480), (1124, 540), (18, 540), (18, 425), (36, 425), color=NOTICED, width=2.4
    )
    drawing.text(
        570, 566, "the likeliest is appended: step t + 1",
        Style(color=NOTICED, anchor="middle", weight="bold"),
    )  # fmt: skip
    note = "Example figures. The width of a blue line is an attention weight of the last position."
    drawing.text(40, 640, note, Style(16, FAINT))
    return drawing


def draw_source(drawing: Drawing) -> None:
    """Draws the output of the encoder above the cross-attention that attends to it."""
    for number, token in enumerate(SOURCE):
        x = 210 + 108 * number
        drawing.labelled(x, 176, 100, 34, token, EMBEDDING)
    bottoms = [(260 + 108 * number, 210) for number in range(len(SOURCE))]
    draw_attended(drawing, bottoms, (526, 342), CROSS_SCORES)
    drawing.text(210, 152, "k, v: output of the encoder, computed once", SMALL)


# ---- Training and translating ----

REFERENCE = ("a", "red", "car", ".", "</s>")
PREDICTED = ("a", "blue", "car", ".", "</s>")  # from the reference before each
RIGHT = (0.9, 0.2, 0.8, 0.95, 0.97)  # probabilities of the reference


def draw_row(
    drawing: Drawing, x: float, y: float, tokens: Sequence[str], fill: str, step: float = 92,
    noticed: str = "",
) -> None:  # fmt: skip
    """Draws tokens in a row, one each `step` pixels."""
    for number, token in enumerate(tokens):
        color = NOTICED if token == noticed else INK
        style = CENTERED._replace(color=color, size=16)
        drawing.labelled(x + step * number, y, 0.87 * step, 34, token, fill, style, color)


def draw_training(drawing: Drawing, x: float) -> None:
    """Draws all positions of a reference translation, which are predicted in parallel."""
    end = Style(16, FAINT, "end")
    for number in range(len(REFERENCE) - 1):  # first: boxes cover them
        left = x + 70 + 92 * number
        drawing.line((left, 243), (left + 44, 435), color=FAINT)
    for y, text in ((226, "target"), (184, "loss"), (290, "predicts"), (454, "reads")):
        drawing.text(x - 14, y, text, end)
    draw_row(drawing, x, 437, ("<s>", *REFERENCE[:-1]), EMBEDDING)
    drawing.block(x, 346, 448, 46, "decoder, with look-ahead mask", ATTENTION)
    draw_row(drawing, x, 273, PREDICTED, OUTPUT, noticed="blue")
    draw_row(drawing, x, 209, REFERENCE, NORM)
    for number, share in enumerate(RIGHT):
        middle = x + 40 + 92 * number
        drawing.line((middle, 437), (middle, 394))
        drawing.line((middle, 346), (middle, 309))
        drawing.line((middle, 273), (middle, 245), arrow=False, color=FAINT)
        color = NOTICED if share < 0.5 else INK
        drawing.write(middle, 184, f"{-math.log(share):.2f}", Style(16, color, "middle"))


def draw_translating(drawing: Drawing, x: float) -> None:
    """Draws a pass for each token, which the next one reads."""
    for number, token in enumerate(REFERENCE):
        y, end = 180 + 66 * number, x + 58 * (number + 1)
        label = Style(16, FAINT, "end")
        drawing.text(x - 14, y + 17, "pass {number}", label, number=number + 1)
        draw_row(drawing, x, y, ("<s>", *REFERENCE[:number]), EMBEDDING, step=58)
        drawing.line((end - 4, y + 17), (x + 302, y + 17))
        drawing.block(x + 304, y - 4, 88, 42, "decoder", ATTENTION)
        drawing.line((x + 394, y + 17), (x + 416, y + 17))
        drawing.labelled(x + 418, y, 56, 34, token, OUTPUT, CENTERED._replace(size=16))
        if number < len(REFERENCE) - 1:
            right, down, under = x + 446, y + 50, end + 25
            drawing.line(
                (right, y + 35), (right, down), (under, down), (under, y + 64), color=NOTICED
            )


def training_and_translating(say: Say) -> Drawing:
    """Teacher forcing in one pass, beside one pass per token."""
    drawing = Drawing(
        "Training and translating",
        "Training knows the reference translation, and predicts all positions in parallel. "
        "Translating predicts one token after the other.",
        say,
    )
    for left, heading in ((40, "Training: one pass"), (650, "Translating: a pass per token")):
        drawing.box(left, 116, 590, 560, CARD, EDGE)
        drawing.text(left + 20, 146, heading, HEADING)
    draw_training(drawing, 140)
    draw_translating(drawing, 742)
    for x, y, text in (
        (60, 516, "The target is the input shifted by one: each position learns to predict\nthe "
         "token after it. The mask keeps it from reading that token."),
        (60, 590, "Teacher forcing: “blue” is wrong and costs loss, but the next position\nreads "
         "the reference, “red”."),
        (670, 516, "The decoder reads what it has predicted, until it predicts </s>.\nA wrong "
         "token stays, and later ones build on it."),
        (670, 590, "Keys and values of earlier tokens are kept from pass to pass:\nthe KV cache."),
    ):  # fmt: skip
        drawing.text(x, y, text, Style(16))
    return drawing


# ---- Batch and masks ----


class Sentence(NamedTuple):
    """A row of a batch."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]  # 0 for padding


BATCH = (
    Sentence(("<s>", "Good", "morning", ".", "<pad>", "<pad>"), (2, 512, 867, 9, 0, 0)),
    Sentence(("<s>", "Where", "is", "the", "station", "?"), (2, 290, 25, 11, 604, 31)),
)
CELL = 30


def masks_of(sentence: Sentence) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Returns the padding mask, the look-ahead mask and their maximum (T, T): 1 is masked."""
    positions = range(len(sentence.ids))
    padding = [[int(key == 0) for key in sentence.ids] for _ in positions]
    look_ahead = [[int(key > query) for key in positions] for query in positions]
    combined = [
        [max(pair) for pair in zip(*rows, strict=True)]
        for rows in zip(padding, look_ahead, strict=True)
    ]
    return padding, look_ahead, combined


def draw_grid(drawing: Drawing, x: float, y: float, mask: Sequence[Sequence[int]]) -> None:
    """Draws a mask, a cell for each query (down) and key (across)."""
    for row, keys in enumerate(mask):
        for column, masked in enumerate(keys):
            fill = MASKED if masked else PAPER
            place = x + CELL * column, y + CELL * row
            drawing.box(*place, CELL, CELL, fill, EDGE, radius=0)
    drawing.box(x, y, CELL * len(mask), CELL * len(mask), "none", radius=0)


def draw_ids(drawing: Drawing, x: float, y: float) -> None:
    """Draws the batch as ids."""
    drawing.text(x, y - 22, "decoder input (B, T) = (2, 6)", Style(weight="bold"))
    for row, sentence in enumerate(BATCH):
        for column, number in enumerate(sentence.ids):
            fill = EMBEDDING if number else MASKED
            place = x + 50 * column, y + 40 * row
            drawing.labelled(*place, 50, 40, str(number), fill, CENTERED._replace(size=16))


def draw_masks(drawing: Drawing, x: float, y: float, sentence: Sentence) -> None:
    """Draws the three masks of a sentence, its tokens at the left and above."""
    for number, token in enumerate(sentence.tokens):
        drawing.write(x - 10, y + CELL * (number + 0.5), token, Style(15, anchor="end"))
    for left, mask, sign in zip((0, 270, 540), masks_of(sentence), ("max", "=", ""), strict=True):
        draw_grid(drawing, x + left, y, mask)
        if sign:
            drawing.write(x + left + 225, y + 90, sign, Style(20, anchor="middle"))
        for number, token in enumerate(sentence.tokens):
            drawing.turned(x + left + CELL * (number + 0.5), y - 8, token)


def batch_and_masks(say: Say) -> Drawing:
    """Two padded sentences, and the three masks of each."""
    drawing = Drawing(
        "A batch and its masks",
        "Sentences of a batch are padded to one length. A mask keeps attention away from padding "
        "and, in the decoder,\nfrom later tokens.",
        say,
    )
    draw_ids(drawing, 40, 206)
    for left, text in (
        (0, "padding mask"), (270, "look-ahead mask"), (540, "combined: the maximum")
    ):  # fmt: skip
        drawing.text(540 + left, 150, text, CENTERED._replace(weight="bold"))
    for y, sentence in zip((240, 506), BATCH, strict=True):
        draw_masks(drawing, 450, y, sentence)
    drawing.box(40, 330, 22, 22, MASKED, radius=0)
    drawing.box(40, 392, 22, 22, PAPER, radius=0)
    for x, y, text in (
        (72, 341, "masked (1): −10⁹ is added to the score,\nso that the weight is 0"),
        (72, 403, "may be attended to (0)"),
        (40, 456, "row: the token that attends\ncolumn: the token attended to"),
        (40, 532, "The encoder, and cross-attention, need\nonly the padding mask of the source."),
        (40, 608, "Rows of <pad> are computed, too;\nthe loss leaves them out."),
    ):
        drawing.text(x, y, text, Style(16))
    return drawing


DRAWINGS: dict[str, Callable[[Say], Drawing]] = {
    "q-k-v": q_k_v,
    "heads": heads,
    "residual-stream": residual_stream,
    "architecture": architecture,
    "decoder-step": decoder_step,
    "training-and-translating": training_and_translating,
    "batch-and-masks": batch_and_masks,
}


def files() -> dict[str, str]:
    """Returns the content of every file by its name."""
    languages: dict[str, Say] = {"": english, ".zh-CN": CHINESE.__getitem__}
    return {
        f"{name}{ending}.svg": draw(say).svg()
        for name, draw in DRAWINGS.items()
        for ending, say in languages.items()
    }


if __name__ == "__main__":
    for name, content in files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
