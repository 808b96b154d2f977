"""Greedy search and sampling: one token at each step, the likeliest or one drawn at random.

Greedy search predicts the same tokens as `transformer_model.greedy_translate`, but computes only
what is new at each step; see cached_decoder.py. Shapes in comments as in transformer_model.py; the
axis of size 1 is that of hypotheses.
"""

import dataclasses
import math
from typing import NamedTuple

import tensorflow as tf

from nmt.decoding.ensemble import Decoder, DecoderStates, Transformers, cached_decoder
from nmt.decoding.hypotheses import Hypotheses, length_penalty, set_position
from nmt.decoding.position_loop import loop
from nmt.decoding.restrictions import UNRESTRICTED, Restrictions, RowRestrictions
from nmt.decoding.sampling import draw, random_numbers
from nmt.decoding.search_options import Sampling
from transformer_model import END, PAD, START


class GreedyResults(NamedTuple):
    """The translation of each sentence so far."""

    ids: tf.Tensor  # (B, 1, 1 + L) int32: START, tokens, then PAD
    log_probability: tf.Tensor  # (B, 1) float32, of the tokens
    finished: tf.Tensor  # (B, 1) bool: ends with END
    complete: tf.Tensor  # (B, 1) bool: finished, or cut off at the length limit


class GreedyState(NamedTuple):
    """The state of greedy search between two steps."""

    decoder: DecoderStates
    rows: RowRestrictions
    numbers: tf.Tensor  # (B, L) float32, to draw tokens by; (B, 0) without sampling
    token: tf.Tensor  # (B, 1) int32: the newest one
    results: GreedyResults


def greedy_search(
    transformer: Transformers,
    inp: tf.Tensor,
    alpha: float = 0.6,
    restrictions: Restrictions = UNRESTRICTED,
    scored: bool = True,
) -> Hypotheses:
    """Takes the likeliest token at each step. Returns Hypotheses, one per sentence.

    PAD and START are never chosen. A sentence does not depend on the others in its batch.

    Args:
      transformer: a Transformer, or a tuple of them, whose probabilities are averaged.
      inp: source ids (B, S).
      scored: False to compute no log-probabilities; then they are nan, and logits are restricted.
    """
    decoder = cached_decoder(transformer, inp, 1, restrictions)
    steps = _GreedySteps(decoder, restrictions, scored)
    no_numbers = tf.zeros_like(inp[:, :0], tf.float32)  # (B, 0)
    return _search(steps, steps.first_state(inp, no_numbers), alpha)


def sample(
    transformer: Transformers,
    inp: tf.Tensor,
    sampling: Sampling,
    samples: tf.Tensor,
    alpha: float = 0.6,
    restrictions: Restrictions = UNRESTRICTED,
) -> Hypotheses:
    """Draws one token at each step. Returns Hypotheses, one per sentence.

    Args:
      samples: the number (B,) of the sample of each source; each number is another translation.
    """
    decoder = cached_decoder(transformer, inp, 1, restrictions)
    steps = _GreedySteps(decoder, restrictions, scored=True, sampling=sampling)
    numbers = random_numbers(sampling, inp, samples, decoder.length)  # (B, L)
    return _search(steps, steps.first_state(inp, numbers), alpha)


@dataclasses.dataclass(frozen=True)
class _GreedySteps:
    decoder: Decoder
    restrictions: Restrictions
    scored: bool
    sampling: Sampling | None = None

    def first_state(self, inp: tf.Tensor, numbers: tf.Tensor) -> GreedyState:
        """Returns the state before the first step: START alone."""
        rows = self.restrictions.rows(inp)
        limits = rows.limits[:, tf.newaxis]  # (B, 1)
        token = tf.fill(tf.shape(limits), START)  # (B, 1)
        results = GreedyResults(
            ids=tf.pad(token[..., tf.newaxis], [[0, 0], [0, 0], [0, self.decoder.length]]),
            log_probability=tf.fill(tf.shape(limits), 0.0 if self.scored else math.nan),
            finished=tf.zeros_like(limits, tf.bool),
            complete=limits == 0,
        )
        return GreedyState(self.decoder.state, rows, numbers, token, results)

    def unfinished(self, position: tf.Tensor, state: GreedyState) -> tf.Tensor:
        """Returns which sentences (B,) need another step."""
        return ~state.results.complete[:, 0]

    def step(self, position: tf.Tensor, state: GreedyState) -> GreedyState:
        """Returns the state with one more token: that after `position`."""
        ids, log_probability, finished, complete = state.results
        predict = self.decoder.log_probabilities if self.scored else self.decoder.logits
        likely, decoder = predict(state.token, position, None, state.decoder)  # (B, 1, V)
        likely += self.decoder.never
        likely = self.restrictions.restrict(likely, ids, position, state.rows)
        if self.sampling is None:
            token = tf.argmax(likely, axis=-1, output_type=tf.int32)  # (B, 1)
        else:
            token = draw(self.sampling, likely, state.numbers[:, position, tf.newaxis])  # (B, 1)
        if self.scored:
            log_probability += tf.where(complete, 0.0, tf.gather(likely, token, batch_dims=2))
        token = tf.where(complete, PAD, token)
        ids = set_position(ids, position + 1, token)
        finished |= token == END
        complete |= finished | (position + 1 >= state.rows.limits[:, tf.newaxis])
        results = GreedyResults(ids, log_probability, finished, complete)
        return state._replace(decoder=decoder, token=token, results=results)


def _search(steps: _GreedySteps, state: GreedyState, alpha: float) -> Hypotheses:
    """Returns the Hypotheses that the steps lead to, from the first state."""
    results = loop(steps.unfinished, steps.step, state)
    is_token = tf.cast(results.ids != PAD, tf.int32)
    tokens = tf.reduce_sum(is_token, axis=-1) - 1  # (B, 1); START does not count
    scores = results.log_probability / length_penalty(tokens, alpha)
    return Hypotheses(results.ids, scores, results.log_probability, results.finished)
