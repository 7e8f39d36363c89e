"""Do models parse the same on every level of processors? The wheel's kernels, on ten treebanks.

``python benchmarks/levels.py [--quick] [MODEL ...]`` needs the wheel that ``make wheel`` has put
into ``dist``, and the treebanks of ``../shared/ud``. Each model reads the raw text of sentences of
each test part, in a process for each level; what it writes must be equal, byte for byte.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

from arborescence.treebank import raw_text, read
from first_use import with_wheel
from inputs import TREEBANKS, file_of
from recording import Results, options

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
MODELS = ("english-fast", "english", "de", "fr", "nb", "english-large", "english-xl", "multi:de")
NAMES = (
    "English-EWT", "German-GSD", "French-Sequoia", "Norwegian-Bokmaal", "Finnish-TDT",
    "Turkish-IMST", "Greek-GDT", "Japanese-GSD", "Hebrew-HTB", "Polish-LFG",
)  # fmt: skip
SENTENCES = 500
#: Writes a digest of the trees of each file, and how many words they have.
CODE = """
import hashlib, io, sys
from pathlib import Path
import arborescence as arb
from arborescence.treebank import write
parser = arb.load(sys.argv[1])
for name in sys.argv[2:]:
    trees, file = parser(Path(name).read_text("utf-8")), io.BytesIO()
    write(trees, file)
    print(hashlib.sha256(file.getvalue()).hexdigest(), sum(map(len, trees)))
"""


def digests(python, model, texts, level):
    """Return the digest of the trees of each text, and its words."""
    environment = {**os.environ, "ARBORESCENCE_LEVEL": level, "ARBORESCENCE_QUIET": "1"}
    name, *language = model.split(":")
    done = subprocess.run(
        [python, "-c", CODE, ":".join([str(file_of(name)), *language]), *texts],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return [line.split() for line in done.stdout.splitlines()]


def main():
    chosen = options(__doc__, models=True)
    results = Results("levels", "trees on several levels of processors", chosen.quick)
    with tempfile.TemporaryDirectory() as folder:
        if not (python := with_wheel(Path(folder) / "environment", "cli,encoder")):
            sys.exit("no wheel in dist: `make wheel` makes one")
        texts = []
        for name in NAMES[: 2 if chosen.quick else None]:
            [file] = (TREEBANKS / name).glob("*-test.conllu.gz")
            texts.append(Path(folder) / f"{name}.txt")
            some = list(islice(read(file), 20 if chosen.quick else SENTENCES))
            texts[-1].write_text(raw_text(some), encoding="utf-8")
        rows = []
        for model in chosen.models or MODELS:
            found = [digests(python, model, texts, level) for level in LEVELS]
            words = sum(int(words) for _, words in found[0])
            differ = sum(len(set(map(tuple, each))) > 1 for each in zip(*found, strict=True))
            rows.append([model, len(texts), words, differ])
            print(*rows[-1], sep="\t", flush=True)
    results.table(
        "trees", ["model", "treebanks", "words", "that differ"], rows, unit="treebanks",
        condition=f"raw text of {SENTENCES} sentences of each; {', '.join(LEVELS)}",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
