"""`--config FILE`: flags from a YAML file, for any command.

    epochs: 20          # a comment
    tie-embeddings: true
    train: [a.tsv, b.tsv:2]

A key is a flag without its dashes. Values are the words of a command line, as they are written: no
word of YAML becomes something else on the way (`xla: off`, `languages: no-en`, 1e-6). A flag that
is given on the command line takes precedence.
"""

from __future__ import annotations

from argparse import Action, ArgumentError
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.cli.flags import is_repeatable
from nmt.cli.parser import Parser, as_no_flag
from nmt.corpus import files
from nmt.messages import closest
from nmt.text import encoding

if TYPE_CHECKING:
    import yaml

FLAG = "--config"
NOT_IN_A_FILE = {FLAG, "--help"}
NO = "--no-"
NULL = "tag:yaml.org,2002:null"


class Entry(NamedTuple):
    """A key of a YAML file and what stands after it."""

    key: str
    value: yaml.Node
    place: str  # of the key, as in "train.yaml:3"


def expand(parser: Parser, arguments: list[str]) -> list[str]:
    """Returns the arguments of a command with the flags of the file that --config names.

    Raises a UserError if the file cannot be read, or holds what is no flag or no value of one.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    typed = arguments[:end]
    if not any(word.partition("=")[0] == FLAG for word in typed):
        return arguments
    path = _path(typed)
    given = parser.destinations(typed)
    words: list[str] = []
    keys: dict[str, str] = {}  # by the destination of their flags
    for entry in read_entries(path) if path else ():
        action = _action_of(parser, entry)
        if action.dest in keys:
            raise UserError(f"{entry.place}: {entry.key} contradicts {keys[action.dest]}; keep one")
        keys[action.dest] = entry.key
        values = _words_of(parser, action, entry)
        if action.dest not in given:
            words += values
    return [*typed, *words, *arguments[end:]]


def _path(words: list[str]) -> str:
    """Returns the value of --config; "" without one, which the parser reports."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == FLAG:
            return following
        if word.startswith(f"{FLAG}="):
            return word.partition("=")[2]
    return ""


# ---- The file ----


def read_entries(path: str) -> list[Entry]:
    """Returns the entries of a YAML file, whose content must be a mapping with different keys.

    Raises a UserError if it cannot be read, is no YAML, or holds something else.
    """
    import yaml

    files.check_is_stored(path)
    text = "\n".join(encoding.read_lines(path))
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        check_keys(path, root)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(
            f"{path}:{line}: is not YAML: {error.problem}; write lines of key: value"
        ) from None
    except yaml.YAMLError as error:
        problem = str(error).splitlines()[0]
        raise UserError(f"{path}: is not YAML: {problem}; write lines of key: value") from None
    except RecursionError:
        raise UserError(f"{path}: is nested too deeply; write lines of key: value") from None
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        raise UserError(f"{path}: is not a mapping; write lines of key: value")
    return list(_entries(path, root))


def _entries(path: str, mapping: yaml.MappingNode) -> Iterator[Entry]:
    """Yields the entries of a mapping, whose keys must be words."""
    import yaml

    for key, value in mapping.value:
        place = f"{path}:{key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise UserError(f"{place}: a key is no word; write key: value")
        yield Entry(key.value, value, place)


def check_keys(path: str, node: yaml.Node | None) -> None:
    """Raises a UserError if a mapping of a YAML file, however deep, has the same key twice."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        first: dict[str, str] = {}
        for key, value, place in _entries(path, node):
            if key in first:
                raise UserError(f"{place}: {key} stands in line {first[key]}, too; keep one")
            first[key] = place.rpartition(":")[2]
            check_keys(path, value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            check_keys(path, item)


# ---- Flags and their words ----


def _action_of(parser: Parser, entry: Entry) -> Action:
    """Returns the action of a key, the name of a flag."""
    flag = _flag(entry)
    action = parser.action_of(flag)
    if action is None or flag in NOT_IN_A_FILE:
        close = closest(flag, [name for name in parser.flags if name not in NOT_IN_A_FILE])
        advice = f"did you mean {close[2:]}?" if close else f"see {parser.prog} --help"
        raise UserError(f"{entry.place}: unknown key {entry.key} ({advice})")
    return action


def _flag(entry: Entry) -> str:
    """Returns the flag of a key, which may be written with _, as in params.json."""
    return f"--{entry.key.replace('_', '-')}"


def _words_of(parser: Parser, action: Action, entry: Entry) -> list[str]:
    """Returns the words of a command line that give a flag its value."""
    values = _values_of(action, entry)
    if action.nargs == 0:
        return _switch(action, values, entry)
    try:
        parser.check_values(action, values)
    except ArgumentError as error:
        raise UserError(f"{entry.place}: {entry.key}: {error.message}") from None
    if action.nargs == "+":
        return [_flag(entry), *map(as_no_flag, values)]
    return [f"{_flag(entry)}={value}" for value in values]


def _values_of(action: Action, entry: Entry) -> list[str]:
    """Returns the values after a key: a word, or a list of words where the flag takes several."""
    import yaml

    takes_list = action.nargs == "+" or is_repeatable(action)
    is_list = takes_list and isinstance(entry.value, yaml.SequenceNode)
    nodes = entry.value.value if is_list else [entry.value]
    if not nodes or not all(isinstance(node, yaml.ScalarNode) for node in nodes):
        wanted = "a value, or a list of them: [a, b]" if takes_list else "one value"
        raise UserError(f"{entry.place}: {entry.key} takes {wanted}")
    if any(node.tag == NULL for node in nodes):
        raise UserError(f"{entry.place}: {entry.key} has no value; write one, or leave it out")
    return [node.value for node in nodes]


def _switch(action: Action, values: list[str], entry: Entry) -> list[str]:
    """Returns the flag of a switch that is on; of one that is off, its negation or nothing."""
    flag = _flag(entry)
    if values == ["true"]:
        return [flag]
    if values != ["false"]:
        raise UserError(f"{entry.place}: {entry.key} is true or false")
    negation = f"--{flag.removeprefix(NO)}" if flag.startswith(NO) else f"{NO}{flag[2:]}"
    return [negation] if negation in action.option_strings else []
