"""Excel's .xlsx: an archive of XML, of which cells of text are translated, each line by itself.

Formulas, numbers, dates, formats, charts and pictures stay, as all parts do that hold no such cell.
Most texts stand in one table for all sheets, and cells name their numbers there. A text that other
cells use, too, which are not translated, is written into the cell itself.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nmt import UserError
from nmt.documents.archive import ArchiveDocument, main_part, opened, relations
from nmt.documents.document import (
    DecodedText,
    FormatOptions,
    Left,
    Segment,
    Span,
    TextDocument,
    has_words,
)
from nmt.documents.markup import escape_text, unescape_text
from nmt.documents.nodes import Element, Node, Text, outer_spaces, plain_text
from nmt.documents.tables import choose_columns
from nmt.documents.xml_files import XmlTokens, decode_xml

WHAT = "an Excel file"
MAIN_PART = "xl/workbook.xml"  # where _rels/.rels names no other
UNTRANSLATED = re.compile(r"xl/(comments|charts|drawings)[^_]*\.xml")
DRAWN_TEXT = re.compile(r"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]*)</")


def content_of(name: str) -> str:
    """Returns the expression of the content of an element, up to the next tag of that name."""
    return rf"(?>(?:[^<]++|<(?!/?(?:\w+:)?{name}[\s/>]))*)"


STRING = re.compile(rf"<((?:\w+:)?)si(?:\s[^<>]*)?(?:/>|>({content_of('si')})</\1si>)")
ROW_OR_CELL = re.compile(
    r"<(?:\w+:)?row(?=[\s>/])[^<>]*>"
    r"|<(?P<prefix>(?:\w+:)?)c(?=[\s/>])(?P<attributes>[^<>]*?)"
    rf"(?:/>|>(?P<content>{content_of('c')})</(?P=prefix)c>)"
)
ATTRIBUTE = re.compile(r'\b([rt])="([^"]*)"')
ADDRESS = re.compile(r"([A-Z]{1,3})(\d{1,7})")
VALUE = re.compile(r"<(?:\w+:)?v(?:\s[^<>]*)?>([^<]*)</")
TEXT_NUMBER = re.compile(r"\d{1,9}")
FORMULA_ELEMENT = re.compile(r"<(?:\w+:)?f[\s>/]")
PHONETIC = re.compile(  # the reading of Japanese
    rf"<((?:\w+:)?)rPh(?=[\s>]){content_of('rPh')}</\1rPh>"
)
PIECE = re.compile(
    rf"<((?:\w+:)?)r>\s*+(?P<properties><\1rPr\s*/>|<\1rPr>{content_of('rPr')}</\1rPr>)?\s*+"
    r"<\1t(?:\s[^<>]*)?(?:/>|>(?P<text>[^<]*)</\1t>)\s*</\1r>"
    r"|<((?:\w+:)?)t(?:\s[^<>]*)?>(?P<plain>[^<]*)</\4t>"
)
CODE = re.compile(r"_x([0-9A-Fa-f]{4})_")  # of a character that XML lacks
AREA = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})\d{1,7}")

FORMULAS = "formulas"
OTHER_SHEETS = "on other sheets"
WITHOUT_COLUMNS = "on sheets without these columns"
NAMES_OF_COLUMNS = "that name the columns of a table, for formulas"
NOT_UNDERSTOOD = "in a form that is not understood"


class Cell(NamedTuple):
    """A cell of a sheet."""

    row: int  # from 1
    column: int  # from 1
    span: Span  # in the XML of the sheet
    prefix: str  # of the names of its elements
    attributes: str
    kind: str  # "s": the number of a text; "inlineStr"; "str": the result of a formula; or others
    content: str  # its XML

    @property
    def address(self) -> str:
        """Its name in the sheet, such as B3."""
        letters, number = "", self.column
        while number:
            number, letter = divmod(number - 1, 26)
            letters = chr(ord("A") + letter) + letters
        return f"{letters}{self.row}"

    @property
    def is_formula(self) -> bool:
        """Whether its value is computed."""
        return FORMULA_ELEMENT.search(self.content) is not None

    @property
    def text_number(self) -> int | None:
        """The number of its text in the table for all sheets; None if it has none there."""
        value = VALUE.search(self.content) if self.kind == "s" else None
        return int(value[1]) if value and TEXT_NUMBER.fullmatch(value[1]) else None


class Sheet(NamedTuple):
    """A sheet of the file."""

    name: str
    path: str  # in the archive
    decoded: DecodedText
    cells: list[Cell]
    headers: set[tuple[int, int]]  # rows and columns of cells that name the columns of a table


# ---- The text of a cell ----


class FormattedText(NamedTuple):
    """A text of one format."""

    properties: str  # the markup of the format; "" for that of the cell
    text: str


def read_runs(markup: str) -> list[FormattedText]:
    """Returns the text of a cell; none if it is not understood."""
    runs = []
    for piece in PIECE.finditer(PHONETIC.sub("", markup)):
        text = unescape_text(piece["plain"] or piece["text"] or "")
        text = CODE.sub(lambda code: chr(int(code[1], 16)), text.replace("_x000D_", ""))
        runs.append(FormattedText(piece["properties"] or "", text))
    return runs


def text_of(markup: str) -> str:
    """Returns what a cell shows."""
    return "".join(run.text for run in read_runs(markup))


class CellText:
    """The text of a cell, line by line; `wrap` turns new markup into what stands in the file."""

    def __init__(self, markup: str, prefix: str, wrap: Callable[[str], str]):
        self._prefix, self._wrap = prefix, wrap
        runs = read_runs(markup)
        lengths: Counter[str] = Counter()
        for run in runs:
            lengths[run.properties] += len(run.text.strip())
        self._usual = max(lengths, key=lengths.__getitem__, default="")  # the format of most of it
        self._lines: list[list[Node]] = [[]]
        for run in runs:
            for number, text in enumerate(run.text.split("\n")):
                if number:
                    self._lines.append([])
                if text:
                    self._lines[-1].append(self._node(run.properties, text))

    def _node(self, properties: str, text: str) -> Node:
        if properties == self._usual:
            return Text(text)
        return Element(self._start(properties), self._end, [Text(text)])

    def _start(self, properties: str) -> str:
        """Returns what stands before the text of a run."""
        return f'<{self._prefix}r>{properties}<{self._prefix}t xml:space="preserve">'

    @property
    def _end(self) -> str:
        return f"</{self._prefix}t></{self._prefix}r>"

    def segments(self, span: Span) -> Iterator[Segment]:
        """Yields the segments of lines with words; `span` is what the whole text replaces."""
        for number, line in enumerate(self._lines):
            if has_words(plain_text(line)):
                yield Segment(line, [span], self._writer(number))

    def _writer(self, number: int) -> Callable[[list[Node]], list[str]]:
        """Returns the function that writes a line: the whole text, as far as it is translated."""
        before, after = outer_spaces(self._lines[number])

        def write(nodes: list[Node]) -> list[str]:
            self._lines[number] = [Text(before), *nodes, Text(after)]
            return [self._wrap(self._markup())]

        return write

    def _markup(self) -> str:
        nodes: list[Node] = []
        for number, line in enumerate(self._lines):
            nodes += [Text("\n"), *line] if number else line
        if not self._usual and not any(isinstance(node, Element) for node in nodes):
            tag = f"{self._prefix}t"
            return f'<{tag} xml:space="preserve">{escaped(plain_text(nodes))}</{tag}>'
        return "".join(
            self._start(self._usual) + escaped(node.text) + self._end
            if isinstance(node, Text)
            else f"{getattr(node, 'start_tag', '')}{escaped(plain_text([node]))}{self._end}"
            for node in nodes
            if plain_text([node])
        )


def escaped(text: str) -> str:
    """Returns text as XML; what looks like the code of a character is not read as one."""
    return escape_text(CODE.sub(lambda code: f"_x005F{code[0]}", text))


# ---- Sheets ----


def column_number(letters: str) -> int:
    """Returns the number of a column, from 1: that of "AA" is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def find_cells(text: str) -> Iterator[Cell]:
    """Yields the cells in the XML of a sheet. One without an address follows the one before it."""
    row = column = 0
    for match in ROW_OR_CELL.finditer(text):
        attributes = dict(ATTRIBUTE.findall(match["attributes"] or match[0]))
        if match["attributes"] is None:
            number = attributes.get("r", "")
            row, column = int(number) if number.isdecimal() else row + 1, 0
            continue
        address = ADDRESS.fullmatch(attributes.get("r", ""))
        row = int(address[2]) if address else row
        column = column_number(address[1]) if address else column + 1
        yield Cell(
            row, column, Span(*match.span()), match["prefix"], match["attributes"],
            attributes.get("t", ""), match["content"] or "",
        )  # fmt: skip


def read_sheets(archive: zipfile.ZipFile, main: str) -> list[Sheet]:
    """Returns the sheets of cells, in their order."""
    related = {part.id: part for part in relations(archive, main)}
    names, sheets = {*archive.namelist()}, []
    for token in XmlTokens(decode_xml(archive.read(main)).text).tokens:
        ids = [value for name, value in token.attributes.items() if name.rpartition(":")[2] == "id"]
        part = related.get(ids[0] or "") if ids and token.name.endswith("sheet") else None
        if part and part.kind == "worksheet" and part.path in names:
            decoded = decode_xml(archive.read(part.path))
            cells = list(find_cells(decoded.text))
            headers = set(find_headers(archive, part.path))
            name = token.attributes.get("name") or part.path
            sheets.append(Sheet(name, part.path, decoded, cells, headers))
    return sheets


def find_headers(archive: zipfile.ZipFile, path: str) -> Iterator[tuple[int, int]]:
    """Yields row and column of the cells that name the columns of the tables of a sheet."""
    names = {*archive.namelist()}
    for part in relations(archive, path):
        if part.kind == "table" and part.path in names:
            table = XmlTokens(decode_xml(archive.read(part.path)).text).tokens[0].attributes
            area = AREA.fullmatch(table.get("ref") or "")
            if area and table.get("headerRowCount") != "0":
                first, last = column_number(area[1]), column_number(area[3])
                yield from ((int(area[2]), column) for column in range(first, last + 1))


# ---- What is translated ----


class CellChooser:
    """Chooses the cells of text that are translated, and says why others stay.

    A UserError if there is no such sheet, or no sheet has such columns.
    """

    def __init__(self, sheets: list[Sheet], strings: list[str], options: FormatOptions):
        self._strings, self._options = strings, options
        names = [sheet.name for sheet in sheets]
        if options.sheet is not None and options.sheet not in names:
            listed = ", ".join(map(repr, names))
            raise UserError(f"--sheet {options.sheet}: no such sheet; there are: {listed}")
        self._columns: dict[str, tuple[set[int], int]] = {}  # by sheet, and the first row
        errors = []
        for sheet in sheets:
            if options.sheet in (None, sheet.name) and options.columns is not None:
                try:
                    self._columns[sheet.path] = self._choose_columns(sheet)
                except UserError as error:
                    errors.append(error)
        if errors and not self._columns:
            raise errors[0]

    def _choose_columns(self, sheet: Sheet) -> tuple[set[int], int]:
        """Returns the numbers of the chosen columns of a sheet, from 1, and the first row."""
        texts = [cell for cell in sheet.cells if cell.content]
        if not texts:
            raise UserError(f"--columns {self._options.columns}: {sheet.name!r} is empty")
        top = texts[0].row
        header = [""] * max(cell.column for cell in texts)
        for cell in (cell for cell in texts if cell.row == top):
            header[cell.column - 1] = self.text(cell)
        columns, below = choose_columns(self._options.columns, header)
        return {column + 1 for column in columns}, top + below

    def markup(self, cell: Cell) -> str:
        """Returns the markup of the text of a cell; "" if it has none."""
        if cell.kind == "inlineStr":
            return cell.content
        number = cell.text_number
        return self._strings[number] if number is not None and number < len(self._strings) else ""

    def text(self, cell: Cell) -> str:
        """Returns what a cell shows."""
        value = VALUE.search(cell.content)
        is_text = cell.kind in ("s", "inlineStr")
        return text_of(self.markup(cell)) if is_text else value[1] if value else ""

    def reason(self, sheet: Sheet, cell: Cell) -> str | None:
        """Returns why a cell of text stays; None if it is translated, "" if nobody asked for it."""
        if cell.is_formula:
            return FORMULAS
        if self._options.sheet not in (None, sheet.name):
            return OTHER_SHEETS
        if self._options.columns is not None:
            if sheet.path not in self._columns:
                return WITHOUT_COLUMNS
            columns, first_row = self._columns[sheet.path]
            if cell.column not in columns or cell.row < first_row:
                return ""
        if (cell.row, cell.column) in sheet.headers:
            return NAMES_OF_COLUMNS
        return None if read_runs(self.markup(cell)) else NOT_UNDERSTOOD


class SpreadsheetDocument(ArchiveDocument):
    """An Excel file; `places` says where texts stand, in words, by their id()."""

    def __init__(self, content: bytes, parts: dict[str, TextDocument], places: dict[int, str]):
        super().__init__(content, parts)
        self._places = places

    def place(self, text: Segment | Left) -> str:
        """Returns the cell of a text, or the part that it is in."""
        return self._places.get(id(text)) or self.part_of(text)


class SheetReader:
    """Reads the texts of all sheets.

    `strings` are the path and the XML of the texts for all sheets, if there are some.
    """

    def __init__(
        self, sheets: list[Sheet], strings: tuple[str, DecodedText] | None, options: FormatOptions
    ):
        self.parts: dict[str, TextDocument] = {}
        self.places: dict[int, str] = {}
        self._strings = list(STRING.finditer(strings[1].text)) if strings else []
        self._chooser = CellChooser(sheets, [match[2] or "" for match in self._strings], options)
        self._shared_with_others: set[int | None] = set()  # numbers of texts of cells that stay
        self._read: set[int] = set()  # numbers of texts with segments
        reasons = {sheet.path: self._reasons(sheet) for sheet in sheets}
        if strings:
            self.parts[strings[0]] = document_of(strings[1])
        self._shared = self.parts[strings[0]] if strings else None
        for sheet in sheets:
            self.parts[sheet.path] = document_of(sheet.decoded)
            for cell, reason in zip(sheet.cells, reasons[sheet.path], strict=True):
                self._add(sheet, cell, reason)

    def _reasons(self, sheet: Sheet) -> list[str | None]:
        """Returns for each cell why it stays, and remembers which texts must stay with it."""
        reasons: list[str | None] = []
        for cell in sheet.cells:
            is_text = cell.kind in ("s", "inlineStr", "str") and has_words(self._chooser.text(cell))
            reasons.append(self._chooser.reason(sheet, cell) if is_text else "")
            if reasons[-1] is not None:
                self._shared_with_others.add(cell.text_number)
        return reasons

    def _add(self, sheet: Sheet, cell: Cell, reason: str | None) -> None:
        """Adds the segments of a cell, or why it stays."""
        document, place = self.parts[sheet.path], f"{cell.address} of {sheet.name!r}"
        number = cell.text_number
        if reason:
            left = Left(reason, cell.span.start, is_expected=reason != NOT_UNDERSTOOD)
            document.left.append(left)
            self.places[id(left)] = place
        if reason is not None:
            return
        if number is None or self._shared is None or number in self._shared_with_others:
            text = CellText(self._chooser.markup(cell), cell.prefix, inline(cell))
            self._extend(document, text.segments(cell.span), place)
        elif number not in self._read:
            self._read.add(number)
            self._extend(self._shared, self._shared_segments(number), place)

    def _shared_segments(self, number: int) -> Iterator[Segment]:
        """Returns the segments of a text for all sheets."""
        match = self._strings[number]
        prefix = match[1]
        text = CellText(match[2], prefix, lambda markup: f"<{prefix}si>{markup}</{prefix}si>")
        return text.segments(Span(*match.span()))

    def _extend(self, document: TextDocument, segments: Iterable[Segment], place: str) -> None:
        for segment in segments:
            document.segments.append(segment)
            self.places[id(segment)] = place


def document_of(decoded: DecodedText) -> TextDocument:
    """Returns a document of XML without segments."""
    return TextDocument(decoded.text, [], decoded.encode_with_references)


def inline(cell: Cell) -> Callable[[str], str]:
    """Returns what writes a text into a cell itself."""
    attributes = re.sub(r'(?<!\s)\s*+\bt="[^"]*"', "", cell.attributes)
    tag, within = f"{cell.prefix}c", f"{cell.prefix}is"
    return lambda markup: f'<{tag}{attributes} t="inlineStr"><{within}>{markup}</{within}></{tag}>'


def drawn_texts(kind: str, decoded: DecodedText) -> TextDocument:
    """Returns the document of comments, a chart or drawings, of which nothing is translated."""
    matches = [match for match in DRAWN_TEXT.finditer(decoded.text) if has_words(match[1])]
    left = [Left(f"in {kind}", match.start(1), kind == "comments") for match in matches]
    return TextDocument(decoded.text, [], decoded.encode_with_references, left)


def parse(content: bytes, ending: str, options: FormatOptions) -> SpreadsheetDocument:
    """Returns the Document of an .xlsx file; by default of all its columns and sheets."""
    with opened(content, WHAT) as archive:
        main = main_part(archive, MAIN_PART)
        sheets = read_sheets(archive, main) if main else []
        if main is None or not sheets:
            raise UserError(f"is not {WHAT}, or has no sheet of cells; save it as .xlsx")
        names = {*archive.namelist()}
        tables = [part.path for part in relations(archive, main) if part.kind == "sharedStrings"]
        strings = next(
            ((path, decode_xml(archive.read(path))) for path in tables if path in names), None
        )
        drawn = {
            match[0]: drawn_texts(match[1], decode_xml(archive.read(match[0])))
            for match in filter(None, map(UNTRANSLATED.fullmatch, archive.namelist()))
        }
    reader = SheetReader(sheets, strings, options)
    return SpreadsheetDocument(content, reader.parts | drawn, reader.places)
