"""Checks of treebanks: whether the heads of a sentence are a tree, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.tree import is_tree
from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from arborescence.core.choices import Root
    from arborescence.treebank.sentence import Sentence


def check_tree(sentence: Sentence, root: Root) -> None:
    """Raise TreebankError if the heads of a sentence are not a tree, or not one for `root`."""
    # A missing head is -1, which `is_tree` would take for padding.
    known = bool((sentence.heads[1:] >= 0).all())
    if known and is_tree(sentence.heads, root):
        return
    if root == "single" and known and is_tree(sentence.heads, "multi"):
        raise TreebankError(
            f"{place(sentence)}: several words have the root as their head; "
            "train with root='multi', or leave the sentence out"
        )
    raise TreebankError(
        f"{place(sentence)}: the heads are not a tree: correct or leave out the sentence"
    )


def place(sentence: Sentence) -> str:
    """Return the position of a sentence for error messages: file and line, else its repr."""
    return f"{sentence.source}:{sentence.line}" if sentence.source else repr(sentence)
