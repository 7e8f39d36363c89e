"""Shares of a batch, in threads: all are done, or none is begun after an error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from arborescence.core.graph import in_threads

pytestmark = pytest.mark.races


@pytest.mark.parametrize("costs", [None, np.arange(40) ** 2])
@pytest.mark.parametrize("threads", [1, 3, 50])
def test_each_is_done_once(threads, costs):
    done = np.zeros(40, int)

    def run(start, stop):
        done[start:stop] += 1

    in_threads(run, 40, threads, costs)
    assert done.tolist() == [1] * 40


def test_nothing_begins_after_an_error(monkeypatch):
    cancelled, begun = Event(), []
    shutdown = ThreadPoolExecutor.shutdown

    def told(pool, wait=True, *, cancel_futures=False):
        shutdown(pool, wait=False, cancel_futures=cancel_futures)
        cancelled.set()
        shutdown(pool, wait=wait)

    def run(start, stop):
        begun.append(start)
        if not start:
            raise ValueError("the first")
        cancelled.wait()

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", told)
    with pytest.raises(ValueError, match="the first"):
        in_threads(run, 80, 2)
    assert len(begun) <= 3  # of eight
