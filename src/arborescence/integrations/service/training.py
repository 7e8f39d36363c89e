"""Models that the service trains while it runs, one after the other, and keeps in a folder."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from functools import lru_cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from arborescence.errors import OptionError
from arborescence.integrations.service.admission import RefusedError
from arborescence.parsers import registry
from arborescence.parsers.recipe import train
from arborescence.system.files import writing
from arborescence.treebank.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from starlette.requests import Request

    from arborescence.integrations.service.admission import Admission, Limits
    from arborescence.integrations.service.lanes import WorkThreads
    from arborescence.treebank import Sentence

_LONGEST: Final = 200  # bytes of a file's name; file systems take 255


class Shared(NamedTuple):
    """The objects that the interfaces of annotation tools share."""

    #: The parsers that the service was started with.
    parsers: Mapping[str, Any]
    #: The trained models.
    studio: Studio
    #: The admission of requests.
    admission: Admission
    #: The threads that do the work.
    lanes: WorkThreads


class Studio:
    """Trains and loads the models of a folder; without a folder, it refuses to train."""

    def __init__(self, folder: Path | None, limits: Limits) -> None:
        self.folder, self._limits = folder, limits
        self._load = lru_cache(4)(lambda path, _: registry.load(path))
        self._ended = False
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._open = 0  # trainings that wait, and the current training
        self._lock = threading.Lock()
        # The end of the process does not wait for this thread.
        self._thread = threading.Thread(target=self._run, name="training", daemon=True)

    def end(self) -> None:
        """Stop the current training."""
        self._ended = True
        self._waiting.put(lambda: None)

    @property
    def busy(self) -> bool:
        """Whether a model is being trained."""
        return self._open > 0

    def path(self, group: str, name: str) -> Path:
        """Return the path of a model; it is within the folder, whatever the name is."""
        if self.folder is None:
            raise OptionError("no models are trained here: start the service with --train-into")
        safe = [quote(part, safe="").replace(".", "%2E") for part in (group, name)]
        if not all(safe):
            raise OptionError("a project, a user and a model must have names")
        if max(map(len, safe)) > _LONGEST:
            raise OptionError(f"a name has more than {_LONGEST} bytes as a file name: {name!r}")
        return self.folder / safe[0] / f"{safe[1]}.model"

    def load(self, path: Path) -> Any:
        """Load a model, once."""
        return self._load(path, path.stat().st_mtime_ns)

    def _check_room(self, path: Path, epochs: int) -> None:
        """Refuse a training that is too long, or that the limits leave no room for."""
        limits, folder = self._limits, self.folder
        if epochs > limits.epochs:
            raise RefusedError(400, f"a model is trained for {limits.epochs} epochs at most")
        sizes = {file: file.stat().st_size for file in folder.glob("*/*")} if folder else {}
        models = [file for file in sizes if file.suffix == ".model" and file != path]
        if len(models) + self._open >= limits.models:
            raise RefusedError(507, f"there are {limits.models} models already: delete some")
        if sum(sizes.values()) > limits.disk:
            raise RefusedError(507, f"the models have more than {limits.disk:,} bytes: delete some")
        if self._open > limits.trainings:
            raise RefusedError(429, "too many models wait for their training: try again later")

    def train(
        self, path: Path, treebank: list[Sentence], start: Any, epochs: int, info: dict[str, str]
    ) -> Future[dict[str, Any]]:
        """Begin or continue the training of a linear parser; the result is the model's accuracy."""
        done: Future[dict[str, Any]] = Future()
        with self._lock:
            self._check_room(path, epochs)
            self._open += 1
            if self._thread.ident is None:
                self._thread.start()
        work = partial(self._trained, path, treebank, start, epochs, info)
        self._waiting.put(partial(self._settle, done, work))
        return done

    def _run(self) -> None:
        while not self._ended:
            self._waiting.get()()

    def _settle(self, done: Future[dict[str, Any]], work: Callable[[], dict[str, Any]]) -> None:
        try:
            if done.set_running_or_notify_cancel():
                done.set_result(work())
        except BaseException as error:
            done.set_exception(error)
        finally:
            with self._lock:
                self._open -= 1

    def _trained(
        self, path: Path, treebank: list[Sentence], start: Any, epochs: int, info: dict[str, str]
    ) -> dict[str, Any]:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = [number for number, one in enumerate(treebank) if (one.heads >= 0).all()]
        held = set(whole[9::10])  # a tenth chooses the epoch
        dev = [treebank[number] for number in sorted(held)]
        rest = [one for number, one in enumerate(treebank) if number not in held]
        options: Any = {"start": start, "output": path, "epochs": epochs, "progress": self._go_on}
        if start is None:
            options |= {"kind": "linear", "tagger": any(set(one.upos) - {"_"} for one in rest)}
        parser = train(rest, dev, **options)
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


def check_json(request: Request) -> None:
    """Refuse a request for a training unless its type is JSON, which no foreign page can send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "a request that trains must have the Content-Type application/json")
