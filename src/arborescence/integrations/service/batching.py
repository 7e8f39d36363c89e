"""Requests that come at the same time are parsed together, in one thread; the others wait."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import ArborescenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable

    from arborescence.treebank import Sentence

    #: Answers the sentences of several requests, one result for each sentence.
    Work = Callable[[list[Sentence]], list[Any]]

#: So many words are parsed together.
_WORDS: Final = 4096


class FullError(Exception):
    """There are too many requests."""


@dataclass
class _Job:
    sentences: list[Sentence]
    kind: Hashable  # jobs of one kind can be done together
    work: Work
    done: asyncio.Future[list[Any]] = field(default_factory=asyncio.Future)


@dataclass
class Counts:
    """What was done so far."""

    requests: int = 0
    sentences: int = 0
    words: int = 0
    batches: int = 0
    refused: int = 0
    late: int = 0


class Batcher:
    """Takes work from requests, and does what waits together.

    Parameters
    ----------
    queue
        How many requests may be there at a time; more raise `FullError`.
    timeout
        After so many seconds a request ends with TimeoutError.
    """

    def __init__(self, queue: int, timeout: float) -> None:
        self.counts = Counts()
        self._timeout, self._most = timeout, queue
        self.inside = 0  # the requests that are there now
        self._waiting: asyncio.Queue[_Job] = asyncio.Queue()
        self._pool = ThreadPoolExecutor(2, "parser")  # one parses, one reads and draws

    async def admitted(self, request: Coroutine[Any, Any, Any]) -> Any:
        """Return what a request returns, if there is room for it, and it is not late."""
        if self.inside >= self._most:
            request.close()
            self.counts.refused += 1
            raise FullError
        self.inside += 1
        try:
            async with asyncio.timeout(self._timeout):
                return await request
        except TimeoutError:
            self.counts.late += 1
            raise
        finally:
            self.inside -= 1

    async def do(self, sentences: list[Sentence], kind: Hashable, work: Work) -> list[Any]:
        """Return the results of some sentences."""
        job = _Job(sentences, kind, work)
        self._waiting.put_nowait(job)
        found = await job.done
        self.counts.requests += 1
        self.counts.sentences += len(sentences)
        self.counts.words += sum(map(len, sentences))
        return found

    async def aside(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in another thread."""
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, partial(function, *args)
        )

    async def run(self) -> None:
        """Do the work, until this is cancelled."""
        try:
            while True:
                jobs = [await self._waiting.get()]
                words = sum(map(len, jobs[0].sentences))
                while words < _WORDS and not self._waiting.empty():
                    jobs.append(self._waiting.get_nowait())
                    words += sum(map(len, jobs[-1].sentences))
                kinds: dict[Hashable, list[_Job]] = {}
                for job in jobs:
                    if not job.done.done():  # its request has not given up
                        kinds.setdefault(job.kind, []).append(job)
                for alike in kinds.values():
                    self.counts.batches += 1
                    await self._together(alike)
        finally:
            self._pool.shutdown(wait=False)

    async def _together(self, jobs: list[_Job]) -> None:
        """Do jobs of one kind; if that fails, one by one, so that only who is at fault fails."""
        sentences = [sentence for job in jobs for sentence in job.sentences]
        try:
            found = await self.aside(jobs[0].work, sentences)
        except Exception as error:  # of anybody's sentences
            if len(jobs) > 1:
                for job in jobs:
                    await self._together([job])
            elif not jobs[0].done.done():
                jobs[0].done.set_exception(
                    error if isinstance(error, ArborescenceError) else RuntimeError(repr(error))
                )
            return
        start = 0
        for job in jobs:
            if not job.done.done():
                job.done.set_result(found[start : start + len(job.sentences)])
            start += len(job.sentences)
