"""Parses of real sentences that keep rules, beside the official validator and a linear program."""

from itertools import islice

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers import Keeper, LinearParser
from arborescence.rules.sets import conflicts_of
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
