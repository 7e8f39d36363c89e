"""The four models of *undirected*, from three trained parsers, and the measures of the paper.

Levi, Reichart and Rappoport (2016): ``D-MST`` is the directed parser; ``U-MST-uf`` and ``U-MST-df``
find an undirected spanning tree with undirected and with directed features, and direct its edges
away from the root; ``U-MST-uf-lep`` is ``U-MST-uf`` with local enhancement by the scores of
``D-MST``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.undirected import enhance
from arborescence_papers.common.statistics import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from arborescence_papers.common.experiment import Experiment
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.scores import Scores

    Models = dict[str, "Counts"]

DIRECTED: Final = "D-MST"
ENHANCED: Final = "U-MST-uf-lep"
UNDIRECTED: Final = "U-MST-uf"
ENCODED: Final = "U-MST-df"
#: The models, in the order of the tables.
MODELS: Final = (DIRECTED, ENHANCED, UNDIRECTED, ENCODED)

# The trained models. `ENHANCED` needs the trees of `UNDIRECTED`, which comes before `DIRECTED`.
_TRAININGS: Final[Mapping[str, dict[str, Any]]] = {
    UNDIRECTED: {"inference": "undirected", "features": "undirected"},
    DIRECTED: {"inference": "exact", "features": "directed"},
    ENCODED: {"inference": "undirected", "features": "directed"},
}
_ROUNDS: Final = 5


@dataclass(frozen=True)
class Counts:
    """The numbers of correct edges of a parser in each of S sentences.

    Punctuation (words with gold relation ``punct``) is not counted, as in `evaluate`.

    Attributes
    ----------
    words : (S,) int64
        The number of words that count, each with one gold edge.
    directed : (S,) int64
        The number of these edges in the parser's tree.
    undirected : (S,) int64
        The number of these edges in the parser's tree, in either direction.
    roots : (S,) bool
        Whether the children of the root are those of the gold tree.

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
        """Compare head vectors with gold; `counted` is the mask of the words that count."""
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
        """The percentage of words with the correct head."""
        return percent(self.directed.sum(), self.words.sum() or 1)

    @property
    def undirected_uas(self) -> float:
        """The percentage of words whose gold edge is in the tree, in either direction."""
        return percent(self.undirected.sum(), self.words.sum() or 1)

    @property
    def right_roots(self) -> float:
        """The percentage of sentences with the correct root."""
        return percent(self.roots.sum(), self.roots.size)


def wins(ours: Counts, theirs: Counts) -> float:
    """Return the percentage of sentences in which `ours` has more correct heads than `theirs`."""
    return percent((ours.directed > theirs.directed).sum(), ours.words.size)


def oracle_uas(ours: Counts, theirs: Counts) -> float:
    """Return the UAS in percent if the tree with more correct heads is chosen for each sentence."""
    best = np.maximum(ours.directed, theirs.directed)
    return percent(best.sum(), ours.words.sum() or 1)


class Outcome(NamedTuple):
    """The results of the models on a treebank.

    Attributes
    ----------
    treebank, split, size
        As those of `kbest.measure.Outcome`.
    counts : dict of str to Counts
        The counts of each of `MODELS` on the test part, in this order.
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
        The training recipe, except inference and features.
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
            trees[ENHANCED] = [
                enhance(matrix, heads, _ROUNDS, changes="best") for matrix, heads in pairs
            ]
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
    """A measure that the paper averages over treebanks.

    Attributes
    ----------
    name : str
        Its description.
    paper : float
        The paper's average over its 20 setups.
    of : callable
        Computes it from the counts of the models on a treebank.
    """

    name: str
    paper: float
    of: Callable[[Models], float]

    def average(self, outcomes: Iterable[Outcome]) -> float:
        """Return the unweighted mean over treebanks."""
        return fmean(self.of(outcome.counts) for outcome in outcomes)


def oracle_gain(models: Models) -> float:
    """Return the gain of the oracle of the two best models over D-MST, as in the paper."""
    ours, theirs = models[DIRECTED], models[ENHANCED]
    return oracle_uas(ours, theirs) - ours.uas


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
AHEAD: Final = Finding(
    f"treebanks of which {ENHANCED} parses more sentences better, %",
    55,  # 11 of the 20 setups
    lambda models: 100.0 * (LOST.of(models) > WON.of(models)),
)
ORACLE: Final = Finding(
    f"what the oracle of the two adds to {DIRECTED}, directed UAS", 1.2, oracle_gain
)

#: The measures, in the order of the table.
FINDINGS: Final = (
    *(ABOVE, ABOVE_UNDIRECTED, ENHANCEMENT, ENHANCEMENT_UNDIRECTED, WON, LOST, AHEAD, ORACLE),
)
