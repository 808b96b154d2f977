"""Writes reference.md, every flag of every command: python docs/make_reference.py"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params
from nmt.program import command_flags, command_line

PAGE = Path(__file__).with_name("reference.md")
HEAD = """# What does this flag do?

`python docs/make_reference.py` writes this page from the program itself. A command comes before
its flags; without a command, they are those of `train`. The rows in bold are the sections of
`params.py`, where `NUM_LAYERS` is the constant of `--num-layers`. "Paper" is Vaswani et al. 2017,
"tutorial" TensorFlow's. All commands but `train`, `runs` and `data` have the flags listed first."""
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
    found = []
    for group in parser._action_groups:
        own = [it for it in group._group_actions if it.help != argparse.SUPPRESS]
        own = [it for it in own if it.dest != "help" and it.dest not in without]
        if own and isinstance(group.title, params.Section):
            found.append(f"| **{group.title}** | |")
        found += map(row, own)
    return found


def page():
    """Returns the page as text."""
    common = argparse.ArgumentParser(add_help=False)
    command_flags.add_run(common)
    lines = [HEAD, "", *TABLE, *rows(common)]
    for name, (_, text) in command_line.COMMANDS.items():
        shared = () if name in ("train", "runs", "data") else ("run", "checkpoint")
        lines += ["", f"## {name}: {text}"]
        lines += [*TABLE, *rows(command_line.parser(name), shared)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
