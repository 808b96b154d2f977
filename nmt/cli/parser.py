"""A parser of the command line whose errors are one line, and where flags may come anywhere."""

import argparse
import functools
from typing import Any, NoReturn

from nmt import UserError
from nmt.messages import closest

# ---- Words after "--", which are no flags ----

# argparse forgets where "--" stood as soon as flags and sentences may come in any order, and takes
# it for a value of a flag before it that has any number of them. So a mark, which is no character,
# says Unicode, begins words that look like flags; it is gone from all that is parsed.
MARK = "\ufdd0"


def as_no_flag(word: str) -> str:
    """Returns a word that argparse takes for no flag."""
    return MARK + word if word.startswith("-") else word


def without_mark(value: Any) -> Any:
    """Returns a parsed value, a word or a list of words, as it was typed."""
    if isinstance(value, list):
        return [without_mark(word) for word in value]
    return value.removeprefix(MARK) if isinstance(value, str) else value


# ---- The parser ----


# Help with a column wide enough for the names of flags.
LAYOUT = functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=30)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are UserErrors, without the usage before them."""

    def __init__(self, prog: str, description: str):
        super().__init__(prog, description=description, formatter_class=LAYOUT, allow_abbrev=False)

    @property
    def flags(self) -> dict[str, argparse.Action]:
        """All flags, but for -h and --help: the action by name."""
        return {
            name: action
            for name, action in self._option_string_actions.items()
            if action.dest != "help"
        }

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {self.prog} --help")

    def action_of(self, word: str) -> argparse.Action | None:
        """Returns what a word of a command line, "--flag" or "--flag=value", sets; None if none."""
        return self._option_string_actions.get(word.partition("=")[0])

    def destinations(self, arguments: list[str]) -> set[str]:
        """Returns the names of what the flags before "--" set."""
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return {action.dest for action in map(self.action_of, arguments[:end]) if action}

    def check_values(self, action: argparse.Action, values: list[str]) -> None:
        """Raises an argparse.ArgumentError if an action does not take one of `values`."""
        for value in values:
            self._get_values(action, [value])

    def _before_flags(self, arguments: list[str]) -> list[str]:
        """Returns the arguments without "--", after which all words are marked as no flags.

        They stand before the last flags if these take any number of values, which "--" has ended.
        """
        if "--" not in arguments:
            return arguments
        end = arguments.index("--")
        position = end
        actions = self._option_string_actions
        for number in reversed(range(end)):
            if arguments[number] in actions:
                if actions[arguments[number]].nargs != "+":
                    break
                position = number
        words = list(map(as_no_flag, arguments[end + 1 :]))
        return [*arguments[:position], *words, *arguments[position:end]]

    def parse_in_any_order(
        self, arguments: list[str], args: argparse.Namespace, advice: str | None
    ) -> None:
        """Parses arguments, of which flags and sentences may come in any order, to `args`.

        Args:
          advice: what to do about arguments that the parser does not know, if that is known.
        """
        _, unknown = self.parse_known_intermixed_args(self._before_flags(arguments), args)
        for name, value in vars(args).items():
            setattr(args, name, without_mark(value))
        if unknown:
            self._refuse(without_mark(unknown), advice)

    def _refuse(self, unknown: list[str], advice: str | None) -> NoReturn:
        """Raises a UserError that names the first unknown flag, or else the first word."""
        wrong = next((word for word in unknown if word.startswith("-")), unknown[0])
        wrong = wrong.partition("=")[0]
        if close := closest(wrong, [*self.flags, "--help"]):
            self.error(f"unknown {wrong} (did you mean {close}?)")
        self.error(f"unknown {wrong}" + (f"; {advice}" if advice else ""))
