"""Treebanks: reading and writing CoNLL-U, k-best files and plain text; evaluation of parses.

>>> import io
>>> from arborescence.treebank import Sentence, read
>>> sentence = Sentence.from_words(["Trees", "grow"], heads=[2, 0])
>>> [again] = read(io.BytesIO(bytes(sentence)))
>>> again == sentence
True
"""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily

if TYPE_CHECKING:
    from arborescence.treebank.broken import mended as mended
    from arborescence.treebank.broken import read_broken as read_broken
    from arborescence.treebank.conllu import read as read
    from arborescence.treebank.conllu import read_kbest as read_kbest
    from arborescence.treebank.conllu import write as write
    from arborescence.treebank.conllu import write_kbest as write_kbest
    from arborescence.treebank.decisions import decided as decided
    from arborescence.treebank.evaluation import Evaluation as Evaluation
    from arborescence.treebank.evaluation import best_of_k as best_of_k
    from arborescence.treebank.evaluation import evaluate as evaluate
    from arborescence.treebank.frames import to_frame as to_frame
    from arborescence.treebank.patterns.association import associations as associations
    from arborescence.treebank.patterns.find import Match as Match
    from arborescence.treebank.patterns.find import count as count
    from arborescence.treebank.patterns.find import search as search
    from arborescence.treebank.plain import read_tokens as read_tokens
    from arborescence.treebank.sentence import Sentence as Sentence
    from arborescence.treebank.spaces import raw_text as raw_text
    from arborescence.treebank.spaces import with_ranges as with_ranges
    from arborescence.treebank.spaces import word_ranges as word_ranges
    from arborescence.treebank.spelling import respelled as respelled
    from arborescence.treebank.styles import restyle as restyle
    from arborescence.treebank.validation import Broken as Broken
    from arborescence.treebank.validation import validate as validate
    from arborescence.treebank.words import Word as Word

__all__, __getattr__, __dir__ = lazily(__name__)
