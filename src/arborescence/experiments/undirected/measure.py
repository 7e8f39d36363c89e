"""The four models of *undirected*, from three trainings, and what the paper reports of them.

Levi, Reichart and Rappoport (2016): ``D-MST`` is the directed parser; ``U-MST-uf`` and ``U-MST-df``
find an undirected spanning tree by undirected and by directed features, and direct its edges away
from the root; ``U-MST-uf-lep`` is ``U-MST-uf`` with local enhancement by the scores of ``D-MST``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.experiments.common.statistics import percent
from arborescence.undirected import enhance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from arborescence.experiments.common.experiment import Experiment
    from arborescence.experiments.common.recipes import Recipe
    from arborescence.experiments.common.scores import Scores

    Models = dict[str, "Counts"]

DIRECTED: Final = "D-MST"
ENHANCED: Final = "U-MST-uf-lep"
UNDIRECTED: Final = "U-MST-uf"
ENCODED: Final = "U-MST-df"
#: In the order of the tables.
MODELS: Final = (DIRECTED, ENHANCED, UNDIRECTED, ENCODED)

# Three are trained. `ENHANCED` needs the trees of `UNDIRECTED`, so that comes before `DIRECTED`.
_TRAININGS: Final[Mapping[str, dict[str, Any]]] = {
    UNDIRECTED: {"inference": "undirected", "features": "undirected"},
    DIRECTED: {"inference": "exact", "features": "directed"},
    ENCODED: {"inference": "undirected", "features": "directed"},
}
_ROUNDS: Final = 5


@dataclass(frozen=True)
class Counts:
    """How many edges of each of S sentences a parser has found.

    Punctuation is left out: words whose gold relation is ``punct``, as in `evaluate`.

    Attributes
    ----------
    words : (S,) int64
        The words that count, and with them their gold edges.
    directed : (S,) int64
        How many of those edges the parser's tree has too.
    undirected : (S,) int64
        How many it has in the same or in the other direction.
    roots : (S,) bool
        Whether the words that hang from the root are those of gold.

    Examples
    --------
    >>> gold, counted = [np.array([-1, 2, 3, 0, 3])], [np.array([True, True, True, False])]
    >>> counts = Counts.of(gold, counted, [[-1, 2, 0, 2, 3]])
    >>> counts.words, counts.directed, counts.undirected, counts.roots
    (array([3]), array([1]), array([2]), array([False]))
    """

    words: NDArray[np.int64]
    directed: NDArray[np.int64]
    undirected: NDArray[np.int64]
    roots: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        gold: Iterable[NDArray[np.int64]],
        counted: Iterable[NDArray[np.bool_]],
        trees: Iterable[ArrayLike],
    ) -> Self:
        """Compare head vectors with those of gold; `counted` tells which words count."""
        rows = []
        for heads, here, tree in zip(gold, counted, trees, strict=True):
            found = np.asarray(tree)
            same = heads[1:] == found[1:]
            turned = found[heads[1:]] == np.arange(1, len(heads))
            roots = np.array_equal(heads == 0, found == 0)
            rows.append((here.sum(), same[here].sum(), (same | turned)[here].sum(), roots))
        words, directed, undirected, right = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return cls(words, directed, undirected, right.astype(np.bool_))

    @property
    def uas(self) -> float:
        """The percentage of words with the right head."""
        return percent(self.directed.sum(), self.words.sum() or 1)

    @property
    def undirected_uas(self) -> float:
        """The percentage of words whose gold edge is in the tree, in whatever direction."""
        return percent(self.undirected.sum(), self.words.sum() or 1)

    @property
    def right_roots(self) -> float:
        """The percentage of sentences with the right root."""
        return percent(self.roots.sum(), self.roots.size)


def wins(ours: Counts, theirs: Counts) -> float:
    """Return the percentage of sentences of which `ours` has more right heads than `theirs`."""
    return percent((ours.directed > theirs.directed).sum(), ours.words.size)


def oracle_uas(ours: Counts, theirs: Counts) -> float:
    """Return the UAS in percent if the tree with more right heads is taken for each sentence."""
    best = np.maximum(ours.directed, theirs.directed)
    return percent(best.sum(), ours.words.sum() or 1)


class Outcome(NamedTuple):
    """What the models made of a treebank.

    Attributes
    ----------
    treebank : str
        Its name.
    split : str
        The part that they learned from, ``"train"`` or ``"dev"``.
    size : int
        How many training sentences there are.
    counts : dict of str to Counts
        How each of `MODELS` did on the test part, in this order.
    """

    treebank: str
    split: str
    size: int
    counts: Models


def measure(experiment: Experiment, recipe: Recipe) -> list[Outcome]:
    """Train three parsers on each treebank, and compare the trees of four models with gold.

    Parameters
    ----------
    experiment
        The treebanks.
    recipe
        How to train, inference and features apart.
    """
    names = {replace(recipe, **how): name for name, how in _TRAININGS.items()}
    undirected: list[NDArray[np.int64]] = []  # the trees of `UNDIRECTED` for this treebank

    def compare(trained: Recipe, scores: Scores) -> tuple[int, Models]:
        name = names[trained]
        trees = {name: scores.single}
        if name == UNDIRECTED:
            undirected[:] = scores.single
        if name == DIRECTED:
            pairs = zip(scores.matrices or (), undirected, strict=True)
            trees[ENHANCED] = [enhance(matrix, heads, rounds=_ROUNDS) for matrix, heads in pairs]
        return scores.training_sentences, {
            name: Counts.of(scores.gold, scores.counted, some) for name, some in trees.items()
        }

    outcomes = []
    measured = experiment.measure({one: list(names) for one in experiment.treebanks}, compare)
    for treebank, results in measured.items():
        counts = {name: one for _, models in results for name, one in models.items()}
        ordered = {name: counts[name] for name in MODELS}
        outcomes.append(Outcome(treebank.name, treebank.split, results[0][0], ordered))
    return outcomes


class Finding(NamedTuple):
    """A number that the paper averages over treebanks.

    Attributes
    ----------
    name : str
        What it is, in words.
    paper : float
        The paper's average over its 18 languages.
    of : callable
        Computes it from the counts of a treebank's models.
    """

    name: str
    paper: float
    of: Callable[[Models], float]

    def average(self, outcomes: Iterable[Outcome]) -> float:
        """Return the mean over treebanks, each of the same weight."""
        return fmean(self.of(outcome.counts) for outcome in outcomes)


def oracle_gain(models: Models) -> float:
    """Return what the oracle of the two best models adds to the better of them."""
    ours, theirs = models[DIRECTED], models[ENHANCED]
    return oracle_uas(ours, theirs) - max(ours.uas, theirs.uas)


ABOVE: Final = Finding(
    f"{DIRECTED} above {ENHANCED}, directed UAS",
    0.97,
    lambda models: models[DIRECTED].uas - models[ENHANCED].uas,
)
ABOVE_UNDIRECTED: Final = Finding(
    f"{DIRECTED} above {ENHANCED}, undirected UAS",
    0.67,
    lambda models: models[DIRECTED].undirected_uas - models[ENHANCED].undirected_uas,
)
ENHANCEMENT: Final = Finding(
    "what local enhancement adds, directed UAS",
    2.35,
    lambda models: models[ENHANCED].uas - models[UNDIRECTED].uas,
)
ENHANCEMENT_UNDIRECTED: Final = Finding(
    "what local enhancement adds, undirected UAS",
    0.26,
    lambda models: models[ENHANCED].undirected_uas - models[UNDIRECTED].undirected_uas,
)
WON: Final = Finding(
    f"sentences that {DIRECTED} parses better",
    22.2,
    lambda models: wins(models[DIRECTED], models[ENHANCED]),
)
LOST: Final = Finding(
    f"sentences that {ENHANCED} parses better",
    22.2,
    lambda models: wins(models[ENHANCED], models[DIRECTED]),
)
ORACLE: Final = Finding("what the oracle of the two adds, directed UAS", 1.2, oracle_gain)

#: In the order of the table.
FINDINGS: Final = (
    *(ABOVE, ABOVE_UNDIRECTED, ENHANCEMENT, ENHANCEMENT_UNDIRECTED, WON, LOST, ORACLE),
)
