"""Export of a trained run: as a SavedModel, a .keras file, or a CTranslate2 model.

Each is written next to its final path and then moved there, so that it is complete or absent.
"""

from pathlib import Path

import tensorflow as tf

from nmt import UserError, output
from nmt.decoding import non_autoregressive
from nmt.decoding.sampling import Sampling
from nmt.decoding.search import beam_search, greedy_search, sample
from nmt.messages import reason
from nmt.text.batches import MAX_SOURCE_TOKENS
from nmt.text.tokenizer import Tokenizer, printed_in_graph, trimmed_in_graph
from transformer_model import END, START, UNKNOWN, Transformer, positional_encoding

BEAM, ALPHA = 4, 0.6  # of a SavedModel's signature "beam" (paper 6.1)
MAX_CTRANSLATE2_TOKENS = 1024  # the length of its table of positions


def default_path(folder: Path, kind: str) -> Path:
    """Returns the path within `folder` of an export of a `kind`, such as saved_model.

    A SavedModel gets a new version, 1 or the next: TensorFlow Serving loads the highest.
    """
    if kind == "saved_model":
        versions = [int(path.name) for path in (folder / kind).glob("*") if path.name.isdigit()]
        return folder / kind / str(max(versions, default=0) + 1)
    names = {"keras": "model.keras", "argos": "package.argosmodel"}  # these endings are required
    return folder / names.get(kind, kind)


class SavedTranslator(tf.Module):
    """The functions of a SavedModel: sentences in, translations and scores out."""

    def __init__(self, transformer: Transformer, tokenizer: Tokenizer):
        super().__init__()
        self.transformer, self.tokenizer = transformer, tokenizer
        self.graph_tokenizer = tokenizer.graph_tokenizer  # tracked: its model is saved, too
        self.search = greedy_search
        if transformer.config["non_autoregressive"]:
            self.search = non_autoregressive.search
        # One by one: Keras leaves layers in lists out of what TensorFlow saves of a model.
        self.weights = [variable.value for variable in transformer.variables]

    def translate(self, sentences, search):
        """Strings (B,) -> {"translations": strings (B,), "scores": (B,) float32}.

        Scores are log-probabilities, as `translate --score` prints them. What shows nothing
        stays as it is, with a score of 0; control characters become spaces.
        """
        ids = self.tokenizer.encode_in_graph(trimmed_in_graph(sentences))  # ragged (B, S)
        hypotheses = search(self.transformer, ids[:, :MAX_SOURCE_TOKENS].to_tensor())
        blank = ids.row_lengths() <= 2  # START and END alone
        # Without START, after which tensorflow-text would drop spaces.
        translations = self.graph_tokenizer.detokenize(hypotheses.ids[:, 0, 1:])
        unchanged = tf.strings.strip(printed_in_graph(sentences))
        translations = tf.where(blank, unchanged, printed_in_graph(translations))
        scores = tf.where(blank, 0.0, hypotheses.log_probabilities[:, 0])
        return {"translations": translations, "scores": scores}

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="sentences")])
    def greedy(self, sentences):
        return self.translate(sentences, self.search)

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="sentences")])
    def beam(self, sentences):
        return self.translate(
            sentences, lambda transformer, inp: beam_search(transformer, inp, BEAM, ALPHA)
        )

    @tf.function(
        input_signature=[
            tf.TensorSpec((None,), tf.string, name="sentences"),
            tf.TensorSpec((None,), tf.string, name="prefixes"),
        ]
    )
    def prefix(self, sentences, prefixes):
        """Beam search; each translation begins with a string of `prefixes`, "" for anything."""
        number = tf.debugging.assert_equal(
            tf.size(prefixes), tf.size(sentences), "prefixes: give one for each of the sentences"
        )
        with tf.control_dependencies([number]):
            prefixes = tf.identity(prefixes)
        ids = self.tokenizer.encode_in_graph(trimmed_in_graph(prefixes))
        ids = ids[:, 1:-1].to_tensor()  # no START, no END
        return self.translate(
            sentences,
            lambda transformer, inp: beam_search(transformer, inp, BEAM, ALPHA, prefix=ids),
        )

    @tf.function(
        input_signature=[
            tf.TensorSpec((None,), tf.string, name="sentences"),
            tf.TensorSpec((), tf.int32, name="seed"),
            tf.TensorSpec((), tf.float32, name="temperature"),
            tf.TensorSpec((), tf.int32, name="top_k"),
            tf.TensorSpec((), tf.float32, name="top_p"),
        ]
    )
    def sample(self, sentences, seed, temperature, top_k, top_p):
        """The samples that `translate --sample` draws with the same numbers."""
        checks = [
            tf.debugging.Assert(allowed, [f"{name} must be {text}, and is", number])
            for name, number, allowed, text in (
                (
                    "temperature",
                    temperature,
                    (temperature > 0) & tf.math.is_finite(temperature),
                    "more than 0, and finite",
                ),
                ("top_k", top_k, top_k >= 0, "0 (for all tokens) or more"),
                ("top_p", top_p, (top_p > 0) & (top_p <= 1), "more than 0 and at most 1"),
            )
        ]
        with tf.control_dependencies(checks):
            sentences = tf.identity(sentences)
        sampling = Sampling(temperature, top_k, top_p, seed)
        first = tf.zeros_like(sentences, tf.int32)
        return self.translate(
            sentences, lambda transformer, inp: sample(transformer, inp, sampling, first)
        )


def saved_model(path: Path, transformer: Transformer, tokenizer: Tokenizer):
    """Writes a SavedModel of strings to strings.

    Its signatures are serving_default (greedy search), beam, prefix and sample; of a
    non-autoregressive model, only the first. Loading it takes only TensorFlow and tensorflow-text,
    whose operators contain the tokenizer.
    """
    translator = SavedTranslator(transformer, tokenizer)
    signatures = {"serving_default": translator.greedy}
    if not transformer.config["non_autoregressive"]:
        signatures |= {
            "beam": translator.beam, "prefix": translator.prefix, "sample": translator.sample
        }  # fmt: skip
    with output.new(path) as unfinished:
        try:
            tf.saved_model.save(translator, str(unfinished), signatures=signatures)
        except tf.errors.OpError as error:  # the disk is full, for example
            raise OSError(reason(error)) from None


def keras_file(path: Path, transformer: Transformer):
    """Writes the network alone as a .keras file; text needs the run's tokenizer.model."""
    with output.new(path) as unfinished:
        transformer.save(unfinished)


def ctranslate2_model(
    path: Path, transformer: Transformer, tokenizer: Tokenizer, quantization: str | None = None
):
    """Writes a CTranslate2 model, with vocabulary and the run's tokenizer.model.

    Its sources and targets have at most MAX_CTRANSLATE2_TOKENS tokens.

    Raises:
      UserError: the package ctranslate2 is not installed, or the model is non-autoregressive.
    """
    if transformer.config["non_autoregressive"]:
        raise UserError(
            "CTranslate2 does not support non-autoregressive models; choose another --format"
        )
    try:
        from ctranslate2.specs import TransformerSpec
    except ImportError:
        raise UserError(
            "exporting to CTranslate2 needs its package; install it (pip install ctranslate2)"
        ) from None
    sizes = transformer.config
    spec = TransformerSpec.from_config(
        sizes["num_layers"], sizes["num_heads"], pre_norm=sizes["pre_norm"]
    )

    def linear(spec, *layers):
        """Concatenated Dense layers: weight (outputs, inputs), bias (outputs,)."""
        spec.weight = tf.concat([tf.transpose(layer.kernel) for layer in layers], 0).numpy()
        spec.bias = tf.concat([layer.bias for layer in layers], 0).numpy()

    def norm(spec, layer):
        spec.gamma, spec.beta = layer.gamma.numpy(), layer.beta.numpy()

    def self_attention(spec, mha, layer_norm):
        linear(spec.linear[0], mha.wq, mha.wk, mha.wv)
        linear(spec.linear[1], mha.dense)
        norm(spec.layer_norm, layer_norm)

    def cross_attention(spec, mha, layer_norm):
        linear(spec.linear[0], mha.wq)
        linear(spec.linear[1], mha.wk, mha.wv)
        linear(spec.linear[2], mha.dense)
        norm(spec.layer_norm, layer_norm)

    def feed_forward(spec, ffn, layer_norm):
        linear(spec.linear_0, ffn.layers[0])
        linear(spec.linear_1, ffn.layers[-1])
        norm(spec.layer_norm, layer_norm)

    positions = positional_encoding(MAX_CTRANSLATE2_TOKENS, sizes["d_model"])[0].numpy()
    spec.encoder.embeddings[0].weight = transformer.encoder.embedding.embeddings.numpy()
    spec.decoder.embeddings.weight = transformer.decoder.embedding.embeddings.numpy()
    spec.encoder.position_encodings.encodings = positions
    spec.decoder.position_encodings.encodings = positions
    for layer_spec, layer in zip(spec.encoder.layer, transformer.encoder.enc_layers, strict=True):
        self_attention(layer_spec.self_attention, layer.mha, layer.layernorm1)
        feed_forward(layer_spec.ffn, layer.ffn, layer.layernorm2)
    for layer_spec, layer in zip(spec.decoder.layer, transformer.decoder.dec_layers, strict=True):
        self_attention(layer_spec.self_attention, layer.mha1, layer.layernorm1)
        cross_attention(layer_spec.attention, layer.mha2, layer.layernorm2)
        feed_forward(layer_spec.ffn, layer.ffn, layer.layernorm3)
    if sizes["pre_norm"]:
        norm(spec.encoder.layer_norm, transformer.encoder.layernorm)
        norm(spec.decoder.layer_norm, transformer.decoder.layernorm)
    if sizes["tie_embeddings"]:
        spec.decoder.projection.weight = spec.decoder.embeddings.weight
    else:
        linear(spec.decoder.projection, transformer.final_layer)

    vocabulary = tokenizer.tokens(range(tokenizer.vocab_size))
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.config.unk_token = vocabulary[UNKNOWN]
    spec.config.bos_token = spec.config.decoder_start_token = vocabulary[START]
    spec.config.eos_token = vocabulary[END]
    spec.config.add_source_bos = spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = transformer.encoder.enc_layers[0].layernorm1.epsilon
    spec.validate()
    spec.optimize(quantization)
    with output.new(path) as unfinished:
        unfinished.mkdir()
        spec.save(str(unfinished))
        (unfinished / "tokenizer.model").write_bytes(tokenizer.model)
