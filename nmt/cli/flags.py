"""The flags of several commands, and those that params.py declares. Without TensorFlow."""

import argparse
import codecs
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nmt import UserError, messages
from nmt.corpus import files
from nmt.corpus.formats.format import Selection
from nmt.decoding.engines.choice import AUTO, ENGINES, QUANTIZATIONS
from nmt.decoding.search_options import Protecting, Repetition, SearchOptions
from nmt.neighbors import params
from nmt.options import Options, declared, error_in
from nmt.runs.weights import KINDS
from nmt.text import languages
from nmt.text.glossary import read_glossary
from nmt.text.protected import compile_pattern

THE_RUNS = "the run's"  # the default of flags of a trained run


# ---- The rows of params.table() ----


def add_parameters(
    parser: argparse.ArgumentParser, only: Iterable[str] | None = None, default: str | None = None
) -> None:
    """Adds a flag for every row of params.table(), grouped as there, or for those named in `only`.

    A flag not given is None in what is parsed; see `chosen`.

    Args:
      default: what the help calls the default, if not the row's.
    """
    rows = [row for row in params.table() if only is None or row.name in only]
    titles = dict.fromkeys(row.section for row in rows)  # in their order, once each
    groups = {title: parser.add_argument_group(title) for title in titles}
    for row in rows:
        names = [name for name in (row.flag.alias, row.name) if name]
        shown = default or ("none" if row.default == "" else str(row.default))
        options: dict[str, Any] = dict(dest=row.name, help=f"{row.flag.help} (default {shown})")
        if row.type is bool:
            options["action"] = argparse.BooleanOptionalAction
        add_row(groups[row.section], row, names, **options)


def add_row(group: Any, row: params.Param, names: list[str], **options: Any) -> None:
    """Adds the flag of a row to a group or a parser."""
    if row.flag.choices:
        options["choices"] = row.flag.choices
    elif "action" not in options:
        metavar = {int: "N", float: "X", str: "NAME"}[row.type]
        options |= dict(type=in_range(row.type, row.flag), metavar=metavar)
    group.add_argument(*(f"--{name.replace('_', '-')}" for name in names), **options)


def add_options(group: Any, rows: Iterable[params.Param], is_given: bool = False) -> None:
    """Adds flags of rows of search options, which are 0, False or None by default.

    Args:
      is_given: a flag that is not given is None in what is parsed.
    """
    for row in rows:
        default = None if is_given else row.default
        if row.type is bool:
            add_row(group, row, [row.name], action="store_true", help=row.flag.help)
        else:
            shown = "" if row.default is None else f" (default {row.default})"
            text = f"{row.flag.help}{shown}"
            name = row.flag.alias or row.name
            add_row(group, row, [name], dest=name, help=text, default=default)


def add_search(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of a search that all commands that translate have; see `search_of`."""
    add_parameters(parser, params.names(params.SEARCH), THE_RUNS)
    add_options(parser, rows_of_search(SearchOptions))
    add_options(parser, rows_of_search(Repetition))


def rows_of_search(record: type[Any]) -> list[params.Param]:
    """Returns the rows of a record that all commands that translate have flags for."""
    return [row for row in declared(record) if row.section is params.SEARCH]


def search_of(args: argparse.Namespace) -> SearchOptions:
    """Returns the search that flags of `add_search` ask for, but for what the run decides."""

    def values_of(record: type[Any]) -> dict[str, Any]:
        named = {row.name: row.flag.alias or row.name for row in rows_of_search(record)}
        return {name: getattr(args, dest) for name, dest in named.items() if hasattr(args, dest)}

    repetition = Repetition(**values_of(Repetition))
    return SearchOptions(
        repetition=None if repetition == Repetition() else repetition, **values_of(SearchOptions)
    )


def chosen(args: argparse.Namespace, preset: str = "tutorial") -> Options:
    """Returns the values of the flags given, or else the preset's."""
    return Options.of(preset, given_parameters(args))


def given_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the parameters, by name, whose flags were given."""
    names = {row.name for row in params.table()}
    return {
        name: value for name, value in vars(args).items() if name in names and value is not None
    }


def presets() -> str:
    """Returns the presets as text for --help, a paragraph each."""
    lines = ["presets: the defaults, except for the values listed; flags given take precedence:"]
    for name, preset in params.PRESETS.items():
        values = " ".join(
            f"--{key.replace('_', '-')}" + ("" if value is True else f" {value}")
            for key, value in preset.values.items()
        )
        text = f"{name}: {preset.description}" + (f": {values}" if values else "")
        lines += textwrap.wrap(
            text, 96, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
    return "\n".join(lines)


def filled(text: str) -> str:
    """Returns the text of a flag that must not be empty, as from an unset shell variable."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def in_range(kind: type, flag: params.Flag) -> Callable[[str], Any]:
    """Returns a function that turns the text of a flag into a `kind` within its bounds."""

    def value_of(text: str) -> Any:
        value = kind(text)
        if wrong := error_in(value, flag):
            raise argparse.ArgumentTypeError(wrong)
        return value

    value_of.__name__ = kind.__name__  # for argparse's "invalid int value"
    return value_of


def number(kind: type, low: float | None = None, high: float | None = None) -> Callable[[str], Any]:
    """Returns the type of a flag whose value is a number of these bounds, ends included."""
    return in_range(kind, params.Flag("", low, high))


# ---- Of several commands ----


class FirstAndOthers(argparse.Action):
    """The first --run, and those that follow it."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any,
        option: str | None = None,
    ) -> None:  # fmt: skip
        if namespace.run is None:
            namespace.run = value
        else:
            namespace.ensemble = [*namespace.ensemble, value]


class Once(argparse.Action):
    """A flag that may not be given twice: nobody would see which value counts."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any,
        option: str | None = None,
    ) -> None:  # fmt: skip
        if getattr(namespace, self.dest) is not self.default:
            raise argparse.ArgumentError(self, "is given twice; give it once")
        setattr(namespace, self.dest, value)


def add_value(
    parser: Any, name: str, metavar: str, text: str, kind: Callable[[str], Any] = filled,
    **options: Any,
) -> None:  # fmt: skip
    """Adds a flag with a value to a parser or a group; it may not be given twice, nor empty.

    Args:
      kind: turns the text of the flag into its value; str lets it be empty.
    """
    parser.add_argument(name, metavar=metavar, help=text, type=kind, action=Once, **options)


def add_switch(parser: Any, name: str, text: str) -> None:
    """Adds a flag without a value, False unless it is given, to a parser or a group."""
    parser.add_argument(name, action="store_true", help=text)


def is_repeatable(action: argparse.Action) -> bool:
    """Returns whether a flag may be given several times: --run of an ensemble, --protect."""
    return isinstance(action, FirstAndOthers | argparse._AppendAction)


def add_config(parser: argparse.ArgumentParser) -> None:
    """Adds the flag of a file of flags, which every command has; see configuration.py."""
    text = "a YAML file of flags, lines of flag: value; those given here take precedence"
    add_value(parser, "--config", "FILE", text)


def add_run(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Adds the flags that choose a trained run, or `several`."""
    text = "run folder (default: the newest in runs/, if all are of one corpus; if there is none, "
    text += "the one that comes with the program)"
    if several:
        text += "; repeated (translate, evaluate, score): an ensemble, the mean of their "
        text += "probabilities"
        parser.set_defaults(ensemble=[])
    action = FirstAndOthers if several else Once
    parser.add_argument("--run", type=filled, metavar="DIR", help=text, action=action)
    add_checkpoint(parser)


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Adds the flag that chooses the weights of a trained run."""
    parser.add_argument(
        "--checkpoint", choices=KINDS,
        help="the weights that were scored at the end of training, the last epoch's, or the "
        "best epoch's (default final, or best while training has not ended)",
    )  # fmt: skip


def add_sentences(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="sentences; without any, stdin is read")


PAIRS = "a file of pairs (.tsv, .csv, .xlsx, .tmx, .xlf), or source and target"


def add_pairs(parser: argparse.ArgumentParser, nargs: str = "+", text: str = PAIRS) -> None:
    """Adds the files of parallel text, and the flags that choose two sides of them."""
    parser.add_argument("files", nargs=nargs, metavar="FILE", help=text)
    add_selection(parser)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that choose two sides of a file of pairs; see `selection`."""
    add_languages(parser, "which two of a file that has several, or what names of files do not say")
    text = "source and target of a .tsv, .csv or .xlsx: names in its first line, or numbers"
    add_value(parser, "--columns", "A,B", text, column_pair)
    text = "the first line of a table is a pair, even if it looks like names of columns"
    add_switch(parser, "--no-header", text)
    add_value(
        parser, "--sheet", "NAME", "the sheet of an .xlsx (default: one whose first row names the "
        "sides, else the one with the most text in two columns)",
    )  # fmt: skip


def add_languages(parser: argparse.ArgumentParser, text: str) -> None:
    text = f"source and target language, as in pt-en or pt-BR-en: {text}"
    add_value(parser, "--languages", "A-B", text, languages.parse_direction)


def path_to(ending: str) -> Callable[[str], Path]:
    """Returns the type of a flag whose value is the path of a file with this ending."""

    def path_of(text: str) -> Path:
        if Path(text).suffix.lower() != ending:
            name = text or "the name"
            raise argparse.ArgumentTypeError(f"{name} does not end in {ending}; name FILE{ending}")
        return Path(text)

    return path_of


def text_encoding(text: str) -> str:
    """Returns the name of an encoding of text as Python knows it."""
    try:
        "".encode(text)
        return codecs.lookup(text).name
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no encoding; name one such as cp1252, latin1, gb18030 or utf-16"
        ) from None


def column_pair(text: str) -> tuple[str, str]:
    """Returns the two names or numbers of columns in "id,source"."""
    columns = [column.strip() for column in text.split(",")]
    if len(columns) != 2 or not all(columns):
        raise argparse.ArgumentTypeError(f"{text!r} is not two names or numbers, as in 2,3")
    return columns[0], columns[1]


def selection(args: argparse.Namespace) -> Selection:
    """Returns which two sides of files of pairs the flags choose."""
    if hasattr(args, "files"):
        files.check_sheet(args.sheet, args.files)
    pair = languages.as_pair(args.languages) if args.languages else None
    encoding = getattr(args, "encoding", None)
    return Selection(pair, args.columns, args.sheet, not args.no_header, encoding)


def add_plain(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds the flags of those who read transformer_model.py and want to see it run."""
    add_switch(parser, "--plain", text)
    text = "with --plain: every line runs as Python, without tf.function, for a debugger"
    add_switch(parser, "--eager", text)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of what searches for translations."""
    parser.add_argument(
        "--engine", choices=ENGINES, default=AUTO,
        help=f"what translates: {', '.join(ENGINES[1:])}; or auto: on a CPU the first of these "
        "that can do what is asked",
    )  # fmt: skip
    parser.add_argument(
        "--quantization", choices=QUANTIZATIONS,
        help="weights of 8 bits for ctranslate2: faster, and some translations differ",
    )  # fmt: skip


def add_messages(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of what is written to stderr: the fields of messages.Style."""
    parser.add_argument(
        "--log-level", choices=messages.LEVELS, default=messages.Style().level,
        help="the least important messages that are shown (default info)",
    )  # fmt: skip
    parser.add_argument(
        "--log-format", choices=messages.FORMATS, default=messages.TEXT,
        help="messages as text, or as lines of JSON without progress bars (default text)",
    )  # fmt: skip


def add_data(parser: argparse.ArgumentParser, **splits: str) -> None:
    """Adds a flag for the files of each of `splits`, with its help."""
    for split, text in splits.items():
        parser.add_argument(f"--{split}", nargs="+", metavar="FILE", help=text, action=Once)


# ---- What must not change, and terms ----


def add_protection(parser: argparse.ArgumentParser, checks: bool = True) -> None:
    """Adds the flags of what must not change, and of terms; without `checks`, not --check."""
    group = parser.add_argument_group("What must not change (docs/protecting.md)")
    group.add_argument(
        "--no-protect", action="store_false", dest="protection",
        help="translate numbers, addresses, placeholders and tags as any text",
    )  # fmt: skip
    group.add_argument(
        "--protect", action="append", metavar="REGEX", dest="patterns", default=[],
        help="what matches must not change, either (repeatable)",
    )  # fmt: skip
    text = "terms and their translations, lines of source TAB target; # begins a comment"
    add_value(group, "--glossary", "FILE", text)
    if not checks:
        return
    text = (
        "name on stderr the lines whose numbers, placeholders, URLs or tags are not those of the "
    )
    add_switch(group, "--check", text + "source")
    text = "--check, with exit code 3 if there is such a line, or if text of a document stays"
    add_switch(group, "--strict", text)


def read_protection(args: argparse.Namespace) -> Protecting:
    """Returns what must not change, and terms.

    Raises a UserError if they contradict each other, or the glossary cannot be read.
    """
    if not args.protection and args.patterns:
        raise UserError("--no-protect contradicts --protect; leave it out")
    for pattern in args.patterns:
        compile_pattern(pattern)  # a wrong one is reported before anything is loaded
    return Protecting(
        args.protection,
        tuple(args.patterns),
        read_glossary(args.glossary) if args.glossary else None,
    )
