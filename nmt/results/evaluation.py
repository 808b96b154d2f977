"""Evaluation: translating a split, scoring the translations, and the report of a run."""

import contextlib
import sys
import time
from concurrent import futures
from importlib import metadata

import numpy as np
import tensorflow as tf
from tqdm import tqdm

import params
from nmt import UserError
from nmt.decoding.translator import Translator
from nmt.messages import log, plural
from nmt.text import batches, bleu_tokenizer
from nmt.training import metrics

# A run may be translated and scored with other values of these than it was trained with.
SEARCH = params.names(params.SEARCH)
SCORING = params.names(params.SCORING)
REPORTED_SAMPLES = 3  # translations


def search_options(model):
    """Returns the parameters of a model's search, by name."""
    return {name: model.options[name] for name in SEARCH}


def scoring_options(model, references):
    """Returns the parameters of a model's scores of `references`, strings, by name."""
    options = {name: model.options[name] for name in SCORING}
    options["tokenize"] = bleu_tokenizer.choose(options["tokenize"], references)
    return options


def translator(model, tokenizer, **options):
    """Returns the Translator of a model, one for each search.

    Args:
      model: a Training, or a loading.TrainedModel.
      tokenizer: its Tokenizer.
      options: other arguments of Translator.
    """
    arguments = dict(fixed=model.fixed, workers=model.parts, ensemble=model.ensemble) | options
    key = tuple(arguments.items())
    if key not in model.translators:
        model.translators[key] = Translator(model.transformer, tokenizer, **arguments)
    return model.translators[key]


def texts(pairs):
    """Returns the sources and the references of a dataset of pairs, as strings."""
    rows = [(source.decode(), target.decode()) for source, target in pairs.as_numpy_iterator()]
    return tuple(zip(*rows, strict=True))


def search_name(options):
    """Returns the name of the search that a run's `options` choose, for reports."""
    if options["non_autoregressive"]:
        return "non-autoregressive"
    return f"a beam of {options['beam']}" if options["beam"] > 1 else "greedy search"


def translate_all(model, tokenizer, sources):
    """Returns the translations of `sources`, a list, by the search of the run's options."""
    translations = translator(model, tokenizer, **search_options(model))(sources)
    return list(
        tqdm(
            translations, desc="Translating", total=len(sources), unit="line", file=sys.stderr,
            leave=False, disable=None,
        )
    )  # fmt: skip


def loss_and_accuracy(model, tokenizer, pairs):
    """Returns the mean loss in nats, and the accuracy, of all real target tokens of `pairs`."""
    ids = tf.TensorSpec((None, None), tf.int32)  # one trace for all shapes

    @tf.function(input_signature=[ids, ids], autograph=False)
    def sums(inp, tar):  # (B, S), (B, T)
        masked = model.options["non_autoregressive"]
        return tf.stack(metrics.teacher_forced_sums(model.forward, masked, inp, tar))

    with futures.ThreadPoolExecutor(model.parts) as pool:
        batch_sums = pool.map(
            lambda batch: sums(*batch), batches.evaluation_batches(pairs, tokenizer)
        )
        loss, hits, tokens = np.sum([row.numpy().astype(float) for row in batch_sums], axis=0)
    return loss / tokens, hits / tokens


def validation_bleu(model, tokenizer, pairs):
    """Returns BLEU of greedy translations of `pairs`."""
    from nmt.results import scores

    sources, references = texts(pairs)
    translations = list(translator(model, tokenizer)(sources))
    bleu = scores.bleu(**scoring_options(model, references))
    translations, references = scores.in_normal_form(translations, references)
    return bleu.corpus_score(translations, [references]).score


def evaluate(model, tokenizer, corpus, ter=False):
    """Translates the test split. Returns scores, and rows of (source, reference, hypothesis).

    BLEU and chrF are sacreBLEU's, with the signatures that say how they were computed.

    Args:
      model: a Training, or a loading.TrainedModel.
      tokenizer: its Tokenizer.
      corpus: a corpora.Corpus.
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
    return test_scores, list(zip(sources, references, translations, strict=True))


def print_report(corpus, model, test_scores, rows):
    """Prints samples and scores; arguments as of `report`."""
    from nmt.results import scores

    for source, reference, hypothesis in rows[:REPORTED_SAMPLES]:
        print(f"Source:     {source}\nReference:  {reference}\nHypothesis: {hypothesis}\n")
    epochs, search = int(model.epoch), search_name(model.options)
    lines = plural(test_scores["lines"], "line")
    print(f"Test split of {corpus.name}, {lines}, {plural(epochs, 'epoch')}, {search}:")
    print(f"loss {test_scores['loss']:.3f}, accuracy {test_scores['accuracy']:.3f}")
    print(
        scores.table({name: row for name, row in test_scores.items() if isinstance(row, dict)}),
        flush=True,
    )


def report(run, corpus, model, test_scores, rows):
    """Prints scores and samples, then writes scores.json and translations.txt.

    The results are seen even if they cannot be written, and written even if they cannot be seen.

    Args:
      run: the folder.Run.
      corpus: the corpora.Corpus.
      model: a Training, or a loading.TrainedModel.
      test_scores, rows: what `evaluate` returned.

    Returns:
      The OSError of a stdout that could not be written to, to be raised at the end; else None.
    """
    unprinted = None
    try:
        print_report(corpus, model, test_scores, rows)
    except OSError as error:
        unprinted = error
    epochs, pairs = int(model.epoch), {}
    history = [row for row in run.history() if row["epoch"] <= epochs]
    with contextlib.suppress(UserError, AttributeError, TypeError, ValueError):
        pairs = dict(run.read("scores.json", {}).get("pairs", {}))  # of splits not loaded now
    clean = [[" ".join(text.split()) for text in row] for row in rows]
    run.write("translations.txt", "".join("\t".join(row) + "\n" for row in clean).encode())
    libraries = ("tensorflow", "keras", "tensorflow-text", "sentencepiece", "sacrebleu")
    run.write(
        "scores.json",
        {
            "dataset": corpus.name,
            "pairs": pairs
            | {split: len(pairs_of_split) for split, pairs_of_split in corpus.splits().items()},
            **test_scores,
            "epochs": epochs,
            "training_seconds": sum(row["seconds"] for row in history),
            "parameters": model.transformer.count_params(),
            "options": {row.name: model.options[row.name] for row in params.table()},
            "versions": {name: metadata.version(name) for name in libraries},
        },
    )
    return unprinted
