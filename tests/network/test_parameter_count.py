"""What must hold of the number of parameters: it is known before there is a network."""

import pytest

from nmt.network.factory import build_transformer
from nmt.options import Options

SIZES = dict(num_layers=2, d_model=8, dff=24, num_heads=2)


@pytest.mark.parametrize(
    "variant",
    [
        {}, dict(pre_norm=True, tie_embeddings=True, decoder_layers=3),
        dict(tie_embeddings=True, logits_bias=True), dict(logits_bias=True),
    ],
)  # fmt: skip
def test_the_parameters_of_a_network_are_counted_without_it(variant):
    options = Options(**SIZES, **variant)
    assert options.parameters(31) == build_transformer(options, 31).count_params()


def test_the_parameters_of_two_vocabularies_are_counted_without_the_network():
    options = Options(**SIZES)
    network = build_transformer(options, 31, target_vocab_size=17)
    assert options.parameters(31, 17) == network.count_params()
