"""The command line, run within this process, and what it may do with bad input."""

from __future__ import annotations

import io
import re
import sys
from contextlib import contextmanager
from functools import cache

import typer.main

from cases import WrongError
from rounds import described

# Tabs and line ends aside, nothing that a terminal obeys or that reorders text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# Typer makes the commands from their functions anew for each call: longer than all else takes.
typer.main.get_command = cache(typer.main.get_command)


@contextmanager
def streams(stdin):
    """Put streams of bytes in the place of the three standard ones."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    sys.stdout, sys.stderr = out, err
    try:
        yield out.buffer, err.buffer
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def run(*arguments, stdin=b""):
    """Run the command; return its status, what it printed, and what it complained of."""
    from arborescence.cli import run

    with streams(stdin) as (out, err):
        try:
            status = run([str(argument) for argument in arguments])
        except SystemExit as error:
            status = int(error.code or 0)
        except Exception as error:
            raise WrongError(f"{arguments[0]}: a traceback: {described(error)}", error) from error
        sys.stdout.flush()
        return status, out.getvalue(), err.getvalue().decode("utf-8", "replace")


def refused_or_done(*arguments, stdin=b""):
    """Run the command; check that it works, or complains in one line and says nothing else."""
    status, out, err = run(*arguments, stdin=stdin)
    name = arguments[0]
    if status not in (0, 1, 2):
        raise WrongError(f"{name}: status {status}", err)
    if found := CONTROL.search(err):
        raise WrongError(
            f"{name}: a control character reaches the terminal", ascii(found[0]), ascii(err)
        )
    if "Traceback" in err:
        raise WrongError(f"{name}: a traceback on stderr", err)
    lines = err.removesuffix("\n").split("\n")
    complaints = [line for line in lines if line.startswith("arborescence: error: ")]
    if status and complaints != lines[-1:]:
        raise WrongError(f"{name}: not one line on stderr that says why", ascii(err))
    if status and len(err) > 2000:
        raise WrongError(f"{name}: a line of {len(err)} characters on stderr", ascii(err[:300]))
    return status, out
