"""From a command line to an exit code: it is parsed once, then the command runs.

A command is a module of this package: HELP, a line; `add_flags(parser)`; and `run(args)`, which
imports TensorFlow itself, after all that can be checked without, so that a mistake is reported at
once. The function of `train` is in run_demo.py. A module may set VARYING_SHAPES, see startup.py,
and READS_ENVIRONMENT, see environment.py.
"""

import argparse
import contextlib
import importlib
import os
import platform
import shlex
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from nmt import UserError, __version__, messages
from nmt.cli import configuration, environment, exit_codes, flags, startup
from nmt.cli.parser import Parser
from nmt.corpus import files
from nmt.messages import closest
from nmt.neighbors import params
from nmt.program import COMMAND, MODULE, PROGRAM
from nmt.runs.request import TrainingRequest

OVERVIEW = """
usage: {program} [COMMAND] [flags]

Parallel text -> batches -> training -> translations -> scores and pictures.

  {program}                        train on TED talks, evaluate, draw
  {program} --preset quick         a first look, in four minutes
  {program} translate "Bom dia."   translate; or a file: < FILE

commands (for the flags of each: COMMAND --help):
{commands}

most used flags of train (all of them, in groups: train --help):
  --run DIR           run folder (default runs/<dataset>); alone: resume it
  --dataset NAME      bundled, a TFDS translation dataset, or a .tsv file
  --train FILE FILE   your own source and target files
  --preset NAME       {presets}

Results go to stdout, all else to stderr. Exit code 2: a mistake you can fix.
""".strip()


COMMANDS = (
    "train", "translate", "translate-file", "evaluate", "score", "align", "plot", "explore",
    "export", "serve", "data", "runs", "import",
)  # fmt: skip


def module_of(command: str) -> Any:
    """Returns the module of one of COMMANDS. To import all of them takes a tenth of a second."""
    name = {"import": "import_model"}.get(command, command.replace("-", "_"))
    return importlib.import_module(f"nmt.cli.{name}")


# ---- Running ----


def start(arguments: list[str]) -> int:
    """Runs one command as the program of this process. Returns its exit code.

    Args:
      arguments: of the program. Once they are found to be right, run_demo.py is imported, whose
        `train` is the command `train`: TensorFlow takes seconds.
    """
    args = Namespace()

    def run() -> None:
        parse_command_line(arguments, args, shows_messages=True)
        module = module_of(args.command)
        startup.set_environment(getattr(module, "VARYING_SHAPES", False))
        if args.command == "train":
            startup.import_tensorflow()
            run_train = importlib.import_module(MODULE).train
            startup.catch_interrupts()
            run_train(module.request_of(args))
        else:
            startup.catch_interrupts()
            module.run(args)

    return exit_codes.exit_code(run, args)


def main(arguments: list[str], run_train: Callable[[TrainingRequest], None]) -> int:
    """Runs one command, from Python, where TensorFlow is imported. Returns the exit code."""
    args = Namespace()

    def run() -> None:
        parse_command_line(arguments, args, shows_messages=True)
        module = module_of(args.command)
        if args.command == "train":
            run_train(module.request_of(args))
        else:
            module.run(args)

    return exit_codes.exit_code(run, args)


# ---- Parsing ----


def parser(name: str) -> Parser:
    """Returns the parser of one of COMMANDS."""
    module = module_of(name)
    description = f"{module.HELP[0].upper()}{module.HELP[1:]}."
    command_parser = Parser(f"{PROGRAM} {name}", description=description)
    module.add_flags(command_parser)
    flags.add_messages(command_parser)
    flags.add_config(command_parser)
    return command_parser


def show_messages(arguments: list[str]) -> None:
    """Shows messages as the arguments of a command say, that they are wrong among them."""
    style_parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    flags.add_messages(style_parser)
    with contextlib.suppress(argparse.ArgumentError):  # which the command's parser reports
        args, _ = style_parser.parse_known_args(arguments)
        messages.show(messages.Style(args.log_level, args.log_format))


def overview() -> str:
    """Returns the help of the program, which fits on a screen."""
    commands = "\n".join(f"  {name:14} {module_of(name).HELP}" for name in COMMANDS)
    names = dict(program=" ".join(COMMAND), presets=", ".join(params.PRESETS))
    return OVERVIEW.format(commands=commands, **names)


def version() -> str:
    """Returns the versions of this program and of what it runs on."""
    from importlib import metadata  # which imports a parser of e-mail

    libraries = [f"Python {platform.python_version()}"]
    for name in ("tensorflow", "keras", "ctranslate2"):
        with contextlib.suppress(metadata.PackageNotFoundError):  # an image that serves has not all
            libraries.append(f"{name} {metadata.version(name)}")
    return f"{PROGRAM} {__version__} ({', '.join(libraries)})"


def parse_command_line(
    arguments: list[str], args: Namespace | None = None, shows_messages: bool = False
) -> Namespace:
    """Returns the parsed arguments of the program: its `command`, and a value for each flag.

    Args:
      arguments: of the program; without a command, they are those of `train`.
      shows_messages: whether messages are shown from here on as the arguments say: by the program,
        not where an application calls it, which configures its own logging.

    Raises:
      SystemExit: after --help and --version.
    """
    args = Namespace() if args is None else args
    first = arguments[0] if arguments else "train"
    if first in ("-h", "--help", "--version"):
        print(version() if first == "--version" else overview())
        raise SystemExit(0)
    without_command = first.startswith("-")
    name = "train" if without_command else first
    if name not in COMMANDS:
        raise UserError(f"{name!r} is not a command{meant(arguments)}; see {PROGRAM} --help")
    words = arguments if without_command else arguments[1:]
    command_parser = parser(name)
    reads_environment = getattr(module_of(name), "READS_ENVIRONMENT", False)
    if reads_environment:
        words = environment.with_environment(command_parser, words, os.environ)
    words = configuration.expand(command_parser, words)
    if shows_messages:
        show_messages(words)
    if reads_environment:
        environment.check(command_parser, os.environ)
    advice = misplaced_command(arguments) if without_command else None
    command_parser.parse_in_any_order(words, args, advice)
    args.command, args.typed = name, arguments
    return args


def meant(arguments: list[str]) -> str:
    """Returns as text what `arguments`, which begin with no command, may have meant."""
    first = arguments[0]
    if files.is_table(first):
        return f"; to train on a file: --dataset {shlex.quote(first)}"
    if close := closest(first, COMMANDS):
        return f" (did you mean {close}?)"
    if not first.isalnum():  # a sentence
        return f"; to translate a sentence: translate {shlex.quote(first)}"
    return f" ({', '.join(COMMANDS)})"


def misplaced_command(words: list[str]) -> str | None:
    """Returns as text where the command belongs, if one of `words` is a command; else None."""
    name = next((word for word in words if word in COMMANDS), None)
    remaining = [word for word in words if word != name]
    return name and f"the command comes first: {PROGRAM} {shlex.join([name, *remaining])}"
