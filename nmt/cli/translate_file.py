"""The command `translate-file`: a document, of which the text alone is translated."""

from __future__ import annotations

import hashlib
import stat
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import params
from nmt import CheckFailed, UserError, documents, output
from nmt.cli import flags, markup_input, trained_runs
from nmt.cli.protection import add_protection_flags, read_protection
from nmt.documents.document import Document
from nmt.documents.partial import PartialTranslation
from nmt.documents.report import Report, make_report
from nmt.messages import log

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.decoding.translator import Translator
    from nmt.runs.loading import TrainedRun

HELP = "translate a document: .html, .docx, .srt, .csv and others"
VARYING_SHAPES = True

MAX_BYTES = 100_000_000  # of a document, all of which is in memory
CHUNK_SEGMENTS = 256  # are translated together, then written to OUT.partial


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="IN", help=f"a file: {' '.join(documents.FORMATS)}")
    parser.add_argument("target", metavar="OUT", help="a new file of the same kind")
    flags.add_run(parser, several=True)
    parser.add_argument(
        "--columns", type=flags.filled, metavar="COLUMNS", action=flags.Once,
        help="of a table, what to translate: names in the first line, which then stays, or "
        "numbers from 1, with commas between them",
    )  # fmt: skip
    parser.add_argument(
        "--mark", choices=documents.MARKS, action=flags.Once,
        help="of .po and XLIFF, how a translation is marked as that of a machine: for review (the "
        "default: the flag fuzzy, or a state), by a comment (.po), or not",
    )  # fmt: skip
    parser.add_argument(
        "--fuzzy", action="store_true",
        help="of .po and XLIFF, translate anew what is marked as fuzzy, or for review",
    )  # fmt: skip
    flags.add_parameters(parser, params.names(params.SEARCH), flags.THE_RUNS)
    add_protection_flags(parser)


def run(args: Namespace) -> None:
    """Translates a document."""
    source, target = Path(args.source), Path(args.target)
    output.refuse_existing(target, "another file")
    document = read_document(source, target, args)
    protected = read_protection(args)
    runs = trained_runs.find_runs(args)
    languages = runs[0].parameters.corpus.get("languages", [])
    documents.name_language(document, languages[1] if len(languages) == 2 else None)
    digests = [trained_runs.digest(run) for run in runs]
    loaded = trained_runs.load_runs(args, runs)
    trained_runs.check_unchanged(runs, digests)
    translator = markup_input.document_translator(loaded, [document], **protected)
    partial = PartialTranslation(target, settings(args, digests, loaded, translator))
    translate_texts(document, translator, partial)
    translations = [partial.translations[segment.text] for segment in document.segments]
    try:
        content = document.write(translations)
    except UserError as error:
        raise UserError(f"{source}: {error}") from None
    output.refuse_existing(target, "another file")  # which another process may have written
    output.write(target, content)
    partial.remove()
    report_translation(args, document, make_report(document, translations, translator.protector))


def read_document(source: Path, target: Path, args: Namespace) -> Document:
    """Returns the Document of IN.

    Raises:
      UserError: it cannot be read, or OUT is named like a file of another kind.
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
        content = source.read_bytes()
    except OSError as error:
        raise UserError(f"{source}: {error.strerror}; name a file that can be read") from None
    return documents.parse_document(str(source), content, **format_options(ending, args))


def format_options(ending: str, args: Namespace) -> dict[str, Any]:
    """Returns the options of a format, by name.

    Raises:
      UserError: a flag is one of other formats.
    """
    names = {"columns": documents.TABLES} | dict.fromkeys(("mark", "fuzzy"), documents.MESSAGES)
    options = {name: value for name in names if (value := getattr(args, name))}
    for name, value in options.items():
        if ending not in names[name]:
            flag = f"--{name}" if value is True else f"--{name} {value}"
            kind = "table" if name == "columns" else "file of messages"
            raise UserError(f"{flag}: {args.source} is no {kind}; leave it out")
    return options


def settings(
    args: Namespace, digests: list[str], loaded: TrainedRun, translator: Translator
) -> dict[str, Any]:
    """Returns what translations depend on, besides their source: for OUT.partial.

    Args:
      args: the parsed command line.
      digests: of the runs.
      loaded: the runs.
      translator: that of `loaded`.
    """
    glossary = Path(args.glossary).read_bytes() if args.glossary else b""
    return dict(
        runs=digests,
        checkpoint=args.checkpoint,
        search=loaded.model.search_options,
        protect=args.protection,
        patterns=args.patterns,
        glossary=hashlib.sha256(glossary).hexdigest(),
        links=translator.options.alignments,
    )


def translate_texts(
    document: Document, translator: Translator, partial: PartialTranslation
) -> None:
    """Translates what `partial` does not yet hold of a document, with a progress bar."""
    from tqdm import tqdm

    texts = list(dict.fromkeys(segment.text for segment in document.segments))
    waiting = [text for text in texts if text not in partial.translations]
    if len(waiting) < len(texts):
        log.info(f"{partial.path}: holds {len(texts) - len(waiting)} of {len(texts)} texts")
    counts = translator.no_counts()
    results = translator.hypotheses(waiting, CHUNK_SEGMENTS, scored=False, counts=counts)
    bar = tqdm(
        zip(waiting, results, strict=True), initial=len(texts) - len(waiting), total=len(texts),
        unit="text", file=sys.stderr, disable=None, leave=False,
    )  # fmt: skip
    try:
        for text, translations in bar:
            partial.add(text, translations[0])
        counts.warn(differences=False)
    except BaseException:
        log.info(f"{partial.path}: holds what is translated so far; the same command resumes it")
        raise
    finally:
        partial.close()


def report_translation(args: Namespace, document: Document, report: Report) -> None:
    """Says in one line what became of the texts; with --check, names those that lost something.

    Raises:
      CheckFailed: with --strict, text stays that should not, or has other numbers.
    """
    if args.check or args.strict:
        for change in report.changes:
            log.warning(f"{document.place(change.segment)}: {change.difference}")
    if args.strict and not report.is_complete:
        raise CheckFailed(f"{args.target}: {report}")
    log.info(f"{args.target}: {report}")
