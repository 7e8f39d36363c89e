"""Words as objects, and walks through a tree, against definitions in plain Python."""

import numpy as np
import pytest

from arborescence.errors import OptionError, TreeError
from arborescence.treebank import Sentence
from modes import some


def drawn(rng):
    """A sentence with a random tree."""
    n = int(rng.integers(1, 9))
    order = (rng.permutation(n) + 1).tolist()
    heads = {word: int(rng.choice([0, *order[:at]])) for at, word in enumerate(order)}
    return Sentence.from_words(["x"] * n, heads=[heads[word] for word in range(1, n + 1)])


def above(heads, node):
    """A node and all above it, up to the root."""
    while True:
        yield node
        if node == 0:
            return
        node = heads[node]


def test_walks_through_random_trees():
    rng = np.random.default_rng(3)
    for _ in range(some(300)):
        sentence = drawn(rng)
        heads, n = sentence.tree.tolist(), len(sentence)
        ways = [list(above(heads, node)) for node in range(n + 1)]
        assert sentence.depth.tolist() == [len(way) - 1 for way in ways[1:]]
        for node in range(n + 1):
            assert sentence.children(node) == [d for d in range(1, n + 1) if heads[d] == node]
            below = [d for d in range(1, n + 1) if node in ways[d]]
            assert sentence.subtree(node) == below
            for other in range(n + 1):
                meet = next(each for each in ways[node] if each in ways[other])
                up = ways[node][: ways[node].index(meet) + 1]
                down = ways[other][: ways[other].index(meet)]
                assert sentence.path(node, other) == up + down[::-1]
        for word in sentence.words:
            assert word.depth == sentence.depth[word.id - 1]
            assert [each.id for each in word.children] == sentence.children(word.id)
            assert [each.id for each in word.subtree] == sentence.subtree(word.id)
            assert (word.head.id if word.head else 0) == heads[word.id]


def test_columns_of_a_word():
    sentence = Sentence.from_words(
        ["Été"], lemmas=["être"], upos=["VERB"], xpos=["V"], feats=["Mood=Ind|Tense=Past"],
        heads=[0], deprels=["root"], misc=["SpaceAfter=No|Flag"],
    )  # fmt: skip
    [word] = sentence.words
    assert (word.form, word.lemma, word.upos, word.xpos) == ("Été", "être", "VERB", "V")
    assert (word.deprel, word.deps, word.head) == ("root", "_", None)
    assert word.feats == {"Mood": "Ind", "Tense": "Past"}
    assert word.misc == {"SpaceAfter": "No", "Flag": ""}
    assert repr(word) == "<Word 1: Été>"
    assert word == sentence.word(1)
    assert {word, sentence.word(1)} == {word}
    assert Sentence.from_words(["a"]).word(1).feats == {}


def test_no_such_word():
    sentence = Sentence.from_words(["a", "b"], heads=[2, 0])
    for ask in (sentence.word, sentence.children, sentence.subtree):
        with pytest.raises(OptionError, match="word 3: the words of the sentence are 1 to 2"):
            ask(3)
    with pytest.raises(OptionError, match="word 0"):
        sentence.word(0)
    with pytest.raises(OptionError, match="word -1"):
        sentence.path(1, -1)


def test_what_is_no_tree():
    cycle = Sentence.from_words(["a", "b", "c"], heads=[2, 1, 2])
    assert cycle.depth.tolist() == [0, 0, 0]
    assert cycle.subtree(1) == [1, 2, 3]
    with pytest.raises(TreeError, match="word 3 is in or below a cycle"):
        cycle.path(3, 1)
    loose = Sentence.from_words(["a", "b"], heads=[-1, 1])
    assert loose.depth.tolist() == [0, 0]
    assert loose.children(1) == [2]
    with pytest.raises(TreeError, match="word 1, on the path from word 2, has no head"):
        loose.word(2).depth  # noqa: B018
