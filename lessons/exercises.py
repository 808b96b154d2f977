"""Exercises that check themselves: write a function of the Transformer, and compare.

    from lessons.exercises import check, exercises

    print(exercises())             # what there is to write
    check("attention", my_function)

`check` calls the reader's function and the project's with the same small inputs. If the results
differ, it also tries the usual mistakes, each of which is written down here as a function: if the
reader's result equals that of a mistake, the mistake's hint is the answer.

`language="zh"` prints Chinese.
"""

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
    mistakes: tuple[Mistake, ...]


EXERCISES: dict[str, Exercise] = {}  # by name, in the order of the network

_random = np.random.default_rng(7)


def _normal(*shape):
    """Returns random numbers of a shape, as a float32 tensor."""
    return tf.constant(_random.normal(size=shape), tf.float32)


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
    """Returns the columns of `even` and `odd` by turns."""
    return np.stack([even, odd], axis=-1).reshape(len(even), -1)


EXERCISES["positions"] = Exercise(
    lambda position, d_model: model.positional_encoding(position, d_model)[0],
    ((6, 8), (3, 4)),
    "f(position, d_model) -> the encoding of positions 0 to position - 1, (position, d_model)",
    "f(position, d_model) -> 位置 0 到 position - 1 的编码，形状 (position, d_model)",
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

_embedding = keras.layers.Embedding(11, 4, embeddings_initializer=lambda *_, **__: _normal(11, 4))
_embedding.build(None)
_table = _embedding.embeddings.value
_ids = tf.constant([[5, 6, 7, 0], [8, 9, 0, 0]])

EXERCISES["embedding"] = Exercise(
    lambda table, ids: 2 * tf.gather(table, ids) + model.positional_encoding(ids.shape[1], 4),
    ((_table, _ids),),
    "f(table, ids) -> what enters the first layer, (B, L, D), of an embedding table (V, D) and "
    "ids (B, L); model.positional_encoding may be called",
    "f(table, ids) -> 第一层的输入 (B, L, D)；table 是嵌入表 (V, D)，ids 是 (B, L)；"
    "可以调用 model.positional_encoding",
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


# ---- Masks ----


EXERCISES["padding mask"] = Exercise(
    model.create_padding_mask,
    ((_ids,), (tf.constant([[7, 6, 0, 0, 1]]),)),
    "f(ids) -> 1.0 where ids (B, L) are padding (id 0), (B, 1, 1, L)",
    "f(ids) -> ids (B, L) 中填充（编号 0）的位置为 1.0，形状 (B, 1, 1, L)",
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
    """Returns the three masks of create_masks with a part changed."""
    look_ahead = model.create_look_ahead_mask(tar.shape[1])  # (T, T)
    combined = combine(model.create_padding_mask(tar), look_ahead)  # (B, 1, T, T)
    source = model.create_padding_mask(inp)  # (B, 1, 1, S)
    return source, combined, source if cross is None else cross


EXERCISES["all masks"] = Exercise(
    model.create_masks,
    ((_ids, tf.constant([[2, 5, 6, 3], [2, 7, 3, 0]])), (_ids, tf.constant([[2, 5], [2, 0]]))),
    "f(inp, tar) -> the masks of the encoder (B, 1, 1, S), of the decoder's self-attention "
    "(B, 1, T, T) and of cross-attention (B, 1, 1, S), of ids (B, S) and (B, T)",
    "f(inp, tar) -> 三个掩码：编码器 (B, 1, 1, S)、解码器自注意力 (B, 1, T, T)、"
    "交叉注意力 (B, 1, 1, S)；inp 是 (B, S)，tar 是 (B, T)",
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
_mask = model.create_look_ahead_mask(4)

EXERCISES["attention"] = Exercise(
    model.scaled_dot_product_attention,
    ((_q, _k, _v, _mask), (_q, _k, _v, None)),
    "f(q, k, v, mask) -> output and weights (paper, equation 1); mask is 1.0 where masked, or None",
    "f(q, k, v, mask) -> 输出和权重（论文公式 1）；mask 为 1.0 处被遮住，也可以是 None",
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


# ---- The rest of a layer ----


def _feed_forward(x, w1, b1, w2, b2):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2


_x = _normal(2, 3, 4)

EXERCISES["feed-forward"] = Exercise(
    _feed_forward,
    ((_x, _normal(4, 6), _normal(6), _normal(6, 4), _normal(4)),),
    "f(x, w1, b1, w2, b2) -> the feed-forward network of x (B, L, D) (paper, equation 2)",
    "f(x, w1, b1, w2, b2) -> x (B, L, D) 经过前馈网络的结果（论文公式 2）",
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


def _normalize(x, axis=-1, root=True):
    mean = tf.reduce_mean(x, axis=axis, keepdims=True)
    variance = tf.reduce_mean((x - mean) ** 2, axis=axis, keepdims=True)
    return (x - mean) / (tf.sqrt(variance + 1e-6) if root else variance + 1e-6)


EXERCISES["layer normalization"] = Exercise(
    keras.layers.LayerNormalization(epsilon=1e-6),
    ((_x,),),
    "f(x) -> x (B, L, D) with mean 0 and variance 1, as before training (gamma 1, beta 0)",
    "f(x) -> 把 x (B, L, D) 变成均值 0、方差 1，与训练前相同（gamma 为 1，beta 为 0）",
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
    ((_Echo(), _x, tf.ones((3, 4))),),
    "f(layer, x, mask) -> the output of a Keras 3 layer in training, for x (B, L, D) with a mask",
    "f(layer, x, mask) -> Keras 3 的层在训练时对 x (B, L, D) 的输出，带掩码 mask",
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

_tar = tf.constant([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])  # START ... END, padding

EXERCISES["shift"] = Exercise(
    lambda tar: (tar[:, :-1], tar[:, 1:]),
    ((_tar,),),
    "f(tar) -> tar_inp, tar_real: what the decoder reads and what it must predict, (B, T - 1) "
    "each, of ids (B, T) from START to END",
    "f(tar) -> tar_inp, tar_real：解码器读入的和要预测的，形状都是 (B, T - 1)；"
    "tar (B, T) 从 START 到 END",
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
    """Returns the mean over sentences of each sentence's mean loss."""
    is_real = tf.cast(real != model.PAD, tf.float32)
    sums = tf.reduce_sum(_losses(real, logits) * is_real, axis=1)
    return tf.reduce_mean(sums / tf.reduce_sum(is_real, axis=1))


_real, _logits = _tar[:, 1:], _normal(2, 4, 11)

EXERCISES["loss"] = Exercise(
    model.loss_function,
    ((_real, _logits),),
    "f(real, logits) -> mean cross-entropy in nats of ids (B, T) under logits (B, T, V)",
    "f(real, logits) -> ids (B, T) 在 logits (B, T, V) 下的平均交叉熵，单位 nat",
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


_guesses = tf.one_hot([[5, 6, 9, 3], [8, 4, 0, 0]], 11)

EXERCISES["accuracy"] = Exercise(
    model.accuracy_function,
    ((_real, _guesses),),
    "f(real, logits) -> the share of real tokens that have the highest logit",
    "f(real, logits) -> 真正的词元中，得分最高者恰为正确答案的比例",
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
    ((tf.constant([1, 3]), 5, 0.1),),
    "f(ids, vocab_size, smoothing) -> the target distribution of ids (B,), (B, V) (paper 5.4)",
    "f(ids, vocab_size, smoothing) -> ids (B,) 的目标分布，形状 (B, V)（论文 5.4 节）",
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


# ---- Translating ----

EXERCISES["next token"] = Exercise(
    lambda logits: tf.argmax(logits[:, -1], axis=-1),
    ((_normal(2, 4, 11),),),
    "f(logits) -> the likeliest next token of each sentence, (B,), of logits (B, T, V)",
    "f(logits) -> 每个句子最可能的下一个词元 (B,)；logits 是 (B, T, V)",
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
        "no numbers": "{}: {!r} is returned, not numbers. Is `return` missing?",
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
        "no numbers": "{}：返回的 {!r} 不是数。是不是忘了写 return？",
        "unknown": "没有练习 {!r}；可选：{}。",
    },
}


def _results(function, arguments, count=1):
    """Returns what a function returns, as a list of arrays: one, or those of a tuple.

    Where the exercise asks for a `count` of results above 1, a list holds them as well.
    """
    result = function(*arguments)
    is_several = isinstance(result, tuple) or (count > 1 and isinstance(result, list))
    return [np.asarray(value) for value in (result if is_several else (result,))]


def _same(results, expected):
    """Returns whether two lists of arrays hold the same shapes and numbers."""
    return len(results) == len(expected) and all(
        value.shape == right.shape and np.allclose(value, right, **TOLERANCE)
        for value, right in zip(results, expected, strict=True)
    )


def _hint(exercise, results, language):
    """Returns the hint of the mistake that has the same `results` for all inputs; None if none."""
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
    """Returns in words whether a function computes what the exercise asks for.

    Args:
      name: of the exercise, one of EXERCISES; "-" and "_" count as spaces.
      function: the reader's.
      language: "en" or "zh".
    """
    texts = TEXTS[language]
    names = {known.replace("-", " "): known for known in EXERCISES}
    known = names.get(name.replace("-", " ").replace("_", " ").lower())
    if known is None:
        return texts["unknown"].format(name, ", ".join(EXERCISES))
    return _compare(known, function, language)


def _compare(name, function, language):
    """Returns the verdict on a function for the exercise of a name that is known."""
    texts, exercise = TEXTS[language], EXERCISES[name]
    expected = [_results(exercise.solution, arguments) for arguments in exercise.inputs]
    try:
        count = len(expected[0])
        results = [_results(function, arguments, count) for arguments in exercise.inputs]
    except Exception as error:  # whatever the reader's function raises
        return texts["failed"].format(name, type(error).__name__, error)
    for values in results:
        if wrong := [value for value in values if value.dtype.kind not in "biuf"]:
            return texts["no numbers"].format(name, wrong[0].tolist())
    if all(map(_same, results, expected)):
        return texts["right"].format(name)
    if hint := _hint(exercise, results, language):
        return f"{name}: {hint}"
    for arguments, values, right_values in zip(exercise.inputs, results, expected, strict=True):
        if len(values) != len(right_values):
            return texts["number"].format(name, len(values), len(right_values))
        pairs = enumerate(zip(values, right_values, strict=True), start=1)
        for number, (value, right) in pairs:
            if value.shape != right.shape:
                return texts["shape"].format(name, value.shape, right.shape)
            if not np.allclose(value, right, **TOLERANCE):
                return _difference(name, arguments, number, value, right, texts)
    raise AssertionError("unreachable: some value differs")


def check(name: str, function: Callable, language: str = "en") -> None:
    """Prints what `verdict` returns."""
    print(verdict(name, function, language))


def exercises(language: str = "en") -> str:
    """Returns a list of all exercises with their tasks, one per line."""
    return "\n".join(
        f"{name}: {getattr(exercise, language)}" for name, exercise in EXERCISES.items()
    )
