"""A budget: a limit on the work of a search, counted and not timed, and a way to stop it early."""

from __future__ import annotations

import math
from numbers import Real
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

from arborescence.errors import OptionError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable


class Budget:
    """A limit on the work of a search.

    Work is counted, so the same input gives the same result on a slow machine. A caller with a
    limit in time passes `stop`.

    Parameters
    ----------
    work
        The amount of work. A unit is an edge that one decode looks at: a tree of n words costs n²
        (10,000 at least, and n³ / 100 from 100 words on), a projective tree n³ / 10.
    stop
        Called without arguments, between decodes and between sentences, also from other threads.
        Once `stop` has returned True, it is not called again: the budget is over.

    Attributes
    ----------
    spent : float
        The work done so far.

    Raises
    ------
    OptionError
        If `work` is not a number that is at least 0, or `stop` cannot be called.

    Examples
    --------
    >>> budget = Budget(1000)
    >>> budget.spend(600)
    >>> budget.over
    False
    >>> budget.spend(600)
    >>> budget.over
    True
    >>> Budget(stop=lambda: True).over
    True
    """

    def __init__(self, work: float = math.inf, stop: Callable[[], Any] | None = None) -> None:
        amount: Any = work
        if isinstance(amount, bool) or not isinstance(amount, Real) or not float(amount) >= 0:
            raise OptionError(f"the work of a budget must be a number, at least 0, not {work!r}")
        if stop is not None and not callable(stop):
            raise OptionError(f"stop must be a function, not {stop!r}")
        self.work: float = float(work)
        self.spent: float = 0.0
        self._stop = stop
        self._stopped: bool = False
        self._outer: Budget | None = None
        self._lock = Lock()  # several threads may spend from one budget

    def part(self, work: float) -> Self:
        """Return a smaller budget. Work that is spent there counts in this budget, too."""
        inner = type(self)(work)
        inner._outer = self
        return inner

    def spend(self, work: float) -> None:
        """Count work that is done, or that begins now."""
        with self._lock:
            self.spent += work
        if self._outer is not None:
            self._outer.spend(work)

    @property
    def left(self) -> float:
        """The work that is left."""
        left = self.work - self.spent
        return left if self._outer is None else min(left, self._outer.left)

    @property
    def over(self) -> bool:
        """Whether no more work may begin: all work is spent, or `stop` has returned True."""
        if self.spent >= self.work or self._stopped:
            return True
        if self._stop is not None and self._stop():
            self._stopped = True
        return self._stopped or (self._outer is not None and self._outer.over)

    def check(self) -> None:
        """Raise StoppedError if the budget is over, for work without partial results."""
        if not self.over:
            return
        if self.spent >= self.work:
            raise StoppedError(f"stopped: the budget of {self.work:,.0f} units of work is used up")
        if self._outer is not None and not self._stopped:
            self._outer.check()
        raise StoppedError("stopped before the end, as the caller asked")


#: The least work of a decode: its function calls take as long as this number of edges.
_LEAST: Final = 10_000
#: Eisner's algorithm has n³ / 6 steps, and each is faster than the work on an edge.
_CUBIC: Final = 10
#: The tables of long sentences do not fit into a cache: the work on an edge gets slower.
_FAR: Final = 100


def work_of(nodes: int, *, projective: bool = False) -> int:
    """Return the work of one decode: O(n²), of projective trees O(n³)."""
    return max(_LEAST, nodes**2, nodes**3 // (_CUBIC if projective else _FAR))
