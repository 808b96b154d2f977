"""What must hold of the report on parallel text: each known damage is found, and nothing else."""

import codecs
import dataclasses
import gzip
import tempfile
from types import SimpleNamespace

import pytest
from helpers import call, sentences

from nmt import UserError
from nmt.corpus import cleaning, files
from nmt.corpus.filtering import FilterRequest, filter_text
from nmt.corpus.formats.format import Row
from nmt.corpus.lengths import Lengths
from nmt.text import line_languages, tmx_text
from nmt.text.languages import Pair
from nmt.text.line_languages import LineLanguages

GOOD = [
    (f"{s} Olá, é um número.", f"{t} Hello, it is one.") for s, t in dict.fromkeys(sentences(300))
][:200]
DAMAGES = {  # a pair with one problem each, as bytes
    "encoding": ("São Paulo é grande.".encode("latin1"), b"Sao Paulo is large."),
    "columns": (b"um\tdois", b"one"),  # a tab within a line
    "empty": (b"um dois", b""),
    "control": (b"um\x07 dois", b"one two"),
    "quotes": (b'"um dois"', b'"one two"'),
    "tags": ("<b>olá</b>".encode(), b"<b>hello</b>"),
    "urls": ("veja www.a.io já".encode(), b"see www.a.io now"),
    "duplicate": tuple(side.encode() for side in GOOD[7]),
    "equal": (b"Copyright, all rights reserved", b"Copyright, all rights reserved"),
    "ratio": (b"um", b"one " * 20),
    "long": (b"um " * 101, b"one " * 101),
    "script": ("привет, как дела".encode(), b"hello, how are you"),
    "language": ("eles comem pão em casa".encode(), b"wir essen Brot zu Hause"),
    "numbers": (b"tem 12 anos", b"he is 13 years old"),
    "placeholders": (b"caro {name}", b"dear {nome}"),
    "misaligned": (b"um dois", b"one two three four five six"),
    "test": (b"isto vem do teste", b"this comes from the test"),
    "spelling": ("esta\u0301 bem".encode(), b"it is fine"),
    "invisible": ("dez\u00a0anos".encode(), "ten \u200byears".encode()),
}


def write(path, pairs):
    path.write_bytes(b"".join(source + b"\t" + target + b"\n" for source, target in pairs))
    return path


@pytest.fixture
def damaged(tmp_path):
    """A .tsv of good pairs with one of each damage, and the test text."""
    good = [tuple(side.encode() for side in pair) for pair in GOOD]
    write(tmp_path / "test.tsv", [DAMAGES["test"]])
    return write(tmp_path / "all.tsv", [*good, *DAMAGES.values()])


def test_each_known_damage_is_found_and_shown_once(damaged, capsys):
    assert {*DAMAGES} == {*cleaning.PROBLEMS}
    flags = ["--test", damaged.parent / "test.tsv", "--languages", "pt-en"]
    assert call("data", damaged, *flags) == 0
    lines = capsys.readouterr().out.splitlines()
    harmless = len(cleaning.HARMLESS)
    assert lines[0] == f"{200 + len(DAMAGES)} pairs, {200 + harmless} without a problem"
    for number, name in enumerate(DAMAGES, start=201):
        title = next(n for n, line in enumerate(lines) if line.startswith(f"{name}: 1 (0.5%)"))
        assert lines[title + 1].startswith(f"  {number}: ")
    for visible in (r"um\x07 dois", r"esta\u0301 bem", r"dez\xa0anos | ten \u200byears"):
        assert any(visible in line for line in lines)


@pytest.mark.parametrize("drop", [["all"], ["columns", "encoding", "duplicate"]])
def test_what_is_named_is_dropped_and_nothing_else(damaged, drop, tmp_path, capsys):
    clean = tmp_path / "clean.tsv"
    assert call("data", damaged, "--to", clean, "--drop", *drop) == 0
    total, harmless = 200 + len(DAMAGES), len(cleaning.HARMLESS)
    unchecked = 2  # no test text is named, nor are languages
    kept = 200 + unchecked + harmless if drop == ["all"] else total - 3
    assert f"{kept} of {total} pairs written to {clean}" in capsys.readouterr().out
    lines = clean.read_text(encoding="utf-8").split("\n")
    assert lines[:200] == [f"{source}\t{target}" for source, target in GOOD]
    assert len(lines) == kept + 1
    assert call("data", clean) == 0
    printed = capsys.readouterr().out
    dropped = cleaning.PROBLEMS.keys() - cleaning.HARMLESS if drop == ["all"] else drop
    assert not any(f"\n{name}: " in printed for name in dropped if name != "test")


def test_aligned_files_are_read_as_a_tsv_is_and_the_longer_one_is_named(tmp_path, capsys):
    (tmp_path / "a").write_text("um\ndois\ntrês\n")
    (tmp_path / "b").write_text("one\r\ntwo\r\n")
    assert call("data", tmp_path / "a", tmp_path / "b") == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "3 pairs, 2 without a problem"
    assert f"columns: 1 (33.3%): {cleaning.PROBLEMS['columns']}" in lines
    assert lines[-1] == "  3: três | "
    assert f"{tmp_path / 'b'}: ends at line 2, but {tmp_path / 'a'} is longer." in captured.err


def test_several_corpora_are_cleaned_together_and_what_is_left_out_has_its_reason(
    damaged, tmp_path, capsys
):
    repeated = [tuple(side.encode() for side in pair) for pair in GOOD[:3]]
    first, second = write(tmp_path / "a.tsv", repeated), write(tmp_path / "b.tsv", repeated[:2])
    (tmp_path / "c.pt").write_text("novo texto\n\nisto vem do teste\n")
    (tmp_path / "c.en").write_text("new text\nempty\nthis is from the test\n")
    sides = tmp_path / "c.pt", f"{tmp_path / 'c.en'}:3"
    tests = [second, tmp_path / "test.tsv"]
    other = write(tmp_path / "d.tsv", [(b"outro", b"other")])
    new = [tmp_path / "new.pt", tmp_path / "new.en.gz"]
    drop = ["--drop", "duplicate", "empty", "test"]
    assert (
        call("data", first, second, *sides, other, "--test", *tests[1:], "--to", *new, *drop) == 0
    )
    out = capsys.readouterr().out
    assert new[0].read_text().splitlines() == [*(source for source, _ in GOOD[:3]),
        *["novo texto"] * 3, "outro"]  # fmt: skip
    assert gzip.decompress(new[1].read_bytes()).decode().splitlines()[3:] == [
        *["new text"] * 3, "other"]  # fmt: skip
    assert out.splitlines()[-5:] == [
        f"{first}: 3 of 3 pairs written",
        f"{second}: 0 of 2 pairs written; left out: 2 duplicate",
        f"{sides[0]} {sides[1]}: 1 of 3 pairs, by weight 3, written; left out: 1 empty, 1 test",
        f"{other}: 1 of 1 pair written",
        f"5 of 9 pairs, by weight 7, written to {new[0]} and {new[1]}; left out: 2 duplicate, "
        "1 empty, 1 test",
    ]
    assert f"{second}\n\n2 pairs, 0 without a problem\n" in out
    assert "All 4 corpora\n\n9 pairs, 5 without a problem\n" in out
    assert "\nduplicate: 2 (22.2%)" in out
    assert call("data", first, "--test", *tests, "--to", tmp_path / "e.tsv", "--drop", "test") == 0
    assert "1 of 3 pairs written" in capsys.readouterr().out  # two are in the first test file


def test_the_newest_pairs_are_held_out_and_no_source_is_on_both_sides(tmp_path, capsys):
    units = [("c", "1", 3), ("a", "old", 1), ("b", "2", 2), ("d", "3", 4), ("a", "new", 5)]
    units += [("d", "", 6)]
    for name, part, dash in (("late", units[3:], "-"), ("early", units[:3], "")):
        texts = (
            tmx_text.unit(("pt", "en"), pair, {"creationdate": f"2026{dash}01{dash}0{day}T000000Z"})
            for *pair, day in part
        )
        content = tmx_text.head("pt", "serve") + "".join(texts) + tmx_text.END
        (tmp_path / f"{name}.tmx").write_text(content)
    files = [tmp_path / "late.tmx", tmp_path / "early.tmx:2"]
    train, test = tmp_path / "train.tsv", tmp_path / "test.tsv"
    held_out = ["--hold-out", test, "--newest", "2"]
    assert call("data", *files, "--to", train, *held_out, "--drop", "empty") == 0
    assert train.read_text() == "a\tnew\n" + "b\t2\n" * 2  # by the first time of each source
    assert test.read_text() == "c\t1\nd\t3\n"
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"2 pairs of 6, by weight 3, written to {train}, the newest 2 to {test}; left out: 1 "
        "empty, 1 older than another target of their source"
    )


def test_a_unit_is_as_new_as_its_last_change(tmp_path):
    units = [
        ('creationdate="20240101T000000Z" changedate="20250101T000000Z"', "", "changed"),
        ('creationdate="20240601T000000Z"', "", "later"),
        ("", 'changedate="20260101T000000Z"', "its text"),
        ('creationdate="20240701T000000Z"', 'changedate="20200101T000000Z"', "latest but two"),
    ]
    texts = (
        f'<tu {unit}><tuv xml:lang="pt"><seg>{text}</seg></tuv>'
        f'<tuv xml:lang="en" {variant}><seg>{text}</seg></tuv></tu>'
        for unit, variant, text in units
    )
    memory, test = tmp_path / "a.tmx", tmp_path / "test.tsv"
    memory.write_text(tmx_text.head("pt", "") + "".join(texts) + tmx_text.END)
    command = ["data", memory, "--to", tmp_path / "b.tsv", "--hold-out", test, "--newest", "2"]
    assert call(*command) == 0
    assert test.read_text() == "changed\tchanged\nits text\tits text\n"


def test_of_pairs_without_a_time_those_of_the_highest_weight_are_the_newest(tmp_path):
    terms = write(tmp_path / "terms.tsv", [(b"sim", b"yes"), (b"um", b"one")])
    other = write(tmp_path / "other.tsv", [(b"dois", b"two"), (b"sim", b"yep")])
    train, test = tmp_path / "train.tsv", tmp_path / "test.tsv"
    command = ["data", f"{terms}:2", other, "--to", train, "--hold-out", test, "--newest", "1"]
    assert call(*command) == 0
    assert train.read_text() == "dois\ttwo\n" + "sim\tyes\n" * 2
    assert test.read_text() == "um\tone\n"


def test_a_translation_memory_is_written_that_is_read_as_the_same_pairs(tmp_path, capsys):
    pairs = [("1 < 2 & 3", 'he said "no"'), ("está  bem \U0001f600", "fine]]>")]
    tsv = write(tmp_path / "a.pt-BR-en.tsv", [tuple(map(str.encode, pair)) for pair in pairs])
    assert call("data", tsv, "--to", tmp_path / "a.tmx.gz") == 0
    assert "2 of 2 pairs written" in capsys.readouterr().out
    content = gzip.decompress((tmp_path / "a.tmx.gz").read_bytes()).decode()
    assert '<tuv xml:lang="pt-BR"><seg>1 &lt; 2 &amp; 3</seg></tuv>' in content
    assert [tuple(row.cells) for row in cleaning.read([tmp_path / "a.tmx.gz"])] == pairs
    assert files.languages_of([tmp_path / "a.tmx.gz"]) == Pair("pt", "en")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.tsv"], "gone.tsv: No such file"),
        (["empty.tsv", "--to", "x.tsv", "--drop", "all"], "empty.tsv: holds no pair"),
        (["a.tsv", "--test", "a.tsv", "tabs"], "tabs: is not followed by the file of its transl"),
        (["a.tsv", "empty.tsv", "--to", "x.tsv"], "empty.tsv: holds no pair"),
        (["a.tsv", "tabs.tsv", "--to", "x.pt", "x.en"], "tabs.tsv: line 2: not one source and one"),
        (["a.tsv", "--to", "x.tsv", "x.en"], "--to x.tsv x.en: pairs are written as a .tsv or"),
        (["a.tsv", "--to", "x.pt", "tabs"], "tabs: exists already"),
        (["a.tsv", "--to", "x.tmx"], "--to x.tmx: needs the languages; name them: --languages"),
        (["a.pt-en.tsv", "a.en-pt.tsv", "--to", "x.tmx"], "in pt-en and en-pt, which this file"),
        (["bell.tsv", "--to", "x.tmx", "--languages", "pt-en"], "line 1: U+0007 is no character"),
        (["cut.gz", "tabs"], "cut.gz: is not a whole gzip file"),
        (["a.tsv", "--drop", "all"], "--drop needs --to"),
        (["a.tsv", "--to", "a.tsv", "--drop", "all"], "a.tsv: exists already"),
        (["a.tsv", "--to", "a.tsv/x.tsv", "--drop", "all"], "a.tsv/x.tsv: File exists"),
        (["tabs.tsv", "--to", "x.tsv", "--drop", "empty"], "line 2: not one source and one target"),
        (["a.tsv", "--test", "gone"], "gone: No such file"),
        (["a.tsv", "--hold-out", "x.tsv"], "--hold-out needs --to"),
        (["a.tsv", "--to", "x.tsv", "--newest", "2"], "--newest is for --hold-out"),
        (["a.tsv", "--to", "x.tsv", "--hold-out", "./x.tsv"], "x.tsv: is the file of --to, too"),
        (["a.tsv", "--to", "x.pt", "./x.pt"], "x.pt: name one .tsv or .tmx, or a source and"),
        (["a.tsv", "--to", "x.tsv", "--hold-out", "a.tsv"], "another path with --hold-out"),
        (["a.tsv", "--to", "x.tsv", "--hold-out", "y.tsv"], "only 1 different source, and some"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_file(
    arguments, said, tmp_path, monkeypatch, refusal_of
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text("um\tone\n")
    (tmp_path / "tabs.tsv").write_text("um\tone\num\tdois\tone\n")
    for name in ("a.pt-en.tsv", "a.en-pt.tsv"):
        (tmp_path / name).write_text("um\tone\n")
    (tmp_path / "bell.tsv").write_text("u\x07m\tone\n")
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "tabs").write_text("um\tdois\n" * 2)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"um\ndois\n")[:-4])
    there = {*tmp_path.iterdir()}
    assert said in refusal_of("data", *arguments).splitlines()[-1]
    assert {*tmp_path.iterdir()} == there


def test_empty_lines_of_a_tsv_are_no_pairs_as_in_training(tmp_path, capsys):
    path, clean = tmp_path / "a.tsv", tmp_path / "clean.tsv"
    path.write_text("\ufeffum\tone\n\ndois\n\ntrês\tthree\n", encoding="utf-8")
    assert call("data", path, "--to", clean, "--drop", "columns") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 pairs, 2 without a problem"
    assert any(line.startswith("  3: dois") for line in lines)
    assert clean.read_text(encoding="utf-8") == "um\tone\ntrês\tthree\n"


def test_references_to_characters_are_read_as_these(tmp_path):
    path, clean = tmp_path / "a.tsv", tmp_path / "clean.tsv"
    path.write_text("A &amp; B&#10;C &amp;lt;\t&quot;A&quot;&nbsp;&copy &x;\n", encoding="utf-8")
    assert call("data", path, "--to", clean) == 0
    assert clean.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    clean.unlink()
    assert call("data", path, "--to", clean, "--unescape") == 0
    assert clean.read_text(encoding="utf-8") == 'A & B C &lt;\t"A"\xa0© &x;\n'


def checker_of(pairs):
    """Returns a Checker that decides by all of `pairs` (strings), and their problems."""
    rows = [Row(0, [*pair]) for pair in pairs]
    checker = cleaning.Checker(rows)
    return checker, [checker.problems(row.cells)[0] for row in rows]


def test_scripts_are_those_of_most_lines_whatever_the_language():
    header = ("source", "target")  # as the first line, it decides nothing
    pairs = [(f"你好 {number}", f"Здравствуй {number}") for number in range(20)]
    checker, pair_problems = checker_of([header, *pairs])
    assert pair_problems == [["script"]] + [[]] * 20
    assert checker.problems(["good morning", "доброе утро"])[0] == ["script"]
    assert checker.problems(["NASA 火箭发射了", "ракета NASA взлетела"])[0] == []


def test_japanese_is_one_script():
    lines = [
        "東京へ行きます。",
        "コンピューターを買った。",
        "時々",
        "ｺｰﾋｰ",
        "これはペンです。",
    ]
    for target in ("line", "ＬＩＮＥ"):
        _, problems = checker_of([(line, f"{target} {line[0]}") for line in lines])
        assert problems == [[]] * 5


def test_words_are_counted_and_not_spaces():
    assert checker_of([("two" + " " * 200 + "words", "one " * 100)])[1] == [[]]
    assert checker_of([("one " * 101, "one two " * 50)])[1] == [["long"]]


def test_aligned_files_with_tabs_and_byte_order_marks_can_be_filtered(tmp_path, capsys):
    (tmp_path / "a.pt").write_bytes(codecs.BOM_UTF8 + "um\ndois\ttrês\nquatro\n".encode())
    (tmp_path / "a.en").write_bytes(codecs.BOM_UTF8 + b"one\ntwo\nfour\n")
    output = tmp_path / "clean.tsv"
    (tmp_path / "clean.tsv.tmp").write_text("somebody's")
    command = ["data", tmp_path / "a.pt", tmp_path / "a.en", "--to", output, "--drop", "all"]
    assert call(*command) == 0
    assert output.read_text() == "um\tone\nquatro\tfour\n"
    assert "columns: 1 " in capsys.readouterr().out
    assert (tmp_path / "clean.tsv.tmp").read_text() == "somebody's"
    assert len([*tmp_path.iterdir()]) == 4


def test_cells_in_quotation_marks_are_a_problem_and_quoted_words_are_not(tmp_path, capsys):
    path = tmp_path / "a.tsv"
    path.write_text(
        '"um"\t"one"\n'
        '"ele disse ""sim"""\the said yes\n'
        '"sim", disse ele\t"yes", he said\n'
        'o "gato" dorme\t"the" "cat" sleeps\n'
    )
    assert call("data", path) == 0
    out = capsys.readouterr().out
    assert "quotes: 2 (50.0%): in quotation marks, as spreadsheets write cells" in out
    assert call("data", path, "--drop", "quotes", "--to", tmp_path / "b.csv") == 2
    assert "written as a .tsv or .tmx" in capsys.readouterr().err


def test_pairs_are_duplicates_and_test_text_however_they_are_spelled(tmp_path, capsys):
    spellings = [
        "Está  bem.",
        "Esta\u0301  bem.",
        "Está\u00a0 bem.\u200b",
        "\ufeffEs\u00adtá\u3000\tbem.",
    ]
    tsv = write(tmp_path / "a.tsv", [(text.encode(), b"Fine.") for text in spellings[:3]])
    test = tmp_path / "test.tsv"
    write(test, [(spellings[3].replace("\t", "\u2003").encode(), b"It is fine.")])
    assert call("data", tsv, "--test", test) == 0
    report = capsys.readouterr().out
    assert "\nduplicate: 2 (66.7%)" in report
    assert "\ntest: 3 (100.0%)" in report
    clean = tmp_path / "clean.tsv"  # what is kept is written as it was
    assert call("data", tsv, "--to", clean, "--drop", "equal") == 0
    assert clean.read_text() == tsv.read_text()
    assert call("data", tsv, "--to", tmp_path / "b.tsv", "--drop", "spelling", "invisible") == 0
    assert (tmp_path / "b.tsv").read_text() == f"{spellings[0]}\tFine.\n"


def test_a_sentence_without_spaces_has_as_many_words_as_one_with_spaces(capsys, tmp_path):
    assert checker_of([("我们今天去公园散步" * 16, "we go for a walk in the park " * 10)])[1] == [
        []
    ]
    assert checker_of([("我们今天去公园散步" * 20, "we go for a walk in the park " * 10)])[1] == [
        ["long"]
    ]
    tsv = write(tmp_path / "a.tsv", [("我们今天去公园散步。".encode(), b"a")])
    assert call("data", tsv) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line[:6] == "source")
    assert line.split()[1] == "6"  # nine characters


def test_a_clean_pair_does_not_repeat_one_with_control_characters():
    pairs = [("a\x07b", "x"), ("a\x07b", "x"), ("a b", "x"), ("a b", "x"), ("a\u2028b", "x")]
    _, pair_problems = checker_of([("um dois", "one two")] * 20 + pairs)
    assert [{*problems} & {"control", "duplicate"} for problems in pair_problems[20:]] == [
        {"control"}, {"control", "duplicate"}, set(), {"duplicate"}, {"control", "duplicate"},
    ]  # fmt: skip


def test_a_pair_that_one_corpus_leaves_out_is_no_duplicate_in_the_next(tmp_path):
    other_script = [(f"строка {word}".encode(), b"a line") for word in ("а", "б", "в")]
    pair = (b"um texto", b"a text")  # in another script than the first corpus usually has
    first = write(tmp_path / "a.tsv", [*other_script, pair])
    second = write(tmp_path / "b.tsv", [(b"outro texto", b"another text"), pair, pair])
    drop = ["--drop", "script", "duplicate"]
    assert call("data", first, second, "--to", tmp_path / "c.tsv", *drop) == 0
    lines = (tmp_path / "c.tsv").read_text().splitlines()
    assert lines[3:] == ["outro texto\tanother text", "um texto\ta text"]


def test_equal_numbers_are_equal_in_the_digits_of_any_script():
    pairs = [("3 books", "۳ کتاب"), ("３冊", "3 books"), ("5 books", "৪টি বই")]
    _, pair_problems = checker_of([("um dois", "one two")] * 20 + pairs)
    assert ["numbers" in problems for problems in pair_problems[20:]] == [False, False, True]


def test_a_pair_with_an_empty_side_has_its_other_problems_too():
    known = [("um dois", "one two")] * 20
    pairs = [
        *known, ("", "a\x07 2"), ("", "a\x07 2"), ("", "a " * 101), ("дом", ""), ("", ""),
    ]  # fmt: skip
    checker, pair_problems = checker_of(pairs)
    assert pair_problems[20:] == [
        ["empty", "control", "numbers"],
        ["empty", "control", "duplicate", "numbers"],
        ["empty", "ratio", "long"],
        ["empty", "script"],
        ["empty"],
    ]
    checker.test_sources = {hash("")}
    assert checker.problems(["", "one"])[0] == ["empty"]  # no source, so not the test text's


@pytest.mark.parametrize("end", ["\t", " \n\n "])
def test_the_lines_of_a_cell_are_one_line(tmp_path, end, capsys):
    path = tmp_path / "pairs.csv"
    path.write_bytes(f'"Bom dia.","Good{end}morning."\n'.encode())
    (row,) = cleaning.read([str(path)])
    assert row.cells == ["Bom dia.", "Good morning."]
    path.write_bytes(f'"{end}Bom dia.{end}","Good{end}morning."\n'.encode())
    (row,) = cleaning.read([str(path)])
    assert row.cells == ["Bom dia.", "Good morning."]
    assert list(files.read_table(path)) == [("Bom dia.", "Good morning.")]
    assert "pairs.csv: line breaks and tabs within cells are read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "LIBERTÉ\u00a0!", "L'ÉTÉ\u00a0PROCHAIN", "PORQUÊ…", "É…", "OLÉ…OLÉ", "NESTLÉ®", "CITÉ™",
        "SÍ”", "LE CAFÉ».", "un café».", "au café\u00a0».", "“un café…” et là…\u00a0»", "AMANHÃ…",
        "IRMÃ\u00a0!", "MAÇÃ®", "MANHÃ\u00a0»", "Das macht Spaß…", "Gruß\u00a0– bis bald", "MENÜ”",
        "TÄÄLLÄ…", "JÁ—E", "À\u00a0VENDRE", "CAFÉ², CITÉ†", "PELÉ™ E NESTLÉ®",
    ],
)  # fmt: skip
def test_words_in_capitals_and_the_marks_after_them_are_no_wrong_encoding(text):
    assert not cleaning.is_decoded_wrongly(text)


@pytest.mark.parametrize("misread_as", ["cp1252", "latin1"])
@pytest.mark.parametrize(
    "text",
    [
        "voilà !", "été", "où", "OÙ EST-IL ?", "LIBERTÉ\u00a0!", "L’ÉTÉ", "não", "MAÇÃ", "ŻÓŁĆ",
        "PŘÍLIŠ ŽLUŤ", "CŒUR", "мир", "ΛΟΓΟΣ", "λόγος", "你好。", "5 €", "“oui”", "Größe", "KOŠICE",
        "GÅR", "señor", "dom™", "NESTLÉ® – CAFÉ»", "BONJOUR\u00a0!",
    ],
)  # fmt: skip
def test_utf_8_that_was_read_in_another_encoding_is_found(text, misread_as):
    errors = "strict" if misread_as == "latin1" else "replace"
    assert cleaning.is_decoded_wrongly(text.encode().decode(misread_as, errors))


# ---- Dirt of web pages and spreadsheets ----


@pytest.mark.parametrize(
    ("pair", "problems"),
    [
        (("the work", "l'Å“uvre"), ["encoding"]),  # œ, by Windows-1252
        (("um\ufffe dois", "one two"), ["control"]),  # no character, which XML cannot hold
        (("the world", "Ð¼Ð¸Ñ€"), ["encoding"]),  # a Cyrillic word, by Windows-1252
        (("Größe", "Ångström"), []),
        (('"a ball"', "une balle"), ["quotes"]),
        (('"a ball"', "« une balle »"), []),
        (('"A ""big"" ball"', "une balle"), ["quotes"]),
        (("a &amp; b", "a et b"), ["tags", "placeholders"]),
        (("<b>a</b>", "<b>b</b>"), ["tags"]),
        (("a < b", "a < c"), []),
        (("see https://a.io/x", "voir"), ["urls", "placeholders"]),
        (("me@a.org writes", "me@a.org écrit"), ["urls"]),
        (("%s and %d", "%d et %s"), []),
        (("a", "b" * 23), []),
        (("a", "b" * 24), ["ratio"]),
        (("a " * 100, "b " * 100), []),
        (("a " * 101, "b " * 100), ["long"]),
    ],
)
def test_each_kind_of_dirt_has_its_name(pair, problems):
    assert checker_of([pair])[1] == [problems]


def test_a_length_far_from_the_usual_one_is_misaligned():
    usual = [("one two three four " * n, "um dois três quatro " * n) for n in (1, 2, 3)] * 40
    varied = [(source + "x" * (n % 5), target) for n, (source, target) in enumerate(usual)]
    far = ("one two three four five six seven", "um dois")
    checker, _ = checker_of(varied)
    assert checker.problems([*far])[0] == ["misaligned"]
    assert checker.problems(["one two", "um"])[0] == []  # of short pairs, any length is possible
    assert not Lengths(varied[:50]).differ(far)  # too few to know what is usual


def test_lines_of_another_language_are_recognized_and_unknown_languages_left_alone():
    lines = LineLanguages(Pair("pt-BR", "en"))
    assert not lines.differ(("O gato dorme na cama.", "The cat sleeps on the bed."))
    assert lines.differ(("Die Katze schläft auf dem Bett.", "The cat sleeps on the bed."))
    assert lines.differ(("O gato dorme na cama.", "Le chat dort sur le lit."))
    assert not lines.differ(("", "123"))
    sorbian = LineLanguages(Pair("hsb", "en"))
    assert sorbian.unknown == ["hsb"]
    assert not sorbian.differ(("Die Katze schläft auf dem Bett.", "The cat sleeps on the bed."))


def test_a_full_temporary_folder_is_named_before_a_model_is_unpacked_there(monkeypatch):
    full = SimpleNamespace(free=3_000_000)
    monkeypatch.setattr(line_languages.shutil, "disk_usage", lambda folder: full)
    message = f"{tempfile.gettempdir()}: 3 MB are free, and py3langid needs 70 MB .* set TMPDIR"
    with pytest.raises(UserError, match=message):
        line_languages.check_temporary_folder()


def test_what_cannot_be_checked_is_said(tmp_path, capsys, monkeypatch):
    tsv, clean = write(tmp_path / "a.tsv", [(b"um", b"one")]), tmp_path / "b.tsv"
    assert call("data", tsv) == 0
    assert "language: not checked. Name the languages" in capsys.readouterr().err
    assert call("data", tsv, "--to", clean, "--drop", "language") == 2
    assert "the languages are unknown; name them: --languages A-B" in capsys.readouterr().err
    monkeypatch.setattr(line_languages, "PACKAGE", "no_such_package")
    assert call("data", tsv, "--languages", "pt-en") == 0
    assert "language: not checked. Install: pip install -e" in capsys.readouterr().err
    assert call("data", tsv, "--languages", "pt-en", "--to", clean, "--drop", "language") == 2
    assert "no_such_package is missing" in capsys.readouterr().err


def test_text_is_filtered_from_python(tmp_path, capsys):
    text, clean = tmp_path / "a.tsv", tmp_path / "clean.tsv"
    text.write_text("um gato\tone cat\nigual\tigual\ndois gatos\ttwo cats\n", encoding="utf-8")
    request = FilterRequest(files=(str(text),), to=(str(clean),), drop=("equal",))
    (outcome,) = filter_text(request).outcomes
    assert str(outcome) == "2 of 3 pairs"
    assert clean.read_text(encoding="utf-8") == "um gato\tone cat\ndois gatos\ttwo cats\n"
    assert capsys.readouterr().out == ""
    with pytest.raises(UserError, match="--drop needs --to"):
        filter_text(FilterRequest(files=(str(text),), drop=("equal",)))
    with pytest.raises(UserError, match="--drop length: is none of encoding, "):
        filter_text(dataclasses.replace(request, drop=("length",)))
