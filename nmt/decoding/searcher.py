"""The search of a Transformer as TensorFlow functions, which are traced once."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.decoding.attention import KINDS
from nmt.decoding.engines.engine import OnToken
from nmt.decoding.hypotheses import Hypotheses, length_penalty
from nmt.decoding.likelihoods import TokenLikelihoods, log_probabilities, token_likelihoods
from nmt.decoding.padding import pad
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import search
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.step_reports import StepReports
from nmt.decoding.tracing import TracedOnce
from transformer_model import END, Transformer, greedy_translate

LOGIT_TOKENS = 2048  # whose logits are computed at a time

IDS = tf.TensorSpec((None, None), tf.int32)  # (B, L)
SAMPLES = tf.TensorSpec((None,), tf.int32)  # (B,)
NUMBER = tf.TensorSpec((), tf.int32)


class Searcher:
    """Searches for the token ids of translations, given the token ids of sources.

    Args:
      ensemble: other Transformers of the same vocabulary; their probabilities are averaged.
    """

    def __init__(
        self,
        transformer: Transformer,
        options: SearchOptions,
        ensemble: tuple[Transformer, ...] = (),
    ):
        self.transformer, self.options = transformer, options
        self._members = (transformer, *ensemble)
        layers = len(transformer.decoder.dec_layers)
        self.last_cross_attention = KINDS["cross"].layer.format(layers)  # name of its weights
        self._reports = StepReports()
        self.searched = TracedOnce(self._search, IDS, SAMPLES, IDS, NUMBER)
        self.log_probabilities = TracedOnce(partial(log_probabilities, self._members), IDS, IDS)
        self.cross_attention = TracedOnce(self._cross_attention, IDS, IDS)
        self._likelihoods_of_rows = TracedOnce(
            partial(token_likelihoods, self._members), IDS, IDS, NUMBER
        )

    # ---- What TensorFlow traces: source ids `inp` (B, S) and target ids `tar` (B, 1 + T) ----

    def _search(
        self,
        inp: tf.Tensor,
        samples: tf.Tensor,
        prefix: tf.Tensor,
        report: tf.Tensor,
        *,
        scored: bool,
        reports: bool = False,
        has_prefixes: bool = False,
    ) -> Hypotheses:
        """Returns the Hypotheses of the search, or of the samples, that the options choose.

        Args:
          inp: source ids (B, S).
          samples: numbers (B,) of the samples.
          prefix: ids (B, P) that the translations begin with.
          report: the number of the function that each step reports to; see StepReports.
          reports: whether steps report. Else no step calls Python.
          has_prefixes: whether `prefix` holds any. Else no step looks for it, which would take a
            tenth more time for a single sentence.
        """
        restrictions = Restrictions.of(
            self.options,
            prefix=prefix if has_prefixes else None,
            on_step=self._reports.on_step(report) if reports else None,
        )
        transformers = self._members if len(self._members) > 1 else self.transformer
        return search(transformers, inp, self.options, restrictions, samples, scored)

    def _cross_attention(self, inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
        """Returns the attention weights (B, T, S) of the last layer, the mean of its heads."""
        _, weights = self.transformer((inp, tar), training=False)
        return tf.reduce_mean(weights[self.last_cross_attention], axis=1)

    # ---- What the engine calls ----

    def token_likelihoods(self, inp: np.ndarray, tar: tf.Tensor, number: int) -> TokenLikelihoods:
        """Returns what likelihoods.token_likelihoods does, as NumPy arrays, a few rows at a time.

        A short source may have a long translation, and each token has as many logits as there are
        vocabulary entries.
        """
        rows = max(1, LOGIT_TOKENS // tar.shape[1])
        parts = [
            self._likelihoods_of_rows(inp[start : start + rows], tar[start : start + rows], number)
            for start in range(0, len(inp), rows)
        ]
        return TokenLikelihoods(*map(np.concatenate, zip(*parts, strict=True)))

    def search(
        self,
        sources: list[list[int]],
        prefixes: Sequence[list[int]] = (),
        samples: Sequence[int] = (),
        scored: bool = True,
        on_token: OnToken | None = None,
    ) -> Hypotheses:
        """Returns Hypotheses of `sources`, B lists of ids.

        Args:
          sources: ids, START first and END last.
          prefixes: the ids that each translation begins with, B lists, or none at all.
          samples: for sampling, the number of each sample of its source; 0 if not given.
          scored: False if scores and log-probabilities are of no interest.
          on_token: see engine.OnToken; then there is one source.
        """
        reports, has_prefixes = on_token is not None, any(prefixes)
        if self.options.plain:
            if has_prefixes or reports:
                raise UserError("--plain takes no prefix, and reports no steps; leave it out")
            return self._search_plainly(pad(sources))
        if reports:  # one graph for all: tracing takes longer than a step that looks for nothing
            has_prefixes = True
        needs_scores = self.options.beam > 1 or has_prefixes
        with self._reports.number_of(on_token) as number:
            return self.searched(
                pad(sources),
                np.array(samples or [0] * len(sources), np.int32),
                pad(prefixes or [[]] * len(sources)),
                number,
                scored=scored or needs_scores or self.options.repetition is not None,
                reports=reports,
                has_prefixes=has_prefixes,
            )

    def _search_plainly(self, inp: np.ndarray) -> Hypotheses:
        """Returns Hypotheses of source ids `inp` (B, S), by the greedy loop of the story."""
        ids = greedy_translate(self.transformer, inp)  # (B, 1 + T)
        log_probabilities = self.log_probabilities(inp, ids)[:, tf.newaxis]  # (B, 1)
        tokens = tf.math.count_nonzero(ids, axis=1, keepdims=True) - 1  # (B, 1), without START
        scores = log_probabilities / length_penalty(tokens, self.options.length_penalty)
        finished = tf.reduce_any(ids == END, axis=1, keepdims=True)  # (B, 1)
        return Hypotheses(ids[:, tf.newaxis], scores, log_probabilities, finished)
