"""The interface of ArboratorGrew's parser (`arborator_parser_utils` of its backend), on a CPU.

Annotators train a parser on the trees of their project, continue its training, and parse; a parse
may keep given annotations. Requests start tasks, and ask for the status of tasks.
"""

from __future__ import annotations

import asyncio
import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from arborescence.core.checks import check_count
from arborescence.errors import OptionError
from arborescence.integrations.service.lanes import gathered, in_steps
from arborescence.integrations.service.request_content import field_of, json_of
from arborescence.integrations.service.training import check_json
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from starlette.requests import Request

    from arborescence.core.budget import Budget
    from arborescence.integrations.service.admission import Ticket
    from arborescence.integrations.service.lanes import Steps
    from arborescence.integrations.service.training import Shared
    from arborescence.treebank import Sentence

#: The project of the models that the service was started with.
_OWN: Final = "arborescence"
#: The value in `parsing_settings` for each column: NONE (the default) replaces given values,
#: EXISTING fills in missing values, ALL keeps the column unchanged.
_COLUMNS: Final = {
    "keep_upos": "upos",
    "keep_xpos": "xpos",
    "keep_feats": "feats",
    "keep_lemmas": "lemmas",
    "keep_heads": "heads",
    "keep_deprels": "deprels",
}
#: The most tasks that are kept, and the most characters of their results.
_MOST_TASKS: Final = 1000
_MOST_TEXT: Final = 50_000_000


class Arborator:
    """The routes of the interface, and their answers."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._parsers, self._studio = shared, shared.parsers, shared.studio
        self._tasks: dict[str, asyncio.Future[dict[str, Any]]] = {}

    def routes(self) -> Mount:
        """Return the routes of the interface."""
        answers: dict[tuple[str, str], Any] = {
            ("GET", "/list"): self._list,
            ("DELETE", "/list/{project}/{model}"): self._delete,
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

    def _answering(self, answer: Callable[[Request, dict[str, Any]], Any]) -> Any:
        async def endpoint(request: Request) -> JSONResponse:
            body = await request.body() if request.method == "POST" else b"{}"
            content = await self._shared.lanes.aside(
                request.scope["ticket"], len(body), json_of, body
            )
            data = await answer(request, content | request.path_params)
            return JSONResponse({"status": "success", "data": data})

        return endpoint

    async def _list(self, request: Request, _: dict[str, Any]) -> list[dict[str, Any]]:
        ticket = request.scope["ticket"]
        listed: list[dict[str, Any]] = await self._shared.lanes.aside(ticket, None, self._listed)
        return listed

    async def _delete(self, request: Request, content: dict[str, Any]) -> None:
        await self._shared.lanes.aside(request.scope["ticket"], None, self._deleted, content)

    def _listed(self) -> list[dict[str, Any]]:
        """Describe all models."""
        none = {"epoch": 0, "LAS_epoch": 0, "n_sentences_train": 0, "n_sentences_test": 0}
        own = [{"project_name": _OWN, "model_id": name} for name in self._parsers]
        models = [{"model_info": info, "scores_best": none} for info in own]
        folder = self._studio.folder
        files = sorted(folder.glob("*/*.json")) if folder else []
        return models + [json.loads(file.read_text("utf-8")) for file in files]

    def _deleted(self, content: dict[str, Any]) -> None:
        path = self._studio.path(content["project"], content["model"])
        for file in (path.with_suffix(".json"), path):
            file.unlink(missing_ok=True)

    async def _train(self, request: Request, content: dict[str, Any]) -> dict[str, Any]:
        """Begin to train a model."""
        check_json(request)
        project, samples = (
            field_of(content, "project_name", str),
            _samples(content, "train_samples"),
        )
        base, ticket = content.get("base_model"), request.scope["ticket"]
        epochs = check_count(content.get("max_epoch"), "max_epoch", 1)
        info = {"project_name": project, "model_id": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"}
        path = self._studio.path(project, info["model_id"])

        def begun() -> Steps:
            start = None if base is None else self._parser(base)
            yield
            sentences = (one for sample in samples.items() for one in _sentences(*sample))
            treebank = yield from gathered(ticket.admitted(sentences), ticket.budget)
            return self._studio.train(path, treebank, start, epochs, info)

        future = await self._shared.lanes.do(ticket, begun())
        return {"model_info": info, "train_task_id": self._task(asyncio.wrap_future(future))}

    async def _parse(self, request: Request, content: dict[str, Any]) -> dict[str, Any]:
        """Begin to parse samples."""
        info, samples = field_of(content, "model_info", dict), _samples(content, "to_parse_samples")
        settings = content.get("parsing_settings") or {}
        if not isinstance(settings, dict):
            raise OptionError("parsing_settings must be an object")
        ticket = request.scope["ticket"]

        def begun() -> Steps:
            parser, read = self._parser(info), {}
            yield
            for name, text in samples.items():
                sentences = ticket.admitted(_sentences(name, text))
                read[name] = yield from gathered(sentences, ticket.budget)
            return parser, read

        parser, read = await self._shared.lanes.do(ticket, begun())

        def parsed_samples() -> Steps:
            parsed = {}
            for name, sentences in read.items():
                parsed[name] = yield from _parsed(parser, sentences, settings, ticket)
            return {"model_info": info, "parsed_samples": parsed}

        async def task() -> dict[str, Any]:
            try:
                result: dict[str, Any] = await self._shared.lanes.do(ticket, parsed_samples())
                return result
            finally:
                self._shared.admission.release(ticket)

        ticket.kept = True
        return {"model_info": info, "parse_task_id": self._task(asyncio.ensure_future(task()))}

    def _task(self, future: asyncio.Future[dict[str, Any]]) -> str:
        """Return the name of a new task; if there are too many tasks, remove the oldest."""
        # Without this call, asyncio logs the exception of a task that nobody waits for.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        while len(self._tasks) >= _MOST_TASKS or sum(map(_size, self._tasks.values())) > _MOST_TEXT:
            del self._tasks[next(iter(self._tasks))]
        name = str(uuid4())
        self._tasks[name] = future
        return name

    async def _status(self, _: Request, content: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a task, if it is ready."""
        task = self._tasks.get(str(content.get("train_task_id") or content.get("parse_task_id")))
        if task is None:
            raise OptionError("there is no such task: the service may have been started again")
        return {"ready": True, **task.result()} if task.done() else {"ready": False}

    def _parser(self, info: Any) -> Any:
        """Return the model that a request names."""
        project, name = field_of(info, "project_name", str), field_of(info, "model_id", str)
        if project == _OWN and name in self._parsers:
            return self._parsers[name]
        path = self._studio.path(project, name)
        if not path.with_suffix(".json").is_file():  # it is written last
            raise OptionError(f"there is no model {name!r} of the project {project!r}, or not yet")
        return self._studio.load(path)


def _samples(content: dict[str, Any], name: str) -> dict[str, str]:
    """Return the samples of a request: texts by name."""
    samples: dict[str, str] = field_of(content, name, dict)
    for each in samples:
        field_of(samples, each, str)
    return samples


def _sentences(name: str, text: str) -> Iterator[Sentence]:
    """Read a sample; errors name the sample."""
    file = io.BytesIO(text.rstrip().encode() + b"\n\n")
    file.name = name
    return read(file) if text.strip() else iter(())


def _size(task: asyncio.Future[dict[str, Any]]) -> int:
    """Return the number of characters of a task's result."""
    if not task.done() or task.cancelled() or task.exception():
        return 0
    return sum(map(len, task.result().get("parsed_samples", {}).values()))


def _parsed(
    parser: Any, sentences: list[Sentence], settings: Mapping[str, Any], ticket: Ticket
) -> Steps:
    """Parse sentences by the settings; return the trees as CoNLL-U."""
    modes = {column: settings.get(name, "NONE") for name, column in _COLUMNS.items()}
    cleared: Any = {column: None for column, mode in modes.items() if mode == "NONE"}
    kept = [column for column, mode in modes.items() if mode == "ALL"]
    options = {} if {"heads", "deprels"} <= cleared.keys() else {"keep": "anyway"}

    def work(batch: list[Sentence], budget: Budget) -> list[str]:
        words = [sentence.replace(**cleared) for sentence in batch]
        trees = parser.parse(words, budget=budget, **options)
        return [
            str(tree.replace(**{column: getattr(sentence, column) for column in kept}))
            for sentence, tree in zip(batch, trees, strict=True)
        ]

    return "".join((yield from in_steps(sentences, work, ticket.budget)))
