"""Public functions take arrays of every kind: layouts, types, byte orders, read-only or not."""

from __future__ import annotations

import numpy as np
import pytest

from array_kinds import cases, takers, wrong
from compiled import undeclared
from modes import UNCOMPILED

_TAKERS = list(takers(np.random.default_rng(1)))


def examine(taker, chosen):
    with undeclared() as found:
        assert {case: fault for case in chosen if (fault := wrong(taker, case))} == {}
    assert found == []


@pytest.mark.skipif(UNCOMPILED, reason="takes long without compiled kernels")
@pytest.mark.parametrize("taker", _TAKERS, ids=lambda taker: taker.name)
def test_some_kinds(taker):
    """Every layout as it most often is, and some of all others."""
    every = list(cases(taker))
    plain = taker.array.dtype.str[1:]
    usual = [case for case in every if case[:2] == (plain, "=")]
    some = np.random.default_rng(len(taker.name)).choice(len(every), 10, replace=False)
    examine(taker, [*usual, *(every[place] for place in some)])


@pytest.mark.long
@pytest.mark.skipif(UNCOMPILED, reason="takes long without compiled kernels")
@pytest.mark.parametrize("taker", _TAKERS, ids=lambda taker: taker.name)
def test_a_third_of_all_kinds(taker):
    """In another order for each function, so that each kind is taken by many."""
    every = list(cases(taker))
    order = np.random.default_rng([*taker.name.encode()]).permutation(len(every))
    examine(taker, [every[place] for place in order[: len(every) // 3 + 1]])
