"""Parsing and learning against the slow and obvious ones of `naive_transitions`."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
import naive_transitions as naive
from arborescence.parsers import Keeper, TransitionParser
from arborescence.parsers.shared.run import Weights
from arborescence.parsers.transition.features import rows_for
from arborescence.rules import AtMostOne, Direction, LabelTags, TagLabels
from arborescence.transitions import SYSTEMS, get_system
from arborescence.treebank import Sentence
from brute_force import all_trees
from modes import rarely
from samples import treebank

COLUMNS = ("form", "upos")
LABELS = ["a", "b", "c"]
ROOTS = ("single", "multi")


def any_sentence(generator, n):
    forms, tags = generator.integers([[9], [4]], size=(2, n)).tolist()
    return Sentence.from_words([f"w{i}" for i in forms], upos=[f"T{i}" for i in tags])


def any_lesson(generator, n):
    """A sentence with a random tree, whose words say little about it."""
    first, *others = (generator.permutation(n) + 1).tolist()
    heads = {0: -1, first: 0}
    for d in others:
        heads[d] = generator.choice([h for h in heads if h])
    return any_sentence(generator, n).replace(
        heads=[heads[d] for d in range(n + 1)],
        deprels=["root" if heads[d] == 0 else "det" for d in range(1, n + 1)],
    )


def any_parser(generator, name, beam, weights=9):
    """A parser with random weights; the lower their number, the more ties."""
    return TransitionParser(
        system=name,
        oracle="static",
        beam=beam,
        columns=COLUMNS,
        labels=LABELS,
        allowed=np.array([[True, False, False], [False, True, True]]),
        weights={
            "actions": Weights(
                generator.integers(-weights, weights + 1, size=(rows_for(9), 4)).astype(np.int8)
            ),
            "relations": Weights(
                generator.integers(-weights, weights + 1, size=(64, 3)).astype(np.int8)
            ),
        },
    )


def naive_of(parser, root="single", swaps=True):
    _, arrays = parser.to_file()
    return naive.Naive(
        parser.system,
        COLUMNS,
        LABELS,
        arrays["allowed"],
        arrays["actions"],
        arrays["relations"],
        root,
        swaps,
    )


def tree_of(name, sentence, transitions, root):
    made = get_system(name).replay(len(sentence), transitions, root)
    return made.tree.tolist(), made.deprels


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from(ROOTS), st.sampled_from([1, 9]))
def test_greedy_parsing_takes_the_best_transition_in_each_state(name, seed, n, root, weights):
    generator = np.random.default_rng(seed)
    sentence = any_sentence(generator, n)
    parser = any_parser(generator, name, 1, weights)
    expected = naive.parse_greedily(naive_of(parser, root), sentence)
    assert parser.derivation(sentence, root=root) == expected
    [parsed] = parser.parse([sentence], root=root)
    assert (parsed.tree.tolist(), parsed.deprels) == tree_of(name, sentence, expected, root)


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=8)
@given(
    st.integers(0, 2**32),
    st.integers(1, 7),
    st.sampled_from(ROOTS),
    st.integers(2, 6),
    st.sampled_from([1, 9]),
)
def test_beam_search_keeps_the_best_sequences(name, seed, n, root, beam, weights):
    generator = np.random.default_rng(seed)
    sentence = any_sentence(generator, n)
    parser = any_parser(generator, name, beam, weights)
    expected = naive.parse_with_beam(naive_of(parser, root), sentence, beam)
    assert parser.derivation(sentence, root=root) == list(expected[0].path)
    trees = {}
    for item in expected:
        heads, labels = item.state.tree.tolist(), item.state.deprels
        trees.setdefault(tuple(heads), (item.score, heads, labels))
    [found] = parser.kbest([sentence], beam, root=root)
    assert [(w, t.tree.tolist(), t.deprels) for t, w in found] == list(trees.values())
    [parsed] = parser.parse([sentence], root=root)
    assert parsed.raw == found[0][0].raw


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("root", ROOTS)
def test_a_wide_beam_finds_the_best_of_all_sequences(name, root):
    n = 3 if name == "swap" else 4
    for seed in range(2):
        generator = np.random.default_rng(seed)
        sentence = any_sentence(generator, n)
        parser = any_parser(generator, name, 1000)
        best = {}
        for item in naive.all_sequences(naive_of(parser, root), sentence):
            heads = tuple(item.state.tree.tolist())
            best[heads] = max(item.score, best.get(heads, item.score))
        [found] = parser.kbest([sentence], 1000, root=root)
        assert {tuple(tree.tree.tolist()): weight for tree, weight in found} == best
        assert [weight for _, weight in found] == sorted(best.values(), reverse=True)
        trees = all_trees(n, root == "single", name != "swap")
        assert set(best) == set(map(tuple, trees.tolist()))


def test_without_swap_if_edges_may_not_cross():
    for seed in range(8):
        generator = np.random.default_rng(seed)
        sentence = any_sentence(generator, 7)
        for beam in (1, 3):
            parser = any_parser(generator, "swap", beam)
            [item, *_] = naive.parse_with_beam(naive_of(parser, swaps=False), sentence, beam)
            [parsed] = parser.parse([sentence], projective=True)
            assert parsed.tree.tolist() == item.state.tree.tolist()


@pytest.mark.parametrize("beam", [rarely(1), 4])
@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("arc-standard", "static"),
        ("arc-eager", "static"),
        ("arc-eager", "dynamic"),
        ("arc-hybrid", "dynamic"),
        ("swap", "static"),
    ],
)
def test_learning_averages_the_weights_of_the_perceptron(name, oracle, beam):
    generator = np.random.default_rng(3)
    lessons = treebank() + [any_lesson(generator, 8) for _ in range(8)]
    if name != "swap":
        lessons = [s.replace(heads=arb.projectivize(s.tree)) for s in lessons]
    settings = {"system": name, "oracle": oracle, "beam": beam, "columns": COLUMNS}
    parser = TransitionParser.train(lessons, **settings, epochs=3, rng=7, bits=10)
    _, arrays = parser.to_file()
    model = naive.Naive(
        name,
        COLUMNS,
        list(parser.labels),
        arrays["allowed"],
        np.zeros((rows_for(10), 4), dtype=np.int64),
        np.zeros((1 << 5, len(parser.labels)), dtype=np.int64),
    )
    averages = naive.learn(model, lessons, epochs=3, seed=7, dynamic=oracle == "dynamic", beam=beam)
    header, arrays = parser.to_file()
    for table, unit, average in zip(
        ("actions", "relations"), header["units"], averages, strict=True
    ):
        assert average.any()
        # Kept as whole numbers, of a unit that has the largest at 127.
        assert unit == pytest.approx(np.abs(average).max() / 127)
        assert np.abs(arrays[table] * unit - average).max() <= 0.501 * unit


RULES = [
    AtMostOne("one-b", ("b",)),
    LabelTags("b", ("b",), ("T0", "T1")),
    TagLabels("T2", ("T2",), ("a", "c")),
    Direction("c", ("c",)),
]


@dataclass
class ByRules(naive.Naive):
    """A model that forbids what the rules above do, state by state."""

    def start(self, sentence):
        self.tags = sentence.upos
        return super().start(sentence)

    def open(self, state, edge):
        """Return which labels the edge may have."""
        head, dependent = edge
        tag = self.tags[dependent - 1]
        edges = zip(state.heads, state.deprels, strict=True)
        there = [label for h, label in edges if h == head]
        by_rules = {
            "a": True,
            "b": tag in ("T0", "T1") and "b" not in there,
            "c": head < dependent,
        }
        return self.allowed[0 if head == 0 else 1] & list(by_rules.values())

    def legal(self, state):
        actions = super().legal(state)
        edges = {action: self.edge(state, action) for action in actions}
        left = [a for a in actions if edges[a] is None or self.open(state, edges[a]).any()]
        return left or actions

    def relation(self, words, state, edge):
        allowed, some = self.allowed, self.open(state, edge)
        if some.any():
            self.allowed = np.array([some, some])
        found = super().relation(words, state, edge)
        self.allowed = allowed
        return found


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from(ROOTS), st.integers(1, 4))
def test_each_state_has_the_actions_and_relations_that_rules_leave(name, seed, n, root, beam):
    generator = np.random.default_rng(seed)
    sentence = any_sentence(generator, n)
    parser = any_parser(generator, name, beam)
    _, arrays = parser.to_file()
    model = ByRules(
        name, COLUMNS, LABELS, *(arrays[k] for k in ("allowed", "actions", "relations")), root
    )
    [own] = parser.parse([sentence], root=root)
    keeper = Keeper(RULES)
    [kept] = parser.parse([sentence], root=root, rules=keeper)
    if not keeper.breaking([[own]]):
        assert kept.raw == own.raw
        return
    if beam == 1:
        path = naive.parse_greedily(model, sentence)
    else:
        path = naive.parse_with_beam(model, sentence, beam)[0].path
    assert (kept.tree.tolist(), kept.deprels) == tree_of(name, sentence, list(path), root)
    failed = len(keeper.breaking([[kept]]))
    assert keeper.counts == (1, 1 - failed, 1 - failed, failed, 2)
