"""Likely errors of a treebank."""

import json
import re
from html import unescape

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers.auditing import Odds, _edges, _tags, audit, audit_html
from arborescence.treebank import Sentence
from brute_force import all_trees
from samples import treebank
from small_parsers import small_parser

BIRDS = Sentence.from_words(
    ["Birds", "sing", "songs"],
    upos=["NOUN", "VERB", "NOUN"],
    heads=[2, 0, 2],
    deprels=["nsubj", "root", "obj"],
)


def test_edges_are_judged_by_marginals_and_relations():
    parser = small_parser("tree")
    asked = [sentence for sentence in treebank() if 1 < len(sentence) <= 5]
    before = parser.temperature
    try:
        for sentence, edges in zip(asked, _edges(parser, asked), strict=True):
            scores = parser.scores(sentence).astype(np.float64) / parser.temperature
            trees = all_trees(len(sentence), True, parser.projective)
            weights = np.array([arb.tree_weight(scores, tree) for tree in trees])
            shares = np.exp(weights - np.logaddexp.reduce(weights))
            for word, (head, deprel, (own, other)) in enumerate(edges, 1):
                of_heads = [shares[trees[:, word] == h].sum() for h in range(len(sentence) + 1)]
                given = (sentence.heads[word - 1], sentence.deprels[word - 1])
                assert (head, deprel) != given
                assert own <= of_heads[given[0]] + 1e-4
                assert other <= of_heads[head] + 1e-4
                assert other >= max(
                    share for h, share in enumerate(of_heads) if h != given[0]
                ) / len(parser.labels)
                if head == given[0]:
                    assert own + other <= of_heads[head] + 1e-4
    finally:
        parser.temperature = before


def test_tags_are_judged_by_a_tagger():
    asked = list(treebank())
    found = list(_tags(small_parser("linear").tagger, asked))
    given = [tag for sentence in asked for tag in sentence.upos]
    for (tag, (own, other)), right in zip(found, given, strict=True):
        assert tag != right or other == 0
        assert 0 <= other <= 1 + 1e-9
        assert own + other <= 1 + 1e-9


@pytest.fixture(scope="module")
def audited():
    wrong = [
        BIRDS.replace(heads=[3, 0, 2]),
        BIRDS.replace(deprels=["obj", "root", "obj"]),
        BIRDS.replace(upos=["NOUN", "VERB", "ADJ"]),
    ]
    return wrong, audit([BIRDS] * 30 + wrong, rng=3)


def test_errors_come_first(audited):
    wrong, found = audited
    first = {(wrong.index(one.sentence), one.word) for one in found[:3]}
    assert first == {(0, 1), (1, 1), (2, 3)}
    assert [one.value for one in found] == sorted((one.value for one in found), reverse=True)


def test_what_is_proposed(audited):
    wrong, found = audited
    by_error = {wrong.index(one.sentence): one for one in found[:3]}
    assert all(one.proposed() == BIRDS for one in by_error.values())
    assert (by_error[0].head, by_error[0].deprel) == (2, "nsubj")
    assert by_error[0].odds.edge > 0
    assert by_error[0].variations
    assert by_error[1].deprel == "nsubj"
    assert by_error[1].rules == ("too-many-objects",)
    assert by_error[2].upos == "NOUN"
    assert by_error[2].odds.tag > 0
    assert "too-many-objects" in str(by_error[1])


def test_what_an_accepted_finding_gives(audited):
    wrong, found = audited
    by_error = {wrong.index(one.sentence): one for one in found[:3]}
    for number, one in by_error.items():
        corrected = one.corrected()
        assert corrected == BIRDS
        [change] = one.changes(corrected)
        assert change["form"] == BIRDS.forms[change["word"] - 1]
        assert change["was"] != change["now"]
        assert change["word"] == by_error[number].word


def test_other_heads_change_only_where_they_must(audited):
    _, [found, *_] = audited
    words = len(BIRDS)
    for word in range(1, words + 1):
        for head in range(words + 1):
            if head == word:
                continue
            odds = Odds(1.0, 0.0, 0.0, 0.0)
            one = found._replace(sentence=BIRDS, word=word, head=head, deprel="dep", odds=odds)
            heads = one.corrected().heads
            assert heads[word - 1] == head
            trees = [
                tree
                for tree in all_trees(words, single=True, projective=False)
                if tree[word] == head
            ]
            fewest = min(np.count_nonzero(tree[1:] != BIRDS.heads) for tree in trees)
            assert np.count_nonzero(heads != BIRDS.heads) == fewest
            assert one.corrected().deprels[word - 1] == "dep"


def test_page(audited):
    _, found = audited
    page = audit_html(found[:2])
    items = re.findall(r'<script type="text/html".*?data-change="(.*?)">(.*?)</script>', page, re.S)
    assert len(items) == 2
    for (change, text), one in zip(items, found, strict=False):
        [changed] = json.loads(unescape(change))["changes"]
        assert changed["word"] == one.word
        for drawing in text.split("<figure")[1:]:
            words = re.findall(r'class="form( root)? marked"[^>]*>([^<]*)', drawing)
            assert [word for _, word in words] == [one.sentence.forms[one.word - 1]]
            assert drawing.count("arc marked") == bool(one.odds.edge)
        parts = [f"{name} {value:.2f}" for name, value in one.odds._asdict().items() if value]
        assert f"<p>{one.value:.2f} = {' + '.join(parts)}</p>" in text
    assert "2.3 means 10 to 1" in page


def test_the_same_seed_gives_the_same_findings(audited):
    wrong, found = audited
    again = audit([BIRDS] * 30 + wrong, rng=3, budget=2)
    assert [one._replace(parser=None) for one in again] == [
        one._replace(parser=None) for one in found[:2]
    ]


def test_what_is_refused():
    with pytest.raises(arb.TreebankError, match="into 5 folds"):
        audit([BIRDS] * 4)
    with pytest.raises(arb.TreebankError):
        audit([BIRDS.replace(heads=[2, 1, 2])] * 5)
    with pytest.raises(arb.OptionError, match="folds"):
        audit([BIRDS], folds=1)
