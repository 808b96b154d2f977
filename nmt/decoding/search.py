"""Search for the likeliest translation: greedy and beam search.

Greedy search predicts the same tokens as `transformer_model.greedy_translate`, but computes only
what is new at each step; see cached_decoder.py.

Shapes in comments as in transformer_model.py, and K hypotheses, N best ones.
"""

from typing import NamedTuple

import tensorflow as tf

from nmt.decoding.cached_decoder import EXTRA_TOKENS, cached_decoder
from transformer_model import END, MASKED, PAD, START, cross_entropy


class Hypotheses(NamedTuple):
    """The N best translations of each of B sentences, the best first."""

    ids: tf.Tensor  # (B, N, L) int32: START, tokens, END, then PAD
    scores: tf.Tensor  # (B, N) float32: log-probability over length penalty; they rank by it
    log_probabilities: tf.Tensor  # (B, N) float32, natural, of all tokens with END
    finished: tf.Tensor  # (B, N) bool: False where a translation was cut off at the length limit


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
    """Returns the log-probabilities `likely` (B, K, V): any token may follow the ids (B, K, L)."""
    return likely


def likeliest(likely, position):
    """Returns the likeliest tokens (B, 1), by log-probabilities (B, 1, V)."""
    return tf.argmax(likely, axis=-1, output_type=tf.int32)


def greedy_search(
    transformer, inp, alpha=0.6, extra_tokens=EXTRA_TOKENS, static=False, forced=None,
    choose=likeliest, restrict=unrestricted,
):  # fmt: skip
    """Takes one token at each step, the likeliest. Returns Hypotheses, one per sentence.

    PAD and START are never chosen. A sentence does not depend on the others in its batch.

    Args:
      transformer: a Transformer, or a tuple of them, whose probabilities are averaged.
      inp: source ids (B, S).
      alpha: of `length_penalty`, for the scores.
      extra_tokens, static, forced: see CachedDecoder.
      choose: a function of log-probabilities (B, 1, V) and the position that returns tokens (B, 1).
      restrict: a function like `unrestricted`, which may make tokens less likely.
    """
    decoder = cached_decoder(transformer, inp, 1, extra_tokens, static, forced)
    limits = decoder.limits[:, tf.newaxis]

    def unfinished(position, token, ids, log_probability, complete, finished, caches):
        return ~tf.reduce_all(complete)

    def step(position, token, ids, log_probability, complete, finished, caches):
        likely, caches = decoder.log_probabilities(token, position, None, caches)  # (B, 1, V)
        likely = decoder.allowed(likely, restrict(likely, ids, position), position)
        token = choose(likely, position)  # (B, 1)
        log_probability += tf.where(complete, 0.0, tf.gather(likely, token, batch_dims=2))
        token = tf.where(complete, PAD, token)
        position += 1
        ids = set_position(ids, position, token)
        finished |= token == END
        complete |= finished | (position >= limits)
        return position, token, ids, log_probability, complete, finished, caches

    none = tf.zeros((decoder.batch, 1), tf.bool)
    token = tf.fill((decoder.batch, 1), START)
    ids = tf.pad(token[..., tf.newaxis], [[0, 0], [0, 0], [0, decoder.length]])  # (B, 1, 1 + L)
    state = (token, ids, tf.zeros((decoder.batch, 1)), limits == 0, none)
    _, ids, log_probability, _, finished = decoder.loop(unfinished, step, *state)
    tokens = tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=-1) - 1  # START does not count
    scores = log_probability / length_penalty(tokens, alpha)
    return Hypotheses(ids, scores, log_probability, finished)


def sample(transformer, inp, sampling, samples, alpha=0.6, forced=None, **more):
    """Draws one token at each step. Returns Hypotheses, one per sentence.

    Args:
      sampling: a sampling.Sampling.
      samples: the number (B,) of the sample of each source; others are other translations.
      transformer, inp, alpha, forced, more: as of `greedy_search`.
    """
    begun = 0 if forced is None else tf.shape(forced)[1]
    length = tf.maximum(tf.shape(inp)[1], begun) + EXTRA_TOKENS
    uniform = sampling.numbers(inp, samples, length)  # (B, L)

    def choose(likely, position):
        return sampling.draw(likely, uniform[:, position, tf.newaxis])

    return greedy_search(transformer, inp, alpha, forced=forced, choose=choose, **more)


def beam_search(
    transformer, inp, beam=4, alpha=0.6, n_best=1, extra_tokens=EXTRA_TOKENS, static=False,
    forced=None, restrict=unrestricted,
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
      extra_tokens, static, forced: see CachedDecoder.
      restrict: as of `greedy_search`.
    """
    decoder = cached_decoder(transformer, inp, beam, extra_tokens, static, forced)
    batch, length, limits = decoder.batch, decoder.length, decoder.limits[:, tf.newaxis]
    rows = tf.broadcast_to(tf.range(beam), (batch, beam))  # (B, K)

    def choose(scores, number, *tensors):
        """Returns the best `number` of scores (B, N), and their entries of `tensors`."""
        scores, chosen = tf.math.top_k(scores, number)
        return scores, *(tf.gather(tensor, chosen, batch_dims=1) for tensor in tensors)

    def unfinished(position, live, complete, caches):
        best_possible_score = tf.reduce_max(live["log_probability"], axis=1, keepdims=True)
        best_possible_score /= length_penalty(limits, alpha)  # (B, 1)
        worst = complete["score"][:, n_best - 1 : n_best]
        return tf.reduce_any((best_possible_score > worst) & (position < limits))

    def step(position, live, complete, caches):
        tokens = tf.gather(live["ids"], position, axis=2)  # (B, K)
        origin = set_position(live["origin"], position, rows)  # (B, K, L)
        likely, caches = decoder.log_probabilities(tokens, position, origin, caches)  # (B, K, V)
        likely = decoder.allowed(likely, restrict(likely, live["ids"], position), position)
        likely += live["log_probability"][..., tf.newaxis]
        vocab_size = likely.shape[-1]
        # Each live hypothesis has one END: at most K of the best 2 K end, at least K stay live.
        flat = tf.reshape(likely, (batch, beam * vocab_size))
        log_probability, chosen = tf.math.top_k(flat, 2 * beam)  # (B, 2 K)
        token, parent = chosen % vocab_size, chosen // vocab_size  # (B, 2 K)
        position += 1
        ids = tf.gather(live["ids"], parent, batch_dims=1)  # (B, 2 K, 1 + L)
        ids = set_position(ids, position, token)
        finished = token == END
        over = finished | (position >= limits)

        score = log_probability / length_penalty(position, alpha)
        score = tf.where(over, score, MASKED)
        score = tf.concat([complete["score"], score], axis=1)  # (B, 3 K)
        both = [
            tf.concat([complete[name], new], axis=1)
            for name, new in (
                ("ids", ids), ("log_probability", log_probability), ("finished", finished),
            )
        ]  # fmt: skip
        score, *both = choose(score, beam, *both)
        complete = dict(zip(("ids", "log_probability", "finished"), both, strict=True), score=score)

        origin = tf.gather(origin, parent, batch_dims=1)  # (B, 2 K, L)
        alive = tf.where(over, MASKED, log_probability)
        log_probability, ids, origin = choose(alive, beam, ids, origin)
        live = dict(ids=ids, origin=origin, log_probability=log_probability)
        return position, live, complete, caches

    ids = tf.pad(tf.fill((batch, beam, 1), START), [[0, 0], [0, 0], [0, length]])  # (B, K, 1 + L)
    nothing = tf.fill((batch, beam), MASKED)
    live = dict(
        ids=ids,
        origin=tf.fill((batch, beam, length), -1),
        log_probability=tf.where(rows == 0, 0.0, MASKED),  # all K start the same
    )
    complete = dict(
        ids=ids, log_probability=nothing, finished=tf.zeros((batch, beam), tf.bool), score=nothing
    )
    _, complete = decoder.loop(unfinished, step, live, complete)
    return Hypotheses(
        *(complete[name][:, :n_best] for name in ("ids", "score", "log_probability", "finished"))
    )


def search(transformer, inp, beam=1, alpha=0.6, n_best=1, **more):
    """Returns Hypotheses for source ids (B, S): by greedy search for a `beam` of 1."""
    if beam == 1:
        return greedy_search(transformer, inp, alpha, **more)
    return beam_search(transformer, inp, beam, alpha, n_best, **more)


def log_probabilities(transformer, inp, tar):
    """Returns the natural log-probability (B,) of the tokens of ids `tar` (B, T) after START.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      tar: target ids (B, T), START first and END last.
    """
    predictions, _ = transformer((inp, tar[:, :-1]), training=False)  # (B, T - 1, V)
    real = tar[:, 1:]
    losses, _ = cross_entropy(predictions, real)
    return -tf.reduce_sum(losses * tf.cast(real != PAD, tf.float32), axis=1)
