"""Parses that keep rules, beside all labeled trees of small sentences by the parser's scores."""

from dataclasses import replace
from functools import cache
from itertools import count

import numpy as np
import pytest

import arborescence as arb
from arborescence import second_order
from arborescence.errors import ModelError, OptionError, TreebankError
from arborescence.parsers import (
    CombinedParser,
    Keeper,
    LinearParser,
    SecondOrderParser,
    TransitionParser,
)
from arborescence.parsers.registry import from_file
from arborescence.parsers.second_order.parts import PartModel, rounded, score_parts
from arborescence.projective.pseudo import MARK
from arborescence.rules import AtMostOne, Dependents, Direction, LabelTags, Projective, TagLabels
from arborescence.rules.ud import RULES
from arborescence.treebank import Sentence, restyle, validate
from brute_force import all_trees
from lessons import SONGS, sentences_of
from modes import thinned
from random_words import every_tree
from samples import treebank, unparsed
from small_parsers import small_parser
from tiny_networks import random_parser

LABELS = ("nsubj", "punct", "det", "goeswith")
TAGS = ("NOUN", "VERB", "DET", "PUNCT")
KINDS = ("linear", "pruned", "joint", "projective", "neural", "combined", "second-order")


def random_sentences(number, *, seed, trees=False):
    """Sentences of one to four words, whose tags have little to do with their relations."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(1, 5))
        heads, relations = [-1, 0, *range(1, n)], ["root", *rng.choice(LABELS, n - 1)]
        yield Sentence.from_words(
            list(rng.choice(["a", "b", "c"], n)),
            upos=list(rng.choice(TAGS, n)),
            **({"heads": heads, "deprels": relations} if trees else {}),
        )


@cache
def parser_of(kind):
    sentences = list(random_sentences(25, seed=1, trees=True))
    small = {"epochs": 1, "bits": 10}
    if kind == "neural":
        return random_parser(sentences)
    if kind == "combined":
        other = TransitionParser.train(sentences, **small)
        return CombinedParser([parser_of("joint"), other, parser_of("linear")], [1, 0.5, 0.3])
    if kind == "second-order":
        return SecondOrderParser.train(sentences, **small)
    options = {
        "pruned": {"prune": True},
        "joint": {"joint": True},
        "projective": {"projective": True, "root": "multi"},
    }
    return LinearParser.train(sentences, **small, **options.get(kind, {}))


NEW = list(random_sentences(30, seed=2))


def weights_of_all(parser, sentence, rules, root="single"):
    """The weights of all labeled trees that keep the rules, and their head vectors."""
    table = parser.labeled_scores(sentence).astype(np.float64)
    words = Keeper(rules).look([sentence.replace(heads=[-1, *[0] * len(sentence)])]).sentence(0)
    words = words._replace(label_names=parser.labels)
    trees, many = every_tree(words, root == "single", projective=parser.projective is True)
    keeps = np.ones(many, np.bool_)
    size = len(sentence) + 1
    for rule in rules:
        keeps[trees.roots[rule.broken(trees)] // size] = False
    heads = (trees.heads - trees.roots).reshape(many, size)[:, 1:]
    labels = trees.labels.reshape(many, size)[:, 1:]
    weights = table[heads, np.arange(1, size), labels].sum(axis=1)
    keeps &= weights > -np.inf
    more = beyond(parser, sentence)
    return weights[keeps] + [more((-1, *tree)) for tree in heads[keeps]], heads[keeps]


def beyond(parser, sentence):
    """A function that tells what a tree weighs beyond its labeled edges."""
    if parser.kind != "second-order":
        return lambda heads: 0.0
    [sentence], batch = parser._prepare([sentence])
    scores, (table, unit) = rounded(parser.scores(sentence)), parser.weights["parts"]
    parts = score_parts(batch, 0, PartModel(parser.templates["parts"], table), unit, scores)

    @cache
    def more(heads):
        own = scores[list(heads[1:]), np.arange(1, len(heads))].sum()
        return second_order.tree_weight(scores, np.array(heads), *parts) - own

    return more


def weight_of(parser, tree):
    table = parser.labeled_scores(tree.replace(heads=None, deprels=None))
    numbers = [parser.labels.index(name) for name in tree.deprels]
    return table[tree.heads, np.arange(1, len(tree) + 1), numbers].astype(np.float64).sum() + (
        beyond(parser, tree)(tuple(tree.tree.tolist()))
    )


def broken_by(trees, rules=RULES):
    """The numbers of the sentences that break a rule."""
    return {int(one.sentence) - 1 for one in validate(trees, rules)}


def same(one, other):
    return one.tree.tolist() == other.tree.tolist() and one.deprels == other.deprels


@pytest.mark.parametrize("kind", thinned(KINDS, 2))
def test_the_best_tree_that_keeps_the_rules(kind):
    parser, keeper = parser_of(kind), Keeper("ud")
    crossing = {"projective": False} if kind == "combined" else {}
    own = list(parser.parse(NEW, **crossing))
    kept = list(parser.parse(NEW, rules=keeper, **crossing))
    bad = broken_by(own)
    assert len(bad) > 8
    failed = changed = filtered = 0
    for number, (sentence, before, after) in enumerate(zip(NEW, own, kept, strict=True)):
        if number not in bad:
            assert same(before, after)
            continue
        judge = parser
        weights, _ = weights_of_all(judge, sentence, RULES)
        if not len(weights) and kind in ("pruned", "second-order"):
            judge, filtered = parser._unfiltered(), filtered + 1
            weights, _ = weights_of_all(judge, sentence, RULES)
        if not len(weights):
            failed += 1
            assert same(before, after)
            continue
        changed += 1
        parts = [word for word, name in enumerate(after.deprels) if name == "goeswith"]
        for word in parts:
            assert (after.upos[word], after.lemmas[word], after.feats[word]) == ("X", "_", "_")
        as_read = after.replace(upos=sentence.upos, lemmas=None)
        assert weight_of(judge, as_read) == pytest.approx(weights.max(), abs=1e-4)
        assert not broken_by([after])
    assert bool(filtered) == (kind in ("pruned", "second-order"))
    counts = keeper.counts
    assert counts[:4] == (len(NEW), changed, 0, failed)
    assert counts.decodes > len(NEW) + changed


@pytest.mark.parametrize("kind", thinned(["joint", "neural", "projective"], 3))
def test_the_k_best_trees_that_keep_the_rules(kind):
    parser, k = parser_of(kind), 4
    own = list(parser.kbest_labeled(NEW, k))
    by_labels = parser.kbest_labeled(NEW, k, rules="ud")
    by_heads = parser.kbest(NEW, k, rules="ud")
    for sentence, before, labeled, headed in zip(NEW, own, by_labels, by_heads, strict=True):
        weights, heads = weights_of_all(parser, sentence, RULES)
        if not broken_by([tree for tree, _ in before]) or not len(weights):
            continue
        assert not broken_by([tree for tree, _ in labeled + headed])
        assert [weight for _, weight in labeled] == pytest.approx(
            np.sort(weights)[::-1][:k].tolist(), abs=1e-4
        )
        best = {}
        for weight, tree in sorted(zip(weights, map(tuple, heads), strict=True)):
            best[tree] = weight
        vectors = {tuple(tree.heads.tolist()) for tree, _ in headed}
        assert len(vectors) == len(headed) == min(k, len(best))
        assert [weight for _, weight in headed] == pytest.approx(
            sorted(best.values(), reverse=True)[:k], abs=1e-4
        )


def test_other_rules_with_several_root_edges_and_probabilities():
    parser = parser_of("linear")
    rules = [Direction("right", LABELS), TagLabels("verbs", ("VERB",), ("root",))]
    options = {"root": "multi", "confidence": True}
    own = list(parser.parse(NEW, **options))
    changed = 0
    for sentence, before, after in zip(
        NEW, own, parser.parse(NEW, rules=rules, **options), strict=True
    ):
        weights, _ = weights_of_all(parser, sentence, rules, "multi")
        assert after.misc[0].startswith("EdgeProb=")
        if len(weights) and bytes(before) != bytes(after):
            changed += 1
            assert weight_of(parser, after) == pytest.approx(weights.max(), abs=1e-4)
            relations = list(zip(after.heads, after.upos, after.deprels, strict=True))
            assert all(name == "root" for _, tag, name in relations if tag == "VERB")
    assert changed > 5


def test_lifted_edges_stay_where_moving_them_back_breaks_a_rule():
    [songs] = sentences_of([SONGS])
    parser = LinearParser.train([songs] * 5, projective="pseudo", epochs=3, bits=10)
    [crossing] = parser.parse([unparsed(songs)])
    assert crossing.tree.tolist() == songs.tree.tolist()
    keeper = Keeper([Projective("projective", ("nmod",), causes=False)])
    [kept] = parser.parse([unparsed(songs)], rules=keeper)
    assert kept.tree.tolist() == [-1, 2, 0, 4, 2]
    assert kept.deprels == songs.deprels
    assert keeper.counts == (1, 1, 0, 0, 2)


def test_what_is_waived_may_be_broken():
    parser, names = parser_of("linear"), ",".join(rule.name for rule in RULES)
    waived = [sentence.replace(comments=[f"# RulesWaived = {names}"]) for sentence in NEW]
    keeper = Keeper("ud")
    for before, after in zip(parser.parse(NEW), parser.parse(waived, rules=keeper), strict=True):
        assert same(before, after)
    assert keeper.counts.changed == 0
    some = [sentence.replace(comments=["# RulesWaived = rel-upos-det"]) for sentence in NEW]
    rules = [rule for rule in RULES if rule.name != "rel-upos-det"]
    by_fewer = parser.parse(NEW, rules=rules)
    for one, other in zip(parser.parse(some, rules="ud"), by_fewer, strict=True):
        assert same(one, other)


def test_rules_in_every_thread_are_counted():
    parser, keeper = parser_of("linear"), Keeper("ud")
    many = NEW * 40
    found = list(parser.parse(many, rules=keeper, threads=2))
    assert [bytes(tree) for tree in found[: len(NEW)]] == [
        bytes(tree) for tree in parser.parse(NEW, rules="ud")
    ]
    assert keeper.counts.sentences == len(many)


def test_a_reranker_chooses_among_trees_that_keep_the_rules():
    reranker = small_parser("reranker")
    sentences = list(map(unparsed, treebank()))
    rules = [Direction("left", ("nsubj", "det", "amod", "case"), right=False)]
    assert not broken_by(list(reranker.parse(sentences, rules=rules)), rules)


def test_rules_that_a_transition_based_parser_keeps_and_others():
    parser = TransitionParser.train(treebank(), epochs=3, bits=12)
    sentences = list(map(unparsed, treebank()))
    kept = [
        LabelTags("subjects", ("nsubj",), ("PRON",)),
        Direction("objects", ("obj",), right=False),
    ]
    assert list(validate(parser.parse(sentences), kept))
    assert not list(validate(parser.parse(sentences, rules=kept), kept))
    lists = parser.kbest(sentences, 3, rules=kept)
    assert not list(validate((tree for trees in lists for tree, _ in trees), kept))
    waived = [each.replace(comments=["# RulesWaived = subjects,objects"]) for each in sentences]
    for one, other in zip(parser.parse(sentences), parser.parse(waived, rules=kept), strict=True):
        assert (one.tree.tolist(), one.deprels) == (other.tree.tolist(), other.deprels)
    leaves = Keeper([Dependents("leaves", ("root",))])  # of whole trees: counted, and not kept
    list(parser.parse(sentences, rules=leaves))
    assert leaves.counts.failed == leaves.counts.sentences - sum(len(s) == 1 for s in sentences)
    assert "still break a rule" in str(leaves.counts)


def test_rules_are_the_default_of_parsers_for_ud(tmp_path):
    parser, path = parser_of("linear"), tmp_path / "model"
    assert parser.rules == "none"  # most of the trees that it has learned from break a rule
    taught = LinearParser.train(treebank(), epochs=1, bits=10)
    assert taught.rules == "ud"
    both = CombinedParser([taught, small_parser("greedy")])
    for other in (both, taught, parser):
        other.save(path)
        assert arb.load(path).rules == other.rules == ("none" if other is parser else "ud")
    for kind in ("greedy", "undirected", "reranker"):
        assert small_parser(kind)._own_rules() == "none"
    header, arrays = taught.to_file()
    del header["rules"]  # as in older models
    assert from_file(header, arrays).rules == "none"
    assert arb.load("english").rules == arb.load("english-fast").rules == "ud"
    others = restyle(treebank(), heads="function")
    assert LinearParser.train(others, epochs=1, bits=10).rules == "none"

    kept = list(parser.parse(NEW, rules="ud"))
    assert broken_by(parser.parse(NEW)) > broken_by(kept)
    parser.rules = "ud"
    try:
        assert all(map(same, parser.parse(NEW), kept))
        assert broken_by(parser.parse(NEW, rules="none"))
        assert broken_by([trees[0][0] for trees in parser.kbest(NEW, 2)])
    finally:
        parser.rules = "none"


def test_words_without_a_tag_are_excused_from_rules_about_it():
    rules = [LabelTags("tags", LABELS, ("X",)), TagLabels("labels", ("_", "VERB"), ("root",))]
    parser = parser_of("linear")
    untagged = [sentence.replace(upos=["_"] * len(sentence)) for sentence in NEW]
    keeper = Keeper(rules)
    own = list(parser.parse(untagged))
    assert all(map(same, own, parser.parse(untagged, rules=keeper)))
    assert keeper.counts.changed == keeper.counts.failed == 0
    assert broken_by(own, rules)


def test_parsers_by_undirected_trees_keep_no_rules():
    parser = small_parser("undirected")
    with pytest.raises(ModelError, match="rules"):
        list(parser.parse([["Birds", "sing"]], rules="ud"))
    assert len(list(parser.parse([["Birds", "sing"]], rules="none"))) == 1


def test_errors(tmp_path):
    with pytest.raises(OptionError, match="rules must be"):
        parser_of("linear").parse(NEW, rules=["ud"])
    with pytest.raises(OptionError, match="work of a budget"):
        Keeper("ud", work=-1)
    with pytest.raises(OptionError, match="budget must be a Budget"):
        parser_of("linear").parse(NEW, budget=1000)
    with pytest.raises(OSError, match="missing"):
        parser_of("linear").parse(NEW, rules=tmp_path / "missing.toml")


def test_after_the_limit_trees_keep_the_rules_but_are_not_certified(monkeypatch):
    monkeypatch.setattr("arborescence.parsers.shared.keeping._FEWEST", 1)
    parser = parser_of("neural")
    keeper = Keeper("ud", work=200_000)
    kept = list(parser.parse(NEW, rules=keeper))
    counts = keeper.counts
    assert counts.failed + counts.changed == len(broken_by(parser.parse(NEW)))
    assert len(broken_by(kept)) == counts.failed
    assert counts.uncertified > 0
    assert "still break a rule" in str(counts) or not counts.failed


@pytest.mark.parametrize("kind", ["joint", "projective", "second-order"])
def test_a_rule_that_costs_much_is_kept_and_one_that_costs_little_is_not(kind):
    parser, rules = parser_of(kind), (Direction("left", ("det",), right=False), RULES[0])
    rules += (Dependents("leaf-det", ("det",), ("punct",)),)
    kept = list(parser.parse(NEW, rules=rules))
    keeper = Keeper([replace(rule, cost=2.0**20) for rule in rules])
    dear = list(parser.parse(NEW, rules=keeper))
    cheap = list(parser.parse(NEW, rules=[replace(rule, cost=2.0**-20) for rule in rules]))
    broken = [len(list(validate(trees, rules))) for trees in (kept, dear, cheap)]
    assert broken[0] == broken[1] < broken[2]
    assert keeper.counts.changed > 0
    assert keeper.counts.failed == 0
    assert all(one.cost is None for one in validate(dear, rules))
    assert {one.cost for one in validate(cheap, keeper.rules)} == {2.0**20}


def partly_annotated(sentence, rng):
    """The sentence with some heads of a tree and some relations, which may break rules."""
    n = len(sentence)
    trees = all_trees(n, True)
    heads = trees[rng.integers(len(trees))].copy()
    heads[1:][rng.random(n) < 0.4] = -1
    relations = [name if rng.random() < 0.5 else "_" for name in rng.choice([*LABELS, "root"], n)]
    return sentence.replace(heads=heads, deprels=relations)


def lost(given, heads, relations):
    """How many of the heads and relations that are given are not those of trees (K, n)."""
    pairs = (given.heads, -1, heads), (np.array(given.deprels), "_", relations)
    return sum(((fixed != free) & (fixed != found)).sum(axis=-1) for fixed, free, found in pairs)


@pytest.mark.parametrize("kind", thinned(KINDS, 2))
def test_what_is_fixed_must_keep_the_rules_or_as_little_as_possible_is_given_up(kind):
    parser, rng, seen = parser_of(kind), np.random.default_rng(8), set()
    names = np.array([name.partition(MARK)[0] for name in parser.labels])
    for sentence in (sentence for sentence in NEW if len(sentence) < 4):
        given = partly_annotated(sentence, rng)
        wide = getattr(parser, "_unfiltered", lambda: None)() or parser
        table = wide.labeled_scores(given.replace(heads=None, deprels=None))
        n = len(sentence)
        for word, (head, label) in enumerate(zip(given.heads, given.deprels, strict=True), 1):
            if head >= 0 and label != "_":  # both are kept, whatever the parser has learned
                table[head, word, parser.labels.index(label)] = 0
        words = Keeper("ud").trees([given])._replace(label_names=parser.labels)
        trees, many = every_tree(words, True, projective=False)
        keeps = np.ones((2, many), np.bool_)
        for rule in RULES:
            keeps[1, trees.roots[rule.broken(trees)] // (n + 1)] = False
        heads = (trees.heads - trees.roots).reshape(many, n + 1)[:, 1:]
        labels = trees.labels.reshape(many, n + 1)[:, 1:]
        keeps &= (table[heads, np.arange(1, n + 1), labels] > -np.inf).all(axis=1)
        given_up = lost(given, heads, names[labels])
        any_tree, least = (given_up[kept].min(initial=99) for kept in keeps)
        if least == 99:
            continue
        seen.add(int(least))
        [found] = parser.parse([given], keep="anyway", rules="ud")
        assert lost(given, found.heads, np.array(found.deprels)) == least
        assert not broken_by([found])
        assert ("gave_up" in bytes(found).decode()) == (least > 0)
        if least:
            why = "no tree has all of its fixed|hang from the root|form a cycle"
            why = why if any_tree else "no tree has all that is fixed and keeps the rules"
            with pytest.raises(TreebankError, match=why):
                list(parser.parse([NEW[0], given], keep=True, rules="ud"))
        else:
            assert same(found, *parser.parse([given], keep=True, rules="ud"))
        if not any_tree:  # by its own rules, it gives up nothing
            [found] = parser.parse([given], keep=True, rules=Keeper("ud", strict=False))
            assert not lost(given, found.heads, np.array(found.deprels))
    assert {0, 1, 2} <= seen


def test_the_error_names_place_words_and_rules_and_free_words_are_not_to_blame(tmp_path):
    parser, file = parser_of("neural"), tmp_path / "half.conllu"
    words = Sentence.from_words(
        ["a", "b", "c", "a"],
        upos=["NOUN", "VERB", "NOUN", "PUNCT"],
        heads=[2, 0, 2, -1],
        deprels=["nsubj", "_", "nsubj", "_"],
    )
    file.write_bytes(bytes(words))
    once = [Dependents("leaf-nsubj", ("nsubj",), LABELS), AtMostOne("one-nsubj", ("nsubj",))]
    with pytest.raises(
        TreebankError, match=r"half\.conllu:1: .*: one-nsubj \(words? .*to mend word [13]"
    ):
        list(parser.parse(file, keep=True, rules=once))
    [kept] = parser.parse([words.replace(deprels=["nsubj", "_", "_", "_"])], keep=True, rules=once)
    assert kept.heads[:3].tolist() == [2, 0, 2]
    assert kept.deprels[0] == "nsubj"
    assert not broken_by([kept], once)
    [kept] = parser.parse(file, keep="anyway", rules=once)
    assert kept.comment("gave_up") in ("1", "3")


def test_rules_see_a_relation_that_the_parser_has_not_learned():
    words = Sentence.from_words(["a", "b", "c"], heads=[2, 0, -1], deprels=["new", "_", "_"])
    rule = Dependents("leaf-new", ("new",), LABELS)
    for kind in ("neural", "linear"):
        [kept] = parser_of(kind).parse([words.replace(heads=None)], keep=True, rules=[rule])
        assert kept.deprels[0] == "new"
        assert not broken_by([kept], [rule])


#: Calls that can be stopped, between sentences and between decodes.
CALLS = {
    "parse": lambda parser, budget: list(parser.parse(NEW, rules="none", budget=budget)),
    "rules": lambda parser, budget: list(parser.parse(NEW, rules="ud", budget=budget)),
    "kbest": lambda parser, budget: list(parser.kbest(NEW, 3, rules="ud", budget=budget)),
    "kbest_labeled": lambda parser, budget: list(parser.kbest_labeled(NEW, 2, budget=budget)),
    "split": lambda parser, budget: list(parser.split(NEW, budget=budget)),
}


@pytest.mark.parametrize("call", CALLS)
def test_whatever_is_asked_for_can_be_stopped(call):
    parser, asked = parser_of("linear"), count(1)
    CALLS[call](parser, arb.Budget(stop=lambda: next(asked) < 0))
    assert next(asked) > len(NEW)
    for calls in (1, 2, len(NEW)):
        again = count(1)
        budget = arb.Budget(stop=lambda again=again, calls=calls: next(again) >= calls)
        with pytest.raises(arb.StoppedError, match="as the caller asked"):
            CALLS[call](parser, budget)
        assert next(again) == calls + 1


def test_work_is_counted_for_all_sentences_together():
    parser, budget = parser_of("linear"), arb.Budget()
    plain = list(parser.parse(NEW, rules="none", budget=budget))
    assert budget.spent > 0
    with pytest.raises(arb.StoppedError, match="is used up"):
        list(parser.parse(NEW, rules="none", budget=arb.Budget(budget.spent / 2)))
    assert len(plain) == len(NEW)


def test_without_budget_for_a_search_trees_are_the_parsers_own_and_counted():
    parser, keeper = parser_of("linear"), Keeper("ud", work=200_000)
    own = list(parser.parse(NEW, rules="none"))
    kept = list(parser.parse(NEW, rules=keeper))
    assert [tree.heads.tolist() for tree in kept] == [tree.heads.tolist() for tree in own]
    assert keeper.counts.failed == len(broken_by(own)) > 0
    assert keeper.counts.changed == 0
