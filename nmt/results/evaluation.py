"""Evaluation: translating a split, and scoring the translations. See run_report.py, too.

Translations are scored without TensorFlow, where CTranslate2 makes them; only loss and accuracy, of
a run's own test split, need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nmt.corpus import bleu_tokenizer, corpora
from nmt.corpus.datasets import Dataset
from nmt.decoding.model import Model
from nmt.messages import log, plural
from nmt.neighbors import params
from nmt.progress import with_progress
from nmt.results.run_report import Scores, TranslatedLine
from nmt.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tensorflow as tf


def scoring_options(model: Model, references: Sequence[str]) -> dict[str, Any]:
    """Returns the parameters of a model's scores of `references`, by name."""
    tokenize = bleu_tokenizer.choose(model.options.tokenize, references)
    return model.options.by_name(params.SCORING) | {"tokenize": tokenize}


def texts(pairs: Dataset) -> tuple[list[str], list[str]]:
    """Returns the sources and the references of a dataset of pairs."""
    known = list(pairs)  # which are read once
    return [source for source, _ in known], [target for _, target in known]


def translate_all(model: Model, tokenizer: Tokenizer, sources: Sequence[str]) -> list[str]:
    """Returns the translations of `sources`, by the search of the run's options."""
    translations = model.translator(tokenizer, model.search_options)(sources)
    return [*with_progress(translations, total=len(sources), desc="Translating")]


def loss_and_accuracy(model: Model, tokenizer: Tokenizer, pairs: Dataset) -> tuple[float, float]:
    """Returns the mean loss in nats, and the accuracy, of all real target tokens of `pairs`."""
    networks = model.networks()  # which imports TensorFlow, without its messages
    import tensorflow as tf

    from nmt.corpus import batches
    from nmt.training import metrics

    ids = tf.TensorSpec((None, None), tf.int32)  # one trace for all shapes

    @tf.function(input_signature=[ids, ids], autograph=False)
    def sums(inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:  # (B, S), (B, T)
        return tf.stack(metrics.teacher_forced_sums(model.forward, inp, tar))

    return metrics.loss_and_accuracy(
        sums, batches.evaluation_batches(pairs, tokenizer), threads=networks.parts
    )


def validation_bleu(model: Model, tokenizer: Tokenizer, pairs: Dataset) -> float:
    """Returns BLEU of greedy translations of `pairs`."""
    from nmt.results import scores

    sources, references = texts(pairs)
    translations = list(model.translator(tokenizer)(sources))
    bleu = scores.bleu(**scoring_options(model, references))
    translations, references = scores.in_normal_form(translations, references)
    return bleu.corpus_score(translations, [references]).score


def evaluate(
    model: Model, tokenizer: Tokenizer, corpus: corpora.Corpus, ter: bool = False
) -> tuple[Scores, list[TranslatedLine]]:
    """Translates the test split. Returns scores by name, and its lines."""
    lines = translate_test(model, tokenizer, corpus)
    return score_test(model, tokenizer, corpus, lines, ter), lines


def translate_test(
    model: Model, tokenizer: Tokenizer, corpus: corpora.Corpus
) -> list[TranslatedLine]:
    """Translates the test split, by the search of the run's options."""
    model.networks()  # which imports TensorFlow, without its messages
    from nmt.corpus import batches

    log.info(f"Translating and scoring {plural(len(corpus.test), 'test line')} ...")
    batches.warn_of_truncation(corpus.test, tokenizer, "test")
    sources, references = texts(corpus.test)
    translations = translate_all(model, tokenizer, sources)
    return list(map(TranslatedLine, sources, references, translations))


def score_test(
    model: Model, tokenizer: Tokenizer, corpus: corpora.Corpus, lines: list[TranslatedLine],
    ter: bool = False,
) -> Scores:  # fmt: skip
    """Returns loss and accuracy of the test split, and scores of its translated `lines`.

    BLEU and chrF are sacreBLEU's, with the signatures that say how they were computed.
    """
    from nmt.results import scores

    loss, accuracy = loss_and_accuracy(model, tokenizer, corpus.test)
    references = [line.reference for line in lines]
    scoring = scoring_options(model, references)
    scores.warn_of_tokenized_text(references, **scoring)
    hypotheses = [line.hypothesis for line in lines]
    return {
        "lines": len(lines),
        "loss": float(loss),
        "accuracy": float(accuracy),
        **scores.score(hypotheses, references, ter=ter, **scoring),
    }
