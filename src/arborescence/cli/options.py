"""Shared handling of command-line options."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from arborescence.core.choices import Root
from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator


def examples(*lines: str) -> str:
    """Lay out the examples at the end of a help page."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"  [cyan]{line}[/cyan]" for line in lines)])


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn what the library says of its options into an error of usage."""
    try:
        yield
    except OptionError as error:
        raise typer.BadParameter(as_typed(str(error))) from error


def as_typed(message: str) -> str:
    """Name options as they are on the command line."""
    message = re.sub(r"^\w+(?= must)", lambda name: f"--{name[0].replace('_', '-')}", message)
    return values_as_typed(re.sub(r"\b(\w+)=(?!True\b)([\w.-]+)", r"\1='\2'", message))


def values_as_typed(message: str) -> str:
    """Name options with a quoted value, True, False or none as they are on the command line."""

    def typed(option: re.Match[str]) -> str:
        name, value = option[1].replace("_", "-"), option[2].strip("'")
        return (
            f"--no-{name}"
            if value == "False"
            else f"--{name} {value}".removesuffix("True").rstrip()
        )

    message = message.replace("projective=True", "projective='yes'")
    return re.sub(r"\b([a-z_]+)=(True|False|'[\w.-]+'|(?![\w'\"(\[=-]))", typed, message)


def ends(output: str | None, *endings: str) -> bool:
    """Return whether a file's ending says that it is of this kind."""
    return (output or "").removesuffix(".gz").endswith(endings)


def hush(wanted: bool) -> bool:
    """Silence the note that kernels are being compiled, too."""
    if wanted:
        os.environ["ARBORESCENCE_QUIET"] = "1"
    return wanted


RootOption = Annotated[
    Root, typer.Option(help="Exactly one word hangs from the root, or one or more.")
]
ThreadsOption = Annotated[int, typer.Option(min=1, help="How many threads to use.")]
KBestOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=10**6, metavar="K", help="Find the K best trees of each sentence, not one."
    ),
]
Arguments = Annotated[list[str] | None, typer.Argument()]
JsonOption = Annotated[bool, typer.Option("--json")]
#: The option of all commands that write into a file.
into = partial(typer.Option, "--output", "-o", metavar="FILE")
OutputOption = Annotated[str | None, into()]
DrawingOption = Annotated[str | None, into(metavar="FILE.svg", help="Draw the trees into it.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=hush, help="Say nothing but what goes wrong.")
]
SkipOption = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave broken sentences out, and count them.")
]
