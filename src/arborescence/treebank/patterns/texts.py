"""The texts of the sentences of many matches, and the places of words in them, by arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.treebank.surface import placed_tokens

if TYPE_CHECKING:
    import numpy.typing as npt

    from arborescence.treebank.columns import Columns
    from arborescence.treebank.sentence import Sentence

    Integers = npt.NDArray[np.int64]

_SAID: Final = re.compile(rb"^#[^\S\n]*(sent_id|text)[^\S\n]*=(.*)$", re.MULTILINE)
#: The spaces that `Columns.characters` leaves out.
_SPACES: Final = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_SPACE: Final = ord(" ")


class SentenceTexts(NamedTuple):
    """The texts of sentences, with single spaces, and the places of the words in them."""

    #: the sentences
    columns: Columns
    #: the number of the sentence of each match
    sentences: list[int]
    #: the texts, in UTF-8, one after another
    text: bytes
    #: where each sentence starts and ends in `text`
    spans: dict[int, tuple[int, int]]
    #: the ``# sent_id`` of each sentence; "" for none
    ids: dict[int, str]
    #: int64: for each character of the tokens, without spaces, its place in `text`
    solid: Integers
    #: int64 (matches,): the place in `solid` of the first word of each match's sentence
    firsts: Integers

    @classmethod
    def of(cls, columns: Columns, sentences: Integers) -> Self:
        """Make the texts of the sentences of matches, which are sorted. O(size)."""
        distinct, places = np.unique(sentences, return_inverse=True)
        raw, characters = columns.data.tobytes(), columns.characters.tobytes()
        begins, bodies = columns.begins[distinct], columns.spans[columns.offsets[distinct], 0]
        tokens = zip(*(each[distinct].tolist() for each in columns.sentence_spans), strict=True)
        headers = zip(begins.tolist(), bodies.tolist(), strict=True)
        texts, ids = [], {}
        for number, (begin, body), (start, end) in zip(
            distinct.tolist(), headers, tokens, strict=True
        ):
            said = dict(reversed(_SAID.findall(raw, begin, body)))
            ids[number] = said.get(b"sent_id", b"").decode().strip()
            text = b" ".join(said.get(b"text", b"").split())
            solid = characters[start:end]
            if text.replace(b" ", b"") != solid:  # no text, other spaces, or another text
                text = " ".join(text.decode().split()).encode()
            if text.replace(b" ", b"") != solid:
                text = _text_of_tokens(columns.sentence(number)).encode()
            texts.append(text)
        whole = b"".join(texts)
        places_of_solid = np.flatnonzero(np.frombuffer(whole, np.uint8) != _SPACE)
        ends = np.cumsum([0, *map(len, texts)])
        spans = dict(zip(ids, zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True), strict=True))
        firsts = np.searchsorted(places_of_solid, ends[:-1])[places]
        return cls(
            columns, sentences.tolist(), whole, spans, ids,
            np.append(places_of_solid, len(whole)), firsts,
        )  # fmt: skip

    def places_of(self, words: Integers) -> tuple[Integers, Integers]:
        """Return the start and the end in `text` of the tokens of words, (matches, words)."""
        columns = self.columns
        before = self.firsts - columns.starts[columns.offsets[self.sentences]]
        starts = self.solid[columns.starts[words] + before[:, np.newaxis]]
        last = self.solid[columns.ends[words] + before[:, np.newaxis] - 1]
        return starts, np.maximum(starts, last + 1)


def _text_of_tokens(sentence: Sentence) -> str:
    """Join the tokens of a sentence without a fitting ``# text``."""
    [(_, tokens, _)] = placed_tokens([sentence])
    pieces = []
    for gap, token, written in tokens:
        same = _SPACES.sub("", written) == _SPACES.sub("", token.form)
        pieces.append(" " if gap else "")
        pieces.append(_SPACES.sub(" ", written if same else token.form))
    return "".join(pieces).strip(" ")
