"""The best converted trees that keep the rules of the new scheme, by `inference.solver`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.budget import Budget
from arborescence.inference.constraints import Constraints
from arborescence.parsers.harmonizer.corrections import kept_heads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.harmonizer.scorer import Scored
    from arborescence.parsers.shared.keeping import Keeper
    from arborescence.treebank import Sentence

# The least probability of a relation.
_LEAST = 1e-9


def keep_rules(
    keeper: Keeper,
    sentences: Sequence[Sentence],
    scored: Scored,
    labels: NDArray[np.int64],
    relations: tuple[str, ...],
    kept: Sequence[Sentence | None],
) -> tuple[Scored, list[int]]:
    """Replace trees that break a rule by the best trees with relations that keep all rules.

    Parameters
    ----------
    keeper
        The rules.
    sentences
        Converted sentences, whose new tags do not change.
    scored, labels
        The scores and trees of the sentences, and the number of each word's relation. The new
        relations are written into `labels`.
    relations
        The names of relations.
    kept
        Sentences with corrected words, or None. The corrected words keep their heads.

    Returns
    -------
    scored : Scored
        `scored` with the new trees. If the search finds no tree that keeps all rules, the old tree
        stays.
    changed : list of int
        The numbers of the sentences that have to be written again.
    """
    checked = keeper.look(sentences)
    trees, solutions = list(scored.trees), []
    firsts = (scored.candidates.starts - np.arange(len(sentences) + 1)).tolist()
    for place, b in enumerate(checked.broken.tolist()):
        words = checked.sentence(checked.broken[place])._replace(label_names=relations)
        fixed = kept[b]
        wanted = Constraints() if fixed is None else Constraints.fixed(kept_heads(fixed))
        best = keeper.best(words, _table(scored, b), wanted, budget=Budget())
        solutions.append(best)
        if best:
            trees[b] = best[0].heads
            labels[firsts[b] : firsts[b + 1]] = best[0].labels[1:]
    keeper.count(len(sentences), solutions)
    if not any(solutions):
        return scored, checked.parted.tolist()
    changed = sorted({*checked.broken.tolist(), *checked.parted.tolist()})
    return scored._replace(trees=trees, rows=scored.candidates.rows_of(trees)), changed


def _table(scored: Scored, b: int) -> NDArray[np.float64]:
    """Return the scores of the edges of a sentence with each relation."""
    matrix, candidates = scored.matrices[b], scored.candidates
    start, stop = candidates.starts[b : b + 2]
    first, last = np.searchsorted(candidates.ends[:, 1], (start, stop))
    table = np.full((*matrix.shape, scored.chances.shape[1]), np.log(_LEAST))
    logs = np.log(np.maximum(scored.chances[first:last].astype(np.float64), _LEAST))
    heads, words = (candidates.ends[first:last] - start).T
    table[heads, words] = logs - logs.max(axis=1, keepdims=True)
    return table + matrix[..., None]
