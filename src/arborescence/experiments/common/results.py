"""Results that outlive an interruption: a file for each, with the settings that it comes from."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from arborescence.core.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Result = TypeVar("Result")


class Results:
    """A folder of results, each of them a JSON file.

    Parameters
    ----------
    folder
        Where they are; it is made if it is missing.

    Raises
    ------
    OSError
        If the folder cannot be made, or nothing can be written there: now, and not after hours of
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
        """Return a result that was kept with these settings, or make it and keep it.

        Parameters
        ----------
        name
            That of its file, without ``.json``; slashes stand for folders.
        settings
            What the result depends on. A result with other settings is replaced.
        make
            Makes the result, of what JSON can express. Its file appears whole or not at all.
        """
        file = self._folder / f"{name}.json"
        try:
            kept = json.loads(file.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):  # damaged by someone else
            kept = None
        if isinstance(kept, dict) and kept.get("settings") == settings and "result" in kept:
            return cast("Result", kept["result"])
        result = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(json.dumps({"settings": settings, "result": result}).encode())
        return result
