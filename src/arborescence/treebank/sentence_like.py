"""The interface of a `Sentence` for the modules that `Sentence` itself imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SentenceLike(Protocol):
    """A `Sentence`. The module of `Sentence` imports this class's users, so they cannot import it.

    All members have the meaning that they have in `Sentence`.
    """

    @property
    def forms(self) -> list[str]:
        """The words."""

    @property
    def lemmas(self) -> list[str]:
        """The lemma of each word."""

    @property
    def upos(self) -> list[str]:
        """The universal part of speech of each word."""

    @property
    def xpos(self) -> list[str]:
        """The treebank's own part-of-speech tag of each word."""

    @property
    def feats(self) -> list[str]:
        """The morphological features of each word, as one string."""

    @property
    def heads(self) -> NDArray[np.int64]:
        """The head of each word."""

    @property
    def tree(self) -> NDArray[np.int64]:
        """The head vector."""

    @property
    def deprels(self) -> list[str]:
        """The relation of each word."""

    @property
    def misc(self) -> list[str]:
        """The column MISC of each word, as one string."""

    @property
    def multiwords(self) -> list[tuple[int, int, str]]:
        """The multiword tokens."""

    @property
    def comments(self) -> list[str]:
        """The comment lines."""

    @property
    def sent_id(self) -> str | None:
        """The name of the sentence in the comments."""

    @property
    def text(self) -> str | None:
        """The text in the comments."""

    @property
    def offset(self) -> int | None:
        """The place of the first token in the text."""

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The place of each word in the text."""

    def comment(self, name: str) -> str | None:
        """Return the value of a comment."""

    def cell(self, word: int, column: str) -> str:
        """Return one column of a word."""

    def children(self, word: int) -> list[int]:
        """Return the dependents of a word."""

    def subtree(self, word: int) -> list[int]:
        """Return a word and all words below it."""

    def __len__(self) -> int: ...
