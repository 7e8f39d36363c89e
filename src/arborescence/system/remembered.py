"""Properties and methods that are computed at their first use and kept, without a lock.

`functools.cached_property` of Python 3.11 has one lock for a class: threads wait for each other,
and a process that was forked while one computes waits for ever.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Method = TypeVar("Method", bound=Callable[[Any], Any])


def remembered(compute: Method) -> Method:
    """Keep what a method returns, in ``__dict__``; below ``@property``, if it is one."""
    # Two threads may both compute it; all get what was stored first
    name = f"{compute.__name__}()"  # an entry with the method's own name would hide it

    @wraps(compute)
    def get(self: Any) -> Any:
        values = vars(self)
        return values[name] if name in values else values.setdefault(name, compute(self))

    return get  # type: ignore[return-value]
