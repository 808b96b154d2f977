"""Tables, .csv and .tsv: the cells of some columns are translated, each line of a cell by itself.

Python's csv module does not say where a cell stands, so a table that it writes has other quotes and
line ends than the one it read. Here, only the text of cells is replaced. Cells of a .tsv have no
quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nmt import UserError
from nmt.documents.document import (
    LINE_END,
    FormatOptions,
    Left,
    Segment,
    Span,
    TextDocument,
    decode,
    line_number,
)
from nmt.documents.nodes import Node, Text, plain_text
from nmt.text.protected import has_words
from nmt.text.separators import NAMED, PROSE

DELIMITERS = ",;\t|"  # of a .csv; the most frequent one in its first line, outside of sentences
QUOTED = re.compile(r'"[^"]*+(?>(?:""[^"]*+)*)"')  # "" is a quotation mark, never the end
# Spreadsheets compute what begins with =, and after other signs a function or a cell: -SUM(A1).
FORMULA = re.compile(r"\s*+(?:=[^\s=]|[-+@]\s*(?:[A-Z][A-Z0-9.]{0,30}\(|\$?[A-Z]{1,3}\$?\d))")
CELL_LINE = re.compile(r"[^\r\n]+")


class Cell(NamedTuple):
    """A cell of a table."""

    span: Span  # with its quotes
    row: int  # from 0
    column: int
    is_quoted: bool


def find_delimiter(text: str, ending: str) -> str:
    """Returns the character between the cells of a table."""
    if ending == ".tsv":
        return "\t"
    first_line = LINE_END.split(QUOTED.sub("", text.lstrip("\r\n")), maxsplit=1)[0]
    if named := NAMED.fullmatch(first_line):
        return named[1]
    separators = PROSE.sub("", first_line)
    line = separators if any(map(separators.count, DELIMITERS)) else first_line
    return max(DELIMITERS, key=line.count)  # of equal ones, the first


def find_cells(text: str, delimiter: str, has_quotes: bool) -> Iterator[Cell]:
    """Yields the cells of a table, row by row; a UserError if a quoted cell does not end."""
    unquoted = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    position = row = column = 0
    while position < len(text):
        start, is_quoted = position, has_quotes and text[position] == '"'
        if is_quoted:
            quoted = QUOTED.match(text, position)
            if not quoted:
                line = line_number(text, position)
                raise UserError(f"line {line}: a quoted cell does not end; add the quotation mark")
            position = quoted.end()
        if content := unquoted.match(text, position):
            position = content.end()  # of a quoted one, what is behind the quote
        yield Cell(Span(start, position), row, column, is_quoted and text[position - 1] == '"')
        line_end = LINE_END.match(text, position)
        if line_end:
            row, column = row + 1, 0
        else:
            column += 1
        position = line_end.end() if line_end else position + 1


def read_cell(text: str, cell: Cell) -> str:
    """Returns the content of a cell."""
    content = text[slice(*cell.span)]
    return content[1:-1].replace('""', '"') if cell.is_quoted else content


def cell_segments(text: str, cell: Cell, delimiter: str, has_quotes: bool) -> Iterator[Segment]:
    """Yields the segments of a cell: its lines, without the spaces around them."""

    def write_quoted(nodes: list[Node]) -> list[str]:
        return [plain_text(nodes).replace('"', '""')]

    def write(nodes: list[Node]) -> list[str]:
        new_text = before + plain_text(nodes) + after
        if has_quotes and (delimiter in new_text or '"' in new_text):  # around the whole cell
            return ['"' + new_text.replace('"', '""') + '"']
        return [new_text]

    start, end = cell.span
    cell_text = text[start:end]
    if not cell.is_quoted:
        is_behind_quote = has_quotes and cell_text.startswith('"')
        content = cell_text if is_behind_quote else cell_text.strip()
        if content:
            before, _, after = cell_text.partition(content)
            yield Segment([Text(content)], [cell.span], write)
        return
    for line in CELL_LINE.finditer(text, start + 1, end - 1):
        content = line[0].strip()
        span = Span(line.start() + line[0].index(content), line.start() + len(line[0].rstrip()))
        yield Segment([Text(content.replace('""', '"'))], [span], write_quoted)


def choose_columns(columns: str | None, header: list[str]) -> tuple[set[int], int]:
    """Returns the numbers of columns, from 0, and that of the first row to translate.

    Columns are names in the first row, or numbers from 1, with commas between them. A UserError if
    there is no such column, or none is named.
    """
    names = [name.strip() for name in header]
    listed = ", ".join(names[:20])
    if columns is None:
        raise UserError(f"name what to translate: --columns with one or more of: {listed}")
    wanted = [name.strip() for name in columns.split(",")]
    numbers = [*map(str, range(1, len(names) + 1))]
    for known, first_row in ((names, 1), (numbers, 0)):
        if all(name in known for name in wanted):
            return {known.index(name) for name in wanted}, first_row
    missing = next(name for name in wanted if name not in names)
    raise UserError(f"--columns {missing}: no such column; there are: {listed}")


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a table in UTF-8."""
    decoded = decode(content)
    text, has_quotes = decoded.text, ending == ".csv"
    delimiter = find_delimiter(text, ending)
    cells = list(find_cells(text, delimiter, has_quotes))
    names_separator = has_quotes and NAMED.fullmatch(LINE_END.split(text, maxsplit=1)[0])
    top = 1 if names_separator else 0  # the row before is for spreadsheets alone
    header = [read_cell(text, cell) for cell in cells if cell.row == top]
    numbers, first_row = choose_columns(options.columns, header)
    cells = [cell for cell in cells if cell.column in numbers and cell.row >= top + first_row]
    document = TextDocument(text, [], decoded.encode)
    for cell in cells:
        if FORMULA.match(read_cell(text, cell)):
            document.left.append(Left("formulas", cell.span.start, is_expected=True))
        else:
            segments = cell_segments(text, cell, delimiter, has_quotes)
            document.segments += (one for one in segments if has_words(one.text))
    return document
