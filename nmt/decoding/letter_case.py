"""The case of letters: read as the network knows the words, written as the source has them."""

from __future__ import annotations

from collections.abc import Sequence

from nmt.decoding.context import Context
from nmt.decoding.given_pairs import link_spans
from nmt.decoding.n_best import merge_equal_texts
from nmt.decoding.sentence import Sentence, SpanLink
from nmt.text.case import capitals
from nmt.text.learned_words import AS_FOUND, SENTENCE, in_case


def read(context: Context, sentence: Sentence) -> None:
    """Fills in the text that the network reads, and what case its translation is to have."""
    text = sentence.source_text
    match = context.tags.match(text)
    begin = match.end() if match else 0
    reading = context.words.read(text[begin:])
    sentence.hidden = sentence.hidden._replace(text=text[:begin] + reading.text)
    sentence.case = reading.case
    sentence.emphasized = tuple((begin + start, begin + end) for start, end in reading.emphasized)


def as_written(context: Context, sentence: Sentence, text: str) -> str:
    """Returns a translation, or the beginning of one, in the case of its source.

    What the user has it begin with stays, and a term of the glossary with which it begins.
    """
    prefix = sentence.prefix_text if sentence.given_prefix else ""
    if sentence.case == SENTENCE:
        terms = [
            target for term in sentence.terms for target in (term.original, *term.other_targets)
        ]
        prefix = prefix or next(filter(text.startswith, terms), "")
        return text if prefix else in_case(text, SENTENCE, context.target_language)
    if not text.startswith(prefix):
        return text
    return prefix + in_case(text[len(prefix) :], sentence.case, context.target_language)


def emphasize(context: Context, chunk: Sequence[Sentence]) -> None:
    """Writes words in capitals that are linked to such words of the source: a stage."""
    places = [
        (sentence, rank)
        for sentence in chunk
        if sentence.emphasized
        for rank in range(len(sentence.candidates))
    ]
    pairs = [(sentence.source_text, sentence.candidates[rank].text) for sentence, rank in places]
    for (sentence, rank), links in zip(places, link_spans(context, pairs), strict=True):
        emphasized = {link.target for link in links if _is_emphasized(link, sentence)}
        unemphasized = {link.target for link in links if not _is_emphasized(link, sentence)}
        targets = (
            emphasized - unemphasized or emphasized
        )  # no article that both words are linked to
        text = sentence.candidates[rank].text
        for start, end in sorted(targets, reverse=True):  # a word in capitals may be longer
            word = capitals(text[start:end], context.target_language)
            text = text[:start] + word + text[end:]
        sentence.candidates[rank] = sentence.candidates[rank].with_text(text)


def _is_emphasized(link: SpanLink, sentence: Sentence) -> bool:
    """Returns whether a link leads from a word in capitals to one that the user has not given."""
    source_start, source_end = link.source
    is_given = link.target[0] < len(sentence.prefix_text)
    return not is_given and any(
        start < source_end and source_start < end for start, end in sentence.emphasized
    )


def restore(context: Context, chunk: Sequence[Sentence]) -> None:
    """Gives candidates the case of their source: a stage of the pipeline."""
    number = None if context.options.sampling else context.options.n_best
    for sentence in chunk:
        if sentence.case == AS_FOUND:
            continue
        candidates = [
            candidate._replace(text=as_written(context, sentence, candidate.text))
            for candidate in sentence.candidates
        ]
        sentence.candidates = merge_equal_texts(candidates, number) if number else candidates
