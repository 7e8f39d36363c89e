"""Run a job on a list of items on a Ray cluster, as `workers.in_processes` does on one machine.

If an actor or a machine dies, Ray Data repeats the job for its item.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from arborescence.errors import ArborescenceError, MissingExtraError
from arborescence.system.processes import STOPS
from arborescence.system.workers import Failure, error_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES: Final = 3  # an item is given up after the deaths of three actors


def on_cluster(
    make: Callable[[], Callable[[Item], Result]],
    items: Sequence[Item],
    address: str,
    workers: int | None,
) -> Iterator[tuple[Item, Result | Failure]]:
    """Run a job on each item, in actors of one core each; yield the results in any order.

    `make` makes the job, a function of an item; each actor calls `make` once. `make`, items and
    results must be picklable. An error of the job, or three deaths of actors, gives a `Failure`.

    `address` is ``"local"``, for a cluster on this machine that ends with this process; or the
    address of a cluster for ``ray.init`` (``"auto"``, ``"10.0.0.1:6379"``). `workers` is the number
    of actors; None: the number of cores of the cluster.

    MissingExtraError without Ray Data; ArborescenceError if there is no cluster at the address, or
    `make` fails.
    """
    ray, data = _ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # Ray sends no usage data. Its logs are silent: the results tell each failure to the user.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    where: dict[str, Any] = {"address": address}
    if address == "local":
        where |= {"num_cpus": workers, "include_dashboard": False}
    handlers = {number: signal.getsignal(number) for number in STOPS}
    try:
        ray.init(**where, logging_level=logging.ERROR, log_to_driver=False)
    except Exception as error:  # of any type: a plain Exception if Ray does not start in time
        raise ArborescenceError(f"no Ray cluster at {address}: {error}") from error
    try:
        with suppress(ValueError):  # only the main thread may set signal handlers
            for number, handler in handlers.items():  # Ray has set handlers that abort
                signal.signal(number, handler)
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.max_errored_blocks = -1  # a block is an item: the other items continue
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        tries = ray.remote(_Tries).options(num_cpus=0, scheduling_strategy=here).remote()
        actors = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        answers = (
            data.from_items(
                [
                    {"number": number, "item": pickle.dumps(item)}
                    for number, item in enumerate(items)
                ],
                override_num_blocks=len(items),
            )
            .map_batches(
                _Actor,
                fn_constructor_args=(make, tries),
                batch_size=None,
                compute=data.ActorPoolStrategy(size=min(actors, len(items))),
                num_cpus=1,
            )
            .iter_rows()
        )
        lost = set(range(len(items)))
        for answer in answers:
            number, result = int(answer["number"]), pickle.loads(answer["answer"])  # noqa: S301
            if isinstance(result, _NotMade):
                raise ArborescenceError(result.reason)
            lost.discard(number)
            yield items[number], result
        for number in sorted(lost):
            yield items[number], Failure("no actor gave an answer")
    finally:
        ray.shutdown()


class _NotMade(Failure):
    """The reason why an actor has no job."""


class _Tries:
    """Counts the attempts at each item, since Ray itself has no limit."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        self._counts[number] += 1
        return self._counts[number]


class _Actor:
    """Runs the job on the items of a block."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], tries: Any) -> None:
        self._tries = tries
        self._job: Callable[[Any], Any] | _NotMade
        try:
            self._job = make()
        except Exception as error:
            self._job = _NotMade(error_line(error))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        pairs = zip(batch["number"].tolist(), batch["item"], strict=True)
        answers = [pickle.dumps(self._answer(number, item)) for number, item in pairs]
        return {"number": batch["number"], "answer": answers}

    def _answer(self, number: int, item: bytes) -> Any:
        if isinstance(self._job, _NotMade):
            return self._job
        ray, _ = _ray()
        if ray.get(self._tries.begin.remote(number)) > _TRIES:
            return Failure(f"{_TRIES} actors died while they parsed it: not enough memory?")
        try:
            return self._job(pickle.loads(item))  # noqa: S301
        except Exception as error:
            return Failure(error_line(error))


def _ray() -> tuple[Any, Any]:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError(
            "parsing on a cluster needs the extra 'ray': pip install 'arborescence[ray]'"
        ) from error
    return ray, ray.data
