import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arborescence.transitions import systems
from arborescence.transitions.state import (
    ACTIONS,
    BUFFER,
    COUNTERS,
    END,
    FIELDS,
    FRONT,
    HEAD,
    HEADLESS,
    LABEL,
    LEFT1,
    LEFT2,
    LEFT_SET,
    LEFTS,
    NONE,
    RIGHT1,
    RIGHT2,
    RIGHT_SET,
    RIGHTS,
    SIZE,
    STACK,
)

NUMBERS = range(4)


def begun(system, n):
    """The initial state."""
    state = np.empty((FIELDS, n + 4), np.int32)
    systems.begin(system, state)
    return state


def outermost(children):
    """The two outermost of a node's children on one side, the outermost first."""
    return (*children, NONE, NONE)[:2]


def bits(labels):
    return sum({1 << label % 31 for label in labels if label != NONE})


@pytest.mark.parametrize("system", NUMBERS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_the_initial_state(system, n):
    state = begun(system, n)
    size, front, end, headless = state[COUNTERS, :4].tolist()
    stack, buffer = state[STACK, :size].tolist(), state[BUFFER, front:end].tolist()
    words = list(range(1, n + 1))
    at_the_end = system == systems.ARC_EAGER
    assert (stack, buffer) == (([], [*words, 0]) if at_the_end else ([0], words))
    assert headless == 0
    assert (state[HEAD:LEFTS] == NONE).all()
    assert (state[LEFTS:COUNTERS] == 0).all()


@settings(deadline=None)
@given(st.sampled_from(NUMBERS), st.integers(1, 8), st.booleans(), st.data())
def test_what_is_known_of_children(system, n, single, data):
    """Whatever is done in whatever order: the rows say of each node what the edges say."""
    state = begun(system, n)
    heads, labels = [NONE] * (n + 1), [NONE] * (n + 1)
    while mask := systems.legal(system, state, single):
        transition = data.draw(st.sampled_from([t for t in range(ACTIONS) if mask >> t & 1]))
        label = data.draw(st.sampled_from([NONE, 0, 1, 30, 31, 40]))
        head, dependent = systems.arc(system, state, transition)
        systems.advance(system, state, transition, label)
        if dependent != NONE:
            heads[dependent], labels[dependent] = head, label
        assert state[HEAD, : n + 1].tolist() == heads
        assert state[LABEL, : n + 1].tolist() == labels
        for node in range(n + 1):
            left = [d for d in range(node) if heads[d] == node]
            right = [d for d in range(n, node, -1) if heads[d] == node]
            assert (state[LEFT1, node], state[LEFT2, node]) == outermost(left)
            assert (state[RIGHT1, node], state[RIGHT2, node]) == outermost(right)
            assert (state[LEFTS, node], state[RIGHTS, node]) == (len(left), len(right))
            assert state[LEFT_SET, node] == bits(labels[d] for d in left)
            assert state[RIGHT_SET, node] == bits(labels[d] for d in right)
        size, front, end = state[COUNTERS, [SIZE, FRONT, END]].tolist()
        headless = [d for d in state[STACK, :size].tolist() if heads[d] == NONE]
        if system == systems.ARC_EAGER:
            assert state[COUNTERS, HEADLESS] == len(headless)
            assert state[BUFFER, end - 1] == 0
        assert front <= end
