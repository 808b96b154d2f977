"""The program, in the order of the tutorial: data, network, optimizer, training, translating.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --train a.src a.tgt           the same with your own aligned files
    python run_demo.py translate "Bom dia."          translate; or the lines of a file: < FILE

This file trains. `Step` is the tutorial's training step and `train` a whole run. With --plain they
run as they stand here; without it, `fast_step` has an equal network and step that are faster and
can do more (nmt/training/step.py). The commands that use a trained run are in nmt/cli/, one file
each. Everything goes to a run folder, `runs/<dataset>` (nmt/training/run_folder.py).
"""

import sys

from nmt.cli import main as program

# As a program, this file goes no further: a mistake in the command line is answered at once, before
# TensorFlow is imported, which takes seconds. To train, nmt/cli/main.py imports the file.
if __name__ == "__main__":
    sys.exit(program.start(sys.argv[1:]))

import keras
import tensorflow as tf

from nmt.network.factory import build_transformer
from nmt.results import evaluation
from nmt.runs.loading import load_translator
from nmt.runs.session import Tokenizer, load_corpus, prepare, train_tokenizer
from nmt.training.optimizer import Adam
from transformer_model import CustomSchedule, Transformer, accuracy_function, loss_function

__all__ = [  # for use from Python and in the notebook
    "Step", "Tokenizer", "build_transformer", "load_corpus", "load_translator", "main", "train",
    "train_tokenizer",
]  # fmt: skip


# ---- Network and optimizer ----


def new_network(options, tokenizer):
    """Returns the tutorial's network and its optimizer, of the sizes that `options` name."""
    transformer = Transformer(
        num_layers=options.num_layers, d_model=options.d_model, num_heads=options.num_heads,
        dff=options.dff, input_vocab_size=tokenizer.vocab_size,
        target_vocab_size=tokenizer.target.vocab_size, rate=options.dropout_rate,
    )  # fmt: skip
    learning_rate = CustomSchedule(
        options.d_model, options.warmup_steps, options.learning_rate_scale
    )
    optimizer = Adam(
        learning_rate, beta_1=options.adam_beta_1, beta_2=options.adam_beta_2,
        epsilon=options.adam_epsilon,
    )  # fmt: skip
    return transformer, optimizer


# ---- The training step ----


class Step:
    """The tutorial's training step: a Transformer, its optimizer, and two metrics."""

    def __init__(self, transformer, optimizer):
        self.transformer, self.optimizer = transformer, optimizer
        self.train_loss = keras.metrics.Mean(name="train_loss")
        self.train_accuracy = keras.metrics.Mean(name="train_accuracy")

    @tf.function(reduce_retracing=True)  # one graph for batches of all lengths
    def train_step(self, inp, tar):
        """Learns from a batch of ids (B, S) and (B, T)."""
        tar_inp = tar[:, :-1]  # (B, T - 1), what the decoder reads
        tar_real = tar[:, 1:]  # (B, T - 1), what it is to predict: the next token of each

        with tf.GradientTape() as tape:
            predictions, _ = self.transformer((inp, tar_inp), training=True)  # (B, T - 1, V)
            loss = loss_function(tar_real, predictions)

        variables = self.transformer.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True))

        self.train_loss(loss)
        self.train_accuracy(accuracy_function(tar_real, predictions))


# ---- A run ----


def train(request):
    """Trains, evaluates, translates samples and draws all pictures; resumes a run begun earlier.

    Args:
      request: all that is asked of it, a TrainingRequest (nmt/runs/request.py).
    """
    with prepare(request) as session:  # which reserves the run folder until the end
        if session.is_complete:
            session.report_complete()
            return

        # ---- Data: pairs of sentences, a vocabulary for both languages, batches of ids ----
        options, corpus, tokenizer = session.options, session.corpus, session.tokenizer
        batches = session.batches()

        # ---- Network, optimizer, step: those above, or the faster ones that are equal ----
        step = Step(*new_network(options, tokenizer)) if request.plain else session.fast_step()

        # ---- Training: from the newest checkpoint on; each epoch is saved and validated ----
        with session.epochs(step, batches) as epochs:
            for epoch in epochs:
                for inp, tar in epoch.batches:  # ids (B, S), (B, T)
                    step.train_step(inp, tar)

        model = session.final_model(epochs)  # the mean of the newest epochs, if it validates best

        # ---- Translating the test split: one token after the other, each the likeliest ----
        lines = evaluation.translate_test(model, tokenizer, corpus)

        # ---- Scores: BLEU and others, on stdout with samples, and in the run folder ----
        scores = evaluation.score_test(model, tokenizer, corpus, lines)
        session.report(model, scores, lines)

        # ---- Pictures, and what to do next ----
        session.draw(model, lines, batches)


def main(arguments):
    """Runs one command, from Python. Returns the exit code of the process."""
    return program.main(arguments, train)
