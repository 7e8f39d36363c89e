import numpy as np
import pytest

import arborescence as arb


def test_require_and_forbid_leave_the_original_alone():
    scores = np.arange(9.0).reshape(3, 3)
    before = scores.copy()
    required, forbidden = arb.require(scores, [(2, 1)]), arb.forbid(scores, [(2, 1)])
    assert (scores == before).all()
    assert required[:, 1].tolist() == [-np.inf, -np.inf, 7.0]
    assert forbidden[:, 1].tolist() == [1.0, 4.0, -np.inf]
    assert (required[:, 2] == before[:, 2]).all()


def test_batches_take_an_index_a_dimension():
    scores = np.zeros((2, 3, 3), np.float32)
    required = arb.require(scores, [(1, 0, 2)])
    assert required.dtype == np.float32
    assert required[0].tolist() == scores[0].tolist()
    assert required[1, :, 2].tolist() == [0.0, -np.inf, -np.inf]


def test_whole_numbers_become_floats():
    assert arb.forbid(np.zeros((2, 2), int), [(0, 1)]).dtype == np.float64


def test_the_same_edge_twice_is_no_contradiction():
    assert arb.require(np.zeros((3, 3)), [(0, 1), (0, 1)])[0, 1] == 0


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (2, 1)], "word 1 cannot have both 0 and 2"),
        ([(0, 3)], "outside"),
        ([(-1, 1)], "outside"),
        ([(1, 0)], "enters the root"),
        ([(1, 1)], "loop"),
        ([(0, 0, 1)], "must have 2 indices"),
    ],
)
def test_unusable_edges(edges, message):
    with pytest.raises(arb.ScoresError, match=message):
        arb.require(np.zeros((3, 3)), edges)


def test_unusable_shape():
    with pytest.raises(arb.ScoresError, match=r"\(3, 4\)"):
        arb.forbid(np.zeros((3, 4)), [])


@pytest.mark.parametrize("edge", [(0.5, 1), (0.0, 1.0), ("0", 1), (None, 1), 1, (0, np.nan)])
def test_edges_are_whole_numbers(edge):
    for change in (arb.require, arb.forbid):
        with pytest.raises(arb.ScoresError, match=r"must be a pair \(h, d\) of whole numbers"):
            change(np.zeros((3, 3)), [edge])
    with pytest.raises(arb.ScoresError, match="in a list of such pairs"):
        arb.forbid(np.zeros((3, 3)), (0, 1))


def test_numbers_of_numpy_are_whole_too():
    edges = np.array([[0, 1]], np.uint8)
    assert arb.forbid(np.zeros((3, 3)), edges)[0, 1] == -np.inf


# Lists of matrices.
