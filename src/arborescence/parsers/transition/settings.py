"""The options of transition-based parsers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from arborescence.errors import OptionError
from arborescence.parsers.shared import options as shared
from arborescence.parsers.shared.options import LearnerSettings, Option, Oracle, Projective, System
from arborescence.parsers.shared.scheme import whole

# A state of n words takes 52 (n + 4) bytes; there are two for each place of the beam.
_MOST_BEAM = 10_000
_DYNAMIC = "dynamic, if the system has it: arc-eager, arc-hybrid"


@dataclass(frozen=True, kw_only=True)
class Settings(LearnerSettings):
    """Options of a transition-based parser with a linear model, greedy or with a beam."""

    columns: shared.Columns = shared.ALL_COLUMNS
    system: Annotated[System, Option(kept=True)] = "arc-eager"
    """The transitions that build a tree; swap is arc-standard with a fourth transition, for
    crossing edges. Other systems learn from trees that were made projective."""
    oracle: Annotated[Oracle | None, Option(kept=True, shown=_DYNAMIC)] = None
    """Learn along one derivation of the gold tree (static), or also in the states after mistakes
    (dynamic): there, a transition is right if no further gold edge is lost (Goldberg and Nivre
    2012)."""
    beam: Annotated[int, Option(whole(1, _MOST_BEAM), kept=True)] = 1
    """The number of analyses to follow at once, in training (Zhang and Clark 2008) and parsing; 1
    is greedy."""
    root: shared.Trees = "single"
    projective: Literal[False, "pseudo"] = False
    """pseudo: relations mark the edges that were lifted, and parsing lowers these edges, so that
    edges may cross. Not with swap."""
    rng: shared.Rng = 1
    bits: shared.Bits = 20
    epochs: shared.Epochs = 10
    patience: shared.Patience = 3

    def _check_together(self) -> None:
        from arborescence.transitions import get_system as system_named

        system = system_named(self.system)
        if self.oracle is None:
            object.__setattr__(self, "oracle", "dynamic" if system.dynamic else "static")
        if self.oracle == "dynamic" and not system.dynamic:
            raise OptionError(
                f"oracle='dynamic' does not go with system={self.system!r}: only arc-eager and "
                "arc-hybrid have a dynamic oracle"
            )
        if self.projective and not system.projective:
            raise OptionError(
                f"projective='pseudo' does not go with system={self.system!r}, which can cross "
                "edges without it"
            )

    @property
    def learned(self) -> Projective:
        """The `projective` option of the training trees."""
        from arborescence.transitions import get_system as system_named

        return self.projective or system_named(self.system).projective
