"""Faults of attachment beside their definition, in trees of one sentence and of several."""

import numpy as np
import pytest

from arborescence.rules.crossings import faults, proof_of
from arborescence.rules.trees import Trees

WORDS = 9


def random_heads(rng, several_roots):
    """The head of each node; a root has itself."""
    heads = np.zeros(WORDS + 1, np.int64)
    order = rng.permutation(WORDS) + 1
    for place in range(1, WORDS):
        of_root = several_roots and rng.random() < 0.2
        heads[order[place]] = 0 if of_root else order[rng.integers(max(0, place - 3), place)]
    return heads


def trees_of(*sentences):
    starts = (WORDS + 1) * np.arange(len(sentences))
    nothing = np.zeros((WORDS + 1) * len(sentences), np.int64)
    return Trees(
        np.concatenate([heads + start for heads, start in zip(sentences, starts, strict=True)]),
        np.repeat(starts, WORDS + 1),
        *[nothing] * 4,
        *[()] * 3,
        misc=lambda value: np.zeros(len(nothing), np.bool_),
    )


def is_above(heads, other, node):
    while node != other and node:
        node = heads[node]
    return node == other


def nodes_at_fault(heads, word, causes):
    """By the definition: nodes in the gap of the word's edge, or whose edges go across the word."""
    head = heads[word]
    if not causes:
        between = range(min(word, head) + 1, max(word, head))
        return [d for d in between if not is_above(heads, head, d)]
    found = []
    for d in range(1, len(heads)):
        low, high = sorted((d, heads[d]))
        outside = head < low or high < head
        if low < word < high and outside and not is_above(heads, heads[d], head):
            found.append(d)
    return found


@pytest.mark.parametrize("causes", [False, True], ids=["gaps", "crossings"])
@pytest.mark.parametrize("several_roots", [False, True], ids=["one root", "several roots"])
def test_faults_beside_their_definition(causes, several_roots):
    rng = np.random.default_rng(0)
    words, seen = np.arange(1, WORDS + 1), 0
    for _ in range(300):
        heads = random_heads(rng, several_roots)
        tree = trees_of(heads)
        found = faults(tree, words, causes=causes).tolist()
        for word, fault in zip(words.tolist(), found, strict=True):
            nodes = nodes_at_fault(heads, word, causes)
            proofs = [proof_of(tree, word, node, causes=causes) for node in nodes]
            shortest = [node for node, p in zip(nodes, proofs, strict=True)
                        if len(p) == min(map(len, proofs))]  # fmt: skip
            assert fault == (shortest[0] if shortest else -1)
            seen += bool(nodes)
        behind = trees_of(random_heads(rng, several_roots), heads)
        others = faults(behind, words + WORDS + 1, causes=causes)
        assert (others - (others >= 0) * (WORDS + 1)).tolist() == found
    assert seen > 200


@pytest.mark.parametrize("causes", [False, True], ids=["gaps", "crossings"])
def test_a_tree_with_the_edges_of_a_proof_has_the_fault(causes):
    rng, seen = np.random.default_rng(1), 0
    for _ in range(60):
        heads = random_heads(rng, several_roots=True)
        tree = trees_of(heads)
        for word in range(1, WORDS + 1):
            [fault] = faults(tree, np.array([word]), causes=causes).tolist()
            if fault < 0:
                continue
            kept = [word, *proof_of(tree, word, fault, causes=causes)]
            for _ in range(20):
                other = random_heads(rng, several_roots=True)
                other[kept] = heads[kept]
                if not has_cycle(other):
                    assert fault in nodes_at_fault(other, word, causes)
                    seen += 1
    assert seen > 200


def has_cycle(heads):
    node = np.arange(len(heads))
    for _ in heads:
        node = heads[node]
    return bool(node.any())
