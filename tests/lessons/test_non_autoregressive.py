"""What must hold of lessons/non_autoregressive.py: the decoder's input, CTC and the search."""

import itertools
import re
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, copy_some_data, run_process

sys.path.insert(0, str(ROOT / "lessons"))
import minimal
import non_autoregressive as lesson

START, END, PAD = minimal.START, minimal.END, minimal.PAD
INP = np.array([[START, 5, 6, END], [START, 7, END, PAD]], np.int32)


@pytest.fixture
def student(monkeypatch):
    """A small network of random weights."""
    for name, value in dict(D_MODEL=16, DFF=24, VOCAB_SIZE=20).items():
        monkeypatch.setattr(minimal, name, value)
    return lesson.ParallelTransformer()


def test_the_decoder_reads_each_source_token_twice():
    expected = [[START, START, 5, 5, 6, 6, END, END], [START, START, 7, 7, END, END, PAD, PAD]]
    assert lesson.decoder_input(INP).numpy().tolist() == expected


@pytest.mark.parametrize(
    ("outputs", "tokens"),
    [
        ([7, 7, 0, 5, 0, 5], [7, 5, 5]),
        ([7, 5, 5, 7], [7, 5, 7]),
        ([0, 0, 9], [9]),
        ([0, 0], []),
        ([], []),
    ],
)
def test_equal_neighbors_count_once_and_blanks_not_at_all(outputs, tokens):
    assert lesson.collapse(outputs) == tokens


def test_a_target_fits_if_some_outputs_mean_it():
    for length in range(6):
        for target in itertools.product((4, 5), repeat=length):
            outputs = itertools.product((lesson.BLANK, 4, 5), repeat=2 * lesson.POSITIONS)
            has_outputs = any(lesson.collapse(output) == [*target] for output in outputs)
            assert lesson.fits([START, END], target) == has_outputs


def test_the_loss_sums_over_all_outputs_that_mean_the_target():
    logits = np.random.default_rng(1).normal(size=(2, 4, 7)).astype(np.float32)  # (B, P, V)
    inp = np.array([[START, END], [START, PAD]], np.int32)  # the second has two positions
    target = np.array([[4, 4, 5], [6, 0, 0]], np.int32)
    probabilities = tf.nn.softmax(logits).numpy()
    losses = []
    for row, (words, positions) in enumerate([([4, 4, 5], 4), ([6], 2)]):
        outputs = itertools.product(range(7), repeat=positions)
        total = sum(
            np.prod([probabilities[row, place, token] for place, token in enumerate(output)])
            for output in outputs
            if lesson.collapse(output) == words
        )
        losses.append(-np.log(total))
    loss = lesson.loss_function(inp, target, logits)
    assert float(loss) == pytest.approx(sum(losses) / 4, abs=1e-4)  # per token of the targets


def test_a_position_sees_the_others_but_no_padding(student):
    alone, both = student(INP[1:, :3]).numpy(), student(INP).numpy()
    assert both.shape == (2, 8, 20)
    np.testing.assert_allclose(both[1, :6], alone[0], atol=1e-5)
    other = INP.copy()
    other[0, 2] = 9  # a later source token changes the first output: no future is hidden
    assert np.abs(student(other).numpy()[0, 0] - both[0, 0]).max() > 1e-3


def test_the_student_begins_with_the_weights_of_the_teacher(student):
    teacher = minimal.Transformer()
    teacher((INP, INP))
    student(INP)
    student.set_weights(teacher.get_weights())
    for part in ("source_embedding", "target_embedding", "enc_layers", "dec_layers", "final_layer"):
        ours, theirs = getattr(student, part), getattr(teacher, part)
        if isinstance(ours, list):
            ours, theirs = ours[-1], theirs[-1]
        for weights in zip(ours.get_weights(), theirs.get_weights(), strict=True):
            np.testing.assert_array_equal(*weights)


class Digits:
    """A tokenizer of digits, of which each is a token."""

    def encode(self, sentences):
        return [[START, *map(int, sentence), END] for sentence in sentences]

    def decode(self, rows):
        return ["".join(map(str, row)) for row in rows]


def copy_source(inp):
    """Source ids (B, S) -> logits (B, P, V) of each token twice, then of 9 at padding."""
    outputs = lesson.decoder_input(inp)
    outputs = tf.where((outputs == START) | (outputs == END), lesson.BLANK, outputs)
    return tf.one_hot(tf.where(lesson.decoder_input(inp) == PAD, 9, outputs), 10)


def test_nothing_is_predicted_at_padding_and_the_order_of_sentences_stays():
    assert lesson.translate(copy_source, Digits(), ["456", "7"]) == ["456", "7"]
    sentences = ["45678", "4", "56", "8", "474"]
    assert lesson.translate_all(lesson.translate, copy_source, Digits(), sentences, 2) == sentences


@pytest.mark.slow
def test_the_command_trains_both_and_compares_them(tmp_path):
    """With three epochs of the teacher, one of the student, and parts of the corpus."""
    shutil.copytree(ROOT / "lessons", tmp_path / "lessons")
    for name, epochs in (("minimal.py", 3), ("non_autoregressive.py", 1)):
        path = tmp_path / "lessons" / name
        text = re.sub(r"(?m)^EPOCHS = \d", f"EPOCHS = {epochs}", path.read_text(encoding="utf-8"))
        text = text.replace("SENTENCES = 16_000", "SENTENCES = 640")
        path.write_text(text.replace("D_MODEL = 128", "D_MODEL = 64"), encoding="utf-8")
    copy_some_data(tmp_path)
    done = run_process([sys.executable, "lessons/non_autoregressive.py", "Bom dia."], cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"(?m)^the teacher translated 640 sentences in \d+ s$", done.stdout)
    assert re.search(r"(?m)^student, epoch 1 of 1: loss \d+\.\d{3}, \d+ s$", done.stdout)
    for name in ("autoregressive", "non-autoregressive"):
        assert re.search(rf"(?m)^{name} +\d+\.\d +\d+ +\d+$", done.stdout)
    assert done.stdout.count("Bom dia. -> ") == 2
