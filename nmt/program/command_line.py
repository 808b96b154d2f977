"""The command line: the commands and their flags."""

import argparse

import params
from nmt.decoding.export import FORMATS, QUANTIZATIONS
from nmt.decoding.translator import KINDS
from nmt.program import flags

COMMANDS = ("train", "translate", "score", "export", "evaluate", "explore", "plot")
PICTURES = {  # in the order drawn, each with its own flags
    "positional-encoding": ("positions", "depth", "position"),
    "masks": (),
    "scaling": (),
    "schedule": (),
    "lengths": (),
    "curves": ("beside",),
    "attention": ("kind", "layer", "head", "mean"),
}
DESCRIPTION = """
Parallel text -> batches -> training -> translations -> scores and pictures.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --train a.src a.tgt           the same with your own aligned files
    python run_demo.py translate "Bom dia."          translate; or the lines of a file: < FILE
    python run_demo.py evaluate                      score the run on its test split again
    python run_demo.py plot WHAT                     draw a picture again

Everything goes to a run folder, `runs/<dataset>` (`--run` names another). Results go to stdout,
everything else to stderr.
""".strip()


def parser(calls):
    """Returns the parser of all commands; the flags of `train` are the rows of params.table().

    Args:
      calls: the function of each of COMMANDS, by name, to be called with the parsed arguments.
    """
    program = flags.Parser(
        "run_demo.py", usage="run_demo.py [COMMAND] [flags]", add_help=False,
        description=DESCRIPTION,
    )  # fmt: skip
    program.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    commands = program.add_subparsers(
        title="commands (each has its own --help; the default is train, whose flags follow)",
        prog="run_demo.py", dest="command", required=True, metavar="COMMAND ...",
    )  # fmt: skip
    command = commands.add_parser(
        "train", help="train, evaluate, draw",
        usage="run_demo.py [train] [flags]", epilog=flags.presets(),
    )  # fmt: skip
    command.set_defaults(call=calls["train"])
    command.add_argument(
        "--run", type=flags.filled, metavar="DIR", help="run folder (default runs/<dataset>)"
    )
    for split in ("train", "valid", "test"):
        command.add_argument(
            f"--{split}", nargs="+", metavar="FILE", help=f"{split}: a .tsv, or source and target"
        )
    command.add_argument(
        "--preset", choices=params.PRESETS,
        help="values of all flags not given, listed below (default: the one named as the data set, "
        "or tutorial)",
    )  # fmt: skip
    flags.add_parameters(command)
    program.epilog = command.format_help()
    own = "the run's"

    def add(name, text):
        command = commands.add_parser(name, help=text)
        command.set_defaults(call=calls[name])
        command.add_argument(
            "--run", type=flags.filled, metavar="DIR",
            help="run folder (default: the newest in runs/)",
        )  # fmt: skip
        command.add_argument(
            "--checkpoint", choices=("final", "newest", "best"),
            help="the weights that were scored at the end of training, the last epoch's, or the "
            "best epoch's (default final, or newest while there is no final)",
        )  # fmt: skip
        return command

    command = add("translate", "translate arguments, or the lines of stdin")
    command.add_argument("text", nargs="*", help="sentences; without any, stdin is read")
    flags.add_parameters(command, params.names(params.SEARCH), own)
    command.add_argument(
        "--n-best", type=int, choices=range(1, 65), metavar="N", default=1,
        help="translations per line, at most as many as --beam (default 1)",
    )  # fmt: skip
    command.add_argument(
        "--score", action="store_true", help="log-probability and tab before each translation"
    )
    command = add("score", "log-probability of each pair of the given files")
    command.add_argument("files", nargs="+", metavar="FILE", help="a .tsv, or source and target")
    command = add("export", "write the model for use elsewhere")
    command.add_argument("--format", choices=FORMATS, default="saved_model")
    command.add_argument("--to", metavar="PATH", help="a new path (default: in export/ of the run)")
    command.add_argument("--quantization", choices=QUANTIZATIONS, help="CTranslate2's")
    command = add("evaluate", "score the run on its test split, or on files")
    command.add_argument(
        "files", nargs="*", metavar="FILE",
        help="a .tsv, or source and references, instead of the test split; only prints the scores",
    )  # fmt: skip
    command.add_argument(
        "--against", metavar="DIR", help="another run: test the significance of the difference"
    )
    flags.add_parameters(command, params.names(params.SEARCH, params.SCORING), own)
    command = add("explore", "write a page that shows attention weights")
    command.add_argument("text", nargs="*", help="sentences; without any, stdin is read")
    command.add_argument("--to", metavar="FILE", help="the page (default explorer.html of the run)")
    command = add("plot", "draw a picture into the run's plots/")
    command.add_argument("what", choices=PICTURES)
    command.add_argument(
        "sentence", nargs="?", help="for attention and masks (default: the first of the test split)"
    )
    command.add_argument(
        "--kind", choices=KINDS, default="cross", help="of attention (default cross)"
    )
    command.add_argument("--layer", type=int, metavar="N", help="of attention (default the last)")
    panels = command.add_mutually_exclusive_group()
    panels.add_argument("--head", type=int, metavar="N", help="one head (default all)")
    panels.add_argument(
        "--average", action="store_true", dest="mean", help="one panel: the mean of all heads"
    )  # a name of its own, for a parameter of the run is called so
    size = flags.in_range(int, params.Flag("", 2, 10_000))
    command.add_argument(
        "--positions", type=size, metavar="N", default=50, help="number of positions (default 50)"
    )
    command.add_argument(
        "--depth", type=size, metavar="N", help="dimensions of the encoding (default d_model)"
    )
    command.add_argument(
        "--position", type=int, metavar="P",
        help="position that the others are compared with (default the middle one)",
    )  # fmt: skip
    command.add_argument(
        "--beside", nargs="+", default=[], metavar="DIR", help="runs whose curves are drawn too"
    )
    return program
