"""Log-partition and marginals by the matrix-tree theorem (Koo et al. 2007), without subtraction.

The sum over all trees is a determinant of the graph's Laplacian: Tutte's for any number of root
edges, the Laplacian of Koo, Globerson, Carreras and Collins (2007) for a single root edge. Gaussian
elimination of a Laplacian subtracts numbers that may be almost equal: if a cycle of words outweighs
all edges that enter it by e^37, the result has no correct digit. But elimination can also work on
the edges alone, where it only adds (Grassmann, Taksar and Heyman 1985, for Markov chains).
Eliminating the word k adds an edge from each head i of k to each dependent j of k::

    w[i, j] += w[i, k] w[k, j] / degree(k),    degree(k) = sum of w[i, k] over the heads i left

Loops are dropped. The sum over trees is the product of all degrees. With a single root edge, the
sum is the part of this product that has exactly one factor from the root: root edges are left out
of all degrees, and the last remaining word is attached to the root.

The marginals are the derivatives of the logarithm of the sum, by backpropagation through the same
steps. Their error is about the rounding error of float64, also if the Laplacian is nearly singular.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, inlined_kernel, kernel, uncounted_kernel
from arborescence.compiling.lanes import (
    LANES,
    as_row,
    fill,
    numbers,
    places,
    plus_product,
    where,
)
from arborescence.core.rows import padded
from arborescence.core.weights import SMALLEST, scale_column

if TYPE_CHECKING:
    from typing import Any


@inlined_kernel
def swap(matrix: np.ndarray, one: int, other: int, n: int) -> None:
    """Exchange two nodes: their rows and columns, over the nodes 0 to n. O(n)."""
    for j in range(n + 1):
        matrix[one, j], matrix[other, j] = matrix[other, j], matrix[one, j]
    for i in range(n + 1):
        matrix[i, one], matrix[i, other] = matrix[i, other], matrix[i, one]


@kernel
def eliminate(weights: np.ndarray, n: int, single: bool, marginals: np.ndarray) -> Any:
    """Return the log-partition of all trees of n > 0 words, and fill the marginals. O(n³).

    NaN if underflow may have changed the sum. Underflow has no effect if the sum is not small, or
    if all edges are present and not small: edges only grow here, so each degree is correct, and the
    log-partition is a sum of logarithms of degrees. `marginals` may be (0, 0).
    """
    order = np.arange(n + 1)
    width = padded(n)
    steps = np.empty((n + 1, width), weights.dtype)
    # Shares, dependents, and degrees: rows with 0 in the entries that do not count.
    rows = np.zeros((3, width), weights.dtype)
    shares, dependents, degrees = rows[0], rows[1], rows[2]
    first = 1 if single else 0
    for i in range(n + 1):
        steps[i, 0] = 0.0
        for j in range(1, n + 1):
            steps[i, j] = weights[i, j] if i != j else 0.0
            if i >= first:
                degrees[j] += steps[i, j]
        steps[i, n + 1 :] = 0.0
    log_sum = 0.0 * weights[0, 0]
    product = 1.0 + log_sum
    # Each step eliminates the word with the largest degree, and swaps it to the end.
    for m in range(n, 1, -1):
        chosen = m
        for j in range(1, m):
            if degrees[j].real > degrees[chosen].real:
                chosen = j
        degree = degrees[chosen]
        if not degree.real > SMALLEST:
            return np.nan * (1.0 + log_sum)
        swap(steps, chosen, m, n)
        order[chosen], order[m] = order[m], order[chosen]
        degrees[chosen] = degrees[m]
        degrees[m] = degree
        product *= degree
        if abs(product) < 1e-50:
            log_sum += np.log(product)
            product = 1.0 + 0.0 * product
        for i in range(m):
            shares[i] = steps[i, m] / degree
            dependents[i] = steps[m, i]
        dependents[m] = 0.0
        go_on(as_row(steps), width, m, first, shares, dependents, degrees)
    if not steps[0, 1].real > SMALLEST:
        return np.nan * (1.0 + log_sum)
    log_sum += np.log(product) + np.log(steps[0, 1])
    if not log_sum.real > np.log(SMALLEST) and not none_small(weights, steps, n):
        return np.nan * log_sum
    if marginals.shape[0] > 0:
        slopes = np.zeros((2, n + 1, width), weights.dtype)
        go_back(n, first, steps, degrees, slopes[0], slopes[1], shares, dependents)
        for i in range(n + 1):
            for j in range(1, n + 1):
                h, d = order[i], order[j]
                if weights[h, d] != 0.0:
                    marginals[h, d] = weights[h, d] * slopes[0, i, j]
    return log_sum


@indexing_kernel
def go_on(
    steps: np.ndarray,
    width: int,
    m: int,
    first: int,
    shares: np.ndarray,
    dependents: np.ndarray,
    degrees: np.ndarray,
) -> None:
    """Add the edges that the elimination of the word m makes, and sum the new degrees. O(m²).

    ``steps[i * width + j]`` are the edges. The share of the head i is ``w[i, m] / degree(m)``, and
    the dependents are ``w[m, j]``, or 0 from m on.
    """
    for start in range(0, m, LANES):
        j = numbers(start)
        to_dependents = dependents[places(start)]
        degree = fill(to_dependents, 0.0)
        for i in range(m):
            lanes = places(i * width + start)
            edges = plus_product(steps[lanes], fill(to_dependents, shares[i]), to_dependents)
            edges = where(j == i, 0.0, edges)
            steps[lanes] = edges
            degree = degree + edges if i >= first else degree
        degrees[places(start)] = where(j < m, degree, degrees[places(start)])


@kernel
def none_small(weights: np.ndarray, steps: np.ndarray, n: int) -> bool:
    """Tell whether all edges are present and not tiny, and no root edge became huge. O(n²)."""
    for h in range(n + 1):
        for d in range(1, n + 1):
            if h != d and not weights[h, d].real >= SMALLEST:
                return False
    return bool(np.all(steps[0, 1 : n + 1].real <= 1.0 / SMALLEST))


@uncounted_kernel
def go_back(
    n: int,
    first: int,
    steps: np.ndarray,
    degrees: np.ndarray,
    slopes: np.ndarray,
    transposed: np.ndarray,
    shares: np.ndarray,
    dependents: np.ndarray,
) -> None:
    """Fill `slopes`, the derivatives of the log-partition by each edge weight. O(n³).

    `eliminate` leaves column m and row m of `steps` before the diagonal, and degree m, as they were
    when the word m was eliminated. `slopes` and `transposed`, the slopes transposed, are zeros
    before.
    """
    width = steps.shape[1]
    of_heads, of_dependents = as_row(slopes), as_row(transposed)
    slopes[0, 1] = transposed[1, 0] = 1.0 / steps[0, 1]
    for m in range(2, n + 1):
        for k in range(m):
            shares[k] = steps[k, m] / degrees[m]
            dependents[k] = steps[m, k]
        for start in range(0, m, LANES):
            row = fill(shares[places(0)], 0.0)
            column = row
            for k in range(m):
                lanes = places(k * width + start)
                row = plus_product(row, fill(row, shares[k]), of_heads[lanes])
                column = plus_product(column, fill(row, dependents[k]), of_dependents[lanes])
            of_heads[places(m * width + start)] = row
            of_dependents[places(m * width + start)] = column
        children = 0.0 * slopes[0, 1]
        for i in range(m):
            children += shares[i] * transposed[m, i]
        for i in range(m):
            direct = 1.0 - children if i >= first else 0.0 * children
            slopes[i, m] = transposed[m, i] = (transposed[m, i] + direct) / degrees[m]
        for j in range(m):
            transposed[j, m] = slopes[m, j]


@inlined_kernel
def add_logs(one: Any, other: Any) -> Any:
    """Return log(exp(one) + exp(other)). O(1)."""
    if one.real < other.real:
        one, other = other, one
    if other.real == -np.inf:
        return one
    return one + np.log(1.0 + np.exp(other - one))


@inlined_kernel
def mixed(one: Any, of_one: float, other: Any, of_other: float, total: Any) -> float:
    """Return a mixture's entropy from the entropies and log weights of its two parts. O(1)."""
    entropy = 0.0
    if one.real > -np.inf:
        away = (total - one).real
        entropy += np.exp(-away) * (of_one + away)
    if other.real > -np.inf:
        away = (total - other).real
        entropy += np.exp(-away) * (of_other + away)
    return entropy


@kernel
def eliminate_in_logs(
    logs: np.ndarray, n: int, single: bool, marginals: np.ndarray
) -> tuple[Any, float]:
    """Do the work of `eliminate` in logarithms, for very small weights. O(n³), with O(n³) exps.

    Real parts of -inf are absent edges. Also returns the entropy of the trees. Each edge has the
    entropy of the paths that it stands for, each degree has the entropy of the choice among its
    edges, and the entropy of the trees is the sum over degrees. Large logarithms are not part of
    this sum, so they cause no error.
    """
    absent = logs[0, 0]  # -inf, of the right type
    order = np.arange(n + 1)
    first = 1 if single else 0
    steps = logs[: n + 1, : n + 1].copy()
    entropies = np.zeros((n + 1, n + 1))  # of the paths that each edge stands for
    degrees = np.full(n + 1, absent)
    log_sum = absent
    entropy = 0.0
    for m in range(n, 0, -1):
        low = first if m > 1 else 0
        chosen = m
        for j in range(m, 0, -1):
            degrees[j] = absent
            for i in range(low, m + 1):
                degrees[j] = add_logs(degrees[j], steps[i, j])
            if degrees[j].real > degrees[chosen].real:
                chosen = j
        degree = degrees[chosen]
        if degree.real == -np.inf:
            return absent, 0.0
        log_sum = degree if m == n else log_sum + degree
        swap(steps, chosen, m, n)
        swap(entropies, chosen, m, n)
        order[chosen], order[m] = order[m], order[chosen]
        degrees[chosen], degrees[m] = degrees[m], degree
        of_degree = 0.0
        for i in range(low, m):
            if steps[i, m].real > -np.inf:
                away = (degree - steps[i, m]).real
                of_degree += np.exp(-away) * (entropies[i, m] + away)
        entropy += of_degree
        for i in range(m):
            if steps[i, m].real > -np.inf:
                for j in range(1, m):
                    if i != j and steps[m, j].real > -np.inf:
                        via = steps[i, m] + steps[m, j] - degree
                        of_via = entropies[i, m] + entropies[m, j] - of_degree
                        both = add_logs(steps[i, j], via)
                        entropies[i, j] = mixed(steps[i, j], entropies[i, j], via, of_via, both)
                        steps[i, j] = both
    if marginals.shape[0] > 0:
        slopes = np.full((n + 1, n + 1), absent)
        slopes[0, 1] = -steps[0, 1]
        for m in range(2, n + 1):
            go_back_in_logs(m, first, steps, degrees[m], slopes)
        for i in range(n + 1):
            for j in range(1, n + 1):
                h, d = order[i], order[j]
                if i != j and logs[h, d].real > -np.inf and slopes[i, j].real > -np.inf:
                    marginals[h, d] = np.exp(logs[h, d] + slopes[i, j])
        for d in range(1, n + 1):
            scale_column(marginals, n, d)
    return log_sum, entropy


@kernel
def go_back_in_logs(m: int, first: int, steps: np.ndarray, degree: Any, slopes: np.ndarray) -> None:
    """Fill the logarithms of the slopes of the word m's edges, from sums of marginals. O(m²)."""
    through = np.zeros((m, m), steps.dtype)  # the marginal of the path i -> m -> j
    children = through[0, 0]
    for i in range(m):
        for j in range(1, m):
            if i != j and steps[i, m].real > -np.inf and steps[m, j].real > -np.inf:
                through[i, j] = np.exp(slopes[i, j] + steps[i, m] + steps[m, j] - degree)
                children += through[i, j]
    for i in range(m):
        if steps[i, m].real > -np.inf:
            share = through[i].sum()
            if i >= first:
                share += np.exp(steps[i, m] - degree) * (1.0 - children)
            if share.real > 0.0:
                slopes[i, m] = np.log(share) - steps[i, m]
    for j in range(1, m):
        share = through[:, j].sum()
        if share.real > 0.0:
            slopes[m, j] = np.log(share) - steps[m, j]
