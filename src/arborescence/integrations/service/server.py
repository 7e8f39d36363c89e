"""The server: it counts connections, closes idle connections, and ends in good order."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from starlette.responses import JSONResponse
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from arborescence.system.files import remove_unfinished

if TYPE_CHECKING:
    import socket
    from types import FrameType

    from starlette.types import ASGIApp, Receive, Scope, Send

    from arborescence.integrations.service.admission import Admission

#: The seconds for begun requests after the signal to stop.
GRACE: Final = 5.0
#: The further seconds after which the process ends in any case.
_AT_LAST: Final = 3.0
#: The most bytes of the head of a request.
_HEAD: Final = 1 << 20


def server(app: ASGIApp, admission: Admission) -> uvicorn.Server:
    """Return a server of an application, whose connections are admitted, too."""
    config = uvicorn.Config(
        app,
        http=partial(_Connection, admission),  # type: ignore[arg-type] # it is only called
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(GRACE) + 1,
    )
    return _Server(config, admission)


class _Server(uvicorn.Server):
    """A server that gives begun requests some seconds after the signal to stop."""

    def __init__(self, config: uvicorn.Config, admission: Admission) -> None:
        super().__init__(config)
        self._admission = admission
        self._ended = threading.Event()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer at sockets until the process gets a signal to stop."""
        try:
            super().run(sockets)
        finally:
            self._ended.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal; the first signal also starts the clock of the end."""
        if not self.should_exit:
            threading.Thread(target=self._end_at_last, daemon=True).start()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer begun requests."""
        self._admission.end(GRACE)
        await super().shutdown(sockets)

    def _end_at_last(self) -> None:
        """End the process, unless the server has ended before."""
        if not self._ended.wait(GRACE + _AT_LAST):
            remove_unfinished()
            os._exit(1)


class _Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type] # one of two classes
    """A connection of a client, which may have a few; it is closed if no request comes."""

    def __init__(self, admission: Admission, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._admission = admission
        self._inner: Any = self.app
        self.app: Any = self._answer
        self._client_name, self._refused = "unknown", False
        self._running = self._head = 0
        self._seen = False  # whether the last look saw no request

    def connection_made(self, transport: Any) -> None:
        """Count the connection; refuse it if the client has too many."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self._client_name = str(peer[0]) if peer else "unknown"
        self._look_later()
        if not self._admission.connected(self._client_name):
            most = self._admission.limits.client_connections
            self._close(429, f"more than {most} connections of one client: close some")

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the end of the connection."""
        self._timer.cancel()
        self._admission.disconnected(self._client_name)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data, unless the connection was refused."""
        if self._refused:
            return
        if not self._running:
            self._head += len(data)
            if self._head > _HEAD:
                self._close(431, "the head of the request is too long")
                return
        super().data_received(data)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and count it while it runs."""
        self._running += 1
        self._head = 0
        try:
            await self._inner(scope, receive, send)
        finally:
            self._running -= 1
            self._seen = False

    def _look_later(self) -> None:
        self._timer = self.loop.call_later(self._admission.limits.patience / 2, self._look)

    def _look(self) -> None:
        """Close the connection if it has had no request since the last look."""
        if self._running or not self._seen:
            self._seen = not self._running
            self._look_later()
        elif self.transport.is_closing():  # the client does not read the end of its answer
            self.transport.abort()
        else:
            self._close(408, f"no request within {self._admission.limits.patience:g} s")

    def _close(self, status: int, why: str) -> None:
        """Refuse the connection."""
        self._refused = True
        self._admission.refused(status, self._client_name, "connection", why)
        answer = JSONResponse({"status": "failure", "error": why}, status)
        head = f"HTTP/1.1 {status} Refused\r\nConnection: close\r\n".encode()
        named = b"".join(b"%b: %b\r\n" % each for each in answer.raw_headers)
        self.transport.write(head + named + b"\r\n" + answer.body)
        self.transport.close()
        self._timer.cancel()
        self._look_later()
