"""What all experiments do first: find treebanks, train parsers on them and score the test sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, TypeVar

from arborescence.core.errors import ArborescenceError, TreebankError
from arborescence.experiments.common.training import model_of, score
from arborescence.experiments.common.treebanks import LeftOut, find

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arborescence.experiments.common.recipes import Recipe
    from arborescence.experiments.common.scores import Scores
    from arborescence.experiments.common.treebanks import Treebank
    from arborescence.parsers.shared.base import Progress

    Result = TypeVar("Result")

_QUICK: Final = 3  # treebanks


class Options(TypedDict, total=False):
    """The options of every experiment: see `Experiment`."""

    only: Iterable[str]
    models: str | os.PathLike[str] | None
    scores: str | os.PathLike[str] | None
    jobs: int
    quick: bool
    progress: Progress | None


class Experiment:
    """The treebanks of an experiment, and what is measured of the parsers that they train.

    Parameters
    ----------
    treebanks
        A folder with a folder for each treebank: see `find`. None for no treebanks.
    output
        A folder for the report, tables and plots, and for what is computed on the way. It is made
        if it is missing.
    only
        The names of some treebanks; none for all.
    models
        A folder with parsers, ``<treebank>.npz``: where there is one, it is taken, and none is
        trained. It may also be a score file, from a parser that this library does not know.
    scores
        Where score files are kept, and taken from if they are there; None for ``scores`` in
        `output`. Experiments may share them.
    jobs
        How many parsers are trained at the same time.
    quick
        Whether to do with the three treebanks with the smallest files.
    progress
        Called as ``progress(what, done, total)``.

    Attributes
    ----------
    treebanks : list of Treebank
        Those that can be used: first those with a train part, by name.
    left_out : list of LeftOut
        The others, and those with which something goes wrong later.
    output : Path

    Raises
    ------
    TreebankError
        If there is no treebank that can be used, or one of `only` is missing.
    OSError
        If `treebanks` cannot be read, or `output` cannot be made.
    """

    def __init__(
        self,
        treebanks: str | os.PathLike[str] | None,
        output: str | os.PathLike[str],
        *,
        only: Iterable[str] = (),
        models: str | os.PathLike[str] | None = None,
        scores: str | os.PathLike[str] | None = None,
        jobs: int = 1,
        quick: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.output = Path(output)
        self.treebanks: list[Treebank] = []
        self.left_out: list[LeftOut] = []
        self._folder = treebanks
        if treebanks is not None:
            found = find(Path(treebanks), only, _QUICK if quick else None)
            self.treebanks, self.left_out = found
        self.output.mkdir(parents=True, exist_ok=True)
        self._models = None if models is None else Path(models)
        self._scores = Path(scores or self.output / "scores")
        self._jobs = jobs
        self.progress = progress

    def trains(self, treebank: Treebank) -> bool:
        """Return whether parsers of a treebank are trained: none was given."""
        return model_of(treebank, self._models) is None

    def measure(
        self,
        plans: Mapping[Treebank, Sequence[Recipe]],
        of: Callable[[Recipe, Scores], Result],
        what: str = "",
    ) -> dict[Treebank, list[Result]]:
        """Train the parsers of each treebank, and measure what they make of the test set.

        What goes wrong first with a treebank is told in `left_out`, and the rest goes on.

        Parameters
        ----------
        plans
            How the parsers of each treebank are trained. One that was given takes the place of
            all.
        of
            What is measured of one parser. Scores are large: they are dropped at once.
        what
            What stands before the reason in `left_out`.

        Returns
        -------
        results : dict
            For each of the other treebanks what was measured of its parsers, in their order.
        """
        tasks = [(treebank, recipe) for treebank, recipes in plans.items() for recipe in recipes]
        results: dict[Treebank, list[Result]] = {treebank: [] for treebank in plans}
        scored = score(
            tasks, self._scores, models=self._models, jobs=self._jobs, progress=self.progress
        )
        for (treebank, recipe), scores in scored:
            if treebank not in results:
                continue  # an earlier parser of it has failed
            try:
                found = scores if isinstance(scores, LeftOut) else of(recipe, scores)
            except (ArborescenceError, OSError) as error:
                found = LeftOut.because(treebank.name, error)
            if isinstance(found, LeftOut):
                self.left_out.append(found._replace(reason=what + found.reason))
                del results[treebank]
            else:
                results[treebank].append(found)
        return results

    def nothing(self) -> TreebankError:
        """Return the error that says why there is nothing to report."""
        reasons = "; ".join(one.reason for one in self.left_out if one.failed)
        return TreebankError(f"{self._folder}: no treebank that can be used: {reasons}")
