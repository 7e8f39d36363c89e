"""The sum over all trees in high precision, by determinants as the papers have them."""

import mpmath
import numpy as np


class MatrixTree:
    """The matrix-tree theorem, over whole multiples of 2**-bits.

    With a single root it is the matrix of Koo et al. (2007): the root's weights are in the place
    of the first word's row. Each column is divided by its largest weight before.
    """

    def __init__(self, scores, root, bits=400):
        self.bits = bits
        size = len(scores)
        edges = scores.astype(np.float64)
        np.fill_diagonal(edges, -np.inf)
        with mpmath.workprec(bits + 64):
            shifts = [mpmath.mpf(edges[:, d].max()) for d in range(1, size)]
            weights = np.zeros((size, size), object)
            for h, d in zip(*np.nonzero(edges[:, 1:] > -np.inf), strict=True):
                weight = mpmath.exp(mpmath.mpf(edges[h, d + 1]) - shifts[d])
                weights[h, d + 1] = int(mpmath.ldexp(weight, bits))
            words = weights[1:, 1:]
            laplacian = np.diag(words.sum(axis=0)) - words
            if root == "single":
                laplacian[0] = weights[0, 1:]
            else:
                laplacian += np.diag(weights[0, 1:])
            determinant, inverse = self._inverted(laplacian)
            self._log_partition = mpmath.log(abs(determinant)) + mpmath.fsum(shifts)
            self.log_partition = float(self._log_partition)
            self._marginals = self._of_edges(weights, inverse, root == "single")
            self.marginals = self._marginals.astype(np.float64)
            expected = mpmath.fsum(
                self._marginals[h, d] * mpmath.mpf(edges[h, d])
                for h, d in zip(*np.nonzero(weights), strict=True)
            )
            self.entropy = float(self._log_partition - expected)

    def _inverted(self, matrix):
        """The determinant as an mpf, and the inverse times 2**bits, by Gauss and Jordan."""
        n, one = len(matrix), 1 << self.bits
        rows = np.concatenate([matrix, np.diag(np.full(n, one, object))], axis=1)
        determinant = mpmath.mpf(1)
        for k in range(n):
            pivot = k + max(range(n - k), key=lambda i, k=k: abs(rows[k + i, k]))
            rows[[k, pivot]] = rows[[pivot, k]]
            determinant *= mpmath.ldexp(mpmath.mpf(rows[k, k]), -self.bits)
            rows[k, k:] = rows[k, k:] * one // rows[k, k]
            factors = rows[:, k].copy()
            factors[k] = 0
            rows[:, k:] -= np.outer(factors, rows[k, k:]) >> self.bits
        return determinant, rows[:, n:]

    def _of_edges(self, weights, inverse, single):
        """The derivative of the log-determinant by the log of each weight, as mpf."""
        size = len(weights)
        marginals = np.full((size, size), mpmath.mpf(0), object)
        for h, d in zip(*np.nonzero(weights), strict=True):
            column = inverse[d - 1]  # of the transposed inverse
            if h == 0:
                change = column[0] if single else column[d - 1]
            else:
                from_own = 0 if single and d == 1 else column[d - 1]
                from_head = 0 if single and h == 1 else column[h - 1]
                change = from_own - from_head
            marginals[h, d] = mpmath.ldexp(mpmath.mpf(weights[h, d] * change), -2 * self.bits)
        return marginals
