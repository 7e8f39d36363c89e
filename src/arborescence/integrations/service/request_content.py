"""The content of requests: JSON and forms, checked."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST: Final = 100  # the most fields of a form


def json_of(body: bytes) -> dict[str, Any]:
    """Read a JSON object; OptionError for other data, or for strings that are not valid text."""
    try:
        content = json.loads(body.decode())
    except UnicodeDecodeError:
        raise OptionError("the request is not UTF-8") from None
    except RecursionError:
        raise OptionError("the request is nested too deeply") from None
    except ValueError as error:
        raise OptionError(f"the request is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise OptionError("the request must be a JSON object")
    if b"\\u" in body:  # an escape may stand for half of a character
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise OptionError("the request has half a character (a lone surrogate)") from None
    return content


def field_of(content: Any, name: str, kind: type) -> Any:
    """Return a field of a JSON object; OptionError if it is missing or of another type."""
    value = content.get(name) if isinstance(content, dict) else None
    if type(value) is not kind:
        raise OptionError(f"{name} must be of the type {kind.__name__}")
    return value


def form_of(query: bytes, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    """Read the fields of a form, or of an address; of two fields with one name, the last counts.

    Raises
    ------
    OptionError
        If there are too many fields, or parts of a form are broken.
    UnicodeDecodeError
        If a value is not UTF-8.
    """
    kind = headers.get("content-type", "")
    fields = _pairs(query)
    if kind.startswith("application/x-www-form-urlencoded"):
        fields += _pairs(body)
    elif kind.startswith("multipart/form-data"):
        fields += _parts(kind, body)
    elif body:
        raise OptionError("give a form: multipart/form-data or application/x-www-form-urlencoded")
    return dict(fields)


def _pairs(text: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            text.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST
        )
    except UnicodeDecodeError:
        raise
    except ValueError:
        raise OptionError(f"a form has at most {_MOST} fields") from None


def _parts(kind: str, body: bytes) -> list[tuple[str, str]]:
    """Read a form in parts, each with a head, an empty line and a value."""
    boundary = re.search(r'boundary=(?:"([^"]+)"|([^\s;]+))', kind)
    if boundary is None:
        raise OptionError("the form has no boundary")
    border = b"\r\n--" + (boundary[1] or boundary[2]).encode()
    parts = (b"\r\n" + body).split(border, _MOST + 1)
    if len(parts) > _MOST + 1:
        raise OptionError(f"a form has at most {_MOST} fields")
    fields: list[tuple[str, str]] = []
    for part in parts[1:]:
        if part.startswith(b"--"):
            return fields
        head, blank, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'[;\s]name="([^"\r\n]*)"', head)
        if not blank or name is None:
            break
        fields.append((name[1].decode(), value.decode()))
    raise OptionError("the form is broken: a part has no name, or the end is missing")
