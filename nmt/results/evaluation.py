"""Evaluation: translating a split, scoring the translations, and the report of a run."""

import contextlib
import sys
import time
from collections.abc import Sequence

import tensorflow as tf
from tqdm import tqdm

import params
from nmt import UserError, machine
from nmt.corpus import batches, bleu_tokenizer, corpora
from nmt.decoding.model import Model
from nmt.messages import log, plural
from nmt.results.run_report import TranslatedLine
from nmt.text.tokenizer import Tokenizer
from nmt.training import metrics

# A run may be scored with other values of these than it was trained with.
SCORING = params.names(params.SCORING)
REPORTED_SAMPLES = 3  # translations


def scoring_options(model: Model, references: Sequence[str]) -> dict:
    """Returns the parameters of a model's scores of `references`, by name."""
    options = {name: model.options[name] for name in SCORING}
    options["tokenize"] = bleu_tokenizer.choose(options["tokenize"], references)
    return options


def texts(pairs: tf.data.Dataset) -> tuple[list[str], list[str]]:
    """Returns the sources and the references of a dataset of pairs."""
    sources, references = [], []
    for source, target in pairs.as_numpy_iterator():
        sources.append(source.decode())
        references.append(target.decode())
    return sources, references


def search_name(options: dict) -> str:
    """Returns the name of the search that a run's `options` choose, for reports."""
    if options["non_autoregressive"]:
        return "non-autoregressive"
    return f"a beam of {options['beam']}" if options["beam"] > 1 else "greedy search"


def translate_all(model: Model, tokenizer: Tokenizer, sources: Sequence[str]) -> list[str]:
    """Returns the translations of `sources`, by the search of the run's options."""
    translations = model.translator(tokenizer, **model.search_options)(sources)
    return list(
        tqdm(
            translations, desc="Translating", total=len(sources), unit="line", file=sys.stderr,
            leave=False, disable=None,
        )
    )  # fmt: skip


def loss_and_accuracy(
    model: Model, tokenizer: Tokenizer, pairs: tf.data.Dataset
) -> tuple[float, float]:
    """Returns the mean loss in nats, and the accuracy, of all real target tokens of `pairs`."""
    ids = tf.TensorSpec((None, None), tf.int32)  # one trace for all shapes

    @tf.function(input_signature=[ids, ids], autograph=False)
    def sums(inp, tar):  # (B, S), (B, T)
        return tf.stack(metrics.teacher_forced_sums(model.forward, inp, tar))

    return metrics.loss_and_accuracy(
        sums, batches.evaluation_batches(pairs, tokenizer), threads=model.parts
    )


def validation_bleu(model: Model, tokenizer: Tokenizer, pairs: tf.data.Dataset) -> float:
    """Returns BLEU of greedy translations of `pairs`."""
    from nmt.results import scores

    sources, references = texts(pairs)
    translations = list(model.translator(tokenizer)(sources))
    bleu = scores.bleu(**scoring_options(model, references))
    translations, references = scores.in_normal_form(translations, references)
    return bleu.corpus_score(translations, [references]).score


def evaluate(
    model: Model, tokenizer: Tokenizer, corpus: corpora.Corpus, ter: bool = False
) -> tuple[dict, list[TranslatedLine]]:
    """Translates the test split. Returns scores by name, and its lines.

    BLEU and chrF are sacreBLEU's, with the signatures that say how they were computed.

    Args:
      model: the Model of a run.
      tokenizer: the Tokenizer of the run.
      corpus: the Corpus.
      ter: compute TER, too.
    """
    from nmt.results import scores

    started = time.perf_counter()
    log.info(f"Translating and scoring {plural(len(corpus.test), 'test line')} ...")
    batches.warn_of_truncation(corpus.test, tokenizer, "test")
    loss, accuracy = loss_and_accuracy(model, tokenizer, corpus.test)
    sources, references = texts(corpus.test)
    scoring = scoring_options(model, references)
    scores.warn_of_tokenized_text(references, **scoring)
    translations = translate_all(model, tokenizer, sources)
    test_scores = {
        "lines": len(sources),
        "loss": float(loss),
        "accuracy": float(accuracy),
        **scores.score(translations, references, ter=ter, **scoring),
        "evaluation_seconds": time.perf_counter() - started,
    }
    return test_scores, list(map(TranslatedLine, sources, references, translations))


def print_report(
    corpus_name: str, epochs: int, options: dict, test_scores: dict, lines: list[TranslatedLine]
) -> None:
    """Prints samples and scores.

    Args:
      corpus_name: of the corpus.
      epochs: that the run was trained for.
      options: of the run, for its search.
      test_scores, lines: what `evaluate` returned.
    """
    from nmt.results import scores

    for line in lines[:REPORTED_SAMPLES]:
        print(f"Source:     {line.source}\nReference:  {line.reference}")
        print(f"Hypothesis: {line.hypothesis}\n")
    size, search = plural(test_scores["lines"], "line"), search_name(options)
    print(f"Test split of {corpus_name}, {size}, {plural(epochs, 'epoch')}, {search}:")
    print(f"loss {test_scores['loss']:.3f}, accuracy {test_scores['accuracy']:.3f}")
    metrics_by_name = {
        name: score
        for name, score in test_scores.items()
        if type(score) is dict and "signature" in score
    }
    print(scores.table(metrics_by_name), flush=True)


def write_validation(
    run, corpus: corpora.Corpus, checkpoint: dict, validation: dict[str, float]
) -> None:
    """Writes the validation result of a checkpoint into scores.json, before it is scored.

    What the file holds of other weights goes.

    Args:
      run: the folder.Run.
      corpus: the Corpus.
      checkpoint: the `record` of the runs.weights.Weights.
      validation: the metrics of the validation split, by name.
    """
    content = saved_scores(run, checkpoint) | {
        "pairs": {split: len(split_pairs) for split, split_pairs in corpus.splits().items()},
        "checkpoint": checkpoint,
        "validation": metrics.validation_metrics(validation),
    }
    run.write("scores.json", content)


def saved_scores(run, checkpoint: dict) -> dict:
    """Returns what scores.json holds of a checkpoint; {} if it is of another or damaged."""
    with contextlib.suppress(UserError, AttributeError):
        scores = run.read("scores.json", {})
        if scores.get("checkpoint") == checkpoint:
            return scores
    return {}


def report(
    run, corpus: corpora.Corpus, model: Model, checkpoint: dict, test_scores: dict,
    lines: list[TranslatedLine],
) -> None:  # fmt: skip
    """Prints scores and samples, then writes scores.json and translations.txt.

    They are printed even if they cannot be written, and written even if they cannot be printed.

    Args:
      run: the folder.Run.
      corpus: the Corpus.
      model: the Model of the run.
      checkpoint: the `record` of the runs.weights.Weights that the model has.
      test_scores, lines: what `evaluate` returned.

    Raises:
      OSError: stdout could not be written to.
      UserError: the folder could not be written to.
    """
    try:
        print_report(corpus.name, int(model.epoch), model.options, test_scores, lines)
    finally:
        write_report(run, corpus, model, checkpoint, test_scores, lines)


def write_report(
    run, corpus: corpora.Corpus, model: Model, checkpoint: dict, test_scores: dict,
    lines: list[TranslatedLine],
) -> None:  # fmt: skip
    """Writes scores.json and translations.txt; for arguments see `report`."""
    epochs, pairs, splits = int(model.epoch), {}, corpus.splits()
    history = [row for row in run.history() if row["epoch"] <= epochs]
    with contextlib.suppress(UserError, AttributeError, TypeError, ValueError):
        pairs = dict(run.read("scores.json", {}).get("pairs", {}))  # of splits not loaded now
    saved = saved_scores(run, checkpoint)
    validation = {"validation": saved["validation"]} if "validation" in saved else {}
    rows = ["\t".join(" ".join(text.split()) for text in line) + "\n" for line in lines]
    run.write("translations.txt", "".join(rows).encode())
    run.write(
        "scores.json",
        {
            "dataset": corpus.name,
            "pairs": pairs | {split: len(split_pairs) for split, split_pairs in splits.items()},
            "checkpoint": checkpoint,
            **validation,
            **test_scores,
            "test_sha256": corpora.fingerprint(corpus.test),
            "epochs": epochs,
            "training_seconds": sum(row["seconds"] for row in history),
            "parameters": model.transformer.count_params(),
            "options": {row.name: model.options[row.name] for row in params.table()},
            "versions": machine.versions(),
        },
    )
