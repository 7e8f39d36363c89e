"""Models that are trained while the service runs: one after the other, kept in a folder."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from arborescence.errors import OptionError
from arborescence.parsers import registry
from arborescence.parsers.recipe import train
from arborescence.system.files import writing
from arborescence.treebank.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from starlette.requests import Request

    from arborescence.treebank import Sentence


class Shared(NamedTuple):
    """What the interfaces of annotation tools use."""

    parsers: Mapping[str, Any]  # those that the service was started with
    studio: Studio
    body: Callable[[Request], Awaitable[bytes]]  # reads a request, as far as it may be
    aside: Callable[..., Awaitable[Any]]  # calls a function in another thread


class Studio:
    """Trains and loads the models of a folder; without one, it refuses."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._pool = ThreadPoolExecutor(1, "training")
        self._ended = False
        self._load = lru_cache(4)(lambda path, _: registry.load(path))

    def end(self) -> None:
        """Give up what is being trained."""
        self._ended = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def path(self, group: str, name: str) -> Path:
        """Return the file of a model; no name leads out of the folder."""
        if self.folder is None:
            raise OptionError("no models are trained here: start the service with --train-into")
        safe = [quote(part, safe="").replace(".", "%2E") for part in (group, name)]
        if not all(safe):
            raise OptionError("a project and a model must have names")
        return self.folder / safe[0] / f"{safe[1]}.model"

    def load(self, path: Path) -> Any:
        """Load a model, once."""
        return self._load(path, path.stat().st_mtime_ns)

    def train(
        self, path: Path, treebank: list[Sentence], start: Any, epochs: int, info: dict[str, str]
    ) -> Future[dict[str, Any]]:
        """Begin to train a linear parser, or to go on from one; the result says how good it is."""
        return self._pool.submit(self._trained, path, treebank, start, epochs, info)

    def _trained(
        self, path: Path, treebank: list[Sentence], start: Any, epochs: int, info: dict[str, str]
    ) -> dict[str, Any]:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = [number for number, one in enumerate(treebank) if (one.heads >= 0).all()]
        held = set(whole[9::10])  # a tenth chooses the epoch
        dev = [treebank[number] for number in sorted(held)]
        rest = [one for number, one in enumerate(treebank) if number not in held]
        how: Any = {"start": start, "output": path, "epochs": epochs, "progress": self._go_on}
        if start is None:
            how |= {"kind": "linear", "tagger": any(set(one.upos) - {"_"} for one in rest)}
        parser = train(rest, dev, **how)
        las = evaluate(dev, parser.parse(dev)).las.f1 if dev else 0.0
        sizes = {"n_sentences_train": len(rest), "n_sentences_test": len(dev)}
        known = {
            "model_info": info,
            "scores_best": {"epoch": epochs, "LAS_epoch": round(las, 4), **sizes},
        }
        with writing(path.with_suffix(".json")) as file:
            file.write(json.dumps(known).encode())
        return known

    def _go_on(self, *_: Any) -> None:
        if self._ended:
            raise OptionError("the service has ended")
