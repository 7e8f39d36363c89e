"""The exceptions that this library raises.

All derive from `ArborescenceError`. Exceptions about bad values also derive from `ValueError`, so
code that does not know this library can catch them.

Messages quote values from callers and files. Characters that do not print are escaped as in string
literals, so that a quoted value cannot control a terminal or add a line to a log. A long value is
shortened.
"""

import reprlib
from typing import Final

_LONGEST: Final = 1500  # characters of a message
_BRIEF: Final = 200  # characters of a value within a message


class ArborescenceError(Exception):
    """The base class of all errors of this library."""

    __module__ = "arborescence"  # a traceback then shows the public name

    def __init_subclass__(cls) -> None:
        if cls.__module__ == __name__:  # a caller's own class stays where pickle finds it
            cls.__module__ = "arborescence"

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class OptionError(ArborescenceError, ValueError):
    """An argument has an invalid value, or two arguments cannot be combined."""


class ScoresError(ArborescenceError, ValueError):
    """Scores, lengths or edges are invalid; the message gives the position."""


class NoTreeError(ArborescenceError, ValueError):
    """The present edges do not contain a tree of the requested kind."""


class TreeError(ArborescenceError, ValueError):
    """A head vector is invalid: wrong shape, or a head out of range."""


class TreebankError(ArborescenceError, ValueError):
    """A treebank cannot be read or used; the message gives the file, the line and the reason.

    Attributes
    ----------
    lost : (int, int, int)
        How many sentences, words and lines are left out if reading goes on.
    """

    lost: tuple[int, int, int] = (1, 0, 0)


class ArborescenceWarning(UserWarning):
    """A warning about the way in which some input was read, for its author."""

    __module__ = "arborescence"


class ModelError(ArborescenceError, ValueError):
    """A model cannot be found, read or used; the message gives the file and the reason."""


class StoppedError(ArborescenceError):
    """Work was stopped before it had a result: by its budget, or by the caller; see `Budget`."""


class MissingExtraError(ArborescenceError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


def printable(text: str) -> str:
    r"""Escape the characters that do not print: control characters, line ends, bidi marks.

    Of a long text only its beginning and its end are shown.

    >>> print(printable("\x1b[31mred\n\u202eder"))
    \x1b[31mred\n\u202eder
    """
    if not text.isprintable():
        escaped = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        text = "".join(escaped)
    return text if len(text) <= _LONGEST else f"{text[:1000]} … {text[-400:]}"


def brief(value: object) -> str:
    """Show a value of a file, shortened however long and however deep it is.

    >>> brief({"kind": list(range(1000))})
    "{'kind': [0, 1, 2, 3, 4, 5, ...]}"
    """
    text = reprlib.repr(value)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]} …"
