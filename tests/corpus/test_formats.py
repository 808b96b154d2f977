"""What must hold of formats of parallel text: their pairs in order, or one line that says why not.

Each format is written here by hand or by another library, never by what reads it.
"""

import gzip
import os
import zipfile

import openpyxl
import pytest
from helpers import call, languages_of, source_of

from nmt import UserError, messages
from nmt.corpus import cleaning, corpora, datasets, files
from nmt.corpus.formats.format import Selection
from nmt.text.languages import Pair

PAIRS = [("Grüße & mehr.", "Greetings & more."), ("Am 3. Oktober <neu>", "On October 3 <new>")]
DTD = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'
XLIFF_NAMES = 'xmlns="urn:oasis:names:tc:xliff:document:'


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def tmx(units=PAIRS, codes=("de-DE", "en-US"), source="de", encoding="UTF-8", dtd=DTD):
    """Returns a translation memory as bytes."""
    variants = [
        "".join(
            f'<tuv xml:lang="{code}"><seg>{escaped(text)}</seg></tuv>'
            for code, text in zip(codes, texts, strict=True)
        )
        for texts in units
    ]
    body = "\n".join(f"<tu>{unit}</tu>" for unit in variants)
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{dtd}\n<tmx version="1.4">'
    text += f'<header srclang="{source}" datatype="plain"/><body>{body}</body></tmx>'
    return text.encode(encoding)


def xliff_1():
    """Returns an XLIFF 1.2 file as bytes; its last unit is not translated."""
    units = "".join(
        f'<trans-unit id="{number}"><source>{escaped(source)}</source><target state="final">'
        f"{escaped(target)}</target><alt-trans><target>other</target></alt-trans></trans-unit>"
        for number, (source, target) in enumerate(PAIRS)
    )
    units += '<trans-unit id="9"><source>Neu</source><target/></trans-unit>'
    head = f'<xliff version="1.2" {XLIFF_NAMES}1.2"><file original="x" datatype="plaintext"'
    head += ' source-language="de" target-language="en">'
    return f"{head}<body>{units}</body></file></xliff>".encode()


def xliff_2():
    """Returns an XLIFF 2.0 file as bytes, with two segments in a unit."""
    segments = "".join(
        f"<segment><source>{escaped(source)}</source><target>{escaped(target)}</target></segment>"
        for source, target in PAIRS
    )
    head = f'<xliff version="2.0" srcLang="de" trgLang="en" {XLIFF_NAMES}2.0">'
    return f'{head}<file id="f"><unit id="u">{segments}</unit></file></xliff>'.encode()


def workbook(path, **sheets):
    """Writes an .xlsx of sheets, each a list of rows. Returns its path."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.fixture(autouse=True)
def _nothing_was_said_before(caplog):
    messages.log_once.cache_clear()
    caplog.set_level("INFO", "nmt")


# ---- What each format holds ----


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tmx", tmx()),
        ("a.TMX", tmx(dtd="")),
        ("a.tmx.gz", gzip.compress(tmx(), mtime=0)),
        ("utf-16.tmx", tmx(encoding="UTF-16")),
        ("latin.tmx", tmx(encoding="ISO-8859-1")),
        ("bom.tmx", b"\xef\xbb\xbf" + tmx()),
        ("turned.tmx", tmx([pair[::-1] for pair in PAIRS], ("en-US", "de-DE"), "de")),
        ("three-letters.tmx", tmx(codes=("deu", "eng"), source="*all*")),
        ("a.xlf", xliff_1()),
        ("a.xliff.gz", gzip.compress(xliff_2(), mtime=0)),
    ],
)
def test_xml_formats_give_their_pairs_and_languages(name, content, tmp_path):
    path = write(tmp_path / name, content)
    assert [*files.read_pairs([path])] == PAIRS
    assert [tuple(row.cells) for row in cleaning.read([path])] == PAIRS
    assert files.languages_of([path]) == ("de", "en")


def test_every_format_is_trained_on(tmp_path):
    paths = [
        write(tmp_path / "a.tmx", tmx()),
        write(tmp_path / "a.xlf", xliff_1()),
        workbook(tmp_path / "a.xlsx", Sheet=PAIRS),
        write(tmp_path / "a.tsv", b"id\tde\ten\n1\tja\tyes\n2\tnein\tno\n"),
    ]
    for path in paths[:-1]:
        assert list(datasets.checked_dataset([path])) == PAIRS
    assert list(datasets.checked_dataset(paths[-1:])) == [("ja", "yes"), ("nein", "no")]
    assert [len(group.paths) for group in files.grouped(paths)] == [1] * 4


def test_markup_within_a_segment_is_no_text(tmp_path):
    memory = (
        b'<tmx><header srclang="en"/><body><tu><tuv lang="en"><seg>Press <bpt i="1">&lt;b></bpt>\n'
        b'   the<ept i="1">&lt;/b></ept> <hi>red</hi> <!-- no --> one<ph>{1}</ph>.</seg></tuv>'
        b'<tuv lang="fr"><seg>Appuyez &#233;t&#xe9;</seg></tuv></tu></body></tmx>'
    )
    path = write(tmp_path / "a.tmx", memory)
    assert [*files.read_pairs([path])] == [("Press the red  one.", "Appuyez été")]
    units = (
        b'<segment><source>a<pc id="1">b</pc><ph id="2"/>c<sc id="3"/></source>'
        b"<target>x<mrk>y</mrk>z</target></segment>"
    )
    path = write(tmp_path / "a.xlf", b'<xliff srcLang="en" trgLang="fr">' + units + b"</xliff>")
    assert [*files.read_pairs([path])] == [("abc", "xyz")]


def test_a_second_text_of_a_unit_in_a_language_is_counted(tmp_path, caplog):
    second = b"<tuv xml:lang='%s'><seg>%s</seg></tuv></tu>"
    first = b"<tu><tuv xml:lang='de'><seg>Ein Hund.</seg></tuv>"
    first += b"<tuv xml:lang='en'><seg>A dog.</seg></tuv>"
    cases = ((b"en-GB", b"x", True), (b"de", b"x", True), (b"en", b"A dog.", False))
    for language, text, said in (*cases, (b"fr", b"x", False)):
        memory = b"<tmx><header srclang='de'/><body>" + first + second % (language, text)
        path = write(tmp_path / f"{language.decode()}.tmx", memory + b"</body></tmx>")
        assert [*files.read_pairs([path], Selection(Pair("de", "en")))] == [("Ein Hund.", "A dog.")]
        line = f"{path}: 1 of 1 unit with several texts in a language: the first of each is read"
        assert (line in caplog.text) is said


def test_units_without_both_sides_are_left_out_and_counted(tmp_path, caplog):
    content = tmx().replace(b"</body>", b"<tu><tuv lang='de'><seg>x</seg></tuv></tu></body>")
    assert [*files.read_pairs([write(tmp_path / "a.tmx", content)])] == PAIRS
    assert [*files.read_pairs([write(tmp_path / "a.xlf", xliff_1())])] == PAIRS
    assert "a.tmx: 1 of 3 units left out: without text in de or en." in caplog.text
    assert "a.xlf: 1 of 3 units left out: not translated." in caplog.text


def test_of_three_languages_two_are_chosen_and_never_guessed(tmp_path):
    units = [(source, target, f"fr {source}") for source, target in PAIRS]
    path = write(tmp_path / "a.tmx", tmx(units, ("de", "en-GB", "fr"), "*all*"))
    chosen = Selection(Pair("fr", "en"))
    assert [*files.read_pairs([path], chosen)] == [(third, en) for _, en, third in units]
    with pytest.raises(UserError, match="holds de, en-GB, fr; name two of them"):
        [*files.read_pairs([path])]
    with pytest.raises(UserError, match="no unit is in fr and es; the languages are de, en-GB, fr"):
        [*files.read_pairs([path], Selection(Pair("fr", "es")))]
    path = write(tmp_path / "a.xlf", xliff_1())
    with pytest.raises(UserError, match="is de to en, not en to de; name --languages as"):
        [*files.read_pairs([path], Selection(Pair("en", "de")))]
    assert [*files.read_pairs([path], Selection(Pair("de-DE", "en-US")))]
    other = xliff_1().replace(b'target-language="en"', b'target-language="fr"')
    _, begin, body = other.partition(b"<file")
    two = xliff_1().replace(b"</xliff>", begin + body)
    with pytest.raises(UserError, match="is de to fr, not de to en"):
        [*files.read_pairs([write(tmp_path / "two.xlf", two)])]


# ---- Columns ----

TABLE = "id,de,en,fr\n1,ja,yes,oui\n2,nein,no,non\n"


@pytest.mark.parametrize(
    ("name", "content", "selection", "expected"),
    [
        ("a.csv", TABLE, Selection(Pair("fr", "en")), [("oui", "yes"), ("non", "no")]),
        ("a.csv", TABLE, Selection(columns=("EN", "2")), [("yes", "ja"), ("no", "nein")]),
        ("a.csv", "\ufeffid,Source,TARGET\n1,ja,yes\n", Selection(), [("ja", "yes")]),
        ("a.csv", 'de;en\n"ja; doch";yes, yes\n', Selection(), [("ja; doch", "yes, yes")]),
        ("a.csv", "sep=;\nde;en\nja;yes\n", Selection(), [("ja", "yes")]),
        ("a.csv", "de,en\nja,yes\n,\n , \n", Selection(), [("ja", "yes")]),
        ("a.csv", TABLE, Selection(Pair("de-DE", "en-US")), [("ja", "yes"), ("nein", "no")]),
        ("a.csv", "de,de-AT,en\nja,jo,yes\n", Selection(Pair("de-AT", "en")), [("jo", "yes")]),
        ("a.csv", "pt-BR,pt,en\ntu,vos,you\n", Selection(Pair("pt-BR", "en-US")), [("tu", "you")]),
        ("a.tsv", "1\tja\tyes\n2\tn\tno\n", Selection(columns=("2", "3")),
         [("ja", "yes"), ("n", "no")]),
        ("a.tsv", "deu\teng\nja\tyes\n", Selection(), [("ja", "yes")]),
        ("a.tsv", "is it\tdet er\n", Selection(Pair("en", "da")), [("is it", "det er")]),
    ],
)  # fmt: skip
def test_columns_are_those_that_the_first_line_or_a_flag_names(
    name, content, selection, expected, tmp_path
):
    path = write(tmp_path / name, content.encode())
    assert [*files.read_pairs([path], selection)] == expected
    assert [tuple(row.cells) for row in cleaning.read([path], selection)] == expected
    is_as_it_stands = content.count("\n") == len(expected)  # without a header, and two columns
    assert files.is_plain(path, selection) == (is_as_it_stands and not selection.columns)


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("Ja, genau;Yes", ("Ja, genau", "Yes")),
        ("1,5 Liter;1.5 liters", ("1,5 Liter", "1.5 liters")),
        ("Ja; doch, Yes", ("Ja; doch", " Yes")),
        ('"Hello;Bob", Hallo', ("Hello;Bob", " Hallo")),
        ("caf&eacute;, café", ("caf&eacute;", " café")),
    ],
)
def test_a_comma_or_a_semicolon_within_a_sentence_separates_no_cells(line, pair, tmp_path):
    assert [*files.read_pairs([write(tmp_path / "a.csv", f"{line}\n".encode())])] == [pair]


@pytest.mark.parametrize(
    ("name", "content", "selection", "said"),
    [
        ("a.csv", TABLE, Selection(), "has columns de, en, fr; name two of them"),
        ("a.csv", TABLE, Selection(Pair("en", "es")), "has columns de, en, fr; name two"),
        ("a.csv", "en,en-GB,de\na,b,c\n", Selection(Pair("de", "en")), "has columns en, en-GB"),
        ("a.csv", TABLE, Selection(columns=("de", "x")), "has no column x; its first line is: id"),
        ("a.csv", TABLE, Selection(columns=("0", "2")), "has no column 0"),
        ("a.csv", TABLE, Selection(columns=("2", "5")), "has no column 5"),
        ("a.tsv", "ein Satz\ta sentence\t0.7\n", Selection(), "cut -f1,2, or by --columns 1,2"),
        ("a.csv", "1,das Haus,a house\n", Selection(), "them, or choose two: --columns 2,3"),
    ],
)
def test_columns_that_are_not_sure_are_a_line_with_the_right_ones(
    name, content, selection, said, tmp_path
):
    path = write(tmp_path / name, content.encode())
    with pytest.raises(UserError, match=said):
        [*files.read_pairs([path], selection)]


def test_a_spreadsheet_is_the_sheet_that_has_two_columns_of_text(tmp_path, caplog):
    rows = [("id", "en", "de"), (1, "three", "drei"), (), (2, 4.0, None)]
    path = workbook(tmp_path / "a.xlsx", Sheet=[], texts=rows)
    assert [*files.read_pairs([path])] == [("three", "drei"), ("4", "")]
    assert files.languages_of([path]) == ("en", "de")
    assert "a.xlsx: sheet 'texts' of 'Sheet', 'texts'. To choose another: --sheet" in caplog.text
    assert "a.xlsx: columns en and de, by its first line." in caplog.text


NOTES = [("Author", "Ana"), ("Project", "Texts of the shop"), ("Date", "2024"), ("Lines", "2")]
TEXTS = [("Das ist ein Haus.", "This is a house."), ("Ein Hund läuft weg.", "A dog runs away.")]


@pytest.mark.parametrize("head", [("English", "German"), ("Source", "Target"), None])
@pytest.mark.parametrize("order", [("Info", "Texts"), ("Texts", "Info")])
def test_notes_on_another_sheet_are_never_taken_for_the_text(head, order, tmp_path, caplog):
    sheets = {"Info": NOTES, "Texts": [head, *TEXTS] if head else TEXTS}
    path = workbook(tmp_path / "a.xlsx", **{title: sheets[title] for title in order})
    assert [*files.read_pairs([path])] == TEXTS
    assert "a.xlsx: sheet 'Texts' of " in caplog.text
    assert [*files.read_pairs([path], Selection(sheet="Info"))] == NOTES
    with pytest.raises(UserError, match=r"--sheet text: .* has no such sheet, but"):
        [*files.read_pairs([path], Selection(sheet="text"))]


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (["ID", "English", "French", "Status"], "English and French"),
        (["id", "Français", "Englisch", "no."], "Français and Englisch"),
    ],
)
def test_a_first_row_of_names_of_languages_is_no_pair_and_said(head, names, tmp_path, caplog):
    rows = [head, *([number, *pair, "done"] for number, pair in enumerate(TEXTS))]
    path = workbook(tmp_path / "a.xlsx", Texts=rows)
    tsv = write(
        tmp_path / "a.tsv", "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()
    )
    for table, selection in (
        (path, Selection()), (tsv, Selection()), (path, Selection(columns=("2", "3"))),
        (tsv, Selection(columns=(head[1], head[2]))),
    ):  # fmt: skip
        caplog.clear()
        messages.log_once.cache_clear()
        assert [*files.read_pairs([table], selection)] == TEXTS
        assert f": columns {names}" in caplog.text
        assert "by its first line. (If that is a pair of texts: --no-header)" in caplog.text


def test_the_names_of_columns_are_advised_where_there_are_some(tmp_path, caplog):
    rows = [["Nr", "Original text", "Übersetzung", "Status"]]
    rows += [[number, *pair, "done"] for number, pair in enumerate(TEXTS * 2)]
    path = workbook(tmp_path / "a.xlsx", Texts=rows)
    with pytest.raises(UserError, match="choose two: --columns 'Original text,Übersetzung'"):
        [*files.read_pairs([path])]
    assert call("data", path, "--columns", "Original text,Übersetzung") == 0
    chosen = Selection(columns=("Original text", "Übersetzung"))
    assert [*files.read_pairs([path], chosen)] == TEXTS * 2
    caplog.clear()
    messages.log_once.cache_clear()
    by_numbers = Selection(columns=("2", "3"))
    assert [*files.read_pairs([path], by_numbers)] == TEXTS * 2
    assert ": columns Original text and Übersetzung, by its first line. (If" in caplog.text
    with_first_row = by_numbers._replace(has_header=False)
    assert [*files.read_pairs([path], with_first_row)] == [tuple(rows[0][1:3]), *TEXTS * 2]
    plain = workbook(tmp_path / "b.xlsx", Texts=rows[1:])
    with pytest.raises(UserError, match="choose two: --columns 2,3"):
        [*files.read_pairs([plain])]


def test_a_sheet_whose_first_row_names_the_sides_comes_before_one_with_more_text(tmp_path, caplog):
    notes = [
        ["what was exported here", f"{'a long note on it ' * 5}{number}"] for number in range(9)
    ]
    texts = [["Nr", "Deutsch", "English"], *([number, *pair] for number, pair in enumerate(TEXTS))]
    path = workbook(tmp_path / "a.xlsx", Info=notes, Texts=texts)
    assert [*files.read_pairs([path])] == TEXTS
    assert f"{path}: sheet 'Texts' of 'Info', 'Texts'. To choose another:" in caplog.text
    named = [["Nr", "Was?", "What?"], *texts[1:]]
    path = workbook(tmp_path / "b.xlsx", Info=notes, Texts=named)
    assert [*files.read_pairs([path], Selection(columns=("Was?", "what?")))] == TEXTS
    repeated = [["Version 3 of the export", "made in our office"]] * 50  # is no more text than once
    path = workbook(tmp_path / "c.xlsx", Info=repeated, Texts=[[*pair] for pair in TEXTS * 2])
    assert [*files.read_pairs([path])] == TEXTS * 2


@pytest.mark.parametrize("content", ["es\tis\nja\tyes\n", "source\ttarget\na\tb\n"])
def test_a_flag_says_that_a_table_has_no_header(content, tmp_path, capsys):
    path = write(tmp_path / "a.tsv", content.encode())
    rows = [tuple(line.split("\t")) for line in content.splitlines()]
    assert [*files.read_pairs([path])] == rows[1:]
    plain = Selection(has_header=False)
    assert [*files.read_pairs([path], plain)] == rows
    assert [*files.read_pairs([path], plain._replace(columns=("2", "1")))] == [
        row[::-1] for row in rows
    ]
    assert files.languages_of([path], plain) is None
    with pytest.raises(UserError, match="with --no-header, columns have no names"):
        [*files.read_pairs([path], plain._replace(columns=rows[0]))]
    assert call("data", path, "--no-header") == 0
    assert capsys.readouterr().out.startswith("2 pairs")
    source = {"dataset": str(path), "header": False, "valid": [str(path)], "test": [str(path)]}
    assert len(corpora.load_corpus(source_of(source), 1).train) == 2


def test_empty_lines_of_a_tsv_are_counted(tmp_path, caplog):
    path = write(tmp_path / "a.tsv", b"\num\tone\n\n\tone\n")
    assert [*files.read_pairs([path])] == [("um", "one"), ("", "one")]
    assert f"{path}: 2 empty lines left out." in caplog.messages


def test_a_sheet_of_no_spreadsheet_is_refused(tmp_path, capsys):
    path = write(tmp_path / "a.tsv", b"um\tone\n")
    for flags in (["data", path], ["--dataset", path]):
        assert call(*flags, "--sheet", "Texts") == 2
        assert "--sheet Texts: no .xlsx is named; leave it out" in capsys.readouterr().err


# ---- Files that are not what they should be ----

LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
SECRET = "a secret that no file may ask for"


def hostile_files(folder):
    """Writes hostile files. Returns what is said of each, by its path."""
    secret = write(folder / "secret.txt", SECRET.encode())
    entity = tmx(dtd=f'<!DOCTYPE tmx [<!ENTITY x SYSTEM "{secret.as_uri()}">]>')
    parameter = tmx(dtd=f'<!DOCTYPE tmx [<!ENTITY % x SYSTEM "{secret.as_uri()}"> %x;]>')
    laughs = tmx(dtd=f'<!DOCTYPE tmx [<!ENTITY a0 "ha">{LAUGHS}]>')
    in_attribute = laughs.replace(b'version="1.4"', b'version="&a9;"')
    contents = {
        "entity.tmx": (entity.replace(b"mehr", b"&x;"), "declares entities"),
        "parameter.tmx": (parameter, "declares entities"),
        "laughs.tmx": (laughs.replace(b"mehr", b"&a9;"), "declares entities"),
        "attribute.tmx": (in_attribute, "is not well-formed XML"),
        "undeclared.tmx": (tmx().replace(b"mehr", b"&nbsp;"), "uses the entity &nbsp;"),
        "cut.tmx": (tmx()[:300], "is not well-formed XML"),
        "nul.tmx": (tmx().replace(b"mehr", b"\0"), "is not well-formed XML"),
        "encoding.tmx": (tmx().replace(b"UTF-8", b"klingon"), "Unsupported encoding: klingon"),
        "wrong.tmx": (tmx(encoding="ISO-8859-1").replace(b"ISO-8859-1", b"UTF-8"), "not well-form"),
        "deep.tmx": (b"<a>" * 100_000, "is not well-formed XML"),
        "empty.tmx": (b"", "is not well-formed XML"),
        "zip.xlf": (b"PK\x03\x04rest", "is a zip archive or a spreadsheet"),
        "rest.xlsx": (b"PK\x03\x04rest", "is not a spreadsheet that can be read"),
        "empty.xlsx": (b"", "is not a spreadsheet that can be read"),
        "old.tsv": (b"\xd0\xcf\x11\xe0\xa1\xb1", "is an old spreadsheet or document"),
    }
    expected = {write(folder / name, data): said for name, (data, said) in contents.items()}
    with zipfile.ZipFile(folder / "other.xlsx", "w") as archive:
        archive.writestr("a.txt", "text")
    expected[folder / "other.xlsx"] = "is not a spreadsheet that can be read"
    expected[workbook(folder / "blank.xlsx", Sheet=[])] = "holds no pair"
    return expected


def test_a_hostile_file_is_one_line_and_gives_nothing_away(tmp_path, capsys):
    for path, said in hostile_files(tmp_path).items():
        assert call("data", path) == 2, path
        captured = capsys.readouterr()
        assert said in captured.err.splitlines()[-1], path
        assert "Traceback" not in captured.err
        assert SECRET not in captured.out + captured.err
        with pytest.raises(UserError):
            datasets.checked_dataset([path])


def test_a_spreadsheet_that_unpacks_to_more_than_memory_holds_is_refused(tmp_path, monkeypatch):
    from nmt.corpus.formats import xlsx

    path = workbook(tmp_path / "a.xlsx", Sheet=PAIRS)
    monkeypatch.setattr(xlsx, "MAX_BYTES", 100)
    with pytest.raises(UserError, match="is larger than 1 GiB when unpacked"):
        [*files.read_pairs([path])]


def test_a_missing_package_is_a_line_that_installs_it(tmp_path, monkeypatch):
    from nmt.corpus.formats import format as formats

    monkeypatch.setattr(formats.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r'needs openpyxl.*pip install -e "\.\[data\]"'):
        [*files.read_pairs([write(tmp_path / "a.xlsx", tmx())])]


def test_a_memory_of_many_units_takes_no_memory(tmp_path):
    import tracemalloc

    path = write(tmp_path / "a.tmx", tmx(PAIRS * 1000))
    tracemalloc.start()
    assert sum(1 for _ in files.read_pairs([path])) == 2000
    assert tracemalloc.get_traced_memory()[1] < 1_000_000  # bytes, at the most
    tracemalloc.stop()


# ---- The program ----


def test_data_converts_what_it_reads(tmp_path, refusal_of):
    path, clean = write(tmp_path / "a.tmx", tmx()), tmp_path / "clean.tsv"
    assert call("data", path, "--languages", "en-de", "--to", clean) == 0
    assert clean.read_text(encoding="utf-8") == "".join(f"{t}\t{s}\n" for s, t in PAIRS)
    assert "write cs" in refusal_of("data", path, "--languages", "cz-de")


def test_languages_and_columns_are_remembered_for_the_direction_of_the_run(tmp_path):
    path = write(tmp_path / "a.csv", TABLE.encode())
    source = {"train": [str(path)], "columns": ["de", "en"]}
    assert languages_of(source) == ["de", "en"]
    assert languages_of(source | {"reverse": True}) == ["en", "de"]
    backward = {"train": [str(path)], "languages": ["en", "fr"], "reverse": True}
    assert source_of(backward).selection == Selection(Pair("fr", "en"))
    assert source_of(source).selection == Selection(None, ("de", "en"))


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"".join(b"um %d\tone %d\n" % (n, n) for n in range(3000)), 0, "3,000 without"),
        (b"1\tum dois\tone two\n", 2, "cut -f2,3"),
    ],
)
def test_a_pipe_is_read_once(content, code, said, capsys):
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    assert call("data", f"/dev/fd/{reader}") == code
    os.close(reader)
    captured = capsys.readouterr()
    assert said in captured.out + captured.err
