"""What must hold of outputs that an interrupted process has begun: nothing is lost or mixed."""

import json
import resource

import pytest

from nmt import UserError
from nmt.resumable_output import FinishedText, ResumableLines, ResumableTexts, other_settings

RUN_A = {"run": "a"}


def test_settings_are_compared_by_name_as_json_holds_them():
    settings = {"run": ("a", "b"), "beam": 4}
    assert other_settings({"run": ["a", "b"], "beam": 4}, settings) == []
    assert other_settings({"run": ["a"], "split": True}, settings) == ["run", "split", "beam"]
    with pytest.raises(ValueError, match="is not an object"):
        other_settings([], settings)


@pytest.mark.parametrize("kind", [ResumableLines, ResumableTexts])
def test_two_processes_do_not_translate_into_the_same_file(kind, tmp_path):
    with kind(tmp_path / "out", RUN_A):
        with pytest.raises(UserError, match=r"out.partial: another process is translating into"):
            kind(tmp_path / "out", RUN_A)
        assert (tmp_path / "out.partial").exists()
    assert not (tmp_path / "out.partial").exists()  # nothing is finished
    kind(tmp_path / "out", RUN_A).close()


@pytest.mark.parametrize("kind", [ResumableLines, ResumableTexts])
def test_what_another_process_has_finished_meanwhile_is_not_begun(kind, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UserError, match=r"out: exists already"):
        kind(tmp_path / "out", RUN_A)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", [ResumableLines, ResumableTexts])
def test_an_output_that_another_process_has_written_is_not_replaced(kind, tmp_path):
    target = tmp_path / "out"
    with kind(target, RUN_A) as partial:
        values = (1, "um\n") if kind is ResumableLines else ("um", FinishedText("one", None))
        partial.add(*values)
        target.write_text("mine\n")
        with pytest.raises(UserError, match=r"out: exists already"):
            partial.finish(*([] if kind is ResumableLines else [b"one"]))
    assert target.read_text() == "mine\n"


def test_texts_are_used_again_only_with_the_same_settings(tmp_path):
    target = tmp_path / "folder" / "out.html"
    with ResumableTexts(target, RUN_A) as partial:
        partial.add("um", FinishedText("one é", [(0, 0)]))
        partial.add("dois", FinishedText("two", None, 39.5))
    with partial.path.open("ab") as file:
        file.write(b'{"source": "tr')  # a crash
    with ResumableTexts(target, RUN_A) as again:
        assert again.finished == {"um": ("one é", [(0, 0)], None), "dois": ("two", None, 39.5)}
        again.add("três", FinishedText("three", None))
    for line in again.path.read_text().splitlines():
        json.loads(line)
    with pytest.raises(UserError, match=r"out.html.partial: was begun with another run; give the"):
        ResumableTexts(target, {"run": "b"})
    with ResumableTexts(target, RUN_A) as complete:
        assert len(complete.finished) == 3
        complete.finish(b"one two three")
    assert [path.name for path in target.parent.iterdir()] == ["out.html"]
    assert target.read_bytes() == b"one two three"


@pytest.mark.parametrize("kind", [ResumableLines, ResumableTexts])
@pytest.mark.parametrize("content", ["um\n", "[]\n", '{"run": "a"}\n{"a": "um"}\n', '{"b": 1}\n'])
def test_a_file_of_that_name_that_holds_something_else_stays(kind, content, tmp_path):
    (tmp_path / "out.partial").write_text(content)
    with pytest.raises(UserError, match=r"out.partial: (holds something else; move it|was begun)"):
        kind(tmp_path / "out", RUN_A)
    assert (tmp_path / "out.partial").read_text() == content


def test_settings_that_were_half_written_by_a_killed_process_are_written_again(tmp_path):
    (tmp_path / "out.partial").write_text('{"run": "b')
    with ResumableLines(tmp_path / "out", RUN_A) as partial:
        partial.add(1, "um\n")
    with ResumableLines(tmp_path / "out", RUN_A) as again:
        assert again.finished == {1}


def test_a_full_disk_is_named_by_the_file_which_keeps_what_is_finished(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with ResumableTexts(tmp_path / "out.html", RUN_A) as partial:
            partial.add("um", FinishedText("one", None))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
            with pytest.raises(UserError, match=r"out.html.partial: File too large; name a"):
                partial.add("dois", FinishedText("two" * 1000, None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with ResumableTexts(tmp_path / "out.html", RUN_A) as again:
        assert again.finished == {"um": ("one", None, None)}


def test_a_first_part_that_was_written_as_a_signal_came_is_kept(tmp_path):
    class Interrupted(set):
        def add(self, first):
            raise KeyboardInterrupt

    partial = ResumableLines(tmp_path / "out", RUN_A)
    partial.finished = Interrupted()
    with pytest.raises(KeyboardInterrupt), partial:
        partial.add(1, "um\n")
    with ResumableLines(tmp_path / "out", RUN_A) as again:
        assert again.finished == {1}
        again.finish()
    assert (tmp_path / "out").read_text() == "um\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
