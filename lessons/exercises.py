"""Exercises that check themselves: write a function of the Transformer, and compare.

    from lessons.exercises import check

    def mine(q, k, v, mask): ...

    check("attention", mine)

Of a function that returns nothing yet, `check` prints the task and how to begin. Otherwise it calls
the reader's function and the project's with the same small inputs. If the results differ, it also
tries the usual mistakes, each of which is written down here as a function: if the reader's result
equals that of a mistake, the mistake's hint is the answer.

`language="zh"` prints Chinese.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import transformer_model as model

LANGUAGES = ("en", "zh")
TOLERANCE = dict(rtol=1e-4, atol=1e-5)  # of results


class Mistake(NamedTuple):
    """A usual mistake, and the hint for a reader whose function computes the same."""

    function: Callable
    en: str
    zh: str


class Exercise(NamedTuple):
    """A function to write, and what is known of it."""

    solution: Callable
    inputs: tuple  # one or more tuples of arguments
    en: str  # the task: arguments and result, with shapes
    zh: str
    hint_en: str  # how to begin
    hint_zh: str
    mistakes: tuple[Mistake, ...]


EXERCISES: dict[str, Exercise] = {}  # by name, in the order of the network

_random = np.random.default_rng(7)


def _normal(*shape):
    """Returns random numbers of a shape.

    `_tensors` makes tensors of arrays, when something is checked: at the first tensor, TensorFlow
    searches for GPUs, and writes to stderr that there is none.
    """
    return _random.normal(size=shape).astype(np.float32)


def _integers(values):
    return np.array(values, np.int32)


# ---- Tokens ----


def _merge(ids, pair, new_id):
    """Returns ids with a new id in place of each occurrence of a pair, from left to right."""
    merged = []
    for token in ids:
        if merged and (merged[-1], token) == tuple(pair):
            merged[-1] = new_id
        else:
            merged.append(token)
    return merged


def _merge_first(ids, pair, new_id):
    for place, neighbors in enumerate(itertools.pairwise(ids)):
        if neighbors == tuple(pair):
            return [*ids[:place], new_id, *ids[place + 2 :]]
    return ids


def _merge_overlapping(ids, pair, new_id):
    """Returns a new id for each occurrence of a pair, of those that overlap, too."""
    pairs = [*itertools.pairwise(ids)]
    starts = [neighbors == tuple(pair) for neighbors in pairs] + [False]
    merged = []
    for place, token in enumerate(ids):
        if starts[place]:
            merged.append(new_id)
        elif not place or not starts[place - 1]:
            merged.append(token)
    return merged


EXERCISES["merge"] = Exercise(
    _merge,
    (([5, 6, 7, 5, 6], (5, 6), 9), ([4, 4, 4, 7], (4, 4), 9), ([6, 5], (5, 6), 9)),
    "f(ids, pair, new_id) -> the list ids with new_id in place of each occurrence of the pair, "
    "from left to right: one step of byte-pair encoding",
    "f(ids, pair, new_id) -> 从左到右，把列表 ids 中出现的每个 pair 换成 new_id：字节对编码的一步",
    "go through ids with an index: forward by two after a pair, else by one.",
    "用下标扫描 ids：遇到这一对就前进两位，否则前进一位。",
    (
        Mistake(
            _merge_first,
            "Only the first occurrence is merged. All are, in one step.",
            "你只合并了第一处。一步要合并所有的出现。",
        ),
        Mistake(
            _merge_overlapping,
            "Pairs overlap: 4 4 4 became 9 9. A token belongs to one pair at most; what is left "
            "over stays: 9 4.",
            "这些对重叠了：4 4 4 变成了 9 9。一个词元最多属于一对，剩下的保留：应是 9 4。",
        ),
        Mistake(
            lambda ids, pair, new_id: [new_id if token in pair else token for token in ids],
            "Each token of the pair is replaced by itself. The two together become one token.",
            "你把这一对中的两个词元分别替换了。应是两个合成一个。",
        ),
    ),
)


def _cosines(table, i):
    """Returns the cosine similarity of each row of a table to row i, (V,)."""
    unit = table / tf.norm(table, axis=1, keepdims=True)
    return tf.linalg.matvec(unit, unit[i])


def _without(scores, i, value=-np.inf):
    """Returns scores (V,) with another value at i."""
    return tf.where(tf.range(scores.shape[0]) == i, value, scores)


_words = _normal(7, 4)
_words[3] = 0.4 * _words[5] + 0.05  # short, and in nearly the same direction
_words[2] = 2 * _words[5] + _normal(4)  # long, and thus a large product
_words[6] = _words[5] + 0.6 * _normal(4)  # near


# ---- Positions and embeddings ----


def _angles(position, d_model):
    """Returns the angles of all positions, one column per pair of dimensions, (L, D / 2)."""
    depths = np.arange(d_model // 2)
    return np.arange(position)[:, np.newaxis] / 10000 ** (2 * depths / d_model)


def _own_angles(position, d_model):
    """Returns positions where each dimension has an angle of its own, (L, D)."""
    depths = np.arange(d_model)
    angles = np.arange(position)[:, np.newaxis] / 10000 ** (depths / d_model)
    return np.where(depths % 2 == 0, np.sin(angles), np.cos(angles))


def _interleaved(even, odd):
    return np.stack([even, odd], axis=-1).reshape(len(even), -1)


EXERCISES["positions"] = Exercise(
    lambda position, d_model: model.positional_encoding(position, d_model)[0],
    ((6, 8), (3, 4)),
    "f(position, d_model) -> the encoding of positions 0 to position - 1, (position, d_model)",
    "f(position, d_model) -> 位置 0 到 position - 1 的编码，形状 (position, d_model)",
    "angles first: position / 10000^(2k / d_model) for the kth pair of dimensions; then "
    "sine and cosine by turns.",
    "先算角度：第 k 对维度是 position / 10000^(2k / d_model)；再交替取正弦和余弦。",
    (
        Mistake(
            lambda position, d_model: np.concatenate(
                [np.sin(_angles(position, d_model)), np.cos(_angles(position, d_model))], axis=-1
            ),
            "All sines come first, then all cosines. The paper takes turns: sine on dimension 0, "
            "cosine on 1, sine on 2, ... (Today's edition of the tutorial concatenates, too.)",
            "你先放了全部正弦，再放全部余弦。论文是交替的：第 0 维正弦，第 1 维余弦，第 2 维正弦……"
            "（新版官方教程也是拼接的。）",
        ),
        Mistake(
            lambda position, d_model: _interleaved(
                np.cos(_angles(position, d_model)), np.sin(_angles(position, d_model))
            ),
            "Sine and cosine are swapped: even dimensions have the sine.",
            "正弦和余弦放反了：偶数维是正弦。",
        ),
        Mistake(
            _own_angles,
            "Each dimension has an angle of its own. A sine and a cosine share one: the exponent "
            "is 2 (i // 2) / d_model.",
            "每一维的角度都不同。一对正弦和余弦应共用一个角度：指数是 2 (i // 2) / d_model。",
        ),
        Mistake(
            lambda position, d_model: model.positional_encoding(position + 1, d_model)[0, 1:],
            "Positions begin with 1. They begin with 0.",
            "你的位置从 1 开始，应从 0 开始。",
        ),
    ),
)

_table = _normal(11, 4)
_ids = _integers([[5, 6, 7, 0], [8, 9, 0, 0]])

EXERCISES["embedding"] = Exercise(
    lambda table, ids: 2 * tf.gather(table, ids) + model.positional_encoding(ids.shape[1], 4),
    ((_table, _ids),),
    "f(table, ids) -> what enters the first layer, (B, L, D), of an embedding table (V, D) and "
    "ids (B, L); model.positional_encoding may be called",
    "f(table, ids) -> 第一层的输入 (B, L, D)；table 是嵌入表 (V, D)，ids 是 (B, L)；"
    "可以调用 model.positional_encoding",
    "three parts: tf.gather(table, ids), a factor, a sum.",
    "分三步：tf.gather(table, ids)，乘一个因子，再做加法。",
    (
        Mistake(
            lambda table, ids: tf.gather(table, ids) + model.positional_encoding(4, 4),
            "The factor sqrt(d_model) is missing (paper 3.4).",
            "缺少因子 sqrt(d_model)（论文 3.4 节）。",
        ),
        Mistake(
            lambda table, ids: tf.gather(table, ids) * 2.0,
            "The positions are missing: without them the network cannot know the order of words.",
            "没有加上位置编码：没有它，网络不知道词元的顺序。",
        ),
        Mistake(
            lambda table, ids: (tf.gather(table, ids) + model.positional_encoding(4, 4)) * 2.0,
            "The positions are multiplied by sqrt(d_model), too. Only the embeddings are.",
            "位置编码也乘了 sqrt(d_model)，应该只乘词嵌入。",
        ),
    ),
)


EXERCISES["nearest"] = Exercise(
    lambda table, i: tf.argmax(_without(_cosines(table, i), i)),
    ((_words, 5), (_words, 0)),
    "f(table, i) -> the number of the row of table (V, D) that has the highest cosine similarity "
    "to row i, i itself left out",
    "f(table, i) -> table (V, D) 中与第 i 行余弦相似度最高的那一行的行号，第 i 行自己除外",
    "divide each row by its length (tf.norm); products of rows are then cosines.",
    "先把每一行除以自己的长度（tf.norm），行与行的内积就是余弦。",
    (
        Mistake(
            lambda table, i: tf.argmax(_cosines(table, i)),
            "Each vector is most similar to itself: leave row i out.",
            "每个向量与自己最相似：要排除第 i 行。",
        ),
        Mistake(
            lambda table, i: tf.argmax(_without(tf.linalg.matvec(table, table[i]), i)),
            "These are products of vectors, which favor long ones. Divide by the lengths.",
            "这是内积，长的向量会占便宜。应除以向量的长度。",
        ),
        Mistake(
            lambda table, i: tf.argmin(_without(tf.norm(table - table[i], axis=1), i, np.inf)),
            "That is the row at the smallest distance. The cosine asks for the direction alone.",
            "这是距离最小的行。余弦只看方向。",
        ),
        Mistake(
            lambda table, i: tf.argmin(_without(_cosines(table, i), i, np.inf)),
            "That is the least similar row: take the largest cosine.",
            "这是最不相似的行：应取最大的余弦。",
        ),
    ),
)


# ---- Masks ----


EXERCISES["padding mask"] = Exercise(
    model.create_padding_mask,
    ((_ids,), (_integers([[7, 6, 0, 0, 1]]),)),
    "f(ids) -> 1.0 where ids (B, L) are padding (id 0), (B, 1, 1, L)",
    "f(ids) -> ids (B, L) 中填充（编号 0）的位置为 1.0，形状 (B, 1, 1, L)",
    "compare with 0, cast to float, add two axes.",
    "与 0 比较，转成浮点数，再加两个维度。",
    (
        Mistake(
            lambda ids: 1 - model.create_padding_mask(ids),
            "The sign is the other way round: 1 means masked here. (In Keras's own "
            "MultiHeadAttention, 1 means visible.)",
            "正负反了：这里 1 表示遮住。（Keras 自带的 MultiHeadAttention 里 1 表示可见。）",
        ),
        Mistake(
            lambda ids: model.create_padding_mask(ids)[:, 0, 0, :],
            "The values are right. The shape must be (B, 1, 1, L), so that one mask serves all "
            "heads and all queries.",
            "数值对了，但形状应是 (B, 1, 1, L)，这样所有的头和查询共用一个掩码。",
        ),
        Mistake(
            lambda ids: tf.reshape(model.create_padding_mask(ids), (ids.shape[0], 1, -1, 1)),
            "This hides the rows of queries that are padding. Hide the columns: keys that are "
            "padding must not be attended to.",
            "你遮住的是填充位置的查询（行）。应遮住键（列）：不能让别的词元关注填充。",
        ),
    ),
)

EXERCISES["look-ahead mask"] = Exercise(
    model.create_look_ahead_mask,
    ((4,), (2,)),
    "f(size) -> 1.0 where the key comes after the query, (size, size)",
    "f(size) -> 键在查询之后的位置为 1.0，形状 (size, size)",
    "tf.linalg.band_part keeps a triangle of a matrix.",
    "tf.linalg.band_part 可以保留矩阵的一个三角。",
    (
        Mistake(
            lambda size: 1 - model.create_look_ahead_mask(size),
            "The sign is the other way round: 1 means masked, and the past must stay visible.",
            "正负反了：1 表示遮住，过去的词元必须可见。",
        ),
        Mistake(
            lambda size: tf.linalg.band_part(tf.ones((size, size)), 0, -1),
            "The diagonal is masked, too: a token must be able to attend to itself. (The first "
            "one would have nothing left.)",
            "对角线也遮住了：每个词元要能关注自己，否则第一个词元什么也看不到。",
        ),
        Mistake(
            lambda size: tf.transpose(model.create_look_ahead_mask(size)),
            "This hides the past and shows the future. Rows are queries, columns are keys.",
            "你遮住了过去，露出了未来。行是查询，列是键。",
        ),
    ),
)


def _masks(inp, tar, combine=tf.maximum, cross=None):
    look_ahead = model.create_look_ahead_mask(tar.shape[1])  # (T, T)
    combined = combine(model.create_padding_mask(tar), look_ahead)  # (B, 1, T, T)
    source = model.create_padding_mask(inp)  # (B, 1, 1, S)
    return source, combined, source if cross is None else cross


EXERCISES["all masks"] = Exercise(
    model.create_masks,
    ((_ids, _integers([[2, 5, 6, 3], [2, 7, 3, 0]])), (_ids, _integers([[2, 5], [2, 0]]))),
    "f(inp, tar) -> the masks of the encoder (B, 1, 1, S), of the decoder's self-attention "
    "(B, 1, T, T) and of cross-attention (B, 1, 1, S), of ids (B, S) and (B, T)",
    "f(inp, tar) -> 三个掩码：编码器 (B, 1, 1, S)、解码器自注意力 (B, 1, T, T)、"
    "交叉注意力 (B, 1, 1, S)；inp 是 (B, S)，tar 是 (B, T)",
    "model.create_padding_mask and model.create_look_ahead_mask are two of the three "
    "parts; the larger of both masks hides what either hides.",
    "可以用 model.create_padding_mask 和 model.create_look_ahead_mask；"
    "取两者中较大的，就是“任一遮住即遮住”。",
    (
        Mistake(
            lambda inp, tar: _masks(inp, tar, cross=model.create_padding_mask(tar)),
            "The third mask hides padding of the target. The keys of cross-attention come from the "
            "source: hide its padding.",
            "第三个掩码遮住的是目标句的填充。交叉注意力的键来自源句：应遮住源句的填充。",
        ),
        Mistake(
            lambda inp, tar: _masks(inp, tar, combine=lambda padding, look_ahead: look_ahead),
            "The second mask hides the future, but not the padding of the target.",
            "第二个掩码遮住了未来，却没有遮住目标句的填充。",
        ),
        Mistake(
            lambda inp, tar: _masks(inp, tar, combine=lambda padding, look_ahead: padding),
            "The second mask hides the padding, but not the future: the decoder reads the answer.",
            "第二个掩码遮住了填充，却没有遮住未来：解码器会读到答案。",
        ),
        Mistake(
            lambda inp, tar: _masks(inp, tar, combine=tf.minimum),
            "The second mask takes the smaller of the two. A position is hidden if either mask "
            "hides it: take the larger.",
            "第二个掩码取了较小者。只要有一个掩码遮住就要遮住：应取较大者。",
        ),
        Mistake(
            lambda inp, tar: _masks(inp, tar, combine=tf.add),
            "The second mask is 2 where both masks hide. Take the maximum, not the sum.",
            "两个掩码都遮住的地方变成了 2。应取最大值，不是相加。",
        ),
    ),
)


# ---- Attention ----


def _attention(q, k, v, mask, scale=None, axis=-1, sign=1.0):
    """Returns output and weights of attention with a part changed."""
    logits = tf.matmul(q, k, transpose_b=True) * (k.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        logits += sign * mask * model.MASKED
    weights = tf.nn.softmax(logits, axis=axis)
    return tf.matmul(weights, v), weights


def _masked_after(q, k, v, mask):
    """Returns attention whose weights are masked after softmax, so that rows sum to less than 1."""
    _, weights = _attention(q, k, v, None)
    if mask is not None:
        weights *= 1 - mask
    return tf.matmul(weights, v), weights


def _added_after(q, k, v, mask):
    """Returns attention whose mask is added after softmax, so that weights reach -1e9."""
    _, weights = _attention(q, k, v, None)
    if mask is not None:
        weights += mask * model.MASKED
    return tf.matmul(weights, v), weights


_q, _k, _v = _normal(2, 4, 3), _normal(2, 4, 3), _normal(2, 4, 3)
_mask = np.triu(np.ones((4, 4), np.float32), 1)  # look-ahead

EXERCISES["attention"] = Exercise(
    model.scaled_dot_product_attention,
    ((_q, _k, _v, _mask), (_q, _k, _v, None)),
    "f(q, k, v, mask) -> output and weights (paper, equation 1); mask is 1.0 where masked, or None",
    "f(q, k, v, mask) -> 输出和权重（论文公式 1）；mask 为 1.0 处被遮住，也可以是 None",
    "four lines: products, scale, mask, softmax; then the weighted values.",
    "四行：内积，缩放，掩码，softmax；然后按权重把值相加。",
    (
        Mistake(
            lambda q, k, v, mask: _attention(q, k, v, mask, scale=1.0),
            "The division by sqrt(d_k) is missing: without it, softmax of long vectors gives "
            "nearly all weight to one key.",
            "没有除以 sqrt(d_k)：向量长时，softmax 会把几乎全部权重给一个键。",
        ),
        Mistake(
            lambda q, k, v, mask: _attention(q, k, v, mask, scale=1 / k.shape[-1]),
            "The products are divided by d_k. Divide by its square root.",
            "你除以了 d_k，应除以它的平方根。",
        ),
        Mistake(
            lambda q, k, v, mask: _attention(q, k, v, mask, axis=-2),
            "Softmax goes over the queries. It goes over the keys, the last axis: each row of "
            "weights sums to 1.",
            "softmax 沿查询方向做了。应沿最后一维（键）做：每一行权重之和为 1。",
        ),
        Mistake(
            lambda q, k, v, mask: _attention(q, k, v, mask, sign=-1.0),
            "The mask has the wrong sign: masked logits must become very small, -1e9.",
            "掩码的符号反了：被遮住的分数应变得很小，加 -1e9。",
        ),
        Mistake(
            _masked_after,
            "The mask comes after softmax, so the weights no longer sum to 1. Add it to the "
            "logits before.",
            "掩码放在了 softmax 之后，权重之和不再是 1。应在 softmax 之前加到分数上。",
        ),
        Mistake(
            _added_after,
            "-1e9 is added after softmax, to the weights. Add it to the logits before: softmax "
            "turns it into a weight of 0.",
            "-1e9 加到了 softmax 之后的权重上。应在 softmax 之前加到分数上："
            "softmax 会把它变成权重 0。",
        ),
        Mistake(
            lambda q, k, v, mask: _attention(q, k, v, None),
            "The mask is not used.",
            "没有使用掩码。",
        ),
    ),
)


def _split(x, num_heads):
    """Returns x (B, L, D) as heads (B, H, L, D / H)."""
    attention = model.MultiHeadAttention(x.shape[-1], num_heads)
    return attention.split_heads(x)


EXERCISES["split heads"] = Exercise(
    _split,
    ((_normal(2, 3, 8), 2), (_normal(1, 5, 6), 3)),
    "f(x, num_heads) -> x (B, L, D) divided among the heads, (B, num_heads, L, D / num_heads)",
    "f(x, num_heads) -> 把 x (B, L, D) 分给各个头，形状 (B, num_heads, L, D / num_heads)",
    "two steps: tf.reshape to four axes, then tf.transpose.",
    "两步：tf.reshape 成四维，再 tf.transpose。",
    (
        Mistake(
            lambda x, heads: tf.reshape(x, (x.shape[0], heads, x.shape[1], -1)),
            "One reshape puts other words' numbers into a head: the shape is right and the "
            "content is not. Reshape to (B, L, H, D / H), then transpose.",
            "只用一次 reshape 会把别的词元的数值混进一个头：形状对，内容错。"
            "先 reshape 成 (B, L, H, D / H)，再转置。",
        ),
        Mistake(
            lambda x, heads: tf.reshape(x, (x.shape[0], x.shape[1], heads, -1)),
            "The transposition is missing: heads come before positions.",
            "缺少转置：头这一维应在位置之前。",
        ),
        Mistake(
            lambda x, heads: tf.transpose(
                tf.reshape(x, (x.shape[0], x.shape[1], -1, heads)), (0, 3, 1, 2)
            ),
            "Each head got every H-th dimension. It gets D / H dimensions that are neighbors.",
            "每个头拿到的是间隔取出的维。应是相邻的 D / H 维。",
        ),
    ),
)


def _scores(x, y, wq, wk, scale=None):
    """Returns q k^T / sqrt(d_k), (len_q, len_k), for queries from x and keys from y."""
    scale = wk.shape[-1] ** -0.5 if scale is None else scale
    return tf.matmul(x @ wq, y @ wk, transpose_b=True) * scale


EXERCISES["projections"] = Exercise(
    _scores,
    ((_normal(3, 4), _normal(5, 4), _normal(4, 2), _normal(4, 2)),),
    "f(x, y, wq, wk) -> the scores (len_q, len_k) before softmax, of queries made from x (len_q, "
    "D) and keys made from y (len_k, D) by the matrices wq, wk (D, d_k); no bias",
    "f(x, y, wq, wk) -> softmax 之前的分数 (len_q, len_k)：查询由 x (len_q, D) 得到，"
    "键由 y (len_k, D) 得到，矩阵 wq、wk 是 (D, d_k)；不含偏置",
    "q is tf.matmul(x, wq). The rest is the first half of attention.",
    "q 就是 tf.matmul(x, wq)；其余是注意力公式的前半。",
    (
        Mistake(
            lambda x, y, wq, wk: _scores(x, y, wq, wk, scale=1.0),
            "The division by sqrt(d_k) is missing.",
            "没有除以 sqrt(d_k)。",
        ),
        Mistake(
            lambda x, y, wq, wk: _scores(x, y, wq, wk, scale=x.shape[-1] ** -0.5),
            "The divisor is the root of D. It is that of d_k, the width of a query.",
            "你除以了 D 的平方根。应是 d_k（查询的宽度）的平方根。",
        ),
        Mistake(
            lambda x, y, wq, wk: _scores(x, y, wk, wq),
            "The matrices are swapped: queries come from x by wq.",
            "两个矩阵放反了：查询由 x 经 wq 得到。",
        ),
        Mistake(
            lambda x, y, wq, wk: tf.transpose(_scores(x, y, wq, wk)),
            "Rows and columns are swapped: a row belongs to a query.",
            "行和列放反了：一行属于一个查询。",
        ),
        Mistake(
            lambda x, y, wq, wk: tf.matmul(x, y, transpose_b=True) * wk.shape[-1] ** -0.5,
            "The projections are missing: x and y are compared as they are.",
            "缺少投影：你直接比较了 x 和 y。",
        ),
    ),
)


def _joined(heads, wo):
    """Returns heads (H, L, d) one beside the other, times wo (H d, D): (L, D)."""
    width = heads.shape[0] * heads.shape[2]
    return tf.reshape(tf.transpose(heads, (1, 0, 2)), (-1, width)) @ wo


def _silenced(heads, h, factor=0.0):
    """Returns heads (H, L, d) with head h multiplied by a factor."""
    number = tf.range(heads.shape[0])[:, tf.newaxis, tf.newaxis]
    return tf.where(number == h, factor * heads, heads)


EXERCISES["head ablation"] = Exercise(
    lambda heads, wo, h: _joined(_silenced(heads, h), wo),
    ((_normal(3, 4, 2), _normal(6, 5), 1), (_normal(2, 3, 2), _normal(4, 4), 0)),
    "f(heads, wo, h) -> the output (L, D) of multi-head attention without head h, of what the "
    "heads return (H, L, d) and the matrix wo (H d, D) after them; no bias",
    "f(heads, wo, h) -> 去掉第 h 个头之后多头注意力的输出 (L, D)；heads (H, L, d) 是各个头的结果，"
    "wo (H d, D) 是其后的矩阵；不含偏置",
    "set the head to zero; then transpose and reshape to (L, H d), and multiply by wo.",
    "把这个头置零；再转置、reshape 成 (L, H d)，乘以 wo。",
    (
        Mistake(
            lambda heads, wo, h: _joined(heads, wo),
            "Nothing is missing: that is the output of all heads.",
            "什么也没去掉：这是所有头的输出。",
        ),
        Mistake(
            lambda heads, wo, h: _joined(heads - _silenced(heads, h), wo),
            "That is head h alone. All heads but h remain.",
            "这只剩第 h 个头。应保留除它以外的所有头。",
        ),
        Mistake(
            lambda heads, wo, h: (
                _joined(_silenced(heads, h), wo) * heads.shape[0] / (heads.shape[0] - 1)
            ),
            "The others are scaled up to make up for it. They stay as they are.",
            "你把其余的头放大来补偿了。它们应保持不变。",
        ),
        Mistake(
            lambda heads, wo, h: (
                tf.reshape(_silenced(heads, h), (heads.shape[1], wo.shape[0])) @ wo
            ),
            "A reshape alone mixes tokens: transpose to (L, H, d) first.",
            "只用 reshape 会把词元混在一起：先转置成 (L, H, d)。",
        ),
    ),
)


# ---- The rest of a layer ----


def _feed_forward(x, w1, b1, w2, b2):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2


_x = _normal(2, 3, 4)

EXERCISES["feed-forward"] = Exercise(
    _feed_forward,
    ((_x, _normal(4, 6), _normal(6), _normal(6, 4), _normal(4)),),
    "f(x, w1, b1, w2, b2) -> the feed-forward network of x (B, L, D) (paper, equation 2)",
    "f(x, w1, b1, w2, b2) -> x (B, L, D) 经过前馈网络的结果（论文公式 2）",
    "tf.nn.relu stands between two products.",
    "两次乘法之间是 tf.nn.relu。",
    (
        Mistake(
            lambda x, w1, b1, w2, b2: tf.matmul(tf.matmul(x, w1) + b1, w2) + b2,
            "The ReLU is missing: two linear maps in a row are one linear map.",
            "缺少 ReLU：两个线性变换连在一起仍是一个线性变换。",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: tf.nn.relu(_feed_forward(x, w1, b1, w2, b2)),
            "There is a ReLU at the end, too: the output could never be negative.",
            "最后又做了一次 ReLU：输出就不可能为负了。",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: tf.nn.relu(tf.matmul(tf.matmul(x, w1) + b1, w2) + b2),
            "The ReLU belongs between the two products.",
            "ReLU 应在两次乘法之间。",
        ),
    ),
)


EXERCISES["neuron"] = Exercise(
    lambda x, w1, b1, n: tf.nn.relu(tf.matmul(x, w1) + b1)[..., n],
    ((_x, _normal(4, 4), _normal(4), 2),),
    "f(x, w1, b1, n) -> the activation of neuron n of the hidden layer at each position of x "
    "(B, L, D): (B, L); w1 is (D, dff)",
    "f(x, w1, b1, n) -> 隐藏层第 n 个神经元在 x (B, L, D) 每个位置上的激活值 (B, L)；"
    "w1 是 (D, dff)",
    "a neuron is a column of w1, a number of b1, and the ReLU.",
    "一个神经元就是 w1 的一列、b1 的一个数，再加 ReLU。",
    (
        Mistake(
            lambda x, w1, b1, n: (tf.matmul(x, w1) + b1)[..., n],
            "The ReLU is missing: a neuron is silent where the sum is negative.",
            "缺少 ReLU：和为负时，神经元不激活。",
        ),
        Mistake(
            lambda x, w1, b1, n: tf.nn.relu(tf.matmul(x, w1))[..., n],
            "The bias is missing: b1[n] shifts the threshold.",
            "缺少偏置：b1[n] 移动阈值。",
        ),
        Mistake(
            lambda x, w1, b1, n: tf.nn.relu(tf.linalg.matvec(x, w1[n]) + b1[n]),
            "Row n of w1 belongs to dimension n of the input. The neuron's weights are column n.",
            "w1 的第 n 行属于输入的第 n 维。神经元的权重是第 n 列。",
        ),
    ),
)


def _normalize(x, axis=-1, root=True):
    mean = tf.reduce_mean(x, axis=axis, keepdims=True)
    variance = tf.reduce_mean((x - mean) ** 2, axis=axis, keepdims=True)
    return (x - mean) / (tf.sqrt(variance + 1e-6) if root else variance + 1e-6)


EXERCISES["layer normalization"] = Exercise(
    lambda x: keras.layers.LayerNormalization(epsilon=1e-6)(x),
    ((_x,),),
    "f(x) -> x (B, L, D) with mean 0 and variance 1, as before training (gamma 1, beta 0)",
    "f(x) -> 把 x (B, L, D) 变成均值 0、方差 1，与训练前相同（gamma 为 1，beta 为 0）",
    "tf.reduce_mean(x, axis=-1, keepdims=True) is the mean of each token.",
    "tf.reduce_mean(x, axis=-1, keepdims=True) 是每个词元的均值。",
    (
        Mistake(
            lambda x: _normalize(x, axis=(0, 1)),
            "This is a mean over tokens (batch normalization). Each token is normalized by "
            "itself, over its D numbers.",
            "你在词元之间求均值（那是批归一化）。每个词元应在自己的 D 个数上单独归一化。",
        ),
        Mistake(
            lambda x: _normalize(x, axis=(1, 2)),
            "This is a mean over the whole sentence. Each token is normalized by itself.",
            "你在整个句子上求均值。每个词元应单独归一化。",
        ),
        Mistake(
            lambda x: _normalize(x, root=False),
            "The difference from the mean is divided by the variance. Divide by its square root.",
            "你除以了方差，应除以标准差（方差的平方根）。",
        ),
        Mistake(
            lambda x: x - tf.reduce_mean(x, axis=-1, keepdims=True),
            "Only the mean is subtracted. Divide by the standard deviation, too.",
            "只减了均值，还要除以标准差。",
        ),
    ),
)

EXERCISES["residual"] = Exercise(
    lambda x, sublayer: _normalize(x + sublayer(x)),
    ((_x, tf.nn.gelu),),
    "f(x, sublayer) -> a sub-layer as the paper puts it into a layer (3.1; post-norm), without "
    "dropout; gamma 1, beta 0",
    "f(x, sublayer) -> 论文 3.1 节的子层结构（后归一化），不含 dropout；gamma 为 1，beta 为 0",
    "add x to what the sub-layer returns, then normalize as in the exercise before.",
    "先把 x 加到子层的输出上，再像上一题那样归一化。",
    (
        Mistake(
            lambda x, sublayer: _normalize(sublayer(x)),
            "The residual connection is missing: add x to what the sub-layer returns.",
            "缺少残差连接：子层的输出要加上 x。",
        ),
        Mistake(
            lambda x, sublayer: x + sublayer(_normalize(x)),
            "That is pre-norm, as in the presets `tiny` and `small`. The paper normalizes the sum.",
            "这是前归一化（预设 tiny 和 small 用的就是它）。论文是对相加之后的结果归一化。",
        ),
        Mistake(
            lambda x, sublayer: x + _normalize(sublayer(x)),
            "The sub-layer's output is normalized before the sum. The paper normalizes the sum.",
            "你在相加之前归一化了子层输出。论文是对和归一化。",
        ),
        Mistake(
            lambda x, sublayer: x + sublayer(x),
            "The normalization is missing.",
            "缺少归一化。",
        ),
    ),
)


class _Echo(model.TransformerLayer):
    """A layer whose output shows its arguments: 10 is added in training, and so is the mask."""

    def call(self, x, *, training=False, mask=None):
        x = x + 10.0 if training else x
        return x if mask is None else x + mask


EXERCISES["call"] = Exercise(
    lambda layer, x, mask: layer(x, training=True, mask=mask),
    ((_Echo(), _x, np.ones((3, 4), np.float32)),),
    "f(layer, x, mask) -> the output of a Keras 3 layer in training, for x (B, L, D) with a mask",
    "f(layer, x, mask) -> Keras 3 的层在训练时对 x (B, L, D) 的输出，带掩码 mask",
    "Keras 3 takes `training` and `mask` by keyword.",
    "Keras 3 的 training 和 mask 要用关键字参数传递。",
    (
        Mistake(
            lambda layer, x, mask: layer(x, mask=mask),
            "The layer does not know that it trains: without training=True, dropout is off.",
            "层不知道现在是训练：没有 training=True，dropout 不起作用。",
        ),
        Mistake(
            lambda layer, x, mask: layer(x, training=True),
            "The mask does not arrive. Pass it by keyword, mask=mask.",
            "掩码没有传进去。应作为关键字参数传递：mask=mask。",
        ),
    ),
)


# ---- Training ----

_tar = _integers([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])  # START ... END, padding

EXERCISES["shift"] = Exercise(
    lambda tar: (tar[:, :-1], tar[:, 1:]),
    ((_tar,),),
    "f(tar) -> tar_inp, tar_real: what the decoder reads and what it must predict, (B, T - 1) "
    "each, of ids (B, T) from START to END",
    "f(tar) -> tar_inp, tar_real：解码器读入的和要预测的，形状都是 (B, T - 1)；"
    "tar (B, T) 从 START 到 END",
    "both are slices of tar along its second axis.",
    "两者都是 tar 沿第二维的切片。",
    (
        Mistake(
            lambda tar: (tar, tar),
            "Nothing is shifted: the decoder would only have to repeat the token that it reads.",
            "没有错开一位：解码器只要照抄读到的词元就行了。",
        ),
        Mistake(
            lambda tar: (tar[:, :-1], tar[:, :-1]),
            "Both are the same: the decoder would only have to repeat the token that it reads.",
            "两者相同：解码器只要照抄读到的词元就行了。",
        ),
        Mistake(
            lambda tar: (tar[:, 1:], tar[:, :-1]),
            "The two are swapped: the decoder would predict the word before.",
            "两者放反了：解码器预测的会是前一个词元。",
        ),
        Mistake(
            lambda tar: (tar[:-1], tar[1:]),
            "This shifts by a sentence. The second axis holds the tokens.",
            "你错开的是一个句子。词元在第二维上。",
        ),
    ),
)


def _losses(real, logits):
    """Returns the cross-entropy of every position, padding included, (B, T)."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(real, logits)


def _real_mean(values, real):
    """Returns the mean of values (B, T) over real tokens."""
    is_real = tf.cast(real != model.PAD, tf.float32)
    return tf.reduce_sum(values * is_real) / tf.reduce_sum(is_real)


def _sentence_mean(real, logits):
    is_real = tf.cast(real != model.PAD, tf.float32)
    sums = tf.reduce_sum(_losses(real, logits) * is_real, axis=1)
    return tf.reduce_mean(sums / tf.reduce_sum(is_real, axis=1))


_real, _logits = _tar[:, 1:], _normal(2, 4, 11)

EXERCISES["loss"] = Exercise(
    model.loss_function,
    ((_real, _logits),),
    "f(real, logits) -> mean cross-entropy in nats of ids (B, T) under logits (B, T, V)",
    "f(real, logits) -> ids (B, T) 在 logits (B, T, V) 下的平均交叉熵，单位 nat",
    "tf.nn.sparse_softmax_cross_entropy_with_logits gives a loss per position; leave "
    "padding out above and below the fraction line.",
    "tf.nn.sparse_softmax_cross_entropy_with_logits 给出每个位置的损失；分子和分母都不计填充。",
    (
        Mistake(
            lambda real, logits: tf.reduce_mean(_losses(real, logits)),
            "Padding is counted. Only real tokens count, above and below the fraction line.",
            "填充也算进去了。分子和分母都只算真正的词元。",
        ),
        Mistake(
            lambda real, logits: tf.reduce_mean(
                _losses(real, logits) * tf.cast(real != 0, tf.float32)
            ),
            "Padding has no loss, but it is still counted below the fraction line: divide by the "
            "number of real tokens.",
            "填充的损失去掉了，但分母仍数了它：应除以真正的词元个数。",
        ),
        Mistake(
            _sentence_mean,
            "This is a mean of the sentences' means: words of short sentences would count more.",
            "你先对每句求平均再平均：短句里的词元会占更大的比重。",
        ),
        Mistake(
            lambda real, logits: _real_mean(_losses(real, logits), real) / np.log(2),
            "That is in bits, by log2. The loss is in nats, by the natural logarithm.",
            "你用了 log2（比特）。损失用自然对数（nat）。",
        ),
        Mistake(
            lambda real, logits: _real_mean(_losses(real, tf.nn.softmax(logits)), real),
            "Softmax is computed twice: the loss takes logits, not probabilities.",
            "softmax 做了两次：损失函数接受 logits，不是概率。",
        ),
    ),
)


def _hits(real, logits):
    """Returns 1.0 where the highest logit is that of the real id, (B, T)."""
    return tf.cast(real == tf.argmax(logits, axis=-1, output_type=real.dtype), tf.float32)


_guesses = np.eye(11, dtype=np.float32)[[[5, 6, 9, 3], [8, 4, 0, 0]]]

EXERCISES["accuracy"] = Exercise(
    model.accuracy_function,
    ((_real, _guesses),),
    "f(real, logits) -> the share of real tokens that have the highest logit",
    "f(real, logits) -> 真正的词元中，得分最高者恰为正确答案的比例",
    "tf.argmax(logits, axis=-1) are the predictions; count the right ones among real tokens.",
    "tf.argmax(logits, axis=-1) 是预测；在真正的词元里数预测正确的。",
    (
        Mistake(
            lambda real, logits: tf.reduce_mean(_hits(real, logits)),
            "Padding is counted: it is easy to guess, and makes accuracy look better.",
            "填充也算进去了：它很容易猜中，会让准确率虚高。",
        ),
        Mistake(
            lambda real, logits: tf.reduce_mean(
                _hits(real, logits) * tf.cast(real != 0, tf.float32)
            ),
            "Padding is no hit, but still counted below the fraction line.",
            "填充不算命中了，但分母仍数了它。",
        ),
    ),
)


def _smoothed(ids, vocab_size, smoothing):
    return (1 - smoothing) * tf.one_hot(ids, vocab_size) + smoothing / vocab_size


EXERCISES["label smoothing"] = Exercise(
    _smoothed,
    ((_integers([1, 3]), 5, 0.1),),
    "f(ids, vocab_size, smoothing) -> the target distribution of ids (B,), (B, V) (paper 5.4)",
    "f(ids, vocab_size, smoothing) -> ids (B,) 的目标分布，形状 (B, V)（论文 5.4 节）",
    "tf.one_hot, a little of which is spread evenly over all entries.",
    "从 tf.one_hot 里取出一点，平均分给所有项。",
    (
        Mistake(
            lambda ids, size, smoothing: tf.one_hot(ids, size) + smoothing / size,
            "The row sums to more than 1: take the probability that is spread from the right "
            "token.",
            "每行之和大于 1：分出去的概率要从正确的词元上扣除。",
        ),
        Mistake(
            lambda ids, size, smoothing: tf.one_hot(
                ids, size, 1 - smoothing, smoothing / (size - 1)
            ),
            "The rest is spread over the wrong tokens only. Here it goes evenly to all tokens, "
            "the right one included.",
            "你只分给了错误的词元。这里平均分给所有词元，包括正确的那个。",
        ),
    ),
)


def _rate(step, d_model, warmup, low=min):
    return d_model**-0.5 * low(step**-0.5, step * warmup**-1.5)


EXERCISES["learning rate"] = Exercise(
    lambda step, d_model, warmup: model.CustomSchedule(d_model, warmup)(step),
    ((1, 128, 100), (99, 128, 100), (100, 128, 100), (400, 64, 100)),
    "f(step, d_model, warmup_steps) -> the learning rate of a step (paper, equation 3)",
    "f(step, d_model, warmup_steps) -> 某一步的学习率（论文公式 3）",
    "the smaller of a line and a root, times a factor of the width.",
    "直线与平方根倒数取较小者，再乘一个与宽度有关的因子。",
    (
        Mistake(
            lambda step, d_model, warmup: _rate(step + 1, d_model, warmup),
            "The warm-up is off by one: step 1 is the first step of the formula. (Keras counts "
            "from 0, so that its first update has the rate 0.)",
            "预热差了一步：公式的第一步是 1。（Keras 从 0 数起，所以它第一次更新的学习率为 0。）",
        ),
        Mistake(
            lambda step, d_model, warmup: _rate(step, d_model, warmup, max),
            "The maximum is taken. The smaller of the two applies: first the line, then the root.",
            "你取了较大者。应取较小者：先是直线上升，再按平方根下降。",
        ),
        Mistake(
            lambda step, d_model, warmup: _rate(step, 1, warmup),
            "The factor d_model^-0.5 is missing: wider models take smaller steps.",
            "缺少因子 d_model^-0.5：模型越宽，步子越小。",
        ),
        Mistake(
            lambda step, d_model, warmup: d_model**-0.5 * step**-0.5,
            "The warm-up is missing.",
            "缺少预热。",
        ),
    ),
)


_gradients = [_normal(2, 3), _normal(4), _normal(1, 2)]

EXERCISES["gradient norm"] = Exercise(
    tf.linalg.global_norm,
    ((_gradients,),),
    "f(gradients) -> the global norm of a list of gradients: the length of the vector of all their "
    "numbers",
    "f(gradients) -> 一组梯度的全局范数：把所有的数排成一个向量，它的长度",
    "the root of the sum of all squares, over all gradients.",
    "所有梯度的所有数的平方和，再开方。",
    (
        Mistake(
            lambda gradients: sum(tf.norm(gradient) for gradient in gradients),
            "These are the lengths of the gradients, added up. Add up their squares, then take the "
            "root.",
            "你把各个梯度的长度相加了。应先把平方相加，再开方。",
        ),
        Mistake(
            lambda gradients: sum(tf.reduce_sum(gradient**2) for gradient in gradients),
            "The root is missing.",
            "没有开方。",
        ),
        Mistake(
            lambda gradients: max(tf.norm(gradient) for gradient in gradients),
            "That is the longest gradient alone.",
            "这只是最长的那个梯度。",
        ),
    ),
)


# ---- Translating ----

EXERCISES["next token"] = Exercise(
    lambda logits: tf.argmax(logits[:, -1], axis=-1),
    ((_normal(2, 4, 11),),),
    "f(logits) -> the likeliest next token of each sentence, (B,), of logits (B, T, V)",
    "f(logits) -> 每个句子最可能的下一个词元 (B,)；logits 是 (B, T, V)",
    "only the last position is of interest.",
    "只需要最后一个位置。",
    (
        Mistake(
            lambda logits: tf.argmax(logits[:, 0], axis=-1),
            "These are the predictions after the first token. The next one follows the last.",
            "这是第一个词元之后的预测。下一个词元应由最后一个位置预测。",
        ),
        Mistake(
            lambda logits: tf.argmax(logits, axis=-1),
            "These are the predictions of all positions. Only the last one is new.",
            "这是所有位置的预测。只有最后一个是新的。",
        ),
        Mistake(
            lambda logits: tf.reduce_max(logits[:, -1], axis=-1),
            "That is the highest logit. The token is its position: argmax.",
            "这是最高的分数。词元的编号是它的位置：用 argmax。",
        ),
    ),
)


def _products(tokens, cached):
    """Returns the products of queries and keys to generate `tokens` tokens, by one head."""
    return sum(length if cached else length**2 for length in range(1, tokens + 1))


EXERCISES["cost"] = Exercise(
    _products,
    ((5, False), (5, True), (12, False), (1, True)),
    "f(tokens, cached) -> how many products of a query with a key one head of the decoder's "
    "self-attention computes in all to generate `tokens` tokens: it reads 1 token, then 2, ..., "
    "then `tokens`; cached: whether keys and values of earlier tokens are kept (True or False); "
    "masked products count, too",
    "f(tokens, cached) -> 解码器自注意力的一个头生成 tokens 个词元，一共计算多少个查询与键的内积："
    "依次读入 1 个、2 个……直到 tokens 个词元；cached（True 或 False）表示是否保留前面词元的键和值；"
    "被遮住的内积也算",
    "of `length` tokens, a whole pass compares each query with each key; with the cache, there "
    "is one query.",
    "读入 length 个词元时，完整计算要让每个查询与每个键相比；有缓存时只有一个查询。",
    (
        Mistake(
            lambda tokens, cached: tokens if cached else tokens**2,
            "That is the cost of the last token. Add up all of them.",
            "这只是最后一个词元的代价。要把每一步加起来。",
        ),
        Mistake(
            lambda tokens, cached: _products(tokens, not cached),
            "The two are swapped: the cache saves products.",
            "两者放反了：缓存是用来省计算的。",
        ),
        Mistake(
            lambda tokens, cached: (
                _products(tokens, True)
                if cached
                else sum(n * (n + 1) // 2 for n in range(tokens + 1))
            ),
            "Masked products are left out. A matrix product computes them, and the mask discards "
            "them.",
            "你没有计被遮住的内积。矩阵乘法仍会算出它们，再由掩码丢掉。",
        ),
    ),
)


# ---- Checking ----

TEXTS = {
    "en": {
        "right": "{}: right.",
        "failed": "{}: your function ends in {}: {}",
        "shape": "{}: the result has the shape {}, and should have {}.",
        "number": "{}: the number of results is {}, and should be {}.",
        "other": "{}: not yet. The largest difference is {:.4g}{}: your function returns {:.6g}, "
        "and {:.6g} is right. The inputs were {}.",
        "place": ", in result {} at {}",
        "shape of": "an array {}",
        "no numbers": "{}: {!r} is returned, not numbers.",
        "unwritten": "{}: nothing is returned yet.\n  {}\n  Hint: {}",
        "hint": " Hint: {}",
        "unknown": "There is no exercise {!r}; choose one of {}.",
    },
    "zh": {
        "right": "{}：正确。",
        "failed": "{}：你的函数出错了，{}：{}",
        "shape": "{}：结果的形状是 {}，应是 {}。",
        "number": "{}：返回了 {} 个结果，应是 {} 个。",
        "other": "{}：还不对。最大的差是 {:.4g}{}：你的函数返回 {:.6g}，应是 {:.6g}。输入是 {}。",
        "place": "，在第 {} 个结果的 {} 处",
        "shape of": "数组 {}",
        "no numbers": "{}：返回的 {!r} 不是数。",
        "unwritten": "{}：还没有返回结果。\n  {}\n  提示：{}",
        "hint": "提示：{}",
        "unknown": "没有练习 {!r}；可选：{}。",
    },
}


class UnwrittenError(Exception):
    """A function returns nothing."""


def _tensors(arguments):
    """Returns arguments with a tensor in place of each array, also in lists."""
    return keras.tree.map_structure(
        lambda value: tf.constant(value) if isinstance(value, np.ndarray) else value, arguments
    )


def _results(function, arguments, count=1):
    """Returns what a function returns, as a list of arrays: one, or those of a tuple.

    Where the exercise asks for a `count` of results above 1, a list holds them as well.
    """
    result = function(*_tensors(arguments))
    if result is None:
        raise UnwrittenError
    is_several = isinstance(result, tuple) or (count > 1 and isinstance(result, list))
    return [np.asarray(value) for value in (result if is_several else (result,))]


def _same(results, expected):
    return len(results) == len(expected) and all(
        value.shape == right.shape and np.allclose(value, right, **TOLERANCE)
        for value, right in zip(results, expected, strict=True)
    )


def _mistake(exercise, results, language):
    """Returns the text of the mistake that has the same `results` for all inputs; None if none."""
    for mistake in exercise.mistakes:
        try:
            made = [_results(mistake.function, arguments) for arguments in exercise.inputs]
        except Exception:  # a mistake need not work for every input
            continue
        if all(map(_same, results, made)):
            return getattr(mistake, language)
    return None


MAX_NUMBERS = 16  # of an argument that is written out; larger ones are described by their shape


def _written(argument, texts):
    """Returns an argument as a message shows it."""
    if callable(argument):
        return getattr(argument, "__name__", type(argument).__name__)
    values = np.asarray(argument)
    if values.size > MAX_NUMBERS:
        return texts["shape of"].format(values.shape)
    return str(values.tolist() if values.dtype == object else values.round(4).tolist())


def _difference(name, arguments, number, value, right, texts):
    """Returns where result `number` (from 1) differs most from the right one of the same shape."""
    differences = np.abs(value.astype(np.float64) - right)
    place = np.unravel_index(differences.argmax(), differences.shape)  # of NaN, if there is one
    index = [int(axis) for axis in place]
    where = texts["place"].format(number, index) if index else ""
    inputs = ", ".join(_written(argument, texts) for argument in arguments)
    return texts["other"].format(
        name, differences[place], where, float(value[place]), float(right[place]), inputs
    )


def verdict(name: str, function: Callable, language: str = "en") -> str:
    """Returns in words, "en" or "zh", whether a function computes what the exercise asks for.

    In its name, "-" and "_" count as spaces.
    """
    texts = TEXTS[language]
    names = {known.replace("-", " "): known for known in EXERCISES}
    known = names.get(name.replace("-", " ").replace("_", " ").lower())
    if known is None:
        return texts["unknown"].format(name, ", ".join(EXERCISES))
    return _compare(known, function, language)


def _compare(name, function, language):
    texts, exercise = TEXTS[language], EXERCISES[name]
    task, hint = getattr(exercise, language), getattr(exercise, f"hint_{language}")
    expected = [_results(exercise.solution, arguments) for arguments in exercise.inputs]
    try:
        count = len(expected[0])
        results = [_results(function, arguments, count) for arguments in exercise.inputs]
    except UnwrittenError:
        return texts["unwritten"].format(name, task, hint)
    except Exception as error:  # whatever the reader's function raises
        return texts["failed"].format(name, type(error).__name__, error)
    for values in results:
        if wrong := [value for value in values if value.dtype.kind not in "biuf"]:
            return texts["no numbers"].format(name, wrong[0].tolist())
    if all(map(_same, results, expected)):
        return texts["right"].format(name)
    if mistake := _mistake(exercise, results, language):
        return f"{name}: {mistake}"
    for arguments, values, right_values in zip(exercise.inputs, results, expected, strict=True):
        if len(values) != len(right_values):
            return texts["number"].format(name, len(values), len(right_values))
        pairs = enumerate(zip(values, right_values, strict=True), start=1)
        for number, (value, right) in pairs:
            if value.shape != right.shape:
                return texts["shape"].format(name, value.shape, right.shape)
            if not np.allclose(value, right, **TOLERANCE):
                difference = _difference(name, arguments, number, value, right, texts)
                return difference + texts["hint"].format(hint)
    raise AssertionError("unreachable: some value differs")


def check(name: str, function: Callable, language: str = "en") -> None:
    """Prints what `verdict` returns."""
    print(verdict(name, function, language))
