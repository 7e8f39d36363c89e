"""The choice of an epoch's sentences, from each treebank in proportion to its size's square root.

Each treebank has an endless row of its sentences: pass after pass, each in another random order. An
epoch takes the next sentences of each row. So it depends only on its number, not on other epochs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


def shares_of(sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the share of each treebank in an epoch: in proportion to its size's square root.

    >>> shares_of([100, 400, 0]).tolist()
    [0.3333333333333333, 0.6666666666666666, 0.0]
    """
    roots = np.sqrt(sizes)
    shares: NDArray[np.float64] = roots / roots.sum()
    return shares


def sampled(
    lengths: Sequence[NDArray[np.int64]], words: int, epoch: int, seed: int
) -> Iterator[tuple[int, int]]:
    """Yield the treebank and the number of each sentence of an epoch (from 1).

    `lengths` has the number of words of each sentence, by treebank. `words` is the number of words
    of an epoch.

    >>> lengths = [np.full(3, 10), np.full(300, 10)]
    >>> first, second = (list(sampled(lengths, 110, epoch, 1)) for epoch in (1, 2))
    >>> sorted(first[:1] + second[:1]), len(first)
    ([(0, 0), (0, 1)], 11)
    """
    for treebank, (each, share) in enumerate(
        zip(lengths, shares_of([int(each.sum()) for each in lengths]), strict=True)
    ):
        total = int(each.sum())
        if not total:
            continue
        begin, end = ((epoch + step) * words * share for step in (-1, 0))
        for number in range(int(begin // total), int(end // total) + 1):
            order = np.random.default_rng((seed, treebank, number)).permutation(len(each))
            starts = number * total + np.cumsum(each[order]) - each[order]
            chosen = order[(begin <= starts) & (starts < end)]
            yield from ((treebank, sentence) for sentence in chosen.tolist())
