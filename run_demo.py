"""The program: load data -> tokenize -> batch -> train -> average -> evaluate -> draw.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --train a.src a.tgt           the same with your own aligned files
    python run_demo.py translate "Bom dia."          translate; or the lines of a file: < FILE

This file trains: a Training holds the network, its optimizer and the training step; `train` goes
through a run in ten steps. The epochs are in nmt/training/loop.py, the commands that use a trained
run in nmt/cli/, one file each. Everything goes to a run folder, `runs/<dataset>` (`--run` names
another; see nmt/training/run_folder.py).
"""

import dataclasses
import functools
import sys
import time

from nmt.cli import main as program

if __name__ == "__main__":  # a mistake is reported at once: TensorFlow takes seconds to import
    ARGS = program.start(sys.argv[1:])  # ends here after any command except train

import keras
import tensorflow as tf

from nmt import seeds
from nmt.cli import (
    exit_codes,
    finished_runs,
    startup,
    train_corpus,
    train_messages,
    train_options,
)
from nmt.corpus import batches as batching
from nmt.corpus.corpora import load_corpus
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding.model import Model
from nmt.network.engine import ParallelForward, PlainForward
from nmt.network.parallel_tokens import ParallelTokensForward
from nmt.results import evaluation, run_report
from nmt.results.explorer import page
from nmt.runs import parent as parents
from nmt.runs.claim import claim
from nmt.runs.loading import build_transformer, check_size, load_translator
from nmt.runs.lock import LockedRun
from nmt.runs.weights import choose_weights
from nmt.text.tokenizer import Tokenizer
from nmt.training import checkpoints, cluster, devices, metrics
from nmt.training.averaging import average
from nmt.training.loop import TrainingLoop
from nmt.training.optimizer import Adam, Updater, dense

__all__ = [  # for use from Python and in the notebook
    "Tokenizer", "Training", "build_transformer", "load_corpus", "load_translator", "main", "train",
    "train_tokenizer",
]  # fmt: skip

KEPT_CHECKPOINTS = 3  # of the newest epochs, at least; more if more are averaged


# ---- Training: the step, on one device or several ----


class Training(TrainingLoop):
    """A Transformer, its optimizer, and the step that improves it.

    `fit`, which repeats the step for epochs, saves and validates, is in nmt/training/loop.py.

    Args:
      options: of the run; `data_path` is the name of the corpus, and `xla` is
        "on" or "off" ("auto" counts as off).
      vocab_size: vocabulary entries, shared by both languages.
      strategy: the tf.distribute.Strategy of the devices.
      parts: number of parts that a device's share of a batch is split into, computed in parallel.
      workers: the cluster.Cluster that the strategy spans.
      plain: compute with transformer_model.py alone, not with the engine of nmt/network/.
      scheme: the training scheme of the run; see nmt/seeds.py.

    Raises:
      UserError: the network cannot fit into memory.
    """

    def __init__(
        self, options, vocab_size, strategy, parts=1, workers=cluster.ALONE, plain=False,
        scheme=seeds.TRAINING_SCHEME,
    ):  # fmt: skip
        super().__init__(options, vocab_size, strategy, workers, scheme)
        check_size(options, vocab_size)
        xla = options.xla == "on"
        with strategy.scope():
            # Of all epochs, as a schedule needs it; each device has its own copy, as XLA needs it.
            self.total_steps = tf.Variable(1, dtype=tf.int64)
            self.transformer = build_transformer(options, vocab_size, plain)
            variables = self.transformer.trainable_variables
            self.optimizer = Adam(options, self.total_steps)
            self.optimizer.build(variables)
            self.updater = Updater(
                self.optimizer, variables, options.accumulate, options.clip_norm, xla
            )
        if options.non_autoregressive:
            seed = functools.partial(self.updater.batch_seed, options.seed, scheme)
            self.forward = ParallelTokensForward(self.transformer, parts, seed)
        elif plain:  # a call of the network, as it stands
            self.forward = PlainForward(self.transformer)
        else:
            self.forward = ParallelForward(self.transformer, parts, static_shapes=xla)
        self.forward_backward = self.loss_and_gradients
        if xla:  # compiled for each shape of a batch
            self.forward_backward = tf.function(self.loss_and_gradients, jit_compile=True)
        self.model = Model(  # to translate with and to score
            options, self.transformer, self.forward, parts, self.epoch, self.total_steps,
            fixed=False,
        )  # fmt: skip
        self.checkpoint = tf.train.Checkpoint(
            # A list of variables, not the model: TensorFlow would leave out the layers that Keras
            # keeps in lists, and the state of dropout's random numbers.
            model=[variable.value for variable in self.transformer.variables],
            optimizer=self.optimizer.checkpoint,
            epoch=self.epoch,
            position=self.position,
            sums=self.sums_so_far,
            steps=self.total_steps,
        )

    @tf.function
    def train_step(self, inp, tar):
        """Learns from one global batch, ids (B, S) and (B, T). Returns its `token_sums`, (3,)."""
        return devices.run_and_sum(self.strategy, self.learn, inp, tar)

    @tf.function
    def accumulate_step(self, inp, tar):
        """`train_step` without the optimizer's step, which follows after `--accumulate` batches."""
        learn = functools.partial(self.learn, update=False)
        return devices.run_and_sum(self.strategy, learn, inp, tar)

    def learn(self, inp, tar, update=True):
        """Learns from one device's share of a batch. Returns its `token_sums` before the step."""
        sums, gradients = self.forward_backward(inp, tar)
        totals = self.updater.accumulate(gradients, sums.tokens)
        if update:
            self.updater.apply(totals)
        return sums

    def loss_and_gradients(self, inp, tar):
        """Returns the `token_sums` of ids (B, S), (B, T), and the gradients of their loss."""
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1): each token predicts the next
        # The tutorial's loss and accuracy are quotients of `token_sums`, which add up over devices.
        # With --plain, predictions are logits; the engine computes these in its `token_sums`.
        with tf.GradientTape() as tape:
            predictions = self.forward.predict((inp, tar_inp), training=True)
            sums = self.forward.token_sums(tar_real, predictions, self.options.label_smoothing)
        # The loss is a sum over tokens: the Updater divides by the tokens of all devices.
        gradients = tape.gradient(sums.loss, self.transformer.trainable_variables)
        return sums, dense(gradients)

    @tf.function
    def validation_step(self, inp, tar):
        """Returns the `token_sums` of one global batch, without dropout and without learning."""
        sums = functools.partial(metrics.teacher_forced_sums, self.forward)
        return devices.run_and_sum(self.strategy, sums, inp, tar)

    def loss_and_accuracy(self, pairs, tokenizer):
        """Returns the mean loss in nats, and the accuracy, of all real target tokens of `pairs`."""
        replicas = self.strategy.num_replicas_in_sync
        batches = batching.evaluation_batches(pairs, tokenizer, replicas)
        batches = devices.distribute(self.strategy, batches)
        self.validation_step.get_concrete_function(*batches.element_spec)  # traced before timing
        started = time.perf_counter()
        loss, accuracy = metrics.loss_and_accuracy(self.validation_step, batches)
        self.times.validation_seconds = time.perf_counter() - started
        return loss, accuracy

    def validate(self, corpus, tokenizer):
        """Returns the metrics of the validation split, by name."""
        loss, accuracy = self.loss_and_accuracy(corpus.validation, tokenizer)
        validation_metrics = dict(val_loss=loss, val_accuracy=accuracy)
        if self.options.validate_by == "bleu":
            self.translations_of(corpus.validation.take(1), tokenizer)  # traced before timing
            started = time.perf_counter()
            bleu = evaluation.validation_bleu(self.model, tokenizer, corpus.validation)
            # The chief's: all workers must choose the same epoch.
            validation_metrics["val_bleu"] = self.workers.broadcast(bleu)
            self.times.translation_seconds = time.perf_counter() - started
        return validation_metrics

    def translations_of(self, pairs, tokenizer):
        """Returns (source, reference, greedy translation) of each of a few `pairs`."""
        sources, references = evaluation.texts(pairs)
        translations = self.model.translator(tokenizer)(sources)
        return list(zip(sources, references, translations, strict=True))


# ---- A run, step by step ----


def train(args):
    """Trains, evaluates, translates samples and draws all pictures; resumes a run begun earlier.

    Args:
      args: the parsed command line; see nmt/cli/train.py.
    """
    from nmt.results import scores  # noqa: F401  # fails before training if missing
    from nmt.results.pictures import RunPictures

    # 1. The run folder, the options and the devices.
    devices.run_plainly(args)
    workers = cluster.configured()
    resumed = train_options.resumed_parameters(args)
    choice = train_corpus.choose(args, resumed)
    run = train_corpus.run_of(args, choice.name, workers)
    parent = parents.find(args.parent, run, resumed, bool(args.train or args.data_path))
    inherited = parents.options_to_inherit(args.parent, parent, run)
    options = train_options.choose(args, resumed, inherited)
    keras.utils.set_random_seed(options.seed)  # before a tokenizer exists: this resets its state
    xla = train_options.uses_xla(options, run.resumable)
    saved_parts = run.resumable.parts if run.resumable else None
    strategy, parts = devices.configure(xla, workers, saved_parts)

    # 2. The corpus: the chief downloads it, then the other workers read it.
    corpus = workers.in_turn(
        lambda: load_corpus(choice.source, options.seed, may_fall_back=not choice.explicit)
    )
    source = choice.loaded_source(corpus)
    if choice.is_replaced_by(corpus):  # the default could not be downloaded
        run = train_corpus.run_of(args, corpus.name, workers)
        if run.resumable:
            xla, parts = train_options.uses_xla(options, run.resumable), run.resumable.parts
    run = LockedRun(run)
    args.resume = train_corpus.resuming_command(args, choice, corpus)
    tokenize = train_options.tokenizer_of_bleu(args, options, run, source, corpus)
    options = dataclasses.replace(
        options, data_path=corpus.name, tokenize=tokenize, xla="on" if xla else "off"
    )
    train_messages.announce_corpus(args, run, corpus.name, source)

    # 3. One pass over the text, and the vocabulary: learned from it, or that of the parent.
    text = train_corpus.read_text(run, workers, corpus, options, parent)
    tokenizer, hashes = text.tokenizer, text.survey.hashes

    # 4. What identifies the run: a resumed one must be the same.
    hashes["tokenizer"] = tokenizer.sha256
    origin = parent.origin if parent else None
    claimed = claim(run, options, source, hashes, parts, origin, tokenizer.protection)
    train_options.check_same(claimed.identity, workers)
    train_corpus.write_held_out(run, corpus, source)
    if workers.broadcast(finished_runs.is_complete(run, options, hashes["test"], args.no_plots)):
        finished_runs.report(run, corpus)
        return

    # 5. Network, optimizer and batches.
    scheme = claimed.parameters.training_scheme
    training = Training(options, tokenizer.vocab_size, strategy, parts, workers, args.plain, scheme)
    if args.no_plots:
        training.times.picture_seconds = 0  # of the time that a run is estimated to take
    if parent:
        parent.initialize(training.transformer)  # step 6 restores the run's own weights, if any
        parent.warn_of_held_out(source, hashes["train"])
    run.remove_cache()  # left by a process that was killed
    replicas = strategy.num_replicas_in_sync
    batches = batching.training_batches(options, corpus, tokenizer, replicas, run.cache, scheme)
    devices.check_logits(options, batches.buckets.tokens / replicas, tokenizer.vocab_size)
    steps_per_epoch = training.steps_per_epoch(batches)
    train_messages.announce(args, run, options, corpus, source, text, steps_per_epoch, batches)

    # 6. Training.
    kept_epochs = max(KEPT_CHECKPOINTS, options.average)
    minutes = options.checkpoint_minutes
    confirm = None if claimed.is_confirmed else claimed.confirm
    with checkpoints.Keeper(
        training.checkpoint, run, kept_epochs, minutes, workers, confirm
    ) as keeper:
        training.fit(
            keeper, corpus, tokenizer, batches,
            lambda: train_messages.announce_training(run, corpus, training, batches),
        )  # fmt: skip

    # 7. Averaging, of the newest checkpoints.
    validation = average(
        training.checkpoint, training.transformer.trainable_variables, keeper, options.average,
        lambda: training.validate(corpus, tokenizer),
    )  # fmt: skip
    if workers.chief:
        final = choose_weights(run).record
        run_report.write_validation(run, corpus, final, validation)

    # 8. Evaluation, on the test split.
    test_scores, test_lines = evaluation.evaluate(training.model, tokenizer, corpus)
    stdout_error = None
    if workers.chief:
        # 9. The report.
        try:
            run_report.report(run, corpus, training.model, final, test_scores, test_lines)
        except OSError as error:  # stdout is closed: the run is finished all the same
            stdout_error = error
        # 10. Pictures.
        sentence = test_lines[0].source
        if not args.no_plots:
            RunPictures(run, training.model, tokenizer, sentence, lambda: batches).draw_all()
        explorable = training.transformer.count_params() <= page.MAX_PARAMETERS
        sources = (line.source for line in test_lines)
        train_messages.suggest_commands(run, sources, corpus.name, explorable)
    workers.barrier()  # a worker that ends before the others counts as lost
    if stdout_error:
        raise stdout_error


def main(arguments):
    """Runs one command, from Python. Returns the exit code of the process."""
    return program.main(arguments, train)


if __name__ == "__main__":
    startup.catch_interrupts()
    sys.exit(exit_codes.exit_code(lambda: train(ARGS), ARGS))
