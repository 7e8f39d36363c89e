"""The training settings of neural parsers, with checks of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from arborescence.core.choices import check_choice
from arborescence.core.errors import OptionError
from arborescence.core.graph import check_count, check_root
from arborescence.parsers.shared.features import check_columns

if TYPE_CHECKING:
    from arborescence.core.choices import Root

#: The loss of a neural parser: see `BiaffineParser.train`.
NeuralLoss = Literal["head", "tree", "margin"]
#: How two words are compared: by a biaffine form, or by a network with one hidden layer.
Scorer = Literal["biaffine", "mlp"]

_SIZES: Final = ("word", "letter", "filters", "tag", "hidden", "arc", "label")
_SHARES: Final = ("dropout", "word_dropout", "given")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that, with the data, determine the result: see `BiaffineParser.train`.

    Raises
    ------
    OptionError
        If a setting is invalid.
    """

    columns: tuple[str, ...] = ("form", "upos", "xpos", "feats")
    loss: NeuralLoss = "head"
    scorer: Scorer = "biaffine"
    root: Root = "single"
    projective: bool = False
    seed: int = 1
    epochs: int = 30
    batch: int = 1500
    rate: float = 2e-3
    word: int = 100
    letter: int = 32
    filters: int = 100
    tag: int = 32
    hidden: int = 256
    lower: int = 1
    upper: int = 2
    arc: int = 400
    label: int = 100
    dropout: float = 0.33
    word_dropout: float = 0.25
    given: float = 0.5
    vector: int = 0
    encoded: int = 0
    encoder_layers: int = 4
    encoder_rate: float = 2e-5
    fine_tune: bool = False

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_choice("loss", self.loss, get_args(NeuralLoss))
        check_choice("scorer", self.scorer, get_args(Scorer))
        check_root(self.root)
        check_choice("projective", self.projective, (False, True))
        for name in ("epochs", "batch", "lower", "upper", "encoder_layers", *_SIZES):
            check_count(getattr(self, name), name)
        check_count(self.vector, "vector", 0)
        check_count(self.encoded, "encoded", 0)
        check_choice("fine_tune", self.fine_tune, (False, True))
        for name in ("rate", "encoder_rate"):
            if not getattr(self, name) > 0:
                raise OptionError(f"{name} must be positive, not {getattr(self, name)}")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        if self.dropout == 1:
            raise OptionError("dropout must be less than 1")
