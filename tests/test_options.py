"""Every option with a value that it cannot have is an `OptionError`, whoever takes it."""

import numpy as np
import pytest

import arborescence as arb
from arborescence import transitions, undirected
from arborescence.core.checks import check_count, check_flag

S = np.zeros((3, 3))
L = np.zeros((3, 3, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arb.decode(S, root="sinlge"), "root must be 'single' or 'multi', not 'sinlge'"),
        (lambda: arb.decode(S, projective="no"), "projective must be False or True, not 'no'"),
        (lambda: undirected.decode(S, root="sinlge"), "root must be 'single' or 'multi'"),
        (lambda: undirected.decode(S, rounds=0.5), "rounds must be a whole number"),
        (
            lambda: undirected.decode(S, rounds=-1),
            "rounds must be 0 or more, or None for no limit",
        ),
        (lambda: undirected.decode(S, threads=0), "threads must be at least 1"),
        (lambda: arb.decode(S, threads=0), "threads must be at least 1, not 0"),
        (lambda: arb.decode(S, threads="2"), "threads must be a whole number, not '2'"),
        (lambda: arb.kbest(S, 0), "k must be at least 1"),
        (lambda: arb.kbest(S, 1, threads=0), "threads"),
        (lambda: arb.kbest(S, 1, projective=None), "projective"),
        (lambda: arb.trees(S, projective=2), "projective"),
        (lambda: arb.decode_sparse(2**30, [], [], []), "n must be between 0 and 1073741823, not"),
        (lambda: arb.kbest([S, S], 2**63), "k is 9223372036854775808: there is no memory"),
        (lambda: arb.kbest_labeled(L, 0), "k must be at least 1"),
        (lambda: arb.kbest_labeled(L, "x"), "k must be a whole number"),
        (lambda: arb.decode_where(S, bool, limit=0), "limit"),
        (lambda: arb.decode_where(S, bool, limit=1.5), "limit must be a whole number"),
        (lambda: arb.decode_sparse(-1, [], [], []), "n must be between"),
        (lambda: arb.is_tree([-1, 0], root="one"), "root"),
        (lambda: undirected.encode(S, "sum"), "encoding must be one of"),
        (lambda: undirected.spanning_tree(3.5, [], [], []), "nodes must be a whole number"),
        (lambda: undirected.orient(2.5, [], []), "nodes must be a whole number"),
        (lambda: transitions.get_system("eager"), "system must be"),
    ],
)
def test_wrong_options(call, message):
    with pytest.raises(arb.OptionError, match=message):
        call()


def test_an_option_error_is_both():
    assert issubclass(arb.OptionError, ValueError)
    assert issubclass(arb.OptionError, arb.ArborescenceError)


def test_numbers_and_flags_of_numpy_will_do():
    assert check_count(np.int8(3)) == 3
    assert check_flag(np.True_) is True


def test_a_huge_k_gives_all_trees():
    for k in (10**9, 2**62, 2**63, 10**30):
        assert len(arb.kbest(S, k)[0]) == 2
        assert len(arb.kbest(S, k, projective=True, root="multi")[0]) == 3
        assert len(arb.kbest_labeled(L, k)[0]) == 2 * 2**2
        heads, *_, counts = arb.kbest_labeled([L, L], k)
        assert counts.tolist() == [8, 8]
        assert heads.shape == (2, 8, 3)


@pytest.mark.parametrize(("words", "projective", "count"), [(6, False, 6**4), (8, True, 7752)])
def test_room_grows_with_the_trees(words, projective, count):
    # More trees than there is room for at first, and fewer than k.
    scores = np.random.default_rng(0).integers(0, 50, (words + 1, words + 1)).astype(float)
    scores[0, 2:] = -np.inf
    heads, weights, _ = arb.kbest(scores, 10**7, projective=projective)
    every = list(arb.trees(scores, projective=projective))
    assert len(heads) == len(every) == count
    assert heads.tolist() == [tree.tolist() for tree, _ in every]
    assert weights.tolist() == [weight for _, weight in every]
