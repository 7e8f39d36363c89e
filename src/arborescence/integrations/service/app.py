"""The web application: its routes and their answers."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from arborescence.drawing.svg import WIDTH, Marks, draw_svg
from arborescence.errors import OptionError
from arborescence.integrations.service import udpipe
from arborescence.integrations.service.admission import Admission, Limits, RefusedError
from arborescence.integrations.service.arborator import Arborator
from arborescence.integrations.service.inception import Inception
from arborescence.integrations.service.lanes import SHORT, WorkThreads, gathered, in_steps
from arborescence.integrations.service.request_content import form_of, json_of
from arborescence.integrations.service.training import Shared, Studio
from arborescence.parsers.shared.confidence import edge_probs
from arborescence.treebank.conllu import ranked
from arborescence.treebank.dictionaries import rank_of, ranked_trees
from arborescence.treebank.spaces import placed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping
    from pathlib import Path

    from starlette.requests import Request

    from arborescence.core.budget import Budget
    from arborescence.integrations.service.lanes import Steps, Work
    from arborescence.treebank.sentence import Sentence

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
    "width": int,
    "as_conllu": bool,
}
_HOW: Final = ("confidence", "projective", "root", "rules", "keep")
_MOST_TREES: Final = 100
_LONGEST_RANKED: Final = 300  # the most words of a sentence with k trees, which take O(n³)
_MOST_DRAWN: Final = 5000  # the most words of drawn trees
_WIDTHS: Final = range(200, 10_001)  # the widths of drawings
_DOUBTFUL: Final = 0.5  # drawn edges that are less probable have another colour
#: The largest request that is parsed together with others, as the sum of n² over its trees.
_LITTLE: Final = 40_000


@dataclass
class Question:
    """The content of a request: its sentences, the work, and the format of the answer."""

    #: The sentences, read one by one.
    sentences: Iterable[Sentence]
    #: Requests of the same kind can be parsed together.
    kind: Hashable
    #: The function that parses sentences.
    work: Work
    #: The function that writes the answer.
    written: Callable[[list[Any]], bytes]
    #: The number of trees of each sentence.
    times: int = 1
    #: Whether the trees are drawn.
    drawn: bool = False

    def check(self, sentences: list[Sentence]) -> None:
        """Refuse k-best lists of long sentences, and drawings of too many words."""
        if self.times > 1 and max(map(len, sentences), default=0) > _LONGEST_RANKED:
            raise RefusedError(413, f"kbest: sentences of at most {_LONGEST_RANKED} words")
        if self.drawn and sum(map(len, sentences)) * self.times > _MOST_DRAWN:
            raise RefusedError(413, f"svg: at most {_MOST_DRAWN:,} words are drawn")

    def is_little(self, sentences: list[Sentence]) -> bool:
        """Return whether the request is small enough to be parsed together with others."""
        effort = self.times * sum(len(sentence) ** 2 for sentence in sentences)
        return effort <= (_LITTLE // 10 if self.drawn else _LITTLE)

    def steps(self, sentences: Iterable[Sentence], budget: Budget) -> Steps:
        """Do the work in steps; return the sentences and the answer."""
        read = yield from gathered(sentences, budget)
        self.check(read)
        results = yield from in_steps(read, self.work, budget)
        budget.check()
        return read, self.written(results)


class Service:
    """The service: `app` is its ASGI application, with `admission` before its routes.

    Parameters
    ----------
    parsers
        Parsers by name; the first is the default.
    limits
        The limits of requests.
    folder
        The folder for models that requests train; without it, requests cannot train.
    hosts
        As for `Admission`.
    """

    def __init__(
        self,
        parsers: Mapping[str, Any],
        limits: Limits | None = None,
        folder: Path | None = None,
        hosts: Iterable[str] = (),
    ) -> None:
        self.parsers = dict(parsers)
        self._default = next(iter(self.parsers))
        self.admission = Admission(limits or Limits(), hosts)
        self.lanes = WorkThreads(self.admission.counts)
        self.studio = Studio(folder, self.admission.limits)
        shared = Shared(self.parsers, self.studio, self.admission, self.lanes)
        self.app = Starlette(
            routes=[  # each request tries them in this order
                Route("/parse", self._parse, methods=["POST"]),
                Route("/", self._page),
                Route("/models", self._models),
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/process", self._process, methods=["GET", "POST"]),
                Arborator(shared).routes(),
                *Inception(shared).routes(),
            ],
            middleware=[Middleware(self.admission.around)],
            lifespan=self._running,
            exception_handlers={HTTPException: _raised},
        )

    @property
    def busy(self) -> bool:
        """Whether a thread works."""
        return self.lanes.busy or self.studio.busy

    @asynccontextmanager
    async def _running(self, _: Any) -> AsyncIterator[None]:
        """Parse while the application runs."""
        worker = asyncio.create_task(self.lanes.run())
        try:
            yield
        finally:
            self.studio.end()
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    async def _page(self, _: Request) -> Response:
        """Answer ``/``."""
        return HTMLResponse(resources.files(__package__).joinpath("page.html").read_text("utf-8"))

    async def _models(self, _: Request) -> Response:
        """Answer ``/models`` in UDPipe's format."""
        components = {
            name: [
                component
                for component, model in (
                    ("tokenizer", parser.text),
                    ("tagger", parser.tagger),
                    ("parser", True),
                )
                if model
            ]
            for name, parser in self.parsers.items()
        }
        return JSONResponse({"models": components, "default_model": self._default})

    async def _health(self, _: Request) -> Response:
        """Answer ``/health``: whether requests can be answered."""
        well = self.lanes.alive and not self.admission.ending
        status = "ok" if well else "ending" if self.admission.ending else "a thread has ended"
        return JSONResponse({"status": status}, 200 if well else 503)

    async def _metrics(self, _: Request) -> Response:
        """Answer ``/metrics``: a number on each line."""
        numbers = self.admission.numbers().items()
        return PlainTextResponse("".join(f"arborescence_{name} {each}\n" for name, each in numbers))

    async def _process(self, request: Request) -> Response:
        """Answer ``/process`` in UDPipe's format."""
        query, body = request.scope["query_string"], await request.body()
        size = len(query) + len(body)
        return await self._answer(request, size, self._processed, query, request.headers, body)

    async def _parse(self, request: Request) -> Response:
        """Answer ``/parse``: trees as JSON."""
        body = await request.body()
        return await self._answer(request, len(body), self._parsed, body)

    async def _answer(
        self, request: Request, size: int, asking: Callable[..., Question], *arguments: Any
    ) -> Response:
        """Answer a request of `size` bytes: together with others, or in steps."""
        ticket = request.scope["ticket"]
        question = await self.lanes.aside(ticket, size, asking, *arguments)
        sentences = ticket.admitted(question.sentences, question.times)
        if size <= SHORT:
            sentences = list(sentences)
            question.check(sentences)
        if size <= SHORT and question.is_little(sentences):
            kind, work = question.kind, question.work
            results = await self.lanes.together(ticket, sentences, kind, work)
            answer = question.written(results)
        else:
            steps = question.steps(sentences, ticket.budget)
            sentences, answer = await self.lanes.do(ticket, steps)
        self.lanes.count(sentences)
        return Response(answer, media_type="application/json")

    def _processed(self, query: bytes, headers: Mapping[str, str], body: bytes) -> Question:
        content = form_of(query, headers, body)
        udpipe.check(content)
        name = content.get("model") or self._default
        parser = self._parser(name)
        if udpipe.wanted(content, "parser"):
            kind = "parse"
        else:
            kind = "tag" if udpipe.wanted(content, "tagger") else "read"

        def work(sentences: list[Sentence], budget: Budget) -> list[Sentence]:
            if kind == "read":
                return sentences
            do = parser.parse if kind == "parse" else parser.tag
            return list(do(sentences, budget=budget))

        def written(sentences: list[Sentence]) -> bytes:
            result = udpipe.written(sentences, content.get("output", "conllu"))
            return _json({"model": name, "acknowledgements": [], "result": result}).encode()

        return Question(udpipe.sentences_of(content, parser), (name, kind), work, written)

    def _parsed(self, body: bytes) -> Question:
        content = _options_of(body)
        name = content.get("model", self._default)
        parser = self._parser(name)
        options = {option: content[option] for option in _HOW if option in content}
        sure, svg = bool(options.get("confidence")), bool(content.get("svg"))
        conllu = bool(content.get("as_conllu"))
        k, width = content.get("kbest", 1), content.get("width", WIDTH)
        if not 1 <= k <= _MOST_TREES:
            raise OptionError(f"kbest must be 1 to {_MOST_TREES}, but is {k}")
        if width not in _WIDTHS:
            raise OptionError(f"width must be {_WIDTHS[0]} to {_WIDTHS[-1]:,}, but is {width}")

        def work(sentences: list[Sentence], budget: Budget) -> list[tuple[str, list[Sentence]]]:
            if k == 1:
                lists = [[tree] for tree in parser.parse(sentences, budget=budget, **options)]
            else:
                lists = [
                    ranked(each) for each in parser.kbest(sentences, k, budget=budget, **options)
                ]
            kept = svg or conllu
            described = [ranked_trees(each) if k > 1 else each[0].to_dict() for each in lists]
            return [
                (_json(each), trees if kept else [])
                for each, trees in zip(described, lists, strict=True)
            ]

        def written(results: list[tuple[str, list[Sentence]]]) -> bytes:
            kept = [tree for _, trees in results for tree in trees]
            more = f',"svg":{_json(_drawing(kept, sure, width))}' if svg and kept else ""
            more += f',"conllu":{_json("".join(map(str, kept)))}' if conllu else ""
            trees = ",".join(text for text, _ in results)
            return f'{{"model":{_json(name)},"sentences":[{trees}]{more}}}'.encode()

        kind = (name, k, svg or conllu, tuple(sorted(options.items())))
        return Question(placed(_sentences_of(content, parser)), kind, work, written, k, svg)

    def _parser(self, name: str) -> Any:
        if name not in self.parsers:
            raise RefusedError(404, f"there is no model {name!r}: {', '.join(self.parsers)}")
        return self.parsers[name]


def _drawing(trees: list[Sentence], sure: bool, width: int) -> str:
    """Draw trees, with ranks if there are several of a sentence, and with probabilities if `sure`.

    Edges that are doubtful are then in another colour.
    """
    titles = [rank_of(tree) for tree in trees]
    if not sure:
        return draw_svg(*trees, titles=titles, width=width)
    drawn, marks = [], []
    for tree in trees:
        shares = edge_probs(tree)
        labels = [f"{name} {share:.2f}" for name, share in zip(tree.deprels, shares, strict=True)]
        words = {"forms": tree.forms, "upos": tree.upos, "heads": tree.heads}
        drawn.append(SimpleNamespace(**words, deprels=labels))
        doubtful = [word for word, share in enumerate(shares, 1) if share < _DOUBTFUL]
        marks.append(Marks((), doubtful))
    return draw_svg(*drawn, titles=titles, marks=marks, width=width)


async def _raised(_: Request, error: Exception) -> Response:
    """Leave the answer to the admission."""
    raise error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _options_of(body: bytes) -> dict[str, Any]:
    """Read the options of ``/parse``; OptionError if one is unknown or of another type."""
    content = json_of(body)
    for name, value in content.items():
        kind = _OPTIONS.get(name)
        if kind is None:
            raise OptionError(f"there is no option {name!r}: {', '.join(_OPTIONS)}")
        if type(value) is not kind:
            raise OptionError(f"{name} must be of the type {kind.__name__}")
    rules = content.get("rules", "none")
    if rules not in ("ud", "none"):
        raise OptionError(f"rules must be 'ud' or 'none', but are {rules!r}")
    return content


def _sentences_of(content: dict[str, Any], parser: Any) -> Iterable[Sentence]:
    """Return the sentences of a request."""
    sources = [name for name in ("text", "conllu", "words") if name in content]
    if len(sources) != 1:
        raise OptionError("give one of text, conllu and words")
    if sources != ["words"]:
        form = {"tokenizer": ""} if sources == ["text"] else {}
        return udpipe.sentences_of({"data": content[sources[0]], **form}, parser)
    for number, words in enumerate(content["words"]):
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise OptionError(
                f"words must be a list of lists of words: sentence {number} is not such a list"
            )
        if not words:
            raise OptionError(f"sentence {number} must have at least one word")
    sentences: Iterable[Sentence] = parser.split(content["words"])
    return sentences
