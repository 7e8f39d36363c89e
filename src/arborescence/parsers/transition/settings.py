"""The training settings of transition-based parsers, with checks of values and combinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from arborescence.core.choices import check_choice
from arborescence.core.errors import OptionError
from arborescence.core.graph import check_root
from arborescence.parsers.shared.features import check_bits, check_columns
from arborescence.parsers.shared.types import Oracle
from arborescence.transitions import system as system_named

if TYPE_CHECKING:
    from arborescence.core.choices import Root
    from arborescence.parsers.shared.types import Projective, System

#: The widest beam. A state of n words takes 52 (n + 4) bytes; there are two for each beam place.
MOST_BEAM = 10_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that, with the data, determine the result: see `TransitionParser.train`.

    They are stored in the `info` of a model; a checkpoint can only be resumed with equal settings.

    Raises
    ------
    OptionError
        If a setting is invalid, or incompatible with another one.
    """

    columns: tuple[str, ...]
    system: System
    oracle: Oracle | None
    beam: int
    root: Root
    projective: Literal[False, "pseudo"]
    seed: int
    bits: int

    def __post_init__(self) -> None:
        check_columns(self.columns)
        system = system_named(self.system)
        if self.oracle is None:
            object.__setattr__(self, "oracle", "dynamic" if system.dynamic else "static")
        check_choice("oracle", self.oracle, get_args(Oracle))
        if self.oracle == "dynamic" and not system.dynamic:
            raise OptionError(
                f"oracle='dynamic' does not go with system={self.system!r}: arc-eager and "
                "arc-hybrid have one"
            )
        check_beam(self.beam)
        check_choice("projective", self.projective, (False, "pseudo"))
        if self.projective and not system.projective:
            raise OptionError(
                f"projective='pseudo' does not go with system={self.system!r}: its edges cross as "
                "they are"
            )
        check_bits(self.bits)
        check_root(self.root)

    @property
    def learned(self) -> Projective:
        """The `projective` option of the training trees."""
        return self.projective or system_named(self.system).projective


def check_beam(beam: int) -> None:
    """Raise OptionError if a beam width is less than 1 or more than `MOST_BEAM`."""
    if not 1 <= beam <= MOST_BEAM:
        raise OptionError(f"beam must be between 1 and {MOST_BEAM}, not {beam}")
