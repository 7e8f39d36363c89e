"""No two modules import each other, also not inside functions or for types alone."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import arborescence

PACKAGE = Path(arborescence.__file__).parent
PAPERS = Path(__file__).parents[1] / "papers" / "src" / "arborescence_papers"


def imports_of(folder):
    """Map each module below a folder to those that it names in an import, wherever that stands."""
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found = {}
    for module, path in modules.items():
        named = found[module] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named.update(each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path}: a relative import"
                named.update(
                    inner if (inner := f"{node.module}.{each.name}") in modules else node.module
                    for each in node.names
                )
        named &= modules.keys() - {module}
    return found


def circle_of(found):
    """Return the modules of a circle; none if there is none."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other():
    found = imports_of(PACKAGE)
    assert len(found) > 230
    assert "arborescence.errors" in found["arborescence.parsers.registry"]
    assert circle_of(found) == []
    assert circle_of(imports_of(PAPERS)) == []


@pytest.mark.parametrize(
    "late", ["if TYPE_CHECKING:\n    from box.a import x", "def f():\n    from box import a"]
)
def test_a_circle_is_found(tmp_path, late):
    (tmp_path / "box").mkdir()
    for name, text in {"__init__": "", "a": "import box.b", "b": late, "c": "import box.a"}.items():
        (tmp_path / "box" / f"{name}.py").write_text(text, encoding="utf-8")
    assert set(circle_of(imports_of(tmp_path / "box"))) == {"box.a", "box.b"}
