"""The wrong sentences of a parser, and their page."""

import re

from arborescence.treebank import Sentence
from arborescence.treebank.wrong import errors_html, wrong_sentences

WORDS = Sentence.from_words(["Old", "trees", "grow", "."], upos=["ADJ", "NOUN", "VERB", "PUNCT"])
GOLD = WORDS.replace(heads=[2, 3, 0, 3], deprels=["amod", "nsubj:x", "root", "punct"])
OTHER = GOLD.replace(heads=[3, 3, 0, 2], deprels=["amod", "nsubj", "root", "punct"])
OBJECT = GOLD.replace(deprels=["amod", "obj", "root", "punct"])


def test_heads_and_relations():
    found = list(wrong_sentences([GOLD, GOLD, GOLD], [GOLD, OTHER, OBJECT]))
    assert [each.missed for each in found] == [[1, 4], [2]]
    assert [each.relations for each in found] == [["amod", "punct"], ["nsubj", "obj"]]
    assert found[1].gold == GOLD
    assert found[1].parsed == [OBJECT]
    [first, _] = wrong_sentences([GOLD, GOLD], [OTHER, OBJECT], punctuation=False)
    assert (first.missed, first.other, first.relations) == ([1], [[1]], ["amod"])


def test_sentences_that_are_split_differently():
    parts = [
        Sentence.from_words(["Old", "trees"], heads=[2, 0], deprels=["amod", "root"]),
        Sentence.from_words(["grow", "."], heads=[0, 1], deprels=["root", "punct"]),
    ]
    [found] = wrong_sentences([GOLD], parts)
    assert (found.missed, found.other) == ([2], [[2], []])
    [first] = wrong_sentences(parts, [GOLD])
    assert (first.missed, first.parsed, first.other) == ([2], [GOLD], [[2]])


def test_the_page():
    page = "".join(errors_html([GOLD, GOLD], [GOLD, OBJECT]))
    [item] = re.findall(r'<script type="text/html" class="item" (.*?)>(.*?)</script>', page, re.S)
    assert item[0] == 'data-keys="nsubj obj"'
    gold, parsed = item[1].split("<figure")[1:]
    for drawing, relation in ((gold, "nsubj:x"), (parsed, "obj")):
        assert re.findall(r'class="label marked"[^>]*>([^<]*)', drawing) == [relation]
        assert drawing.count('class="arc marked"') == 1
    assert "1 of 4 edges differ" in item[1]
    assert "".join(errors_html([GOLD], [GOLD])).count('class="item"') == 0
