"""The flags of each command: a function each, named as the command. Without TensorFlow."""

import argparse
from pathlib import Path

import params
from nmt.cli import flags
from nmt.decoding.attention import KINDS
from nmt.decoding.consensus import UTILITIES
from nmt.text.cleaning import PROBLEMS

PICTURES = {  # in the order drawn, each with its own flags
    "architecture": (),
    "positional-encoding": ("positions", "depth", "position"),
    "masks": (),
    "scaling": (),
    "schedule": (),
    "lengths": (),
    "curves": ("beside",),
    "attention": ("kind", "layer", "head", "mean"),
}
OF_A_SENTENCE = ("masks", "attention")
WITHOUT_WEIGHTS = ("architecture", "masks")  # pictures of a run whose weights may be missing
WITHOUT_RUN = ("positional-encoding", "scaling", "schedule")  # pictures of no trained run
PICTURE_FORMATS = (".png", ".svg", ".pdf")
OUTPUT_FORMATS = ("text", "tsv", "jsonl")
EXPORT_FORMATS = ("saved_model", "keras", "ctranslate2")
QUANTIZATIONS = ("int8", "float16")  # of CTranslate2
THE_RUNS = "the run's"  # the default of flags of a trained run


# ---- Of several commands ----


class FirstAndOthers(argparse.Action):
    """The first --run, and those that follow it."""

    def __call__(self, parser, namespace, value, option=None):
        if namespace.run is None:
            namespace.run = value
        else:
            namespace.ensemble = [*namespace.ensemble, value]


class Once(argparse.Action):
    """A flag that may not be given twice: nobody would see which value counts."""

    def __call__(self, parser, namespace, value, option=None):
        if getattr(namespace, self.dest) is not self.default:
            raise argparse.ArgumentError(self, "is given twice; give it once")
        setattr(namespace, self.dest, value)


def add_run(parser, several=False):
    """Adds the flags that choose a trained run, or `several`."""
    text = "run folder (default: the newest in runs/, if all are of one corpus)"
    if several:
        text += "; repeated (translate, evaluate, score): an ensemble, the mean of their "
        text += "probabilities"
        parser.set_defaults(ensemble=[])
    action = FirstAndOthers if several else Once
    parser.add_argument("--run", type=flags.filled, metavar="DIR", help=text, action=action)
    parser.add_argument(
        "--checkpoint", choices=("final", "newest", "best"),
        help="the weights that were scored at the end of training, the last epoch's, or the "
        "best epoch's (default final, or newest while there is no final)",
    )  # fmt: skip


def add_sentences(parser):
    parser.add_argument("text", nargs="*", help="sentences; without any, stdin is read")


def add_to(parser, metavar, text, kind=flags.filled):
    parser.add_argument("--to", type=kind, metavar=metavar, help=text, action=Once)


def add_pairs(parser, nargs, text):
    parser.add_argument("files", nargs=nargs, metavar="FILE", help=text)


def add_plain(parser, text):
    """Adds the flags of those who read transformer_model.py and want to see it run."""
    parser.add_argument("--plain", action="store_true", help=text)
    parser.add_argument(
        "--eager", action="store_true",
        help="with --plain: every line runs as Python, without tf.function, for a debugger",
    )  # fmt: skip


def add_data(parser, **splits):
    """Adds a flag for the files of each of `splits`, with its help."""
    for split, text in splits.items():
        parser.add_argument(f"--{split}", nargs="+", metavar="FILE", help=text, action=Once)


# ---- Of one command ----


def train(parser):
    parser.epilog = flags.presets()
    parser.add_argument(
        "--run", type=flags.filled, metavar="DIR", action=Once,
        help="run folder (default runs/<dataset>); a trained run is resumed: without --dataset and "
        "--preset, flags not given are the run's own",
    )  # fmt: skip
    files = "source and target, or a .tsv or .csv; several may follow each other, and end in .gz"
    add_data(
        parser, train=f"{files}; after a colon, the weight of one: a.tsv b.tsv:2",
        valid="for validation; the same without weights", test="for the final scores; as --valid",
    )  # fmt: skip
    parser.add_argument(
        "--preset", choices=params.PRESETS,
        help="values of all flags not given, listed below (default: the one named as the data set, "
        "or tutorial)",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="parent", type=flags.filled, metavar="DIR", action=Once,
        help="begin with the weights, the tokenizer and the sizes of that run, in a new one",
    )  # fmt: skip
    parser.add_argument(
        "--reverse", action="store_true", help="translate the second language into the first"
    )
    parser.add_argument("--no-plots", action="store_true", help="draw no pictures at the end")
    add_plain(
        parser, "train with the code of transformer_model.py alone: slower, the same network, loss "
        "and checkpoints",
    )  # fmt: skip
    flags.add_parameters(parser)


def translate(parser):
    add_run(parser, several=True)
    add_sentences(parser)
    flags.add_parameters(parser, params.names(params.SEARCH), THE_RUNS)
    parser.add_argument(
        "--n-best", type=flags.in_range(int, params.Flag("", 1, 64)), metavar="N", default=1,
        help="different translations per line, at most as many as --beam; or samples (1 to 64; "
        "default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--score", action="store_true", help="log-probability and tab before each translation"
    )
    add_plain(
        parser, "translate with greedy_translate of transformer_model.py: much slower, the same "
        "translations as with --beam 1",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=OUTPUT_FORMATS, default="text",
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
        "--prefix", metavar="TEXT", action=Once, help="what every translation begins with"
    )
    begun.add_argument(
        "--prefixes", type=flags.filled, metavar="FILE", action=Once,
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
    for flag, kind, bounds, default, text in (
        ("--temperature", float, (1e-3, 1e3), 1.0, "below 1: likely tokens become likelier"),
        ("--top-k", int, (0, 1_000_000), 0, "draw from the N likeliest tokens; 0 is all"),
        (
            "--top-p",
            float,
            (1e-6, 1.0),
            1.0,
            "draw from the likeliest tokens of total probability X",
        ),
        ("--seed", int, (0, 2**31 - 1), 0, "of the samples: the same seed gives the same text"),
    ):
        group.add_argument(
            flag, type=flags.in_range(kind, params.Flag("", *bounds)),
            metavar={int: "N", float: "X"}[kind], help=f"{text} (default {default})",
        )  # fmt: skip
    parser.add_argument(
        "--split", action=argparse.BooleanOptionalAction, default=True,
        help="translate each sentence of a line by itself (default: yes)",
    )  # fmt: skip


def align(parser):
    add_run(parser)
    add_pairs(parser, "+", "a .tsv or .csv, or source and target")


def score(parser):
    add_run(parser, several=True)
    add_pairs(parser, "+", "a .tsv or .csv, or source and target")


def evaluate(parser):
    add_run(parser, several=True)
    add_pairs(
        parser, "*",
        "a .tsv or .csv, or source and references (several files of references may follow), to "
        "score instead of the test split; only prints",
    )  # fmt: skip
    parser.add_argument(
        "--ter", action="store_true", help="translation edit rate, too (lower is better)"
    )
    parser.add_argument(
        "--against", type=flags.filled, metavar="DIR", action=Once,
        help="another run: test the significance of the difference",
    )  # fmt: skip
    where = "where the run's {} files are now, if they have moved"
    add_data(parser, test=where.format("test"), train=where.format("training"))
    flags.add_parameters(parser, params.names(params.SEARCH, params.SCORING), THE_RUNS)


def explore(parser):
    add_run(parser)
    add_sentences(parser)
    add_to(parser, "FILE", "the page (default explorer.html of the run)")


def picture(text):
    """Returns the path of a picture to be drawn, of one of PICTURE_FORMATS."""
    path = Path(text)
    if path.suffix not in PICTURE_FORMATS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(PICTURE_FORMATS)}")
    return path


def plot(parser):
    add_run(parser)
    parser.add_argument("what", nargs="?", choices=PICTURES, help="the picture")
    parser.add_argument(
        "sentence", nargs="?", help="for attention and masks (default: the first of the test split)"
    )
    add_to(
        parser, "FILE", "a new .png, .svg or .pdf (default: a .png in plots/, the run's if any)",
        picture,
    )  # fmt: skip
    parser.add_argument("--kind", choices=KINDS, help="of attention (default cross)")
    parser.add_argument("--layer", type=int, metavar="N", help="of attention (default the last)")
    panels = parser.add_mutually_exclusive_group()
    panels.add_argument("--head", type=int, metavar="N", help="one head (default all)")
    panels.add_argument(
        "--average", action="store_const", const=True, dest="mean",  # --average is a parameter, too
        help="one panel: the mean of all heads",
    )  # fmt: skip
    size = flags.in_range(int, params.Flag("", 2, 10_000))
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
    parser.add_argument(
        "--beside", nargs="+", metavar="DIR", help="runs whose curves are drawn too", action=Once
    )
    add_data(parser, train="where the run's training files are now, for lengths")


def export(parser):
    add_run(parser)
    parser.add_argument(
        "--format", choices=EXPORT_FORMATS, default="saved_model",
        help="of the exported model (default saved_model)",
    )  # fmt: skip
    add_to(parser, "PATH", "a new path (default: in export/ of the run)")
    parser.add_argument("--quantization", choices=QUANTIZATIONS, help="of CTranslate2's weights")


def data(parser):
    add_pairs(parser, "+", "a .tsv or .csv, or source and target")
    add_data(parser, test="test files: reports lines of theirs that occur in the text")
    add_to(parser, "FILE", "a new .tsv for the pairs that are not dropped")
    parser.add_argument(
        "--drop", nargs="+", choices=(*PROBLEMS, "all"), metavar="PROBLEM", action=Once,
        help=f"pairs with these problems are not written: {', '.join(PROBLEMS)}, or all",
    )  # fmt: skip


def runs(parser):
    parser.add_argument(
        "folder", nargs="?", default="runs", metavar="DIR", help="that holds runs (default runs)"
    )
