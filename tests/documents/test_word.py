"""What must hold of Word documents: paragraphs are translated, formats stand around their words."""

import io
import re
import zipfile

import docx
import pytest
from helpers import backwards, identity, upper

from nmt import UserError
from nmt.documents import translate_document, word


def make_document():
    """Returns the bytes of a document that python-docx makes."""
    document = docx.Document()
    document.add_heading("Um título", 1)
    paragraph = document.add_paragraph("Um ")
    paragraph.add_run("gato").bold = True
    paragraph.add_run(" pr")
    paragraph.add_run("eto & ")  # Word divides words, too
    paragraph.add_run("branco").italic = True
    paragraph.add_run(".")
    line = document.add_paragraph("antes")
    line.runs[0].add_break()
    line.runs[0].add_text("depois")
    line.runs[0].add_tab()
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "um", "1999"
    document.sections[0].header.paragraphs[0].text = "cabeçalho"
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


CONTENT = make_document()


def translate(content, translator=upper):
    return translate_document("a.docx", content, translator)


def with_paragraph(markup):
    """Returns the document with one paragraph, of this markup."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as old, zipfile.ZipFile(stream, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == word.MAIN_PART:
                body = f"<w:body><w:p>{markup}</w:p></w:body>".encode()
                content = re.sub(rb"<w:body>.*</w:body>", body.replace(b"\\", rb"\\"), content,
                                 flags=re.DOTALL)  # fmt: skip
            new.writestr(member, content)
    return stream.getvalue()


def paragraph_of(content):
    """Returns the markup of the only paragraph."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read(word.MAIN_PART).decode()
    return re.search(r"<w:p>(.*)</w:p>", text, re.DOTALL)[1]


def runs(paragraph):
    return [(run.text, run.bold, run.italic) for run in paragraph.runs if run.text]


def test_paragraphs_tables_and_headers_are_translated():
    document = docx.Document(io.BytesIO(translate(CONTENT)))
    heading, paragraph, line = document.paragraphs
    assert (heading.text, heading.style.name) == ("UM TÍTULO", "Heading 1")
    assert runs(paragraph) == [
        ("UM ", None, None),
        ("GATO", True, None),
        (" PRETO & ", None, None),
        ("BRANCO", None, True),
        (".", None, None),
    ]
    assert line.text == "ANTES\nDEPOIS\t"
    assert [cell.text for cell in document.tables[0].row_cells(0)] == ["UM", "1999"]
    assert document.sections[0].header.paragraphs[0].text == "CABEÇALHO"


def test_formats_move_with_their_words():
    document = docx.Document(io.BytesIO(translate(CONTENT, backwards)))
    bold = {text: (bold, italic) for text, bold, italic in runs(document.paragraphs[1])}
    assert bold["GATO"] == (True, None)
    assert bold["BRANCO"] == (None, True)
    assert document.paragraphs[1].text == "BRANCO. & PRETO GATO UM"


def test_all_other_files_of_the_archive_stay():
    translated = translate(CONTENT)
    assert translate(CONTENT, identity) == CONTENT
    with (
        zipfile.ZipFile(io.BytesIO(CONTENT)) as old,
        zipfile.ZipFile(io.BytesIO(translated)) as new,
    ):
        assert new.namelist() == old.namelist()
        changed = [name for name in new.namelist() if new.read(name) != old.read(name)]
    assert sorted(changed) == ["word/document.xml", "word/header1.xml"]


RUN = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
LINK = '<w:hyperlink r:id="1"><w:r><w:rPr><w:u/></w:rPr><w:t xml:space="preserve">{}</w:t></w:r>'
LINK += "</w:hyperlink>"
NOTE = '<w:r><w:footnoteReference w:id="2"/></w:r>'
CONTROL = "<w:sdt><w:sdtPr><w:id/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
PICTURE = "<w:r><w:drawing/></w:r>"
STYLE = "<w:pPr><w:jc/></w:pPr>"


@pytest.mark.parametrize(
    ("markup", "translated"),
    [
        # Notes of Word's spelling check divide nothing.
        (RUN.format("um") + "<w:proofErr/>" + RUN.format(" dois"), RUN.format("DOIS UM")),
        # A link moves with its words, and keeps its format.
        (RUN.format("um") + LINK.format(" dois"), LINK.format("DOIS") + RUN.format(" UM")),
        # A footnote stays behind its word.
        (RUN.format("um") + NOTE + RUN.format(" dois"), RUN.format("DOIS UM") + NOTE),
        # Properties of the paragraph, pictures, and tabs stay where they are.
        (
            STYLE + RUN.format("um dois") + PICTURE + RUN.format("três"),
            STYLE + RUN.format("DOIS UM") + PICTURE + RUN.format("TRÊS"),
        ),
        ("<w:r><w:tab/><w:t>um dois</w:t></w:r>", "<w:r><w:tab/><w:t>DOIS UM</w:t></w:r>"),
        # A content control moves with its words, and keeps its properties; so does moved text.
        (
            RUN.format("um") + CONTROL.format(RUN.format(" dois")),
            CONTROL.format(RUN.format("DOIS")) + RUN.format(" UM"),
        ),
        (
            RUN.format("um") + CONTROL.format("") + RUN.format(" dois"),
            RUN.format("DOIS UM") + CONTROL.format(""),
        ),
        (
            f"<w:smartTag><w:smartTagPr/>{RUN.format('um dois')}</w:smartTag>",
            f"<w:smartTag><w:smartTagPr/>{RUN.format('DOIS UM')}</w:smartTag>",
        ),
        (
            f"<w:moveTo>{RUN.format('um dois')}</w:moveTo>",
            f"<w:moveTo>{RUN.format('DOIS UM')}</w:moveTo>",
        ),
    ],
)
def test_what_divides_a_paragraph(markup, translated):
    content = with_paragraph(markup)
    assert translate(content, identity) == content
    assert paragraph_of(translate(content, backwards)) == translated


def bomb():
    """Returns a small archive that says it is a gigabyte unpacked; really, it is eight MB."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(word.MAIN_PART, bytes(1 << 23))
    small, large = (size.to_bytes(4, "little") for size in (1 << 23, 1 << 30))
    return stream.getvalue().replace(small, large)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a Word document, or is damaged"),
        (b"\x89PNG\r\n", "is not a Word document, or is damaged"),
        (CONTENT[:-300], "is not a Word document, or is damaged"),
        (CONTENT[:3000] + b"xxxx" + CONTENT[3004:], "is not a Word document, or is damaged"),
        (bomb(), "holds 1,073,741,824 bytes, unpacked; the limit is 500,000,000"),
        (with_paragraph("<w:r>"), "line 2: is not well-formed XML: mismatched tag"),
        (with_paragraph("<w:ins>" * 200 + "</w:ins>" * 200), "nested more than 100 deep"),
    ],
    ids=["empty", "picture", "cut off", "damaged", "bomb", "malformed", "deep"],
)
def test_what_cannot_be_read_is_named_in_one_line(content, said):
    with pytest.raises(UserError) as error:
        translate(content)
    assert str(error.value).startswith("a.docx: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
