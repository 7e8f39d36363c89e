"""A sentence as a dictionary, ready for JSON: for Python, the command line and the service."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.treebank.sentence_like import SentenceLike

#: The comment with the probability of a tree.
TREE_PROB: Final = "tree_prob"
#: The comments with rank and weight of one of the k best trees.
RANK: Final = "kbest_rank"
WEIGHT: Final = "kbest_weight"


def described(sentence: SentenceLike) -> dict[str, Any]:
    """Describe a sentence: see `Sentence.to_dict`."""
    return words_of(sentence) | edges_of(sentence)


def ranked_trees(analyses: Sequence[SentenceLike]) -> dict[str, Any]:
    """Describe a sentence and its k best analyses, which have their weights in comments."""
    trees = [
        {"weight": float(str(sentence.comment(WEIGHT))), **edges_of(sentence)}
        for sentence in analyses
    ]
    return {**words_of(analyses[0]), "analyses": trees}


def words_of(sentence: SentenceLike) -> dict[str, Any]:
    """Describe the words, which all analyses of a sentence share."""
    starts, ends = zip(*sentence.ranges, strict=True)
    known = {"sent_id": sentence.sent_id, "text": sentence.text}
    return {
        **{name: value for name, value in known.items() if value is not None},
        "words": sentence.forms,
        "lemmas": sentence.lemmas,
        "upos": sentence.upos,
        "xpos": sentence.xpos,
        "feats": sentence.feats,
        "misc": sentence.misc,
        "start": list(starts),
        "end": list(ends),
        "multiwords": [list(token) for token in sentence.multiwords],
    }


def edges_of(sentence: SentenceLike) -> dict[str, Any]:
    """Describe the tree, if any word has a head, and the probabilities that MISC has."""
    heads = sentence.heads
    edges: dict[str, Any] = {}
    if (heads >= 0).any():
        edges = {"heads": heads.tolist(), "deprels": sentence.deprels}
    for key, name in (("edge_probs", "EdgeProb"), ("relation_probs", "RelationProb")):
        values = probabilities(sentence, name)
        if None not in values:
            edges[key] = values
    if share := sentence.comment(TREE_PROB):
        edges[TREE_PROB] = float(share)
    return edges


def rank_of(tree: SentenceLike) -> str:
    """Return rank and weight of a tree among the k best of its sentence; "" for a single tree."""
    rank, weight = tree.comment(RANK), tree.comment(WEIGHT)
    if not rank or not weight:
        return ""
    with suppress(ValueError):  # the comment of a file may be malformed
        weight = f"{float(weight):.2f}"
    return f"{rank}. weight {weight}"


def probabilities(sentence: SentenceLike, name: str = "EdgeProb") -> list[float | None]:
    """Return the number in MISC under a name for each word; None if there is no number.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> probabilities(Sentence.from_words(["Trees", "grow"], misc=["EdgeProb=0.97", "_"]))
    [0.97, None]
    """
    key, values_of_words = f"{name}=", list[float | None]()
    for entries in sentence.misc:
        values = [entry for entry in entries.split("|") if entry.startswith(key)]
        try:
            values_of_words.append(float(values[0].removeprefix(key)))
        except (IndexError, ValueError):
            values_of_words.append(None)
    return values_of_words
