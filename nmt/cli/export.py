"""The command `export`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt import UserError, output
from nmt.cli import flags, trained_runs
from nmt.runs.folder import Run
from nmt.text.languages import Pair, as_pair

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.exports import hugging_face

HELP = "write the model for other programs, in one of six formats"
FORMATS = ("saved_model", "keras", "ctranslate2", "huggingface", "argos", "litert")
QUANTIZATIONS = {  # by format
    "ctranslate2": ("int8", "float16"),
    "argos": ("int8", "float16"),
    "litert": ("int8",),
}


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    parser.add_argument(
        "--format", choices=FORMATS, default="saved_model",
        help="of the exported model (default saved_model)",
    )  # fmt: skip
    flags.add_to(parser, "PATH", "a new path (default: in export/ of the run)")
    flags.add_languages(parser, "of formats argos and huggingface (default: the run's)")
    parser.add_argument(
        "--quantization", choices=("int8", "float16"),
        help="of the weights in formats ctranslate2, argos, and (int8) litert",
    )  # fmt: skip


def run(args: Namespace) -> None:
    """Exports the model of a trained run and prints its path."""
    check_quantization(args.format, args.quantization)
    output.refuse_existing(args.to)
    runs = trained_runs.find_runs(args)
    languages = args.languages or runs[0].parameters.corpus.get("languages", [])
    pair = language_pair(runs[0], languages) if args.format == "argos" else None
    run, tokenizer, model = trained_runs.load_runs(args, runs)
    from nmt.exports import (
        argos,
        ctranslate2_model,
        hugging_face,
        keras_file,
        litert,
        saved_model,
    )

    path = Path(args.to) if args.to else default_path(run.path / "export", args.format)
    if args.format == "saved_model":
        saved_model.saved_model(path, model.transformer, tokenizer)
    elif args.format == "keras":
        if path.suffix != ".keras":  # Keras requires it
            path = path.with_name(f"{path.name}.keras")
        keras_file.keras_file(path, model.transformer)
    elif args.format == "ctranslate2":
        ctranslate2_model.ctranslate2_model(path, model.transformer, tokenizer, args.quantization)
    elif args.format == "huggingface":
        card = model_card(run, model.options, languages)
        hugging_face.hugging_face_model(path, model.transformer, tokenizer, card)
    elif args.format == "argos":
        argos.argos_package(path, model.transformer, tokenizer, pair, args.quantization)
    else:
        litert.litert_model(path, model.transformer, tokenizer, args.quantization)
    print(path)


def default_path(folder: Path, kind: str) -> Path:
    """Returns the path within `folder` of an export of a `kind`, such as saved_model.

    A SavedModel gets a new version, 1 or the next: TensorFlow Serving loads the highest.
    """
    if kind == "saved_model":
        versions = [int(path.name) for path in (folder / kind).glob("*") if path.name.isdigit()]
        return folder / kind / str(max(versions, default=0) + 1)
    names = {"keras": "model.keras", "argos": "package.argosmodel"}  # these endings are required
    return folder / names.get(kind, kind)


def check_quantization(kind: str, quantization: str | None) -> None:
    """Raises a UserError if the format `kind` has no such quantization."""
    if quantization and quantization not in QUANTIZATIONS.get(kind, ()):
        kinds = [name for name, allowed in QUANTIZATIONS.items() if quantization in allowed]
        raise UserError(
            f"--quantization {quantization} goes with --format {', '.join(kinds)}; choose one "
            "of them, or leave it out"
        )


def model_card(
    run: Run, options: dict[str, Any], languages: Sequence[str]
) -> hugging_face.ModelCard:
    """Returns what the model card says of a run with these options and languages."""
    from nmt.exports.hugging_face import ModelCard

    scores = run.read("scores.json", {})  # none before the run has ended
    metrics = {name: score for name, score in scores.items() if isinstance(score, dict)}
    return ModelCard(
        name=run.path.name,
        corpus=scores.get("dataset", "a corpus that is not named"),
        beam=options["beam"],
        length_penalty=options["length_penalty"],
        scores={
            name: f"{score['score']:.1f} ± {score['interval']:.1f}"
            for name, score in metrics.items()
            if "interval" in score
        },
        languages=tuple(languages),
    )


def language_pair(run: Run, languages: Sequence[str]) -> Pair:
    """Returns the two languages of a run, which a package for Argos names.

    Args:
      run: the Run.
      languages: codes, of the run or of --languages.

    Raises:
      UserError: they are unknown, or there are several targets.
    """
    if not languages:
        raise UserError(
            f"{run.path}: the languages of its text are unknown, which a package for Argos names; "
            "name them: --languages A-B, for example pt-en"
        )
    return as_pair(languages)
