"""Training recipes: which parser an experiment trains, and with which settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast, get_args

from arborescence.core.choices import Root
from arborescence.errors import OptionError
from arborescence.parsers.shared.options import (
    LEAST_BITS,
    MOST_BITS,
    Features,
    Inference,
    Loss,
    NeuralLoss,
    Option,
    OptionSet,
)
from arborescence.parsers.shared.scheme import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.parsers import BiaffineParser, LinearParser, TransitionParser
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

#: The kinds of parsers that the experiments train, by their names in model files.
AnyKind = Literal["linear", "transition", "biaffine"]
#: The loss of any of them: each kind of parser refuses those that it does not have.
AnyLoss = Literal["mira", "perceptron", "tree", "head", "margin"]
#: The losses of each kind of graph-based parser.
LOSSES: Final = {"linear": get_args(Loss), "biaffine": get_args(NeuralLoss)}
#: The panel of these options on the command line.
PARSERS: Final = "The parsers"
LearnedTrees = Annotated[Root, Option(panel=PARSERS, written="training_root")]
# The epochs of parsers without a network, where a recipe says nothing.
_EPOCHS: Final = 10


@dataclass(frozen=True, kw_only=True)
class Recipe(OptionSet):
    """Which parser is trained, and how; always without a dev set.

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

    parser: Annotated[AnyKind, Option(panel=PARSERS)] = "linear"
    """Graph-based, transition-based (greedy, arc-eager), or neural (graph-based, with gold tags;
    training needs PyTorch)."""
    loss: Annotated[AnyLoss, Option(panel=PARSERS)] = "head"
    """What a graph-based parser is trained by: margin, tree or head if it is neural, all but margin
    if not."""
    root: LearnedTrees = "multi"
    """The trees that a parser learns with: one root edge, or any number. The loss 'head' looks at
    no trees."""
    inference: Annotated[Inference, Option(command=False)] = "exact"
    """The decoder of a linear parser: exact, or through undirected trees, not enhanced."""
    features: Annotated[Features, Option(command=False)] = "directed"
    """The edge features of a linear parser."""
    seed: Annotated[int, Option(whole(0), panel=PARSERS)] = 1
    """Fixes the order of the sentences, and the sample."""
    epochs: Annotated[
        int | None,
        Option(whole(1), panel=PARSERS, shown="10; biaffine: 30, small treebanks up to 100"),
    ] = None
    """How often to go over a treebank."""
    bits: Annotated[int, Option(whole(LEAST_BITS, MOST_BITS), panel=PARSERS)] = 20
    """Room for 2^bits rows of weights."""
    sentences: Annotated[int | None, Option(whole(1), command=False)] = None
    """How many sentences to learn from, sampled at random; None for all."""

    def _check_together(self) -> None:
        if self.loss not in LOSSES.get(self.parser, get_args(AnyLoss)):
            raise OptionError(f"a {self.parser} parser has no loss {self.loss!r}")
        if self.epochs is None and self.parser != "biaffine":
            object.__setattr__(self, "epochs", _EPOCHS)

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
        import numpy as np  # the command line imports this module

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
