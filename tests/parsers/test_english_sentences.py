"""A hundred English sentences, written for this project, with their trees: are the trees right?

The rules are those of Universal Dependencies that can be checked without reading a sentence.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from arborescence import is_projective, is_tree
from arborescence.treebank import read

SENTENCES = list(read(Path(__file__).with_name("english.conllu")))
#: What is asked for stands in front, and the words that it hangs from at the end.
CROSSING = {
    "Who were you talking to?",
    "What are you going to do tomorrow?",
}
LEAVES = {"aux", "aux:pass", "case", "cc", "cc:preconj", "cop", "det", "mark", "punct"}
TAGS = {
    "advmod": {"ADV", "PART"},
    "amod": {"ADJ"},
    "aux": {"AUX"},
    "aux:pass": {"AUX"},
    "case": {"ADP", "PART"},
    "cc": {"CCONJ"},
    "cc:preconj": {"CCONJ"},
    "compound:prt": {"ADP"},
    "cop": {"AUX"},
    "det": {"DET"},
    "det:predet": {"DET"},
    "discourse": {"INTJ"},
    "expl": {"PRON"},
    "iobj": {"PRON", "NOUN", "PROPN"},
    "mark": {"PART", "SCONJ"},
    "nmod:poss": {"NOUN", "PRON", "PROPN"},
    "nsubj": {"NOUN", "NUM", "PRON", "PROPN"},
    "nummod": {"NUM"},
    "punct": {"PUNCT"},
}
ONCE = {"nsubj", "obj", "iobj", "cop", "expl", "csubj"}

each = pytest.mark.parametrize("sentence", SENTENCES, ids=lambda s: text(s)[:30])


def text(sentence):
    """What the words and their spaces say."""
    words = zip(sentence.forms, sentence.misc, strict=True)
    return "".join(form + ("" if "SpaceAfter=No" in misc else " ") for form, misc in words).strip()


def test_there_are_a_hundred_of_all_kinds():
    assert len(SENTENCES) == len({text(sentence) for sentence in SENTENCES}) == 100
    kinds = Counter(line for s in SENTENCES for line in s.comments if line.startswith("# group"))
    assert len(kinds) == 8
    assert min(kinds.values()) >= 9


@each
def test_heads_and_relations(sentence):
    heads, deprels = sentence.tree.tolist(), sentence.deprels
    assert is_tree(heads, "single")
    children = [[] for _ in heads]
    for d, (head, deprel) in enumerate(zip(heads[1:], deprels, strict=True), 1):
        assert (head == 0) == (deprel == "root")
        children[head].append(deprel)
        if deprel in TAGS:
            assert sentence.upos[d - 1] in TAGS[deprel], (sentence.forms[d - 1], deprel)
        if deprel in ("conj", "flat", "fixed", "appos"):
            assert head < d
    for d, deprel in enumerate(deprels, 1):
        if deprel in LEAVES:
            assert not children[d], (sentence.forms[d - 1], children[d])
        alone = Counter(child.partition(":")[0] for child in children[d])
        assert all(alone[name] <= 1 for name in ONCE), (sentence.forms[d - 1], children[d])


@each
def test_marks_and_crossing_edges(sentence):
    root = sentence.tree.tolist().index(0)
    if sentence.forms[-1] != '"':
        assert (sentence.tree[-1], sentence.upos[-1]) == (root, "PUNCT")
    assert is_projective(sentence.tree) == (text(sentence) not in CROSSING)


@each
def test_text_is_that_of_the_words(sentence):
    said = next(line for line in sentence.comments if line.startswith("# text = "))
    assert said.removeprefix("# text = ").replace(" ", "") == "".join(sentence.forms)
