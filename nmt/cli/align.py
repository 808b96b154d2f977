"""The command `align`."""

from argparse import ArgumentParser, Namespace

from nmt.cli import flags, trained_runs
from nmt.corpus import files
from nmt.progress import with_progress

HELP = "word alignment of each pair of the given files"
VARYING_SHAPES = True


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    flags.add_pairs(parser)


def run(args: Namespace) -> None:
    """Prints the links between the words of each pair of the files, one line per pair."""
    runs = trained_runs.find_runs(args)
    pairs = files.read_pairs(args.files, flags.selection(args))
    _, tokenizer, model = trained_runs.load_runs(args, runs)
    from nmt.decoding.alignment import pharaoh

    alignments = model.translator(tokenizer).align(pairs)
    for links in with_progress(alignments):
        print(pharaoh(links))
