"""The pipeline: text to translations, as stages that fill in Sentences, in this order.

    split, protect, encode    sources.py          the text that the network reads, and its ids
    search                    candidates.py       translations of what it reads
    repair                    number_repair.py    numbers whose digits came out wrong
    place                     placement.py        terms that are missing
    estimate                  confidence.py       how sure it is, if the run is calibrated
    score tokens              tokens.py           if they are asked for
    emphasize                 letter_case.py      words that are in capitals among others
    put in                    hidden_spans.py     what the network has not read
    restore                   letter_case.py      the case of the source
                              n_best.py           what marks stand for
    align                     alignment.py        if word links are asked for
    join                      here                translations of lines from those of sentences

Everything that translates calls these functions; none of them calls TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence

from nmt.decoding import (
    alignment,
    candidates,
    confidence,
    consensus,
    given_pairs,
    hidden_spans,
    letter_case,
    n_best,
    number_repair,
    placement,
    sources,
    tokens,
)
from nmt.decoding.candidates import OnText
from nmt.decoding.context import Context
from nmt.decoding.sentence import Sentence, Translation


def translate(
    context: Context, chunk: Sequence[Sentence], scored: bool, on_text: OnText | None = None
) -> None:
    """Fills in the candidates of Sentences, and what the SearchOptions ask to know of the best.

    Args:
      scored: False if log-probabilities are of no interest.
      on_text: called with the text so far, after each step of the first search; see OnText. Then
        the chunk is one sentence.
    """
    if context.options.confidence:
        scored = scored or confidence.needs_scores(context.options)
    candidates.search(context, chunk, scored, on_text)
    number_repair.repair_numbers(context, chunk, scored)
    placement.place_phrases(context, chunk)
    candidates.find_targets(context, chunk)
    if context.estimator and context.options.has_confidence:
        confidence.estimate(context.estimator, chunk)
    if context.options.scores_tokens:
        tokens.score_tokens(context, chunk)
    letter_case.emphasize(context, chunk)
    hidden_spans.put_in_spans(context, chunk)
    letter_case.restore(context, chunk)
    n_best.restore_sentences(context, chunk)
    if context.options.alignments:
        align(context, chunk)


def align(context: Context, chunk: Sequence[Sentence]) -> None:
    """Fills in the links of the best candidate of each of the Sentences."""
    pairs = [(sentence.text, sentence.translation) for sentence in chunk]
    pair_links = given_pairs.links_of_normal_forms(context, pairs)
    for sentence, links in zip(chunk, pair_links, strict=True):
        sentence.links = links


def translate_lines(
    context: Context, lines: Sequence[str], prefixes: Sequence[str], scored: bool
) -> list[list[Sentence]]:
    """Returns the Sentences of each line, translated together.

    Args:
      prefixes: what the translation of each begins with; "" for anything.

    Raises:
      UserError: the run cannot use any.
    """
    split_lines = sources.read_lines(context, lines)
    sources.begin_lines(context, split_lines, prefixes)
    translate(context, [sentence for line in split_lines for sentence in line], scored)
    return split_lines


def join(context: Context, text: str, line: list[Sentence], scored: bool) -> list[Translation]:
    """Returns the Translations of a line, the best first."""
    options = context.options
    if options.sampling:
        translations = n_best.combine_samples(line)
    else:
        translations = n_best.combine_n_best(line, options.n_best)
    if options.mbr:
        translations = [consensus.choose(translations, bool(options.sampling))]
    best = translations[0]
    if options.alignments:
        match = context.tags.match(line[0].text)
        links = alignment.join_links(line, match[0] if match else "")
        best = best._replace(links=alignment.as_given(links, text, best.text))
    if options.scores_tokens:
        line_tokens = [token for sentence in line for token in sentence.tokens]
        best = best._replace(tokens=line_tokens)
    if options.confidence:
        best = best._replace(confidence=confidence.of_line(line))
    translations[0] = best
    if not scored:
        translations = [translation._replace(log_probability=None) for translation in translations]
    return translations
