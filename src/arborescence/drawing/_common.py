"""Shared by all drawings: the protocol of a sentence, and text without control characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from arborescence.errors import TreeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Drawable(Protocol):
    """A sentence with a tree: `arborescence.treebank.Sentence` is one."""

    @property
    def forms(self) -> Sequence[str]:
        """The words, from the first to the last."""

    @property
    def upos(self) -> Sequence[str]:
        """Their parts of speech (``"_"``: unknown)."""

    @property
    def heads(self) -> NDArray[np.int64]:
        """The head vector: ``heads[0] == -1``."""

    @property
    def deprels(self) -> Sequence[str]:
        """Their relations (``"_"``: unknown)."""


def head_list(sentence: Drawable) -> list[int]:
    """Return the heads as plain integers, or raise `TreeError` if a word has none."""
    heads = [int(head) for head in sentence.heads]
    for word, head in enumerate(heads[1:], 1):
        if not 0 <= head < len(heads) or head == word:
            raise TreeError(
                f"word {word} ({sentence.forms[word - 1]!r}) has no usable head, so no tree can be "
                "drawn: parse the sentence first"
            )
    return heads


def printable(text: str) -> str:
    """Replace characters that a terminal or an XML file does not allow; ``"_"`` becomes empty."""
    if text == "_":
        return ""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
