"""What must hold of suggestions: each is on the disk once, in a memory that `data` reads."""

import concurrent.futures
import re
import resource

import pytest
from clients import Capitals, client_of

from nmt import UserError
from nmt.corpus.formats import tmx
from nmt.corpus.formats.format import Selection
from nmt.corpus.pair_files import new_pairs
from nmt.serving.errors import RefusedError
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits
from nmt.serving.suggestions import Suggestion, SuggestionFile
from nmt.text import tmx_text
from nmt.text.languages import Pair

ASKED = {"q": "um & <b>dois</b>", "s": "one & <b>two</b>", "source": "pt", "target": "en"}
SUGGESTION = Suggestion(Pair("pt", "en"), "um", "one", "pt-en", "final")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corrections.tmx"


@pytest.fixture
def stored(path):
    """The SuggestionFile of `path`."""
    stored = SuggestionFile(path)
    yield stored
    stored.close()


@pytest.fixture
def client(stored, tmp_path):
    """A client of a server that takes suggestions, with the key "mobile"."""
    keys = tmp_path / "keys.txt"
    keys.write_text("mobile k-1\n")
    limits, headers = Limits(Keys(path=keys), max_chars=50), {"Authorization": "Bearer k-1"}
    runs = Capitals(), Capitals("en", "pt")
    with client_of(*runs, limits=limits, headers=headers, suggestions=stored) as client:
        yield client


def pairs(path):
    """Returns the pairs of a memory, which is read as `data` reads it."""
    return [tuple(row.cells) for row in tmx.rows(path, Selection(Pair("pt", "en")), None)]


def test_a_suggestion_is_stored_with_time_run_and_key(client, path):
    assert client.post("/suggest", data=ASKED).json() == {"success": True}
    more = {"q": "two\nlines", "s": "duas\nlinhas", "target": "pt", "source": "en"}
    assert client.post("/suggest", json=more | {"previous": "DUAS"}).json() == {"success": True}
    assert pairs(path) == [(ASKED["q"], ASKED["s"]), ("duas linhas", "two lines")]
    content = path.read_text()
    assert len(re.findall(r'<tu creationdate="\d{8}T\d{6}Z" srclang="(?:pt|en)" ', content)) == 2
    assert content.count('creationid="mobile"') == content.count('"x-weights">final<') == 2
    assert '<prop type="x-run">en-pt</prop>' in content
    assert content.count('<prop type="x-previous">DUAS</prop>') == 1
    assert "k-1" not in content
    assert path.stat().st_mode & 0o077 == 0
    assert client.get("/frontend/settings").json()["suggestions"] is True
    assert "nmt_suggestions_total 2.0" in client.get("/metrics").text


@pytest.mark.parametrize(
    ("changed", "status", "message"),
    [
        ({"s": "a\x01"}, 400, "U+0001 is no character of XML; leave it out"),
        ({"q": " "}, 400, "q or s is empty; send a text and its translation"),
        ({"s": "x" * 51}, 413, "51 characters; send at most 50 per request"),
        ({"previous": "x" * 51}, 413, "51 characters; send at most 50 per request"),
        ({"source": "auto", "q": "the house of the cat and the dog"}, 400,
         "q is in the target language already; name its source"),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_and_changes_nothing(
    client, path, changed, status, message
):
    before = path.read_bytes()
    answer = client.post("/suggest", json=ASKED | changed)
    assert (answer.status_code, answer.json()) == (status, {"error": message})
    assert client.post("/suggest", json=ASKED, headers={"Authorization": ""}).status_code == 403
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://evil.example", 403), ("null", 403), ("http://localhost", 200)],
)
def test_a_page_of_another_origin_cannot_change_what_a_run_learns(client, path, origin, status):
    answer = client.post("/suggest", data=ASKED, headers={"Origin": origin})
    assert answer.status_code == status


def test_many_at_a_time_are_all_stored(stored, path):
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: stored.add(SUGGESTION._replace(source=f"{n}")), range(40)))
    assert {source for source, _ in pairs(path)} == {f"{n}" for n in range(40)}


def test_the_file_is_whole_after_each(stored, path):
    for number in range(3):
        stored.add(SUGGESTION._replace(source=f"{number}"))
        assert path.read_bytes().endswith(tmx_text.END.encode())
        assert len(pairs(path)) == number + 1


def test_a_file_that_is_full_keeps_what_it_has(path):
    stored = SuggestionFile(path, max_bytes=600)
    stored.add(SUGGESTION)
    with pytest.raises(RefusedError, match=r"is full \(600 bytes\)") as refusal:
        stored.add(SUGGESTION)
    assert refusal.value.status == 507
    assert path.stat().st_size <= 600
    assert pairs(path)[0] == ("um", "one")


def test_a_full_disk_keeps_what_is_stored(stored, path):
    stored.add(SUGGESTION)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(RefusedError, match="cannot store it"):
            stored.add(SUGGESTION)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before


def test_a_second_server_is_refused_until_the_first_ends(path):
    stored = SuggestionFile(path)
    with pytest.raises(UserError, match="another server stores suggestions here"):
        SuggestionFile(path)
    stored.close()
    SuggestionFile(path).close()


@pytest.mark.parametrize("content", ["um\tone\n", "foreign"])
def test_a_file_of_something_else_is_refused_and_stays(path, content):
    if content == "foreign":
        with new_pairs([str(path)], Pair("pt", "en")) as write:
            write("um", "one")
    else:
        path.write_text(content)
    before = path.read_bytes()
    with pytest.raises(UserError, match="holds something else than a server's suggestions"):
        SuggestionFile(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("removed", [1, 15, 60])
def test_what_a_killed_server_left_is_mended(path, removed, capsys):
    stored = SuggestionFile(path)
    for number in range(3):
        stored.add(SUGGESTION._replace(source=f"{number}"))
    stored.close()
    path.write_bytes(path.read_bytes()[:-removed])
    stored = SuggestionFile(path)
    assert "after the last whole unit are removed" in capsys.readouterr().err
    stored.add(SUGGESTION)
    stored.close()
    kept = 2 if removed == 60 else 3
    assert [source for source, _ in pairs(path)] == [*"012"[:kept], "um"]


def test_units_that_an_editor_has_joined_in_a_line_are_kept(path):
    stored = SuggestionFile(path)
    stored.add(SUGGESTION)
    stored.close()
    path.write_bytes(path.read_bytes().replace(b"</tu>\n", b"</tu>").rstrip())
    stored = SuggestionFile(path)
    stored.add(SUGGESTION._replace(source="dois"))
    stored.close()
    assert [source for source, _ in pairs(path)] == ["um", "dois"]


def test_a_file_that_is_moved_away_begins_anew(stored, path, tmp_path):
    stored.add(SUGGESTION)
    path.rename(tmp_path / "taken.tmx")
    stored.add(SUGGESTION._replace(source="dois"))
    assert pairs(tmp_path / "taken.tmx") == [("um", "one")]
    assert pairs(path) == [("dois", "one")]


def test_a_file_that_is_spoiled_while_the_server_runs_is_left_alone(stored, path, capsys):
    path.write_text("um\tone\n")
    with pytest.raises(RefusedError, match="cannot store it") as refusal:
        stored.add(SUGGESTION)
    assert refusal.value.status == 507
    assert path.read_text() == "um\tone\n"
    assert "holds something else" in capsys.readouterr().err
