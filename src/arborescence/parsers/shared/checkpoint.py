"""Checkpoints: the state of a training run after an epoch, from which it continues."""

from __future__ import annotations

import hashlib
import json
import reprlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.core.errors import ModelError
from arborescence.parsers.shared import model_file, scheme
from arborescence.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.options import Record
    from arborescence.treebank import Sentence

    History = list[dict[str, float]]

#: The scores on dev after each epoch.
HISTORY: Final = scheme.list_of(
    scheme.Field(
        "the scores of an epoch, with LAS, or none",
        lambda value: (
            isinstance(value, dict)
            and all(isinstance(score, float) for score in value.values())
            and (not value or "las" in value)
        ),
    ),
    1,
    10**6,
)


class Checkpoint(NamedTuple):
    """What the checkpoints of one training run have in common.

    Attributes
    ----------
    kind : str
        The kind of parser that is trained, as named in model files.
    identity : str
        See `identity`.
    """

    kind: str
    identity: str

    def store(
        self,
        path: str | os.PathLike[str],
        header: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
    ) -> None:
        """Write a checkpoint, atomically: an interruption leaves the last one as it is."""
        ours = {"kind": self._name, "identity": self.identity}
        model_file.save(path, {**ours, **header}, arrays, compress=False)

    def restore(
        self,
        path: str | os.PathLike[str],
        fields: Mapping[str, scheme.Field],
        wanted: Mapping[str, scheme.Array],
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read a checkpoint of this training run; return the fields of its header and its arrays.

        Raises
        ------
        ModelError
            If it belongs to other data or settings, or cannot be read.
        """
        header, arrays = model_file.load(path)
        kind = header.get("kind")
        if kind != self._name:
            raise ModelError(
                f"{path}: not a {self._name}, but of the kind {reprlib.repr(kind)}; give the "
                "checkpoint another name"
            )
        if header.get("identity") != self.identity:
            raise ModelError(
                f"{path}: the checkpoint is of another treebank, other settings or another "
                "version of arborescence; remove it to start anew"
            )
        try:
            return scheme.fields_of(header, fields), scheme.arrays_of(arrays, wanted, {})
        except ModelError as error:
            raise ModelError(f"{path}: the checkpoint is damaged ({error})") from error

    @property
    def _name(self) -> str:
        return f"checkpoint of a {self.kind} parser"


def identity(settings: Record, *treebanks: Sequence[Sentence]) -> str:
    """Hash everything that determines the result of training: data, settings, version (SHA-256)."""
    digest = hashlib.sha256(json.dumps(settings.stored()).encode())
    sizes = "".join(f"{len(treebank)} " for treebank in treebanks)
    digest.update(f"{__version__} {sizes}".encode())
    for treebank in treebanks:
        for sentence in treebank:
            digest.update(sentence.raw)
    return digest.hexdigest()


def best_epoch(history: History) -> int:
    """Return the number (from 1) of the epoch with the best LAS on dev; without dev, of the last.

    >>> best_epoch([{"las": 70.0}, {"las": 80.0}, {"las": 80.0}]), best_epoch([{}, {}])
    (2, 2)
    """
    las = [scores["las"] for scores in history if scores]
    return las.index(max(las)) + 1 if las else len(history)


def shown(scores: Mapping[str, float]) -> str:
    """Return scores as text.

    >>> shown({"las": 81.234, "las_of_words": 79.0})
    'LAS 81.23, LAS of words 79.00'
    """
    named = ((*name.split("_"), f"{score:.2f}") for name, score in scores.items())
    return ", ".join(" ".join((name[0].upper(), *name[1:])) for name in named)
