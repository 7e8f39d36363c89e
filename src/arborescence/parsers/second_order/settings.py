"""The options of second-order parsers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from arborescence.parsers.linear.settings import Settings as LinearSettings
from arborescence.parsers.shared import options as shared
from arborescence.parsers.shared.options import LearnerSettings


@dataclass(frozen=True, kw_only=True)
class Settings(LearnerSettings):
    """Options of a linear parser with features of siblings and grandparents."""

    columns: shared.Columns = shared.ALL_COLUMNS
    loss: Literal["mira", "perceptron"] = "mira"
    """The loss: MIRA with loss-augmented decoding, or the averaged structured perceptron."""
    root: shared.Trees = "single"
    C: shared.Step = 0.1
    rng: shared.Rng = 1
    bits: shared.Bits = 20
    epochs: shared.Epochs = 10
    patience: shared.Patience = 3

    @property
    def of_edges(self) -> LinearSettings:
        """The options of the linear parser to extend, whose filter keeps the edges."""
        return LinearSettings(**asdict(self), projective=False, prune=True)
