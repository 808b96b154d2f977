"""Translating many lines fast: sorted by length, in parallel batches, returned in order.

Only a chunk of the lines is in memory at a time. A line may be split into sentences, each of which
is translated by itself: a model trained on sentences loses text of longer ones.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from concurrent import futures

import numpy as np
import tensorflow as tf

import params
from nmt import UserError
from nmt.decoding import alignment, non_autoregressive
from nmt.decoding.attention import Attention
from nmt.decoding.n_best import drawn, joined, merged
from nmt.decoding.repetition import Repetition
from nmt.decoding.sampling import Sampling
from nmt.decoding.searcher import Searcher, pad
from nmt.messages import log, plural
from nmt.text import sentences
from nmt.text.batches import MAX_SOURCE_TOKENS
from nmt.text.sentences import SPACE

CHUNK_LINES = 4096  # lines sorted by length at a time
BATCH_TOKENS = 2048  # padding included, of the longer side
NO_PREFIXES = itertools.repeat("")


class Translator:
    """A Transformer, its tokenizer, and the search for translations.

    Args:
      transformer: a Transformer.
      tokenizer: a Tokenizer.
      beam: hypotheses followed per sentence; 1 is greedy search.
      alpha: of the length penalty.
      n_best: translations returned per sentence, at most `beam`.
      rows: sentences per batch; None for as many as make BATCH_TOKENS tokens.
      workers: batches translated in parallel.
      fixed: the weights will not change, so the search for single sentences may be compiled.
      language: code of the source language, to split each line into sentences; None to leave lines
        as they are.
      symbols: words that, if they begin a line, belong to each of its sentences: language tags.
      trained_length: tokens per sentence that the Transformer was trained on; longer sentences
        cause a warning. None for no warning.
      sampling: how the `n_best` translations of a sentence are drawn at random; None for a search.
      ensemble: other Transformers of the same vocabulary; their probabilities are averaged.
      repetition: what a translation may repeat; None for anything.
      mbr: one of consensus.UTILITIES, to choose one of the `n_best` by; None for all of them.
      alignments: `hypotheses` yields (text, log-probability, links); see `align`.

    Raises:
      UserError: a number is out of its range.
    """

    def __init__(
        self,
        transformer,
        tokenizer,
        beam: int = params.BEAM,
        alpha: float = params.LENGTH_PENALTY,
        n_best: int = 1,
        rows: int | None = None,
        workers: int = 1,
        fixed: bool = True,
        language: str | None = None,
        symbols: tuple[str, ...] = (),
        trained_length: int | None = None,
        sampling: Sampling | None = None,
        ensemble: tuple = (),
        mbr: str | None = None,
        repetition: Repetition | None = None,
        alignments: bool = False,
    ):
        self.non_autoregressive = transformer.sizes["non_autoregressive"]
        if self.non_autoregressive and (max(beam, n_best) > 1 or ensemble or repetition):
            raise UserError(
                "the run is non-autoregressive: leave out --beam, --n-best, penalties, ensembles"
            )
        if repetition:
            repetition.check()
        if alignments and (n_best > 1 or self.non_autoregressive):
            raise UserError("only the best translation of an autoregressive run can be aligned")
        if mbr and n_best == 1:
            raise UserError("minimum Bayes risk chooses one of several: raise n_best (--n-best)")
        for name, number in (("beam", beam), ("n_best", n_best), ("workers", workers)):
            if number < 1:
                raise UserError(f"{name} is {number}; it must be at least 1")
        if sampling:
            sampling.check()
            if beam > 1 or self.non_autoregressive:
                raise UserError("sampling takes one token at a time: it needs a beam of 1")
        elif n_best > beam:
            raise UserError(
                f"n_best is {n_best}, and the beam {beam}: a beam of K finds K translations; raise "
                "the beam (--beam), or lower n_best (--n-best)"
            )
        self.transformer, self.tokenizer = transformer, tokenizer
        self.beam, self.n_best, self.rows = beam, n_best, rows
        self.language, self.trained_length = language, trained_length
        self.tags = sentences.tags(symbols)
        self.sampling, self.mbr, self.alignments = sampling, mbr, alignments
        self.searcher = Searcher(
            transformer, beam, alpha, n_best, fixed, sampling, ensemble, repetition
        )
        self.pool = futures.ThreadPoolExecutor(workers)

    def batches(self, indices, length):
        """Returns `indices` in lists, one per batch, those of the greatest `length` first."""
        waiting, batches = sorted(indices, key=length, reverse=True), []
        while waiting:
            rows = self.rows or max(1, BATCH_TOKENS // (length(waiting[0]) * self.beam))
            batches.append(waiting[:rows])
            del waiting[:rows]
        return batches

    def hypotheses(self, lines, at_a_time=CHUNK_LINES, prefixes=NO_PREFIXES):
        """Yields for each of `lines` (strings), in order, a list of (text, log-probability).

        There are up to `n_best` different texts, the best first; of samples, `n_best` in the order
        drawn, which may be equal. A line without tokens, such as an empty one, stays empty, with a
        log-probability of 0.

        Args:
          lines: an iterable of strings.
          at_a_time: lines that are collected, sorted by length and translated together.
          prefixes: what the translation of each line begins with, strings; "" for anything.
        """
        lines = iter(lines)
        chunks = iter(lambda: list(itertools.islice(lines, at_a_time)), [])
        return self.of_chunks(chunks, iter(prefixes))

    def of_chunks(self, chunks, prefixes=NO_PREFIXES):
        """Yields what `hypotheses` does; the lines of a chunk are translated together.

        Args:
          chunks: an iterable of lists of strings.
          prefixes: an iterator of what the translation of each line begins with.
        """
        total = too_long = cut = 0  # lines
        for chunk in chunks:
            parts = [self.parts(line) for line in chunk]
            sources = self.tokenizer.encode(sentence for line in parts for sentence, _ in line)
            forced = self.forced([*itertools.islice(prefixes, len(chunk))], map(len, parts))
            found = zip(map(len, sources), self.of_sources(sources, forced), strict=True)
            for line in parts:
                lengths, rows = zip(*itertools.islice(found, len(line)), strict=True)
                total += 1
                cut += max(lengths) > MAX_SOURCE_TOKENS
                too_long += max(lengths) > (self.trained_length or math.inf)
                spaces = [space for _, space in line]
                join = drawn if self.sampling else joined
                best = join(rows, spaces, self.n_best)
                if self.mbr:
                    from nmt.decoding import consensus  # and sacreBLEU, which others do without

                    best = [consensus.choose(best, self.mbr, bool(self.sampling))]
                if self.alignments:
                    own = [text for text, _ in line]
                    pairs = [*zip(own, (hypotheses[0][0] for hypotheses in rows), strict=True)]
                    best = [(*best[0], alignment.joined(pairs, self.align(pairs)))]
                yield best
        if too_long:
            log.warning(
                f"{too_long} of {plural(total, 'line')}: longer than the {self.trained_length} "
                "tokens that the run was trained on (--max-length); translations may lose text."
            )
        if cut:
            log.warning(
                f"{cut} of {plural(total, 'line')}: cut off after {MAX_SOURCE_TOKENS} tokens."
            )

    def parts(self, line):
        """Returns the sentences of a line, each with the white space after it."""
        if self.language is None:
            return [(line.strip(SPACE), "")]
        return sentences.split_tagged(line, self.language, self.tags)

    def forced(self, prefixes, sentences_per_line):
        """Returns the ids that the translation of each sentence begins with, often none.

        Args:
          prefixes: what the first sentence of each line begins with, a list of strings.
          sentences_per_line: numbers.
        """
        if self.non_autoregressive and any(prefixes):
            raise UserError("the run is non-autoregressive: leave --prefix out")
        found = []
        for text, number in itertools.zip_longest(prefixes, sentences_per_line):
            if text is None:
                raise UserError("there are fewer prefixes than lines; give one for each line")
            found += [text.strip(SPACE)] + [""] * (number - 1)
        return [ids[1:-1] for ids in self.tokenizer.encode(found)]  # without START and END

    def of_sources(self, sources, forced):
        """Returns rows of (text, log-probability, score) for each of `sources`, lists of ids.

        Args:
          forced: the ids that the translation of each begins with.
        """
        copies = self.n_best if self.sampling else 1
        sources = [ids[:MAX_SOURCE_TOKENS] for ids in sources for _ in range(copies)]
        forced = [ids[:MAX_SOURCE_TOKENS] for ids in forced for _ in range(copies)]
        lengths = list(map(len, sources))
        full = [index for index, length in enumerate(lengths) if length > 2]  # START, END
        batches = self.batches(full, lengths.__getitem__)
        each = map if len(batches) == 1 else self.pool.map

        def find(indices):
            rows, begun = ([side[i] for i in indices] for side in (sources, forced))
            return self.searcher.search(rows, begun, [i % copies for i in indices])

        found = [[("", 0.0, 0.0)] for _ in sources]
        for indices, best in zip(batches, each(find, batches), strict=True):
            ids, *numbers = (t.numpy() for t in (best.ids, best.log_probabilities, best.scores))
            texts = self.tokenizer.decode(ids.reshape(-1, ids.shape[-1]))
            texts = np.array(texts, object).reshape(ids.shape[:2])  # (B, N)
            rows = zip(*(each.tolist() for each in (texts, *numbers)), strict=True)
            for index, row in zip(indices, rows, strict=True):
                found[index] = merged(zip(*row, strict=True), self.n_best)
        groups = (found[i : i + copies] for i in range(0, len(found), copies))
        return [[row for rows in group for row in rows] for group in groups]

    def __call__(self, lines: Iterable[str]) -> Iterator[str]:
        """Yields one translation, of one line, for each of `lines` (strings), in order."""
        for best in self.hypotheses(lines):
            yield best[0][0]

    def score(self, pairs):
        """Yields the log-probability of each of `pairs` (strings) under the model, in order.

        Natural, of all tokens of the target, END included (forced decoding).

        Raises:
          UserError: a side of a pair is longer than MAX_SOURCE_TOKENS.
        """
        pairs, done = iter(pairs), 0
        while chunk := list(itertools.islice(pairs, CHUNK_LINES)):
            sources, targets = zip(*chunk, strict=True)
            sources = self.tokenizer.encode(line.strip(SPACE) for line in sources)
            targets = self.tokenizer.encode(line.strip(SPACE) for line in targets)
            lengths = list(map(max, map(len, sources), map(len, targets)))
            for number, length in enumerate(lengths, start=done + 1):
                if length > MAX_SOURCE_TOKENS:
                    raise UserError(
                        f"pair {number} has {length} tokens on a side; split it, for at most "
                        f"{MAX_SOURCE_TOKENS} can be scored"
                    )
            totals = np.zeros(len(chunk))
            for indices in self.batches(range(len(chunk)), lengths.__getitem__):
                batch = (pad([side[index] for index in indices]) for side in (sources, targets))
                totals[indices] = self.searcher.log_probabilities(*batch).numpy()
            yield from totals.tolist()
            done += len(chunk)

    def align(self, pairs):
        """Yields the links of each of `pairs` (strings): sorted (source word, target word) from 0.

        Words are those between spaces. See alignment.py.
        """
        if self.non_autoregressive:
            raise UserError("the run is non-autoregressive: its attention says nothing of words")
        for pair in pairs:
            (source,), (target,) = (self.tokenizer.encode([side.strip(SPACE)]) for side in pair)
            source, target = source[:MAX_SOURCE_TOKENS], target[:MAX_SOURCE_TOKENS]
            weights = self.searcher.cross_attention([source], [target[:-1]]).numpy()[0]
            tokens = [self.tokenizer.tokens(side[1:-1]) for side in (source, target)]
            yield alignment.links(weights[:-1, 1:-1], *tokens)  # without START and END

    def attend(self, line: str) -> Attention:
        """Translates a line. Returns its Attention, from one pass over the finished translation."""
        sources = self.tokenizer.encode([line.strip(SPACE)])
        inp = tf.constant(sources)  # (1, S)
        tar = self.searcher.search(sources).ids[:, 0]  # (1, 1 + L)
        tar = tar[:, : tf.math.count_nonzero(tar)]
        (text,) = self.tokenizer.decode(tar.numpy())
        tar_inp = tar[:, :-1]
        if self.non_autoregressive:
            tar_inp, _ = non_autoregressive.mask_targets(inp, tar[:, 1:])
        _, weights = self.transformer((inp, tar_inp), training=False)
        weights = {name: weight[0].numpy() for name, weight in weights.items()}
        if self.non_autoregressive:  # positions after END are masked tokens only
            length = tar.shape[1] - 1
            for name in weights:
                weights[name] = weights[name][:, :length] if "decoder" in name else weights[name]
                weights[name] = weights[name][..., :length] if "block1" in name else weights[name]
        tokens = map(self.tokenizer.tokens, (inp[0], tar[0]))
        return Attention(*tokens, weights, (line.strip(SPACE), text))
