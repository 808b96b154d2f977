"""The command `export`."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from nmt import UserError, output
from nmt.cli import flags, trained_runs
from nmt.exports.exported_model import Export, ModelCard, Score
from nmt.exports.formats import FORMATS, formats_with
from nmt.messages import log
from nmt.options import Options
from nmt.results import run_report
from nmt.runs.folder import Run
from nmt.runs.weights import Weights, choose_weights, scores_are_of
from nmt.text.languages import as_pair

VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}")
HELP = f"write the model for other programs, in one of {len(FORMATS)} formats"
NO_PROTECTION = (
    "The exported model neither protects nor repairs numbers, placeholders and tags, and knows no "
    "glossary: docs/export.md"
)


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    parser.add_argument(
        "--format", choices=FORMATS, default="saved_model",
        help="of the exported model (default saved_model)",
    )  # fmt: skip
    flags.add_value(parser, "--to", "PATH", "a new path (default: in export/ of the run)")
    named = ", ".join(formats_with("has_languages"))
    flags.add_languages(parser, f"of formats {named} (default: the run's)")
    parser.add_argument(
        "--quantization", choices=("int8", "float16"),
        help=f"of the weights in formats {', '.join(formats_with('quantizations'))} (int8 alone)",
    )  # fmt: skip
    named = ", ".join(formats_with("has_version"))
    text = f"of formats {named}: 1.0 (the default), 1.1, ...; a later one replaces an installed one"
    flags.add_value(parser, "--package-version", "VERSION", text, package_version)


def package_version(text: str) -> str:
    """Returns the version of a package, numbers with points between them."""
    if not VERSION.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is no version such as 1.1")
    return text


def run(args: Namespace) -> None:
    """Exports the model of a trained run and prints its path."""
    form = FORMATS[args.format]
    check_quantization(args.format, args.quantization)
    for flag, value, rule in (
        ("--languages", args.languages, "has_languages"),
        ("--package-version", args.package_version, "has_version"),
    ):
        if value and not getattr(form, rule):
            raise UserError(
                f"{flag} goes with --format {', '.join(formats_with(rule))}: {args.format} has no "
                "place for it; leave it out"
            )
    output.refuse_existing(args.to)
    runs = trained_runs.find_runs(args)
    output.check_writable(args.to or runs[0].path / "export")
    languages = args.languages or runs[0].parameters.corpus.languages
    if form.translates_one_pair:
        check_pair(runs[0], languages)  # before the model is loaded
    if not form.has_bfloat16:  # the weights are float32 in any case
        args.mixed_precision = False
    weights = choose_weights(runs[0], args.checkpoint)
    trained = trained_runs.load_runs(args, runs)
    path = Path(args.to) if args.to else default_path(trained.run.path / "export", args.format)
    if path.suffix != form.ending and form.ending:
        path = path.with_name(f"{path.name}{form.ending}")
    _, tokenizer, model = trained
    card = model_card(trained.run, weights, model.options, languages)
    export = Export(model.transformer, tokenizer, args.quantization, card, args.package_version)
    form.write(path, export)
    print(path)
    log.info(NO_PROTECTION)  # which the user sees at work in `translate`


def default_path(folder: Path, kind: str) -> Path:
    """Returns the path within `folder` of an export of a `kind`, such as saved_model.

    A SavedModel gets a new version, 1 or the next: TensorFlow Serving loads the highest.
    """
    path = folder / FORMATS[kind].file_name
    if FORMATS[kind].is_numbered:
        versions = [int(version.name) for version in path.glob("*") if version.name.isdigit()]
        return path / str(max(versions, default=0) + 1)
    return path


def check_quantization(kind: str, quantization: str | None) -> None:
    """Raises a UserError if the format `kind` has no such quantization."""
    if quantization and quantization not in FORMATS[kind].quantizations:
        kinds = [name for name, form in FORMATS.items() if quantization in form.quantizations]
        raise UserError(
            f"--quantization {quantization} goes with --format {', '.join(kinds)}; choose one "
            "of them, or leave it out"
        )


def model_card(run: Run, weights: Weights, options: Options, languages: Sequence[str]) -> ModelCard:
    """Returns what the model card says of a run: scores, if these weights have been scored."""
    scores = run.read("scores.json", {})  # none before the run has ended
    weight_scores = scores if scores_are_of(scores, weights) else {}
    imported = run.parameters.imported
    return ModelCard(
        name=run.path.name,
        corpus=scores.get("dataset", ModelCard.corpus),
        beam=options.beam,
        length_penalty=options.length_penalty,
        scores={
            name: Score(score["score"], score["interval"], score.get("signature", ""))
            for name, score in weight_scores.items()
            if isinstance(score, dict) and "interval" in score
        },
        languages=tuple(languages),
        example=next((line.source for line in run_report.read_translations(run, 1)), ""),
        base_model=imported.model if imported else "",
        license=imported.license if imported else "",
    )


def check_pair(run: Run, languages: Sequence[str]) -> None:
    """Raises a UserError unless two languages, which a package for Argos names, are known."""
    if not languages:
        raise UserError(
            f"{run.path}: the languages of its text are unknown, which a package for Argos names; "
            "name them: --languages A-B, for example pt-en"
        )
    as_pair(languages)
