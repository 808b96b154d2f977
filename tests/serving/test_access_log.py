"""What must hold of the line for each request: it says what was asked, and never any of it."""

import json

import pytest
from clients import ASKED, Capitals, client_of

from nmt import messages
from nmt.messages import Style
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits

SECRET = ASKED | {"q": "segredo", "api_key": "k"}


@pytest.fixture
def client():
    with client_of(Capitals(), limits=Limits(Keys("k"))) as client:
        yield client


@pytest.fixture
def lines(capsys):
    """A function that returns the objects of JSON that have been written to stderr."""
    messages.show(Style("info", "json"))
    yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    messages.show()


def test_a_request_is_a_line_without_its_text_and_key(client, lines):
    answer = client.get("/translate", params=SECRET, headers={"X-Request-ID": "a-7"})
    assert answer.headers["X-Request-ID"] == "a-7"
    client.get("/download_file/0123456789/segredo.txt")
    client.get("/segredo")
    translated, fetched, lost = lines()
    assert translated["milliseconds"] >= 0
    assert {name: translated[name] for name in ("method", "route", "status", "characters")} == {
        "method": "GET", "route": "/translate", "status": 200, "characters": 7,
    }  # fmt: skip
    assert (translated["request"], translated["level"]) == ("a-7", "info")
    assert (translated["key"], fetched["key"]) == ("default", None)
    assert (fetched["route"], fetched["status"]) == ("/download_file/{key}/{name}", 404)
    assert (lost["route"], lost["status"]) == ("other", 404)
    written = json.dumps([translated, fetched, lost])
    assert "segredo" not in written
    assert "0123456789" not in written


@pytest.mark.parametrize("given", [None, "", "a b", "a" * 129, "<b>", "ç".encode()])
def test_an_id_that_is_missing_or_not_sane_is_made(client, given):
    headers = {} if given is None else {"X-Request-ID": given}
    first, second = (client.get("/", headers=headers).headers["X-Request-ID"] for _ in range(2))
    assert len(first) == len(second) == 32
    assert first != second


def test_what_monitors_ask_is_shown_if_it_fails(client, lines):
    assert client.get("/health").status_code == 200
    assert client.get("/metrics").status_code == 403
    (line,) = lines()
    assert (line["route"], line["status"]) == ("/metrics", 403)
