"""``arborescence integrations`` and ``serve``: decoding inside other tools, and over HTTP."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from arborescence.cli.options import Arguments, QuietOption, usage_errors
from arborescence.cli.progress import note, say
from arborescence.errors import ArborescenceError


def integrations(
    tools: Arguments = None,
    check: bool = True,
) -> None:
    """Show which installed parsers can decode with this library, and check them.

    For each parser: its version, the functions that arborescence.integrations.patch(...) would
    replace, and a comparison of both decoders on 200 random graphs.

    Parameters
    ----------
    tools
        Names of packages; nothing: all known packages.
    check
        Compare both decoders on random graphs.

    Examples
    --------
    arborescence integrations
    arborescence integrations stanza supar
    """
    from arborescence.integrations import TOOLS, patching

    failed = []
    for tool in tools or TOOLS:
        with usage_errors():
            module = patching.module_of(tool)
        version = patching.version_of(tool)
        if version is None:
            say(f"{tool}: not installed")
        elif version not in module.VERSIONS:
            known = ", ".join(module.VERSIONS)
            say(f"{tool} {version}: not known, so nothing is replaced; known: {known}")
        else:
            say(f"{tool} {version}")
            if not described(tool, check):
                failed.append(tool)
    if failed:
        raise ArborescenceError(f"{', '.join(failed)}: the check failed, so do not install it")


def described(tool: str, check: bool) -> bool:
    """Write the names to replace, and the result of a check; return whether the check passed."""
    from arborescence.integrations import patching

    try:
        names = patching.places(tool)
    except ImportError as error:
        say(f"    cannot be imported here: {error}")
        return True
    for name in names:
        say(f"    replaces {name}")
    if not check:
        return True
    counts = patching.check(tool)
    say(
        f"    on {sum(counts)} random graphs: the same weight {counts.same} times, a better tree "
        f"{counts.better} times, a tree where {tool} finds none {counts.broken} times"
        + (f", wrong {counts.wrong} times" if counts.wrong else "")
    )
    return not counts.wrong


def serve(
    models: Annotated[
        list[str] | None, typer.Option("--model", "-m", show_default="english")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    host: str = "127.0.0.1",
    allow_host: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    size: Annotated[int, typer.Option(min=1, metavar="BYTES")] = 2_000_000,
    timeout: Annotated[float, typer.Option(min=0.1, metavar="SECONDS")] = 60.0,
    queue: Annotated[int, typer.Option(min=1, metavar="N")] = 1000,
    max_words: Annotated[int, typer.Option(min=1, metavar="N")] = 1000,
    client_words: Annotated[int, typer.Option(min=1, metavar="N")] = 100_000,
    client_connections: Annotated[int, typer.Option(min=1, metavar="N")] = 100,
    train_into: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    quiet: QuietOption = False,
) -> None:
    """Parse over HTTP: a web page, and the interfaces of UDPipe, ArboratorGrew and INCEpTION.

    Without --host, only this machine can reach the service. On Ctrl-C or SIGTERM, requests in work
    have 5 seconds; then they are answered by 503, and the process ends.

    Parameters
    ----------
    models
        Models; the first is the default.
    port
        The port; 0: any free port.
    host
        The address to listen at; 0.0.0.0 for everybody.
    allow_host
        Another name of the service, or of pages that may call it; localhost and the address may.
    size
        The largest request.
    timeout
        The longest time of a request; then its work stops.
    queue
        The largest number of requests at a time.
    max_words
        The longest sentence.
    client_words
        The most words of all requests of a client at a time.
    client_connections
        The most connections of a client at a time.
    train_into
        Keep models that requests of ArboratorGrew and INCEpTION train: at most 100 models, 1 GB in
        all, 100 epochs each, and 8 waiting requests.

    Examples
    --------
    arborescence serve -m english-fast --port 8080
    arborescence serve -m english -m english-fast --train-into models
    """
    from arborescence.integrations import service
    from arborescence.parsers import load

    parsers = {name: load(name) for name in models or ["english"]}
    limits = {"size": size, "timeout": timeout, "queue": queue, "words": max_words}
    limits |= {"client_words": client_words, "client_connections": client_connections}
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        named = [] if listening.getsockname()[0] == host else [host]
        shown = f"[{host}]" if ":" in host else host
        note(f"http://{shown}:{listening.getsockname()[1]}", quiet=quiet)
        with suppress(KeyboardInterrupt):  # then all begun requests have been answered
            service.run(parsers, listening, train_into, [*named, *(allow_host or [])], **limits)
