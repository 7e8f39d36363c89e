"""The vectors of encoded sentences on disk: in SQLite, for several processes and interruptions."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arborescence.errors import ModelError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Features = NDArray[np.float16]


class FeatureCache:
    """The vectors of sentences, by their words; `key` names everything else they depend on.

    Any method may raise ModelError.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str, shape: tuple[int, ...]) -> None:
        self.path = Path(folder) / f"{key}.sqlite"
        self._shape = shape
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"{folder}: {error.strerror}") from error
        with self._opened() as file:
            file.execute("CREATE TABLE IF NOT EXISTS features (words BLOB PRIMARY KEY, rows BLOB)")

    def get(self, sentences: Iterable[Sequence[str]]) -> list[Features | None]:
        """Return the vectors of each sentence, (n, *shape) float16, or None if not kept."""
        with self._opened() as file:
            return [self._kept(file, words) for words in sentences]

    def put(self, encoded: Iterable[tuple[Sequence[str], Features]]) -> None:
        """Keep the vectors of all sentences; after an error, of no sentence."""
        with self._opened() as file:
            file.executemany(
                "INSERT OR REPLACE INTO features VALUES (?, ?)",
                ((_key(words), rows.astype("<f2").tobytes()) for words, rows in encoded),
            )

    def _kept(self, file: sqlite3.Connection, words: Sequence[str]) -> Features | None:
        row = file.execute("SELECT rows FROM features WHERE words = ?", [_key(words)]).fetchone()
        if row is None:
            return None
        shape = len(words), *self._shape
        if not isinstance(row[0], bytes) or len(row[0]) != 2 * np.prod(shape):
            raise ModelError(f"{self.path}: the cache is damaged: remove this file")
        return np.frombuffer(row[0], dtype="<f2").reshape(shape)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file: SQLite needs a connection for each thread. Write all changes or none."""
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as file, file:
                yield file
        except sqlite3.OperationalError as error:
            raise ModelError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ModelError(
                f"{self.path}: the cache is damaged ({error}): remove this file"
            ) from error


def remove(folder: str | os.PathLike[str]) -> None:
    """Remove the caches in a folder if there are any, and the folder if nothing else is in it."""
    for path in Path(folder).glob("*.sqlite"):
        path.unlink()
    with suppress(OSError):
        Path(folder).rmdir()


def _key(words: Sequence[str]) -> bytes:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=16).digest()
