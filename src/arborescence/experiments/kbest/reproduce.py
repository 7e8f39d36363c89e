"""The whole experiment: from a folder of treebanks to tables and plots."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arborescence.core.errors import ArborescenceError, OptionError
from arborescence.experiments.common import report as reports
from arborescence.experiments.common import style as look
from arborescence.experiments.common import treebanks as corpora
from arborescence.experiments.common.recipes import Recipe
from arborescence.experiments.common.results import Results
from arborescence.experiments.common.scoring import Exam, model_of, take
from arborescence.experiments.common.treebanks import LeftOut
from arborescence.experiments.kbest import plots, tables
from arborescence.experiments.kbest.averages import by_size
from arborescence.experiments.kbest.lists import Counts
from arborescence.experiments.kbest.outcomes import Outcome
from arborescence.experiments.kbest.report import Setting, report

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from arborescence.experiments.common.scores import Scored
    from arborescence.parsers.shared.base import Progress

_RECIPE: Final = Recipe()
_QUICK: Final = 3  # treebanks


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    only: Iterable[str] = (),
    recipe: Recipe = _RECIPE,
    seeds: int = 3,
    ks: Sequence[int] = (1, 5, 10, 20, 50),
    models: str | os.PathLike[str] | None = None,
    scores: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    quick: bool = False,
    progress: Progress | None = None,
) -> list[LeftOut]:
    """Count malformed trees among the k best of each test sentence, and write what comes out.

    What is computed is kept in `output`. If the experiment is interrupted, the next call goes on
    there. A treebank that is broken or empty, or whose results cannot be written, is named in the
    report, and the rest goes on.

    Parameters
    ----------
    treebanks
        A folder with a folder for each treebank: see `corpora.find`.
    output
        A folder for ``report.md``, ``treebanks.csv``, ``averages.csv``, ``rates.svg`` and
        ``oracle.svg``, and for what is computed on the way: score files in ``scores``, counts in
        ``lists``. It is made if it is missing.
    only
        The names of some treebanks; none for all.
    recipe
        How the first parser of each treebank is trained; it has to be a linear one.
    seeds
        How many parsers of each treebank are trained. The others have the seeds that follow.
    ks
        Lengths of lists: increasing, from 1 on.
    models
        A folder with parsers, ``<treebank>.npz``: where there is one, it is loaded, and none is
        trained.
    scores
        Where score files are kept, and taken from if they are there; None for ``scores`` in
        `output`. Experiments may share them.
    jobs
        How many processes train at the same time.
    quick
        Whether to take only the three smallest treebanks, with one parser each.
    progress
        Called as ``progress(what, done, total)``.

    Returns
    -------
    list of LeftOut
        The treebanks that it went without.

    Raises
    ------
    OptionError
        If `recipe` is for parsers without edge scores, or `seeds` or `ks` make no sense.
    MissingExtraError
        If Matplotlib or SciPy is missing.
    TreebankError
        If there is no treebank that can be used, or one of `only` is missing.
    OSError
        If `treebanks` cannot be read or `output` cannot be written.

    Notes
    -----
    Zmigrod, Vieira and Cotterell (2021), Figure 1 and Appendix A. The lists take about 0.3 ms a
    sentence: nearly all of the time is that of training.

    Examples
    --------
    >>> import tempfile
    >>> from arborescence.treebank import Sentence, write
    >>> home = Path(tempfile.mkdtemp())
    >>> (home / "ud" / "Birdish").mkdir(parents=True)
    >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 0], deprels=["dep", "root"])
    >>> for part in ("train", "test"):
    ...     write([sentence], home / "ud" / "Birdish" / f"{part}.conllu")
    >>> reproduce(home / "ud", home / "out", recipe=Recipe(epochs=1, bits=10), seeds=1)
    []
    >>> print((home / "out" / "treebanks.csv").read_text().splitlines()[2][:31])
    Birdish,train,1,low,1,5,33.3333
    """
    if recipe.parser != "linear":
        raise OptionError(
            f"parser must be linear, not {recipe.parser!r}: only graph-based parsers give edges "
            "scores, of which there are k best trees"
        )
    if seeds < 1:
        raise OptionError(f"seeds must be at least 1, not {seeds}")
    if not ks or ks[0] != 1 or any(k >= larger for k, larger in pairwise(ks)):
        raise OptionError(f"ks must increase from 1 on, not {', '.join(map(str, ks))}")
    look.require()

    output = Path(output)
    chosen, left_out = corpora.find(Path(treebanks), only)
    if quick:
        chosen, seeds = corpora.smallest(chosen, _QUICK), 1
    results = Results(output / "lists")
    models = None if models is None else Path(models)
    loaded = {one.name for one in chosen if model_of(one, models)}
    exams = [
        Exam(corpus, replace(recipe, seed=recipe.seed + more))
        for corpus in chosen
        for more in range(1 if corpus.name in loaded else seeds)
    ]
    kept = Path(scores or output / "scores")
    taken = take(exams, kept, models=models, jobs=jobs, progress=progress)
    outcomes: list[Outcome] = []
    by_treebank = groupby(taken, key=lambda one: one[0].corpus.name)
    for name, parsers in by_treebank:
        outcome = _outcome(name, parsers, results, ks)
        if isinstance(outcome, LeftOut):
            left_out.append(outcome)
        else:
            outcomes.append(outcome)
    if not outcomes:
        raise corpora.none_left(treebanks, left_out)

    figures = plots.draw(outcomes, ks, output)
    setting = Setting(recipe, seeds, sum(one.treebank in loaded for one in outcomes))
    groups = by_size(outcomes)
    texts = {
        "treebanks.csv": tables.treebank_rows(outcomes, ks),
        "averages.csv": tables.average_rows(groups, ks),
        "report.md": report(outcomes, groups, ks, setting, figures, left_out),
    }
    reports.write(output, texts)
    return left_out


def _outcome(
    name: str,
    parsers: Iterable[tuple[Exam, Scored | LeftOut]],
    results: Results,
    ks: Sequence[int],
) -> Outcome | LeftOut:
    """Return what is counted for all parsers of a treebank; or what went wrong with one."""
    counts = []
    for exam, scored in parsers:
        if isinstance(scored, LeftOut):
            return scored
        try:
            kept = results.once(
                f"{exam.recipe.name}/{name}",
                scored.settings | {"ks": list(ks)},
                partial(_count, scored, ks),
            )
        except (ArborescenceError, OSError) as error:
            return LeftOut.because(name, error)
        counts.append(Counts.from_json(kept))
        split, lessons = scored.split, scored.lessons
    return Outcome(name, split, lessons, Counts.sum_of(counts))


def _count(scored: Scored, ks: Sequence[int]) -> dict[str, list[list[int]]]:
    return Counts.of(scored, ks).as_json()
