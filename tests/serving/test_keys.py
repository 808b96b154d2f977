"""What must hold of keys in a file: they come and go with a reload, and none is shown."""

import os
import re

import pytest

from nmt import UserError
from nmt.serving.keys import Keys

FILE = "# of our clients\nmobile k-1\n\n  web\tk-2\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text(FILE)
    path.chmod(0o600)
    return path


def rewrite(path, content):
    """Writes a file anew, as an editor does: it has another inode."""
    other = path.with_suffix(".new")
    other.write_text(content)
    other.chmod(0o600)
    os.replace(other, path)


def test_each_key_has_its_name_and_nothing_else_will_do(path):
    keys = Keys("k-0", path)
    assert [keys.name_of(f"k-{number}") for number in range(4)] == [
        "default",
        "mobile",
        "web",
        None,
    ]
    assert keys.name_of("") is keys.name_of("mobile") is keys.name_of("\ud800") is None
    assert keys
    assert not Keys()


def test_a_file_is_read_again_at_a_reload(path, capsys):
    keys = Keys(path=path)
    rewrite(path, "web k-2\ndesk k-3\n")
    assert keys.name_of("k-1") == "mobile"
    keys.reload()
    assert [keys.name_of(f"k-{number}") for number in (1, 2, 3)] == [None, "web", "desk"]
    assert capsys.readouterr().err.count("API keys are read again") == 1


@pytest.mark.parametrize("content", [None, "web k 2", "# none", "a k\nb k"])
def test_a_file_that_becomes_wrong_changes_nothing_and_is_named(path, content, capsys):
    keys = Keys(path=path)
    if content is None:
        path.unlink()
    else:
        rewrite(path, content)
    keys.reload()
    assert keys.name_of("k-1") == "mobile"
    assert capsys.readouterr().err.count("the API keys of before stay valid\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("web s3cret x", "line 1: is not a name"),
        ("\ns3cret", "line 2: is not a name"),
        ("w/b s3cret", "is not a name"),
        ("web s3crét", "is not a name"),
        ("web s3cret\nweb t", "line 2: there is another key with the name web"),
        ("web s3cret\nmobile s3cret", "line 2: the key of mobile has another name, too"),
        ("default s3cret", "another key with the name default"),
        ("# none", "0 keys; write 1 to 1000"),
    ],
)
def test_what_is_no_key_is_named_without_it(path, content, message):
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(message)) as error:
        Keys("k-0", path)
    assert "s3cret" not in str(error.value)


def test_a_file_has_at_most_a_thousand_keys(path):
    lines = [f"client-{number} k-{number}\n" for number in range(1, 1002)]
    path.write_text("".join(lines[:-1]))
    assert Keys(path=path).name_of("k-1000") == "client-1000"
    path.write_text("".join(lines))
    with pytest.raises(UserError, match="1001 keys; write 1 to 1000"):
        Keys(path=path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        Keys(path=tmp_path / "none")


def test_a_file_that_all_can_read_is_named(path, capsys):
    Keys(path=path)
    assert not capsys.readouterr().err
    path.chmod(0o644)
    Keys(path=path)
    assert "all users of this machine can read the keys" in capsys.readouterr().err


def test_what_is_no_file_is_not_waited_for(path, capsys):
    keys = Keys(path=path)
    path.unlink()
    os.mkfifo(path)
    keys.reload()
    assert keys.name_of("k-1") == "mobile"
    assert f"{path}: is no file of keys" in capsys.readouterr().err
    with pytest.raises(UserError, match="is no file of keys"):
        Keys(path=path.parent)
