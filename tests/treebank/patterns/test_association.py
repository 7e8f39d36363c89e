"""Collocations, beside SciPy's test of tables of 2 x 2."""

import numpy as np
import pytest

from arborescence.errors import OptionError
from arborescence.treebank import associations

stats = pytest.importorskip("scipy.stats", reason="needs SciPy")


def test_scipy_finds_the_same():
    generator = np.random.default_rng(0)
    counts = {(v, o): int(generator.integers(1, 30)) for v in "abc" for o in "wxyz"}
    counts["a", "w"] = 200
    del counts["c", "z"]
    total = sum(counts.values())
    found = associations(counts)
    assert {each.values: each.observed for each in found} == counts
    assert found[0].values == ("a", "w")
    assert [each.g2 for each in found] == sorted((each.g2 for each in found), reverse=True)
    for (verb, noun), both, expected, g2 in found:
        first = sum(n for (v, _), n in counts.items() if v == verb)
        second = sum(n for (_, o), n in counts.items() if o == noun)
        table = [[both, first - both], [second - both, total - first - second + both]]
        right = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        assert expected == pytest.approx(right.expected_freq[0, 0])
        assert abs(g2) == pytest.approx(right.statistic)
        assert (g2 > 0) == (both > expected)


def test_values_that_always_go_together():
    assert [each.g2 for each in associations({("a", "b"): 3})] == [0]
    assert associations({}) == []
    with pytest.raises(OptionError, match="of two values, not of 1"):
        associations({("a",): 1})
