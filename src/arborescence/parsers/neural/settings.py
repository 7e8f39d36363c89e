"""The options of neural parsers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from arborescence.errors import MissingExtraError, OptionError
from arborescence.parsers.shared import options as shared
from arborescence.parsers.shared.options import (
    LearnerSettings,
    NeuralLoss,
    Option,
    Precision,
    Scorer,
)
from arborescence.parsers.shared.scheme import positive, real, whole

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def needs_torch(what: str) -> Iterator[None]:
    """Name the extra if PyTorch cannot be imported, as a MissingExtraError."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs PyTorch: install it with `pip install 'arborescence[torch]'`"
        ) from error


def check_device(device: str) -> None:
    """Raise MissingExtraError or OptionError if PyTorch or a device is not there."""
    with needs_torch("training a neural parser"):
        from arborescence.parsers.neural.devices import device_named
    device_named(device)


#: Of the batches, steps and epochs of small treebanks: see `pace`.
_SMALLEST_BATCH: Final = 200
_STEPS: Final = 3000
_MOST_EPOCHS: Final = 100
_FEW_STEPS: Final = 1000
_INPUT: Final = "Pretrained input"
_FILE: Final = Option(metavar="FILE", panel=_INPUT, stored=False)
_FOLDER: Final = Option(
    metavar="FOLDER", panel=_INPUT, stored=False, shown="beside the checkpoint, until it is done"
)

_Size = Annotated[int, Option(whole(1, 10_000), panel="The sizes of the network")]
_Layers = Annotated[int, Option(whole(1, 16), panel="The sizes of the network")]
_Share = Annotated[float, Option(real(0, 1))]
_Given = Annotated[int, Option(whole(0, 10**5), command=False)]


@dataclass(frozen=True, kw_only=True)
class Settings(LearnerSettings):
    """Options of a graph-based parser with a neural network (Dozat and Manning 2017)."""

    jackknifed: ClassVar[bool] = False  # its input has jackknifed guesses of the tagger

    columns: shared.Columns = ("form", "upos", "xpos", "feats")
    loss: NeuralLoss = "head"
    """What to learn by: the cross-entropy of each gold head; the likelihood of the gold tree among
    all trees; or the margin of the gold tree over the best other tree, where each wrong head adds 1
    to its weight (Taskar et al. 2004)."""
    scorer: Scorer = "biaffine"
    """What scores an edge: a biaffine form of two vectors, or a network with one hidden layer
    (Kiperwasser and Goldberg 2016), which is slower."""
    root: shared.Trees = "single"
    projective: Literal[False, True] = False
    """Whether to learn and parse without crossing edges."""
    rng: shared.Rng = 1
    epochs: Annotated[int, Option(whole(1, 10**6), shown="30, small treebanks up to 100")] = 30
    """How often to go over the treebank, exactly: the learning rate falls to 0 at the end."""
    batch: Annotated[int, Option(whole(1, 10**6), shown="1500, small treebanks less")] = 1500
    """About how many words a batch has; fewer need less memory."""
    rate: Annotated[float, Option(positive())] = 2e-3
    """The highest learning rate of Adam."""
    word: _Size = 100
    """The size of the vectors of words, and of lemmas."""
    letter: _Size = 32
    """The size of the vectors of characters."""
    filters: _Size = 100
    """The size of what each convolution of characters gives."""
    tag: _Size = 32
    """The size of the vectors of tags."""
    hidden: _Size = 200
    """The size of the LSTMs, in each direction."""
    lower: _Layers = 1
    """How many LSTMs come before the prediction of tags."""
    upper: _Layers = 1
    """How many LSTMs come after the prediction of tags."""
    arc: _Size = 300
    """The size of the vectors by which edges are scored."""
    label: _Size = 64
    """The size of the vectors by which relations are scored."""
    dropout: _Share = 0.33
    """The share of numbers that are left out in each layer, the same for all words of a
    sentence."""
    word_dropout: _Share = 0.25
    """The share of words that are made unknown."""
    given: _Share = 0.5
    """The share of sentences that are learned with their own tags and lemmas; the others with those
    that the network predicts."""
    mixed: bool = False
    """Multiply matrices in bfloat16 in training: faster on a GPU."""
    precision: Precision = "int8"
    """How the weights are rounded in the model."""
    vector: _Given = 0
    """The size of pretrained vectors of words."""
    encoded: _Given = 0
    """The size of the encoder's vectors."""
    encoder_layers: Annotated[int, Option(whole(1, 1000), panel=_INPUT)] = 4
    """How many of the encoder's last layers to mix."""
    encoder_rate: Annotated[float, Option(positive(), panel=_INPUT)] = 2e-5
    """The encoder's highest learning rate."""
    fine_tune: Annotated[bool, Option(panel=_INPUT)] = False
    """Train the encoder, too; best on a GPU."""
    device: Annotated[str, Option(metavar="cpu|cuda", stored=False)] = "cpu"
    """Where PyTorch computes."""
    threads: Annotated[int, Option(whole(1, 1024), stored=False)] = 1
    """How many threads PyTorch, and sums over trees, use on the CPU."""
    vectors: Annotated[str | None, _FILE] = None
    """Pretrained word vectors: a text file of word2vec, fastText or GloVe, plain or gzipped. They
    are not trained, but the network learns how to add them to its own."""
    most_vectors: Annotated[int, Option(whole(0), panel=_INPUT, stored=False)] = 100_000
    """Of how many of the most frequent words to keep the vectors; those of the treebanks are kept
    in any case."""
    encoder: Annotated[str | None, replace(_FILE, metavar="NAME_OR_PATH")] = None
    """A pretrained encoder (BERT, XLM-R, ...): its name on the Hugging Face hub, or its folder.
    Parsing needs it and PyTorch, too."""
    encoder_cache: Annotated[str | None, _FOLDER] = None
    """A folder that keeps the encoder's vectors of each sentence, gigabytes, for other training
    runs, too."""

    def _check_together(self) -> None:
        if "form" not in self.columns:
            raise OptionError(f"columns must have form, and are {', '.join(self.columns)}")
        if self.dropout == 1:
            raise OptionError("dropout must be less than 1")
        if self.fine_tune and self.encoder is None and not self.encoded:
            raise OptionError("fine_tune=True goes with an encoder only")

    @property
    def in_part(self) -> bool:
        """Whether sentences may lack heads."""
        return True

    def check_installed(self) -> None:
        """Raise MissingExtraError or OptionError if PyTorch or the device is not there."""
        check_device(self.device)

    @property
    def most_edges(self) -> int:
        """The number of edges of a batch that limits memory where sentences are long."""
        return 2**20 if self.scorer == "biaffine" else 2**17  # an MLP has a vector for each edge


def pace(words: int) -> dict[str, int]:
    """Return batch and epochs by the number of words."""
    # small treebanks need more steps to learn in
    batch = min(max(words // 100, _SMALLEST_BATCH), Settings.batch)
    epochs = _STEPS * batch // max(words, 1)
    return {"batch": batch, "epochs": min(max(epochs, Settings.epochs), _MOST_EPOCHS)}


def said_of(words: int, settings: Settings) -> str | None:
    """Return a word of warning if a treebank of so many words gives few steps to learn in.

    >>> said_of(3_000, Settings(epochs=8, batch=200))
    '120 are few: give more epochs, or smaller batches'
    >>> said_of(40_000, Settings(**pace(40_000)))
    """
    steps = settings.epochs * -(-words // settings.batch)
    few = f"{steps:,} are few: give more epochs, or smaller batches"
    return few if steps < _FEW_STEPS else None
