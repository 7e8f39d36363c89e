"""Sentences whose parts are listed: the same trees and proofs as from arrays of all parts."""

import numpy as np
import pytest

import arborescence as arb
from arborescence import second_order
from arborescence.second_order.decoding import decode_listed
from arborescence.second_order.edges import Listed, ceilings_of, indexed, weigh, without_hopeless
from arborescence.second_order.units import ABSENT, LOWEST, Scale, Units
from modes import UNCOMPILED
from second_order_parts import all_weights, random_parts

COUNT = 4 if UNCOMPILED else 40
both_roots = pytest.mark.parametrize("single", [True, False])


def listed(parts, single):
    """List arrays of whole numbers; return the lists with floats."""
    arrays = [
        np.zeros((0, 0, 0), np.int64)
        if part is None
        else np.where(part > -np.inf, part, ABSENT).astype(np.int64)
        for part in parts
    ]
    np.fill_diagonal(arrays[0], ABSENT)
    arrays[0][:, 0] = ABSENT
    lists = Listed.of(Units(*arrays, Scale.of(len(arrays[0]), 0, 1, False)), single)
    return lists._replace(
        **{
            name: np.where(values > LOWEST, values, -np.inf)
            for name, values in lists._asdict().items()
            if name in ("scores", "pairs", "grandparents")
        }
    )


def joined(lists):
    """Put the lists of several sentences in a row."""
    counts = [[len(one.firsts) // 2, *map(len, one[2:])] for one in lists]
    ends = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(counts, axis=0)])
    return Listed(*map(np.concatenate, zip(*lists, strict=True))), ends


def samples(seed, **options):
    rng = np.random.default_rng(seed)
    return [random_parts(rng, int(rng.integers(1, 6)), "whole", **options) for _ in range(COUNT)]


@both_roots
def test_the_same_as_from_arrays(single):
    root = "single" if single else "multi"
    sentences = samples(1)
    lists, ends = joined([listed(parts, single) for parts in sentences])
    found = decode_listed(lists, ends, single=single, rounds=60, branches=200)
    for parts, ours in zip(sentences, found, strict=True):
        best = max(weight for _, weight in all_weights(parts, single, False))
        assert ours.exact
        assert ours.weight == ours.bound == best
        assert second_order.tree_weight(parts[0], ours.heads, *parts[1:]) == best
        assert arb.is_tree(ours.heads, root=root)


@both_roots
def test_a_few_rounds_claim_no_more_than_they_prove(single):
    sentences = samples(2)
    lists, ends = joined([listed(parts, single) for parts in sentences])
    found = decode_listed(lists, ends, single=single, rounds=1, branches=0)
    for parts, ours in zip(sentences, found, strict=True):
        best = max(weight for _, weight in all_weights(parts, single, False))
        assert ours.weight <= best <= ours.bound
        assert ours.exact == (ours.weight == ours.bound)
    assert not all(ours.exact for ours in found)


@both_roots
def test_absent_parts(single):
    trees = 0
    for parts in samples(3, absent=0.2):
        lists, ends = joined([listed(parts, single)])
        weighed = all_weights(parts, single, False)
        if not weighed:
            with pytest.raises(arb.NoTreeError, match="sentence 0"):
                decode_listed(lists, ends, single=single, rounds=60, branches=200)
            continue
        [found] = decode_listed(lists, ends, single=single, rounds=60, branches=200)
        assert found.exact
        assert found.weight == max(weight for _, weight in weighed)
        trees += 1
    assert trees


@both_roots
def test_what_is_removed_is_in_no_tree_of_that_weight(single):
    for parts in samples(4, absent=0.05):
        units = listed(parts, single)
        whole = [np.where(each > -np.inf, each, ABSENT).astype(np.int64) for each in units[2:]]
        edges = indexed(*units[:2], *whole, single)
        weighed = sorted(all_weights(parts, single, False), key=lambda tree: tree[1])
        for heads, weight in weighed[-3:]:
            origin = np.empty(len(whole[0]), np.int64)
            ceilings = ceilings_of(edges, single)
            fewer = without_hopeless(edges, ceilings, int(weight), single, origin)
            prices = np.ones((2, len(whole[0])), np.int64)
            size = len(heads)
            for tree, of_tree in weighed:
                earned, now = weigh(fewer, prices, np.array(tree), single)
                assert now in (of_tree, ABSENT)
                if of_tree >= weight:
                    assert (earned, now) == (2 * (size - 1), of_tree)


def test_sentences_without_words_and_without_grandparents():
    none, one = np.zeros((1, 1)), np.zeros((2, 2))
    sentences = [(none, None, None), (one, None, None), (none, None, None)]
    lists, ends = joined([listed(parts, True) for parts in sentences])
    found = decode_listed(lists, ends, single=True, rounds=5, branches=5)
    assert [each.heads.tolist() for each in found] == [[-1], [-1, 0], [-1]]
    assert all(each.exact and each.weight == 0 for each in found)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_broken_weights(wrong):
    lists, ends = joined([listed(parts, True) for parts in samples(5)[:2]])
    lists.pairs[-1] = wrong
    with pytest.raises(arb.ScoresError, match="sentence 1"):
        decode_listed(lists, ends, single=True, rounds=5, branches=5)


def test_what_had_to_be_rounded_is_not_called_exact():
    lists, ends = joined([listed(parts, True) for parts in samples(6)[:3]])
    lists.scores[:] += np.random.default_rng(7).normal(size=len(lists.scores)) * 1e-9
    for found in decode_listed(lists, ends, single=True, rounds=60, branches=9):
        assert not found.exact
        assert found.bound > found.weight
