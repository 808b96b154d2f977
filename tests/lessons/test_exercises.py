"""What must hold of the exercises: the solution is right, each usual mistake gets its own hint."""

import sys

import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, run_process

import transformer_model as model
from lessons.exercises import EXERCISES, LANGUAGES, check, verdict

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
    assert verdict("look-ahead mask", str) == "look-ahead mask: '4' is returned, not numbers."
    assert "shape (4, 5)" in verdict("look-ahead mask", lambda size: tf.ones((size, size + 1)))
    wrong = verdict("look-ahead mask", lambda size: 2 * model.create_look_ahead_mask(size))
    assert wrong == (
        "look-ahead mask: not yet. The largest difference is 1, in result 1 at [0, 1]: "
        "your function returns 2, and 1 is right. The inputs were 4. "
        "Hint: tf.linalg.band_part keeps a triangle of a matrix."
    )
    assert "number of results is 1, and should be 2" in verdict("shift", lambda tar: tar)
    assert verdict("atention", broken).startswith(
        "There is no exercise 'atention'; choose one of merge, "
    )


def test_the_largest_difference_is_named_with_the_shapes_of_large_inputs():
    def wrong(q, k, v, mask):
        output, weights = model.scaled_dot_product_attention(q, k, v, mask)
        changed = weights.numpy()
        changed[1, 2, 0] += 0.5
        changed[0, 0, 1] -= 0.25
        return output, changed

    answer = verdict("attention", wrong)
    assert "The largest difference is 0.5, in result 2 at [1, 2, 0]: " in answer
    assert "The inputs were an array (2, 4, 3), an array (2, 4, 3), an array" in answer
    assert "difference is nan: your function returns nan" in verdict("loss", lambda *_: np.nan)
    assert "is 1, in" in verdict("look-ahead mask", lambda n: np.zeros((n, n), bool))


def test_a_list_holds_results_as_a_tuple_does_where_there_are_several():
    assert verdict("shift", lambda tar: [tar[:, :-1], tar[:, 1:]]) == "shift: right."


def test_one_result_may_be_a_nested_list():
    def rows(size):
        return [[float(key > query) for key in range(size)] for query in range(size)]

    assert verdict("look-ahead mask", rows) == "look-ahead mask: right."


def test_names_may_have_other_signs_between_words():
    solution = EXERCISES["feed-forward"].solution
    for name in ("feed forward", "feed_forward", "Feed-Forward"):
        assert verdict(name, solution) == "feed-forward: right."


def test_an_argument_by_position_gets_the_answer_of_keras():
    answer = verdict("call", lambda layer, x, mask: layer(x, True, mask))
    assert "call: your function ends in ValueError: Only input tensors may be passed" in answer


def test_check_prints_in_the_language_asked_for(capsys):
    check("next token", EXERCISES["next token"].solution, "zh")
    assert capsys.readouterr().out == "next token：正确。\n"


@pytest.mark.parametrize("name", EXERCISES)
def test_a_function_that_returns_nothing_gets_the_task_and_how_to_begin(name):
    exercise = EXERCISES[name]
    assert verdict(name, lambda *_: None) == (
        f"{name}: nothing is returned yet.\n  {exercise.en}\n  Hint: {exercise.hint_en}"
    )
    chinese = verdict(name, lambda *_: None, "zh")
    assert chinese.endswith(f"  {exercise.zh}\n  提示：{exercise.hint_zh}")


def test_importing_the_exercises_makes_no_tensor():
    """At the first one, TensorFlow searches for GPUs, and complains in red that there is none."""
    code = (
        "import lessons.exercises\nfrom tensorflow.python.eager import context\n"
        "print(context.context()._initialized)"
    )
    process = run_process([sys.executable, "-c", code], {"PYTHONPATH": str(ROOT)})
    assert process.stdout == "False\n"
