"""Stanza: its graph-based parser decodes a batch at once, in place of sentence by sentence.

Replaced are `GraphParser.decode_graph_predictions`, and `chuliu_edmonds_one_root`, which the repair
of head constraints calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.inference.decode import decode as best_trees
from arborescence.integrations.conventions import one_root
from arborescence.integrations.patching import Replacement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

VERSIONS = ("1.15.0",)


def replacements() -> list[Replacement]:
    """Say what takes the place of what."""
    from stanza.models.common import chuliu_edmonds
    from stanza.models.depparse.model import GraphParser

    return [
        Replacement(
            GraphParser, "decode_graph_predictions", staticmethod(decode_graph_predictions)
        ),
        Replacement(chuliu_edmonds, "chuliu_edmonds_one_root", one_root),
    ]


def decode_graph_predictions(
    vocab: Any,
    batch_size: int,
    preds: Sequence[NDArray[Any]],
    sentlens: Sequence[int],
    resolve_head_constraints: bool = False,
) -> list[list[list[Any]]]:
    """Return the heads and relations of a batch.

    Parameters
    ----------
    vocab
        Stanza's vocabulary of relations.
    batch_size : int
    preds : three arrays
        Scores (B, N, N) as ``[b, d, h]``; the best relation of each edge (B, N, N); the logarithms
        of the relations' probabilities (B, N, N, L).
    sentlens : sequence of int
        The numbers of words, with the root.
    resolve_head_constraints : bool
        Whether Stanza repairs words with two subjects or two objects, for which it decodes again.

    Returns
    -------
    list of list of [head, relation]
        For each sentence and word.

    Raises
    ------
    ScoresError, NoTreeError
        As in `arborescence.decode`.
    """
    from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
    from stanza.models.depparse.head_constraints import resolve_head_constraint_violations

    scores, best_labels = np.asarray(preds[0]), np.asarray(preds[1])
    trees = best_trees(scores.swapaxes(1, 2), np.asarray(sentlens) - 1)
    parsed = []
    for i, size in zip(range(batch_size), sentlens, strict=True):
        tree = trees[i, :size]
        tree[0] = 0
        if resolve_head_constraints:
            tree, relations = resolve_head_constraint_violations(
                scores[i, :size, :size], preds[2][i][:size, :size], tree, vocab
            )
            labels = [relation + VOCAB_PREFIX_SIZE for relation in relations]
        else:
            labels = best_labels[i, np.arange(1, size), tree[1:]]
        parsed.append([list(pair) for pair in zip(tree[1:], vocab.unmap(labels), strict=True)])
    return parsed


def decode(scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode as Stanza does."""
    from stanza.models.depparse.model import GraphParser

    heads = np.zeros(scores.shape[:2], np.int64)
    preds = [scores, np.zeros(scores.shape, np.int64)]
    sizes = lengths + 1
    for row, words in zip(
        heads,
        GraphParser.decode_graph_predictions(_Names, len(scores), preds, sizes),
        strict=True,
    ):
        row[1 : len(words) + 1] = [head for head, _ in words]
    return heads


class _Names:
    """In place of a vocabulary."""

    @staticmethod
    def unmap(numbers: Sequence[int]) -> list[str]:
        return ["_"] * len(numbers)
