"""The command line's flags, made from the table in params.py; its errors are one line."""

import argparse

import params
from beyond import UserError


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are UserErrors, without the usage before them."""

    def error(self, message):
        raise UserError(f"{message}; see {self.prog} --help")


def add_parameters(parser, only=None):
    """Adds a flag for every row of params.table(), or for those whose names are in `only`.

    A flag not given has the row's default; but data_path is None, for whether the data was named
    decides whether another corpus may take its place.
    """
    for row in params.table():
        if only is not None and row.name not in only:
            continue
        names = [f"--{name.replace('_', '-')}" for name in (row.flag.also, row.name) if name]
        options = dict(dest=row.name, help=f"{row.flag.help} (default {row.default})")
        if row.name != "data_path":
            options["default"] = row.default
        if row.type is bool:
            parser.add_argument(*names, action=argparse.BooleanOptionalAction, **options)
        elif row.flag.choices:
            parser.add_argument(*names, choices=row.flag.choices, **options)
        else:
            parser.add_argument(*names, type=in_range(row.type, row.flag), **options)


def in_range(kind, flag):
    """Returns what turns a flag's text into a `kind` within the bounds of `flag`."""

    def parse(text):
        value = kind(text)
        if flag.low is not None and not value >= flag.low:
            raise argparse.ArgumentTypeError(f"{text} is less than {flag.low}")
        if flag.high is not None and not value <= flag.high:
            raise argparse.ArgumentTypeError(f"{text} is more than {flag.high}")
        return value

    parse.__name__ = kind.__name__  # for argparse's "invalid int value"
    return parse
