"""The options of linear graph-based parsers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from arborescence.core.choices import Changes
from arborescence.errors import OptionError
from arborescence.parsers.shared import options as shared
from arborescence.parsers.shared.options import (
    Features,
    Inference,
    LearnerSettings,
    Loss,
    Option,
    Projective,
)
from arborescence.parsers.shared.scheme import positive, whole


@dataclass(frozen=True, kw_only=True)
class Settings(LearnerSettings):
    """Options of a graph-based parser with a linear model (McDonald et al. 2005)."""

    columns: shared.Columns = shared.ALL_COLUMNS
    loss: Loss = "mira"
    """The loss: MIRA with loss-augmented decoding; the averaged structured perceptron; the
    likelihood of the gold tree (a log-linear model), or the likelihood of each gold head alone."""
    root: shared.Trees = "single"
    C: shared.Step = 0.1
    rate: Annotated[float, Option(positive())] = 0.1
    """The learning rate of the losses tree and head."""
    rng: shared.Rng = 1
    bits: shared.Bits = 20
    joint: bool = False
    """Score edges and relations jointly: the score of an edge's best relation is added to the score
    of the edge. Several times slower; for MIRA and the perceptron."""
    projective: Projective | Literal["auto"] = "auto"
    """Whether to learn and parse without crossing edges. pseudo: learn and parse lifted edges;
    their relations are marked, so that they can be lowered after parsing, and cross again. auto:
    False if more than 30 % of the trees have crossing edges or inference is undirected; True if no
    tree has; else pseudo or True, the better by LAS on dev."""
    inference: Annotated[Inference, Option(kept=True)] = "exact"
    """Find the best tree (exact); or orient the best undirected tree, which may give a tree of
    lower weight (Levi, Reichart and Rappoport 2016). A parser with undirected inference has no
    k-best lists and no confidence."""
    features: Annotated[Features, Option(kept=True)] = "directed"
    """With undirected inference: whether features see an edge's direction. If not, half of the
    edges are scored."""
    rounds: Annotated[int | None, Option(whole(0, 10**9), kept=True)] = 5
    """Rounds of local enhancement, if inference is undirected. With undirected features, the parser
    also learns directed features for the enhancement; 0 takes half of the time."""
    changes: Annotated[Changes, Option(kept=True)] = "disjoint"
    """The changes that a round of local enhancement makes: all changes that have no word in common,
    or only the best change, as Levi, Reichart and Rappoport (2016) do."""
    prune: bool = False
    """Learn a filter that leaves most edges out before they are scored, to parse faster. The filter
    keeps 98.5 % of the gold edges of dev (without dev: of every tenth sentence, held out for this).
    """
    epochs: shared.Epochs = 10
    patience: shared.Patience = 3

    def _check_together(self) -> None:
        if self.joint and self.by_likelihood:
            raise OptionError(
                f"joint=True does not go with loss={self.loss!r}, which learns edges without "
                "relations"
            )
        if self.inference == "undirected":
            self._check_undirected()
        elif self.features == "undirected":
            raise OptionError("features='undirected' goes with inference='undirected' only")

    def _check_undirected(self) -> None:
        conflicts = {
            "joint": self.joint,
            "projective": self.projective in (True, "pseudo"),
            "loss": self.by_likelihood,
        }
        for name in (name for name, conflicting in conflicts.items() if conflicting):
            raise OptionError(
                f"inference='undirected' does not go with {name}={getattr(self, name)!r}: this "
                "inference finds one tree, whose edges may cross, by the scores of single edges"
            )

    @property
    def in_part(self) -> bool:
        """Whether training can use sentences in which some words have no head."""
        return self.inference == "exact" and not self.joint

    @property
    def by_likelihood(self) -> bool:
        """Whether the loss is a negative log-likelihood (then training does not decode trees)."""
        return self.loss in ("tree", "head")

    @property
    def largest_step(self) -> float:
        """The largest step of MIRA; 0 for the perceptron."""
        return 0.0 if self.loss == "perceptron" else self.C

    @property
    def learns_enhancement(self) -> bool:
        """Whether directed scores are learned too, for the enhancement of undirected trees."""
        return self.features == "undirected" and self.rounds != 0
