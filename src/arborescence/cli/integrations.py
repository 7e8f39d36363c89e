"""``arborescence integrations`` and ``serve``: the tools that users have, and parsing over HTTP."""

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
    """Show which parsers can decode with this library here, and check them.

    For each: its version, what arborescence.integrations.patch(...) would replace, and how both
    decoders do on 200 random graphs.

    Parameters
    ----------
    tools
        Names of packages; nothing: all that are known.
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
            say(f"{tool} {version}: not known, so it is left alone; known: {known}")
        else:
            say(f"{tool} {version}")
            if not described(tool, check):
                failed.append(tool)
    if failed:
        raise ArborescenceError(f"{', '.join(failed)}: the check failed, so do not install it")


def described(tool: str, check: bool) -> bool:
    """Write what would be replaced, and what a check found; tell whether all is well."""
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
    found = patching.check(tool)
    say(
        f"    on {sum(found)} random graphs: the same weight {found.same} times, a better tree "
        f"{found.better} times, one where {tool} finds none {found.broken} times"
        + (f", wrong {found.wrong} times" if found.wrong else "")
    )
    return not found.wrong


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
    """Parse over HTTP: a page to try it, the interfaces of UDPipe, ArboratorGrew and INCEpTION.

    Only this machine can reach it, unless --host says otherwise. On Ctrl-C or SIGTERM, requests
    that were begun have 5 seconds, then they are answered by 503, and the process ends.

    Parameters
    ----------
    models
        Models; the first is the default.
    port
        0: any that is free.
    host
        The address to listen at; 0.0.0.0 for everybody.
    allow_host
        A name by which it is called, or of pages that may ask, beside localhost and the address.
    size
        The largest request.
    timeout
        How long a request may take; then its work stops.
    queue
        How many requests may be there at a time.
    max_words
        The longest sentence.
    client_words
        Words of all requests of a client at a time.
    client_connections
        Connections of a client at a time.
    train_into
        Keep models that requests of ArboratorGrew and INCEpTION train: at most 100 of 1 GB in all,
        in 100 epochs, with 8 that wait.

    Examples
    --------
    arborescence serve -m english-fast --port 8080
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
        with suppress(KeyboardInterrupt):  # by then all that was begun has been answered
            service.run(parsers, listening, train_into, [*named, *(allow_host or [])], **limits)
