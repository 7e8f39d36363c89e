"""The training settings of second-order parsers: those of linear parsers, most of them fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from arborescence.core.errors import OptionError
from arborescence.parsers.linear.settings import Settings as LinearSettings

if TYPE_CHECKING:
    from arborescence.parsers.shared.types import Features, Inference, Projective

_FIXED: Final = ("k", "joint", "projective", "inference", "features", "rate", "rounds")


@dataclass(frozen=True, kw_only=True)
class Settings(LinearSettings):
    """The settings that, with the data, determine the result: see `SecondOrderParser.train`.

    Raises
    ------
    OptionError
        If a setting is invalid, or does not go with second-order parsing.
    """

    rate: float = 0.1
    k: int = 1
    joint: bool = False
    projective: Projective | Literal["auto"] = False
    inference: Inference = "exact"
    features: Features = "directed"
    rounds: int | None = 5
    prune: bool = True

    def __post_init__(self) -> None:
        others = [name for name in _FIXED if getattr(self, name) != getattr(Settings, name)]
        for name in others + ["loss"] * self.by_likelihood:
            raise OptionError(
                f"order=2 does not go with {name}={getattr(self, name)!r}: it learns from one best "
                "tree of any kind, found by dual decomposition"
            )
        super().__post_init__()
