"""The command `score`."""

from argparse import ArgumentParser, Namespace

from nmt.cli import flags, trained_runs
from nmt.corpus import files
from nmt.progress import with_progress

HELP = "log-probability of each pair of the given files"
VARYING_SHAPES = True


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser, several=True)
    flags.add_pairs(parser)


def run(args: Namespace) -> None:
    """Prints the log-probability of each pair of the files, one per line."""
    runs = trained_runs.find_runs(args)
    pairs = files.read_pairs(args.files, flags.selection(args))
    _, tokenizer, model = trained_runs.load_runs(args, runs)
    log_probabilities = model.translator(tokenizer).score(pairs)
    for log_probability in with_progress(log_probabilities):
        print(f"{log_probability:.4f}")
