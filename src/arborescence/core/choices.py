"""Choices that have names: one list of each, for checks, type checkers and the command line.

It imports nothing that takes time, so that the command line can say what there is before NumPy
and Numba are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from arborescence.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection

#: Exactly one edge leaves the root, or one or more.
Root = Literal["single", "multi"]
#: What the score of a pair of words is, of the scores of its two directions.
Encoding = Literal["mean", "product", "max", "min"]
#: What says which of several trees is the best: labelled or unlabelled attachment.
Measure = Literal["las", "uas"]


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise OptionError if a value is none of the choices.

    >>> check_choice("loss", "svm", ("mira", "perceptron", "tree"))
    Traceback (most recent call last):
      ...
    arborescence.OptionError: loss must be 'mira', 'perceptron' or 'tree', not 'svm'
    """
    if value not in choices:
        *others, last = map(repr, choices)
        raise OptionError(f"{name} must be {', '.join(others)} or {last}, not {value!r}")
