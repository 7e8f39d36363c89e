"""Compare a tool's decoding with ours, before and after the replacement, on random graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.core.tree import is_tree, tree_weight
from arborescence.integrations.patching import holders, module_of, patch, replacements

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Few words a sentence, so that the tool's own decoder and we often disagree, if we ever do.
SENTENCES, WORDS = 200, 12


class Findings(NamedTuple):
    """What `check` counts, in sentences."""

    same: int
    """Both found the same tree, or trees of the same weight."""
    better: int
    """Theirs is a tree with one root edge, and ours weighs more."""
    broken: int
    """Theirs is no tree with one root edge, or there is none: an exception."""
    wrong: int
    """Ours is no such tree, or weighs less than theirs."""


def places(tool: str) -> list[str]:
    """Return the dotted names of all that `patch` would replace; errors as there."""
    found: dict[str, None] = {}
    for replacement in replacements(tool):
        found[str(replacement)] = None
        for module, name in holders(vars(replacement.owner)[replacement.name]):
            found[f"{module.__name__}.{name}"] = None
    return list(found)


def check(tool: str, seed: int = 0) -> Findings:
    """Decode random graphs with the tool's own decoder and with ours in its place, and compare.

    Errors as in `patch`.
    """
    decode = module_of(tool).decode
    scores, lengths = random_graphs(np.random.default_rng(seed))
    theirs = []
    replacements(tool)  # before anything of the tool runs: its version may be unknown
    for i in range(len(lengths)):
        try:
            theirs.append(decode(scores[i : i + 1], lengths[i : i + 1])[0])
        except Exception:  # another package may raise anything
            theirs.append(None)
    with patch(tool):
        ours = decode(scores, lengths)
    counts = dict.fromkeys(Findings._fields, 0)
    for graph, n, own, new in zip(scores, lengths, theirs, ours, strict=True):
        before, after = weight_of(graph, n, own), weight_of(graph, n, new)
        if after is None or (before is not None and after < before):
            counts["wrong"] += 1
        elif before is None:
            counts["broken"] += 1
        else:
            counts["better" if after > before else "same"] += 1
    return Findings(**counts)


def weight_of(scores: NDArray[Any], n: int, heads: NDArray[Any] | None) -> float | None:
    """Return the weight of a tree with one root edge; None for anything else."""
    if heads is None:
        return None
    tree = np.concatenate([[-1], heads[1 : n + 1]])
    if not is_tree(tree):
        return None
    return float(tree_weight(scores[: n + 1, : n + 1].T, tree))


def random_graphs(rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return logarithms of random probabilities of heads, ``[b, d, h]``, and the lengths."""
    lengths = rng.integers(1, WORDS + 1, SENTENCES)
    scores = rng.normal(0.0, 2.0, (SENTENCES, WORDS + 1, WORDS + 1))
    words = np.arange(WORDS + 1)
    scores[:, words, words] = -np.inf
    scores[words[None, None, :].repeat(WORDS + 1, 1) > lengths[:, None, None]] = -np.inf
    scores[:, 0, 0] = 0.0
    with np.errstate(divide="ignore"):
        probabilities = np.exp(scores - scores.max(axis=2, keepdims=True))
        logarithms = np.log(probabilities / probabilities.sum(axis=2, keepdims=True))
    return logarithms.astype(np.float32), lengths
