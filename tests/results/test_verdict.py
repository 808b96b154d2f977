"""What must hold of the verdict on a run that learned from corrections."""

import json

import pytest

from nmt.results.verdict import Change, judge, read_change


def change(test, before, after, p_value):
    """Returns a Change of BLEU on 100 lines."""
    return Change(test, 100, "BLEU", before, after, p_value)


GAIN = change("corrections", 20.0, 23.0, 0.01)
SAME = change("general", 30.0, 29.8, 0.001)


@pytest.mark.parametrize(
    ("corrections", "general", "options", "reason"),
    [
        (GAIN, SAME, {}, None),
        (GAIN, change("general", 30.0, 29.0, 0.2), {}, None),  # may be chance
        (GAIN, change("general", 30.0, 29.0, 0.01), {}, "worse on general -1.0 BLEU (30.0 to 29.0"),
        (GAIN, change("general", 30.0, 29.0, 0.01), {"max_loss": 1.0}, None),
        (GAIN._replace(p_value=0.05), SAME, {}, "may be chance: corrections +3.0 BLEU"),
        (GAIN._replace(p_value=0.3), SAME, {"significant": False}, None),
        (GAIN._replace(after=20.0), SAME, {"significant": False}, "no gain on corrections +0.0"),
        (GAIN._replace(after=19.0), SAME, {}, "a loss on corrections -1.0"),
    ],
)
def test_a_run_is_better_if_it_gains_on_corrections_and_loses_nothing(
    corrections, general, options, reason
):
    verdict = judge(corrections, [general], **options)
    assert verdict.is_better == (reason is None)
    if reason:
        assert verdict.line.startswith(f"Not better: {reason}")
    else:
        assert verdict.line.startswith("Better: corrections +3.0 BLEU (20.0 to 23.0, p = ")
    assert [line.split()[0] for line in verdict.table().splitlines()] == [
        "test", "corrections", "general"]  # fmt: skip


def test_a_change_is_read_from_the_json_of_evaluate(tmp_path):
    metrics = {"BLEU": {"score": 23.0}, "chrF": {"score": 50.0}}, {"BLEU": {"score": 20.0}}
    content = {
        "lines": 100, "systems": [{"name": "new"} | metrics[0], {"name": "old"} | metrics[1]],
        "p_values": {"BLEU": [[1.0, 0.01], [0.01, 1.0]], "chrF": [[1.0, 0.5], [0.5, 1.0]]},
    }  # fmt: skip
    path = tmp_path / "corrections.json"
    path.write_text(json.dumps(content))
    assert read_change("corrections", path) == GAIN
