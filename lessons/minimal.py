"""A whole Transformer in one file, which learns to translate Portuguese into English.

    python lessons/minimal.py                            # trains, then translates a dozen sentences
    python lessons/minimal.py "Onde fica a estação?"     # trains, then translates your sentences
    python -i lessons/minimal.py                         # stays open for more:
    >>> translate(transformer, tokenizer, ["Bom dia."])

Read it from top to bottom: text, token ids, batches, the network, translating, training. The
network is that of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762), smaller and
without dropout; numbers in parentheses are sections of the paper. Names are those of TensorFlow's
tutorial "Transformer model for language understanding" and of transformer_model.py, which also has
dropout, returns attention weights and can be saved.

Shapes in comments: B sentences, L tokens (S of the source, T of the target, M that are attended
to), H heads, D = D_MODEL, V = VOCAB_SIZE. Masks are 1.0 where a token must not be attended to.
"""

import io
import math
import os
import random
import sys
import time
from pathlib import Path

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # no complaint that there is no GPU

stderr = os.dup(2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # TensorFlow starts with notes that nothing else hides
try:
    import keras
    import numpy as np
    import sacrebleu
    import sentencepiece
    import tensorflow as tf
    from keras.layers import Dense, Embedding, Layer, LayerNormalization
finally:
    os.dup2(stderr, 2)

NUM_LAYERS = 2  # of the encoder, and of the decoder; paper: 6
D_MODEL = 128  # width of a token's vector; paper: 512
NUM_HEADS = 8  # as in the paper
DFF = 512  # width of the hidden layer in the feed-forward network; paper: 2048
VOCAB_SIZE = 3000  # subword tokens, of both languages together; paper: 37000
BATCH_SIZE = 64  # sentence pairs
EPOCHS = 5  # passes over all pairs
WARMUP_STEPS = 400  # in which the learning rate grows; paper: 4000
MAX_TOKENS = 50  # of a translation
PAD, UNKNOWN, START, END = 0, 1, 2, 3  # ids of the special tokens

DATA = Path(__file__).resolve().parents[1] / "data"
EXAMPLE = "Meu irmão acabou de comprar um carro vermelho."  # translated after each epoch

# ---- Text, token ids, batches ----


def read_rows(name):
    """Returns the lines of a file in DATA, each a list of its columns."""
    return [line.split("\t") for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def train_tokenizer(sentences):
    """Returns a tokenizer: one vocabulary (BPE) of words and parts of words, for both languages."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, model_type="bpe",
        vocab_size=VOCAB_SIZE, pad_id=PAD, unk_id=UNKNOWN, bos_id=START, eos_id=END, minloglevel=2,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(
        model_proto=model.getvalue(), add_bos=True, add_eos=True
    )


def pad(rows):
    """Returns lists of ids as one array (B, L): PAD fills up the shorter ones."""
    length = max(len(row) for row in rows)
    return np.array([row + [PAD] * (length - len(row)) for row in rows], np.int32)  # (B, L)


def make_batches(pairs):
    """Yields all pairs in random order, as batches of ids (B, S) and (B, T) with little padding."""
    pairs = random.sample(pairs, len(pairs))  # shuffled
    pairs.sort(key=lambda pair: (len(pair[1]), len(pair[0])))  # of equal lengths, still shuffled
    batches = [pairs[start : start + BATCH_SIZE] for start in range(0, len(pairs), BATCH_SIZE)]
    for batch in random.sample(batches, len(batches)):
        yield pad([source for source, _ in batch]), pad([target for _, target in batch])


# ---- The network ----


def positional_encoding(length):
    """Returns a vector per position: sine on even dimensions, cosine on odd ones (3.5)."""
    positions = tf.range(length, dtype=tf.float32)[:, tf.newaxis]  # (L, 1)
    dimensions = np.arange(D_MODEL)  # (D,)
    angles = positions / 10000 ** (dimensions // 2 * 2 / D_MODEL)  # (L, D)
    return tf.where(dimensions % 2 == 0, tf.sin(angles), tf.cos(angles))  # (L, D)


def create_masks(inp, tar):
    """Returns the mask of the source's padding, and of the target's future and padding."""
    padding_mask = tf.cast(inp == PAD, tf.float32)[:, tf.newaxis, tf.newaxis, :]  # (B, 1, 1, S)
    target_padding = tf.cast(tar == PAD, tf.float32)[:, tf.newaxis, tf.newaxis, :]  # (B, 1, 1, T)
    size = tf.shape(tar)[1]
    look_ahead_mask = 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)  # (T, T)
    return padding_mask, tf.maximum(look_ahead_mask, target_padding)  # (B, 1, 1, S), (B, 1, T, T)


def scaled_dot_product_attention(q, k, v, mask):
    """Returns softmax(q k^T / sqrt(d_k)) v (3.2.1)."""
    scores = tf.matmul(q, k, transpose_b=True) / q.shape[-1] ** 0.5  # (B, H, L, M)
    weights = tf.nn.softmax(scores - 1e9 * mask)  # (B, H, L, M): rows sum to 1, masked tokens get 0
    return tf.matmul(weights, v)  # (B, H, L, D / H)


class MultiHeadAttention(Layer):
    """NUM_HEADS attentions in parallel, each in D / H dimensions (3.2.2)."""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv = Dense(D_MODEL), Dense(D_MODEL), Dense(D_MODEL)
        self.dense = Dense(D_MODEL)

    def split_heads(self, x):
        x = tf.reshape(x, (tf.shape(x)[0], -1, NUM_HEADS, D_MODEL // NUM_HEADS))  # (B, L, H, D / H)
        return tf.transpose(x, (0, 2, 1, 3))  # (B, H, L, D / H)

    def call(self, x, context, mask):
        """Each token of x (B, L, D) attends to the tokens of context (B, M, D)."""
        q = self.split_heads(self.wq(x))  # (B, H, L, D / H)
        k = self.split_heads(self.wk(context))  # (B, H, M, D / H)
        v = self.split_heads(self.wv(context))  # (B, H, M, D / H)
        heads = scaled_dot_product_attention(q, k, v, mask)  # (B, H, L, D / H)
        heads = tf.transpose(heads, (0, 2, 1, 3))  # (B, L, H, D / H)
        return self.dense(tf.reshape(heads, tf.shape(x)))  # (B, L, D)


class EncoderLayer(Layer):
    """Self-attention, then the feed-forward network, each with LayerNorm(x + Sublayer(x)) (3.1)."""

    def __init__(self):
        super().__init__()
        self.mha = MultiHeadAttention()
        self.ffn = keras.Sequential([Dense(DFF, activation="relu"), Dense(D_MODEL)])  # (3.3)
        self.layernorm1 = LayerNormalization(epsilon=1e-6)
        self.layernorm2 = LayerNormalization(epsilon=1e-6)

    def call(self, x, padding_mask):
        x = self.layernorm1(x + self.mha(x, x, padding_mask))  # (B, S, D)
        return self.layernorm2(x + self.ffn(x))  # (B, S, D)


class DecoderLayer(Layer):
    """The same, with cross-attention between: the target attends to the encoder's output (3.1)."""

    def __init__(self):
        super().__init__()
        self.mha1, self.mha2 = MultiHeadAttention(), MultiHeadAttention()
        self.ffn = keras.Sequential([Dense(DFF, activation="relu"), Dense(D_MODEL)])
        self.layernorm1 = LayerNormalization(epsilon=1e-6)
        self.layernorm2 = LayerNormalization(epsilon=1e-6)
        self.layernorm3 = LayerNormalization(epsilon=1e-6)

    def call(self, y, enc_output, combined_mask, padding_mask):
        y = self.layernorm1(y + self.mha1(y, y, combined_mask))  # (B, T, D)
        y = self.layernorm2(y + self.mha2(y, enc_output, padding_mask))  # (B, T, D)
        return self.layernorm3(y + self.ffn(y))  # (B, T, D)


class Transformer(keras.Model):
    """Embeddings, encoder, decoder, and the layer that turns vectors into logits (figure 1)."""

    def __init__(self):
        super().__init__()
        self.source_embedding = Embedding(VOCAB_SIZE, D_MODEL)
        self.enc_layers = [EncoderLayer() for _ in range(NUM_LAYERS)]
        self.target_embedding = Embedding(VOCAB_SIZE, D_MODEL)
        self.dec_layers = [DecoderLayer() for _ in range(NUM_LAYERS)]
        self.final_layer = Dense(VOCAB_SIZE)

    def call(self, inputs):
        """Ids (B, S), (B, T) -> logits (B, T, V); at position t, those of the token after it."""
        inp, tar = inputs
        padding_mask, combined_mask = create_masks(inp, tar)

        x = self.source_embedding(inp) * D_MODEL**0.5  # (B, S, D)
        x += positional_encoding(tf.shape(inp)[1])  # (B, S, D)
        for layer in self.enc_layers:
            x = layer(x, padding_mask)  # (B, S, D)

        y = self.target_embedding(tar) * D_MODEL**0.5  # (B, T, D)
        y += positional_encoding(tf.shape(tar)[1])  # (B, T, D)
        for layer in self.dec_layers:
            y = layer(y, x, combined_mask, padding_mask)  # (B, T, D)
        return self.final_layer(y)  # (B, T, V)


# ---- Translating ----


def translate(transformer, tokenizer, sentences):
    """Returns translations by greedy search: the likeliest next token, again and again."""
    inp = pad(tokenizer.encode(sentences))  # (B, S)
    tar = np.full((len(inp), 1), START, np.int32)  # (B, 1)
    while tar.shape[1] <= MAX_TOKENS and not (tar == END).any(axis=1).all():
        logits = transformer((inp, tar))[:, -1]  # (B, V)
        token = tf.argmax(logits, axis=-1, output_type=tf.int32)  # (B,)
        tar = np.concatenate([tar, token[:, tf.newaxis]], axis=1)  # (B, tokens so far)
    rows = [[*row, END] for row in tar.tolist()]
    return tokenizer.decode([row[: row.index(END)] for row in rows])


# ---- Training ----


def learning_rate(steps):
    """Grows for WARMUP_STEPS to the paper's peak (5.3), then falls to 0 at the last of `steps`.

    The paper's rate falls with the inverse square root of the step, which takes more epochs.
    """
    warmup_steps = min(WARMUP_STEPS, steps // 2)
    return keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=0.0, warmup_steps=warmup_steps, decay_steps=steps - warmup_steps,
        warmup_target=(D_MODEL * WARMUP_STEPS) ** -0.5,
    )  # fmt: skip


def loss_function(real, logits):
    """Returns the mean cross-entropy, in nats, of the ids (B, T) that are not padding."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(real, logits)  # (B, T)
    mask = tf.cast(real != PAD, tf.float32)  # (B, T)
    return tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)


def train(transformer, tokenizer, pairs):
    """Trains on pairs of ids; prints, after each epoch, the mean loss and a translation."""
    rate = learning_rate(EPOCHS * math.ceil(len(pairs) / BATCH_SIZE))
    optimizer = keras.optimizers.Adam(rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)] * 2)  # for all shapes
    def train_step(inp, tar):
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1): predict the token that comes next
        with tf.GradientTape() as tape:
            logits = transformer((inp, tar_inp))  # (B, T - 1, V)
            loss = loss_function(tar_real, logits)
        gradients = tape.gradient(loss, transformer.trainable_variables)
        # An embedding's gradient has a row per token of the batch; Adam needs their sums, (V, D).
        gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        optimizer.apply_gradients(zip(gradients, transformer.trainable_variables, strict=True))
        return loss

    for epoch in range(1, EPOCHS + 1):
        start = time.time()
        loss = np.mean([train_step(inp, tar) for inp, tar in make_batches(pairs)])
        print(f"epoch {epoch} of {EPOCHS}: loss {loss:.3f}, {time.time() - start:.0f} s")
        print("   ", *translate(transformer, tokenizer, [EXAMPLE]), flush=True)


def main(sentences):
    keras.utils.set_random_seed(1)
    rows = read_rows("pt_en/train.tsv")
    tokenizer = train_tokenizer(sentence for row in rows for sentence in row)
    transformer = Transformer()
    train(transformer, tokenizer, [tokenizer.encode(row) for row in rows])

    test, translations = read_rows("pt_en/test.tsv"), []
    for start in range(0, len(test), BATCH_SIZE):
        sources = [source for source, _ in test[start : start + BATCH_SIZE]]
        translations += translate(transformer, tokenizer, sources)
    bleu = sacrebleu.corpus_bleu(translations, [[target for _, target in test]])
    print(f"BLEU {bleu.score:.1f} on the {len(test)} sentences of the test split")

    translations = translate(transformer, tokenizer, sentences)
    for source, translation in zip(sentences, translations, strict=True):
        print(f"{source} -> {translation}")
    return transformer, tokenizer


def examples():
    """Returns sentences that the bundled corpus has taught enough of."""
    return [sentence for kind, sentence in read_rows("sentences_to_try.tsv") if kind == "bundled"]


if __name__ == "__main__":
    transformer, tokenizer = main(sys.argv[1:] or examples())
