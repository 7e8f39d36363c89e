"""The commands. Each is imported when it is called; its help imports no other command."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isfunction
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from arborescence.cli.options import (
    documented,
    examples_of,
    shown_as_written,
    without_conversions,
)
from arborescence.cli.progress import say
from arborescence.errors import MissingExtraError
from arborescence.version import __version__

GROUP: Final = "arborescence.commands"
#: Commands of this project that have a distribution of their own.
_ELSEWHERE: Final = {"experiment": "arborescence-papers"}


#: The modules of this package's commands, by task, in the order of the help page; and the names in
#: these modules, where they differ from the names of the commands.
_GROUPS: Final = {
    "Parse": {
        "parse": "parse", "demo": "parse", "split": "parsing", "tag": "parsing",
        "serve": "integrations", "models": "models",
    },
    "Train": {
        "train": "models:app", "evaluate": "evaluating", "calibrate": "models",
        "package": "models",
    },
    "Inspect": {
        "search": "searching", "draw": "treebanks", "validate": "treebanks",
        "convert": "treebanks", "repair": "treebanks",
    },
    "Annotate": {"rank": "annotating", "audit": "annotating"},
    "Teach": {"explain": "explain", "trace": "explain", "decode": "decode"},
    "Install": {"integrations": "integrations", "warmup": "warmup"},
}  # fmt: skip
_MODULES: Final = {name: where for group in _GROUPS.values() for name, where in group.items()}
_TASKS: Final = {name: task for task, group in _GROUPS.items() for name in group}


class Commands(TyperGroup):
    """The commands of the package, and added commands; each is imported when it is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        without_conversions(shown_as_written(self))
        self.commands: Any = dict.fromkeys(_MODULES)  # for Typer, which suggests similar names

    def list_commands(self, _context: Any) -> list[str]:
        """Return the names of all commands."""
        return [*_MODULES, *sorted(_added().keys() - _MODULES)]

    def get_command(self, _context: Any, name: str) -> Any:
        """Return a command; None, after a line on stderr, if an added command is broken."""
        if name in _MODULES:
            return _own(name)
        if point := _added().get(name):
            return _loaded(point)
        if name in _ELSEWHERE:
            package = _ELSEWHERE[name]
            raise MissingExtraError(f"{name} is in {package}: pip install {package}")
        return None


def _added() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _own(name: str) -> Any:
    """Import a command of this package: a function, or an app of several commands."""
    module, _, attribute = _MODULES[name].partition(":")
    member = getattr(import_module(f"arborescence.cli.{module}"), attribute or name)
    return without_conversions(_made(name, member))


def _made(name: str, member: Any) -> Any:
    """Make a command of a Typer app; or of a function, whose docstring is its help page."""
    around = typer.Typer(add_completion=False, rich_markup_mode="rich")
    if isfunction(member):
        around.command(name, epilog=examples_of(member))(documented(member))
    else:
        around.add_typer(member, name=name)
    command = shown_as_written(typer.main.get_group(around).commands[name])
    command.rich_help_panel = _TASKS.get(name, "Others")
    return command


def _loaded(point: EntryPoint) -> Any:
    """Import an added command, whose author may be anybody."""
    try:
        return _made(point.name, point.load())
    except (Exception, SystemExit) as error:
        distribution = point.dist.name if point.dist else point.value
        reason = " ".join(str(error).split())
        sys.stderr.write(
            f"arborescence: the command {point.name!r} of {distribution} is left out: "
            f"{type(error).__name__}: {reason}\n"
        )
        return None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def arborescence(
    context: typer.Context,
    version: bool = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v")] = False,
) -> None:
    """Parse sentences into dependency trees, with exact inference.

    Parameters
    ----------
    version
        Show the version and exit.
    verbose
        With --version: also show which kernels run.

    Examples
    --------
    arborescence demo
    arborescence parse --sentence 'The birds sing.' --tree
    """
    if version:
        say(installed_version(verbose))
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


app.callback(invoke_without_command=True, epilog=examples_of(arborescence))(
    documented(arborescence)
)


def installed_version(verbose: bool) -> str:
    """Return the version; if `verbose`, also the kernels that run."""
    if not verbose:
        return __version__
    from arborescence.compiling.native import described

    return described()
