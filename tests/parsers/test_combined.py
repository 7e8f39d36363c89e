from copy import copy
from functools import partial
from itertools import permutations

import numpy as np
import pytest

import arborescence as arb
from altered_models import altered
from arborescence.errors import ModelError
from arborescence.parsers import (
    CombinedParser,
    LinearParser,
    Parser,
    Tagger,
    TransitionParser,
)
from arborescence.parsers.shared.base import VOTE
from arborescence.parsers.shared.confidence import edge_probs
from arborescence.treebank import Sentence
from samples import bare, treebank, unparsed

WORDS = Sentence.from_words(["a", "b", "c", "d"])


class Stubborn(Parser):
    """A parser that finds the same tree for any sentence of four words."""

    kind = "stubborn"

    def __init__(self, heads, deprels="w x y z"):
        self.heads, self.deprels = list(heads), deprels.split()
        self.asked = []

    def _parse_batch(self, sentences, options):
        self.asked.append(options)
        return [s.replace(heads=self.heads, deprels=self.deprels) for s in sentences]

    @classmethod
    def train(cls, *_, **__):
        raise NotImplementedError

    _stored = from_file = scores = _kbest_batch = train


def heads_of(*parsers, weights=None, **options):
    [parsed] = CombinedParser(parsers, weights).parse([WORDS], **options)
    return parsed.heads.tolist()


def votes(*parsers):
    scores = np.zeros((5, 5))
    for parser in parsers:
        scores[parser.heads, range(1, 5)] += VOTE
    return scores


@pytest.fixture(scope="module")
def linear():
    options = {"projective": False, "epochs": 2, "bits": 13}
    return LinearParser.train(treebank()[::2], dev=treebank(), **options)


@pytest.fixture(scope="module")
def pseudo():
    return LinearParser.train(treebank(), projective="pseudo", epochs=20, bits=13)


@pytest.fixture(scope="module")
def transition():
    return TransitionParser.train(treebank()[1:], epochs=2, bits=12)


def test_the_majority_of_three():
    parsers = [Stubborn([0, 1, 1, 3]), Stubborn([0, 1, 2, 3]), Stubborn([2, 0, 2, 3])]
    assert heads_of(*parsers) == [0, 1, 2, 3]
    # The first wins where all three differ, and against one other where it counts for more.
    assert heads_of(*parsers, weights=[3, 1, 1]) == [0, 1, 1, 3]


def test_the_tree_weighs_as_much_as_any_that_a_parser_finds():
    generator = np.random.default_rng(1)
    for _ in range(50):
        graphs = generator.normal(size=(4, 5, 5)).astype(np.float32)
        trees = arb.decode(graphs)[:, 1:].tolist()
        parsers = [Stubborn(tree) for tree in trees]
        scores = CombinedParser(parsers).scores(WORDS)
        assert scores == pytest.approx(votes(*parsers))
        found = [-1, *heads_of(*parsers)]
        assert arb.root_count(found) == 1
        best = max(arb.tree_weight(scores, [-1, *tree]) for tree in trees)
        assert arb.tree_weight(scores, found) >= best


def test_the_order_of_parsers_does_not_matter():
    parsers = [Stubborn([0, 1, 1, 1]), Stubborn([0, 1, 2, 2]), Stubborn([3, 1, 0, 3])]
    weights = [2, 3, 4]
    found = {
        tuple(heads_of(*(parsers[i] for i in order), weights=[weights[i] for i in order]))
        for order in permutations(range(3))
    }
    assert len(found) == 1


def test_one_root_where_the_parsers_have_different_ones():
    parsers = [Stubborn([0, 1, 4, 1]), Stubborn([4, 4, 4, 0]), Stubborn([4, 0, 2, 1])]
    assert arb.root_count([-1, *heads_of(*parsers)]) == 1
    both = [Stubborn([0, 1, 0, 3]), Stubborn([0, 1, 0, 3])]
    assert heads_of(*both, root="multi") == [0, 1, 0, 3]
    assert arb.root_count([-1, *heads_of(*both)]) == 1
    assert both[0].asked[0].root == "multi"


def test_the_same_parser_twice_gives_what_it_gives_alone(transition):
    parsed = list(transition.parse(treebank()))
    assert list(CombinedParser([transition, transition]).parse(treebank())) == parsed
    assert list(CombinedParser([transition]).parse(treebank(), threads=2)) == parsed


def test_edges_cross_only_if_those_of_a_parser_do():
    flat, crossing = Stubborn([2, 0, 2, 3]), Stubborn([3, 4, 4, 0])
    assert arb.is_projective(np.array([-1, *flat.heads]))
    assert not arb.is_projective(np.array([-1, *crossing.heads]))
    assert heads_of(flat, crossing, weights=[1, 2]) == [3, 4, 4, 0]
    assert arb.is_projective([-1, *heads_of(flat, crossing, weights=[1, 2], projective=True)])
    assert crossing.asked[-1].projective is True
    # Four trees whose edges do not cross; the majority has 1 -> 3 and 2 -> 4, which do.
    trees = [[0, 1, 2, 2], [0, 1, 4, 2], [0, 1, 1, 1], [0, 1, 1, 3]]
    assert all(arb.is_projective([-1, *tree]) for tree in trees)
    parts = [Stubborn(tree) for tree in trees]
    assert arb.is_projective([-1, *heads_of(*parts)])
    assert heads_of(*parts, projective=False) == [0, 1, 1, 2]
    assert parts[0].asked[-1].projective is None  # for not every parser can make them cross


def test_what_a_linear_parser_says_are_its_probabilities(linear, transition):
    both = CombinedParser([linear, transition], [2, 1])
    for sentence in treebank():
        believed = arb.TreeDistribution(linear.scores(sentence) / linear.temperature)
        [tree] = transition.parse([sentence])
        expected = 2 * believed.marginals()
        expected[tree.heads, np.arange(1, len(tree) + 1)] += VOTE
        assert both.scores(sentence)[:, 1:] == pytest.approx(expected[:, 1:], abs=1e-6)
        [parsed] = CombinedParser([linear]).parse([sentence], rules="none")
        assert parsed.tree.tolist() == believed.mbr().tolist()


def test_lowered_edges_take_the_probability_of_the_lifted_ones(pseudo):
    crossing = next(s for s in treebank() if not arb.is_projective(s.tree))
    [parsed] = pseudo.parse([crossing])
    assert not arb.is_projective(parsed.tree)
    scores = CombinedParser([pseudo]).scores(crossing)
    assert scores[:, 1:].sum(axis=0) == pytest.approx(1, abs=1e-6)
    believed = arb.TreeDistribution(pseudo.scores(crossing) / pseudo.temperature, projective=True)
    [moved] = np.flatnonzero(arb.projectivize(parsed.tree) != parsed.tree)
    assert scores[parsed.tree[moved], moved] == pytest.approx(believed.marginals()[:, moved].max())
    assert list(CombinedParser([pseudo]).parse([crossing])) == [parsed]


def test_undirected_parsers_and_others_without_probabilities_vote():
    parser = LinearParser.train(treebank(), inference="undirected", epochs=1, bits=10)
    scores = CombinedParser([parser]).scores(treebank()[0])
    assert sorted(set(scores[:, 1:].flat)) == pytest.approx([0, VOTE])


def test_k_best():
    parsers = [Stubborn([0, 1, 1, 3]), Stubborn([0, 1, 2, 3]), Stubborn([2, 0, 2, 3])]
    both = CombinedParser(parsers)
    [found] = both.kbest([WORDS], 1000)
    scores = both.scores(WORDS)
    expected = arb.kbest(scores, 1000, projective=True)
    assert [weight for _, weight in found] == expected[1].tolist()
    assert [tree.tree.tolist() for tree, _ in found] == expected[0].tolist()
    assert [found[0][0]] == list(both.parse([WORDS]))
    [fewer] = both.kbest([WORDS], 3, projective=False)
    assert len(fewer) == 3


def relations_of(*parsers, weights=None):
    [parsed] = CombinedParser(parsers, weights).parse([WORDS])
    return parsed.heads.tolist(), parsed.deprels


def test_relations_are_voted_on_by_those_that_have_the_edge():
    same = [0, 1, 1, 1]
    parsers = [Stubborn(same, "r x x x"), Stubborn(same, "r y y x"), Stubborn(same, "r y z z")]
    assert relations_of(*parsers) == (same, ["r", "y", "x", "x"])
    assert relations_of(*parsers, weights=[1, 1, 2.5])[1] == ["r", "y", "z", "z"]
    other = Stubborn([0, 1, 1, 3], "r y x c")
    assert relations_of(*parsers[:2], other) == (same, ["r", "y", "x", "x"])


def test_relations_of_edges_that_no_parser_has():
    parsers = [Stubborn([0, 1, 1, 1], "root x y z"), Stubborn([0, 1, 1, 1], "root x u z")]
    [found] = CombinedParser(parsers).kbest([WORDS], 1000)
    trees = {tuple(tree.heads.tolist()): tree.deprels for tree, _ in found}
    assert trees[0, 1, 2, 1] == ["root", "x", "y", "z"]
    # Another root changes places with theirs.
    assert trees[2, 0, 2, 2] == ["x", "root", "y", "z"]
    for heads, deprels in trees.items():
        assert [head == 0 for head in heads] == [name == "root" for name in deprels]


def test_confidence_is_the_share_of_what_speaks_for_an_edge(linear):
    parsers = [Stubborn([0, 1, 1, 3]), Stubborn([0, 1, 2, 3]), Stubborn([0, 1, 2, 2])]
    [parsed] = CombinedParser(parsers).parse([WORDS], confidence=True)
    assert parsed.tree.tolist() == [-1, 0, 1, 2, 3]
    assert edge_probs(parsed) == [1, 1, 0.6667, 0.6667]
    assert not parsers[0].asked[-1].confidence
    [[(best, _), *_]] = CombinedParser(parsers).kbest([WORDS], 2, confidence=True)
    assert best == parsed
    [alone] = linear.parse([treebank()[0]], confidence=True)
    [[(tree, _)]] = CombinedParser([linear]).kbest([treebank()[0]], 1, confidence=True)
    assert edge_probs(tree) == pytest.approx(edge_probs(alone), abs=1e-4)


def test_tags_are_those_of_the_first_parser(linear, transition):
    tagged = []
    for parser, tag in ((linear, "A"), (transition, "B")):
        tagged.append(copy(parser))
        tagged[-1].tagger = Tagger.train([s.replace(upos=[tag] * len(s)) for s in treebank()])
    sentence = bare(treebank()[0])
    for parsers, tag in ((tagged, "A"), (tagged[::-1], "B")):
        [parsed] = CombinedParser(parsers).parse([sentence])
        assert parsed.upos == [tag] * len(sentence)


def test_round_trip(linear, transition, tmp_path):
    both = CombinedParser([linear, transition], [1, 2])
    path = tmp_path / "both.model"
    both.save(path)
    loaded = arb.load(path)
    assert isinstance(loaded, CombinedParser)
    assert loaded.weights == (1, 2)
    assert [parser.kind for parser in loaded.parsers] == ["linear", "transition"]
    assert loaded.info["parsers"][0]["epoch"] == linear.info["epoch"]
    new = [unparsed(sentence) for sentence in treebank()]
    assert list(loaded.parse(new)) == list(both.parse(new))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parsers": None}, "parsers is missing"),
        ({"parsers": [3]}, r"parsers is \[3\], not a list"),
        ({"parsers": []}, r"parsers is \[\], not a list of 1 to 64"),
        ({"parsers": [{"kind": "oracle"}]}, "oracle"),
        ({"weights": None}, "weights is missing"),
        ({"weights": ["much"]}, "weights is .*, not a list"),
        ({"weights": [1.0, 1.0]}, "1 parsers, but 2 weights"),
        ({"weights": [-1.0]}, r"weights is \[-1.0\], not"),
        ({"parser/0/edges": None}, "'edges' is missing"),
    ],
)
def test_damaged_files(linear, tmp_path, changes, message):
    path = tmp_path / "one.model"
    CombinedParser([linear]).save(path)
    with pytest.raises(ModelError, match=message):
        arb.load(altered(path, **changes))


def test_training_several_parsers():
    makers = [partial(LinearParser.train, epochs=1, bits=10, rng=seed) for seed in (1, 2)]
    said = []
    both = CombinedParser.train(
        iter(treebank()),
        dev=iter(treebank()[:2]),
        make_parsers=makers,
        weights=[1, 2],
        progress=lambda phase, done, total: said.append(phase),
    )
    assert [parser.info["seed"] for parser in both.parsers] == [1, 2]
    assert both.weights == (1, 2)
    assert all(len(parser.info["dev"]) == 1 for parser in both.parsers)
    assert {phase.split(",")[0] for phase in said} == {"parser 1 of 2", "parser 2 of 2"}


def test_options_that_make_no_sense(linear):
    with pytest.raises(ValueError, match="at least one parser"):
        CombinedParser([])
    with pytest.raises(ValueError, match="2 parsers, but 3 weights"):
        CombinedParser([linear, linear], [1, 2, 3])
    for weight in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="must be positive"):
            CombinedParser([linear], [weight])
    with pytest.raises(ValueError, match="k must be"):
        CombinedParser([linear]).kbest([], 0)
