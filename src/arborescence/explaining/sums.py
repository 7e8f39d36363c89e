"""Sums over all trees step by step: Laplacian, determinant, marginals (Koo et al. 2007)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from arborescence.errors import ScoresError
from arborescence.explaining.problem import number
from arborescence.explaining.steps import Detail, number_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step

    Rows = list[list[Fraction]]

#: Scores of one word's edges may differ by this much. Then their exponentials, and sums of a few
#: exponentials, are normal floats.
_FARTHEST = 300


@dataclass(frozen=True)
class Matrix(Detail):
    """A matrix with a row and a column for each node from `first` on."""

    #: the name of the matrix
    name: str
    #: 0 if the root has a row and a column, otherwise 1
    first: int
    #: the entries, ``rows[h][d]``
    rows: tuple[tuple[float, ...], ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return the matrix with the names of its rows and columns."""
        shown = [
            [name, *map(number_name, row)]
            for name, row in zip(names[self.first :], self.rows, strict=True)
        ]
        return [[self.name, *names[self.first :]], *shown]


@dataclass(frozen=True)
class Determinant(Detail):
    """The determinant of the Laplacian, and the log-partition."""

    #: the sum over all trees of the product of a tree's edge weights; may underflow to 0
    value: float
    #: the logarithm of `value`
    log: float
    #: the sum of the numbers that were subtracted from the scores of each tree
    shift: float
    #: the sum of `log` and `shift`
    log_partition: float

    def table(self, names: Sequence[str]) -> list[list[str]]:  # noqa: ARG002
        """Return the numbers."""
        pairs = [
            ("determinant", self.value),
            ("its logarithm", self.log),
            ("best scores of all words", self.shift),
            ("log-partition", self.log_partition),
        ]
        return [[name, number_name(value)] for name, value in pairs]


def steps(problem: ScoredSentence, *, single: bool) -> Iterator[Step]:
    """Yield the steps to the sum over all trees, and to the probability of each edge."""
    n = problem.n
    best = {
        d: max((s for (_, e), s in problem.scores.items() if e == d), default=None)
        for d in range(1, n + 1)
    }
    weights = weights_of(problem)
    yield problem.step(
        "weights",
        "The weight of each edge is e to the power of its score. First the best score of each "
        "word is subtracted from all of its scores, so that the largest weight is 1; in the end "
        "these scores are added again.",
        looks_at=tuple(problem.scores),
        detail=_matrix("weight", weights, 0),
    )
    laplacian = laplacian_of(weights)
    yield problem.step(
        "laplacian",
        "The Laplacian of the words: on the diagonal, the sum of the weights of all edges into a "
        "word, also from the root; elsewhere, minus the weight of the edge from the row's word to "
        "the column's word.",
        detail=_matrix("Laplacian", laplacian, 1),
    )
    if single and n:
        laplacian = with_root_row(weights)
        yield problem.step(
            "root-row",
            "For trees with one root edge, the root's edges are left out of the diagonal, and "
            "their weights take the place of the first row (Koo et al. 2007). So each tree has a "
            "factor from that row exactly once.",
            looks_at=tuple((0, d) for d in range(1, n + 1)),
            detail=_matrix("Laplacian", laplacian, 1),
        )
    determinant, adjugate = inverted(laplacian)
    if not determinant:
        why = " with a single root edge" if single else ""
        yield problem.step("no-tree", f"The determinant is 0: there is no tree{why}.")
        return
    shift = sum((score for score in best.values() if score is not None), Fraction(0))
    value = number(determinant)
    log = log_of(determinant)
    distribution = Determinant(value, log, number(shift), math.fsum((log, number(shift))))
    yield problem.step(
        "determinant",
        "The determinant is the sum over all trees of the product of their weights (the "
        "matrix-tree theorem). Its logarithm, and the scores that were subtracted, are the "
        f"log-partition: {number_name(distribution.log_partition)}.",
        weight=distribution.log_partition,
        detail=distribution,
    )
    inverse = [[entry / determinant for entry in row] for row in adjugate]
    yield problem.step(
        "inverse",
        "The inverse of the Laplacian: its entries say how the logarithm of the determinant "
        "changes with those of the Laplacian.",
        detail=_matrix("inverse", inverse, 1),
    )
    yield problem.step(
        "marginals",
        "The marginal probability of an edge is its weight, times the change of the logarithm of "
        "the determinant with that weight. The marginals of the edges into a word add up to 1.",
        weight=distribution.log_partition,
        looks_at=tuple(problem.scores),
        detail=_matrix("marginal", marginals_of(weights, inverse, single=single), 0),
    )


def weights_of(problem: ScoredSentence) -> Rows:
    """Return the exponentials of the scores, divided by the largest of the same word."""
    size = problem.n + 1
    weights = [[Fraction(0)] * size for _ in range(size)]
    for d in range(1, size):
        column = {h: score for (h, e), score in problem.scores.items() if e == d}
        for h, score in column.items():
            lower = score - max(column.values())
            if lower < -_FARTHEST:
                raise ScoresError(
                    f"the edge {h} -> {d} has a score {number_name(number(-lower))} below the best "
                    f"one into word {d}: sums are explained for differences of at most "
                    f"{_FARTHEST}; make it -inf if the edge is meant to be absent, or take "
                    "TreeDistribution, which has no such limit"
                )
            weights[h][d] = Fraction(math.exp(lower))
    return weights


def laplacian_of(weights: Rows) -> Rows:
    """Return the Laplacian of the words, with the root's edges on the diagonal."""
    words = range(1, len(weights))
    entering = [sum(column, Fraction(0)) for column in zip(*weights, strict=True)]
    return [[entering[d] if h == d else -weights[h][d] for d in words] for h in words]


def with_root_row(weights: Rows) -> Rows:
    """Return the Laplacian without the root's edges, with the root's edges as its first row."""
    without_root = [[Fraction(0)] * len(weights), *weights[1:]]
    return [weights[0][1:], *laplacian_of(without_root)[1:]]


def inverted(matrix: Rows) -> tuple[Fraction, Rows]:
    """Return the determinant and the adjugate, exactly: Gauss-Jordan without division (Bareiss)."""
    # The numbers become integers first: with fractions, each step would look for common factors
    n = len(matrix)
    unit = math.lcm(*(entry.denominator for row in matrix for entry in row))
    rows = [
        [int(entry * unit) for entry in row] + [int(i == j) for j in range(n)]
        for i, row in enumerate(matrix)
    ]
    before = sign = 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0), []
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            sign = -sign
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [
                    (rows[k][k] * entry - factor * pivot_entry) // before
                    for entry, pivot_entry in zip(rows[i], rows[k], strict=True)
                ]
        before = rows[k][k]
    adjugate = [[Fraction(sign * entry, unit ** (n - 1)) for entry in row[n:]] for row in rows]
    return Fraction(sign * before, unit**n), adjugate


def marginals_of(weights: Rows, inverse: Rows, *, single: bool) -> Rows:
    """Return the probability of each edge."""
    # An edge into d is part of the diagonal entry of column d; the edge h -> d is also in row h,
    # with a minus. With a single root edge, the first row has the root's weights instead
    size = len(weights)
    marginals = [[Fraction(0)] * size for _ in range(size)]
    for h in range(size):
        for d in range(1, size):
            if not weights[h][d]:
                continue
            change = Fraction(0)
            if single and h == 0:
                change += inverse[d - 1][0]
            if not single or (h > 0 and d > 1):
                change += inverse[d - 1][d - 1]
            if h > 1 or (h == 1 and not single):
                change -= inverse[d - 1][h - 1]
            marginals[h][d] = weights[h][d] * change
    return marginals


def log_of(value: Fraction) -> float:
    """Return the logarithm of a positive number that may be too small or too large for a float."""
    try:
        return math.log(value)
    except (ValueError, OverflowError):
        return math.log(value.numerator) - math.log(value.denominator)


def _matrix(name: str, rows: Rows, first: int) -> Matrix:
    return Matrix(name, first, tuple(tuple(number(entry) for entry in row) for row in rows))
