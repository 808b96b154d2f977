"""The search of a Transformer as TensorFlow functions: traced once, or compiled for one sentence.

For single sentences, as a server receives them, XLA compiles the search once enough of them have
come; for a few widths only, because TensorFlow never releases a compiled program.
"""

import collections
import math
from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.decoding import non_autoregressive
from nmt.decoding.attention import KINDS
from nmt.decoding.copied_symbols import CopiedSymbols
from nmt.decoding.hypotheses import Hypotheses, length_penalty
from nmt.decoding.search import sample, search
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.tokens import TokenLikelihoods, log_probabilities, token_likelihoods
from nmt.decoding.tracing import compiled, traced_once
from transformer_model import END, PAD, Transformer, greedy_translate

COMPILED_WIDTHS = 16, 32, 64  # tokens, padding included; 340 MiB in all, never released
EXTRA_POSITIONS = 8  # beyond that width; longer translations are searched for uncompiled
LOGIT_TOKENS = 2048  # whose logits are computed at a time
COMPILE_AFTER = 300  # single sentences of one width, to make up for the seconds of compiling

IDS = tf.TensorSpec((None, None), tf.int32)  # (B, L)
SAMPLES = tf.TensorSpec((None,), tf.int32)  # (B,)
NUMBER = tf.TensorSpec((), tf.int32)


def pad(rows: list[list[int]], step: int = 1) -> np.ndarray:
    """Lists of ids -> one array (B, L), PAD after the ids, L a multiple of `step`."""
    longest = max((len(row) for row in rows), default=0)
    length = math.ceil(max(1, longest) / step) * step
    return keras.utils.pad_sequences(rows, length, padding="post", value=PAD)


class Searcher:
    """Searches for the token ids of translations, given the token ids of sources.

    Its TensorFlow functions are `search_batch`, `search_batch_unscored`, `search_with_prefixes`,
    `search_with_symbols` and `search_compiled`; `search` chooses one of them.

    Args:
      transformer: a Transformer.
      options: SearchOptions.
      fixed: the weights will not change, so the search for single sentences may be compiled.
      ensemble: other Transformers of the same vocabulary; their probabilities are averaged.
      symbol_ids: of the vocabulary's symbols, which a translation holds as often as its source.
    """

    def __init__(
        self,
        transformer: Transformer,
        options: SearchOptions,
        fixed: bool = True,
        ensemble: tuple[Transformer, ...] = (),
        symbol_ids: range = range(0),
    ):
        self.transformer, self.options = transformer, options
        self._members = (transformer, *ensemble)
        self._may_compile = fixed and not ensemble
        self._non_autoregressive = transformer.config["non_autoregressive"]
        self._copied = CopiedSymbols(symbol_ids)
        self.sentences_by_width = collections.Counter()  # single ones

        self.search_batch = traced_once(self._search_batch, IDS)
        self.search_batch_unscored = traced_once(self._search_batch_unscored, IDS)
        self.search_with_prefixes = traced_once(self._search_with_prefixes, IDS, SAMPLES, IDS)
        self.search_with_symbols = traced_once(self._search_with_symbols, IDS, SAMPLES, IDS)
        self.search_compiled = compiled(transformer, self._search_compiled)
        self.log_probabilities = traced_once(self._log_probabilities, IDS, IDS)
        self.cross_attention = traced_once(self._cross_attention, IDS, IDS)
        self._likelihoods_of_rows = traced_once(self._token_likelihoods, IDS, IDS, NUMBER)

    # ---- What TensorFlow traces: source ids `inp` (B, S) and target ids `tar` (B, 1 + T) ----

    def _search_batch(self, inp: tf.Tensor) -> Hypotheses:
        return self._hypotheses(inp)

    def _search_batch_unscored(self, inp: tf.Tensor) -> Hypotheses:
        return self._hypotheses(inp, scored=False)

    def _search_with_prefixes(
        self, inp: tf.Tensor, samples: tf.Tensor, prefix: tf.Tensor
    ) -> Hypotheses:
        return self._hypotheses(inp, samples, prefix)

    def _search_with_symbols(
        self, inp: tf.Tensor, samples: tf.Tensor, prefix: tf.Tensor
    ) -> Hypotheses:
        return self._hypotheses(inp, samples, prefix, copied=self._copied)

    def _search_compiled(self, inp: tf.Tensor) -> Hypotheses:
        return self._hypotheses(inp, extra_positions=EXTRA_POSITIONS)

    def _hypotheses(
        self,
        inp: tf.Tensor,
        samples: tf.Tensor | None = None,
        prefix: tf.Tensor | None = None,
        extra_positions: int | None = None,
        scored: bool = True,
        copied: CopiedSymbols | None = None,
    ) -> Hypotheses:
        """Returns the Hypotheses of the search, or of the samples, that the options choose."""
        options = self.options
        alpha = options.length_penalty
        if self._non_autoregressive:
            return non_autoregressive.search(self.transformer, inp, alpha, scored)
        transformer = self._members if len(self._members) > 1 else self.transformer
        search_options = dict(extra_positions=extra_positions, prefix=prefix, copied=copied)
        if options.repetition:
            search_options["restrict"] = options.repetition.restrict
            scored = True  # a penalty multiplies log-probabilities
        if copied is None and self._copied.ids:
            search_options["restrict"] = self._restrict
        if options.sampling:
            return sample(transformer, inp, options.sampling, samples, alpha, **search_options)
        n_best = options.beam if options.n_best > 1 else 1  # several may be the same text
        return search(transformer, inp, options.beam, alpha, n_best, scored, **search_options)

    def _restrict(self, likely: tf.Tensor, ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
        """Returns `likely` (B, K, V) for a search whose sources hold no symbols: none can follow.

        Args:
          likely, ids, position: see hypotheses.unrestricted.
        """
        if self.options.repetition:
            likely = self.options.repetition.restrict(likely, ids, position)
        return self._copied.forbid(likely)

    def _log_probabilities(self, inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
        """Returns the log-probabilities (B,) of target ids."""
        if self._non_autoregressive:
            return non_autoregressive.log_probabilities(self.transformer, inp, tar)
        return log_probabilities(self._members, inp, tar)

    def _cross_attention(self, inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
        """Returns the attention weights (B, T, S) of the last layer, the mean of its heads."""
        _, weights = self.transformer((inp, tar), training=False)
        last_layer = KINDS["cross"].layer.format(self.transformer.config["decoder_layers"])
        return tf.reduce_mean(weights[last_layer], axis=1)

    def _token_likelihoods(
        self, inp: tf.Tensor, tar: tf.Tensor, number: tf.Tensor
    ) -> TokenLikelihoods:
        """Returns the TokenLikelihoods of target ids."""
        return token_likelihoods(self._members, inp, tar, number)

    # ---- What a Translator calls ----

    def token_likelihoods(self, inp: np.ndarray, tar: tf.Tensor, number: int) -> TokenLikelihoods:
        """Returns what tokens.token_likelihoods does, as NumPy arrays, a few rows at a time.

        A short source may have a long translation, and each token has as many logits as there are
        vocabulary entries.
        """
        rows = max(1, LOGIT_TOKENS // tar.shape[1])
        parts = [
            self._likelihoods_of_rows(inp[start : start + rows], tar[start : start + rows], number)
            for start in range(0, len(inp), rows)
        ]
        return TokenLikelihoods(
            np.concatenate([part.log_probabilities for part in parts]),
            np.concatenate([part.likeliest for part in parts]),
            np.concatenate([part.likeliest_ids for part in parts]),
        )

    def search(
        self,
        sources: list[list[int]],
        prefixes: Sequence[list[int]] = (),
        samples: Sequence[int] = (),
        scored: bool = True,
    ) -> Hypotheses:
        """Returns Hypotheses of `sources`, B lists of ids.

        For a single sentence and fixed weights, XLA is 2 to 3 times as fast. Compiling takes a few
        seconds per width, so the first sentences are translated without it, as are the rare
        ones beyond the widest. Batches, which keep a processor busy, gain nothing.

        Without a graph, a token takes tens of times as long, but none has to be traced: for a few
        tokens in all, that is faster. The option `traced` chooses.

        Args:
          sources: ids, START first and END last.
          prefixes: the ids that each translation begins with, B lists, or none at all.
          samples: for sampling, the number of each sample of its source; 0 if not given.
          scored: False if scores and log-probabilities are of no interest.
        """
        if self.options.plain:
            if any(prefixes):
                raise UserError("--plain takes no prefix; leave it out")
            return self._search_plainly(pad(sources))
        has_symbols = any(self._copied.are_in(source) for source in sources)
        if has_symbols or self.options.sampling or any(prefixes):
            samples = samples or [0] * len(sources)
            prefixes = prefixes or [[]] * len(sources)
            if has_symbols:
                return self.search_with_symbols(pad(sources), samples, pad(prefixes))
            return self.search_with_prefixes(pad(sources), samples, pad(prefixes))
        if len(sources) == 1 and self._may_compile:
            hypotheses = self._search_one_compiled(sources[0])
            if hypotheses is not None:
                return hypotheses
        if scored:
            return self.search_batch(pad(sources))
        if not self.options.traced and self.options.beam == 1:
            return self._search_batch_unscored(tf.constant(pad(sources)))
        return self.search_batch_unscored(pad(sources))

    def _search_one_compiled(self, source: list[int]) -> Hypotheses | None:
        """Returns the Hypotheses of one source by the compiled search, or None.

        None if the source is too wide, or one of the first of its width, or its translation too
        long.
        """
        widths = [width for width in COMPILED_WIDTHS if width >= len(source)]
        if not widths:
            return None
        width = widths[0]
        self.sentences_by_width[width] += 1
        if self.sentences_by_width[width] <= COMPILE_AFTER:
            return None
        hypotheses = self.search_compiled(pad([source], width))
        return hypotheses if hypotheses.ended.numpy().all() else None

    def _search_plainly(self, inp: np.ndarray) -> Hypotheses:
        """Returns Hypotheses of source ids `inp` (B, S), by the greedy loop of the story."""
        ids = greedy_translate(self.transformer, inp)  # (B, 1 + T)
        log_probabilities = self.log_probabilities(inp, ids)[:, tf.newaxis]  # (B, 1)
        tokens = tf.math.count_nonzero(ids, axis=1, keepdims=True) - 1  # (B, 1), without START
        scores = log_probabilities / length_penalty(tokens, self.options.length_penalty)
        finished = tf.reduce_any(ids == END, axis=1, keepdims=True)  # (B, 1)
        return Hypotheses(ids[:, tf.newaxis], scores, log_probabilities, finished)
