"""A parser of the command line whose errors are one line."""

import argparse
from collections.abc import Callable
from typing import NoReturn

from nmt import UserError
from nmt.messages import closest

VERBATIM = "\ufdd0"  # begins words after "--", which are no flags; no character, says Unicode


class Layout(argparse.RawDescriptionHelpFormatter):
    """Help with a column wide enough for the names of flags."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=30)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are UserErrors, without the usage before them."""

    def __init__(self, *args, **options):
        super().__init__(*args, formatter_class=Layout, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {self.prog} --help")

    def _without_end(self, arguments: list[str]) -> list[str]:
        """Returns the arguments without "--", the words after it as what they are: no flags.

        They stand before the last flags if these take any number of values, which "--" has ended.
        """
        if "--" not in arguments:
            return arguments
        end = arguments.index("--")
        words = [VERBATIM + word if word.startswith("-") else word for word in arguments[end + 1 :]]
        position = end
        actions = self._option_string_actions
        for number in reversed(range(end)):
            if arguments[number] in actions:
                if actions[arguments[number]].nargs != "+":
                    break
                position = number
        return [*arguments[:position], *words, *arguments[position:end]]

    def parse(
        self,
        arguments: list[str],
        unknown: Callable[[list[str]], str | None],
        args: argparse.Namespace | None = None,
    ) -> argparse.Namespace:
        """Returns the parsed `arguments`, of which flags and sentences may come in any order.

        Args:
          unknown: a function that explains arguments that the parser does not know, or returns
            None.
          args: the Namespace to fill; None for a new one.
        """
        args, extra = self.parse_known_intermixed_args(self._without_end(arguments), args)
        for name, value in vars(args).items():
            if isinstance(value, list):
                setattr(args, name, [word.removeprefix(VERBATIM) for word in value])
            elif isinstance(value, str):
                setattr(args, name, value.removeprefix(VERBATIM))
        extra = [word.removeprefix(VERBATIM) for word in extra]
        if extra:
            wrong = next((word for word in extra if word.startswith("-")), extra[0])
            wrong = wrong.partition("=")[0]
            actions = self._option_string_actions.items()
            close = closest(wrong, [flag for flag, it in actions if it.help != argparse.SUPPRESS])
            guess = f" (did you mean {close}?)" if close else ""
            advice = "" if close else unknown(extra)
            self.error(f"unknown {wrong}{guess}" + (f"; {advice}" if advice else ""))
        return args
