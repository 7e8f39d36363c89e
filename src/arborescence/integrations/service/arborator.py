"""The interface of ArboratorGrew's parser (`arborator_parser_utils` of its backend), on a CPU.

Annotators there train a parser on the trees of their project, go on from one that they have, and
parse; what is given may be kept. Requests start tasks, and ask how they are.
"""

from __future__ import annotations

import io
import json
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from arborescence.core.checks import check_count
from arborescence.errors import OptionError
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from arborescence.integrations.service.training import Shared
    from arborescence.treebank import Sentence

#: The project of the models that the service was started with.
_OWN: Final = "arborescence"
#: What `parsing_settings` has for each column: NONE (the default) replaces what is there, EXISTING
#: fills in what is missing, ALL leaves the column as it is.
_COLUMNS: Final = {
    "keep_upos": "upos",
    "keep_xpos": "xpos",
    "keep_feats": "feats",
    "keep_lemmas": "lemmas",
    "keep_heads": "heads",
    "keep_deprels": "deprels",
}
_MOST_TASKS: Final = 1000


class Arborator:
    """The answers: see `routes`."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._parsers, self._studio = shared, shared.parsers, shared.studio
        self._tasks: dict[str, Future[dict[str, Any]]] = {}
        self._pool = ThreadPoolExecutor(1, "arborator")

    def routes(self) -> Mount:
        """Return the routes of the interface."""
        answers = {
            ("GET", "/list"): self._listed,
            ("DELETE", "/list/{project}/{model}"): self._deleted,
            ("POST", "/train/start"): self._train,
            ("POST", "/train/status"): self._status,
            ("POST", "/parse/start"): self._parse,
            ("POST", "/parse/status"): self._status,
        }
        return Mount(
            "/parser/models",
            routes=[
                Route(path, self._answering(answer), methods=[method])
                for (method, path), answer in answers.items()
            ],
        )

    def _answering(self, answer: Callable[[dict[str, Any]], Any]) -> Any:
        """Return an endpoint, whose failures are answers, too."""

        async def endpoint(request: Request) -> JSONResponse:
            body = await self._shared.body(request) if request.method == "POST" else b"{}"
            try:
                asked = json.loads(body) | request.path_params
                data = await self._shared.aside(answer, asked)
            except Exception as error:  # of a task, too
                return JSONResponse({"status": "failure", "error": str(error)})
            return JSONResponse({"status": "success", "data": data})

        return endpoint

    def _listed(self, _: dict[str, Any]) -> list[dict[str, Any]]:
        """Describe all models."""
        none = {"epoch": 0, "LAS_epoch": 0, "n_sentences_train": 0, "n_sentences_test": 0}
        own = [{"project_name": _OWN, "model_id": name} for name in self._parsers]
        found = [{"model_info": info, "scores_best": none} for info in own]
        folder = self._studio.folder
        files = sorted(folder.glob("*/*.json")) if folder else []
        return found + [json.loads(file.read_text("utf-8")) for file in files]

    def _deleted(self, asked: dict[str, Any]) -> None:
        path = self._studio.path(asked["project"], asked["model"])
        for file in (path.with_suffix(".json"), path):
            file.unlink(missing_ok=True)

    def _train(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Begin to train a model."""
        project, samples = _of(asked, "project_name", str), _of(asked, "train_samples", dict)
        base = asked.get("base_model")
        start = None if base is None else self._parser(base)
        epochs = check_count(asked.get("max_epoch"), "max_epoch", 1, 1000)
        treebank = [one for name, text in samples.items() for one in _sentences(name, text)]
        info = {"project_name": project, "model_id": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"}
        path = self._studio.path(project, info["model_id"])
        task = self._studio.train(path, treebank, start, epochs, info)
        return {"model_info": info, "train_task_id": self._task(task)}

    def _parse(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Begin to parse samples."""
        info, samples = _of(asked, "model_info", dict), _of(asked, "to_parse_samples", dict)
        settings, parser = asked.get("parsing_settings") or {}, self._parser(info)
        given = {name: _sentences(name, text) for name, text in samples.items()}

        def work() -> dict[str, Any]:
            found = {name: _parsed(parser, some, settings) for name, some in given.items()}
            return {"model_info": info, "parsed_samples": found}

        return {"model_info": info, "parse_task_id": self._task(self._pool.submit(work))}

    def _task(self, future: Future[dict[str, Any]]) -> str:
        """Return the name of a new task; the oldest one of too many is forgotten."""
        while len(self._tasks) >= _MOST_TASKS:
            del self._tasks[next(iter(self._tasks))]
        name = str(uuid4())
        self._tasks[name] = future
        return name

    def _status(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a task, if it is ready."""
        task = self._tasks.get(str(asked.get("train_task_id") or asked.get("parse_task_id")))
        if task is None:
            raise OptionError("there is no such task: the service may have been started again")
        return {"ready": True, **task.result()} if task.done() else {"ready": False}

    def _parser(self, info: Any) -> Any:
        """Return the model that was named."""
        project, name = _of(info, "project_name", str), _of(info, "model_id", str)
        if project == _OWN and name in self._parsers:
            return self._parsers[name]
        path = self._studio.path(project, name)
        if not path.with_suffix(".json").is_file():  # it is written last
            raise OptionError(f"there is no model {name!r} of the project {project!r}, or not yet")
        return self._studio.load(path)


def _of(asked: Any, name: str, kind: type) -> Any:
    """Return a field of a request; OptionError if it is missing or of another type."""
    if not isinstance(asked, dict) or not isinstance(asked.get(name), kind):
        raise OptionError(f"{name} must be of the type {kind.__name__}")
    return asked[name]


def _sentences(name: str, text: Any) -> list[Sentence]:
    """Read a sample; errors name it."""
    file = io.BytesIO(str(text).rstrip().encode() + b"\n\n")
    file.name = name
    return list(read(file)) if str(text).strip() else []


def _parsed(parser: Any, given: list[Sentence], settings: Mapping[str, str]) -> str:
    """Parse sentences as the settings say; return them as CoNLL-U."""
    how = {column: settings.get(name, "NONE") for name, column in _COLUMNS.items()}
    cleared: Any = {column: None for column, value in how.items() if value == "NONE"}
    kept = [column for column, value in how.items() if value == "ALL"]
    asked = {} if {"heads", "deprels"} <= cleared.keys() else {"keep": "anyway"}
    parsed = parser.parse([one.replace(**cleared) for one in given], **asked)
    trees = (
        tree.replace(**{column: getattr(one, column) for column in kept})
        for one, tree in zip(given, parsed, strict=True)
    )
    return "".join(map(str, trees))
