"""The output files of commands (-o): their kinds by their endings; no input is overwritten."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import typer

from arborescence.errors import OptionError
from arborescence.system.files import check_apart

if TYPE_CHECKING:
    from collections.abc import Mapping


class FileKind(NamedTuple):
    """A kind of files."""

    #: The name of the kind in messages.
    name: str
    #: The endings of file names.
    endings: tuple[str, ...]
    #: Whether files may be compressed by gzip.
    packed: bool = True


_TREES: Final = (".conllu", ".conllup", ".cupt", ".conll")
#: All kinds of files that commands write. A name without an ending is of a command's first kind.
KINDS: Final = {
    "conllu": FileKind("CoNLL-U", (*_TREES, ".txt")),
    "text": FileKind("text", (".txt",)),
    "json": FileKind("JSON", (".json", ".jsonl")),
    "svg": FileKind("a drawing", (".svg",)),
    "html": FileKind("a page", (".html", ".htm")),
    "spacy": FileKind("documents of spaCy", (".spacy",), packed=False),
    "npy": FileKind("an array", (".npy",), packed=False),
    "npz": FileKind("arrays", (".npz",), packed=False),
    "model": FileKind("a model", (".model", ".npz"), packed=False),
    "table": FileKind("a table", (".csv", ".tsv", ".parquet"), packed=False),
}
#: Endings of kinds that no command writes.
_OTHERS: Final = re.compile(
    r"\.(7z|arrow|avi|bin|bmp|bz2|c|cfg|cpp|css|db|docx?|dotx?|eps|epub|feather|gif|gv|h5|hdf5"
    r"|ico|ini|ipynb|java|jpe?g|js|latex|log|lz4|mat|md|mov|mp3|mp4|mrg|od[gpst]|ogg|onnx|pdf"
    r"|pickle|pkl|png|pptx?|ps|ptb?|pth|py|rar|rst|rtf|safetensors|sh|sqlite|tab|tar|tex|tgz|tiff?"
    r"|toml|ttf|wav|webp|wmf|xhtml|xlsx?|xmi|xml|xz|ya?ml|zip|zst)"
)
_KNOWN: Final = {ending for kind in KINDS.values() for ending in kind.endings}
#: The parameters of commands that name input files, except `train --from`, which may be the output.
_READ: Final = (
    *("files", "gold", "predicted", "against", "scores", "treebank", "treebanks", "dev"),
    *("model", "models", "rules", "head_rules", "mapping", "corrected", "decisions"),
)
#: A command with one of these parameters reads the standard input if none of them is given.
_INSTEAD: Final = {"files", "words", "treebank"}


def ending_of(output: str | os.PathLike[str]) -> str:
    """Return the ending of a file's name in lower case, without the ending of gzip."""
    path = PurePath(output)
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def ends(output: str | os.PathLike[str] | None, *endings: str) -> bool:
    """Return whether the name of a file has one of the endings."""
    return output is not None and ending_of(output) in endings


def check_kind(output: str | os.PathLike[str], kinds: tuple[str, ...]) -> None:
    """Raise BadParameter if the ending of a file is of another kind than these."""
    ending, packed = ending_of(output), PurePath(output).suffix.lower() == ".gz"
    written = [KINDS[kind] for kind in kinds]
    fits = [kind for kind in written if ending in kind.endings]
    another = not fits and (ending in _KNOWN or _OTHERS.fullmatch(ending))
    if not another and (not packed or any(kind.packed for kind in fits or written[:1])):
        return
    possible = [f"{kind.name} ({', '.join(kind.endings)})" for kind in written]
    more = ["and with .gz after it"] if any(kind.packed for kind in written) else []
    raise typer.BadParameter(
        f"{os.fspath(output)}: the ending {PurePath(output).suffix} is of another kind of file "
        f"than this command writes: {', '.join([*possible, *more])}; without an ending it writes "
        f"{written[0].name}"
    )


def into(*kinds: str, **more: Any) -> Any:
    """Return the option -o of commands that write a file of one of these kinds."""

    def check(output: Any) -> Any:
        if output is not None and kinds:
            check_kind(output, kinds)
        return output

    options: dict[str, Any] = {"metavar": "FILE", "callback": check}
    return typer.Option("--output", "-o", **options | more)


def check_options(options: Mapping[str, Any]) -> None:
    """Raise BadParameter if a command would write to a file that it reads."""
    output = options.get("output")
    if options.get("as_json") and ends(output, *_TREES):
        raise typer.BadParameter(f"--json does not write CoNLL-U: -o {output}")
    values = [options[name] for name in _READ if options.get(name) is not None]
    lists = [value if isinstance(value, list) else [value] for value in values]
    if not any(options.get(name) for name in _INSTEAD) and options.keys() & _INSTEAD:
        lists.append(["-"])
    try:
        check_apart("-" if output is None else output, [path for paths in lists for path in paths])
    except OptionError as error:
        raise typer.BadParameter(str(error)) from error
