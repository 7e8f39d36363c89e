import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence.projective.pseudo import MARK
from arborescence.treebank import read
from brute_force import all_trees

# The first example compiles a kernel.
examples = settings(deadline=None)

HEARING = [-1, 2, 4, 4, 0, 7, 7, 2]  # a hearing is scheduled on the issue


@st.composite
def trees(draw, single=True, most=12):
    """Words in any order, each below one that came before it."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [-1] * (n + 1)
    for i, d in enumerate(order):
        above = order[:i] if single else [0, *order[:i]]
        heads[d] = draw(st.sampled_from(above)) if above else 0
    return heads


def path(heads, d):
    """All that is above a word."""
    above = []
    while d != 0:
        d = heads[d]
        above.append(d)
    return above


def as_printed(heads):
    """PROJECTIVIZE of Nivre and Nilsson (2005), Section 2, and how often it lifts."""
    heads, lifts = list(heads), 0
    while True:
        nonprojective = [
            (abs(h - d), min(h, d), d)
            for d, h in enumerate(heads)
            if d
            and any(h not in path(heads, between) for between in range(min(h, d) + 1, max(h, d)))
        ]
        if not nonprojective:
            return heads, lifts
        _, _, d = min(nonprojective)
        heads[d] = heads[heads[d]]
        lifts += 1


def fewest_lifts(heads):
    """How many lifts, of any edges in any order, it takes at least."""
    reached, lifts = {tuple(heads)}, 0
    while not any(arb.is_projective(tree) for tree in reached):
        reached = {
            (*tree[:d], tree[tree[d]], *tree[d + 1 :])
            for tree in reached
            for d in range(1, len(tree))
            if tree[d] > 0
        }
        lifts += 1
    return lifts


def names(heads):
    """A label of its own for each word."""
    return [f"r{d}" for d in range(1, len(heads))]


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("n", range(6))
def test_every_small_tree(n, single):
    for heads in all_trees(n, single).tolist():
        lifted, labels = arb.projectivize(heads, names(heads))
        assert lifted.tolist() == as_printed(heads)[0]
        back, plain = arb.deprojectivize(lifted, labels)
        assert back.tolist() == heads
        assert plain == names(heads)


@examples
@given(trees(single=False))
def test_what_is_lifted_is_projective_and_only_lifted(heads):
    lifted = arb.projectivize(heads)
    assert lifted.tolist() == as_printed(heads)[0]
    assert arb.is_tree(lifted, root="multi")
    assert arb.is_projective(lifted)
    for d in range(1, len(heads)):
        assert lifted[d] in path(heads, d)
    if arb.is_projective(heads):
        assert lifted.tolist() == heads


@examples
@given(trees())
def test_one_root_edge_stays_the_only_one(heads):
    lifted = arb.projectivize(heads)
    assert heads.index(0) == lifted.tolist().index(0)
    assert arb.is_tree(lifted, root="single")


def test_an_edge_over_a_second_root_word_is_lifted_to_the_root():
    heads, labels = arb.projectivize([-1, 0, 0, 1], ["root", "parataxis", "punct"])
    assert heads.tolist() == [-1, 0, 0, 0]
    assert labels == ["root", "parataxis", "punct↑root"]
    assert arb.deprojectivize(heads, labels)[0].tolist() == [-1, 0, 0, 1]


@examples
@given(trees(single=False))
def test_a_tree_of_different_labels_comes_back(heads):
    lifted, labels = arb.projectivize(heads, names(heads))
    for d in range(1, len(heads)):
        moved = lifted[d] != heads[d]
        assert labels[d - 1] == f"r{d}" + (f"{MARK}r{heads[d]}" if moved else "")
    back, plain = arb.deprojectivize(lifted, labels)
    assert back.tolist() == heads
    assert plain == names(heads)


@examples
@given(trees(single=False), st.data())
def test_whatever_the_labels_a_tree_comes_out(heads, data):
    label = st.sampled_from(["a", "b", "a↑b", "b↑a", "b↑", "↑", "a↑b↑a"])
    labels = data.draw(st.lists(label, min_size=len(heads) - 1, max_size=len(heads) - 1))
    back, plain = arb.deprojectivize(heads, labels)
    assert arb.is_tree(back, root="multi")
    assert plain == [label.partition(MARK)[0] for label in labels]
    for d, label in enumerate(labels, 1):
        kept = back[d] == heads[d]
        assert kept or plain[back[d] - 1] == label.partition(MARK)[2]


def test_the_fewest_lifts_of_small_trees():
    for n in range(5):
        for heads in all_trees(n, True).tolist():
            assert as_printed(heads)[1] == fewest_lifts(heads)


def test_the_shortest_first_is_not_always_the_fewest():
    heads = [-1, 2, 0, 5, 1, 1]
    assert as_printed(heads)[1] == 4
    assert fewest_lifts(heads) == 3


def test_the_search_is_breadth_first_and_left_to_right():
    #       0 -> 4; below 4: 2 (a) with 1 (x) and 3 (x); then 6 (a) with 5 (y), and 8 with 7 (x).
    heads = [-1, 2, 4, 2, 0, 6, 4, 8, 4, 4]
    labels = ["x", "a", "x", "root", "y", "a", "x", "b"]

    def head_of_last(label):
        return arb.deprojectivize(heads, [*labels, label])[0][9]

    assert head_of_last("d↑a") == 2  # not 6, to the right of it
    assert head_of_last("d↑x") == 1  # not 3 or 7
    assert head_of_last("d↑y") == 5
    assert head_of_last("d↑root") == 4  # is not below itself: the edge stays
    assert head_of_last("d↑d") == 4  # nor is the word a head of its own


def test_batches_and_kinds_of_labels():
    heads = [[-1, 0, 1, *[-1] * 5], HEARING, [-1] * 8]
    labels = [["root", "obj"], ["det", "nsubj", "aux", "root", "case", "det", "nmod"], []]
    expected = [[-1, 0, 1, *[-1] * 5], [-1, 2, 4, 4, 0, 7, 7, 4], [-1] * 8]
    marked = [labels[0], [*labels[1][:6], "nmod↑nsubj"], []]
    assert arb.projectivize(heads).tolist() == expected

    lifted, lists = arb.projectivize(heads, labels)
    assert (lifted.tolist(), lists) == (expected, marked)
    back, lists = arb.deprojectivize(lifted, lists)
    assert (back.tolist(), lists) == (heads, labels)

    padded = np.array([row + ["_"] * (7 - len(row)) for row in labels])
    for array in (padded, padded.astype(object)):
        lifted, array = arb.projectivize(np.array(heads)[:, None], array[:, None])
        assert lifted.shape == (3, 1, 8)
        assert array.shape == (3, 1, 7)
        assert array[1, 0].tolist() == marked[1]
        assert array[2, 0].tolist() == ["_"] * 7
    assert arb.projectivize(np.empty((0, 3), int), [])[0].shape == (0, 3)
    assert arb.projectivize([-1], [])[1] == []


def test_the_input_is_left_alone():
    heads, labels = np.array(HEARING), ["a", "b", "c", "d", "e", "f", "g"]
    arb.projectivize(heads, labels)
    assert heads.tolist() == HEARING
    assert labels == ["a", "b", "c", "d", "e", "f", "g"]


@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [
        ([-1, 2, 1], None, "^heads are not a tree"),
        ([0, 0], None, "not a tree"),
        ([[-1, 0], [-1, 1]], None, "^sentence 1: heads are not a tree"),
        ([-1, 0], ["root", "x"], "2 labels do not fit 1 words; the root has none"),
        ([[-1, 0, 1], [-1, 0, 1]], [["a", "b"], ["a"]], "sentence 1: 1 labels do not fit 2"),
        ([[-1, 0]], [["a"], ["b"]], "labels of 2 sentences do not fit heads of 1"),
        ([-1, 0], "a", "must be a list of strings"),
        ([-1, 0], [3], "must be a list of strings"),
        ([[-1, 0]], [["a↑b"]], "sentence 0: the label of word 1 is 'a↑b'.*call deprojectivize"),
    ],
)
def test_unusable_input(heads, labels, message):
    with pytest.raises(arb.TreeError, match=message):
        arb.projectivize(heads, labels)


def test_labels_that_do_not_fit_cannot_be_lowered():
    with pytest.raises(arb.TreeError, match="1 labels do not fit 2 words"):
        arb.deprojectivize([-1, 0, 1], ["a"])
    with pytest.raises(arb.TreeError, match="not a tree"):
        arb.deprojectivize([-1, 1], ["a"])


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("Gothic-PROIEL/got_proiel-ud-dev", 0.97),
        ("Ancient_Greek-PROIEL/grc_proiel-ud-dev", 0.97),
        ("Turkish-IMST/tr_imst-ud-train", 0.91),
        ("English-EWT/en_ewt-ud-train", 0.91),
    ],
)
def test_most_lifted_edges_of_real_trees_come_back(treebanks, name, least):
    lifted = found = 0
    for sentence in read(treebanks / f"{name}.conllu.gz"):
        heads, labels = sentence.tree, sentence.deprels
        new, marked = arb.projectivize(heads, labels)
        back, plain = arb.deprojectivize(new, marked)
        assert arb.is_projective(new)
        assert arb.root_count(new) == arb.root_count(heads)
        assert plain == labels
        moved = new != heads
        assert (back == heads)[~moved].all()
        lifted += np.count_nonzero(moved)
        found += np.count_nonzero((back == heads) & moved)
    assert found >= least * lifted
