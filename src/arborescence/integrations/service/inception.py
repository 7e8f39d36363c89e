"""INCEpTION's external recommenders: ``/NAME/predict`` and ``/NAME/train``.

A document is UIMA's CAS in XMI. The service adds predictions to the document: dependencies between
tokens, or tags for the layer of parts of speech. It keeps given dependencies; a parser for each
annotator learns from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from arborescence.errors import OptionError
from arborescence.integrations.service.admission import RefusedError
from arborescence.integrations.service.lanes import gathered
from arborescence.integrations.service.request_content import field_of, json_of
from arborescence.integrations.service.training import check_json
from arborescence.integrations.service.xmi import Document

if TYPE_CHECKING:
    from concurrent.futures import Future

    from starlette.requests import Request
    from starlette.responses import Response

    from arborescence.integrations.service.admission import Ticket
    from arborescence.integrations.service.lanes import Steps
    from arborescence.integrations.service.training import Shared

_EPOCHS: Final = 5


class Inception:
    """The routes of the interface, and their answers."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._parsers, self._studio = shared, shared.parsers, shared.studio
        self._running: dict[str, Future[Any]] = {}

    def routes(self) -> list[Route]:
        """Return the routes of the interface."""
        return [
            Route("/{name}/predict", self._predict, methods=["POST"]),
            Route("/{name}/train", self._train, methods=["POST"]),
        ]

    async def _predict(self, request: Request) -> Response:
        body, ticket = await request.body(), request.scope["ticket"]
        steps = self._predicted(request.path_params["name"], body, ticket)
        return JSONResponse({"document": await self._shared.lanes.do(ticket, steps)})

    async def _train(self, request: Request) -> Response:
        check_json(request)
        body, ticket = await request.body(), request.scope["ticket"]
        steps = self._begun(request.path_params["name"], body, ticket)
        await self._shared.lanes.do(ticket, steps)
        return PlainTextResponse(status_code=204)

    def _predicted(self, name: str, body: bytes, ticket: Ticket) -> Steps:
        [document], user = _documents(body, "document")
        path = self._studio.folder and self._studio.path(f"inception {name}", user)
        own = path is not None and path.is_file()
        parser = self._studio.load(path) if own and path else self._parsers.get(name)
        yield
        if parser is not None:
            yield from document.predict(parser, ticket)
        return str(document)

    def _begun(self, name: str, body: bytes, ticket: Ticket) -> Steps:
        """Begin a training, unless a training for this user runs."""
        documents, user = _documents(body, "documents")
        path = self._studio.path(f"inception {name}", user)
        running = self._running.get(str(path))
        if running is not None and not running.done():
            raise RefusedError(429, "a model of this user is being trained: try again later")
        sentences = (one for document in documents for _, one in document.sentences())
        treebank = yield from gathered(ticket.admitted(sentences), ticket.budget)
        treebank = [one for one in treebank if (one.heads >= 0).any()]
        if treebank:
            base = self._parsers.get(name)
            info = {"project_name": f"inception {name}", "model_id": user}
            self._running = {key: each for key, each in self._running.items() if not each.done()}
            self._running[str(path)] = self._studio.train(path, treebank, base, _EPOCHS, info)


def _documents(body: bytes, field: str) -> tuple[list[Document], str]:
    """Read the documents of a request, and the name of their user."""
    content = json_of(body)
    metadata = field_of(content, "metadata", dict)
    layer, feature = (field_of(metadata, key, str) for key in ("layer", "feature"))
    texts = field_of(content, field, list) if field == "documents" else [content.get(field)]
    if not texts:
        raise OptionError("there are no documents")
    documents = [Document(field_of(one, "xmi", str), layer, feature) for one in texts]
    return documents, field_of(texts[0], "userId", str)
