"""What graph-based parsers have in common, for every kind: see `GraphParser`."""

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ModelError
from arborescence.parsers import CombinedParser, GraphParser
from arborescence.parsers.shared.base import VOTE, Options, votes
from arborescence.parsers.shared.confidence import edge_probs
from samples import bare, treebank, unparsed
from small_parsers import KINDS, small_parser

GRAPH_BASED = [kind for kind in KINDS if kind not in {"greedy", "hybrid", "beam", "reranker"}]
#: What does not find the best tree by `scores` alone.
BY_OTHER_MEANS = {"undirected", "second-order"}
EXACT = [kind for kind in GRAPH_BASED if kind not in BY_OTHER_MEANS]
PROBABILISTIC = [kind for kind in EXACT if kind != "combined"]
#: What chooses relations by the weights in the table, not by others that see the whole tree.
BY_TABLE = [kind for kind in EXACT if kind != "combined"]
NEW = [*map(unparsed, treebank()), bare(treebank()[0])]


def trees_of(parser, sentences, **options):
    """The parser's trees, where it lifts edges before it lowers them; and whether they cross."""
    for sentence in sentences:
        [tree] = parser.parse([sentence], **options)
        projective = bool(parser.projective)
        if parser.projective == "pseudo":
            [tree] = parser.parse([sentence], **options | {"projective": True})
        elif isinstance(parser, CombinedParser):
            found = [each.parse([sentence], **options) for each in parser.parsers]
            projective = all(arb.is_projective(other.tree) for [other] in found)
        yield tree, projective


def plain(labels):
    return [label.partition("↑")[0] for label in labels]


def test_which_kinds_are_graph_based():
    assert {k for k in KINDS if isinstance(small_parser(k), GraphParser)} == set(GRAPH_BASED)
    assert {k for k in GRAPH_BASED if small_parser(k).probabilistic} == set(PROBABILISTIC)


@pytest.mark.parametrize("kind", GRAPH_BASED)
def test_scores_of_one_sentence_or_of_many(kind):
    parser = small_parser(kind)
    for sentence, scores in zip(NEW, parser.scores_of(NEW), strict=True):
        assert scores.shape == (len(sentence) + 1,) * 2
        assert scores.dtype == np.float32
        assert not scores[:, 0].any()
        assert not scores.diagonal().any()
        assert parser.scores(sentence) == pytest.approx(scores, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("root", ["single", "multi"])
def test_the_best_tree_by_scores_is_that_of_parse(kind, root):
    parser = small_parser(kind)
    trees = trees_of(parser, NEW, root=root)
    for scores, (tree, projective) in zip(map(parser.scores, NEW), trees, strict=True):
        if kind == "combined" and root == "multi":
            continue  # its scores are those of trees with one root
        found = arb.decode(scores, root=root, projective=projective)
        assert found.tolist() == tree.tree.tolist()


@pytest.mark.parametrize("kind", GRAPH_BASED)
def test_the_best_relation_of_an_edge_weighs_as_the_edge(kind):
    parser = small_parser(kind)
    tables = parser.labeled_scores_of(NEW)
    for sentence, scores, table in zip(NEW, parser.scores_of(NEW), tables, strict=True):
        assert table.shape == (*scores.shape, len(parser.labels))
        assert table.dtype == np.float32
        assert (table.max(axis=-1) == scores).all()
        assert parser.labeled_scores(sentence) == pytest.approx(table, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("kind", EXACT)
def test_the_best_labeled_tree_has_the_heads_of_parse(kind):
    parser = small_parser(kind)
    for sentence, (tree, projective) in zip(NEW, trees_of(parser, NEW), strict=True):
        table = parser.labeled_scores(sentence)
        heads, labels = arb.decode_labeled(table, projective=projective)
        assert heads.tolist() == tree.tree.tolist()
        if kind in BY_TABLE:
            assert [parser.labels[label] for label in labels[1:]] == tree.deprels
        if kind == "combined":  # a tie goes to the first parser
            names = plain(parser.labels)
            for word, relation in enumerate(tree.deprels, 1):
                weights = table[heads[word], word]
                assert weights[names.index(relation)] == weights.max()


@pytest.mark.parametrize("kind", [kind for kind in GRAPH_BASED if kind != "combined"])
def test_the_best_relation_of_an_edge_is_that_of_the_best_tree_with_the_edge(kind):
    """In the best tree, the head of a word is replaced, and the new edge gets its relation."""
    parser = small_parser(kind)
    graphs = parser._graphs(NEW, Options())
    best = graphs.decode()
    compared = 0
    for group in graphs.groups:
        for table, b in zip(graphs.labeled(group), group.numbers, strict=True):
            start, stop = graphs.starts[b : b + 2]
            for d in range(1, stop - start):
                for h in range(stop - start):
                    other = best.copy()
                    other[start + d] = h
                    if h == d or not arb.is_tree(other[start:stop], root="multi"):
                        continue
                    if table[h, d].max() == -np.inf:  # pruned
                        continue
                    assert graphs.label(other[None])[0, start + d] == table[h, d].argmax()
                    compared += 1
    assert compared > 50


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("root", ["single", "multi"])
def test_the_k_best_labeled_trees(kind, root):
    parser = small_parser(kind)
    for sentence, found in zip(NEW, parser.kbest_labeled(NEW, 6, root=root), strict=True):
        graphs = parser._graphs([sentence], Options(root=root))
        [group] = graphs.groups
        heads, labels, weights, _ = arb.kbest_labeled(
            graphs.labeled(group)[0], 6, root=root, projective=group.projective
        )
        assert [weight for _, weight in found] == pytest.approx(weights, rel=1e-5, abs=1e-4)
        assert len({tree.raw for tree, _ in found}) == len(found) or parser.projective == "pseudo"
        if parser.projective == "pseudo":
            continue
        for (tree, _), of_heads, of_labels in zip(found, heads, labels, strict=True):
            assert tree.tree.tolist() == of_heads.tolist()
            assert tree.deprels == [graphs.labels[label] for label in of_labels[1:]]


@pytest.mark.parametrize("kind", PROBABILISTIC)
def test_what_is_believed(kind):
    parser = small_parser(kind)
    parser.temperature, before = 1.5, parser.temperature
    evidence = parser._evidence_batch(list(NEW), Options())
    sure = parser.parse(NEW, confidence=True, projective=bool(parser.projective))
    for sentence, tree, (voted, marginals) in zip(NEW, sure, evidence, strict=True):
        dist = parser.distribution(sentence)
        expected = arb.TreeDistribution(
            parser.scores(sentence) / 1.5, projective=bool(parser.projective)
        )
        assert dist.marginals() == pytest.approx(expected.marginals(), abs=1e-4)
        words = np.arange(1, len(sentence) + 1)
        assert edge_probs(tree) == pytest.approx(dist.marginals()[tree.heads, words], abs=1e-3)
        if parser.projective != "pseudo":
            assert marginals == pytest.approx(dist.marginals(), abs=1e-4)
            assert voted.tree.tolist() == tree.tree.tolist()
            weights = parser.labeled_scores(sentence)[tree.heads, words].astype(np.float64)
            shares = np.exp(weights - np.logaddexp.reduce(weights, axis=1, keepdims=True))
            codes = [parser.labels.index(label) for label in tree.deprels]
            expected = shares[words - 1, codes]
            assert edge_probs(tree, "RelationProb") == pytest.approx(expected, abs=1e-3)
            assert 0 < float(tree.comment("tree_prob")) <= 1
        multi = parser.distribution(sentence, root="multi", projective=True)
        assert multi.marginals()[:, 1:].sum(axis=0) == pytest.approx(1, abs=1e-4)
    parser.temperature = before


@pytest.mark.parametrize("kind", [kind for kind in GRAPH_BASED if kind not in PROBABILISTIC])
def test_what_defines_no_distribution(kind):
    parser = small_parser(kind)
    with pytest.raises(ModelError, match=r"confidence|no distribution"):
        parser.distribution(NEW[0])
    [(tree, evidence)] = parser._evidence_batch([NEW[0]], Options())
    assert evidence == pytest.approx(VOTE * votes(tree))
    if kind != "combined":
        with pytest.raises(ModelError, match=r"k.best"):
            list(parser.kbest_labeled(NEW, 2))


def test_relations_of_edges_that_no_parser_of_several_has():
    parser = small_parser("combined")
    graphs = parser._graphs(NEW, Options())
    for group in graphs.groups:
        for table, b in zip(graphs.labeled(group), group.numbers, strict=True):
            trees = graphs._trees_of[b]
            start, stop = graphs.starts[b : b + 2]
            for d in range(1, stop - start):
                heads = np.full(stop - start, d)  # d is the root word, and the head of all others
                heads[[0, d]] = -1, 0
                row = np.full(graphs.starts[-1], -1)
                row[start:stop] = heads
                [labels] = graphs.label(row[None])
                for word in range(1, stop - start):
                    head = heads[word]
                    if head and any(np.argmax(tree == 0) == word for tree in trees):
                        continue
                    weights = table[head, word]
                    assert weights[labels[start + word]] == weights.max()
