"""The training settings of neural parsers, with checks of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, get_args

from arborescence.core.choices import Root, check_choice
from arborescence.core.errors import ModelError, OptionError
from arborescence.core.graph import check_root
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.features import check_columns
from arborescence.parsers.shared.types import NeuralLoss, Precision, Scorer

if TYPE_CHECKING:
    from collections.abc import Mapping

_CHOICES: Final = {
    "loss": get_args(NeuralLoss),
    "scorer": get_args(Scorer),
    "projective": (False, True),
    "mixed": (False, True),
    "fine_tune": (False, True),
    "precision": get_args(Precision),
}
#: Whole numbers, and the least and the greatest value of each.
_COUNTS: Final = {
    **dict.fromkeys(("epochs", "batch"), (1, 10**6)),
    **dict.fromkeys(("word", "letter", "filters", "tag", "hidden", "arc", "label"), (1, 10**4)),
    **dict.fromkeys(("lower", "upper"), (1, 16)),
    **dict.fromkeys(("vector", "encoded"), (0, 10**5)),
    "encoder_layers": (1, 1000),
}
_RATES: Final = ("rate", "encoder_rate")
#: Of the batches, steps and epochs of small treebanks: see `pace`.
_SMALLEST_BATCH: Final = 200
_STEPS: Final = 3000
_MOST_EPOCHS: Final = 100
_SHARES: Final = ("dropout", "word_dropout", "given")
_FIELDS: Final = {
    "columns": scheme.LOOKED_AT,
    "root": scheme.one_of(get_args(Root)),
    "seed": scheme.whole(0, 2**63 - 1),
    **{name: scheme.one_of(choices) for name, choices in _CHOICES.items()},
    **{name: scheme.whole(*limits) for name, limits in _COUNTS.items()},
    **{name: scheme.positive() for name in _RATES},
    **{name: scheme.real(0, 1) for name in _SHARES},
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that, with the data, determine the result of `BiaffineParser.train`.

    Attributes
    ----------
    columns : tuple of str
        What the parser looks at: form, and some of lemma, upos, xpos and feats. It predicts the
        columns of tags (the last three) where a sentence has none, if the treebank has them.
    loss : {"head", "tree", "margin"}
        ``"head"``: the cross-entropy of each word's gold head among all heads, independent of other
        words (Dozat and Manning 2017). ``"tree"``: the negative log-likelihood of the gold tree
        among all trees (`arborescence.torch.TreeDistribution`). ``"margin"``: by how much the best
        other tree, found by loss-augmented decoding, beats the gold tree, where each wrong head
        adds 1 to its weight (Taskar et al. 2004).
    scorer : {"biaffine", "mlp"}
        How an edge is scored: by a biaffine form of both words (Dozat and Manning 2017), or by an
        MLP with one hidden layer (Kiperwasser and Goldberg 2016).
    root : {"single", "multi"}
        The trees of the losses ``"tree"`` and ``"margin"``, and of the parsing of dev: one edge
        from the root, or one or more.
    projective : bool
        Whether trees are projective, in the losses and in parsing. Gold trees are made so by
        `projectivize`.
    seed : int
        Fixes the first weights, the order of the sentences, and dropout.
    epochs : int
        The number of passes over the treebank. The learning rate falls to 0 at the end of the last
        one, so training never stops earlier. `BiaffineParser.train` chooses it by the size of the
        treebank: see `pace`.
    batch : int
        About how many words (and roots) a batch has. Memory grows with it. Chosen like `epochs`.
    rate : float
        The highest learning rate of Adam.
    word, letter, filters, tag : int
        The sizes of word vectors (and those of lemmas), of character vectors, of the result of each
        character convolution, and of tag vectors.
    hidden : int
        The size of the LSTMs, in each direction.
    lower, upper : int
        The number of BiLSTM layers before and after the prediction of tags.
    arc, label : int
        The sizes of the vectors by which edges and relations are scored.
    dropout : float
        The share of columns that are set to zero in each layer, the same for all words of a
        sentence.
    word_dropout : float
        The share of words whose own vector is replaced by that of unknown words.
    given : float
        The share of training sentences whose gold tags and lemmas the upper layers see; they see
        predicted tags of the others.
    mixed : bool
        Whether PyTorch multiplies matrices in bfloat16 in training (not the recurrent products, and
        not the losses). For GPUs.
    precision : {"float16", "int8"}
        How the weights of the model are rounded: see `stored.to_arrays`.
    vector, encoded : int
        The sizes of pretrained vectors of words, and of those of a pretrained encoder; 0 without.
        `BiaffineParser.train` sets them.
    encoder_layers : int
        How many of the last layers of an encoder are mixed.
    encoder_rate : float
        The highest learning rate of an encoder that is fine-tuned.
    fine_tune : bool
        Whether the weights of an encoder are trained.

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
    hidden: int = 200
    lower: int = 1
    upper: int = 2
    arc: int = 300
    label: int = 64
    dropout: float = 0.33
    word_dropout: float = 0.25
    given: float = 0.5
    mixed: bool = False
    precision: Precision = "int8"
    vector: int = 0
    encoded: int = 0
    encoder_layers: int = 4
    encoder_rate: float = 2e-5
    fine_tune: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        check_columns(self.columns)
        if "form" not in self.columns:
            raise OptionError(f"columns must have form, and are {', '.join(self.columns)}")
        check_root(self.root)
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name, (low, high) in _COUNTS.items():
            if not _FIELDS[name].fits(value := getattr(self, name)):
                raise OptionError(
                    f"{name} must be a whole number from {low} to {high}, not {value!r}"
                )
        if not 0 <= self.seed < 2**63:
            raise OptionError(f"seed must be from 0 to 2^63 - 1, not {self.seed}")
        for name in (*_RATES, *_SHARES):
            object.__setattr__(self, name, float(getattr(self, name)))
        for name in _RATES:
            if not _FIELDS[name].fits(rate := getattr(self, name)):
                raise OptionError(f"{name} must be positive, not {rate:g}")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        if self.dropout == 1:
            raise OptionError("dropout must be less than 1")

    @property
    def most_edges(self) -> int:
        """The number of edges of a batch that limits memory where sentences are long."""
        return 2**20 if self.scorer == "biaffine" else 2**17  # an MLP has a vector for each edge

    @classmethod
    def from_file(cls, header: Mapping[str, Any]) -> Self:
        """Make settings from the field of a model file; raise ModelError if one is invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        try:
            return cls(**fields)
        except OptionError as error:
            raise ModelError(f"settings: {error}") from error


def pace(words: int) -> dict[str, int]:
    """Return the batch and the epochs for a treebank of so many words.

    Small treebanks get small batches and more epochs: else there are too few steps to learn in.

    >>> pace(3_000), pace(40_000), pace(200_000)
    ({'batch': 200, 'epochs': 100}, {'batch': 400, 'epochs': 30}, {'batch': 1500, 'epochs': 30})
    """
    batch = min(max(words // 100, _SMALLEST_BATCH), Settings.batch)
    epochs = _STEPS * batch // max(words, 1)
    return {"batch": batch, "epochs": min(max(epochs, Settings.epochs), _MOST_EPOCHS)}
