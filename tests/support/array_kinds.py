"""Arrays of every kind, and the public functions that take them, for tests that try all pairs.

A function is right for an array if it returns what it returns for a plain copy: C-contiguous,
writeable, and of type float64, int64 or bool. For a type that it does not take, it must say so.
"""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np

import arborescence as arb
from arborescence import second_order, transitions, treebank, undirected

#: Types of elements; what is not among the first ones may be refused.
TYPES = {
    "f": ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"),
    "i": ("i1", "i2", "i4", "i8"),
    "?": ("?",),
}
REFUSED = ("g", "c16", "O", "U8", "m8[s]")


class Own(np.ndarray):
    """A subclass of NumPy's arrays."""


class Holder:
    """What NumPy can make an array of."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Foreign:
    """An array of a library that has DLPack, and not NumPy's ways."""

    def __init__(self, array):
        self.array = array
        self.ndim, self.shape = array.ndim, array.shape

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def _inside(array, order):
    """A part of a larger array, with other numbers around it."""
    larger = np.full([size + 3 for size in array.shape], array.max(initial=0), array.dtype, order)
    part = larger[tuple(slice(1, 1 + size) for size in array.shape)]
    part[...] = array
    return part


def _unaligned(array):
    room = np.zeros(array.nbytes + 1, np.uint8)[1:]
    part = room.view(array.dtype).reshape(array.shape)
    part[...] = array
    return part


def _mapped(array, mode="r"):
    with tempfile.TemporaryFile() as file:
        file.write(array.tobytes() or b"\0")
        return np.memmap(file, array.dtype, mode, shape=array.shape)


def _from_buffer(array):
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def _repeated(array, axis):
    return np.broadcast_to(array.take([0], axis), array.shape)


def _wide(array):
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 1] = array
    return wide[..., 1]


def _backwards(array):
    return np.flip(np.ascontiguousarray(np.flip(array)))


#: Where the numbers can lie. Those of the last two are not the same.
LAYOUTS = {
    "C": np.array,
    "Fortran": lambda array: np.array(array, order="F"),
    "transposed": lambda array: np.swapaxes(
        np.swapaxes(array, -1, -min(2, array.ndim)).copy(), -1, -min(2, array.ndim)
    ),
    "strided": _wide,
    "rows apart": lambda array: np.repeat(array, 2, axis=0)[::2],
    "backwards": _backwards,
    "backwards in rows": lambda array: np.array(array[..., ::-1])[..., ::-1],
    "part": partial(_inside, order="C"),
    "part of a Fortran array": partial(_inside, order="F"),
    "unaligned": _unaligned,
    "from a buffer": _from_buffer,
    "transposed from a buffer": lambda array: _from_buffer(np.ascontiguousarray(array.T)).T,
    "memory map": _mapped,
    "transposed memory map": lambda array: np.asarray(_mapped(np.ascontiguousarray(array.T))).T,
    "memory map to copy on write": partial(_mapped, mode="c"),
    "subclass": lambda array: array.view(Own),
    "first axis repeated": partial(_repeated, axis=0),
    "last axis repeated": partial(_repeated, axis=-1),
}

#: What else holds the same numbers.
OTHERS = {
    "list": lambda array: array.tolist(),
    "list of arrays": list,
    "holder": Holder,
    "foreign": Foreign,
    "masked array": lambda array: np.ma.array(array),
    "memory view": lambda array: memoryview(np.ascontiguousarray(array)),
}


class Taker:
    """A public function, as one of one array.

    Attributes
    ----------
    name : str
    call
        Takes the array, and returns the result.
    array
        One that it takes.
    kind : "f", "i" or "?"
        What it takes: scores, whole numbers, or a mask.
    repeated : bool
        Whether it takes one in which a row or a column is repeated.
    """

    def __init__(self, name, call, array, kind="f", *, repeated=True):
        self.name, self.call, self.array, self.kind = name, call, array, kind
        self.repeated = repeated
        self._known = {}

    def answer(self, array):
        """Return the result for an array, or the error."""
        try:
            return self.call(array)
        except Exception as error:
            return error

    def known(self, plain):
        """Return the result for a plain array; each is computed once."""
        key = plain.shape, plain.tobytes()
        if key not in self._known:
            self._known[key] = self.answer(plain)
        return self._known[key]


def takers(rng):
    """Yield public functions with arrays for them."""
    words, labels = 4, 3
    size = words + 1

    def scores(*shape):
        return rng.integers(0, 9, shape) * 1.0

    one, batch, nested = scores(size, size), scores(3, size, size), scores(2, 2, size, size)
    labeled, labeled_batch = scores(size, size, labels), scores(2, size, size, labels)
    lengths, mask = np.array([4, 2, 3]), np.arange(1, size) <= np.array([[4], [2], [3]])
    tree, trees = np.array([-1, 2, 0, 4, 2]), np.array([[-1, 2, 0, 4, 2], [-1, 0, 1, 2, 3]])
    cube = scores(size, size, size)
    heads, deps = map(np.array, zip(*itertools.permutations(range(size), 2), strict=True))
    heads, deps = heads[deps > 0], deps[deps > 0]
    weights = scores(len(heads))
    u, v = np.triu_indices(size, 1)
    system = transitions.get_system("arc-eager")
    sentence = treebank.Sentence.from_words(["a", "b", "c", "d"])

    for root, projective in itertools.product(("single", "multi"), (False, True)):
        which = {"root": root, "projective": projective}
        yield Taker(f"decode {which}", partial(arb.decode, **which), one)
        yield Taker(f"decode a batch {which}", partial(arb.decode, lengths=lengths, **which), batch)
        yield Taker(f"kbest {which}", partial(arb.kbest, k=4, **which), one)
        yield Taker(f"decode_labeled {which}", partial(arb.decode_labeled, **which), labeled)
        dist = partial(arb.TreeDistribution, **which)
        for name in ("log_partition", "marginals", "entropy", "log_count", "argmax"):
            yield Taker(f"{name} {which}", lambda x, d=dist, n=name: getattr(d(x), n)(), one)
        yield Taker(f"draws {which}", lambda x, d=dist: d(x).sample(3, 1), one)
        yield Taker(
            f"draws without replacement {which}",
            lambda x, d=dist: d(x).sample(3, 1, replace=False),
            one,
        )
        known = dist(one)
        yield Taker(f"log_prob {which}", partial(known.log_prob, errors="-inf"), tree, "i")
        yield Taker(
            f"log_prob of trees {which}", partial(known.log_prob, errors="-inf"), trees, "i"
        )
        yield Taker(f"expectation {which}", known.expectation, one)
        yield Taker(f"expectations {which}", known.expectation, labeled)
        yield Taker(f"covariance {which}", known.covariance, one)
        yield Taker(f"covariance of two {which}", lambda x, d=known: d.covariance(one, x), labeled)
        yield Taker(f"second_moment {which}", known.second_moment, one)
        yield Taker(f"kl {which}", lambda x, d=dist, k=known: k.kl(d(x)), one)
        yield Taker(f"mbr {which}", lambda x, d=dist: d(x).mbr(), one)
    yield Taker("decode in threads", partial(arb.decode, threads=2), batch)
    yield Taker("decode a batch of batches", arb.decode, nested)
    yield Taker("decode without sentences", arb.decode, np.empty((0, size, size)), repeated=False)
    yield Taker("decode without words", arb.decode, np.zeros((2, 1, 1)))
    yield Taker("lengths", partial(arb.decode, batch), lengths, "i")
    yield Taker("mask", partial(arb.decode, batch), mask, "?", repeated=False)
    yield Taker(
        "lengths of distributions", lambda x: arb.TreeDistribution(batch, x).entropy(), lengths, "i"
    )
    yield Taker("distributions", lambda x: arb.TreeDistribution(x, lengths).marginals(), batch)
    yield Taker("kbest of a batch", lambda x: arb.kbest(x, 3, lengths), batch)
    yield Taker("second_best", arb.second_best, one)
    yield Taker("trees", lambda x: list(itertools.islice(arb.trees(x), 4)), one)
    yield Taker("decode_labeled of a batch", arb.decode_labeled, labeled_batch)
    yield Taker("kbest_labeled", lambda x: arb.kbest_labeled(x, 4), labeled)
    yield Taker("trees_labeled", lambda x: list(itertools.islice(arb.trees_labeled(x), 4)), labeled)
    yield Taker("decode_where", lambda x: arb.decode_where(x, lambda heads: heads[1] != 2), one)
    yield Taker(
        "decode_where_labeled",
        lambda x: arb.decode_where_labeled(x, lambda heads, labels: labels[1] != heads[1]),
        labeled,
    )
    for name, ends, find in (
        ("heads", heads, lambda x: arb.decode_sparse(words, x, deps, weights)),
        ("deps", deps, lambda x: arb.decode_sparse(words, heads, x, weights)),
    ):
        yield Taker(f"sparse {name}", find, ends, "i", repeated=False)
    yield Taker("sparse weights", lambda x: arb.decode_sparse(words, heads, deps, x), weights)
    for of, name in ((tree, "tree"), (trees, "trees")):
        yield Taker(f"is_tree of {name}", arb.is_tree, of, "i")
        yield Taker(f"is_projective of {name}", arb.is_projective, of, "i")
        yield Taker(f"root_count of {name}", arb.root_count, of, "i")
        yield Taker(f"projectivize {name}", arb.projectivize, of, "i", repeated=False)
    yield Taker(
        "deprojectivize",
        lambda x: arb.deprojectivize(x, ["_", "a", "b", "c", "d"]),
        tree,
        "i",
        repeated=False,
    )
    yield Taker("tree_weight", lambda x: arb.tree_weight(x, tree), one)
    yield Taker("tree_weight of a batch", lambda x: arb.tree_weight(x, trees), batch[:2])
    yield Taker("weighed trees", lambda x: arb.tree_weight(one, x), tree, "i", repeated=False)
    yield Taker("require", lambda x: arb.require(x, [(0, 1)]), one)
    yield Taker("forbid", lambda x: arb.forbid(x, [(0, 1)]), one)
    yield Taker("explain", lambda x: [str(step) for step in arb.explain(x)], one)
    yield Taker("undirected.decode", undirected.decode, one)
    yield Taker("undirected.encode", undirected.encode, one)
    yield Taker("undirected.enhance", lambda x: undirected.enhance(x, tree), one)
    yield Taker("enhanced heads", lambda x: undirected.enhance(one, x), tree, "i", repeated=False)
    chain = np.arange(words)
    yield Taker(
        "orient u", lambda x: undirected.orient(size, x, chain + 1), chain, "i", repeated=False
    )
    yield Taker(
        "orient v", lambda x: undirected.orient(size, chain, x), chain + 1, "i", repeated=False
    )
    for algorithm in ("boruvka", "kruskal", "prim", "kkt"):
        span = partial(undirected.spanning_tree, algorithm=algorithm)
        yield Taker(
            f"{algorithm} u",
            lambda x, s=span: s(size, x, v, weights[: len(v)]),
            u,
            "i",
            repeated=False,
        )
        yield Taker(f"{algorithm} weight", lambda x, s=span: s(size, u, v, x), weights[: len(v)])
        yield Taker(f"{algorithm} matrix", span, one + one.T, repeated=False)
    yield Taker("second-order scores", lambda x: second_order.decode(x, cube, cube), one)
    for projective in (False, True):
        order = partial(second_order.decode, one, projective=projective)
        yield Taker(f"siblings {projective}", lambda x, f=order: f(siblings=x), cube)
        yield Taker(f"grandparents {projective}", lambda x, f=order: f(grandparents=x), cube)
    yield Taker(
        "siblings of a batch",
        lambda x: second_order.decode(batch[:2], x, lengths=[4, 2]),
        np.stack([cube, cube + 1]),
    )
    yield Taker("second-order sums", lambda x: second_order.sum_trees(x, cube), one)
    yield Taker("siblings of sums", lambda x: second_order.sum_trees(one, x), cube)
    yield Taker("second-order weight", lambda x: second_order.tree_weight(one, tree, x, x), cube)
    yield Taker(
        "second-order heads",
        lambda x: second_order.tree_weight(one, x, cube),
        tree,
        "i",
        repeated=False,
    )
    yield Taker("derivation", lambda x: system.derivation(x), tree, "i", repeated=False)
    yield Taker(
        "heads of a sentence", lambda x: sentence.replace(heads=x).raw, tree, "i", repeated=False
    )


def cases(taker):
    """Yield the kinds of arrays for a function: type, byte order, layout, and whether read-only."""
    for dtype, order in itertools.product(TYPES[taker.kind], "=S"):
        for name, still in itertools.product(LAYOUTS, ("read-only", "writeable")):
            if taker.repeated or not name.endswith("repeated"):
                yield dtype, order, name, still
        for name in OTHERS:
            if order == "=" or name not in ("foreign", "memory view"):  # of these NumPy reads none
                yield dtype, order, name, ""
    for dtype in REFUSED:
        yield dtype, "=", "C", "writeable"


def made(taker, case):
    """Return the array of a case, and the plain one of the same numbers, or None."""
    dtype, order, name, still = case
    array = taker.array.astype(dtype)
    array = array.astype(array.dtype.newbyteorder(order))
    array = LAYOUTS[name](array) if still else OTHERS[name](array)
    if still == "read-only":
        array.flags.writeable = False
    plain = None
    if dtype not in REFUSED:
        held = array.array if isinstance(array, (Holder, Foreign)) else array
        plain = np.array(held, {"f": float, "i": np.int64, "?": bool}[taker.kind], order="C")
    return array, plain


def wrong(taker, case):
    """Say what is wrong with the answer to a case; None if nothing is."""
    array, plain = made(taker, case)
    before = array.tobytes() if isinstance(array, np.ndarray) else None
    found = taker.answer(array)
    if before is not None and array.tobytes() != before:
        return "the array was changed"
    if plain is None:
        return None if isinstance(found, arb.ArborescenceError) else f"{found!r} for {case[0]}"
    right = taker.known(plain)
    return None if same(found, right) else f"{found!r} instead of {right!r}"


def same(one, other):
    """Tell whether two results are the same; sums in their first digits."""
    if isinstance(one, arb.ArborescenceError):
        return type(one) is type(other) and str(one) == str(other)
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        close = {"rtol": 1e-12, "atol": 1e-12} if one.dtype.kind == "f" else {"rtol": 0, "atol": 0}
        return one.shape == np.shape(other) and np.allclose(one, other, **close)
    if isinstance(one, float):
        return bool(np.isclose(one, other, rtol=1e-12, atol=1e-12))
    return not isinstance(one, Exception) and one == other
