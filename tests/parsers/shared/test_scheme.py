"""Test the fields of model files."""

import pytest

from arborescence.parsers.shared import scheme


@pytest.mark.parametrize(
    "values",
    [
        [], ["a"], ["a", "b c", "ä"], ("a", "b"), ["a"] * 4, [""], ["a", ""], ["", "a"], ["a\tb"],
        ["a\t"], ["\t"], ["a\n"], ["a", "\r"], ["\ud800"], ["a", None], [1], "ab", None, {"a": 1},
    ],
)  # fmt: skip
def test_many_values_are_tested_as_each_value(values):
    """The fast test of a whole list gives the answer of a test of each value."""
    one_by_one = scheme.list_of(scheme.VALUE, 1, 3)
    at_once = scheme.values(1, 3)
    assert at_once.fits(values) == one_by_one.fits(values)
    assert at_once.what == one_by_one.what
