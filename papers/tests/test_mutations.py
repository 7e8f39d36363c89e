"""papers/mutations.toml: each row of ALGORITHMS.md has one change, in its function."""

import ast
import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


def load():
    spec = importlib.util.spec_from_file_location("mutations", HERE / "papers" / "mutations.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


mutations = load()
ROWS = mutations.rows()


def test_each_row_has_one_change_and_each_change_a_row():
    text = (HERE / "papers" / "mutations.toml").read_text(encoding="utf-8")
    named = [(one["work"], one["what"]) for one in tomllib.loads(text)["mutation"]]
    assert named == [(row.work, row.what) for row in ROWS]
    assert len(set(named)) == len(named) > 80


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.work}: {row.what}"[:60])
def test_a_change_is_in_the_function_of_its_row(row):
    change = mutations.mutations()[row.work, row.what]
    before = (HERE / row.file).read_text(encoding="utf-8")
    after = mutations.changed(before, change)
    assert after != before
    compile(after, str(row.file), "exec")
    line = before.count("\n", 0, before.index(change["old"])) + 1
    last = line + change["old"].rstrip("\n").count("\n")
    assert any(
        node.lineno <= line <= last <= node.end_lineno
        for node in ast.walk(ast.parse(before))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == row.function
    )


@pytest.mark.parametrize(("text", "count"), [("b", 0), ("a a", 2)])
def test_a_place_that_is_not_there_once(text, count):
    with pytest.raises(ValueError, match=f"'a' is there {count} times"):
        mutations.changed(text, {"old": "a", "new": "c"})
