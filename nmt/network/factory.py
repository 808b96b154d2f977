"""The network of a run and its forward pass: which of story, engine and variants compute it."""

import dataclasses

import tensorflow as tf

import transformer_model
from nmt.network.engine import ParallelForward, accelerate
from nmt.network.keras_layers import dtype_policy_scope
from nmt.network.loss import TokenSums
from nmt.network.variants import Variant, network_of
from nmt.options import Options
from transformer_model import PAD, Transformer


@dataclasses.dataclass(frozen=True)
class PlainForward:
    """The forward pass, the loss and the accuracy of the story (`--plain`)."""

    transformer: Transformer

    def token_sums(
        self, inputs: tuple[tf.Tensor, tf.Tensor], real: tf.Tensor, *, training: bool = False
    ) -> TokenSums:
        """Ids (B, S), (B, T) and those to predict (B, T) -> TokenSums."""
        predictions, _ = self.transformer(inputs, training=training)  # (B, T, V)
        tokens = tf.reduce_sum(tf.cast(real != PAD, tf.float32))
        loss = transformer_model.loss_function(real, predictions)
        accuracy = transformer_model.accuracy_function(real, predictions)
        return TokenSums(loss * tokens, accuracy * tokens, tokens)


# What training and scoring use of a network.
ForwardPass = PlainForward | ParallelForward


def build_transformer(
    options: Options, vocab_size: int, plain: bool = False, target_vocab_size: int | None = None
) -> Transformer:
    """Returns a Transformer of the sizes in `options`, with newly initialized weights.

    A plain one is left as the story has it; otherwise engine.py accelerates it. Without
    `target_vocab_size` both languages share one vocabulary.
    """
    with dtype_policy_scope("mixed_bfloat16" if options.mixed_precision else "float32"):
        transformer = network_of(
            Variant(**{name: getattr(options, name) for name in Variant._fields}),
            num_layers=options.num_layers,
            d_model=options.d_model,
            num_heads=options.num_heads,
            dff=options.dff,
            input_vocab_size=vocab_size,
            target_vocab_size=target_vocab_size or vocab_size,
            rate=options.dropout_rate,
        )
    transformer.build(((None, None), (None, None)))
    return transformer if plain else accelerate(transformer)


def forward_pass(
    transformer: Transformer, parts: int = 1, plain: bool = False, static_shapes: bool = False
) -> ForwardPass:
    """Returns the forward pass of a Transformer that `build_transformer` has made.

    Parts of a batch are computed in parallel; XLA needs static shapes.
    """
    if plain:  # a call of the network, as it stands
        return PlainForward(transformer)
    return ParallelForward(transformer, parts, static_shapes)
