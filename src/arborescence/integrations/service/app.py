"""The web application: routes, limits, and what comes in and goes out, in UDPipe's formats too."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from arborescence.drawing.svg import draw_svg
from arborescence.errors import ArborescenceError, OptionError
from arborescence.integrations.service.arborator import Arborator
from arborescence.integrations.service.batching import Batcher, FullError
from arborescence.integrations.service.inception import Inception
from arborescence.integrations.service.training import Shared, Studio
from arborescence.parsers.described import the_tree, the_trees
from arborescence.treebank.conllu import ranked, read
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response


#: UDPipe's formats.
INPUTS: Final = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS: Final = ("conllu", "horizontal", "vertical")
#: The options of ``/parse``, and their types.
_OPTIONS: Final = {
    "text": str,
    "conllu": str,
    "words": list,
    "model": str,
    "kbest": int,
    "confidence": bool,
    "projective": bool,
    "root": str,
    "rules": str,
    "keep": bool,
    "svg": bool,
}
_HOW: Final = ("confidence", "projective", "root", "rules", "keep")
_MOST_TREES: Final = 100
_SHORT: Final = 2000  # bytes


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    Attributes
    ----------
    size : int
        Bytes of a request; more is answered by 413.
    timeout : float
        Seconds; later ones are answered by 503.
    queue : int
        Requests that are there at a time; more are answered by 429.
    words : int
        Words of a sentence; more is answered by 413.
    """

    size: int = 2_000_000
    timeout: float = 60.0
    queue: int = 1000
    words: int = 1000


class Service:
    """The answers: see `application`."""

    def __init__(self, parsers: Mapping[str, Any], limits: Limits, folder: Path | None) -> None:
        self._parsers, self._limits = dict(parsers), limits
        self.studio = Studio(folder)
        self._default = next(iter(self._parsers))
        self._batcher: Batcher

    @asynccontextmanager
    async def running(self, _: Any) -> AsyncIterator[None]:
        """Parse while the application runs."""
        self._batcher = Batcher(self._limits.queue, self._limits.timeout)
        worker = asyncio.create_task(self._batcher.run())
        try:
            yield
        finally:
            self.studio.end()
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    async def aside(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in another thread, if there is room for one more request."""
        return await self._batcher.admitted(self._batcher.aside(function, *args))

    async def page(self, _: Request) -> Response:
        """Answer ``/``."""
        return HTMLResponse(resources.files(__package__).joinpath("page.html").read_text("utf-8"))

    async def models(self, _: Request) -> Response:
        """Answer ``/models``, as UDPipe does."""
        able = {
            name: [
                what
                for what, there in (
                    ("tokenizer", parser.text),
                    ("tagger", parser.tagger),
                    ("parser", True),
                )
                if there
            ]
            for name, parser in self._parsers.items()
        }
        return JSONResponse({"models": able, "default_model": self._default})

    async def metrics(self, _: Request) -> Response:
        """Answer ``/metrics``: a number on each line."""
        lines = (f"arborescence_{name} {value}\n" for name, value in self._counts().items())
        return PlainTextResponse("".join(lines))

    def _counts(self) -> dict[str, int]:
        return asdict(self._batcher.counts)

    async def process(self, request: Request) -> Response:
        """Answer ``/process``, as UDPipe does."""
        answer: Response = await self._batcher.admitted(self._processed(request))
        return answer

    async def parse(self, request: Request) -> Response:
        """Answer ``/parse``: trees as JSON."""
        answer: Response = await self._batcher.admitted(self._parsed(request))
        return answer

    async def _processed(self, request: Request) -> Response:
        asked: dict[str, str] = dict(request.query_params)
        if request.method == "POST":
            await self.body(request)
            async with request.form() as form:
                for name, value in form.items():
                    asked[name] = value if isinstance(value, str) else (await value.read()).decode()
        name = asked.get("model") or self._default
        parser = self._parser(name)
        sentences = await self._read(len(asked.get("data", "")), sentences_of, asked, parser)
        if "parser" in asked:
            sentences = await self._batcher.do(
                sentences, (name, "parse"), lambda some: list(parser.parse(some))
            )
        elif "tagger" in asked:
            sentences = await self._batcher.do(
                sentences, (name, "tag"), lambda some: list(parser.tag(some))
            )
        result = written(sentences, asked.get("output", "conllu"))
        return JSONResponse({"model": name, "acknowledgements": [], "result": result})

    async def _parsed(self, request: Request) -> Response:
        body = await self.body(request)
        asked = _options_of(body)
        name = asked.get("model", self._default)
        parser = self._parser(name)
        sentences = await self._read(len(body), _given, asked, parser)
        how = {option: asked[option] for option in _HOW if option in asked}
        k = asked.get("kbest", 1)
        if not 1 <= k <= _MOST_TREES:
            raise OptionError(f"kbest must be 1 to {_MOST_TREES}, and is {k}")

        def work(some: list[Sentence]) -> list[list[Sentence]]:
            if k == 1:
                return [[tree] for tree in parser.parse(some, **how)]
            return [ranked(trees) for trees in parser.kbest(some, k, **how)]

        kind = (name, k, tuple(sorted(how.items())))
        found = await self._batcher.do(sentences, kind, work)
        sure = bool(how.get("confidence"))
        described = [the_tree(one, sure) if k == 1 else the_trees(one, sure) for one in found]
        answer: dict[str, Any] = {"model": name, "sentences": described}
        if asked.get("svg") and found:
            drawn = [tree for trees in found for tree in trees]
            answer["svg"] = await self._batcher.aside(draw_svg, *drawn)
        return JSONResponse(answer)

    def _parser(self, name: str) -> Any:
        if name not in self._parsers:
            raise HTTPException(404, f"there is no model {name!r}: {', '.join(self._parsers)}")
        return self._parsers[name]

    async def _read(self, size: int, read: Any, *given: Any) -> list[Sentence]:
        """Return the sentences of a request; reading a short one is faster than another thread."""
        sentences: list[Sentence] = (
            read(*given) if size <= _SHORT else await self._batcher.aside(read, *given)
        )
        most = self._limits.words
        if any(len(sentence) > most for sentence in sentences):
            raise HTTPException(413, f"a sentence has more than {most:,} words")
        return sentences

    async def body(self, request: Request) -> bytes:
        """Read a request, as far as it may be."""
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self._limits.size:
                raise HTTPException(413, f"the request has more than {self._limits.size:,} bytes")
            parts.append(part)
        request._body = b"".join(parts)  # where Starlette keeps it, for its own use
        return request._body


def application(
    parsers: Mapping[str, Any], limits: Limits | None = None, folder: Path | None = None
) -> Starlette:
    """Return the ASGI application that parses by these parsers, the first by default.

    Parameters
    ----------
    parsers
        Parsers by name.
    limits
        What a request may ask for.
    folder
        Where models are kept that requests train; without it, none are.
    """
    service = Service(parsers, limits or Limits(), folder)
    shared = Shared(parsers, service.studio, service.body, service.aside)
    return Starlette(
        routes=[  # each request tries them in this order
            Route("/parse", service.parse, methods=["POST"]),
            Route("/", service.page),
            Route("/models", service.models),
            Route("/metrics", service.metrics),
            Route("/process", service.process, methods=["GET", "POST"]),
            Arborator(shared).routes(),
            *Inception(shared).routes(),
        ],
        lifespan=service.running,
        exception_handlers={
            HTTPException: lambda _, error: _refused(error.status_code, error.detail),
            ArborescenceError: lambda _, error: _refused(400, str(error)),
            UnicodeDecodeError: lambda *_: _refused(400, "the data is not UTF-8"),
            FullError: lambda *_: _refused(429, "too many requests wait: try again later"),
            TimeoutError: lambda *_: _refused(503, "it took too long: try again later"),
        },
    )


def _refused(status: int, why: str) -> Response:
    headers = {"Retry-After": "1"} if status in (429, 503) else None
    return JSONResponse({"error": why}, status, headers)


def _options_of(body: bytes) -> dict[str, Any]:
    """Read the options of ``/parse``; OptionError if one is unknown or of another type."""
    try:
        asked = json.loads(body)
    except ValueError as error:
        raise OptionError(f"the request is not JSON: {error}") from None
    if not isinstance(asked, dict):
        raise OptionError("the request must be a JSON object")
    for name, value in asked.items():
        kind = _OPTIONS.get(name)
        if kind is None:
            raise OptionError(f"there is no option {name!r}: {', '.join(_OPTIONS)}")
        if type(value) is not kind:
            raise OptionError(f"{name} must be of the type {kind.__name__}")
    rules = asked.get("rules", "none")
    if rules not in ("ud", "none"):
        raise OptionError(f"rules must be 'ud' or 'none', and are {rules!r}")
    return asked


def _given(asked: dict[str, Any], parser: Any) -> list[Sentence]:
    """Return the sentences of a request."""
    given = [name for name in ("text", "conllu", "words") if name in asked]
    if len(given) != 1:
        raise OptionError("give one of text, conllu and words")
    if given == ["words"]:
        return list(parser.split(asked["words"]))
    form = {"tokenizer": ""} if given == ["text"] else {}
    return sentences_of({"data": asked[given[0]], **form}, parser)


def sentences_of(asked: Mapping[str, str], parser: Any) -> list[Sentence]:
    """Read the sentences of a request; with ``tokenizer`` the data is raw text.

    Raises
    ------
    OptionError, TreebankError, ModelError
        If there is no data, its format is not known or not kept, or the model cannot cut text.
    """
    data = asked.get("data")
    if data is None:
        raise OptionError("the parameter data is missing")
    form = "generic_tokenizer" if "tokenizer" in asked else asked.get("input", "conllu")
    form = form.partition("=")[0]
    if form == "generic_tokenizer":
        return list(parser.split(data)) if data.strip() else []
    if form == "conllu":
        return list(read(io.BytesIO(f"{data.rstrip()}\n\n".encode()))) if data.strip() else []
    if form == "horizontal":
        lines = [line.split() for line in data.splitlines()]
    elif form == "vertical":
        lines = [block.split() for block in data.replace("\r", "").split("\n\n")]
    else:
        raise OptionError(f"input must be one of {', '.join(INPUTS)}, and is {form!r}")
    return [Sentence.from_words(words) for words in lines if words]


def written(sentences: list[Sentence], form: str) -> str:
    """Return sentences as text in a format."""
    if form == "conllu":
        return "".join(
            text if text.endswith("\n\n") else f"{text}\n" for text in map(str, sentences)
        )
    if form == "horizontal":
        return "".join(" ".join(sentence.forms) + "\n" for sentence in sentences)
    if form == "vertical":
        return "".join("\n".join(sentence.forms) + "\n\n" for sentence in sentences)
    raise OptionError(f"output must be one of {', '.join(OUTPUTS)}, and is {form!r}")
