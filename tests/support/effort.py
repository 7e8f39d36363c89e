"""Effort that is counted, not timed: the same on a busy machine."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def steps(where: str, function: Callable[..., object], *arguments: object) -> int:
    """Count the instructions of Python that a call executes in files whose paths have a text."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if where not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count
