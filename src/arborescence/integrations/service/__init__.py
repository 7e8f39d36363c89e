"""Parsing over HTTP: UDPipe's REST interface, an interface of JSON, and a page (extra `serve`)."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from arborescence.errors import MissingExtraError
from arborescence.system.files import remove_unfinished

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def run(
    parsers: Mapping[str, Any],
    listening: socket.socket,
    folder: Path | None = None,
    hosts: Iterable[str] = (),
    **limits: Any,
) -> None:
    """Answer requests at a socket until the process gets a signal to stop.

    After the first signal, begun requests have 5 seconds to end; the answer to later requests is
    503. If a thread still works after these seconds, the process ends with status 0.

    Parameters
    ----------
    parsers
        Parsers by name; the first is the default.
    listening
        A socket that listens.
    folder
        The folder for models that requests train; without it, requests cannot train.
    hosts
        Names of the service, and hosts of pages that may send requests, besides the address.
    **limits
        The fields of `admission.Limits`.

    Raises
    ------
    MissingExtraError
        If Starlette or uvicorn is not installed.
    """
    try:
        from arborescence.integrations.service.admission import Limits
        from arborescence.integrations.service.app import Service
        from arborescence.integrations.service.server import server
    except ImportError as error:
        raise MissingExtraError(
            f"serving needs {error.name}: pip install 'arborescence[serve]'"
        ) from error
    logging.basicConfig(format="%(asctime)s %(message)s")  # to stderr, unless configured before
    for parser in parsers.values():  # compile kernels before the first request
        list(parser.parse("A word." if parser.text else [["A", "word"]]))
    service = Service(parsers, Limits(**limits), folder, hosts)
    try:
        server(service.app, service.admission).run(sockets=[listening])
    finally:
        if service.busy:  # a kernel cannot be interrupted, and all requests are answered
            remove_unfinished()
            sys.stderr.flush()
            os._exit(0)
