"""What must hold of a translation as it is generated: the text is that of the Translator."""

import dataclasses

import keras
import pytest
from helpers import as_dataset, networks_of

from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding.model import Model
from nmt.network.factory import build_transformer
from nmt.options import Options
from nmt.serving import streaming
from nmt.serving.models import Direction, Query, ServedModel
from nmt.text.tokenizer import Tokenizer

PAIRS = [(f"um {n} dois {n + 1}.", f"one {n} two {n + 1}.") for n in range(1, 1201)]


@pytest.fixture(scope="module")
def served():
    """A run of random weights."""
    tokenizer = Tokenizer(train_tokenizer(as_dataset(PAIRS), 330))
    options = Options(num_layers=1, d_model=16, dff=16, num_heads=2, beam=1)
    keras.utils.set_random_seed(1)
    transformer = build_transformer(options, tokenizer.vocab_size)
    model = Model(options, lambda: networks_of(transformer))
    return ServedModel("numbers", model, tokenizer, [Direction("pt", "en")])


def test_what_must_not_change_does_not(served):
    text, received = "um 4711 dois {name}.", []
    translate = served.translator(Query(served, served.directions[0]))
    streaming.events(translate, text, [], lambda *event: bool(received.append(event)) or True)
    *partial, (name, finished) = received
    assert name == "sentence"
    assert finished["text"] == next(translate([text]))
    assert finished["text"].count("4711") == finished["text"].count("{name}") == 1
    assert len(partial) > 1


def test_a_sentence_is_named_as_it_was_given_without_the_tag_of_the_language(served):
    options = dataclasses.replace(served.model.options, symbols="<2en>")
    model = dataclasses.replace(served.model, options=options)
    tagged = dataclasses.replace(served, model=model, directions=[Direction("pt", "en", "<2en>")])
    translator = tagged.translator(Query(tagged, tagged.directions[0]))
    line, received = tagged.directions[0].tagged("um 4711. Dois {name}.\nTrês."), []
    streaming.events(translator, line, [], lambda *event: bool(received.append(event)) or True)
    given = [data["given"] for name, data in received if name == "sentence"]
    assert given == ["um 4711.", "Dois {name}.", "Três."]
