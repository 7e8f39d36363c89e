"""Classes of the package: each name stands once, and each field of a record is documented."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import arborescence

FOLDER = Path(arborescence.__file__).parent
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"

#: Each kind of parser has these; the distribution exists over NumPy and over PyTorch.
ROLES = {"Settings", "Trainer", "TreeDistribution"}

#: Records of options: the command line shows the help of each field, and takes it from the string
#: below the field, from the field's type, or from the class's section Parameters.
OPTIONS = {"Settings", "LearnerSettings", "Recipe", "ParseArguments"}


@cache
def classes() -> list[tuple[str, ast.ClassDef, list[str]]]:
    places = []
    for path in sorted(FOLDER.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                place = f"{path.relative_to(FOLDER).as_posix()}:{node.lineno}"
                places.append((place, node, source.splitlines()))
    return places


def fields(record: ast.ClassDef) -> dict[str, int]:
    """Return the line of each field of a NamedTuple or a dataclass; nothing for other classes."""
    bases = "NamedTuple" in map(ast.unparse, record.bases)
    if not bases and not any("dataclass" in ast.unparse(each) for each in record.decorator_list):
        return {}
    return {
        ast.unparse(each.target): each.lineno
        for each in record.body
        if isinstance(each, ast.AnnAssign)
        if ast.unparse(each.annotation) != "KW_ONLY"
        if not ast.unparse(each.annotation).startswith("ClassVar")
    }


def undocumented(record: ast.ClassDef, lines: list[str], *, public: bool) -> set[str]:
    """Return the fields that neither the section Attributes nor, if private, a comment explains."""
    docstring = ast.get_docstring(record) or ""
    _, _, section = docstring.partition("Attributes\n----------\n")
    named = {
        name
        for names in re.findall(r"^(\w+(?:, \w+)*) : \S", section, re.MULTILINE)
        for name in names.split(", ")
    }
    return {
        name
        for name, line in fields(record).items()
        if name not in named
        if (public and not name.startswith("_")) or not lines[line - 2].strip().startswith("#: ")
    }


def test_a_class_name_stands_once() -> None:
    places = defaultdict(list)
    for place, node, _ in classes():
        places[node.name].append(place)
    assert {name: at for name, at in places.items() if len(at) > 1 and name not in ROLES} == {}


@pytest.mark.skipif(not REFERENCE.exists(), reason="docs/reference does not lie beside the tests")
def test_each_field_of_a_record_is_documented() -> None:
    reference = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    public = set(re.findall(r"^- \[`[\w.]*\.(\w+)`\]", reference, re.MULTILINE))
    faults = {
        f"{place} {record.name}": sorted(missing)
        for place, record, lines in classes()
        if record.name not in OPTIONS
        if (missing := undocumented(record, lines, public=record.name in public))
    }
    assert faults == {}


def test_the_check_finds_fields_without_documentation() -> None:
    source = '''
class Edge(NamedTuple):
    """An edge.

    Attributes
    ----------
    head : int
        The head.
    """

    head: int
    #: the dependent
    dependent: int
    # not seen by tools
    label: int
    weight: float
    #: a private field of a public class
    _row: int
'''
    [record] = ast.parse(source).body
    assert isinstance(record, ast.ClassDef)
    lines = source.splitlines()
    assert undocumented(record, lines, public=False) == {"label", "weight"}
    assert undocumented(record, lines, public=True) == {"dependent", "label", "weight"}
