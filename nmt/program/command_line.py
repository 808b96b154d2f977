"""The command line: commands and flags. Without TensorFlow, so that mistakes are seen at once.

Each command has a parser of its own, made by the function of COMMANDS that adds its flags.
"""

import argparse
import platform
import shlex
from importlib import metadata
from pathlib import Path

import params
from nmt import VERSION, UserError
from nmt.decoding.attention import KINDS
from nmt.program import flags
from nmt.text.cleaning import PROBLEMS

PROGRAM = "run_demo.py"
PICTURES = {  # in the order drawn, each with its own flags
    "architecture": (),
    "positional-encoding": ("positions", "depth", "position"),
    "masks": (),
    "scaling": (),
    "schedule": (),
    "lengths": (),
    "curves": ("beside",),
    "attention": ("kind", "layer", "head", "mean"),
}
WITHOUT_RUN = ("positional-encoding", "scaling", "schedule")  # pictures of no trained run
PICTURE_FORMATS = (".png", ".svg", ".pdf")
OUTPUT_FORMATS = ("text", "tsv", "jsonl")
EXPORT_FORMATS = ("saved_model", "keras", "ctranslate2")
QUANTIZATIONS = ("int8", "float16")  # of CTranslate2
THE_RUNS = "the run's"  # the default of flags of a trained run

OVERVIEW = """
usage: python run_demo.py [COMMAND] [flags]

Parallel text -> batches -> training -> translations -> scores and pictures.

  python run_demo.py                        train on TED talks, evaluate, draw
  python run_demo.py --preset quick         a first look, in two minutes
  python run_demo.py --train a.src a.tgt    train on your own aligned files
  python run_demo.py translate "Bom dia."   translate; or a file: < FILE

commands (for the flags of each: COMMAND --help):
{commands}

most used flags of train (all of them, in groups: train --help):
  --run DIR           run folder (default runs/<dataset>); alone: resume it
  --dataset NAME      bundled, a TFDS translation dataset, or a .tsv file
  --train FILE FILE   your own source and target files
  --preset NAME       {presets}
  --epochs N          passes over the training pairs

Results go to stdout, all else to stderr. Exit code 2: a mistake you can fix.
""".strip()


# ---- The flags of each command ----


def add_run(parser):
    """Adds the flags that choose a trained run."""
    parser.add_argument(
        "--run", type=flags.filled, metavar="DIR",
        help="run folder (default: the newest in runs/, if all are of one corpus)",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint", choices=("final", "newest", "best"),
        help="the weights that were scored at the end of training, the last epoch's, or the "
        "best epoch's (default final, or newest while there is no final)",
    )  # fmt: skip


def add_sentences(parser):
    parser.add_argument("text", nargs="*", help="sentences; without any, stdin is read")


def add_pairs(parser, nargs, text):
    parser.add_argument("files", nargs=nargs, metavar="FILE", help=text)


def add_data(parser, **splits):
    """Adds a flag for the files of each of `splits`, with its help."""
    for split, text in splits.items():
        parser.add_argument(f"--{split}", nargs="+", metavar="FILE", help=text)


def train(parser):
    parser.epilog = flags.presets()
    parser.add_argument(
        "--run", type=flags.filled, metavar="DIR",
        help="run folder (default runs/<dataset>); a trained run is resumed: without --dataset and "
        "--preset, flags not given are the run's own",
    )  # fmt: skip
    files = "a .tsv, or source and target"
    add_data(parser, train=f"train: {files}", valid=f"valid: {files}", test=f"test: {files}")
    parser.add_argument(
        "--preset", choices=params.PRESETS,
        help="values of all flags not given, listed below (default: the one named as the data set, "
        "or tutorial)",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="parent", type=flags.filled, metavar="DIR",
        help="begin with the weights, the tokenizer and the sizes of that run, in a new one",
    )  # fmt: skip
    parser.add_argument("--no-plots", action="store_true", help="draw no pictures at the end")
    flags.add_parameters(parser)


def translate(parser):
    add_run(parser)
    add_sentences(parser)
    flags.add_parameters(parser, params.names(params.SEARCH), THE_RUNS)
    parser.add_argument(
        "--n-best", type=int, choices=range(1, 65), metavar="N", default=1,
        help="different translations per line, at most as many as --beam (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--score", action="store_true", help="log-probability and tab before each translation"
    )
    parser.add_argument(
        "--format", choices=OUTPUT_FORMATS, default="text",
        help="text: one line each. tsv: line number, rank, log-probability, translation. jsonl: "
        "the same as one JSON object per line (default text)",
    )  # fmt: skip
    parser.add_argument(
        "--split", action=argparse.BooleanOptionalAction, default=True,
        help="translate each sentence of a line by itself (default: yes)",
    )  # fmt: skip


def score(parser):
    add_run(parser)
    add_pairs(parser, "+", "a .tsv, or source and target")


def evaluate(parser):
    add_run(parser)
    add_pairs(
        parser, "*",
        "a .tsv, or source and references, instead of the test split; only prints the scores",
    )  # fmt: skip
    parser.add_argument(
        "--against", metavar="DIR", help="another run: test the significance of the difference"
    )
    where = "where the run's {} files are now, if they have moved"
    add_data(parser, test=where.format("test"), train=where.format("training"))
    flags.add_parameters(parser, params.names(params.SEARCH, params.SCORING), THE_RUNS)


def explore(parser):
    add_run(parser)
    add_sentences(parser)
    parser.add_argument("--to", metavar="FILE", help="the page (default explorer.html of the run)")


def plot(parser):
    add_run(parser)
    parser.add_argument("what", choices=PICTURES, help="the picture")
    parser.add_argument(
        "sentence", nargs="?", help="for attention and masks (default: the first of the test split)"
    )
    parser.add_argument(
        "--to", type=picture, metavar="FILE",
        help="a new .png, .svg or .pdf (default: a .png in the run's plots/, or here)",
    )  # fmt: skip
    parser.add_argument(
        "--kind", choices=KINDS, default="cross", help="of attention (default cross)"
    )
    parser.add_argument("--layer", type=int, metavar="N", help="of attention (default the last)")
    panels = parser.add_mutually_exclusive_group()
    panels.add_argument("--head", type=int, metavar="N", help="one head (default all)")
    panels.add_argument(
        "--average", action="store_true", dest="mean", help="one panel: the mean of all heads"
    )  # a name of its own, for a parameter of the run is called so
    size = flags.in_range(int, params.Flag("", 2, 10_000))
    parser.add_argument(
        "--positions", type=size, metavar="N", default=50, help="number of positions (default 50)"
    )
    parser.add_argument(
        "--depth", type=size, metavar="N", help="dimensions of the encoding (default d_model)"
    )
    parser.add_argument(
        "--position", type=int, metavar="P",
        help="position that the others are compared with (default the middle one)",
    )  # fmt: skip
    parser.add_argument(
        "--beside", nargs="+", default=[], metavar="DIR", help="runs whose curves are drawn too"
    )
    add_data(parser, train="where the run's training files are now, for lengths")


def export(parser):
    add_run(parser)
    parser.add_argument("--format", choices=EXPORT_FORMATS, default="saved_model")
    parser.add_argument("--to", metavar="PATH", help="a new path (default: in export/ of the run)")
    parser.add_argument("--quantization", choices=QUANTIZATIONS, help="CTranslate2's")


def data(parser):
    add_pairs(parser, "+", "a .tsv, or source and target")
    add_data(parser, test="test files: reports lines of theirs that occur in the text")
    parser.add_argument(
        "--to", metavar="FILE", help="a new .tsv for the pairs that are not dropped"
    )
    parser.add_argument(
        "--drop", nargs="+", choices=(*PROBLEMS, "all"), metavar="PROBLEM",
        help=f"pairs with these problems are not written: {', '.join(PROBLEMS)}, or all",
    )  # fmt: skip


def runs(parser):
    parser.add_argument(
        "folder", nargs="?", default="runs", metavar="DIR", help="that holds runs (default runs)"
    )


COMMANDS = {  # the function that adds the flags, and what the command does
    "train": (train, "train, evaluate, draw; the default"),
    "translate": (translate, "translate arguments, or the lines of stdin"),
    "evaluate": (evaluate, "score a run on its test split, on files, or against another run"),
    "score": (score, "log-probability of each pair of the given files"),
    "plot": (plot, "draw a picture: attention, curves, masks, architecture, ..."),
    "explore": (explore, "write a page that shows attention weights"),
    "export": (export, "write the model as SavedModel, .keras or CTranslate2"),
    "data": (data, "report on parallel text, and filter it"),
    "runs": (runs, "list all runs: corpus, epochs, BLEU, size, date"),
}


# ---- Parsing ----


def picture(text):
    """Returns the path of a picture to be drawn, of one of PICTURE_FORMATS."""
    path = Path(text)
    if path.suffix not in PICTURE_FORMATS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(PICTURE_FORMATS)}")
    return path


def parser(name):
    """Returns the parser of one of COMMANDS."""
    add_flags, text = COMMANDS[name]
    found = flags.Parser(f"{PROGRAM} {name}", description=f"{text[0].upper()}{text[1:]}.")
    add_flags(found)
    return found


def overview():
    """Returns the help of the program, which fits on a screen."""
    commands = "\n".join(f"  {name:11} {text}" for name, (_, text) in COMMANDS.items())
    return OVERVIEW.format(commands=commands, presets=", ".join(params.PRESETS))


def version():
    """Returns the versions of this program and of what it runs on."""
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("tensorflow", "keras"))
    return f"{PROGRAM} {VERSION} (Python {platform.python_version()}, {libraries})"


def parse(arguments):
    """Returns the parsed arguments of the program: its `command`, and a value for each flag.

    Raises:
      UserError: they are wrong; the message says what may have been meant.
      SystemExit: after --help and --version.
    """
    first = arguments[0] if arguments else "train"
    if first in ("-h", "--help", "--version"):
        print(version() if first == "--version" else overview())
        raise SystemExit(0)
    name, rest = ("train", arguments) if first.startswith("-") else (first, arguments[1:])
    if name not in COMMANDS:
        raise UserError(f"{name!r} is no command{meant(arguments)}; see {PROGRAM} --help")
    args = parser(name).parse(rest, unknown=lambda _: misplaced_command(rest))
    args.command, args.given = name, arguments
    return args


def meant(arguments):
    """Returns as text what `arguments`, which begin with no command, may have meant."""
    first = arguments[0]
    if close := flags.closest(first, COMMANDS):
        return f" (did you mean {close}?)"
    if Path(first).suffix == ".tsv":
        return f"; to train on a file: --dataset {shlex.quote(first)}"
    if not first.isalnum():  # a sentence
        return f"; to translate a sentence: translate {shlex.quote(first)}"
    return f" ({', '.join(COMMANDS)})"


def misplaced_command(words):
    """Returns as text where the command belongs, if one of `words` is a command; else None."""
    name = next((word for word in words if word in COMMANDS), None)
    others = [word for word in words if word != name]
    return name and f"the command comes first: {PROGRAM} {shlex.join([name, *others])}"
