"""Dependencies beside the definition, by recursion; constructions; traces; what is counted."""

from __future__ import annotations

import io

import numpy as np
import pytest

import arborescence as arb
from arborescence.treebank import Sentence, read, write
from arborescence.treebank.phrase_structure import (
    HeadRules,
    PhraseTree,
    Tally,
    convert,
    lexicalize,
    to_dependencies,
)
from arborescence.treebank.phrase_structure.head_rules import TABLES
from phrase_trees import CONSTRUCTIONS, random_tree

Edges = dict[int, tuple[int, str]]


def bracketed(text: str, rules: str = "collins", **options: bool) -> Sentence:
    [sentence] = convert(io.BytesIO(text.encode()), rules, **options)  # type: ignore[arg-type]
    return sentence


def defined(tree: PhraseTree, rules: HeadRules) -> tuple[list[str], Edges]:
    """The words, and head and relation of each that has one, by recursion over the phrases."""
    words: list[str] = []
    edges: Edges = {}

    def head_of(node: PhraseTree) -> int:
        """Return the head of a node, 0 if it is empty."""
        if node.word is not None:
            if node.label == "-NONE-":
                return 0
            words.append(node.word)
            return len(words)
        heads = [(head_of(child), child.label) for child in node.children]
        heads = [(head, label) for head, label in heads if head]
        if not heads:
            return 0
        best, _ = heads[rules.find(node.label, [label for _, label in heads]).child]
        for head, label in heads:
            if head != best:
                phrase = plain(node.label).removesuffix("-SBJ")
                edges[head] = best, f"{phrase}|{plain(label)}"
        return best

    head_of(tree)
    return words, edges


def plain(label: str) -> str:
    """A label as in relations, for those of the random trees."""
    return (
        label
        if label.startswith("-")
        else label.split("-")[0].split("|")[0] + ("-SBJ" if "-SBJ" in label else "")
    )


@pytest.mark.parametrize("name", TABLES)
def test_random_trees_beside_the_definition(name: str) -> None:
    rng = np.random.default_rng(7)
    rules = HeadRules.load(name)
    for _ in range(200):
        tree = random_tree(int(rng.integers(1, 15)), rng)
        words, edges = defined(tree, rules)
        found = to_dependencies(lexicalize(tree, rules))
        assert arb.is_tree(found.tree)
        assert arb.is_projective(found.tree)
        assert len(found) == len(words)
        pairs = zip(found.heads.tolist(), found.deprels, strict=True)
        assert list(pairs) == [edges.get(word, (0, "root")) for word in range(1, len(words) + 1)]


def test_random_trees_with_traces() -> None:
    rng = np.random.default_rng(8)
    rules = HeadRules.load("collins")
    moved = crossing = 0
    for _ in range(200):
        tree = random_tree(int(rng.integers(2, 15)), rng, empty=0.4)
        before = str(tree)
        tally = Tally()
        found = to_dependencies(lexicalize(tree, rules, traces=True, tally=tally))
        assert arb.is_tree(found.tree)
        assert found.forms == to_dependencies(lexicalize(tree, rules)).forms
        assert str(tree) == before
        moved += tally.moved > 0
        crossing += not arb.is_projective(found.tree)
    assert moved > 20
    assert crossing > 2


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_constructions(name: str) -> None:
    text, collins, yamada_matsumoto, traced = CONSTRUCTIONS[name]
    assert bracketed(text).heads.tolist() == collins
    assert bracketed(text, "yamada-matsumoto").tree[1:].tolist() == yamada_matsumoto
    assert bracketed(text, traces=True).heads.tolist() == traced


def test_relations() -> None:
    clause = CONSTRUCTIONS["relative clause"].brackets
    assert bracketed(clause).deprels == [
        *("S|NP-SBJ", "root", "NP|DT", "VP|NP", "NP|SBAR", "SBAR|S")
    ]
    assert bracketed(clause, traces=True).deprels == [
        *("S|NP-SBJ", "root", "NP|DT", "VP|NP", "S|NP-SBJ", "NP|SBAR")
    ]
    gapping = bracketed(CONSTRUCTIONS["gapping"].brackets)
    assert gapping.deprels[4:] == ["S|S", "S|NP", "S|."]
    brackets = bracketed(CONSTRUCTIONS["brackets"].brackets)
    assert brackets.deprels[1] == "PRN|-LRB-"
    assert bracketed("((NP (NN tree)) (. .))").deprels == ["root", "TOP|."]


def test_words_and_tags() -> None:
    text = r"(NP (-LRB- -LRB-) (CD 1\/2) (SYM \*) (NN -LRB-x) (JJ|RB long) (-RRB- -RCB-))"
    sentence = bracketed(text)
    assert sentence.forms == ["(", "1/2", "*", "-LRB-x", "long", "}"]
    assert sentence.xpos == ["-LRB-", "CD", "SYM", "NN", "JJ|RB", "-RRB-"]
    assert sentence.sent_id == "stream-1"


def test_unary_chains_and_one_word() -> None:
    assert bracketed("(FRAG (NP (NP (NX (UH Yes)))))").tree.tolist() == [-1, 0]
    assert bracketed("(UH Yes)").deprels == ["root"]
    deep = "(NP " * 5_000 + "(NN tree)" + ")" * 5_000
    assert bracketed(deep, traces=True).tree.tolist() == [-1, 0]


def test_what_is_counted() -> None:
    tally = Tally()
    text = "(X (IN up) (RB down)) (X (IN up) (RB down)) (PP (NP-1 (NN a)) (NP (NN b))) (NP (NN c))"
    assert len(list(convert(io.BytesIO(text.encode()), tally=tally))) == 4
    assert tally.phrases == 3
    assert tally.undecided == {"X → IN RB": 2, "PP → NP NP": 1}
    assert tally.moved == 0
    file = io.BytesIO(CONSTRUCTIONS["extraposition"].brackets.encode())
    assert len(list(convert(file, traces=True, tally=tally))) == 1
    assert tally.moved == 2


def test_a_phrase_goes_to_the_first_of_several_traces() -> None:
    text = (
        "(SBAR (WHNP-1 (WP who)) (S (VP (VP (VBD saw) (NP (-NONE- *T*-1))) (CC and) "
        "(VP (VBD heard) (NP (-NONE- *T*-1))))))"
    )
    assert bracketed(text, traces=True).tree.tolist() == [-1, 2, 0, 2, 2]


def test_written_and_read_again() -> None:
    text = " ".join(text for text, *_ in CONSTRUCTIONS.values())
    sentences = list(convert(io.BytesIO(text.encode())))
    file = io.BytesIO()
    write(sentences, file)
    assert list(read(io.BytesIO(file.getvalue()))) == sentences
    assert [sentence.sent_id for sentence in sentences[:2]] == ["stream-1", "stream-2"]
    assert {sentence.source for sentence in sentences} == {"<stream>"}
