# ruff: noqa: E501 (a text and its translation stand together)
"""All texts of the pictures, in English and Chinese.

A picture is drawn with English texts, `say("Position")`; CHINESE holds each of them in Chinese.
Names in braces are filled in: `say("layer {number}", number=2)`.
"""

from collections.abc import Callable

LANGUAGES = ("en", "zh")
Say = Callable[..., str]  # an English text and what fills its gaps -> the text in a language

# fmt: off
CHINESE = {
    # fonts and labels
    "{mark} before a token: it continues the word before it": "词元前的 {mark}：它接续前一个词",
    "{side}: the first {most} of {number} tokens": "{side}：{number} 个词元中的前 {most} 个",
    "across": "横向",
    "down": "纵向",
    "source": "源句",
    "target": "目标句",
    # positional encoding
    "Positional encoding of {positions} positions in {depth} dimensions": (
        "{positions} 个位置、{depth} 维的位置编码"
    ),
    "Dimension": "维度",
    "Position": "位置",
    "value of the encoding": "编码的值",
    "Similarity to position {position}": "与位置 {position} 的相似度",
    "cosine of the angle between encodings": "两个编码夹角的余弦",
    # masks
    "Encoder self-attention: padding": "编码器自注意力：填充掩码",
    "Decoder self-attention: future and padding": "解码器自注意力：前瞻掩码与填充掩码",
    "Decoder cross-attention: padding of the source": "解码器交叉注意力：源句的填充掩码",
    "keys": "键",
    "queries": "查询",
    "queries: token read → token predicted": "查询：读入的词元 → 预测的词元",
    "Masks of one padded pair: gray = masked": "一个句对填充后的掩码：灰色 = 遮住",
    "Rows of <pad> need no mask: they are computed, but nothing attends to them, and the loss leaves "
    "them out": "<pad> 所在的行不需要掩码：它们照常计算，但没有词元关注它们，损失也不计入它们",
    # learning rate
    "Learning rate over {steps:,} steps: d_model {depth}, {warmup:,} warm-up steps": (
        "{steps:,} 步内的学习率：d_model {depth}，预热 {warmup:,} 步"
    ),
    "{times:g} times the paper's rate (--learning-rate-scale)": (
        "为论文学习率的 {times:g} 倍（--learning-rate-scale）"
    ),
    "{name} (chosen)": "{name}（本次所选）",
    "{name}: peak {peak:.2e} at step {step:,}": "{name}：第 {step:,} 步达到峰值 {peak:.2e}",
    "all reach {peak:.2e} at step {step:,}": "三者都在第 {step:,} 步达到 {peak:.2e}",
    "Step": "步数",
    "Learning rate": "学习率",
    # search for hyperparameters
    "{number} runs by the value of each flag": "{number} 次训练，按每个参数的取值",
    "a run": "一次训练",
    "the best run": "最好的一次",
    "validation: {metric}": "验证集：{metric}",
    "bleu": "BLEU",
    "loss": "损失",
    "accuracy": "准确率",
    # scaling
    "Why scores are scaled: random queries and {keys} keys of d_k values each": (
        "为什么要缩放分数：随机的查询与 {keys} 个键，各有 d_k 个分量"
    ),
    "softmax(q · k): one key takes all": "softmax(q · k)：一个键独占权重",
    "softmax(q · k / √d_k): the same for every d_k": "softmax(q · k / √d_k)：不随 d_k 变化",
    "rank of the key among {keys}, 1 = largest weight": "键在 {keys} 个中的名次，1 = 权重最大",
    "attention weight, mean of {samples:,} queries": "注意力权重，{samples:,} 个查询的平均",
    "Gradient of the weights with respect to the scores": "权重对分数的梯度",
    "d_k, the width of queries and keys (logarithmic)": "d_k，即查询与键的宽度（对数刻度）",
    "norm of the gradient, mean": "梯度的范数，平均",
    # curves
    "Loss by epoch": "各轮的损失",
    "Accuracy by epoch": "各轮的准确率",
    "Learning rate by step": "各步的学习率",
    "Epoch": "轮次",
    "loss, nats per token": "损失（奈特/词元）",
    "accuracy, share of tokens predicted right": "准确率（预测正确的词元比例）",
    "learning rate": "学习率",
    "schedule": "调度",
    "at the end of each epoch": "每轮结束时",
    "training": "训练集",
    "validation": "验证集",
    "{run}: {split}": "{run}：{split}",
    "Training values are averages over an epoch in which the weights still change": (
        "训练集的值是一轮之内的平均，其间权重仍在变化"
    ),
    "{note}, computed with {what}": "{note}，并带有{what}",
    "dropout": "随机失活",
    "label smoothing": "标签平滑",
    "dropout and label smoothing": "随机失活与标签平滑",
    # lengths
    "Training pairs by length: {pairs:,} in {buckets}; {dropped:,} ({share:.1%}) dropped for more than "
    "{most} tokens": (
        "训练句对的长度：{pairs:,} 对，分入{buckets}；{dropped:,} 对（{share:.1%}）超过 {most} 个词元，已丢弃"
    ),
    "1 bucket": " 1 个桶",
    "{number} buckets": " {number} 个桶",
    "training pairs of that length": "该长度的训练句对",
    "bucket boundary: pairs of one bucket share batches": "桶的边界：同一桶的句对组成批次",
    "Tokens of the longer side, START and END included": "较长一侧的词元数，含 START 与 END",
    "Pairs": "句对数",
    # attention
    "Encoder self-attention: source attends to source": "编码器自注意力：源句关注源句",
    "Decoder self-attention: target attends to target": "解码器自注意力：目标句关注目标句",
    "Cross-attention: target attends to source": "交叉注意力：目标句关注源句",
    "{title}; layer {number}": "{title}；第 {number} 层",
    "Head {number}": "第 {number} 头",
    "Mean of {number} heads": "{number} 个头的平均",
    "row: query, column: key": "行：查询，列：键",
    "row: the token read (the query) → the token predicted from it; column: the key": (
        "行：读入的词元（查询）→ 由它预测的词元；列：键"
    ),
    "attention weight": "注意力权重",
    "attention weight, one scale for all heads": "注意力权重，各头用同一刻度",
    "darkest: above {limit:g}": "最深色：大于 {limit:g}",
    # the blocks of the explorer's map
    "Source embedding": "源语言嵌入",
    "Target embedding": "目标语言嵌入",
    "{vocabulary:,} × {width}, output times √{width}": "{vocabulary:,} × {width}，输出乘以 √{width}",
    "shared with source embedding": "与源语言嵌入共用",
    "+ positional encoding": "+ 位置编码",
    "sines and cosines": "正弦与余弦",
    "sines and cosines; then dropout {rate:g}": "正弦与余弦；之后随机失活 {rate:g}",
    "Self-attention": "自注意力",
    "Masked self-attention": "带掩码的自注意力",
    "Cross-attention": "交叉注意力",
    "{heads} heads: softmax(q · k / √{depth}) v": "{heads} 个头：softmax(q · k / √{depth}) v",
    "Feed-forward": "前馈网络",
    "{width} → {inner:,} → {width}, {activation}": "{width} → {inner:,} → {width}，{activation}",
    "Layer normalization": "层归一化",
    "Linear": "线性层",
    "Softmax": "Softmax",
}
# fmt: on


english: Say = str.format  # fills the gaps of an English text


def chinese(text: str, **gaps: object) -> str:
    """Returns the Chinese for an English text, with its gaps filled."""
    return CHINESE[text].format(**gaps)


def in_language(language: str) -> Say:
    """Returns the function that says texts in one of LANGUAGES."""
    return {"en": english, "zh": chinese}[language]
