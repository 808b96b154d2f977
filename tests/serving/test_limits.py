"""What must hold of the limits: who may ask, and for how much."""

from types import SimpleNamespace

import pytest

from nmt.serving.access_log import new_access
from nmt.serving.errors import RefusedError
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits


def request(**headers):
    return SimpleNamespace(headers=headers, scope={"access": new_access("POST", {})})


@pytest.mark.parametrize("key", [None, "", ["a"], {"a": 1}, "\ud800", 0])
def test_no_other_key_will_do(key):
    with pytest.raises(RefusedError):
        Limits(keys=Keys("a")).check_key(request(), {"api_key": key})


def test_texts_have_a_number_of_characters():
    small = Limits(max_chars=5)
    small.check_texts(["日本語", "ab"])
    with pytest.raises(RefusedError, match="6 characters; send at most 5") as refusal:
        small.check_texts(["日本語", "abc"])
    assert refusal.value.status == 413
    with pytest.raises(RefusedError, match="501 texts"):
        small.check_texts([""] * 501)
