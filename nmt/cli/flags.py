"""The command line's flags, made from the table in params.py; its errors are one line."""

import argparse
import difflib
import textwrap

import params
from nmt import UserError
from nmt.runs.parameters import error_in

VERBATIM = "\ufdd0"  # begins words after "--", which are no flags; no character, says Unicode


class Layout(argparse.RawDescriptionHelpFormatter):
    """Help with a column wide enough for the names of flags."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=30)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are UserErrors, without the usage before them."""

    def __init__(self, *args, **options):
        super().__init__(*args, formatter_class=Layout, allow_abbrev=False, **options)

    def error(self, message):
        raise UserError(f"{message}; see {self.prog} --help")

    def parse(self, arguments, unknown):
        """Returns the parsed `arguments`, of which flags and sentences may come in any order.

        Args:
          unknown: a function that explains arguments that the parser does not know, or returns
            None.
        """
        end = arguments.index("--") if "--" in arguments else len(arguments)
        words = [VERBATIM + word if word.startswith("-") else word for word in arguments[end + 1 :]]
        args, extra = self.parse_known_intermixed_args(arguments[:end] + words)
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


def closest(word, known):
    """Returns the one of `known` words that is most like `word`; None if none is like it."""
    matches = difflib.get_close_matches(word.replace("_", "-").lower(), known, 1)
    return matches[0] if matches else None


def add_parameters(parser, only=None, default=None):
    """Adds a flag for every row of params.table(), grouped as there, or for those named in `only`.

    A flag not given is None in what is parsed; see `chosen`.

    Args:
      default: what the help calls the default, if not the row's.
    """
    rows = [row for row in params.table() if only is None or row.name in only]
    titles = dict.fromkeys(row.section for row in rows)  # in their order, once each
    groups = {title: parser.add_argument_group(title) for title in titles}
    for row in rows:
        names = [f"--{name.replace('_', '-')}" for name in (row.flag.also, row.name) if name]
        described = default or ("none" if row.default == "" else row.default)
        options = dict(dest=row.name, help=f"{row.flag.help} (default {described})")
        group = groups[row.section]
        if row.type is bool:
            options |= dict(action=argparse.BooleanOptionalAction)
        elif row.flag.choices:
            options |= dict(choices=row.flag.choices)
        else:
            metavar = {int: "N", float: "X", str: "NAME"}[row.type]
            options |= dict(type=in_range(row.type, row.flag), metavar=metavar)
        group.add_argument(*names, **options)


def chosen(args, preset="tutorial"):
    """Returns a value by name for each row of params.table(): the flag's, or the preset's."""
    return params.values(preset) | given(args)


def given(args):
    """Returns the parameters, by name, whose flags were given."""
    names = {row.name for row in params.table()}
    return {
        name: value for name, value in vars(args).items() if name in names and value is not None
    }


def presets():
    """Returns the presets as text for --help, a paragraph each."""
    lines = ["presets: the defaults, except for the values listed; flags given take precedence:"]
    for name, preset in params.PRESETS.items():
        values = " ".join(
            f"--{key.replace('_', '-')}" + ("" if value is True else f" {value}")
            for key, value in preset.values.items()
        )
        text = f"{name}: {preset.source}" + (f": {values}" if values else "")
        lines += textwrap.wrap(
            text, 96, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
    return "\n".join(lines)


def filled(text):
    """Returns the text of a flag that must not be empty, as from an unset shell variable."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def in_range(kind, flag):
    """Returns a function that turns the text of a flag into a `kind` within its bounds."""

    def parse(text):
        value = kind(text)
        if wrong := error_in(value, flag):
            raise argparse.ArgumentTypeError(wrong)
        return value

    parse.__name__ = kind.__name__  # for argparse's "invalid int value"
    return parse
