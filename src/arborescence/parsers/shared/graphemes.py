"""Characters as readers see them: a base with its marks, a joined emoji, a flag, a syllable.

These are the extended grapheme clusters of Unicode (UAX 29), from Python's data on characters.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_JOINER: Final = 0x200D
# The roles of a character: none; part of the character before; a link between two letters
# (virama); half of a flag; a leading consonant, a vowel, a final consonant, or a whole syllable of
# Hangul; a character that the next character belongs to.
_PLAIN, _EXTEND, _LINKER, _FLAG, _LEAD, _VOWEL, _FINAL, _SYLLABLE, _PREPEND = range(9)
_UNKNOWN: Final = 255
# For each role, the roles of a next character that belongs to it (besides _EXTEND and _LINKER).
_FOLLOWED: Final = {
    _LEAD: (_LEAD, _VOWEL, _SYLLABLE),
    _VOWEL: (_VOWEL, _FINAL),
    _FINAL: (_FINAL,),
    _SYLLABLE: (_VOWEL, _FINAL),
    _PREPEND: (_PLAIN,),
}
_LAST: Final = 0x10FFFF
# In Unicode's order (Prepended_Concatenation_Mark): signs of numbers and verses in Arabic, Syriac
# and Kaithi.
_PREPENDED: Final = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
_EXTENDING: Final = {
    0x200C, _JOINER, 0xFF9E, 0xFF9F, *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)
}  # fmt: skip
_FIRST_EXTENDING: Final = 0x300  # no lower code point belongs to another character

_roles = np.full(_LAST + 1, _UNKNOWN, dtype=np.uint8)
_roles[:_FIRST_EXTENDING] = _PLAIN


def joined(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return for each code point whether the next belongs to the same character, (n,). O(n).

    >>> joined(np.array([ord("e"), 0x301, ord("s")], dtype=np.uint32))
    array([ True, False, False])
    """
    roles = _roles_of(codes)
    with_next = np.zeros(codes.size, dtype=np.bool_)
    if not roles.any():
        return with_next
    here, after = roles[:-1], roles[1:]
    pairs = (after == _EXTEND) | (after == _LINKER)
    for role, next_roles in _FOLLOWED.items():
        pairs |= (here == role) & np.isin(after, next_roles)
    with_next[:-1] = pairs
    for i in np.flatnonzero(pairs).tolist():
        with_next[i] = not (chr(codes[i]).isspace() or chr(codes[i + 1]).isspace())
    for i in np.flatnonzero((here == _LINKER) | (codes[:-1] == _JOINER)).tolist():
        with_next[i] |= _links(codes, roles, i)
    _join_flags(roles, with_next)
    return with_next


def _roles_of(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return the roles of code points, from a table that grows with new code points."""
    roles = _roles[codes]
    if (roles == _UNKNOWN).any():
        for code in set(codes[roles == _UNKNOWN].tolist()):
            _roles[code] = _role(code)
        roles = _roles[codes]
    return roles


def _join_flags(roles: NDArray[np.uint8], with_next: NDArray[np.bool_]) -> None:
    """Join the letters of flags in pairs: a flag is two letters for a country."""
    flags = 0
    for i in np.flatnonzero(roles == _FLAG).tolist():
        flags = flags + 1 if i and roles[i - 1] == _FLAG else 1
        with_next[i] |= bool(flags % 2) and i + 1 < roles.size and roles[i + 1] == _FLAG


def _links(codes: NDArray[np.uint32], roles: NDArray[np.uint8], i: int) -> bool:
    """Return whether a virama or a joiner links the characters before and after it."""
    first, linked = i, False
    while first >= 0 and roles[first] in (_EXTEND, _LINKER):
        linked |= bool(roles[first] == _LINKER)
        first -= 1
    if first < 0:
        return False
    before, after = chr(codes[first]), chr(codes[i + 1])
    if linked and {unicodedata.category(before), unicodedata.category(after)} == {"Lo"}:
        return script_of(before) == script_of(after)
    return codes[i] == _JOINER and _is_picture(before) and _is_picture(after)


def _role(code: int) -> int:
    """Return the role of a character."""
    character = chr(code)
    if unicodedata.combining(character) == 9 and _is_linker(code, character):
        return _LINKER
    if code in _EXTENDING or unicodedata.category(character) in ("Mn", "Me", "Mc"):
        return _EXTEND
    if 0x1F1E6 <= code <= 0x1F1FF:
        return _FLAG
    if code in _PREPENDED:
        return _PREPEND
    return _hangul(code)


def _is_linker(code: int, character: str) -> bool:
    # Khmer's coeng is a virama, too. The viramas of Tamil and Lao are visible, and join no letters.
    name = unicodedata.name(character, "")
    return code == 0x17D2 or ("VIRAMA" in name and script_of(character) not in ("TAMIL", "LAO"))


def _hangul(code: int) -> int:
    """Return the role in a syllable of Hangul; a final consonant may follow a whole syllable."""
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return _LEAD
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return _VOWEL
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return _FINAL
    if 0xAC00 <= code <= 0xD7A3:
        return _SYLLABLE
    return _PLAIN


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) == "So" or 0x1F000 <= ord(character) <= 0x1FAFF


def script_of(character: str) -> str:
    """Return the first word of a character's name; for a letter, this is the name of its script."""
    return unicodedata.name(character, "").partition(" ")[0]
