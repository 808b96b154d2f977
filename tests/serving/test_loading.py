"""What must hold of a server of a run that CTranslate2 translates: TensorFlow comes if needed."""

import asyncio
import dataclasses
import threading

import pytest
from clients import client_of

from nmt import UserError
from nmt.messages import log_once
from nmt.runs import loading
from nmt.serving import service as service_module
from nmt.serving.loader import Loader
from nmt.serving.models import Direction, Query, ServedModel

pytestmark = pytest.mark.usefixtures("cold")

TEXT = {"text": "um dois três.", "source": "pt", "target": "en"}
SAMPLES = {**TEXT, "sample": True, "n_best": 2, "seed": 5}


def served_run(run, **choice):
    _, tokenizer, model = loading.load(run, engine=loading.EngineChoice(**choice))
    return ServedModel("numbers", model, tokenizer, [Direction("pt", "en")], [TEXT["text"]])


def answers(client, path, body):
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("choice", [{}, dict(quantization="int8")])
def test_samples_and_attention_are_those_of_tensorflow(finished, choice):
    with client_of(served_run(finished / "run", name="tensorflow")) as client:
        samples = answers(client, "/n-best", SAMPLES)
    with client_of(served_run(finished / "run", **choice)) as client:
        assert answers(client, "/n-best", SAMPLES) == samples
        layer = {**TEXT, "kind": "encoder", "layer": 1}
        assert answers(client, "/attention", layer)["weights"]
        assert client.get("/explorer/numbers").status_code == 200


def test_others_are_answered_while_something_is_loaded(finished, monkeypatch, capsys):
    served = served_run(finished / "run")
    begun, loaded = threading.Event(), threading.Event()
    translate = ServedModel.translate

    def slow(self, query, items):
        if query.sampling and not loaded.is_set():
            begun.set()
            assert loaded.wait(60)
        return translate(self, query, items)

    monkeypatch.setattr(ServedModel, "translate", slow)
    log_once.cache_clear()
    with client_of(served) as client:
        statuses = []
        threads = [
            threading.Thread(target=lambda: statuses.append(answers(client, "/n-best", SAMPLES)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        assert begun.wait(60)
        assert answers(client, "/n-best", TEXT)["translations"]
        assert client.post("/stream", json=TEXT).text.count("event: sentence") == 1
        assert not statuses
        loaded.set()
        for thread in threads:
            thread.join()
    assert len(statuses) == 4
    assert capsys.readouterr().err.count(service_module.LOADING) == 1


def test_what_failed_to_load_is_tried_again():
    tries = []

    def load():
        tries.append(1)
        if len(tries) == 1:
            raise UserError("damaged")

    async def scenario():
        loader = Loader()
        with pytest.raises(UserError, match="damaged"):
            await loader.load("networks", load)
        await loader.load("networks", load)
        await loader.load("networks", load)
        loader.close()

    asyncio.run(scenario())
    assert len(tries) == 2


def test_only_several_translations_are_searched_for_as_a_list(finished):
    """A search for one ends sooner."""
    served = served_run(finished / "run")
    options = dataclasses.replace(served.model.options, beam=5)
    served.model = dataclasses.replace(served.model, options=options)
    query = Query(served, served.directions[0])
    found = [served.translator(query._replace(n_best=number)).options for number in (1, 3, 8)]
    assert [(one.beam, one.n_best) for one in found] == [(5, 1), (5, 5), (8, 8)]
