"""Every exception that a caller may want to catch.

All derive from `ArborescenceError`. Those that report bad values derive from `ValueError` too,
so that code which does not know this library still catches them.

Messages quote what a caller or a file has given. So that it cannot steer the terminal on which they
end up, nor forge a line of a log, characters that do not print are escaped as in string literals.
"""


class ArborescenceError(Exception):
    """The base of every error that this library raises on purpose."""

    __module__ = "arborescence"  # a traceback then shows the name by which callers catch it

    def __init_subclass__(cls) -> None:
        cls.__module__ = "arborescence"

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class OptionError(ArborescenceError, ValueError):
    """An argument with a value that it cannot have, or that does not go with another one."""


class ScoresError(ArborescenceError, ValueError):
    """Scores, lengths or edges that cannot be used: the message names the position."""


class NoTreeError(ArborescenceError, ValueError):
    """The edges that are present form no tree of the kind asked for."""


class TreeError(ArborescenceError, ValueError):
    """A head vector that cannot be used: wrong shape, or a head out of range."""


class TreebankError(ArborescenceError, ValueError):
    """A treebank that cannot be read or used: the message names file, line and fault."""


class ModelError(ArborescenceError, ValueError):
    """A model that cannot be found, read, or used: the message names the file and fault."""


class MissingExtraError(ArborescenceError, ImportError):
    """An optional dependency is not installed: the message names the extra that brings it."""


def printable(text: str) -> str:
    r"""Return a text in which characters that do not print are escaped: controls, line ends, bidi.

    >>> print(printable("\x1b[31mred\n\u202eder"))
    \x1b[31mred\n\u202eder
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
