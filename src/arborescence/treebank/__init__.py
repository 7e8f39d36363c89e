"""Treebanks: reading and writing CoNLL-U, k-best files and plain text; evaluation of parses.

>>> import io
>>> from arborescence.treebank import Sentence, read
>>> sentence = Sentence.from_words(["Trees", "grow"], heads=[-1, 2, 0])
>>> [again] = read(io.BytesIO(bytes(sentence)))
>>> again == sentence
True
"""

from arborescence.treebank.conllu import read, write
from arborescence.treebank.evaluation import Evaluation, evaluate
from arborescence.treebank.kbest import read_kbest, write_kbest
from arborescence.treebank.oracle import oracle
from arborescence.treebank.plain import read_tokens
from arborescence.treebank.sentence import Sentence

__all__ = [
    "Evaluation",
    "Sentence",
    "evaluate",
    "oracle",
    "read",
    "read_kbest",
    "read_tokens",
    "write",
    "write_kbest",
]
