"""The architecture of a Transformer, from its real layers: blocks, sizes, parameters."""

from collections.abc import Callable
from typing import NamedTuple

import keras

from nmt.network.variants import sizes_of, variant_of
from transformer_model import Decoder, Encoder, MultiHeadAttention, Transformer

Say = Callable[..., str]  # an English text and what fills its gaps -> the text in a language


class Block(NamedTuple):
    """A box of the page's map."""

    kind: str  # embedding, positions, attention, norm, ffn or output
    title: str
    detail: str
    parameters: int  # of one such block
    layers: int = 0  # that have such a block; 0: it stands outside of them
    shared: str = ""  # with what its parameters are shared, which counts them
    keys_from_encoder: bool = False  # cross-attention


class _Blocks(NamedTuple):
    transformer: Transformer
    layers: int  # of the stack
    say: Say

    def embedding(
        self, title: str, embedding: keras.layers.Embedding, vocab_size: int, shared: str = ""
    ) -> list[Block]:
        """Returns the Blocks of an embedding and its positions."""
        sizes, say = sizes_of(self.transformer), self.say
        text = "{vocabulary:,} × {width}, output times √{width}"
        detail = say(text, vocabulary=vocab_size, width=sizes["d_model"])
        waves = "sines and cosines; then dropout {rate:g}" if sizes["rate"] else "sines and cosines"
        return [
            Block("embedding", title, detail, embedding.count_params(), shared=shared),
            Block("positions", say("+ positional encoding"), say(waves, rate=sizes["rate"]), 0),
        ]

    def attention(
        self,
        title: str,
        mha: MultiHeadAttention,
        norm: keras.layers.Layer,
        keys_from_encoder: bool = False,
    ) -> list[Block]:
        """Returns the Blocks of an attention and its normalization."""
        sizes = sizes_of(self.transformer)
        heads, depth = sizes["num_heads"], sizes["d_model"] // sizes["num_heads"]
        text = "{heads} heads: softmax(q · k / √{depth}) v"
        detail = self.say(text, heads=heads, depth=depth)
        block = Block(
            "attention", title, detail, mha.count_params(), self.layers,
            keys_from_encoder=keys_from_encoder,
        )  # fmt: skip
        return self._with_normalization(block, norm)

    def feed_forward(self, ffn: keras.Model, norm: keras.layers.Layer) -> list[Block]:
        """Returns the Blocks of a feed-forward network and its normalization."""
        sizes = sizes_of(self.transformer)
        text = "{width} → {inner:,} → {width}, {activation}"
        activation = "ReLU" if variant_of(self.transformer).activation == "relu" else "Swish"
        detail = self.say(text, width=sizes["d_model"], inner=sizes["dff"], activation=activation)
        block = Block("ffn", self.say("Feed-forward"), detail, ffn.count_params(), self.layers)
        return self._with_normalization(block, norm)

    def end(self, stack: Encoder | Decoder) -> list[Block]:
        """Returns the Block of the normalization that ends a stack, if there is one."""
        if not variant_of(self.transformer).pre_norm:
            return []
        return [Block("norm", self.say("Layer normalization"), "", stack.layernorm.count_params())]

    def output(self, shared: str) -> list[Block]:
        """Returns the Blocks of the logits and the softmax."""
        sizes, final_layer = sizes_of(self.transformer), self.transformer.final_layer
        detail = f"{sizes['d_model']} → {sizes['target_vocab_size']:,}"
        parameters = 0 if sizes["tie_embeddings"] else final_layer.count_params()
        return [
            Block("output", self.say("Linear"), detail, parameters, shared=shared),
            Block("output", self.say("Softmax"), "", 0),
        ]

    def _with_normalization(self, block: Block, norm: keras.layers.Layer) -> list[Block]:
        title = self.say("Layer normalization")
        layer_norm = Block("norm", title, "", norm.count_params(), self.layers)
        pre_norm = variant_of(self.transformer).pre_norm
        return [layer_norm, block] if pre_norm else [block, layer_norm]


def blocks(transformer: Transformer, say: Say = str.format) -> tuple[list[Block], list[Block]]:
    """Returns the Blocks of encoder and decoder, from the input upwards."""
    sizes = sizes_of(transformer)
    in_encoder = _Blocks(transformer, sizes["num_layers"], say)
    in_decoder = _Blocks(transformer, sizes["decoder_layers"], say)
    encoder, decoder = transformer.encoder, transformer.decoder
    enc_layer, dec_layer = encoder.enc_layers[0], decoder.dec_layers[0]
    shared = say("shared with source embedding") if sizes["tie_embeddings"] else ""
    encoder_blocks = [
        *in_encoder.embedding(
            say("Source embedding"), encoder.embedding, sizes["input_vocab_size"]
        ),
        *in_encoder.attention(say("Self-attention"), enc_layer.mha, enc_layer.layernorm1),
        *in_encoder.feed_forward(enc_layer.ffn, enc_layer.layernorm2),
        *in_encoder.end(encoder),
    ]
    decoder_blocks = [
        *in_decoder.embedding(
            say("Target embedding"), decoder.embedding, sizes["target_vocab_size"], shared
        ),
        *in_decoder.attention(say("Masked self-attention"), dec_layer.mha1, dec_layer.layernorm1),
        *in_decoder.attention(
            say("Cross-attention"), dec_layer.mha2, dec_layer.layernorm2, keys_from_encoder=True
        ),
        *in_decoder.feed_forward(dec_layer.ffn, dec_layer.layernorm3),
        *in_decoder.end(decoder),
        *in_decoder.output(shared),
    ]
    return encoder_blocks, decoder_blocks
