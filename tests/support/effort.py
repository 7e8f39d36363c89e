"""Effort that is counted, not timed: the same on a busy machine."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What Python does in about half a second.
MANY = 2_000_000


@contextmanager
def few_calls(limit: int = MANY) -> Iterator[None]:
    """Fail if the body calls more functions, of Python or of C, than `limit`."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert calls < limit
