"""Check an installed wheel: everything works with its native modules, without Numba or a compiler.

    python native/smoke.py [LEVEL]

Run it with the Python of an environment where the wheel, and nothing but NumPy, is installed.
"""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import shutil
import sys
import time

START = time.perf_counter()

import numpy as np  # noqa: E402

import arborescence as arb  # noqa: E402
from arborescence import treebank, undirected  # noqa: E402
from arborescence.compiling.native import config  # noqa: E402


def best_of_all(scores: np.ndarray) -> float:
    """Return the weight of the best tree, by looking at all head vectors."""
    words = len(scores) - 1
    heads = np.array([(-1, *rest) for rest in itertools.product(range(words + 1), repeat=words)])
    return max(arb.tree_weight(scores, tree) for tree in heads[arb.is_tree(heads)])


def in_read_only_memory(parser: arb.parsers.Parser) -> arb.parsers.Parser:
    """Return a copy of a parser whose arrays are read-only, as in the processes of pools."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(parser, protocol=5, buffer_callback=buffers.append)
    copied: arb.parsers.Parser = pickle.loads(data, buffers=[bytes(each) for each in buffers])
    return copied


def heads_of(parser: arb.parsers.Parser, sentence: treebank.Sentence) -> list[int]:
    """Parse a sentence, and return its head vector."""
    [parsed] = parser.parse([sentence])
    heads: list[int] = parsed.tree.tolist()
    return heads


def check(level: str) -> None:
    """Use each family of kernels once."""
    heads = arb.decode(np.zeros((26, 26)))
    print(f"the first tree after {time.perf_counter() - START:.2f} s")
    assert arb.is_tree(heads)
    kernels = config()["kernels"]
    print(kernels)
    assert kernels.startswith(f"native, for {level}"), "the native modules are not used"

    generator = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        scores = generator.normal(size=(5, 5)).astype(dtype)
        best = best_of_all(scores)
        read_only = np.frombuffer(scores.T.tobytes(), dtype).reshape(5, 5).T
        strided = np.repeat(scores, 2, axis=1)[:, ::2]
        for view in (scores, np.asfortranarray(scores), strided, read_only, read_only[::-1][::-1]):
            assert arb.tree_weight(scores, arb.decode(view)) == best
        trees, weights, _ = arb.kbest(scores, 3)
        assert weights[0] == best
        assert len(set(map(tuple, trees.tolist()))) == 3
    dist = arb.TreeDistribution(scores)
    assert np.allclose(dist.marginals()[:, 1:].sum(axis=0), 1)
    assert arb.is_tree(dist.sample(10, rng=0)).all()
    assert arb.is_projective(arb.decode(scores, projective=True))
    assert arb.decode_labeled(scores[..., None])[0].tolist() == arb.decode(scores).tolist()
    arcs = [(h, d) for h in range(5) for d in range(1, 5) if h != d]
    sparse = arb.decode_sparse(4, *zip(*arcs, strict=True), [scores[arc] for arc in arcs])
    assert sparse.tolist() == arb.decode(scores).tolist()
    assert arb.is_tree(undirected.decode(scores))
    words = treebank.Sentence.from_words(["Old", "trees", "grow"])
    for name in ("english-fast", "english"):
        parser = arb.load(name)
        assert heads_of(parser, words) == heads_of(in_read_only_memory(parser), words)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(heads_of, (parser, words)) == [-1, 2, 3, 0]
    assert "numba" not in sys.modules
    print(f"all is well after {time.perf_counter() - START:.2f} s")


if __name__ == "__main__":
    if shutil.which("cc") or shutil.which("gcc"):
        print("note: there is a compiler on the path, though none is needed")
    check(sys.argv[1] if len(sys.argv) > 1 else "")
