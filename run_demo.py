"""The program: load data -> tokenize -> batch -> train -> average -> evaluate -> draw.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --train a.src a.tgt           the same with your own aligned files
    python run_demo.py translate "Bom dia."          translate; or the lines of a file: < FILE

This file trains: a Training holds the network, its optimizer and the training step; `train` goes
through a run in ten steps. The commands that use a trained run are in nmt/program/commands.py.
Everything goes to a run folder, `runs/<dataset>` (`--run` names another; see
nmt/program/run_folder.py).
"""

import contextlib
import functools
import sys
import time

from nmt.program import startup

# As a program, it sets what TensorFlow reads of the environment and hides its start-up messages;
# importing it from Python changes nothing.
with startup.program(sys.argv[1:]) if __name__ == "__main__" else contextlib.nullcontext():
    import keras
    import numpy as np
    import tensorflow as tf

    from nmt.decoding import non_autoregressive
    from nmt.messages import log, plural
    from nmt.network.engine import ParallelForward, PlainForward
    from nmt.program import commands, exit_codes, preparation, run_folder, runs
    from nmt.program import parent as parents
    from nmt.program.loading import build_transformer, load_translator
    from nmt.results import evaluation
    from nmt.text import batches as batching
    from nmt.text import corpora
    from nmt.text.corpora import load_corpus
    from nmt.text.tokenizer import Tokenizer, train_tokenizer
    from nmt.training import checkpoints, cluster, devices, progress
    from nmt.training.averaging import average, value_to_improve, value_to_minimize
    from nmt.training.optimizer import Adam, Updater, check_size, dense
    from nmt.training.progress import Progress, metrics_text

__all__ = [  # for use from Python and in the notebook
    "Tokenizer", "Training", "build_transformer", "load_corpus", "load_translator", "main", "train",
    "train_tokenizer",
]  # fmt: skip

KEPT_CHECKPOINTS = 3  # of the newest epochs, at least; more if more are averaged
REFRESH_STEPS = 20  # between two updates of the progress bar, each of which waits for the device
TENSORBOARD_SAMPLES = 3  # validation sentences whose translations are logged after each epoch


# ---- Training: the step, on one device or several ----


class Training:
    """A Transformer, its optimizer, and the step that improves it.

    Args:
      options: values of params.table() by name; `data_path` is the name of the corpus, and `xla` is
        "on" or "off" ("auto" counts as off).
      vocab_size: vocabulary entries, shared by both languages.
      strategy: the tf.distribute.Strategy of the devices.
      parts: number of parts that a device's share of a batch is split into, computed in parallel.
      workers: the cluster.Cluster that the strategy spans.
      plain: compute with transformer_model.py alone, not with the engine of nmt/network/.

    Raises:
      UserError: the network cannot fit into memory.
    """

    def __init__(self, options, vocab_size, strategy, parts=1, workers=cluster.ALONE, plain=False):
        self.options, self.strategy, self.parts, self.workers = options, strategy, parts, workers
        self.vocab_size = vocab_size
        self.steps = tf.Variable(1, dtype=tf.int64)  # of the whole run; `fit` sets them
        check_size(options, vocab_size)
        with strategy.scope():
            self.transformer = build_transformer(options, vocab_size, plain)
            variables = self.transformer.trainable_variables
            self.optimizer = Adam(options, self.steps)
            self.optimizer.build(variables)
            self.updater = Updater(
                self.optimizer, variables, options["accumulate"], options["clip_norm"]
            )
        xla = options["xla"] == "on"
        self.forward = (
            PlainForward(self.transformer)
            if plain
            else ParallelForward(self.transformer, parts, static_shapes=xla)
        )
        if xla:
            self.loss_and_gradients = tf.function(self.loss_and_gradients, jit_compile=True)
        self.epoch = tf.Variable(0)  # finished epochs
        self.history = []  # their metrics
        self.position = tf.Variable(0)  # batches of the current epoch that are done
        self.sums_so_far = tf.Variable(tf.zeros(3, tf.float64))  # their `token_sums`
        self.progress = Progress(self)
        # As of loading.TrainedModel, for evaluation.translator; the weights still change.
        self.fixed, self.translators, self.ensemble = False, {}, ()
        self.checkpoint = tf.train.Checkpoint(
            # One by one, as a list: TensorFlow would not save the layers that Keras keeps in lists,
            # nor the state of dropout's random numbers.
            model=[variable.value for variable in self.transformer.variables],
            optimizer=self.optimizer,
            epoch=self.epoch,
            position=self.position,
            sums=self.sums_so_far,
            steps=self.steps,
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
        sums, gradients = self.loss_and_gradients(inp, tar)
        totals = self.updater.accumulate(gradients, sums.tokens)
        if update:
            self.updater.apply(totals)
        return sums

    def loss_and_gradients(self, inp, tar):
        """Returns the `token_sums` of ids (B, S), (B, T), and the gradients of their loss."""
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1): each token predicts the next
        if self.options["non_autoregressive"]:
            seed = self.updater.batch_seed(self.options["seed"])
            tar_inp, tar_real = non_autoregressive.mask_targets(inp, tar_real, seed)
        with tf.GradientTape() as tape:
            predictions = self.forward.predict((inp, tar_inp), training=True)
            sums = self.forward.token_sums(tar_real, predictions, self.options["label_smoothing"])
        gradients = tape.gradient(sums.loss, self.transformer.trainable_variables)
        return sums, dense(gradients)

    def sums(self, inp, tar):
        """Returns the `token_sums` of one device's share of a batch, without dropout."""
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]
        if self.options["non_autoregressive"]:
            tar_inp, tar_real = non_autoregressive.mask_targets(inp, tar_real)
        predictions = self.forward.predict((inp, tar_inp))
        return self.forward.token_sums(tar_real, predictions)

    @tf.function
    def validation_step(self, inp, tar):
        """Returns the `token_sums` of one global batch, without dropout and without learning."""
        return devices.run_and_sum(self.strategy, self.sums, inp, tar)

    def loss_and_accuracy(self, pairs, tokenizer):
        """Returns the mean loss in nats, and the accuracy, of all real target tokens of `pairs`."""
        replicas = self.strategy.num_replicas_in_sync
        batches = batching.evaluation_batches(pairs, tokenizer, replicas)
        batches = devices.distribute(self.strategy, batches)
        self.validation_step.get_concrete_function(*batches.element_spec)  # one trace
        started, totals = time.perf_counter(), np.zeros(3)
        for inp, tar in batches:
            totals += self.validation_step(inp, tar).numpy()
        self.progress.validation_seconds = time.perf_counter() - started
        loss, hits, tokens = totals
        return loss / tokens, hits / tokens

    # ---- Epochs ----

    def steps_per_epoch(self, batches):
        """Returns the number of optimizer steps for a pass over `batches`."""
        return -(-batches.steps // self.options["accumulate"])

    def train_epoch(self, batches, steps, title, keeper=None):
        """Trains on the batches of an epoch from `position` on. Returns real tokens per second.

        Args:
          batches: of the whole epoch.
          steps: their number.
          title: of the progress bar.
          keeper: a checkpoints.Keeper, asked after each step whether to save.

        Raises:
          UserError: the loss is NaN or infinite.
        """
        first, accumulate = int(self.position), self.options["accumulate"]
        if not first:
            self.sums_so_far.assign(tf.zeros(3, tf.float64))
        batches = devices.distribute(self.strategy, batches.skip(first))
        self.train_step.get_concrete_function(*batches.element_spec)  # one trace for all shapes
        if accumulate > 1:
            self.accumulate_step.get_concrete_function(*batches.element_spec)
        with self.progress.epoch(title, steps) as bar:
            for number, (inp, tar) in enumerate(batches, start=first + 1):
                complete = number % accumulate == 0 or number == steps
                step = self.train_step if complete else self.accumulate_step
                bar.add(step(inp, tar))
                refresh = number % REFRESH_STEPS == 0 or number == steps
                may_save = keeper is not None and complete and number < steps
                due = may_save and (refresh or self.workers.alone) and keeper.is_due()
                if refresh or due:
                    bar.refresh(number)  # `position` and `sums_so_far` advance, too
                if due:
                    keeper.save(keeper.run.timed, int(self.optimizer.iterations.numpy()))
                    self.progress.save_seconds(keeper.run)
                    keeper.leave()
            return bar.tokens_per_second

    def fit(self, keeper, corpus, tokenizer, batches):
        """Trains until `finished`, from the newest checkpoint of the run if there is one.

        Each epoch ends with a checkpoint, then validation; the best so far is also saved in best/.

        Args:
          keeper: the checkpoints.Keeper of the run.
          corpus: a corpora.Corpus.
          tokenizer: its Tokenizer.
          batches: the batches.Batches to train on.
        """
        run, epochs = keeper.run, self.options["epochs"]
        self.workers.barrier()  # until the chief has written, so that all find the same
        if newest := keeper.restore_newest():
            within = f" and {plural(int(self.position), 'batch')}" if int(self.position) else ""
            log.info(f"Resuming from {newest}: {plural(int(self.epoch), 'epoch')}{within} done.")
        if int(self.epoch) > epochs:
            log.info(f"Already trained for {int(self.epoch)} epochs; --epochs is {epochs}.")
        progress.drop_later_events(
            run.logs, int(self.optimizer.iterations.numpy()) if newest else -1
        )
        self.steps.assign(self.steps_per_epoch(batches) * epochs)
        self.history = [row for row in run.history() if row["epoch"] <= int(self.epoch)]
        self.recover_best(keeper, corpus, tokenizer, newest)
        preparation.announce_rest(run, corpus, self, batches)
        self.progress.begin(run)
        if not int(self.position) and not self.is_validated():  # validation was interrupted
            self.end_epoch(keeper, corpus, tokenizer)
        while not self.finished:
            epoch = int(self.epoch) + 1
            if not int(self.position):
                self.progress.begin_epoch()
            rate = self.train_epoch(
                batches.epoch(self.options["buffer_size"], self.options["seed"] + epoch),
                batches.steps,
                f"Epoch {epoch}/{epochs}",
                keeper,
            )
            self.position.assign(0)
            self.epoch.assign(epoch)
            keeper.save(run.checkpoints, epoch)  # an error in validation then loses nothing
            self.progress.save_seconds(run)
            keeper.is_due()  # all workers agree on a signal that one received, and leave
            keeper.leave()
            self.end_epoch(keeper, corpus, tokenizer, rate)
        if int(self.epoch) < epochs:
            log.info(
                f"Stopped after epoch {int(self.epoch)}: the best validation is that of epoch "
                f"{self.best_epoch} (--patience {self.options['patience']})."
            )

    @property
    def best_epoch(self):
        """The number of the epoch with the best validation; the first of equal ones."""
        return min(self.history, key=value_to_minimize)["epoch"]

    @property
    def finished(self):
        """Whether all epochs are done, or too many in a row did not improve validation."""
        epoch, patience, waited = int(self.epoch), self.options["patience"], 0
        if self.history:
            improved = min(self.history, key=value_to_improve)
            waited = epoch - improved["epoch"]
        return epoch >= self.options["epochs"] or 0 < patience <= waited

    def is_validated(self):
        """Returns whether the last finished epoch has its metrics, or there is no such epoch."""
        known = any(row["epoch"] == int(self.epoch) for row in self.history)
        return known or not float(self.sums_so_far[2])

    def validate(self, corpus, tokenizer):
        """Returns the metrics of the validation split, by name."""
        loss, accuracy = self.loss_and_accuracy(corpus.validation, tokenizer)
        metrics = dict(val_loss=loss, val_accuracy=accuracy)
        if self.options["validate_by"] == "bleu":
            self.translations_of(corpus.validation.take(1), tokenizer)  # one trace
            started = time.perf_counter()
            bleu = evaluation.validation_bleu(self, tokenizer, corpus.validation)
            metrics["val_bleu"] = self.workers.broadcast(bleu)  # all must choose the same epoch
            self.progress.translation_seconds = time.perf_counter() - started
        return metrics

    def translations_of(self, pairs, tokenizer):
        """Returns (source, reference, greedy translation) of each of a few `pairs`."""
        sources, references = evaluation.texts(pairs)
        translations = evaluation.translator(self, tokenizer)(sources)
        return list(zip(sources, references, translations, strict=True))

    def metrics_of_epoch(self, corpus, tokenizer, rate=None):
        """Validates the newest epoch. Returns its row of the history; `rate` as of `end_epoch`."""
        loss, hits, tokens = self.sums_so_far.numpy()
        metrics = self.validate(corpus, tokenizer)
        return dict(
            epoch=int(self.epoch), loss=loss / tokens, accuracy=hits / tokens, **metrics,
            tokens_per_second=rate, learning_rate=float(self.optimizer.learning_rate),
            seconds=self.progress.epoch_seconds, ended=time.time(),
        )  # fmt: skip

    def recover_best(self, keeper, corpus, tokenizer, newest):
        """Validates the epoch in best/ if its metrics are lost, so that none worse replaces it.

        Args:
          keeper, corpus, tokenizer: as of `fit`.
          newest: the path of the checkpoint that was restored; None without any.
        """
        now = int(self.epoch), int(self.position)
        known = [row["epoch"] for row in self.history]
        best = [
            path
            for path in checkpoints.paths(keeper.run.best)[-1:]
            if checkpoints.number(path) not in known and (checkpoints.number(path), 0) < now
        ]
        if not (newest and best):
            return
        for path in checkpoints.readable(self.checkpoint, best):
            log.info(f"Validating {path}: history.json does not hold its metrics.")
            row = self.metrics_of_epoch(corpus, tokenizer) | dict(seconds=0.0)
            self.history = sorted([*self.history, row], key=lambda row: row["epoch"])
            keeper.run.write("history.json", self.history)
        checkpoints.restore(self.checkpoint, newest)

    def end_epoch(self, keeper, corpus, tokenizer, rate=None):
        """Validates an epoch that was trained and saved, and keeps its metrics.

        Args:
          keeper, corpus, tokenizer: as of `fit`.
          rate: tokens per second of its training; None if before a restart.
        """
        run, epoch, epochs = keeper.run, int(self.epoch), self.options["epochs"]
        row = self.metrics_of_epoch(corpus, tokenizer, rate)
        self.progress.warn_of_loss(f"Epoch {epoch}/{epochs}, validation", row["val_loss"])
        self.history.append(row)
        if self.best_epoch == epoch:
            keeper.save(run.best, epoch)
        run.write("history.json", self.history)
        metrics = {name: value for name, value in row.items() if name.startswith("val_")}
        named = {name.removeprefix("val_"): value for name, value in metrics.items()}
        self.progress.log("validation", **named)
        samples = corpus.validation.take(TENSORBOARD_SAMPLES)
        self.progress.log_translations(self.translations_of(samples, tokenizer))
        test_share = len(corpus.test) / len(corpus.validation)
        left = self.progress.time_left(epochs - epoch, test_share)
        speed = f"; {rate:,.0f} tokens/s, {row['seconds']:.0f} s" if rate else ""
        log.info(
            f"Epoch {epoch}/{epochs}: loss {row['loss']:.3f}, accuracy {row['accuracy']:.3f}; "
            f"validation {metrics_text(row)}{speed}{left}"
        )
        keeper.is_due()
        keeper.leave()


# ---- A run, step by step ----


def train(args):
    """Trains, evaluates, translates samples and draws all pictures; resumes a run begun earlier.

    Args:
      args: the parsed command line; see nmt/program/command_line.py.
    """
    from nmt.results import scores  # noqa: F401  # fails before training if missing
    from nmt.results.pictures import RunPictures

    # 1. The options, the devices, and the run folder.
    devices.run_plainly(args)
    resumed = preparation.saved_options(args)
    source, name, named = preparation.named_source(args, resumed)
    before = run_folder.Run(args.run or runs.default(name))
    saved = before.saved
    parent = parents.find(args, resumed, before)
    options = preparation.training_options(args, resumed, parent)
    keras.utils.set_random_seed(options["seed"])  # before a tokenizer exists: it resets their state
    if options["xla"] == "auto":  # decided once, on the machine on which a run begins
        options["xla"] = saved.get("xla") or ("on" if devices.gpus()[0] else "off")
    workers = cluster.configured()
    strategy, parts = devices.find(options["xla"] == "on", workers, saved.get("parts"))

    # 2. The corpus: the chief downloads it, then the other workers read it.
    corpus = workers.in_turn(lambda: load_corpus(source, options["seed"], not named))
    preparation.complete(source, corpus, named)
    options["data_path"] = corpus.name
    own = None if workers.chief else cluster.folder()
    run = run_folder.Run(args.run or runs.default(name if named else corpus.name), own=own)
    run.lock()
    args.resume = preparation.resuming_command(args, source, named)
    options["tokenize"] = preparation.tokenizer_of_bleu(args, options, run, source, corpus)
    log.info(f"Corpus: {corpus.name}. Run folder: {run.path}")

    # 3. The vocabulary: learned, or that of the run to begin with.
    tokenizer = preparation.vocabulary(run, workers, corpus, options, parent)

    # 4. What identifies the run: a resumed one must be the same.
    hashes = {split: corpora.fingerprint(pairs) for split, pairs in corpus.splits().items()}
    identity = run.claim(options, source, parts, parent, **hashes, tokenizer=tokenizer.sha256)
    preparation.check_same(identity, workers)

    # 5. Network, optimizer and batches.
    training = Training(options, tokenizer.vocab_size, strategy, parts, workers, args.plain)
    if args.no_plots:
        training.progress.picture_seconds = 0
    if parent:  # a checkpoint of this run, if there is one, is restored over them
        parent.initialize(training.transformer)
        parent.warn_of_held_out(source, hashes["train"])
    run.remove_cache()  # of a process that was killed
    replicas = strategy.num_replicas_in_sync
    batches = batching.training_batches(options, corpus, tokenizer, replicas, run.cache)
    preparation.announce(args, run, options, corpus, tokenizer, training, batches)

    # 6. Training.
    kept = max(KEPT_CHECKPOINTS, options["average"])
    minutes = options["checkpoint_minutes"]
    with checkpoints.Keeper(training.checkpoint, run, kept, minutes, workers) as keeper:
        training.fit(keeper, corpus, tokenizer, batches)

    # 7. Averaging, of the newest checkpoints.
    average(
        training.checkpoint, training.transformer.trainable_variables, keeper, options["average"],
        lambda: training.validate(corpus, tokenizer),
    )  # fmt: skip

    # 8. Evaluation, on the test split; 9. the report; 10. pictures.
    found, rows = evaluation.evaluate(training, tokenizer, corpus)
    unprinted = None
    if workers.chief:
        unprinted = evaluation.report(run, corpus, training, found, rows)
        if not args.no_plots:
            RunPictures(run, training, tokenizer, rows[0][0], lambda: batches).draw_all()
        preparation.suggest_commands(run, rows[0][0])
    workers.barrier()  # a worker that ends before the others counts as lost
    if unprinted:
        raise unprinted


def main(arguments):
    """Runs one command. Returns the exit code of the process."""
    return exit_codes.run(
        arguments, lambda args: train if args.command == "train" else vars(commands)[args.command]
    )


if __name__ == "__main__":
    startup.catch_interrupts()
    sys.exit(main(sys.argv[1:]))
