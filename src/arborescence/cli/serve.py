"""``arborescence serve``: parsing over HTTP."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from arborescence.cli.options import QuietOption
from arborescence.cli.progress import note


def serve(
    models: Annotated[
        list[str] | None, typer.Option("--model", "-m", show_default="english")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    host: str = "127.0.0.1",
    size: Annotated[int, typer.Option(min=1, metavar="BYTES")] = 2_000_000,
    timeout: Annotated[float, typer.Option(min=0.1, metavar="SECONDS")] = 60.0,
    queue: Annotated[int, typer.Option(min=1, metavar="N")] = 1000,
    max_words: Annotated[int, typer.Option(min=1, metavar="N")] = 1000,
    train_into: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    quiet: QuietOption = False,
) -> None:
    """Parse over HTTP: a page to try it, the interfaces of UDPipe, ArboratorGrew and INCEpTION.

    Only this machine can reach it, unless --host says otherwise. Ctrl-C ends it when all answers
    are given.

    Parameters
    ----------
    models
        Models; the first is the default.
    port
        0: any that is free.
    host
        The address to listen at; 0.0.0.0 for everybody.
    size
        The largest request.
    timeout
        How long a request may take.
    queue
        How many requests may be there at a time.
    max_words
        The longest sentence.
    train_into
        Keep models that requests of ArboratorGrew and INCEpTION train.

    Examples
    --------
    arborescence serve -m english-fast --port 8080
    """
    from arborescence.integrations import service
    from arborescence.parsers import load

    parsers = {name: load(name) for name in models or ["english"]}
    limits = {"size": size, "timeout": timeout, "queue": queue, "words": max_words}
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        shown = f"[{host}]" if ":" in host else host
        note(f"http://{shown}:{listening.getsockname()[1]}", quiet=quiet)
        with suppress(KeyboardInterrupt):  # by then all that was begun has been answered
            service.run(parsers, listening, train_into, **limits)
