"""Vectors of words in their sentence, by a pretrained encoder of the package ``transformers``.

A word's vector is the mean of those of its pieces, for each of the last layers; the network learns
how much of each to take (Peters et al. 2018). A frozen encoder's vectors can be kept on disk; a
fine-tuned one is a part of the network.
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
from arborescence.parsers.neural.pieces import LONGEST_WINDOW, OneByOne, Pieces, Splitter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import Layout
    from arborescence.treebank import Sentence

#: So many of the last layers are mixed.
LAYERS: Final = 4

_GROUP_WORDS: Final = 2048  # encoded at a time
_HUB_NAME: Final = re.compile(r"[\w.-]+(/[\w.-]+)?")
_LARGEST: Final = float(np.finfo(np.float16).max)


class Encoder:
    """A pretrained encoder, frozen or to be fine-tuned: see `load`."""

    extra: ClassVar[str] = "transformers"  # what has to be installed
    arrays: ClassVar[dict[str, NDArray[np.uint8]]] = {}  # what it adds to a model file

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
        # A digest of its weights and its pieces, by which an encoder is known again
        self.digest = _digest(model, tokenizer)
        if digest not in (None, self.digest):
            raise ModelError(
                f"{name}: not the encoder that the parser was trained with: other weights or pieces"
            )
        check_count(layers, "encoder_layers")
        depth = model.config.num_hidden_layers + 1  # with the embeddings
        if layers > depth:
            raise OptionError(f"encoder_layers is {layers}, but {name} has {depth} layers only")
        self.name = name  # the name or the folder that it was loaded from
        self.layers = layers  # how many of its last layers are used
        self.size: int = model.config.hidden_size  # the number of columns of its vectors
        self.fine_tune = fine_tune
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.room = _room(model, tokenizer)
        self._splitter = Splitter(_in_this_thread(tokenizer), self.room)
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
        """Load an encoder in safetensors from a folder or by its name; its own code is not run."""
        # Without `download` (a name that a model file gives) only what was downloaded before is
        # looked at. Errors: MissingExtraError without ``transformers``; ModelError if there is none
        # or its digest differs; OptionError if it has fewer layers.
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
        """The names and shapes of its weights in a network, if it is fine-tuned."""
        if not self.fine_tune:
            return {}
        named = self.model.named_parameters()
        return {f"encoder.{name}": tuple(weights.shape) for name, weights in named}

    def to_file(self) -> dict[str, str]:
        """Return what a model file keeps: the arguments of `load` by which to find it again."""
        return {"name": self.name, "digest": self.digest}

    def to(self, device: str) -> Self:
        """Choose where to compute."""
        self._device = device
        if not self.fine_tune:
            self.model.to(device)
        return self

    def keep_in(self, folder: str | os.PathLike[str] | None) -> Self:
        """Choose a folder to keep vectors in; None keeps none. Not for fine-tuned encoders."""
        key = f"{self.digest}-{self.layers}"
        shape = self.layers, self.size
        self._cache = None if folder is None else FeatureCache(folder, key, shape)
        return self

    def read(self, sentences: Sequence[Sentence], layout: Layout) -> NDArray[np.float16] | Pieces:
        """Return a frozen encoder's vectors (N, layers, size), 0 for roots."""
        # Of one to fine-tune: the pieces
        words = [sentence.forms for sentence in sentences]
        if self.fine_tune:
            pieces = self._splitter(words)
            return pieces._replace(word=layout.words[pieces.word])
        encoded = np.zeros((len(layout.flat), self.layers, self.size), dtype=np.float16)
        encoded[layout.words] = np.concatenate(self.features(words))
        return encoded

    def features(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.float16]]:
        """Return the words' vectors, (n, layers, size) each, rounded as on disk."""
        found = self._cache.get(sentences) if self._cache else [None] * len(sentences)
        todo = sorted(
            {tuple(words) for words, there in zip(sentences, found, strict=True) if there is None},
            key=len,
        )
        new: dict[tuple[str, ...], NDArray[np.float16]] = {}
        for group in _groups(todo):
            encoded = dict(zip(group, self._encode(group), strict=True))
            if self._cache:
                self._cache.put(encoded.items())
            new |= encoded
        return [
            new[tuple(words)] if there is None else there
            for words, there in zip(sentences, found, strict=True)
        ]

    def _encode(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.float16]]:
        ends = np.cumsum([len(words) for words in sentences])
        pieces = moved(self._splitter(sentences), self._device)
        with torch.inference_mode(), own_threads(1):
            vectors = encode(self.model, pieces, self.layers, int(ends[-1]))
            rounded = vectors.clamp(-_LARGEST, _LARGEST).half().cpu().numpy()
        return np.split(rounded, ends[:-1])


def encode(model: Any, pieces: Any, layers: int, rows: int) -> Tensor:
    """Return the mean vectors of the pieces of words."""
    # (rows, layers, D), zero for rows without pieces
    places = torch.arange(pieces.ids.shape[1], device=pieces.ids.device)
    mask = (places < pieces.lengths[:, None]).long()
    read = model(input_ids=pieces.ids, attention_mask=mask, output_hidden_states=True)
    states = read.hidden_states[-layers:]
    found = torch.stack([state.flatten(0, 1)[pieces.place] for state in states], dim=1)
    counts = torch.bincount(pieces.word, minlength=rows).clamp(min=1)
    sums = found.new_zeros(rows, *found.shape[1:]).index_add(0, pieces.word, found)
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
    return OneByOne(tokenizer.backend_tokenizer, tokenizer.unk_token_id, padding)


def _room(model: Any, tokenizer: Any) -> int:
    """Return how many pieces an encoder can read at once."""
    room: int = min(tokenizer.model_max_length, LONGEST_WINDOW)
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if isinstance(table, nn.Embedding):
        # In models like RoBERTa, places are counted from the number after that of the padding.
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
