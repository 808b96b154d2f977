"""Beam search: the K likeliest hypotheses of each sentence, one token longer at each step.

Shapes in comments as in transformer_model.py, K hypotheses and L positions.
"""

import dataclasses
from typing import NamedTuple, TypeVar

import tensorflow as tf

from nmt.decoding.ensemble import Decoder, DecoderStates, Transformers, cached_decoder
from nmt.decoding.hypotheses import Hypotheses, length_penalty, set_position
from nmt.decoding.position_loop import loop
from nmt.decoding.restrictions import UNRESTRICTED, Restrictions, RowRestrictions
from transformer_model import END, MASKED, START

BLOCK = 64  # tokens; `best_continuations` compares the maxima of blocks first


class LiveHypotheses(NamedTuple):
    """Hypotheses of each sentence that beam search follows: K, or 2 K of which K will stay."""

    ids: tf.Tensor  # (B, K, 1 + L) int32: START, tokens, then PAD
    origin: tf.Tensor  # (B, K, L) int32: see CachedDecoder.logits
    log_probability: tf.Tensor  # (B, K) float32; MASKED for none


class CompleteHypotheses(NamedTuple):
    """The K best complete hypotheses of each sentence, the best first."""

    ids: tf.Tensor  # (B, K, 1 + L) int32
    score: tf.Tensor  # (B, K) float32: log-probability over length penalty; MASKED for none yet
    log_probability: tf.Tensor  # (B, K) float32
    finished: tf.Tensor  # (B, K) bool: ends with END


Record = TypeVar("Record", LiveHypotheses, CompleteHypotheses)


class BeamState(NamedTuple):
    """The state of beam search between two steps."""

    decoder: DecoderStates
    rows: RowRestrictions
    live: LiveHypotheses
    results: CompleteHypotheses


class Continuations(NamedTuple):
    """The M best pairs of a live hypothesis and its next token, the best first."""

    log_probability: tf.Tensor  # (B, M) float32, of the hypothesis with the token
    parent: tf.Tensor  # (B, M) int32: the number of the hypothesis, 0 to K - 1
    token: tf.Tensor  # (B, M) int32


def beam_search(
    transformer: Transformers,
    inp: tf.Tensor,
    beam: int = 4,
    alpha: float = 0.6,
    n_best: int = 1,
    restrictions: Restrictions = UNRESTRICTED,
) -> Hypotheses:
    """Follows the `beam` likeliest hypotheses of each sentence. Returns the `n_best` complete ones.

    A hypothesis is complete with END or at the length limit; complete ones stand apart from the
    live ones, ranked by log-probability over `length_penalty`. The search of a sentence stops once
    no live hypothesis can enter its n-best list: log-probabilities only fall, and the penalty is at
    most that of the length limit. A sentence does not depend on the others in its batch.

    Args:
      inp: source ids (B, S).
      beam: hypotheses K that are followed.
      alpha: of `length_penalty`, 0 or more.
      n_best: translations per sentence, at most `beam`.
    """
    decoder = cached_decoder(transformer, inp, beam, restrictions, BLOCK)
    steps = _BeamSteps(decoder, beam, alpha, n_best, restrictions)
    complete = loop(steps.unfinished, steps.step, steps.first_state(inp))
    return Hypotheses(
        ids=complete.ids[:, :n_best],
        scores=complete.score[:, :n_best],
        log_probabilities=complete.log_probability[:, :n_best],
        finished=complete.finished[:, :n_best],
    )


@dataclasses.dataclass(frozen=True)
class _BeamSteps:
    decoder: Decoder
    beam: int
    alpha: float
    n_best: int
    restrictions: Restrictions

    def first_state(self, inp: tf.Tensor) -> BeamState:
        """Returns the state before the first step: START alone, K times."""
        rows = self.restrictions.rows(inp)
        limits = tf.tile(rows.limits[:, tf.newaxis], (1, self.beam))  # (B, K)
        ids = tf.fill(tf.shape(limits), START)[..., tf.newaxis]  # (B, K, 1)
        ids = tf.pad(ids, [[0, 0], [0, 0], [0, self.decoder.length]])  # (B, K, 1 + L)
        masked = tf.fill(tf.shape(limits), MASKED)  # (B, K)
        live = LiveHypotheses(
            ids=ids,
            origin=tf.fill(tf.shape(ids[..., 1:]), -1),
            log_probability=tf.where(tf.range(self.beam) == 0, 0.0, masked),  # all start the same
        )
        complete = CompleteHypotheses(ids, masked, masked, finished=tf.zeros_like(limits, tf.bool))
        return BeamState(self.decoder.state, rows, live, complete)

    def unfinished(self, position: tf.Tensor, state: BeamState) -> tf.Tensor:
        """Returns for which sentences (B,) a live hypothesis may still enter the n-best list."""
        limits = state.rows.limits  # (B,)
        best_possible_score = tf.reduce_max(state.live.log_probability, axis=1)  # (B,)
        best_possible_score /= length_penalty(limits, self.alpha)
        worst_score = state.results.score[:, self.n_best - 1]  # (B,)
        return (best_possible_score > worst_score) & (position < limits)

    def step(self, position: tf.Tensor, state: BeamState) -> BeamState:
        """Returns the state in which each live hypothesis has a token after `position`."""
        live = state.live
        tokens = tf.gather(live.ids, position, axis=2)  # (B, K)
        cache_rows = tf.broadcast_to(tf.range(self.beam), tf.shape(tokens))  # (B, K)
        origin = set_position(live.origin, position, cache_rows)  # (B, K, L)
        likely, decoder = self.decoder.log_probabilities(  # (B, K, V)
            tokens, position, origin, state.decoder
        )
        likely = self.restrictions.restrict(likely, live.ids, position, state.rows)

        # Each live hypothesis has one END: at most K of the best 2 K end, at least K stay live.
        number = 2 * self.beam
        new = best_continuations(likely, self.decoder.never, live.log_probability, number)
        position += 1
        new_ids = tf.gather(live.ids, new.parent, batch_dims=1)  # (B, 2 K, 1 + L)
        new_hypotheses = LiveHypotheses(
            ids=set_position(new_ids, position, new.token),
            origin=tf.gather(origin, new.parent, batch_dims=1),  # (B, 2 K, L)
            log_probability=new.log_probability,
        )
        finished = new.token == END  # (B, 2 K)
        is_complete = finished | (position >= state.rows.limits[:, tf.newaxis])
        complete = self._add_complete(
            state.results, new_hypotheses, position, is_complete, finished
        )
        live = self._best_live(new_hypotheses, is_complete)
        return BeamState(decoder, state.rows, live, complete)

    def _add_complete(
        self,
        complete: CompleteHypotheses,
        new: LiveHypotheses,
        length: tf.Tensor,
        is_complete: tf.Tensor,
        finished: tf.Tensor,
    ) -> CompleteHypotheses:
        """Returns the best K of the complete hypotheses so far and the new ones.

        Args:
          complete: those so far, (B, K, ...).
          new: hypotheses (B, 2 K, ...).
          is_complete, finished: (B, 2 K), of the new ones.
        """
        new_score = new.log_probability / length_penalty(length, self.alpha)
        new_score = tf.where(is_complete, new_score, MASKED)  # (B, 2 K)
        candidates = CompleteHypotheses(  # (B, 3 K, ...)
            ids=tf.concat([complete.ids, new.ids], axis=1),
            score=tf.concat([complete.score, new_score], axis=1),
            log_probability=tf.concat([complete.log_probability, new.log_probability], axis=1),
            finished=tf.concat([complete.finished, finished], axis=1),
        )
        return take(candidates, tf.math.top_k(candidates.score, self.beam).indices)

    def _best_live(self, new: LiveHypotheses, is_complete: tf.Tensor) -> LiveHypotheses:
        """Returns the best K of the new hypotheses (B, 2 K, ...) that are not complete."""
        log_probability = tf.where(is_complete, MASKED, new.log_probability)  # (B, 2 K)
        new = new._replace(log_probability=log_probability)
        return take(new, tf.math.top_k(log_probability, self.beam).indices)


def take(record: Record, indices: tf.Tensor) -> Record:
    """Returns the entries `indices` (B, M) of the tensors (B, N, ...) of a record."""
    return tf.nest.map_structure(lambda tensor: tf.gather(tensor, indices, batch_dims=1), record)


def best_continuations(
    likely: tf.Tensor, never: tf.Tensor, live: tf.Tensor, number: int
) -> Continuations:
    """Returns the best `number` Continuations of the K hypotheses of each sentence.

    A top-k over all K V sums would take longer than the decoder. The best are in the M blocks with
    the highest maxima: M is K more than `number`, because the maximum of each hypothesis's first
    block may be that of a token that is never chosen.

    Args:
      likely: log-probabilities (B, K, V) of the next token, V a multiple of BLOCK.
      never: (V,), to be added.
      live: log-probabilities (B, K) of the hypotheses so far.
      number: at most K (V - 2).
    """
    beam, blocks = likely.shape[1], likely.shape[2] // BLOCK  # K, and V / BLOCK per hypothesis
    likely = tf.reshape(likely, (-1, beam, blocks, BLOCK))  # (B, K, V / BLOCK, BLOCK)
    maxima = tf.reduce_max(likely, axis=3) + live[..., tf.newaxis]  # (B, K, V / BLOCK)
    maxima = tf.reshape(maxima, (-1, beam * blocks))  # (B, K V / BLOCK)
    best_blocks = tf.math.top_k(maxima, min(number + beam, beam * blocks)).indices  # (B, M)
    block_parent, block = best_blocks // blocks, best_blocks % blocks  # (B, M)

    sums = tf.reshape(likely, (-1, beam * blocks, BLOCK))  # (B, K V / BLOCK, BLOCK)
    sums = tf.gather(sums, best_blocks, batch_dims=1)  # (B, M, BLOCK)
    sums += tf.gather(tf.reshape(never, (blocks, BLOCK)), block)
    sums += tf.gather(live, block_parent, batch_dims=1)[..., tf.newaxis]
    token = block[..., tf.newaxis] * BLOCK + tf.range(BLOCK)  # (B, M, BLOCK)
    parent = tf.broadcast_to(block_parent[..., tf.newaxis], tf.shape(token))  # (B, M, BLOCK)

    flat = (-1, best_blocks.shape[1] * BLOCK)  # (B, M BLOCK)
    best = tf.math.top_k(tf.reshape(sums, flat), number)  # (B, number)
    return Continuations(
        log_probability=best.values,
        parent=tf.gather(tf.reshape(parent, flat), best.indices, batch_dims=1),
        token=tf.gather(tf.reshape(token, flat), best.indices, batch_dims=1),
    )
