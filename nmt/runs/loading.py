"""Loading a trained run: its network, tokenizer and options, without an optimizer."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from nmt import UserError
from nmt.decoding.model import Model
from nmt.decoding.search_options import Protecting, Repetition, Sampling
from nmt.decoding.translator import Translator
from nmt.keywords import suggests_keywords
from nmt.messages import log
from nmt.network.factory import build_transformer, forward_pass
from nmt.runs import listing, parameters
from nmt.runs.folder import Run
from nmt.runs.run_tokenizer import check_size, load_tokenizer
from nmt.runs.weights import choose_weights
from nmt.text.glossary import read_glossary
from nmt.text.tokenizer import Tokenizer
from nmt.training import checkpoints, devices
from nmt.training.named_state import NamedState


class TrainedRun(NamedTuple):
    """A run that is loaded."""

    run: Run
    tokenizer: Tokenizer
    model: Model


def load_without_weights(
    path: str | Path | Run | None = None,
    weights: bool = True,
    plain: bool = False,
    languages: Sequence[str] | None = None,
    **changed: Any,
) -> TrainedRun:
    """Returns what `load` does, with newly initialized weights.

    Args:
      path, plain, languages, changed: see `load`.
      weights: False if the run needs no checkpoint.

    Raises:
      UserError: there is no such run, or it is damaged.
    """
    run = listing.find(path, weights)
    options = dataclasses.replace(run.parameters.options, **changed)
    if wrong := parameters.error_in_options(options.by_name()):
        raise UserError(wrong)
    parts = devices.configure(mirrored=False).parts
    tokenizer = load_tokenizer(run, options.protect)
    check_size(options, tokenizer.vocab_size, weight_bytes=4)
    transformer = build_transformer(options, tokenizer.vocab_size, plain)
    epoch, steps = tf.Variable(0), tf.Variable(0, dtype=tf.int64)
    forward = forward_pass(transformer, plain=plain)
    codes = tuple(languages or run.parameters.corpus.languages)
    model = Model(options, transformer, forward, parts, epoch, steps, codes)
    return TrainedRun(run, tokenizer, model)


def load(
    path: str | Path | Run | None = None,
    checkpoint: str | None = None,
    plain: bool = False,
    languages: Sequence[str] | None = None,
    **changed: Any,
) -> TrainedRun:
    """Returns a TrainedRun: the folder.Run, its Tokenizer, and its Model.

    Args:
      path: the run folder; None for the newest one in runs/, if all are of one corpus.
      checkpoint: "final", "newest" (epoch) or "best" (validation); None for those that
        `choose_weights` chooses.
      plain: without the engine; see `build_transformer`.
      languages: codes of source and target; None for those of the run.
      changed: options to use instead of the run's own.

    Raises:
      UserError: there is no such run or checkpoint, or it is damaged.
    """
    trained = load_without_weights(path, plain=plain, languages=languages, **changed)
    run, model = trained.run, trained.model
    chosen = choose_weights(run, checkpoint)
    state = NamedState(model.transformer, epoch=model.epoch, steps=model.steps)
    try:
        checkpoints.restore(state, chosen.path)
    except UserError as error:
        raise UserError(
            f"{error}; choose another checkpoint, or repeat the command that trained the run, "
            "which overwrites it"
        ) from None
    log.info(f"Using {chosen.path}: {listing.describe(run, chosen)}; {chosen.reason}")
    return trained


def load_ensemble(
    paths: Sequence[str | Path | Run | None], checkpoint: str | None = None, **changed: Any
) -> TrainedRun:
    """Returns what `load` does for the first of `paths`; its model is an ensemble with the others.

    Raises:
      UserError: as `load`; or the runs have different tokenizers.
    """
    first = load(paths[0], checkpoint, **changed)
    transformers = []
    for path in paths[1:]:
        member = load(path, checkpoint)
        if member.tokenizer.sha256 != first.tokenizer.sha256:
            raise UserError(
                f"{member.run.path}: has another tokenizer than {first.run.path}; an ensemble "
                "needs runs with the same one (trained on the same text, or with --from)"
            )
        if limitation := member.model.options.limitation:
            raise UserError(f"{member.run.path}: {limitation}; leave it out")
        transformers.append(member.model.transformer)
    return first._replace(model=dataclasses.replace(first.model, ensemble=tuple(transformers)))


@suggests_keywords
def load_translator(
    path: str | Path | Sequence[str | Path] | None = None,
    checkpoint: str | None = None,
    *,
    rows: int | None = None,
    workers: int | None = None,
    split: bool = True,
    protect: bool = True,
    patterns: Sequence[str] = (),
    glossary: str | Path | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    n_best: int = 1,
    plain: bool = False,
    sampling: Sampling | None = None,
    repetition: Repetition | None = None,
    mbr: str | None = None,
    alignments: bool = False,
    token_scores: bool = False,
    alternatives: int = 0,
    traced: bool = True,
) -> Translator:
    """Returns the Translator of a trained run, for use from Python.

    `list(translate(lines))` are translations; `translate.attend(line)` is an Attention.

    Args:
      path: the run folder, or a list of them, whose probabilities are averaged; None for the newest
        one in runs/, if all are of one corpus.
      checkpoint: "final", "newest" or "best"; see `load`.
      rows: sentences per batch; None for as many as suit their length.
      workers: batches translated in parallel; None for one per core, at most four.
      split: translate each sentence of a line by itself.
      protect: copy numbers, placeholders and the like, if the run has learned to; see
        docs/protecting.md.
      patterns: regular expressions of what must not change, either.
      glossary: a file of terms and their translations, source TAB target.
      beam: hypotheses followed per sentence, 1 for greedy search; None for the run's own.
      length_penalty: alpha of the length penalty of beam search; None for the run's own.
      n_best: translations of a sentence, at most `beam`; or samples.
      plain: greedy search by `transformer_model.greedy_translate`.
      sampling: how samples are drawn at random; None for a search.
      repetition: what a translation may repeat; None for anything.
      mbr: "chrf", the utility by which one of `n_best` is chosen; None for the best score.
      alignments: report the word links of the best translation.
      token_scores: report the tokens of the best translation with log-probabilities.
      alternatives: report this many of the likeliest tokens per position, too.
      traced: False to build no TensorFlow graph for greedy search, for a few sentences.

    Raises:
      UserError: there is no such run, it is damaged, or an argument is not allowed.
      TypeError: there is no such argument.
    """
    paths: Sequence[str | Path | None]
    paths = [path] if path is None or isinstance(path, str | Path) else path
    if not paths:
        raise UserError("load_translator was given an empty list; name one run folder or several")
    if isinstance(patterns, str):
        raise UserError("patterns is one string; give a list of strings")
    if sampling and beam is None:
        beam = 1
    changed = {"beam": beam, "length_penalty": length_penalty}
    changed = {name: value for name, value in changed.items() if value is not None}
    _, tokenizer, model = load_ensemble(paths, checkpoint, **changed)
    options = model.search_options._replace(
        n_best=n_best,
        plain=plain,
        sampling=sampling,
        repetition=repetition,
        mbr=mbr,
        alignments=alignments,
        token_scores=token_scores,
        alternatives=alternatives,
        traced=traced,
    )
    terms = read_glossary(glossary) if glossary else None
    return model.text_translator(
        tokenizer, options, Protecting(protect, tuple(patterns), terms), split, rows, workers
    )
