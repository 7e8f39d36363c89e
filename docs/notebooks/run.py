"""Run the notebooks of this folder: ``python docs/notebooks/run.py`` writes what their cells show.

The tests call `shown`, so that every cell of every notebook runs. No kernel of Jupyter is needed.
"""

import ast
import contextlib
import io
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: What a notebook shows of a value, best first.
DRAWN = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def lines_of(text: str) -> list[str]:
    """Return a text as notebooks keep it."""
    return text.splitlines(keepends=True)


def as_drawn(value: object) -> dict[str, list[str]]:
    """Return what a notebook shows of a value, by MIME type."""
    for kind, method in DRAWN.items():
        if drawn := getattr(value, method, lambda: None)():
            return {kind: lines_of(drawn)}
    return {"text/plain": lines_of(repr(value))}


def output_of(code: str, names: dict[str, object]) -> list[dict]:
    """Run a cell, and return its outputs."""
    tree, printed, value = ast.parse(code), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(text)})
    if value is not None:
        data = {"data": as_drawn(value), "metadata": {}, "output_type": "display_data"}
        outputs.append(data)
    return outputs


def shown(notebook: dict) -> list[list[dict]]:
    """Run the cells of a notebook, and return the outputs of each."""
    names: dict[str, object] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [output_of("".join(cell["source"]), names) for cell in cells]


def main() -> None:
    """Run all notebooks, and write their outputs into them."""
    for path in sorted(HERE.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, (cell, outputs) in enumerate(zip(cells, shown(notebook), strict=True), 1):
            cell.update(outputs=outputs, execution_count=number)
        text = json.dumps(notebook, ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
