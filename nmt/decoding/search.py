"""Search for the likeliest translation: greedy and beam search.

Greedy search predicts the same tokens as `transformer_model.greedy_translate`, but computes only
what is new at each step; see cached_decoder.py.

Shapes in comments as in transformer_model.py, and K hypotheses, N best ones.
"""

from typing import NamedTuple

import tensorflow as tf

from nmt.decoding.cached_decoder import EXTRA_TOKENS, cached_decoder
from nmt.decoding.loop import loop
from transformer_model import END, MASKED, PAD, START

BLOCK = 64  # tokens, of which the likeliest is looked for first


class Hypotheses(NamedTuple):
    """The N best translations of each of B sentences, the best first."""

    ids: tf.Tensor  # (B, N, 1 + L) int32: START, tokens, END, then PAD
    scores: tf.Tensor  # (B, N) float32: log-probability over length penalty; they rank by it
    log_probabilities: tf.Tensor  # (B, N) float32, natural, of all tokens with END
    finished: tf.Tensor  # (B, N) bool: False where a translation was cut off at the length limit
    ended: tf.Tensor | bool = True  # (B,): False where the cache was too short to go on


def set_position(tensor, index, value):
    """Returns `tensor` (..., L) with `value` (...) at `index` of its last axis."""
    here = tf.range(tf.shape(tensor)[-1]) == index
    return tf.where(here, value[..., tf.newaxis], tensor)


def length_penalty(length, alpha):
    """((5 + length) / 6)^alpha, which divides log-probabilities (Wu et al. 2016, equation 14).

    Length is in tokens and counts END, not START. With alpha = 0, log-probabilities alone rank.
    """
    return ((5 + tf.cast(length, tf.float32)) / 6) ** alpha


def unrestricted(likely, ids, position):
    """Returns the log-probabilities `likely` (B, K, V): any token may follow ids (B, K, 1 + L)."""
    return likely


def likeliest(likely, numbers):
    """Returns the likeliest tokens (B, 1), by log-probabilities (B, 1, V)."""
    return tf.argmax(likely, axis=-1, output_type=tf.int32)


def greedy_search(
    transformer, inp, alpha=0.6, extra_tokens=EXTRA_TOKENS, extra_positions=None,
    prefix=None, choose=likeliest, numbers=None, restrict=unrestricted, scored=True,
):  # fmt: skip
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
    """
    decoder = cached_decoder(transformer, inp, 1, extra_tokens, extra_positions, prefix)

    def unfinished(position, state):
        return ~state["kept"]["complete"][:, 0]

    def step(position, state):
        ids, log_probability, finished, complete = state["kept"].values()
        logits, state = decoder.logits(state["token"], position, None, state)  # (B, 1, V)
        likely = (tf.nn.log_softmax(logits) if scored else logits) + decoder.never
        likely = decoder.allowed(likely, restrict(likely, ids, position), position, state)
        drawn = state["numbers"][:, position, tf.newaxis] if "numbers" in state else None
        token = choose(likely, drawn)  # (B, 1)
        if scored:
            log_probability += tf.where(complete, 0.0, tf.gather(likely, token, batch_dims=2))
        token = tf.where(complete, PAD, token)
        ids = set_position(ids, position + 1, token)
        finished |= token == END
        complete |= finished | (position + 1 >= state["limits"][:, tf.newaxis])
        kept = dict(ids=ids, log_probability=log_probability, finished=finished, complete=complete)
        return {**state, "token": token, "kept": kept}

    limits = decoder.state["limits"][:, tf.newaxis]  # (B, 1)
    token = tf.fill(tf.shape(limits), START)
    kept = dict(
        ids=tf.pad(token[..., tf.newaxis], [[0, 0], [0, 0], [0, decoder.length]]),  # (B, 1, 1 + L)
        log_probability=tf.zeros_like(limits, tf.float32),
        finished=tf.zeros_like(limits, tf.bool),
        complete=limits == 0,
    )
    state = {**decoder.state, "token": token, "kept": kept}
    if numbers is not None:
        state["numbers"] = numbers
    kept, ended = loop(unfinished, step, state, decoder.cache_length)
    ids, log_probability, finished, _ = kept.values()
    tokens = tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=-1) - 1  # START does not count
    scores = log_probability / length_penalty(tokens, alpha)
    return Hypotheses(ids, scores, log_probability, finished, ended)


def sample(transformer, inp, sampling, samples, alpha=0.6, prefix=None, **more):
    """Draws one token at each step. Returns Hypotheses, one per sentence.

    Args:
      sampling: a sampling.Sampling.
      samples: the number (B,) of the sample of each source; others are other translations.
      transformer, inp, alpha, prefix, more: as of `greedy_search`.
    """
    prefix_length = 0 if prefix is None else tf.shape(prefix)[1]
    length = tf.maximum(tf.shape(inp)[1], prefix_length) + EXTRA_TOKENS
    numbers = sampling.numbers(inp, samples, length)  # (B, L)
    more = dict(more, choose=sampling.draw, numbers=numbers)
    return greedy_search(transformer, inp, alpha, prefix=prefix, **more)


def best_of(scores, number, *tensors):
    """Returns the best `number` of scores (B, N), and their entries of `tensors`."""
    scores, chosen = tf.math.top_k(scores, number)
    return scores, *(tf.gather(tensor, chosen, batch_dims=1) for tensor in tensors)


def best_tokens(likely, never, live, number):
    """Returns the best `number` of B sentences: log-probability, hypothesis and token, (B, number).

    Looking through all K V sums would take longer than the decoder. The best are in the blocks
    with the highest maxima; in K blocks more, because the maximum of each hypothesis's first one
    may be that of a token that is never chosen.

    Args:
      likely: log-probabilities (B, K, V) of the next token, V a multiple of BLOCK.
      never: (V,), to be added.
      live: log-probabilities (B, K) of the hypotheses so far.
      number: at most K (V - 2).
    """
    beam, blocks = likely.shape[1], likely.shape[2] // BLOCK  # K, V / BLOCK per hypothesis
    likely = tf.reshape(likely, (-1, beam, blocks, BLOCK))
    maxima = tf.reduce_max(likely, axis=3) + live[..., tf.newaxis]  # (B, K, V / BLOCK)
    maxima = tf.reshape(maxima, (-1, beam * blocks))
    chosen = tf.math.top_k(maxima, min(number + beam, beam * blocks)).indices  # (B, M)
    parent, block = chosen // blocks, chosen % blocks  # (B, M)
    likely = tf.gather(tf.reshape(likely, (-1, beam * blocks, BLOCK)), chosen, batch_dims=1)
    likely += tf.gather(tf.reshape(never, (blocks, BLOCK)), block)  # (B, M, BLOCK)
    likely += tf.gather(live, parent, batch_dims=1)[..., tf.newaxis]
    token = block[..., tf.newaxis] * BLOCK + tf.range(BLOCK)  # (B, M, BLOCK)
    parent = tf.broadcast_to(parent[..., tf.newaxis], tf.shape(token))
    each = (tf.reshape(t, (-1, chosen.shape[1] * BLOCK)) for t in (likely, parent, token))
    return best_of(next(each), number, *each)


def beam_search(
    transformer, inp, beam=4, alpha=0.6, n_best=1, extra_tokens=EXTRA_TOKENS, extra_positions=None,
    prefix=None, restrict=unrestricted,
):  # fmt: skip
    """Follows the `beam` likeliest hypotheses of each sentence. Returns the `n_best` complete ones.

    A hypothesis is complete with END or at the length limit; complete ones are kept apart from the
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
      restrict: as of `greedy_search`.
    """
    decoder = cached_decoder(transformer, inp, beam, extra_tokens, extra_positions, prefix, BLOCK)

    def unfinished(position, state):
        best_possible_score = tf.reduce_max(state["log_probability"], axis=1)  # (B,)
        best_possible_score /= length_penalty(state["limits"], alpha)
        worst = state["kept"]["score"][:, n_best - 1]
        return (best_possible_score > worst) & (position < state["limits"])

    def step(position, state):
        live, origin, complete = state["ids"], state["origin"], state["kept"]
        tokens = tf.gather(live, position, axis=2)  # (B, K)
        rows = tf.broadcast_to(tf.range(beam), tf.shape(tokens))  # (B, K)
        origin = set_position(origin, position, rows)  # (B, K, L)
        logits, state = decoder.logits(tokens, position, origin, state)  # (B, K, V)
        likely = tf.nn.log_softmax(logits)
        likely = decoder.allowed(likely, restrict(likely, live, position), position, state)
        # Each live hypothesis has one END: at most K of the best 2 K end, at least K stay live.
        log_probability, parent, token = best_tokens(
            likely, decoder.never, state["log_probability"], 2 * beam
        )  # (B, 2 K)
        position += 1
        ids = tf.gather(live, parent, batch_dims=1)  # (B, 2 K, 1 + L)
        ids = set_position(ids, position, token)
        finished = token == END
        over = finished | (position >= state["limits"][:, tf.newaxis])

        score = log_probability / length_penalty(position, alpha)
        new = dict(
            score=tf.where(over, score, MASKED),
            ids=ids, log_probability=log_probability, finished=finished,
        )  # fmt: skip
        both = (tf.concat([complete[name], new[name]], axis=1) for name in complete)
        complete = dict(zip(complete, best_of(next(both), beam, *both), strict=True))

        origin = tf.gather(origin, parent, batch_dims=1)  # (B, 2 K, L)
        alive = tf.where(over, MASKED, log_probability)
        log_probability, ids, origin = best_of(alive, beam, ids, origin)
        live = dict(ids=ids, origin=origin, log_probability=log_probability)
        return {**state, **live, "kept": complete}

    limits = tf.tile(decoder.state["limits"][:, tf.newaxis], (1, beam))  # (B, K)
    ids = tf.fill(tf.shape(limits), START)[..., tf.newaxis]
    ids = tf.pad(ids, [[0, 0], [0, 0], [0, decoder.length]])  # (B, K, 1 + L)
    nothing = tf.fill(tf.shape(limits), MASKED)
    live = dict(
        ids=ids,
        origin=tf.fill(tf.shape(ids[..., 1:]), -1),  # (B, K, L)
        log_probability=tf.where(tf.range(beam) == 0, 0.0, nothing),  # all K start the same
    )
    complete = dict(
        score=nothing, ids=ids, log_probability=nothing, finished=tf.zeros_like(limits, tf.bool)
    )
    state = {**decoder.state, **live, "kept": complete}
    complete, ended = loop(unfinished, step, state, decoder.cache_length)
    names = "ids", "score", "log_probability", "finished"
    return Hypotheses(*(complete[name][:, :n_best] for name in names), ended)


def search(transformer, inp, beam=1, alpha=0.6, n_best=1, scored=True, **more):
    """Returns Hypotheses for source ids (B, S): by greedy search for a `beam` of 1."""
    if beam == 1:
        return greedy_search(transformer, inp, alpha, scored=scored, **more)
    return beam_search(transformer, inp, beam, alpha, n_best, **more)
