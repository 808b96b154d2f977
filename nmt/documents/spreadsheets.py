"""Excel's .xlsx: an archive of XML, of which cells of text are translated, each line by itself.

Formulas, numbers, dates, formats, charts and pictures stay, as all parts do that hold no such cell.
Most texts stand in one table for all sheets, and cells name their numbers there. A text that other
cells use, too, which are not translated, is written into the cell itself.
"""

from __future__ import annotations

import functools
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as XmlElement

from nmt import UserError
from nmt.documents import office
from nmt.documents.document import FormatOptions, Left, Segment
from nmt.documents.nodes import Element, Node, Text, outer_spaces, plain_text
from nmt.documents.tables import choose_columns
from nmt.text.protected import has_words

WHAT = "an Excel file"
MAIN_PART = "xl/workbook.xml"  # where _rels/.rels names no other
UNTRANSLATED = re.compile(r"xl/(comments|charts|drawings)[^_]*\.xml")

ADDRESS = re.compile(r"([A-Z]{1,3})(\d{1,7})")
AREA = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})\d{1,7}")
TEXT_NUMBER = re.compile(r"\d{1,9}")
CODES = re.compile(r"(?:_x[0-9A-Fa-f]{4}_)+")  # of characters that XML lacks, in UTF-16
NOT_HEXADECIMAL = re.compile("_x?")
NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LINE_END = re.compile("(\r\n|[\n\r\v\t])")  # with tabs, which separate as in a table

FORMULAS = "formulas"
OTHER_SHEETS = "on other sheets"
WITHOUT_COLUMNS = "on sheets without these columns"
NAMES_OF_COLUMNS = "that name the columns of a table, for formulas"
NOT_UNDERSTOOD = "in a form that is not understood"


class Cell(NamedTuple):
    """A cell of a sheet."""

    row: int  # from 1
    column: int  # from 1
    element: XmlElement

    @property
    def address(self) -> str:
        """Its name in the sheet, such as B3."""
        letters, number = "", self.column
        while number:
            number, letter = divmod(number - 1, 26)
            letters = chr(ord("A") + letter) + letters
        return f"{letters}{self.row}"

    @property
    def kind(self) -> str:
        """What it holds: "s", the number of a text; "inlineStr"; "str", a result; or others."""
        return self.element.get("t", "")

    @property
    def value(self) -> str:
        """What stands in the file as its value."""
        return self.element.findtext("{*}v") or ""

    @property
    def is_formula(self) -> bool:
        """Whether its value is computed."""
        return self.element.find("{*}f") is not None

    @property
    def text_number(self) -> int | None:
        """The number of its text in the table for all sheets; None if it has none there."""
        is_number = self.kind == "s" and TEXT_NUMBER.fullmatch(self.value)
        return int(self.value) if is_number else None


class Sheet(NamedTuple):
    """A sheet of the file."""

    name: str
    path: str  # in the archive
    root: XmlElement
    cells: list[Cell]
    headers: set[tuple[int, int]]  # rows and columns of cells that name the columns of a table


# ---- The text of a cell ----


class FormattedText(NamedTuple):
    """A text of one format."""

    form: office.RunFormat  # without properties for that of the cell
    text: str


def decode_codes(text: str) -> str:
    """Returns text with the characters whose codes stand in it: _x000B_ is a vertical tab."""

    def characters(codes: re.Match[str]) -> str:
        try:
            return bytes.fromhex(NOT_HEXADECIMAL.sub("", codes[0])).decode("utf-16-be")
        except UnicodeDecodeError:  # half of a character: it stays a code
            return codes[0]

    return CODES.sub(characters, text)


def encode_codes(text: str) -> str:
    """Returns text as it stands in a file; what looks like a code is not read as one."""

    def escaped(codes: re.Match[str]) -> str:
        is_read = decode_codes(codes[0]) != codes[0]
        return codes[0].replace("_x", "_x005F_x") if is_read else codes[0]

    text = CODES.sub(escaped, text)
    return NOT_XML.sub(lambda character: f"_x{ord(character[0]):04X}_", text)


def read_runs(holder: XmlElement | None) -> list[FormattedText]:
    """Returns the text of a cell; none if there is none, or it is not understood."""
    runs = []
    for child in () if holder is None else holder:
        name = office.local_name(child)
        if name in ("r", "t"):
            text = child.text if name == "t" else child.findtext("{*}t")
            runs.append(FormattedText(office.format_of(child), decode_codes(text or "")))
    return runs


def text_of(holder: XmlElement | None) -> str:
    """Returns what a cell shows."""
    return "".join(run.text for run in read_runs(holder))


class CellText:
    """The text of a cell, line by line."""

    def __init__(self, holder: XmlElement, place: str):
        self._place = place
        runs = read_runs(holder)
        self._usual = office.usual_format(runs, office.RunFormat(office.namespace(holder)))
        self._lines: list[list[Node]] = [[]]  # every second one is the end of a line
        for run in runs:
            for number, text in enumerate(LINE_END.split(run.text)):
                if number:
                    self._lines.append([])
                if text:
                    self._lines[-1].append(self._node(run.form, text))

    def _node(self, form: office.RunFormat, text: str) -> Node:
        return Text(text) if form == self._usual else Element(form, "", [Text(text)])

    def segments(self, holder: Callable[[], XmlElement]) -> Iterator[Segment]:
        """Yields the segments of lines with words; `holder` returns the element of the text."""
        for number, line in enumerate(self._lines):
            if has_words(plain_text(line)):
                yield Segment(line, [], self._writer(number, holder), self._place)

    def _writer(
        self, number: int, holder: Callable[[], XmlElement]
    ) -> Callable[[list[Node]], list[str]]:
        """Returns the function that writes a line: the whole text, as far as it is translated."""
        before, after = outer_spaces(self._lines[number])

        def write(nodes: list[Node]) -> list[str]:
            self._lines[number] = [Text(before), *nodes, Text(after)]
            self._write(holder())
            return []

        return write

    def _write(self, holder: XmlElement) -> None:
        nodes = [encoded(node) for line in self._lines for node in line]
        del holder[:]
        if not self._usual.properties and all(isinstance(node, Text) for node in nodes):
            holder.append(self._usual.text(plain_text(nodes)))
        else:
            holder.extend(office.write_runs(nodes, self._usual))


def encoded(node: Node) -> Node:
    """Returns a text, or a run, as it stands in a file."""
    text = Text(encode_codes(plain_text([node])))
    return Element(node.start_tag, "", [text]) if isinstance(node, Element) else text


def own_holder(cell: Cell) -> XmlElement:
    """Returns the element of the text that stands in a cell itself, from now on."""
    element = cell.element
    holder = element.find("{*}is")
    if holder is None:
        element.set("t", "inlineStr")
        del element[:]
        holder = etree.SubElement(element, f"{office.namespace(element)}is")
    return holder


# ---- Sheets ----


def column_number(letters: str) -> int:
    """Returns the number of a column, from 1: that of "AA" is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def find_cells(sheet: XmlElement) -> Iterator[Cell]:
    """Yields the cells of a sheet. A row or cell without an address follows the one before it."""
    row = 0
    for element in sheet.iterfind("{*}sheetData/{*}row"):
        number = element.get("r", "")
        row, column = int(number) if number.isdecimal() else row + 1, 0
        for cell in element.iterchildren("{*}c"):
            address = ADDRESS.fullmatch(cell.get("r", ""))
            row = int(address[2]) if address else row
            column = column_number(address[1]) if address else column + 1
            yield Cell(row, column, cell)


def read_sheets(archive: zipfile.ZipFile, main: str) -> list[Sheet]:
    """Returns the sheets of cells, in their order."""
    related = {part.id: part for part in office.relations(archive, main)}
    sheets = []
    for element in office.read_xml(archive, main).iterfind("{*}sheets/{*}sheet"):
        part = related.get(office.attribute(element, "id"))
        if part and part.kind == "worksheet":
            root = office.read_xml(archive, part.path)
            cells = list(find_cells(root))
            headers = set(find_headers(archive, part.path))
            sheets.append(Sheet(element.get("name") or part.path, part.path, root, cells, headers))
    return sheets


def find_headers(archive: zipfile.ZipFile, path: str) -> Iterator[tuple[int, int]]:
    """Yields row and column of the cells that name the columns of the tables of a sheet."""
    for part in office.relations(archive, path):
        if part.kind == "table":
            table = office.read_xml(archive, part.path)
            area = AREA.fullmatch(table.get("ref", ""))
            if area and table.get("headerRowCount") != "0":
                first, last = column_number(area[1]), column_number(area[3])
                yield from ((int(area[2]), column) for column in range(first, last + 1))


# ---- What is translated ----


class CellChooser:
    """Chooses the cells of text that are translated, and says why others stay.

    A UserError if there is no such sheet, or no sheet has such columns.
    """

    def __init__(self, sheets: list[Sheet], strings: list[XmlElement], options: FormatOptions):
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
        texts = [cell for cell in sheet.cells if len(cell.element)]
        if not texts:
            raise UserError(f"--columns {self._options.columns}: {sheet.name!r} is empty")
        top = texts[0].row
        header = [""] * max(cell.column for cell in texts)
        for cell in (cell for cell in texts if cell.row == top):
            header[cell.column - 1] = self.text(cell)
        columns, below = choose_columns(self._options.columns, header)
        return {column + 1 for column in columns}, top + below

    def holder(self, cell: Cell) -> XmlElement | None:
        """Returns the element that holds the text of a cell; None if it has none."""
        if cell.kind == "inlineStr":
            return cell.element.find("{*}is")
        number = cell.text_number
        return self._strings[number] if number is not None and number < len(self._strings) else None

    def text(self, cell: Cell) -> str:
        """Returns what a cell shows."""
        return text_of(self.holder(cell)) if cell.kind in ("s", "inlineStr") else cell.value

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
        return None if read_runs(self.holder(cell)) else NOT_UNDERSTOOD


class SheetReader:
    """Reads the texts of all sheets; `strings` are the elements of those for all sheets."""

    def __init__(self, sheets: list[Sheet], strings: list[XmlElement], options: FormatOptions):
        self.shared: list[Segment] = []  # of the texts for all sheets
        self.parts: dict[str, office.Part] = {}
        self._chooser = CellChooser(sheets, strings, options)
        self._shared_with_others: set[int | None] = set()  # numbers of texts of cells that stay
        self._read: set[int] = set()  # numbers of texts with segments
        reasons = {sheet.path: self._reasons(sheet) for sheet in sheets}
        for sheet in sheets:
            self.parts[sheet.path] = office.Part(sheet.root)
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
        part, place = self.parts[sheet.path], f"{cell.address} of {sheet.name!r}"
        number, holder = cell.text_number, self._chooser.holder(cell)
        if reason:
            part.left.append(Left(reason, 0, reason != NOT_UNDERSTOOD, place))
        if reason is not None or holder is None:
            return
        text = CellText(holder, place)
        if number is None or number in self._shared_with_others:
            part.segments += text.segments(functools.partial(own_holder, cell))
        elif number not in self._read:
            self._read.add(number)
            self.shared += text.segments(lambda: holder)


def parse(content: bytes, ending: str, options: FormatOptions) -> office.ArchiveDocument:
    """Returns the Document of an .xlsx file; by default of all its columns and sheets."""
    parts: dict[str, office.Part] = {}
    with office.opened(content, WHAT) as archive:
        main = office.main_part(archive, MAIN_PART)
        sheets = read_sheets(archive, main) if main else []
        if main is None or not sheets:
            raise UserError(f"is not {WHAT}, or has no sheet of cells; save it as .xlsx")
        for relation in office.relations(archive, main):
            if relation.kind == "sharedStrings":
                parts[relation.path] = office.Part(office.read_xml(archive, relation.path))
        drawn = dict(office.untranslated_parts(archive, UNTRANSLATED))
    strings = [text for part in parts.values() for text in part.root.iterchildren("{*}si")]
    reader = SheetReader(sheets, strings, options)
    for part in parts.values():
        part.segments += reader.shared
    return office.ArchiveDocument(content, parts | reader.parts | drawn)
