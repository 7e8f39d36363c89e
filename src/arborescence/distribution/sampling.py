"""Sampling trees: by Wilson (1996), and without replacement by Shi, Bieber and Sutton (2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.random import source_of
from arborescence.core.weights import as_weights
from arborescence.distribution.partition import Sums, no_gaps, partition
from arborescence.nonprojective.sample import walk, weigh_heads, weigh_roots
from arborescence.projective.sums import draw_down, sum_projective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.distribution.counting import Kind

# A smaller marginal may be inaccurate, or 0, because of underflow.
_LEAST_TRUSTED = 1e-290

_EVERY_WORD = np.empty(0, np.int64)
_NO_MARGINALS = np.empty((0, 0))


class Sampler:
    """Draws trees of one sentence.

    `scores` (N, N) must have a tree; rows and columns after `n` words are padding; `gaps` are as in
    `inside_in_logs`.
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        n: int,
        kind: Kind,
        gaps: NDArray[np.float64] | None = None,
    ) -> None:
        self._n = n
        self._single, self._projective = kind
        self._gaps = no_gaps(n + 1) if gaps is None else gaps
        matrix = np.ascontiguousarray(scores[np.newaxis, : n + 1, : n + 1])
        self._made = as_weights(matrix, _EVERY_WORD, self._single)
        self._weights: NDArray[np.float64] = self._made.weights[0]
        self._logs: NDArray[np.float64] = self._made.logs[0]

    def draw(self, k: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw k trees with replacement, (k, n + 1)."""
        heads = np.full((k, self._n + 1), -1, np.int64)
        if self._n == 0:
            return heads
        n, single = self._n, self._single
        if self._projective:
            with source_of(generator) as source:
                draw_down(self._logs, n, single, self._gaps, source, heads)
            return heads
        weights, logs = self._for_walks()
        roots = self._roots() if single else np.empty(0)
        with source_of(generator) as source:
            drawn = walk(weights, logs, roots, n, single, source, heads)
            while drawn < k:  # again if rounding chose a root edge that no tree has
                roots = np.exp(self.weigh(self._logs, 0)).cumsum()
                drawn += walk(weights, logs, roots, n, single, source, heads[drawn:])
        return heads

    def draw_distinct(self, k: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw up to k different trees, (m, n + 1), each from the trees not yet drawn."""
        # First with replacement, without duplicates: exact, but slow if a few trees are very
        # probable. So after some draws, trees are drawn directly from the remaining trees.
        every = self.draw(2 * k + 16, generator)
        _, first = np.unique(every, axis=0, return_index=True)
        distinct = every[np.sort(first)][:k]
        if len(distinct) == k or self._n == 0:
            return distinct
        drawn = _Drawn(self)
        for tree in distinct:
            drawn.add(tree)
        trees = list(distinct)
        while len(trees) < k and drawn.any_left:
            trees.append(drawn.draw(generator))
        return np.array(trees)

    def _for_walks(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights and their logarithms, as arguments of `walk`."""
        weights, logs = self._weights, self._logs
        if self._single:
            # Without the root edges, the other weights may be tiny: they are scaled for the walks.
            logs = logs.copy()
            logs[0] = -np.inf
            highest = logs.max(axis=0)
            logs -= np.where(highest > -np.inf, highest, 0.0)
            weights = np.exp(logs)
        return weights, logs

    def _roots(self) -> NDArray[np.float64]:
        """Return the cumulative sums of the probabilities of the root edges."""
        whole = Sums.of(1, self._n + 1, marginals=True)
        partition(self._made, _EVERY_WORD, True, False, whole, self._gaps)
        sums: NDArray[np.float64] = whole.marginals[0, 0].cumsum()
        return sums

    # A tree is a sequence of choices: with a single root, first the root word; then the heads of
    # all words, the last word first.

    def weigh(self, logs: NDArray[np.float64], choice: int) -> NDArray[np.float64]:
        """Return log-probabilities (n + 1,) of a word's heads; of root words for choice 0.

        `logs` (n + 1, n + 1) have a single edge into each word whose head is already chosen.
        """
        shares: NDArray[np.float64] = np.empty(self._n + 1)
        if self._projective:
            shares = self._weigh_projective(logs, choice)
        elif choice == 0:
            weigh_roots(logs, self._n, shares)
        else:
            weigh_heads(logs, self._n, choice, shares)
        shares -= np.logaddexp.reduce(shares)
        return shares

    def _weigh_projective(self, logs: NDArray[np.float64], choice: int) -> NDArray[np.float64]:
        """Return the result of `weigh`. O(n³), and O(n³) more for each option that underflows."""
        marginals = np.zeros(logs.shape)
        log_sum = sum_projective(logs, self._n, self._single, self._gaps, marginals)
        edges = np.s_[:, choice] if choice else np.s_[0]
        lost = (marginals[edges] < _LEAST_TRUSTED) & (logs[edges] > -np.inf)
        with np.errstate(divide="ignore"):
            shares: NDArray[np.float64] = np.log(marginals[edges])
        for each in np.flatnonzero(lost).tolist():
            only = logs.copy()
            only[edges] = -np.inf
            only[edges][each] = logs[edges][each]
            own_sum = sum_projective(only, self._n, self._single, self._gaps, _NO_MARGINALS)
            shares[each] = own_sum - log_sum
        return shares

    @property
    def choices(self) -> list[int]:
        """The choices, in order, as in `weigh`."""
        return [0, *range(self._n, 0, -1)] if self._single else [*range(self._n, 0, -1)]

    @property
    def logs(self) -> NDArray[np.float64]:
        """A copy of the logarithms of the weights."""
        return self._logs.copy()


class _Choice:
    """The options after some earlier choices, and the remaining probability of each."""

    def __init__(self, shares: NDArray[np.float64]) -> None:
        self.shares = shares
        self.left = shares.copy()
        self.then: dict[int, _Choice] = {}

    @property
    def all_left(self) -> float:
        return float(np.logaddexp.reduce(self.left))


class _Drawn:
    """The trees drawn so far, as a tree of choices (Shi, Bieber and Sutton 2020)."""

    # The probability that remains after a choice is a sum of probabilities of later choices, never
    # a difference: accurate even if tiny.

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._first: _Choice | None = None

    @property
    def any_left(self) -> bool:
        """Whether there are more trees."""
        return self._first is None or self._first.all_left > -np.inf

    def draw(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw one of the remaining trees, and mark it as drawn."""
        return self._go(lambda choice, _: _pick(choice.left, generator))

    def add(self, tree: NDArray[np.int64]) -> None:
        """Mark a tree as drawn."""
        root = int(np.flatnonzero(tree == 0)[0])
        self._go(lambda _, word: int(tree[word]) if word else root)

    def _go(self, choose: Callable[[_Choice, int], int]) -> NDArray[np.int64]:
        sampler = self._sampler
        logs = sampler.logs
        tree = np.full(len(logs), -1, np.int64)
        trail: list[tuple[_Choice, int]] = []
        for word in sampler.choices:
            if trail:
                before, chosen = trail[-1]
                if chosen not in before.then:
                    before.then[chosen] = _Choice(self._weigh(logs, word))
                choice = before.then[chosen]
            else:
                self._first = choice = self._first or _Choice(self._weigh(logs, word))
            chosen = choose(choice, word)
            trail.append((choice, chosen))
            head, dependent = (chosen, word) if word else (0, chosen)
            if not word:
                logs[0] = -np.inf
            logs[:, dependent] = -np.inf
            logs[head, dependent] = 0.0
            tree[dependent] = head
        left = -np.inf
        for choice, chosen in reversed(trail):
            share = float(choice.shares[chosen])
            if left > -np.inf:  # the remaining probability may underflow
                left = max(share + left, float(np.finfo(np.float64).min))
            choice.left[chosen] = left
            left = choice.all_left
        return tree

    def _weigh(self, logs: NDArray[np.float64], word: int) -> NDArray[np.float64]:
        present = logs[:, word] > -np.inf
        if word and np.count_nonzero(present) == 1:
            return np.where(present, 0.0, -np.inf)
        return self._sampler.weigh(logs, word)


def _pick(logs: NDArray[np.float64], generator: np.random.Generator) -> int:
    """Draw an index with probability proportional to ``exp(logs)``."""
    sums = np.exp(logs - logs.max()).cumsum()
    return int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
