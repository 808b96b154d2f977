"""The command line: commands and how they are parsed; their flags are in command_flags.py.

Without TensorFlow, so that mistakes are seen at once.
"""

import platform
import shlex
from importlib import metadata

import params
from nmt import VERSION, UserError
from nmt.cli import command_flags, flags
from nmt.text import files

PROGRAM = "run_demo.py"
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


# ---- Commands ----

COMMANDS = {  # the function that adds the flags, and what the command does
    "train": (command_flags.train, "train, evaluate, draw; the default"),
    "translate": (command_flags.translate, "translate arguments, or the lines of stdin"),
    "evaluate": (
        command_flags.evaluate,
        "score a run on its test split, on files, or against another run",
    ),
    "score": (command_flags.score, "log-probability of each pair of the given files"),
    "align": (command_flags.align, "word alignment of each pair of the given files"),
    "plot": (command_flags.plot, "draw a picture: attention, curves, masks, architecture, ..."),
    "explore": (command_flags.explore, "write a page that shows attention weights"),
    "export": (command_flags.export, "write the model as SavedModel, .keras or CTranslate2"),
    "data": (command_flags.data, "report on parallel text, and filter it"),
    "runs": (command_flags.runs, "list all runs: corpus, epochs, BLEU, size, date"),
}


# ---- Parsing ----


def parser(name):
    """Returns the parser of one of COMMANDS."""
    add_flags, text = COMMANDS[name]
    command_parser = flags.Parser(f"{PROGRAM} {name}", description=f"{text[0].upper()}{text[1:]}.")
    add_flags(command_parser)
    return command_parser


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
    without_command = arguments if first.startswith("-") else []
    args = parser(name).parse(rest, unknown=lambda _: misplaced_command(without_command))
    if name == "plot" and args.what is None:
        raise UserError(f"plot: name the picture: {', '.join(command_flags.PICTURES)}")
    args.command, args.given = name, arguments
    return args


def meant(arguments):
    """Returns as text what `arguments`, which begin with no command, may have meant."""
    first = arguments[0]
    if files.is_table(first):
        return f"; to train on a file: --dataset {shlex.quote(first)}"
    if close := flags.closest(first, COMMANDS):
        return f" (did you mean {close}?)"
    if not first.isalnum():  # a sentence
        return f"; to translate a sentence: translate {shlex.quote(first)}"
    return f" ({', '.join(COMMANDS)})"


def misplaced_command(words):
    """Returns as text where the command belongs, if one of `words` is a command; else None."""
    name = next((word for word in words if word in COMMANDS), None)
    remaining = [word for word in words if word != name]
    return name and f"the command comes first: {PROGRAM} {shlex.join([name, *remaining])}"
