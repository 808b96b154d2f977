"""What must hold of files: which are translated, what is refused, how long one may be fetched."""

import asyncio
import io
import zipfile

import pytest
from clients import ASKED, Capitals, WithoutDigits, client_of

from nmt.serving import stored_files, translated_texts, uploads
from nmt.serving.errors import RefusedError
from nmt.serving.fields import UploadedFile
from nmt.serving.limits import Limits
from nmt.serving.stored_files import TranslatedFiles
from nmt.serving.uploads import Upload


@pytest.fixture(scope="module")
def run():
    return Capitals()


@pytest.fixture(scope="module")
def client(run):
    with client_of(run, limits=Limits(max_chars=100)) as client:
        yield client


def send(client, name, content, **fields):
    return client.post("/translate_file", data=ASKED | fields, files={"file": (name, content)})


def fetch(client, answer):
    """Returns the translated file of an answer, as a response."""
    return client.get(answer.json()["translatedFileUrl"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "um\r\n\r\num"),
        ("b.html", "<p>um <b>um</b></p>"),
        ("ç %2F.srt", "1\n00:00:01,000 --> 00:00:02,000\num\n"),
        ("empty.txt", ""),
    ],
)
def test_a_file_is_translated_and_fetched(client, name, content):
    file = fetch(client, send(client, name, content.encode()))
    assert file.content.decode() == content.replace("um", "UM")
    ending = name.rpartition(".")[2]
    disposition = file.headers["content-disposition"]
    assert disposition.startswith("attachment; filename*=UTF-8''")
    assert disposition.endswith(f".en.{ending}")
    assert file.headers["content-security-policy"] == "sandbox"


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("<p class='x'> a &amp; b </p>\n", "<p class='x'> A &amp; B </p>\n"),
        ("<script>if (a < b) c()</script><p>a", "<script>if (a < b) c()</script><p>A"),
        ('<meta charset="latin1"><p>ç日', '<meta charset="latin1"><p>Ç日'),
        ("<p>a<!-- b", "<p>A<!-- b"),
        ("", ""),
    ],
)
def test_html_is_translated_and_its_tags_are_not(client, text, translated):
    answer = client.post("/translate", json=ASKED | {"q": text, "format": "html"})
    assert answer.json() == {"translatedText": translated, "warnings": []}


def test_the_answer_says_what_was_left_of_a_file_and_what_was_lost():
    with client_of(WithoutDigits()) as client:
        answer = send(client, "a.txt", b"um\n\nnada\n\ndois 47\n").json()
        assert answer["report"].startswith("2 of 3 texts translated; left: 1 ")
        left, changed = answer["warnings"]
        assert (left["kind"], left["items"][0]) == ("left", "1")
        assert (changed["kind"], changed["items"][0]) == ("changed", "1")
        assert "47" in changed["message"]
        nothing = send(client, "a.txt", b"4711\n").json()
        assert [warning["kind"] for warning in nothing["warnings"]] == ["empty"]
        asked = ASKED | {"q": "<p>dois 47</p>", "format": "html"}
        (missing, added) = client.post("/translate", json=asked).json()["warnings"]
        assert (missing["items"], added["items"]) == (["47"], ["11"])


def test_a_file_in_the_target_language_stays_as_it_is(client):
    content = b"The cat sleeps in the house.\n"
    file = {"file": ("a.txt", content)}
    answer = client.post("/translate_file", data={"target": "en"}, files=file)
    assert fetch(client, answer).content == content
    assert answer.json()["warnings"][0]["kind"] == "unchanged"
    assert answer.json()["report"] == "the text is English already, and stays as it is"


def test_a_table_has_columns_to_translate(client):
    content = b"id,text\n1,um\n"
    file = fetch(client, send(client, "a.csv", content, columns="text"))
    assert file.content == b"id,text\n1,UM\n"
    said = send(client, "a.csv", content).json()["error"]
    assert "name what to translate: the field columns with one or more of: id, text" in said
    refused = send(client, "a.html", b"<p>um", columns="text")
    assert refused.status_code == 400
    assert "columns: a.html is no table" in refused.json()["error"]


def test_other_clients_have_their_turn_within_a_long_file(client, run):
    run.batches.clear()
    lines = "\n".join(f"um {number}" for number in range(translated_texts.TEXTS + 10))
    send(client, "a.txt", lines.encode())
    assert run.batches == [translated_texts.TEXTS, 10]


@pytest.mark.parametrize(
    ("name", "content", "status", "message"),
    [
        ("a.pdf", b"%PDF", 400, "a.pdf: is not a document"),
        ("../../a", b"um", 400, "a: is not a document"),
        ("", b"um", 400, "file must be a file"),
        ("a.docx", b"PK\x05\x06" + b"\x01" * 18, 400, "a.docx: "),
        ("a.txt", b"um " * 1000, 413, "2999 characters; send at most 2000"),
        ("a.txt", b"a" * 10_000_001, 413, "send at most 10000000"),
        ("a.html", b"<meta charset='utf-7'><p>um +2AA dois</p>", 400, "unknown encoding 'utf-7'"),
        ("a.html", b"<a " * 2000, 400, "2,000 tags or comments without an end"),
        ("a.html", b"<!-- >" * 2000, 400, "2,000 tags or comments without an end"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\n" + b"<!--" * 2000, 400, "without an end"),
        ("a.html", b"<p " + b"a=b " * 2_400_000 + b">um</p>", 413, "split it"),
    ],
)
def test_what_cannot_be_translated_is_refused(client, name, content, status, message):
    answer = send(client, name, content)
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_an_archive_that_would_fill_the_memory_is_refused():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", " " * (uploads.MAX_UNPACKED_BYTES + 1))
    with pytest.raises(RefusedError, match="30000001 bytes"):
        uploads.parse_upload(Upload(UploadedFile("a.docx", content.getvalue()), None))


async def content_of(file):
    return b"".join([part async for part in file.content.parts()])


def test_a_file_may_be_fetched_for_ten_minutes_whoever_else_uploads():
    now = 0.0
    waiting = TranslatedFiles(lambda: now, max_files=4)
    first, second = waiting.add("a", b"a"), waiting.add("b", b"b" * 100_000)
    keys = [waiting.add("c", b"c") for _ in range(2)]
    with pytest.raises(RefusedError, match="try again in 601 s") as refusal:
        waiting.add("d", b"d")
    assert (refusal.value.status, refusal.value.retry_after) == (429, 601)
    with pytest.raises(RefusedError, match="too many translated files"):
        waiting.check_room()
    now = stored_files.FILE_SECONDS - 1
    assert asyncio.run(content_of(waiting.get(first))) == b"a"
    assert asyncio.run(content_of(waiting.get(second))) == b"b" * 100_000
    now = stored_files.FILE_SECONDS + 1
    for key in (first, second, *keys, "x"):
        with pytest.raises(RefusedError, match="any more"):
            waiting.get(key)
    waiting.add("d", b"d")


def test_files_have_a_number_of_bytes_together():
    waiting = TranslatedFiles(max_bytes=1000)
    waiting.add("a", b"a" * 500)
    waiting.add("b", b"b" * 500)
    with pytest.raises(RefusedError):
        waiting.add("c", b"c")
