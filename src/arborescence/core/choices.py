"""Types of arguments: the named options, as literal types, and the types for overloads.

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
#: The head of a coordination: the head by head rules, the conjunct before the conjunction that
#: precedes this head, or the first conjunct.
Coordination = Literal["rules", "before", "first"]

#: The changes that a round of local enhancement makes: all disjoint changes, or only the best one.
Changes = Literal["disjoint", "best"]

#: Whether content words or their function words are heads.
Heads = Literal["content", "function"]
#: How a text is spelled: as in printed books, with “quotation marks” or « guillemets » (with
#: non-breaking spaces); as on typewriters; in lower case; in capitals; or with combining marks as
#: separate characters (NFD), as in file names on macOS.
Spelling = Literal["typographic", "guillemets", "straight", "lower", "upper", "nfd"]
#: The head of a coordination in a treebank: the first conjunct, the conjunction, the second
#: conjunct, or each conjunct the head of the next one.
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


#: A method that NumPy arrays lack identifies torch tensors, so these types work without torch.
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

    #: one root edge, or any number
    root: Root
    #: whether edges may not cross
    projective: bool


class BatchOptions(Which, total=False):
    """The options of `Which`, and the number of threads for a batch."""

    #: the number of threads
    threads: int
