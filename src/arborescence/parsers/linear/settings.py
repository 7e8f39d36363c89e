"""The training settings of linear parsers, with checks of their values and combinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from arborescence.core.choices import check_choice
from arborescence.core.errors import OptionError
from arborescence.core.graph import check_count, check_root
from arborescence.parsers.shared.features import check_bits, check_columns
from arborescence.parsers.shared.types import Features, Inference, Loss

if TYPE_CHECKING:
    from arborescence.core.choices import Root
    from arborescence.parsers.shared.types import Projective


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that, with the data, determine the result: see `LinearParser.train`.

    They are stored in the `info` of a model; a checkpoint can only be resumed with equal settings.

    Raises
    ------
    OptionError
        If a setting is invalid, or incompatible with another one.
    """

    columns: tuple[str, ...]
    loss: Loss
    root: Root
    C: float
    rate: float
    k: int
    seed: int
    bits: int
    joint: bool
    projective: Projective | Literal["auto"]
    inference: Inference
    features: Features
    rounds: int | None
    prune: bool

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_choice("loss", self.loss, get_args(Loss))
        check_root(self.root)
        for name, value in (("C", self.C), ("rate", self.rate)):
            if not value > 0:
                raise OptionError(f"{name} must be positive, not {value}")
        check_count(self.k)
        check_bits(self.bits)
        check_choice("projective", self.projective, (False, True, "pseudo", "auto"))
        check_choice("inference", self.inference, get_args(Inference))
        check_choice("features", self.features, get_args(Features))
        if self.rounds is not None:
            check_count(self.rounds, "rounds", least=0)
        if self.k > 1 and self.loss != "mira":
            raise OptionError(
                f"k={self.k} goes with loss='mira' only: the perceptron learns from one tree, "
                "loss='tree' from all of them, and loss='head' from none"
            )
        if self.joint and self.by_likelihood:
            raise OptionError(
                f"joint=True does not go with loss={self.loss!r}, which is for edges without "
                "relations"
            )
        if self.inference == "undirected":
            self._check_undirected()
        elif self.features == "undirected":
            raise OptionError("features='undirected' goes with inference='undirected' only")

    def _check_undirected(self) -> None:
        given = {
            "k": self.k > 1,
            "joint": self.joint,
            "projective": self.projective in (True, "pseudo"),
            "loss": self.by_likelihood,
        }
        for name in (name for name, conflicts in given.items() if conflicts):
            raise OptionError(
                f"inference='undirected' does not go with {name}={getattr(self, name)!r}: it finds "
                "one tree, whose edges may cross, by the scores of single edges"
            )

    @property
    def by_likelihood(self) -> bool:
        """Whether the loss is a negative log-likelihood (so training decodes no wrong trees)."""
        return self.loss in ("tree", "head")

    @property
    def largest_step(self) -> float:
        """The largest step of MIRA; 0 for the perceptron."""
        return 0.0 if self.loss == "perceptron" else self.C

    @property
    def guided(self) -> bool:
        """Whether directed scores are learned too, for the enhancement of undirected trees."""
        return self.features == "undirected" and self.rounds != 0
