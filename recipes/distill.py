"""Distillation: a student learns from what stronger teachers write.

    python recipes/distill.py --to runs/distilled --teachers 3 --preset tiny \\
        --train train.de train.en --valid val.de val.en --test test.de test.en

Trains teachers, which differ in their seeds; translates the training text with all of them
together; trains a student on the pairs and on these translations (Kim and Rush 2016, arXiv
1606.07947). Each step is a command of run_demo.py. The same command resumes the recipe, wherever it
was interrupted.

Flags that are not listed here are those of training, of teachers and students alike: --preset,
--epochs and so on. docs/distillation.md explains the variants, what they cost, and the same steps
by hand.
"""

import hashlib
import itertools
import json
import re
import shlex
import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params
from nmt import Terminated, UserError, messages, output
from nmt.cli import flags, startup
from nmt.cli import main as program
from nmt.cli.parser import Parser
from nmt.cli.translate_lines import MAX_WORKERS
from nmt.corpus import bleu_tokenizer, files
from nmt.decoding.engines.choice import AUTO, CTRANSLATE2
from nmt.messages import log, plural
from nmt.resumable_output import other_settings
from nmt.runs import listing
from nmt.runs.folder import Run
from nmt.runs.loading import EngineChoice
from nmt.text.languages import Pair

NAME = "distill.py"  # begins every line on what went wrong
RUN_DEMO = Path(__file__).resolve().parents[1] / "run_demo.py"
STDERR = 2  # the file descriptor
MAX_BEAM = next(row.flag.high for row in params.table() if row.name == "beam")
SAMPLE_LINES = 2000  # by which BLEU's tokenizer is chosen
SPLITS = ("train", "valid", "test")
OF_TRANSLATIONS = (  # flags that the teachers' translations depend on
    "teachers", "teacher_runs", "backward_teachers", "backward_runs", "separately", "teacher_beam",
    "n_best",
)  # fmt: skip
OF_THE_RECIPE = {  # flags of training that the recipe gives itself, and those that stand for them
    "--run": "--to", "--seed": "--teachers and --students", "--reverse": "--backward-teachers",
    "--dataset": "--train", "--data-path": "--train",
}  # fmt: skip


class StepFailed(Exception):  # noqa: N818  # the step has reported the error
    """A command has ended with an error.

    Args:
      code: its exit code.
    """

    def __init__(self, code: int):
        super().__init__(code)
        self.code = code


Texts = tuple[str, str]  # a source and its target


class TranslationSet(NamedTuple):
    """Translations of one side of all training pairs."""

    name: str
    runs: list[Path]  # the teachers, an ensemble if there are several
    backward: bool  # they translate targets into sources

    def text(self, pair: Texts) -> str:
        """Returns the side of a pair that the teachers translate."""
        source, target = pair
        return target if self.backward else source

    def reference(self, pair: Texts) -> str:
        """Returns the side of a pair that the teachers' translation is to be like."""
        source, target = pair
        return source if self.backward else target

    def distilled(self, pair: Texts, translation: str) -> Texts:
        """Returns a pair with the teachers' translation in place of the given one."""
        source, target = pair
        return (translation, target) if self.backward else (source, translation)


class Recipe(NamedTuple):
    """What the command line asks for."""

    folder: Path
    args: Namespace  # the flags of this script
    training_flags: list[str]  # of teachers and students alike
    training: Namespace  # the parsed flags of a student

    def pairs(self) -> Iterator[Texts]:
        """Yields the training pairs; a weight of a file does not count."""
        selection = flags.selection(self.training)
        for group in files.grouped(self.args.train):
            yield from files.read_pairs(group.paths, selection)

    def languages(self) -> Pair | None:
        """Returns the languages of the training pairs; None if they are unknown."""
        selection = flags.selection(self.training)
        return files.languages_of(files.grouped(self.args.train)[0].paths, selection)

    def distilled(self) -> list[Path]:
        """Returns the source and the target file that the teachers' translations are written to."""
        endings = self.languages() or Pair("source", "target")
        return [self.folder / "pairs" / f"distilled.{ending}" for ending in endings]


# ---- The command line ----


def parser() -> Parser:
    """Returns the parser of this script's flags."""
    description, _, _ = __doc__.partition("\n")
    recipe_parser = Parser(NAME, description=description, epilog=__doc__.partition("\n")[2])
    recipe_parser.add_argument(
        "--to", type=flags.filled, required=True, metavar="DIR", action=flags.Once,
        help="folder of all that is trained and written",
    )  # fmt: skip
    flags.add_data(
        recipe_parser, train="source and target, or a file of pairs, as for training",
        valid="for validation", test="for the final scores", required=True,
    )  # fmt: skip
    add_teacher_flags(recipe_parser)
    recipe_parser.add_argument(
        "--students", type=flags.number(int, 0), default=1, metavar="N",
        help="students to train, with seeds 1 to N (default 1); 0: only write the pairs",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--only-distilled", action="store_true",
        help="train students on the teachers' translations alone, without the given pairs",
    )  # fmt: skip
    for whom in ("teacher", "student"):
        recipe_parser.add_argument(
            f"--{whom}-flags", type=shlex.split, default=[], metavar="FLAGS",
            help=f'flags of training for {whom}s alone: --{whom}-flags="--epochs 20"',
        )  # fmt: skip
    return recipe_parser


def add_teacher_flags(recipe_parser: Parser) -> None:
    """Adds the flags of the teachers and of their translations."""
    recipe_parser.add_argument(
        "--teachers", type=flags.number(int, 1), default=3, metavar="N",
        help="teachers to train, with seeds 1 to N (default 3)",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--teacher-runs", nargs="+", metavar="RUN", help="trained runs, instead of --teachers"
    )
    recipe_parser.add_argument(
        "--backward-teachers", type=flags.number(int, 0), default=0, metavar="N",
        help="teachers to train in the other direction, which translate the targets (default 0)",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--backward-runs", nargs="+", metavar="RUN",
        help="trained runs, instead of --backward-teachers",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--separately", action="store_true",
        help="each teacher translates alone, instead of all as an ensemble",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--teacher-beam", type=flags.number(int, 1, MAX_BEAM), default=5, metavar="N",
        help="beam size of the teachers' translations (default 5)",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--n-best", type=flags.number(int, 1, MAX_BEAM), default=1, metavar="N",
        help="choose among the N likeliest translations the one closest to the given one, by "
        "sentence BLEU (default 1: the likeliest)",
    )  # fmt: skip
    recipe_parser.add_argument(
        "--workers", type=flags.number(int, 1, MAX_WORKERS), default=1, metavar="N",
        help="processes that translate (default 1)",
    )  # fmt: skip
    flags.add_engine(recipe_parser)


def parse_recipe(arguments: list[str]) -> Recipe:
    """Returns the Recipe of a command line.

    Raises:
      UserError: it is wrong, for this script or for the training of teachers or students.
    """
    args, training_flags = parser().parse_known_args(join_flags(arguments))
    if len(args.train) == 1 and not files.is_table(files.weighted(args.train[0]).path):
        raise UserError(
            f"{args.train[0]}: is one file; name the file of translations after it, or let its "
            "name end in .tsv"
        )
    if args.n_best > args.teacher_beam:
        raise UserError(
            f"--n-best {args.n_best} exceeds --teacher-beam {args.teacher_beam}; raise the latter"
        )
    check_engine(args)
    teacher = parse_training(args, [*training_flags, *args.teacher_flags])
    student = parse_training(args, [*training_flags, *args.student_flags])
    if teacher.non_autoregressive:
        raise UserError(
            "teachers translate by beam search, which --non-autoregressive excludes; give it to "
            'the student alone: --student-flags="--non-autoregressive"'
        )
    for path in (*(args.teacher_runs or ()), *(args.backward_runs or ())):
        if listing.find(path).parameters.options.non_autoregressive:
            raise UserError(f"{path}: is non-autoregressive; name another teacher")
    recipe = Recipe(Path(args.to), args, training_flags, student)
    check_parents(recipe, teacher)
    claim_folder(recipe, teacher)
    return recipe


def check_engine(args: Namespace) -> None:
    """Raises a UserError if the engine that is named cannot translate: teachers come first."""
    EngineChoice(args.engine, args.quantization).check()
    forward = len(args.teacher_runs or ()) or args.teachers
    backward = len(args.backward_runs or ()) or args.backward_teachers
    is_ensemble = not args.separately and max(forward, backward) > 1
    if is_ensemble and (args.engine == CTRANSLATE2 or args.quantization):
        raise UserError(
            "CTranslate2 translates with one teacher, not with an ensemble; add --separately, or "
            "leave out --engine ctranslate2 and --quantization"
        )


def engine_flags(args: Namespace) -> list[str]:
    """Returns the flags of the engine that were given, for `translate`."""
    words = ["--engine", args.engine] if args.engine != AUTO else []
    return words + (["--quantization", args.quantization] if args.quantization else [])


def join_flags(arguments: list[str]) -> list[str]:
    """Returns a command line in which flags of flags are joined to their values by "=".

    Argparse would take a value such as "--reverse" for a flag of its own.
    """
    words, joined = iter(arguments), []
    for word in words:
        if word in ("--teacher-flags", "--student-flags"):
            value = next(words, None)
            word = word if value is None else f"{word}={value}"
        joined.append(word)
    return joined


def parse_training(args: Namespace, training_flags: list[str]) -> Namespace:
    """Returns the parsed flags of training, without --run and --seed.

    Raises:
      UserError: they are wrong, or the recipe gives them itself.
    """
    for word in training_flags:
        name = word.partition("=")[0]
        if name in OF_THE_RECIPE:
            raise UserError(f"{name}: the recipe sets this flag; use {OF_THE_RECIPE[name]} instead")
    return program.parse_command_line(["train", *data_flags(args, args.train), *training_flags])


def teacher_names(teachers: int, prefix: str = "") -> list[str]:
    """Returns the names of the runs of so many teachers, by their seeds."""
    return [f"{prefix}teacher-{seed}" for seed in range(1, teachers + 1)]


def data_flags(args: Namespace, train: Iterable[str | Path]) -> list[str]:
    """Returns the flags that name the text of a training run."""
    return ["--train", *map(str, train), "--valid", *args.valid, "--test", *args.test]


def check_parents(recipe: Recipe, teacher: Namespace) -> None:
    """Raises a UserError if --from names a run that neither exists nor will be trained before."""
    args = recipe.args
    names = [] if args.teacher_runs else teacher_names(args.teachers)
    names += [] if args.backward_runs else teacher_names(args.backward_teachers, "backward-")
    teachers = [(recipe.folder / name).resolve() for name in names]
    for stage, training in (("teachers", teacher), ("students", recipe.training)):
        parent = training.parent
        is_teacher = parent and stage == "students" and Path(parent).resolve() in teachers
        if parent and not is_teacher and not has_begun(recipe.folder, stage):
            listing.find(parent)


# ---- The folder: what has begun, and with which flags ----


def claim_folder(recipe: Recipe, teacher: Namespace) -> None:
    """Writes the flags and the hashes of the text, unless a stage has begun with different ones.

    Raises:
      UserError: it has, or the folder is not of this recipe.
    """
    values = json.loads(json.dumps(stage_values(recipe, teacher)))
    path = recipe.folder / "recipe.json"
    entries = list(recipe.folder.iterdir()) if recipe.folder.is_dir() else []
    if entries and path not in entries:
        raise UserError(f"{recipe.folder}: holds something else; name a new folder with --to")
    saved_values = json.loads(path.read_text()) if entries else {}
    for stage, wanted in values.items():
        if stage in saved_values and has_begun(recipe.folder, stage):  # an earlier version had none
            check_unchanged(recipe.folder, stage, saved_values[stage], wanted)
    output.write(path, json.dumps(values, indent=2).encode())


def check_unchanged(folder: Path, stage: str, saved: dict, wanted: dict) -> None:
    """Raises a UserError if the saved values of a stage are not those that are wanted now."""
    if different := other_settings(saved, wanted):
        names = ", ".join(different[:3]) + (" and more" if different[3:] else "")
        raise UserError(
            f"{folder}: its {stage} began with a different {names}; give the same flags and files, "
            "or name a new folder with --to"
        )


def has_begun(folder: Path, stage: str) -> bool:
    """Returns whether a stage, one of the keys of `stage_values`, has results."""
    if stage in ("translations", "pairs"):
        return any(folder.glob(f"{stage}/*"))
    runs = {"teachers": "*teacher-*", "students": "student-*"}[stage]
    complete = any(folder.glob(f"complete/{runs}"))
    return complete or any(Run(path).trained for path in folder.glob(runs))


def stage_values(recipe: Recipe, teacher: Namespace) -> dict[str, dict[str, Any]]:
    """Returns what the results of each stage depend on: flags, and the hashes of the text."""
    args, training = recipe.args, recipe.training
    text = {f"text of --{split}": [*map(sha256, getattr(args, split))] for split in SPLITS}
    translations = {name: getattr(args, name) for name in OF_TRANSLATIONS}
    for name in ("teacher_runs", "backward_runs"):
        translations[name] = [str(Path(path).resolve()) for path in translations[name] or ()]
    translations |= {name: getattr(training, name) for name in ("languages", "columns")}
    if given := engine_flags(args):
        translations |= {"engine": given}
    if training.sheet or training.no_header:
        translations |= {"sheet": training.sheet, "no_header": training.no_header}
    pairs = {"only_distilled": args.only_distilled}
    if args.n_best > 1:  # sentence BLEU chooses
        options = flags.chosen(training, training.preset or "tutorial")
        pairs |= {"tokenize": options.tokenize, "lowercase": options.lowercase}
    weights = [group.weight for group in files.grouped(args.train)]
    weighted = {"weights of --train": weights} if max(weights) > 1 else {}
    stages = {
        "teachers": training_values(teacher),
        "translations": translations,
        "pairs": pairs,
        "students": training_values(training),
    }
    return {
        stage: {flag(name): value for name, value in values.items()}
        | (text if stage in ("translations", "pairs") else text | weighted)
        for stage, values in stages.items()
    }


def flag(name: str) -> str:
    """Returns the flag of an argument's name."""
    return "--from" if name == "parent" else f"--{name.replace('_', '-')}"


def training_values(training: Namespace) -> dict[str, Any]:
    """Returns the values of the flags of training that are given, by name, but not the files."""
    skipped = {"given", "command", *SPLITS, *(row.name for row in params.table())}
    switches = {name: value for name, value in vars(training).items() if name not in skipped}
    return {name: value for name, value in switches.items() if value} | flags.given(training)


def sha256(name: str) -> str:
    """Returns the SHA-256 of a file, whose name may have a weight after it."""
    files.check_is_stored(name)
    path = files.weighted(name).path
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a file that can be read") from None


# ---- Commands ----


def run_command(arguments: list[str], stdout: int | None = None) -> None:
    """Runs a command of run_demo.py.

    It runs in a session of its own, so that a signal reaches it once, by this process: the first
    one lets a training run save itself, a second one kills it.

    Raises:
      StepFailed: it ended with an error, which it has reported.
    """
    log.info(f"$ {shlex.join(['python', RUN_DEMO.name, *arguments])}")
    process = subprocess.Popen(
        [sys.executable, str(RUN_DEMO), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        start_new_session=True,
    )
    try:
        process.wait()
    except (KeyboardInterrupt, Terminated):
        process.send_signal(signal.SIGINT)
        startup.catch_interrupts()  # again: the second signal would end this process at once
        try:
            process.wait()
        except (KeyboardInterrupt, Terminated):  # once more
            process.kill()
            process.wait()
        raise
    if process.returncode:
        code = process.returncode
        raise StepFailed(code if code > 0 else 128 - code)


def train(
    recipe: Recipe,
    name: str,
    seed: int,
    train_files: list[str],
    own_flags: list[str],
    prints_scores: bool = False,
) -> None:
    """Trains a run in the recipe's folder, unless it is complete.

    Args:
      name: of its folder.
      train_files: what it is trained on.
      own_flags: flags that not all runs have.
      prints_scores: whether its samples and scores are a result, for stdout.
    """
    mark = recipe.folder / "complete" / name
    if mark.exists():
        where = f"; its scores are in {recipe.folder / name / 'scores.json'}"
        log.info(f"{name}: complete{where if prints_scores else ''}")
        return
    log.info(f"{name}: training")
    arguments = ["train", "--run", str(recipe.folder / name), "--seed", str(seed)]
    arguments += [*data_flags(recipe.args, train_files), *recipe.training_flags, *own_flags]
    run_command(arguments, stdout=None if prints_scores else STDERR)
    output.write(mark, b"")


# ---- Translations ----


def translate(recipe: Recipe, translation_set: TranslationSet) -> None:
    """Translates one side of the training pairs, unless that is complete."""
    path = translations_path(recipe, translation_set)
    source = recipe.folder / f"{translation_set.name}.source"
    source.unlink(missing_ok=True)  # of an interrupted recipe, whose text may have been mended
    if path.exists():
        log.info(f"{translation_set.name}: complete")
        return
    log.info(f"{translation_set.name}: translating")
    with output.new(source) as unfinished, new_text(unfinished) as file:
        file.writelines(f"{translation_set.text(pair)}\n" for pair in recipe.pairs())
    arguments = ["translate", "--input", str(source), "--output", str(path)]
    arguments += ["--workers", str(recipe.args.workers), "--no-split", "--format", "jsonl"]
    arguments += ["--beam", str(recipe.args.teacher_beam), "--n-best", str(recipe.args.n_best)]
    arguments += engine_flags(recipe.args)
    arguments += itertools.chain(*(["--run", str(run)] for run in translation_set.runs))
    run_command(arguments)
    source.unlink()


def translations_path(recipe: Recipe, translation_set: TranslationSet) -> Path:
    """Returns the path of a TranslationSet's translations."""
    return recipe.folder / "translations" / f"{translation_set.name}.jsonl"


def read_candidates(path: Path) -> Iterator[list[str]]:
    """Yields the translations of each line, the likeliest first, as `translate` wrote them."""
    with path.open(encoding="utf-8") as file:
        for _, rows in itertools.groupby(map(json.loads, file), key=lambda row: row["line"]):
            yield [row["translation"] for row in rows]


# ---- Choosing, and the pairs for the students ----


def sentence_bleu(recipe: Recipe, translation_set: TranslationSet) -> Callable[[str, str], float]:
    """Returns a function of a translation and its reference: their sentence BLEU.

    The tokenizer and the case are those of the student's scores; of backward translations, the
    tokenizer is that of the source language.
    """
    import sacrebleu

    options = flags.chosen(recipe.training, recipe.training.preset or "tutorial")
    sample = list(map(translation_set.reference, itertools.islice(recipe.pairs(), SAMPLE_LINES)))
    name, pair = options.tokenize, recipe.languages()
    if translation_set.backward and name != "none":
        name = bleu_tokenizer.AUTO
    tokenize = bleu_tokenizer.resolve(name, sample, pair and translation_set.reference(pair))
    # With effective order, it is smoothed, as for single sentences.
    metric = sacrebleu.BLEU(
        lowercase=options.lowercase, tokenize=tokenize, effective_order=True, force=True
    )
    return lambda translation, reference: metric.sentence_score(translation, [reference]).score


def best_candidate(
    candidates: list[str], reference: str, score: Callable[[str, str], float]
) -> str:
    """Returns the candidate with the highest score against a reference; the first of equals.

    Kim and Rush 2016, section 3.3 (sequence-level interpolation).
    """
    return max(candidates, key=lambda candidate: score(candidate, reference))


def distilled_pairs(recipe: Recipe, translation_set: TranslationSet) -> Iterator[Texts]:
    """Yields each training pair with the teachers' translation in place of the given one."""
    several = recipe.args.n_best > 1
    score = sentence_bleu(recipe, translation_set) if several else None
    candidates = read_candidates(translations_path(recipe, translation_set))
    for pair, line_candidates in zip(recipe.pairs(), candidates, strict=True):
        translation = line_candidates[0]
        if several:
            reference = translation_set.reference(pair)
            translation = best_candidate(line_candidates, reference, score)
        yield translation_set.distilled(pair, one_line(translation))


def one_line(text: str) -> str:
    """Returns a text without line breaks."""
    return re.sub(r"[\r\n]+", " ", text)


def write_pairs(recipe: Recipe, translation_sets: list[TranslationSet]) -> None:
    """Writes the source and the target file of all translations, each pair once.

    A pair is left out if it has an empty side, or if the student trains on it anyway.
    """
    paths = recipe.distilled()
    if paths[0].parent.exists():
        log.info("pairs: complete")
        return
    log.info("pairs: writing")
    known = set() if recipe.args.only_distilled else set(map(hash, recipe.pairs()))
    translations = written = 0
    with output.new(paths[0].parent) as unfinished:
        unfinished.mkdir()
        source_path, target_path = (unfinished / path.name for path in paths)
        with new_text(source_path) as sources, new_text(target_path) as targets:
            for pair in itertools.chain(
                *(distilled_pairs(recipe, one) for one in translation_sets)
            ):
                translations += 1
                if all(map(str.strip, pair)) and hash(pair) not in known:
                    known.add(hash(pair))
                    written += 1
                    sources.write(f"{pair[0]}\n")
                    targets.write(f"{pair[1]}\n")
        if not written:
            raise UserError(
                "the teachers' translations are the given ones, so there is nothing to distill; "
                "train the student on the given pairs alone"
            )
    left_out = "" if written == translations else "; the others are known or empty"
    log.info(f"pairs: {written} of {plural(translations, 'translation')}{left_out}")


def new_text(path: Path) -> TextIO:
    """Returns a new text file, open for writing."""
    return path.open("w", encoding="utf-8", newline="\n")


# ---- The recipe ----


def train_teachers(recipe: Recipe) -> list[TranslationSet]:
    """Trains the teachers that are not trained yet. Returns what they are to translate."""
    args = recipe.args
    directions = {
        "forward": (args.teacher_runs, teacher_names(args.teachers), []),
        "backward": (
            args.backward_runs, teacher_names(args.backward_teachers, "backward-"), ["--reverse"],
        ),
    }  # fmt: skip
    translation_sets = []
    for direction, (runs, names, own_flags) in directions.items():
        if not runs:
            runs = [recipe.folder / name for name in names]
            own_flags = [*args.teacher_flags, "--no-plots", *own_flags]
            for seed, run in enumerate(runs, start=1):
                train(recipe, run.name, seed, args.train, own_flags)
        ensembles = [[run] for run in runs] if args.separately else [runs] if runs else []
        translation_sets += [
            TranslationSet(f"{direction}-{n}", ensemble, direction == "backward")
            for n, ensemble in enumerate(ensembles, start=1)
        ]
    return translation_sets


def distill(recipe: Recipe) -> None:
    """Takes all steps of the recipe that are not complete."""
    args = recipe.args
    translation_sets = train_teachers(recipe)
    for translation_set in translation_sets:
        translate(recipe, translation_set)
    write_pairs(recipe, translation_sets)
    train_files = [*([] if args.only_distilled else args.train), *map(str, recipe.distilled())]
    for seed in range(1, args.students + 1):
        train(recipe, f"student-{seed}", seed, train_files, args.student_flags, prints_scores=True)


def main(arguments: list[str]) -> int:
    """Runs the recipe. Returns the exit code of the process."""
    messages.show()
    startup.catch_interrupts()
    try:
        distill(parse_recipe(arguments))
    except UserError as error:
        log.error(f"{NAME}: {error}")
        return 2
    except StepFailed as failure:
        log.error(
            f"{NAME}: the last command failed; once its error is corrected, the same command "
            "resumes the recipe"
        )
        return failure.code
    except (KeyboardInterrupt, Terminated) as end:
        log.error(f"{NAME}: interrupted; the same command resumes the recipe")
        return 128 + getattr(end, "number", signal.SIGINT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
