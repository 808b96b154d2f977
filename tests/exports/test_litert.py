"""What must hold of an export to LiteRT: its runtime finds the translations of the program."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import call, change_parameters, sentences, transformer_for

from nmt import UserError
from nmt.decoding.search import greedy_search
from nmt.exports import litert
from nmt.exports.exported_model import Export


@pytest.fixture(scope="module")
def transformer(tokenizer):
    return transformer_for(tokenizer, pre_norm=True, decoder_layers=1)


def test_an_unknown_quantization_is_refused(transformer, tokenizer, tmp_path):
    with pytest.raises(UserError, match="int8"):
        litert.write(tmp_path / "lite", Export(transformer, tokenizer, "float16"))
    assert not (tmp_path / "lite").exists()


def test_a_run_of_mixed_precision_is_exported_in_float32(run, tmp_path, monkeypatch):
    change_parameters(run, mixed_precision=True)
    precisions = []

    def convert(model, *_):
        precisions.append(model.compute_dtype)
        raise KeyboardInterrupt

    monkeypatch.setattr(litert, "FixedWidths", convert)
    assert call("export", "--run", run, "--format", "litert", "--to", tmp_path / "lite") == 130
    assert precisions == ["float32"]


@pytest.mark.slow  # converts two graphs
def test_each_width_gives_the_ids_of_greedy_search(transformer, tokenizer, tmp_path, monkeypatch):
    from ai_edge_litert.interpreter import Interpreter

    monkeypatch.setattr(litert, "WIDTHS", (16, 32))
    litert.write(tmp_path / "lite", Export(transformer, tokenizer))
    assert (tmp_path / "lite" / "tokenizer.model").read_bytes() == tokenizer.model
    interpreter = Interpreter(str(tmp_path / "lite" / "model.tflite"))
    for ids in tokenizer.encode([source for source, _ in sentences(8, seed=1)]):
        (expected,) = greedy_search(transformer, tf.constant([ids])).ids[:, 0].numpy()
        for width in (16, 32):
            inp = np.pad([ids], ((0, 0), (0, width - len(ids)))).astype(np.int32)  # (1, width)
            (output,) = interpreter.get_signature_runner(f"translate_{width}")(ids=inp)["ids"]
            assert output[: len(expected)].tolist() == expected.tolist()
            assert not output[len(expected) :].any()
