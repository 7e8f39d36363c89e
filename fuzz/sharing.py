"""Arrays that another thread changes during calls, objects that threads share, and forks.

What such a call returns has no meaning. But no call may crash, hang, or write elsewhere in memory.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice

import numpy as np

import arborescence as arb
from arborescence import second_order, treebank, undirected
from arborescence.transitions import SYSTEMS, get_system
from cases import PATIENCE, Case, WrongError, examine
from oracles import random_tree

CALLS = 30  # of a function, while its arrays change
PAUSE = 1e-5  # seconds, on average, that they are wrong
FLOATS = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 1.0])
WHOLE = np.array([-(2**63), 2**63 - 1, -(2**31), -2, -1, 0, 1, 2**20, 2**40])


def attack(rng):
    for _ in range(4):
        name = str(rng.choice([*CHANGED]))
        yield from examine(changed, Case((), {"call": name, "seed": int(rng.integers(2**31))}))
    yield from examine(shared, Case((), {"seed": int(rng.integers(2**31))}))
    if rng.random() < 0.2:
        yield from examine(forked, Case((), {"seed": int(rng.integers(2**31))}))


def changed(case):
    """Call a function again and again while another thread writes into its arrays."""
    rng = np.random.default_rng(case.options["seed"])
    arrays, call = CHANGED[case.options["call"]](rng)
    with suppress(arb.ArborescenceError):
        call(*arrays)  # kernels are compiled here
    done = threading.Event()
    versions = [[array.copy(), *bad(rng, array)] for array in arrays]

    def write():
        # Mostly what is right, so that many calls get past their checks.
        while not done.is_set():
            which = int(rng.integers(len(arrays)))
            array, (good, *others) = arrays[which], versions[which]
            array[...] = others[int(rng.integers(len(others)))]
            time.sleep(rng.exponential(PAUSE))
            array[...] = good
            time.sleep(rng.exponential(2 * PAUSE))

    writer = threading.Thread(target=write)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    writer.start()
    try:
        for _ in range(CALLS):
            # What was checked may have changed since: then also NumPy or Python may complain.
            with suppress(arb.ArborescenceError, ValueError, IndexError, OverflowError):
                call(*arrays)
    finally:
        done.set()
        writer.join()
        sys.setswitchinterval(interval)


def bad(rng, array):
    """Return arrays of the same shape that are wrong in many places, or in one."""
    values = FLOATS if array.dtype.kind == "f" else WHOLE
    with np.errstate(over="ignore"):
        many = rng.choice(values, array.shape).astype(array.dtype)
        one = array.copy()
        if array.size:
            one.flat[int(rng.integers(array.size))] = rng.choice(values).astype(array.dtype)
    return many, one, rng.permutation(array.reshape(-1)).reshape(array.shape)


def options(rng):
    return {"root": str(rng.choice(["single", "multi"])), "threads": int(rng.choice([1, 1, 2]))}


def sizes(rng, most=40):
    """Return the number of sentences, and that of words."""
    return int(rng.integers(1, 9)), int(rng.integers(2, most))


def scores_of(rng, *shape):
    kind = rng.choice([np.float32, np.float64])
    whole = rng.random() < 0.3  # ties
    return (rng.integers(0, 2, shape) if whole else rng.normal(size=shape)).astype(kind)


def batch(rng, most=40, more=()):
    many, n = sizes(rng, most)
    return scores_of(rng, many, n + 1, n + 1, *more), rng.integers(0, n + 1, many)


def trees_of(rng, *sizes):
    many, n = sizes
    return np.array([random_tree(rng, n, "single") for _ in range(many)])


def decode(rng):
    how = {**options(rng), "projective": bool(rng.random() < 0.3)}
    turned = rng.random() < 0.3
    return batch(rng), lambda s, words: arb.decode(s.mT if turned else s, words, **how)


def decode_one(rng):
    scores = scores_of(rng, *[int(rng.integers(2, 90))] * 2)
    return (scores,), arb.decode


def decode_labeled(rng):
    how = options(rng)
    return batch(rng, more=(3,)), lambda s, words: arb.decode_labeled(s, words, **how)


def kbest(rng):
    how = {**options(rng), "projective": bool(rng.random() < 0.3)}
    return batch(rng, 12), lambda s, words: arb.kbest(s, 9, words, **how)


def kbest_labeled(rng):
    return batch(rng, 9, (2,)), lambda s, words: arb.kbest_labeled(s, 9, words)


def trees(rng):
    scores, _ = batch(rng, 12)
    return (scores[0],), lambda s: [*islice(arb.trees(s), 40)]


def decode_sparse(rng):
    n = int(rng.integers(2, 3000))
    m = n * int(rng.integers(1, 6))
    heads, deps = rng.integers(0, n + 1, m + n), np.append(rng.integers(1, n + 1, m), range(n))
    how = str(rng.choice(["single", "multi"]))
    arrays = heads, deps, rng.integers(0, 4, m + n).astype(float)
    family = arb if rng.random() < 0.5 else undirected
    return arrays, lambda h, d, w: family.decode_sparse(n, h, d, w, root=how)


def spanning_tree(rng):
    n = int(rng.integers(2, 900))
    m = n * int(rng.integers(1, 40))
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    how = str(rng.choice(["auto", "boruvka", "kruskal", "prim", "kkt"]))
    return (*ends, rng.normal(size=m)), lambda u, v, w: undirected.spanning_tree(
        n, u, v, w, algorithm=how
    )


def spanning_tree_of_matrix(rng):
    matrix = scores_of(rng, *[int(rng.integers(2, 60))] * 2).astype(float)
    return (matrix + matrix.T,), undirected.spanning_tree


def orient(rng):
    n = int(rng.integers(2, 2000))
    heads = trees_of(rng, 1, n)[0]
    return (heads[1:].copy(), np.arange(1, n + 1)), lambda u, v: undirected.orient(n + 1, u, v)


def undirected_decode(rng):
    how = options(rng)
    return batch(rng), lambda s, words: undirected.decode(s, words, rounds=None, **how)


def enhance(rng):
    many, n = sizes(rng)
    scores = scores_of(rng, many, n + 1, n + 1)
    return (scores, trees_of(rng, many, n)), lambda s, h: undirected.enhance(s, h, None)


def head_vectors(rng):
    heads = trees_of(rng, *sizes(rng, 200))
    questions = (arb.is_tree, arb.is_projective, arb.root_count, arb.projectivize)
    return (heads,), questions[int(rng.integers(len(questions)))]


def tree_weight(rng):
    many, n = sizes(rng)
    return (scores_of(rng, many, n + 1, n + 1), trees_of(rng, many, n)), arb.tree_weight


def derivation(rng):
    heads = trees_of(rng, 1, int(rng.integers(2, 60)))[0]
    lifted = arb.projectivize(heads)
    known = get_system(str(rng.choice(SYSTEMS)))
    return (lifted,), known.derivation


def costs(rng):
    heads = arb.projectivize(trees_of(rng, 1, int(rng.integers(2, 60)))[0])
    state = get_system(str(rng.choice(["arc-eager", "arc-hybrid"]))).start(len(heads) - 1)
    return (heads,), state.costs


def log_prob(rng):
    scores, _ = batch(rng)
    dist = arb.TreeDistribution(scores, projective=bool(rng.random() < 0.5))
    heads = trees_of(rng, len(scores), scores.shape[1] - 1)
    return (heads,), lambda h: dist.log_prob(h, errors="-inf")


def distribution(rng):
    scores, lengths = batch(rng, 20)

    def everything(s, words):
        dist = arb.TreeDistribution(s, words)
        return dist.marginals(), dist.sample(3, 1), dist.expectation(s), dist.covariance(s)

    return (scores, lengths), everything


def second_order_decode(rng):
    n = int(rng.integers(2, 9))
    parts = [scores_of(rng, *[n + 1] * axes) for axes in (2, 3, 3)]
    how = {"projective": bool(rng.random() < 0.5), "rounds": 20}
    return (*parts, np.array(n)), lambda s, *more: second_order.decode(s, *more, **how)


def second_order_weight(rng):
    many, n = sizes(rng, 9)
    siblings = scores_of(rng, many, *[n + 1] * 3)
    arrays = scores_of(rng, many, n + 1, n + 1), trees_of(rng, many, n), siblings
    return arrays, second_order.tree_weight


def sentence(rng):
    heads = trees_of(rng, 1, int(rng.integers(2, 30)))[0]
    plain = treebank.Sentence.from_words([f"w{d}" for d in range(1, len(heads))])
    return (heads,), lambda h: plain.replace(heads=h)


CHANGED = {
    make.__name__: make
    for make in (
        decode, decode_one, decode_labeled, kbest, kbest_labeled, trees, decode_sparse,
        spanning_tree, spanning_tree_of_matrix, orient, undirected_decode, enhance, head_vectors,
        tree_weight, derivation, costs, log_prob, distribution, second_order_decode,
        second_order_weight, sentence,
    )
}  # fmt: skip


def answers(dist, scores, heads):
    """Return what some functions say of arrays and objects that nobody changes."""
    trees, weights, _ = arb.kbest(scores, 4)
    return (
        arb.decode(scores).tolist(), trees.tolist(), weights.tolist(),
        dist.marginals().tolist(), dist.argmax().tolist(), dist.log_count().tolist(),
        dist.log_prob(heads).tolist(), dist.sample(3, rng=5).tolist(),
    )  # fmt: skip


def things(seed):
    rng = np.random.default_rng(seed)
    many, n = sizes(rng, 12)
    scores = rng.normal(size=(many, n + 1, n + 1))
    return arb.TreeDistribution(scores), scores, trees_of(rng, many, n)


def shared(case):
    """Threads that share arrays and a distribution get what one thread gets."""
    right = answers(*things(case.options["seed"]))
    common = things(case.options["seed"])
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: answers(*common), range(8)):
            if found != right:
                raise WrongError("threads that share a distribution get something else")


def forked(case):
    """A process that is forked while threads compute gets what its parent gets, and ends."""
    right = answers(*things(case.options["seed"]))
    done = threading.Event()
    common = [things(case.options["seed"])]

    def compute():
        while not done.is_set():
            common[0] = things(case.options["seed"])
            answers(*common[0])

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(compute) for _ in range(2)]
        try:
            for _ in range(5):
                child = multiprocessing.get_context("fork").Process(
                    target=lambda: sys.exit(answers(*common[0]) != right)
                )
                child.start()
                child.join(PATIENCE)
                child.kill()
                child.join()
                if child.exitcode:
                    raise WrongError("a forked process hangs or finds something else", child)
        finally:
            done.set()
        for each in running:
            each.result()
