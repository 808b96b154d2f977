"""What must hold of numbers whose digits came out wrong."""

import pytest

from nmt.decoding.number_repair import repair
from nmt.text.protected import DEFAULT


@pytest.mark.parametrize(
    ("source", "translation", "repaired", "lost"),
    [
        ("2,5 quilos", "25 kilos", "2,5 kilos", []),
        ("1,75 metros", "175 meters", "1,75 meters", []),
        ("12,50 euros", "12.50 euros", "12.50 euros", []),
        ("15.000 euros", "15,000 euros", "15,000 euros", []),
        ("15.000 euros", "15000 euros", "15000 euros", []),
        ("às 10h30", "at 10:30", "at 10:30", []),
        ("4711 gatos", "471 cats", "4711 cats", []),
        ("4711 gatos", "cats", "cats", ["4711"]),
    ],
)
def test_a_number_keeps_its_digits_and_its_decimals(source, translation, repaired, lost):
    numbers = DEFAULT.numbers(source)
    result = repair(translation, numbers, DEFAULT, spells_numbers=False)
    assert (result.text, result.lost) == (repaired, lost)
