"""Heads of [dependent, head] scores, with 0 for the root and for padding."""

import numpy as np
import pytest

from arborescence import NoTreeError
from arborescence.integrations.tools import masked, one_root
from brute_force import is_best


def graph(rng, n, dtype=np.float32):
    """Scores of a sentence in these tools' layout, some edges masked as PyTorch users do."""
    scores = rng.normal(size=(n + 1, n + 1)).astype(dtype)
    scores[rng.random(scores.shape) < 0.2] = np.finfo(dtype).min
    return scores


def test_one_sentence():
    rng = np.random.default_rng(1)
    for n in [1, 2, 3, 4] * 25:
        scores = graph(rng, n)
        np.fill_diagonal(scores, -np.inf)
        before = scores.copy()
        heads = one_root(scores)
        assert heads[0] == 0
        assert heads.dtype == np.int64
        assert is_best(scores.T, np.array([-1, *heads[1:]]), single=True)
        assert np.array_equal(scores, before)


def test_no_tree():
    with pytest.raises(NoTreeError):
        one_root(np.full((3, 3), -np.inf))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("multiroot", [False, True])
def test_a_batch_of_tensors(multiroot, projective, dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = np.random.default_rng(2)
    lengths = torch.tensor([3, 0, 1, 4, 2] * 4)
    scores = torch.tensor(np.stack([graph(rng, 4, np.float16) for _ in lengths]))
    scores = scores.to(getattr(torch, dtype))
    words = torch.arange(5)
    mask = (words > 0) & (words <= lengths[:, None])
    scores[~mask[:, :, None].expand_as(scores)] = torch.nan  # row 0 and padding
    before = scores.clone()
    scores.requires_grad_()
    heads = masked(scores, mask, multiroot=multiroot, projective=projective)
    assert heads.dtype == torch.int64
    assert heads.shape == mask.shape
    assert not heads[~mask].any()
    assert torch.equal(scores.detach().nan_to_num(), before.nan_to_num())
    for matrix, tree, n in zip(before.double().numpy(), heads.numpy(), lengths, strict=True):
        if n == 0:
            continue
        own = np.array([-1, *tree[1 : n + 1]])
        sub = np.nan_to_num(matrix[: n + 1, : n + 1].T)
        assert is_best(sub, own, single=not multiroot, projective=projective)


def test_no_sentence():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert masked(torch.zeros(0, 3, 3), torch.zeros(0, 3, dtype=torch.bool)).shape == (0, 3)
