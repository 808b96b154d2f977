"""The engine of a network that predicts all tokens in one pass: see non_autoregressive.py."""

from collections.abc import Sequence

import tensorflow as tf

from nmt.decoding import non_autoregressive
from nmt.decoding.engines.engine import Hypothesis, IdPair, OnToken, PairAttention, Request
from nmt.decoding.engines.tensorflow import TensorFlowEngine
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.searcher import Searcher
from nmt.network.ctc import best_outputs
from nmt.network.parallel_tokens import decoder_input
from nmt.options import limitation
from transformer_model import PAD, START


class OnePassSearcher(Searcher):
    """Takes the likeliest output at each position, instead of a search."""

    def _search(
        self,
        inp: tf.Tensor,
        samples: tf.Tensor | None = None,
        prefix: tf.Tensor | None = None,
        report: tf.Tensor | None = None,
        *,
        scored: bool,
        reports: bool = False,
        has_prefixes: bool = False,
    ) -> Hypotheses:
        alpha = self.options.length_penalty
        return non_autoregressive.search(self.transformer, inp, alpha, scored)

    def _log_probabilities(self, inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
        return non_autoregressive.log_probabilities(self.transformer, inp, tar)


class OnePassEngine(TensorFlowEngine):
    """See engine.Engine, which says what the methods do; for arguments, see choice.py."""

    limitation = limitation(non_autoregressive=True)
    searches_at_once = 1
    searcher_type = OnePassSearcher

    def search(
        self, requests: Sequence[Request], scored: bool = True, on_token: OnToken | None = None
    ) -> list[list[Hypothesis]]:
        results = super().search(requests, scored)
        if on_token is not None:  # all tokens come at the same time
            on_token(results[0][0].ids)
        return results

    def _attention_of_every_layer(self, pair: IdPair) -> PairAttention:
        inp = tf.constant([pair.source])  # (1, S)
        tar_inp = decoder_input(inp)  # (1, L)
        logits, tensors = self.transformer((inp, tar_inp), training=False)
        # The outputs at all positions, blanks among them.
        outputs = [START, *best_outputs(logits, tar_inp != PAD)[0].numpy().tolist()]
        return self._pair_attention(tensors, outputs)
