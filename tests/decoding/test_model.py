"""What must hold of a model: one Translator for each choice of options."""

import dataclasses

import pytest
from helpers import networks_of, small_transformer

from nmt.decoding.model import Model
from nmt.decoding.search_options import SearchOptions
from nmt.options import Options
from nmt.text.tokenizer import Tokenizer


def test_translators_are_shared_whatever_the_order_of_their_options(tokenizer):
    """A Translator is traced, and so is each copy of it."""
    transformer = small_transformer()
    model = Model(Options(), lambda: networks_of(transformer))
    translate = model.translator(tokenizer, SearchOptions(beam=2), rows=3)
    assert model.translator(tokenizer, rows=3, options=SearchOptions(beam=2)) is translate
    assert model.translator(tokenizer, SearchOptions(beam=1), rows=3) is not translate
    other = Tokenizer(tokenizer.model)
    assert model.translator(other, SearchOptions(beam=2), rows=3) is not translate


def test_a_model_of_other_languages_has_other_translators(tokenizer):
    """Those of a Model are of its options and languages, which therefore never change."""
    transformer = small_transformer()
    model = Model(Options(), lambda: networks_of(transformer))
    translate = model.translator(tokenizer)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.languages = ("de", "en")
    other = dataclasses.replace(model, languages=("de", "en"))
    assert other.translator(tokenizer) is not translate
