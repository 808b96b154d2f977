"""What must hold while runs are loaded: before the first ones come, and when others take over."""

import threading

import pytest
from clients import ASKED, Capitals, client_of

from nmt import UserError
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits
from nmt.serving.models import Models


def locked(*runs, keys=None, can_reload=True, **options):
    """Returns a client, which sends the key "k", of a server that reloads."""
    limits = Limits(Keys("k") if keys is None else keys)
    headers = {"Authorization": "Bearer k"}
    return client_of(*runs, limits=limits, headers=headers, can_reload=can_reload, **options)


def until(condition):
    """Waits until a function returns something true."""
    pause = threading.Event()
    for _ in range(6000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it has not come")


def test_a_server_lives_before_its_runs_are_loaded_and_is_ready_after():
    begun = threading.Event()

    def load():
        assert begun.wait(60)
        return Models([Capitals()])

    with client_of(load=load) as client:
        assert client.get("/live").status_code == client.get("/").status_code == 200
        assert client.get("/health").json() == {"status": "ok", "warm": False}
        for answer in (client.get("/ready"), client.post("/translate", json=ASKED)):
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        begun.set()
        until(lambda: client.get("/ready").status_code == 200)
        assert client.post("/translate", json=ASKED).json()["translatedText"] == "UM"
        client.app.service.is_ending = True
        assert client.get("/ready").status_code == 503
        assert client.get("/live").status_code == 200


def test_a_request_in_work_ends_on_the_run_that_it_began_with():
    begun, may_end = threading.Event(), threading.Event()

    class Slow(Capitals):
        def translation(self, text):
            if text == "um":
                begun.set()
                assert may_end.wait(60)
            return text

    loaded = [Slow(), Capitals()]
    with locked(load=lambda: Models([loaded.pop(0)])) as client:
        until(lambda: client.get("/ready").status_code == 200)
        answers = []
        thread = threading.Thread(
            target=lambda: answers.append(client.post("/translate", json=ASKED).json())
        )
        thread.start()
        assert begun.wait(60)
        assert client.post("/reload").status_code == 200
        may_end.set()
        thread.join()
        assert answers[0]["translatedText"] == "um"
        assert client.post("/translate", json=ASKED).json()["translatedText"] == "UM"


def test_a_reload_that_fails_changes_nothing_and_is_a_line_and_a_figure(capsys):
    def load():
        raise UserError("runs/mine: damaged")

    with locked(Capitals(), load=load) as client:
        assert client.post("/reload").status_code == 500
        assert client.post("/translate", json=ASKED).json()["translatedText"] == "UM"
        figures = client.get("/metrics").text
    assert 'nmt_reloads_total{result="failed"} 1.0' in figures
    assert "runs/mine: damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keys", "can_reload", "message"),
    [
        (Keys(), True, "by SIGHUP alone"),
        (Keys("k"), False, "start it with --reload"),
        (Keys("other"), True, "API key"),
    ],
)
def test_who_may_not_reload_is_refused(keys, can_reload, message):
    with locked(Capitals(), keys=keys, can_reload=can_reload) as client:
        answer = client.post("/reload")
    assert (answer.status_code, message in answer.text) == (403, True)
