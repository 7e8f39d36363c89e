"""Legal transitions and the trees that they make, and the static oracles on trees of all kinds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence.compiling.kernels import kernel
from arborescence.core.tree import projective_kernel
from arborescence.transitions import SYSTEMS, Transition, get_system, systems
from arborescence.transitions.state import FIELDS, HEAD, OTHER
from arborescence.treebank import read
from brute_force import all_trees

# The first example compiles a kernel.
examples = settings(deadline=None)
ROOTS = ("single", "multi")


def length(name, n, swaps):
    return 2 * n + 2 * swaps if name == "swap" else 2 * n


@pytest.mark.parametrize("name", SYSTEMS)
@examples
@given(st.integers(0, 9), st.sampled_from(ROOTS), st.data())
def test_whatever_is_legal_ends_in_a_tree(name, n, root, data):
    state = get_system(name).start(n, root)
    actions = []
    while not state.finished:
        actions.append(data.draw(st.sampled_from(state.legal)))
        state = state.apply(Transition(actions[-1]))
        assert len(actions) <= 2 * n + n * (n - 1)
    swaps = actions.count("SWAP")
    assert swaps <= n * (n - 1) // 2
    assert len(actions) == length(name, n, swaps)
    assert arb.is_tree(state.tree, root=root)
    assert name == "swap" or arb.is_projective(state.tree)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("n", range(1, 5))
def test_every_tree_of_the_class_can_be_made_and_no_other(name, root, n):
    seen, made = set(), set()
    waiting = [get_system(name).start(n, root)]
    while waiting:
        state = waiting.pop()
        if state.finished:
            made.add(tuple(state.tree.tolist()))
        for action in state.legal:
            following = state.apply(Transition(action))
            key = (*following.stack, -2, *following.buffer, *following.tree.tolist())
            if key not in seen:
                seen.add(key)
                waiting.append(following)
    trees = all_trees(n, root == "single", name != "swap")
    assert made == set(map(tuple, trees.tolist()))


@kernel
def rebuild(number: int, heads: np.ndarray, single: bool) -> int:
    """Follow the static oracle; return how many transitions make the tree, or -1 if they do not.

    A sentence may need n(n - 1)/2 swaps, and none needs more.
    """
    n = heads.shape[0] - 1
    state = np.empty((FIELDS, n + 4), np.int32)
    guide = np.empty((3, n + 1), np.int32)
    systems.begin(number, state)
    systems.prepare(number, heads, guide)
    made = swaps = 0
    while True:
        mask = systems.legal(number, state, single)
        if mask == 0:
            break
        transition = systems.oracle(number, state, heads, guide)
        if not mask >> transition & 1:
            return -1
        systems.advance(number, state, transition, -1)
        made += 1
        if transition == OTHER and number == systems.SWAP_:
            swaps += 1
    for d in range(1, n + 1):
        if state[HEAD, d] != heads[d]:
            return -1
    return made if made == 2 * n + 2 * swaps else -1


@kernel
def rebuild_all(number: int, flat: np.ndarray, starts: np.ndarray) -> tuple[int, int]:
    """Rebuild each tree of a treebank that the system can make.

    Return the number of those trees, and the place of one that does not come back, or else -1.
    """
    count = 0
    for i in range(starts.shape[0] - 1):
        heads = flat[starts[i] : starts[i + 1]]
        if number == systems.SWAP_ or projective_kernel(heads):
            count += 1
            if rebuild(number, heads, True) < 0:
                return count, i
    return count, -1


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("root", ROOTS)
def test_the_static_oracle_rebuilds_every_small_tree(name, root):
    chosen = get_system(name)
    for n in range(1, 7 if chosen.projective else 6):
        for heads in all_trees(n, root == "single", chosen.projective):
            assert rebuild(chosen.number, heads, root == "single") > 0, heads


def test_the_static_oracles_rebuild_every_real_tree(treebanks):
    files = sorted(treebanks.rglob("*.conllu.gz"))
    for file in files:
        trees = [sentence.tree for sentence in read(file)]
        flat = np.concatenate(trees)
        starts = np.cumsum([0, *map(len, trees)])
        projective = sum(map(projective_kernel, trees))
        for number, name in enumerate(SYSTEMS):
            count, failed = rebuild_all(number, flat, starts)
            assert failed < 0, f"{name}: {file.name}: {trees[failed]}"
            assert count == (len(trees) if name == "swap" else projective)
    assert files


@pytest.mark.parametrize("name", SYSTEMS)
def test_labels_of_real_trees_come_back(treebanks, name):
    chosen = get_system(name)
    made = 0
    for sentence in read(treebanks / "Gothic-PROIEL/got_proiel-ud-dev.conllu.gz"):
        heads, labels, n = sentence.tree, sentence.deprels, len(sentence)
        if n <= 30 and (not chosen.projective or arb.is_projective(heads)):
            transitions = chosen.derivation(heads, labels)
            made_again = chosen.replay(n, transitions)
            assert made_again.tree.tolist() == heads.tolist()
            assert made_again.deprels == labels
            swaps = transitions.count(Transition("SWAP"))
            assert len(transitions) == length(name, n, swaps)
            made += 1
    assert made > 500
