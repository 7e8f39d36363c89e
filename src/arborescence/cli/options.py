"""Options of commands: shared options, and options that are generated from the library's code."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args, get_origin

import typer

from arborescence.cli.outputs import check_options, into
from arborescence.core.choices import Root
from arborescence.errors import ArborescenceWarning, OptionError
from arborescence.treebank.encodings import check_encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from arborescence.parsers.shared.options import Option


def examples(*lines: str) -> str:
    """Return the end of a help page: examples, which `shown_as_written` formats."""
    return "\n\n".join(["Examples", *lines]) if lines else ""


def shown_as_written(command: Any) -> Any:
    """Let the help of a command, and of its subcommands, show all texts as they are written.

    Rich takes square brackets for markup: a pattern such as ``[upos=VERB]`` would be lost.
    """
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    flowing = (each if "  " in each else each.replace("\n", " ") for each in paragraphs)
    command.help = _escaped("\n\n".join(flowing))  # a list, with columns, keeps its lines
    title, *lines = (command.epilog or "").split("\n\n")
    if title == "Examples":
        styled = (f"  [cyan]{_escaped(line)}[/cyan]" for line in lines)
        command.epilog = "\n\n".join([f"[bold]{title}[/bold]", *styled])
    for each in command.params:
        each.help = _escaped(each.help)
    for each in getattr(command, "commands", {}).values():
        if each:  # commands that are not imported yet are None
            shown_as_written(each)
    return command


#: The start of a tag of Rich: its bracket, and the backslashes before the bracket.
_MARKUP: Final = re.compile(r"(\\*)\[(?=[a-z#/@][^\[]*\])")


def _escaped(text: str | None) -> str | None:
    """Put a backslash before what Rich would take for markup.

    The function of Rich that does so imports many modules, which takes 15 ms.
    """
    if not text:
        return text
    escaped = _MARKUP.sub(r"\1\1\\[", text)
    return f"{escaped}\\" if re.search(r"(?<!\\)\\$", text) else escaped


def without_conversions(command: Any) -> Any:
    """Let values of a command that need no conversion pass without one.

    Typer converts values by Pydantic, whose import takes as long as that of NumPy.
    """
    get_params = command.get_params

    def prepared(context: typer.Context) -> list[Any]:
        parameters: list[Any] = get_params(context)
        for each in parameters:
            if not each.required and "process_value" not in vars(each):
                each.process_value = partial(_processed, each, each.process_value)
        return parameters

    command.get_params = prepared
    return command


def _processed(
    parameter: Any, process: Callable[[Any, Any], Any], context: typer.Context, value: Any
) -> Any:
    """Return the value of a parameter; `process` converts it, unless it is as it should be."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if get_origin(kind) is list:
        if not value or not all(_is_of(get_args(kind)[0], each) for each in value):
            return process(context, value)
        value = list(value)
    elif kind is None or (value is not None and not _is_of(kind, value)):
        return process(context, value)
    return parameter.callback(context, parameter, value) if parameter.callback else value


def _is_of(kind: Any, value: Any) -> bool:
    """Tell whether a value has the type of an option."""
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    return kind in (str, int, float, bool) and type(value) is kind


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn an OptionError of the library into a usage error."""
    try:
        yield
    except OptionError as error:
        raise typer.BadParameter(as_typed(str(error))) from error


#: Texts in quotes or brackets, which are no options: patterns, names of files, lists.
_QUOTED: Final = r"""(?<![\w=])'[^']*'(?!\w)|(?<!\w)"[^"]*"(?!\w)|\[[^\]]*\]"""
_GIVEN: Final = re.compile(rf"{_QUOTED}|\b(\w+)=(?!True\b)([\w.-]+)")
_OPTION: Final = re.compile(rf"{_QUOTED}|\b([a-z_]+)=(True|False|'[\w.-]+'|(?![\w'\"(\[=-]))")


def as_typed(message: str) -> str:
    """Rewrite a message with the names of options on the command line."""
    message = re.sub(r"^rng(?= must)", "seed", message)
    message = re.sub(r"^\w+(?= must)", lambda name: f"--{name[0].replace('_', '-')}", message)
    return values_as_typed(
        _GIVEN.sub(lambda given: f"{given[1]}='{given[2]}'" if given[1] else given[0], message)
    )


def values_as_typed(message: str) -> str:
    """Rewrite options with a quoted value, True, False or no value for the command line."""

    def typed(option: re.Match[str]) -> str:
        if not option[1]:
            return option[0]
        name, value = option[1].replace("_", "-"), option[2].strip("'")
        return (
            f"--no-{name}"
            if value == "False"
            else f"--{name} {value}".removesuffix("True").rstrip()
        )

    return _OPTION.sub(typed, message.replace("projective=True", "projective='yes'"))


def hush(wanted: bool) -> bool:
    """Silence the note that kernels are being compiled, and warnings about unusual input."""
    if wanted:
        os.environ["ARBORESCENCE_QUIET"] = "1"
        warnings.simplefilter("ignore", ArborescenceWarning)
    return wanted


RootOption = Annotated[
    Root, typer.Option(help="Exactly one word hangs from the root, or one or more words.")
]
ThreadsOption = Annotated[int, typer.Option(min=1, help="The number of threads.")]
KBestOption = Annotated[
    int | None,
    typer.Option(min=1, max=10**6, metavar="K", help="Find the K best trees of each sentence."),
]
Arguments = Annotated[list[str] | None, typer.Argument()]
JsonOption = Annotated[bool, typer.Option("--json")]
OutputOption = Annotated[str | None, into("conllu", "json", "svg")]
WordsOption = Annotated[str | None, into("conllu", "json")]  # sentences that may lack trees
DrawingOption = Annotated[
    str | None, into("svg", metavar="FILE.svg", help="Draw the trees into this file.")
]
LanguageOption = Annotated[str | None, typer.Option(metavar="CODE|auto")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=hush, help="Write nothing but errors.")
]
SkipOption = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave invalid sentences out, and count them.")
]


def known_encoding(name: str) -> str:
    """Return the name of an encoding; BadParameter if Python does not know the encoding."""
    with usage_errors():
        check_encoding(name)
    return name


EncodingOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=known_encoding,
        help="The encoding of the input, such as cp1252 or utf-16.",
    ),
]


_Options = TypeVar("_Options")
#: The words of the command line for values that are not text.
_WORDS: Final = {False: "no", True: "yes"}
_HEADING: Final = re.compile(r"\n\n(Parameters|Examples)\n-+\n")
_ENTRY: Final = re.compile(r"^(\w+)\n((?:    .*\n?)+)", re.MULTILINE)


def documented(
    command: Callable[..., None],
    options: Mapping[str, Option] | None = None,
    *,
    common: Callable[..., None] | None = None,
) -> Callable[..., None]:
    """Make the options of a command from its docstring; a flag that is off by default has no --no-.

    The parameters of `common`, and `options`, are added: they are in the command's ``**``, with the
    values that Typer has read (see `given`).
    """
    more = [_parameter(option) for option in (options or {}).values() if option.command]
    each_once = {
        each.name: each
        for function in (common, command)
        if function
        for each in _parameters_of(function)
    }

    def run(**arguments: Any) -> None:
        check_options(arguments)
        command(**arguments)

    run.__name__, run.__doc__ = command.__name__, _section(command)
    return _declaring(run, [*each_once.values(), *more])


def taking(
    record: Callable[..., _Options],
) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """Let a command take all its options as a record, a dataclass that declares them."""

    def decorated(command: Callable[[_Options], None]) -> Callable[..., None]:
        def run(**options: Any) -> None:
            command(record(**options))

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return _declaring(run, _parameters_of(record))

    return decorated


def _declaring(
    command: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """Declare the parameters from which Typer makes options."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def examples_of(command: Callable[..., None]) -> str:
    """Return the examples of a docstring as the end of a help page."""
    return examples(*_section(command, "Examples").splitlines())


def _section(documented: Callable[..., Any], name: str = "") -> str:
    """Return a section of a docstring, or the text above all sections; "" if there is none."""
    above, *sections = _HEADING.split(inspect.getdoc(documented) or "")
    return dict(zip(["", *sections[::2]], [above, *sections[1::2]], strict=True)).get(name, "")


def _parameters_of(declaring: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a command or a record, with their texts in its docstring."""
    entries = _ENTRY.findall(_section(declaring, "Parameters") + "\n")
    texts = {name: " ".join(text.split()) for name, text in entries}
    return [
        each.replace(annotation=_annotated(each, texts.get(each.name)), kind=each.KEYWORD_ONLY)
        for each in inspect.signature(declaring, eval_str=True).parameters.values()
        if each.kind is not each.VAR_KEYWORD
    ]


def _annotated(declared: inspect.Parameter, text: str | None) -> Any:
    """Return the type of a parameter, with the help of its option."""
    kind, option = declared.annotation, typer.Option()
    if get_origin(kind) is Annotated:
        kind, option = get_args(kind)
    elif not text:  # Typer's context
        return kind
    option = copy(option)
    option.help = text or option.help
    # Typer reads the first flag of an annotation as a default.
    if declared.default is False and option.default is ... and not option.param_decls:
        option.param_decls = (f"--{declared.name.replace('_', '-')}",)
    return Annotated[kind, option]


def given(context: typer.Context, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the values of the given options, in the types of the library."""
    values = {}
    for name, option in options.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            values[name] = _value(option, context.params[name])
    return values


def _parameter(option: Option) -> inspect.Parameter:
    """Make the parameter from which Typer makes an option."""
    name, default = (option.written or option.name).replace("_", "-"), option.default
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
    """Return a value of the command line in the type of the library."""
    if option.kind is tuple and not option.choices:
        return tuple(value.split(","))
    if option.choices and not option.is_flag:
        return {_word(choice): choice for choice in option.choices}[value]
    return value


def _word(choice: Any) -> Any:
    return _WORDS[choice] if isinstance(choice, bool) else choice
