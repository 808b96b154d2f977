"""What must hold of .xlsx: cells of text are translated; openpyxl reads all else as before."""

import datetime
import io
import re
import zipfile

import openpyxl
import pytest
from helpers import Translated, backwards, identity, upper
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table

from nmt import UserError
from nmt.documents import office, parse_document, translate_document
from nmt.documents.document import FormatOptions
from nmt.documents.report import make_report

ROWS = [
    ["Nr", "Texto", "Nota", "Preço"],
    [1, "um gato", "não", 1.5],
    [2, "duas linhas\n com espaços", "um gato", "=B2&C2"],
    [3, " & <b> %s ", "https://a.io", datetime.datetime(2024, 5, 6)],
]


def workbook():
    book = openpyxl.Workbook()
    texts = book.active
    texts.title = "Textos"
    for row in ROWS:
        texts.append(row)
    texts["B2"].font = Font(bold=True)
    texts["B2"].comment = Comment("uma nota", "eu")
    bold = TextBlock(InlineFont(b=True), "gato preto")
    texts["B5"] = CellRichText("O ", bold, " dorme aqui")
    prices = book.create_sheet("Preços & mais")
    prices.append(["Nome", "Valor"])
    prices.append(["um gato", 3])
    prices.append(["outro", 4])
    prices.add_table(Table(displayName="Tabela", ref="A1:B3"))
    chart = BarChart()
    chart.add_data(Reference(prices, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.title = "um título"
    prices.add_chart(chart, "D1")
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.fixture(scope="module")
def content():
    return with_shared_strings(workbook())


def translate(content, translator=upper, **options):
    return translate_document("a.xlsx", content, translator, **options)


def sheet_of(content, name="Textos"):
    return openpyxl.load_workbook(io.BytesIO(content), rich_text=True)[name]


def values(content, name="Textos"):
    return [[cell.value for cell in row] for row in sheet_of(content, name).iter_rows()]


CONTENT_TYPE = (
    b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-'
    b'officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
)
RELATION = (
    b'<Relationship Id="rIdStrings" Target="sharedStrings.xml" Type="http://schemas.openxmlformats'
    b'.org/officeDocument/2006/relationships/sharedStrings"/></Relationships>'
)


def rewritten(content, change):
    """Returns an archive whose parts are what `change` returns of their names and contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(stream, "w") as target:
        for member in source.infolist():
            target.writestr(member, change(member.filename, source.read(member)))
    return stream.getvalue()


def with_shared_strings(content):
    """Returns a workbook of openpyxl, with its texts in a table for all sheets, as of Excel."""
    strings = {}

    def share(cell):
        number = strings.setdefault(cell[2], len(strings))
        return b'%s t="s"><v>%d</v>' % (cell[1], number)

    def change(name, text):
        if name.startswith("xl/worksheets/sheet"):
            return re.sub(rb'(<c [^<>]*) t="inlineStr"><is>(.*?)</is>', share, text, flags=re.S)
        text = text.replace(b"</Types>", CONTENT_TYPE) if name == "[Content_Types].xml" else text
        if name == "xl/_rels/workbook.xml.rels":
            text = text.replace(b"</Relationships>", RELATION)
        return text

    stream = io.BytesIO(rewritten(content, change))
    texts = b"".join(b"<si>%s</si>" % text for text in strings)
    with zipfile.ZipFile(stream, "a") as book:
        book.writestr(
            "xl/sharedStrings.xml",
            b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</sst>'
            % texts,
        )
    return stream.getvalue()


def test_cells_of_text_are_translated_and_all_else_is_as_before(content):
    translated = translate(content)
    old, new = values(content), values(translated)
    assert [row[:3] for row in new[:4]] == [
        ["NR", "TEXTO", "NOTA"], [1, "UM GATO", "NÃO"],
        [2, "DUAS LINHAS\n COM ESPAÇOS", "UM GATO"], [3, " & <b> %s ", "https://a.io"],
    ]  # fmt: skip
    assert [row[3] for row in new[1:4]] == [row[3] for row in old[1:4]]
    sheet = sheet_of(translated)
    assert sheet["B2"].font.bold
    assert sheet["B2"].comment.text == "uma nota"
    assert sheet["B5"].value == CellRichText(
        "O ", TextBlock(InlineFont(b=True), "GATO PRETO"), " DORME AQUI"
    )
    assert values(translated, "Preços & mais") == [["Nome", "Valor"], ["UM GATO", 3], ["OUTRO", 4]]
    assert translate(content, identity) == content
    with zipfile.ZipFile(io.BytesIO(content)) as a, zipfile.ZipFile(io.BytesIO(translated)) as b:
        assert a.namelist() == b.namelist()
        changed = {name for name in a.namelist() if a.read(name) != b.read(name)}
    assert changed == {"xl/sharedStrings.xml"}
    openpyxl.load_workbook(io.BytesIO(translate(content, backwards)))


def test_what_stays_is_said_with_its_cell(content):
    document = parse_document("a.xlsx", content)
    translations = upper(segment.text for segment in document.segments)
    report = make_report(document, translations)
    said = [str(group) for group in report.left]
    assert "2 that name the columns of a table, for formulas (first: A1 of 'Preços & mais')" in said
    assert "1 in charts (first: xl/charts/chart1.xml)" in said
    assert any(line.startswith("1 in comments") for line in said)
    assert document.place(document.segments[1]) == "B1 of 'Textos'"


def test_columns_and_a_sheet_are_chosen_and_a_text_of_other_cells_stays_there(content):
    by_name = translate(content, columns="Texto")
    assert values(by_name)[0] == ROWS[0]
    assert values(by_name)[1] == [1, "UM GATO", "não", 1.5]
    assert values(by_name)[2][:3] == [2, "DUAS LINHAS\n COM ESPAÇOS", "um gato"]
    assert sheet_of(by_name)["B2"].font.bold
    assert values(by_name, "Preços & mais") == values(content, "Preços & mais")
    document = parse_document("a.xlsx", content, FormatOptions("Texto"))
    left = [text.reason for text in document.left]
    assert left.count("on sheets without these columns") == 4
    by_number = translate(content, columns="2", sheet="Textos")
    assert values(by_number)[0][1:3] == ["TEXTO", "Nota"]
    assert values(translate(content, sheet="Preços & mais")) == values(content)


def under_a_prefix_without_addresses(name, text):
    if not name.startswith("xl/worksheets/sheet"):
        return text
    text = re.sub(rb'(<(?:c|row)\b[^<>]*?) r="\w+"', rb"\1", text)
    return re.sub(rb"(</?)(?=[a-zA-Z])", rb"\1x:", text).replace(b"xmlns=", b"xmlns:x=")


def test_texts_in_their_cells_under_a_prefix_without_addresses_are_translated():
    book = openpyxl.Workbook()
    for row in (["um gato", 1, "dois"], ["x", "três"]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    inline = rewritten(stream.getvalue(), under_a_prefix_without_addresses)
    sheet = sheet_of(translate(inline, columns="3,1"), "Sheet")
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        ["UM GATO", 1, "DOIS"], ["X", "três", None],
    ]  # fmt: skip


def test_codes_of_characters_are_text_and_text_is_no_code(content):
    coded = rewritten(
        content, lambda name, text: text.replace(b"outro", b"um_x000D_\ndois _x005F_x0041_")
    )
    with zipfile.ZipFile(io.BytesIO(translate(coded))) as translated:
        strings = translated.read("xl/sharedStrings.xml").decode()
    assert '<t xml:space="preserve">UM_x000D_\nDOIS _X0041_</t>' in strings
    same = translate(coded, lambda texts: [Translated(f"{text} a", None) for text in texts])
    with zipfile.ZipFile(io.BytesIO(same)) as translated:
        strings = translated.read("xl/sharedStrings.xml").decode()
    assert '<t xml:space="preserve">um a_x000D_\ndois _x005F_x0041_ a</t>' in strings


def test_characters_that_xml_lacks_stand_in_the_file_as_codes(content):
    codes = b"um_x0007_dois_x000B_gato _xD83D__xDE00_ \t_xD83D_"
    coded = rewritten(content, lambda name, text: text.replace(b"outro", codes))
    with zipfile.ZipFile(io.BytesIO(translate(coded))) as translated:
        strings = translated.read("xl/sharedStrings.xml").decode()
    assert "UM_x0007_DOIS_x000B_GATO 😀 \t_xD83D_<" in strings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"<t>outro</t>", b"<t><![CDATA[outro]]></t>"),
        (b"<t>outro</t>", b"<t>ou<!-- and so on -->tro</t>"),
        (b"<si><t>outro</t></si>", b"<!-- <si><t>x</t></si> --><si><t>outro</t></si>"),
        (b"<t>outro</t>", b"<t xml:space='preserve'>outro</t>"),
        (b' t="s"', b" t='s'"),
    ],
)
def test_xml_may_be_written_in_any_way(content, old, new):
    other = rewritten(content, lambda name, text: text.replace(old, new))
    assert other != content
    assert values(translate(other)) == values(translate(content))
    assert values(translate(other), "Preços & mais")[2][0] == "OUTRO"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sheet": "x"}, "--sheet x: no such sheet; there are: 'Textos', 'Preços & mais'"),
        ({"columns": "x"}, "--columns x: no such column; there are: Nr, Texto, Nota, Preço"),
        ({"columns": "x", "sheet": "Preços & mais"}, "no such column; there are: Nome, Valor"),
    ],
)
def test_a_wrong_option_is_one_line(content, options, said):
    with pytest.raises(UserError, match=re.escape(said)):
        translate(content, **options)
    with pytest.raises(UserError, match=r"sheet is for .xlsx; leave it out"):
        translate_document("a.csv", b"a\n", upper, sheet="x", columns="1")


def test_a_file_that_is_none_or_too_large_is_one_line(content, monkeypatch):
    with pytest.raises(UserError, match=r"a.xlsx: is not an Excel file, or is damaged"):
        translate(content[:500])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as other:
        other.writestr("a.txt", "text")
    with pytest.raises(UserError, match=r"is not an Excel file, or has no sheet of cells"):
        translate(stream.getvalue())
    monkeypatch.setattr(office, "MAX_BYTES", 1000)
    with pytest.raises(UserError, match=r"unpacked; the limit is 1,000"):
        translate(content)


def test_a_translation_of_an_empty_text_leaves_the_cell(content):
    emptied = translate(content, lambda texts: [Translated("", None) for _ in texts])
    assert emptied == content
