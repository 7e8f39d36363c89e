"""Commands that other distributions add, Typer apps of the group ``arborescence.commands``."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import typer
from typer.core import TyperGroup

from arborescence.errors import MissingExtraError

GROUP: Final = "arborescence.commands"
#: Commands of this project that have a distribution of their own.
_ELSEWHERE: Final = {"experiment": "arborescence-papers"}


class Commands(TyperGroup):
    """The commands of the package, and those that are added, each imported when it is wanted."""

    def list_commands(self, context: Any) -> list[str]:
        """Return the names of all commands."""
        own = super().list_commands(context)
        return [*own, *sorted(_added().keys() - own)]

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command; None, after a line on stderr, if one that is added is broken."""
        if own := super().get_command(context, name):
            return own
        if point := _added().get(name):
            return _loaded(point)
        if name in _ELSEWHERE:
            package = _ELSEWHERE[name]
            raise MissingExtraError(f"{name} is in {package}: pip install {package}")
        return None


def _added() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Any:
    """Import a command, which may be code of anybody."""
    around = typer.Typer(add_completion=False, rich_markup_mode="rich")
    try:
        around.add_typer(point.load(), name=point.name)
        return typer.main.get_group(around).commands[point.name]
    except Exception as error:
        whose = point.dist.name if point.dist else point.value
        reason = " ".join(str(error).split())
        sys.stderr.write(
            f"arborescence: the command {point.name!r} of {whose} is left out: "
            f"{type(error).__name__}: {reason}\n"
        )
        return None
