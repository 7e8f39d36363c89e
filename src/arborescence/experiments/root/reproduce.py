"""The whole experiment: from a folder of treebanks to tables, plots and a report."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arborescence.core.errors import OptionError, TreebankError
from arborescence.experiments.common import style as look
from arborescence.experiments.common import treebanks as corpora
from arborescence.experiments.common.recipes import Recipe
from arborescence.experiments.common.scoring import Exam, model_of, take
from arborescence.experiments.common.treebanks import LeftOut
from arborescence.experiments.root import plots, report, tables
from arborescence.experiments.root.curve import learning_curve
from arborescence.experiments.root.effects import Effect
from arborescence.experiments.root.findings import Findings
from arborescence.experiments.root.objectives import methods

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from arborescence.experiments.common.treebanks import Corpus
    from arborescence.parsers.shared.base import Progress

_RECIPE: Final = Recipe()
# What `quick` makes of it.
_QUICK_TREEBANKS: Final = 3
_QUICK_SEEDS: Final = 1
_QUICK_CURVE_SEEDS: Final = 2


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    only: Iterable[str] = (),
    recipe: Recipe = _RECIPE,
    seeds: int = 3,
    curve: str | None = None,
    curve_seeds: int = 5,
    objectives: bool = True,
    models: str | os.PathLike[str] | None = None,
    scores: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    quick: bool = False,
    progress: Progress | None = None,
) -> list[LeftOut]:
    """Measure what *root* measured, on treebanks of one's own, and write what comes out.

    Parsers are trained, and decode the test parts with and without the root constraint. What each
    of them makes of a test part is kept in `output` as soon as it is there: an experiment that was
    interrupted goes on there. A treebank that is broken, or whose scores cannot be written, is
    named in the report, and the rest goes on.

    Parameters
    ----------
    treebanks
        A folder with a folder for each treebank: see `corpora.find`.
    output
        A folder for ``report.md``, ``treebanks.csv``, ``groups.csv``, ``curve.csv``,
        ``objectives.csv``, the plots ``rate.svg`` (the paper's Figure 3), ``change.svg``
        (Figure 4), ``curve.svg`` and ``objectives.svg``. It is made if it is missing.
    only
        The names of some treebanks; none for all.
    recipe
        How the parsers are trained. Its seed is the first one.
    seeds
        How many parsers of each treebank are trained; their results are averaged.
    curve
        The treebank of the learning curve; None for the one with most sentences to learn from, ""
        for no curve.
    curve_seeds
        How many samples of each size there are.
    objectives
        Whether the ways in which linear parsers are trained are compared, too. That takes seven
        times as many parsers. Nothing is compared where the recipe's parser is another one.
    models
        A folder with parsers, ``<treebank>.npz``: where there is one, it is taken. Such a treebank
        has no part in the learning curve and in the comparison of objectives.
    scores
        Where score files are kept, and taken from if they are there; None for ``scores`` in
        `output`. Experiments may share them.
    jobs
        How many parsers are trained at the same time.
    quick
        Whether to do with the three treebanks with the smallest files, one seed, and two samples of
        each size.
    progress
        Called as ``progress(what, done, total)``.

    Returns
    -------
    left_out : list of LeftOut
        The treebanks that the report goes without.

    Raises
    ------
    MissingExtraError
        If Matplotlib or SciPy is missing.
    TreebankError
        If no treebank is left, one of `only` is missing, or `curve` cannot have a learning curve.
    OSError
        If `treebanks` cannot be read or `output` cannot be written.
    OptionError
        If there are less than one of `seeds` or `curve_seeds`.

    Notes
    -----
    Zmigrod, Vieira and Cotterell (2020), Tables 1 and 2, Figures 3 and 4. The learning curve and
    the comparison of objectives are not in the paper.

    Examples
    --------
    >>> import tempfile
    >>> from arborescence.treebank import Sentence, write
    >>> home = Path(tempfile.mkdtemp())
    >>> (home / "ud" / "Birdish").mkdir(parents=True)
    >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 0], deprels=["dep", "root"])
    >>> for part in ("train", "test"):
    ...     write([sentence], home / "ud" / "Birdish" / f"{part}.conllu")
    >>> recipe = Recipe(epochs=1, bits=10)
    >>> reproduce(home / "ud", home / "out", recipe=recipe, seeds=1, curve="", objectives=False)
    []
    >>> print((home / "out" / "treebanks.csv").read_text().splitlines()[1][:22])
    Birdish,train,1,1,1,2,
    """
    look.require()
    for name, count in (("seeds", seeds), ("curve_seeds", curve_seeds)):
        if count < 1:
            raise OptionError(f"{name} must be at least 1, not {count}")
    chosen, left_out = corpora.find(Path(treebanks), only)
    if quick:
        chosen = corpora.smallest(chosen, _QUICK_TREEBANKS)
        seeds, curve_seeds = min(seeds, _QUICK_SEEDS), min(curve_seeds, _QUICK_CURVE_SEEDS)
    output = Path(output)
    folder = None if models is None else Path(models)
    trained = [one for one in chosen if not model_of(one, folder)]
    if curve and curve not in {corpus.name for corpus in trained}:
        raise TreebankError(f"{curve}: no learning curve, as no parser of this treebank is trained")
    ways = methods(recipe) if objectives and recipe.parser == "linear" else {}
    score = partial(
        _score,
        folder=Path(scores or output / "scores"),
        models=folder,
        jobs=jobs,
        progress=progress,
    )

    effects: dict[Corpus, Effect] = {}
    studied: dict[str, list[Effect]] = {}
    for corpus, found in score(
        {
            corpus: {
                way: _seeded(made, seeds) for way, made in (ways | {recipe.method: recipe}).items()
            }
            if corpus in trained
            else {recipe.method: [recipe]}  # seeds make no difference
            for corpus in chosen
        }
    ).items():
        if isinstance(found, LeftOut):
            left_out.append(found)
            continue
        effects[corpus] = found[recipe.method]
        for way in ways if corpus in trained else ():
            studied.setdefault(way, []).append(found[way])
    if not effects:
        raise corpora.none_left(treebanks, left_out)

    points: list[Effect] = []
    learners = [one for one in trained if one in effects and curve in (None, one.name)]
    if learners:
        learner = max(learners, key=lambda corpus: effects[corpus].lessons)
        plan = learning_curve(_seeded(recipe, curve_seeds), effects[learner].lessons)
        found = score({learner: plan})[learner]
        if isinstance(found, LeftOut):
            left_out.append(found._replace(reason=f"learning curve: {found.reason}"))
        else:
            points = list(found.values())

    findings = Findings(_seeded(recipe, seeds), list(effects.values()), points, studied, left_out)
    tables.write(findings, output)
    report.write(findings, plots.draw(findings, output), output)
    return left_out


def _seeded(recipe: Recipe, seeds: int) -> list[Recipe]:
    """Return recipes that differ by their seeds."""
    return [replace(recipe, seed=recipe.seed + i) for i in range(seeds)]


def _score(
    plans: Mapping[Corpus, Mapping[str, Sequence[Recipe]]],
    *,
    folder: Path,
    models: Path | None,
    jobs: int,
    progress: Progress | None,
) -> dict[Corpus, dict[str, Effect] | LeftOut]:
    """Train the parsers of each treebank, and see what the constraint does.

    Recipes that stand together differ by their seeds, and their parsers are put together. The
    first failure of a treebank stands for all that it has.
    """
    exams = [
        Exam(corpus, recipe)
        for corpus, plan in plans.items()
        for recipes in plan.values()
        for recipe in recipes
    ]
    # Of what `take` gives, nothing large is kept.
    results = {
        exam: taken if isinstance(taken, LeftOut) else Effect.of(taken)
        for exam, taken in take(exams, folder, models=models, jobs=jobs, progress=progress)
    }

    def together(corpus: Corpus) -> dict[str, Effect] | LeftOut:
        found = {}
        for name, recipes in plans[corpus].items():
            effects = []
            for recipe in recipes:
                result = results[Exam(corpus, recipe)]
                if isinstance(result, LeftOut):
                    return result
                effects.append(result)
            found[name] = Effect.join(effects)
        return found

    return {corpus: together(corpus) for corpus in plans}
