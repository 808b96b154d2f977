"""The command `export`."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from nmt import UserError, output
from nmt.cli import flags, trained_runs

HELP = "write the model as SavedModel, .keras or CTranslate2"
FORMATS = ("saved_model", "keras", "ctranslate2")
QUANTIZATIONS = ("int8", "float16")  # of CTranslate2


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    parser.add_argument(
        "--format", choices=FORMATS, default="saved_model",
        help="of the exported model (default saved_model)",
    )  # fmt: skip
    flags.add_to(parser, "PATH", "a new path (default: in export/ of the run)")
    parser.add_argument("--quantization", choices=QUANTIZATIONS, help="of CTranslate2's weights")


def run(args: Namespace) -> None:
    """Exports the model of a trained run and prints its path."""
    if args.quantization and args.format != "ctranslate2":
        raise UserError("--quantization goes with --format ctranslate2; add that, or leave it out")
    output.refuse_existing(args.to)
    runs = trained_runs.find_runs(args)
    run, tokenizer, model = trained_runs.load_runs(args, runs)
    from nmt.decoding import export as exporting

    path = Path(args.to) if args.to else exporting.default_path(run.path / "export", args.format)
    if args.format == "saved_model":
        exporting.saved_model(path, model.transformer, tokenizer)
    elif args.format == "keras":
        if path.suffix != ".keras":  # Keras requires it
            path = path.with_name(f"{path.name}.keras")
        exporting.keras_file(path, model.transformer)
    else:
        exporting.ctranslate2_model(path, model.transformer, tokenizer, args.quantization)
    print(path)
