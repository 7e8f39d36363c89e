"""Are probabilities right as often as they say? Four kinds, ten treebanks; docs/confidence.md.

Small linear parsers: four fifths of the dev part teach, the last fifth sets the temperatures, test
measures. ``python benchmarks/temperatures.py [--quick]``
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from arborescence.parsers import LinearParser, Tagger
from arborescence.parsers.shared.confidence import Probable, reliability
from arborescence.parsers.shared.given import untagged
from arborescence.parsers.shared.graph_parser import TEMPERATURES
from arborescence.treebank import read
from inputs import TREEBANKS
from recording import Results, options

NAMES = (
    "Armenian-ArmTDP", "Belarusian-HSE", "Chinese-GSDSimp", "Croatian-SET", "Danish-DDT",
    "Greek-GDT", "Hebrew-HTB", "Indonesian-GSD", "Irish-IDT", "Turkish-IMST",
)  # fmt: skip


def errors(parser, tagger, test):
    """Return the calibration error of each kind of probability, in percent."""
    parsed = list(parser.parse(test, confidence=True, rules="none"))
    tagged = list(tagger.tag(map(untagged, test), confidence=True))
    return {
        of: 100 * reliability(test, tagged if of == "tag" else parsed, of=of).error
        for of in get_args(Probable)
    }


def main():
    quick = options(__doc__).quick
    results = Results("temperatures", "calibration before and after temperature scaling", quick)
    rows = []
    for name in NAMES[: 1 if quick else None]:
        dev, test = (
            list(read(file))
            for part in ("dev", "test")
            for file in (TREEBANKS / name).glob(f"*-{part}.conllu.gz")
        )
        cut = len(dev) * 4 // 5
        parser = LinearParser.train(dev[:cut], dev=dev[cut:], epochs=5, projective=False)
        tagger = Tagger.train(dev[:cut], dev=dev[cut:], columns=["upos"])
        heats = [getattr(parser, each) for each in TEMPERATURES]
        after = errors(parser, tagger, test)
        for each in TEMPERATURES:
            setattr(parser, each, 1.0)
        heats.insert(2, tagger._stages[-1].temperature)
        cold = Tagger([replace(stage, temperature=1.0) for stage in tagger._stages])
        before = errors(parser, cold, test)
        rows += [
            [name, of, heat, before[of], after[of]]
            for of, heat in zip(get_args(Probable), heats, strict=True)
        ]
    results.table(
        "errors", ["treebank", "of", "temperature", "at 1", "at it"], rows, unit="%",
        condition="expected calibration error on test, ten bins; gold tags, but for tags",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
