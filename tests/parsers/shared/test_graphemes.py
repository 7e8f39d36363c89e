"""What belongs to one character."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arborescence.parsers.shared.graphemes import joined

MARKS = "\u0301\u0323\u05b0\u064b\u093e\u094d\u0e31\u20dd\ufe0f\u200d\u200c\U0001f3fd"


def characters(text):
    """Split a text after each character that the next one does not belong to."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    ends = np.flatnonzero(~joined(codes)) + 1
    return [text[i:j] for i, j in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    "whole",
    [
        "a", "e\u0301", "a\u0301\u0323", "👩\u200d🚒", "👨\u200d👩\u200d👧", "👍\U0001f3fd",
        "☺\ufe0f", "🏳\ufe0f\u200d🌈", "🇩🇪", "\u1112\u1161\u11ab", "\ud55c", "\uac00\u11a8",
        "क\u094dष", "क\u094d\u200dष", "తె", "ত\u09cdর", "ක\u0dca", "ש\u05b0\u05c1", "ب\u064e",
        "ก\u0e34\u0e48", "ក\u17d2ម", "#\ufe0f\u20e3", "🏴\U000e0067\U000e0062\U000e007f", "\u06dd1",
        "か\u3099", "ｶﾞ",
    ],
)  # fmt: skip
def test_one(whole):
    assert characters(whole) == [whole]
    assert characters(f"x{whole} {whole}.") == [*characters("x"), whole, " ", whole, "."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ab", ["a", "b"]),
        ("🇩🇪🇫🇷🇮", ["🇩🇪", "🇫🇷", "🇮"]),
        ("a🇩🇪", ["a", "🇩🇪"]),
        (" \u0301", [" ", "\u0301"]),
        ("a\n\u0301", ["a", "\n", "\u0301"]),
        ("👩🚒", ["👩", "🚒"]),
        ("한국", ["한", "국"]),
        ("கக\u0bcdக", ["க", "க\u0bcd", "க"]),
        ("क\u094d.", ["क\u094d", "."]),
        ("क\u094dক", ["क\u094d", "ক"]),
        ("👩\u200da", ["👩\u200d", "a"]),
        ("", []),
    ],
)
def test_several(text, parts):
    assert characters(text) == parts


@given(st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from(MARKS))))
def test_marks_belong_to_what_stands_before(text):
    found = characters(text)
    assert "".join(found) == text
    for before, part in zip(["", *found], found, strict=False):
        if unicodedata.category(part[0]) in ("Mn", "Me", "Mc"):
            assert not before or before[-1].isspace()
        assert not part[0].isspace() or len(part) == 1


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_what_composes_is_together(text):
    composed = "".join(unicodedata.normalize("NFC", part) for part in characters(text))
    assert composed == unicodedata.normalize("NFC", text)
