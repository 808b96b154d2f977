"""What must hold of the flags of `export`, before TensorFlow is imported."""

import pytest

from nmt import UserError
from nmt.cli import export


@pytest.mark.parametrize(
    ("name", "quantization", "remedy"),
    [
        ("saved_model", "int8", "ctranslate2, argos, litert"),
        ("huggingface", "float16", "ctranslate2, argos"),
        ("litert", "float16", "ctranslate2, argos"),
    ],
)
def test_a_quantization_that_a_format_lacks_names_those_that_have_it(name, quantization, remedy):
    with pytest.raises(UserError, match=f"--format {remedy};"):
        export.check_quantization(name, quantization)
