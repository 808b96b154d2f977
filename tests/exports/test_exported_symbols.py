"""What must hold of symbols in an export: no translation has one that its source lacks."""

import json

import numpy as np
import pytest
import tensorflow as tf
from helpers import as_dataset, make_translator, randomized, sentences

from nmt.corpus.vocabulary import train_tokenizer
from nmt.exports import hugging_face, litert
from nmt.exports.exported_model import Export
from nmt.exports.litert import FixedWidths
from nmt.exports.saved_model import SavedTranslator
from nmt.network.variants import TransformerVariant
from nmt.text.tokenizer import Tokenizer

LINES = ["um dois", "três ⟦3⟧ nove"]
SAMPLING = dict(seed=1, temperature=1.0, top_k=0, top_p=1.0)


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer with symbols."""
    pairs = [
        (f"{n} {source}", f"{n} {target}") for n, (source, target) in enumerate(sentences(1000))
    ]
    return Tokenizer(train_tokenizer(as_dataset(pairs), 330))


@pytest.fixture(scope="module")
def transformer(tokenizer):
    """A network that would rather generate symbols, as after training on nothing but them."""
    size = tokenizer.vocab_size
    network = TransformerVariant(1, 16, 2, 32, size, size)
    network.build(((None, None), (None, None)))
    randomized(network)
    kernel, bias = network.final_layer.get_weights()
    bias[list(tokenizer.symbol_ids)] += 9
    network.final_layer.set_weights([kernel, bias])
    return network


@pytest.mark.parametrize("signature", ["greedy", "beam", "prefix", "sample"])
def test_a_saved_model_neither_invents_nor_loses_a_symbol(transformer, tokenizer, signature):
    inputs = {name: tf.constant(number) for name, number in SAMPLING.items()}
    inputs_of = dict(prefix=dict(prefixes=tf.constant(["one", ""])), sample=inputs)
    translator = SavedTranslator(transformer, tokenizer)
    search = getattr(translator, signature)
    texts = search(sentences=tf.constant(LINES), **inputs_of.get(signature, {}))[
        "translations"
    ].numpy()
    counts = [text.decode().count("⟦") for text in texts]
    assert counts == [0, 1]
    assert "⟦3⟧" in texts[1].decode()


def test_a_saved_model_translates_symbols_as_without_protection(transformer, tokenizer):
    serve = SavedTranslator(transformer, tokenizer)
    texts = serve.greedy(tf.constant(LINES))["translations"].numpy()
    expected = make_translator(transformer, tokenizer, protect=False)(LINES)
    assert [text.decode() for text in texts] == list(expected)


def test_a_file_for_phones_neither_invents_nor_loses_a_symbol(transformer, tokenizer):
    module = FixedWidths(transformer, (16,), tokenizer.symbol_ids)
    symbols = []
    for ids in tokenizer.encode(LINES):
        inp = np.pad([ids], ((0, 0), (0, 16 - len(ids)))).astype(np.int32)  # (1, 16)
        output = module.functions["translate_16"](tf.constant(inp))["ids"].numpy()
        symbols.append([token for token in output[0].tolist() if token in tokenizer.symbol_ids])
    assert symbols == [[], [tokenizer.symbol_ids[3]]]


@pytest.mark.slow  # converts a graph
def test_a_converted_file_neither_invents_nor_loses_a_symbol(
    transformer, tokenizer, tmp_path, monkeypatch
):
    from ai_edge_litert.interpreter import Interpreter

    monkeypatch.setattr(litert, "WIDTHS", (16,))
    litert.write(tmp_path / "lite", Export(transformer, tokenizer))
    translate = Interpreter(str(tmp_path / "lite" / "model.tflite")).get_signature_runner()
    symbols = []
    for ids in tokenizer.encode(LINES):
        inp = np.pad([ids], ((0, 0), (0, 16 - len(ids)))).astype(np.int32)  # (1, 16)
        output = translate(ids=inp)["ids"][0].tolist()
        symbols.append([token for token in output if token in tokenizer.symbol_ids])
    assert symbols == [[], [tokenizer.symbol_ids[3]]]


def test_hugging_face_never_generates_a_symbol(transformer, tokenizer, tmp_path):
    hugging_face.write(tmp_path / "model", Export(transformer, tokenizer))
    settings = json.loads((tmp_path / "model" / "generation_config.json").read_text())
    assert settings["suppress_tokens"] == list(tokenizer.symbol_ids)


@pytest.mark.slow  # imports PyTorch and transformers
def test_what_transformers_generates_has_no_symbol(transformer, tokenizer, tmp_path):
    import torch
    from transformers import AutoModelForSeq2SeqLM

    torch.set_num_threads(1)  # threads that wait for each other on a busy machine keep it busy
    hugging_face.write(tmp_path / "model", Export(transformer, tokenizer))
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "model")
    ids = model.generate(torch.tensor(tokenizer.encode(LINES[:1])), max_new_tokens=12)
    assert not np.isin(ids.numpy(), list(tokenizer.symbol_ids)).any()
