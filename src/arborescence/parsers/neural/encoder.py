"""Vectors of words in their sentence, by a pretrained encoder of the package ``transformers``.

A word's vector is the mean of the vectors of its pieces, for each of the last layers; the network
learns the weights of the layers (Peters et al. 2018). A frozen encoder's vectors can be kept on
disk; a fine-tuned encoder is a part of the network.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
import torch
from torch import Tensor, nn

from arborescence.core.checks import check_count
from arborescence.errors import MissingExtraError, ModelError, OptionError
from arborescence.parsers.neural.devices import moved, own_threads
from arborescence.parsers.neural.feature_cache import FeatureCache
from arborescence.parsers.neural.pieces import (
    LONGEST_WINDOW,
    Pieces,
    PieceSplitter,
    SequentialTokenizer,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import BatchLayout
    from arborescence.treebank import Sentence

#: The number of last layers that are mixed.
LAYERS: Final = 4

_GROUP_WORDS: Final = 2048  # the most words that are encoded at a time
_HUB_NAME: Final = re.compile(r"[\w.-]+(/[\w.-]+)?")
_LARGEST: Final = float(np.finfo(np.float16).max)


class Encoder:
    """A pretrained encoder, frozen or to be fine-tuned: see `load`."""

    #: The extra of this package that has to be installed.
    extra: ClassVar[str] = "transformers"
    #: The arrays that this encoder adds to a model file: none.
    arrays: ClassVar[dict[str, NDArray[np.uint8]]] = {}

    def __init__(
        self,
        name: str,
        model: Any,
        tokenizer: Any,
        *,
        layers: int = LAYERS,
        fine_tune: bool = False,
        device: str = "cpu",
        digest: str | None = None,
    ) -> None:
        #: A digest of the weights and the pieces, which identifies the encoder.
        self.digest = _digest(model, tokenizer)
        if digest not in (None, self.digest):
            raise ModelError(
                f"{name}: not the encoder that the parser was trained with: its weights or pieces "
                "differ"
            )
        check_count(layers, "encoder_layers")
        depth = model.config.num_hidden_layers + 1  # with the embeddings
        if layers > depth:
            raise OptionError(f"encoder_layers is {layers}, but {name} has {depth} layers only")
        #: The name or the folder that the encoder was loaded from.
        self.name = name
        #: The number of last layers that are used.
        self.layers = layers
        #: The number of columns of the vectors.
        self.size: int = model.config.hidden_size
        self.fine_tune = fine_tune
        self.model = model.eval()
        # The vectors of pieces are not trained: a batch changes few of them, but Adam would spend
        # most of its time on all of them.
        model.get_input_embeddings().requires_grad_(False)
        self.tokenizer = tokenizer
        #: The largest number of pieces that the encoder can read at once.
        self.room = _room(model, tokenizer)
        self._splitter = PieceSplitter(_in_this_thread(tokenizer), self.room)
        self._cache: FeatureCache | None = None
        self.to(device)

    @classmethod
    def load(
        cls,
        name: str | os.PathLike[str],
        *,
        layers: int = LAYERS,
        fine_tune: bool = False,
        device: str = "cpu",
        digest: str | None = None,
        download: bool = True,
    ) -> Self:
        """Load an encoder in safetensors from a folder or by its name; its own code is not run.

        Without `download` (for a name from a model file), only earlier downloads are searched.
        Errors: MissingExtraError without ``transformers``; ModelError if there is no such encoder
        or its digest differs; OptionError if the encoder has fewer layers.
        """
        try:
            import transformers
        except ImportError as error:
            raise MissingExtraError(
                "pretrained encoders need the package transformers: install it with "
                "`pip install 'arborescence[transformers]'`"
            ) from error
        name = str(Path(name).resolve() if download and Path(name).is_dir() else name)
        safely = {"trust_remote_code": False, "local_files_only": not download}
        try:
            if not download and not _HUB_NAME.fullmatch(name):
                raise ModelError("it is not a name on the Hugging Face hub")
            with _quiet(transformers.utils.logging):
                tokenizer = transformers.AutoTokenizer.from_pretrained(name, **safely)
                model = transformers.AutoModel.from_pretrained(name, use_safetensors=True, **safely)
        except Exception as error:  # of any kind: damaged files, no connection, other packages
            reason = f"cannot be loaded: {str(error).strip().partition(chr(10))[0]}"
            if not download:
                reason = "was not downloaded before: give its folder or its name (encoder=)"
            raise ModelError(f"{name}: the encoder {reason}") from error
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        if getattr(model, "pooler", None) is not None:
            model.pooler = None  # a vector of the whole sentence: not used, and often untrained
        model = model.float()
        return cls(
            name, model, tokenizer, layers=layers, fine_tune=fine_tune, device=device, digest=digest
        )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of the weights in a network, if the encoder is fine-tuned."""
        if not self.fine_tune:
            return {}
        named = self.model.named_parameters()
        return {f"encoder.{name}": tuple(weights.shape) for name, weights in named}

    def to_file(self) -> dict[str, str]:
        """Return the fields of a model file: the arguments of `load` that find this encoder."""
        return {"name": self.name, "digest": self.digest}

    def to(self, device: str) -> Self:
        """Choose the device that computes."""
        self._device = device
        if not self.fine_tune:
            self.model.to(device)
        return self

    def keep_in(self, folder: str | os.PathLike[str] | None) -> Self:
        """Choose a folder that keeps vectors, or None; not for fine-tuned encoders."""
        key = f"{self.digest}-{self.layers}"
        shape = self.layers, self.size
        self._cache = None if folder is None else FeatureCache(folder, key, shape)
        return self

    def read(
        self, sentences: Sequence[Sentence], layout: BatchLayout
    ) -> NDArray[np.float16] | Pieces:
        """Return the vectors (N, layers, size), or the pieces if the encoder is fine-tuned.

        The vectors of roots are 0.
        """
        words = [sentence.forms for sentence in sentences]
        if self.fine_tune:
            pieces = self.cut(words)
            return pieces._replace(word=layout.words[pieces.word])
        encoded = np.zeros((len(layout.flat), self.layers, self.size), dtype=np.float16)
        encoded[layout.words] = np.concatenate(self.features(words))
        return encoded

    def counts(self, sentences: Iterable[Sequence[str]]) -> NDArray[np.int64]:
        """Return the number of pieces of each sentence, with the special pieces of its windows."""
        return np.array([self.cut([words]).lengths.sum() for words in sentences])

    def cut(self, sentences: Sequence[Sequence[str]]) -> Pieces:
        """Return the pieces of words."""
        return self._splitter(sentences)

    def features(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.float16]]:
        """Return the words' vectors, (n, layers, size) each, rounded as on disk."""
        kept = self._cache.get(sentences) if self._cache else [None] * len(sentences)
        missing = sorted(
            {
                tuple(words)
                for words, vectors in zip(sentences, kept, strict=True)
                if vectors is None
            },
            key=len,
        )
        new: dict[tuple[str, ...], NDArray[np.float16]] = {}
        for group in _groups(missing):
            encoded = dict(zip(group, self._encode(group), strict=True))
            if self._cache:
                self._cache.put(encoded.items())
            new |= encoded
        return [
            new[tuple(words)] if vectors is None else vectors
            for words, vectors in zip(sentences, kept, strict=True)
        ]

    def _encode(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.float16]]:
        ends = np.cumsum([len(words) for words in sentences])
        pieces = moved(self.cut(sentences), self._device)
        with torch.inference_mode(), own_threads(1):
            vectors = encode(self.model, pieces, self.layers, int(ends[-1]))
            rounded = vectors.clamp(-_LARGEST, _LARGEST).half().cpu().numpy()
        return np.split(rounded, ends[:-1])


def encode(model: Any, pieces: Any, layers: int, rows: int) -> Tensor:
    """Return the mean vector of the pieces of each word: (rows, layers, D), 0 without pieces.

    `rows` is the number of words, and of roots if ``pieces.word`` counts them.
    """
    places = torch.arange(pieces.ids.shape[1], device=pieces.ids.device)
    mask = (places < pieces.lengths[:, None]).long()
    output = model(input_ids=pieces.ids, attention_mask=mask, output_hidden_states=True)
    states = output.hidden_states[-layers:]
    vectors = torch.stack([state.flatten(0, 1)[pieces.place] for state in states], dim=1)
    counts = torch.bincount(pieces.word, minlength=rows).clamp(min=1)
    sums = vectors.new_zeros(rows, *vectors.shape[1:]).index_add(0, pieces.word, vectors)
    return sums / counts[:, None, None]


def _groups(sentences: Sequence[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """Yield groups of sentences that are encoded at a time."""
    group: list[tuple[str, ...]] = []
    for words in sentences:  # the longest is the last
        if group and (len(group) + 1) * len(words) > _GROUP_WORDS:
            yield group
            group = []
        group.append(words)
    if group:
        yield group


def _in_this_thread(tokenizer: Any) -> Any:
    """Return a tokenizer that starts no threads."""
    if not tokenizer.is_fast:
        return tokenizer
    padding = tokenizer.pad_token_id
    return SequentialTokenizer(tokenizer.backend_tokenizer, tokenizer.unk_token_id, padding)


def _room(model: Any, tokenizer: Any) -> int:
    """Return the largest number of pieces that an encoder can read at once."""
    room: int = min(tokenizer.model_max_length, LONGEST_WINDOW)
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if isinstance(table, nn.Embedding):
        # Models like RoBERTa count positions from the number of the padding, plus one.
        first = 0 if table.padding_idx is None else table.padding_idx + 1
        room = min(room, table.num_embeddings - first)
    return room


def _digest(model: Any, tokenizer: Any) -> str:
    digest = hashlib.blake2b(model.config.model_type.encode(), digest_size=16)
    for name, weights in sorted(model.named_parameters()):
        digest.update(name.encode())
        digest.update(weights.detach().cpu().contiguous().numpy().data)
    for piece, number in sorted(tokenizer.get_vocab().items()):
        digest.update(f"{number} {piece}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()


@contextmanager
def _quiet(logging: Any) -> Iterator[None]:
    """Let transformers print errors only, and no progress bars."""
    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()
