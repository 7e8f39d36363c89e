"""How far are the probabilities of the shipped models from what is right? docs/confidence.md.

On test, from words, with each model's own tags. A model whose temperatures are not fitted yet is
fitted first, by its dev part, in memory. ``python benchmarks/shipped.py [--quick]``
"""

from __future__ import annotations

from arborescence import load
from arborescence.parsers.calibrating import calibrate, calibration, fitted, fitted_on
from arborescence.treebank import read
from inputs import TREEBANKS, file_of
from recording import Results, options

OF = {
    "af": "Afrikaans-AfriBooms",
    "fr": "French-Sequoia",
    "pt": "Portuguese-Bosque",
    "english-fast": "English-EWT",
    "english": "English-EWT",
    "english-large": "English-EWT",
    "english-xl": "English-EWT",
}


def main():
    quick = options(__doc__).quick
    results = Results("shipped", "calibration errors of the models in models/", quick)
    rows = []
    for name, treebank in list(OF.items())[: 1 if quick else None]:
        parser = load(file_of(name))
        if not fitted(parser):
            calibrate(parser, TREEBANKS / treebank)
        [file] = (TREEBANKS / treebank).glob("*-test.conllu.gz")
        errors = calibration(parser, list(read(file)))
        rows.append([name, *(f"{each:.1f}" for each in errors), f"{fitted_on(parser):,}"])
    results.table(
        "errors", ["model", "edges", "relations", "trees", "sentences of dev"], rows,
        unit="points", condition="expected calibration error on test, ten bins; words only",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
