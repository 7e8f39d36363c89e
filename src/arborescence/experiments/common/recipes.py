"""What parser an experiment trains, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np

from arborescence.core.errors import OptionError
from arborescence.core.graph import check_root
from arborescence.parsers.shared.types import Features, Inference, Kind, Loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.core.graph import Root
    from arborescence.parsers import LinearParser, TransitionParser
    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence

_CHOICES: Final = {
    "parser": get_args(Kind),
    "loss": get_args(Loss),
    "inference": get_args(Inference),
    "features": get_args(Features),
}


@dataclass(frozen=True)
class Recipe:
    """What parser is trained, and how; always without a development set.

    Attributes
    ----------
    parser : {"linear", "transition"}
        A `LinearParser`, or a greedy arc-eager `TransitionParser`.
    loss : {"head", "mira", "perceptron", "tree"}
        What a linear parser is trained by.
    root : {"multi", "single"}
        Whether the trees that it learns with may have several root edges: those that it moves
        away from, or sums over. The head loss looks at no trees and takes no notice.
    inference : {"exact", "undirected"}
        How a linear parser finds trees: the best ones, or through undirected trees, without local
        enhancement.
    features : {"directed", "undirected"}
        What the features of a linear parser look at.
    seed : int
        Fixes the order of the sentences, and which are drawn.
    epochs, bits : int
        See `LinearParser.train`.
    sentences : int or None
        How many training sentences there are, drawn at random; None for all.

    Raises
    ------
    OptionError
        If one of them makes no sense.

    Examples
    --------
    >>> Recipe().name, Recipe(loss="mira", root="single", seed=2).name
    ('head-seed1', 'mira-single-seed2')
    >>> Recipe(parser="transition", sentences=50).name
    'transition-multi-50-sentences-seed1'
    """

    parser: Kind = "linear"
    loss: Loss = "head"
    root: Root = "multi"
    inference: Inference = "exact"
    features: Features = "directed"
    seed: int = 1
    epochs: int = 10
    bits: int = 20
    sentences: int | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise OptionError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        check_root(self.root)
        if self.sentences is not None and self.sentences < 1:
            raise OptionError(f"sentences must be at least 1, not {self.sentences}")

    @property
    def method(self) -> str:
        """The loss, or kind of parser, and the trees that it learns with."""
        if self.parser != "linear":
            return f"{self.parser}-{self.root}"
        name = self.loss if self.loss == "head" else f"{self.loss}-{self.root}"
        if self.inference == "undirected":
            name += f"-undirected-{self.features}-features"
        return name

    @property
    def name(self) -> str:
        """A name for folders: what distinguishes the recipes of an experiment."""
        drawn = "" if self.sentences is None else f"-{self.sentences}-sentences"
        return f"{self.method}{drawn}-seed{self.seed}"

    def seeds(self, count: int) -> list[Recipe]:
        """Return so many recipes that differ by their seeds: this one first."""
        return [replace(self, seed=self.seed + i) for i in range(count)]

    def draw(self, training: Sequence[Sentence]) -> list[Sentence]:
        """Return the training sentences that are drawn, in their order.

        For the same seed, a smaller number draws some of what a larger one draws.
        """
        if self.sentences is None or self.sentences >= len(training):
            return list(training)
        order = np.random.default_rng(self.seed).permutation(len(training))
        return [training[i] for i in sorted(order[: self.sentences].tolist())]

    def train(
        self, training: Sequence[Sentence], progress: Progress | None = None
    ) -> LinearParser | TransitionParser:
        """Train the parser on the sentences that `draw` gives.

        Raises
        ------
        TreebankError
            If there are none, or one has heads that are not a tree.
        """
        from arborescence.parsers import LinearParser, TransitionParser

        drawn = self.draw(training)
        options: dict[str, Any] = {
            "root": self.root,
            "seed": self.seed,
            "epochs": self.epochs,
            "bits": self.bits,
            "progress": progress,
        }
        if self.parser == "transition":
            return TransitionParser.train(drawn, **options)
        return LinearParser.train(
            drawn,
            loss=self.loss,
            inference=self.inference,
            features=self.features,
            rounds=0 if self.inference == "undirected" else 5,
            **options,
        )
