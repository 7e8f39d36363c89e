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
    """Raise a MissingExtraError that names the extra if PyTorch cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs PyTorch: install it with `pip install 'arborescence[torch]'`"
        ) from error


def check_device(device: str) -> None:
    """Raise MissingExtraError or OptionError if PyTorch or a device is missing."""
    with needs_torch("training a neural parser"):
        from arborescence.parsers.neural.devices import device_named
    device_named(device)


#: The limits of batches, steps and epochs for small treebanks: see `pace`.
_SMALLEST_BATCH: Final = 200
_STEPS: Final = 3000
_MOST_EPOCHS: Final = 100
_FEW_STEPS: Final = 1000
_INPUT: Final = "Pretrained input"
_FILE: Final = Option(metavar="FILE", panel=_INPUT, stored=False)
_FOLDER: Final = Option(
    metavar="FOLDER", panel=_INPUT, stored=False, shown="beside the checkpoint, until training ends"
)

_Size = Annotated[int, Option(whole(1, 10_000), panel="The sizes of the network")]
_Layers = Annotated[int, Option(whole(1, 16), panel="The sizes of the network")]
_Share = Annotated[float, Option(real(0, 1))]
_Given = Annotated[int, Option(whole(0, 10**5), command=False)]


@dataclass(frozen=True, kw_only=True)
class Settings(LearnerSettings):
    """Options of a graph-based parser with a neural network (Dozat and Manning 2017)."""

    #: The input has jackknifed guesses of the tagger.
    jackknifed: ClassVar[bool] = False

    columns: shared.Columns = ("form", "upos", "xpos", "feats")
    loss: NeuralLoss = "head"
    """The loss: the cross-entropy of each gold head; the likelihood of the gold tree among all
    trees; or the margin of the gold tree over the best other tree, where each wrong head adds 1 to
    the weight (Taskar et al. 2004)."""
    scorer: Scorer = "biaffine"
    """The scorer of an edge: a biaffine form of two vectors, or a network with one hidden layer
    (Kiperwasser and Goldberg 2016), which is slower."""
    root: shared.Trees = "single"
    projective: Literal[False, True] = False
    """Whether to learn and parse without crossing edges."""
    rng: shared.Rng = 1
    epochs: Annotated[int, Option(whole(1, 10**6), shown="30, small treebanks up to 100")] = 30
    """The number of passes over the treebank, exactly: the learning rate falls to 0 at the end."""
    batch: Annotated[int, Option(whole(1, 10**6), shown="1500, small treebanks less")] = 1500
    """The number of words in a batch, approximately; fewer words need less memory."""
    rate: Annotated[float, Option(positive())] = 2e-3
    """The highest learning rate of Adam."""
    word: _Size = 100
    """The size of the vectors of words, and of lemmas."""
    letter: _Size = 32
    """The size of the vectors of characters."""
    filters: _Size = 100
    """The size of the output of each convolution of characters."""
    tag: _Size = 32
    """The size of the vectors of tags."""
    hidden: _Size = 200
    """The size of the LSTMs, in each direction."""
    lower: _Layers = 1
    """The number of LSTMs before the prediction of tags."""
    upper: _Layers = 1
    """The number of LSTMs after the prediction of tags."""
    arc: _Size = 300
    """The size of the vectors by which edges are scored."""
    label: _Size = 64
    """The size of the vectors by which relations are scored."""
    dropout: _Share = 0.33
    """The share of numbers that are left out in each layer, the same for all words of a
    sentence."""
    word_dropout: _Share = 0.25
    """The share of words that training replaces with the unknown word."""
    given: _Share = 0.5
    """The share of sentences that are learned with their own tags and lemmas; for the others, the
    network predicts them."""
    mixed: bool = False
    """Multiply matrices in bfloat16 in training: faster on a GPU."""
    precision: Precision = "int8"
    """The number format of the weights in the model."""
    vector: _Given = 0
    """The size of pretrained vectors of words."""
    encoded: _Given = 0
    """The size of the encoder's vectors."""
    encoder_layers: Annotated[int, Option(whole(1, 1000), panel=_INPUT)] = 4
    """The number of the encoder's last layers to mix."""
    encoder_rate: Annotated[float, Option(positive(), panel=_INPUT)] = 2e-5
    """The encoder's highest learning rate."""
    fine_tune: Annotated[bool, Option(panel=_INPUT)] = False
    """Train the encoder, too; best on a GPU."""
    device: Annotated[str, Option(metavar="cpu|cuda", stored=False)] = "cpu"
    """The device on which PyTorch computes."""
    threads: Annotated[int, Option(whole(1, 1024), stored=False)] = 1
    """The number of threads that PyTorch, and sums over trees, use on the CPU."""
    vectors: Annotated[str | None, _FILE] = None
    """Pretrained word vectors: a text file of word2vec, fastText or GloVe, plain or gzipped. They
    are not trained, but the network learns how to add them to its own vectors."""
    most_vectors: Annotated[int, Option(whole(0), panel=_INPUT, stored=False)] = 100_000
    """The number of most frequent words whose vectors are kept; the vectors of the treebanks' words
    are kept, too."""
    encoder: Annotated[str | None, replace(_FILE, metavar="NAME_OR_PATH")] = None
    """A pretrained encoder (BERT, XLM-R, ...): its name on the Hugging Face hub, or its folder.
    Parsing also needs the encoder and PyTorch."""
    encoder_cache: Annotated[str | None, _FOLDER] = None
    """A folder that keeps the encoder's vectors of each sentence, also for other training runs. It
    may need gigabytes."""

    def _check_together(self) -> None:
        if "form" not in self.columns:
            raise OptionError(f"columns must include form, but are {', '.join(self.columns)}")
        if self.dropout == 1:
            raise OptionError("dropout must be less than 1")
        if self.fine_tune and self.encoder is None and not self.encoded:
            raise OptionError("fine_tune=True goes with an encoder only")

    @property
    def in_part(self) -> bool:
        """Whether sentences may lack heads."""
        return True

    def check_installed(self) -> None:
        """Raise MissingExtraError or OptionError if PyTorch or the device is missing."""
        check_device(self.device)

    @property
    def most_edges(self) -> int:
        """The largest number of edges in a batch, which limits memory for long sentences."""
        return 2**20 if self.scorer == "biaffine" else 2**17  # an MLP has a vector for each edge


def pace(words: int) -> dict[str, int]:
    """Return the batch and the epochs for a number of words; small treebanks need more steps."""
    batch = min(max(words // 100, _SMALLEST_BATCH), Settings.batch)
    epochs = _STEPS * batch // max(words, 1)
    return {"batch": batch, "epochs": min(max(epochs, Settings.epochs), _MOST_EPOCHS)}


def few_steps(words: int, settings: Settings) -> str | None:
    """Return a warning if training on `words` words has few steps.

    >>> few_steps(3_000, Settings(epochs=8, batch=200))
    '120 are few: give more epochs, or smaller batches'
    >>> few_steps(40_000, Settings(**pace(40_000)))
    """
    steps = settings.epochs * -(-words // settings.batch)
    warning = f"{steps:,} are few: give more epochs, or smaller batches"
    return warning if steps < _FEW_STEPS else None
