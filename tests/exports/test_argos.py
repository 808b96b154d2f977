"""What must hold of a package for Argos: its calls find metadata, model and vocabulary."""

import json
import zipfile

import ctranslate2
import pytest
import sentencepiece
import tensorflow as tf
from helpers import sentences, transformer_for

from nmt import UserError
from nmt.decoding.search import greedy_search
from nmt.exports import argos
from nmt.exports.exported_model import Export, ModelCard

CARD = ModelCard(languages=("pt", "en"))


@pytest.fixture(scope="module")
def transformer(tokenizer):
    return transformer_for(tokenizer, decoder_layers=1)


def test_a_package_translates_with_the_calls_of_argos(transformer, tokenizer, tmp_path):
    package = tmp_path / "pt_en.argosmodel"
    argos.write(package, Export(transformer, tokenizer, card=CARD, package_version="1.2"))
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path / "installed")
    (folder,) = (tmp_path / "installed").iterdir()  # a folder of its own among all packages
    metadata = json.loads((folder / "metadata.json").read_text())
    assert (metadata["from_code"], metadata["to_name"]) == ("pt", "English")
    assert metadata["package_version"] == "1.2"
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    line, _ = sentences(1, seed=1)[0]
    translator = ctranslate2.Translator(str(folder / "model"))
    (result,) = translator.translate_batch(
        [pieces.encode(line, out_type=str)], beam_size=1, max_decoding_length=12
    )
    ids = greedy_search(transformer, tf.constant(tokenizer.encode([line]))).ids[0, 0, 1:13]
    assert [pieces.piece_to_id(piece) for piece in result.hypotheses[0]] == ids.numpy().tolist()


def test_a_package_must_have_the_ending_of_argos(transformer, tokenizer, tmp_path):
    with pytest.raises(UserError, match="argosmodel"):
        argos.write(tmp_path / "x.zip", Export(transformer, tokenizer, card=CARD))
