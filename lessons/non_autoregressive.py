"""A Transformer that predicts all tokens of a translation at once, taught by one that does not.

    python lessons/non_autoregressive.py                          # trains both, compares them
    python lessons/non_autoregressive.py "Onde fica a estação?"   # and translates your sentences
    python -i lessons/non_autoregressive.py                       # stays open for more:
    >>> translate(student, tokenizer, ["Bom dia."])

Read minimal.py first: its network is the teacher, autoregressive, which predicts each token from
those before it. The student is non-autoregressive (Gu et al. 2018, arXiv 1711.02281): one pass of
the same layers predicts all tokens. Three things change, and each has its section.

- What the decoder reads. There are no tokens before, so it reads a copy of the source.
- How long the translation is. There is no END to wait for. One way is a network that predicts the
  length; another is a decoder with more positions than any translation needs, some of which say
  nothing. This is the second way: two positions for each source token, blanks between the tokens,
  and CTC as the loss (Libovický and Helcl 2018, arXiv 1811.04719).
- What it learns from. No position knows which tokens the others choose, so that two equally good
  translations get mixed. The student learns from the teacher's translations, which differ less than
  people's: sequence-level knowledge distillation (Kim and Rush 2016, arXiv 1606.07947).

Shapes in comments as in minimal.py, and P = 2 S positions of the decoder.
"""

import functools
import itertools
import math
import sys
import time

import minimal  # sets up TensorFlow for the imports below

# isort: split
import keras
import numpy as np
import sacrebleu
import tensorflow as tf
from minimal import PAD

POSITIONS = 2  # of the decoder, for each source token
BLANK = PAD  # what a position predicts that says nothing; no translation holds it
SENTENCES = 16_000  # of the training split, half of it, which the teacher translates
EPOCHS = 3  # of the student, which begins with the teacher's weights
SINGLE_SENTENCES = 100  # of the test split, translated one at a time to measure speed
IDS = tf.TensorSpec((None, None), tf.int32)  # (B, L), of any size


# ---- What the decoder reads: a copy of the source, and no future is hidden ----


def decoder_input(inp):
    """Source ids (B, S) -> the decoder's input (B, P): each token as often as it has positions."""
    return tf.repeat(inp, POSITIONS, axis=1)


class ParallelTransformer(minimal.Transformer):
    """The layers and weights of minimal.Transformer, without a mask that hides the future."""

    def call(self, inp):
        """Source ids (B, S) -> logits (B, P, V) of the output at each position."""
        tar = decoder_input(inp)  # (B, P)
        padding_mask, _ = minimal.create_masks(inp, inp)  # (B, 1, 1, S)
        decoder_mask, _ = minimal.create_masks(tar, tar)  # (B, 1, 1, P): of padding alone

        x = self.source_embedding(inp) * minimal.D_MODEL**0.5  # (B, S, D)
        x += minimal.positional_encoding(tf.shape(inp)[1])  # (B, S, D)
        for layer in self.enc_layers:
            x = layer(x, padding_mask)  # (B, S, D)

        y = self.target_embedding(tar) * minimal.D_MODEL**0.5  # (B, P, D)
        y += minimal.positional_encoding(tf.shape(tar)[1])  # (B, P, D): distinguishes equal tokens
        for layer in self.dec_layers:
            y = layer(y, x, decoder_mask, padding_mask)  # (B, P, D)
        return self.final_layer(y)  # (B, P, V)


# ---- How long the translation is: blanks, and CTC ----


def collapse(outputs):
    """Returns the tokens that outputs mean: `7 7 - 5 - 5` means `7 5 5`, with - for BLANK."""
    return [token for token, _ in itertools.groupby(outputs) if token != BLANK]


def fits(source, target):
    """Returns whether the positions suffice: equal neighbors need a blank between them."""
    repeated = sum(token == before for before, token in itertools.pairwise(target))
    return len(target) + repeated <= POSITIONS * len(source)


def loss_function(inp, target, logits):
    """Returns the mean CTC loss per token, in nats, of target ids (B, T) given logits (B, P, V).

    The probability of a target is the sum over all outputs that mean it, so that no position needs
    to know where its neighbors are.
    """
    positions = tf.math.count_nonzero(decoder_input(inp), axis=1, dtype=tf.int32)  # (B,)
    losses = tf.nn.ctc_loss(
        tf.sparse.from_dense(target), logits, None, positions, logits_time_major=False,
        blank_index=BLANK,
    )  # (B,)  # fmt: skip
    return tf.reduce_sum(losses) / tf.cast(tf.math.count_nonzero(target), tf.float32)


# ---- Translating ----


def translate(student, tokenizer, sentences):
    """Returns translations in one pass: the likeliest output at each position."""
    inp = minimal.pad(tokenizer.encode(sentences))  # (B, S)
    outputs = tf.argmax(student(inp), axis=-1, output_type=tf.int32)  # (B, P)
    outputs = tf.where(decoder_input(inp) == PAD, BLANK, outputs)  # (B, P)
    return tokenizer.decode([collapse(row) for row in outputs.numpy().tolist()])


def translate_all(translate_batch, network, tokenizer, sentences, batch_size):
    """Returns translations of any number of sentences, in their order, by batches of like length.

    `translate_batch` is `translate`, or that of minimal.py.
    """
    order = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
    translations = {}
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size]
        batch = translate_batch(network, tokenizer, [sentences[number] for number in numbers])
        translations.update(zip(numbers, batch, strict=True))
    return [translations[number] for number in range(len(sentences))]


# ---- What it learns from: the teacher's translations ----


def distill(teacher, tokenizer, sources):
    """Returns pairs of ids, (source, translation by the teacher), of the sources that fit."""
    translations = translate_all(minimal.translate, teacher, tokenizer, sources, minimal.BATCH_SIZE)
    return student_pairs(tokenizer, zip(sources, translations, strict=True))


def student_pairs(tokenizer, rows):
    """Returns pairs of ids, the target without START and END, of the rows that fit."""
    pairs = [(tokenizer.encode(source), tokenizer.encode(target)[1:-1]) for source, target in rows]
    return [pair for pair in pairs if pair[1] and fits(*pair)]


def train(teacher, tokenizer, pairs):
    """Returns a student that begins with the teacher's weights, and learns pairs of ids."""
    student = ParallelTransformer()
    student(minimal.pad([pairs[0][0]]))  # creates its weights
    student.set_weights(teacher.get_weights())
    rate = minimal.learning_rate(EPOCHS * math.ceil(len(pairs) / minimal.BATCH_SIZE))
    optimizer = keras.optimizers.Adam(rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)

    @tf.function(input_signature=[IDS, IDS])
    def train_step(inp, target):
        with tf.GradientTape() as tape:
            loss = loss_function(inp, target, student(inp))
        gradients = tape.gradient(loss, student.trainable_variables)
        gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        optimizer.apply_gradients(zip(gradients, student.trainable_variables, strict=True))
        return loss

    for epoch in range(1, EPOCHS + 1):
        start = time.time()
        loss = np.mean([train_step(inp, target) for inp, target in minimal.make_batches(pairs)])
        print(f"student, epoch {epoch} of {EPOCHS}: loss {loss:.3f}, {time.time() - start:.0f} s")
        print("   ", *translate(student, tokenizer, [minimal.EXAMPLE]), flush=True)
    return student


# ---- The comparison ----


def translations_and_speed(run, sentences, batch_size):
    """Returns translations by a function, and how many sentences it translates per second."""
    start = time.perf_counter()
    translations = run(sentences, batch_size)
    return translations, len(sentences) / (time.perf_counter() - start)


def compare(teacher, student, tokenizer):
    """Prints BLEU and sentences per second of both, each as one graph."""
    test = minimal.read_rows("pt_en/test.tsv")
    sources, references = map(list, zip(*test, strict=True))
    networks = {
        "autoregressive": (minimal.translate, tf.function(teacher.call, [(IDS, IDS)])),
        "non-autoregressive": (translate, tf.function(student.call, [IDS])),
    }
    print("                    BLEU   sentences/s: one at a time   in batches")
    for name, (translate_batch, network) in networks.items():
        run = functools.partial(translate_all, translate_batch, network, tokenizer)
        run(sources[:1], 1)  # traces the graph
        _, single = translations_and_speed(run, sources[:SINGLE_SENTENCES], 1)
        translations, batched = translations_and_speed(run, sources, minimal.BATCH_SIZE)
        bleu = sacrebleu.corpus_bleu(translations, [references])
        print(f"{name:18}  {bleu.score:4.1f}   {single:26.0f}   {batched:10.0f}", flush=True)


def main(sentences):
    teacher, tokenizer = minimal.main(sentences)
    sources = [source for source, _ in minimal.read_rows("pt_en/train.tsv")[:SENTENCES]]
    start = time.time()
    pairs = distill(tf.function(teacher.call, [(IDS, IDS)]), tokenizer, sources)
    seconds = time.time() - start
    print(f"the teacher translated {len(sources)} sentences in {seconds:.0f} s", flush=True)
    student = train(teacher, tokenizer, pairs)
    compare(teacher, student, tokenizer)
    for source, translation in zip(
        sentences, translate(student, tokenizer, sentences), strict=True
    ):
        print(f"{source} -> {translation}")
    return teacher, student, tokenizer


if __name__ == "__main__":
    teacher, student, tokenizer = main(sys.argv[1:] or minimal.examples())
