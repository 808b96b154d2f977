"""Several Transformers of one vocabulary that translate together: their probabilities are averaged.

Shapes in comments as in transformer_model.py, and K hypotheses.
"""

import math
from typing import Any

import numpy as np
import tensorflow as tf

from nmt.decoding.cached_decoder import CachedDecoder, DecoderState
from nmt.decoding.restrictions import Restrictions
from transformer_model import MASKED, Transformer

Transformers = Transformer | tuple[Transformer, ...]  # one, or the members of an ensemble
LOWEST = math.log(np.finfo(np.float32).tiny)  # the logarithm of a probability that is 0 in float32


class Ensemble:
    """The decoders of several Transformers of one vocabulary, for the same batch of sources.

    The probability of a token is the members' mean. Methods are those of a CachedDecoder; the state
    is a list of the members' states.
    """

    def __init__(
        self,
        transformers: tuple[Transformer, ...],
        inp: tf.Tensor,
        beam: int,
        restrictions: Restrictions,
        block: int = 1,
    ):
        self.members = [
            CachedDecoder(transformer, inp, beam, restrictions, block)
            for transformer in transformers
        ]
        first = self.members[0]  # all have the same lengths and vocabulary
        self.length, self.never = first.length, first.never
        self.state = [member.state for member in self.members]
        is_token = np.arange(self.never.shape[0]) < transformers[0].config["target_vocab_size"]
        self._lowest = tf.constant(np.where(is_token, LOWEST, 8 * MASKED), tf.float32)  # (V,)

    def log_probabilities(
        self,
        tokens: tf.Tensor,
        position: tf.Tensor,
        origin: tf.Tensor | None,
        state: list[DecoderState],
    ) -> tuple[tf.Tensor, list[DecoderState]]:
        """Returns the log-probabilities of the next token, (B, K, V), and the state.

        The probabilities are added up, not their logarithms, which takes a third of the time.
        """
        probabilities, states = [], []
        for member, member_state in zip(self.members, state, strict=True):
            logits, new_state = member.logits(tokens, position, origin, member_state)
            probabilities.append(tf.nn.softmax(logits))  # (B, K, V)
            states.append(new_state)
        mean = tf.add_n(probabilities) / len(probabilities)
        return tf.maximum(tf.math.log(mean), self._lowest), states

    logits = log_probabilities  # of which the likeliest token is the same


Decoder = CachedDecoder | Ensemble
DecoderStates = Any  # a DecoderState; of an Ensemble, a list of them


def mean_probability(likely: list[tf.Tensor]) -> tf.Tensor:
    """Returns the logarithm of the mean of probabilities, given as logarithms, n tensors (...)."""
    if len(likely) == 1:
        return likely[0]
    return tf.reduce_logsumexp(tf.stack(likely), axis=0) - math.log(len(likely))


def cached_decoder(
    transformer: Transformers,
    inp: tf.Tensor,
    beam: int,
    restrictions: Restrictions,
    block: int = 1,
) -> Decoder:
    """Returns the CachedDecoder of a Transformer, or the Ensemble of a tuple of them."""
    if isinstance(transformer, tuple):
        return Ensemble(transformer, inp, beam, restrictions, block)
    return CachedDecoder(transformer, inp, beam, restrictions, block)
