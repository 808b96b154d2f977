"""What must hold of the server's answers: whoever asks, in whichever way, of a tiny run."""

import dataclasses
import json

import keras
import pytest
from clients import client_of
from helpers import make_translator, networks_of

from nmt.decoding.confidence import Estimator
from nmt.decoding.model import Model
from nmt.network.factory import build_transformer
from nmt.options import Options
from nmt.serving import app, notices, openapi
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits
from nmt.serving.models import Direction, ServedModel
from transformer_model import END

pytestmark = pytest.mark.usefixtures("cold")

TEXT = "Um dois três."
ASKED = {"q": TEXT, "source": "pt", "target": "en"}
BEST = {"text": TEXT, "source": "pt", "target": "en"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def served(tokenizer):
    """A run of random weights whose translations are short."""
    options = Options(num_layers=1, d_model=16, dff=16, num_heads=2, beam=1)
    keras.utils.set_random_seed(1)
    transformer = build_transformer(options, tokenizer.vocab_size)
    kernel, bias = transformer.final_layer.get_weights()
    bias[END] += 0.5
    transformer.final_layer.set_weights([kernel, bias])
    model = Model(options, lambda: networks_of(transformer))
    return ServedModel("numbers", model, tokenizer, [Direction("pt", "en")], [TEXT])


@pytest.fixture(scope="module")
def client(served):
    with client_of(served) as client:
        yield client


@pytest.fixture(scope="module")
def translation(served):
    """The translation of TEXT by the Translator alone."""
    translator = make_translator(served.model.transformer, served.tokenizer, beam=1, language="pt")
    text = next(translator([TEXT]))
    assert text
    return text


def events(answer):
    """Returns the server-sent events of an answer: name and data."""
    blocks = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in blocks
    ]


# ---- LibreTranslate ----


@pytest.mark.parametrize(
    "options",
    [
        dict(json=ASKED),
        dict(data=ASKED),
        dict(params=ASKED),
        dict(files={name: (None, value) for name, value in ASKED.items()}),
        dict(content=json.dumps(ASKED), headers={"Content-Type": "text/plain"}),
        dict(content=json.dumps(ASKED), headers=FORM),
    ],
    ids=["json", "form", "query", "multipart", "untyped", "curl"],
)
def test_a_text_may_be_sent_in_five_ways(client, translation, options):
    answer = client.post("/translate", **options)
    assert answer.json() == {"translatedText": translation, "warnings": []}


def test_a_list_is_answered_by_a_list_as_long_whatever_it_holds(client, translation):
    answer = client.post("/translate", json=ASKED | {"q": [TEXT, "", TEXT]}).json()
    assert answer == {"translatedText": [translation, "", translation], "warnings": [[]] * 3}
    odd = ["<img src=x onerror=alert(1)> & \x00", "\x00", "\u202e", "a" * 4000, "\n\n", "<s> <pad>"]
    for texts in ([], odd):
        answer = client.post("/translate", json=ASKED | {"q": texts})
        assert len(answer.json()["translatedText"]) == len(texts)


def test_unknown_fields_of_a_translation_are_in_its_warnings(client):
    asked = {"q": "um", "source": "pt", "target": "en", "confidense": True}
    (warning,) = client.post("/translate", json=asked).json()["warnings"]
    assert (warning["kind"], warning["items"]) == ("ignored", ["confidense"])


def test_a_language_is_detected_if_that_is_asked(client):
    answer = client.post("/translate", json=ASKED | {"source": "auto"}).json()
    assert answer["detectedLanguage"]["language"] == "pt"
    best, other = client.post("/detect", data={"q": TEXT}).json()
    assert answer["detectedLanguage"] == best
    assert best["confidence"] > 80
    assert other["confidence"] < 10
    assert other["language"] == "en"


def test_clients_learn_the_languages_and_the_limits(client):
    assert client.get("/languages").json() == [
        {"code": "pt", "name": "Portuguese", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []},
    ]
    settings = client.get("/frontend/settings").json()
    assert settings["charLimit"] == 5000
    assert settings["keyRequired"] is False
    assert client.get("/health").json()["status"] == "ok"


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (dict(content=b"{"), 400, "not JSON"),
        (dict(content=b"[" * 10_000), 400, "not JSON"),
        (dict(content=b"[1]"), 400, "JSON object"),
        (dict(content=b"\xff\xfe"), 400, "not UTF-8"),
        (dict(content="q=%ff", headers=FORM), 400, "not UTF-8"),
        (dict(json=ASKED | {"q": 1}), 400, "must be a string"),
        (dict(json=ASKED | {"q": "x" * 5001}), 413, "5001 characters"),
        (dict(content=b'{"q": "\\ud800", "source": "pt", "target": "en"}'), 400, "half a char"),
        (dict(json=ASKED | {"target": "xx"}), 400, "this server has pt-en"),
        (dict(json=ASKED | {"format": "pdf"}), 400, "format must be"),
        (dict(json=ASKED | {"alternatives": "many"}), 400, "alternatives must be a number"),
        (dict(params=ASKED | {"alternatives": "1e400"}), 400, "alternatives must be a number"),
        (dict(content=b" " * 2_000_001), 413, "at most 2000000 bytes"),
        (dict(headers={"Content-Type": "multipart/form-data"}, content=b"x"), 400, "multipart"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(client, options, status, message):
    answer = client.post("/translate", **options)
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_a_failure_is_an_answer_and_the_server_lives(client, served, monkeypatch, capsys):
    monkeypatch.setattr(ServedModel, "translate", lambda *_: 1 / 0)
    answer = client.post("/translate", json=ASKED)
    assert (answer.status_code, answer.json()) == (
        500,
        {"error": "the server failed; its log says why"},
    )
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.undo()
    assert client.post("/translate", json=ASKED).status_code == 200


# ---- The server's own ----


def test_a_translation_is_streamed_as_it_is_generated(client, served, translation):
    asked = {"text": f"{TEXT} {TEXT}", "source": "pt", "target": "en"}
    received = events(client.post("/stream", json=asked))
    names = [name for name, _ in received]
    assert names[0] == "partial"
    assert names[-1] == "end"
    finished = [data for name, data in received if name == "sentence"]
    assert [data["text"] for data in finished] == [translation, translation]
    assert [data["given"] for data in finished] == [TEXT, TEXT]
    end = dict(received)["end"]
    assert (end["source"], end["target"]) == ("pt", "en")
    partial = [data["text"] for name, data in received if name == "partial"]
    assert partial[0] == ""
    assert sorted(partial[: names.index("sentence")], key=len)[-1] in translation
    tokens = finished[0]["tokens"]
    assert tokens[0]["alternatives"][0]["id"] == tokens[0]["id"]  # greedy
    assert len(finished[0]["attention"]) == len(tokens)
    assert len(finished[0]["attention"][0]) == len(finished[0]["source"])

    chosen = tokens[0]["alternatives"][3]["id"]
    again = events(client.post("/stream", json=asked | {"prefixes": [[chosen], []]}))
    texts = [data for name, data in again if name == "sentence"]
    assert texts[0]["tokens"][0]["id"] == chosen
    assert texts[1]["text"] == translation


def test_a_stream_keeps_what_must_not_change_and_names_sentences_without_their_tag(served):
    options = dataclasses.replace(served.model.options, symbols="<2en>")
    model = dataclasses.replace(served.model, options=options)
    direction = Direction("pt", "en", "<2en>")
    tagged = dataclasses.replace(served, model=model, directions=[direction])
    with client_of(tagged) as client:
        text = "um 4711. Dois {name}.\nTrês."
        received = events(client.post("/stream", json=BEST | {"text": text}))
        translated = client.post("/translate", json=ASKED | {"q": text}).json()["translatedText"]
    finished = [data for name, data in received if name == "sentence"]
    assert [data["given"] for data in finished] == ["um 4711.", "Dois {name}.", "Três."]
    assert "".join(data["text"] + data["space"] for data in finished) == translated
    assert translated.count("4711") == translated.count("{name}") == 1


@pytest.fixture(scope="module")
def sure(served):
    """A client of a server with a cache, whose run is calibrated."""
    estimator = Estimator((2.0, -1.0, 0.0, 0.0), (0.0, 9.0), (-9.0, 9.0), ((0, 0), (100, 100)))
    calibrated = dataclasses.replace(served.model, estimator=estimator)
    with client_of(dataclasses.replace(served, model=calibrated), cached_texts=100) as client:
        yield client


def test_a_calibrated_run_says_how_sure_it_is_in_every_answer(client, sure, translation):
    assert client.post("/n-best", json=BEST).json()["confidence"] is None
    known = sure.post("/n-best", json=BEST).json()["confidence"]
    assert 0 < known < 89  # 100 / (1 + exp(-2)) without any surprise
    received = dict(events(sure.post("/stream", json=BEST)))
    assert received["sentence"]["confidence"] == known
    assert sure.post("/translate", json=ASKED).json().keys() == {"translatedText", "warnings"}
    asked = ASKED | {"confidence": True}
    for _ in range(2):  # the second one comes from the cache
        answer = sure.post("/translate", json=asked).json()
        assert (answer["translatedText"], answer["confidence"]) == (translation, known)
    first, other, last = sure.post("/translate", json=asked | {"q": [TEXT, "um", TEXT]}).json()[
        "confidence"
    ]
    assert first == last == known != other
    form = ASKED | {"confidence": "true", "alternatives": "2"}
    assert 0 < sure.post("/translate", data=form).json()["confidence"] < 89


def test_confidence_is_null_where_nothing_is_known_of_it(client, sure):
    asked = ASKED | {"confidence": True}
    assert client.post("/translate", json=asked).json()["confidence"] is None  # not calibrated
    markup = {"q": [f"<p>{TEXT}</p>"] * 2, "format": "html"}
    assert sure.post("/translate", json=asked | markup).json()["confidence"] == [None, None]
    english = {"q": "the house of the cat and the dog", "source": "auto"}
    assert sure.post("/translate", json=asked | english).json()["confidence"] is None


def test_the_explorer_of_a_server_offers_sentences_that_are_not_too_long(served):
    test_lines = [f"{TEXT} {TEXT}", "um " * 300]
    with client_of(dataclasses.replace(served, examples=test_lines)) as client:
        page = client.get("/explorer/numbers").text
    _, _, after = page.partition('"examples":')
    examples, _ = json.JSONDecoder().raw_decode(after)
    assert [example["text"] for example in examples] == [TEXT, TEXT]


def test_samples_are_drawn_as_each_request_asks(client):
    """All requests share one search, whose numbers are variables."""

    def sample(**fields):
        asked = BEST | {"sample": True, "n_best": 4}
        answer = client.post("/n-best", json=asked | fields).json()
        return [translation["text"] for translation in answer["translations"]]

    first = sample(seed=1)
    assert len(set(first)) > 1
    assert sample(seed=2) != first
    assert sample(seed=1) == first
    assert len(set(sample(top_k=1))) == 1


def test_details_are_those_of_the_first_translation_of_a_list(served):
    """A wider beam finds other translations than the run's own."""
    model = dataclasses.replace(
        served.model, options=dataclasses.replace(served.model.options, beam=4)
    )
    wide = dataclasses.replace(served, model=model)
    texts = [TEXT, "Nove oito sete seis.", "Quatro cinco.", "Sete um nove."]
    asked = BEST | {"text": texts, "n_best": 8, "details": True}
    with client_of(wide) as client:
        answers = client.post("/n-best", json=asked).json()
    for answer in answers:
        assert len(answer["translations"]) > 4
        best = answer["translations"][0]["text"]
        tokens = [score["token"] for score in answer["tokens"] if score["token"] != "</s>"]
        assert served.tokenizer.processor.decode(tokens).split() == best.lower().split()
        links = answer["alignment"]
        assert {target for _, target in links} == set(range(len(best.split())))


def test_text_beyond_the_limits_of_the_run_is_in_the_warnings(client, monkeypatch):
    monkeypatch.setattr(notices, "MAX_SOURCE_TOKENS", 100)
    for words, kind in ((60, "long"), (150, "cut")):
        text = "um " * words
        answer = client.post("/translate", json=ASKED | {"q": text}).json()
        assert [warning["kind"] for warning in answer["warnings"]] == [kind]
        *_, (name, data) = events(client.post("/stream", json=BEST | {"text": text}))
        assert name == "end"
        assert [warning["kind"] for warning in data["warnings"]] == [kind]


def test_a_request_may_have_its_own_glossary(client, translation):
    with_terms = client.post("/n-best", json=BEST | {"glossary": {"dois": "xyzzy"}}).json()
    assert "xyzzy" in with_terms["translations"][0]["text"]
    assert with_terms["warnings"] == []
    without = client.post("/n-best", json=BEST).json()
    assert without["translations"][0]["text"] == translation


@pytest.mark.parametrize(
    ("path", "asked", "message"),
    [
        ("/n-best", {"glossary": ["um"]}, "glossary must be an object"),
        ("/n-best", {"glossary": {"um": 1}}, "each term of glossary must be a string"),
        ("/n-best", {"glossary": {"um": " "}}, "that is no text"),
        ("/n-best", {"glossary": {"um": "x" * 201}}, "at most 200 characters"),
        ("/n-best", {"glossary": {str(n): "x" for n in range(201)}}, "at most 200"),
        ("/n-best", {"n_best": 9}, "n_best must be a number from 1 to 8"),
        ("/n-best", {"top_k": 3}, "top_k goes with sample"),
        ("/n-best", {"sample": True, "temperature": 0}, "temperature must be"),
        ("/n-best", {"sample": True, "details": True}, "samples have no details"),
        ("/stream", {"prefixes": [[0]]}, "ids of tokens"),
        ("/stream", {"prefixes": "x"}, "lists of at most"),
        ("/stream", {"prefixes": [[10**9]]}, "ids of tokens"),
        ("/attention", {"text": "um " * 300}, "more than 200 tokens"),
        ("/attention", {"kind": "x"}, "kind must be one of"),
    ],
)
def test_wrong_requests_of_other_routes_are_told_so(client, path, asked, message):
    answer = client.post(path, json={"text": TEXT, "target": "en"} | asked)
    assert message in answer.json()["error"]


def test_attention_is_that_of_the_network(client, translation):
    answer = client.post("/attention", json={"text": TEXT, "target": "en"}).json()
    assert answer["translation"] == translation
    (heads, queries, keys) = (2, len(answer["queries"]), len(answer["keys"]))
    assert [len(answer["weights"]), len(answer["weights"][0])] == [heads, queries]
    assert sum(answer["weights"][0][0]) == pytest.approx(1, abs=0.01)
    assert keys == len(answer["weights"][0][0])


def test_every_route_is_described(client):
    paths = client.get("/openapi.json").json()["paths"]
    routes = {route.path for route in client.app.routes}
    assert routes - set(paths) == {*app.PAGE_FILES, "/docs", "/openapi.json"}
    assert set(paths) <= routes
    page = client.get("/docs").text
    for operation in openapi.OPERATIONS:
        assert operation.path in page


def test_a_run_can_be_explored(client):
    (run,) = client.get("/runs").json()
    assert run["explorer"] is True
    assert run["languages"] == [{"source": "pt", "target": "en"}]
    assert client.get("/explorer/numbers").text.startswith("<!DOCTYPE html>")
    assert client.get("/explorer/..%2Fparams.py").status_code == 404


def test_a_server_with_a_key_gives_its_weights_to_nobody(served):
    locked = client_of(served, limits=Limits(Keys("k")))
    (run,) = locked.get("/runs").json()
    assert (run["explorer"], run["examples"]) == (False, [])
    refused = locked.get("/explorer/numbers")
    assert refused.status_code == 404
    assert "a server with a key has no explorer" in refused.json()["error"]
    assert "no such run" in locked.get("/explorer/other").json()["error"]


def test_a_prefix_counts_for_each_text(client):
    answer = client.post("/n-best", json=BEST | {"text": ["um"] * 10, "prefix": "a" * 1000})
    assert answer.status_code == 413
    assert "10000 characters" in answer.json()["error"]


def test_an_overloaded_stream_is_refused_before_it_begins(served):
    with client_of(served, max_waiting=0) as overloaded:
        answer = overloaded.post("/stream", json=BEST)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
