"""What must hold of access: by which names, from which pages, and what is read for whom."""

import asyncio
import json

import pytest
from clients import ASKED, Capitals, client_of
from starlette.requests import Request

from nmt.serving import bodies
from nmt.serving.access_log import new_access
from nmt.serving.errors import RefusedError
from nmt.serving.hosts import is_allowed, origin_form
from nmt.serving.keys import Keys
from nmt.serving.limits import Bodies, Limits, Reservation
from nmt.serving.models import BEAMS, Models
from nmt.serving.streaming import MAX_EVENTS, EventQueue

ORIGIN = {"Origin": "https://pages.example"}
PREFLIGHT = ORIGIN | {"Access-Control-Request-Method": "POST"}
ALLOWED = "access-control-allow-origin"


# ---- Pages of other origins ----


def test_no_page_of_another_origin_may_read_anything():
    with client_of(Capitals()) as asking:
        for path in ("/", "/languages", "/runs", "/metrics", "/explorer/pt-en", "/nothing"):
            assert ALLOWED not in asking.get(path, headers=ORIGIN).headers
        assert ALLOWED not in asking.post("/translate", json=ASKED, headers=ORIGIN).headers
        assert ALLOWED not in asking.options("/translate", headers=PREFLIGHT).headers


@pytest.mark.parametrize("origins", [["*"], [ORIGIN["Origin"]]])
def test_an_allowed_origin_may_read_translations_alone(origins):
    with client_of(Capitals(), origins=origins) as asking:
        answer = asking.post("/translate", json=ASKED, headers=ORIGIN)
        assert answer.headers[ALLOWED] in ("*", ORIGIN["Origin"])
        assert asking.options("/translate", headers=PREFLIGHT).status_code == 200
        for path in ("/runs", "/metrics", "/explorer/pt-en", "/explorer/none"):
            assert ALLOWED not in asking.get(path, headers=ORIGIN).headers
            assert ALLOWED not in asking.options(path, headers=PREFLIGHT).headers
        other = {"Origin": "https://evil.example"}
        if origins != ["*"]:
            assert ALLOWED not in asking.post("/translate", json=ASKED, headers=other).headers


# ---- Requests that are refused ----


@pytest.mark.parametrize(
    ("hosts", "allowed"),
    [
        (("", "localhost", "LocalHost:8765", "127.0.0.1:8765", "[::1]:80", "192.168.0.7", "mt.org"),
         True),
        (("evil.org", "evil.org:8765", "localhost.evil.org", "127.0.0.1.evil.org", "[x", "a b",
          "::"), False),
    ],
)  # fmt: skip
def test_names_of_this_machine_are_allowed_and_those_that_a_page_may_point_at_it_are_not(
    hosts, allowed
):
    assert [is_allowed(host, ["mt.org"]) for host in hosts] == [allowed] * len(hosts)


def test_the_address_of_an_absolute_request_counts_before_its_host():
    scope = {"path": "http://evil.org/health", "headers": [(b"host", b"localhost")]}
    changed = origin_form(scope)
    assert (changed["path"], changed["headers"]) == ("/health", [(b"host", b"evil.org")])
    assert origin_form({"path": "http://mt.org", "headers": []})["path"] == "/"
    assert origin_form({"path": "/http://a", "headers": []})["path"] == "/http://a"


def test_refused_requests_are_counted():
    with client_of(Capitals(), host_names=["mt.org"]) as asking:
        assert asking.get("/health", headers={"Host": "evil.org"}).status_code == 403
        refused = asking.options("/translate")
        assert refused.status_code == 405
        assert {*refused.headers["allow"].split(", ")} >= {"GET", "POST"}
        figures = asking.get("/metrics").text
    assert 'nmt_requests_total{route="/health",status="403"} 1.0' in figures
    assert 'nmt_requests_total{route="/translate",status="405"} 1.0' in figures


def test_two_lengths_of_a_body_are_refused():
    with client_of(Capitals()) as asking:
        headers = {"Transfer-Encoding": "chunked", "Content-Length": "2"}
        assert asking.post("/translate", content=b"{}", headers=headers).status_code == 400


def test_every_answer_has_security_headers():
    with client_of(Capitals()) as asking:
        for path in ("/", "/docs", "/openapi.json", "/page.js", "/runs", "/nothing", "/explorer/x"):
            headers = asking.get(path).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert "default-src" in headers["content-security-policy"]


def test_the_figures_of_a_server_with_a_key_want_it():
    with client_of(Capitals(), limits=Limits(Keys("k"))) as asking:
        assert asking.get("/metrics").status_code == 403
        assert asking.get("/metrics?api_key=k").status_code == 200
        header = {"Authorization": "Bearer k"}
        assert asking.get("/metrics", headers=header).status_code == 200
        assert asking.get("/health").status_code == 200
    with client_of(Capitals(), limits=Limits(Keys("k"), open_metrics=True)) as asking:
        assert asking.get("/metrics").status_code == 200
        assert "security" not in asking.get("/openapi.json").json()["paths"]["/metrics"]["get"]


# ---- Bodies ----


class Sender:
    """A client that sends the parts of a body, and what became of them."""

    def __init__(self, parts, headers=(), query=b""):
        self.parts, self.sent = list(parts), 0
        self.bodies, self.keyless = Bodies(bodies.MAX_BODY_BYTES * 40), Bodies(4_000_000)
        self.scope = {
            "type": "http", "path": "/", "query_string": query, "server": ("localhost", 80),
            "headers": [(name.encode(), value.encode()) for name, value in dict(headers).items()],
            "reservation": Reservation(self.bodies), "access": new_access("POST", {}),
        }  # fmt: skip

    async def receive(self):
        self.sent += 1
        has_more = self.sent < len(self.parts)
        return {"type": "http.request", "body": self.parts[self.sent - 1], "more_body": has_more}

    def read(self, max_bytes=bodies.MAX_BODY_BYTES, **limits):
        request = Request(self.scope, self.receive)
        return asyncio.run(bodies.read(request, Limits(**limits), self.keyless, max_bytes))


JSON = [json.dumps(ASKED | {"api_key": "k"}).encode()]


def test_a_key_may_be_in_the_header_the_query_or_the_body():
    for sender in (
        Sender(JSON),
        Sender([json.dumps(ASKED).encode()], {"authorization": "Bearer k"}),
        Sender([json.dumps(ASKED).encode()], query=b"api_key=k"),
    ):
        assert sender.read(keys=Keys("k"))["q"] == "um"


@pytest.mark.parametrize("key", [None, "", ["a"], {"a": 1}, "\ud800", 0])
def test_no_other_key_will_do(key):
    with pytest.raises(RefusedError, match="API key"):
        Sender([json.dumps(ASKED | {"api_key": key}).encode()]).read(keys=Keys("a"))


def test_texts_have_a_number_and_a_number_of_characters():
    small = Limits(max_chars=5)
    small.check_texts(["日本語", "ab"])
    small.check_texts([""] * 500)
    for texts, said in (
        (["日本語", "abc"], "6 characters; send at most 5"),
        ([""] * 501, "501 texts"),
    ):
        with pytest.raises(RefusedError, match=said) as refusal:
            small.check_texts(texts)
        assert refusal.value.status == 413


def test_a_client_without_the_key_takes_no_memory():
    sender = Sender([b" " * 60_000] * 30)
    with pytest.raises(RefusedError, match="API key") as refusal:
        sender.read(keys=Keys("k"))
    assert refusal.value.status == 403
    assert sender.sent == 30  # else the client would not see the answer
    assert sender.keyless.bytes == sender.bodies.bytes == 0
    crowded = Sender([b" " * 60_000] * 2)
    crowded.keyless.most = 500_000
    with pytest.raises(RefusedError, match="too many large requests"):
        crowded.read(keys=Keys("k"))


def test_a_large_form_has_the_key_before_its_file():
    key = b'--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\nk\r\n'
    file = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    content = [b"x" * 60_000] * 5 + [b"\r\n"]
    headers = {"content-type": "multipart/form-data; boundary=b"}
    fields = Sender([key, file, *content, b"--b--\r\n"], headers).read(keys=Keys("k"))
    assert len(fields["file"].content) == 300_000
    with pytest.raises(RefusedError, match="API key"):
        Sender([file, *content, key, b"--b--\r\n"], headers).read(keys=Keys("k"))


def test_the_bodies_of_all_requests_have_a_limit_together():
    sender = Sender([b" " * 100_000] * 2)
    sender.bodies.most = 2 * 100_000 * bodies.VALUE_BYTES
    assert sender.read() == {}
    assert sender.bodies.bytes > 0.9 * sender.bodies.most
    for part, is_small in ((b" " * 100_000, False), (b" " * 8000, True)):
        other = Sender([part])
        other.scope["reservation"] = Reservation(sender.bodies)
        if is_small:  # there is always room for a text
            assert other.read() == {}
            continue
        with pytest.raises(RefusedError, match="too many large requests") as refusal:
            other.read()
        assert (refusal.value.status, refusal.value.retry_after) == (429, 1)
    for _ in range(2):  # a refused body is given back before its request ends
        sender.scope["reservation"].release()
        assert sender.bodies.bytes == 0


@pytest.mark.parametrize("body", [b"um", b"[1]", b'"um"', b"text: um"])
def test_a_body_that_is_no_form_is_not_taken_for_the_name_of_a_field(body):
    headers = {"content-type": "application/x-www-form-urlencoded"}
    with pytest.raises(RefusedError, match="neither JSON nor a form"):
        Sender([body], headers).read()


def test_objects_and_lists_have_a_limit():
    with pytest.raises(RefusedError, match="20000 objects and lists"):
        Sender([b'{"q": [' + b"{}," * 20_001 + b"{}]}"]).read()


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('form-data; name="file"; filename="a b.txt"', "a b.txt"),
        ("form-data; name=file; filename=a.txt", "a.txt"),
        ("form-data; name=\"file\"; filename*=UTF-8''%c3%a7.txt", "ç.txt"),
        ("form-data; filename*=utf-8''%e4%b8%ad.txt; name=file", "中.txt"),
        ('form-data; name="file"; filename="ç.txt"', "ç.txt"),
        ('form-data; name="file"; filename="C:\\\\dir\\\\a.txt"', "a.txt"),
        ('form-data; name="file"; filename="../../etc/a.txt"', "a.txt"),
        ('FORM-DATA; NAME="file"; FILENAME="a;b.txt"', "a;b.txt"),
    ],
)
def test_a_file_has_the_name_that_its_client_gave_it(disposition, name):
    body = f"--b\r\nContent-Disposition: {disposition}\r\n\r\num\r\n--b--\r\n".encode()
    headers = {"content-type": 'multipart/form-data; boundary="b"'}
    for parts in ([body], [bytes([byte]) for byte in body]):
        file = Sender(parts, headers).read()["file"]
        assert (file.name, file.content) == (name, b"um")


@pytest.mark.parametrize(
    "body", [b"", b"x", b"--b", b"--b\r\n\r\n", b"--b\r\nContent-Disposition: x\r\n\r\num\r\n"]
)
def test_a_form_that_is_cut_off_is_refused(body):
    headers = {"content-type": "multipart/form-data; boundary=b"}
    with pytest.raises(RefusedError, match="cut off"):
        Sender([body], headers).read()


@pytest.mark.parametrize("boundary", ["", "; boundary=", "; boundary=" + "b" * 10_000])
def test_a_form_without_a_sensible_boundary_is_refused(boundary):
    headers = {"content-type": f"multipart/form-data{boundary}"}
    with pytest.raises(RefusedError) as refusal:
        Sender([b"x"], headers).read()
    assert refusal.value.status == 400


# ---- Beginning and end ----


def test_what_is_not_done_in_time_is_answered_503():
    app = client_of(Capitals()).app
    scope = {
        "type": "http", "method": "POST", "path": "/translate", "query_string": b"", "headers": [],
        "server": ("localhost", 80), "client": ("127.0.0.1", 1), "scheme": "http",
    }  # fmt: skip
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        await asyncio.sleep(60)

    async def request():
        asyncio.get_running_loop().call_later(0.1, app.service.end)
        await app(scope, receive, send)

    asyncio.run(request())
    assert [message.get("status") for message in sent] == [503, None]
    assert b"try again later" in sent[1]["body"]
    assert b'route="/translate",status="503"' in app.service.metrics.text()
    assert not app.service.requests


def test_partial_texts_that_nobody_reads_take_no_memory():
    async def unread():
        queue = EventQueue()
        for number in range(10_000):
            queue.put("partial", {"text": str(number)})
        queue.put("sentence", {})
        await asyncio.sleep(0)
        return [await queue.get() for _ in range(MAX_EVENTS + 1)]

    *_, last, sentence = asyncio.run(unread())
    assert (last, sentence) == (("partial", {"text": "9999"}), ("sentence", {}))


def test_every_search_that_a_route_may_ask_for_is_warm():
    queries = []

    class Recorded(Capitals):
        def translate(self, query, items):
            queries.append(query)
            return super().translate(query, items)

    run = Recorded()
    run.model.searches_by_tensorflow = True  # which traces each search
    Models([run]).warm_up()
    assert queries[0] == queries[0]._replace(scored=False, n_best=1)
    assert any(query.links for query in queries)
    assert any(query.details for query in queries)
    for beam in BEAMS:
        assert any(query.n_best == beam and query.sampling for query in queries)
        assert any(query.n_best == beam and not query.sampling for query in queries)
