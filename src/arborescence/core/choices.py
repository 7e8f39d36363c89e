"""Types of arguments: the named options, as literal types, and what overloads take.

This module does not import NumPy or Numba, so the command line can print its help quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, TypeVar

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
    "kkt", "transitions",
]  # fmt: skip
#: The measure by which models are compared: labelled or unlabelled attachment score.
Measure = Literal["las", "uas"]
#: The head of a coordination: what head rules find, what stands before the conjunction in front of
#: that, or the first conjunct.
Coordination = Literal["rules", "before", "first"]

#: Which changes a round of local enhancement makes: all that have no word in common, or the best.
Changes = Literal["disjoint", "best"]

#: Whether content words or their function words are heads.
Heads = Literal["content", "function"]
#: As printed books have it, with “these quotation marks” or « those », whose spaces do not break;
#: as typewriters have it; in lower case, in capitals; and with combining marks as characters of
#: their own (NFD), as in names of files on macOS.
Spelling = Literal["typographic", "guillemets", "straight", "lower", "upper", "nfd"]
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


#: Torch tensors are known by a method that NumPy arrays lack, so these work without torch.
Tensor = TypeVar("Tensor")
_Tensor_co = TypeVar("_Tensor_co", covariant=True)


class TensorLike(Protocol[_Tensor_co]):
    """A torch tensor."""

    def detach(self) -> _Tensor_co:
        """Return the same numbers as a tensor without a gradient."""


#: Scores as tensors: one batch, or a list of one tensor per sentence.
Tensors = TensorLike[Tensor] | Sequence[TensorLike[Tensor]]


class Which(TypedDict, total=False):
    """The kind of trees: the options of all functions that find trees, for their overloads."""

    root: Root
    projective: bool


class BatchOptions(Which, total=False):
    """The same options, and the number of threads for a batch."""

    threads: int
