"""Trains a translator as the tutorial does: data, network, optimizer, step, epochs, translation.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --plain                       train with network and step as written here
    python run_demo.py --train a.src a.tgt           train on your own files, aligned line by line
    python run_demo.py translate "Bom dia."          translate a sentence; a file: translate < FILE

The network itself is in transformer_model.py, the settings are in params.py. Without --plain,
faster versions of both network and step (nmt/network/engine.py, nmt/training/step.py) take over,
with the same results (tested); --plain refuses settings that the tutorial lacks, such as
--pre-norm. Everything that training writes goes to a run folder, `runs/<dataset>`.
"""

import sys

from nmt.cli import main as command_line

# As a script, this file ends here, before the slow import of TensorFlow. nmt/cli/main.py reads the
# command line and, to train, imports this file as a module and calls `train`.
if __name__ == "__main__":
    sys.exit(command_line.start(sys.argv[1:]))

import keras
import tensorflow as tf

from nmt.network.factory import build_transformer
from nmt.results import evaluation
from nmt.runs.loading import load_translator
from nmt.runs.session import Tokenizer, load_corpus, prepare, train_tokenizer
from nmt.training.optimizer import Adam  # Keras's; adds a token's gradients, then squares
from transformer_model import CustomSchedule, Transformer, accuracy_function, loss_function

__all__ = [  # for notebooks
    "Step", "Tokenizer", "build_transformer", "load_corpus", "load_translator", "main",
    "new_network", "train", "train_tokenizer",
]  # fmt: skip


# ---- Network and optimizer ----


def new_network(options, tokenizer):
    """Returns a new Transformer and its optimizer, with the settings in `options`."""
    transformer = Transformer(
        num_layers=options.num_layers, d_model=options.d_model, num_heads=options.num_heads,
        dff=options.dff, input_vocab_size=tokenizer.vocab_size,
        target_vocab_size=tokenizer.target.vocab_size,  # the same, if both sides share a vocabulary
        rate=options.dropout_rate,
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
    """The tutorial's training step: a Transformer, its optimizer, and two metrics.

    Shapes in comments: B sentences, S and T tokens of source and target, V vocabulary entries.
    """

    def __init__(self, transformer, optimizer):
        self.transformer, self.optimizer = transformer, optimizer
        self.train_loss = keras.metrics.Mean(name="train_loss")
        self.train_accuracy = keras.metrics.Mean(name="train_accuracy")

    @tf.function(reduce_retracing=True)  # avoids a new graph for every length
    def train_step(self, inp, tar):
        """Updates the weights once, from ids: sources `inp` (B, S) and targets `tar` (B, T + 1)."""
        tar_inp = tar[:, :-1]  # (B, T), what the decoder reads (teacher forcing)
        tar_real = tar[:, 1:]  # (B, T), what it must predict: the token after each of those

        with tf.GradientTape() as tape:
            predictions, _ = self.transformer((inp, tar_inp), training=True)  # (B, T, V)
            loss = loss_function(tar_real, predictions)

        variables = self.transformer.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True))

        self.train_loss(loss)
        self.train_accuracy(accuracy_function(tar_real, predictions))


# ---- A run ----


def train(request):
    """Trains, evaluates, translates samples and draws pictures; resumes a run begun earlier.

    Args:
      request: what to train, and how: a TrainingRequest (nmt/runs/request.py).
    """
    # Loads the corpus, loads or learns the vocabulary, locks the folder (nmt/runs/session.py).
    with prepare(request) as session:
        if session.is_complete:  # only its scores are printed again
            session.report_complete()
            return

        # ---- Data: pairs of sentences, a tokenizer, batches of ids (nmt/corpus, nmt/text) ----
        options, corpus, tokenizer = session.options, session.corpus, session.tokenizer
        batches = session.batches()  # of pairs of about equal length, shuffled anew for each epoch

        # ---- Network, optimizer and step ----
        if request.plain:
            transformer, optimizer = new_network(options, tokenizer)
            step = Step(transformer, optimizer)
        else:
            step = session.fast_step()  # with a network and an optimizer of its own

        # ---- Training, from the newest checkpoint on (nmt/training/loop.py) ----
        with session.epochs(step, batches) as epochs:
            for epoch in epochs:  # it reports, saves and validates after each
                for inp, tar in epoch.batches:  # ids (B, S), (B, T + 1)
                    step.train_step(inp, tar)

        # The average of the last epochs' weights, or the best epoch's: whichever validates better.
        model = session.final_model(epochs)

        # ---- Translating the test split, with --plain, too, by the search of nmt/decoding ----
        translations = evaluation.translate_test(model, tokenizer, corpus)

        # ---- Scores: BLEU and others, printed with samples (nmt/results/scores.py) ----
        scores = evaluation.score_test(model, tokenizer, corpus, translations)
        session.report(model, scores, translations)

        # ---- Pictures of attention, curves and more (nmt/results/pictures.py) ----
        session.draw(model, translations, batches)


def main(arguments):
    """Runs one command, from Python; returns its exit code."""
    return command_line.main(arguments, train)
