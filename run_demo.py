"""The program: load data -> tokenize -> batch -> train -> average -> evaluate -> draw.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --train a.src a.tgt           the same with your own aligned files
    python run_demo.py translate "Bom dia."          translate; or the lines of a file: < FILE

This file trains: a Training holds the network, its optimizer and the training step; `train` goes
through a run in ten steps. The epochs are in nmt/training/loop.py, the commands that use a trained
run in nmt/cli/, one file each. Everything goes to a run folder, `runs/<dataset>` (`--run` names
another; see nmt/training/run_folder.py).
"""

from __future__ import annotations

import functools
import sys

from nmt.cli import main as program

# As a program, this file is imported a second time, by nmt/cli/main.py, once the command line is
# read: a mistake in it is answered before TensorFlow is imported, which takes seconds.
if __name__ != "__main__":
    import tensorflow as tf

    from nmt.cli.session import Tokenizer, load_corpus, prepare, train_tokenizer
    from nmt.decoding.model import Model
    from nmt.decoding.networks import Networks
    from nmt.network.factory import build_transformer, forward_pass
    from nmt.network.loss import TokenSums
    from nmt.results import evaluation, validation
    from nmt.runs.loading import load_translator
    from nmt.training import averaging, cluster, devices, loop, schedules
    from nmt.training.named_state import NamedState
    from nmt.training.optimizer import Adam, Muon, SharedOptimizer, dense
    from transformer_model import CustomSchedule

__all__ = [  # for use from Python and in the notebook
    "Tokenizer", "Training", "build_transformer", "load_corpus", "load_translator", "main", "train",
    "train_tokenizer",
]  # fmt: skip


# ---- Training: the step, on one device or several ----


class Training:
    """A Transformer, its optimizer, and the step that improves it.

    `epochs.fit`, which repeats the step, saves and validates, is in nmt/training/loop.py:
    for each epoch, for each batch (inp, tar): `train_batch(inp, tar)`.

    Args:
      options: of the run; `data_path` is the name of the corpus, and `xla` is
        "on" or "off" ("auto" counts as off).
      vocab_size: vocabulary entries.
      strategy: the tf.distribute.Strategy of the devices.
      parts: number of parts that a device's share of a batch is split into, computed in parallel.
      workers: the cluster.Cluster that the strategy spans; None for this machine alone.
      plain: without the faster methods of nmt/network/engine.py; of a network as the paper has it,
        transformer_model.py then computes all.
      target_vocab_size: entries of the target's vocabulary; None if both languages share one.
    """

    def __init__(
        self, options, vocab_size, strategy, parts=1, workers=None, plain=False,
        target_vocab_size=None,
    ):  # fmt: skip
        self.options, self.vocab_size = options, vocab_size
        self.strategy, self.workers = strategy, workers or cluster.ALONE
        xla = options.xla == "on"
        with strategy.scope():
            # Steps of all epochs, for a schedule that ends; known once the batches are.
            self.total_steps = tf.Variable(1, dtype=tf.int64)
            self.transformer = build_transformer(options, vocab_size, plain, target_vocab_size)

            if options.schedule == "inverse-sqrt":  # the paper's
                learning_rate = CustomSchedule(
                    options.d_model, options.warmup_steps, options.learning_rate_scale
                )
            else:
                learning_rate = schedules.learning_rate(options, self.total_steps)
            optimizer = Adam(  # Keras's, for embeddings that are shared, too
                learning_rate, beta_1=options.adam_beta_1, beta_2=options.adam_beta_2,
                epsilon=options.adam_epsilon,
            )  # fmt: skip
            if options.optimizer == "muon":  # for matrices within layers; for the rest, as Adam
                optimizer = Muon(
                    learning_rate, optimizer, self.transformer, options.mixed_precision
                )
            # Adds up gradients over devices and accumulated batches, then applies them.
            self.optimizer = SharedOptimizer(
                optimizer, self.transformer.trainable_variables, options.accumulate,
                options.clip_norm, xla,
            )  # fmt: skip
        self.epochs = loop.Epochs(self)  # done so far
        self.forward = forward_pass(self.transformer, parts, plain, static_shapes=xla)
        # transformer_model.py's, or the engine's, which are tested to be equal.
        self.loss_function = functools.partial(
            self.forward.loss_function, label_smoothing=options.label_smoothing
        )
        self.accuracy_function = self.forward.accuracy_function
        self.compiled = devices.compiler(xla)  # a decorator
        self.train_batch = devices.spread(strategy, self.train_step)  # the tf.function
        networks = Networks(
            self.transformer, self.forward, parts, self.epochs.epoch, self.total_steps
        )
        self.model = Model(options, lambda: networks)  # to translate with and to score
        self.validator = validation.Validator(self.model, strategy, self.workers)
        self.checkpoint = NamedState(  # all that a resumed run needs
            self.transformer, optimizer, epoch=self.epochs.epoch, position=self.epochs.position,
            sums=self.epochs.sums_so_far, steps=self.total_steps,
        )  # fmt: skip

    def train_step(self, inp, tar, ends_step=True):
        """Learns from one share of a batch, ids (B, S) and (B, T). Returns its TokenSums.

        Each device has a share, and `devices.spread` adds up what they return. The optimizer adds
        up the gradients of all shares, over devices and accumulated batches, and divides them by
        their tokens, once: the loss of a step is the mean over all its real tokens.

        Args:
          ends_step: False for a batch that others follow in the same step (--accumulate).
        """
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1): each token predicts the next
        variables = self.transformer.trainable_variables

        @self.compiled  # by XLA, if that is on; what devices exchange stays outside
        def loss_and_gradients(inp, tar_inp, tar_real):
            with tf.GradientTape() as tape:
                predictions = self.forward.predict((inp, tar_inp), training=True)
                loss = self.loss_function(tar_real, predictions)  # (): the mean over real tokens
            accuracy = self.accuracy_function(tar_real, predictions)
            tokens = self.forward.tokens(tar_real, predictions)
            # tokens * d(mean) / dv = d(sum) / dv: gradients of shares can be added up.
            gradients = tape.gradient(loss, variables, output_gradients=tokens)
            return loss, accuracy, tokens, dense(gradients)  # as tensors, those of embeddings too

        loss, accuracy, tokens, gradients = loss_and_gradients(inp, tar_inp, tar_real)
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True), tokens, ends_step)

        train_loss = loss * tokens  # sums: an epoch's mean is their sum over all tokens
        train_accuracy = accuracy * tokens
        return TokenSums(train_loss, train_accuracy, tokens)


# ---- A run, step by step ----


def train(args):
    """Trains, evaluates, translates samples and draws all pictures; resumes a run begun earlier.

    Args:
      args: the parsed command line; see nmt/cli/train.py.
    """
    # 1. What a run is made of: folder, options, corpus, vocabulary, devices; nmt/cli/session.py.
    with prepare(args) as session:  # which reserves the run folder until the end
        corpus, tokenizer, options = session.corpus, session.tokenizer, session.options
        if session.is_complete:
            session.report_complete()
            return

        # 2. Network and optimizer.
        training = Training(
            options, tokenizer.vocab_size, session.devices.strategy, session.devices.parts,
            session.workers, args.plain, tokenizer.target.vocab_size,
        )  # fmt: skip

        # 3. Weights: those of another run, if this one begins with it (--from).
        session.initialize(training.transformer)

        # 4. Batches of pairs of about equal length.
        batches = session.batches()

        # 5. Epochs, from the newest checkpoint on: for each batch a step; each is saved and
        # validated.
        with session.keeper(training.checkpoint) as keeper:
            epochs = training.epochs
            epochs.fit(
                keeper, corpus, tokenizer, batches, lambda: session.announce(epochs, batches)
            )

        # 6. The final weights: the mean of the newest checkpoints, if it validates best.
        validation_metrics = averaging.average(
            training.checkpoint, training.transformer.trainable_variables, keeper, options.average,
            lambda: training.validator.validate(corpus, tokenizer, training.epochs.times),
        )  # fmt: skip
        session.write_validation(validation_metrics)
        session.convert(training.model)  # for CTranslate2, which translates on a CPU
        session.calibrate(training.model)  # how sure it is of a translation

        # 7. Translating and scoring the test split.
        scores, lines = evaluation.evaluate(training.model, tokenizer, corpus)

        # 8. The report: scores and translations, on stdout and in the run folder. That stdout is
        # closed is an error only at the end: the other machines wait.
        error = session.report(training.model, scores, lines)

        # 9. Pictures, and what to do next.
        session.draw(training.model, lines, batches)

        # 10. The end, for all machines that train together.
        session.end(error)


def main(arguments):
    """Runs one command, from Python. Returns the exit code of the process."""
    return program.main(arguments, train)


if __name__ == "__main__":
    sys.exit(program.start(sys.argv[1:]))
