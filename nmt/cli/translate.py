"""The command `translate`: its flags, its function, and the formats of its output."""

import argparse
import itertools
import json
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import params
from nmt import UserError
from nmt.cli import flags, sentences_given, trained_runs
from nmt.decoding.consensus import UTILITIES
from nmt.text import files

HELP = "translate arguments, or the lines of stdin"
VARYING_SHAPES = True
SAMPLING = (  # flags of --sample: name, type, bounds, default, help
    ("temperature", float, (1e-3, 1e3), 1.0, "below 1: likely tokens become likelier"),
    ("top_k", int, (0, 1_000_000), 0, "draw from the N likeliest tokens; 0 is all"),
    ("top_p", float, (1e-6, 1.0), 1.0, "draw from the likeliest tokens of total probability X"),
    ("seed", int, (0, 2**31 - 1), 0, "of the samples: the same seed gives the same text"),
)


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser, several=True)
    flags.add_sentences(parser)
    flags.add_parameters(parser, params.names(params.SEARCH), flags.THE_RUNS)
    parser.add_argument(
        "--n-best", type=flags.in_range(int, params.Flag("", 1, 64)), metavar="N", default=1,
        help="different translations per line, at most as many as --beam; or samples (1 to 64; "
        "default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--score", action="store_true", help="log-probability and tab before each translation"
    )
    flags.add_plain(
        parser, "translate with greedy_translate of transformer_model.py: much slower, the same "
        "translations as with --beam 1",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=FORMATS, default="text",
        help="text: one line each. tsv: line number, rank, log-probability, translation. jsonl: "
        "the same as one JSON object per line (default text)",
    )  # fmt: skip
    parser.add_argument(
        "--alignments", action="store_true",
        help="word alignment after each translation, in Pharaoh format (0-0 1-2), by attention",
    )  # fmt: skip
    parser.add_argument(
        "--token-scores", action="store_true",
        help="the log-probability of each token, with --format jsonl",
    )  # fmt: skip
    parser.add_argument(
        "--alternatives", type=flags.in_range(int, params.Flag("", 1, 64)), metavar="K", default=0,
        help="--token-scores, and the K likeliest tokens at each position with probabilities",
    )  # fmt: skip
    begun = parser.add_mutually_exclusive_group()
    begun.add_argument(
        "--prefix", metavar="TEXT", action=flags.Once, help="what every translation begins with"
    )
    begun.add_argument(
        "--prefixes", type=flags.filled, metavar="FILE", action=flags.Once,
        help="file of prefixes, one line per input line",
    )  # fmt: skip
    parser.add_argument(
        "--repetition-penalty", type=flags.in_range(float, params.Flag("", 1.0, 100.0)),
        metavar="X", default=1.0,
        help="multiplies log-probabilities of tokens already in the translation (default 1: none)",
    )  # fmt: skip
    parser.add_argument(
        "--no-repeat-ngram", type=flags.in_range(int, params.Flag("", 0, 1000)), metavar="N",
        default=0, help="no N-gram occurs twice in a translation (default 0: off)",
    )  # fmt: skip
    parser.add_argument(
        "--mbr", choices=UTILITIES,
        help="of the --n-best translations or samples, the one most like the others (minimum Bayes "
        "risk), by chrF or BLEU",
    )  # fmt: skip
    group = parser.add_argument_group("Sampling")
    group.add_argument(
        "--sample", action="store_true",
        help="draw translations at random, token by token; --n-best of them for each line",
    )  # fmt: skip
    for name, kind, bounds, default, text in SAMPLING:
        group.add_argument(
            f"--{name.replace('_', '-')}", type=flags.in_range(kind, params.Flag("", *bounds)),
            metavar={int: "N", float: "X"}[kind], help=f"{text} (default {default})",
        )  # fmt: skip
    parser.add_argument(
        "--split", action=argparse.BooleanOptionalAction, default=True,
        help="translate each sentence of a line by itself (default: yes)",
    )  # fmt: skip


def run(args: Namespace) -> None:
    """Prints the translation, or the `n_best`, of each argument or line of stdin."""
    if (args.token_scores or args.alternatives) and args.format != "jsonl":
        raise UserError("--token-scores and --alternatives need --format jsonl; add that")
    sampling_options = sampling_of(args)
    runs = trained_runs.find_runs(args)
    chunks, prefixes = sentences_given.chunks(args), prefixes_of(args)
    if args.plain and args.beam is None:
        args.beam = 1  # whatever the run's own
    _, tokenizer, model = trained_runs.load_runs(args, runs)
    beam = model.options["beam"]
    if not args.sample and args.n_best > beam and not model.options["non_autoregressive"]:
        raise UserError(
            f"--n-best {args.n_best} needs a --beam of as many, and it is {beam}; add --beam "
            f"{args.n_best}, or --sample"
        )
    translator = translator_of(args, model, tokenizer, sampling_options)
    args.n_best = 1 if args.mbr else args.n_best  # translations printed per line
    scored = args.score or args.format != "text"
    if sentences_given.typed(args):  # a warning comes with its sentence
        candidates = (
            line
            for chunk in chunks
            for line in translator.translate_chunks([chunk], prefixes=prefixes, scored=scored)
        )
    else:
        candidates = trained_runs.with_progress(
            translator.translate_chunks(chunks, prefixes=prefixes, scored=scored)
        )
    write = FORMATS[args.format]
    for number, line in enumerate(candidates, start=1):
        for text in write(number, line, args):
            print(text)
    if args.prefixes and next(prefixes, None) is not None:
        raise UserError(f"--prefixes {args.prefixes}: more lines than the input; cut it")


def translator_of(args, model, tokenizer, sampling_options):
    """Returns the Translator that the flags describe."""
    from nmt.decoding.repetition import Repetition
    from nmt.decoding.sampling import Sampling

    names = "plain", "n_best", "mbr", "alignments", "token_scores", "alternatives"
    options = {name: getattr(args, name) for name in names}
    if args.sample:
        options |= dict(beam=1, sampling=Sampling(**sampling_options))
    if args.repetition_penalty > 1 or args.no_repeat_ngram:
        options["repetition"] = Repetition(args.repetition_penalty, args.no_repeat_ngram)
    return model.text_translator(tokenizer, args.split, **options)


def prefixes_of(args: Namespace) -> Iterator[str]:
    """Returns an iterator of what the translation of each line is to begin with."""
    if args.prefixes is None:
        return itertools.repeat(args.prefix or "")
    return files.read_lines(args.prefixes)


def sampling_of(args: Namespace) -> dict:
    """Returns the flags of sampling that are given, by name.

    Raises:
      UserError: they contradict each other.
    """
    options = {name: getattr(args, name) for name, *_ in SAMPLING}
    options = {name: value for name, value in options.items() if value is not None}
    if args.sample and args.beam is not None:
        raise UserError("--sample draws one token at a time: leave --beam out")
    if options and not args.sample:
        flag = next(iter(options)).replace("_", "-")
        raise UserError(f"--{flag} goes with --sample; add that, or leave it out")
    return options


def as_text(number, best, args):
    """Yields the lines of text for one line's hypotheses: `n_best` of them, the last ones empty."""
    from nmt.decoding.alignment import pharaoh

    columns = args.score or args.n_best > 1 or args.alignments
    for text, log_probability, *links in best:
        text = one_line(text) if columns else text
        row = [f"{log_probability:.4f}", text] if args.score else [text]
        yield "\t".join([*row, *map(pharaoh, links)])
    yield from [""] * (args.n_best - len(best))  # so that line n belongs to line n / n_best


def as_tsv(number, best, args):
    """Yields line number, rank, log-probability and translation, separated by tabs."""
    from nmt.decoding.alignment import pharaoh

    for rank, (text, log_probability, *links) in enumerate(best, start=1):
        row = [str(number), str(rank), f"{log_probability:.4f}", one_line(text)]
        yield "\t".join([*row, *map(pharaoh, links)])


def as_jsonl(number, best, args):
    """Yields a JSON object for each hypothesis."""
    for rank, (text, log_probability, *columns) in enumerate(best, start=1):
        numbers = {"line": number, "rank": rank, "log_probability": round(log_probability, 4)}
        row = {**numbers, "translation": text}
        if args.alignments:
            row["alignment"] = columns.pop(0)
        if columns:
            row["tokens"] = [*map(token_row, columns[0])]
        yield json.dumps(row, ensure_ascii=False)


def token_row(token_score):
    """Returns what JSON says of a token; see decoding.tokens.token_scores."""
    token, log_probability, alternatives = token_score
    row = {"token": token, "log_probability": round(log_probability, 4)}
    if alternatives:
        row["alternatives"] = {token: round(number, 4) for token, number in alternatives}
    return row


def one_line(text: str) -> str:
    """Returns a text without the tabs and line breaks between its sentences."""
    return re.sub(r"[\t\r\n]+", " ", text)


FORMATS = {"text": as_text, "tsv": as_tsv, "jsonl": as_jsonl}  # of translations
