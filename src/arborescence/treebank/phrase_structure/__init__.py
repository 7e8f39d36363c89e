"""From phrase structure to dependencies: bracketed trees, head rules, lexicalized trees.

>>> import io
>>> from arborescence.treebank.phrase_structure import convert
>>> file = io.BytesIO(b"((S (NP-SBJ (NNS Trees)) (VP (VBP grow))))")
>>> [sentence] = convert(file)
>>> sentence.heads, sentence.deprels
(array([2, 0]), ['S|NP-SBJ', 'root'])
"""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily

if TYPE_CHECKING:
    from arborescence.treebank.phrase_structure.head_rules import HeadRules as HeadRules
    from arborescence.treebank.phrase_structure.lexicalized import Lexicalized as Lexicalized
    from arborescence.treebank.phrase_structure.lexicalized import Tally as Tally
    from arborescence.treebank.phrase_structure.lexicalized import convert as convert
    from arborescence.treebank.phrase_structure.lexicalized import lexicalize as lexicalize
    from arborescence.treebank.phrase_structure.lexicalized import (
        to_dependencies as to_dependencies,
    )
    from arborescence.treebank.phrase_structure.reading import PhraseTree as PhraseTree
    from arborescence.treebank.phrase_structure.reading import read_trees as read_trees

__all__, __getattr__, __dir__ = lazily(__name__)
