"""Connectionist temporal classification (CTC): the loss of a decoder that predicts in parallel.

At each position the decoder predicts a token or a blank. Equal neighbors count once, then blanks
are dropped: `a a - b - b` means `a b b` (Graves et al. 2006; for translation Libovicky & Helcl
2018, arXiv 1811.04719). The probability of a target is the sum over all outputs that mean it, so
that no position has to know where its neighbors are.

Shapes in comments: those of transformer_model.py, with L positions of the decoder and T words, the
tokens of a target without START and END.
"""

from typing import Any, NamedTuple

import tensorflow as tf

from transformer_model import END, MASKED, PAD, START, UNKNOWN

BLANK = PAD  # which no target contains
LEAST_SHARE = 1e-6  # of tokens that the target lacks, whose logarithm is taken


class Alignment(NamedTuple):
    """The likeliest tokens, by position of the decoder, among outputs that mean a target."""

    tokens: tf.Tensor  # (B, L): ids or BLANK
    is_missed: tf.Tensor  # (B, L): the vocabulary has a likelier one


class Lattice(NamedTuple):
    """Probabilities of what outputs of one target are made of, by position of the decoder.

    Class 0 is the blank; word t has class 1 + t, or that of the first equal word; class T + 1 is
    any token that the target lacks. CTC over these few classes equals CTC over the vocabulary,
    and is many times as fast.
    """

    log_probabilities: tf.Tensor  # (B, L, T + 2), natural, of each class
    highest: tf.Tensor  # (B, L), log-probability of the likeliest token of the vocabulary
    even: tf.Tensor  # (B, L), mean log-probability of the vocabulary, for label smoothing
    classes: tf.Tensor  # (B, T): of the words, then 0
    words: tf.Tensor  # (B, T): ids, then PAD
    positions: tf.Tensor  # (B,): number of the decoder's positions, without padding

    def fits(self) -> tf.Tensor:
        """Returns whether the positions suffice, (B,): equal neighbors need a blank between."""
        is_word = self.classes > 0
        is_repeated = is_word[:, 1:] & (self.classes[:, 1:] == self.classes[:, :-1])
        return _count(is_word) + _count(is_repeated) <= self.positions

    def losses(self) -> tf.Tensor:
        """Returns minus the log-probability of each target, (B,).

        0.0 for a target that does not fit, and where there are no positions.
        """
        fits = self.fits()
        classes = tf.where(fits[:, tf.newaxis], self.classes, 0)  # (B, T)
        # A row more: TensorFlow's CTC fails on a batch without rows, which a part may be.
        losses = tf.nn.ctc_loss(
            tf.pad(classes, [[0, 1], [0, 0]]),
            tf.pad(self.log_probabilities, [[0, 1], [0, 0], [0, 0]]),
            tf.pad(_count(classes > 0), [[0, 1]]),
            tf.pad(tf.maximum(self.positions, 1), [[0, 1]], constant_values=1),
            logits_time_major=False,
            blank_index=0,
        )[:-1]  # (B,)
        return tf.where(fits & (self.positions > 0), losses, 0.0)

    def alignment(self) -> Alignment:
        """Returns the Alignment of outputs that mean the target.

        The gradient of CTC's loss is the probability of a class minus that among those outputs.
        """
        with tf.GradientTape() as tape:
            tape.watch(self.log_probabilities)
            losses = self.losses()
        gradient = tape.gradient(losses, self.log_probabilities)  # (B, L, T + 2)
        among_outputs = tf.exp(self.log_probabilities) - gradient
        best = tf.argmax(among_outputs[..., :-1], axis=-1, output_type=tf.int32)  # (B, L)
        likely = tf.gather(self.log_probabilities, best, batch_dims=2)  # (B, L)
        return Alignment(
            tf.gather(_with_blank(self.words), best, batch_dims=1), likely < self.highest
        )


def lattice(target: tf.Tensor, logits: tf.Tensor, is_position: tf.Tensor) -> Lattice:
    """Returns the Lattice of targets.

    Args:
      target: ids (B, T) without START; END and PAD come last and are no words.
      logits: at the decoder's positions (B, L, V).
      is_position: (B, L), False at padding.
    """
    words = tf.where(target == END, PAD, target)
    is_equal = words[:, :, tf.newaxis] == words[:, tf.newaxis]  # (B, T, T)
    first_equal = tf.argmax(tf.cast(is_equal, tf.int32), axis=2, output_type=tf.int32)  # (B, T)
    classes = tf.where(words == PAD, 0, 1 + first_equal)
    is_first = classes == tf.range(1, tf.shape(words)[1] + 1)  # (B, T)
    is_class = tf.pad(is_first, [[0, 0], [1, 0]], constant_values=True)[:, tf.newaxis]
    likely, highest, even = log_probabilities(logits, _with_blank(words))
    likely = tf.where(is_class, likely, MASKED)  # (B, L, 1 + T)
    share = 1 - tf.reduce_sum(tf.exp(likely), axis=-1, keepdims=True)  # (B, L, 1), of other tokens
    lacking = tf.math.log(tf.maximum(share, LEAST_SHARE))
    return Lattice(
        tf.concat([likely, lacking], axis=-1), highest, even, classes, words, _count(is_position)
    )


def log_probabilities(logits: tf.Tensor, ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns natural log-probabilities at each position: of some tokens, the highest, the mean.

    exp(logits) is computed once, for these and for the gradient, as in loss.py; TensorFlow's
    gradient of a gather would take most of the time.

    Args:
      logits: (B, L, V).
      ids: (B, N).

    Returns:
      (B, L, N) of `ids`; (B, L) of the likeliest token, without a gradient; and (B, L), the mean
      over the vocabulary.
    """
    vocab_size = logits.shape[-1]

    @tf.custom_gradient
    def from_logits(logits: tf.Tensor) -> Any:  # (B, L, V)
        most = tf.reduce_max(logits, axis=-1, keepdims=True)  # (B, L, 1), against overflow
        powers = tf.exp(logits - most)  # (B, L, V)
        sums = tf.reduce_sum(powers, axis=-1, keepdims=True)  # (B, L, 1)
        total = most + tf.math.log(sums)  # (B, L, 1)
        chosen = tf.gather(logits, ids, axis=2, batch_dims=1) - total  # (B, L, N)
        mean = tf.reduce_mean(logits, axis=-1) - total[..., 0]  # (B, L)

        # (B, L, N), (B, L), (B, L) -> (B, L, V)
        def gradient(of_chosen: tf.Tensor, _: tf.Tensor, of_mean: tf.Tensor) -> tf.Tensor:
            of_mean = of_mean[..., tf.newaxis]  # (B, L, 1)
            share = tf.reduce_sum(of_chosen, axis=-1, keepdims=True) + of_mean  # (B, L, 1)
            gradients = of_mean / vocab_size - powers * (share / sums)  # (B, L, V)
            rows, length, number = tf.unstack(tf.shape(of_chosen))
            row, position, _ = tf.meshgrid(
                tf.range(rows), tf.range(length), tf.range(number), indexing="ij"
            )
            token = tf.broadcast_to(ids[:, tf.newaxis], tf.shape(of_chosen))
            indices = tf.stack([row, position, token], axis=-1)  # (B, L, N, 3)
            return tf.tensor_scatter_nd_add(gradients, indices, of_chosen)

        return (chosen, (most - total)[..., 0], mean), gradient

    return from_logits(tf.cast(logits, tf.float32))


def best_outputs(logits: tf.Tensor, is_position: tf.Tensor) -> tf.Tensor:
    """Returns the likeliest output at each position, (B, L): a token or BLANK.

    Args:
      logits: (B, L, V).
      is_position: (B, L); padding gets BLANK.
    """
    best = tf.argmax(_allowed(logits), axis=-1, output_type=tf.int32)  # (B, L)
    return tf.where(is_position, best, BLANK)


def log_probability_of_best(logits: tf.Tensor, is_position: tf.Tensor) -> tf.Tensor:
    """Returns the natural log-probability, (B,), of the `best_outputs` of all positions together.

    Args:
      logits, is_position: see `best_outputs`.
    """
    total = tf.reduce_logsumexp(tf.cast(logits, tf.float32), axis=-1)  # (B, L)
    likely = tf.reduce_max(_allowed(logits), axis=-1) - total  # (B, L)
    return tf.reduce_sum(tf.where(is_position, likely, 0.0), axis=-1)


def _allowed(logits: tf.Tensor) -> tf.Tensor:
    """(B, L, V) -> the same, without the tokens that are never predicted."""
    ids = tf.range(tf.shape(logits)[-1])  # (V,)
    never = (ids == START) | (ids == END) | (ids == UNKNOWN)
    return tf.cast(logits, tf.float32) + MASKED * tf.cast(never, tf.float32)


def meaning(outputs: tf.Tensor) -> tf.Tensor:
    """Outputs (B, L) -> the words that they mean, (B, L), then PAD."""
    before = tf.pad(outputs, [[0, 0], [1, 0]], constant_values=BLANK)[:, :-1]  # (B, L)
    is_word = (outputs != before) & (outputs != BLANK)
    rows, length = tf.shape(outputs)[0], tf.shape(outputs)[1]
    place = tf.where(is_word, tf.cumsum(tf.cast(is_word, tf.int32), axis=1) - 1, length)  # (B, L)
    row = tf.broadcast_to(tf.range(rows)[:, tf.newaxis], tf.shape(outputs))
    indices = tf.stack([row, place], axis=-1)  # (B, L, 2)
    # What is dropped goes to one place more, which is cut off.
    return tf.scatter_nd(indices, outputs, tf.stack([rows, length + 1]))[:, :-1]


def _count(is_counted: tf.Tensor) -> tf.Tensor:
    """(B, N) -> (B,)."""
    return tf.reduce_sum(tf.cast(is_counted, tf.int32), axis=1)


def _with_blank(words: tf.Tensor) -> tf.Tensor:
    """Ids (B, T) -> the tokens of classes 0 to T, (B, 1 + T)."""
    return tf.pad(words, [[0, 0], [1, 0]], constant_values=BLANK)
