"""Replace functions of another package in every module that holds them, and restore them.

Functions are found by identity: every module that has imported a function by name has the same
object. A function in another place (a list, a default argument, `functools.partial`) is not found.
"""

from __future__ import annotations

import sys
from functools import wraps
from importlib import metadata
from threading import RLock
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self, cast

import numpy as np

from arborescence.core.random import as_generator
from arborescence.core.tree import is_tree, tree_weight
from arborescence.errors import MissingExtraError, OptionError
from arborescence.integrations import stanza, tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.integrations.tools import Replacement

#: The parsers that `patch` knows, by the names of their packages.
TOOLS: Final = ("diaparser", "hanlp", "hopsparser", "stanza", "supar", "trankit")


class Tool(Protocol):
    """The interface for a tool: Stanza's module, or a class in `tools`."""

    #: The versions whose source was read and tested.
    VERSIONS: tuple[str, ...]

    def replacements(self) -> list[Replacement]:
        """Import the tool, and return the replacements."""

    def decode(self, scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
        """Decode scores (B, N, N) ``[b, d, h]`` with the tool's decoder; 0 for padding."""


class AppliedReplacement(NamedTuple):
    """A replacement that was made."""

    #: The replacement.
    replacement: Replacement
    #: The tool's object.
    old: Any
    #: The object in its place.
    new: Any


_lock = RLock()
_changes: dict[str, list[AppliedReplacement]] = {}


class Patched:
    """The result of `patch`: the end of its ``with`` block undoes the patch.

    If the tool had been patched before, the end of the block changes nothing.
    """

    def __init__(self, tool: str, mine: bool) -> None:
        self.tool = tool
        self._mine = mine

    def __repr__(self) -> str:
        return f"<arborescence decodes for {self.tool}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine:
            unpatch(self.tool)


def patch(tool: str) -> Patched:
    """Let a parser decode with this library, in the whole process.

    `patch` imports the tool, and replaces its decoding functions in every loaded module. Modules
    that are imported later get the replacements, too, and loaded models use them. Other processes
    are not changed: call `patch` in each process.

    Parameters
    ----------
    tool : {"diaparser", "hanlp", "hopsparser", "stanza", "supar", "trankit"}
        The name of the parser's package.

    Returns
    -------
    Patched
        A context manager, which you may ignore. The end of its block restores the tool.

    Raises
    ------
    MissingExtraError
        If the tool is not installed, or its version is not known.
    OptionError
        If `tool` is not one of these names.

    Examples
    --------
    >>> from arborescence import integrations
    >>> integrations.patch("stanza")  # doctest: +SKIP
    <arborescence decodes for stanza>
    >>> integrations.unpatch("stanza")  # doctest: +SKIP
    """
    with _lock:
        if tool in _changes:
            return Patched(tool, mine=False)
        chosen = replacements(tool)
        olds = [vars(owner)[name] for owner, name, _ in chosen]  # a missing name raises first
        _changes[tool] = [_made(*pair) for pair in zip(chosen, olds, strict=True)]
    return Patched(tool, mine=True)


def unpatch(tool: str) -> None:
    """Restore the objects that `patch` replaced, in every loaded module; do nothing without any.

    Parameters
    ----------
    tool
        As in `patch`.

    Raises
    ------
    OptionError
        If `tool` is not one of these names.
    """
    module_of(tool)
    with _lock:
        for replacement, old, new in reversed(_changes.pop(tool, [])):
            if isinstance(replacement.owner, ModuleType):
                exchange(new, old)
            else:
                setattr(replacement.owner, replacement.name, old)


def replacements(tool: str) -> list[Replacement]:
    """Return the replacements of `patch`; errors are as in `patch`."""
    module = module_of(tool)
    version = version_of(tool)
    if version is None:
        raise MissingExtraError(f"{tool} is not installed: pip install {tool}")
    if version not in module.VERSIONS:
        known = ", ".join(module.VERSIONS)
        raise MissingExtraError(
            f"{tool} {version} is not known, so its decoding was not replaced; known: {known}"
        )
    return module.replacements()


def module_of(tool: str) -> Tool:
    """Return the interface for a tool: see `Tool`."""
    if tool not in TOOLS:
        raise OptionError(f"tool must be one of {', '.join(TOOLS)}, not {tool!r}")
    place = stanza if tool == "stanza" else getattr(tools, tool.capitalize())
    return cast("Tool", place)


def version_of(tool: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return metadata.version(tool)
    except metadata.PackageNotFoundError:
        return None


def holders(value: object) -> list[tuple[ModuleType, str]]:
    """Return the loaded modules that hold an object, with their names for it."""
    return [
        (module, name)
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType)
        for name, held in list(vars(module).items())
        if held is value
    ]


def exchange(old: object, new: object) -> None:
    """Set `new` wherever a loaded module holds `old`."""
    for module, name in holders(old):
        setattr(module, name, new)


def _made(replacement: Replacement, old: Any) -> AppliedReplacement:
    """Make a replacement; return the data to undo it."""
    owner, name, new = replacement
    if isinstance(owner, ModuleType):
        new = _copy(new, old)
        exchange(old, new)
    else:
        setattr(owner, name, new)
    return AppliedReplacement(replacement, old, new)


def _copy(function: FunctionType, old: Callable[..., Any]) -> Callable[..., Any]:
    """Return a new function that calls `function`, so that it can be found; it wraps `old`."""

    @wraps(function)
    def replacing(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    replacing.__wrapped__ = old
    return replacing


#: Short sentences, so that different decoders would often disagree.
SENTENCES, WORDS = 200, 12


class Findings(NamedTuple):
    """The counts of `check`, in sentences."""

    #: Both decoders found the same tree, or trees of the same weight.
    same: int
    #: The tool found a tree with one root edge, and this library a heavier one.
    better: int
    #: The tool found no tree with one root edge, or raised an exception.
    broken: int
    #: This library found no tree with one root edge, or a lighter tree than the tool.
    wrong: int


def places(tool: str) -> list[str]:
    """Return the dotted names that `patch` would replace; errors are as in `patch`."""
    names: dict[str, None] = {}
    for replacement in replacements(tool):
        names[str(replacement)] = None
        for module, name in holders(vars(replacement.owner)[replacement.name]):
            names[f"{module.__name__}.{name}"] = None
    return list(names)


def check(tool: str, rng: Rng = 0) -> Findings:
    """Decode random graphs with the tool's own decoder and with its replacement, and compare."""
    decode = module_of(tool).decode
    scores, lengths = random_graphs(as_generator(rng))
    theirs = []
    replacements(tool)  # before any function of the tool runs: the version may be unknown
    for i in range(len(lengths)):
        try:
            theirs.append(decode(scores[i : i + 1], lengths[i : i + 1])[0])
        except Exception:  # another package may raise anything
            theirs.append(None)
    with patch(tool):
        ours = decode(scores, lengths)
    counts = dict.fromkeys(Findings._fields, 0)
    for graph, n, own, new in zip(scores, lengths, theirs, ours, strict=True):
        before, after = weight_of(graph, n, own), weight_of(graph, n, new)
        if after is None or (before is not None and after < before):
            counts["wrong"] += 1
        elif before is None:
            counts["broken"] += 1
        else:
            counts["better" if after > before else "same"] += 1
    return Findings(**counts)


def weight_of(scores: NDArray[Any], n: int, heads: NDArray[Any] | None) -> float | None:
    """Return the weight of a tree with one root edge; None for anything else."""
    if heads is None:
        return None
    tree = np.concatenate([[-1], heads[1 : n + 1]])
    if not is_tree(tree):
        return None
    return float(tree_weight(scores[: n + 1, : n + 1].T, tree))


def random_graphs(rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return logarithms of random probabilities of heads, ``[b, d, h]``, and the lengths."""
    lengths = rng.integers(1, WORDS + 1, SENTENCES)
    scores = rng.normal(0.0, 2.0, (SENTENCES, WORDS + 1, WORDS + 1))
    words = np.arange(WORDS + 1)
    scores[:, words, words] = -np.inf
    scores[words[None, None, :].repeat(WORDS + 1, 1) > lengths[:, None, None]] = -np.inf
    scores[:, 0, 0] = 0.0
    with np.errstate(divide="ignore"):
        probabilities = np.exp(scores - scores.max(axis=2, keepdims=True))
        logarithms = np.log(probabilities / probabilities.sum(axis=2, keepdims=True))
    return logarithms.astype(np.float32), lengths
