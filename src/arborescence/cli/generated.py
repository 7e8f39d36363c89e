"""Options of a command, generated from those of the library (`parsers.shared.options`)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from arborescence.parsers.shared.options import Option

_Options = TypeVar("_Options")
#: How the command line writes values that are no text.
_WORDS: Final = {False: "no", True: "yes"}


def with_options(
    command: Callable[..., None], options: Mapping[str, Option]
) -> Callable[..., None]:
    """Give a command options beside those that its parameters declare.

    Its ``**`` parameter then has them as Typer read them: see `given`.

    >>> from arborescence.parsers.shared.options import Option
    >>> def command(name: str, **options: object) -> None: ...
    >>> command = with_options(command, {"beam": Option("", name="beam", kind=int, default=1)})
    >>> [(name, each.default) for name, each in inspect.signature(command).parameters.items()][1:]
    [('beam', 1)]
    """
    declared = inspect.signature(command, eval_str=True).parameters.values()
    named = [each for each in declared if each.kind is not each.VAR_KEYWORD]
    generated = [_parameter(option) for option in options.values() if option.command]
    command.__signature__ = inspect.Signature([*named, *generated])  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in (*named, *generated)}
    return command


def taking(
    record: Callable[..., _Options],
) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """Let a command take all its options as one record, a dataclass whose fields declare them.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Wanted:
    ...     beam: int = 1
    >>> @taking(Wanted)
    ... def command(options: Wanted) -> None: ...
    >>> inspect.signature(command)
    <Signature (*, beam: int = 1)>
    """
    hints = get_type_hints(record, include_extras=True)
    declared = [
        each.replace(annotation=hints[name], kind=each.KEYWORD_ONLY)
        for name, each in inspect.signature(record).parameters.items()
    ]

    def decorated(command: Callable[[_Options], None]) -> Callable[..., None]:
        def run(**options: Any) -> None:
            command(record(**options))

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(declared)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in declared}
        return run

    return decorated


def given(context: typer.Context, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the values of the options that were given, as the library takes them."""
    found = {}
    for name, option in options.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            found[name] = _value(option, context.params[name])
    return found


def _parameter(option: Option) -> inspect.Parameter:
    """Make the parameter from which Typer makes an option."""
    name, default = option.name.replace("_", "-"), option.default
    flags = f"--{name}"
    kind: Any = option.kind
    if option.is_flag:
        kind, flags = bool, f"--{name}/--no-{name}" if default else flags
    elif option.choices:
        literal: Any = Literal
        kind, default = literal[tuple(map(_word, option.choices))], _word(default)
    elif kind is tuple:
        kind, default = str, ",".join(default)
    declared = typer.Option(
        flags,
        help=option.help,
        metavar=option.metavar,
        rich_help_panel=option.panel,
        show_default=option.shown or True,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if option.shown else default,
        annotation=Annotated[kind | None, declared],
    )


def _value(option: Option, value: Any) -> Any:
    """Return a value of the command line as the library has it."""
    if option.kind is tuple and not option.choices:
        return tuple(value.split(","))
    if option.choices and not option.is_flag:
        return {_word(choice): choice for choice in option.choices}[value]
    return value


def _word(choice: Any) -> Any:
    return _WORDS[choice] if isinstance(choice, bool) else choice
