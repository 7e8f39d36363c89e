"""Jobs in processes that die: each item is done once, or named."""

import multiprocessing
import os
import signal
import sys
import threading
import time

import pytest

import jobs
from arborescence.errors import ArborescenceError
from arborescence.system.workers import Failure, in_processes

pytestmark = [
    pytest.mark.races,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
]


def test_every_item_comes_back_once_whoever_dies(tmp_path):
    once = str(tmp_path / "once")
    items = [("square", n) for n in range(20)]
    items[3:3] = [
        ("die", 0),
        ("die once", once),
        ("raise", "no square"),
        ("setting", "OMP_NUM_THREADS"),
    ]
    died = []
    found = list(in_processes(jobs.doing, items, 2, died.append))
    assert sorted(map(str, items)) == sorted(str(item) for item, _ in found)
    results = {str(item): result for item, result in found}
    assert results[str(("die once", once))] == f"did {once}"
    assert results[str(("setting", "OMP_NUM_THREADS"))] == "1"
    assert results[str(("raise", "no square"))] == Failure("ValueError: no square")
    assert results[str(("die", 0))] == Failure(
        "3 processes that worked on it died (SIGKILL): not enough memory?"
    )
    assert all(results[str(("square", n))] == f"did {n}" for n in range(20))
    assert sorted(died) == [("die", 0)] * 3 + [("die once", once)]


def test_a_job_that_cannot_be_made():
    with pytest.raises(ArborescenceError, match=r"my\.model: No such file"):
        list(in_processes(jobs.failing, [("square", 1)], 2))
    with pytest.raises(ArborescenceError, match="processes die while they start"):
        list(in_processes(jobs.dying, [("square", 1)], 1))


def test_nothing_is_left_when_the_caller_stops():
    before = dict(os.environ)
    results = in_processes(jobs.doing, [("square", n) for n in range(9)], 2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()
    assert dict(os.environ) == before


def test_no_items_no_processes():
    assert list(in_processes(jobs.failing, [], 2)) == []


def test_a_signal_that_another_thread_takes(tmp_path):
    def stop(_number, _frame):
        raise KeyboardInterrupt

    def take():
        while not begun.exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    begun = tmp_path / "begun"
    old = signal.signal(signal.SIGUSR1, stop)
    thread = threading.Thread(target=take)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(in_processes(jobs.doing, [("wait", str(begun))], 1))
    thread.join()
    signal.signal(signal.SIGUSR1, old)
    assert not multiprocessing.active_children()
