"""Parses of real sentences that keep rules, beside the official validator and a linear program."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import arborescence as arb
from arborescence import Constraints
from arborescence.parsers import Keeper, LinearParser
from arborescence.rules import Charge, Edges, Limit
from arborescence.rules.sets import conflicts_of, constraints_of
from arborescence.rules.ud import RULES
from arborescence.treebank import read
from modes import FEW, rarely
from real import TREEBANKS

#: There are few sentences to learn from, so that many trees break a rule.
LESSONS, LONGEST = 100, 20
#: For longer ones, of which Irish has one, the budget of a search does not suffice.
SEARCHED = 200
PARSED, COMPARED = (80, 5) if FEW else (100, 12)
USED = [
    "English-EWT", "Basque-BDT", "Danish-DDT", "Greek-GDT", "Hebrew-HTB", "Indonesian-GSD",
    "Irish-IDT", "Estonian-EDT", "Slovenian-SSJ",
]  # fmt: skip


@pytest.fixture(scope="module", params=["Turkish-IMST", *map(rarely, USED)])
def lesson(request):
    """A linear parser, and sentences that it has not seen, without their trees."""
    [train, test] = [list((TREEBANKS / request.param).glob(f"*-{of}.*")) for of in ("dev", "test")]
    if not train or not test:
        pytest.skip(f"{request.param} is not here")
    parser = LinearParser.train(list(islice(read(train[0]), LESSONS)), epochs=2, bits=16)
    unseen = islice((one for one in read(test[0]) if len(one) <= SEARCHED), PARSED)
    return parser, [sentence.replace(heads=None, deprels=None) for sentence in unseen]


def test_errors_of_the_official_validator(lesson):
    pytest.importorskip("udtools")
    from official_validator import broken_rules

    parser, sentences = lesson
    assert broken_rules("".join(map(str, parser.parse(sentences, rules="none"))))
    keeper = Keeper("ud")
    assert not broken_rules("".join(map(str, parser.parse(sentences, rules=keeper))))
    assert not keeper.counts.failed
    for trees in zip(*parser.kbest(sentences, 3, rules="ud"), strict=False):
        assert not broken_rules("".join(str(tree) for tree, _ in trees))


def test_weights_of_an_integer_linear_program(lesson):
    pytest.importorskip("scipy")
    from linear_program import best_weight, enough_for

    parser, sentences = lesson
    keeper = Keeper("ud")
    looked = keeper.look(list(parser.parse(sentences, rules="none")))
    few = [number for number in looked.broken.tolist() if len(sentences[number]) <= LONGEST]
    assert few
    for number in few[:COMPARED]:
        words = looked.sentence(number)._replace(label_names=parser.labels)
        scores = parser.labeled_scores(sentences[number]).astype(np.float64)
        conflicts = conflicts_of(keeper.rules, words)
        found = arb.decode_constrained(scores, conflicts)
        assert found.certified
        assert not conflicts(found.heads.copy(), found.labels.copy())
        other = best_weight(enough_for(found.weight, scores), conflicts)
        assert found.weight == pytest.approx(other, abs=1e-5)


def test_prices_and_levels_beside_an_integer_linear_program(lesson):
    """Rules that cost, limits, fixed heads and relations, votes: all on real sentences."""
    pytest.importorskip("scipy")
    from linear_program import best_worth

    parser, sentences = lesson
    rng, names = np.random.default_rng(2), [rule.name for rule in RULES]
    paid = 0
    for sentence in [each for each in sentences if 3 <= len(each) <= 9][:COMPARED]:
        cheap = rng.random(len(RULES)) < 0.5
        rules = [
            replace(rule, cost=float(rng.choice([0.25, 1, 4]))) if one else rule
            for rule, one in zip(
                RULES, cheap & np.array([names.count(n) < 2 for n in names]), strict=True
            )
        ]
        scores = parser.labeled_scores(sentence).astype(np.float64)
        words = Keeper(rules).trees([sentence])._replace(label_names=parser.labels)
        heads = rng.integers(-1, len(scores), len(scores))
        heads[heads == np.arange(len(scores))] = -1
        labels = rng.integers(-4, scores.shape[-1], len(scores))
        wanted = constraints_of(rules, words) & Constraints(
            forbid=[Edges(1, 2)],
            charges=[Charge(Edges(0, range(1, 3)), 0.5)],
            limits=[
                Limit([Edges(h, None)], 2, price=1, level=h % 3) for h in range(1, len(scores))
            ],
            votes=[rng.integers(0, 3, scores.shape[:2])],
        )
        wanted &= Constraints.fixed(heads, np.maximum(labels, -1), levels=(2, 1))
        [found] = arb.solve(scores, wanted, budget=arb.Budget(1e9))
        assert found.certified
        functions = [*wanted.conflicts, *(limit.conflicts(scores.shape) for limit in wanted.limits)]
        charged = scores.copy()
        for charge in wanted.charges:
            charged -= charge.price * charge.mask(scores.shape) * (charge.level == 0)
        charged[1, 2] = -np.inf
        *gains, weight = best_worth(
            charged,
            lambda *tree, functions=functions: [one for each in functions for one in each(*tree)],
            wanted.gains(scores.shape),
        )
        assert found.levels == tuple(-round(gain) for gain in gains)
        assert found.weight == pytest.approx(weight, abs=1e-5)
        paid += found.paid > 0
    assert paid
