"""What must hold of the whole program, on a tiny corpus."""

import contextlib
import dataclasses
import hashlib
import io
import json
import os
import re
import shutil
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import sacrebleu
import tensorflow as tf
from helpers import (
    LEARNING,
    TINY,
    as_dataset,
    call,
    change_parameters,
    figures,
    output_of,
    pretend_epoch,
    random_batches,
    refused,
    sentences,
    tiny_training,
    write_tsv,
)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import params
import run_demo
from nmt import UserError
from nmt.cli import translate
from nmt.corpus import corpora, noise
from nmt.corpus.source import CorpusSource
from nmt.decoding.attention import KINDS
from nmt.decoding.model import Model
from nmt.results import evaluation, plots
from nmt.results import figures as drawing
from nmt.results.pictures import BY_NAME
from nmt.results.run_report import read_translations
from nmt.runs import loading, run_tokenizer
from nmt.runs.claim import claim
from nmt.runs.folder import Run
from nmt.runs.validation import Validator
from nmt.training import epoch_metrics, estimate, loop
from nmt.training.loop import Epochs


@pytest.fixture(autouse=True)
def _few_graphs(request):
    """All but the slow tests translate little and train less."""
    if not request.node.get_closest_marker("slow"):
        request.getfixturevalue("eagerly")


def test_a_run_leaves_what_later_commands_need(finished):
    run = finished / "run"
    scores = json.loads((run / "scores.json").read_text())
    assert scores["dataset"] == "numbers.tsv"
    assert scores["lines"] == 23  # 2% of the pairs, and those of the same sources
    assert scores["pairs"] == {"train": 957, "validation": 20, "test": 23}
    assert scores["epochs"] == scores["options"]["epochs"] == 2
    signature = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a"
    assert scores["BLEU"]["signature"].startswith(signature)
    assert {"chrF", "loss", "accuracy", "training_seconds", "versions"} <= scores.keys()
    assert scores["options"]["xla"] == "off"  # what "auto" meant on this machine
    rows = [line.split("\t") for line in (run / "translations.txt").read_text().splitlines()]
    assert len(rows) == 23
    assert {(source, target) for source, target, _ in rows} <= set(sentences(1000))
    names = {path.name for path in run.rglob("*")}
    assert "cache" not in names
    assert {"params.json", "tokenizer.model", "history.json", "best"} <= names
    first, second = json.loads((run / "history.json").read_text())
    assert (first["epoch"], second["epoch"]) == (1, 2)
    assert second["val_loss"] < first["val_loss"]
    assert 0 <= second["val_accuracy"] <= 1
    assert second["tokens_per_second"] > 0


def test_each_argument_or_line_of_stdin_has_a_line_in_order(finished, capsys, monkeypatch):
    texts = ["um dois.", "", "nove.", "  um dois. \t", " ", "😀 汉字 עברית", "a\x03b\x01\x02"]
    command = ["translate", "--run", finished / "run"]
    printed = output_of(capsys, *command, *texts)
    lines = printed.split("\n")
    assert len(lines) == len(texts) + 1
    assert lines[1] == lines[4] == ""
    assert lines[0] == lines[3] != lines[2]
    given = io.BytesIO(b"".join(text.encode() + b"\r\n" for text in texts))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    assert output_of(capsys, *command) == printed


def test_n_best_are_printed_with_scores_best_first(finished, capsys):
    options = ["--beam", 4, "--n-best", 3, "--score", "--run", finished / "run"]
    assert call("translate", *options, "um dois.", "tres.", "") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[6:] == [["0.0000", ""], [""], [""]]  # there is one translation of nothing
    for three in (rows[:3], rows[3:6]):
        assert all(float(score) < 0 for score, _ in three)
    assert call("translate", *options, "--length-penalty", 0, "um dois.") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    scores = [float(score) for score, _ in rows]
    assert scores == sorted(scores, reverse=True)
    assert call("translate", "--n-best", 2, "--run", finished / "run", "um.") == 2
    assert "--n-best 2 needs a --beam of as many" in capsys.readouterr().err


def test_lines_that_lose_a_number_are_named_and_make_a_strict_check_fail(finished, capsys):
    command = ["translate", "--run", finished / "run", "--no-protect", "um dois.", "4711 {x}"]
    assert call(*command) == 0
    assert capsys.readouterr().err.endswith("missing {x}, 4711. To name all: --check\n")
    assert call(*command, "--check") == 0
    checked = capsys.readouterr()
    assert checked.out.count("\n") == 2
    assert "line 2: missing {x}, 4711" in checked.err
    assert "1 of 2 lines: other numbers, placeholders, URLs or tags" in checked.err
    assert call(*command, "--strict") == 3
    strict = capsys.readouterr()
    assert strict.out == checked.out
    assert strict.err.splitlines()[-1].startswith("run_demo.py: 1 of 2 lines: other numbers")
    command.remove("--no-protect")
    assert call(*command, "--strict") == 0


def test_where_lines_cannot_be_named_a_warning_names_only_the_first(finished, tmp_path, capsys):
    """`translate --input` refuses --check, and the library has no flags."""
    (tmp_path / "a").write_text("4711 {x}\n")
    files = ["--input", tmp_path / "a", "--output", tmp_path / "b"]
    assert call("translate", "--run", finished / "run", "--no-protect", *files) == 0
    translate = loading.load_translator(finished / "run", protect=False)
    assert [*translate(["4711 {x}"])]
    warning = "source; the first: line 1, missing {x}, 4711\n"
    assert capsys.readouterr().err.count(warning) == 2


def test_given_pairs_are_scored_one_per_line(finished, capsys, tmp_path):
    (tmp_path / "s").write_text("um dois.\ntres.\n")
    (tmp_path / "t").write_text("one two.\nthree.\n")
    (tmp_path / "short").write_text("one\n")
    command = ["score", "--run", finished / "run", tmp_path / "s"]
    assert call(*command, tmp_path / "t") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert "ends at line 1" in refused(capsys, *command, tmp_path / "short")
    assert "3 files named" in refused(capsys, *command, *[tmp_path / "s"] * 2)


def test_evaluating_again_gives_the_same_scores_and_saves_what_is_asked_for(run, capsys):
    before = json.loads((run / "scores.json").read_text())
    printed = output_of(capsys, "evaluate", "--run", run, "--ter", "--errors")
    after = json.loads((run / "scores.json").read_text())
    for name in ("BLEU", "chrF", "lines", "accuracy", "epochs", "training_seconds"):
        assert after[name] == before[name], name
    ter, errors = after["TER"], after["errors"]
    assert ter["score"] > 0  # above 100 if it writes too much, as on some processors
    assert f"\nTER {ter['score']:.1f} ± {ter['interval']:.1f} " in printed
    assert errors["lines"] == 23
    assert re.search(rf"\b{errors['wrong_lines']} lines? of 23 with an error", printed)
    (run / "scores.json").unlink()
    assert call("evaluate", "--run", run, "--json") == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    saved = json.loads((run / "scores.json").read_text())
    assert (system["BLEU"], system["loss"]) == (saved["BLEU"], saved["loss"])


def test_files_are_scored_as_asked_for_and_leave_the_run_alone(finished, capsys, tmp_path):
    run, before = finished / "run", (finished / "run" / "scores.json").read_text()
    pairs = sentences(170)[150:]
    tsv = write_tsv(tmp_path / "more.tsv", pairs)
    lines = output_of(capsys, "evaluate", "--run", run, tsv).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["BLEU", "BLEU,", "chrF"]
    assert all(" ± " in line and "|bs:1000|" in line for line in lines)
    assert call("translate", "--run", run, *[source for source, _ in pairs]) == 0
    hypotheses = capsys.readouterr().out.splitlines()
    references = [target for _, target in pairs]
    expected = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", lowercase=True)
    assert call("evaluate", "--run", run, tsv, "--tokenize", "none", "--lowercase") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"BLEU, lower-cased {expected.score:.1f} ± ")
    assert "case:lc" in lines[0]
    assert "tok:none" in lines[0]
    assert len(lines) == 2
    assert (run / "scores.json").read_text() == before


def test_several_files_of_references_are_those_of_one_source(finished, capsys, tmp_path):
    pairs = sentences(170)[150:]
    sources, references = zip(*pairs, strict=True)
    others = [text.replace("one", "a") for text in references]
    names = {"s.pt": sources, "r1.en": references, "r2.en": others, "r3.en": others[:-1]}
    for name, lines in (names | {"o.pt": sources, "none": [""] * 20}).items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    files = [tmp_path / name for name in ("s.pt", "r1.en", "r2.en", "none")]
    hypotheses = output_of(capsys, "translate", "--run", finished / "run", *sources).splitlines()
    command = ["evaluate", "--run", finished / "run", *files, "--ter"]
    bleu, _, chrf, ter = output_of(capsys, *command).splitlines()
    streams = [references, others]
    assert bleu.startswith(f"BLEU {sacrebleu.corpus_bleu(hypotheses, streams).score:.1f} ± ")
    assert chrf.startswith(f"chrF {sacrebleu.corpus_chrf(hypotheses, streams).score:.1f} ± ")
    assert ter.startswith(f"TER {sacrebleu.corpus_ter(hypotheses, streams).score:.1f} ± ")
    assert call(*command, "--against", finished / "run") == 0
    assert re.search(r"TER (\S+ ± \S+) against \1, p = 1\.000 .*nrefs:2", capsys.readouterr().out)
    for name, said in (
        ("r3.en", "r3.en: ends at line 19, but"),
        ("o.pt", "o.pt: ends as the source file does, and all others are references"),
        ("x.tsv", "4 files named"),
        ("gone.en", "gone.en: No such file"),
    ):
        files[3] = tmp_path / name
        assert said in refused(capsys, "evaluate", "--run", finished / "run", *files)


def test_a_run_is_no_better_than_itself(finished, capsys):
    assert call("evaluate", "--run", finished / "run", "--against", finished / "run") == 0
    title, *lines = capsys.readouterr().out.splitlines()
    run = f"{finished / 'run'} (greedy search)"
    assert re.fullmatch(r"\d+ lines of the test split of \S+: (.+) against \1", title)[1] == run
    for name, line in zip(("BLEU", "BLEU, lower-cased", "chrF"), lines, strict=True):
        score, other, chance = re.fullmatch(
            rf"{name} (\S+ ± \S+) against (\S+ ± \S+), p = (\S+)   \(.*bs:1000.*\)", line
        ).groups()
        assert score == other
        assert float(chance) == 1


def test_scores_are_printed_as_json(finished, tmp_path, capsys):
    files = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    for number, path in enumerate(files):
        write_tsv(path, sentences(5, seed=number))
    command = ["evaluate", "--run", finished / "run", *files, "--json"]
    assert call(*command, "--errors") == 0
    content = json.loads(capsys.readouterr().out)
    (system,) = content["systems"]
    assert content["lines"] == system["errors"]["lines"] == 10
    assert [(part["name"], part["lines"]) for part in system["files"]] == [
        (str(path), 5) for path in files
    ]
    assert call(*command, "--against", finished / "run") == 0
    compared = json.loads(capsys.readouterr().out)
    scores = [entry["BLEU"]["score"] for entry in compared["systems"]]
    assert scores == [system["BLEU"]["score"]] * 2
    assert compared["p_values"]["chrF"] == [[1, 1], [1, 1]]


def test_translations_of_others_are_scored_and_compared_as_those_of_a_run(capsys, tmp_path):
    sources, references = zip(*sentences(40), strict=True)
    worse = [text.replace("one", "won") for text in references]
    texts = {
        "a.pt": sources,
        "a.en": references,
        "good": references,
        "worse": worse,
        "few": worse[1:],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    source, reference, good, other, few = (str(tmp_path / name) for name in texts)
    command = ["evaluate", source, reference, "--hypotheses"]
    assert call(*command, other) == 0
    bleu = sacrebleu.corpus_bleu(worse, [references]).score
    assert capsys.readouterr().out.startswith(f"BLEU {bleu:.1f} ± ")
    title, line, *_ = output_of(capsys, *command, good, other).splitlines()
    assert title == f"40 lines of {source} {reference}: {good} against {other}"
    assert re.match(rf"BLEU 100\.0 ± 0\.0 against {bleu:.1f} ± \S+, p = 0\.00", line)
    (tmp_path / "worst").write_text("won\n" * 40)
    printed = output_of(capsys, *command, good, other, tmp_path / "worst")
    assert f"40 lines of {source} {reference}:\n  1  {good}\n  2  {other}\n" in printed
    assert printed.count("  1  100.0 ± 0.0") == 3  # for each metric
    for words, said in (
        ([few], "few: has 39 lines, but"),
        ([good, good], "named twice"),
        ([good, "--run", "runs/a"], "goes without --run"),
        ([good, "--beam", "4"], "are translations already: leave out --beam"),
        ([good, "--checkpoint", "best"], "leave out --checkpoint"),
        ([good, "--against", "nowhere"], "nowhere: no trained run"),
    ):
        assert said in refused(capsys, *command, *words)


def test_errors_are_reported_by_file_and_system(capsys, tmp_path):
    pairs = [("2 cães", "2 dogs"), ("um gato", "a cat")]
    first, second = write_tsv(tmp_path / "a.tsv", pairs), write_tsv(tmp_path / "b.tsv", pairs[:1])
    (tmp_path / "good").write_text("2 dogs\na cat\n2 dogs\n")
    (tmp_path / "bad").write_text("3 dogs\na a a\n2 dogs\n")
    command = ["evaluate", first, second, "--errors", "--hypotheses"]
    printed = output_of(capsys, *command, tmp_path / "bad")
    for text in (f"{first}, 2 lines:\nBLEU", f"{second}, 1 line:\nBLEU", "\nall:\nBLEU"):
        assert text in printed
    assert "2 lines of 3 with an error (66.7%)" in printed
    assert re.search(r"\nany +2 +0 +2\n", printed)
    assert f"  {first}, line 1: missing 2; added 3\n" in printed
    printed = output_of(capsys, *command, tmp_path / "bad", tmp_path / "good")
    assert re.search(r"\nlines with +1 +2\nany +2 +0\nnumbers +1 +0\n", printed)
    (tmp_path / "terms").write_text("gato\tkitten\n")
    glossary = ["--glossary", tmp_path / "terms"]
    assert "terms: 1 (33.3%)" in output_of(capsys, *command, tmp_path / "good", *glossary)
    assert call("evaluate", first, "--hypotheses", tmp_path / "good", *glossary) == 2
    assert "--glossary is for --errors" in capsys.readouterr().err


def test_a_text_is_scored_as_people_type_it(finished, capsys, tmp_path):
    pairs = write_tsv(tmp_path / "a.tsv", [("um dois.", "one two."), ("três", "three")])
    command = "evaluate", "--run", finished / "run", pairs, "--robust"
    printed = output_of(capsys, *command)
    assert re.findall(r"^(.*), 2 lines:$", printed, re.M) == [*noise.KINDS]
    files = json.loads(output_of(capsys, *command, "--json"))["systems"][0]["files"]
    assert [part["name"] for part in files] == [*noise.KINDS]
    assert {"BLEU", "chrF"} <= files[1].keys()
    (tmp_path / "said").write_text("one two.\nthree\n")
    assert "--robust are for translating" in refused(
        capsys, "evaluate", pairs, "--robust", "--hypotheses", tmp_path / "said"
    )
    assert "leave out --robust" in refused(
        capsys, "evaluate", "--run", finished / "run", "--robust", "--confidence"
    )


def test_a_run_to_compare_with_is_loaded_before_anything_is_translated(
    finished, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr(evaluation, "translate_all", lambda *_: pytest.fail("translated"))
    assert call("evaluate", "--run", finished / "run", "--against", tmp_path / "gone") == 2
    assert f"{tmp_path / 'gone'}: no trained run" in capsys.readouterr().err


def test_a_run_is_searched_with_its_own_options_unless_flags_are_given(run, capsys):
    change_parameters(run, beam=3)
    assert output_of(capsys, "translate", "--run", run, "--n-best", 3, "um.").count("\n") == 3
    assert call("translate", "--run", run, "--n-best", 3, "--beam", 2, "um.") == 2
    own = run_demo.load_translator(run, n_best=3, workers=1, rows=2)
    assert [len(best) for best in own.hypotheses(["um dois.", "nove."])] == [3, 3]


@pytest.mark.parametrize(
    "command", ["plot attention um.", "explore", "export", "plot masks --to x/a.png"]
)
def test_a_folder_that_is_read_only_is_found_before_tensorflow_is(
    finished, capsys, monkeypatch, command
):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    monkeypatch.setattr(loading, "load", lambda *_, **options: pytest.fail("loaded"))
    assert call(*command.split(), "--run", finished / "run") == 2
    assert "Permission denied; name a writable path" in capsys.readouterr().err


@pytest.mark.parametrize("what", [name for name, picture in BY_NAME.items() if picture.drawn])
def test_a_picture_is_drawn_again_where_it_is_said_to_be(finished, capsys, what):
    picture = finished / "run" / "plots" / f"{what}.png"
    picture.unlink(missing_ok=True)
    sentence = ["um três $$ $a_$."] if BY_NAME[what].needs_sentence else []
    assert call("plot", what, *sentence, "--run", finished / "run") == 0
    assert Path(capsys.readouterr().out.strip()) == picture
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_trained_run_is_used_from_python(finished, capsys):
    translate = run_demo.load_translator(finished / "run", beam=2)
    translations = list(translate(["um dois.", "", "três."]))
    assert call("translate", "--run", finished / "run", "--beam", 2, "um dois.", "", "três.") == 0
    assert capsys.readouterr().out.splitlines() == translations
    heads, queries, keys = translate.attend("um dois.").select("cross", layer=1)
    assert heads.shape == (2, len(queries), len(keys))
    for wrong, said in (
        (dict(beam=0), "beam: 0 is less than 1"),
        (dict(length_penalty=-1.0), "length_penalty: -1.0 is less than 0.0"),
        (dict(n_best=3, beam=1), "n_best is 3, and the beam 1"),
        (dict(workers=0), "workers is 0"),
        (dict(rows=-1), "rows is -1"),
    ):
        with pytest.raises(UserError, match=re.escape(said)):
            run_demo.load_translator(finished / "run", **wrong)
    for name, said in (("beem", "did you mean beam?"), ("fixed", "there are alignments, ")):
        with pytest.raises(TypeError, match=re.escape(f"no argument '{name}'; {said}")):
            run_demo.load_translator(finished / "run", **{name: None})


def test_short_times_are_reported_in_seconds():
    message = [estimate.duration(seconds) for seconds in (0.4, 99.4, 101, 239, 600, 5400)]
    assert message == ["0 s", "99 s", "1 min 40 s", "4 min 00 s", "10 min", "90 min"]


def test_the_estimate_is_of_all_steps_that_are_left(capsys):
    training = tiny_training(epochs=3)
    training.epochs.epoch.assign(1)  # one of three is done, and 10 steps of this one in 30 seconds
    training.epochs.times.batches = 60
    timer = SimpleNamespace(is_measured=lambda _: True, seconds_per_batch=lambda _: 3.0)
    training.epochs.estimate_once(timer, 20)
    assert "2 epochs will take about 5 min 00 s" in capsys.readouterr().err  # 3 s x (40 + 60)


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("--dataset bundled", "events.1; No space left on device", "left on device; free some"),
        ("--dataset bundled", "OOM when allocating tensor", "out of memory; lower --batch-size"),
        ("translate um.", "OOM when allocating tensor", "out of memory; lower --beam"),
    ],
)
def test_what_a_memory_or_a_disk_that_is_full_asks_for(command, text, said, capsys, monkeypatch):
    def fail(args):
        raise tf.errors.ResourceExhaustedError(None, None, text)

    monkeypatch.setattr(run_demo, "train", fail)
    monkeypatch.setattr(translate, "run", fail)
    assert said in refused(capsys, *command.split())


@pytest.mark.slow
@pytest.mark.parametrize("change", ["removed", "shortened"])
def test_a_file_that_changes_while_training_is_one_line(change, tmp_path, capsys, monkeypatch):
    pairs = sentences(100)
    valid = write_tsv(tmp_path / "valid.tsv", pairs[:9])

    def meanwhile(epochs, *_):
        valid.unlink()
        if change == "shortened":
            write_tsv(valid, pairs[:5])
        return pretend_epoch(epochs)

    monkeypatch.setattr(Epochs, "train_on", meanwhile)
    command = ["--train", write_tsv(tmp_path / "n.tsv", pairs), "--valid", valid, "--test", valid]
    line = refused(capsys, *command, "--run", tmp_path / "run", *TINY)
    assert "a file was moved or changed while the program ran" in line
    assert "to resume it: python run_demo.py" in line
    assert not (tmp_path / "run" / "cache").exists()


def test_a_program_that_has_replaced_stdout_can_call_main():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert call("--version") == 0
    assert out.getvalue().strip()


def test_the_time_left_counts_validation_averaging_scoring_and_pictures():
    training = tiny_training(epochs=5, average=3, beam=5)
    times, options = training.epochs.times, training.options
    assert (
        times.time_left(options, epochs=4, test_share=2.0) == ""
    )  # resumed, nothing is measured yet
    times.batches, times.batch_seconds, times.validation_seconds = 100, 0.2, 4.0
    times.picture_seconds = 7.0
    # Four epochs; three means and the best epoch; the loss of twice as many lines, and their beams.
    expected = 4 * (20 + 4) + 4 * 4 + 2 * 4 * (1 + 5 * estimate.TRANSLATION_SHARE) + 7
    assert times.seconds_left(options, epochs=4, test_share=2.0) == pytest.approx(expected)
    assert times.time_left(options, 4, 2.0) == "; about 2 min 30 s left"
    # Validation by BLEU translates, in 60 seconds: the measure of a hypothesis of the search.
    times.translation_seconds = 60.0
    by_bleu = 4 * (20 + 64) + 4 * 64 + 2 * (4 + 5 * 60) + 7
    assert times.seconds_left(options, epochs=4, test_share=2.0) == pytest.approx(by_bleu)
    times.translation_seconds = 0.0
    times.picture_seconds = 0.0  # --no-plots
    assert times.seconds_left(options, epochs=4, test_share=2.0) == pytest.approx(expected - 7)


def test_a_batch_takes_as_long_as_those_after_the_first_ones(monkeypatch):
    times = iter([0.0, 100.0, 130.0])  # the first 60 trace functions; 60 more take 30 seconds
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: next(times))
    timer = estimate.BatchTimer()
    timer.note(60)
    assert not timer.is_measured(119)
    assert timer.is_measured(120)
    assert timer.seconds_per_batch(120) == 0.5


def test_tensorboard_gets_figures_by_step_and_translations(finished):
    events = EventAccumulator(str(finished / "run" / "logs"), {"tensors": 0}).Reload()
    names = ("loss", "accuracy", "gradient_norm", "tokens_per_second", "learning_rate")
    assert {f"training/{name}" for name in names} <= set(events.Tags()["tensors"])
    assert {"validation/loss", "validation/accuracy"} <= set(events.Tags()["tensors"])

    def values(name):
        points = events.Tensors(name)
        return [one.step for one in points], [tf.make_ndarray(one.tensor_proto) for one in points]

    history = json.loads((finished / "run" / "history.json").read_text())
    steps, losses = values("validation/loss")
    assert losses == pytest.approx([row["val_loss"] for row in history])
    assert steps == [steps[0], 2 * steps[0]] == [*steps[:1], values("training/loss")[0][-1]]
    assert all(0 < norm < 100 for norm in values("training/gradient_norm")[1])
    _, losses = values("training/loss")
    epoch = steps[0]
    spread = np.ptp(np.ravel(losses[:3]))  # of the steps' own means; the epoch's hardly move
    assert len(losses) >= 2 * (epoch // loop.REFRESH_BATCHES)
    assert min(losses[-3:]) < history[1]["loss"] < history[0]["loss"] < losses[0]
    assert spread > 0
    (text,) = values("translations")[1][-1].ravel().tolist()
    assert text.decode().count("\n") == 4  # a heading, its line, and a row a sentence


@pytest.fixture
def drawn(monkeypatch):
    """What pictures of attention and masks are drawn of: arguments without the path."""
    drawn = []
    for name in ("attention", "masks"):
        monkeypatch.setattr(plots, name, lambda path, *rest, **_: drawn.append(rest))
    return drawn


@pytest.mark.parametrize("kind", KINDS)
def test_attention_of_each_kind_is_drawn_with_its_own_tokens(finished, drawn, kind):
    command = ["plot", "attention", "um três.", "--kind", kind, "--run", finished / "run"]
    for flags in (["--layer", 1], ["--average"], ["--head", 2]):
        assert call(*command, *flags) == 0
    (heads, names, keys, queries, title, *_), (mean, mean_names, *_), (head, head_names, *_) = drawn
    assert heads.shape == (2, len(queries), len(keys))
    np.testing.assert_allclose(heads.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_array_equal(head, heads[1:])
    np.testing.assert_allclose(mean, heads.mean(axis=0, keepdims=True))
    assert names == ["Head 1", "Head 2"]
    assert (mean_names, head_names) == (["Mean of 2 heads"], ["Head 2"])
    assert (keys[0] == "<s>", keys[-1] == "</s>") == (True, kind != "decoder")
    assert queries[0].split(" → ")[0] == "<s>"
    assert (" → " in queries[0]) is (kind != "encoder")  # the decoder predicts
    assert title.endswith("layer 1")


def test_a_picture_without_a_sentence_is_of_the_first_test_line(finished, drawn, tmp_path):
    assert call("plot", "attention", "--run", finished / "run") == 0
    first = (finished / "run" / "translations.txt").read_text().partition("\t")[0]
    tokenizer = run_tokenizer.load_tokenizer(Run(finished / "run"))
    assert drawn[0][2] == tokenizer.tokens(tokenizer.encode([first])[0])
    assert read_translations(Run(tmp_path), 1) == []
    assert call("plot", "masks", " ", "--run", finished / "run") == 2


def test_attention_is_shown_of_the_translation_that_translate_gives(run, drawn, capsys):
    change_parameters(run, beam=8, length_penalty=2.0)
    lines = [source for source, _ in sentences(60, seed=3)]
    expected = output_of(capsys, "translate", "--run", run, *lines).splitlines()
    greedy = output_of(capsys, "translate", "--run", run, "--beam", 1, *lines).splitlines()
    differing = [i for i, text in enumerate(expected) if text != greedy[i]]
    number = min(differing, key=lambda i: len(expected[i]))  # of which the end is not cut off
    line, translation = lines[number], expected[number]
    assert call("explore", "--run", run, line) == 0
    page = (run / "explorer.html").read_text(encoding="utf-8")
    assert json.dumps(translation, ensure_ascii=False) in page
    assert call("plot", "attention", line, "--run", run) == 0
    assert call("plot", "masks", line, "--run", run) == 0
    attention, masks = drawn
    pieces = run_tokenizer.load_tokenizer(Run(run)).processor
    predicted = [row.split(" → ")[-1] for row in attention[3]]  # "token read → predicted"
    text = "".join(predicted).translate({ord(drawing.CONTINUES): "", 0x2423: ""})
    assert text == translation.replace(" ", "") + "</s>"
    assert pieces.decode_pieces(masks[1]) == translation


def test_sentences_of_a_line_are_explored_and_drawn_one_by_one(finished, tmp_path, capsys):
    line, page = "Um dois. Três quatro.", tmp_path / "page.html"
    translation = output_of(capsys, "translate", "--run", finished / "run", line).strip()
    assert call("explore", "--run", finished / "run", "--to", page, line) == 0
    held = json.loads(re.search(r'id="data".*?>(.*?)</script>', page.read_text(), re.S)[1])
    assert [one["text"] for one in held["examples"]] == ["Um dois.", "Três quatro."]
    assert " ".join(one["translation"] for one in held["examples"]) == translation
    capsys.readouterr()
    assert call("plot", "masks", line, "--run", finished / "run") == 0
    assert "holds 2 sentences" in capsys.readouterr().err


def test_masks_need_no_weights(run, drawn, capsys):
    shutil.rmtree(run / "checkpoints")
    assert call("plot", "masks", "--run", run) == 0
    (tokens,) = drawn
    source, _, translation = (run / "translations.txt").read_text().splitlines()[0].split("\t")
    tokenizer = run_tokenizer.load_tokenizer(Run(run))
    ids = tokenizer.encode([source, translation])
    assert tokens[:2] == (tokenizer.tokens(ids[0]), tokenizer.tokens(ids[1][:-1]))
    assert call("plot", "masks", "um.", "--run", run) == 2  # the translation needs them
    assert "checkpoints: is missing, beside history.json" in capsys.readouterr().err


def test_pictures_find_a_font_for_every_letter_or_say_that_there_is_none(finished, capfd):
    assert drawing.use_fonts_for("▁olá", "привет") == ""
    assert drawing.use_fonts_for("a\U0010fffd") == "\U0010fffd"
    unknown = "um \U0010fffd."  # comes as bytes: <0xF4>, ...
    assert call("plot", "attention", unknown, "--run", finished / "run") == 0
    assert "Glyph" not in capfd.readouterr().err
    letters = drawing.letters("no font")
    assert letters == set()


@pytest.mark.slow
def test_one_sentence_is_memorized_by_its_own_preset(tmp_path, capsys):
    small = "--num-layers 1 --d-model 64 --dff 64 --learning-rate-scale 0.05".split()
    assert call("--dataset", "winter-games", *small, "--run", tmp_path / "run") == 0
    assert "Hypothesis: 我 爱 2022 北京 冬 奥会\n" in capsys.readouterr().out
    saved = json.loads((tmp_path / "run" / "params.json").read_text())
    expected = params.PRESETS["winter-games"].values | dict(num_layers=1, d_model=64, dff=64)
    assert {name: saved[name] for name in expected} == expected | dict(learning_rate_scale=0.05)
    assert saved["epochs"] == 20  # of one step each
    words = run_tokenizer.load_tokenizer(Run(tmp_path / "run"))
    assert words.tokens(words.encode(["I like Games"])[0])[1:-1] == ["▁I", "▁like", "▁Games"]
    pictures = {path.name for path in (tmp_path / "run" / "plots").iterdir()}
    kinds = {"attention.png", "attention-encoder.png", "attention-decoder.png"}
    drawn = {f"{name}.png" for name, picture in BY_NAME.items() if picture.drawn}
    assert pictures == drawn | kinds


def test_runs_are_drawn_beside_each_other(finished, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "curves", lambda path, histories, **_: drawn.append(histories))
    shutil.copytree(finished / "run", finished / "other", dirs_exist_ok=True)
    assert call("plot", "curves", "--run", finished / "run", "--beside", finished / "other") == 0
    assert list(drawn[0]) == [str(finished / "run"), str(finished / "other")]
    one, other = drawn[0].values()
    assert one.steps_per_epoch == other.steps_per_epoch > 0  # of checkpoints
    shutil.rmtree(finished / "other")


def test_the_best_checkpoint_can_be_used(finished, capsys):
    assert call("translate", "--checkpoint", "best", "--run", finished / "run", "um.") == 0
    assert "best" in capsys.readouterr().err
    scores = (finished / "run" / "scores.json").read_bytes()
    assert call("evaluate", "--checkpoint", "best", "--run", finished / "run") == 0
    assert "BLEU" in capsys.readouterr().out
    assert (finished / "run" / "scores.json").read_bytes() == scores  # of the final weights


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_training_ends_with_the_mean_of_its_newest_checkpoints_that_validates_best(
    tmp_path, capsys, monkeypatch
):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    # Four epochs; means of one, two and three; the best.
    number, losses = 2, iter([9, 8, 7, 6, 3, 1, 2, 4])
    monkeypatch.setattr(Validator, "loss_and_accuracy", lambda *_: (next(losses), 0.5))
    assert call("--dataset", tsv, "--run", tmp_path / "run", *TINY[:-1], 4) == 0
    assert f"Final weights: the mean of the newest {number} epochs, " in capsys.readouterr().err
    checkpoints = tmp_path / "run" / "checkpoints"
    readers = [tf.train.load_checkpoint(str(checkpoints / f"ckpt-{4 - n}")) for n in range(number)]
    final = tf.train.load_checkpoint(str(checkpoints / "final" / "ckpt-4"))
    names = [name for name in final.get_variable_to_shape_map() if name.startswith("model")]
    floats = [name for name in names if final.get_tensor(name).dtype == np.float32]
    assert len(floats) > 40
    for name in floats:
        mean = np.mean([reader.get_tensor(name) for reader in readers], axis=0)
        np.testing.assert_allclose(final.get_tensor(name), mean, atol=1e-6, err_msg=name)
    kept = (final, readers[0])  # all but the weights is that of the newest
    iterations = [reader.get_tensor("optimizer/step/.ATTRIBUTES/VARIABLE_VALUE") for reader in kept]
    assert iterations[0] == iterations[1] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_training_stops_without_patience_and_ends_with_its_best_epoch(
    tmp_path, capsys, monkeypatch
):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    # Four epochs of nine, the second the best; two means, and the best epoch again.
    losses = iter([8, 6, 7, 7, 7, 7, 6])
    monkeypatch.setattr(Epochs, "train_on", pretend_epoch)
    monkeypatch.setattr(Validator, "loss_and_accuracy", lambda *_: (next(losses), 0.5))
    command = ["--dataset", tsv, "--run", tmp_path / "run", *TINY[:-1], 9, "--average", 2]
    assert call(*command, "--patience", 2) == 0
    said = capsys.readouterr().err
    assert "Stopped after epoch 4: the best validation is that of epoch 2 (--patience 2)" in said
    assert "Final weights: epoch 2's, validation loss 6.000" in said
    assert "; the last epoch's loss 7.000" in said
    checkpoints = tmp_path / "run" / "checkpoints"
    best = tf.train.load_checkpoint(str(checkpoints / "best" / "ckpt-2"))
    final = tf.train.load_checkpoint(str(checkpoints / "final" / "ckpt-4"))
    for name in final.get_variable_to_shape_map():
        if name.startswith("model") and final.get_tensor(name).dtype == np.float32:
            np.testing.assert_array_equal(final.get_tensor(name), best.get_tensor(name))
    losses = iter([7, 7, 6])  # again: no epoch more
    assert call(*command, "--patience", 2) == 0
    losses = iter([3, 9, 9, 9, 9, 9, 3])  # more patience: the fifth is the best, and three more
    assert call(*command, "--patience", 3) == 0
    assert (
        "Stopped after epoch 8: the best validation is that of epoch 5" in capsys.readouterr().err
    )
    assert next(losses, None) is None


def test_epochs_are_compared_by_the_bleu_of_the_runs_scoring_options(monkeypatch):
    pairs = as_dataset([("um", "ONE TWO THREE , FOUR .")])
    corpus = corpora.Corpus("numbers", pairs, pairs, pairs)
    translations = ["one two three , four ."]
    monkeypatch.setattr(Model, "translator", lambda *_: lambda sources: translations)
    losses = iter([2.0, 1.0, 3.0])
    monkeypatch.setattr(Validator, "loss_and_accuracy", lambda *_: (next(losses), 0.5))
    training = tiny_training(validate_by="bleu", tokenize="none", lowercase=True)
    judged = training.validator.validate(corpus, None)
    assert judged["val_bleu"] == pytest.approx(100.0)
    less = training.validator.validate(corpus, None)
    value = epoch_metrics.value_to_minimize
    assert value(less) < value(judged)  # of equal BLEU, the lower loss
    training = tiny_training(validate_by="bleu", tokenize="none", lowercase=False)
    worse = training.validator.validate(corpus, None)
    assert worse["val_bleu"] < 25
    assert value(worse) > value(judged)


def test_validation_bleu_does_not_depend_on_the_spelling_of_references(monkeypatch):
    target = "Você não está à mesa."
    pairs = as_dataset([("um", unicodedata.normalize("NFD", target))])
    monkeypatch.setattr(Model, "translator", lambda *_: lambda sources: [target])
    training = tiny_training(validate_by="bleu")
    assert evaluation.validation_bleu(training.model, None, pairs) == pytest.approx(100)


@pytest.mark.parametrize(
    ("patience", "rows", "best", "finished"),
    [
        # Of equal BLEU, the loss decides, however small the difference.
        (0, [(95.001, 2.13), (95.0, 2.10), (95.004, 2.11)], 2, False),
        # Patience is for a better BLEU, even where the loss falls.
        (2, [(94.0, 3.0), (95.0, 2.3), (95.0, 2.2)], 3, False),
        (2, [(94.0, 3.0), (95.0, 2.3), (95.0, 2.2), (95.0, 2.1)], 4, True),
        # While BLEU says nothing, the loss decides; an equal one is no better.
        (2, [(0.0, 3.0), (0.4, 2.3), (0.0, 2.2)], 3, False),
        (2, [(0.0, 3.0), (0.9, 2.3), (0.0, 2.2), (0.0, 2.4), (0.9, 2.2)], 3, True),
        (2, [(0.9, 2.1), (1.1, 2.3), (0.4, 2.0)], 2, False),
        (2, [(0.9, 2.1), (1.1, 2.3), (0.4, 2.0), (1.1, 2.2)], 4, True),
        (1, [(0.0, 2.0), (0.0, 2.0)], 1, True),
    ],
)
def test_the_best_epoch_and_the_end_of_patience(patience, rows, best, finished):
    history = figures(*rows)
    assert Epochs.best_epoch.fget(SimpleNamespace(history=history)) == best
    assert loop.is_patience_over(len(rows), history, patience) is finished


def test_a_run_validated_by_bleu_keeps_what_defines_it(run):
    options, corpus = Run(run).parameters.options, Run(run).parameters.corpus
    assert options.tokenize == "13a"
    for name, value in (("tokenize", "intl"), ("lowercase", True)):
        change_parameters(run, validate_by="loss", tokenize="13a", lowercase=False)
        other = dataclasses.replace(options, **{name: value})
        claim(Run(run), other, corpus, {})  # of final scores
        change_parameters(run, validate_by="bleu", tokenize="13a", lowercase=False)
        claim(Run(run), dataclasses.replace(options, validate_by="bleu"), corpus, {})
        saved = getattr(options, name)
        here = rf"{name} is {saved!r} there, {value!r} here \(--validate-by bleu .*evaluate"
        with pytest.raises(UserError, match=here):
            claim(Run(run), dataclasses.replace(other, validate_by="bleu"), corpus, {})


def test_chinese_is_scored_by_characters_unless_another_tokenizer_is_asked_for(
    finished, capsys, tmp_path, monkeypatch
):
    pairs = [("um.", "今晚一个孩子去学校。"), ("dois.", "每天早上医生买三本书。")]
    monkeypatch.setattr(evaluation, "translate_all", lambda *_: [target for _, target in pairs])
    tsv = write_tsv(tmp_path / "zh.tsv", pairs)
    command = ["evaluate", "--run", finished / "run", tsv]
    assert call(*command, "--tokenize", "auto") == 0
    out, err = capsys.readouterr()
    assert re.match(r"BLEU 100\.0 ± 0\.0 .*\|tok:zh\|", out)
    assert "BLEU is computed by --tokenize zh" in err
    assert "says nothing" not in err
    assert call(*command, "--against", finished / "run", "--tokenize", "auto") == 0
    assert "|tok:zh|" in capsys.readouterr().out
    assert call(*command) == 0  # by the run's own, 13a
    out, err = capsys.readouterr()
    assert re.match(r"BLEU 0\.0 ± 0\.0 .*\|tok:13a\|", out)
    assert err.count("BLEU by --tokenize 13a says nothing of this text") == 1
    assert "use --tokenize zh" in err


def test_more_epochs_suit_a_run_unless_its_schedule_was_laid_out_for_them(run):
    options, corpus = Run(run).parameters.options, Run(run).parameters.corpus
    longer = dataclasses.replace(options, epochs=3)
    claimed = claim(Run(run), longer, corpus, {})
    assert Run(run).parameters == claimed
    assert claimed.options.epochs == 3
    change_parameters(run, schedule="cosine", epochs=2)
    with pytest.raises(UserError, match=r"epochs is 2 there, 3 here \(a cosine schedule"):
        claim(Run(run), dataclasses.replace(longer, schedule="cosine"), corpus, {})


@pytest.mark.usefixtures("eagerly")
def test_a_gradient_longer_than_the_clip_norm_is_cut_to_it():
    (batch,) = random_batches(1)
    steps = []
    for clip in (0.0, 1e-3):
        keras.utils.set_random_seed(3)
        training = tiny_training(clip_norm=clip, adam_epsilon=1.0)  # a step as long as its gradient
        before = [v.numpy() for v in training.transformer.trainable_variables]
        training.train_batch(*batch)
        training.train_batch(*batch)  # the first has a learning rate of zero
        after = [v.numpy() for v in training.transformer.trainable_variables]
        steps.append(np.sqrt(sum(((a - b) ** 2).sum() for a, b in zip(after, before, strict=True))))
    assert steps[1] < steps[0] / 100
    assert float(training.optimizer.gradient_norm) > 100 * 1e-3  # before it is cut


@pytest.mark.usefixtures("eagerly")
def test_label_smoothing_is_of_training_alone():
    (batch,) = random_batches(1)
    loss_pairs = []
    for smoothing in (0.0, 0.3):
        keras.utils.set_random_seed(3)
        training = tiny_training(label_smoothing=smoothing)
        loss_pairs.append(
            (
                float(training.validator.validate_batch(*batch)[0]),
                float(training.train_batch(*batch)[0]),
            )
        )
    assert loss_pairs[0][0] == loss_pairs[1][0] == pytest.approx(loss_pairs[0][1])
    assert loss_pairs[1][1] != pytest.approx(loss_pairs[1][0], rel=1e-3)


def test_an_older_run_has_the_defaults_of_newer_parameters_and_resumes(run):
    saved = json.loads((run / "params.json").read_text())
    for name in ("beam", "words_per_piece"):
        del saved[name]
    (run / "params.json").write_text(json.dumps(saved))
    options = Run(run).parameters.options
    assert (options.beam, options.words_per_piece) == (params.BEAM, params.WORDS_PER_PIECE)
    hashes = {name.removesuffix("_sha256"): saved[name] for name in saved if "_sha256" in name}
    source = CorpusSource("bundled")
    with pytest.raises(UserError, match="words_per_piece is 220 there, 100 here"):
        claim(Run(run), dataclasses.replace(options, words_per_piece=100), source, hashes)
    claim(Run(run), options, source, hashes)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_the_same_data_may_be_elsewhere(finished, run, tmp_path, capsys):
    moved = shutil.copy(finished / "numbers.tsv", tmp_path / "moved.tsv")
    assert call("--run", run, *LEARNING, "--dataset", moved) == 0
    assert "2 epochs done" in capsys.readouterr().err


def test_prefixes_are_given_for_all_lines_or_for_each(finished, capsys, tmp_path):
    command = ["translate", "--run", finished / "run", "um dois.", "três."]
    assert call(*command, "--prefix", "nine nine") == 0
    assert [line[:9] for line in capsys.readouterr().out.splitlines()] == ["nine nine"] * 2
    (tmp_path / "p").write_text("four\n\n")
    assert output_of(capsys, *command, "--prefixes", tmp_path / "p").startswith("four")
    for text, said in (
        ("four\n", "fewer prefixes than lines"),
        ("four\n\nfive\n", "more lines than the input"),
    ):
        (tmp_path / "p").write_text(text)
        assert said in refused(capsys, *command, "--prefixes", tmp_path / "p")
    assert "none: No such file" in refused(capsys, *command, "--prefixes", tmp_path / "none")
    assert call(*command, "--prefixes", tmp_path / "p", "--prefix", "x") == 2
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.slow
def test_several_runs_are_an_ensemble(finished, tmp_path, capsys):
    run = finished / "run"
    lines = ["um dois três.", "quatro cinco."]
    alone = output_of(capsys, "translate", "--run", run, "--score", *lines)
    assert call("translate", "--run", run, "--run", run, "--score", *lines) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    for (score, text), line in zip(rows, alone.splitlines(), strict=True):
        assert text == line.split("\t")[1]
        assert float(score) == pytest.approx(float(line.split("\t")[0]), abs=1e-3)
    scores = (run / "scores.json").read_bytes()
    assert "BLEU" in output_of(capsys, "evaluate", "--run", run, "--run", run)
    assert (run / "scores.json").read_bytes() == scores  # they are those of one run
    assert "no trained run" in refused(capsys, "translate", "--run", run, "--run", tmp_path, "um.")
    shutil.copytree(run, tmp_path / "other")
    tokenizer = tmp_path / "other" / "tokenizer.model"
    pairs = as_dataset(sentences(100, seed=3))
    tokenizer.write_bytes(run_demo.train_tokenizer(pairs, 320))
    saved = json.loads((tmp_path / "other" / "params.json").read_text())
    saved["tokenizer_sha256"] = hashlib.sha256(tokenizer.read_bytes()).hexdigest()
    (tmp_path / "other" / "params.json").write_text(json.dumps(saved))
    assert call("translate", "--run", run, "--run", tmp_path / "other", "um.") == 2
    assert "has another tokenizer than" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_the_translation_most_like_the_others_is_printed(finished, capsys):
    command = ["translate", "--run", finished / "run", "um dois três.", "quatro cinco."]
    sample, search = ["--sample", "--n-best", "9"], ["--beam", "4", "--n-best", "4"]
    for more in (sample, search):
        candidates = output_of(capsys, *command, *more).splitlines()
        number = len(candidates) // 2
        chosen = output_of(capsys, *command, *more, "--mbr", "chrf").splitlines()
        assert len(chosen) == 2
        assert chosen[0] in candidates[:number]
        assert chosen[1] in candidates[number:]
    assert "chooses one of several" in refused(capsys, *command, "--mbr", "chrf")


@pytest.mark.slow
@pytest.mark.usefixtures("unscored")
def test_the_plain_code_trains_what_the_engine_trains(tmp_path):
    """--plain: transformer_model.py alone. Without dropout, whose random numbers differ."""
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(60))
    losses = []
    for name, plain in (("engine", []), ("plain", ["--plain"])):
        command = ["--dataset", tsv, "--run", tmp_path / name, *TINY, "--dropout-rate", 0]
        assert call(*command, "--no-plots", *plain) == 0
        history = json.loads((tmp_path / name / "history.json").read_text())
        losses.append([(row["loss"], row["val_loss"]) for row in history])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_the_plain_code_translates_the_same(finished, capsys):
    outputs = []
    for plain in ([], ["--plain"], ["--plain", "--beam", 1]):
        assert call("translate", "--run", finished / "run", *plain, "um dois.", "três.") == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0].strip()
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.usefixtures("eagerly")
def test_evaluate_tells_what_weights_of_8_bits_cost(finished, tmp_path, capsys):
    pairs = write_tsv(tmp_path / "test.tsv", sentences(20))
    command = ["evaluate", pairs, "--run", finished / "run", "--quantization", "int8"]
    first, second, *_ = output_of(capsys, *command).splitlines()
    assert re.search(r"with weights in int8 .* against .*run \(", first)
    assert re.match(r"BLEU [\d.]+ ± [\d.]+ against [\d.]+", second)
    hypotheses = tmp_path / "hypotheses"
    hypotheses.write_text("one.\n" * 20)
    assert call("evaluate", pairs, "--hypotheses", hypotheses, "--quantization", "int8") == 2
    assert "--quantization and --robust are for translating" in capsys.readouterr().err
