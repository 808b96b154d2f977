"""What must hold of the recipes: steps in order, each once, whatever interrupts them."""

import collections
import os
import shlex
import signal
import sys
import time

import pytest
import yaml
from helpers import ROOT, TINY, run_process, sentences, start_process, write_tsv

from nmt.text import tmx_text

RECIPES = ROOT / "recipes"
EXAMPLES = {"evening": "project.yaml", "distill": "distill.yaml", "sweep": "sweep.yaml"}
EXAMPLES |= {"corrections": "corrections.yaml"}
TRAINING = shlex.join([*TINY, "--no-plots"])


def command(recipe, *flags):
    """Returns the command line of a recipe."""
    return [sys.executable, "-m", "snakemake", "-s", RECIPES / f"{recipe}.smk", *flags]


def configured(folder, content):
    """Writes a configuration. Returns the flags that name it."""
    path = folder / "config.yaml"
    path.write_text(
        content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
    )
    return ["--configfile", path]


def planned(recipe, folder, flags):
    """Returns the words of each command of the program that a recipe would run."""
    done = run_process([*command(recipe, *flags), "--dry-run"], cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = (done.stdout + done.stderr).replace("\\\n", " ").splitlines()
    return [
        shlex.split(line.partition("run_demo.py")[2]) for line in lines if "run_demo.py" in line
    ]


def values_of(words, flag):
    """Returns the values of a flag in a command, up to the next flag."""
    words = words[words.index(flag) + 1 :]
    ends = [n for n, word in enumerate(words) if word.startswith("--")]
    return words[: ends[0]] if ends else words


def refusal(recipe, folder, flags):
    """Returns the line in which a recipe refuses its configuration before anything is done."""
    done = run_process(command(recipe, *flags), cwd=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (folder / "out").exists()
    return done.stderr.splitlines()[-1]


def run_with_a_kill(recipe, folder, flags, sign):
    """Runs a recipe, kills its processes once a file `sign` (a pattern) is there, and resumes it.

    Returns what the second start printed.
    """
    process = start_process(command(recipe, *flags), cwd=folder, start_new_session=True)
    try:
        while not list(folder.glob(sign)):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1)  # until Snakemake has noted that a job is done
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = run_process(command(recipe, *flags), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not planned(recipe, folder, flags)  # nothing is left to do
    return done.stdout + done.stderr


def text_of(folder, name, pairs):
    """Writes a text. Returns the path of its file, as a project names it."""
    return str(write_tsv(folder / f"{name}.tsv", pairs))


def memory_of(folder, name, pairs):
    """Writes a translation memory as the server does, a unit each second. Returns its path."""
    path = folder / f"{name}.tmx"
    units = (
        tmx_text.unit(("pt", "en"), pair, {"creationdate": f"20260101T{number:06d}Z"})
        for number, pair in enumerate(pairs)
    )
    path.write_text(tmx_text.head("pt", "serve") + "".join(units) + tmx_text.END, encoding="utf-8")
    return str(path)


# ---- What would be done ----


@pytest.mark.parametrize("recipe", EXAMPLES)
def test_the_example_of_a_recipe_can_be_run_as_it_stands(recipe, tmp_path):
    (tmp_path / "data").symlink_to(ROOT / "data")
    memory_of(tmp_path, "corrections", [("Oi!", "Hello!")])
    commands = planned(recipe, tmp_path, ["--configfile", RECIPES / EXAMPLES[recipe]])
    trained = [values_of(words, "--run") for words in commands if words[0] == "train"]
    assert len(trained) == {"evening": 2, "distill": 3, "sweep": 12, "corrections": 1}[recipe]
    assert len({*map(tuple, trained)}) == len(trained)


@pytest.fixture
def distillation(tmp_path):
    """A configuration of distill.smk."""
    text = [text_of(tmp_path, "pt-en", sentences(5))]
    return dict(to="out", train=text, valid=text, test=text, flags="--epochs 3")


def test_teachers_translate_together_and_students_train_on_both(distillation, tmp_path):
    distillation |= dict(teachers=2, students=2, teacher_flags="--epochs 4")
    commands = planned("distill", tmp_path, configured(tmp_path, distillation))
    trained = {values_of(words, "--run")[0]: words for words in commands if words[0] == "train"}
    assert {*trained} == {"out/teacher-1", "out/teacher-2", "out/student-1", "out/student-2"}
    teacher, student = trained["out/teacher-2"], trained["out/student-2"]
    assert values_of(teacher, "--seed") == values_of(student, "--seed") == ["2"]
    assert values_of(teacher, "--train") == distillation["train"]
    assert teacher[-5:] == ["--epochs", "3", "--epochs", "4", "--no-plots"]  # the last one counts
    assert values_of(student, "--train") == [*distillation["train"], "out/pairs/distilled.tsv"]
    (translation,) = [words for words in commands if words[0] == "translate"]
    assert translation[-4:] == ["--run", "out/teacher-1", "--run", "out/teacher-2"]
    assert {"--no-split", "--beam=5"} < {*translation}


def test_each_teacher_may_translate_alone_and_in_the_other_direction(distillation, tmp_path):
    distillation |= dict(teachers=2, backward_teachers=1, separately=True, only_distilled=True)
    distillation |= dict(n_best=3, engine="ctranslate2")
    commands = planned("distill", tmp_path, configured(tmp_path, distillation))
    translations = {words[-1]: words for words in commands if words[0] == "translate"}
    backward = "out/backward-teacher-1"
    assert {*translations} == {"out/teacher-1", "out/teacher-2", backward}
    assert "--closest-to=out/text/backward.txt" in translations["out/teacher-1"]
    assert "--closest-to=out/text/forward.txt" in translations[backward]
    assert all("--engine=ctranslate2" in words for words in translations.values())
    trained = {values_of(words, "--run")[0]: words for words in commands if words[0] == "train"}
    assert [name for name, words in trained.items() if "--reverse" in words] == [backward]
    assert values_of(trained["out/student-1"], "--train") == ["out/pairs/distilled.tsv"]


def test_a_random_search_keeps_its_runs_when_it_gets_more(tmp_path):
    values = {"warmup-steps": dict(low=10, high=1000, log=True), "pre-norm": [True, False]}
    sweep = dict(to="out", flags="--dataset bundled", values=values, seed=3)
    few, many = (
        {
            values_of(words, "--run")[0]: words[-2:]
            for words in planned("sweep", tmp_path, configured(tmp_path, sweep | dict(runs=runs)))
            if words[0] == "train"
        }
        for runs in (3, 5)
    )
    assert (len(few), len(many)) == (3, 5)
    assert few.items() < many.items()
    assert {words[1] for words in many.values()} == {"--pre-norm", "--no-pre-norm"}


def test_a_corpus_may_be_in_another_encoding_and_have_a_weight(tmp_path):
    pairs = [text_of(tmp_path, name, sentences(5)) for name in ("a", "b")]
    project = dict(
        to="out",
        languages="pt-en",
        corpora=dict(
            a=dict(files=pairs[:1]),
            b=dict(files=pairs[1:], weight=3, encoding="cp1252", unescape=True),
        ),
        validation=dict(files=pairs[:1]),
        tests=dict(numbers=dict(files=pairs[:1])),
    )
    commands = planned("evening", tmp_path, configured(tmp_path, project))
    text = {words[words.index("--to") + 1]: words for words in commands if words[0] == "data"}
    assert {"--encoding=cp1252", "--unescape"} <= {*text["out/text/corpora/b.tsv"]}
    assert "--encoding=cp1252" not in text["out/text/corpora/a.tsv"]
    assert text["out/text/base.tsv"][1:3] == [
        "out/text/corpora/b.tsv:3",
        "out/text/corpora/a.tsv:1",
    ]
    held_out = ["out/text/tests/numbers.tsv", "out/text/validation/base.tsv"]
    assert values_of(text["out/text/base.tsv"], "--test")[:2] == held_out
    assert values_of(text["out/text/base.tsv"], "--drop") == ["duplicate", "test"]

    del project["validation"]
    said = refusal("evening", tmp_path, configured(tmp_path, project))
    assert "a weight needs validation" in said


# ---- What a user can get wrong ----


@pytest.mark.parametrize(
    ("recipe", "changes", "message"),
    [
        ("distill", dict(flags="--epoch 3"), "flags: unknown --epoch (did you mean --epochs?)"),
        ("distill", dict(student_flags="--reverse"), "student_flags: --reverse: the recipe gives"),
        ("distill", dict(engine="ctranslate2"), "add separately: true"),
        ("distill", dict(beam=65), "beam: 65 is greater than the maximum of 64"),
        ("distill", dict(valid=["missing.tsv"]), "valid: missing.tsv does not exist"),
        ("distill", dict(teacher_runs=["nowhere"]), "teacher_runs: nowhere: no trained run"),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_done(
    recipe, changes, message, distillation, tmp_path
):
    line = refusal(recipe, tmp_path, configured(tmp_path, distillation | changes))
    assert line.startswith(f"{recipe}.smk: ")
    assert message in line


def test_a_key_that_stands_twice_is_refused(tmp_path):
    flags = configured(tmp_path, "to: a\nvalues: {epochs: [1]}\nto: b\n")
    line = refusal("sweep", tmp_path, flags)
    assert line.endswith("config.yaml:3: to stands in line 1, too; keep one")


# ---- The whole, killed once ----


@pytest.mark.slow
def test_an_evening_that_is_killed_is_resumed(tmp_path):
    pairs = list(dict.fromkeys(sentences(600)))[:400]  # spelled out, some numbers are equal
    glossary = tmp_path / "terms.tsv"
    glossary.write_text("um\tone\n")
    project = dict(
        to="out",
        languages="pt-en",
        corpora=dict(
            a=dict(files=[text_of(tmp_path, "a", [*pairs[:200], ("um.", "")])], weight=2),
            b=dict(files=[text_of(tmp_path, "b", pairs[100:340])]),
        ),
        drop=["empty"],
        validation=dict(files=[text_of(tmp_path, "valid", pairs[340:350])]),
        tests=dict(numbers=dict(files=[text_of(tmp_path, "test", pairs[330:340])])),
        train=TRAINING,
        domain=dict(
            corpora=dict(c=dict(files=[text_of(tmp_path, "c", pairs[350:])])),
            general_pairs=30,
            validation_pairs=20,
            train="--epochs 1 --no-plots",
        ),
        glossary=str(glossary),
        exports=["ctranslate2", "html", "argos"],
    )
    said = run_with_a_kill("evening", tmp_path, configured(tmp_path, project), "out/base/logs")
    is_better = ". Better: numbers " in said
    assert is_better or ". Not better: " in said
    assert f"serve --run out/{'domain' if is_better else 'base'} --glossary {glossary}" in said
    text = tmp_path / "out" / "text"
    trained = [pair for pair in pairs[:200] for _ in range(2)]  # the weight of the text of both
    trained += pairs[200:330]  # none of the test set
    assert (text / "base.tsv").read_text() == "".join(f"{s}\t{t}\n" for s, t in trained)
    log = (text / "base.txt").read_text()
    assert "b.tsv: 130 of 240 pairs written; left out: 100 duplicate, 10 test" in log
    general = [tuple(line.split("\t")) for line in (text / "general.tsv").read_text().splitlines()]
    parts = collections.Counter(pairs.index(pair) // 110 for pair in general)
    assert len({*general}) == sum(parts.values()) == 30  # each once, from all of the text
    assert min(parts[part] for part in range(3)) > 3
    report = (tmp_path / "out" / "report.txt").read_text()
    assert "b.tsv: 130 of 240" not in report  # but the sum of each text
    assert "330 of 440 pairs, by weight 530, written to out/text/base.tsv; left out: 100" in report
    assert "30 pairs of 50 written to out/text/domain.tsv, the newest 20 to out/text/" in report
    newest = (text / "validation" / "domain.tsv").read_text()
    assert newest == "".join(f"{s}\t{t}\n" for s, t in pairs[380:])
    assert "==> domain beside base <==" in report
    assert "numbers-with-glossary" in report
    exported = tmp_path / "out" / "exports"
    assert list((exported / "ctranslate2" / "model").iterdir())
    assert (exported / "html" / "model.html").is_file()
    assert (exported / "argos" / "model.argosmodel").is_file()
    base, domain = (tmp_path / "out" / name for name in ("base", "domain"))
    times = [(run / "history.json").stat().st_mtime_ns for run in (base, domain)]
    with (tmp_path / "c.tsv").open("a", encoding="utf-8") as file:  # a pair more in the domain
        file.write("um gato.\tone cat.\n")
    done = run_process(command("evening", *configured(tmp_path, project)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (base / "history.json").stat().st_mtime_ns == times[0]
    assert (domain / "history.json").stat().st_mtime_ns > times[1]
    before = tmp_path / "out" / "domain-before" / "history.json"
    assert before.stat().st_mtime_ns == times[1]


@pytest.fixture
def corrections(finished, tmp_path):
    """A configuration of corrections.smk, for corrections whose targets are all the same."""
    pairs = list(dict.fromkeys(sentences(400)))
    corrected = [(source, "one two three four.") for source, _ in pairs[:60]]
    link = tmp_path / "current"
    link.symlink_to(finished / "run")
    text = {"files": [text_of(tmp_path, "old", pairs[60:200])]}
    test = {"files": [text_of(tmp_path, "test", pairs[200:220])]}
    return dict(
        to="out", run=str(link), corrections=[memory_of(tmp_path, "c", corrected)], test=10,
        languages="pt-en", corpora={"old": text}, general_pairs=20, validation=test,
        tests={"numbers": test}, better={"max_loss": 100}, replace=str(link),
        train="--epochs 3 --warmup-steps 5 --learning-rate-scale 0.3 --batch-size 8 --no-plots",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(run="nowhere"), "run: nowhere: no trained run"),
        (dict(tests={"corrections": {"files": ["test.tsv"]}}), "tests: corrections is the name"),
        (dict(replace="."), "replace: . is no symbolic link"),
        (dict(replace="nowhere/current/"), "replace: there is no folder nowhere; make it"),
    ],
)
def test_a_mistake_in_corrections_is_one_line(changes, message, corrections, tmp_path):
    assert message in refusal("corrections", tmp_path, configured(tmp_path, corrections | changes))


@pytest.mark.slow
def test_a_run_learns_from_corrections_is_judged_and_replaced_round_by_round(
    corrections, tmp_path, finished
):
    flags = configured(tmp_path, corrections)
    printed = run_with_a_kill("corrections", tmp_path, flags, "out/1/run/logs")
    link = tmp_path / "current"
    *_, verdict = [line for line in printed.splitlines() if line.startswith(("Better", "Not"))]
    assert verdict.startswith("Better: corrections +")
    assert link.resolve() == tmp_path / "out" / "1" / "run"
    report = (tmp_path / "out" / "1" / "report.txt").read_text()
    assert f"Before: {(finished / 'run').resolve()}" in report
    text = tmp_path / "out" / "1" / "text"
    held_out = (text / "tests" / "corrections.tsv").read_text().splitlines()
    trained = (text / "domain.tsv").read_text().splitlines()
    assert (len(held_out), len(trained)) == (10, 4 * 50)
    assert not {*held_out} & {*trained}

    more = [(f"{number}.", "two.") for number in range(12)]
    memory_of(tmp_path, "c", more)  # only wrong ones: the second round makes nothing better
    corrections |= dict(better={"max_loss": 0}, train="--epochs 1 --learning-rate-scale 1e-6")
    done = run_process(command("corrections", *configured(tmp_path, corrections)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "2" / "report.txt").read_text().startswith("Not better: ")
    assert link.resolve() == tmp_path / "out" / "1" / "run"

    flags = configured(tmp_path, corrections | dict(weight=3))
    done = run_process(command("corrections", *flags), cwd=tmp_path)
    assert done.returncode == 2
    assert "out/2 was begun with another weight; give the same, name another" in done.stderr
    flags = configured(tmp_path, corrections | dict(better={"significant": False, "max_loss": 100}))
    assert run_process([*command("corrections", *flags), "--dry-run"], cwd=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_distillation_that_is_killed_is_resumed(finished, tmp_path):
    pairs = sentences(300)
    texts = {
        name: [text_of(tmp_path, name, part)]
        for name, part in dict(train=pairs[:200], valid=pairs[200:210], test=pairs[210:220]).items()
    }
    distillation = dict(
        **texts, to="out", flags=TRAINING, teacher_runs=[str(finished / "run")] * 2, n_best=2,
        beam=2,
    )  # fmt: skip
    flags = configured(tmp_path, distillation)
    run_with_a_kill("distill", tmp_path, flags, "out/translations/*.partial")
    lines = (tmp_path / "out" / "pairs" / "distilled.tsv").read_text().splitlines()
    written = [tuple(line.split("\t")) for line in lines]
    assert 5 < len(written) <= 200
    assert not {*written} & {*pairs}
    assert {source for source, _ in written} <= {source for source, _ in pairs[:200]}
    assert (tmp_path / "out" / "student-1" / "scores.json").exists()


@pytest.mark.slow
def test_a_search_that_is_killed_is_resumed_and_ranks_its_runs(tmp_path):
    text = text_of(tmp_path, "pt-en", sentences(200))
    values = {"learning-rate-scale": [0.01, 3.0]}
    sweep = dict(to="out", flags=f"--dataset {shlex.quote(text)} {TRAINING}", values=values)
    printed = run_with_a_kill("sweep", tmp_path, configured(tmp_path, sweep), "out/done/*")
    assert printed.count("run_demo.py train") == 1  # the other one is complete
    head, *rows = (tmp_path / "out" / "ranking.tsv").read_text().splitlines()
    assert head.split("\t") == ["rank", "loss", "learning-rate-scale", "run"]
    losses = [float(row.split("\t")[1]) for row in rows]
    assert losses == sorted(losses)
    assert len({*losses}) == 2
    assert (tmp_path / "out" / "ranking.md").read_text().count("|\n") == 4
    assert (tmp_path / "out" / "ranking.png").exists()
