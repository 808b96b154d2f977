"""What must hold of the process of a server: its clients, its enemies, its end.

The tests share one process with those of the page, which the last of them ends.
"""

import contextlib
import json
import random
import select
import signal
import threading
import time
import urllib.request
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

TEXT = "um dois três."
ASKED = {"q": TEXT, "source": "pt", "target": "en"}


# ---- Clients ----


def test_the_real_clients_are_answered(server):
    import deep_translator
    import deepl
    import libretranslatepy

    translation = server.ask("/translate", ASKED)["translatedText"]
    assert translation
    libre = libretranslatepy.LibreTranslateAPI(server.address)
    assert libre.translate(TEXT, "pt", "en") == translation
    assert libre.detect(TEXT)[0]["language"] == "pt"
    assert [language["code"] for language in libre.languages()] == ["pt", "en"]

    options = dict(source="pt", target="en", api_key="any", custom_url=f"{server.address}/")
    deep = deep_translator.LibreTranslator(**options)
    assert deep.translate(TEXT) == translation
    assert deep.translate_batch([TEXT, TEXT]) == [translation] * 2

    deepl_client = deepl.Translator("any", server_url=server.address)
    first, second = deepl_client.translate_text([TEXT, TEXT], target_lang="EN-US")
    assert (first.text, second.text, first.detected_source_lang) == (translation, translation, "PT")
    assert [language.code for language in deepl_client.get_source_languages()] == ["PT"]
    assert [language.code for language in deepl_client.get_target_languages()] == ["EN-GB", "EN-US"]
    assert deepl_client.get_usage().character.count > 0
    assert deepl_client.get_glossary_languages() == []
    tagged = deepl_client.translate_text(
        "um <x/> dois", source_lang="PT", target_lang="EN-GB", tag_handling="xml", ignore_tags="x"
    )
    assert "<x/>" in tagged.text
    with pytest.raises(deepl.DeepLException, match="split_sentences=nonewlines is not supported"):
        deepl_client.translate_text(TEXT, target_lang="EN-US", split_sentences="nonewlines")


# ---- Enemies ----


LOST = 0  # the status of an answer that never came: the server closed while the client still sent


class Hostile(NamedTuple):
    """A request that no client should send."""

    content: bytes
    statuses: tuple[int, ...]  # of the answers that are clear


def request(body=b"", method="POST", path="/translate", **headers):
    """Returns the bytes of a request."""
    headers = {"Host": "localhost", "Content-Length": len(body), "Connection": "close"} | headers
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


def form(body, content_type="application/x-www-form-urlencoded"):
    return request(body, **{"Content-Type": content_type})


def posted(**fields):
    return request(json.dumps(ASKED | fields).encode())


def chunked(size, chunk=1_000_000):
    """Returns a request whose body has `size` bytes in chunks."""
    head = request(**{"Transfer-Encoding": "chunked", "Content-Length": 0})
    head = head.replace(b"Content-Length: 0\r\n", b"")
    part = b"%x\r\n" % chunk + b" " * chunk + b"\r\n"
    return head + part * (size // chunk) + b"0\r\n\r\n"


def nested_multipart(depth):
    """Returns a form whose parts are forms."""
    body = b""
    for level in range(depth):
        body += b'--%d\r\nContent-Type: multipart/mixed; boundary="%d"\r\n\r\n' % (level, level + 1)
    return form(body, "multipart/form-data; boundary=0")


JSON_BODIES = [
    b"{", b"[]", b"null", b'"q"', b"{}", b"\x00", b"\xff\xfe{}", b"{\"q\"", b"{" * 100_000,
    b"[" * 1_000_000, b'{"a":' * 200_000, b'{"q": NaN}', b'{"q": ' + b"9" * 100_000 + b"}",
    b'{"q": "\\ud800", "source": "pt", "target": "en"}', b'{"q": "\\x"}', b"\xed\xa0\x80",
]  # fmt: skip
TEXTS = [
    "\x00", "\x00" * 300, "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202e",
    "\ufeff", "\u0301" * 300, "%s%n%d", "'; DROP TABLE runs; --", "{{7*7}}", "\r\n\r\n",
    "\U0010ffff", "<s> </s> <pad> <unk> \u2581", "a" * 5000, "👩‍👩‍👧‍👦" * 20, "\n" * 5000, " ", "",
]  # fmt: skip
PATHS = [
    "/..", "/../params.py", "/%2e%2e/params.py", "/..%2fparams.py", "/page.js/../../app.py", "//",
    "/explorer/../../params.py", "/explorer/%2e%2e%2fparams.py", "/explorer/%00", "/%00",
    "/a" * 5000, "/explorer/<script>", "/.git/config", "/style.css%00.py",
    "/\\..\\x",
    "http://evil.org/", "*", "/translate/", "/translate%2f", "/explorer/a%0d%0aX-Evil:%201",
]  # fmt: skip
OTHER_PATHS = "/stream", "/translate_file", "/n-best", "/attention", "/detect", "/v2/translate"


def hostile_requests():
    """Yields hundreds of Hostile requests."""
    for path in ["/translate", *OTHER_PATHS]:
        for body in JSON_BODIES:
            yield Hostile(request(body, path=path), (400, 404, 413))
        yield Hostile(request(b"q=%ff&text=%ff", path=path), (400, 404))
        for method in ("PUT", "DELETE", "TRACE", "CONNECT", "PATCH", "get", "X" * 50):
            yield Hostile(request(method=method, path=path), (404, 405))
    for text in TEXTS:
        for kind in ("text", "html"):
            is_no_html = kind == "html" and "\x00" in text
            yield Hostile(posted(q=text, format=kind), (400 if is_no_html else 200,))
        yield Hostile(
            request(json.dumps({"text": text, "target": "en"}).encode(), path="/n-best"), (200,)
        )
    for path in PATHS:
        yield Hostile(request(method="GET", path=path), (400, 403, 404, 405))
    for host in ("evil.org", "evil.org:80", "localhost.evil.org", "a b", "\x7f", "x" * 2000):
        yield Hostile(request(**{"Host": host}), (400, 403))
    yield from too_much()
    yield from no_http()


def too_much():
    """Yields what is too long, or too many."""
    yield Hostile(posted(q="um " * 50_000), (413,))
    yield Hostile(posted(q=["um"] * 501), (413,))
    yield Hostile(posted(q=[""] * 400_000), (413,))
    yield Hostile(request(b" " * 10_000_000), (413,))
    yield Hostile(chunked(10_000_000), (413,))
    yield Hostile(form(b"q=a&" * 100_000), (413,))
    yield Hostile(form(b"q=" + b"%61" * 100_000 + b"&source=pt&target=en"), (413,))
    yield Hostile(request(method="GET", path="/translate?q=" + "a" * 60_000), (400,))
    yield Hostile(request(**{"X-Long": "a" * 100_000}), (400, LOST))
    yield Hostile(request(**{f"X-{number}": "a" for number in range(5000)}), (400, LOST))
    yield Hostile(form(b"x", "multipart/form-data; boundary=" + "b" * 10_000), (400,))
    yield Hostile(nested_multipart(2000), (400,))


def no_http():
    """Yields what is hardly HTTP, and requests with random bytes changed."""
    for content in (b"\x00" * 1000, b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"hello\r\n\r\n"):
        yield Hostile(content, (400,))
    for length in ("-1", "x", "1e3", "99999999999999999999999"):
        yield Hostile(request(**{"Content-Length": length}), (400,))
    yield Hostile(b"POST /translate HTTP/1.1\r\nContent-Length: 0\r\n\r\n", (400,))  # no Host
    yield Hostile(request(**{"Transfer-Encoding": "chunked"}) + b"zz\r\n", (400,))
    yield Hostile(form(b"q=a", "\x00"), (400,))
    rng = random.Random(1)
    whole = posted()
    line, start = whole.index(b"\r\n"), whole.index(b"{")
    for number in range(220):
        content = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            span = range(line) if number % 2 else range(start, len(whole))
            content[rng.choice(span)] = rng.randrange(256)
        yield Hostile(bytes(content), (200, 400, 404, 405))


def status_of(server, content):
    """Sends bytes. Returns the HTTP status, the header and the body of the answer, or LOST."""
    with server.connect() as client:
        sender = threading.Thread(target=send, args=(client, content))
        sender.start()
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(65_536):
                answer += part
        sender.join()
    if not answer:
        return LOST, b"", b""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), content[:300]
    return int(head.split()[1]), head, body


def send(client, content):
    with contextlib.suppress(OSError):  # the server has answered and closed
        client.sendall(content)


def test_hostile_requests_have_clear_answers_and_the_server_stays_quick(server):
    slow = [server.connect() for _ in range(50)]  # which send a header byte by byte, or a body
    for number, client in enumerate(slow):
        client.sendall(b"POST /translate HTTP/1.1\r\nHost: loc" if number % 2 else request()[:-2])
    for hostile in hostile_requests():
        status, head, body = status_of(server, hostile.content)
        assert status in hostile.statuses, (status, body[:200], hostile.content[:300])
        assert b"evil:" not in head.lower()
        assert b"Traceback" not in body
    assert server.process.poll() is None
    begin = time.monotonic()
    assert server.ask("/translate", ASKED)["translatedText"]
    assert time.monotonic() - begin < 10  # on a busy machine
    for client in slow:
        client.close()


# ---- Reloading ----


def test_reloads_under_load_refuse_no_request_and_take_effect(reloading, tmp_path):
    statuses, is_over = [], threading.Event()

    def ask():
        while not is_over.is_set():
            try:
                statuses.append("alpha" in reloading.ask("/translate", ASKED)["translatedText"])
            except OSError as error:
                statuses.append(str(error))

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    for number in range(3):
        answered = len(statuses)
        reloading.process.send_signal(signal.SIGHUP)
        until_logged(reloading, "Reloaded", number + 1)
        while len(statuses) < answered + 100:
            time.sleep(0.01)
    (tmp_path / "terms.tsv").write_text("um")  # no translation
    reloading.process.send_signal(signal.SIGHUP)
    until_logged(reloading, "The reload failed", 1)
    assert set(statuses) == {True}
    (tmp_path / "terms.tsv").write_text("um\tbeta\n")
    reloading.process.send_signal(signal.SIGHUP)
    until_logged(reloading, "Reloaded", 4)
    is_over.set()
    for client in clients:
        client.join()
    assert "beta" in reloading.ask("/translate", ASKED)["translatedText"]
    with urllib.request.urlopen(f"{reloading.address}/metrics") as answer:
        figures = answer.read().decode()
    assert 'nmt_reloads_total{result="done"} 4.0' in figures
    assert 'nmt_reloads_total{result="failed"} 1.0' in figures


def until_logged(server, text, number):
    """Waits until the log of a server has a text so many times."""
    until = time.monotonic() + 60
    while server.log.read_text(encoding="utf-8").count(text) < number:
        assert time.monotonic() < until, text
        time.sleep(0.05)


# ---- The end ----


def received(client):
    """Returns all that comes until the connection is closed."""
    answer = b""
    while part := client.recv(65_536):
        answer += part
    return answer


def test_an_end_under_load_leaves_no_traceback(server):
    clients = [server.connect() for _ in range(60)]
    content = posted(q=[f"{TEXT} " * 17] * 20)
    for client in clients:
        client.sendall(content)
    while not select.select(clients, [], [], 0.01)[0]:
        pass
    server.process.send_signal(signal.SIGTERM)
    answers = [received(client) for client in clients]
    assert server.process.wait(timeout=30) == 143
    statuses = {int(answer.split()[1]) for answer in answers}
    assert statuses <= {200, 503}
    for answer in answers:
        json.loads(answer.partition(b"\r\n\r\n")[2])
    log = server.log.read_text(encoding="utf-8")
    assert "Traceback" not in log
    said = log.partition("Ctrl-C ends it.")[2].splitlines()
    assert len([line for line in said if line and " characters, " not in line]) <= 1


def test_a_terminal_that_is_closed_ends_the_server_as_sigterm_does(server):
    server.process.send_signal(signal.SIGHUP)
    assert server.process.wait(timeout=30) == 129
    assert server.log.read_text(encoding="utf-8").endswith("run_demo.py: interrupted\n")
    assert "Traceback" not in server.log.read_text(encoding="utf-8")


def test_sigterm_waits_for_what_is_in_work(server):
    clients = [server.connect() for _ in range(6)]  # a batch each
    content = posted(q=[f"{TEXT} " * 17] * 20)
    for client in clients:
        client.sendall(content)
    while not select.select(clients, [], [], 0.01)[0]:
        pass
    server.process.send_signal(signal.SIGTERM)  # one is answered, others are not
    assert len(select.select(clients, [], [], 0)[0]) < len(clients)
    answers = [received(client) for client in clients]
    assert server.process.wait(timeout=30) == 143
    for answer in answers:
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert len(json.loads(body)["translatedText"]) == 20
    for client in clients:
        client.close()
