"""What a training run reports: what it will do, what may be better, what can follow."""

import shlex
from collections.abc import Iterable

import numpy as np

from nmt import program
from nmt.corpus import batches as batching
from nmt.corpus import corpora, files
from nmt.corpus.source import REVERSED, CorpusSource
from nmt.corpus.survey import Survey
from nmt.messages import log, plural
from nmt.neighbors import params
from nmt.options import Options
from nmt.results import evaluation
from nmt.runs.claim import SIZES
from nmt.runs.folder import Run
from nmt.runs.request import TrainingRequest
from nmt.runs.train_corpus import TrainingText
from nmt.text import spelling
from nmt.text.tokenizer import Tokenizer
from nmt.training import loop
from nmt.training.plan import Plan

ENOUGH_STEPS = 5  # times those of the warm-up
SAMPLE_PAIRS = 1000  # of the training text, for the share of tokens that are no words or parts
MAX_SHARE_WITHOUT_ENTRY = 0.2  # of the tokens; text of the same script has a few percent
MAX_SHOWN_BYTES = 190  # of a sentence in a command; a token has at least one
FULL_BATCHES = 0.9  # of all batches, at least: incomplete ones may be left out
KEPT_SHARE = 0.98  # of the training pairs, that a --max-length should keep


# ---- Before training ----


def announce_corpus(
    request: TrainingRequest, run: Run, corpus_name: str, source: CorpusSource
) -> None:
    """Logs the corpus, where the run is, and the languages, unless --languages names them."""
    log.info(f"Corpus: {corpus_name}. Run folder: {run.path}")
    codes = source.languages
    if not codes:
        log.warning(
            "Languages: unknown. Text is divided into sentences as in English; to name them: "
            "--languages A-B, for example de-en"
        )
    elif not request.languages:
        log.info(f"Languages: {codes[0]} to {', '.join(codes[1:])}.")


def announce(
    request: TrainingRequest,
    run: Run,
    options: Options,
    corpus: corpora.Corpus,
    source: CorpusSource,
    text: TrainingText,
    batches: batching.Batches,
) -> None:
    """Logs what will be done, and what the user may want to change, a function each."""
    if request.parent:
        warn_of_other_letters(request.parent, corpus, text.tokenizer)
    else:
        warn_of_small_vocabulary(text.tokenizer.vocab_size, options.vocab_size)
    chosen_sizes = request.given.keys() & {*SIZES, "dropout_rate"}
    built_in = corpus.name.removesuffix(REVERSED) in corpora.BUILT_IN_CORPORA
    if not (request.preset or request.parent or chosen_sizes or built_in or run.trained):
        suggest_preset(len(corpus.train))
    report_batches(batches, options.max_length)
    warn_of_repeated_pairs(text.survey, source)
    batching.warn_of_truncation(corpus.validation, text.tokenizer, "validation")
    steps_per_epoch = Plan.of(options, batches.per_epoch).steps_per_pass
    steps = options.max_steps or steps_per_epoch * options.epochs
    if steps < options.warmup_steps:
        tiny = request.options("tiny")  # values that are asked for stay
        advice = how_to_train_longer(options, steps_per_epoch, batches, corpus, tiny)
        log.warning(
            f"Only {plural(steps, 'step')}, fewer than --warmup-steps {options.warmup_steps}: too "
            f"few to learn much. In a new --run, try {advice}."
        )


def warn_of_small_vocabulary(entries: int, wanted: int) -> None:
    """Logs that a new vocabulary has fewer entries than were asked for, if it has."""
    if entries < wanted:
        log.warning(
            f"Vocabulary: {entries} entries instead of {wanted}, because the training text is "
            "short, or repeats few words."
        )


def report_batches(batches: batching.Batches, max_length: int) -> None:
    """Logs how many pairs and batches an epoch has, and what is dropped."""
    left_out = ""
    if batches.left_out:  # they fill no half a batch
        left_out = f" (which leave out {batches.left_out} pairs, others each time)"
    log.info(
        f"Training pairs: {batches.kept}; {dropped(batches, max_length)}. "
        f"{batches.per_epoch} batches per epoch{left_out}, in buckets of "
        f"{', '.join(map(str, batches.lengths))} tokens."
    )


def warn_of_repeated_pairs(survey: Survey, source: CorpusSource) -> None:
    """Logs how many held-out pairs occur in the training text, if any do."""
    if survey.repeated_validation or survey.repeated_test:
        log.warning(
            f"{plural(survey.repeated_validation, 'validation pair')} and "
            f"{plural(survey.repeated_test, 'test pair')} occur in the training text: "
            f"their scores measure memorization.{how_to_find_repeated(source)}"
        )


def how_to_find_repeated(source: CorpusSource) -> str:
    """Returns the command that finds held-out pairs in the training text, if these are files.

    It takes one corpus and one held-out text; "" where there are several, or none.
    """
    train, held_out = source.training_files, source.test or source.valid
    if not train or not held_out:
        return ""
    if any(len(files.grouped(names)) > 1 for names in (train, held_out)):
        return ""
    command = [*program.COMMAND, "data"]
    command += [files.weighted(name).path for name in train]
    command += ["--test", *held_out]
    if source.columns:
        command += ["--columns", ",".join(source.columns)]
    elif source.languages:
        command += ["--languages", "-".join(source.languages_of_files)]
    if source.sheet:
        command += ["--sheet", source.sheet]
    if not source.header:
        command += ["--no-header"]
    return f" To find them: {shlex.join(command)}"


def how_to_train_longer(
    options: Options, steps_per_epoch: int, batches: batching.Batches, corpus: corpora.Corpus,
    tiny: Options,
) -> str:  # fmt: skip
    """Returns the flags with which a run has more steps than the warm-up."""
    if batches.dropped > batches.kept:  # first of all: the steps are then others
        return f"--max-length {batches.length_of(KEPT_SHARE)}, which drops fewer pairs"
    enough = ENOUGH_STEPS * options.warmup_steps
    epochs = -(-enough // steps_per_epoch)
    advice = f"--max-steps {enough}" if options.max_steps else f"--epochs {epochs}"
    mean_length = float(np.average(range(len(batches.counts)), weights=batches.counts))
    if steps_with(tiny, batches, mean_length) >= tiny.warmup_steps:
        # Another vocabulary makes sentences shorter, but a word takes a token in any.
        sentences = zip(*evaluation.texts(corpus.train.take(SAMPLE_PAIRS)), strict=True)
        words = [max(len(side.split()) for side in pair) + 2 for pair in sentences]
        if steps_with(tiny, batches, sum(words) / len(words)) >= tiny.warmup_steps:
            advice += " or --preset tiny"
    return advice


def steps_with(options: Options, batches: batching.Batches, mean_length: float) -> int:
    """Returns about how many steps training with other options has, rather fewer.

    Args:
      mean_length: of a pair, in tokens.
    """
    lengths = {**dict(enumerate(batches.counts.tolist())), **batches.dropped_counts}
    pairs = sum(count for length, count in lengths.items() if length <= options.max_length)
    number = pairs / options.batch_size
    if options.batch_tokens:
        number = pairs * mean_length / options.batch_tokens
    per_epoch = int(FULL_BATCHES * number) // options.accumulate
    return options.max_steps or per_epoch * options.epochs


# ---- What is left to do, and what can follow ----


def announce_training(
    run: Run, corpus: corpora.Corpus, epochs: loop.Epochs, batches: batching.Batches
) -> None:
    """Logs what is left to do of a training run, whose newest checkpoint is restored."""
    scoring = f"scoring {plural(len(corpus.test), 'test line')}"
    options = epochs.options
    if epochs.finished:
        log.info(f"Training is finished: {scoring}.")
        return
    plan, progress = epochs.plan, epochs.progress
    steps = plan.total_steps(progress) - progress.step
    begun = progress.epoch or progress.position
    length = plural(steps, "more step" if begun else "step")
    if not plan.counts_steps:
        epochs_left = plural(plan.epochs_left(progress), "more epoch" if begun else "epoch")
        length = f"{epochs_left} ({plural(steps, 'step')})"
    parameters = epochs.training_step.transformer.count_params()
    log.info(
        f"Training a Transformer with {parameters:,} parameters for "
        f"{length}, then {scoring}. To follow the curves: "
        f"tensorboard --logdir {shlex.quote(str(run.logs))}"
    )
    if options.xla == "on":
        log.info(
            f"XLA compiles the step for {plural(len(batches.lengths), 'shape')} of batches, each "
            "when it first comes; that takes seconds on a processor, about a minute on a GPU."
        )


def warn_of_other_letters(parent: str, corpus: corpora.Corpus, tokenizer: Tokenizer) -> None:
    """Logs which side of the training text has letters that the parent's tokenizer lacks."""
    tokenizers = tokenizer, tokenizer.target
    sample = [*evaluation.texts(corpus.train.take(SAMPLE_PAIRS))]
    for side, lines, side_tokenizer in zip(("source", "target"), sample, tokenizers, strict=True):
        share = side_tokenizer.share_without_entry(lines)
        if share > MAX_SHARE_WITHOUT_ENTRY:
            log.warning(
                f"The tokenizer of {parent} lacks letters of the {side} text: {share:.0%} of the "
                "tokens are single bytes or unknown, so that sentences are long and hard to learn. "
                "Without --from, the new run has a tokenizer of its own."
            )


def dropped(batches: batching.Batches, max_length: int) -> str:
    """Returns in words how many training pairs are dropped.

    They have an empty side or are too long; of many long ones, what length keeps most.
    """
    share = batches.dropped / (batches.kept + batches.dropped)
    text = f"dropped for more than {max_length} tokens: {batches.dropped} ({share:.1%})"
    if batches.empty:
        text = f"dropped for an empty side: {batches.empty}; {text}"
    if share <= 1 - KEPT_SHARE:
        return text
    length = batches.length_of(KEPT_SHARE)
    return f"{text}, and --max-length {length} would keep {KEPT_SHARE:.0%}"


def is_short(sentence: str) -> bool:
    """Returns whether a command can show a sentence, and `explore` takes so many tokens."""
    return not spelling.is_blank(sentence) and len(sentence.encode()) < MAX_SHOWN_BYTES


def suggest_preset(pairs: int) -> None:
    """Logs which preset is for a number of training pairs, if there is one."""
    for name, preset in params.PRESETS.items():
        low, high = preset.pairs
        if low <= pairs < high:
            log.info(
                f"For a corpus of {plural(pairs, 'pair')}, try --preset {name} in a new --run (its "
                f"values: {' '.join(program.COMMAND)} train --help)."
            )


def suggest_commands(
    run: Run, sentences: Iterable[str], corpus_name: str, explorable: bool = True
) -> None:
    """Logs what can be done with a run that is trained.

    Args:
      sentences: for the commands: the first one that is short enough to explore is taken.
      corpus_name: of the corpus; for a bundled one, further sentences are named.
    """
    sentence = next(filter(is_short, sentences), None)
    log.info(f"Everything is in {run.path}. Next:")
    run_flag, sentence = f"--run={shlex.quote(str(run.path))}", shlex.quote(sentence or "...")
    if not str(run.path).startswith("-"):
        run_flag = run_flag.replace("=", " ", 1)
    if sentence.lstrip("'").startswith("-"):
        sentence = f"-- {sentence}"
    command = " ".join(program.COMMAND)
    log.info(f"  {command} translate {run_flag} {sentence}")
    if explorable:
        log.info(f"  {command} explore {run_flag} {sentence}")
    log.info(f"  {command} export {run_flag}")
    if to_try := corpora.sentences_to_try(corpus_name):
        log.info("\n  ".join(("Sentences to try:", *to_try)))
