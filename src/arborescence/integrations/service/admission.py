"""The admission of requests, for all routes: the allowed clients, and limits of size and time.

The answer to a refused request has a status and a line with the reason; the log has a line, too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from arborescence.core.budget import Budget
from arborescence.errors import ArborescenceError, StoppedError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from arborescence.treebank import Sentence

#: Refusals and faults of the service.
log: Final = logging.getLogger("arborescence.service")
#: Routes that are answered at once, also when there is room for no other request.
_ALWAYS: Final = ("/health", "/metrics")
#: The most bytes of the bodies of all requests together, as a multiple of the largest request.
_BODIES: Final = 32
#: The seconds in which the rest of a refused request is read, so that its client gets the answer.
_LINGER: Final = 1.0


@dataclass(frozen=True)
class Limits:
    """The limits of a request, of a client, and of the training of models.

    Attributes
    ----------
    size : int
        The most bytes of a request; the answer to a larger request is 413.
    timeout : float
        The seconds of a request; then its work stops, and the answer is 503.
    patience : float
        The seconds in which the head of a request, and then its body, must arrive; else the answer
        is 408.
    queue : int
        The most requests at a time; the answer to further requests is 429.
    words : int
        The most words of a sentence; the answer to a longer sentence is 413.
    client_words : int
        The most words of all requests of a client at a time, in k-best lists times k; the answer to
        more words is 429, or 413 if a single request has more words.
    client_connections : int
        The most connections of a client; the answer to further connections is 429.
    epochs : int
        The most epochs of a training; the answer to more epochs is 400.
    trainings : int
        The most models that wait for their training; the answer to further requests is 429.
    models, disk : int
        The most models that requests have trained, and the most bytes of these models; the answer
        to further trainings is 507.
    """

    size: int = 2_000_000
    timeout: float = 60.0
    patience: float = 10.0
    queue: int = 1000
    words: int = 1000
    client_words: int = 100_000
    client_connections: int = 100
    epochs: int = 100
    trainings: int = 8
    models: int = 100
    disk: int = 1_000_000_000


class RefusedError(ArborescenceError):
    """A request that is not admitted, with the status of the answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class ServiceCounts:
    """The counts of the service since its start."""

    #: Answered requests.
    requests: int = 0
    #: Sentences of these requests.
    sentences: int = 0
    #: Words of these requests.
    words: int = 0
    #: Batches of short requests that were parsed together.
    batches: int = 0
    #: Refused requests.
    refused: int = 0
    #: Requests whose time was over.
    late: int = 0


class Client:
    """An address that sends requests, with its current connections, requests and words."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.connections = self.requests = self.words = 0
        self.seconds = 0.0  # seconds of work since the client last had no request


class Ticket:
    """An admitted request, or a task that continues after its answer, until its end."""

    def __init__(self, client: Client, limits: Limits, lock: Lock) -> None:
        self.client = client
        self._limits, self._lock = limits, lock
        self._deadline = time.monotonic() + limits.timeout
        self.words = self.size = 0
        self.ended = False
        #: Whether a task continues after the answer, and then releases the ticket.
        self.kept = False
        #: The budget of the work, which ends with the request.
        self.budget = Budget(stop=lambda: self.ended or time.monotonic() > self._deadline)

    def end_within(self, seconds: float) -> float:
        """End within some seconds; return the seconds that are left."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)
        return self._deadline - time.monotonic()

    def take(self, sentence: Sentence, times: int = 1) -> None:
        """Count the words of a sentence, and refuse too many words."""
        limits, words = self._limits, len(sentence) * times
        if len(sentence) > limits.words:
            raise RefusedError(413, f"a sentence has more than {limits.words:,} words")
        with self._lock:
            self.words += words
            self.client.words += words
            alone, together = self.words, self.client.words
        if alone > limits.client_words:
            raise RefusedError(413, f"the request has more than {limits.client_words:,} words")
        if together > limits.client_words:
            raise RefusedError(
                429, f"all your requests have more than {limits.client_words:,} words: wait"
            )

    def admitted(self, sentences: Iterable[Sentence], times: int = 1) -> Iterator[Sentence]:
        """Yield sentences, each when its words are counted."""
        for sentence in sentences:
            self.take(sentence, times)
            yield sentence


class Admission:
    """The admission: an ASGI application around another application, also for connections.

    Parameters
    ----------
    limits
        The limits.
    hosts
        Names of the service besides ``localhost`` and the address of the connection; pages from
        these hosts may send requests, too.
    """

    def __init__(self, limits: Limits, hosts: Iterable[str] = ()) -> None:
        self.limits, self.counts = limits, ServiceCounts()
        self._hosts = {host.lower().strip("[]") for host in hosts}
        self._clients: dict[str, Client] = {}
        self._running: dict[Ticket, asyncio.Timeout | None] = {}
        self._lock = Lock()
        self._ending = False

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return an application that admits requests to another application."""

        async def admitting(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"] in _ALWAYS:
                await app(scope, receive, send)
                return
            exchange = _Exchange(receive, send)
            try:
                self._check_source(scope)
                with self._ticket(_name_of(scope)) as ticket:
                    async with asyncio.timeout(self.limits.timeout) as timer:
                        self._running[ticket] = timer
                        exchange.body = await self._body(scope, exchange, ticket)
                        if exchange.body is not None:
                            admitted = {**scope, "ticket": ticket}
                            await app(admitted, exchange.receive_again, exchange.send)
            except Exception as error:
                await self._refuse(error, scope, exchange)

        return admitting

    @property
    def ending(self) -> bool:
        """Whether the service ends."""
        return self._ending

    @property
    def inside(self) -> int:
        """The current number of requests and tasks."""
        return len(self._running)

    @contextmanager
    def _ticket(self, name: str) -> Iterator[Ticket]:
        """Admit a request of a client, if there is room."""
        limits = self.limits
        if self._ending:
            raise RefusedError(503, "the service ends: try again later")
        if self.inside >= limits.queue:
            raise RefusedError(429, "too many requests wait: try again later")
        client = self._client(name)
        ticket = Ticket(client, limits, self._lock)
        client.requests += 1
        self._running[ticket] = None
        try:
            yield ticket
        finally:
            if not ticket.kept:
                self.release(ticket)

    def release(self, ticket: Ticket) -> None:
        """End a request, or the task that continued after it, and free its words."""
        ticket.ended = True
        del self._running[ticket]
        client = ticket.client
        with self._lock:
            client.requests -= 1
            client.words -= ticket.words
        self._forget(client)

    def connected(self, name: str) -> bool:
        """Count a new connection of a client; return whether the client may have it."""
        client = self._client(name)
        client.connections += 1
        return client.connections <= self.limits.client_connections

    def disconnected(self, name: str) -> None:
        """Count a connection that has ended."""
        client = self._client(name)
        client.connections -= 1
        self._forget(client)

    def end(self, seconds: float) -> None:
        """Admit no more requests; begun requests have some seconds."""
        self._ending = True
        now = asyncio.get_running_loop().time()
        for ticket, timer in self._running.items():
            left = ticket.end_within(seconds)
            if timer is not None and not timer.expired():
                with suppress(RuntimeError):  # the request has just ended
                    timer.reschedule(now + left)

    def refused(self, status: int, client: str, path: str, why: str) -> None:
        """Count a refusal, and write it to the log."""
        self.counts.refused += 1
        log.warning("refused %d %s %s: %s", status, printable(client), printable(path), why)

    def _client(self, name: str) -> Client:
        return self._clients.setdefault(name, Client(name))

    def _forget(self, client: Client) -> None:
        if not client.requests:
            client.seconds = 0.0
            if not client.connections:
                self._clients.pop(client.name, None)

    def _check_source(self, scope: Scope) -> None:
        """Refuse pages of other hosts, also pages whose host name leads to this machine."""
        headers = [(name, value.decode("latin-1").lower()) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        here = str((scope.get("server") or ("",))[0]).removeprefix("::ffff:")
        for host in hosts:
            name = _host_of(f"//{host}")
            if name not in ("localhost", here) and name not in self._hosts:
                raise RefusedError(
                    403, f"the host {host!r} is foreign: to allow it, serve with --allow-host"
                )
        for origin in origins:
            own = origin.partition("://")[2] in hosts
            if not own and _host_of(origin) not in self._hosts:
                raise RefusedError(
                    403, f"the origin {origin!r} is foreign: to allow it, serve with --allow-host"
                )
        sent = dict(headers)
        site, mode = sent.get(b"sec-fetch-site"), sent.get(b"sec-fetch-mode")
        if not origins and site in ("cross-site", "same-site") and mode != "navigate":
            raise RefusedError(403, "a page from elsewhere asks: its origin is foreign")

    async def _body(self, scope: Scope, exchange: _Exchange, ticket: Ticket) -> bytes | None:
        """Read the body within the limits of size and time; None if the client has gone."""
        limits, parts = self.limits, []
        length = dict(scope["headers"]).get(b"content-length", b"")
        self._check_size(int(length) if length.isdigit() and len(length) < 20 else 0, 0)
        patience = min(limits.patience, limits.timeout / 2)
        try:
            async with asyncio.timeout(patience):
                while True:
                    message = await exchange.receive()
                    if message["type"] != "http.request":
                        return None
                    parts.append(message.get("body", b""))
                    ticket.size += len(parts[-1])
                    self._check_size(ticket.size, sum(one.size for one in self._running))
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise RefusedError(408, f"the body has not come within {patience:g} s") from None

    def _check_size(self, size: int, together: int) -> None:
        most = self.limits.size
        if size > most:
            raise RefusedError(413, f"the request has more than {most:,} bytes")
        if together > _BODIES * most:
            raise RefusedError(429, "requests of too many bytes wait: try again later")

    async def _refuse(self, error: Exception, scope: Scope, exchange: _Exchange) -> None:
        """Answer a request that is not admitted, or has failed."""
        status, why = self._described(error)
        if status == 500:
            log.error(
                "failed %s %s",
                printable(_name_of(scope)),
                printable(scope["path"]),
                exc_info=error,
            )
        else:
            self.refused(status, _name_of(scope), scope["path"], why)
        if exchange.begun:
            return  # the client reads the answer too slowly: it gets only a part
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                while exchange.more:
                    await exchange.receive()
        headers = {"Connection": "close"} if exchange.more or status == 413 else {}
        if status in (429, 503):
            headers["Retry-After"] = "1"
        answer = JSONResponse({"status": "failure", "error": why}, status, headers)
        await answer(scope, exchange.receive, exchange.send)

    def _described(self, error: Exception) -> tuple[int, str]:
        """Return the status of the answer to an error, and the reason."""
        if isinstance(error, RefusedError):
            return error.status, str(error)
        if isinstance(error, HTTPException):
            return error.status_code, error.detail
        if isinstance(error, (TimeoutError, StoppedError)):
            self.counts.late += 1
            if self._ending:
                return 503, "the service ends: try again later"
            return (
                503,
                f"it took more than {self.limits.timeout:g} s: give less, or try again later",
            )
        if isinstance(error, ArborescenceError):
            return 400, str(error)
        if isinstance(error, UnicodeError):
            return 400, "the data is not UTF-8, or has half a character (a lone surrogate)"
        if isinstance(error, RecursionError):
            return 400, "the data is nested too deeply"
        return 500, "the service has failed: its log says why"

    def numbers(self) -> dict[str, int]:
        """Return the numbers that `/metrics` shows."""
        return asdict(self.counts) | {"inside": self.inside}


class _Exchange:
    """The messages that a request receives and sends."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.more, self.begun = (
            True,
            False,
        )  # whether more of the body comes; whether the answer has begun
        self.body: bytes | None = None

    async def receive(self) -> Message:
        """Receive a part of the body, or the message that the client has gone."""
        message = await self._receive()
        self.more = message["type"] == "http.request" and message.get("more_body", False)
        return message

    async def receive_again(self) -> Message:
        """Receive the body that was read, then further messages."""
        if self.body is None:
            return await self.receive()
        body, self.body = self.body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        self.begun = True
        await self._send(message)


def _name_of(scope: Scope) -> str:
    return str((scope.get("client") or ("unknown",))[0])


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
