"""The command line: thin, and nothing of its own that the library lacks.

`main` is the one place where what goes wrong becomes a line on stderr and an exit status: 1 for
bad input, 2 for a wrong command, 130 after Ctrl-C, 141 where the reader of a pipe has gone.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING

from arborescence.errors import ArborescenceError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED, BROKEN_PIPE = 130, 141  # 128 + the signal's number, as shells have it


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    arguments
        What follows the command's name; `sys.argv` by default.
    """
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit status, having said what went wrong."""
    try:
        import rich  # noqa: F401
        import typer

        from arborescence.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        return complain("the command line needs the extra 'cli': pip install 'arborescence[cli]'")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = app(arguments, prog_name="arborescence", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return complain(error.format_message(), error.exit_code)
    except ArborescenceError as error:
        return complain(str(error))
    except (BrokenPipeError, SystemExit):  # Typer makes the one into the other
        discard_output()
        return BROKEN_PIPE
    except OSError as error:
        discard_output()
        where = f"{error.filename}: " if error.filename else ""
        return complain(f"{where}{error.strerror or error}")
    except MemoryError:
        return complain("not enough memory: give smaller files, or ask for fewer trees")
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        discard_output()
        return complain("interrupted", INTERRUPTED)
    return int(status or 0)


def complain(message: str, status: int = 1) -> int:
    """Say what went wrong, in one line, and return the exit status."""
    if line := " ".join(message.split("\n")).strip():  # a help page instead says it all
        sys.stderr.write(f"arborescence: error: {line}\n")
    return status


def discard_output() -> None:
    """Send what is still buffered for stdout nowhere, so that Python does not fail on it again."""
    with suppress(OSError, ValueError):  # if stdout is no real file, there is nothing to discard
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
