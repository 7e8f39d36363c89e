"""Options that several kinds of parsers have. The command line imports this: no slow modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from arborescence.core.choices import Root
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.options import Option, Record

ALL_COLUMNS: Final = tuple(scheme.COLUMNS)
#: The smallest and the largest binary logarithm of the number of rows of a weight table.
LEAST_BITS: Final = 10
MOST_BITS: Final = 26

_COLUMNS: Final = "What the parser looks at. Choose columns that it will have later."
Columns = Annotated[tuple[str, ...], Option(scheme.LOOKED_AT, help=_COLUMNS)]

Trees = Annotated[Root, Option(help="Exactly one word hangs from the root, or one or more.")]

_SEED: Final = "Fixes what is random: the same seed gives the same model, byte for byte."
Seed = Annotated[int, Option(scheme.whole(0, 2**63 - 1), help=_SEED)]

_BITS: Final = "Room for 2^bits rows of weights; one more doubles the memory."
Bits = Annotated[int, Option(scheme.whole(LEAST_BITS, MOST_BITS), help=_BITS)]

_STEP: Final = "The largest step of MIRA, by which relations are learned, too."
Step = Annotated[float, Option(scheme.positive(), help=_STEP)]

_EPOCHS: Final = "How often to go over the treebank, at most."
Epochs = Annotated[int, Option(scheme.whole(1), help=_EPOCHS, stored=False)]

_PATIENCE: Final = "Stop after so many epochs without a better LAS on dev."
Patience = Annotated[int, Option(scheme.whole(1), help=_PATIENCE, stored=False)]


@dataclass(frozen=True, kw_only=True)
class Recipe(Record):
    """What `arborescence.parsers.train` puts into a model beside the parser."""

    tagger: bool = True
    """Put a tagger into the model, for words without tags."""
    jackknife: bool = True
    """With a tagger: learn from each sentence twice, with its own tags and with those that a tagger
    gives it that has not seen it."""
    text: bool = True
    """Learn to cut raw text into sentences and words, and to find lemmas, too."""
