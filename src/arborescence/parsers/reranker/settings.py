"""The options of rerankers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from arborescence.parsers.shared.options import Bits, Option, Record, Rng, Trees
from arborescence.parsers.shared.scheme import whole

#: The maximum length of a k-best list.
MOST_TREES = 10_000


@dataclass(frozen=True, kw_only=True)
class Settings(Record):
    """Options of a reranker of k-best lists (Charniak and Johnson 2005)."""

    k: Annotated[int, Option(whole(2, MOST_TREES))] = 50
    """The length of the k-best lists."""
    folds: Annotated[int, Option(whole(2))] = 5
    """Into how many parts the treebank is split for cross-validation."""
    rng: Rng = 1
    epochs: Annotated[int, Option(whole(1), stored=False)] = 4
    """How often to go over the lists."""
    root: Trees = "single"
    bits: Bits = 20
