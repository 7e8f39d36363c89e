"""The named options, as literal types: for checks, type checkers and the command line.

This module does not import NumPy or Numba, so the command line can print its help quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection

#: Exactly one edge leaves the root ("single"), or one or more ("multi").
Root = Literal["single", "multi"]
#: How the score of an undirected edge is computed from the scores of its two directions.
Encoding = Literal["mean", "product", "max", "min"]
#: The algorithms that are explained step by step, each in the module of its name.
Algorithm = Literal[
    "chu-liu-edmonds", "root-constraint", "kbest", "eisner", "cky", "sums", "undirected",
    "transitions",
]  # fmt: skip
#: The measure by which models are compared: labelled or unlabelled attachment score.
Measure = Literal["las", "uas"]
#: The head of a coordination: what head rules find, what stands before the conjunction in front of
#: that, or the first conjunct.
Coordination = Literal["rules", "before", "first"]

#: Whether content words or their function words are heads.
Heads = Literal["content", "function"]
#: The head of a coordination in a treebank: a conjunct, the conjunction, or each of the next.
Conjuncts = Literal["first", "conjunction", "second", "chain"]


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise OptionError if the value is not one of the choices.

    >>> check_choice("loss", "svm", ("mira", "perceptron", "tree"))
    Traceback (most recent call last):
      ...
    arborescence.OptionError: loss must be 'mira', 'perceptron' or 'tree', not 'svm'
    """
    if value not in choices:
        *others, last = map(repr, choices)
        raise OptionError(f"{name} must be {', '.join(others)} or {last}, not {value!r}")
