"""The forward pass and the loss of a non-autoregressive Transformer: all tokens in parallel.

The decoder's input is each source token twice; it has no look-ahead mask, and its outputs are
those of ctc.py. In training it glances at the target: its input holds some of the tokens that it is
to predict, fewer the better it predicts without them (Qian et al. 2021, arXiv 2008.07905; with CTC
Gu & Kong 2021, arXiv 2012.15833).

Shapes in comments as in ctc.py.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from nmt.network import ctc
from nmt.network.engine import split_rows
from nmt.network.loss import Predictions, SummedForward, TokenSums
from nmt.options import OUTPUTS_IN_ONE_PASS
from transformer_model import END, PAD, UNKNOWN, Transformer

BLANK_INPUT = UNKNOWN  # a blank in the decoder's input, where PAD would be masked
GLANCE_SHARE = 0.5  # times the positions predicted wrongly: as many tokens, any, are revealed


def decoder_input(inp: tf.Tensor) -> tf.Tensor:
    """Source ids (B, S) -> the decoder's input (B, L): each token twice."""
    return tf.repeat(inp, OUTPUTS_IN_ONE_PASS, axis=1)


class Prediction(NamedTuple):
    """What the decoder predicts."""

    logits: tf.Tensor  # (B, L, V)
    is_position: tf.Tensor  # (B, L): False at padding


def predict(transformer: Transformer, inp: tf.Tensor) -> Prediction:
    """Returns the Prediction for source ids (B, S), without dropout."""
    tar_inp = decoder_input(inp)  # (B, L)
    logits, _ = transformer((inp, tar_inp), training=False)
    return Prediction(logits, tar_inp != PAD)


@dataclasses.dataclass(frozen=True)
class ParallelTokensForward(SummedForward):
    """The forward pass and the loss, with the methods of engine.ParallelForward."""

    transformer: Transformer
    parts: int = 1
    batch_seed: Callable[[], tf.Tensor] | None = None  # (2,), of what training reveals of a batch

    def predict(
        self, inputs: tuple[tf.Tensor, tf.Tensor], *, training: bool = False
    ) -> Predictions:
        """Ids (B, S), (B, T) -> the Prediction of each part, of about B / parts rows.

        Args:
          inputs: source ids, and target ids with START, of which training reveals some.
          training: whether dropout is on, and the decoder glances.
        """
        sources = split_rows(inputs[0], self.parts)
        if not training:
            return Predictions([predict(self.transformer, inp) for inp in sources])
        assert self.batch_seed
        seed, targets = self.batch_seed(), split_rows(inputs[1], self.parts)
        predictions = []
        for part, (inp, tar) in enumerate(zip(sources, targets, strict=True)):
            part_seed = tf.random.experimental.stateless_fold_in(seed, part)  # (2,)
            tar_inp = glance(self.transformer, inp, tar[:, 1:], part_seed)  # (B / parts, L)
            logits, _ = self.transformer((inp, tar_inp), training=True)
            predictions.append(Prediction(logits, tar_inp != PAD))
        return Predictions(predictions)

    def token_sums(
        self, real: tf.Tensor, parts: list[Prediction], label_smoothing: float = 0.0
    ) -> TokenSums:
        """Ids (B, T), the Prediction of each part -> TokenSums."""
        part_sums = [
            token_sums(part, prediction, label_smoothing)
            for part, prediction in zip(split_rows(real, self.parts), parts, strict=True)
        ]
        return TokenSums(*(tf.add_n(sums) for sums in zip(*part_sums, strict=True)))


def glance(
    transformer: Transformer, inp: tf.Tensor, target: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Returns the decoder's input (B, L), in which tokens of the target replace some of the source.

    Of outputs that mean the target, the decoder sees random positions: GLANCE_SHARE times as many
    as it predicts wrongly without them.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      target: ids (B, T) without START.
      seed: (2,).
    """
    logits, is_position = predict(transformer, inp)
    paths = ctc.lattice(target, tf.stop_gradient(logits), is_position)
    tokens, is_missed = paths.alignment()  # (B, L) each
    missed = tf.reduce_sum(tf.cast(is_missed & is_position, tf.float32), axis=1)  # (B,)
    share = GLANCE_SHARE * tf.math.divide_no_nan(missed, tf.cast(paths.positions, tf.float32))
    share = tf.where(paths.fits(), share, 0.0)[:, tf.newaxis]  # (B, 1)
    random = tf.random.stateless_uniform(tf.shape(tokens), seed)
    revealed = tf.where(tokens == ctc.BLANK, BLANK_INPUT, tokens)
    return tf.where(is_position & (random < share), revealed, decoder_input(inp))


def token_sums(
    target: tf.Tensor, prediction: Prediction, label_smoothing: float = 0.0
) -> TokenSums:
    """Returns the TokenSums of target ids (B, T): of words, without END, in targets that fit.

    A hit is a word of the likeliest translation that equals the target's at the same place.
    """
    logits, is_position = prediction
    paths = ctc.lattice(target, logits, is_position)
    fits = paths.fits()[:, tf.newaxis]  # (B, 1)
    loss = tf.reduce_sum(paths.losses())
    if label_smoothing:  # (paper 5.4), at each position
        even = -tf.reduce_sum(tf.where(is_position & fits, paths.even, 0.0))
        loss = (1 - label_smoothing) * loss + label_smoothing * even
    words = ctc.meaning(ctc.best_outputs(logits, is_position))  # (B, L)
    length = tf.shape(target)[1]
    words = tf.pad(words, [[0, 0], [0, length]])[:, :length]  # (B, T)
    is_word = tf.cast(fits & (target != PAD) & (target != END), tf.float32)
    hits = tf.cast(words == target, tf.float32) * is_word
    return TokenSums(loss, tf.reduce_sum(hits), tf.reduce_sum(is_word))
