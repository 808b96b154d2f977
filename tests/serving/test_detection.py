"""What must hold of the languages: each text is translated from the one that it is in."""

import threading

import pytest
from clients import ASKED, Capitals, client_of

from nmt.serving.detection import Detector
from nmt.serving.models import Direction, directions_of
from nmt.text import line_languages


@pytest.fixture(scope="module")
def client():
    with client_of(Capitals(), Capitals("en", "pt-BR"), Capitals("de", "en")) as client:
        yield client


def kinds(warnings):
    return [warning["kind"] for warning in warnings]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("O gato dorme.", "pt"),
        ("Bom dia.", "pt"),
        ("O gato {name} 4711 dorme: https://www.example.org/the-house-of-the-cat", "pt"),
        ("ONDE FICA A ESTAÇÃO?", "pt"),
        ("The cat sleeps.", "en"),
        ("the dogs do not run", "en"),
    ],
)
def test_the_target_language_is_recognized_as_well_as_the_source(text, code):
    best, other = Detector(["pt", "en"])(text)
    assert (best.code, best.is_sure, other.is_sure) == (code, True, False)


@pytest.mark.parametrize(
    "text",
    [
        "Der Hund schläft im Haus.", "El gato duerme en la casa.", "asdf qwer zxcv", "日本語です",
        "4711 !", "",
    ],
)  # fmt: skip
def test_confidence_is_low_for_text_in_none_of_the_languages(text):
    detections = Detector(["pt", "en"])(text)
    assert [detection.is_sure for detection in detections] == [False, False]


def test_a_server_listens_before_languages_can_be_recognized(monkeypatch):
    loaded = threading.Event()
    monkeypatch.setattr(line_languages, "load_identifier", lambda: loaded.wait(60))
    with client_of(Capitals()) as starting:
        assert starting.post("/translate", json=ASKED).json()["translatedText"] == "UM"
        assert starting.get("/health").json()["warm"] is False
        loaded.set()


def test_each_variety_has_the_confidence_of_its_language():
    brazilian, european, english = Detector(["pt-BR", "en", "pt-PT"])("Isto é uma casa.")
    assert brazilian.confidence == european.confidence > 90
    assert english.code == "en"
    assert Detector(["nb", "en"])("Dette er en fin dag i Oslo.")[0].code == "nb"
    assert Detector(["hsb", "de"])("Hier steht ein Haus.")[0].code == "de"  # hsb is unknown


def test_a_batch_of_several_languages_is_translated_from_each(client):
    texts = ["O gato dorme.", "Der Hund schläft im Haus.", "The cat sleeps.", "O gato come."]
    answer = client.post("/translate", json={"q": texts, "source": "auto", "target": "en"}).json()
    detected = [detection["language"] for detection in answer["detectedLanguage"]]
    assert detected == ["pt", "de", "en", "pt"]
    assert answer["translatedText"] == [
        "O GATO DORME.", "DER HUND SCHLÄFT IM HAUS.", "The cat sleeps.", "O GATO COME.",
    ]  # fmt: skip
    assert [kinds(warnings) for warnings in answer["warnings"]] == [[], [], ["unchanged"], []]
    figures = client.get("/metrics").text
    assert 'nmt_characters_total{source="de",target="en"}' in figures


def test_own_routes_know_the_language_of_each_text(client):
    asked = {"text": ["O gato dorme.", "The cat sleeps."], "target": "en"}
    first, second = client.post("/n-best", json=asked).json()
    assert (first["source"], second["source"]) == ("pt", "en")
    assert second["translations"][0]["text"] == "The cat sleeps."
    assert kinds(second["warnings"]) == ["unchanged"]
    stream = client.post("/stream", json={"text": "The cat sleeps.", "target": "en"}).text
    assert '"text": "The cat sleeps."' in stream
    assert '"source": "en", "target": "en"' in stream
    assert '"kind": "unchanged"' in stream
    answer = client.post("/attention", json={"text": "The cat sleeps.", "target": "en"})
    assert "name its source" in answer.json()["error"]


def test_text_of_an_unknown_language_is_translated_with_a_warning(client):
    asked = {"q": "El gato duerme en la casa.", "source": "auto", "target": "en"}
    answer = client.post("/translate", json=asked).json()
    assert answer["detectedLanguage"]["confidence"] < 50
    assert kinds(answer["warnings"]) == ["unrecognized"]
    for text, target in ((asked["q"], "pt-BR"), ("Hij woont in een huis.", "en")):
        answer = client.post("/translate", json=asked | {"q": text, "target": target}).json()
        (warning,) = answer["warnings"]
        assert warning["items"] == [answer["detectedLanguage"]["language"]]  # taken for it
    for text in ("4711", "{name} https://www.example.org/the-house-of-the-cat"):
        answer = client.post("/translate", json=asked | {"q": text}).json()
        assert answer["warnings"] == []


def test_a_target_that_no_run_has_is_named_without_a_source(client):
    answer = client.post("/translate", json={"q": "Bom dia.", "source": "auto", "target": "fr"})
    assert answer.json()["error"].startswith("translation into fr is not available; this server")


def test_html_is_recognized_by_its_text(client):
    page = "<style>.the { of: and }</style><p class='the house of the cat'>O gato dorme.</p>"
    asked = {"q": page, "source": "auto", "target": "en", "format": "html"}
    assert client.post("/translate", json=asked).json()["detectedLanguage"]["language"] == "pt"


@pytest.mark.parametrize(
    ("source", "target", "status"),
    [("en", "pt-BR", 200), ("en", "pt", 200), ("EN", "pt_br", 200), ("pt-PT", "en", 200),
     ("en", "pt-PT", 400),
     ("e", "pt", 400), ("pt", "de", 400), ("auto", "de", 400)],
)  # fmt: skip
def test_a_region_may_be_missing_if_that_leaves_no_doubt(client, source, target, status):
    asked = {"q": "Das ist ein Haus.", "source": source, "target": target}
    assert client.post("/translate", json=asked).status_code == status


def test_suggestions_are_refused_in_the_words_of_libretranslate(client):
    answer = client.post("/suggest", data={"q": "um", "s": "one", "source": "pt", "target": "en"})
    assert answer.status_code == 403
    assert answer.json() == {"error": "suggestions are disabled on this server"}
    assert client.get("/frontend/settings").json()["suggestions"] is False


def test_several_targets_have_tags():
    assert directions_of(["en", "de"], "") == [Direction("en", "de")]
    assert directions_of(["en", "de", "fr"], "<2de> ((X)) <2fr>") == [
        Direction("en", "de", "<2de>"),
        Direction("en", "fr", "<2fr>"),
    ]
    with pytest.raises(ValueError, match="none"):
        directions_of(["en", "de", "fr"], "")
