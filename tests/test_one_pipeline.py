"""What must hold of all ways to translate: the same text, whatever must not change."""

import json

import pytest
from helpers import call, write_tsv
from starlette.testclient import TestClient

from nmt.decoding.engines.choice import CTRANSLATE2, TENSORFLOW
from nmt.decoding.engines.ctranslate2 import CTranslate2Engine
from nmt.decoding.search_options import Protecting
from nmt.results.explorer import page
from nmt.runs import loading
from nmt.runs.loading import EngineChoice
from nmt.serving.app import application
from nmt.serving.limits import Limits
from nmt.serving.models import Direction, Models, ServedModel
from nmt.serving.service import Service
from nmt.text.glossary import read_glossary

pytestmark = pytest.mark.usefixtures("cold")

LINES = [  # the first of each is one sentence
    "um dois três.",
    "um 48213 dois.",
    "quatro {name} cinco.",
    "<b>um</b> dois três.",
    "48213",
    "seis",
    "Um 48213 dois. Três {name}. Dois.",
]
SINGLE = LINES[:-1]
OTHER_SEARCHES = [(CTRANSLATE2, 1), (TENSORFLOW, 1), (TENSORFLOW, 3)]


@pytest.fixture(scope="module")
def glossary(tmp_path_factory):
    """A file of one term, whose translation the network never writes."""
    return write_tsv(tmp_path_factory.mktemp("terms") / "terms.tsv", [("dois", "deux")])


@pytest.fixture(
    scope="module",
    params=[
        (CTRANSLATE2, 3),
        *(pytest.param(param, marks=pytest.mark.slow) for param in OTHER_SEARCHES),
    ],
    ids=lambda param: "{}, beam {}".format(*param),
)
def translate(request, finished, glossary):
    """The Translator of a trained run, as Python users load it."""
    engine, beam = request.param
    return loading.load_translator(finished / "run", glossary=glossary, beam=beam, engine=engine)


@pytest.fixture(scope="module")
def engine(translate):
    """The name of the engine."""
    is_ctranslate2 = isinstance(translate.context.engine, CTranslate2Engine)
    return CTRANSLATE2 if is_ctranslate2 else TENSORFLOW


@pytest.fixture(scope="module")
def texts(translate):
    """What the Translator gives for LINES."""
    texts = list(translate(LINES))
    for line, text in zip(LINES, texts, strict=True):
        assert not translate.difference(line, text)
    assert any("deux" in text for text in texts)
    return texts


def test_a_glossary_none_of_whose_terms_occurs_is_named(translate, capsys):
    list(translate(["seis"] * 99 + ["dois"]))
    assert "No term" not in capsys.readouterr().err
    list(translate(["seis"] * 99))
    assert "No term" not in capsys.readouterr().err
    list(translate(["seis"] * 100))
    assert "No term of the glossary occurs in 100 lines." in capsys.readouterr().err


@pytest.fixture(scope="module")
def served(finished, glossary, translate, engine):
    """A client of a server of that run, with the same search."""
    beam = translate.context.options.beam
    _, tokenizer, model = loading.load(finished / "run", engine=EngineChoice(engine), beam=beam)
    protecting = Protecting(glossary=read_glossary(glossary))
    one = ServedModel("numbers", model, tokenizer, [Direction("en", "fr")], [], protecting)
    with TestClient(application(Service(Models([one]), Limits()))) as client:
        yield client


def streamed(client, line):
    """Returns the text that a stream ends with."""
    asked = {"text": line, "source": "en", "target": "fr"}
    events = client.post("/stream", json=asked).text.split("\n\n")
    text = ""
    for event in events:
        name, _, data = event.partition("\n")
        if name == "event: sentence":
            sentence = json.loads(data.removeprefix("data: "))
            text += sentence["text"] + sentence["space"]
    return text


def test_hypotheses_begin_with_the_translation(translate, texts):
    assert [best[0].text for best in translate.hypotheses(LINES, at_a_time=2)] == texts


def test_attention_is_that_of_the_same_text(translate, texts):
    attended = [translate.attend(line).texts[1] for line in SINGLE]
    assert attended == texts[: len(SINGLE)]


def test_the_explorer_has_the_same_text(translate, texts):
    examples = [page.example(translate, line) for line in SINGLE]
    assert [example.translation for example in examples] == texts[: len(SINGLE)]
    decoded = translate.context.tokenizer.decode([example.target for example in examples])
    assert decoded == texts[: len(SINGLE)]  # which the page writes again


def test_a_server_and_its_stream_give_the_same_text(served, texts):
    asked = {"q": LINES, "source": "en", "target": "fr"}
    assert served.post("/translate", json=asked).json()["translatedText"] == texts
    assert [streamed(served, line) for line in LINES] == texts


def test_commands_print_the_same_text(
    finished, translate, engine, texts, glossary, tmp_path, capsys
):
    beam = ["--run", finished / "run", "--beam", translate.context.options.beam]
    beam += ["--engine", engine]
    assert call("translate", *beam, "--glossary", glossary, *LINES) == 0
    assert capsys.readouterr().out.splitlines() == texts
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    source.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    assert call("translate-file", *beam, "--glossary", glossary, source, target) == 0
    assert target.read_text(encoding="utf-8").splitlines() == texts


def test_a_stream_begins_with_the_tokens_chosen(translate):
    (sentence,) = translate.sentences("um 48213 dois.")
    (again,) = translate.sentences("um 48213 dois.", [sentence.target[1:3]])
    assert again.target[:3] == sentence.target[:3]
    assert again.translation == sentence.translation
