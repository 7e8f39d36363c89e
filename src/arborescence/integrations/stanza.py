"""Stanza: its graph-based parser decodes a batch at once, not sentence by sentence.

The replacements are for `GraphParser.decode_graph_predictions`,
`resolve_head_constraint_violations`, and `chuliu_edmonds_one_root`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.budget import Budget
from arborescence.inference.conflicts import Alternative, Edges
from arborescence.inference.constraints import Constraints
from arborescence.inference.decode import decode as best_trees
from arborescence.inference.solver import solve
from arborescence.integrations.tools import Replacement, one_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

VERSIONS = ("1.15.0",)
#: The budget of work to find a tree that keeps the head constraints.
_WORK: Final = 1e7


def replacements() -> list[Replacement]:
    """Return the replacements in Stanza's modules."""
    from stanza.models.common import chuliu_edmonds
    from stanza.models.depparse import head_constraints
    from stanza.models.depparse.model import GraphParser

    name = "resolve_head_constraint_violations"
    return [
        Replacement(
            GraphParser, "decode_graph_predictions", staticmethod(decode_graph_predictions)
        ),
        Replacement(head_constraints, name, resolve_head_constraint_violations),
        Replacement(chuliu_edmonds, "chuliu_edmonds_one_root", one_root),
    ]


def decode_graph_predictions(
    vocab: Any,
    batch_size: int,
    preds: Sequence[NDArray[Any]],
    sentlens: Sequence[int],
    resolve_head_constraints: bool = False,
) -> list[list[list[Any]]]:
    """Return the heads and relations of a batch, a list of [head, relation] for each sentence.

    `vocab` is Stanza's vocabulary of relations. `preds` are scores (B, N, N), ``[b, d, h]``, the
    best relation of each edge (B, N, N), and the logarithms of the relations' probabilities (B, N,
    N, L). `sentlens` are the numbers of words, with the root. `resolve_head_constraints` tells
    whether no word may have two subjects or two objects.
    """
    from stanza.models.common.vocab import VOCAB_PREFIX_SIZE

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


def resolve_head_constraint_violations(
    scores: NDArray[Any],
    label_log_probs: NDArray[Any],
    tree: NDArray[Any],
    vocab: Any,
    max_iterations: int = 5,  # noqa: ARG001  (Stanza's; the search needs no rounds)
) -> tuple[NDArray[Any], list[int]]:
    """Return the best tree in which no word has two subjects, outer subjects or objects.

    And the numbers of its relations. The best tree has the highest sum of all scores; Stanza's own
    function repairs one word after the other. A tree that keeps the constraints stays.

    `scores` is (N, N), ``[d, h]``; `label_log_probs` (N, N, L) are the logarithms of the relations'
    probabilities; `tree` (N,) is the best tree, with 0 for the root; `vocab` is Stanza's vocabulary
    of relations.
    """
    from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
    from stanza.models.depparse.head_constraints import SINGLETON_DEPREL_GROUPS

    words = np.arange(1, len(tree))
    names = vocab.unmap([VOCAB_PREFIX_SIZE + label for label in range(label_log_probs.shape[2])])
    groups = [
        [label for label, name in enumerate(names) if name in group]
        for group in SINGLETON_DEPREL_GROUPS.values()
    ]

    def conflicts(heads: NDArray[Any], labels: NDArray[Any]) -> list[list[Alternative]]:
        broken = []
        for group in groups:
            counted = words[np.isin(labels[1:], group)]
            for head in np.flatnonzero(np.bincount(heads[counted], minlength=1) > 1):
                one = counted[heads[counted] == head][0]
                parted = one, words[words != one]
                broken.append([Alternative([Edges(int(head), each, group)]) for each in parted])
        return broken

    heads, labels = tree, np.append(-1, label_log_probs[words, tree[1:]].argmax(axis=-1))
    if conflicts(heads, labels):
        weights = scores[..., None].astype(np.float64) + label_log_probs
        wanted = Constraints(conflicts=(conflicts,))
        [(heads, labels, *_)] = solve(weights.swapaxes(0, 1), wanted, budget=Budget(_WORK))
        heads[0] = 0
    return heads, labels[1:].tolist()


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
    """Relations without names, in place of a vocabulary."""

    @staticmethod
    def unmap(numbers: Sequence[int]) -> list[str]:
        return ["_"] * len(numbers)
