"""Validation of a network in training: loss, accuracy, BLEU, and a few translations."""

import functools
import time

import tensorflow as tf

from nmt.corpus import batches as batching
from nmt.corpus.corpora import Corpus
from nmt.corpus.datasets import Dataset
from nmt.decoding.model import Model
from nmt.decoding.networks import Networks
from nmt.network.factory import forward_pass
from nmt.options import Options
from nmt.results import evaluation
from nmt.text.tokenizer import Tokenizer
from nmt.training import cluster, devices, loop, metrics
from nmt.training.estimate import RunTimes
from nmt.training.step import FastStep, Trainer


class Validator:
    """Validates the Model of a training run."""

    def __init__(
        self, model: Model, strategy: tf.distribute.Strategy,
        workers: cluster.Cluster = cluster.ALONE,
    ):  # fmt: skip
        self.model, self.strategy, self.workers = model, strategy, workers
        # Of a global batch, ids (B, S), (B, T): its TokenSums, without dropout.
        self.validate_batch = devices.spread(
            strategy, functools.partial(metrics.teacher_forced_sums, model.forward)
        )

    def loss_and_accuracy(
        self, pairs: Dataset, tokenizer: Tokenizer, times: RunTimes | None = None
    ) -> tuple[float, float]:
        """Returns the mean loss, in nats, and the accuracy, 0 to 1, of all real target tokens.

        The seconds are noted in `times`.
        """
        replicas = self.strategy.num_replicas_in_sync
        batches = batching.evaluation_batches(pairs, tokenizer, replicas)
        batches = devices.distribute(self.strategy, batches)
        self.validate_batch.get_concrete_function(*batches.element_spec)  # traced before timing
        started = time.perf_counter()
        loss_and_accuracy = metrics.loss_and_accuracy(self.validate_batch, batches)
        if times:
            times.validation_seconds = time.perf_counter() - started
        return loss_and_accuracy

    def validate(
        self, corpus: Corpus, tokenizer: Tokenizer, times: RunTimes | None = None
    ) -> dict[str, float]:
        """Returns the metrics of the validation split, by name; notes the seconds in `times`."""
        times = times or RunTimes()
        loss, accuracy = self.loss_and_accuracy(corpus.validation, tokenizer, times)
        validation_metrics = dict(val_loss=loss, val_accuracy=accuracy)
        if self.model.options.validate_by == "bleu":
            self.translations_of(corpus.validation.take(1), tokenizer)  # traced before timing
            started = time.perf_counter()
            bleu = evaluation.validation_bleu(self.model, tokenizer, corpus.validation)
            # The chief's: all workers must choose the same epoch.
            validation_metrics["val_bleu"] = self.workers.broadcast(bleu)
            times.translation_seconds = time.perf_counter() - started
        return validation_metrics

    def translations_of(self, pairs: Dataset, tokenizer: Tokenizer) -> list[tuple[str, str, str]]:
        """Returns (source, reference, greedy translation) of each of a few `pairs`."""
        sources, references = evaluation.texts(pairs)
        translations = self.model.translator(tokenizer)(sources)
        return list(zip(sources, references, translations, strict=True))


def new_epochs(
    step: Trainer, options: Options, counters: loop.Counters, on: devices.Devices,
    workers: cluster.Cluster = cluster.ALONE,
) -> loop.Epochs:  # fmt: skip
    """Returns the Epochs of a run that begins, validated by the network that a step trains."""
    plain = not isinstance(step, FastStep)
    forward = forward_pass(step.transformer, on.parts, plain, options.xla == "on")
    networks = Networks(step.transformer, forward, on.parts, counters.epoch, counters.steps)
    validator = Validator(Model(options, lambda: networks), on.strategy, workers)
    return loop.Epochs(step, options, counters, validator, on.strategy, workers)
