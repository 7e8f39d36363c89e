"""Parsed sentences as JSON: for the command line, and for the service."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from arborescence.treebank import Sentence

    Analyses = list[Sentence]


def the_tree(analyses: Analyses, confidence: bool = False) -> dict[str, Any]:
    """Describe a sentence and its only analysis, ready for JSON."""
    [sentence] = analyses
    return words_of(sentence) | edges_of(sentence, confidence)


def the_trees(analyses: Analyses, confidence: bool) -> dict[str, Any]:
    """Describe a sentence and its k best analyses, ready for JSON."""
    from arborescence.treebank.conllu import weight_of

    trees = [
        {"weight": weight_of(sentence), **edges_of(sentence, confidence)} for sentence in analyses
    ]
    return {**words_of(analyses[0]), "analyses": trees}


def words_of(sentence: Sentence) -> dict[str, Any]:
    """Describe the words that all analyses of a sentence share."""
    names = {"sent_id": sentence.sent_id, "text": sentence.text}
    known = {name: value for name, value in names.items() if value is not None}
    return {**known, "words": sentence.forms, "upos": sentence.upos}


def edges_of(sentence: Sentence, confidence: bool) -> dict[str, Any]:
    """Describe a tree: the head of each word, 0 for the root, the relation, the probability."""
    edges = {"heads": sentence.heads.tolist(), "deprels": sentence.deprels}
    if not confidence:
        return edges
    from arborescence.parsers.shared.confidence import TREE_PROB, edge_probs

    probabilities: dict[str, Any] = {"edge_probs": edge_probs(sentence)}
    with suppress(TreebankError):
        probabilities["relation_probs"] = edge_probs(sentence, "RelationProb")
    if share := sentence.comment(TREE_PROB):
        probabilities[TREE_PROB] = float(share)
    return {**edges, **probabilities}


def rank_of(tree: Sentence) -> str:
    """Return rank and weight of a tree among the k best of its sentence; "" for a single tree."""
    rank, weight = tree.comment("kbest_rank"), tree.comment("kbest_weight")
    if not rank or not weight:
        return ""
    with suppress(ValueError):  # the comment of a file may be malformed
        weight = f"{float(weight):.2f}"
    return f"{rank}. weight {weight}"
