"""What must hold of `translate --input --output`: all lines, once, in order, resumable."""

import io
import resource
import signal
import time
from subprocess import PIPE

import pytest
from helpers import PROGRAM, call, output_of, run_process, sentences, start_process

from nmt import UserError
from nmt.cli import line_io, trained_runs, translate_lines
from nmt.cli.main import parse_command_line
from nmt.cli.translate_lines import Part
from nmt.decoding.line_counts import LineCounts
from nmt.resumable_output import ResumableLines
from nmt.runs import listing
from nmt.runs.folder import Run
from nmt.text.differences import DifferenceCount

MANY_TOKENS = "5 of 9 lines: longer than the 40 tokens that the run was trained on"
SLOW = pytest.mark.slow
LINES = [source for source, _ in sentences(18)]
SOURCE = "\ufeff" + "\n".join(LINES[:8]) + "\r\n\n" + "\n".join(LINES[8:])  # no line end at the end


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of four lines."""
    monkeypatch.setattr(translate_lines, "PART_LINES", 4)
    monkeypatch.setattr(line_io, "CHUNK_LINES", 4)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.pt"
    path.write_text(SOURCE, encoding="utf-8", newline="")
    return path


class Capitals:
    """Stands in for a translator: writes lines in capitals, and remembers the parts.

    Args:
      fail: a function of a Part, called before it is translated.
    """

    def __init__(self, fail=lambda part: None):
        self.fail, self.firsts = fail, []

    def no_counts(self, lines_before):
        return LineCounts(3, 9, differences=DifferenceCount(lines_before))

    def translate(self, translator, part: Part, counts: LineCounts) -> str:
        self.fail(part)
        self.firsts.append(part.first)
        counts.lines += len(part.lines)
        counts.too_long += 1
        return "".join(f"{line.upper()}\n" for line in part.lines)


def translate(source, capitals, *flags):
    """Translates a file by Capitals. Returns the path of the output."""
    target = source.with_suffix(".en")
    arguments = ["--input", source, "--output", target, *flags]
    args = parse_command_line(["translate", *map(str, arguments)])
    translate_lines.run(args, [], lambda: capitals, capitals.translate)
    return target


def fail_at(first):
    def fail(part):
        if part.first == first:
            raise UserError(f"no line {first}")

    return fail


# ---- The lines ----


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    "flags",
    [
        ["--beam", "2", "--n-best", "2", "--format", "tsv", "--no-split"],
        pytest.param(["--token-scores", "--format=jsonl", "--glossary={folder}/terms"], marks=SLOW),
        pytest.param(["--sample", "--n-best", "2", "--prefixes", "{folder}/prefixes"], marks=SLOW),
    ],
    ids=lambda flags: flags[0],
)
def test_the_lines_are_those_of_stdin(flags, finished, source, monkeypatch, capsys):
    (source.parent / "terms").write_text("um\tuno\n")
    (source.parent / "prefixes").write_text("three\n\n" * (len(LINES) // 2) + "\n")
    run = str(finished / "run")
    flags = [flag.format(folder=source.parent) for flag in flags]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    printed = output_of(capsys, "translate", "--run", run, *flags)
    assert len(printed.splitlines()) >= len(LINES) + 1
    target = source.with_suffix(".en")
    files = ["--input", source, "--output", target]
    assert call("translate", "--run", run, *flags, *files) == 0
    assert target.read_text(encoding="utf-8") == printed
    assert capsys.readouterr().out == ""
    assert not target.with_name("a.en.partial").exists()


@pytest.mark.parametrize("content", ["", "um", "um\n", "um\ndois\ntrês\nquatro\n"])
def test_the_end_of_a_file_is_no_line(content, source):
    source.write_text(content)
    target = translate(source, Capitals())
    assert target.read_text() == "".join(f"{line.upper()}\n" for line in content.splitlines())


def test_lines_that_could_not_be_translated_well_are_counted_together(source, capsys):
    translate(source, Capitals())
    assert capsys.readouterr().err.count("longer than the 3 tokens") == 1


# ---- After an interrupt ----


def test_what_is_translated_is_not_translated_again(source, capsys):
    with pytest.raises(UserError, match="no line 13"):
        translate(source, Capitals(fail_at(13)))
    assert "a.en.partial: holds what is translated; the same command resumes it" in (
        capsys.readouterr().err
    )
    assert not source.with_suffix(".en").exists()
    capitals = Capitals()
    target = translate(source, capitals)
    assert sorted(capitals.firsts) == [13, 17]
    assert "holds 12 of 19 lines" in capsys.readouterr().err
    lines = [*LINES[:8], "", *LINES[8:]]
    assert target.read_text() == "".join(f"{line.upper()}\n" for line in lines)
    assert [path.name for path in target.parent.iterdir() if "partial" in path.name] == []


def test_a_mistake_before_the_first_part_leaves_nothing(source):
    with pytest.raises(UserError, match="no line 1"):
        translate(source, Capitals(fail_at(1)))
    assert list(source.parent.iterdir()) == [source]


@pytest.mark.parametrize("changed", ["input", "beam", "run", "glossary"])
def test_parts_of_another_text_or_of_other_flags_are_refused_and_stay(
    changed, source, monkeypatch, tmp_path
):
    terms = tmp_path / "terms"
    terms.write_text("um\tuno\n")
    with pytest.raises(UserError, match="no line 5"):
        translate(source, Capitals(fail_at(5)), "--glossary", str(terms))
    flags = ["--glossary", str(terms)]
    if changed == "input":
        source.write_text(SOURCE.replace("um", "dois"))
    elif changed == "run":
        settings = translate_lines.line_settings
        other = lambda *arguments: settings(*arguments) | {"run": ["b"]}  # noqa: E731
        monkeypatch.setattr(translate_lines, "line_settings", other)
    elif changed == "glossary":
        terms.write_text("um\tum\n")
    else:
        flags += ["--beam", "3"]
    with pytest.raises(UserError, match=rf"a.en.partial: was begun with another {changed}; give"):
        translate(source, Capitals(), *flags)
    assert (tmp_path / "a.en.partial").read_text().count("\n") == 2  # settings and a part


def test_a_flag_with_the_value_of_the_run_changes_nothing(finished, source):
    runs = [listing.find(finished / "run")]
    command = ["translate", "--input", str(source), "--output", "a.en"]

    def settings(*flags):
        return translate_lines.line_settings(parse_command_line([*command, *flags]), runs, "digest")

    assert runs[0].parameters.options.beam == 1
    assert settings("--beam", "1") == settings()
    assert settings("--log-level", "debug", "--log-format", "json") == settings()
    assert settings("--beam", "2") != settings()


def test_of_several_translations_the_one_like_the_line_of_a_file_is_written(finished, tmp_path):
    source, target, other = (tmp_path / name for name in ("a.pt", "a.en", "closest.en"))
    source.write_text("".join(f"{line}\n" for line in LINES[:6]))
    command = ["translate", "--run", finished / "run", "--beam", "3", "--n-best", "3"]
    command += ["--input", source, "--output"]
    assert call(*command, target) == 0
    lines = target.read_text().splitlines()
    third = lines[2::3]  # the third best translation of each line
    (tmp_path / "references").write_text("".join(f"{line}\n" for line in third))
    closest = ["--closest-to", tmp_path / "references"]
    assert call(*command, other, *closest) == 0
    assert other.read_text().splitlines() == third
    (tmp_path / "references").write_text("one.\n")
    assert call(*command, tmp_path / "c.en", *closest) == 2  # has fewer lines
    command[command.index("--n-best") + 1] = "1"
    assert call(*command, tmp_path / "c.en", *closest) == 2


def test_a_run_is_recognized_by_its_weights(finished, tmp_path):
    run = Run(tmp_path)
    names = "params.json", "tokenizer.model", "checkpoints/final/ckpt-1.index"
    run.final.mkdir(parents=True)
    for name in names:
        (tmp_path / name).write_bytes(b"1")
    digest = trained_runs.digest(run)
    assert digest == trained_runs.digest(run)
    for name in names:
        (tmp_path / name).write_bytes(b"2")
        assert digest != trained_runs.digest(run)
        (tmp_path / name).write_bytes(b"1")


def test_a_part_that_was_shortened_is_translated_again(source, tmp_path):
    with pytest.raises(UserError, match="no line 9"):
        translate(source, Capitals(fail_at(9)))
    partial = tmp_path / "a.en.partial"
    partial.write_bytes(partial.read_bytes()[:-2])
    capitals = Capitals()
    target = translate(source, capitals)
    assert capitals.firsts == [5, 9, 13, 17]
    lines = [*LINES[:8], "", *LINES[8:]]
    assert target.read_text() == "".join(f"{line.upper()}\n" for line in lines)


def test_a_full_disk_leaves_the_parts_that_are_complete(source, monkeypatch, capsys):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    capitals = Capitals()
    source.write_text("um\n" * 8 + "dois" * 3000)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limits[1]))
        with pytest.raises(UserError, match=r"a.en.partial: File too large"):
            translate(source, capitals)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "holds what is translated" in capsys.readouterr().err
    target = translate(source, capitals)
    assert capitals.firsts == [1, 5, 9, 9]
    assert target.read_text() == "UM\n" * 8 + "DOIS" * 3000 + "\n"


# ---- Mistakes ----


# ---- Processes ----


def wait_for(condition, process):
    """Waits until a condition holds; the process must not end before."""
    while not condition():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


@pytest.mark.slow
def test_killed_again_and_again_the_lines_are_those_of_stdin(finished, tmp_path):
    source, target, partial = (tmp_path / name for name in ("a.pt", "a.en", "a.en.partial"))
    lines = [f"{first} {second}" for first, _ in sentences(300) for second, _ in sentences(120)]
    source.write_text("\n".join(lines), encoding="utf-8")
    command = [*PROGRAM, "translate", "--run", finished / "run", "--no-split"]
    with source.open() as stdin:
        whole = run_process(command, stdin=stdin)
    assert whole.stdout.count("\n") == len(lines)
    command += ["--input", source, "--output", target]

    def parts():  # and the settings
        return partial.read_bytes().count(b"\n") if partial.exists() else 0

    process = start_process(command, stderr=PIPE, encoding="utf-8")
    wait_for(lambda: parts() > 1, process)
    again = run_process(command)
    assert again.returncode == 2
    assert "another process is translating into" in again.stderr
    process.kill()
    process.wait()
    for number in (signal.SIGTERM, signal.SIGINT):
        before = parts()
        assert not target.exists()
        process = start_process(command, stderr=PIPE, encoding="utf-8")
        wait_for(lambda: parts() > before, process)  # noqa: B023
        process.send_signal(number)
        assert process.wait() == 128 + number
        error = process.stderr.read()
        assert "holds what is translated; the same command resumes it" in error
        assert "Traceback" not in error
        assert before < parts()
    kept = parts() - 1
    done = run_process(command)
    assert done.returncode == 0
    assert f"holds {4096 * kept} of {len(lines):,} lines" in done.stderr
    assert target.read_bytes() == whole.stdout.encode()
    assert not partial.exists()


def test_an_interrupt_takes_no_warning_of_what_is_translated(tmp_path, capsys):
    def translate():
        yield 1, "a\n"
        raise KeyboardInterrupt

    counts = LineCounts(40, 2048, lines=9, too_long=5)
    with ResumableLines(tmp_path / "out", {}) as partial, pytest.raises(KeyboardInterrupt):
        translate_lines.write_texts(translate(), partial, counts, done=0, lines=20)
    assert MANY_TOKENS in capsys.readouterr().err
