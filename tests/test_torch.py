import numpy as np
import pytest

import arborescence as arb
from arborescence import undirected

torch = pytest.importorskip("torch", reason="needs the extra 'torch'")


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64]
)
def test_a_tensor_in_gives_a_tensor_out(dtype):
    scores = np.random.default_rng(0).integers(-3, 4, (20, 6, 6))
    tensor = torch.tensor(scores).to(dtype)
    heads = arb.decode(tensor, threads=2)
    assert isinstance(heads, torch.Tensor)
    assert heads.dtype == torch.int64
    assert heads.device == tensor.device
    assert heads.tolist() == arb.decode(scores).tolist()
    assert arb.decode(tensor.mT).tolist() == arb.decode(np.swapaxes(scores, 1, 2)).tolist()


def test_gradients_lengths_and_labels():
    scores = torch.randn(3, 5, 5, 4, requires_grad=True)
    heads, labels = arb.decode_labeled(scores, lengths=torch.tensor([4, 2, 1]))
    assert heads.shape == labels.shape == (3, 5)
    assert (labels[heads == -1] == -1).all()
    assert arb.is_tree(heads).all()


def test_bfloat16_is_exact():
    scores = torch.full((4, 4), torch.finfo(torch.bfloat16).min, dtype=torch.bfloat16)
    scores[0, 2] = scores[2, 1] = scores[1, 3] = 1
    assert arb.decode(scores).tolist() == [-1, 2, 0, 1]


def test_require_and_weight():
    scores = torch.zeros(3, 3)
    required = arb.require(scores, [(2, 1)])
    assert isinstance(required, torch.Tensor)
    assert required[0, 1] == -torch.inf
    assert scores[0, 1] == 0
    assert arb.tree_weight(scores, arb.decode(required)) == 0


def test_undirected_trees():
    scores = torch.tensor(np.random.default_rng(1).normal(size=(5, 6, 6)))
    weights = undirected.encode(scores)
    heads = undirected.decode(scores, rounds=0)
    enhanced = undirected.enhance(scores, heads)
    for tensor, function in (
        (weights, lambda: undirected.encode(scores.numpy())),
        (heads, lambda: undirected.decode(scores.numpy(), rounds=0)),
        (enhanced, lambda: undirected.enhance(scores.numpy(), heads.numpy())),
    ):
        assert isinstance(tensor, torch.Tensor)
        assert tensor.tolist() == function().tolist()


def test_errors_name_the_position():
    scores = torch.zeros(2, 3, 3)
    scores[1, 0, 2] = torch.nan
    with pytest.raises(arb.ScoresError, match=r"scores\[1, 0, 2\]"):
        arb.decode(scores)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_another_device():
    scores = torch.randn(4, 6, 6, device="cuda")
    heads = arb.decode(scores)
    assert heads.device == scores.device
    assert heads.tolist() == arb.decode(scores.cpu()).tolist()


def test_labeled_trees_and_searches_give_tensors():
    scores = torch.tensor(np.random.default_rng(1).integers(-3, 4, (3, 4, 4, 2)).astype(np.float32))
    lengths = torch.tensor([3, 2, 3])
    results = arb.kbest_labeled(scores, 5, lengths, threads=2)
    for result, expected in zip(
        results, arb.kbest_labeled(scores.numpy(), 5, lengths.numpy()), strict=True
    ):
        assert isinstance(result, torch.Tensor)
        assert result.numpy().tolist() == expected.tolist()
    one = scores[0]
    for result, expected in zip(
        arb.kbest_labeled(one, 5), arb.kbest_labeled(one.numpy(), 5), strict=True
    ):
        assert result.tolist() == expected.tolist()
    heads, labels, _ = next(arb.trees_labeled(one.bfloat16()))
    assert [heads.tolist(), labels.tolist()] == [tree.tolist() for tree in arb.decode_labeled(one)]

    heads = arb.decode_where(one[..., 0], lambda heads: bool((heads[1:] == 1).any()))
    assert isinstance(heads, torch.Tensor)
    assert (heads == 1).any()
    heads, labels = arb.decode_where_labeled(one, lambda _, labels: torch.all(labels[1:] == 1))
    assert heads.tolist() == arb.decode(one[..., 1]).tolist()
    assert labels.tolist() == [-1, 1, 1, 1]


def test_the_k_best_are_tensors():
    scores = torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(2))
    values = scores.numpy()
    for found, expected in zip(arb.kbest(scores, 4), arb.kbest(values, 4), strict=True):
        assert isinstance(found, torch.Tensor)
        np.testing.assert_array_equal(found.numpy(), expected)
    for found, expected in zip(arb.kbest(scores[0], 4), arb.kbest(values[0], 4), strict=True):
        np.testing.assert_array_equal(found.numpy(), expected)
    heads, weight = next(arb.trees(scores[0]))
    assert isinstance(heads, torch.Tensor)
    assert weight == arb.tree_weight(values[0], heads)
    second, weight, (h, d) = arb.second_best(scores[0])
    assert isinstance(second, torch.Tensor)
    assert arb.kbest(values[0], 2)[1][1] == weight
    assert heads[d] == h
    assert second[d] != h


def test_lifting_gives_tensors():
    heads = torch.tensor([[-1, 2, 4, 4, 0, 7, 7, 2]])
    labels = ["det", "nsubj", "aux", "root", "case", "det", "nmod"]
    lifted, marked = arb.projectivize(heads, [labels])
    back, plain = arb.deprojectivize(lifted, marked)
    for tensor in (arb.projectivize(heads), lifted, back):
        assert isinstance(tensor, torch.Tensor)
    assert lifted.tolist() == [[-1, 2, 4, 4, 0, 7, 7, 4]]
    assert back.tolist() == heads.tolist()
    assert plain == [labels]


def test_edges():
    ends = torch.tensor([0, 0, 1]), torch.tensor([1, 2, 2])
    weights = torch.tensor([2.0, 1.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
    heads = arb.decode_sparse(2, *ends, weights)
    assert isinstance(heads, torch.Tensor)
    assert heads.tolist() == [-1, 0, 1]
    for edges in (
        undirected.spanning_tree(3, *ends, weights),
        undirected.spanning_tree(torch.ones(3, 3)),
        undirected.spanning_tree(torch.ones(3, 3), algorithm="kkt"),
    ):
        assert isinstance(edges, torch.Tensor)
        assert edges.tolist() in ([0, 2], [[0, 1], [0, 2]])


# Kinds of tensors.


def test_subclasses_of_tensors_are_tensors():
    class Scores(torch.Tensor):
        pass

    plain = torch.arange(9.0).reshape(3, 3)
    for scores in (torch.nn.Parameter(plain), plain.as_subclass(Scores)):
        for tensor in (
            arb.decode(scores),
            *arb.kbest(scores, 2),
            arb.forbid(scores, [(0, 1)]),
            arb.undirected.encode(scores),
        ):
            assert type(tensor) is torch.Tensor
            assert not tensor.requires_grad
        assert arb.decode(scores).tolist() == arb.decode(plain.numpy()).tolist()


def test_lists_of_tensors_give_tensors():
    parts = [torch.rand(3, 3), torch.rand(2, 2, requires_grad=True)]
    heads = arb.decode(parts)
    assert isinstance(heads, torch.Tensor)
    assert heads.shape == (2, 3)
    assert isinstance(arb.decode(parts[:1]), torch.Tensor)


def test_masks_may_be_tensors():
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert arb.decode(torch.zeros(2, 3, 3), mask)[1, 2] == -1


def test_tensors_that_are_no_arrays():
    for scores in (torch.eye(3).to_sparse(), torch.empty(3, 3, device="meta")):
        with pytest.raises(arb.ScoresError, match="cannot be read as an array"):
            arb.decode(scores)


def test_orient_gives_a_tensor():
    u, v = torch.tensor([0, 1]), torch.tensor([1, 2])
    assert arb.undirected.orient(3, u, v).tolist() == [-1, 0, 1]
