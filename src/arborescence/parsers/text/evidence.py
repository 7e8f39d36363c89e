"""Runs of characters that a tokenizer must not cut: unknown scripts, and names with numbers.

A log-linear model makes a decision for any text. For letters of scripts that its treebank lacks,
the decision is chance, so a run of such letters stays whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Self
from zlib import crc32

import numpy as np

from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.graphemes import joined, script_of
from arborescence.parsers.text.characters import PARAGRAPH, SHORT_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.shared.reading import Read

#: Scripts that put no spaces between words: a run of letters may be several words.
_UNSPACED: Final = (
    "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "THAI", "LAO", "KHMER",
    "MYANMAR", "TIBETAN", "JAVANESE", "BALINESE", "TAI", "NEW",
)  # fmt: skip
#: A script is known if it has at least this share of the letters of a treebank.
_SHARE: Final = 0.001
_LATIN: Final = "LATIN"
_AFTER_LATIN: Final = 0x250  # the first code point after the common Latin letters
_COMBINING: Final = crc32(b"COMBINING")
_UNKNOWN: Final = 1
#: The signs of ordinal numbers, which belong to the figure or letter before: 2ª, nº.
_ORDINALS: Final = (0xAA, 0xBA)
#: Letters at the start of a run of letters and figures, before a figure: *Boeing* in *Boeing777*.
_BEFORE_FIGURES: Final = re.compile(r"(?<![^\W_])[^\W\d_]{2,}(?=\d)")

# For each code point the checksum of its script's name; 0 if it is neither a letter nor a mark.
_scripts = np.full(0x110000, _UNKNOWN, dtype=np.uint32)

_FIELDS: Final = {
    "scripts": scheme.or_none(scheme.values(0, 1000)),
    "figures": scheme.one_of([False, True]),
}


class Evidence:
    """The scripts and the names with numbers in the treebank of a tokenizer.

    Parameters
    ----------
    scripts
        The scripts of letters, by the first words of their names in Unicode, such as ``LATIN``.
        None: the scripts are not known, and any run of letters may be cut.
    figures
        Whether figures after two or more letters belong to the same word, as in *Boeing777*.
    """

    def __init__(self, scripts: Iterable[str] | None = None, *, figures: bool = False) -> None:
        self.scripts = None if scripts is None else tuple(sorted(set(scripts)))
        self.figures = figures
        known = (*(self.scripts or ()), *_UNSPACED)
        self._known = np.array([0, *(crc32(name.encode()) for name in known)], dtype=np.uint32)
        self._first = _AFTER_LATIN if _LATIN in known else 0

    @classmethod
    def of(cls, tokens: Iterable[tuple[str, bool]]) -> Self:
        """Collect the evidence of tokens: pairs of a form, and whether a space follows."""
        counts: Counter[str] = Counter()
        whole = cut = 0
        last = ""
        for form, spaced in tokens:
            counts.update(form)
            whole += len(_BEFORE_FIGURES.findall(form))
            if last and form[0].isdigit():
                matches = _BEFORE_FIGURES.findall(f"{last}0")
                cut += bool(matches) and last.endswith(matches[-1])
            last = "" if spaced else form
        letters: Counter[str] = Counter()
        for character, count in counts.items():
            if unicodedata.category(character).startswith("L"):
                letters[script_of(character)] += count
        enough = _SHARE * letters.total()
        return cls(
            (name for name, count in letters.items() if name and count >= enough),
            figures=whole > cut,
        )

    def inside(
        self, read: Read, codes: NDArray[np.uint32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return for each character of a text whether no word ends after the character, (n,).

        Also return whether the character is a letter of an unknown script.
        """
        whole, strange = np.zeros((2, codes.size), dtype=np.bool_)
        if not read.text.isascii():
            whole |= joined(codes)
            for place in np.flatnonzero(np.isin(codes, _ORDINALS)).tolist():
                whole[place - 1] |= place > 0 and read.text[place - 1].isalnum()
        if self.scripts is not None and not (self._first and read.text.isascii()):
            places = np.flatnonzero(codes >= self._first)
            scripts = _scripts_of(codes[places])
            strange[places] = unknown = ~np.isin(scripts, self._known)
            pairs = unknown[:-1] & (scripts[:-1] == scripts[1:]) & (np.diff(places) == 1)
            whole[places[:-1][pairs]] = True
        if self.figures:
            whole[_before_figures(read.text, codes)] = True
        if read.starts is not None:  # the characters that the model reads for one stay together
            whole |= read.starts[1:] == read.starts[:-1]
        return whole, strange

    def strange(self, read: Read) -> NDArray[np.bool_]:
        """Return for each character of a text whether it is a letter of an unknown script, (n,)."""
        if self.scripts is None or (self._first and read.text.isascii()):
            return np.zeros(len(read.text), dtype=np.bool_)
        codes = np.frombuffer(read.text.encode("utf-32-le"), dtype=np.uint32)
        return (codes >= self._first) & ~np.isin(_scripts_of(codes), self._known)

    def to_file(self) -> dict[str, Any]:
        """Return the field of a model file."""
        return {"scripts": self.scripts, "figures": self.figures}

    @classmethod
    def from_file(cls, header: Mapping[str, Any]) -> Self:
        """Restore the evidence from the output of `to_file`, or raise `ModelError`."""
        fields = scheme.fields_of(header, _FIELDS)
        return cls(fields["scripts"], figures=fields["figures"])


def without_chance(
    scores: NDArray[np.float64], strange: NDArray[np.bool_], gaps: NDArray[np.uint8]
) -> None:
    """Take away ends of sentences after words of unknown scripts, except at the end of a line.

    `scores`, (t,), is changed; `strange` tells which tokens end with a letter of such a script,
    `gaps` what follows each token. Such an end has no evidence: no mark, no known word.
    """
    scores[strange & (gaps != SHORT_LINE) & (gaps < PARAGRAPH) & (scores > 0)] = -1.0


def _before_figures(text: str, codes: NDArray[np.uint32]) -> list[int]:
    """Return the places of letters to which the figure after them belongs: `_BEFORE_FIGURES`."""
    # A search of the whole text for the pattern took a third of the time of the tokenizer.
    figures = (codes >= ord("0")) & (codes <= ord("9"))
    places = np.flatnonzero(figures[1:] & (codes[:-1] >= ord("A")))
    belonging = []
    for place in places.tolist():
        start = place
        while start >= 0 and text[start].isalpha():
            start -= 1
        if place - start > 1 and not (start >= 0 and text[start].isalnum()):
            belonging.append(place)
    return belonging


def _scripts_of(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the checksums of the scripts of letters and marks, 0 for other characters."""
    scripts = _scripts[codes]
    if (scripts == _UNKNOWN).any():
        for code in set(codes[scripts == _UNKNOWN].tolist()):
            is_letter = unicodedata.category(chr(code))[0] in "LM"
            _scripts[code] = crc32(script_of(chr(code)).encode()) if is_letter else 0
        scripts = _scripts[codes]
    for i in np.flatnonzero(scripts[1:] == _COMBINING).tolist():
        scripts[i + 1] = scripts[i]  # a combining mark has the script of the letter before
    return scripts
