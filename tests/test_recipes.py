"""What must hold of the recipes: steps in order, each once, whatever interrupts them."""

import json
import signal
import sys
import time
from types import SimpleNamespace

import pytest
from helpers import LEARNING, PROGRAM, ROOT, run_process, sentences, start_process

from nmt import UserError
from nmt.options import Options

sys.path.insert(0, str(ROOT / "recipes"))
import distill

PAIRS = [("um", "one"), ("dois três", "two three"), ("", ""), ("quatro", "four"), ("um", "a")]


def write_text(folder, name, pairs):
    """Writes pairs to two aligned files. Returns their paths."""
    paths = [folder / f"{name}.pt", folder / f"{name}.en"]
    for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [str(path) for path in paths]


@pytest.fixture
def text(tmp_path):
    """The flags that name the text, of five training pairs, and the folder of the recipe."""
    arguments = ["--to", str(tmp_path / "recipe")]
    for split, pairs in {"train": PAIRS, "valid": PAIRS[:2], "test": PAIRS[3:4]}.items():
        arguments += [f"--{split}", *write_text(tmp_path, split, pairs)]
    return arguments


class Program:
    """In place of run_demo.py: notes commands; translates into capitals, and "um" into "one".

    Args:
      failing: the number of the command that fails, from 1; None for none.
    """

    def __init__(self, failing=None):
        self.failing, self.commands = failing, []

    def __call__(self, arguments, stdout=None):
        if len(self.commands) + 1 == self.failing:
            raise distill.StepFailed(7)
        self.commands.append(arguments)
        if arguments[0] == "train":
            return
        source, target, number = (
            arguments[arguments.index(flag) + 1] for flag in ("--input", "--output", "--n-best")
        )
        rows = [
            {"line": line, "rank": rank, "translation": translation}
            for line, text in enumerate(distill.Path(source).read_text().splitlines(), start=1)
            for rank, translation in enumerate([text.upper(), text.lower()][: int(number)], start=1)
        ]
        path = distill.Path(target)
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def steps(self):
        """Returns what was trained, and by which runs parts were translated."""
        runs = []
        for command in self.commands:
            flags = [n for n, word in enumerate(command) if word == "--run"]
            names = [command[n + 1].rpartition("/")[2] for n in flags]
            runs.append(f"{command[0]} {' '.join(names)}")
        return runs


@pytest.fixture
def program(monkeypatch):
    """A Program in place of the commands."""
    fake = Program()
    monkeypatch.setattr(distill, "run_command", fake)
    return fake


def distilled(arguments):
    """Returns the pairs that the recipe has written."""
    files = [distill.Path(arguments[1], "pairs", f"distilled.{code}") for code in ("pt", "en")]
    return list(zip(*(path.read_text().splitlines() for path in files), strict=True))


def values_of(command, flag):
    """Returns the values of a flag in a command, up to the next flag."""
    words = command[command.index(flag) + 1 :]
    ends = [n for n, word in enumerate(words) if word.startswith("--")]
    return words[: ends[0]] if ends else words


def test_teachers_translate_together_and_students_train_on_both(text, program):
    flags = ["--teachers", "2", "--students", "2", "--epochs", "3", "--teacher-flags=--epochs 4"]
    assert distill.main([*text, *flags]) == 0
    students = ["train student-1", "train student-2"]
    assert program.steps() == [
        "train teacher-1", "train teacher-2", "translate teacher-1 teacher-2", *students,
    ]  # fmt: skip
    teacher, student = program.commands[1], program.commands[-1]
    assert values_of(teacher, "--seed") == values_of(student, "--seed") == ["2"]
    assert values_of(teacher, "--train") == text[3:5]
    assert teacher[-5:] == ["--epochs", "3", "--epochs", "4", "--no-plots"]  # the last one counts
    train_files = values_of(student, "--train")
    assert train_files[:2] == text[3:5]
    assert [name.rpartition("/")[2] for name in train_files[2:]] == ["distilled.pt", "distilled.en"]
    assert student[-2:] == ["--epochs", "3"]
    assert "--no-split" in program.commands[2]
    assert distilled(text) == [("um", "UM"), ("dois três", "DOIS TRÊS"), ("quatro", "QUATRO")]


def test_each_teacher_may_translate_alone_and_in_the_other_direction(text, program):
    flags = "--teachers 2 --backward-teachers 1 --separately --only-distilled --students 1".split()
    assert distill.main([*text, *flags]) == 0
    translated = [step for step in program.steps() if step.startswith("translate")]
    teachers = ["teacher-1", "teacher-2", "backward-teacher-1"]
    assert translated == [f"translate {name}" for name in teachers]
    backward = program.commands[2]
    assert backward[-1] == "--reverse"
    assert len(values_of(program.commands[-1], "--train")) == 2  # without the given pairs
    forward = [("um", "UM"), ("dois três", "DOIS TRÊS"), ("quatro", "QUATRO")]
    sources = [("ONE", "one"), ("TWO THREE", "two three"), ("FOUR", "four"), ("A", "a")]
    assert distilled(text) == forward + sources  # what both teachers write, once


@pytest.mark.parametrize("failing", range(1, 5))
def test_a_recipe_resumes_with_the_step_at_which_it_was_interrupted(text, program, failing, capsys):
    program.failing = failing
    assert distill.main([*text, "--teachers", "2"]) == 7
    assert capsys.readouterr().err.endswith("the same command resumes the recipe\n")
    begun = program.steps()
    program.failing = None
    assert distill.main([*text, "--teachers", "2"]) == 0
    steps = ["train teacher-1", "train teacher-2", "translate teacher-1 teacher-2"]
    steps += ["train student-1"]
    assert begun == steps[: failing - 1]
    assert program.steps() == steps
    assert distilled(text) == [("um", "UM"), ("dois três", "DOIS TRÊS"), ("quatro", "QUATRO")]
    assert distill.main([*text, "--teachers", "2"]) == 0
    assert program.steps() == steps  # nothing is left to do


def test_trained_runs_are_teachers_and_a_further_student_needs_no_other_step(
    text, program, monkeypatch
):
    parameters = SimpleNamespace(options=Options())
    run = SimpleNamespace(parameters=parameters)
    monkeypatch.setattr(distill.listing, "find", lambda path: run)
    flags = ["--teacher-runs", "runs/a", "runs/b", "--students"]
    assert distill.main([*text, *flags, "1"]) == 0
    assert program.steps() == ["translate a b", "train student-1"]
    assert distill.main([*text, *flags, "2"]) == 0
    assert program.steps()[2:] == ["train student-2"]


def test_a_second_interrupt_kills_the_command_that_has_not_ended(monkeypatch):
    signals = []

    class Process:
        waits = 0

        def wait(self):
            self.waits += 1
            if self.waits <= 2:
                raise KeyboardInterrupt

        def send_signal(self, number):
            signals.append(number)

        def kill(self):
            signals.append(signal.SIGKILL)

    monkeypatch.setattr(distill.subprocess, "Popen", lambda *_, **options: Process())
    with pytest.raises(KeyboardInterrupt):
        distill.run_command(["train"])
    assert signals == [signal.SIGINT, signal.SIGKILL]


# ---- The choice by sentence BLEU ----


def test_the_best_of_several_is_the_most_like_the_reference(text, program):
    assert distill.main([*text, "--teachers", "1", "--n-best", "2", "--lowercase"]) == 0
    assert distilled(text)[1] == ("dois três", "DOIS TRÊS")  # by case-insensitive BLEU: equals


@pytest.mark.parametrize(
    ("flags", "candidates", "best"),
    [
        ([], ["two, three four", "two three five", "one two three four"], 1),
        ([], ["", "four", "two"], 2),
        ([], ["six", "seven"], 0),  # the first of equals, the likeliest
        ([], ["TWO THREE FIVE", "two five"], 1),
        (["--lowercase"], ["TWO THREE FIVE", "two five"], 0),
        (["--tokenize", "none"], ["two three, five", "two three six six"], 1),
    ],
)
def test_candidates_are_ranked_by_sentence_bleu(text, flags, candidates, best):
    recipe = distill.parse_recipe([*text, *flags])
    reference = "two three five six" if "none" in flags else "two three five"
    score = distill.sentence_bleu(recipe, distill.TranslationSet("forward", [], backward=False))
    assert distill.best_candidate(candidates, reference, score) == candidates[best]


# ---- What a user can get wrong ----


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--epoch", "3"], "--epochs"),
        (["--seed", "3"], "--teachers and --students"),
        (["--run=x"], "use --to"),
        (["--teacher-flags=--reverse"], "--backward-teachers"),
        (["--student-flags", "--reverse"], "--backward-teachers"),
        (["--student-flags", "--from nowhere"], "nowhere: no trained run"),
        (["--from", "nowhere"], "nowhere: no trained run"),
        (["--non-autoregressive"], "--student-flags"),
        (["--engine", "ctranslate2"], "--separately"),
        (["--quantization", "int8"], "--separately"),
        (["--engine", "tensorflow", "--quantization", "int8"], "leave one of them out"),
        (["--n-best", "6"], "--teacher-beam"),
        (["--teacher-beam", "65"], "--teacher-beam: 65 is more than 64"),
        (["--teachers", "0"], "--teachers: 0 is less than 1"),
        (["--teacher-runs", "nowhere"], "nowhere: no trained run"),
    ],
)
def test_a_mistake_is_reported_before_anything_is_written(text, flags, message, capsys):
    assert distill.main([*text, *flags]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not distill.Path(text[1]).exists()


def test_a_folder_is_of_one_recipe(text, program, tmp_path, capsys):
    assert distill.main([*text, "--teachers", "1", "--students", "0"]) == 0
    capsys.readouterr()
    for flags, difference in (
        (
            ["--teachers", "1", "--teacher-flags=--epochs 3"],
            "teachers began with a different --epochs",
        ),
        (
            ["--teachers", "1", "--dropout-rate", "0"],
            "teachers began with a different --dropout-rate",
        ),
        (["--teachers", "1", "--no-pre-norm"], "teachers began with a different --pre-norm"),
        (["--teachers", "2"], "translations began with a different --teachers"),
        (["--teachers", "1", "--n-best", "2"], "translations began with a different --n-best"),
        (["--teachers", "1", "--only-distilled"], "pairs began with a different --only-distilled"),
    ):
        assert distill.main([*text, *flags]) == 2
        assert f"its {difference};" in capsys.readouterr().err
    weighted = [*text[:4], f"{text[4]}:2", *text[5:], "--teachers", "1"]
    assert distill.main(weighted) == 2
    assert "its teachers began with a different weights of --train;" in capsys.readouterr().err
    write_text(tmp_path, "train", PAIRS[:3])
    assert distill.main([*text, "--teachers", "1"]) == 2
    assert "a different text of --train;" in capsys.readouterr().err
    assert distill.main(["--to", str(tmp_path), *text[2:]]) == 2
    assert "holds something else" in capsys.readouterr().err


def test_a_mistake_in_the_text_can_be_mended_in_the_same_folder(text, program, tmp_path):
    sources = tmp_path / "train.pt"
    sources.write_bytes(b"a\xff\n")
    program.failing = 1
    assert distill.main(text) == 7
    program.failing = None
    write_text(tmp_path, "train", PAIRS)
    assert distill.main(text) == 0


def test_teachers_translate_by_the_engine_that_is_named(text, program):
    flags = ["--teachers", "2", "--separately", "--engine", "ctranslate2"]
    assert distill.main([*text, *flags, "--quantization", "int8"]) == 0
    translations = [command for command in program.commands if command[0] == "translate"]
    assert len(translations) == 2
    for command in translations:
        line = " ".join(command)
        assert "--engine ctranslate2 --quantization int8" in line
    assert all("--engine" not in command for command in program.commands if command[0] == "train")
    assert distill.main([*text, *flags]) == 2  # the translations would be of both


def test_flags_may_change_until_something_depends_on_them(text, program, capsys):
    program.failing = 3
    assert distill.main([*text, "--teachers", "1", "--student-flags=--epochs 3"]) == 7
    program.failing = None
    assert distill.main([*text, "--teachers", "1", "--student-flags", "--epochs=4"]) == 0
    assert program.commands[-1][-1] == "--epochs=4"
    assert program.steps() == ["train teacher-1", "translate teacher-1", "train student-1"]
    assert distill.main([*text, "--teachers", "1", "--student-flags", "--epochs=5"]) == 2
    assert "its students began with a different --epochs;" in capsys.readouterr().err


def test_a_teacher_that_was_interrupted_keeps_its_flags(text, program, capsys):
    program.failing = 1
    assert distill.main([*text, "--epochs", "300"]) == 7
    checkpoint = distill.Path(text[1], "teacher-1", "checkpoints", "ckpt-1.index")
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()
    assert distill.main([*text, "--epochs", "3"]) == 2
    assert "its teachers began with a different --epochs;" in capsys.readouterr().err


def test_a_student_may_begin_with_the_weights_of_a_teacher(text, program):
    teacher = distill.Path(text[1], "teacher-2")
    flags = "--teachers", "2", "--student-flags", f"--non-autoregressive --from {teacher}"
    assert distill.main([*text, *flags]) == 0
    assert program.commands[-1][-1] == str(teacher)


def test_a_table_with_a_weight_is_read(text, program, tmp_path):
    lines = "".join(f"{source}\t{target}\n" for source, target in PAIRS)
    (tmp_path / "pt-en.tsv").write_text(lines, encoding="utf-8")
    assert distill.main([*text[:3], str(tmp_path / "pt-en.tsv:2"), *text[5:]]) == 0
    assert distilled(text)[0] == ("um", "UM")
    train_files = values_of(program.commands[-1], "--train")
    assert [name.rpartition("/")[2] for name in train_files] == [
        "pt-en.tsv:2", "distilled.pt", "distilled.en",
    ]  # fmt: skip


def test_a_single_file_that_is_no_table_is_refused(text):
    with pytest.raises(UserError, match=r"is one file; name the file of translations after it"):
        distill.parse_recipe([*text[:2], "--train", text[3], *text[5:]])


# ---- The program itself ----


@pytest.mark.slow
def test_a_recipe_that_a_signal_ends_is_resumed(finished, tmp_path, monkeypatch):
    flags = ["--to", str(tmp_path / "recipe"), "--teacher-runs", *[str(finished / "run")] * 2]
    pairs = [pair for pair in sentences(300) if pair[0].count(" ") == 2][:60]  # few lengths
    for split, number in {"train": 60, "valid": 10, "test": 10}.items():
        copies = 100 if split == "train" else 1  # so that there is more than one part
        flags += [f"--{split}", *write_text(tmp_path, split, pairs[:number] * copies)]
    flags += "--n-best 2 --teacher-beam 2 --workers 2 --no-plots".split()
    flags += [*LEARNING, "--epochs", "1", "--batch-size", "64"]
    process = start_process([sys.executable, ROOT / "recipes" / "distill.py", *flags])
    folder = tmp_path / "recipe" / "translations"
    while not list(folder.glob("*.partial/*.part")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert [path.name for path in folder.iterdir()] == ["forward-1.jsonl.partial"]

    commands = []

    def run_command(arguments, stdout=None):
        commands.append(arguments[0])
        assert run_process([*PROGRAM, *arguments]).returncode == 0

    monkeypatch.setattr(distill, "run_command", run_command)
    assert distill.main(flags) == 0
    assert commands == ["translate", "train"]
    assert [path.name for path in folder.iterdir()] == ["forward-1.jsonl"]
    written_pairs = distilled(flags)
    assert 5 < len(written_pairs) <= 60
    assert {source for source, _ in written_pairs} <= {source for source, _ in pairs}
    assert (tmp_path / "recipe" / "student-1" / "scores.json").exists()
