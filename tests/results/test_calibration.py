"""Confidence: how it is fitted, judged, saved and reported."""

import json
import math
import re
import shutil

import numpy as np
import pytest
from helpers import LEARNING, call, make_translator, pretend_epoch, sentences, write_tsv

from nmt import UserError
from nmt.decoding.confidence import Estimator, Signs, needs_scores, signs_of
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.sentence import Candidate, Sentence
from nmt.results import calibration
from nmt.results.calibration import Measured
from nmt.runs import loading
from nmt.training.run_folder import RunFolder


def measured_of(number=600, seed=3, noise=5.0):
    """Returns Measured translations, whose chrF falls with their surprise and with what lacks."""
    draw = np.random.default_rng(seed)
    surprise, length = draw.uniform(0, 2, number), draw.uniform(1, 4, number)
    ratio = draw.uniform(-0.8, 0.2, number)
    chrf = 100 / (1 + np.exp(-(3 - 2 * surprise + 1.5 * ratio))) + draw.normal(0, noise, number)
    signs = [Signs(*row) for row in zip(surprise, length, ratio, strict=True)]
    return Measured(signs, np.clip(chrf, 0, 100))


@pytest.fixture(scope="module")
def estimator():
    return calibration.fit(measured_of())


def test_the_fit_finds_the_weights_and_predicts_others(estimator):
    constant, surprise, length, ratio = estimator.weights
    assert surprise == pytest.approx(-2, abs=0.15)
    assert ratio == pytest.approx(1.5, abs=0.25)
    assert (constant, length) == pytest.approx((3, 0), abs=0.2)
    reliability = calibration.judge(estimator, measured_of(seed=4))
    assert reliability.rank_correlation > 0.95
    assert reliability.area > 0.95
    assert reliability.error < 5 < reliability.constant_error
    for fifth in reliability.fifths:
        assert fifth.predicted == pytest.approx(fifth.actual, abs=2)


def test_what_is_further_from_training_is_never_trusted_more(estimator):
    surprises = [estimator.confidence(Signs(x, 2.5, -0.3)) for x in np.linspace(0, 12, 60)]
    assert surprises == sorted(surprises, reverse=True)
    assert surprises[-1] < 1
    longest = estimator.ratios[1]
    ratios = [estimator.confidence(Signs(0.8, 2.5, longest + x)) for x in np.linspace(0, 3, 30)]
    assert ratios == sorted(ratios, reverse=True)  # a loop is no long translation
    assert ratios[0] > ratios[-1]
    same = {round(estimator.confidence(Signs(0.8, length, -0.3)), 6) for length in (4, 5, 9)}
    assert len(same) == 1


def test_a_sign_that_seems_to_say_the_opposite_is_left_out():
    measured = measured_of()
    flipped = Measured([sign._replace(ratio=-sign.ratio) for sign in measured.signs], measured.chrf)
    assert calibration.fit(flipped).weights[3] == 0
    upwards = Measured(measured.signs, 100 - measured.chrf)
    assert calibration.fit(upwards).weights[1] == 0


def test_equal_translations_are_all_as_sure():
    measured = Measured([Signs(0.1, 2.0, 0.0)] * 60, np.full(60, 80.0))
    estimator = calibration.fit(measured)
    assert estimator.confidence(Signs(0.1, 2.0, 0.0)) == pytest.approx(80, abs=1)
    assert math.isnan(calibration.judge(estimator, measured).rank_correlation)


def test_the_curve_rises_through_means():
    before = np.array([10.0, 20, 30, 40, 50, 60, 70, 80, 90, 95, 96, 97])
    chrf = np.array([5.0, 9, 30, 20, 41, 43, 60, 58, 90, 91, 92, 93])
    curve = calibration.rising_curve(before, chrf)
    assert curve[0] == (0.0, 0.0)
    assert curve[-1] == (100.0, 100.0)
    assert [point for _, point in curve] == sorted(point for _, point in curve)
    assert curve[1] == (15.0, 7.0)


def test_ranks_and_area_of_a_small_example():
    np.testing.assert_array_equal(calibration.ranks(np.array([3.0, 1, 3, 2])), [3.5, 1, 3.5, 2])
    chrf = np.array([10.0, 50, 60, 70, 80])
    assert calibration.area(np.array([1.0, 2, 3, 4, 5]), chrf) == 1
    assert calibration.area(np.array([3.0, 2, 1, 4, 5]), chrf) == 0.5
    assert calibration.area(np.array([5.0, 4, 3, 2, 1]), chrf) == 0
    assert calibration.rank_correlation(chrf, -chrf) == pytest.approx(-1)


def test_the_signs_of_a_translation_of_three_tokens():
    sentence = Sentence("um dois", "", source=[2, 7, 8, 3], target=[2, 7, 8, 3])
    sentence.candidates = [Candidate("one two", log_probability=-0.75, score=0.0)]
    surprise, length, ratio = signs_of(sentence)
    assert surprise == 0.5  # the root of 0.75 / 3: two tokens and END
    assert length == math.log(4)
    assert ratio == math.log(3) - math.log(4)
    assert signs_of(Sentence("42", "")) is None


def test_a_few_texts_of_an_odd_length_do_not_change_the_fit(estimator):
    measured = measured_of()
    odd = [*measured.signs[:-3], *(Signs(0.1, 60.0, 40.0) for _ in range(3))]
    weights = calibration.fit(Measured(odd, measured.chrf)).weights
    assert weights == pytest.approx(estimator.weights, abs=0.2)


def test_too_few_pairs_are_refused():
    measured = measured_of(49)
    with pytest.raises(UserError, match="49 pairs to calibrate"):
        calibration.fit(measured)


@pytest.mark.parametrize(
    "damage",
    [
        {"weights": None}, {"curve": [[0, 0]]}, {"curve": [[0, 50], [100, 40]]}, {"ratios": "ab"},
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(estimator, damage):
    content = json.loads(json.dumps(estimator._asdict()))
    assert Estimator.from_json(content) == estimator
    with pytest.raises(UserError, match="is damaged"):
        Estimator.from_json(content | damage)


# ---- A run ----


def test_a_run_without_it_says_how_to_get_it(finished, tmp_path, refusal_of):
    run = shutil.copytree(finished / "run", tmp_path / "run")
    (run / "confidence.json").unlink(missing_ok=True)
    assert "evaluate --calibrate" in refusal_of("translate", "--confidence", "--run", run, "um.")


@pytest.fixture(scope="module")
def calibrated(finished, tmp_path_factory):
    """The finished run, and 100 pairs that it is calibrated with."""
    pairs = write_tsv(tmp_path_factory.mktemp("pairs") / "pairs.tsv", sentences(100, seed=9))
    assert call("evaluate", "--calibrate", "--run", finished / "run", pairs) == 0
    yield pairs
    (finished / "run" / "confidence.json").unlink()


def test_each_format_shows_how_sure_a_translation_is(finished, calibrated, capsys):
    command = "translate", "--run", finished / "run", "--confidence", "um dois três.", ""
    assert call(*command) == 0
    first, empty = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d+\t\S.*", first)
    assert empty == "100\t"
    assert call(*command, "--format", "jsonl") == 0
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert round(row["confidence"]) == int(first.split("\t")[0])
    assert call(*command, "--format", "tsv") == 0
    columns = capsys.readouterr().out.splitlines()[0].split("\t")
    assert columns[:2] + columns[3:] == ["1", "1", *first.split("\t")]
    assert float(columns[2]) < 0


def test_a_line_is_as_sure_as_its_sentences_on_average(finished, calibrated):
    translate = loading.load_translator(finished / "run", confidence=True)
    parts = "Um dois três quatro. ", "Sete."
    (both,), *each = translate.hypotheses(["".join(parts), *parts])
    sizes = [len(text.strip()) for text in parts]
    expected = np.average([line[0].confidence for line in each], weights=sizes)
    assert both.confidence == pytest.approx(expected, abs=1e-6)
    assert translate.with_reports().options.confidence is False


def test_lines_that_the_run_is_not_sure_of_are_counted(finished, calibrated, capsys, monkeypatch):
    lines = [source for source, _ in sentences(12, seed=4)]
    command = "translate", "--run", finished / "run", *lines
    assert call(*command, "--confidence", "--format", "jsonl") == 0
    printed = capsys.readouterr().out.splitlines()
    known = sorted(json.loads(line)["confidence"] for line in printed)
    between = (known[5] + known[6]) / 2
    assert known[5] < between < known[6]
    for module in ("translator", "line_counts"):
        monkeypatch.setattr(f"nmt.decoding.{module}.DOUBTFUL", between)
    assert call(*command) == 0
    said = f"6 of 12 lines: doubtful, with a confidence below {between:.0f}. To see it: --confid"
    assert said in capsys.readouterr().err
    (finished / "run" / "confidence.json").rename(finished / "sure.json")
    assert call(*command) == 0
    (finished / "sure.json").rename(finished / "run" / "confidence.json")
    assert "doubtful" not in capsys.readouterr().err  # nothing is known


def test_evaluate_says_how_well_confidence_predicts(finished, calibrated, capsys):
    assert call("evaluate", "--confidence", "--run", finished / "run", calibrated) == 0
    said = capsys.readouterr().out
    assert "Confidence of 100 lines: rank correlation with chrF" in said
    assert (finished / "run" / "plots" / "confidence.png").exists()
    # What is fitted to these very pairs is right on average.
    fifths = re.findall(r"(\d+)/(\d+)", said)
    assert len(fifths) == 5
    assert all(abs(int(predicted) - int(actual)) <= 12 for predicted, actual in fifths)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["translate", "--confidence", "--sample", "um."], "leave out --sample"),
        (["translate", "--confidence", "--beam", "4", "--n-best", "2", "um."], "--n-best"),
        (["translate", "--confidence", "--format", "html", "um."], "leave --confidence out"),
        (["evaluate", "--confidence", "--ter"], "leave out --ter"),
        (["evaluate", "--calibrate", "--test", "a.tsv"], "leave out --test"),
    ],
)
def test_contradictions_are_one_line(finished, calibrated, command, said, refusal_of):
    assert said in refusal_of(*command, "--run", finished / "run")


@pytest.mark.parametrize(
    "change",
    [
        {"weights": []}, {"weights": [math.nan] * 4}, {"weights": [10**400] * 4},
        {"weights": [1e308] * 4}, {"lengths": [-math.inf, 1]}, {"curve": [[0, 0], [100, math.inf]]},
        None,
    ],
)  # fmt: skip
def test_a_damaged_file_is_named_once_and_translating_goes_on(finished, calibrated, capsys, change):
    path = finished / "run" / "confidence.json"
    content = path.read_text()
    path.write_text(json.dumps(json.loads(content) | change) if change else "[")
    assert loading.load(finished / "run").model.estimator is None
    path.write_text(content)
    said = capsys.readouterr().err
    assert said.count(str(path)) == 1
    assert f"{path}: is damaged; remove it" in said or change is None
    assert "; remove it, or calibrate the run: evaluate --calibrate" in said


def test_only_lines_with_a_reference_and_the_first_pairs_are_measured(finished, tmp_path, capsys):
    _, tokenizer, model = loading.load(finished / "run")
    columns = ["um dois.", "três.", "sete."], ["one two.", "", "seven."]
    assert len(calibration.measure(model, tokenizer, *columns).signs) == 2
    folder = RunFolder(tmp_path)
    columns = ["um dois.", "sete um."] * 1001, ["one two.", "seven one."] * 1001
    assert calibration.calibrate(folder, {}, model, tokenizer, *columns).lines == 2000
    assert "fitted to the first 2,000 of 2,002 pairs" in capsys.readouterr().err


def test_other_weights_have_no_confidence_yet(finished, calibrated):
    path = finished / "run" / "confidence.json"
    content = path.read_text()
    path.write_text(content.replace(json.loads(content)["checkpoint"]["sha256"], "0"))
    assert loading.load(finished / "run").model.estimator is None
    path.write_text(content)
    assert loading.load(finished / "run").model.estimator


def test_a_translator_without_an_estimator_refuses(finished):
    _, tokenizer, model = loading.load(finished / "run")
    with pytest.raises(UserError, match="does not know how sure"):
        make_translator(model.transformer, tokenizer, confidence=True)
    translator = make_translator(model.transformer, tokenizer)
    with pytest.raises(UserError, match="does not know how sure"):
        translator.with_reports(confidence=True)


def test_a_beam_searches_as_without_confidence():
    """A scored one has more patience, and may end with another translation."""
    assert needs_scores(SearchOptions(beam=1))
    assert not needs_scores(SearchOptions(beam=4))


@pytest.mark.usefixtures("undrawn", "eagerly")
def test_a_training_ends_without_confidence_where_there_is_nothing_to_fit(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("nmt.training.loop.Epochs.train_on", pretend_epoch)
    train = write_tsv(tmp_path / "train.tsv", sentences(60))
    hidden = write_tsv(tmp_path / "valid.tsv", [("<b>", "<b>")] * calibration.MIN_PAIRS)  # no token
    command = ["--train", train, "--valid", hidden, "--test", hidden, "--run", tmp_path / "run"]
    assert call(*command, *LEARNING, "--epochs", 1, "--batch-size", 60) == 0
    assert "has no confidence yet" in capsys.readouterr().err
    assert (tmp_path / "run" / "scores.json").exists()
    assert not (tmp_path / "run" / "confidence.json").exists()
