"""What must hold of Word documents: paragraphs are translated, formats stand around their words."""

import io
import re
import zipfile

import docx
import pytest
from helpers import backwards, identity, upper

from nmt import UserError
from nmt.documents import parse_document, translate_document, word
from nmt.documents.report import make_report


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
EMPTY_CONTROL = "<w:sdt><w:sdtPr><w:id/></w:sdtPr><w:sdtContent/></w:sdt>"
FORMULA = "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>"
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
        # A hyphen at which no line ends is a sign of its word.
        (
            RUN.format("um") + "<w:r><w:noBreakHyphen/></w:r>" + RUN.format("dois três"),
            RUN.format("TRÊS UM\u2011DOIS"),
        ),
        ("<w:r><w:tab/><w:t>um dois</w:t></w:r>", "<w:r><w:tab/><w:t>DOIS UM</w:t></w:r>"),
        # A content control moves with its words, and keeps its properties; so does moved text.
        (
            RUN.format("um") + CONTROL.format(RUN.format(" dois")),
            CONTROL.format(RUN.format("DOIS")) + RUN.format(" UM"),
        ),
        (
            RUN.format("um") + EMPTY_CONTROL + RUN.format(" dois"),
            RUN.format("DOIS UM") + EMPTY_CONTROL,
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


def test_a_formula_is_a_part_of_its_sentence():
    content = with_paragraph(RUN.format("um ") + FORMULA + RUN.format(" dois"))
    texts = [segment.text for segment in parse_document("a.docx", content).segments]
    assert "um dois" in texts
    assert paragraph_of(translate(content, upper)).count(FORMULA) == 1


MARK = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
CODE = "<w:r><w:instrText>{}</w:instrText></w:r>"
RUBY = "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>x</w:t></w:r></w:rt><w:rubyBase>{}</w:rubyBase>"
RUBY += "</w:ruby></w:r>"


def field(code, shown):
    """Returns the markup of a field: five runs."""
    return "".join([
        MARK.format("begin"), CODE.format(code), MARK.format("separate"), shown, MARK.format("end")
    ])  # fmt: skip


TOC = MARK.format("begin") + CODE.format("TOC") + MARK.format("separate")
IF = MARK.format("begin") + CODE.format("IF") + field("REF b", RUN.format("não"))
IF += MARK.format("separate")


@pytest.mark.parametrize("frame", [lambda shown: field("REF a", shown), RUBY.format])
def test_what_a_field_shows_and_what_stands_under_an_annotation_is_a_part_of_its_sentence(frame):
    content = with_paragraph(RUN.format("um") + frame(RUN.format(" dois")) + RUN.format(" três"))
    assert translate(content, identity) == content
    expected = RUN.format("TRÊS ") + frame(RUN.format("DOIS")) + RUN.format(" UM")
    assert paragraph_of(translate(content, backwards)) == expected


@pytest.mark.parametrize(
    ("markup", "translated"),
    [
        # The number of a page is no text; the network reads it.
        (RUN.format("um ") + field("PAGE", RUN.format("23")),
         field("PAGE", RUN.format("23")) + RUN.format(" UM")),
        # A citation stays.
        (RUN.format("um ") + field(" ADDIN EN.CITE", RUN.format("(Silva, 2020)")),
         field(" ADDIN EN.CITE", RUN.format("(Silva, 2020)")) + RUN.format(" UM")),
        (RUN.format("um ") + f'<w:fldSimple w:instr="DATE">{RUN.format("maio")}</w:fldSimple>',
         f'<w:fldSimple w:instr="DATE">{RUN.format("maio")}</w:fldSimple>' + RUN.format(" UM")),
        # A field within a field, and one that shows nothing.
        (RUN.format("um ") + IF + RUN.format("dois") + MARK.format("end"),
         IF + RUN.format("DOIS") + MARK.format("end") + RUN.format(" UM")),
        (RUN.format("um") + MARK.format("begin") + CODE.format("XE") + MARK.format("end")
         + RUN.format(" dois"),
         RUN.format("DOIS UM") + MARK.format("begin") + CODE.format("XE") + MARK.format("end")),
        # One that begins here and ends elsewhere, as a table of contents does.
        (TOC + RUN.format("um dois"), TOC + RUN.format("DOIS UM")),
        # A container with a tab holds two texts.
        (f"<w:ins>{RUN.format('um dois')}<w:r><w:tab/></w:r>{RUN.format('a b')}</w:ins>",
         f"<w:ins>{RUN.format('DOIS UM')}<w:r><w:tab/></w:r>{RUN.format('B A')}</w:ins>"),
    ],
)  # fmt: skip
def test_fields_stay_fields(markup, translated):
    content = with_paragraph(markup)
    assert translate(content, identity) == content
    assert paragraph_of(translate(content, backwards)) == translated


def archive_of(files):
    """Returns the bytes of an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def relations(kind, target):
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Type="http://x/{kind}" Target="{target}"/></Relationships>'
    )


PART = f'<w:document xmlns:w="w"><w:p>{RUN.format("um")}</w:p></w:document>'


@pytest.mark.parametrize("target", ["word/document2.xml", "/word/document2.xml"])
def test_the_main_part_is_the_one_that_the_archive_names(target):
    files = {
        "_rels/.rels": relations("officeDocument", target),
        "word/document2.xml": PART,
        "word/_rels/document2.xml.rels": relations("header", "header7.xml"),
        "word/header7.xml": PART,
        "word/header8.xml": PART,
        "word/charts/chart1.xml": "<a:p xmlns:a='a'><a:r><a:t>um</a:t></a:r></a:p>",
        "word/comments.xml": PART,
    }
    document = parse_document("a.docx", archive_of(files))
    texts = [document.place(text) for text in [*document.segments, *document.left]]
    assert texts[:2] == ["paragraph 1", "paragraph 1 of word/header7.xml"]
    assert texts[2:] == ["word/charts/chart1.xml", "word/comments.xml"]
    with zipfile.ZipFile(io.BytesIO(translate(archive_of(files)))) as archive:
        changed = [name for name, part in files.items() if archive.read(name) != part.encode()]
    assert changed == ["word/document2.xml", "word/header7.xml"]
    assert str(make_report(document, upper(["um", "um"]))) == (
        "2 of 4 texts translated; left: 1 in charts (first: word/charts/chart1.xml), 1 in comments "
        "(first: word/comments.xml)"
    )


def test_an_archive_without_a_main_part_is_named():
    with pytest.raises(UserError, match=r"a.docx: is not a Word document: it holds no word/docu"):
        translate(archive_of({"a": "b"}))


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
        (CONTENT[:-300], "is not a Word document, or is damaged"),
        (CONTENT[:3000] + b"xxxx" + CONTENT[3004:], "is not a Word document, or is damaged"),
        (bomb(), "holds 1,073,741,824 bytes, unpacked; the limit is 500,000,000"),
        (
            with_paragraph("<w:r>"),
            "word/document.xml: is not well-formed XML: Opening and ending tag",
        ),
        (with_paragraph("<w:ins>" * 200 + "</w:ins>" * 200), "nested more than 100 deep"),
    ],
    ids=["empty", "cut off", "damaged", "bomb", "malformed", "deep"],
)
def test_what_cannot_be_read_is_named_in_one_line(content, said):
    with pytest.raises(UserError) as error:
        translate(content)
    assert str(error.value).startswith("a.docx: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
