"""Every measured figure of README and of the documentation comes from `benchmarks/results`."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent
RESULTS = HERE / "benchmarks" / "results"

#: A number with a unit of time, memory, speed or accuracy is a measured figure.
UNIT = (
    r"µs|ms|ns|s|seconds?|minutes|hours|[kMG]B|MiB|(?:words|sentences) a second|"
    r"times as \w+|times (?:faster|slower|longer)|points"
)
FIGURE = re.compile(
    rf"(?<![\w.,-])(\d(?:[\d.,]*\d)?)(?:×(?!\w)|\s(?:{UNIT})\b)|"
    r"\b[UL]AS\b(?: of| is|:)?\s(\d\d\.\d+)"
)
#: A cell of numbers and nothing else, but perhaps their unit, is a measured figure.
CELL = re.compile(rf"[*~<≈]*-?\d[\d.,\s×%()*→/+-]*(?:\s?(?:{UNIT}|%|,|\(|\)|[\d.,])+)*[*]*")

#: Numbers with such a unit that were not measured: limits, choices and examples.
CHOSEN: dict[str, tuple[str, ...]] = {
    "docs/corpora.md": ("10 seconds", "1 GB", "5 seconds"),
    "docs/reliability.md": (
        "512 MB",
        "64 kB",
        "2 MB",
        "64 MB",
        "1 GB",
        "1.2 GB",
        "5 seconds",
        "8 seconds",
        "10 seconds",
    ),
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE / "benchmarks"))
        module = importlib.import_module("figures")
        module.load_views()
        yield module


def page_names() -> list[str]:
    cards = (HERE / "models").glob("*/src/*/*.md")
    reports = (HERE / "papers" / "reports").glob("*.md")
    found = [HERE / "README.md", *(HERE / "docs").rglob("*.md"), *reports, *cards]
    return sorted(str(page.relative_to(HERE)) for page in found)


def outside(figures, page: str) -> str:
    """Return the text of a page without what is made from results, and without code."""
    text = (HERE / page).read_text(encoding="utf-8")
    text = figures.MARKED.sub(" ", text)
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"`[^`\n]*`", "code", text)


def tables_of(text: str) -> list[list[list[str]]]:
    """Return the cells of each table, without its header."""
    blocks = re.findall(r"^\|.*\|\n\|[ -|]*---.*\n((?:\|.*\n)*)", text, re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()]
        for block in blocks
    ]


def recorded(page: str) -> str:
    """Return all cells of the figures that were recorded for a page."""
    name = f"experiment-{Path(page).stem}" if page.startswith("papers/") else Path(page).stem
    file = RESULTS / "earlier" / f"{name}.json"
    if not file.exists():
        return ""
    tables = json.loads(file.read_text(encoding="utf-8"))["tables"].values()
    return "\n".join(str(cell) for table in tables for row in table["rows"] for cell in row)


def test_pages_and_charts_are_those_of_the_results(figures):
    assert [str(path) for path in figures.outdated()] == [], "run `make figures`"


def test_results_say_what_was_measured():
    files = sorted(RESULTS.rglob("*.json"))
    assert files
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        source = {"recorded"} if "recorded" in content else {"processor", "versions"}
        assert {"measures", "command", "date", "commit", "tables"} | source == set(content), file
        assert "recorded" in source or file.parent == RESULTS, file
        for name, table in content["tables"].items():
            assert set(table) == {"unit", "condition", "columns", "rows"}, (file, name)
            assert all(len(row) == len(table["columns"]) for row in table["rows"]), (file, name)


@pytest.mark.parametrize("page", page_names())
def test_tables_of_figures_are_made_from_results(figures, page):
    found = [
        cells
        for table in tables_of(outside(figures, page))
        for cells in table
        if any(CELL.fullmatch(cell) for cell in cells)
    ]
    assert not found, found


@pytest.mark.parametrize("page", page_names())
def test_figures_in_prose_have_a_source(figures, page):
    source = recorded(page)
    found = {
        match[0]
        for match in FIGURE.finditer(outside(figures, page))
        if not re.search(rf"(?<![\d.,]){re.escape(match[1] or match[2])}(?![\d,]|\.\d)", source)
    }
    assert found <= set(CHOSEN.get(page, ())), found


@pytest.mark.parametrize("page", page_names())
def test_a_figure_does_not_begin_a_line(page):
    """There, its marker would end the paragraph."""
    assert not re.search(r"^\s*<!-- figure:", (HERE / page).read_text("utf-8"), re.MULTILINE)


def test_what_the_rules_find():
    assert [match[0] for match in FIGURE.finditer("in 0.4 ms, 2.5× and LAS of 84.3; 3 words")] == [
        "0.4 ms", "2.5×", "LAS of 84.3"
    ]  # fmt: skip
    for cell in ("0.4", "**12.3**", "2.1 (5×)", "87.52, 85.58", "40 s", "1.2 → 0.9", "13.2 %"):
        assert CELL.fullmatch(cell), cell
    for cell in ("n = 4", "code", "Table 1", "a", ""):
        assert not CELL.fullmatch(cell), cell
    assert tables_of("| a | b |\n| --- | --- |\n| x | 0.4 |\n") == [[["x", "0.4"]]]
