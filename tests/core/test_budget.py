"""A budget counts work, asks who may stop it, and says when it is over."""

import math
import pickle
from itertools import count
from threading import Thread

import numpy as np
import pytest

import arborescence as arb
from arborescence.core.budget import work_of


def test_work_is_counted_until_it_is_used_up():
    budget = arb.Budget(np.int64(10))
    budget.spend(9)
    assert not budget.over
    budget.check()
    budget.spend(1)
    assert budget.over
    assert budget.spent == 10
    with pytest.raises(arb.StoppedError, match="budget of 10 units of work is used up"):
        budget.check()


def test_a_budget_of_nothing_is_over_and_one_without_end_never():
    assert arb.Budget(0).over
    endless = arb.Budget()
    endless.spend(1e300)
    assert not endless.over
    assert endless.work == math.inf


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_stop_is_asked_each_time_until_it_says_so(calls):
    asked = count(1)
    budget = arb.Budget(stop=lambda: next(asked) >= calls)
    assert [budget.over for _ in range(7)] == [False] * (calls - 1) + [True] * (8 - calls)
    assert next(asked) == calls + 1
    with pytest.raises(arb.StoppedError, match="as the caller asked"):
        budget.check()


def test_a_part_spends_from_the_whole():
    whole = arb.Budget(100)
    first, second = whole.part(60), whole.part(60)
    first.spend(59)
    assert not first.over
    second.spend(41)
    assert whole.spent == 100
    assert (first.left, second.left) == (0, 0)
    assert first.over  # the other one has taken the rest
    with pytest.raises(arb.StoppedError, match="budget of 100 units"):
        first.check()
    small = arb.Budget().part(5)
    small.spend(5)
    assert small.over
    with pytest.raises(arb.StoppedError, match="budget of 5 units"):
        small.check()


def test_a_part_is_stopped_with_the_whole():
    stopped = []
    part = arb.Budget(stop=lambda: stopped).part(10).part(5)
    assert not part.over
    stopped.append(1)
    assert part.over
    with pytest.raises(arb.StoppedError, match="as the caller asked"):
        part.check()


def test_threads_lose_no_work():
    budget = arb.Budget()
    threads = [Thread(target=lambda: [budget.spend(1) for _ in range(5000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.spent == 20_000


@pytest.mark.parametrize("work", [-1, math.nan, "much", None, True])
def test_an_amount_that_is_none_is_refused(work):
    with pytest.raises(arb.OptionError, match="work of a budget must be a number"):
        arb.Budget(work)


def test_what_cannot_be_called_stops_nothing():
    with pytest.raises(arb.OptionError, match="stop must be a function, not 3"):
        arb.Budget(stop=3)


def test_decodes_cost_the_square_or_the_cube():
    assert work_of(10) == work_of(10, projective=True) == 10_000
    assert work_of(100) == 10_000
    assert work_of(1000) == 10_000_000
    assert work_of(1000, projective=True) == 100_000_000


def test_the_error_is_ours_and_can_be_pickled():
    error = pickle.loads(pickle.dumps(arb.StoppedError("stopped")))
    assert isinstance(error, arb.ArborescenceError)
    assert not isinstance(error, ValueError)
    assert str(error) == "stopped"
