"""A server of parsers in a thread, and requests over a socket."""

import http.client
import json
import math
import socket
import threading

from arborescence.integrations.service.admission import Limits
from arborescence.integrations.service.app import Service
from arborescence.integrations.service.server import server


class Serving:
    """A server in a thread, from its start to its graceful end."""

    def __init__(self, models, folder=None, hosts=(), *, timeout=math.inf, **limits):
        # The first request may have to wait for kernels to be compiled.
        limits = {"patience": math.inf, "timeout": timeout} | limits
        self.service = Service(models, Limits(**limits), folder, hosts)
        self.server, self.begun = (
            server(self.service.app, self.service.admission),
            threading.Event(),
        )
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        startup = self.server.startup

        async def started(sockets=None):
            await startup(sockets)
            self.begun.set()

        self.server.startup = started
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],))

    def __enter__(self):
        self.thread.start()
        self.begun.wait()
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()

    def ask(self, path, body=None, kind=None, method=None, **headers):
        """Return the status, and the answer, as JSON if it is some."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"Content-Type": kind} if kind else {}
        connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        kind = answer.getheader("Content-Type") or ""
        return answer.status, json.loads(text) if "json" in kind else text

    def metrics(self):
        """Return the counts of the service."""
        lines = self.ask("/metrics")[1].splitlines()
        return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines)}
