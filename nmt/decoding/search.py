"""Search for the likeliest translation: greedy and beam search.

Greedy search predicts the same tokens as `transformer_model.greedy_translate`, but computes only
what is new at each step; see cached_decoder.py.

Shapes in comments as in transformer_model.py, and K hypotheses, N best ones.
"""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from nmt.decoding.cached_decoder import EXTRA_TOKENS, Transformers, allow_prefix, cached_decoder
from nmt.decoding.copied_symbols import CopiedSymbols
from nmt.decoding.loop import loop
from nmt.decoding.sampling import Sampling
from transformer_model import END, MASKED, PAD, START

BLOCK = 64  # tokens; best_tokens compares the maxima of blocks first


class Hypotheses(NamedTuple):
    """The N best translations of each of B sentences, the best first."""

    ids: tf.Tensor  # (B, N, 1 + L) int32: START, tokens, END, then PAD
    scores: tf.Tensor  # (B, N) float32: log-probability over length penalty; they rank by it
    log_probabilities: tf.Tensor  # (B, N) float32, natural, of all tokens with END
    finished: tf.Tensor  # (B, N) bool: False where a translation was cut off at the length limit
    ended: tf.Tensor | bool = True  # (B,): False where the cache was too short to continue


def set_position(tensor: tf.Tensor, index: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Returns `tensor` (..., L) with `value` (...) at `index` of its last axis."""
    here = tf.range(tf.shape(tensor)[-1]) == index
    return tf.where(here, value[..., tf.newaxis], tensor)


def length_penalty(length: tf.Tensor, alpha: float) -> tf.Tensor:
    """((5 + length) / 6)^alpha, which divides log-probabilities (Wu et al. 2016, equation 14).

    Length is in tokens and counts END, not START. With alpha = 0, log-probabilities alone rank.
    """
    return ((5 + tf.cast(length, tf.float32)) / 6) ** alpha


def unrestricted(likely: tf.Tensor, ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
    """Returns the log-probabilities `likely` (B, K, V): any token may follow ids (B, K, 1 + L)."""
    return likely


def likeliest(likely: tf.Tensor, numbers: tf.Tensor | None) -> tf.Tensor:
    """Returns the likeliest tokens (B, 1), by log-probabilities (B, 1, V); takes no numbers."""
    return tf.argmax(likely, axis=-1, output_type=tf.int32)


class GreedyResults(NamedTuple):
    """The translation of each sentence so far."""

    ids: tf.Tensor  # (B, 1, 1 + L) int32: START, tokens, then PAD
    log_probability: tf.Tensor  # (B, 1) float32, of the tokens
    finished: tf.Tensor  # (B, 1) bool: ends with END
    complete: tf.Tensor  # (B, 1) bool: finished, or cut off at the length limit


class GreedyState(NamedTuple):
    """The state of greedy search between two steps."""

    decoder: dict  # tensors of each sentence: CachedDecoder.state, and `numbers` if there are any
    required: tf.Tensor | tuple[()]  # see CopiedSymbols.restrict; () without symbols
    token: tf.Tensor  # (B, 1) int32: the newest one
    results: GreedyResults


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

    def unfinished(position, state):
        return ~state.results.complete[:, 0]

    def step(position, state):
        ids, log_probability, finished, complete = state.results
        logits, sources = decoder.logits(state.token, position, None, state.decoder)  # (B, 1, V)
        likely = (tf.nn.log_softmax(logits) if scored else logits) + decoder.never
        restricted = restrict(likely, ids, position)
        if copied is not None:
            left = sources["limits"] - position  # (B,) tokens
            restricted = copied.restrict(restricted, ids, state.required, left)
        likely = allow_prefix(likely, restricted, position, sources)
        number = sources["numbers"][:, position, tf.newaxis] if "numbers" in sources else None
        token = choose(likely, number)  # (B, 1)
        if scored:
            log_probability += tf.where(complete, 0.0, tf.gather(likely, token, batch_dims=2))
        token = tf.where(complete, PAD, token)
        ids = set_position(ids, position + 1, token)
        finished |= token == END
        complete |= finished | (position + 1 >= sources["limits"][:, tf.newaxis])
        results = GreedyResults(ids, log_probability, finished, complete)
        return GreedyState(sources, state.required, token, results)

    limits = decoder.state["limits"][:, tf.newaxis]  # (B, 1)
    token = tf.fill(tf.shape(limits), START)
    results = GreedyResults(
        ids=tf.pad(token[..., tf.newaxis], [[0, 0], [0, 0], [0, decoder.length]]),  # (B, 1, 1 + L)
        log_probability=tf.zeros_like(limits, tf.float32),
        finished=tf.zeros_like(limits, tf.bool),
        complete=limits == 0,
    )
    sources = decoder.state if numbers is None else {**decoder.state, "numbers": numbers}
    required = () if copied is None else copied.count(inp)
    state = GreedyState(sources, required, token, results)
    results, ended = loop(unfinished, step, state, decoder.cache_length)
    is_token = tf.cast(results.ids != PAD, tf.int32)
    tokens = tf.reduce_sum(is_token, axis=-1) - 1  # START does not count
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
      sampling: a sampling.Sampling.
      samples: the number (B,) of the sample of each source; each number is another translation.
      transformer, inp, alpha, prefix, options: see `greedy_search`.
    """
    prefix_length = 0 if prefix is None else tf.shape(prefix)[1]
    length = tf.maximum(tf.shape(inp)[1], prefix_length) + EXTRA_TOKENS
    numbers = sampling.numbers(inp, samples, length)  # (B, L)
    return greedy_search(
        transformer, inp, alpha, prefix=prefix, choose=sampling.draw, numbers=numbers, **options
    )


class LiveHypotheses(NamedTuple):
    """The K hypotheses of each sentence that beam search follows."""

    ids: tf.Tensor  # (B, K, 1 + L) int32: START, tokens, then PAD
    origin: tf.Tensor  # (B, K, L) int32: see CachedDecoder.logits
    log_probability: tf.Tensor  # (B, K) float32


class CompleteHypotheses(NamedTuple):
    """The K best complete hypotheses of each sentence, the best first."""

    ids: tf.Tensor  # (B, K, 1 + L) int32
    score: tf.Tensor  # (B, K) float32: log-probability over length penalty; MASKED for none yet
    log_probability: tf.Tensor  # (B, K) float32
    finished: tf.Tensor  # (B, K) bool: ends with END


class BeamState(NamedTuple):
    """The state of beam search between two steps."""

    decoder: dict  # tensors of each sentence: CachedDecoder.state
    required: tf.Tensor | tuple[()]  # see CopiedSymbols.restrict; () without symbols
    live: LiveHypotheses
    results: CompleteHypotheses


class Continuations(NamedTuple):
    """The M best pairs of a live hypothesis and its next token, the best first."""

    log_probability: tf.Tensor  # (B, M) float32, of the hypothesis with the token
    parent: tf.Tensor  # (B, M) int32: the number of the hypothesis, 0 to K - 1
    token: tf.Tensor  # (B, M) int32


def take(record: NamedTuple, indices: tf.Tensor) -> NamedTuple:
    """Returns the entries `indices` (B, M) of the tensors (B, N, ...) of a record."""
    return tf.nest.map_structure(lambda tensor: tf.gather(tensor, indices, batch_dims=1), record)


def best_tokens(likely: tf.Tensor, never: tf.Tensor, live: tf.Tensor, number: int) -> Continuations:
    """Returns the best `number` Continuations.

    A top-k over all K V sums would take longer than the decoder. The best are in the blocks
    with the highest maxima; in K blocks more, because the maximum of each hypothesis's first one
    may be that of a token that is never chosen.

    Args:
      likely: log-probabilities (B, K, V) of the next token, V a multiple of BLOCK.
      never: (V,), to be added.
      live: log-probabilities (B, K) of the hypotheses so far.
      number: at most K (V - 2).
    """
    beam, blocks = likely.shape[1], likely.shape[2] // BLOCK  # K, V / BLOCK per hypothesis
    likely = tf.reshape(likely, (-1, beam, blocks, BLOCK))  # (B, K, V / BLOCK, BLOCK)
    maxima = tf.reduce_max(likely, axis=3) + live[..., tf.newaxis]  # (B, K, V / BLOCK)
    maxima = tf.reshape(maxima, (-1, beam * blocks))  # (B, K V / BLOCK)
    chosen = tf.math.top_k(maxima, min(number + beam, beam * blocks)).indices  # (B, M)
    parent, block = chosen // blocks, chosen % blocks  # (B, M)
    likely = tf.reshape(likely, (-1, beam * blocks, BLOCK))  # (B, K V / BLOCK, BLOCK)
    likely = tf.gather(likely, chosen, batch_dims=1)  # (B, M, BLOCK)
    likely += tf.gather(tf.reshape(never, (blocks, BLOCK)), block)  # (B, M, BLOCK)
    likely += tf.gather(live, parent, batch_dims=1)[..., tf.newaxis]
    token = block[..., tf.newaxis] * BLOCK + tf.range(BLOCK)  # (B, M, BLOCK)
    parent = tf.broadcast_to(parent[..., tf.newaxis], tf.shape(token))  # (B, M, BLOCK)
    flat = (-1, chosen.shape[1] * BLOCK)
    likely = tf.reshape(likely, flat)  # (B, M BLOCK)
    parent = tf.reshape(parent, flat)  # (B, M BLOCK)
    token = tf.reshape(token, flat)  # (B, M BLOCK)
    best = tf.math.top_k(likely, number)  # (B, number)
    return Continuations(
        log_probability=best.values,
        parent=tf.gather(parent, best.indices, batch_dims=1),
        token=tf.gather(token, best.indices, batch_dims=1),
    )


def beam_search(
    transformer: Transformers,
    inp: tf.Tensor,
    beam: int = 4,
    alpha: float = 0.6,
    n_best: int = 1,
    extra_tokens: int = EXTRA_TOKENS,
    extra_positions: int | None = None,
    prefix: tf.Tensor | None = None,
    restrict: Callable = unrestricted,
    copied: CopiedSymbols | None = None,
) -> Hypotheses:
    """Follows the `beam` likeliest hypotheses of each sentence. Returns the `n_best` complete ones.

    A hypothesis is complete with END or at the length limit; complete ones stand apart from the
    live ones, ranked by log-probability over `length_penalty`. The search of a sentence stops once
    no live hypothesis can enter its n-best list: log-probabilities only fall, and the penalty is at
    most that of the length limit. A sentence does not depend on the others in its batch.

    Args:
      transformer: a Transformer, or a tuple of them, whose probabilities are averaged.
      inp: source ids (B, S).
      beam: hypotheses K that are followed.
      alpha: of `length_penalty`, 0 or more.
      n_best: translations per sentence, at most `beam`.
      extra_tokens, extra_positions, prefix: see CachedDecoder.
      restrict, copied: see `greedy_search`.
    """
    decoder = cached_decoder(transformer, inp, beam, extra_tokens, extra_positions, prefix, BLOCK)

    def unfinished(position, state):
        best_possible_score = tf.reduce_max(state.live.log_probability, axis=1)  # (B,)
        best_possible_score /= length_penalty(state.decoder["limits"], alpha)
        worst_score = state.results.score[:, n_best - 1]  # (B,)
        return (best_possible_score > worst_score) & (position < state.decoder["limits"])

    def step(position, state):
        live, complete = state.live, state.results
        tokens = tf.gather(live.ids, position, axis=2)  # (B, K)
        cache_rows = tf.broadcast_to(tf.range(beam), tf.shape(tokens))  # (B, K)
        origin = set_position(live.origin, position, cache_rows)  # (B, K, L)
        logits, sources = decoder.logits(tokens, position, origin, state.decoder)  # (B, K, V)
        likely = tf.nn.log_softmax(logits)
        restricted = restrict(likely, live.ids, position)
        if copied is not None:
            left = sources["limits"] - position  # (B,) tokens
            restricted = copied.restrict(restricted, live.ids, state.required, left)
        likely = allow_prefix(likely, restricted, position, sources)

        # Each live hypothesis has one END: at most K of the best 2 K end, at least K stay live.
        new = best_tokens(likely, decoder.never, live.log_probability, 2 * beam)  # (B, 2 K)
        position += 1
        new_ids = tf.gather(live.ids, new.parent, batch_dims=1)  # (B, 2 K, 1 + L)
        new_ids = set_position(new_ids, position, new.token)
        new_origin = tf.gather(origin, new.parent, batch_dims=1)  # (B, 2 K, L)
        new_finished = new.token == END
        is_complete = new_finished | (position >= sources["limits"][:, tf.newaxis])

        # Of the complete hypotheses so far, (B, K), and the new ones, (B, 2 K), the best K stay.
        new_score = new.log_probability / length_penalty(position, alpha)
        new_score = tf.where(is_complete, new_score, MASKED)
        candidates = CompleteHypotheses(  # (B, 3 K, ...)
            ids=tf.concat([complete.ids, new_ids], axis=1),
            score=tf.concat([complete.score, new_score], axis=1),
            log_probability=tf.concat([complete.log_probability, new.log_probability], axis=1),
            finished=tf.concat([complete.finished, new_finished], axis=1),
        )
        complete = take(candidates, tf.math.top_k(candidates.score, beam).indices)

        # Of the new hypotheses that are not complete, the best K are followed.
        live_log_probability = tf.where(is_complete, MASKED, new.log_probability)
        live = LiveHypotheses(new_ids, new_origin, live_log_probability)  # (B, 2 K, ...)
        live = take(live, tf.math.top_k(live_log_probability, beam).indices)
        return BeamState(sources, state.required, live, complete)

    limits = tf.tile(decoder.state["limits"][:, tf.newaxis], (1, beam))  # (B, K)
    ids = tf.fill(tf.shape(limits), START)[..., tf.newaxis]
    ids = tf.pad(ids, [[0, 0], [0, 0], [0, decoder.length]])  # (B, K, 1 + L)
    masked = tf.fill(tf.shape(limits), MASKED)  # (B, K)
    live = LiveHypotheses(
        ids=ids,
        origin=tf.fill(tf.shape(ids[..., 1:]), -1),
        log_probability=tf.where(tf.range(beam) == 0, 0.0, masked),  # all K start the same
    )
    complete = CompleteHypotheses(ids, masked, masked, finished=tf.zeros_like(limits, tf.bool))
    required = () if copied is None else copied.count(inp)
    state = BeamState(decoder.state, required, live, complete)
    complete, ended = loop(unfinished, step, state, decoder.cache_length)
    return Hypotheses(
        ids=complete.ids[:, :n_best],
        scores=complete.score[:, :n_best],
        log_probabilities=complete.log_probability[:, :n_best],
        finished=complete.finished[:, :n_best],
        ended=ended,
    )


def search(
    transformer: Transformers,
    inp: tf.Tensor,
    beam: int = 1,
    alpha: float = 0.6,
    n_best: int = 1,
    scored: bool = True,
    **options,
) -> Hypotheses:
    """Returns Hypotheses for source ids (B, S): by greedy search for a `beam` of 1."""
    if beam == 1:
        return greedy_search(transformer, inp, alpha, scored=scored, **options)
    return beam_search(transformer, inp, beam, alpha, n_best, **options)
