"""What must hold of `translate-file` and of `translate --format html` and `xml`."""

import gzip
import io
import os
import sys
from types import SimpleNamespace

import pytest
from helpers import ROOT, Translated, call, identity

from nmt import CheckFailed, UserError
from nmt.cli import trained_runs, translate_file
from nmt.cli.exit_codes import exit_code
from nmt.cli.main import parse_command_line
from nmt.cli.translate_file import print_markup, report_translation
from nmt.documents import parse_document, translate_document
from nmt.documents.document import Left
from nmt.documents.report import make_report
from nmt.runs import listing
from nmt.text.protected import DEFAULT

PAGE = '<p title="um">um <b>dois</b>.</p>\r\n<p class=notranslate>três</p> 42\n'


@pytest.mark.timeout(10)
def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "a.html")
    with pytest.raises(UserError, match=r"a.html: is a pipe or a device; name a file"):
        translate_file.read_content(tmp_path / "a.html", tmp_path / "b.html")
    with (tmp_path / "c.html").open("wb") as file:
        file.truncate(3_000_000_000)
    with pytest.raises(UserError, match=r"c.html: has more than 100,000,000 bytes; split it"):
        translate_file.read_content(tmp_path / "c.html", tmp_path / "b.html")


def test_names_that_the_file_keeps_are_not_reported_as_lost():
    content = b"<p>O carro de <i translate=no>X123</i> \xc3\xa9 novo."
    document = parse_document("a.html", content)
    translations = [Translated("The car is new.", None)]
    assert b"X123" in document.write(translations)
    assert make_report(document, translations).is_complete
    translations = [Translated("The 7 cars are new.", None)]
    assert str(make_report(document, translations)) == (
        "1 text translated; 1 with other numbers, placeholders, URLs or tags than in the source "
        "(first: line 1, added 7)"
    )


CUES = """00:00:01,000 --> 00:00:02,000
um {x}

00:00:xx --> 00:00:04
dois

00:00:08,000 --> 00:00:09,000
três.
"""


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 3)])
def test_one_line_says_what_became_of_the_texts(strict, code, capsys):
    document = parse_document("a.srt", CUES.encode())
    translations = [Translated("one", None), Translated(" ", None)]
    report = make_report(document, translations)
    args = SimpleNamespace(check=False, strict=strict, target="b.srt")
    assert exit_code(lambda: report_translation(args, document, report), args) == code
    assert capsys.readouterr().err.splitlines()[-1].removeprefix("run_demo.py: ") == (
        "b.srt: 1 of 3 texts translated; left: 1 with times that are not understood (first: line "
        "4), 1 without a translation (first: line 8); 1 with other numbers, placeholders, "
        "URLs or tags than in the source (first: line 2, missing {x})"
    )
    assert document.write(translations).decode() == CUES.replace("um {x}", "one")


def test_what_is_left_as_expected_is_counted_and_no_fault(capsys):
    document = parse_document("a.txt", b"1984\n")
    document.left.append(Left("formulas", 0, is_expected=True))
    report = make_report(document, [])
    assert str(report) == "nothing translated; left: 1 formulas (first: line 1)"
    assert list(map(str, report.left)) == ["1 formulas (first: line 1)"]
    report_translation(SimpleNamespace(check=False, strict=True, target="b.txt"), document, report)
    document.left.clear()
    empty = make_report(document, [])
    assert str(empty) == "nothing translated: it holds no text to translate"
    assert not empty.is_complete


def test_from_python_a_warning_says_what_stays(capsys):
    translate_document("a.srt", CUES.encode(), identity)
    assert "a.srt: 2 of 3 texts translated; left: 1 with times" in capsys.readouterr().err


class Dropping:
    """A translator that answers with one sentence, whatever the text."""

    protector = DEFAULT

    def no_counts(self):
        return SimpleNamespace(warn=lambda differences: None)

    def translate_chunks(self, chunks, scored, counts):
        for chunk in chunks:
            yield from ([Translated("The car is new.", None)] for _ in chunk)


def test_markup_that_stays_is_named_on_stderr(capsys):
    parsed = [parse_document("a.html", b"O carro.\n<b dois")]
    args = SimpleNamespace(check=False, strict=False, text=[])
    print_markup(args, parsed, Dropping())
    said = "stdin: 1 of 2 texts translated; left: 1 in a tag or comment without an end (first: line"
    assert said in capsys.readouterr().err
    with pytest.raises(CheckFailed, match="not all text is translated"):
        print_markup(SimpleNamespace(check=False, strict=True, text=[]), parsed, Dropping())


def test_names_that_markup_keeps_are_not_reported_as_lost(capsys):
    parsed = [parse_document("a.html", b"O carro <i translate=no>X123</i> novo.")]
    args = SimpleNamespace(check=True, strict=True, text=[])
    print_markup(args, parsed, Dropping())
    assert "X123" in capsys.readouterr().out


def test_a_translation_depends_on_the_weights_and_on_the_content_of_the_glossary(
    finished, tmp_path
):
    terms = tmp_path / "terms.tsv.gz"
    terms.write_bytes(gzip.compress(b"um\tuno\n", mtime=0))
    command = ["translate-file", "a.html", "b.html", "--glossary", str(terms)]

    def settings(*flags):
        args = parse_command_line([*command, *flags])
        return trained_runs.translation_settings(args, [listing.find(finished / "run")], digests)

    digests = ["a"]
    saved = settings()
    assert saved != settings("--checkpoint", "best")
    assert saved == settings()
    assert saved == settings("--columns", "1", "--check")
    assert saved != settings("--no-protect")
    terms.write_bytes(gzip.compress(b"um\tum\n", mtime=0))
    assert saved != settings()
    terms.write_bytes(gzip.compress(b"um\tuno\n", mtime=0))
    assert saved == settings()
    digests = ["b"]
    assert saved != settings()


UNKNOWN_WORDS = "Os satélites orbitavam silenciosamente."  # to the run that comes with the program


def test_doubtful_translations_are_listed_and_an_interrupted_list_is_resumed(tmp_path, capsys):
    (tmp_path / "a.html").write_text(f"<p>Bom dia.</p><p>{UNKNOWN_WORDS}</p>\n")
    command = ["translate-file", tmp_path / "a.html", tmp_path / "b.html"]
    command += ["--review", tmp_path / "review.tsv", "--run", ROOT / "data" / "trained"]
    with pytest.MonkeyPatch.context() as patch:

        def interrupt(path, doubts):
            raise KeyboardInterrupt

        patch.setattr("nmt.documents.review.write", interrupt)
        assert call(*command) == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html.partial"]
    capsys.readouterr()
    assert call(*command) == 0
    said = capsys.readouterr().err
    assert "b.html.partial: holds 2 of 2 texts" in said
    assert f"2 texts translated; 1 text doubtful, listed in {tmp_path}/review.tsv\n" in said
    (_, (number, place, source, *_)) = [
        line.split("\t") for line in (tmp_path / "review.tsv").read_text().splitlines()
    ]
    assert (place, source) == ("line 1", UNKNOWN_WORDS)
    assert 0 < float(number) < 40


def test_a_list_of_doubts_goes_if_the_document_cannot_be_written(tmp_path):
    class Full:
        def finish(self, content):
            raise UserError("out: No space left on device; free some space")

    args = SimpleNamespace(review=tmp_path / "review.tsv")
    with pytest.raises(UserError, match="No space left"):
        translate_file.finish(args, Full(), b"", [])
    assert not args.review.exists()


@pytest.mark.slow
def test_documents_are_translated_by_a_run(finished, tmp_path, monkeypatch, capsys):
    (tmp_path / "a.html").write_text(PAGE, newline="")
    target = tmp_path / "b.html"
    command = ["translate-file", tmp_path / "a.html", target, "--run", finished / "run"]
    assert call(*command, "--check") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{target}: 2 of 3 texts translated; left: 1 in translate=" in said.err
    translated = target.read_bytes().decode()
    assert translated.startswith('<p title="one')
    assert "<b>" in translated
    assert translated.endswith("</p>\r\n<p class=notranslate>três</p> 42\n")
    assert not list(tmp_path.glob("*.partial"))

    class Stdin:
        buffer = io.BytesIO(PAGE.encode())
        isatty = staticmethod(bool)  # no

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert call("translate", "--format", "html", "--run", finished / "run") == 0
    assert capsys.readouterr().out == translated
