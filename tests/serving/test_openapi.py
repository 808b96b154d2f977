"""What must hold of the description of the server: keys, errors and answers are as it says."""

import pytest
from clients import ASKED, Capitals, client_of

from nmt.serving import openapi
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits

REQUESTS = {  # by path, of those whose answer is a JSON object
    "/translate": ASKED,
    "/n-best": {"text": "um", "source": "pt", "target": "en"},
    "/v2/translate": {"text": "um", "source_lang": "PT", "target_lang": "EN"},
    "/v2/usage": None,
    "/v2/glossary-language-pairs": None,
}
POSTS = [operation for operation in openapi.OPERATIONS if operation.method == "post"]
PATHS = [operation.path for operation in openapi.OPERATIONS]


@pytest.fixture(scope="module")
def client():
    with client_of(Capitals()) as client:
        yield client


@pytest.fixture(scope="module")
def locked():
    with client_of(Capitals(), limits=Limits(Keys("k"))) as client:
        yield client


@pytest.mark.parametrize("operation", openapi.OPERATIONS, ids=PATHS)
def test_a_key_is_wanted_where_the_description_says_so(client, locked, operation):
    described = locked.get("/openapi.json").json()["paths"][operation.path][operation.method]
    answer = locked.request(operation.method, operation.path)
    assert (answer.status_code == 403) == ("security" in described)
    if answer.status_code >= 400:
        schema = described["responses"][str(answer.status_code)]["content"]["application/json"]
        (name,) = answer.json()
        assert schema["schema"]["$ref"].endswith(name.capitalize())
    described = client.get("/openapi.json").json()["paths"][operation.path][operation.method]
    assert "security" not in described


@pytest.mark.parametrize("operation", POSTS, ids=[operation.path for operation in POSTS])
def test_a_field_that_is_required_is_missed(client, operation):
    answer = client.post(operation.path, json={})
    required = [field.name for field in operation.fields if field.required]
    assert (answer.status_code == 400) == bool(required)
    assert not required or any(name in answer.text for name in required)


@pytest.mark.parametrize(("path", "asked"), REQUESTS.items())
def test_an_answer_has_the_fields_that_are_described(client, path, asked):
    (operation,) = (one for one in openapi.OPERATIONS if one.path == path)
    answer = client.request(operation.method, path, json=asked)
    assert answer.status_code == 200
    names = {field.name for field in operation.answer_fields if field.required}
    assert names == answer.json().keys()
    assert answer.headers["content-type"].startswith(operation.media_type)


def test_answers_of_files_and_of_auto_have_the_fields_that_are_described(client):
    file = {"file": ("a.txt", b"um")}
    answer = client.post("/translate_file", data=ASKED, files=file).json()
    (operation,) = (one for one in openapi.OPERATIONS if one.path == "/translate_file")
    assert answer.keys() == {field.name for field in operation.answer_fields}
    asked = ASKED | {"source": "auto", "alternatives": 1, "confidence": True}
    (operation,) = (one for one in openapi.OPERATIONS if one.path == "/translate")
    answer = client.post("/translate", json=asked).json()
    assert answer.keys() == {field.name for field in operation.answer_fields}


@pytest.mark.parametrize("path", ["/n-best", "/stream", "/attention"])
def test_fields_that_would_be_ignored_are_refused(client, path):
    answer = client.post(path, json={"text": "um", "target": "en", "n_bst": 3})
    assert (answer.status_code, "n_bst is not supported" in answer.text) == (400, True)
