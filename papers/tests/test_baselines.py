"""The baselines' cost, counted in steps."""

import sys

import numpy as np
import pytest

from arborescence_papers import baselines
from graphs import LARGE


def steps(function, *arguments):
    """The number of Python's instructions that a function of this module takes."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename != baselines.__file__:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("kind", ["one-more-word", "chains"])
def test_the_recursion_takes_n_cubed(kind):
    few, many = (
        steps(baselines.chu_liu_edmonds, LARGE[kind](np.random.default_rng(1), n)) for n in (20, 40)
    )
    assert many < 2**3.1 * few
