"""Trees of genomes by their allelic profiles."""

import numpy as np
import pytest

from arborescence import ScoresError
from arborescence.integrations.grapetree import allelic_tree
from brute_force import all_trees
from modes import some


def weight_by_definition(profiles, heads):
    """The sum of the rounded distances and of the ranks of the genomes that edges leave."""
    count, loci = profiles.shape
    distance = np.zeros((count, count))
    for h in range(count):
        for d in range(count):
            has = [locus for locus in range(loci) if profiles[d, locus] > 0]
            other = sum(profiles[h, locus] != profiles[d, locus] for locus in has)
            distance[h, d] = other * (loci / len(has))
    far = [count / sum(1 / (each + 0.1) for each in distance[h]) for h in range(count)]
    order = sorted(range(count), key=lambda h: far[h])
    edges = [(h, d) for d, h in enumerate(heads) if h >= 0]
    return sum(round(distance[edge]) + order.index(edge[0]) / count for edge in edges), distance


def test_the_lightest_of_all_trees():
    rng = np.random.default_rng(1)
    for _ in range(some(60)):
        count = int(rng.integers(1, 6))
        profiles = rng.integers(0, 4, (count, 7))
        profiles[:, 0] = 1
        heads, distances = allelic_tree(profiles)
        weight, distance = weight_by_definition(profiles, heads)
        best = min(
            weight_by_definition(profiles, np.array(tree)[1:] - 1)[0]
            for tree in all_trees(count, True)
        )
        assert weight == pytest.approx(best, abs=1e-9)
        for d, h in enumerate(heads):
            assert distances[d] == (0 if h < 0 else distance[h, d])


def test_a_genome_with_gaps_is_no_ancestor():
    heads, _ = allelic_tree([[1, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 2]])
    assert 0 not in heads


@pytest.mark.parametrize(
    ("profiles", "message"),
    [
        ([1, 2], r"matrix of whole numbers, not int64 of shape \(2,\)"),
        ([[1.5, 2.0]], "matrix of whole numbers, not float64"),
        ([[1, 2], [0, 0]], r"profiles\[1\] has no allele"),
    ],
)
def test_what_is_no_profile(profiles, message):
    with pytest.raises(ScoresError, match=message):
        allelic_tree(profiles)
