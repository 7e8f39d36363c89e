"""The frame of every experiment: treebanks found, parsers trained, test sets scored, a report.

Results are kept, one JSON file each, so that an interrupted experiment can go on.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, cast

from arborescence.errors import ArborescenceError, TreebankError
from arborescence.system.files import replacing
from arborescence_papers.common.report import files_of, write
from arborescence_papers.common.training import model_of, score
from arborescence_papers.common.treebanks import LeftOut, find

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arborescence.parsers.shared.options import Progress
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.scores import Scores
    from arborescence_papers.common.treebanks import Treebank

    Result = TypeVar("Result")
    Found = TypeVar("Found")
    Figures = TypeVar("Figures")

_QUICK: Final = 3  # treebanks


class Results:
    """A folder of results: one JSON file per result, with its settings.

    Parameters
    ----------
    folder
        The folder; it is created if missing.

    Raises
    ------
    OSError
        If the folder cannot be created or written to. This is checked at once, not after hours of
        work.

    Examples
    --------
    >>> from pathlib import Path
    >>> results = Results(Path(tempfile.mkdtemp()))
    >>> results.once("English/one", {"epochs": 2}, lambda: [0.5, 1.0])
    [0.5, 1.0]
    >>> results.once("English/one", {"epochs": 2}, lambda: print("never called"))
    [0.5, 1.0]
    >>> results.once("English/one", {"epochs": 3}, lambda: [0.75])
    [0.75]
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        self._folder = folder

    def once(self, name: str, settings: dict[str, Any], make: Callable[[], Result]) -> Result:
        """Return the saved result with these settings, or compute and save it.

        Parameters
        ----------
        name
            The name of its file, without ``.json``; slashes separate folders.
        settings
            The settings that the result depends on. A result with other settings is replaced.
        make
            Computes the result, which must be a JSON value. Its file is written atomically.
        """
        file = self._folder / f"{name}.json"
        try:
            kept = json.loads(file.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):  # missing or damaged file
            kept = None
        if isinstance(kept, dict) and kept.get("settings") == settings and "result" in kept:
            return cast("Result", kept["result"])
        result = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(json.dumps({"settings": settings, "result": result}).encode())
        return result


class Options(TypedDict, total=False):
    """The options of every experiment: see `Experiment`."""

    only: Iterable[str]
    models: str | os.PathLike[str] | None
    scores: str | os.PathLike[str] | None
    jobs: int
    quick: bool
    progress: Progress | None


class Experiment:
    """The treebanks of an experiment, and the training and measurement of parsers on them.

    Parameters
    ----------
    treebanks
        A folder with one folder per treebank: see `find`. None for no treebanks.
    output
        A folder for the report, tables, plots and intermediate results. It is created if missing.
    only
        The names of the treebanks to use; empty for all.
    models
        A folder with trained parsers, ``<treebank>.npz``. For these treebanks, no parser is
        trained. A file may also be a score file, from a parser of another library.
    scores
        The folder where score files are saved and reused; None for ``scores`` in `output`.
        Experiments may share it.
    jobs
        The number of parsers trained in parallel.
    quick
        Whether to use only the three treebanks with the smallest files.
    progress
        Called as ``progress(what, done, total)``.

    Attributes
    ----------
    treebanks : list of Treebank
        The usable treebanks: first those with a train part, by name.
    left_out : list of LeftOut
        The others, and those that fail later.
    output : Path

    Raises
    ------
    TreebankError
        If no treebank is usable, or one of `only` is missing.
    OSError
        If `treebanks` cannot be read, or `output` cannot be created.
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
        """Return whether parsers are trained for a treebank, because none was given."""
        return model_of(treebank, self._models) is None

    def measure(
        self,
        plans: Mapping[Treebank, Sequence[Recipe]],
        of: Callable[[Recipe, Scores], Result],
        what: str = "",
    ) -> dict[Treebank, list[Result]]:
        """Train the parsers of each treebank, and measure each of them on the test set.

        If a treebank fails, its first error is added to `left_out`, and the others continue.

        Parameters
        ----------
        plans
            The training recipes of each treebank. A given parser replaces all of them.
        of
            The measure of one parser. Scores are large: they are deleted after it.
        what
            A prefix of the reason in `left_out`.

        Returns
        -------
        results : dict
            For each of the other treebanks, the measurements of its parsers, in their order.
        """
        tasks = [(treebank, recipe) for treebank, recipes in plans.items() for recipe in recipes]
        results: dict[Treebank, list[Result]] = {treebank: [] for treebank in plans}
        scored = score(
            tasks, self._scores, models=self._models, jobs=self._jobs, progress=self.progress
        )
        for (treebank, recipe), scores in scored:
            if treebank not in results:
                continue  # an earlier parser of this treebank has failed
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

    def report(
        self,
        found: Found | None,
        draw: Callable[[Found, Path], Figures],
        parts: Callable[[Found, Figures], Iterable[str]],
    ) -> list[LeftOut]:
        """Draw what was found, write the report and its tables, and return what was left out.

        Parameters
        ----------
        found
            What was measured.
        draw
            Called with that and the output folder; draws figures there.
        parts
            Called with that and what `draw` returns, for the parts of ``report.md``.

        Raises
        ------
        TreebankError
            If nothing was found, with the reasons.
        """
        if not found:
            reasons = "; ".join(one.reason for one in self.left_out if one.failed)
            raise TreebankError(f"{self._folder}: no treebank that can be used: {reasons}")
        figures = draw(found, self.output)
        write(self.output, files_of(parts(found, figures), self.left_out))
        return self.left_out
