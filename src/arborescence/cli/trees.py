"""Output of trees: as CoNLL-U or JSON, drawn on the terminal or in a picture, or several of these.

Each sentence is a list of analyses: one tree, or k with ranks and weights in comments.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from arborescence.cli.options import ends
from arborescence.errors import TreeError
from arborescence.system.files import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arborescence.treebank import Sentence

    Analyses = list[Sentence]


def deliver(
    sentences: Iterator[Analyses],
    *,
    output: str | None,
    as_json: bool = False,
    describe: Callable[[Analyses], dict[str, Any]] | None = None,
    write: Callable[[Iterable[Sentence], str], None] | None = None,
    text: bool = False,
) -> None:
    """Draw trees if `text`, and write them: the ending or `as_json` says how."""
    # `describe` makes JSON of a sentence, and `write` writes what is neither SVG nor JSON
    if text:
        sentences = drawn(sentences)
    if not output:
        deque(sentences, maxlen=0)
    elif ends(output, ".svg"):
        from arborescence.drawing import draw_svg

        kept = list(chain.from_iterable(sentences))
        with writing(output) as file:
            file.write(draw_svg(*kept, titles=[rank_of(tree) for tree in kept]).encode())
    elif as_json or ends(output, ".json", ".jsonl"):
        with writing(output) as file:
            for analyses in sentences:
                described = (describe or the_tree)(analyses)
                file.write(json.dumps(described, ensure_ascii=False).encode() + b"\n")
    else:
        from arborescence.treebank import write as write_conllu

        (write or write_conllu)(chain.from_iterable(sentences), output)


def the_tree(analyses: Analyses, confidence: bool = False) -> dict[str, Any]:
    """Describe a sentence and its only analysis, ready for JSON."""
    [sentence] = analyses
    return words_of(sentence) | edges_of(sentence, confidence)


def the_trees(analyses: Analyses, confidence: bool) -> dict[str, Any]:
    """Describe a sentence and its k best analyses, ready for JSON."""
    from arborescence.treebank.kbest import weight_of

    trees = [
        {"weight": weight_of(sentence), **edges_of(sentence, confidence)} for sentence in analyses
    ]
    return {**words_of(analyses[0]), "analyses": trees}


def words_of(sentence: Sentence) -> dict[str, Any]:
    """Describe what all analyses of a sentence have in common."""
    names = {"sent_id": sentence.sent_id, "text": sentence.text}
    known = {name: value for name, value in names.items() if value is not None}
    return {**known, "words": sentence.forms, "upos": sentence.upos}


def edges_of(sentence: Sentence, confidence: bool) -> dict[str, Any]:
    """Describe a tree: the head of each word, 0 for the root, the relation, the probability."""
    edges = {"heads": sentence.heads[1:].tolist(), "deprels": sentence.deprels}
    if not confidence:
        return edges
    from arborescence.parsers.shared.confidence import edge_probs

    return {**edges, "edge_probs": edge_probs(sentence)}


def rank_of(tree: Sentence) -> str:
    """Name a tree among the k best of its sentence by its rank and weight; "" for an only one."""
    rank, weight = tree.comment("kbest_rank"), tree.comment("kbest_weight")
    if not rank or not weight:
        return ""
    with suppress(ValueError):  # the comment of a file may be malformed
        weight = f"{float(weight):.2f}"
    return f"{rank}. weight {weight}"


def drawn(sentences: Iterable[Analyses]) -> Iterator[Analyses]:
    """Pass the sentences on, and draw their trees on stdout."""
    from arborescence.drawing import draw_text

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for analyses in sentences:
        for sentence in analyses:
            titles = (c for c in sentence.comments if "text =" in c or "kbest_" in c)
            title = "".join(f"{comment}\n" for comment in titles)
            try:
                drawing = draw_text(sentence, color=color)
            except TreeError as error:
                raise TreeError(f"{sentence.source}:{sentence.line}: {error}") from error
            sys.stdout.write(f"{title}{drawing}\n")
        yield analyses
