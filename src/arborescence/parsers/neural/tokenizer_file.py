"""Reads the tokenizer of an encoder from JSON: known parts only, within limits.

The known parts are those of BERT's tokenizer (WordPiece) and of multilingual-e5's (Unigram). The
file can choose no regular expression, and no text that makes the input longer.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from arborescence.errors import ModelError

_LONGEST_FILE: Final = 1 << 24  # bytes
_MOST_PIECES: Final = 1 << 19
_LONGEST_TEXT: Final = 64  # characters of a piece, for example
#: The most nodes of the tree of all pieces, byte by byte, which Unigram makes. A node takes 330
#: bytes of memory.
_MOST_NODES: Final = 1 << 20
_LONGEST_WORD: Final = 1000  # WordPiece takes O(n²) for a word; longer words are unknown
_MOST_PARTS: Final = 1000  # of a list
_LARGEST: Final = 2**31 - 1


def tokenizer_of(data: bytes) -> str:
    """Return the parts that cut text, as JSON; ModelError if the tokenizer has other parts."""
    if len(data) > _LONGEST_FILE:
        raise _fault(f"its tokenizer has more than {_LONGEST_FILE} bytes")
    return json.dumps(_known_parts(json.loads(data), _TOKENIZER, "tokenizer"))


def _known_parts(value: Any, known: Any, name: str) -> Any:
    """Return the known parts of a value: see `_TOKENIZER`."""
    if isinstance(known, _Kinds):
        if value is None:
            return None
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in known:
            raise _refused(name, value if kind is None else kind)
        return _known_parts(value, {"type": str, **known[kind]}, kind)
    if isinstance(known, dict):
        if not isinstance(value, dict) or not value.keys() <= known.keys():
            raise _refused(name, value)
        return {
            key: _known_parts(each, known[key], key)
            for key, each in value.items()
            if known[key] is not None
        }
    if isinstance(known, list):
        if not isinstance(value, list) or len(value) > _MOST_PARTS:
            raise _refused(name, value)
        return [_known_parts(each, known[0], name) for each in value]
    if isinstance(known, type):
        if not (type(value) is known or (known is bool and value is None)):
            raise _refused(name, value)
        if isinstance(value, str) and len(value) > _LONGEST_TEXT:
            raise _refused(name, value)
        if isinstance(value, int) and not 0 <= value <= _LARGEST:
            raise _refused(name, value)
        return value
    return known(value)


def _fault(fault: str) -> ModelError:
    """Return the error for an encoder whose tokenizer has a fault."""
    return ModelError(f"the encoder cannot be read: {fault}")


def _refused(name: str, value: Any) -> ModelError:
    shown = ascii(value) if isinstance(value, str | int | float) else type(value).__name__
    return _fault(f"its tokenizer has an unknown part: {name}: {shown[:60]}")


def _replacement(value: Any) -> str:
    """Return the text that `Replace` inserts: an empty text or one character."""
    if not isinstance(value, str) or len(value.encode()) > 1:
        raise _refused("content", value)
    return value


def _pattern(value: Any) -> dict[str, str]:
    """Return the text that `Replace` searches for: plain text, no regular expression."""
    pattern: dict[str, str] = _known_parts(value, {"String": str}, "pattern")
    if not pattern.get("String"):
        raise _refused("pattern", value)
    return pattern


def _longest(value: Any) -> int:
    if type(value) is not int or not 0 < value <= _LONGEST_WORD:
        raise _refused("max_input_chars_per_word", value)
    return value


def _unknown(value: Any) -> int | None:
    number: int | None = None if value is None else _known_parts(value, int, "unk_id")
    return number


def _once(value: Any) -> list[Any]:
    """Return the template of a text: it has the text once, between special pieces."""
    parts: list[Any] = _known_parts(value, [_PART], "single")
    if sum("Sequence" in each for each in parts) != 1 or any(len(each) != 1 for each in parts):
        raise _refused("single", value)
    return parts


def _template(value: Any) -> Any:
    """Return the template that adds special pieces; Rust would panic at an undescribed piece."""
    template = _known_parts(value, _TEMPLATES, "post_processor")
    parts = () if template is None else template.get("single", ())
    for name in (each["SpecialToken"]["id"] for each in parts if "SpecialToken" in each):
        if name not in template["special_tokens"]:
            raise _refused("single", name)
    return template


def _special(value: Any) -> list[Any]:
    """Return a special piece and its number."""
    if not isinstance(value, list) or list(map(type, value)) != [str, int]:
        raise _refused("post_processor", value)
    return [_known_parts(each, type(each), "post_processor") for each in value]


def _numbered(value: Any) -> dict[str, int]:
    """Return the pieces of WordPiece: a table from each piece to its number."""
    if not isinstance(value, dict) or not all(
        type(number) is int and 0 <= number <= _LARGEST for number in value.values()
    ):
        raise _refused("vocab", value)
    _check_pieces(list(value))
    return value


def _weighed(value: Any) -> list[list[Any]]:
    """Return the pieces of Unigram: a list of pairs of a piece and its weight."""
    if not isinstance(value, list) or not all(
        isinstance(each, list)
        and list(map(type, each)) in ([str, float], [str, int])
        and abs(each[1]) <= _LARGEST
        for each in value
    ):
        raise _refused("vocab", value)
    pieces = [each[0] for each in value]
    _check_pieces(pieces)
    _check_nodes(pieces)
    return value


def _check_pieces(pieces: list[str]) -> None:
    if len(pieces) > _MOST_PIECES or max(map(len, pieces), default=0) > _LONGEST_TEXT:
        raise _fault("its tokenizer has too many pieces, or pieces that are too long")


def _check_nodes(pieces: list[str]) -> None:
    """Check the size of the tree of pieces: bytes that a piece does not share with the one before.

    The pieces are in alphabetical order.
    """
    ordered = sorted(each.encode() for each in pieces)
    table = np.array(ordered, dtype=f"S{_LONGEST_TEXT}").view(np.uint8).reshape(-1, _LONGEST_TEXT)
    alike = np.logical_and.accumulate(table[1:] == table[:-1], axis=1).sum(axis=1)
    lengths = np.array(list(map(len, ordered)))
    shared = np.minimum(alike, np.minimum(lengths[1:], lengths[:-1]))
    if lengths.sum() - shared.sum() > _MOST_NODES:
        raise _fault("its tokenizer has pieces that need too much memory")


class _Kinds(dict[str, Any]):
    """The kinds of parts that may stand in a place: the fields of each kind, by its type."""


_NORMALIZERS: Final = _Kinds(
    BertNormalizer={
        "clean_text": bool,
        "handle_chinese_chars": bool,
        "strip_accents": bool,
        "lowercase": bool,
    },
    NFKC={},
    Replace={"pattern": _pattern, "content": _replacement},
)
_PART: Final = {
    "SpecialToken": {"id": str, "type_id": int},
    "Sequence": {"id": str, "type_id": int},
}
_ADDED: Final = {
    "id": int,
    "content": str,
    "single_word": bool,
    "lstrip": bool,
    "rstrip": bool,
    "normalized": bool,
    "special": bool,
}
_TEMPLATES: Final = _Kinds(
    TemplateProcessing={
        "single": _once,
        # The package tokenizers demands a template for two texts, which are never cut together.
        "pair": lambda _: [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"],
        "special_tokens": lambda value: {
            _known_parts(name, str, "id"): _known_parts(
                each, {"id": str, "ids": [int], "tokens": [str]}, "special_tokens"
            )
            for name, each in value.items()
        },
    },
    RobertaProcessing={
        "sep": _special,
        "cls": _special,
        "trim_offsets": bool,
        "add_prefix_space": bool,
    },
)
#: The known parts of each value: a type; a list with the type of its items; a table of fields,
#: where None marks a field to leave out (it does not cut words); `_Kinds`; or a function that
#: returns the known parts.
_TOKENIZER: Final = {
    "version": str,
    "truncation": None,
    "padding": None,
    "added_tokens": [_ADDED],
    "normalizer": _Kinds(Sequence={"normalizers": [_NORMALIZERS]}, **_NORMALIZERS),
    "pre_tokenizer": _Kinds(
        BertPreTokenizer={},
        Metaspace={"replacement": str, "prepend_scheme": str, "split": bool},
    ),
    "post_processor": _template,
    "decoder": None,
    "model": _Kinds(
        WordPiece={
            "unk_token": str,
            "continuing_subword_prefix": str,
            "max_input_chars_per_word": _longest,
            "vocab": _numbered,
        },
        Unigram={"unk_id": _unknown, "vocab": _weighed, "byte_fallback": bool},
    ),
}
