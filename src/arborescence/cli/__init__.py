"""The command line: a thin layer over the library.

Only `main` turns errors into a line on stderr and an exit status: 1 for bad input, 2 for a wrong
command, 130 after Ctrl-C, 129 or 143 after SIGHUP or SIGTERM, 141 for a closed pipe. A closed
standard stream (``>&-``) is an error only of commands that need this stream.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import suppress
from io import BufferedReader, BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any

from arborescence.errors import ArborescenceError, printable
from arborescence.system.files import remove_unfinished
from arborescence.system.processes import stoppable
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED, BROKEN_PIPE = 130, 141  # 128 + the signal's number, as in shells


class Closed(RawIOBase):
    """Stands for a closed standard stream: its first use is an error."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told = False

    def readable(self) -> bool:
        """Allow reading and writing, so that both raise the error of `_tell`."""
        return True

    writable = readable

    def readinto(self, _buffer: Any) -> int:
        """Fail."""
        return self._tell(0)

    def write(self, data: Any) -> int:
        """Fail."""
        return self._tell(len(data))

    def _tell(self, size: int) -> int:
        if self.told:  # Python writes its buffer again when it exits
            return size
        self.told = True
        raise OSError(errno.EBADF, "is closed", self.name)


def replace_closed_streams() -> None:
    """Put a `Closed` in the place of each closed standard stream, and occupy its number."""
    # Otherwise the next opened file gets the number, and code that writes to stderr by its number
    # writes into this file.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    if sys.stdin is None:
        sys.stdin = TextIOWrapper(BufferedReader(Closed("<stdin>")))
    if sys.stdout is None:
        sys.stdout = TextIOWrapper(BufferedWriter(Closed("<stdout>")))
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on the arguments of the command, and exit."""
    with suppress(ValueError):  # not the main thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            # Ctrl-C when the work is done, or has not begun, ends Python without a traceback.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run the command line, report its error, and return its exit status."""
    replace_closed_streams()
    with stoppable(_run.__code__) as came:
        try:
            status = _run(arguments, came)
        except KeyboardInterrupt:
            status = INTERRUPTED
        if status == INTERRUPTED:  # Typer's own exit status of an interruption, too
            remove_unfinished()
            discard_output()
            status = complain("interrupted", 128 + (came or [signal.SIGINT])[0])
        return status


def _run(arguments: list[str], came: list[int]) -> int:
    """Run the command line and return its exit status, unless it is interrupted."""
    if came:  # signals that came before this call
        raise KeyboardInterrupt
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        if arguments == ["--version"]:  # without Typer, which needs most of the time of a start
            sys.stdout.write(f"{__version__}\n")
            sys.stdout.flush()
            return 0
        return _with_typer(arguments)
    except (BrokenPipeError, SystemExit):  # Typer turns BrokenPipeError into SystemExit
        discard_output()
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        name = error.name or ""
        if not name.startswith("arborescence."):
            raise
        return complain(f"this installation lacks {name}: somebody has removed it")
    except OSError as error:
        discard_output()
        where = f"{error.filename}: " if error.filename else ""
        hint = "; a sentence is given with --sentence" if " " in where.rstrip() else ""
        return complain(f"{where}{error.strerror or error}{hint}")
    except RuntimeError as error:
        if "start new thread" not in str(error):  # Python has no error of its own for this
            raise
        return complain(f"{error}: ask for fewer (--threads), or end other programs")
    except MemoryError:
        return complain("not enough memory: give smaller files, or ask for fewer trees")


def _with_typer(arguments: list[str]) -> int:
    """Run a command and return its exit status."""
    try:
        import rich  # noqa: F401
        import typer

        from arborescence.cli.app import app
        from arborescence.cli.options import values_as_typed
        from arborescence.cli.progress import warnings_as_notes
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        return complain("the command line needs the extra 'cli': pip install 'arborescence[cli]'")
    try:
        with warnings_as_notes():
            status = app(arguments, prog_name="arborescence", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return complain(error.format_message(), error.exit_code)
    except ArborescenceError as error:
        return complain(values_as_typed(str(error)))
    return int(status or 0)


def complain(message: str, status: int = 1) -> int:
    """Say what went wrong, in one line, and return the exit status."""
    if line := " ".join(message.split("\n")).strip():  # empty if a help page was printed instead
        with suppress(OSError):  # stderr may be on a full disk
            sys.stderr.write(f"arborescence: error: {printable(line)}\n")
    return status


def discard_output() -> None:
    """Discard the buffer of stdout, so that Python does not fail on it again."""
    with suppress(OSError, ValueError):  # if stdout is not a real file, there is nothing to discard
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
