"""What must hold of the ablations: each takes away what it says, and nothing stays changed."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

import transformer_model as model
from lessons import ablation
from transformer_model import END, PAD, START


def call_parameters(function):
    """Returns the names of the parameters of a function, or of calling a layer or a schedule."""
    if inspect.isclass(function):
        function = getattr(function, "call", function.__call__)  # of a layer, or of a schedule
    return [*inspect.signature(function).parameters]


@pytest.mark.parametrize("name", ablation.ABLATIONS)
def test_what_stands_in_for_a_part_takes_the_same_arguments(name):
    for part, replacement in ablation.ABLATIONS[name].replaced.items():
        assert call_parameters(replacement) == call_parameters(getattr(model, part))


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("copy", [7, 5, 6], [7, 5, 6]),
        ("reverse", [7, 5, 6], [6, 5, 7]),
        ("sort", [7, 5, 6], [5, 6, 7]),
        ("ends", [7, 5, 6], [END + 1 + 4 * 3 + 2, END + 1 + 4 * 1 + 1, END + 1 + 4 * 2 + 3]),
    ],
)
def test_the_rules_of_the_toy_tasks(name, source, target):
    assert [*ablation.RULES[name](source)] == target


def test_a_toy_task_pairs_sequences_with_what_its_rule_makes_of_them():
    inp, tar = next(ablation.toy("reverse").batches(3))
    assert inp.shape == tar.shape == (ablation.BATCH_SIZE, 12)
    for source, target in zip(inp, tar, strict=True):
        words = source[(source != PAD) & (source != START) & (source != END)]
        assert 4 <= len(words) <= 10
        expected = [START, *words[::-1], END]
        assert target[: len(expected)].tolist() == expected
        assert not target[len(expected) :].any()
    again, _ = next(ablation.toy("reverse").batches(3))
    np.testing.assert_array_equal(again, inp)


def test_without_the_look_ahead_mask_the_future_changes_the_past():
    """With it, it does not."""
    task = ablation.toy("copy")
    inp, tar = next(task.batches(1))
    other = tar.copy()
    other[:, 5:] = END + 1
    for name in ("full", "look-ahead", "positions", "residuals"):
        changed = ablation.ABLATIONS[name]
        with ablation.replaced(changed):
            network = ablation.network(task, changed)
            first, second = (network((inp, ids))[0].numpy()[:, :5] for ids in (tar, other))
        assert np.allclose(first, second, atol=1e-4) == (name != "look-ahead"), name


def test_without_normalization_sums_stay_as_they_are():
    layer = ablation.EncoderLayerWithoutNormalization(8, 2, 16, rate=0.0)
    x = tf.random.stateless_normal((1, 3, 8), (1, 2))
    output, _ = layer(x)
    attended, _ = layer.mha(x, x, x)
    np.testing.assert_allclose(output, x + attended + layer.ffn(x + attended), atol=1e-5)
    assert not [weight.path for weight in layer.trainable_weights if weight.path.endswith("gamma")]


def test_without_warm_up_the_rate_begins_at_its_peak():
    sizes = (64, 200, 0.25)
    whole, changed = model.CustomSchedule(*sizes), ablation.ScheduleWithoutWarmUp(*sizes)
    assert [float(changed(step)) for step in (0, 1, 200)] == [float(whole(200))] * 3
    assert float(changed(500)) == float(whole(500))


def test_without_positions_a_source_in_another_order_is_the_same():
    task = ablation.toy("sort")
    tar = np.array([[START, 7]])
    for name in ("positions", "full"):
        with ablation.replaced(ablation.ABLATIONS[name]):
            network = ablation.network(task, ablation.ABLATIONS[name])
            logits = [network((np.array([ids]), tar))[0] for ids in ([5, 6, 7], [7, 6, 5])]
        assert np.allclose(*logits, atol=1e-5) == (name == "positions")


@pytest.mark.slow
def test_a_table_and_a_picture_are_made_and_the_network_is_whole_again(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(ablation, "FOLDER", tmp_path)
    monkeypatch.setattr(ablation, "SIZES", dict(num_layers=1, d_model=8, num_heads=2, dff=8))
    monkeypatch.setattr(ablation, "TEST_SEQUENCES", 2)
    before = dict(vars(model))
    ablation.main(
        ["--task", "copy", "--only", "full", "residuals", "--seeds", "2", "--steps", "20"]
    )
    assert dict(vars(model)) == before
    printed = capsys.readouterr().out
    assert "| full | " in printed
    assert "| residuals | " in printed
    assert "median (lowest to highest) of 2 seeds" in printed
    assert (tmp_path / "copy.png").stat().st_size > 5_000


@pytest.mark.parametrize("name", ablation.ABLATIONS)
def test_a_setting_changes_the_network_and_its_rate_but_not_what_is_taken_away(name):
    changed, setting = ablation.ABLATIONS[name], ablation.ABLATIONS[name].setting
    assert bool(setting.why) == (name != "full")
    task = ablation.toy(setting.task, setting.padding)
    assert task.test[0].shape[1] == 12 + setting.padding
    sizes = {**setting.sizes, "d_model": 8, "num_heads": 4, "dff": 8}
    network = ablation.network(task, changed, sizes)
    assert len(network.decoder.dec_layers) == setting.sizes.get("num_layers", 2)
    assert network.decoder.dec_layers[0].mha1.num_heads == changed.options.get("num_heads", 4)


@pytest.mark.slow
def test_each_part_is_trained_in_its_setting_beside_the_whole_network(
    monkeypatch, tmp_path, capsys
):
    trained = []

    def train(task, changed, seed, steps, setting):
        trained.append((changed, steps, setting))
        share = 0.5 if changed is ablation.ABLATIONS["full"] else 0.25
        return ablation.Result(steps, 1.0, 1, [1.0], 1.0, share, share / 5)

    monkeypatch.setattr(ablation, "FOLDER", tmp_path)
    monkeypatch.setattr(ablation, "train", train)
    ablation.main(["--only", "full", "warm-up", "--seeds", "1"])
    setting = ablation.ABLATIONS["warm-up"].setting
    assert trained == [
        (ablation.ABLATIONS[name], setting.steps, setting) for name in ("full", "warm-up")
    ]
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "| warm-up |" in line]
    figures = "50 (50 to 50) | 25 (25 to 25) | 10 (10 to 10) | 5 (5 to 5) | 2"
    assert line == f"| warm-up | {figures} | {setting} | {setting.why} |"
    assert (tmp_path / "needed-warm-up.png").stat().st_size > 5_000


def test_the_whole_network_alone_needs_a_task(capsys):
    with pytest.raises(SystemExit) as stopped:
        ablation.main(["--only", "full"])
    assert stopped.value.code == 2
    assert "full alone: say of which --task" in capsys.readouterr().err


@pytest.mark.slow
def test_the_rate_and_the_sizes_of_a_setting_are_those_that_are_trained(monkeypatch):
    rates = []

    def adam(schedule, network):
        rates.append((schedule.d_model, schedule.scale, network.count_params()))
        return ablation.adam(schedule, network)

    monkeypatch.setattr(ablation, "TEST_SEQUENCES", 2)
    task = ablation.toy("copy")
    changed = ablation.Ablation("", optimizer=adam)
    sizes = dict(num_layers=1, d_model=8, num_heads=1, dff=8)
    for setting in (ablation.ANY, ablation.Setting("", sizes, rate_scale=3.0)):
        ablation.train(task, changed, 1, 1, setting)
    (first, small) = rates
    assert (first[:2], small[:2]) == ((64, 0.25), (8, 3.0))
    assert small[2] < first[2]


@pytest.mark.slow
def test_the_bundled_task_is_made_of_pairs_that_end():
    task = ablation.bundled()
    inp, tar = next(task.batches(1))
    assert inp.max() < task.vocab_size
    assert len(inp) == len(tar) <= ablation.BATCH_SIZE
    for ids in (inp, tar, *task.test):
        assert (ids[:, 0] == START).all()
        assert ((ids == END).sum(axis=1) == 1).all()
