"""`evaluate --confidence` and `--calibrate`: how well a run knows how sure it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.cli import flags, startup
from nmt.decoding.confidence import NOT_CALIBRATED
from nmt.messages import log
from nmt.neighbors import params
from nmt.runs.weights import choose_weights

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.runs.loading import TrainedRun


def add_confidence_flags(parser: ArgumentParser) -> None:
    """Adds the flags of confidence."""
    group = parser.add_mutually_exclusive_group()
    flags.add_switch(
        group, "--confidence", "instead of scores: how well the run's confidence predicts the chrF "
        "of each line, and a picture of it in plots/",
    )  # fmt: skip
    flags.add_switch(
        group, "--calibrate", "fit the run's confidence anew, to the files or to its validation "
        "split",
    )  # fmt: skip


def check_flags(args: Namespace) -> None:
    """Raises a UserError if other flags contradict --confidence or --calibrate."""
    flag = "--calibrate" if args.calibrate else "--confidence"
    wrong = {
        "--against": args.against,
        "--hypotheses": args.hypotheses,
        "--ter": args.ter,
        "--errors": args.errors,
        "--robust": args.robust,
        "--json": args.json,
        "--run": args.ensemble,  # several
        "--quantization": args.quantization,
        "--test": args.calibrate and args.test,
    }
    names = params.names(params.SCORING)
    if args.calibrate:  # which is kept for the run's own search
        names = params.names(params.SEARCH, params.SCORING)
    given = flags.given_parameters(args)
    wrong |= {f"--{name.replace('_', '-')}": name in given for name in names}
    if given_flags := [name for name, value in wrong.items() if value]:
        raise UserError(
            f"{flag} is of one run, of its own search and of chrF: leave out {given_flags[0]}"
        )


def report(args: Namespace, trained: TrainedRun, columns: Sequence[Sequence[str]]) -> None:
    """Prints how well a run's confidence predicts the chrF of lines; fits it first, if asked to."""
    startup.import_tensorflow()  # which the modules below import
    from nmt.results import calibration, plots

    run, tokenizer, model = trained
    if args.calibrate:
        checkpoint = choose_weights(run, args.checkpoint).record
        print(calibration.calibrate(run, checkpoint, model, tokenizer, *columns))
        log.info(f"{run.path / 'confidence.json'}: the confidence of this run's weights")
        return
    if model.estimator is None:
        raise UserError(NOT_CALIBRATED)
    measured = calibration.measure(model, tokenizer, *columns)
    print(calibration.judge(model.estimator, measured))
    path = run.plots / "confidence.png"
    path.parent.mkdir(exist_ok=True)
    predicted = [model.estimator.confidence(signs) for signs in measured.signs]
    print(plots.confidence(path, predicted, measured.chrf))
