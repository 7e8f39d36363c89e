"""The tables and figures of *root*: trees with several root edges in unconstrained decoding.

Zmigrod, Vieira and Cotterell (2020), *Please Mind the Root: Decoding Arborescences for Dependency
Parsing*, count the malformed trees of parsers that decode without the root constraint, and measure
the effect of the constraint on accuracy.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, get_args

from arborescence.core.choices import Root
from arborescence.errors import OptionError, TreebankError
from arborescence_papers.common.experiment import Experiment
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.root import measure, plots
from arborescence_papers.root.measure import Findings
from arborescence_papers.root.report import parts

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from arborescence_papers.common.experiment import Options
    from arborescence_papers.common.recipes import AnyLoss
    from arborescence_papers.common.treebanks import LeftOut
    from arborescence_papers.root.measure import Effect

#: The baseline method: the paper's parsers were trained in this way.
BASE: Final[AnyLoss] = "head"
#: The losses that use trees, of each kind of graph-based parser.
OF_TREES: Final[dict[str, tuple[AnyLoss, ...]]] = {
    "linear": ("perceptron", "mira", "tree"),
    "biaffine": ("margin", "tree"),
}
_ROOTS: Final[tuple[Root, ...]] = get_args(Root)[::-1]
_FIRST: Final = 20


def methods(recipe: Recipe) -> dict[str, Recipe]:
    """Return one recipe for each training method of the parser, otherwise like `recipe`.

    There is none for a transition-based parser.

    Examples
    --------
    >>> from arborescence_papers.common.recipes import Recipe
    >>> list(methods(Recipe()))[:3]
    ['head', 'perceptron-multi', 'perceptron-single']
    """
    if recipe.parser not in OF_TREES:
        return {}
    of_trees = product(OF_TREES[recipe.parser], _ROOTS)
    ways = [
        replace(recipe, loss=BASE, root="multi"),
        *(replace(recipe, loss=loss, root=root) for loss, root in of_trees),
    ]
    return {way.method: way for way in ways}


def sizes(sentences: int) -> list[int]:
    """Return the sample sizes below the number of all sentences: 20, 50, 100, 200, ...

    Examples
    --------
    >>> sizes(1200)
    [20, 50, 100, 200, 500, 1000]
    """
    found = []
    size = _FIRST
    while size < sentences:
        found.append(size)
        size = size * 5 // 2 if str(size).startswith("2") else size * 2
    return found


def learning_curve(recipes: Sequence[Recipe], sentences: int) -> dict[str, list[Recipe]]:
    """Return the recipes of each point: samples of each size, then all sentences.

    Parameters
    ----------
    recipes
        The recipes for all sentences, with different seeds. Each seed draws its own sample.
    sentences
        The number of training sentences.
    """
    samples = {
        str(size): [replace(recipe, sentences=size) for recipe in recipes]
        for size in sizes(sentences)
    }
    return samples | {str(sentences): list(recipes)}


_RECIPE: Final = Recipe()
# The values with `quick`.
_QUICK_SEEDS: Final = 1
_QUICK_CURVE_SEEDS: Final = 2


def reproduce(
    treebanks: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    recipe: Recipe = _RECIPE,
    seeds: int = 3,
    curve: str | None = None,
    curve_seeds: int = 5,
    losses: bool = True,
    **options: Unpack[Options],
) -> list[LeftOut]:
    """Repeat the measurements of *root* on your own treebanks, and write a report.

    Parsers are trained, and decode the test parts with and without the root constraint.

    Parameters
    ----------
    treebanks, output, options
        As for `Experiment`. The output is ``report.md``, its tables as CSV, and the plots
        ``rate.svg`` (the paper's Figure 3), ``change.svg`` (Figure 4), ``curve.svg`` and
        ``losses.svg``. ``quick`` also means one seed, and two samples of each size. A treebank
        whose parser was given is not used in the learning curve and in the comparison of losses.
    recipe
        The training recipe of the parsers. Its seed is the first one.
    seeds
        The number of parsers per treebank; their results are averaged.
    curve
        The treebank of the learning curve; None for the one with the most training sentences, ""
        for no curve.
    curve_seeds
        The number of samples of each size.
    losses
        Whether to compare the training losses of linear parsers, too. This needs seven times as
        many parsers. It is skipped for a transition-based parser.

    Returns
    -------
    list of LeftOut
        The treebanks that were left out.

    Raises
    ------
    TreebankError, OSError
        As for `Experiment`; or if `curve` cannot have a learning curve.
    OptionError
        If `seeds` or `curve_seeds` is less than 1.

    Notes
    -----
    Zmigrod, Vieira and Cotterell (2020), Tables 1 and 2, Figures 3 and 4. The learning curve and
    the comparison of losses are not in the paper.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from arborescence_papers.common.treebanks import write_birdish
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> ud = write_birdish(home / "ud")
    >>> recipe = Recipe(epochs=1, bits=10)
    >>> reproduce(ud, home / "out", recipe=recipe, seeds=1, curve="", losses=False)
    []
    >>> print((home / "out" / "treebanks.csv").read_text().splitlines()[1][:11])
    Birdish,1,1
    """
    for name, count in (("seeds", seeds), ("curve_seeds", curve_seeds)):
        if count < 1:
            raise OptionError(f"{name} must be at least 1, not {count}")
    if options.get("quick"):
        seeds, curve_seeds = min(seeds, _QUICK_SEEDS), min(curve_seeds, _QUICK_CURVE_SEEDS)
    experiment = Experiment(treebanks, output, **options)
    trained = list(filter(experiment.trains, experiment.treebanks))
    if curve and curve not in {treebank.name for treebank in trained}:
        raise TreebankError(f"{curve}: no learning curve, as no parser of this treebank is trained")
    ways = methods(recipe) if losses else {}
    plan = {way: one.seeds(seeds) for way, one in (ways | {recipe.method: recipe}).items()}
    given = {recipe.method: [recipe]}  # seeds do not matter here
    found = measure.measure(
        experiment, {one: plan if one in trained else given for one in experiment.treebanks}
    )
    effects = {treebank: by_method[recipe.method] for treebank, by_method in found.items()}
    learners = [treebank for treebank in effects if treebank in trained]
    studied = {way: [found[treebank][way] for treebank in learners] for way in ways if learners}

    points: list[Effect] = []
    if learners := [treebank for treebank in learners if curve in (None, treebank.name)]:
        learner = max(learners, key=lambda treebank: effects[treebank].size)
        samples = learning_curve(recipe.seeds(curve_seeds), effects[learner].size)
        for of_sizes in measure.measure(
            experiment, {learner: samples}, "learning curve: "
        ).values():
            points = list(of_sizes.values())

    findings = Findings(recipe.seeds(seeds), list(effects.values()), points, studied)
    return experiment.report(findings if found else None, plots.draw, parts)
