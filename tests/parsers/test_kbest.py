import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import TreebankError
from arborescence.parsers import LinearParser, Tagger
from arborescence.treebank import Sentence
from samples import bare, treebank, unparsed

BITS = 13


@pytest.fixture(scope="module", params=[False, True], ids=["after", "joint"])
def parser(request):
    options = {"projective": False, "epochs": 3, "bits": BITS}
    return LinearParser.train(treebank(), joint=request.param, **options)


def raws(ranked):
    return [[(weight, parsed.raw) for parsed, weight in trees] for trees in ranked]


@pytest.mark.parametrize("root", ["single", "multi"])
def test_the_trees_are_the_best_ones_of_the_scores(parser, root):
    ranked = list(parser.kbest(map(unparsed, treebank()), 20, root=root))
    assert len(ranked) == len(treebank())
    for sentence, trees in zip(treebank(), ranked, strict=True):
        heads, weights, _ = arb.kbest(parser.scores(sentence), 20, root=root)
        assert [weight for _, weight in trees] == weights.tolist()
        assert np.array_equal([parsed.tree for parsed, _ in trees], heads)
        assert all(parsed.forms == sentence.forms for parsed, _ in trees)


def test_the_first_is_the_one_that_parse_finds(parser):
    best = [parsed.raw for parsed in parser.parse(treebank())]
    for k in (1, 4):
        assert [trees[0][0].raw for trees in parser.kbest(treebank(), k)] == best


def test_a_tree_is_labelled_as_parse_would_label_it(parser, monkeypatch):
    for sentence, trees in zip(treebank(), parser.kbest(treebank(), 6), strict=True):
        for parsed, _ in trees:
            monkeypatch.setattr(
                "arborescence.parsers.shared.graphs.decode",
                lambda scores, lengths, root, projective, heads=parsed.tree: heads[None],
            )
            [labelled] = parser.parse([unparsed(sentence)], rules="none")
            assert labelled.raw == parsed.raw


def test_fewer_trees_than_asked_for(parser):
    one, two = Sentence.from_words(["Grow"]), Sentence.from_words(["Trees", "grow"])
    for root, counts in (("single", [1, 2]), ("multi", [1, 3])):
        ranked = list(parser.kbest([one, two], 10, root=root))
        assert [len(trees) for trees in ranked] == counts
        for trees in ranked:
            assert all(arb.is_tree(parsed.tree, root=root) for parsed, _ in trees)
            assert len({parsed.raw for parsed, _ in trees}) == len(trees)


def test_threads_and_batches_change_nothing(parser):
    many = treebank() * 60
    plain = raws(parser.kbest(many, 50))
    assert plain == raws(parser.kbest(treebank(), 50)) * 60
    assert plain == raws(parser.kbest(iter(many), 50, threads=3))


def test_it_is_lazy_and_an_error_in_the_input_gets_through(parser):
    def sentences():
        yield from treebank() * 2
        raise TreebankError("broken")

    for threads in (1, 2):
        ranked = parser.kbest(sentences(), 1000, threads=threads)
        assert len(next(ranked)) == 1000
        with pytest.raises(TreebankError, match="broken"):
            list(ranked)


def test_sentences_without_tags_are_tagged():
    tagger = Tagger.train(treebank(), dev=treebank(), epochs=3)
    parser = LinearParser.train(treebank(), epochs=3, bits=BITS, tagger=tagger)
    [trees] = parser.kbest([bare(treebank()[0])], 3)
    assert [parsed.upos for parsed, _ in trees] == [treebank()[0].upos] * 3


def test_no_sentences_no_trees(parser):
    assert list(parser.kbest([], 5)) == []


def test_options_that_make_no_sense(parser):
    for k in (0, -3):
        with pytest.raises(ValueError, match=f"k must be at least 1, not {k}"):
            parser.kbest([], k)
    with pytest.raises(ValueError, match="threads"):
        parser.kbest([], 1, threads=0)
    with pytest.raises(ValueError, match="root"):
        parser.kbest([], 1, root="none")
    with pytest.raises(arb.OptionError, match="no option of parsing is called 'lines'"):
        parser.kbest([], 1, lines=True)
