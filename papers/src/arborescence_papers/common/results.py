"""A cache of results, so that an interrupted experiment can continue: one JSON file per result."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from arborescence.system.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Result = TypeVar("Result")


class Results:
    """A folder of results: one JSON file per result, with its settings.

    Parameters
    ----------
    folder
        The folder; it is created if missing.

    Raises
    ------
    OSError
        If the folder cannot be created or written to. This is checked at once, not after hours of
        work.

    Examples
    --------
    >>> from pathlib import Path
    >>> results = Results(Path(tempfile.mkdtemp()))
    >>> results.once("English/one", {"epochs": 2}, lambda: [0.5, 1.0])
    [0.5, 1.0]
    >>> results.once("English/one", {"epochs": 2}, lambda: print("never called"))
    [0.5, 1.0]
    >>> results.once("English/one", {"epochs": 3}, lambda: [0.75])
    [0.75]
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        self._folder = folder

    def once(self, name: str, settings: dict[str, Any], make: Callable[[], Result]) -> Result:
        """Return the saved result with these settings, or compute and save it.

        Parameters
        ----------
        name
            The name of its file, without ``.json``; slashes separate folders.
        settings
            The settings that the result depends on. A result with other settings is replaced.
        make
            Computes the result, which must be a JSON value. Its file is written atomically.
        """
        file = self._folder / f"{name}.json"
        try:
            kept = json.loads(file.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):  # missing or damaged file
            kept = None
        if isinstance(kept, dict) and kept.get("settings") == settings and "result" in kept:
            return cast("Result", kept["result"])
        result = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(json.dumps({"settings": settings, "result": result}).encode())
        return result
