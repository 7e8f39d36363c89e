"""Parsing over HTTP: UDPipe's REST interface, one of JSON, and a page to try it (extra `serve`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.errors import MissingExtraError

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from pathlib import Path


def run(
    parsers: Mapping[str, Any], listening: socket.socket, folder: Path | None = None, **limits: Any
) -> None:
    """Answer at a socket until the process is told to stop; then end what was begun.

    Parameters
    ----------
    parsers
        Parsers by name; the first is the default.
    listening
        A socket that listens.
    folder
        Where models are kept that requests train; without it, none are.
    **limits
        The fields of `app.Limits`.

    Raises
    ------
    MissingExtraError
        If Starlette or uvicorn is not installed.
    """
    try:
        import uvicorn

        from arborescence.integrations.service.app import Limits, application
    except ImportError as error:
        raise MissingExtraError(
            f"serving needs {error.name}: pip install 'arborescence[serve]'"
        ) from error
    for parser in parsers.values():  # what has to be compiled keeps no request waiting
        list(parser.parse("A word." if parser.text else [["A", "word"]]))
    config = uvicorn.Config(
        application(parsers, Limits(**limits), folder),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=30,
    )
    uvicorn.Server(config).run(sockets=[listening])
