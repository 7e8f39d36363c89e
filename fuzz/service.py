"""Hostile and damaged requests to the service, which answers each and stays well."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from arborescence.integrations.service.admission import log
from damage import damaged
from hostile_requests import good, hostile
from rounds import Fault
from samples import treebank
from serving import Serving

REQUESTS = 30
STATUSES = {200, 204, 400, 403, 404, 405, 408, 413, 415, 429, 503, 507}
WORDS = [sentence.forms for sentence in treebank()]


@cache
def parser():
    """A small parser, that stays for the whole run."""
    from arborescence.parsers import LinearParser, Tagger
    from arborescence.parsers.text import Text

    lessons = treebank()
    tagger, text = Tagger.train(lessons, epochs=1), Text.train(lessons)
    return LinearParser.train(lessons, tagger=tagger, text=text, bits=10, epochs=1)


class Failures(logging.Handler):
    """Keeps what the log says of requests that failed."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.records = []

    def emit(self, record):
        self.records.append(record)


def attack(rng):
    """Yield the faults of some requests to one service."""
    expected = [tree.heads.tolist() for tree in parser().parse(WORDS)]
    failures = Failures()
    log.addHandler(failures)
    with warnings.catch_warnings(), Serving(
        {"english-fast": parser()}, Path(), timeout=5.0, patience=0.5
    ) as server:  # fmt: skip
        warnings.simplefilter("ignore", UserWarning)  # of long sentences
        for _ in range(REQUESTS):
            request = hostile(rng) if rng.random() < 0.5 else good(rng)
            if rng.random() < 0.5 and request.body and request.how == "ask":
                request = request._replace(body=damaged(rng, request.body), name="damaged")
            if what := wrong(request, server.port, failures.records):
                yield Fault(
                    f"{request.name}: {what}", lambda r=request, w=what: f"# {r!r:.2000}\n# {w}"
                )
                failures.records.clear()
        deadline = time.monotonic() + 60
        while server.service.admission.inside and time.monotonic() < deadline:
            time.sleep(0.01)
        if server.service.admission.inside or server.ask("/health")[0] != 200:
            yield Fault("requests remain, or a thread has ended", lambda: "# see the requests")
        status, answer = server.ask("/parse", json.dumps({"words": WORDS}))
        if status != 200 or [one["heads"] for one in answer["sentences"]] != expected:
            yield Fault("an honest request", lambda: f"# {status} {answer!r:.500}")
    log.removeHandler(failures)


def wrong(request, port, failures):
    """Send a request; say what is wrong with the answer."""
    head, body = request.head, request.body or b""
    sent = {"head": head[: len(head) // 2], "slow": head + body[: len(body) // 2]}
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with suppress(ConnectionError):  # refused before all was sent: the answer says why
            connection.sendall(sent.get(request.how, head + body))
        if request.how == "gone":
            return None
        answer = http.client.HTTPResponse(connection)
        try:
            answer.begin()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            return f"no answer: {type(error).__name__}"
    if failures:
        return f"it failed: {failures[0].exc_info[1]!r}"
    if answer.status not in STATUSES:
        return f"status {answer.status}"
    if answer.status >= 400:
        try:
            why = json.loads(text)["error"]
        except (ValueError, KeyError):
            return "a refusal without a line"
        if "\n" in why or len(why) > 2000:
            return "a refusal of more than a line"
    return None
