"""The engine of CTranslate2: the same searches on a CPU, in a process without TensorFlow.

CTranslate2 (https://github.com/OpenNMT/CTranslate2) runs converted weights; runs/conversion.py
writes them. What it does otherwise than the engine of TensorFlow is evened out here:

- It stops a beam once as many hypotheses have ended as the beam is wide, and divides their
  log-probabilities by a power of the length. With more patience it has those that the definition
  finds, too; they are ranked here by its length penalty.
- It spreads the probability of forbidden tokens over the others. Where log-probabilities are asked
  for, hypotheses are scored anew.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nmt import UserError
from nmt.decoding.batch_sizes import Batching
from nmt.decoding.engines.engine import (
    Converted,
    Engine,
    EngineSettings,
    Hypothesis,
    IdPair,
    OnToken,
    PairAttention,
    PairScore,
    Request,
    TokenLikelihood,
)
from nmt.decoding.search_options import EXTRA_TOKENS, SearchOptions, length_penalty
from nmt.machine import cores
from nmt.text.special_tokens import END, PAD, START

if TYPE_CHECKING:
    from collections.abc import Callable

    import ctranslate2
    import numpy as np

    from nmt.text.tokenizer import Tokenizer
    from transformer_model import Transformer

MAKER = "ctranslate2_model 1"  # of converted weights; another number where they change
# Times the beam: so many hypotheses end before a search does. Measured on TED and the bundled
# corpus, beams of 4 and 5: with 1.5 the best is that of the definition in 99 to 100% of the lines
# (with 1 in 78 to 98%), with 4 the list of all in 99%.
PATIENCE = 1.5
PATIENCE_FOR_SCORES = 2.0  # equal texts of a beam add up
PATIENCE_FOR_LISTS = 4.0


@functools.cache
def load(converted: Converted, threads: int) -> ctranslate2.Translator:
    """Returns the Translator of converted weights, which all engines of a process share.

    Args:
      threads: batches translated in parallel.

    Raises:
      UserError: the folder is damaged.
    """
    import ctranslate2

    try:
        return ctranslate2.Translator(
            str(converted.folder), device="cpu", compute_type=converted.quantization or "float32",
            inter_threads=threads, intra_threads=1,
        )  # fmt: skip
    except (RuntimeError, ValueError) as error:
        raise UserError(
            f"{converted.folder}: {error}; remove this folder, it will be made again"
        ) from None


class CTranslate2Engine:
    """See engine.Engine, which says what the methods do.

    Args:
      options: of the search, to which choice.py finds no obstacle.
      definition: returns the engine of TensorFlow, for the attention of all layers.
    """

    searches_at_once = 2  # its threads are its own: Python is free while they search

    def __init__(
        self,
        converted: Converted,
        tokenizer: Tokenizer,
        options: SearchOptions,
        settings: EngineSettings,
        definition: Callable[[], Engine],
    ):
        options.check()
        settings.check()
        self.options = options
        self._workers = settings.workers or cores()
        self._translator = load(converted, self._workers)
        target = tokenizer.target
        self._source_names = tokenizer.tokens(range(tokenizer.vocab_size))  # by id
        self._names = target.tokens(range(target.vocab_size))  # of targets
        self._ids = {name: number for number, name in enumerate(self._names)}
        self._batching = Batching(settings.rows, options.beam)
        self._pair_batching = Batching(settings.rows, 1)
        self._definition = functools.cache(definition)

    @property
    def transformer(self) -> Transformer:
        return self._definition().transformer

    # ---- Search ----

    def search(
        self, requests: Sequence[Request], scored: bool = True, on_token: OnToken | None = None
    ) -> list[list[Hypothesis]]:
        if on_token is not None and len(requests) != 1:
            raise ValueError(f"on_token is of one request, not of {len(requests)}")
        begun = self._batching.results(
            requests, lambda batch: self._begin(batch, scored, on_token), at_once=self._workers
        )
        lists = [
            self._ranked(self._read(request, result))
            for request, result in zip(requests, begun, strict=True)
        ]
        rescored = [
            number
            for number, request in enumerate(requests)
            if scored or (len(lists[number]) > 1 and request.prefix)  # which counts as 0
        ]
        self._score_anew(requests, lists, rescored)
        for number in rescored:
            lists[number] = self._ranked(lists[number])
        if on_token is not None:  # the end of the search, which may differ from the last step
            on_token(lists[0][0].ids)
        return lists

    def _begin(self, batch: list[Request], scored: bool, on_token: OnToken | None) -> list[Any]:
        """Starts to search for a batch. Returns a result for each of the Requests.

        Args:
          scored: whether log-probabilities are of interest, to which equal texts of a beam add up.
        """
        beam, patience = self.options.beam, 1.0
        if beam > 1 and self.options.n_best > 1:
            patience = PATIENCE_FOR_LISTS
        elif beam > 1 and scored:
            patience = PATIENCE_FOR_SCORES
        elif beam > 1 and self.options.length_penalty:  # without one, the first that ends is best
            patience = PATIENCE
        report = None
        if on_token is not None and beam == 1:
            report = self._reporter(on_token)
        return self._translator.translate_batch(
            [self._source_tokens(request.source) for request in batch],
            target_prefix=[self._tokens(request.prefix) for request in batch],
            beam_size=beam,
            patience=patience,
            num_hypotheses=1 if patience == 1 else round(patience * beam),
            length_penalty=0,
            suppress_sequences=[[self._names[token]] for token in (PAD, START)],
            max_input_length=0,
            min_decoding_length=0,  # the likeliest translation may be empty
            max_decoding_length=max(map(length_limit, batch)),
            return_scores=True,  # 3% of a greedy search
            return_end_token=True,
            asynchronous=report is None,
            callback=report,
        )

    def _reporter(self, on_token: OnToken) -> Callable[[Any], bool]:
        """Returns what CTranslate2 calls after each token of prefix and search, which True ends."""
        ids = [START]

        def report(step: Any) -> bool:
            ids.append(step.token_id)
            return not on_token(ids.copy())

        return report

    def _read(self, request: Request, result: Any) -> list[Hypothesis]:
        """Returns the Hypotheses of a result, which may still be searched for."""
        ended = result if hasattr(result, "hypotheses") else result.result()
        limit = length_limit(request)  # that of the batch may be higher
        hypotheses = []
        for names, log_probability in zip(ended.hypotheses, ended.scores, strict=True):
            ids = [START, *map(self._ids.__getitem__, names[:limit])]
            hypotheses.append(self._hypothesis(ids, log_probability))
        return hypotheses

    def _hypothesis(self, ids: list[int], log_probability: float) -> Hypothesis:
        penalty = length_penalty(len(ids) - 1, self.options.length_penalty)
        return Hypothesis(ids, log_probability, log_probability / penalty, ids[-1] == END)

    def _ranked(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        """Returns as many hypotheses as the beam is wide, the best first."""
        return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)[: self.options.beam]

    def _score_anew(
        self, requests: Sequence[Request], lists: list[list[Hypothesis]], numbers: list[int]
    ) -> None:
        """Sets log-probabilities, and scores, to those of a pass over the ids."""
        places = [(number, rank) for number in numbers for rank in range(len(lists[number]))]
        pairs = [
            IdPair(requests[number].source, lists[number][rank].ids) for number, rank in places
        ]
        for (number, rank), score in zip(places, self.score(pairs), strict=True):
            ids = lists[number][rank].ids
            lists[number][rank] = self._hypothesis(ids, score.log_probability)

    # ---- Given pairs ----

    def score(
        self, pairs: Sequence[IdPair], tokens: bool = False, alternatives: int = 0
    ) -> list[PairScore]:
        tokens = tokens or alternatives > 0

        def begin(batch: list[IdPair]) -> list[Any]:
            return self._translator.score_batch(
                [self._source_tokens(pair.source) for pair in batch],
                [self._tokens(without_ends(pair.target)) for pair in batch],
                max_input_length=0,
                asynchronous=True,
            )

        scores = []
        begun = self._pair_batching.results(pairs, begin, at_once=self._workers)
        for pair, result in zip(pairs, begun, strict=True):
            # Of a target that is not finished, END has no part.
            log_probabilities = result.result().log_probs[: len(pair.target) - 1]
            likelihoods = [TokenLikelihood(one, []) for one in log_probabilities]
            scores.append(PairScore(sum(log_probabilities), likelihoods if tokens else []))
        return [*self._with_alternatives(pairs, scores, alternatives)] if alternatives else scores

    def _with_alternatives(
        self, pairs: Sequence[IdPair], scores: list[PairScore], number: int
    ) -> Iterator[PairScore]:
        """Yields the scores of pairs with the likeliest tokens at each position, `number` of them.

        Logits come from a search, in which CTranslate2 rounds a little otherwise than in scoring.
        """
        import numpy as np

        results = self._passes(pairs, return_logits_vocab=True)
        for score, result in zip(scores, results, strict=True):
            tokens = []
            for likelihood, logits in zip(score.tokens, result.logits[0], strict=True):
                likely = np.asarray(logits, np.float64)  # (V,)
                likely -= np.logaddexp.reduce(likely)
                best = np.argsort(-likely, kind="stable")[:number].tolist()
                alternatives = [(token, float(likely[token])) for token in best]
                tokens.append(likelihood._replace(alternatives=alternatives))
            yield score._replace(tokens=tokens)

    def attend(self, pairs: Sequence[IdPair], every_layer: bool = False) -> list[PairAttention]:
        if every_layer:
            return self._definition().attend(pairs, every_layer)
        results = self._passes(pairs, return_attention=True)
        return [
            PairAttention(_attention_of(result, pair), {})
            for pair, result in zip(pairs, results, strict=True)
        ]

    def _passes(self, pairs: Sequence[IdPair], **returned: bool) -> list[Any]:
        """Returns the result of a pass over each pair: what is `returned` of each target token.

        A search with the target as its prefix, but for the last token, which it need not find.
        """
        numbers_by_length = collections.defaultdict(list)
        for number, pair in enumerate(pairs):
            numbers_by_length[len(pair.target)].append(number)

        def begin(batch: list[IdPair]) -> list[Any]:  # of one length
            return self._translator.translate_batch(
                [self._source_tokens(pair.source) for pair in batch],
                target_prefix=[self._tokens(pair.target[1:-1]) for pair in batch],
                beam_size=1,
                max_input_length=0,
                min_decoding_length=0,  # else END is impossible at the first position
                max_decoding_length=len(batch[0].target) - 1,
                return_end_token=True,
                asynchronous=True,
                **returned,
            )

        begun: dict[int, Any] = {}
        for numbers in numbers_by_length.values():
            results = self._pair_batching.results([pairs[number] for number in numbers], begin)
            begun |= zip(numbers, results, strict=True)
        return [begun[number].result() for number in range(len(pairs))]

    # ---- Names of tokens ----

    def _source_tokens(self, ids: Iterable[int]) -> list[str]:
        return [*map(self._source_names.__getitem__, ids)]

    def _tokens(self, ids: Iterable[int]) -> list[str]:
        return [*map(self._names.__getitem__, ids)]


def _attention_of(result: Any, pair: IdPair) -> np.ndarray:
    """Returns the attention (T, S) of a pass; of an END alone, CTranslate2 has no row."""
    import numpy as np

    return np.array(result.attention[0], np.float32).reshape(-1, len(pair.source))


def length_limit(request: Request) -> int:
    """Returns the most tokens of a translation, after START: see restrictions.Restrictions."""
    return request.length + EXTRA_TOKENS


def without_ends(ids: list[int]) -> list[int]:
    """Returns ids without START and END."""
    return ids[1:-1] if ids[-1] == END else ids[1:]
