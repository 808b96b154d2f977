"""Flags that are set in the environment: NMT_MAX_CHARS=5000 for --max-chars 5000.

The variables come from a command's parser; a flag that is given takes precedence over its variable.
"""

import argparse
import re
from collections.abc import Mapping
from typing import NamedTuple

from nmt import UserError
from nmt.cli.parser import Parser
from nmt.messages import closest, log

PREFIX = "NMT_"
HELP = (
    "Each flag can also be set in the environment, where the command line does not give it:\n"
    "NMT_MAX_CHARS=5000 is --max-chars 5000. A repeatable flag takes values with commas between\n"
    "them (\\, is a comma within a value), a flag without a value 1 or 0."
)
COMMA = re.compile(r"(?<!\\),")  # between two values


class Variable(NamedTuple):
    """A variable of the environment that sets a flag."""

    name: str
    flag: str
    action: argparse.Action
    value: str

    @property
    def is_switch(self) -> bool:
        return self.action.nargs == 0

    @property
    def words(self) -> list[str]:
        """The arguments that say the same."""
        if self.is_switch:
            return [self.flag] if self.value == "1" else []
        if not isinstance(self.action, argparse._AppendAction):
            return [f"{self.flag}={self.value}"]
        values = [value.replace("\\,", ",") for value in COMMA.split(self.value)]
        return [f"{self.flag}={value}" for value in values]


def variable_name(flag: str) -> str:
    """Returns the name of the variable of a flag: "NMT_MAX_CHARS" of "--max-chars"."""
    return PREFIX + flag.removeprefix("--").replace("-", "_").upper()


def variables(parser: Parser, environment: Mapping[str, str]) -> list[Variable]:
    """Returns the variables that set flags of a parser."""
    names = {variable_name(flag): flag for flag in parser.flags}
    return [
        Variable(name, flag, parser.flags[flag], environment[name])
        for name, flag in names.items()
        if name in environment
    ]


def with_environment(
    parser: Parser, arguments: list[str], environment: Mapping[str, str]
) -> list[str]:
    """Returns the arguments of a command, after those that stand for variables."""
    given = parser.destinations(arguments)
    words = [
        word
        for variable in variables(parser, environment)
        if variable.action.dest not in given
        for word in variable.words
    ]
    return [*words, *arguments]


def check(parser: Parser, environment: Mapping[str, str]) -> None:
    """Warns of variables that set no flag; a UserError names one whose value is wrong."""
    known = {variable_name(flag): flag for flag in parser.flags}
    for name in environment:
        if name.startswith(PREFIX) and name not in known:
            close = closest(name.removeprefix(PREFIX), (flag[2:] for flag in parser.flags))
            advice = f" (did you mean {variable_name(close)}?)" if close else ""
            log.warning(f"{name}, in the environment, is no setting of this command{advice}.")
    for variable in variables(parser, environment):
        if variable.is_switch and variable.value not in ("0", "1"):
            raise UserError(f"{variable.name}={variable.value}: write 1 or 0; see {parser.prog} -h")
        try:
            parser.parse_known_args(variable.words)
        except UserError as error:
            reason = re.sub(r"^argument \S+: ", "", str(error))
            raise UserError(f"{variable.name}, in the environment: {reason}") from None
