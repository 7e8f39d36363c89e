"""Who may ask the service, how much, and for how long: by real connections."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'serve'")
pytest.importorskip("starlette", reason="needs the extra 'serve'")

from arborescence.treebank import Sentence
from serving import Serving
from small_parsers import small_parser

ROUTES = ["/parse", "/process", "/small/predict", "/small/train", "/parser/models/parse/start"]
ASKED = json.dumps({"words": [["Birds", "sing"]]})


def served(folder=None, hosts=(), **limits):
    return Serving({"small": small_parser("linear")}, folder, hosts, **limits)


@pytest.fixture(scope="module")
def server():
    with served(hosts=["Parser.Example"]) as server:
        yield server


class Client:
    """A connection that is used by hand."""

    def __init__(self, server, source="127.0.0.1"):
        address = ("127.0.0.1", server.port)
        self.socket = socket.create_connection(address, source_address=(source, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, text):
        self.socket.sendall(text.encode())
        return self

    def post(self, path, length):
        """Send a head, but no body."""
        return self.send(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        )

    def answer(self):
        """Return the status and the text of what comes until the server closes the connection."""
        parts = []
        while part := self.socket.recv(1 << 16):
            parts.append(part)
        head, _, body = b"".join(parts).decode().partition("\r\n\r\n")
        return int(head.split(" ")[1]), body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:9999"}, 200),
        ({"Host": "parser.example"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:80", "Origin": "http://evil.example:80"}, 403),
        ({"Host": "[::1"}, 403),
        ({"Host": "localhost:80", "Origin": "http://localhost:80"}, 200),
        ({"Host": "localhost:80", "Origin": "http://localhost:81"}, 403),
        ({"Origin": "https://parser.example"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_pages_of_others_are_refused(server, headers, status):
    found, answer = server.ask("/parse", ASKED, **headers)
    assert found == status
    assert server.ask("/models", **headers)[0] == status
    if status == 403:
        assert "foreign" in answer["error"]
        for path in ROUTES:
            assert server.ask(path, "{}", **headers)[0] == 403
        assert server.ask("/", **headers)[0] == 403


@pytest.mark.races
@pytest.mark.parametrize("path", ROUTES)
def test_a_body_that_does_not_come(path, caplog):
    with served(patience=0.2) as server, Client(server) as slow:
        status, said = slow.post(path, 1000).send("{").answer()
    assert status == 408
    assert "the body has not come within 0.2 s" in said
    [line] = [record.getMessage() for record in caplog.records]
    assert line == f"refused 408 127.0.0.1 {path}: the body has not come within 0.2 s"


@pytest.mark.races
@pytest.mark.parametrize("sent", ["", "POST /parse HTTP/1.1\r\nHost: a"])
def test_a_head_that_does_not_come(sent, caplog):
    with served(patience=0.2) as server, Client(server) as slow:
        status, said = slow.send(sent).answer()
        assert server.ask("/parse", ASKED)[0] == 200
    assert status == 408
    assert "no request within 0.2 s" in said
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("path", ROUTES)
def test_a_body_that_is_too_large(path):
    with served(size=1000) as server:
        with Client(server) as client:
            status, said = client.post(path, 10**15).answer()
        assert status == 413
        assert "more than 1,000 bytes" in said
        chunked = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        with Client(server) as client:
            status, said = client.send(f"{chunked}7d0\r\n{'x' * 2000}\r\n0\r\n\r\n").answer()
        assert status == 413


@pytest.mark.races
def test_connections_of_a_client(caplog):
    with served(client_connections=2) as server:
        with Client(server) as one, Client(server) as two:
            for each in (one, two):  # so that both have been counted
                each.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").socket.recv(1)
            with Client(server) as third:
                status, said = third.answer()
            assert status == 429
            assert "more than 2 connections of one client" in said
            assert "refused 429 127.0.0.1 connection: more than 2" in caplog.text
            with Client(server, "127.0.0.2") as other:
                other.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert other.answer()[0] == 200
        while server.service.admission._clients:  # closed connections are not counted
            time.sleep(0.001)
        assert server.ask("/parse", ASKED)[0] == 200


class Held:
    """A parser that waits until it is let go."""

    text = tagger = None

    def __init__(self):
        self.begun, self.free = threading.Event(), threading.Event()
        self.parsed = 0

    def split(self, given):
        return map(Sentence.from_words, given)

    def parse(self, sentences, **_):
        self.begun.set()
        self.free.wait()
        self.parsed += len(sentences)
        return [one.replace(heads=[0] + [1] * (len(one) - 1)) for one in sentences]


@pytest.mark.races
def test_words_of_a_client(caplog):
    held = Held()
    with Serving({"small": held}, client_words=10) as server, ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.ask, "/parse", json.dumps({"words": [["a"] * 8]}))
        held.begun.wait()
        status, answer = server.ask("/parse", json.dumps({"words": [["a"] * 3]}))
        held.free.set()
        assert status == 429
        assert "all your requests have more than 10 words" in answer["error"]
        assert first.result()[0] == 200
        assert server.ask("/parse", json.dumps({"words": [["a"] * 3]}))[0] == 200
        status, answer = server.ask("/parse", json.dumps({"words": [["a"] * 6] * 2}))
        assert (status, "the request has more than 10 words" in answer["error"]) == (413, True)
    assert caplog.text.count("refused 429") == caplog.text.count("refused 413") == 1


@pytest.mark.races
def test_work_stops_when_its_request_is_late():
    held = Held()
    words = [["a"] * 600] * 5  # each sentence is a step
    with Serving({"small": held}, timeout=0.2) as server:
        status, answer = server.ask("/parse", json.dumps({"words": words}))
        assert (status, answer["error"][:28]) == (503, "it took more than 0.2 s: giv")
        assert server.metrics()["arborescence_late"] == 1
        held.free.set()
        while server.service.busy:
            time.sleep(0.001)
        assert held.parsed == 1
        assert server.ask("/parse", json.dumps({"words": [["a"]]}))[0] == 200


@pytest.mark.races
def test_short_requests_do_not_wait_for_long_ones():
    held, free = Held(), Held()
    free.free.set()
    with Serving({"held": held, "free": free}) as server, ThreadPoolExecutor(1) as pool:
        long = pool.submit(server.ask, "/parse", json.dumps({"words": [["a"] * 900]}))
        held.begun.wait()
        asked = json.dumps({"words": [["a"]], "model": "free"})
        assert server.ask("/parse", asked)[0] == 200
        assert server.ask("/health") == (200, {"status": "ok"})
        held.free.set()
        assert long.result()[0] == 200


@pytest.mark.races
def test_health_and_metrics_when_no_more_is_admitted():
    held = Held()
    with Serving({"small": held}, queue=1) as server, ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.ask, "/parse", ASKED)
        held.begun.wait()
        assert server.ask("/parse", ASKED)[0] == 429
        assert server.ask("/health") == (200, {"status": "ok"})
        assert server.metrics()["arborescence_inside"] == 1
        held.free.set()
        assert first.result()[0] == 200


def test_a_fault_is_an_answer_and_a_line(server, caplog):
    class Faulty(Held):
        def parse(self, sentences, **_):
            raise SystemExit("of a library")  # no Exception

    server.service.parsers["faulty"] = Faulty()
    for words in ([["a"]], [["a"] * 900]):
        asked = json.dumps({"words": words, "model": "faulty"})
        status, answer = server.ask("/parse", asked)
        assert status == 500
        assert "log" in answer["error"]
    assert caplog.text.count("failed 127.0.0.1 /parse") == 2
    assert server.ask("/health") == (200, {"status": "ok"})
    assert server.ask("/parse", ASKED)[0] == 200


def test_what_is_refused_cannot_write_to_the_log(server, caplog):
    assert server.ask("/a%0a%1b[31mb", ASKED)[0] == 404
    assert "refused 404 127.0.0.1 /a\\n\\x1b[31mb: Not Found" in caplog.text
    # From a server in front, on this machine.
    server.ask("/a", ASKED, X_Forwarded_For="10.0.0.1\x1b[31m")
    assert "refused 404 10.0.0.1\\x1b[31m /a: Not Found" in caplog.text
