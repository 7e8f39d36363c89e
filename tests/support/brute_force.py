"""The slow and obvious answer: every tree, weighed in exact arithmetic."""

import math
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np


def _ends_at_root(heads, word):
    seen = set()
    while word != 0:
        if word in seen:
            return False
        seen.add(word)
        word = heads[word]
    return True


def _crosses(heads):
    edges = [sorted(edge) for edge in enumerate(heads[1:], start=1)]
    return any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(edges, 2))


@cache
def all_trees(n, single, projective=False):
    """Every head vector of n words that is a tree, (T, n + 1)."""
    if projective:
        trees = [heads for heads in all_trees(n, single).tolist() if not _crosses(heads)]
    else:
        trees = [
            (-1, *heads)
            for heads in product(range(n + 1), repeat=n)
            if (heads.count(0) == 1 or not single)
            and all(_ends_at_root((-1, *heads), d) for d in range(1, n + 1))
        ]
    return np.array(trees, np.int64).reshape(-1, n + 1)


def _ratios(scores):
    """Numerators, and the power of two that is their common denominator; absent edges are 0."""
    ratios = [
        (0, 1) if np.isinf(x) or np.isnan(x) else float(x).as_integer_ratio()
        for x in scores.ravel()
    ]
    common = max(denominator for _, denominator in ratios)
    return [numerator * (common // denominator) for numerator, denominator in ratios], common


def whole_numbers(scores):
    """The same scores times one power of two, as Python's unbounded integers; absent edges are 0.

    Equal to working in `fractions.Fraction` over a common denominator, and faster.
    """
    return np.array(_ratios(scores)[0], dtype=object).reshape(scores.shape)


@lru_cache(maxsize=1)  # one graph is asked about several times
def _whole_numbers(scores, dtype, shape):
    return whole_numbers(np.frombuffer(scores, dtype).reshape(shape))


def _numbers(scores):
    """Whole numbers, in 64 bits where no sum of a tree, nor a difference of two, can overflow.

    That is as exact, and ten times faster than Python's integers.
    """
    numbers = _whole_numbers(scores.tobytes(), scores.dtype, scores.shape)
    if np.abs(numbers).max() * len(numbers) < 2**62:
        numbers = numbers.astype(np.int64)
    return numbers


def exact_weights(scores, heads):
    """The weights of (m, N) heads, times one power of two, as Python's whole numbers."""
    numbers = _numbers(scores)
    return sum(numbers[heads[:, d], d] for d in range(1, len(numbers))).tolist()


@cache
def _halves(n, single, projective):
    """Each tree as two numbers: the heads of the first words, and of the others, in base n + 1."""
    heads = all_trees(n, single, projective)[:, 1:]
    return [
        half @ (n + 1) ** np.arange(half.shape[1])[::-1]
        for half in np.split(heads, [n // 2], axis=1)
    ]


def _sums(edges, single, projective):
    """The sum over the edges of every tree: (N, N) of whole numbers, (T,).

    The sums of all ways to choose heads for half of the words are few: they are added up once, and
    those of each tree are taken from there.
    """
    n = len(edges) - 1

    def choices(words):
        sums = np.zeros(1, edges.dtype)
        for d in words:
            sums = np.add.outer(sums, edges[:, d]).ravel()
        return sums

    first, others = _halves(n, single, projective)
    middle = n // 2 + 1
    return choices(range(1, middle))[first] + choices(range(middle, n + 1))[others]


def tree_weights(scores, single, projective=False):
    """All trees whose edges are present, and their exact weights: (T, n + 1), (T,) of integers."""
    trees = all_trees(len(scores) - 1, single, projective)
    weights = _sums(_numbers(scores), single, projective)
    absent = scores == -np.inf
    if absent[:, 1:].any():
        present = _sums(absent.astype(np.int64), single, projective) == 0
        return trees[present], weights[present]
    return trees, weights


def is_best(scores, heads, single, projective=False):
    """Whether heads is a tree of the kind, present, and of the highest exact weight."""
    words = np.arange(1, len(scores))
    tree = all(_ends_at_root(heads, d) for d in words) and heads[0] == -1
    if not tree or (single and np.count_nonzero(heads == 0) != 1):
        return False
    if projective and _crosses(heads.tolist()):
        return False
    if not (scores[heads[1:], words] > -np.inf).all():
        return False
    _, weights = tree_weights(scores, single, projective)
    return exact_weights(scores, heads[None]) == [weights.max()]


def eisner(scores, single, plus, times):
    """Eisner's recursion as it is printed, over the span (i, j) of nodes: the sum of all trees.

    ``plus`` takes a list and ``times`` two; with `max` and `+` the sum is the best weight. Each
    tree has one derivation. ``scores`` are any objects, [h][d].
    """
    n = len(scores) - 1
    # Complete spans, and those that an edge closes; headed on the left and on the right.
    left, right, open_left, open_right = ({} for _ in range(4))

    def fill(start, stop):
        for i in range(start, stop + 1):
            left[i, i] = right[i, i] = None  # nothing inside: the unit of `times`
        for width in range(1, stop - start + 1):
            for i in range(start, stop - width + 1):
                j = i + width
                halves = [join(left[i, m], right[m + 1, j]) for m in range(i, j)]
                inside = None if halves == [None] else plus(halves)
                open_left[i, j] = join(inside, scores[i][j])
                open_right[i, j] = join(inside, scores[j][i])
                left[i, j] = plus([join(open_left[i, m], left[m, j]) for m in range(i + 1, j + 1)])
                right[i, j] = plus([join(right[i, m], open_right[m, j]) for m in range(i, j)])

    def join(one, other):
        return other if one is None else one if other is None else times(one, other)

    if single:
        fill(1, n)
        return plus([join(join(right[1, r], left[r, n]), scores[0][r]) for r in range(1, n + 1)])
    fill(0, n)
    return left[0, n]


class EveryTree:
    """The distribution over all trees, by listing them: p(tree) ∝ exp(weight)."""

    def __init__(self, scores, root, projective):
        self.trees, weights = tree_weights(scores, root == "single", projective)
        _, unit = _ratios(scores)
        best = max(weights.tolist())
        below = _floats(weights - best, unit)
        log_total = math.log(math.fsum(np.exp(below)))
        total = Fraction(best, unit) + Fraction(log_total)
        self.log_partition = _float(total.numerator, total.denominator)
        self.log_probs = below - log_total
        self.probs = np.exp(self.log_probs)
        self.words = np.arange(1, len(scores))

    @property
    def marginals(self):
        size = self.trees.shape[1]
        marginals = np.zeros((size, size))
        for d in self.words:
            marginals[:, d] = np.bincount(self.trees[:, d], self.probs, size)
        return marginals

    @property
    def entropy(self):
        some = self.probs > 0
        return -math.fsum(self.probs[some] * self.log_probs[some])

    def values(self, edge_values):
        """The sum over each tree's edges: (T,) or (T, R)."""
        return edge_values[self.trees[:, 1:], self.words].sum(axis=1)

    def cross_entropy(self, other):
        """Of this and another `EveryTree`, whose trees may be others."""
        of_other = dict(zip(map(tuple, other.trees.tolist()), other.log_probs, strict=True))
        return -math.fsum(
            p * of_other.get(tuple(tree), -np.inf)
            for p, tree in zip(self.probs.tolist(), self.trees.tolist(), strict=True)
            if p > 0
        )


def _floats(numerators, denominator):
    """The quotients (T,) by a power of two, each rounded once."""
    exponent = denominator.bit_length() - 1
    if numerators.dtype == np.int64 and exponent < 1000:  # far from where floats end
        return np.ldexp(numerators.astype(np.float64), -exponent)
    return np.array([_float(numerator, denominator) for numerator in numerators.tolist()])


def _float(numerator, denominator):
    """The quotient, rounded once."""
    try:
        return numerator / denominator
    except OverflowError:
        return np.inf if numerator > 0 else -np.inf
