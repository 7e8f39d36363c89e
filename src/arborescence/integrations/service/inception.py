"""INCEpTION's external recommenders: ``/NAME/predict`` and ``/NAME/train``.

A document comes as UIMA's CAS in XMI. Predictions are added to it: dependencies between tokens, or
tags for the layer of parts of speech. The dependencies that are there are kept, and teach a parser
for each annotator.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from arborescence.errors import OptionError
from arborescence.integrations.service.xmi import Document

if TYPE_CHECKING:
    from concurrent.futures import Future

    from starlette.requests import Request
    from starlette.responses import Response

    from arborescence.integrations.service.training import Shared

_EPOCHS: Final = 5


class Inception:
    """The answers: see `routes`."""

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
        body = await self._shared.body(request)
        found = await self._shared.aside(self._predicted, request.path_params["name"], body)
        return JSONResponse({"document": found})

    async def _train(self, request: Request) -> Response:
        body = await self._shared.body(request)
        begun = await self._shared.aside(self._begun, request.path_params["name"], body)
        return PlainTextResponse(status_code=204 if begun else 429)

    def _predicted(self, name: str, body: bytes) -> str:
        [document], user = _documents(body, "document")
        path = self._studio.folder and self._studio.path(f"inception {name}", user)
        own = path is not None and path.is_file()
        parser = self._studio.load(path) if own and path else self._parsers.get(name)
        if parser is not None:
            document.predict(parser)
        return str(document)

    def _begun(self, name: str, body: bytes) -> bool:
        """Begin to train; return whether nothing else is being trained for this user."""
        documents, user = _documents(body, "documents")
        path = self._studio.path(f"inception {name}", user)
        running = self._running.get(str(path))
        if running is not None and not running.done():
            return False
        given = [one for document in documents for _, one in document.sentences()]
        treebank = [one for one in given if (one.heads >= 0).any()]
        if treebank:
            base = self._parsers.get(name)
            info = {"project_name": f"inception {name}", "model_id": user}
            self._running[str(path)] = self._studio.train(path, treebank, base, _EPOCHS, info)
        return True


def _documents(body: bytes, field: str) -> tuple[list[Document], str]:
    """Read the documents of a request, and whose they are."""
    try:
        asked = json.loads(body)
        layer, feature = (asked["metadata"][key] for key in ("layer", "feature"))
        found = asked[field] if field == "documents" else [asked[field]]
        return [Document(one["xmi"], layer, feature) for one in found], str(found[0]["userId"])
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise OptionError(f"this is no request of INCEpTION: {error!r}") from None
