"""Writes reference.md and commands.md, every flag, and the line numbers of names.md.

python docs/make_reference.py
"""

import argparse
import collections
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params
from nmt.cli import flags, main

FOLDER = Path(__file__).parent
NAMES = FOLDER / "names.md"
HEADS = {
    "reference.md": """# What does this flag of a training run do?

`python docs/make_reference.py` writes this page from the program itself. The rows in bold are the
sections of `params.py`, where `NUM_LAYERS` is the constant of `--num-layers`. "Paper" is Vaswani et
al. 2017, "tutorial" TensorFlow's in its edition of 2019 to 2021 ([names](names.md)). The flags of
all other commands: [commands](commands.md).""",
    "commands.md": """# What does this flag of a command do?

`python docs/make_reference.py` writes this page from the program itself. A command comes before
its flags. All commands except `runs` and `data` accept the flags of the first table, and several
commands those of the second. The flags of training, which needs no command:
[reference](reference.md).""",
}
TABLE = ["| flag | meaning |", "|---|---|"]


def cell(text):
    """Returns a text for a cell of a markdown table."""
    return " ".join(text.replace("|", "\\|").split())


def row(action):
    """Returns the row of a table for one argument of argparse."""
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.dest}`"
    if action.choices and not isinstance(action.choices, range):
        names += ": " + ", ".join(map(str, action.choices))
    return f"| {names} | {cell(action.help or '')} |"


def rows(parser, without=()):
    """Returns the rows of a parser's flags, those of a section of params.py under its title."""
    lines = []
    for group in parser._action_groups:
        actions = [it for it in group._group_actions if it.help != argparse.SUPPRESS]
        actions = [it for it in actions if it.dest != "help" and it.dest not in without]
        if actions and isinstance(group.title, params.Section):
            lines.append(f"| **{group.title}** | |")
        lines += map(row, actions)
    return lines


def line_of(name, path):
    """Returns the line, from 1, on which a Python file first defines a name."""
    definition = rf"\s*(def|class) {name}\b|\s*(self\.)?{name}\b.* = |{name}: "
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if re.match(definition, line))


def numbered(text):
    """Returns the text of a page whose links to code, [`name`](../file.py#L1), have the lines."""

    def link(match):
        name, file = match.groups()
        return f"[`{name}`](../{file}#L{line_of(name, FOLDER.parent / file)})"

    return re.sub(r"\[`(\w+)`\]\(\.\./(\w+\.py)#L\d+\)", link, text)


def command_lines():
    """Returns the lines of commands.md after its head."""
    common = argparse.ArgumentParser(add_help=False)
    flags.add_run(common, several=True)
    command_rows = {
        name: rows(main.parser(name), () if name in ("runs", "data") else ("run", "checkpoint"))
        for name in main.COMMANDS
        if name != "train"
    }
    users = collections.defaultdict(list)  # names of commands by row
    for name, command in command_rows.items():
        for line in command:
            users[line].append(name)
    shared = {line: names for line, names in users.items() if len(names) > 1}
    lines = ["", *TABLE, *rows(common), "", "## Flags of several commands", "", *TABLE]
    for line, names in shared.items():
        if not line.startswith("| **"):  # the title of a section
            lines.append(f"{line.removesuffix(' |')} ({', '.join(names)}) |")
    for name, command in command_rows.items():
        unshared = [line for line in command if line not in shared]
        lines += ["", f"## {name}: {main.COMMANDS[name].HELP}", ""]
        lines += [*TABLE, *unshared] if unshared else ["Its flags are those of several commands."]
    return lines


def pages():
    """Returns the pages as text, by the name of their file."""
    train = ["", *TABLE, *rows(main.parser("train"))]
    bodies = zip(HEADS.items(), (train, command_lines()), strict=True)
    written = {name: "\n".join([head, *lines]) + "\n" for (name, head), lines in bodies}
    return written | {NAMES.name: numbered(NAMES.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
