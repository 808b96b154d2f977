"""Documents as people have them: their text is translated, everything else stays byte for byte.

    translated = translate_document("page.html", content, translate)  # logs what stays, and why

A format is a module with a function `parse(content, ending, options)`, which returns a Document:
its segments, and a function that writes the file again with their translations. See document.py,
and report.py for what became of the texts.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.documents.document import Document, FormatOptions
from nmt.documents.report import make_report
from nmt.documents.tag_placement import TranslatedText
from nmt.keywords import suggests_keywords
from nmt.messages import log
from nmt.resumable_output import FinishedText


class Format(NamedTuple):
    """A format of documents."""

    module: str  # in this package
    options: tuple[str, ...] = ()  # fields of FormatOptions that it has


FORMATS = {  # by the ending of a file's name
    ".txt": Format("plain_text"),
    ".text": Format("plain_text"),
    ".srt": Format("subtitles"),
    ".vtt": Format("subtitles"),
    ".html": Format("html_pages"),
    ".htm": Format("html_pages"),
    ".xhtml": Format("html_pages"),
    ".md": Format("markdown"),
    ".markdown": Format("markdown"),
    ".docx": Format("word"),
    ".csv": Format("tables", ("columns",)),
    ".tsv": Format("tables", ("columns",)),
    ".xlsx": Format("spreadsheets", ("columns", "sheet")),
}
DEFAULT_OPTIONS = FormatOptions()


def endings_with(option: str) -> list[str]:
    """Returns the endings of the formats that have an option."""
    return [ending for ending, form in FORMATS.items() if option in form.options]


def format_of(name: str) -> str:
    """Returns the ending of a file's name that is one of FORMATS; a UserError if none is."""
    ending = Path(name).suffix.lower()
    if ending not in FORMATS:
        raise UserError(
            f"{name}: is not a document that can be translated ({', '.join(FORMATS)}); rename it, "
            "or convert it"
        )
    return ending


def parse_document(name: str, content: bytes, options: FormatOptions = DEFAULT_OPTIONS) -> Document:
    """Returns the Document of a file, of which the ending of the name is the format.

    A UserError if the format is unknown, or the content is not of the format.
    """
    ending = format_of(name)
    module = importlib.import_module(f"nmt.documents.{FORMATS[ending].module}")
    try:
        document: Document = module.parse(content, ending, options)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    return document


@suggests_keywords
def translate_document(
    name: str,
    content: bytes,
    translate: Callable[[list[str]], Iterable[str | TranslatedText]],
    *,
    columns: str | None = None,
    sheet: str | None = None,
    target_language: str | None = None,
    source_language: str | None = None,
) -> bytes:
    """Returns the content of a file with its text translated; logs a warning if text stays.

    Args:
      name: of the file, whose ending is the format: one of FORMATS.
      content: of the file.
      translate: a function of texts that returns a translation of each, such as what
        `load_translator` returns: a string, or a Translation, whose links say where tags belong
        (docs/documents.md); without them, tags keep their relative positions. For a name that is
        not translated, texts hold a character of private use.
      columns: of a table, what to translate: names in the first line, or numbers from 1, with
        commas between them. A .csv and a .tsv need it; of an .xlsx, None is for all.
      sheet: of an .xlsx, the only one to translate; None for all.
      target_language: a code such as "en". In .html, elements whose `lang` it is stay as they are.
      source_language: a code. In .html, elements whose `lang` is another one stay, too, and its
        rules say where a sentence ends at a tag without a space.

    Raises:
      UserError: the format is unknown, the content is not of the format, or the format has no such
        option.
      TypeError: there is no such argument.
    """
    options = FormatOptions(columns, sheet, target_language, source_language)
    for option, value in {"columns": columns, "sheet": sheet}.items():
        endings = endings_with(option)
        if value is not None and format_of(name) not in endings:
            raise UserError(f"{name}: {option} is for {', '.join(endings)}; leave it out")
    document = parse_document(name, content, options)
    translations = [
        FinishedText(translation, links=None) if isinstance(translation, str) else translation
        for translation in translate([segment.text for segment in document.segments])
    ]
    report = make_report(document, translations)
    if not report.is_complete:
        log.warning(f"{name}: {report}")
    return document.write(translations)
