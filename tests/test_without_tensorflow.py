"""What must hold where TensorFlow cannot be imported: a translation needs no more than an engine.

Each script runs in a process of its own, in which importing TensorFlow or Keras fails.
"""

import shutil
import sys
import textwrap

from helpers import ROOT, run_process, write_tsv

BLOCKED = 'import sys\nsys.modules["tensorflow"] = sys.modules["keras"] = None\n'
MODULES = [
    "nmt.cli.main", "nmt.cli.translate", "nmt.decoding.engines.engine", "nmt.decoding.pipeline",
    "nmt.decoding.translator", "nmt.runs.run_tokenizer", "nmt.serving.app", "nmt.serving.process",
]  # fmt: skip
TRANSLATE = """
    import pathlib
    from nmt.decoding.engines.engine import Hypothesis
    from nmt.decoding.search_options import SearchOptions
    from nmt.decoding.translator import Translator
    from nmt.runs.folder import Run
    from nmt.runs.run_tokenizer import load_tokenizer

    class Copying:
        options, searches_at_once = SearchOptions(beam=1), 1

        def search(self, requests, scored=True, on_token=None):
            return [[Hypothesis(request.source, -1.0, -1.0, True)] for request in requests]

    translate = Translator(Copying(), load_tokenizer(Run(sys.argv[1])))
    print(*translate(["um dois.", "", "três"]), sep="|")
    """


SERVE = """
    from starlette.testclient import TestClient
    from nmt.cli import main, serve
    from nmt.decoding.search_options import Protecting
    from nmt.runs import listing
    from nmt.serving.app import application
    from nmt.serving.limits import Limits
    from nmt.serving.models import Models
    from nmt.serving.service import Service

    args = main.parse_command_line(["serve", "--engine", "ctranslate2"])
    served = serve.load(("pt", "en"), [listing.find(sys.argv[1])], args, Protecting())
    text = {"text": "um 17 dois.", "target": "en"}
    with TestClient(application(Service(Models([served]), Limits()))) as client:
        answer = client.post("/translate", json={"q": text["text"], "source": "pt", "target": "en"})
        print(answer.json()["translatedText"])
        stream = client.post("/stream", json=text).text
        assert answer.text[20:].partition('"')[0] in stream, stream
        assert 'event: end' in stream and stream.endswith('"warnings": []}\\n\\n'), stream
        best = client.post("/n-best", json={**text, "n_best": 3, "details": True}).json()
        assert best["translations"][0]["text"] and best["tokens"][0]["alternatives"], best
        assert client.get("/runs").json()[0]["parameters"] > 0
        for path, asked in (("/n-best", {**text, "sample": True}), ("/attention", text)):
            answer = client.post(path, json=asked)
            assert (answer.status_code, "without --engine" in answer.text) == (400, True)
        assert not client.get("/runs").json()[0]["explorer"]
        assert client.get("/health").json()["warm"]
    """


NOT_CONVERTED = """
    from nmt import UserError
    from nmt.cli import main, serve

    run = sys.argv[1]
    args = main.parse_command_line(["serve", "--engine", "ctranslate2", "--run", run])
    args.languages = ["pt-en"]
    try:
        serve.load_all(args)
    except UserError as error:
        print(error)
    """


EVALUATE = """
    from nmt.cli import main

    run, pairs = sys.argv[1:]
    words = ["evaluate", pairs, "--run", run, "--against", run]
    sys.exit(main.start(words))
    """


SENTENCE = """
    from nmt.cli import main

    code = main.start(["translate", "um dois.", "--run", sys.argv[1]])
    unused = {"nmt.cli.serve", "nmt.documents", "nmt.corpus.cleaning", "numpy", "urllib.request"}
    print(code, *(unused & {*sys.modules}))
    """


def without_tensorflow(script, *arguments):
    """Returns what a script prints in a process that cannot import TensorFlow."""
    command = [sys.executable, "-c", BLOCKED + textwrap.dedent(script), *map(str, arguments)]
    done = run_process(command, cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_translates_is_imported():
    without_tensorflow(f"import {', '.join(MODULES)}")


def test_lines_are_translated_by_another_engine(finished):
    assert without_tensorflow(TRANSLATE, finished / "run") == "um dois.||três\n"


def test_a_sentence_needs_no_other_command_and_no_numpy(finished):
    assert without_tensorflow(SENTENCE, finished / "run").splitlines()[-1] == "0"


def test_a_server_answers(finished):
    assert "17" in without_tensorflow(SERVE, finished / "run")


def test_files_are_evaluated(finished, tmp_path):
    pairs = write_tsv(tmp_path / "pairs.tsv", [("um dois.", "one two."), ("três.", "three.")])
    assert "chrF" in without_tensorflow(EVALUATE, finished / "run", pairs)


def test_a_run_whose_weights_are_not_converted_is_one_line(finished, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run", ignore=shutil.ignore_patterns("engine"))
    said = without_tensorflow(NOT_CONVERTED, tmp_path / "run")
    assert said.count("\n") == 1
    assert "engine/ does not hold these weights" in said
