"""Writes reference.md and commands.md, every flag; api.md; and the line numbers of names.md.

python docs/make_reference.py
"""

import argparse
import ast
import collections
import inspect
import re
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nmt
import params
from nmt.cli import flags, main
from nmt.decoding.search_options import Repetition, Sampling, SearchOptions
from nmt.options import declared

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
its flags. All commands except `runs`, `data` and `import` accept the flags of the first table, and
several commands those of the second. The flags of training, which needs no command:
[reference](reference.md).""",
    "api.md": """# How do I call it from Python, and what stays as it is?

`python docs/make_reference.py` writes this page from the docstrings.

    from nmt import load_translator

    translate = load_translator("runs/quick", beam=4)
    print(list(translate(["O carro vermelho é novo.", "Onde fica a estação?"])))

Install the package, or work in the project's folder. The names on this page, `nmt.__version__`,
the commands with their flags, and the files of a run folder are **public: within 5.x they stay as
they are**, and what is added has a default. All else may change with any version;
`transformer_model.py` keeps the names of the tutorial.

`import nmt` takes no time, prints nothing and changes nothing; TensorFlow is imported, in silence,
when a function needs it: a translation on a CPU does not. A mistake is a `UserError` whose text is
one line; no function ends the process. Messages go to the logger `nmt`. Your application may have a
`params.py` or a folder `data` of its own.""",
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


WITHOUT_RUN = ("runs", "data", "import")  # commands that take no trained run


def command_lines():
    """Returns the lines of commands.md after its head."""
    common = argparse.ArgumentParser(add_help=False)
    flags.add_run(common, several=True)
    command_rows = {
        name: rows(main.parser(name), () if name in WITHOUT_RUN else ("run", "checkpoint"))
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
        lines += ["", f"## {name}: {main.module_of(name).HELP}", ""]
        lines += [*TABLE, *unshared] if unshared else ["Its flags are those of several commands."]
    return lines


def signature_of(function):
    """Returns the head of a function as it stands in its file, one argument per line."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    definition = ast.parse(source).body[0]
    definition.decorator_list, definition.body = [], []
    arguments = definition.args
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    lines = [with_default(*pair) for pair in zip(arguments.args, defaults, strict=True)]
    if arguments.kwonlyargs:
        lines.append("*")
        pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        lines += [with_default(*pair) for pair in pairs]
    if arguments.kwarg:
        lines.append(f"**{ast.unparse(arguments.kwarg)}")
    returned = ast.unparse(definition.returns)
    return [f"{definition.name}(", *(f"    {line}," for line in lines), f") -> {returned}"]


def with_default(argument, default):
    """Returns an argument of a function as text, with its default."""
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def described(documentation):
    """Returns the lines of a docstring as markdown: its sections as lists of names."""
    lines = []
    for line in inspect.cleandoc(documentation).splitlines():
        if line in ("Args:", "Raises:", "Returns:", "Attributes:"):
            lines += [f"**{line}**", ""]
        elif match := re.match(r"  (\w[\w, ]*): (.*)", line):
            lines.append(f"- `{match[1]}`: {match[2]}")
        else:
            lines.append(line)
    return lines


def search_lines():
    """Returns the lines of a table of what `load_translator` takes of a search, by its name."""
    by_name = {row.name: row for row in declared(SearchOptions)}
    by_name |= {row.name: row for row in params.table() if row.name in SearchOptions._fields}
    meanings = {  # of fields that have no flag of their own
        "plain": "greedy search by `transformer_model.greedy_translate`",
        "sampling": "a Sampling, how samples are drawn: "
        + ", ".join(f"`{name}`" for name in Sampling._fields),
        "repetition": "a Repetition, what a translation may repeat: "
        + ", ".join(f"`{name}`" for name in Repetition._fields),
    }
    lines = ["", "Fields of SearchOptions, of `nmt.decoding.search_options`:", ""]
    lines += ["| name | default | meaning |", "|---|---|---|"]
    for name, default in SearchOptions._field_defaults.items():
        meaning = meanings.get(name) or by_name[name].flag.help
        shown = "the run's" if name in ("beam", "length_penalty") else default
        lines.append(f"| `{name}` | {shown} | {meaning} |")
    return lines


def api_lines():
    """Returns the lines of api.md after its head."""
    lines = []
    for name in nmt.__all__:
        item = getattr(nmt, name)
        if inspect.isfunction(item):
            head = [f"    {line}" for line in signature_of(item)]
            lines += ["", f"## {name}", "", *head, "", *described(item.__doc__)]
            lines += search_lines() if name == "load_translator" else []
        elif inspect.isclass(item):
            lines += ["", f"## {name}", "", *described(item.__doc__)]
    return lines


def pages():
    """Returns the pages as text, by the name of their file."""
    train = ["", *TABLE, *rows(main.parser("train"))]
    bodies = zip(HEADS.items(), (train, command_lines(), api_lines()), strict=True)
    written = {name: "\n".join([head, *lines]) + "\n" for (name, head), lines in bodies}
    return written | {NAMES.name: numbered(NAMES.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
