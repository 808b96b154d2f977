"""The flags of the command `train`, whose function is in run_demo.py."""

from argparse import ArgumentParser, Namespace

from nmt.cli import flags
from nmt.neighbors import params
from nmt.program import COMMAND
from nmt.runs.request import MAIN_PRESET, TrainingRequest

HELP = "train, evaluate, draw; the default"


def add_flags(parser: ArgumentParser) -> None:
    parser.epilog = flags.presets()
    flags.add_value(
        parser, "--run", "DIR", "run folder (default runs/<dataset>); a trained run is resumed: "
        "without --dataset and --preset, flags not given are the run's own",
    )  # fmt: skip
    files = "source and target, or a file of pairs (.tsv, .csv, .xlsx, .tmx, .xlf); several may "
    files += "follow each other, and end in .gz"
    flags.add_data(
        parser, train=f"{files}; after a colon, the weight of one: a.tsv b.tsv:2",
        valid="for validation; the same without weights", test="for the final scores; as --valid",
    )  # fmt: skip
    flags.add_selection(parser)
    parser.add_argument(
        "--preset", choices=params.PRESETS,
        help="values of all flags not given, listed below (default: the one named as the data set; "
        f"for TED talks without --plain {MAIN_PRESET}, else tutorial)",
    )  # fmt: skip
    text = "begin with the weights, the tokenizer and the sizes of that run, in a new one"
    flags.add_value(parser, "--from", "DIR", text, dest="parent")
    flags.add_switch(parser, "--reverse", "translate the second language into the first")
    flags.add_switch(parser, "--no-plots", "draw no pictures at the end")
    flags.add_plain(
        parser, "train by the tutorial's step and network, as run_demo.py and "
        "transformer_model.py have them: a tenth more time, the same checkpoints",
    )  # fmt: skip
    flags.add_parameters(parser)


def request_of(args: Namespace) -> TrainingRequest:
    """Returns what a parsed command line asks for."""
    parameters = {
        name: value for name, value in flags.given_parameters(args).items() if name != "data_path"
    }
    return TrainingRequest(
        run=args.run,
        dataset=args.data_path,
        train=tuple(args.train or ()),
        valid=tuple(args.valid or ()),
        test=tuple(args.test or ()),
        languages=tuple(args.languages or ()),
        columns=tuple(args.columns or ()),
        sheet=args.sheet,
        header=not args.no_header,
        reverse=args.reverse,
        preset=args.preset,
        parent=args.parent,
        plots=not args.no_plots,
        plain=args.plain,
        eager=args.eager,
        parameters=parameters,
        command=(*COMMAND, *args.typed),
    )
