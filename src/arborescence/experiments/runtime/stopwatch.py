"""Times that are taken once on a machine, and kept."""

from __future__ import annotations

import platform
from dataclasses import asdict
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from arborescence.core.graph import Root
from arborescence.experiments.runtime.clock import machine
from arborescence.experiments.runtime.growth import Timed, enough, time_decoders
from arborescence.experiments.runtime.lists import Lists, Measured, time_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from arborescence.experiments.common.results import Results
    from arborescence.parsers.shared.base import Progress

    Result = TypeVar("Result")

_ROUNDS: Final = 5


class Stopwatch:
    """Takes times, or gives those that were taken on this machine before.

    Parameters
    ----------
    results
        Where they are kept.
    steps
        How many are asked for in all: how often `decoders` and `lists` will be called.
    progress
        Called as ``progress(what, done, total)``.
    """

    def __init__(self, results: Results, steps: int, progress: Progress | None) -> None:
        self._results = results
        self._steps = steps
        self._done = 0
        self._progress = progress
        self._settings = {"machine": {"name": platform.node()} | machine(), "rounds": _ROUNDS}

    def decoders(self, kind: str, n: int) -> Timed:
        """Time all decoders on graphs of a kind with n words."""
        sentences = enough(n)
        kept = self._once(
            f"decoders/{kind}, {n}",
            {"sentences": sentences},
            lambda: time_decoders(kind, n, sentences=sentences, rounds=_ROUNDS)._asdict(),
        )
        return Timed(**kept)

    def lists(
        self,
        file: str,
        name: str,
        graphs: Sequence[NDArray[Any]],
        ks: Sequence[int],
        settings: dict[str, Any],
    ) -> list[Measured]:
        """Time the k best trees, for any number of root edges and for one.

        Parameters
        ----------
        file
            What the times are kept as.
        name
            The treebank, or kind of graphs.
        graphs
            Scores of sentences, (n + 1, n + 1).
        ks
            How many trees.
        settings
            Where the graphs come from.

        Raises
        ------
        OSError
            If the times cannot be kept.
        """

        def make() -> list[dict[str, Any]]:
            return [
                asdict(time_lists(graphs, root, k, rounds=_ROUNDS))
                for root in reversed(get_args(Root))  # the paper's table is about "multi"
                for k in ks
            ]

        kept = self._once(file, settings | {"ks": list(ks), "sentences": len(graphs)}, make)
        words = fmean(len(scores) - 1 for scores in graphs)
        return [Measured(name, words, Lists(**lists)) for lists in kept]

    def stop(self) -> None:
        """Say that all is done."""
        if self._progress:
            self._progress("times: all done", self._steps, self._steps)

    def _once(self, file: str, settings: dict[str, Any], make: Callable[[], Result]) -> Result:
        if self._progress:
            self._progress(f"times: {file}", self._done, self._steps)
        self._done += 1
        return self._results.once(file, self._settings | settings, make)
