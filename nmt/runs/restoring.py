"""Building the network of a run for TensorFlow, and restoring its weights."""

import keras
import tensorflow as tf

from nmt import UserError
from nmt.decoding.networks import Networks
from nmt.network.factory import build_transformer, forward_pass
from nmt.options import Options
from nmt.runs.weights import Weights
from nmt.text.tokenizer import Tokenizer
from nmt.training import checkpoints, devices
from nmt.training.named_state import NamedState
from nmt.training.run_folder import RunFolder


def new_networks(options: Options, tokenizer: Tokenizer, plain: bool = False) -> Networks:
    """Returns the Networks of a run, with newly initialized weights."""
    parts = devices.configure(mirrored=False).parts
    transformer = build_transformer(
        options, tokenizer.vocab_size, plain, tokenizer.target.vocab_size
    )
    epoch, steps = tf.Variable(0), tf.Variable(0, dtype=tf.int64)
    return Networks(transformer, forward_pass(transformer, plain=plain), parts, epoch, steps)


def save_final(run: RunFolder, network: keras.Model, epoch: int) -> None:
    """Writes the weights of a network into a new run folder, as those of an epoch without steps."""
    run.final.mkdir(parents=True)
    state = NamedState(network, epoch=tf.Variable(epoch), steps=tf.Variable(0, dtype=tf.int64))
    state.write(str(run.final / f"ckpt-{epoch}"))


def restored_networks(
    options: Options, tokenizer: Tokenizer, weights: Weights, plain: bool
) -> Networks:
    """Returns the Networks of a run, restored; a UserError if the checkpoint is damaged."""
    networks = new_networks(options, tokenizer, plain)
    state = NamedState(networks.transformer, epoch=networks.epoch, steps=networks.steps)
    try:
        checkpoints.restore(state, weights.path)
    except UserError as error:
        raise UserError(f"{error}, or choose another one by --checkpoint") from None
    return networks
