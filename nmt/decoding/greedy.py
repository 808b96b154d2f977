"""Greedy search and sampling: one token at each step, the likeliest or one drawn at random.

Greedy search predicts the same tokens as `transformer_model.greedy_translate`, but computes only
what is new at each step; see cached_decoder.py. Shapes in comments as in transformer_model.py; the
axis of size 1 is that of hypotheses.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from nmt.decoding.cached_decoder import EXTRA_TOKENS, CachedDecoder, DecoderState, allow_prefix
from nmt.decoding.copied_symbols import CopiedSymbols
from nmt.decoding.ensemble import Ensemble, EnsembleState, Transformers, cached_decoder
from nmt.decoding.hypotheses import Hypotheses, length_penalty, set_position, unrestricted
from nmt.decoding.position_loop import loop
from nmt.decoding.sampling import Sampling
from transformer_model import END, PAD, START


class GreedyResults(NamedTuple):
    """The translation of each sentence so far."""

    ids: tf.Tensor  # (B, 1, 1 + L) int32: START, tokens, then PAD
    log_probability: tf.Tensor  # (B, 1) float32, of the tokens
    finished: tf.Tensor  # (B, 1) bool: ends with END
    complete: tf.Tensor  # (B, 1) bool: finished, or cut off at the length limit


class GreedyState(NamedTuple):
    """The state of greedy search between two steps."""

    decoder: DecoderState | EnsembleState
    numbers: tf.Tensor | tuple[()]  # (B, L) float32, to draw tokens by; () without sampling
    required: tf.Tensor | tuple[()]  # see CopiedSymbols.restrict; () without symbols
    token: tf.Tensor  # (B, 1) int32: the newest one
    results: GreedyResults


def likeliest(likely: tf.Tensor, numbers: tf.Tensor | None) -> tf.Tensor:
    """Returns the likeliest tokens (B, 1), by log-probabilities (B, 1, V); takes no numbers."""
    return tf.argmax(likely, axis=-1, output_type=tf.int32)


def greedy_search(
    transformer: Transformers,
    inp: tf.Tensor,
    alpha: float = 0.6,
    extra_tokens: int = EXTRA_TOKENS,
    extra_positions: int | None = None,
    prefix: tf.Tensor | None = None,
    choose: Callable = likeliest,
    numbers: tf.Tensor | None = None,
    restrict: Callable = unrestricted,
    scored: bool = True,
    copied: CopiedSymbols | None = None,
) -> Hypotheses:
    """Takes one token at each step, the likeliest. Returns Hypotheses, one per sentence.

    PAD and START are never chosen. A sentence does not depend on the others in its batch.

    Args:
      transformer: a Transformer, or a tuple of them, whose probabilities are averaged.
      inp: source ids (B, S).
      alpha: of `length_penalty`, for the scores.
      extra_tokens, extra_positions, prefix: see CachedDecoder.
      choose: a function of log-probabilities (B, 1, V) and `numbers` (B, 1) of the position that
        returns tokens (B, 1).
      numbers: (B, L), at least as long as the longest translation; or None.
      restrict: a function like `unrestricted`, which may make tokens less likely.
      scored: False to compute no log-probabilities; then they are 0, and both functions get logits.
      copied: symbols that a translation holds as often as its source; None for no such rule.
    """
    decoder = cached_decoder(transformer, inp, 1, extra_tokens, extra_positions, prefix)
    steps = _GreedySteps(decoder, choose, restrict, scored, copied)
    first = steps.first_state(inp, numbers)
    results, ended = loop(steps.unfinished, steps.step, first, decoder.cache_length)
    is_token = tf.cast(results.ids != PAD, tf.int32)
    tokens = tf.reduce_sum(is_token, axis=-1) - 1  # (B, 1); START does not count
    scores = results.log_probability / length_penalty(tokens, alpha)
    return Hypotheses(results.ids, scores, results.log_probability, results.finished, ended)


def sample(
    transformer: Transformers,
    inp: tf.Tensor,
    sampling: Sampling,
    samples: tf.Tensor,
    alpha: float = 0.6,
    prefix: tf.Tensor | None = None,
    **options,
) -> Hypotheses:
    """Draws one token at each step. Returns Hypotheses, one per sentence.

    Args:
      sampling: how tokens are drawn.
      samples: the number (B,) of the sample of each source; each number is another translation.
      transformer, inp, alpha, prefix, options: see `greedy_search`.
    """
    prefix_length = 0 if prefix is None else tf.shape(prefix)[1]
    length = tf.maximum(tf.shape(inp)[1], prefix_length) + EXTRA_TOKENS
    numbers = sampling.numbers(inp, samples, length)  # (B, L)
    return greedy_search(
        transformer, inp, alpha, prefix=prefix, choose=sampling.draw, numbers=numbers, **options
    )


@dataclasses.dataclass(frozen=True)
class _GreedySteps:
    """The steps of greedy search, as functions of its state; see `greedy_search`."""

    decoder: CachedDecoder | Ensemble
    choose: Callable
    restrict: Callable
    scored: bool
    copied: CopiedSymbols | None

    def first_state(self, inp: tf.Tensor, numbers: tf.Tensor | None) -> GreedyState:
        """Returns the state before the first step: START alone."""
        limits = self.decoder.state.limits[:, tf.newaxis]  # (B, 1)
        token = tf.fill(tf.shape(limits), START)  # (B, 1)
        results = GreedyResults(
            ids=tf.pad(token[..., tf.newaxis], [[0, 0], [0, 0], [0, self.decoder.length]]),
            log_probability=tf.zeros_like(limits, tf.float32),
            finished=tf.zeros_like(limits, tf.bool),
            complete=limits == 0,
        )
        numbers = () if numbers is None else numbers
        required = () if self.copied is None else self.copied.count(inp)
        return GreedyState(self.decoder.state, numbers, required, token, results)

    def unfinished(self, position: tf.Tensor, state: GreedyState) -> tf.Tensor:
        """Returns which sentences (B,) need another step."""
        return ~state.results.complete[:, 0]

    def step(self, position: tf.Tensor, state: GreedyState) -> GreedyState:
        """Returns the state with one more token: that after `position`."""
        ids, log_probability, finished, complete = state.results
        predict = self.decoder.log_probabilities if self.scored else self.decoder.logits
        likely, sources = predict(state.token, position, None, state.decoder)  # (B, 1, V)
        likely += self.decoder.never
        restricted = self.restrict(likely, ids, position)
        if self.copied is not None:
            left = sources.limits - position  # (B,) tokens
            restricted = self.copied.restrict(restricted, ids, state.required, left)
        likely = allow_prefix(likely, restricted, position, sources.prefix)
        sampled = not isinstance(state.numbers, tuple)
        number = state.numbers[:, position, tf.newaxis] if sampled else None  # (B, 1)
        token = self.choose(likely, number)  # (B, 1)
        if self.scored:
            log_probability += tf.where(complete, 0.0, tf.gather(likely, token, batch_dims=2))
        token = tf.where(complete, PAD, token)
        ids = set_position(ids, position + 1, token)
        finished |= token == END
        complete |= finished | (position + 1 >= sources.limits[:, tf.newaxis])
        results = GreedyResults(ids, log_probability, finished, complete)
        return state._replace(decoder=sources, token=token, results=results)
