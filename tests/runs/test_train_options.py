"""What must hold before training: advice that suits the data, several corpora, either direction."""

import dataclasses
import gzip
import json
import re
import shlex
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import (
    TINY,
    as_dataset,
    call,
    refused,
    sentences,
    source_of,
    write_tsv,
)

from nmt.cli import main
from nmt.cli.train import request_of
from nmt.corpus import bleu_tokenizer, corpora, files
from nmt.corpus.source import CorpusSource
from nmt.options import Options
from nmt.runs import listing, train_corpus, train_messages, train_options
from nmt.runs.claim import differences
from nmt.runs.folder import Run
from nmt.runs.parameters import Parameters
from nmt.runs.request import TrainingRequest
from nmt.training.plan import Plan, Progress


def test_a_flag_that_is_equal_in_effect_is_no_difference_between_runs(finished):
    saved = listing.find(finished / "run").parameters
    assert saved.options.decoder_layers == 0  # as many as of the encoder, 1
    for layers, number in ((1, 0), (2, 1)):
        claimed = dataclasses.replace(
            saved, options=dataclasses.replace(saved.options, decoder_layers=layers)
        )
        assert len(differences(saved, claimed)) == number
    claimed = dataclasses.replace(saved, options=dataclasses.replace(saved.options, num_layers=2))
    assert differences(saved, claimed) == {"num_layers": "num_layers is 1 there, 2 here"}


@pytest.mark.parametrize(
    ("words", "preset"),
    [
        ([], "ted"), (["--run", "a"], "ted"),
        (["--dataset", "ted_hrlr_translate/pt_to_en"], "ted"),
        (["--plain"], "tutorial"), (["--train", "a.pt", "a.en"], "tutorial"),
        (["--from", "a"], "tutorial"), (["--dataset", "bundled"], "tutorial"),
        (["--dataset", "winter-games"], "winter-games"), (["--preset", "tutorial"], "tutorial"),
    ],
)  # fmt: skip
def test_what_is_trained_without_a_preset_suits_the_corpus(words, preset):
    request = request_of(main.parse_command_line(["train", *words]))
    assert request.preset_name == preset


@pytest.mark.parametrize(
    ("pair", "source", "written"),
    [
        (("um\tdois", "one\ttwo"), {"train": ["a.pt", "a.en"]}, "um dois\tone two\n"),
        (("one", "um"), {"train": ["a.tsv"], "reverse": True}, "um\tone\n"),
    ],
    ids=["tabs", "reversed"],
)
def test_held_out_pairs_are_written_as_two_columns_in_the_order_of_the_files(
    pair, source, written, tmp_path
):
    pairs = as_dataset([pair])
    corpus = SimpleNamespace(validation=pairs, test=pairs)
    train_corpus.write_held_out(Run(tmp_path), corpus, source_of(source))
    assert (tmp_path / "held-out-test.tsv").read_text() == written


def test_the_preset_for_a_number_of_pairs_is_suggested(capsys):
    for pairs, name in ((10_000, "tiny"), (51_785, "small"), (999_999, "small"), (10**6, "base")):
        train_messages.suggest_preset(pairs)
        assert capsys.readouterr().err == (
            f"For a corpus of {pairs:,} pairs, try --preset {name} in a new --run (its values: "
            "python run_demo.py train --help).\n"
        )
    train_messages.suggest_preset(9_999)
    assert not capsys.readouterr().err


def follow(command, advice):
    """Returns a command with the flags that a message advises, in place of its own ones."""
    flag, value = advice.partition(",")[0].split()
    values = dict(zip(command[::2], command[1::2], strict=True)) | {flag: value}
    return [word for pair in values.items() for word in pair]


@pytest.mark.usefixtures("untrained")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairs", "flags", "first_advice"),
    [
        (10_000, "", r"--epochs \d+ or --preset tiny"),
        (10_000, "--max-length 6", r"--max-length \d+, which drops fewer pairs"),
        (300, "", r"--epochs \d+"),
        (300, "--preset tiny", r"--epochs \d+"),
    ],
)
def test_each_advice_on_the_number_of_steps_ends_in_enough_steps(
    tmp_path, capsys, pairs, flags, first_advice
):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(pairs))
    to_try, advised = [["--dataset", str(tsv), *TINY[:-2], *flags.split()]], []
    while to_try:
        command = to_try.pop()
        assert call(*command, "--run", tmp_path / str(len(advised))) == 130
        said = capsys.readouterr().err
        advice = re.search(r"too few to learn much. In a new --run, try (.*)\.\n", said)
        advised.append(advice and advice[1])
        if advice:
            to_try += [follow(command, part) for part in advice[1].split(" or ")]
        assert len(advised) < 5
    assert re.fullmatch(first_advice, advised[0])
    assert advised[-1] is None


def test_repeated_pairs_are_found_by_the_command_that_is_named(tmp_path, capsys):
    pairs = sentences(9)
    train, test = write_tsv(tmp_path / "a b.tsv", pairs), write_tsv(tmp_path / "t.tsv", pairs[:2])
    for side, lines in zip("ab", zip(*pairs, strict=True), strict=True):
        (tmp_path / f"x.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    both = [str(tmp_path / f"x.{side}") for side in "ab"]
    source = {"train": [f"{train}:2"], "test": [str(test)], "languages": ["pt", "en"]}
    for content, number in ((source, 2), ({"train": both, "valid": both, "test": both}, 9)):
        text = train_messages.how_to_find_repeated(source_of(content))
        assert call(*shlex.split(text.removeprefix(" To find them: python run_demo.py "))) == 0
        assert re.search(rf"test:\s+{number} ", capsys.readouterr().out)
    several = source | {"train": [str(train), str(test)]}
    for other in ({"dataset": "bundled"}, {"train": [str(train)]}, several):
        assert train_messages.how_to_find_repeated(source_of(other)) == ""


def test_a_sentence_that_can_be_explored_is_suggested(tmp_path, capsys):
    train_messages.suggest_commands(Run(tmp_path), ["", "x " * 200, "um."], "mine.tsv")
    said = capsys.readouterr().err
    assert f"explore --run {tmp_path} um.\n" in said
    train_messages.suggest_commands(Run(tmp_path), ["um."], "mine.tsv", explorable=False)
    assert "explore" not in capsys.readouterr().err


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    ("more", "suggested"),
    [
        ((), True),
        (("--preset", "tiny"), False),
        pytest.param(("--d-model", "16"), False, marks=pytest.mark.slow),
    ],
)
def test_a_preset_is_suggested_only_where_nothing_was_chosen(
    more, suggested, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(train_messages, "suggest_preset", lambda pairs: print(f"{pairs} pairs"))
    tsv = write_tsv(tmp_path / "n.tsv", sentences(100))
    assert call("--dataset", tsv, "--run", tmp_path / "run", "--max-length", "12", *more) == 130
    said = capsys.readouterr()
    assert ("96 pairs" in said.out) is suggested


def test_a_run_says_what_it_trains_for_how_long_and_what_follows(capsys):
    options = Options(epochs=6, accumulate=2, xla="off")
    transformer = SimpleNamespace(count_params=lambda: 1_310_208)
    epochs = SimpleNamespace(
        options=options, training_step=SimpleNamespace(transformer=transformer),
        plan=Plan.of(options, 1000), progress=Progress(0, 0, 0), finished=False,
    )  # fmt: skip
    corpus = corpora.Corpus("n", None, None, as_dataset(sentences(9)))
    batches = SimpleNamespace(lengths=[10, 20], per_epoch=1000)

    def announced():
        train_messages.announce_training(SimpleNamespace(logs="logs"), corpus, epochs, batches)
        return capsys.readouterr().err

    begins = "Training a Transformer with 1,310,208 parameters for "
    assert f"{begins}6 epochs (3000 steps), then scoring 9 test lines." in announced()
    epochs.progress = Progress(2050, 4, 100)  # 50 of the steps of epoch 5
    assert f"{begins}2 more epochs (950 steps), then scoring 9 test lines." in announced()
    assert "XLA" not in announced()
    epochs.options = Options(epochs=6, accumulate=2, xla="on")
    assert "XLA compiles the step for 2 shapes of batches" in announced()
    epochs.plan = Plan.of(Options(max_steps=5000, validate_every=500), 1000)
    assert f"{begins}2950 more steps, then scoring 9 test lines." in announced()
    epochs.finished = True
    assert announced() == "Training is finished: scoring 9 test lines.\n"


@pytest.mark.usefixtures("untrained")
def test_the_training_text_is_read_three_times_before_the_first_step(tmp_path, monkeypatch, capsys):
    """Counted and checked; for the hash, the vocabulary and repeated pairs; and tokenized."""
    passes = []

    def count_passes(paths, *arguments, read_pairs=files.read_pairs):
        yield from read_pairs(paths, *arguments)
        if "train.tsv" in str(paths[0]):
            passes.append("pairs")  # a sample from the beginning is no pass

    pairs = [("um " * n, f"one {n}") for n in range(1, 101)]  # many are too long: one is suggested
    train = write_tsv(tmp_path / "train.tsv", pairs)
    held_out = write_tsv(tmp_path / "held_out.tsv", sentences(9))
    monkeypatch.setattr(files, "read_pairs", count_passes)
    monkeypatch.setattr(bleu_tokenizer, "SAMPLE_LINES", 9)
    command = ["--train", train, "--valid", held_out, "--test", held_out, "--run", tmp_path / "run"]
    assert call(*command, *TINY) == 130
    assert "would keep 98%" in capsys.readouterr().err
    assert len(passes) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_tagged_corpora_by_weight_compressed_and_reversed_make_a_run_that_resumes(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    pairs = [(target, source) for source, target in sentences(150)]
    for tag in ("<up>", "<down>"):
        rows = [(s.upper() if tag == "<up>" else s, f"{tag} {t}") for s, t in pairs]
        (tmp_path / f"{tag[1:-1]}.tsv.gz").write_bytes(
            gzip.compress("".join(f"{s}\t{t}\n" for s, t in rows).encode())
        )
    held = write_tsv(tmp_path / "held.tsv", [(s, f"<down> {t}") for s, t in pairs[:10]])
    command = ["--train", "up.tsv.gz", "down.tsv.gz:2", "--valid", held, "--test", held]
    command += ["--reverse", "--symbols", "<up> <down>", "--run", "run", *TINY]
    assert call(*command) == 0
    capsys.readouterr()
    saved = json.loads((tmp_path / "run/params.json").read_text())
    assert saved["symbols"] == "<up> <down>"
    assert saved["corpus"]["reverse"] is True
    corpus = corpora.load_corpus(source_of(saved["corpus"]), 42)
    assert len(corpus.train) == 450
    source, target = next(iter(corpus.train))
    assert source.startswith("<")
    assert not target.startswith("<")
    assert call("--run", "run", "--epochs", "3") == 0  # resumed by its folder alone
    assert "2 epochs done" in capsys.readouterr().err
    assert call("translate", "--run", "run", "<up> one two.") == 0
    assert call("evaluate", "--run", "run") == 0
    assert call(*command[:-1], "3", "--symbols", "<up>") == 2
    assert "symbols is '<up> <down>' there" in capsys.readouterr().err


def test_a_start_that_failed_leaves_its_flags_to_no_other_text(tmp_path, untrained):
    run, tsv = tmp_path / "run", write_tsv(tmp_path / "n.tsv", sentences(100))
    first = ["--train", tsv, "--test", write_tsv(tmp_path / "t.tsv", sentences(9))]
    assert call(*first, "--run", run, *TINY, "--dropout-rate", 0.4) == 130
    assert call("--run", run) == 130  # by its folder alone, it is the same
    assert call("--train", tsv, "--run", run, *TINY) == 130
    assert [options.dropout_rate for options, *_ in untrained] == [0.4, 0.4, 0.1]
    assert "test" not in json.loads((run / "params.json").read_text())["corpus"]


@pytest.mark.usefixtures("untrained")
def test_the_held_out_pairs_in_the_folder_are_those_of_the_newest_start(tmp_path):
    run, tsv = tmp_path / "run", write_tsv(tmp_path / "n.tsv", sentences(100))
    test = ["--test", write_tsv(tmp_path / "t.tsv", sentences(9))]
    held_out = []
    for more in ([], ["--seed", 1], test):
        assert call("--train", tsv, "--run", run, *TINY, *more) == 130
        held_out.append({path.name: path.read_text() for path in run.glob("held-out-*.tsv")})
    names = ["held-out-test.tsv", "held-out-validation.tsv"]
    assert [sorted(texts) for texts in held_out] == [names, names, names[1:]]
    assert all(held_out[0][name] != held_out[1][name] for name in names)
    for split in ("--test", "--valid"):  # what is left of an earlier start is named
        assert call("--train", tsv, "--run", run, *TINY, split, run / names[1]) == 130
        assert (run / names[1]).exists()


def test_a_run_decides_once_which_tokenizer_its_bleu_needs():
    def decided(saved, *given):
        request = request_of(main.parse_command_line(["--run", "x", *given]))
        options = Options.of(given=saved)
        run = SimpleNamespace(resumable=Parameters(options, {}, {}) if saved else None)
        pairs = as_dataset([("one", "今晚一个孩子去学校。")] * 9)
        corpus = corpora.Corpus("zh", pairs, pairs, pairs)
        options = request.options("tutorial")
        source = CorpusSource(train=("a.src", "a.tgt"))
        return train_options.tokenizer_of_bleu(request, options, run, source, corpus)

    assert decided({}) == decided({"tokenize": "zh"}) == "zh"
    assert decided({"tokenize": "13a"}) == "13a"
    assert decided({"tokenize": "13a"}, "--tokenize", "auto") == "zh"
    assert decided({"tokenize": "zh"}, "--tokenize", "none") == "none"


def test_text_that_the_tokenizer_of_the_parent_spells_in_bytes_is_named(tokenizer, capsys):
    pairs = [(f"我在上海学习{number}", target) for number, (_, target) in enumerate(sentences(50))]
    corpus = corpora.Corpus("zh", as_dataset(pairs), None, None)
    train_messages.warn_of_other_letters("runs/parent", corpus, tokenizer)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("The tokenizer of runs/parent lacks letters of the source text: 9")
    same = corpora.Corpus("pt", as_dataset(sentences(50)), None, None)
    train_messages.warn_of_other_letters("runs/parent", same, tokenizer)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("where", ["run", "dataset", "train"])
def test_a_path_that_is_not_utf_8_is_refused_before_training(where, tmp_path, capsys):
    tsv = write_tsv(tmp_path / "a\udce9.tsv", sentences(30))
    plain = write_tsv(tmp_path / "a.tsv", sentences(30))
    command = {
        "run": ["--dataset", plain, "--run", tmp_path / "r\udce9"],
        "dataset": ["--dataset", tsv, "--run", tmp_path / "run"],
        "train": ["--train", tsv, "--run", tmp_path / "run"],
    }[where]
    line = refused(capsys, *command, *TINY)
    assert line.endswith("the path is not UTF-8; rename it")
    assert not (tmp_path / "run").exists()


def test_numbers_of_numpy_are_asked_for_as_those_of_python():
    request = TrainingRequest(parameters=dict(num_layers=np.int64(1), dropout_rate=np.float32(0)))
    assert {type(value) for value in request.parameters.values()} == {int, float}
