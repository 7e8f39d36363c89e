"""What other projects' tests know to be true, asked of this library.

Only facts are taken over: graphs, trees, weights and counts, with the file and the test that they
come from. Where a peer numbers nodes or writes heads in another way, they are translated here.
"""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import arborescence as arb
from arborescence.projective.pseudo import MARK
from arborescence.transitions import Transition, get_system
from arborescence.undirected import spanning_tree
from brute_force import EveryTree

ABSENT = -np.inf
ROOTS = ("single", "multi")


def graph(nodes, edges, both_ways=False):
    """Scores of so many nodes; node 0 is the root. ``edges`` are (head, dependent, weight)."""
    scores = np.full((nodes, nodes), ABSENT)
    for h, d, weight in edges:
        scores[h, d] = weight
        if both_ways:
            scores[d, h] = weight
    return scores


def any_root(weights):
    """A graph without a root gets one: a tree with one root edge is an arborescence from anywhere.

    Entries of 0 are no edges, as in NetworkX. Node i becomes word i + 1.
    """
    size = len(weights) + 1
    scores = np.full((size, size), ABSENT)
    scores[1:, 1:] = np.where(weights == 0, ABSENT, weights)
    scores[0, 1:] = 0
    return scores


def edges_of(heads):
    """The edges between the nodes of a graph to which `any_root` gave a root."""
    return {(h - 1, d - 1) for d, h in enumerate(heads.tolist()) if h > 0}


def count(scores, root="single", **options):
    return math.exp(arb.TreeDistribution(scores, root=root, **options).log_count())


# NetworkX: networkx/algorithms/tree/tests/test_branchings.py. The graph of Edmonds' paper.

EDMONDS = np.array(
    [
        [0, 0, 12, 0, 12, 0, 0, 0, 0],
        [4, 0, 0, 0, 0, 13, 0, 0, 0],
        [0, 17, 0, 21, 0, 12, 0, 0, 0],
        [5, 0, 0, 0, 17, 0, 18, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 12, 0],
        [0, 0, 0, 0, 0, 0, 14, 0, 12],
        [0, 0, 21, 0, 0, 0, 0, 0, 15],
        [0, 0, 0, 19, 0, 0, 15, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 18, 0],
    ]
)
HIGHEST = {(0, 2), (2, 1), (2, 3), (1, 5), (3, 4), (3, 6), (6, 8), (8, 7)}
LOWEST = {(3, 0), (0, 2), (0, 4), (2, 5), (4, 7), (5, 8), (5, 6), (2, 1)}


@pytest.mark.parametrize(("shift", "weight"), [(0, 131), (-10, 51)])
def test_networkx_maximum_spanning_arborescence(shift, weight):
    # test_edmonds1_maxarbor, test_edmonds2_maxarbor, test_optimal_arborescence2
    scores = any_root(np.where(EDMONDS == 0, 0, EDMONDS + shift))
    heads = arb.decode(scores)
    assert edges_of(heads) == HIGHEST
    assert arb.tree_weight(scores, heads) == weight


def test_networkx_minimum_spanning_arborescence():
    # test_edmonds2_minarbor; the test calls its answer one that should be verified.
    scores = any_root(-EDMONDS)
    heads = arb.decode(scores)
    assert edges_of(heads) == LOWEST
    assert arb.tree_weight(scores, heads) == -96


def test_networkx_every_arborescence_in_order():
    # test_arborescence_iterator_min, test_arborescence_iterator_max
    for scores in (any_root(EDMONDS), any_root(-EDMONDS)):
        weights = [weight for _, weight in arb.trees(scores)]
        assert len(weights) == 680
        assert all(a >= b for a, b in pairwise(weights))
        assert count(scores) == pytest.approx(680)


def test_networkx_arborescences_with_and_without_edges():
    # test_arborescence_iterator_initial_partition
    scores = arb.require(any_root(EDMONDS), [(2, 1), (6, 7), (9, 8)])
    scores = arb.forbid(scores, [(1, 3), (4, 7), (2, 6)])
    assert count(scores) == pytest.approx(16)
    assert len(list(arb.trees(scores))) == 16


def test_networkx_minimum_spanning_arborescence_with_and_without_edges():
    # test_partition_spanning_arborescence
    scores = arb.require(any_root(-EDMONDS), [(3, 4), (7, 3)])
    scores = arb.forbid(scores, [(4, 1), (8, 4), (1, 3)])
    right = {(0, 4), (1, 0), (1, 5), (2, 3), (4, 7), (5, 6), (5, 8), (6, 2)}
    assert edges_of(arb.decode(scores)) == right


def test_networkx_minimal_branching_of_two_parts():
    # test_edmonds1_minimal_branching: the graph twice, which no arborescence spans.
    twice = np.zeros((18, 18), int)
    twice[:9, :9] = twice[9:, 9:] = EDMONDS
    scores = any_root(-twice)
    with pytest.raises(arb.NoTreeError):
        arb.decode(scores)
    scores[0, 1:] = -1000  # as few root edges as can be
    right = LOWEST | {(h + 9, d + 9) for h, d in LOWEST}
    assert edges_of(arb.decode(scores, root="multi")) == right


# NetworkX: networkx/algorithms/tree/tests/test_mst.py

KRUSKAL = [
    (0, 1, 7),
    (0, 3, 5),
    (1, 2, 8),
    (1, 3, 9),
    (1, 4, 7),
    (2, 4, 5),
    (3, 4, 15),
    (3, 5, 6),
    (4, 5, 8),
    (4, 6, 9),
    (5, 6, 11),
]


@pytest.mark.parametrize("algorithm", ["auto", "boruvka", "kruskal", "prim", "kkt"])
@pytest.mark.parametrize(
    ("minimum", "right"),
    [
        (True, {(0, 1), (0, 3), (1, 4), (2, 4), (3, 5), (4, 6)}),
        (False, {(0, 1), (1, 2), (1, 3), (3, 4), (4, 6), (5, 6)}),
    ],
)
def test_networkx_spanning_trees(algorithm, minimum, right):
    # test_minimum_edges, test_maximum_edges, test_isolated_node
    u, v, weight = np.array(KRUSKAL).T
    for nodes in (7, 8):  # the last one on its own
        chosen = spanning_tree(nodes, u, v, weight, algorithm=algorithm, minimum=minimum)
        assert {KRUSKAL[k][:2] for k in chosen} == right


def test_networkx_undirected_as_directed():
    # test_branchings.py: test_mst, with node 0 as the root
    edges = [(u, v, -weight) for u, v, weight in KRUSKAL]
    heads = arb.decode(graph(7, edges, both_ways=True), root="multi")
    pairs = {(min(h, d), max(h, d)) for d, h in enumerate(heads.tolist()) if d}
    assert pairs == {(0, 1), (0, 3), (1, 4), (2, 4), (3, 5), (4, 6)}


def test_networkx_spanning_trees_in_order():
    # TestSpanningTreeIterator, the graph of Sörensen and Janssens (2005). Directed away from node
    # 0, each undirected spanning tree is one tree.
    edges = [(0, 1, -5), (1, 2, -4), (1, 4, -6), (2, 3, -5), (2, 4, -7), (3, 4, -3)]
    scores = graph(5, edges, both_ways=True)
    found = list(arb.trees(scores, root="multi"))
    assert [-weight for _, weight in found] == [17, 18, 19, 19, 20, 21, 21, 23]
    last = {(min(h, d), max(h, d)) for d, h in enumerate(found[-1][0].tolist()) if d}
    assert last == {(0, 1), (1, 4), (2, 3), (2, 4)}


def test_networkx_random_spanning_trees():
    # test_random_spanning_tree_multiplicative_large: 75 trees, drawn by the product of their
    # weights. The test draws 1200 times and compares all frequencies; so does this one.
    weights = [
        (0, 1, -0.6383),
        (0, 2, -0.6827),
        (0, 5, 0),
        (1, 2, -1.0781),
        (1, 4, 0),
        (2, 3, 0),
        (5, 3, -0.2820),
        (5, 4, -0.3327),
        (4, 3, -0.9927),
    ]
    scores = graph(6, weights, both_ways=True)
    dist = arb.TreeDistribution(scores, root="multi")
    assert count(scores, "multi") == pytest.approx(75)
    every = EveryTree(scores, "multi", projective=False)
    assert len(every.trees) == 75
    draws = Counter(map(tuple, dist.sample(1200, rng=37).tolist()))
    expected = 1200 * every.probs
    assert expected.min() == pytest.approx(5.15, abs=0.01)  # as the test says it is
    found = np.array([draws[tuple(tree)] for tree in every.trees.tolist()])
    assert found.sum() == 1200
    from scipy.stats import chisquare

    assert chisquare(found, expected).pvalue > 0.001


COUNTS = {
    # TestNumberOfSpanningTrees; of undirected graphs one node is the root.
    "test_nst_weight": (graph(3, [(0, 1, 0), (0, 2, 0), (1, 2, 0)], both_ways=True), 3),
    "test_nst_complete_graph": (np.zeros((5, 5)), 5**3),
    "test_nst_path_graph": (graph(5, [(i, i + 1, 0) for i in range(4)], both_ways=True), 1),
    "test_nst_cycle_graph": (graph(5, [(i, (i + 1) % 5, 0) for i in range(5)], both_ways=True), 5),
    "test_nst_directed_cycle_graph": (graph(7, [(i, (i + 1) % 7, 0) for i in range(7)]), 1),
    "test_nst_directed_complete_graph": (np.zeros((7, 7)), 7**5),
}


@pytest.mark.parametrize("name", COUNTS)
def test_networkx_numbers_of_spanning_trees(name):
    scores, right = COUNTS[name]
    assert count(scores, "multi") == pytest.approx(right)
    assert len(list(arb.trees(scores, root="multi"))) == right


def test_networkx_parallel_edges():
    # test_nst_multigraph, test_nst_directed_multi: an edge that is there twice has the weight 2.
    two = math.log(2)
    scores = graph(3, [(0, 1, two), (0, 2, 0), (1, 2, 0)], both_ways=True)
    assert math.exp(arb.TreeDistribution(scores, root="multi").log_partition()) == pytest.approx(5)
    scores = graph(3, [(0, 1, 0), (1, 2, two), (2, 0, 0)])
    assert math.exp(arb.TreeDistribution(scores, root="multi").log_partition()) == pytest.approx(2)


def test_networkx_no_spanning_tree():
    # test_nst_directed_weak_connected
    scores = graph(3, [(0, 1, 0), (2, 0, 0)])
    with pytest.raises(arb.NoTreeError, match="word 2"):
        _ = arb.TreeDistribution(scores, root="multi").log_count()


# SynJax: synjax/_src/spanning_tree_non_projective_crf_test.py, spanning_tree_projective_crf_test.py


def yuret(n):
    """Projective trees of n words with any number of root edges: Yuret (1998), Theorem 2."""
    return math.comb(3 * n, n) // (2 * n + 1)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 20])
def test_synjax_log_counts(n):
    # analytic_log_count, of both
    zeros = np.zeros((n + 1, n + 1))
    for options, right in (
        ({"root": "single"}, n ** (n - 1)),
        ({"root": "multi"}, (n + 1) ** (n - 1)),
        (
            {"root": "single", "projective": True},
            sum(yuret(i) * yuret(n - 1 - i) for i in range(n)),
        ),
        ({"root": "multi", "projective": True}, yuret(n)),
    ):
        found = arb.TreeDistribution(zeros, **options).log_count()
        assert found == pytest.approx(math.log(right), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("root", ROOTS)
def test_synjax_symmetric_marginals(root):
    # assert_is_symmetric, of both, with equal potentials over 5 words
    marginals = arb.TreeDistribution(np.zeros((6, 6)), root=root).marginals()
    np.testing.assert_allclose(marginals[1:, 1:], marginals[1:, 1:].T)
    np.testing.assert_allclose(marginals[0, 1:], marginals[0, 1])
    marginals = arb.TreeDistribution(np.zeros((6, 6)), root=root, projective=True).marginals()
    np.testing.assert_allclose(marginals[1:, 1:], marginals[:0:-1, :0:-1])
    np.testing.assert_allclose(marginals[0, 1:], marginals[0, :0:-1])


# SuPar (yzhangcs/parser): tests/test_fn.py, tests/test_struct.py


@pytest.mark.parametrize(
    ("heads", "tree"),
    [
        ([4, 1, 2, 0, 4, 4, 8, 6, 8], True),
        ([2, 5, 0, 3, 1, 5, 8, 6, 8], False),  # 2, 5, 1
        ([2, 5, 0, 4, 1, 5, 8, 6, 8], False),  # the same; and 4 is its own head
        ([2, 5, 0, 4, 1, 9, 6, 5, 7], False),  # and 9, 7, 6
    ],
)
def test_supar_cycles(heads, tree):
    # test_tarjan
    assert arb.is_tree([-1, *heads]) == tree


@pytest.mark.parametrize("root", ROOTS)
def test_supar_distributions_of_projective_trees(root):
    # test_struct: six quantities of two distributions against every tree, for the scores that
    # its seed draws, [dependent, head] in its layout, in a batch of two lengths.
    torch = pytest.importorskip("torch")
    draws = torch.Generator().manual_seed(1)
    words = torch.randint(3, 5, (2,), generator=draws)
    options = {"root": root, "projective": True}
    for _ in range(5):
        one, other = (torch.randn(2, 6, 6, generator=draws).mT for _ in range(2))
        dists = [arb.TreeDistribution(scores, words, **options) for scores in (one, other)]
        best = arb.kbest(one, 3, words, **options)[1]
        for b, n in enumerate(words.tolist()):
            every, others = (
                EveryTree(scores[b, : n + 1, : n + 1].numpy(), root, projective=True)
                for scores in (one, other)
            )
            log_partition = every.log_partition
            assert float(dists[0].log_partition()[b]) == pytest.approx(log_partition)
            three = np.sort(every.log_probs)[::-1][:3] + log_partition
            np.testing.assert_allclose(best[b], three)
            assert float(dists[0].entropy()[b]) == pytest.approx(every.entropy)
            crossed = every.cross_entropy(others)
            assert float(dists[0].cross_entropy(dists[1])[b]) == pytest.approx(crossed)
            assert float(dists[0].kl(dists[1])[b]) == pytest.approx(crossed - every.entropy)


# pytorch-struct (harvardnlp/pytorch-struct): tests/test_algorithms.py, tests/extensions.py


def test_pytorch_struct_labeled_projective_trees():
    # test_labeled_proj_deptree: summing labels out first gives the same sum and the same best
    # weight; root edges may be several, its default.
    rng = np.random.default_rng(0)
    scores = rng.random((5, 5, 2))  # four words
    options = {"root": "multi", "projective": True}
    weights = [weight for *_, weight in arb.trees_labeled(scores, **options)]
    assert len(weights) == yuret(4) * 2**4
    summed = arb.TreeDistribution(np.logaddexp.reduce(scores, axis=-1), **options)
    assert summed.log_partition() == pytest.approx(np.logaddexp.reduce(weights))
    heads, labels = arb.decode_labeled(scores, **options)
    best = sum(scores[heads[d], d, labels[d]] for d in range(1, 5))
    assert best == pytest.approx(weights[0])
    assert weights[0] == arb.kbest(scores.max(axis=-1), 1, **options)[1][0]


def test_pytorch_struct_what_crosses():
    # extensions.py: _is_projective, _is_spanning, _is_multi_root say of every parse of four words
    # what it is; here are their numbers. The root's edges count.
    every = np.array([(-1, *np.unravel_index(i, (5,) * 4)) for i in range(5**4)])
    spanning, single = arb.is_tree(every, root="multi"), arb.is_tree(every)
    assert np.count_nonzero(spanning) == 5**3
    assert np.count_nonzero(single) == 4**3
    assert np.count_nonzero(arb.is_projective(every[spanning])) == yuret(4) == 55
    assert np.count_nonzero(arb.is_projective(every[single])) == 30


# spaCy (explosion/spaCy): spacy/tests/parser/test_nonproj.py, test_arc_eager_oracle.py


def from_spacy(heads):
    """Heads that count words from 0, and where the head of a root is the root itself."""
    return [-1, *(0 if head == d else head + 1 for d, head in enumerate(heads))]


CYCLIC = [1, 2, 2, 4, 5, 3, 2]
PROJECTIVE = [1, 2, 2, 4, 5, 2, 7, 5, 2]
CROSSING = [1, 2, 2, 4, 5, 2, 7, 4, 2]
CROSSING_2 = [9, 1, 3, 1, 5, 6, 9, 8, 6, 1, 6, 12, 13, 10, 1]
SEVERAL_ROOTS = [3, 2, 0, 3, 3, 7, 7, 3, 7, 10, 7, 10, 11, 12, 18, 16, 18, 17, 12, 3]
LABELS = ["det", "nsubj", "root", "det", "dobj", "aux", "nsubj", "acl", "punct"]
# fmt: off
LABELS_2 = [
    "advmod", "root", "det", "nsubj", "advmod", "det", "dobj", "det", "nmod", "aux", "nmod",
    "advmod", "det", "amod", "punct",
]
# fmt: on


def test_spacy_cycles():
    # test_parser_contains_cycle
    assert arb.is_tree(from_spacy([1, 2, 2, 4, 5, 2, 2]))
    assert not arb.is_tree(from_spacy(CYCLIC), root="multi")
    assert arb.is_tree(from_spacy(SEVERAL_ROOTS), root="multi")
    assert arb.root_count(from_spacy(SEVERAL_ROOTS)) == 2


def test_spacy_crossing_edges():
    # test_parser_is_nonproj_tree
    assert arb.is_projective(from_spacy(PROJECTIVE))
    for heads in (CROSSING, CROSSING_2, SEVERAL_ROOTS):
        assert not arb.is_projective(from_spacy(heads))


@pytest.mark.parametrize(
    ("heads", "labels", "lifted", "changed"),
    [
        (CROSSING, LABELS, PROJECTIVE, {7: "acl||dobj"}),
        (
            CROSSING_2,
            LABELS_2,
            [1, 1, 3, 1, 5, 6, 9, 8, 6, 1, 9, 12, 13, 10, 1],
            {0: "advmod||aux", 10: "nmod||dobj"},
        ),
    ],
)
def test_spacy_pseudo_projective_trees(heads, labels, lifted, changed):
    # test_parser_pseudoprojectivity
    marked = [changed.get(d, label).replace("||", MARK) for d, label in enumerate(labels)]
    found, found_labels = arb.projectivize(from_spacy(heads), labels)
    assert found.tolist() == from_spacy(lifted)
    assert found_labels == marked
    back, back_labels = arb.deprojectivize(found, found_labels)
    assert back.tolist() == from_spacy(heads)
    assert back_labels == labels


@pytest.mark.parametrize(
    ("heads", "labels", "lowered"),
    [
        # There is no iobj: the tree stays, the label loses its mark.
        (PROJECTIVE, [*LABELS[:7], "acl||iobj", "punct"], PROJECTIVE),
        # Two words are aux: the first one is taken, though it is the wrong one.
        (
            [1, 1, 3, 1, 5, 6, 9, 8, 6, 1, 9, 12, 13, 10, 1],
            ["advmod||aux", "root", "det", "aux", *LABELS_2[4:10], "nmod||dobj", *LABELS_2[11:]],
            [3, 1, 3, 1, 5, 6, 9, 8, 6, 1, 6, 12, 13, 10, 1],
        ),
    ],
)
def test_spacy_marks_that_lead_nowhere_or_astray(heads, labels, lowered):
    # test_parser_pseudoprojectivity
    found, plain = arb.deprojectivize(
        from_spacy(heads), [label.replace("||", MARK) for label in labels]
    )
    assert found.tolist() == from_spacy(lowered)
    assert plain == [label.partition("||")[0] for label in labels]


def test_spacy_oracle_of_four_words():
    # test_oracle_four_words: two roots, each with a word to its left; what makes these edges
    # costs nothing.
    heads = from_spacy([1, 1, 3, 3])
    state = get_system("arc-eager").start(4, root="multi")
    for action in ("SHIFT", "LEFT-ARC", "SHIFT", "SHIFT", "LEFT-ARC"):
        assert state.costs(heads)[action] == 0
        state = state.apply(Transition(action))
    assert state.tree.tolist()[1::2] == heads[1::2]


def test_spacy_oracle_of_a_long_sentence():
    # test_get_oracle_actions: the heads of 49 words, for which there has to be a derivation.
    # fmt: off
    heads = from_spacy([
        11, 2, 11, 2, 6, 6, 2, 6, 10, 10, 7, 44, 13, 16, 13, 14, 11, 16, 19, 17, 17, 17, 21, 22,
        16, 26, 16, 26, 26, 31, 31, 26, 33, 31, 35, 33, 33, 33, 44, 40, 41, 44, 44, 44, 44, 44,
        47, 44, 44,
    ])
    # fmt: on
    assert arb.is_tree(heads)
    lifted = arb.projectivize(heads)
    for name in ("arc-eager", "arc-standard", "arc-hybrid", "swap"):
        found = get_system(name).replay(49, get_system(name).derivation(lifted)).tree
        assert found.tolist() == lifted.tolist()
    found = get_system("swap").replay(49, get_system("swap").derivation(heads)).tree
    assert found.tolist() == heads


# Stanza (stanfordnlp/stanza): stanza/tests/common/test_chuliu_edmonds.py,
# stanza/tests/depparse/test_head_constraints.py


@pytest.mark.parametrize(
    ("heads", "tree"),
    [
        ([4, 4, 4, 0], True),
        ([2, 0, 4, 2, 2], True),
        ([3, 1, 2], False),
        ([3, 1, 2, 5, 6, 4], False),
    ],
)
def test_stanza_cycles(heads, tree):
    # test_tarjan_basic, test_tarjan_cycle
    assert arb.is_tree([-1, *heads]) == tree


def stanza_scores(nodes, edges, poor=(), poor_score=-20.0):
    """Scores as Stanza's tests write them, [dependent, head], turned round; -30 elsewhere."""
    scores = np.full((nodes, nodes), -30.0)
    for d, heads in poor:
        scores[d, heads] = poor_score
    for d, h, score in edges:
        scores[d, h] = score
    return scores.T


def stanza_labels(nodes, names, given):
    """Logarithms of the probabilities of labels, [head, dependent, label]; -10 elsewhere."""
    labels = np.full((nodes, nodes, len(names)), -10.0)
    for d, h, name, score in given:
        labels[h, d, names.index(name)] = score
    return labels


GAVE = {  # test_resolve_label_swap: I gave the cat a fish
    "edges": [(2, 0, -1), (1, 2, -1), (3, 4, -1), (5, 6, -1), (4, 2, -1), (6, 2, -1.2)],
    "poor": [(4, [0, 1, 3, 5, 6]), (6, [0, 1, 3, 4, 5])],
    "labels": [
        *[(2, 0, "root", -0.1), (1, 2, "nsubj", -0.1), (3, 4, "det", -0.1), (5, 6, "det", -0.1)],
        *[(4, 2, "obj", -0.5), (4, 2, "iobj", -0.6), (6, 2, "obj", -0.2), (6, 2, "iobj", -5)],
    ],
}
SUBJECTS = {  # test_resolve_structural_reroute
    "edges": [(1, 0, -1), (2, 1, -1), (3, 1, -1.05), (3, 4, -1.1), (4, 1, -1)],
    "labels": [
        *[(1, 0, "root", -0.1), (2, 1, "nsubj", -0.1), (3, 1, "nsubj", -0.15)],
        *[(3, 1, "advmod", -8), (3, 4, "obj", -0.2), (4, 1, "obj", -0.1)],
    ],
}
THREE = {  # test_resolve_valency_three
    "edges": [
        *[(1, 4, -0.5), (1, 5, -3), (1, 0, -10), (2, 4, -1), (2, 5, -1.2), (2, 0, -10)],
        *[(3, 4, -1.5), (3, 5, -1.6), (3, 0, -10), (4, 0, -1), (5, 4, -1)],
    ],
    "poor": [(4, [1, 2, 3, 5]), (5, [0, 1, 2, 3])],
    "poor_score": -10.0,
}
CLEAN = {  # test_resolve_clean_sentence_is_a_noop
    "edges": [(1, 3, -1), (2, 3, -1.1), (3, 0, -1)],
}


@pytest.mark.parametrize(
    ("case", "heads"),
    [
        (GAVE, [2, 0, 4, 2, 6, 2]),
        (SUBJECTS, [0, 1, 1, 1]),
        (THREE, [4, 4, 4, 0, 4]),
        (CLEAN, [3, 3, 0]),
    ],
)
def test_stanza_one_root(case, heads):
    # The trees from which the tests start.
    given = {name: case[name] for name in ("edges", "poor", "poor_score") if name in case}
    assert arb.decode(stanza_scores(len(heads) + 1, **given)).tolist() == [-1, *heads]


def at_most_one_object_and_subject(names):
    """Whether no head has two objects, or two subjects."""
    groups = [[names.index(name) for name in group if name in names] for group in OBJ_SUBJ]

    def kept(heads, labels):
        return all(
            len(of_group) == len(set(of_group))
            for of_group in (heads[np.isin(labels, group)].tolist() for group in groups)
        )

    return kept


OBJ_SUBJ = [("obj",), ("nsubj", "csubj")]


@pytest.mark.parametrize(
    ("case", "nodes", "right"),
    [(GAVE, 7, {4: (2, "iobj"), 6: (2, "obj")}), (SUBJECTS, 5, {2: (1, "nsubj"), 3: (4, "obj")})],
)
def test_stanza_one_object_and_one_subject(case, nodes, right):
    # What Stanza repairs is here the best labeled tree in which nothing has to be repaired.
    names = ["root", "nsubj", "csubj", "obj", "iobj", "det", "advmod", "punct"]
    scores = stanza_scores(nodes, case["edges"], case.get("poor", ()))
    labels = stanza_labels(nodes, names, case["labels"])
    both = scores[:, :, None] + labels
    kept = at_most_one_object_and_subject(names)
    assert not kept(*arb.decode_labeled(both))
    heads, chosen = arb.decode_where_labeled(both, kept)
    for word, (head, name) in right.items():
        assert (heads[word], names[chosen[word]]) == (head, name)


# ufal.chu_liu_edmonds (ufal/chu_liu_edmonds): tests/test.py, README.md


@pytest.mark.parametrize("seed", [43, 42])
def test_ufal_small_graphs(seed):
    # The test prints the tree of a 3 x 4 or a 3 x 3 matrix, [dependent, head], and checks nothing;
    # that of the README is not square, which is its mistake: it is cut here. With two words there
    # are three trees, which can be weighed by hand.
    scores = np.random.RandomState(seed).rand(3, 3 if seed == 43 else 4)[:, :3].T
    first, second = scores[0, 1] + scores[1, 2], scores[0, 2] + scores[2, 1]
    both = scores[0, 1] + scores[0, 2]
    heads = arb.decode(scores, root="multi")
    assert arb.tree_weight(scores, heads) == max(first, second, both)
    heads = arb.decode(scores)
    assert heads.tolist() == ([-1, 0, 1] if first > second else [-1, 2, 0])
