"""The words and the sentences of a spaCy document, as arrays."""
# tokens of white space are no words

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from spacy.tokens import Doc

    from arborescence.parsers.text.tokenizer import Tokenizer


class Layout(NamedTuple):
    """Which tokens of a document are words, and where its sentences start."""

    words: NDArray[np.int64]  # (n,): the positions of the n words among the t tokens
    forms: list[str]  # the words; each run of white space inside a word is one space
    # (t,): whether a sentence starts with a token. The first one starts one.
    starts: NDArray[np.bool_]
    lengths: NDArray[np.int64]  # (s,): the number of words of each sentence that has words

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Return the first token of each sentence, and the one after its last, in pairs."""
        return pairwise([*np.flatnonzero(self.starts).tolist(), len(self.starts)])


def lay_out(doc: Doc, tokenizer: Tokenizer | None = None) -> Layout:
    """Find the words and sentences of a document; `tokenizer` decides starts that are not set."""
    texts = [doc.vocab.strings[code] for code in doc.to_array("ORTH").reshape(-1).tolist()]
    forms = [" ".join(text.split()) for text in texts]
    words = np.flatnonzero([bool(form) for form in forms])
    given = doc.to_array("SENT_START").view(np.int64).reshape(-1)
    starts = given == 1
    free = given == 0
    free[:1] = False
    if tokenizer and free[words].any():
        firsts = words[_stops(doc, texts, forms, words, tokenizer)[:-1]]
        starts[firsts] |= free[firsts]
    starts[:1] = True
    lengths = np.bincount(np.cumsum(starts)[words])
    return Layout(words, [form for form in forms if form], starts, lengths[lengths > 0])


def _stops(
    doc: Doc,
    texts: list[str],
    forms: list[str],
    words: NDArray[np.int64],
    tokenizer: Tokenizer,
) -> list[int]:
    """Return, for each sentence, the number of the word after its last one."""
    spaces = doc.to_array("SPACY").reshape(-1) > 0
    sizes = np.array([len(text) for text in texts])
    starts = np.cumsum(sizes + spaces) - sizes - spaces
    stops = starts + sizes
    for i, (text, form) in enumerate(zip(texts, forms, strict=True)):
        if form != text:  # white space at its ends does not count
            starts[i] += len(text) - len(text.lstrip())
            stops[i] -= len(text) - len(text.rstrip())
    pieces = zip(texts, spaces.tolist(), strict=True)
    whole = "".join([f"{text} " if space else text for text, space in pieces])
    return tokenizer.sentence_stops(whole, starts[words], stops[words])
