"""papers/mutants.py: each kind of expression has one change, which differs and can be parsed."""

import ast
import importlib
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def mutants():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1]))
        yield importlib.import_module("mutants")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a < b", "a <= b"), ("a != b", "a == b"), ("a not in b", "a in b"), ("a + b", "a - b"),
        ("a // b", "a * b"), ("a and b", "a or b"), ("not a", "a"), ("True", "False"), ("3", "4"),
        ("min(a, b)", "max(a, b)"), ("a < b < c", None), ("f(a)", None), ("a / b", None),
    ],
)  # fmt: skip
def test_one_change(mutants, old, new):
    found = mutants.changed(ast.parse(old, mode="eval").body)
    assert (found and ast.unparse(found)) == new


def test_what_is_computed_is_changed_and_nothing_else(mutants):
    code = '@wrapped(1)\ndef f(a: "x<2" = 3):\n    """A + b."""\n    b: Vector[4] = a + 5\n'
    code += "    if a: raise ValueError(6)\n    return b\n"
    found = [mutants.changed(node) for node in mutants.expressions(ast.parse(code))]
    assert [ast.unparse(node) for node in found if node] == ["a - 5", "6"]


def test_every_change_is_in_the_copy_of_its_file(mutants):
    every = mutants.mutants()
    assert len(every) > 4000
    for one in every[::500]:
        ast.parse(one.text)
        assert one.new in one.text
        assert one.text != (mutants.ROOT / one.path).read_text("utf-8")
