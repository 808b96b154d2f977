"""What must hold of an export to Hugging Face: transformers computes the program's numbers."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import as_dataset, randomized, sentences

from nmt import UserError
from nmt.decoding.search import greedy_search
from nmt.exports import hugging_face
from nmt.text.tokenizer import Tokenizer, train_tokenizer
from transformer_model import Transformer

CARD = hugging_face.ModelCard("numbers", "spelled-out numbers", 1, 1.0, {"BLEU": "99.0 ± 0.5"})


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(train_tokenizer(as_dataset(sentences(200)), 340))


def network(tokenizer, **options):
    size = tokenizer.vocab_size
    transformer = Transformer(2, 16, 4, 24, size, size, **options)
    transformer.build(((None, None), (None, None)))
    return randomized(transformer)


def test_even_dimensions_come_first():
    assert hugging_face.halves(6).tolist() == [0, 2, 4, 1, 3, 5]


@pytest.mark.slow  # imports PyTorch and transformers
@pytest.mark.parametrize(
    ("pre_norm", "tie_embeddings", "decoder_layers"), [(False, True, 1), (True, False, 2)]
)
def test_logits_and_translations_are_those_of_the_program(
    tokenizer, tmp_path, pre_norm, tie_embeddings, decoder_layers
):
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    torch.set_num_threads(1)  # threads that wait for each other on a busy machine keep it busy
    transformer = network(
        tokenizer, pre_norm=pre_norm, tie_embeddings=tie_embeddings, decoder_layers=decoder_layers
    )
    hugging_face.hugging_face_model(tmp_path / "model", transformer, tokenizer, CARD)
    model, loading = AutoModelForSeq2SeqLM.from_pretrained(
        tmp_path / "model", output_loading_info=True
    )
    assert not any(loading.values())  # no missing keys, no unexpected ones
    lines = [source for source, _ in sentences(20, seed=1)]
    batch = AutoTokenizer.from_pretrained(tmp_path / "model")(
        lines, return_tensors="pt", padding=True
    )
    inp = batch["input_ids"].numpy()
    assert inp.tolist() == tf.ragged.constant(tokenizer.encode(lines)).to_tensor().numpy().tolist()
    logits, _ = transformer((inp, inp[:, :5]))  # (B, 5, V)
    with torch.no_grad():
        others = model(**batch, decoder_input_ids=torch.tensor(inp[:, :5])).logits
        ids = model.generate(**batch, num_beams=1, max_new_tokens=12)
    np.testing.assert_allclose(others, logits, atol=1e-4)
    greedy = greedy_search(transformer, tf.constant(inp)).ids[:, 0, : ids.shape[1]]
    np.testing.assert_array_equal(ids, greedy)


def test_the_card_names_corpus_and_scores(tokenizer):
    text = hugging_face.card_text(CARD, network(tokenizer, decoder_layers=1))
    assert "2 layers in the encoder and 1 in the decoder" in text
    assert "spelled-out numbers" in text
    assert "| BLEU | 99.0 ± 0.5 |" in text


def test_a_non_autoregressive_model_is_refused(tokenizer, tmp_path):
    transformer = network(tokenizer, non_autoregressive=True)
    with pytest.raises(UserError, match="non-autoregressive"):
        hugging_face.hugging_face_model(tmp_path / "model", transformer, tokenizer, CARD)
    assert not (tmp_path / "model").exists()
