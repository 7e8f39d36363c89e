"""Spanning forests of undirected graphs, in the slow and obvious way."""

import numpy as np


class Forest:
    """Which nodes hang together, found in the slow and obvious way."""

    def __init__(self, n):
        self.part = list(range(n))

    def joins(self, a, b):
        """Add an edge; tell whether it joins two parts."""
        a, b = self.part[a], self.part[b]
        self.part = [b if part == a else part for part in self.part]
        return a != b


def by_sorting(n, u, v, weight):
    """Kruskal's algorithm as it is usually written."""
    forest = Forest(n)
    best_first = sorted(range(len(weight)), key=lambda k: (-weight[k], k))
    return sorted(k for k in best_first if weight[k] > -np.inf and forest.joins(u[k], v[k]))
