"""The dynamic oracles, against all ways in which a derivation can go on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence.transitions import Transition, get_system
from brute_force import all_trees
from every_derivation import EveryWay

# The first example compiles a kernel.
examples = settings(deadline=None, max_examples=16)
DYNAMIC = ("arc-eager", "arc-hybrid")
ROOTS = ("single", "multi")


@st.composite
def projective_trees(draw, single, least=1, most=10):
    """Words in any order, each below one that came before it; then no edges cross."""
    n = draw(st.integers(least, most))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [-1] * (n + 1)
    for i, d in enumerate(order):
        above = order[:i] if single else [0, *order[:i]]
        heads[d] = draw(st.sampled_from(above)) if above else 0
    return arb.projectivize(heads)


@pytest.mark.parametrize("name", DYNAMIC)
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("n", range(1, 5))
def test_costs_in_every_state_and_for_every_tree(name, root, n):
    ways = EveryWay(get_system(name).start(n, root))
    for heads in all_trees(n, root == "single", projective=True):
        for key, costs in ways.costs(heads).items():
            state = ways.states[key]
            before = repr(state), state.tree.tolist()
            assert state.costs(heads) == costs, (state, heads)
            assert (repr(state), state.tree.tolist()) == before
            assert state.finished or min(costs.values()) == 0


def dynamic(test):
    """Test each system with a dynamic oracle, and each kind of root, on drawn data."""
    marked = pytest.mark.parametrize("root", ROOTS)(examples(given(st.data())(test)))
    return pytest.mark.parametrize("name", DYNAMIC)(marked)


@dynamic
def test_costs_after_any_mistakes(name, root, data):
    heads = data.draw(projective_trees(root == "single", 5, 7))
    n = len(heads) - 1
    state = get_system(name).start(n, root)
    for _ in range(data.draw(st.integers(4, n + 2))):
        state = state.apply(Transition(data.draw(st.sampled_from(state.legal))))
    ways = EveryWay(state)
    assert state.costs(heads) == ways.costs(heads)[ways.first]


@dynamic
def test_what_costs_nothing_rebuilds_the_tree(name, root, data):
    heads = data.draw(projective_trees(root == "single"))
    state = get_system(name).start(len(heads) - 1, root)
    while not state.finished:
        free = [action for action, cost in state.costs(heads).items() if cost == 0]
        state = state.apply(Transition(data.draw(st.sampled_from(free))))
    assert state.tree.tolist() == heads.tolist()


@dynamic
def test_what_the_static_oracle_says_costs_nothing(name, root, data):
    heads = data.draw(projective_trees(root == "single"))
    chosen = get_system(name)
    state = chosen.start(len(heads) - 1, root)
    for transition in chosen.derivation(heads, root=root):
        assert state.costs(heads)[transition.action] == 0
        state = state.apply(transition)


def test_a_word_that_has_lost_its_head_may_cost_one_edge_more():
    # Word 3 should hang from 2, and the rest of the sentence from 3; 1 is the root's.
    heads = [-1, 0, 1, 2, 3, 4]
    state = get_system("arc-eager").start(5)
    for action in ("SHIFT", "RIGHT-ARC"):
        state = state.apply(Transition(action))
    # After SHIFT the root cannot take 3, so a later word must, which then is not below it.
    assert state.costs(heads) == {"SHIFT": 2, "RIGHT-ARC": 0, "REDUCE": 1}
    several = get_system("arc-eager").start(5, root="multi")
    for action in ("SHIFT", "RIGHT-ARC"):
        several = several.apply(Transition(action))
    assert several.costs(heads) == {"SHIFT": 1, "RIGHT-ARC": 0, "REDUCE": 1}
