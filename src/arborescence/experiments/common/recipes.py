"""What parser an experiment trains, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from arborescence.core.errors import OptionError
from arborescence.core.graph import check_root
from arborescence.parsers.shared.types import Kind, Loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.core.graph import Root
    from arborescence.parsers import LinearParser, TransitionParser
    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence

_WITHOUT_TREES: Final = "head"


@dataclass(frozen=True)
class Recipe:
    """What parser is trained, and how; always without a development set.

    Attributes
    ----------
    parser : {"linear", "transition"}
        A `LinearParser`, or a greedy arc-eager `TransitionParser`.
    objective : {"head", "mira", "perceptron", "tree"}
        What a linear parser learns by.
    root : {"multi", "single"}
        Whether the trees that it learns with may have several root edges: those that it moves
        away from, or sums over. Head selection looks at no trees and takes no notice.
    seed : int
        Fixes the order of the sentences, and which are drawn.
    epochs, bits : int
        See `LinearParser.train`.
    sentences : int or None
        How many sentences to learn from, drawn at random; None for all.

    Raises
    ------
    OptionError
        If one of them makes no sense.

    Examples
    --------
    >>> Recipe().name, Recipe(objective="mira", root="single", seed=2).name
    ('head-seed1', 'mira-single-seed2')
    >>> Recipe(parser="transition", sentences=50).name
    'transition-multi-50-sentences-seed1'
    """

    parser: Kind = "linear"
    objective: Loss = "head"
    root: Root = "multi"
    seed: int = 1
    epochs: int = 10
    bits: int = 20
    sentences: int | None = None

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("parser", self.parser, get_args(Kind)),
            ("objective", self.objective, get_args(Loss)),
        ):
            if value not in choices:
                raise OptionError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        check_root(self.root)
        if self.sentences is not None and self.sentences < 1:
            raise OptionError(f"sentences must be at least 1, not {self.sentences}")

    @property
    def method(self) -> str:
        """The objective, or kind of parser, and the trees that it learns with."""
        if self.parser != "linear":
            return f"{self.parser}-{self.root}"
        if self.objective == _WITHOUT_TREES:
            return self.objective
        return f"{self.objective}-{self.root}"

    @property
    def name(self) -> str:
        """A name for folders: what distinguishes the recipes of an experiment."""
        drawn = "" if self.sentences is None else f"-{self.sentences}-sentences"
        return f"{self.method}{drawn}-seed{self.seed}"

    def draw(self, lessons: Sequence[Sentence]) -> list[Sentence]:
        """Return the sentences to learn from, in their order.

        For the same seed, a smaller number draws some of what a larger one draws.
        """
        if self.sentences is None or self.sentences >= len(lessons):
            return list(lessons)
        order = np.random.default_rng(self.seed).permutation(len(lessons))
        return [lessons[i] for i in sorted(order[: self.sentences].tolist())]

    def train(
        self, lessons: Sequence[Sentence], progress: Progress | None = None
    ) -> LinearParser | TransitionParser:
        """Train the parser on the sentences that `draw` gives.

        Raises
        ------
        TreebankError
            If there are none, or one has heads that are not a tree.
        """
        from arborescence.parsers import LinearParser, TransitionParser

        drawn = self.draw(lessons)
        if self.parser == "transition":
            return TransitionParser.train(
                drawn,
                root=self.root,
                seed=self.seed,
                epochs=self.epochs,
                bits=self.bits,
                progress=progress,
            )
        return LinearParser.train(
            drawn,
            loss=self.objective,
            root=self.root,
            seed=self.seed,
            epochs=self.epochs,
            bits=self.bits,
            progress=progress,
        )
