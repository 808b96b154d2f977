"""What must hold of repeated parts: loops of a network are recognized, and language is not."""

import pytest

from nmt.text.repeats import repeated_part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("no no no", "no"),
        ("Ha, ha, ha!", "Ha"),
        ("the cat sat the cat sat on", "the cat sat"),
        ("a dog of the of the of the", "of the"),
        ("今天今天今天天气", "今天"),
        ("1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8"),
        ("a very, very good day", ""),
        ("day by day", ""),
        ("New York, New York", ""),
        ("研究研究", ""),
        ("the cat sat on the mat, and the cat sat there", ""),
        ("", ""),
    ],
)
def test_a_part_that_repeats_itself_is_returned(text, part):
    assert repeated_part(text) == part
