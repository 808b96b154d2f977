"""What must hold of DeepL's API: its clients get what they ask for, or learn that they cannot.

The requests are those of WeblateOrg/weblate (machinery/deepl.py), mastodon/mastodon
(translation_service/deepl.rb) and the package deepl.
"""

import pytest
from clients import Capitals, WithoutDigits, client_of

from nmt.serving.keys import Keys
from nmt.serving.limits import Limits

WEBLATE = {
    "text": ['O gato <x id="7"></x> dorme.', "um &lt; dois\nA <b>casa</b>."],
    "source_lang": "PT",
    "target_lang": "EN",
    "formality": "default",
    "tag_handling": "xml",
    "ignore_tags": ["x"],
}


@pytest.fixture(scope="module")
def client():
    headers = {"Authorization": "DeepL-Auth-Key k:fx"}
    runs = Capitals(), Capitals("de", "en")
    with client_of(*runs, limits=Limits(Keys("k:fx")), headers=headers) as client:
        yield client


def texts_of(answer):
    assert answer.status_code == 200, answer.text
    return [translation["text"] for translation in answer.json()["translations"]]


def test_weblate_finds_the_languages_and_no_glossaries(client):
    sources = client.get("/v2/languages", params={"type": "source"}).json()
    targets = client.get("/v2/languages", params={"type": "target"}).json()
    assert {language["language"] for language in sources} == {"PT", "DE"}
    assert {language["language"] for language in targets} == {"EN-GB", "EN-US"}
    assert not any(language["supports_formality"] for language in targets)
    answer = client.get("/v2/glossary-language-pairs")
    assert answer.json() == {"supported_languages": []}


def test_weblates_placeholders_tags_and_line_breaks_are_kept(client):
    first, second = texts_of(client.post("/v2/translate", json=WEBLATE))
    assert first == 'O GATO <x id="7"></x> DORME.'
    assert second == "UM &lt; DOIS\nA <b>CASA</b>."


def test_what_is_in_an_ignored_tag_stays(client):
    text = "um <x>gato</x> <y>dorme</y>, e <x/> <xy>não</xy>"
    asked = WEBLATE | {"text": text, "ignore_tags": "x,y"}
    (translated,) = texts_of(client.post("/v2/translate", json=asked))
    assert translated == "UM <x>gato</x> <y>dorme</y>, E <x/> <xy>NÃO</xy>"


@pytest.mark.parametrize("kind", ["xml", "html"])
@pytest.mark.parametrize(
    "attributes", ['translate="no"', 'a="1" translate="yes"', "translate='no'"]
)
def test_an_ignored_tag_may_say_itself_whether_it_is_translated(client, kind, attributes):
    asked = WEBLATE | {"text": f"um <x {attributes}>gato</x>", "tag_handling": kind}
    (translated,) = texts_of(client.post("/v2/translate", json=asked))
    assert translated == f"UM <x {attributes}>gato</x>"


def test_a_tag_over_several_lines_is_kept(client):
    asked = WEBLATE | {"text": ["um <b>dois\ntrês</b>"]}
    assert texts_of(client.post("/v2/translate", json=asked)) == ["UM <b>DOIS TRÊS</b>"]


def test_mastodons_form_is_answered(client):
    form = {
        "text": ["<p>O gato dorme.</p>", "<p>Die Katze schläft im Haus.<br>Um</p>"],
        "target_lang": "en",
        "tag_handling": "html",
    }
    answer = client.post("/v2/translate", data=form)
    assert texts_of(answer) == ["<p>O GATO DORME.</p>", "<p>DIE KATZE SCHLÄFT IM HAUS.<br>UM</p>"]
    detected = [one["detected_source_language"] for one in answer.json()["translations"]]
    assert detected == ["PT", "DE"]  # each text by itself


def test_text_in_the_target_language_comes_back_as_it_is(client):
    asked = {"text": ["The cat sleeps in the house.", "O gato dorme."], "target_lang": "EN-GB"}
    answer = client.post("/v2/translate", json=asked)
    assert texts_of(answer) == ["The cat sleeps in the house.", "O GATO DORME."]
    first, second = answer.json()["translations"]
    assert first["detected_source_language"] == "EN"
    assert [warning["kind"] for warning in first["warnings"]] == ["unchanged"]
    assert second["warnings"] == []


def test_so_many_names_of_tags_are_refused(client):
    asked = WEBLATE | {"ignore_tags": ["x"] * 101}
    assert client.post("/v2/translate", json=asked).status_code == 413


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"formality": "prefer_more"}, None),
        ({"formality": "more"}, "formality is not supported"),
        ({"glossary_id": "x"}, "glossary_id is not supported"),
        ({"tag_handling": "xliff"}, "tag_handling must be html or xml"),
        ({"tag_handling": "xml", "text": "a < b"}, "not well-formed"),
        ({"tag_handling": "xml", "ignore_tags": "<x"}, "no name of a tag"),
        ({"ignore_tags": ["x"]}, "ignore_tags needs tag_handling"),
        ({"split_sentences": "1", "show_billed_characters": True}, None),
        ({"split_sentences": 1, "preserve_formatting": True}, None),
        ({"split_sentences": "0"}, "split_sentences=0 is not supported"),
        ({"split_sentences": "nonewlines"}, "split_sentences=nonewlines is not supported"),
        ({"split_sentences": "nonewlines", "tag_handling": "html"}, None),
        ({"context": "On a farm."}, "context is not supported"),
        ({"context": ""}, None),
        ({"target_lang": "JA"}, "is not available"),
    ],
)
def test_what_is_not_supported_is_refused(client, asked, message):
    answer = client.post("/v2/translate", json={"text": "um", "target_lang": "EN"} | asked)
    assert answer.status_code == (400 if message else 200)
    assert message is None or message in answer.json()["message"]


def test_lost_numbers_are_in_the_warnings():
    with client_of(WithoutDigits()) as client:
        for kind in ("", "html", "xml"):
            asked = {"text": ["O gato 47."], "source_lang": "PT", "target_lang": "EN"}
            asked["tag_handling"] = kind
            (translation,) = client.post("/v2/translate", json=asked).json()["translations"]
            missing, added = translation["warnings"]
            assert (missing["kind"], missing["items"]) == ("missing", ["47"])
            assert (added["kind"], added["items"]) == ("added", ["11"])


def test_usage_counts_characters(client):
    before = client.get("/v2/usage").json()["character_count"]
    client.post("/v2/translate", json={"text": "um", "target_lang": "EN"})
    assert client.get("/v2/usage").json()["character_count"] == before + 2
