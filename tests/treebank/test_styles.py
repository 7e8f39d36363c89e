"""Other styles of annotation: what the lecture shows, and the way back."""

from itertools import islice

import numpy as np
import pytest

from arborescence.core.tree import is_tree
from arborescence.errors import OptionError, TreebankError
from arborescence.treebank import Sentence, read, restyle
from modes import rarely
from real import TREEBANKS

FILES = sorted(TREEBANKS.glob("*/*-test.conllu.gz"))

COORDINATIONS = ("first", "conjunction", "second", "chain")
#: with lions , tigers and bears that have slept
ANIMALS = Sentence.from_words(
    ["with", "lions", ",", "tigers", "and", "bears", "that", "have", "slept"],
    heads=[-1, 2, 0, 4, 2, 6, 2, 9, 9, 6],
    deprels=["case", "root", "punct", "conj", "cc", "conj:extend", "nsubj", "aux:pass", "acl"],
)


def changed(sentence, **style):
    [other] = restyle([sentence], **style)
    return other.tree.tolist()[1:], other.deprels


@pytest.mark.parametrize(
    ("coordination", "heads", "relations"),
    [
        ("first", [2, 0, 4, 2, 6, 2], ["case", "root", "punct", "conj", "cc", "conj:extend"]),
        ("conjunction", [2, 5, 4, 5, 0, 5],
         ["case", "coord", "punct", "coord", "root", "coord:extend"]),
        ("second", [2, 4, 4, 0, 6, 4], ["case", "conj", "punct", "root", "cc", "conj:extend"]),
        ("chain", [2, 0, 4, 2, 6, 4], ["case", "root", "punct", "conj", "cc", "conj:extend"]),
    ],
)  # fmt: skip
def test_three_ways_to_head_a_coordination_and_a_chain(coordination, heads, relations):
    found = changed(ANIMALS, coordination=coordination)
    assert (found[0][:6], found[1][:6]) == (heads, relations)
    assert (found[0][6:], found[1][6:]) == ([9, 9, 6], ["nsubj", "aux:pass", "acl"])


def test_function_heads():
    heads, relations = changed(ANIMALS, heads="function")
    assert heads == [0, 1, 4, 2, 6, 2, 9, 6, 8]
    assert [relations[word - 1] for word in (1, 2, 8, 9)] == [
        "root", "comp:case", "acl", "comp:aux:pass"
    ]  # fmt: skip
    # Of several, the copula stands nearest to the word, then the auxiliary, then the conjunction.
    old = Sentence.from_words(
        ["if", "trees", "would", "be", "old"],
        heads=[-1, 5, 5, 5, 5, 0],
        deprels=["mark", "nsubj", "aux", "cop", "root"],
    )
    heads, relations = changed(old, heads="function")
    assert heads == [0, 5, 1, 3, 4]
    assert relations == ["root", "nsubj", "comp:mark", "comp:aux", "comp:cop"]


def random_sentence(rng):
    """Any tree, also one that no scheme allows."""
    n = int(rng.integers(1, 12))
    order = rng.permutation(n) + 1
    heads = np.full(n + 1, -1)
    heads[order] = [0, *(order[rng.integers(place)] for place in range(1, n))]
    kinds = ["case", "cop", "aux:pass", "mark", "cc", "conj", "conj:extend", "obj", "punct"]
    relations = ["root" if head == 0 else str(rng.choice(kinds)) for head in heads[1:]]
    return Sentence.from_words([f"w{i}" for i in range(n)], heads=heads, deprels=relations)


@pytest.mark.parametrize("heads", ["content", "function"])
@pytest.mark.parametrize("coordination", COORDINATIONS)
def test_of_any_tree_a_tree_comes(heads, coordination):
    rng = np.random.default_rng(0)
    for _ in range(300):
        sentence = random_sentence(rng)
        [other] = restyle([sentence], heads=heads, coordination=coordination)
        [again] = restyle([other], heads=heads, coordination=coordination, back=True)
        assert is_tree(other.tree)
        assert is_tree(again.tree)


@pytest.mark.parametrize("heads", [rarely("content"), "function"])
@pytest.mark.parametrize("coordination", COORDINATIONS)
def test_the_way_back_on_real_sentences(treebanks, heads, coordination):
    total = other = different = 0
    for name in ("Gothic-PROIEL", "Turkish-IMST", "English-EWT"):
        [path] = (treebanks / name).glob("*-test.conllu*")
        sentences = list(islice(read(path), 400))
        total += len(sentences)
        style = {"heads": heads, "coordination": coordination}
        restyled = list(restyle(sentences, **style))
        again = list(restyle(restyled, **style, back=True))
        other += sum(map(Sentence.__ne__, sentences, restyled))
        different += sum(map(Sentence.__ne__, sentences, again))
    assert (other > 0.02 * total) == (heads == "function" or coordination != "first")
    assert different == 0


#: cats and ( dogs or wolves ) and birds
NESTED = Sentence.from_words(
    ["cats", "and", "dogs", "or", "wolves", "and", "birds"],
    heads=[0, 3, 1, 5, 3, 7, 1],
    deprels=["root", "cc", "conj", "cc", "conj", "cc", "conj"],
    misc=["_", "_", "_", "_", "Gloss=w", "_", "_"],
)


@pytest.mark.parametrize("heads", ["content", "function"])
def test_a_coordination_within_another_comes_back_from_a_chain(heads):
    style = {"heads": heads, "coordination": "chain"}
    [chain] = restyle([NESTED], **style)
    assert chain.heads.tolist() == [0, 3, 1, 5, 3, 7, 3]
    assert chain.misc == ["_", "_", "_", "_", "Gloss=w|NestedConj=3", "_", "_"]
    assert list(restyle([chain], **style, back=True)) == [NESTED]
    # A mark is void where a parser has found another head.
    parsed = chain.replace(heads=[0, 3, 1, 5, 7, 1, 3])
    [back] = restyle([parsed], **style, back=True)
    assert back.heads.tolist() == [0, 3, 1, 5, 1, 1, 1]
    assert back.misc == NESTED.misc


def test_the_way_back_from_a_chain_of_any_conjuncts():
    rng = np.random.default_rng(0)
    for _ in range(300):
        sentence = random_sentence(rng)
        kinds = rng.choice(["conj", "conj", "cc"], len(sentence)).tolist()
        sentence = sentence.replace(deprels=kinds)
        [chain] = restyle([sentence], coordination="chain")
        assert list(restyle([chain], coordination="chain", back=True)) == [sentence]


@pytest.mark.long
@pytest.mark.skipif(not FILES, reason="needs the treebanks in ../shared/ud")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix("-test.conllu.gz"))
def test_the_way_back_from_chains_of_all_treebanks(path):
    sentences = list(islice(read(path), 300))
    chains = restyle(sentences, coordination="chain")
    assert list(restyle(chains, coordination="chain", back=True)) == sentences


def test_what_is_no_style_or_no_tree():
    with pytest.raises(OptionError, match="heads must be 'content' or 'function', not 'none'"):
        restyle([], heads="none")
    with pytest.raises(OptionError, match=r"coordination must be 'first', .* not 'last'"):
        restyle([], coordination="last")
    loop = Sentence.from_words(["a", "b"], heads=[-1, 2, 1], deprels=["conj", "conj"])
    with pytest.raises(TreebankError, match="the heads are not a tree"):
        list(restyle([loop]))
