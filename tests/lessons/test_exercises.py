"""What must hold of the exercises: the solution is right, each usual mistake gets its own hint."""

import numpy as np
import pytest
import tensorflow as tf

import transformer_model as model
from lessons.exercises import EXERCISES, LANGUAGES, check, exercises, verdict

MISTAKES = [
    pytest.param(name, mistake, id=f"{name}-{number}")
    for name, exercise in EXERCISES.items()
    for number, mistake in enumerate(exercise.mistakes)
]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_is_right(name):
    assert verdict(name, EXERCISES[name].solution) == f"{name}: right."


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_usual_mistake_gets_its_own_hint(name, mistake):
    for language in LANGUAGES:
        hint = getattr(mistake, language)
        assert verdict(name, mistake.function, language) == f"{name}: {hint}"


def test_an_own_solution_of_another_form_is_right():
    def attention(q, k, v, mask):
        logits = np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(3)
        if mask is not None:
            logits = np.where(mask == 1, -np.inf, logits)
        powers = np.exp(logits)
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return weights @ v, weights

    assert verdict("attention", attention) == "attention: right."
    assert verdict("look-ahead mask", lambda n: np.triu(np.ones((n, n)), 1)).endswith("right.")


def test_other_mistakes_are_described_and_errors_named():
    def broken(size):
        raise ValueError("no idea")

    assert verdict("look-ahead mask", broken) == (
        "look-ahead mask: your function ends in ValueError: no idea"
    )
    assert "shape (4, 5)" in verdict("look-ahead mask", lambda size: tf.ones((size, size + 1)))
    wrong = verdict("look-ahead mask", lambda size: 2 * model.create_look_ahead_mask(size))
    assert "not yet" in wrong
    assert "1 results, and there should be 2" in verdict("shift", lambda tar: tar)
    with pytest.raises(ValueError, match="no exercise 'atention'; choose one of positions"):
        verdict("atention", broken)


def test_an_argument_by_position_gets_the_answer_of_keras():
    answer = verdict("call", lambda layer, x, mask: layer(x, True, mask))
    assert "call: your function ends in ValueError: Only input tensors may be passed" in answer


def test_check_prints_and_the_list_names_every_exercise(capsys):
    check("next token", EXERCISES["next token"].solution, "zh")
    assert capsys.readouterr().out == "next token：正确。\n"
    for language in LANGUAGES:
        lines = exercises(language).splitlines()
        assert [line.partition(":")[0] for line in lines] == [*EXERCISES]
    assert len(EXERCISES) >= 12
