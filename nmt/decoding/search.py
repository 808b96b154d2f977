"""Search for the likeliest translation: greedy and beam search with a cache of keys and values.

Greedy search predicts the same tokens as `transformer_model.greedy_translate`, but computes only
what is new at each step. The encoder runs once; each decoder layer keeps the keys and values of
earlier positions.

Shapes in comments as in transformer_model.py, and K hypotheses, N best ones.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from transformer_model import (
    END,
    MASKED,
    PAD,
    START,
    create_padding_mask,
    cross_entropy,
    embed,
    positional_encoding,
)

EXTRA_TOKENS = 50  # of a translation, at most, beyond the tokens of its source (paper 6.1)


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


def append(cache, new, position=None):
    """Returns `cache` (B, H, L, D / H), keys or values of earlier positions, with `new` appended.

    Args:
      new: (B, H, K, D / H), one more position of K hypotheses.
      position: None for a cache that grows; or the number of earlier positions, for a cache of the
        final length, which XLA needs because its shapes are fixed.
    """
    if position is None:
        return tf.concat([cache, new], axis=2)
    length, beam = cache.shape[2], new.shape[2]
    here = tf.range(length) // beam == position  # (L,)
    return tf.where(here[:, tf.newaxis], tf.tile(new, (1, 1, length // beam, 1)), cache)


class CachedDecoder:
    """The decoder, one position at a time, for a batch of sources that the encoder has read.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      beam: hypotheses K per sentence.
      extra_tokens: a translation has at most so many tokens more than its source.
      static: keep all shapes fixed from step to step, as XLA requires; otherwise caches grow.
    """

    def __init__(self, transformer, inp, beam, extra_tokens, static):
        self.transformer, self.beam, self.static = transformer, beam, static
        self.layers, sizes = transformer.decoder.dec_layers, transformer.sizes
        self.padding_mask = create_padding_mask(inp)
        enc_output, _ = transformer.encoder(inp, training=False, mask=self.padding_mask)
        self.cross_attention = [layer.cross_attention_kv(enc_output) for layer in self.layers]
        self.batch, source_length = (
            known if known is not None else found
            for known, found in zip(inp.shape, tf.unstack(tf.shape(inp)), strict=True)
        )
        self.length = source_length + extra_tokens
        tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
        self.limits = tf.where(tokens > 0, tokens + extra_tokens, 0)  # (B,), none for empty rows
        self.positions = positional_encoding(self.length, sizes["d_model"])  # (1, L, D)
        never = np.isin(np.arange(sizes["target_vocab_size"]), (PAD, START)) * MASKED
        self.never = tf.constant(never, tf.float32)  # (V,)
        heads, depth = sizes["num_heads"], sizes["d_model"] // sizes["num_heads"]
        length = self.length * beam if static else 0
        empty = tf.zeros((self.batch, heads, length, depth), enc_output.dtype)
        self.caches = [(empty, empty)] * sizes["num_layers"]

    def log_probabilities(self, tokens, position, origin, caches):
        """Returns those of the next token, (B, K, V), and the caches; PAD and START have none.

        Args:
          tokens: ids (B, K) at `position`.
          origin: (B, K, L), which of the K cache rows holds a hypothesis's past at each position up
            to this one, -1 beyond; None where K is 1.
          caches: keys and values of each layer.
        """
        look_ahead_mask = None  # a cache that grows holds nothing but one hypothesis's past
        length = self.length if self.static else position + 1
        if origin is not None:
            past = tf.one_hot(origin[:, :, :length], self.beam)  # (B, K, L, K), all 0 for a -1
            look_ahead_mask = 1 - tf.reshape(past, (self.batch, 1, self.beam, length * self.beam))
        elif self.static:
            look_ahead_mask = tf.cast(tf.range(length) > position, tf.float32)  # (L,)
        encoding = self.positions[:, position, tf.newaxis]  # (1, 1, D)
        x = embed(self.transformer.decoder.embedding, tokens, encoding)  # (B, K, D)
        extended = []
        for layer, cache, kv in zip(self.layers, caches, self.cross_attention, strict=True):
            q, *new = layer.self_attention_qkv(x)  # (B, H, K, D / H) each
            cache = tuple(
                append(old, value, position if self.static else None)
                for old, value in zip(cache, new, strict=True)
            )
            x, _, _ = layer.attend(
                x, (q, *cache), kv, look_ahead_mask=look_ahead_mask, padding_mask=self.padding_mask
            )
            extended.append(cache)
        if self.transformer.pre_norm:
            x = self.transformer.decoder.layernorm(x)
        logits = self.transformer.final_layer(x)  # (B, K, V)
        return tf.nn.log_softmax(logits) + self.never, extended

    def loop(self, unfinished, step, *state):
        """Returns `state` after as many steps as it is `unfinished`.

        Both functions take the position, the state and the caches; `step` returns the new ones.
        """
        state = (tf.constant(0), *state, self.caches)
        shapes = tf.nest.map_structure(lambda tensor: tensor.shape, state)
        if not self.static:
            batch, heads, _, depth = shapes[-1][0][0]
            growing = tf.TensorShape((batch, heads, None, depth))
            shapes = (*shapes[:-1], [(growing, growing)] * len(self.caches))
        return tf.while_loop(unfinished, step, state, shape_invariants=shapes)[1:-1]


def likeliest(likely, position):
    """Returns the likeliest tokens (B, 1), by log-probabilities (B, 1, V)."""
    return tf.argmax(likely, axis=-1, output_type=tf.int32)


def greedy_search(
    transformer, inp, alpha=0.6, extra_tokens=EXTRA_TOKENS, static=False, choose=likeliest
):
    """Takes one token at each step, the likeliest. Returns Hypotheses, one per sentence.

    PAD and START are never chosen. A sentence does not depend on the others in its batch.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      alpha: of `length_penalty`, for the scores.
      extra_tokens, static: see CachedDecoder.
      choose: a function of log-probabilities (B, 1, V) and the position that returns tokens (B, 1).
    """
    decoder = CachedDecoder(transformer, inp, 1, extra_tokens, static)
    limits = decoder.limits[:, tf.newaxis]

    def unfinished(position, token, ids, log_probability, complete, finished, caches):
        return ~tf.reduce_all(complete)

    def step(position, token, ids, log_probability, complete, finished, caches):
        likely, caches = decoder.log_probabilities(token, position, None, caches)  # (B, 1, V)
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


def beam_search(
    transformer, inp, beam=4, alpha=0.6, n_best=1, extra_tokens=EXTRA_TOKENS, static=False
):
    """Follows the `beam` likeliest hypotheses of each sentence. Returns the `n_best` complete ones.

    A hypothesis is complete with END or at the length limit; complete ones are kept apart from the
    live ones, ranked by log-probability over `length_penalty`. The search of a sentence stops once
    no live hypothesis can enter its n-best list: log-probabilities only fall, and the penalty is at
    most that of the length limit. A sentence does not depend on the others in its batch.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      beam: hypotheses K that are followed.
      alpha: of `length_penalty`, 0 or more.
      n_best: translations per sentence, at most `beam`.
      extra_tokens, static: see CachedDecoder.
    """
    decoder = CachedDecoder(transformer, inp, beam, extra_tokens, static)
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


def search(transformer, inp, beam=1, alpha=0.6, n_best=1, extra_tokens=EXTRA_TOKENS, static=False):
    """Returns Hypotheses for source ids (B, S): by greedy search for a `beam` of 1."""
    if beam == 1:
        return greedy_search(transformer, inp, alpha, extra_tokens, static)
    return beam_search(transformer, inp, beam, alpha, n_best, extra_tokens, static)


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
