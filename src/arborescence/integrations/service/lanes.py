"""Two threads of work: one parses the short sentences of many requests together, one the rest.

Long requests are done in steps, so that each client has its turn. Between two steps, and within
them where the library asks its budget, work stops whose request is over.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.core.budget import Budget
from arborescence.errors import ArborescenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Iterable, Iterator

    from arborescence.integrations.service.admission import Client, Counts, Ticket
    from arborescence.treebank import Sentence

    #: Answers the sentences of several requests, one result for each sentence.
    Work = Callable[[list[Sentence], Budget], list[Any]]
    #: Work in steps: a generator that returns the result.
    Steps = Generator[None, None, Any]

#: Words that are parsed together: at most so many, and no more than take so many seconds.
_MOST: Final = 4096
_LEAST: Final = 128
_SECONDS: Final = 0.5
#: Bytes of a request that are read at once: that is faster than another thread.
SHORT: Final = 2000
#: Words of a step of a long request.
_STEP: Final = 512


def in_steps(sentences: Iterable[Sentence], work: Work, budget: Budget) -> Steps:
    """Do work on sentences, some at a time; return the results."""
    found: list[Any] = []
    for some in _parts(sentences):
        budget.check()
        found += work(some, budget)
        yield
    return found


def gathered(sentences: Iterable[Sentence], budget: Budget) -> Steps:
    """Read sentences, some at a time; return them."""
    found: list[Sentence] = []
    for some in _parts(sentences):
        budget.check()
        found += some
        yield
    return found


def _parts(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Yield sentences, so many at a time that they have the words of a step."""
    part: list[Sentence] = []
    words = 0
    for sentence in sentences:
        part.append(sentence)
        words += len(sentence)
        if words >= _STEP:
            yield part
            part, words = [], 0
    if part:
        yield part


class _Job(NamedTuple):
    steps: Steps
    clients: list[tuple[Client, float]]  # for whom it is done, and their shares
    budget: Budget
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]

    @property
    def seconds(self) -> float:
        """The work that its clients have had."""
        return min(client.seconds for client, _ in self.clients)

    def step(self) -> bool:
        """Do a step; return whether there is more to do."""
        start = perf_counter()
        try:
            self.budget.check()
            next(self.steps)
        except StopIteration as end:
            self._settle(end.value, None)
        except BaseException as error:
            self.steps.close()
            known = isinstance(error, Exception)
            self._settle(None, error if known else RuntimeError(repr(error)))
        else:
            return True
        finally:
            taken = perf_counter() - start
            for client, share in self.clients:
                client.seconds += share * taken
        return False

    def _settle(self, result: Any, error: BaseException | None) -> None:
        def settle() -> None:
            if self.done.done():  # nobody waits any more
                return
            if error is None:
                self.done.set_result(result)
            else:
                self.done.set_exception(error)

        with suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(settle)


class Lane:
    """A thread that does jobs in steps: next is a job of the client who has had the least."""

    def __init__(self, name: str) -> None:
        self._jobs: list[_Job] = []
        self._changed = threading.Condition()
        self._ended = False
        #: Whether a step is being done.
        self.busy = False
        # The end of the process does not wait for it.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    async def do(self, steps: Steps, clients: list[tuple[Client, float]], budget: Budget) -> Any:
        """Return the result of work in steps."""
        loop = asyncio.get_running_loop()
        job = _Job(steps, clients, budget, loop, loop.create_future())
        with self._changed:
            self._jobs.append(job)
            self._changed.notify()
        return await job.done

    @property
    def alive(self) -> bool:
        """Whether its thread is there."""
        return self._thread.is_alive()

    def end(self) -> None:
        """Do no more steps."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self.busy = False
                self._changed.wait_for(lambda: self._jobs or self._ended)
                if self._ended:
                    return
                self.busy = True
                job = min(self._jobs, key=lambda each: each.seconds)
                self._jobs.remove(job)
            if job.step():
                with self._changed:
                    if not self._ended:
                        self._jobs.append(job)
            del job  # its sentences


@dataclass(eq=False)
class _Short:
    """The short sentences of a request."""

    ticket: Ticket
    sentences: list[Sentence]
    kind: Hashable  # those of one kind can be parsed together
    work: Work
    done: asyncio.Future[list[Any]] = field(default_factory=asyncio.Future)

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


class Lanes:
    """Both threads, and who uses which.

    Parameters
    ----------
    counts
        Where to count what is done.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self._short, self._long = Lane("short requests"), Lane("long requests")
        self._waiting: list[_Short] = []
        self._come = asyncio.Event()
        self._words = float(_MOST)  # of a batch, that take `_SECONDS`

    @property
    def alive(self) -> bool:
        """Whether both threads are there."""
        return self._short.alive and self._long.alive

    @property
    def busy(self) -> bool:
        """Whether a thread does a step."""
        return self._short.busy or self._long.busy

    async def do(self, ticket: Ticket, steps: Steps) -> Any:
        """Return the result of a long request, which is done in steps."""
        return await self._long.do(steps, [(ticket.client, 1.0)], ticket.budget)

    async def aside(
        self, ticket: Ticket, size: int | None, function: Callable[..., Any], *args: Any
    ) -> Any:
        """Call a function in the thread of long requests, unless it reads few bytes."""
        if size is not None and size <= SHORT:
            return function(*args)
        return await self.do(ticket, _once(function, *args))

    async def together(
        self, ticket: Ticket, sentences: list[Sentence], kind: Hashable, work: Work
    ) -> list[Any]:
        """Return the results of short sentences, which are parsed with those of others."""
        job = _Short(ticket, sentences, kind, work)
        self._waiting.append(job)
        self._come.set()
        return await job.done

    def count(self, sentences: list[Sentence]) -> None:
        """Count a request that is done."""
        self.counts.requests += 1
        self.counts.sentences += len(sentences)
        self.counts.words += sum(map(len, sentences))

    async def run(self) -> None:
        """Parse what is short, until this is cancelled."""
        self._short.start()
        self._long.start()
        try:
            while True:
                await self._come.wait()
                for alike in self._next():
                    self.counts.batches += 1
                    await self._batch(alike)
        finally:
            self._short.end()
            self._long.end()

    def _next(self) -> list[list[_Short]]:
        """Take what is parsed next, by kind: first that of the clients who have had the least."""
        self._waiting.sort(key=lambda job: job.ticket.client.seconds)
        kinds: dict[Hashable, list[_Short]] = {}
        words = taken = 0
        for job in self._waiting:
            if taken and words + job.words > self._words:
                break
            taken += 1
            if not job.done.done():  # its request is not over
                words += job.words
                kinds.setdefault(job.kind, []).append(job)
        del self._waiting[:taken]
        if not self._waiting:
            self._come.clear()
        return list(kinds.values())

    async def _batch(self, jobs: list[_Short]) -> None:
        """Parse jobs of one kind; if that fails, each alone, so that only who is at fault fails."""
        sentences = list(chain.from_iterable(job.sentences for job in jobs))
        words = sum(job.words for job in jobs)
        shares = [(job.ticket.client, job.words / max(words, 1)) for job in jobs]
        budget = Budget(stop=lambda: all(job.ticket.budget.over for job in jobs))
        start = perf_counter()
        try:
            found = await self._short.do(_once(jobs[0].work, sentences, budget), shares, budget)
        except Exception as error:  # of anybody's sentences
            if len(jobs) > 1:
                for job in jobs:
                    await self._batch([job])
            elif not jobs[0].done.done():
                jobs[0].done.set_exception(
                    error if isinstance(error, ArborescenceError) else RuntimeError(repr(error))
                )
            return
        if words >= _LEAST:
            speed = words / (perf_counter() - start)
            self._words = min(max(_SECONDS * speed, _LEAST), _MOST)
        place = 0
        for job in jobs:
            if not job.done.done():
                job.done.set_result(found[place : place + len(job.sentences)])
            place += len(job.sentences)


def _once(function: Callable[..., Any], *args: Any) -> Steps:
    """Make steps of work that is done in one."""
    yield from ()
    return function(*args)
