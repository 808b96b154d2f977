"""What must hold of a package for Argos: its calls find metadata, model and vocabulary."""

import json
import zipfile

import ctranslate2
import pytest
import sentencepiece
import tensorflow as tf
from helpers import as_dataset, call, randomized, sentences

from nmt import UserError
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding.search import greedy_search
from nmt.exports import argos
from nmt.exports.exported_model import Export, ModelCard
from nmt.network.variants import TransformerVariant
from nmt.text.languages import Pair
from nmt.text.tokenizer import Tokenizer

CARD = ModelCard(languages=("pt", "en"))


@pytest.fixture(scope="module")
def model():
    """A Tokenizer and a network of random weights."""
    tokenizer = Tokenizer(train_tokenizer(as_dataset(sentences(200)), 340))
    size = tokenizer.vocab_size
    transformer = TransformerVariant(2, 16, 4, 24, size, size, decoder_layers=1)
    transformer.build(((None, None), (None, None)))
    return tokenizer, randomized(transformer)


@pytest.mark.slow
def test_a_package_translates_with_the_calls_of_argos(model, tmp_path):
    tokenizer, transformer = model
    package = tmp_path / "pt_en.argosmodel"
    argos.write(package, Export(transformer, tokenizer, card=CARD))
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path / "installed")
    (folder,) = (tmp_path / "installed").iterdir()  # a folder of its own among all packages
    metadata = json.loads((folder / "metadata.json").read_text())
    assert (metadata["from_code"], metadata["to_name"]) == ("pt", "English")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    line, _ = sentences(1, seed=1)[0]
    translator = ctranslate2.Translator(str(folder / "model"))
    (result,) = translator.translate_batch(
        [pieces.encode(line, out_type=str)], beam_size=1, max_decoding_length=12
    )
    ids = greedy_search(transformer, tf.constant(tokenizer.encode([line]))).ids[0, 0, 1:13]
    assert [pieces.piece_to_id(piece) for piece in result.hypotheses[0]] == ids.numpy().tolist()


def test_a_package_has_the_version_that_is_named(model, tmp_path):
    tokenizer, transformer = model
    package = tmp_path / "pt_en.argosmodel"
    argos.write(package, Export(transformer, tokenizer, card=CARD, package_version="1.2"))
    with zipfile.ZipFile(package) as archive:
        metadata = json.loads(archive.read("translate-pt_en/metadata.json"))
    assert metadata["package_version"] == "1.2"
    assert argos.package_metadata(Pair("pt", "en"), "1.10")["package_version"] == "1.10"


@pytest.mark.parametrize(
    ("kind", "version", "said"),
    [
        ("argos", "../1", "is no version"),
        ("keras", "1.1", "--package-version goes with --format argos; leave it out"),
    ],
)
def test_a_version_is_one_of_packages(kind, version, said, capsys):
    assert call("export", "--format", kind, "--package-version", version) == 2
    assert said in capsys.readouterr().err


def test_a_package_must_have_the_ending_of_argos(model, tmp_path):
    tokenizer, transformer = model
    with pytest.raises(UserError, match="argosmodel"):
        argos.write(tmp_path / "x.zip", Export(transformer, tokenizer, card=CARD))
