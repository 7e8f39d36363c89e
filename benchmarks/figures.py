"""Tables, charts and single figures of README and of the documentation, from results as data.

``python benchmarks/figures.py`` (``make figures``) writes them into the pages and measures nothing;
``--check`` only names what it would change. It needs nothing but Python. What stands between two
markers of a page is written by this program:

- ``<!-- figures: NAME -->`` and ``<!-- end -->`` on lines of their own: a table.
- ``<!-- figure: NAME -->`` and ``<!-- end -->`` inside a line, though not at its beginning, where
  Markdown would end the paragraph: one figure.

NAME is that of a *view*, a function in a module of ``benchmarks/views``, which computes what is
shown; or it says what is shown as it is:

- ``FILE/TABLE``: a table of ``benchmarks/results/FILE.json``. ``earlier/PAGE.json`` has what was
  measured once, such as the accuracy of parsers that take hours to train: its ``recorded`` says
  from where. There, a table ``prose`` has the figures that stand only in the text of that page.
- a path from the root of this repository that ends with ``.csv``: such a table.
- ``NAME; ROW; COLUMN; FORMAT``, for one figure: in a table of one of these kinds, the cell of the
  row that begins with ROW (with ``ROW; ROW``: with two such cells) in the column of that name, by a
  format of Python such as ``{:.1f} µs``, which can be left out.
"""

from __future__ import annotations

import csv
import importlib
import json
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
IMAGES = ROOT / "docs" / "images"
REPORTS = ROOT / "papers" / "reports"
MARKED = re.compile(r"<!-- (figures?): (.+?) -->(.*?)<!-- end -->", re.DOTALL)

#: What the modules of ``benchmarks/views`` define, by name.
VIEWS = {}
CHARTS = {}


def view(name):
    """Return a decorator: a function of no arguments is the view of this name.

    It returns a table as ``(header, rows)``, with cells that are text or numbers; or a text.
    """
    return lambda function: VIEWS.setdefault(name, function)


def chart(name):
    """Return a decorator: a function of no arguments returns a chart, as `charts` draws it.

    It is kept as ``docs/images/NAME.svg`` and ``NAME-dark.svg``.
    """
    return lambda function: CHARTS.setdefault(name, function)


@cache
def results(name):
    """Return a file of results as it is."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rows(name, **chosen):
    """Return the rows of ``FILE/TABLE`` as dictionaries, those with the chosen values."""
    file, _, table = name.rpartition("/")
    content = results(file)["tables"][table]
    found = (dict(zip(content["columns"], row, strict=True)) for row in content["rows"])
    return [row for row in found if all(row[key] == value for key, value in chosen.items())]


def csv_table(path):
    """Return header and rows of a CSV file of this repository."""
    with (ROOT / path).open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    return header, lines


def number(value):
    """Return a number as text: three digits, or all those before the point."""
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def times(ratio):
    """Return a ratio as text, such as 2.4× or 1,070×: two digits, or three."""
    if ratio >= 1000:
        ratio = round(ratio, -1)
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.1f}×"


def cell(value):
    """Return a cell of a Markdown table."""
    return value.replace("|", "\\|") if isinstance(value, str) else number(value)


def markdown(header, rows):
    """Return a Markdown table."""
    text = [list(map(cell, row)) for row in (header, *rows)]
    text.insert(1, ["---"] * len(header))
    lines = ("|".join(f" {each} " if each else " " for each in line) for line in text)
    return "".join(f"|{line}|\n" for line in lines)


def table(name):
    """Return header and rows of a view that is a table, of a CSV file, or of a table of results."""
    if name in VIEWS:
        return VIEWS[name]()
    if name.endswith(".csv"):
        return csv_table(name)
    file, _, part = name.rpartition("/")
    content = results(file)["tables"][part]
    return content["columns"], content["rows"]


def one(name):
    """Return a single figure: a view that is a text, or a cell of a table."""
    name, *parts = (part.strip() for part in name.split(";"))
    if not parts:
        return VIEWS[name]()
    form = parts.pop() if "{" in parts[-1] else None
    *keys, column = parts
    header, lines = table(name)
    found = [line for line in lines if [cell(value) for value in line[: len(keys)]] == keys]
    if len(found) != 1 or list(header).count(column) != 1:
        raise LookupError(f"{name}: {len(found)} rows begin with {keys}; columns are {header}")
    value = found[0][list(header).index(column)]
    return form.format(value) if form else cell(value)


def shown(kind, name):
    """Return what stands between the markers of a name."""
    try:
        if kind == "figure":
            return one(name)
        found = VIEWS[name]() if name in VIEWS else table(name)
    except (LookupError, OSError, ValueError) as error:
        raise SystemExit(f"<!-- {kind}: {name} -->: {error!r}") from error
    return f"\n\n{found if isinstance(found, str) else markdown(*found)}\n"


def rendered(page):
    """Return the text of a page with all that is between markers made anew."""

    def replace(found):
        kind, name, _ = found.groups()
        return f"<!-- {kind}: {name} -->{shown(kind, name)}<!-- end -->"

    return MARKED.sub(replace, page)


def pages():
    """Return the files that may have figures: README, docs, reports, the pages of models."""
    models = ROOT / "models"
    cards = [*models.glob("*/src/*/*.md"), *models.glob("*/README.md"), *models.glob("README.md")]
    docs = (ROOT / "docs").rglob("*.md")
    return [ROOT / "README.md", *sorted(docs), *sorted(REPORTS.glob("*.md")), *sorted(cards)]


def load_views():
    """Import the modules of ``benchmarks/views``."""
    for path in sorted((ROOT / "benchmarks" / "views").glob("*.py")):
        importlib.import_module(f"views.{path.stem}")


def outdated():
    """Return the files that differ from what the results say, and what they should hold."""
    from charts import drawn

    load_views()
    wanted = {page: rendered(page.read_text(encoding="utf-8")) for page in pages()}
    for name, function in CHARTS.items():
        for ending, dark in (("", False), ("-dark", True)):
            wanted[IMAGES / f"{name}{ending}.svg"] = drawn(function(), dark)
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main():
    """Write what is outdated, or only name it."""
    check = sys.argv[1:] == ["--check"]
    found = outdated()
    for path, text in found.items():
        print(f"{'differs from the results' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(text, encoding="utf-8")
    if check and found:
        sys.exit("run `make figures`")


if __name__ == "__main__":
    sys.modules["figures"] = sys.modules["__main__"]  # the views import this module by its name
    main()
