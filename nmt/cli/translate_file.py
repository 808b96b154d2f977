"""The command `translate-file`: a document, of which the text alone is translated.

And `translate --format html` or `xml`, whose arguments, or all of stdin, are such documents.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt import CheckFailed, UserError, documents, output
from nmt.cli import flags, trained_runs
from nmt.cli.line_io import TranslationCheck
from nmt.decoding.confidence import DOUBTFUL
from nmt.documents import html_pages, review, xml_files
from nmt.documents.document import Document, FormatOptions, TextDocument, decode
from nmt.documents.report import Report, make_report
from nmt.documents.review import Doubt
from nmt.documents.tag_placement import written_text
from nmt.messages import log, plural
from nmt.progress import with_progress
from nmt.resumable_output import FinishedText, ResumableTexts

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.decoding.search_options import Protecting, SearchOptions
    from nmt.decoding.translator import Translator
    from nmt.runs.folder import Run
    from nmt.runs.loading import TrainedRun

HELP = "translate a document: .html, .docx, .xlsx, .srt, .csv, ..."
VARYING_SHAPES = True

MAX_BYTES = 100_000_000  # of a document, all of which is in memory
CHUNK_SEGMENTS = 256  # are translated together, then written to OUT.partial


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="IN", help=f"a file: {' '.join(documents.FORMATS)}")
    parser.add_argument("target", metavar="OUT", help="a new file of the same kind")
    flags.add_run(parser, several=True)
    flags.add_value(
        parser, "--columns", "COLUMNS", "of a table, what to translate: names in the first line, "
        "which then stays, or numbers from 1, with commas between them (of an .xlsx by default "
        "all)",
    )  # fmt: skip
    text = "of an .xlsx, the only sheet to translate (default: all)"
    flags.add_value(parser, "--sheet", "NAME", text)
    text = "list doubtful translations in this new .tsv, the worst first"
    flags.add_value(parser, "--review", "FILE", text, flags.path_to(".tsv"))
    text = f"of a translation that is not doubtful, 0 to 100 (default {DOUBTFUL:.0f})"
    flags.add_value(parser, "--min-confidence", "N", text, flags.number(float, 0, 100))
    flags.add_search(parser)
    flags.add_protection(parser)
    flags.add_engine(parser)


def run(args: Namespace) -> None:
    """Translates a document."""
    source, target = Path(args.source), Path(args.target)
    output.refuse_existing(target, "another file")
    check_review_flags(args)
    content = read_content(source, target)
    protecting = flags.read_protection(args)
    runs = trained_runs.find_runs(args)
    options = format_options(source.suffix.lower(), args, runs)
    document = documents.parse_document(str(source), content, options)
    with trained_runs.unchanged(runs) as digests:
        loaded = trained_runs.load_runs(args, runs)
    search_options = loaded.model.search_options._replace(confidence=bool(args.review))
    translator = document_translator(loaded, [document], protecting, search_options)
    settings = trained_runs.translation_settings(args, runs, digests)
    settings["links"] = translator.options.alignments
    if estimator := args.review and translator.context.estimator:
        settings["review"] = estimator._asdict()  # that each text has its confidence by
    with ResumableTexts(target, settings) as partial:
        translate_texts(document, translator, partial)
        translations = [partial.finished[segment.text] for segment in document.segments]
        report = make_report(document, translations, translator.protector)
        least = DOUBTFUL if args.min_confidence is None else args.min_confidence
        doubts = review.find_doubts(document, translations, report, least) if args.review else None
        try:
            content = document.write(translations)
        except UserError as error:
            raise UserError(f"{source}: {error}") from None
        finish(args, partial, content, doubts)
    report_translation(args, document, report, doubts)


def check_review_flags(args: Namespace) -> None:
    """Raises a UserError if flags of doubtful translations lack another, or FILE is not new."""
    if args.min_confidence is not None and not args.review:
        raise UserError("--min-confidence is for --review; give it, too")
    if args.review:
        output.refuse_existing(args.review, "another file with --review")
        if args.review.resolve() == Path(args.target).resolve():
            raise UserError(f"{args.review}: is OUT, too; name another file with --review")


def finish(
    args: Namespace, partial: ResumableTexts, content: bytes, doubts: list[Doubt] | None
) -> None:
    """Writes the file of --review, then OUT; neither if one of them cannot be written."""
    if doubts is None:
        partial.finish(content)
        return
    review.write(args.review, doubts)
    try:
        partial.finish(content)
    except BaseException:  # Ctrl-C, too
        args.review.unlink(missing_ok=True)
        raise


def read_content(source: Path, target: Path) -> bytes:
    """Returns the content of IN.

    Raises a UserError if it cannot be read, or OUT is named like a file of another kind.
    """
    ending = documents.format_of(source.name)
    if target.suffix.lower() != ending:
        raise UserError(f"{target}: must end in {ending} like {source}; name OUT so")
    try:
        size, mode = source.stat().st_size, source.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would never end
            raise UserError(f"{source}: is a pipe or a device; name a file")
        if size > MAX_BYTES:
            raise UserError(f"{source}: has more than {MAX_BYTES:,} bytes; split it")
        return source.read_bytes()
    except OSError as error:
        raise UserError(f"{source}: {error.strerror}; name a file that can be read") from None


def format_options(ending: str, args: Namespace, runs: Sequence[Run]) -> FormatOptions:
    """Returns the options of a format.

    Raises a UserError if a flag is one of other formats.
    """
    kinds = {"columns": "table", "sheet": "spreadsheet"}
    for name, kind in kinds.items():
        value = getattr(args, name)
        if value and name not in documents.FORMATS[ending].options:
            raise UserError(f"--{name} {value}: {args.source} is no {kind}; leave it out")
    source, target = known_languages(runs)
    return FormatOptions(args.columns, args.sheet, target, source)


def known_languages(runs: Sequence[Run]) -> tuple[str | None, str | None]:
    """Returns the codes of the source and the target language of runs; None if not one is known."""
    languages = runs[0].parameters.corpus.languages
    return (languages[0], languages[1]) if len(languages) == 2 else (None, None)


def translate_texts(document: Document, translator: Translator, partial: ResumableTexts) -> None:
    """Translates what `partial` does not yet hold of a document, with a progress bar."""
    texts = list(dict.fromkeys(segment.text for segment in document.segments))
    waiting = [text for text in texts if text not in partial.finished]
    if len(waiting) < len(texts):
        log.info(f"{partial.path}: holds {len(texts) - len(waiting)} of {len(texts)} texts")
    counts = translator.no_counts()
    results = translator.hypotheses(waiting, CHUNK_SEGMENTS, scored=False, counts=counts)
    pairs, done = zip(waiting, results, strict=True), len(texts) - len(waiting)
    for text, translations in with_progress(pairs, "text", initial=done, total=len(texts)):
        best = translations[0]
        partial.add(text, FinishedText(best.text, best.links, best.confidence))
    counts.warn(differences=False)


def report_translation(
    args: Namespace, document: Document, report: Report, doubts: list[Doubt] | None = None
) -> None:
    """Says in one line what became of the texts; with --check, names those that lost something.

    Args:
      doubts: the doubtful ones; None if nobody asked for them.

    With --strict, raises a CheckFailed if text stays that should not, or has other numbers.
    """
    if args.check or args.strict:
        for change in report.changes:
            log.warning(f"{document.place(change.segment)}: {change.difference}")
    if args.strict and not report.is_complete:
        raise CheckFailed(f"{args.target}: {report}")
    summary = str(report)
    if doubts is not None:
        summary += f"; {plural(len(doubts), 'text')} doubtful, listed in {args.review}"
    log.info(f"{args.target}: {summary}")


# ---- Markup, as arguments or on stdin ----


def read_markup(args: Namespace, runs: Sequence[Run]) -> list[TextDocument]:
    """Returns a document of each argument; without any, one of stdin.

    Raises a UserError if one is not of the format, or not UTF-8.
    """
    if not args.text and sys.stdin is None:
        raise UserError("stdin is closed; give markup as arguments, or a file: < FILE")
    contents = [os.fsencode(text) for text in args.text] or [sys.stdin.buffer.read()]
    name = "argument" if args.text else "stdin"
    source, target = known_languages(runs)
    parse_html = functools.partial(
        html_pages.document, target_language=target, source_language=source
    )
    parse = xml_files.fragment if args.format == "xml" else parse_html
    parsed = []
    for number, content in enumerate(contents, start=1):
        try:
            parsed.append(parse(decode(content)))
        except UserError as error:
            raise UserError(f"{name}{f':{number}' if args.text else ''}: {error}") from None
    return parsed


def check_markup_flags(args: Namespace) -> None:
    """Raises a UserError for flags that markup has no place for."""
    flags = {
        "--score": args.score,
        "--confidence": args.confidence,
        "--alignments": args.alignments,
        "--n-best": args.n_best > 1,
        "--mbr": args.mbr,
        "--prefix": args.prefix,
        "--prefixes": args.prefixes,
    }
    given = [flag for flag, value in flags.items() if value]
    if given:
        raise UserError(f"--format {args.format} prints markup: leave {given[0]} out")


def document_translator(
    loaded: TrainedRun,
    parsed: Sequence[Document],
    protecting: Protecting,
    options: SearchOptions,
    split: bool = True,
) -> Translator:
    """Returns the Translator of documents.

    Args:
      parsed: the documents. Where one has tags, translations have links.
    """
    has_markup = any(segment.has_markup for document in parsed for segment in document.segments)
    options = options._replace(alignments=has_markup)
    return loaded.model.text_translator(loaded.tokenizer, options, protecting, split)


def print_markup(args: Namespace, parsed: list[TextDocument], translator: Translator) -> None:
    """Prints documents in translation, and says on stderr what stays, and how many texts differ.

    With --strict, raises a CheckFailed if text stays that should not, or differs.
    """
    check = TranslationCheck(translator.protector, "text", args.check or args.strict)
    counts = translator.no_counts()
    segments = [segment for document in parsed for segment in document.segments]
    texts = [segment.text for segment in segments]
    results = translator.translate_chunks([texts], scored=False, counts=counts)
    translations = [result[0] for result in with_progress(results)]
    counts.warn(differences=False)
    for segment, translation in zip(segments, translations, strict=True):
        check.compare(segment.seen_text, written_text(segment.nodes, translation))
    reports = []
    for document in parsed:
        count = len(document.segments)
        sys.stdout.write(document.translated_text(translations[:count]))
        sys.stdout.write("\n" if args.text else "")
        report = make_report(document, translations[:count], translator.protector)
        reports.append(report._replace(changes=[], changed=None))  # which the check reports
        translations = translations[count:]
    sys.stdout.flush()
    for number, report in enumerate(reports, start=1):
        if report.left:
            log.warning(f"{f'argument {number}' if args.text else 'stdin'}: {report}")
    if args.strict and any(report.left and not report.is_complete for report in reports):
        raise CheckFailed("not all text is translated; see the lines before")
    check.report(args.strict)
