"""The command `translate`."""

from __future__ import annotations

import argparse
import functools
import itertools
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nmt import UserError
from nmt.cli import flags, line_io, trained_runs, translate_lines
from nmt.cli.line_io import CHECK_ADVICE, FORMATS, MARKUP, Layout, TranslationCheck
from nmt.cli.translate_lines import Part
from nmt.decoding.consensus import closest
from nmt.decoding.search_options import CHOICE, REPORTS, Sampling, SearchOptions
from nmt.options import declared
from nmt.progress import with_progress
from nmt.text import encoding

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.decoding.line_counts import LineCounts
    from nmt.decoding.model import Model
    from nmt.decoding.search_options import Protecting
    from nmt.decoding.sentence import Translation
    from nmt.decoding.translator import Translator
    from nmt.runs.folder import Run

HELP = "translate arguments, or the lines of stdin"
VARYING_SHAPES = True


# ---- Flags ----


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser, several=True)
    flags.add_sentences(parser)
    flags.add_languages(
        parser, "by whose rules lines are divided into sentences (default: the run's)"
    )
    flags.add_search(parser)
    flags.add_options(parser, (row for row in declared(SearchOptions) if row.section is CHOICE))
    add_output_flags(parser)
    flags.add_plain(
        parser, "translate with greedy_translate of transformer_model.py: about 100 times slower, "
        "the same translations as with --beam 1",
    )  # fmt: skip
    beginning = parser.add_mutually_exclusive_group()
    flags.add_value(beginning, "--prefix", "TEXT", "what every translation begins with", str)
    text = "file of prefixes, one line per input line"
    flags.add_value(beginning, "--prefixes", "FILE", text)
    flags.add_protection(parser)
    flags.add_engine(parser)
    add_sampling_flags(parser)
    parser.add_argument(
        "--split", action=argparse.BooleanOptionalAction, default=True,
        help="translate each sentence of a line independently (default: yes)",
    )  # fmt: skip
    translate_lines.add_file_flags(parser)


def add_output_flags(parser: ArgumentParser) -> None:
    """Adds the flags of what is printed."""
    flags.add_switch(parser, "--score", "log-probability and tab before each translation")
    parser.add_argument(
        "--format", choices=(*FORMATS, *MARKUP), default="text",
        help="text: one line each. tsv: line number, rank, log-probability, translation. jsonl: "
        "the same as one JSON object per line. html, xml: the arguments, or all of stdin, are "
        "markup, whose text is translated (default text)",
    )  # fmt: skip
    flags.add_options(parser, (row for row in declared(SearchOptions) if row.section is REPORTS))


def add_sampling_flags(parser: ArgumentParser) -> None:
    """Adds --sample and the flags of it."""
    group = parser.add_argument_group("Sampling")
    flags.add_switch(
        group, "--sample", "draw translations at random, token by token; --n-best of them for each "
        "line",
    )  # fmt: skip
    flags.add_options(group, declared(Sampling), is_given=True)


# ---- The command ----


def run(args: Namespace) -> None:
    """Prints the translation, or the `n_best`, of each argument or line of stdin."""
    check_flags(args)
    protecting = flags.read_protection(args)
    runs = trained_runs.find_runs(args)
    if args.format in MARKUP:
        translate_markup(args, runs, protecting)
        return
    if args.input:
        load = functools.partial(load_translator, args, runs, protecting)
        translate_lines.run(args, runs, load, functools.partial(translate_part, args))
        return
    chunks, prefixes = line_io.given_chunks(args), read_prefixes(args)
    translator = load_translator(args, runs, protecting)
    layout = layout_of(args)
    check = None
    if args.check or args.strict:  # else the closing warning says how many differ
        check = TranslationCheck(translator.protector, names_all=True)
        chunks, copies = itertools.tee(chunks)
        sources = itertools.chain.from_iterable(copies)
    counts = translator.no_counts() if check or not line_io.are_typed(args) else None
    results = translate_chunks(translator, chunks, prefixes, args, counts)
    for number, translations in enumerate(results, start=1):
        for line in FORMATS[args.format](number, translations, layout):
            print(line)
        if check:
            check.compare(next(sources), translations[0].text)
    if counts:
        counts.warn(not check, CHECK_ADVICE)
    if args.prefixes and next(prefixes, None) is not None:
        raise UserError(f"--prefixes {args.prefixes}: more lines than the input; cut it")
    if check:
        check.report(args.strict)


def load_translator(args: Namespace, runs: list[Run], protecting: Protecting) -> Translator:
    """Returns the Translator that the flags describe."""
    _, tokenizer, model = trained_runs.load_runs(args, runs)
    return model.text_translator(tokenizer, search_options(args, model), protecting, args.split)


def translate_part(args: Namespace, translator: Translator, part: Part, counts: LineCounts) -> str:
    """Returns what is written for the lines of a Part: what `run` prints for them."""
    lines: list[str] = []
    results = translator.translate_chunks(
        [part.lines], iter(part.prefixes), is_scored(args), counts
    )
    for number, translations in enumerate(results, start=part.first):
        if part.references:
            reference = part.references[number - part.first]
            translations = [closest(translations, reference)]
        lines += FORMATS[args.format](number, translations, layout_of(args))
    return "".join(f"{line}\n" for line in lines)


def layout_of(args: Namespace) -> Layout:
    """Returns what the flags ask to print of each line."""
    return Layout(
        log_probabilities=args.score,
        links=args.alignments,
        translations=1 if args.mbr or args.closest_to else args.n_best,
        confidence=args.confidence,
    )


def is_scored(args: Namespace) -> bool:
    """Returns whether log-probabilities are printed."""
    return args.score or args.format != "text"


def translate_markup(args: Namespace, runs: list[Run], protecting: Protecting) -> None:
    """Prints each argument, or stdin, in translation: markup of --format html or xml."""
    from nmt.cli import translate_file

    parsed = translate_file.read_markup(args, runs)
    loaded = trained_runs.load_runs(args, runs)
    options = search_options(args, loaded.model)
    translator = translate_file.document_translator(loaded, parsed, protecting, options, args.split)
    translate_file.print_markup(args, parsed, translator)


def check_flags(args: Namespace) -> None:
    """Raises a UserError if flags contradict each other, whatever the run."""
    if args.format in MARKUP:
        from nmt.cli.translate_file import check_markup_flags

        check_markup_flags(args)
    translate_lines.check_flags(args, documents=args.format in MARKUP)
    if (args.token_scores or args.alternatives) and args.format != "jsonl":
        raise UserError("--token-scores and --alternatives need --format jsonl; add that")
    if args.sample and args.beam is not None:
        raise UserError("--sample draws one token at a time: leave --beam out")
    names = list(sampling_values(args))
    if names and not args.sample:
        flag = names[0].replace("_", "-")
        raise UserError(f"--{flag} goes with --sample; add that, or leave it out")


def sampling_values(args: Namespace) -> dict[str, Any]:
    """Returns the values of the flags of Sampling that are given, by name."""
    values = {name: getattr(args, name) for name in Sampling._fields}
    return {name: value for name, value in values.items() if value is not None}


def search_options(args: Namespace, model: Model) -> SearchOptions:
    """Returns the search that the flags describe; without a flag, the run's beam and penalty.

    Raises a UserError if there are fewer hypotheses than translations to print.
    """
    beam = model.options.beam
    if args.sample or (args.plain and args.beam is None):
        beam = 1  # whatever the run's
    if args.n_best > beam and not args.sample:
        raise UserError(
            f"--n-best {args.n_best} needs a --beam of as many, and it is {beam}; add --beam "
            f"{args.n_best}, or --sample"
        )
    return model.search_options._replace(
        beam=beam,
        plain=args.plain,
        sampling=Sampling(**sampling_values(args)) if args.sample else None,
        **{row.name: getattr(args, row.flag.alias or row.name) for row in declared(SearchOptions)},
    )


def read_prefixes(args: Namespace) -> Iterator[str]:
    """Returns an iterator of what the translation of each line is to begin with."""
    if args.prefixes is None:
        return itertools.repeat(args.prefix or "")
    return encoding.read_lines(args.prefixes)


def translate_chunks(
    translator: Translator,
    chunks: Iterable[list[str]],
    prefixes: Iterator[str],
    args: Namespace,
    counts: LineCounts | None = None,
) -> Iterator[list[Translation]]:
    """Yields the Translations of each line, with a progress bar for those of a file.

    Args:
      counts: the LineCounts that the lines are added to; None for a warning after each typed line.
    """
    scored = is_scored(args)
    if line_io.are_typed(args):
        for chunk in chunks:
            line_counts = counts or translator.no_counts()
            yield from translator.translate_chunks([chunk], prefixes, scored, line_counts)
            if counts is None:
                line_counts.warn(advice=CHECK_ADVICE)
    else:
        results = translator.translate_chunks(chunks, prefixes, scored, counts)
        yield from results if args.text else with_progress(results)
