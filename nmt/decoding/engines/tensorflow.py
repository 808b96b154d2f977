"""The engine of TensorFlow, which defines what the others must find: on any device."""

from collections.abc import Sequence
from concurrent import futures

import numpy as np
import tensorflow as tf

from nmt.decoding.batch_sizes import GPU_BATCH_TOKENS, Batching
from nmt.decoding.engines.engine import (
    EngineSettings,
    Hypothesis,
    IdPair,
    OnToken,
    PairAttention,
    PairScore,
    Request,
    TokenLikelihood,
)
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.padding import pad
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.searcher import Searcher
from transformer_model import PAD, Transformer


class TensorFlowEngine:
    """See engine.Engine, which says what the methods do; for arguments, see choice.py."""

    searches_at_once = 1

    def __init__(
        self,
        transformers: Sequence[Transformer],
        options: SearchOptions,
        settings: EngineSettings,
    ):
        first, *ensemble = transformers
        options.check()
        settings.check()
        self.options, self.transformer = options, first
        self.searcher = Searcher(first, options, tuple(ensemble))
        tokens = GPU_BATCH_TOKENS if tf.config.list_physical_devices("GPU") else None
        self._batching = Batching(settings.rows, options.beam, tokens)
        # The logits of pairs are computed at once, so that their batches stay small.
        self._pair_batching = Batching(settings.rows, options.beam)
        self._pool = futures.ThreadPoolExecutor(settings.workers)

    def search(
        self, requests: Sequence[Request], scored: bool = True, on_token: OnToken | None = None
    ) -> list[list[Hypothesis]]:
        if on_token is not None and len(requests) != 1:
            raise ValueError(f"on_token is of one request, not of {len(requests)}")

        def search_batch(batch: list[Request]) -> list[list[Hypothesis]]:
            sources, prefixes, samples = map(list, zip(*batch, strict=True))
            hypotheses = self.searcher.search(sources, prefixes, samples, scored, on_token)
            return hypothesis_lists(hypotheses)

        return self._batching.results(requests, search_batch, self._pool.map)

    def score(
        self, pairs: Sequence[IdPair], tokens: bool = False, alternatives: int = 0
    ) -> list[PairScore]:
        def score_batch(batch: list[IdPair]) -> list[PairScore]:
            inp, tar = padded(batch)  # (B, S), (B, 1 + T)
            if not tokens:
                totals = self.searcher.log_probabilities(inp, tar).numpy().tolist()  # (B,)
                return [PairScore(total, []) for total in totals]
            likelihoods = self.searcher.token_likelihoods(inp, tf.constant(tar), alternatives)
            scores = []
            for row, pair in enumerate(batch):
                token_scores = [
                    TokenLikelihood(
                        float(likelihoods.log_probabilities[row, position]),
                        list(
                            zip(
                                likelihoods.likeliest_ids[row, position].tolist(),
                                likelihoods.likeliest[row, position].tolist(),
                                strict=True,
                            )
                        ),
                    )
                    for position in range(len(pair.target) - 1)
                ]
                total = sum(score.log_probability for score in token_scores)
                scores.append(PairScore(total, token_scores))
            return scores

        return self._pair_batching.results(pairs, score_batch, self._pool.map)

    def attend(self, pairs: Sequence[IdPair], every_layer: bool = False) -> list[PairAttention]:
        if every_layer:
            return [self._attention_of_every_layer(pair) for pair in pairs]

        def attend_batch(batch: list[IdPair]) -> list[PairAttention]:
            inp, tar = padded(batch)  # (B, S), (B, 1 + T)
            cross = self.searcher.cross_attention(inp, tar[:, :-1]).numpy()  # (B, T, S)
            return [
                PairAttention(weights[: len(pair.target) - 1, : len(pair.source)], {})
                for pair, weights in zip(batch, cross, strict=True)
            ]

        return self._pair_batching.results(pairs, attend_batch, self._pool.map)

    def _attention_of_every_layer(self, pair: IdPair) -> PairAttention:
        inp, tar = tf.constant([pair.source]), tf.constant([pair.target])  # (1, S), (1, 1 + T)
        _, tensors = self.transformer((inp, tar[:, :-1]), training=False)
        weights = {name: heads[0].numpy() for name, heads in tensors.items()}
        cross = weights[self.searcher.last_cross_attention].mean(axis=0)  # (T, S)
        return PairAttention(cross, weights)


def padded(batch: list[IdPair]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the ids (B, S) and (B, 1 + T) of pairs."""
    return pad([pair.source for pair in batch]), pad([pair.target for pair in batch])


def hypothesis_lists(hypotheses: Hypotheses) -> list[list[Hypothesis]]:
    """Returns the Hypotheses of B sources as lists."""
    ids = hypotheses.ids.numpy()  # (B, N, 1 + L)
    log_probabilities = hypotheses.log_probabilities.numpy().tolist()  # (B, N)
    scores = hypotheses.scores.numpy().tolist()  # (B, N)
    finished = hypotheses.finished.numpy().tolist()  # (B, N)
    return [
        [
            Hypothesis(tokens[tokens != PAD].tolist(), *numbers)
            for tokens, *numbers in zip(*rows, strict=True)
        ]
        for rows in zip(ids, log_probabilities, scores, finished, strict=True)
    ]
