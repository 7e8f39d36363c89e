"""Training recipes: which parser an experiment trains, and with which settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import numpy as np

from arborescence.core.checks import check_root
from arborescence.errors import OptionError
from arborescence.parsers.shared.options import (
    AnyKind,
    AnyLoss,
    Features,
    Inference,
    Loss,
    NeuralLoss,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.core.choices import Root
    from arborescence.parsers import BiaffineParser, LinearParser, TransitionParser
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

_CHOICES: Final = {
    "parser": get_args(AnyKind),
    "loss": get_args(AnyLoss),
    "inference": get_args(Inference),
    "features": get_args(Features),
}


#: The losses of each kind of graph-based parser.
LOSSES: Final = {"linear": get_args(Loss), "biaffine": get_args(NeuralLoss)}
#: The epochs of parsers without a network, where a recipe says nothing.
_EPOCHS: Final = 10


@dataclass(frozen=True)
class Recipe:
    """Which parser is trained, and how; always without a dev set.

    Attributes
    ----------
    parser : {"linear", "transition", "biaffine"}
        A `LinearParser`, a greedy arc-eager `TransitionParser`, or a `BiaffineParser`, which always
        sees gold tags.
    loss : {"head", "mira", "perceptron", "tree", "margin"}
        The training loss of a graph-based parser. A neural one has head, tree and margin, a linear
        one all but margin.
    root : {"multi", "single"}
        Whether the trees used in training (predicted trees, or trees in a sum) may have several
        root edges. The head loss does not use trees and ignores this.
    inference : {"exact", "undirected"}
        The decoder of a linear parser: exact, or through undirected trees (without local
        enhancement).
    features : {"directed", "undirected"}
        The kind of edge features of a linear parser.
    seed : int
        Seed for the order of the sentences and for the sample.
    epochs : int or None
        The number of passes over the treebank; None: 10, or by the size of the treebank for a
        neural parser (`parsers.neural.settings.pace`).
    bits : int
        See `LinearParser.train`.
    sentences : int or None
        The number of training sentences, sampled at random; None for all.

    Raises
    ------
    OptionError
        If a value is invalid.

    Examples
    --------
    >>> Recipe().name, Recipe(loss="mira", root="single", seed=2).name
    ('head-seed1', 'mira-single-seed2')
    >>> Recipe(parser="transition", sentences=50).name
    'transition-multi-50-sentences-seed1'
    """

    parser: AnyKind = "linear"
    loss: AnyLoss = "head"
    root: Root = "multi"
    inference: Inference = "exact"
    features: Features = "directed"
    seed: int = 1
    epochs: int | None = None
    bits: int = 20
    sentences: int | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise OptionError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        check_root(self.root)
        if self.loss not in LOSSES.get(self.parser, get_args(AnyLoss)):
            raise OptionError(f"a {self.parser} parser has no loss {self.loss!r}")
        if self.epochs is None and self.parser != "biaffine":
            object.__setattr__(self, "epochs", _EPOCHS)
        if self.sentences is not None and self.sentences < 1:
            raise OptionError(f"sentences must be at least 1, not {self.sentences}")

    @property
    def method(self) -> str:
        """The loss or kind of parser, and the trees used in training."""
        if self.parser == "transition":
            return f"{self.parser}-{self.root}"
        name = self.loss if self.loss == "head" else f"{self.loss}-{self.root}"
        if self.parser != "linear":
            name = f"{self.parser}-{name}"
        if self.inference == "undirected":
            name += f"-undirected-{self.features}-features"
        return name

    @property
    def effort(self) -> str:
        """The epochs, and the size of the hash table of a parser that has one."""
        epochs = f"epochs {self.epochs or 'by size of the treebank'}"
        return epochs if self.parser == "biaffine" else f"{epochs}, bits {self.bits}"

    @property
    def name(self) -> str:
        """A folder name that identifies the recipe within an experiment."""
        drawn = "" if self.sentences is None else f"-{self.sentences}-sentences"
        return f"{self.method}{drawn}-seed{self.seed}"

    def seeds(self, count: int) -> list[Recipe]:
        """Return `count` recipes that differ only by their seeds: this one first."""
        return [replace(self, seed=self.seed + i) for i in range(count)]

    def draw(self, training: Sequence[Sentence]) -> list[Sentence]:
        """Return the sampled training sentences, in the original order.

        For the same seed, a smaller sample is a subset of a larger one.
        """
        if self.sentences is None or self.sentences >= len(training):
            return list(training)
        order = np.random.default_rng(self.seed).permutation(len(training))
        return [training[i] for i in sorted(order[: self.sentences].tolist())]

    def train(
        self, training: Sequence[Sentence], progress: Progress | None = None
    ) -> BiaffineParser | LinearParser | TransitionParser:
        """Train the parser on the sentences that `draw` returns.

        Raises
        ------
        TreebankError
            If there are no sentences, or the heads of one are not a tree.
        """
        from arborescence.parsers import BiaffineParser, LinearParser, TransitionParser

        drawn = self.draw(training)
        options: dict[str, Any] = {
            "root": self.root,
            "rng": self.seed,
            "progress": progress,
        }
        if self.epochs is not None:
            options["epochs"] = self.epochs
        if self.parser == "biaffine":
            return BiaffineParser.train(drawn, loss=self.loss, given=1.0, **options)
        options["bits"] = self.bits
        if self.parser == "transition":
            return TransitionParser.train(drawn, **options)
        return LinearParser.train(
            drawn,
            loss=cast("Loss", self.loss),
            inference=self.inference,
            features=self.features,
            rounds=0 if self.inference == "undirected" else 5,
            projective=False,
            **options,
        )
