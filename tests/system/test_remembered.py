"""Properties that are kept, with several threads at once and over a fork."""

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import arborescence as arb
from arborescence.system.lazy import recalled, remember, remembered

pytestmark = pytest.mark.races

LIMIT = 60  # seconds, after which a test gives up


class Meeting:
    """Its property may be computed when two threads compute it at once, for whatever object."""

    def __init__(self, barrier=None):
        self.barrier = barrier
        self.computed = 0

    @property
    @remembered
    def value(self):
        """What is computed."""
        self.computed += 1
        if self.barrier:
            self.barrier.wait(LIMIT)
        return object()


class Distribution(arb.TreeDistribution):
    """Calls a function before it computes its sums."""

    before = staticmethod(lambda: None)

    def _sum(self, *, marginals):
        self.before()
        return super()._sum(marginals=marginals)


def test_computed_once_and_kept():
    one, other = Meeting(), Meeting()
    assert one.value is one.value is not other.value
    assert one.computed == other.computed == 1
    assert Meeting.value.__doc__ == "What is computed."


def test_two_threads_get_the_value_that_was_first():
    shared = Meeting(threading.Barrier(2))
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: shared.value, range(2))
    assert one is other is shared.value
    assert shared.computed == 2


def test_threads_with_distributions_of_their_own_do_not_wait_for_each_other():
    barrier = threading.Barrier(2)
    both = [Distribution(np.zeros((3, 3))) for _ in range(2)]
    for each in both:
        each.before = lambda: barrier.wait(LIMIT)
    with ThreadPoolExecutor(2) as pool:
        for marginals in pool.map(lambda each: each.marginals(), both):
            assert marginals.tolist() == [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_a_thread_computes():
    busy, other = (Distribution(np.zeros((3, 3))) for _ in range(2))
    other.entropy()  # so that no kernel is compiled below
    other = Distribution(np.zeros((3, 3)))
    inside, fork_is_done = threading.Event(), threading.Event()

    def wait():
        inside.set()
        assert fork_is_done.wait(LIMIT)

    busy.before = wait
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(lambda: busy.marginals())
        assert inside.wait(LIMIT)
        child = multiprocessing.get_context("fork").Process(target=lambda: other.marginals())
        child.start()
        child.join(LIMIT / 2)
        fork_is_done.set()
        child.kill()
        child.join()
        assert child.exitcode == 0
        assert result.result().sum() == pytest.approx(2)


def test_what_is_kept_can_be_asked_for_and_given():
    one = Meeting()
    assert recalled(one, "value") is None
    value = one.value
    assert recalled(one, "value") is value
    remember(one, "value", 3)
    assert (one.value, one.computed) == (3, 1)
