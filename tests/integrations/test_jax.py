"""JAX's arrays go in and come out."""

import numpy as np
import pytest

import arborescence as arb

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

SCORES = [[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32"])
def test_trees_are_arrays_of_jax(dtype):
    scores = jnp.array(SCORES, dtype)
    heads = arb.decode(scores)
    assert isinstance(heads, jax.Array)
    assert heads.device == scores.device
    assert heads.tolist() == [-1, 0, 1]
    trees, weights, _ = arb.kbest(scores, 2)
    assert isinstance(trees, jax.Array)
    assert weights.tolist() == [8.0, 6.0]


def test_lengths_and_masks():
    batch = jnp.array([SCORES, SCORES])
    for lengths in (jnp.array([2, 1]), jnp.array([[True, True], [True, False]])):
        assert arb.decode(batch, lengths).tolist() == [[-1, 0, 1], [-1, 0, -1]]


def test_marginals():
    sums = arb.TreeDistribution(jnp.array(SCORES)).marginals()
    assert np.allclose(sums, arb.TreeDistribution(np.array(SCORES)).marginals())


def test_inside_of_jit_there_is_no_array_yet():
    with pytest.raises(arb.ScoresError, match="do not form an array"):
        jax.jit(arb.decode)(jnp.array(SCORES))
