"""Scores that were made elsewhere: NumPy's files in, head vectors out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from arborescence.errors import ScoresError
from arborescence.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray


def load_scores(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read scores, and lengths if there are any, from a ``.npy`` or ``.npz`` file."""
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return content, None
            if "scores" in content:
                return content["scores"], content.get("lengths")
            found = ", ".join(content) or "none"
        raise ScoresError(f"{path}: no array named 'scores' (found: {found})")
    except ScoresError:
        raise
    except (ValueError, EOFError, BadZipFile) as error:
        raise ScoresError(f"{path}: not a .npy or .npz file of numbers ({error})") from error


def lines(heads: NDArray[np.int64]) -> Iterator[str]:
    """Write the heads of each sentence's words on a line, without root and padding."""
    for row in np.atleast_2d(heads):
        yield " ".join(str(head) for head in row[row >= 0].tolist())


def json_lines(heads: NDArray[np.int64], weights: Any) -> Iterator[str]:
    """Write each tree as a JSON object on a line."""
    for row, weight in zip(np.atleast_2d(heads), np.atleast_1d(weights), strict=True):
        yield json.dumps({"heads": row[row >= 0].tolist(), "weight": float(weight)})


def save_heads(heads: NDArray[np.int64], path: Path) -> None:
    """Write head vectors as a ``.npy`` file, whole or not at all."""
    with replacing(path) as file:
        np.save(file, heads, allow_pickle=False)
