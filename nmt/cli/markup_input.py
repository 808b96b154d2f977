"""`translate --format html` and `xml`: arguments, or all of stdin, are markup."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt import CheckFailed, UserError
from nmt.cli import trained_runs
from nmt.cli.translation_check import TranslationCheck
from nmt.documents import html_pages, xml_files
from nmt.documents.document import Document, TextDocument, decode
from nmt.documents.inline import written_text
from nmt.documents.report import make_report
from nmt.messages import log

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.decoding.translator import Translator
    from nmt.runs.loading import TrainedRun

DOCUMENTS = {"html": html_pages.document, "xml": xml_files.fragment}


def read(args: Namespace) -> list[TextDocument]:
    """Returns a document of each argument; without any, one of stdin.

    Raises:
      UserError: one is not of the format, or not UTF-8.
    """
    if not args.text and sys.stdin is None:
        raise UserError("stdin is closed; give markup as arguments, or a file: < FILE")
    contents = [os.fsencode(text) for text in args.text] or [sys.stdin.buffer.read()]
    name = "argument" if args.text else "stdin"
    parsed = []
    for number, content in enumerate(contents, start=1):
        try:
            parsed.append(DOCUMENTS[args.format](decode(content)))
        except UserError as error:
            raise UserError(f"{name}{f':{number}' if args.text else ''}: {error}") from None
    return parsed


def check_flags(args: Namespace) -> None:
    """Raises a UserError for flags that markup has no place for."""
    flags = {
        "--score": args.score,
        "--alignments": args.alignments,
        "--n-best": args.n_best > 1,
        "--mbr": args.mbr,
        "--prefix": args.prefix,
        "--prefixes": args.prefixes,
    }
    given = [flag for flag, value in flags.items() if value]
    if given:
        raise UserError(f"--format {args.format} prints markup: leave {given[0]} out")


def document_translator(loaded: TrainedRun, parsed: Sequence[Document], **options) -> Translator:
    """Returns the Translator of documents.

    Args:
      loaded: the run.
      parsed: the documents. Where one has tags, translations have links; those of a
        non-autoregressive run have none, and its tags keep their relative positions.
      options: arguments of `Model.text_translator`.
    """
    has_markup = any(segment.has_markup for document in parsed for segment in document.segments)
    options["alignments"] = has_markup and not loaded.model.options["non_autoregressive"]
    return loaded.model.text_translator(loaded.tokenizer, **options)


def print_translations(
    args: Namespace, parsed: list[TextDocument], translator: Translator
) -> TranslationCheck:
    """Prints documents in translation, and says on stderr what stays. Returns the check of texts.

    Raises:
      CheckFailed: with --strict, text stays that should not.
    """
    check = TranslationCheck(translator.protector, "text", args.check or args.strict)
    counts = translator.no_counts()
    segments = [segment for document in parsed for segment in document.segments]
    texts = [segment.text for segment in segments]
    results = translator.translate_chunks(check.remember([texts]), scored=False, counts=counts)
    translations = [result[0] for result in trained_runs.with_progress(results)]
    counts.warn(differences=False)
    for segment, translation in zip(segments, translations, strict=True):
        check.compare(written_text(segment.nodes, translation))
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
    return check
