"""Two threads of work: one parses short requests of several clients together, one long requests.

The work of a long request is done in steps, so that each client has its turn. If a request is over,
its work stops between two steps, or within a step when the library checks the budget.
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

    from arborescence.integrations.service.admission import Client, ServiceCounts, Ticket
    from arborescence.treebank import Sentence

    #: Answers the sentences of several requests, one result for each sentence.
    Work = Callable[[list[Sentence], Budget], list[Any]]
    #: Work in steps: a generator that returns the result.
    Steps = Generator[None, None, Any]

#: The limits of a batch: the most words, the least limit of words, and the seconds of its work.
_MOST: Final = 4096
_LEAST: Final = 128
_SECONDS: Final = 0.5
#: The most bytes of a request that is read in the same thread, because another thread costs time.
SHORT: Final = 2000
#: The words of a step of a long request.
_STEP: Final = 512


def in_steps(sentences: Iterable[Sentence], work: Work, budget: Budget) -> Steps:
    """Do work on sentences, some at a time; return the results."""
    results: list[Any] = []
    for part in _parts(sentences):
        budget.check()
        results += work(part, budget)
        yield
    return results


def gathered(sentences: Iterable[Sentence], budget: Budget) -> Steps:
    """Read sentences, some at a time; return them."""
    gathered: list[Sentence] = []
    for part in _parts(sentences):
        budget.check()
        gathered += part
        yield
    return gathered


def _parts(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Yield sentences in parts with the words of a step."""
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
    """Work of a thread."""

    #: The work.
    steps: Steps
    #: The clients of the work, and their shares.
    clients: list[tuple[Client, float]]
    #: The budget of the work.
    budget: Budget
    #: The loop of `done`.
    loop: asyncio.AbstractEventLoop
    #: The result.
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
            if self.done.done():  # no client waits for the result any more
                return
            if error is None:
                self.done.set_result(result)
            else:
                self.done.set_exception(error)

        with suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(settle)


class WorkThread:
    """A thread that does jobs in steps; the client with the least work so far comes first."""

    def __init__(self, name: str) -> None:
        self._jobs: list[_Job] = []
        self._changed = threading.Condition()
        self._ended = False
        #: Whether a step is being done.
        self.busy = False
        # The end of the process does not wait for the thread.
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
            del job  # frees the memory of its sentences


@dataclass(eq=False)
class _Short:
    """The sentences of a short request."""

    #: The admission of the request.
    ticket: Ticket
    #: The sentences.
    sentences: list[Sentence]
    #: Requests of the same kind can be parsed together.
    kind: Hashable
    #: The function that parses the sentences.
    work: Work
    #: The results.
    done: asyncio.Future[list[Any]] = field(default_factory=asyncio.Future)

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


class WorkThreads:
    """Both threads, and the choice of the thread for each request.

    Parameters
    ----------
    counts
        The counts of the service.
    """

    def __init__(self, counts: ServiceCounts) -> None:
        self.counts = counts
        self._short, self._long = WorkThread("short requests"), WorkThread("long requests")
        self._waiting: list[_Short] = []
        self._come = asyncio.Event()
        self._words = float(_MOST)  # the words of a batch that takes `_SECONDS`

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
        """Return the results of short sentences, which are parsed together with other requests."""
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
        """Parse short requests until the task is cancelled."""
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
        """Return the next jobs, by kind: first the jobs of clients with the least work so far."""
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
        """Parse jobs of one kind; after an error, one by one, so that only faulty jobs fail."""
        sentences = list(chain.from_iterable(job.sentences for job in jobs))
        words = sum(job.words for job in jobs)
        shares = [(job.ticket.client, job.words / max(words, 1)) for job in jobs]
        budget = Budget(stop=lambda: all(job.ticket.budget.over for job in jobs))
        start = perf_counter()
        try:
            results = await self._short.do(_once(jobs[0].work, sentences, budget), shares, budget)
        except Exception as error:  # from the sentences of any request
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
                job.done.set_result(results[place : place + len(job.sentences)])
            place += len(job.sentences)


def _once(function: Callable[..., Any], *args: Any) -> Steps:
    """Make a generator of steps from a function, which is one step."""
    yield from ()
    return function(*args)
