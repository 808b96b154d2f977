"""The command `plot`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt import UserError, output
from nmt.cli import flags, startup, trained_runs
from nmt.decoding.attention import KINDS
from nmt.messages import log
from nmt.options import Options
from nmt.results import pictures, texts
from nmt.results.pictures import Picture
from nmt.results.run_report import read_translations
from nmt.runs import listing
from nmt.runs.folder import Run
from nmt.runs.weights import choose_weights, scores_are_of
from nmt.text import encoding, spelling

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.corpus.batches import Batches
    from nmt.decoding.translator import Translator

HELP = "draw a picture: attention, curves, masks, ..."


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    parser.add_argument("what", nargs="?", choices=pictures.BY_NAME, help="the picture")
    parser.add_argument(
        "sentence", nargs="?", help="for attention and masks (default: the first of the test split)"
    )
    text = "a new .png, .svg or .pdf (default: a .png in plots/, the run's if any)"
    flags.add_value(parser, "--to", "FILE", text, _path)
    add_attention_flags(parser)
    size = flags.number(int, 2, 10_000)
    parser.add_argument(
        "--positions", type=size, metavar="N", help="number of positions (default 50)"
    )
    parser.add_argument(
        "--depth", type=size, metavar="N", help="dimensions of the encoding (default d_model)"
    )
    parser.add_argument(
        "--position", type=int, metavar="P",
        help="position that the others are compared with (default the middle one)",
    )  # fmt: skip
    text = "runs whose curves are drawn too"
    flags.add_value(parser, "--beside", "DIR", text, str, nargs="+")
    text = "for sweep: the ranking.tsv of recipes/sweep.smk"
    flags.add_value(parser, "--ranking", "FILE", text)
    parser.add_argument(
        "--lang",
        choices=texts.LANGUAGES,
        default="en",
        dest="label_language",
        help="language of titles and labels, not of the run (default en)",
    )
    flags.add_data(parser, train="where the run's training files are now, for lengths")


def add_attention_flags(parser: ArgumentParser) -> None:
    """Adds the flags of pictures of attention weights."""
    parser.add_argument("--kind", choices=KINDS, help="of attention (default cross)")
    parser.add_argument("--layer", type=int, metavar="N", help="of attention (default the last)")
    panels = parser.add_mutually_exclusive_group()
    panels.add_argument("--head", type=int, metavar="N", help="one head (default all)")
    panels.add_argument(
        "--average", action="store_const", const=True, dest="mean",  # of heads; of train, of epochs
        help="one panel: the mean of all heads",
    )  # fmt: skip


def run(args: Namespace) -> None:
    """Draws one picture, of a trained run if it needs one, and prints its path."""
    if args.what is None:
        raise UserError(f"plot: name the picture: {', '.join(pictures.BY_NAME)}")
    picture = pictures.BY_NAME[args.what]
    output.refuse_existing(args.to)
    choices = choices_of(args, picture)
    drawing: pictures.Pictures
    if args.run or picture.needs_run:
        drawing = prepare(args, picture)
    else:
        startup.import_tensorflow()
        drawing = pictures.Pictures(Path("plots"), Options(), language=args.label_language)
    print(drawing.draw(picture, args.to, **choices))


def prepare(args: Namespace, picture: Picture) -> pictures.RunPictures:
    """Returns what draws a picture of a trained run."""
    weights = picture.needs_weights or args.sentence is not None or args.checkpoint is not None
    (run,) = trained_runs.find_runs(args, weights)
    output.check_writable(args.to or run.plots / f"{args.what}.png")
    is_known = is_translated(run, args.checkpoint)
    weights = weights or (picture.needs_sentence and not is_known)
    startup.import_tensorflow()
    from nmt.corpus.batches import training_batches
    from nmt.runs import loading
    from nmt.runs.run_corpus import load_corpus_of

    if weights:
        run, tokenizer, model = loading.load(run, args.checkpoint)
    else:
        run, tokenizer, model = loading.load_without_weights(run)
    line, translation = "", None
    for row in read_translations(run, 1):
        line, translation = row[0], row[2] if is_known else None
    if args.sentence is not None:
        (line,) = encoding.decode_lines([os.fsencode(args.sentence) + b"\n"], "argument")
        translation = None  # not known yet
        line = first_sentence(model.text_translator(tokenizer), line)
    if picture.needs_sentence and spelling.is_blank(line):
        raise UserError(f"plot {args.what}: no sentence to draw; give one")

    def make_batches() -> Batches:
        moved = {"train": args.train}
        corpus = load_corpus_of(run, "train", moved)
        return training_batches(model.options, corpus, tokenizer)

    return pictures.RunPictures(
        run, model, tokenizer, line, make_batches, translation, args.label_language
    )


def is_translated(run: Run, checkpoint: str | None) -> bool:
    """Returns whether translations.txt is of the weights that are used, or there are no others."""
    if not run.has_weights:
        return True
    with contextlib.suppress(UserError, AttributeError, TypeError):
        return scores_are_of(run.read("scores.json", {}), choose_weights(run, checkpoint))
    return False


def first_sentence(translator: Translator, line: str) -> str:
    """Returns the first sentence of a line, as `translate` splits it; logs that others follow."""
    sentences = [text for text, _ in translator.parts(line) if text]
    if len(sentences) > 1:
        log.warning(
            f"The line holds {len(sentences)} sentences, which are translated one by one: the "
            "first is drawn."
        )
    return sentences[0] if sentences else ""


def choices_of(args: Namespace, picture: Picture) -> dict[str, Any]:
    """Returns the flags given for a picture, by name.

    Raises a UserError if a flag is of other pictures, or a run of --beside is not trained.
    """
    names = {name for row in pictures.PICTURES for name in row.flags}
    choices = {
        name: value for name, value in vars(args).items() if name in names and value is not None
    }
    if wrong := [name for name in choices if name not in picture.flags]:
        flag = "average" if wrong[0] == "mean" else wrong[0]
        raise UserError(f"plot {picture.name}: takes no --{flag}; leave it out")
    if args.train and picture.name != "lengths":
        raise UserError(f"plot {picture.name}: takes no --train; leave it out")
    if args.checkpoint and not (args.run or picture.needs_run):
        raise UserError(f"plot {picture.name}: --checkpoint is of a run; name it by --run")
    if args.sentence is not None and not picture.needs_sentence:
        raise UserError(f"plot {picture.name}: takes no sentence; leave it out")
    if "beside" in choices:
        runs = [listing.find(Run(folder)) for folder in choices["beside"]]
        choices["beside"] = [
            pictures.DrawnRun(run, run.parameters.options, functools.partial(planned_steps, run))
            for run in runs
        ]
    return choices


def planned_steps(run: Run) -> int:
    """Returns the optimizer steps of a whole training run, from its checkpoint."""
    from nmt.training import checkpoints

    return checkpoints.planned_steps(choose_weights(run).path)


def _path(text: str) -> Path:
    """Returns the path of a picture to be drawn, of one of `pictures.FORMATS`."""
    path = Path(text)
    if path.suffix not in pictures.FORMATS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(pictures.FORMATS)}")
    return path
