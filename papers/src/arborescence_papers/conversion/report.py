"""The report of the experiment on conversion in Markdown; its tables as CSV."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from arborescence.version import __version__
from arborescence_papers.common.report import listing, number
from arborescence_papers.conversion.measure import FROM, SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence_papers.conversion.measure import Outcome, Plan


def parts(outcomes: Sequence[Outcome], figures: Iterable[str], *, plan: Plan) -> Iterator[str]:
    """Yield the parts of the report."""
    yield "# Conversion of old treebanks\n"
    yield (
        f"Measured by arborescence {__version__}: {plan.recipe.effort}, seed {plan.recipe.seed}.\n"
    )
    yield "## Conversion\n"
    yield listing(_curve(one, "conversion") for one in outcomes)
    for figure in figures:
        yield f"![{figure}]({figure})\n"
    yield "## Parser\n"
    yield listing(_curve(one, "parser") for one in outcomes)
    yield "## Whole\n"
    yield listing(map(_whole, outcomes))
    some = [one for one in outcomes if one.worth]
    if some:
        yield f"## Worth: {plan.kind}\n"
        yield listing([*map(_worth, some), _mean(some)])


def _curve(one: Outcome, name: str) -> dict[str, object]:
    points = {str(size): number(one.curves[name].get(size, float("nan")), 1) for size in SIZES}
    single = {what: number(las, 1) for what, las in one.single.items()}
    return {"treebank": one.treebank, "test words": number(one.words, 0), **single, **points}


def _whole(one: Outcome) -> dict[str, object]:
    places = dict.fromkeys(("breaking", "breaking without rules", "words/s"), 0)
    cells = {name: number(value, places.get(name, 1)) for name, value in one.whole.items()}
    return {"treebank": one.treebank, **cells}


def _worth(one: Outcome) -> dict[str, object]:
    return _row(one.treebank, one.worth)


def _mean(some: Sequence[Outcome]) -> dict[str, object]:
    return _row("mean", {source: fmean(one.worth[source] for one in some) for source in FROM})


def _row(name: str, worth: dict[str, float]) -> dict[str, object]:
    cells = {source: number(worth[source], 1) for source in FROM}
    return {"treebank": name, **cells, "gain": number(worth[FROM[-1]] - worth[FROM[0]], 1)}
