"""Is a parser right as often as it says? The figure and the table of docs/confidence.md.

``python benchmarks/calibration.py FOLDER``. Parsers are trained, which takes some minutes, or taken
from the folder if it has them from another time. Needs Matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from arborescence.parsers import LinearParser, load
from arborescence.parsers.shared.confidence import reliability
from arborescence.treebank import read
from inputs import TREEBANKS

FIGURE = Path(__file__).parents[1] / "docs" / "images" / "calibration.svg"
INK, FAINT = "#1f2430", "#c9ced8"
#: What is drawn: the loss, whether the temperature is used, colour and line.
LINES = [
    ("mira", False, "#d97706", "--"),
    ("mira", True, "#d97706", "-"),
    ("tree", False, "#0f766e", "--"),
    ("tree", True, "#0f766e", "-"),
]
NAMES = {"mira": "MIRA", "tree": "log-linear"}


def parts_of(treebank):
    """Return the sentences to train on, to choose by, and to test on."""
    parts = {}
    for part in ("train", "dev", "test"):
        [file] = (TREEBANKS / treebank).glob(f"*-{part}.conllu.gz")
        parts[part] = list(read(file))
    return parts


def parser_of(treebank, loss, parts, folder):
    """Train a parser, or load it if the folder has it."""
    path = folder / f"{treebank}-{loss}.npz"
    if not path.exists():
        options = {"dev": parts["dev"], "loss": loss, "projective": False}
        LinearParser.train(parts["train"], **options).save(path)
    return load(path)


def measure(treebank, folder):
    """Return the reliability of each line."""
    parts = parts_of(treebank)
    found = {}
    for loss, tempered, *_ in LINES:
        parser = parser_of(treebank, loss, parts, folder)
        temperature = parser.temperature
        if not tempered:
            parser.temperature = 1.0
        parsed = parser.parse(parts["test"], confidence=True)
        found[loss, tempered] = reliability(parts["test"], parsed), temperature
    return found


def draw(axes, treebank, found):
    """Draw the lines of a treebank."""
    axes.plot([0, 1], [0, 1], color=FAINT, zorder=0)
    for loss, tempered, color, line in LINES:
        reliable, temperature = found[loss, tempered]
        many = reliable.counts >= 20
        scale = f"temperature {temperature:.2f}" if tempered else "as it is"
        axes.plot(
            reliable.confidence[many],
            reliable.accuracy[many],
            line,
            color=color,
            marker="o",
            markersize=4,
            label=f"{NAMES[loss]}, {scale}: error {100 * reliable.error:.1f} %",
        )
    axes.set_title(treebank)
    axes.set_xlabel("probability of the edge")
    axes.set_ylabel("share of such edges that is right")
    axes.set_aspect("equal")
    axes.legend(loc="upper left", fontsize=8.5, frameon=False, bbox_to_anchor=(0, -0.16))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    mpl.rcParams |= {
        "svg.hashsalt": "calibration",  # the same picture is the same file
        "font.family": ["DejaVu Sans", "sans-serif"],
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
    }
    figure, panels = plt.subplots(1, 2, figsize=(9, 5.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    print("| treebank | loss | temperature | calibration error |\n| --- | --- | --- | --- |")
    for axes, treebank in zip(panels, ("English-EWT", "Gothic-PROIEL"), strict=True):
        found = measure(treebank, folder)
        draw(axes, treebank, found)
        for (loss, tempered), (reliable, temperature) in found.items():
            scale = f"{temperature:.2f}" if tempered else "1"
            error = f"{100 * reliable.error:.1f} %"
            print(f"| {treebank} | {NAMES[loss]} | {scale} | {error} |")
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
