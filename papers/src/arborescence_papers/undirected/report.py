"""The report of *undirected* in Markdown, with the paper's numbers; its tables as CSV."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Final

from arborescence.version import __version__
from arborescence_papers.common.report import number, table
from arborescence_papers.undirected.measure import (
    DIRECTED,
    ENHANCED,
    FINDINGS,
    MODELS,
    oracle_gain,
    oracle_uas,
    wins,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.undirected.measure import Counts, Models, Outcome

    Row = tuple[object, ...]

_EXPLANATION: Final = """\
## Where they differ from the paper's

The paper's treebanks are 17 of CoNLL 2006 and 2007 and three of English (PTB, GENIA and
QuestionBank), and its parser is the MSTParser. What is
known to move these numbers, most of all the first:

- Annotation. Where function words are heads, as in many treebanks of CoNLL, an undirected parser
  turns more edges round. Enhancement adds more then, and D-MST is further ahead. In Universal
  Dependencies function words are leaves, whose edges are hardly ever turned.
- The worse the parsers, the more local enhancement and the oracle add. This is so for treebanks
  with little to learn from.
- Long sentences are seldom parsed equally well by two models. Short ones often are, and no side
  wins them.
- With a small test part, a few sentences decide the sign of a difference.

How many root edges there may be, features of morphology, and the number of rounds from two on
matter little.
"""


def _pair(models: Models) -> tuple[float, ...]:
    """Return the wins of each side, their oracle, and its gain over D-MST."""
    ours, theirs = models[DIRECTED], models[ENHANCED]
    return wins(ours, theirs), wins(theirs, ours), oracle_uas(ours, theirs), oracle_gain(models)


def parts(outcomes: Sequence[Outcome], figures: Iterable[str], *, recipe: Recipe) -> Iterator[str]:
    """Yield the parts of the report on the models, on each treebank; at least one."""
    loss = "MIRA" if recipe.loss == "mira" else recipe.loss
    how = f"{loss}, {recipe.effort}, seed {recipe.seed}"
    yield "# Parsing through undirected spanning trees\n"
    yield (
        "Four models of Levi, Reichart and Rappoport (2016), *Edge-Linear First-Order Dependency\n"
        "Parsing with Undirected Minimum Spanning Tree Inference*, on the test parts of\n"
        "treebanks. Tags are gold. Words whose gold relation is `punct` are left out. Numbers are\n"
        "percentages, and averages give each treebank the same weight.\n\n"
        f"Trained by arborescence {__version__}: {how}; the last epoch counts.\n"
    )
    yield "## Beside the paper's averages\n"
    groups = _groups(outcomes)
    yield table(
        ("", "the paper (20 setups)", *groups),
        (
            (finding.name, finding.paper, *map(number, map(finding.average, groups.values())))
            for finding in FINDINGS
        ),
    )
    for figure in figures:
        yield f"![{figure}]({figure})\n"
    yield _EXPLANATION
    for title, of in _MEASURES.items():
        yield f"## {title}\n"
        yield _treebanks(outcomes, MODELS, partial(_each, of))
    yield f"## {DIRECTED} and {ENHANCED}, sentence by sentence\n"
    yield (
        "Which of them has more right heads in a sentence, and the directed UAS of the oracle: of\n"
        "the better tree of each sentence.\n"
    )
    header = (f"{DIRECTED} better", f"{ENHANCED} better", "oracle", "the oracle adds")
    yield _treebanks(outcomes, header, _pair)


_MEASURES: Final[dict[str, Callable[[Counts], float]]] = {
    "Directed UAS": lambda counts: counts.uas,
    "Undirected UAS": lambda counts: counts.undirected_uas,
    "Sentences with the right root": lambda counts: counts.right_roots,
}


def _each(measure: Callable[[Counts], float], models: Models) -> list[float]:
    return [measure(counts) for counts in models.values()]


def _groups(outcomes: Sequence[Outcome]) -> dict[str, Sequence[Outcome]]:
    """Return the groups to average over: all treebanks, and those with a train part."""
    groups = {f"average of {len(outcomes)}": outcomes}
    large = [outcome for outcome in outcomes if outcome.split == "train"]
    if 0 < len(large) < len(outcomes):
        groups[f"average of the {len(large)} with a train part"] = large
    return groups


def _treebanks(
    outcomes: Sequence[Outcome], header: Row, of: Callable[[Models], Iterable[float]]
) -> str:
    """Write a table with one row per treebank, and averages below."""
    rows: list[Row] = [
        (treebank, f"{size:,} ({split})", *map(number, of(models)))
        for treebank, split, size, models in outcomes
    ]
    for name, some in _groups(outcomes).items():
        columns = zip(*(of(outcome.counts) for outcome in some), strict=True)
        rows.append((f"**{name}**", "", *map(number, map(fmean, columns))))
    return table(("treebank", "sentences to learn from", *header), rows)
