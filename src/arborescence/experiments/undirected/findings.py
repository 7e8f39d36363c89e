"""What the paper reports of its four models, computed for ours."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from arborescence.experiments.common.measures import oracle_uas, wins
from arborescence.experiments.undirected.models import DIRECTED, ENHANCED, UNDIRECTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from arborescence.experiments.common.measures import Counts
    from arborescence.experiments.undirected.models import Outcome

    Models = dict[str, Counts]


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
