"""`evaluate --confidence` and `--calibrate`: how well a run knows how sure it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.decoding.confidence import NOT_CALIBRATED
from nmt.messages import log
from nmt.runs.weights import choose_weights

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.results.calibration import Measured
    from nmt.runs.loading import TrainedRun


def add_confidence_flags(parser: ArgumentParser) -> None:
    """Adds the flags of confidence."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--confidence", action="store_true",
        help="instead of scores: how well the run's confidence predicts the chrF of each line, and "
        "a picture of it in plots/",
    )  # fmt: skip
    group.add_argument(
        "--calibrate", action="store_true",
        help="fit the run's confidence anew, to the files or to its validation split",
    )  # fmt: skip


def check_flags(args: Namespace) -> None:
    """Raises a UserError if other flags contradict --confidence or --calibrate."""
    flag = "--calibrate" if args.calibrate else "--confidence"
    given = {
        "--against": args.against,
        "--hypotheses": args.hypotheses,
        "--ter": args.ter,
        "--errors": args.errors,
        "--run": args.ensemble,  # several
        "--quantization": args.quantization,
    }
    if wrong := [name for name, value in given.items() if value]:
        raise UserError(f"{flag} is of one run and of chrF: leave out {wrong[0]}")


def measure(trained: TrainedRun, sources: Sequence[str], *references: Sequence[str]) -> Measured:
    """Translates sources with a run's search, and compares the translations with references."""
    from nmt.results import calibration

    log.info(f"Translating {len(sources)} lines, to compare them with how sure the run is ...")
    translator = trained.model.text_translator(trained.tokenizer, split=False)
    return calibration.measure(translator, sources, *references)


def report(args: Namespace, trained: TrainedRun, columns: Sequence[Sequence[str]]) -> None:
    """Prints how well a run's confidence predicts the chrF of lines; fits it first, if asked to."""
    from nmt.results import calibration, plots

    if args.calibrate:
        weights = choose_weights(trained.run, args.checkpoint).record
        print(calibration.calibrate(trained.run, weights, measure(trained, *columns)))
        log.info(f"{trained.run.path / 'confidence.json'}: the confidence of this run's weights")
        return
    if trained.model.estimator is None:
        raise UserError(NOT_CALIBRATED)
    measured = measure(trained, *columns)
    print(calibration.judge(trained.model.estimator, measured))
    path = trained.run.plots / "confidence.png"
    path.parent.mkdir(exist_ok=True)
    predicted = [trained.model.estimator.confidence(signs) for signs in measured.signs]
    print(plots.confidence(path, predicted, measured.chrf))
