"""The pages say what is true: their Python runs, their commands and their files exist."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((HERE / "docs" / "notebooks").glob("*.ipynb"))
PAGES = [
    HERE / "README.md",
    *sorted((HERE / "docs").rglob("*.md")),
    *sorted((HERE / "papers").rglob("*.md")),
]

OPTIONAL = ["torch", "jax", "pyarrow", "spacy", "matplotlib"]

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HERE)))


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Return the fenced blocks in a language, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)), block[1]) for block in found]


@pages
def test_python_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sections of a page that name an optional package run where it is installed."""
    monkeypatch.chdir(tmp_path)
    missing = [package for package in OPTIONAL if not importlib.util.find_spec(package)]
    lines = page.read_text(encoding="utf-8").splitlines()
    sections: dict[int, list[tuple[int, str]]] = {}
    for line, code in blocks(page, "pycon"):
        section = sum(text.startswith("## ") for text in lines[:line])
        sections.setdefault(section, []).append((line, code))
    names: dict[str, object] = {}
    parser, runner, said = doctest.DocTestParser(), doctest.DocTestRunner(), []
    needed: set[str] = set()
    for examples in sections.values():
        text = "".join(code for _, code in examples)
        if lacks := [package for package in missing if re.search(rf"\b{package}\b", text)]:
            needed.update(lacks)
            continue
        for line, code in examples:
            example = parser.get_doctest(code, names, page.name, str(page), line)
            runner.run(example, out=said.append, clear_globs=False)
            names.update(example.globs)
    assert not said, "\n".join(said)
    if needed:
        pytest.skip(f"sections need {', '.join(sorted(needed))}")


@pages
def test_scripts_run(page: Path) -> None:
    """Blocks marked `python` are run too, though what they print is not compared."""
    names: dict[str, object] = {}
    for line, code in blocks(page, "python"):
        exec(compile("\n" * line + code, str(page), "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each cell runs in an empty folder, and shows what it showed: drawings, or text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(path.parent))
    run = importlib.import_module("run")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert any(output.get("data") for outputs in kept for output in outputs)
    kinds = [
        [
            [(output["output_type"], *output.get("data", ())) for output in outputs]
            for outputs in each
        ]
        for each in (kept, run.shown(notebook))
    ]
    assert kinds[0] == kinds[1]


@pages
def test_commands_and_their_options_exist(page: Path) -> None:
    pytest.importorskip("typer", reason="needs the extra 'cli'")
    import typer.main

    from arborescence.cli.app import app

    commands: Any = typer.main.get_command(app)
    lines = "".join(code for _, code in blocks(page, "console")).splitlines()
    for line in lines:
        for part in shlex.split(line.removeprefix("$ ").replace("|", " | "), comments=True):
            assert part  # the shell can split it
        for name, rest in re.findall(r"(?<![\w/'])arborescence ([a-z]+)([^|>]*)", line):
            command = commands.get_command(None, name)
            assert command, name
            if hasattr(command, "commands"):  # `experiment undirected`, `train linear`
                [first, *_] = rest.split()
                known = first in command.list_commands(None)
                command = command.get_command(None, first if known else "auto")
            options = {"--help"}
            for option in command.params:
                options.update(option.opts, option.secondary_opts)
            used = {word.partition("=")[0] for word in rest.split() if re.match(r"--?[a-z]", word)}
            assert used <= options, (line, used - options)


@pages
def test_local_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


@pages
def test_pages_make_sense_without_the_site(page: Path) -> None:
    """On the site of a repository, what only mkdocs understands would stand as it is."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"^:::|--8<--", text, re.MULTILINE), "python docs/reference/names.py"
    assert not re.search(r'\b(?:href|src)="[\w-]+\.html', text)


def test_names_in_the_reference_have_their_first_lines() -> None:
    pytest.importorskip("griffe", reason="needs griffe: pip install --group docs")
    path = HERE / "docs" / "reference" / "names.py"
    spec = importlib.util.spec_from_file_location("names", path)
    assert spec
    assert spec.loader
    names = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(names)
    packages = names.load()
    for page in path.parent.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert names.written(text, packages) == text, "python docs/reference/names.py"


PACKAGES = [
    "arborescence",
    "arborescence.drawing",
    "arborescence.integrations",
    "arborescence.parsers",
    "arborescence.torch",
    "arborescence.transitions",
    "arborescence.treebank",
    "arborescence.undirected",
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    if name == "arborescence.torch":
        pytest.importorskip("torch", reason="needs torch")
    text = "".join(page.read_text() for page in (HERE / "docs" / "reference").glob("*.md"))
    # A function that has the name of its module is documented as module.function.
    listed = re.findall(rf"^- \[`{re.escape(name)}\.(\w+)(?:\.\1)?`\]", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    public = set(importlib.import_module(name).__all__)
    if name == "arborescence.parsers":
        public.remove("load")  # it is arborescence.load
    assert set(listed) == public


def table_of_the_papers() -> list[list[str]]:
    """Return the rows of the table in papers/ALGORITHMS.md."""
    text = (HERE / "papers" / "ALGORITHMS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\*\w+\* \| .*) \|$", text, re.MULTILINE)
    return [row.split(" | ") for row in rows]


def test_every_work_has_its_rows_and_every_row_a_status() -> None:
    rows = table_of_the_papers()
    assert {row[0] for row in rows} == {"*root*", "*kbest*", "*lecture*", "*undirected*"}
    for row in rows:
        assert len(row) == 6, row
        assert re.match(r"as printed\b|(other|not here), because \w", row[5]), row
        assert (row[2:5] == ["–"] * 3) == row[5].startswith("not here"), row


@pytest.mark.parametrize(
    ("file", "function", "test"),
    [[cell.strip("`") for cell in row[2:5]] for row in table_of_the_papers() if row[2] != "–"],
)
def test_algorithms_stand_where_the_table_says(file: str, function: str, test: str) -> None:
    def defines(path: Path, name: str) -> bool:
        text = path.read_text(encoding="utf-8")
        return bool(re.search(rf"^(def|class) {name}\b", text, re.MULTILINE))

    own = file.startswith("papers/")
    source = HERE / "papers/src/arborescence_papers" if own else HERE / "src/arborescence"
    assert defines(source / file.removeprefix("papers/"), function)
    path, name = test.split("::")
    tests = HERE / "papers/tests" if path.startswith("papers/") else HERE / "tests"
    assert defines(tests / path.removeprefix("papers/"), name)


def test_what_is_reliable_is_tested() -> None:
    text = (HERE / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (`.*`) \|$", text, re.MULTILINE)
    assert len(rows) > 20
    for path in re.findall(r"`([^`]*)`", " ".join(rows)):
        assert (HERE / "tests" / path).is_file(), path
