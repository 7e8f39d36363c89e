"""Trees that keep the rules of UD: errors before and after, LAS, the effort of the search, time.

Our own models, and linear parsers trained here on a few sentences, parse test parts without rules
and with them. The official validator (udtools, level 3, class SYNTAX) checks both, and all gold
trees, and our rules must find the same errors.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import arborescence as arb
from arborescence.parsers import Keeper, LinearParser
from arborescence.treebank import evaluate, read, validate
from inputs import TREEBANKS
from recording import Results, options

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # what the tests know of udtools
from official_validator import agree, broken_rules  # noqa: E402

MODELS = {
    "english-fast": ("english-fast", "English-EWT"),
    "english": ("english", "English-EWT"),
    "fr": (ROOT / "models/fr/src/arborescence_fr/fr.npz", "French-Sequoia"),
    "af": (ROOT / "models/af/src/arborescence_af/af.npz", "Afrikaans-AfriBooms"),
}
TRAINED = [
    "Marathi-UFAL", "Lithuanian-HSE", "Telugu-MTG", "Kurmanji-MG", "Greek-GDT", "Maltese-MUDT",
    "Galician-TreeGal", "Turkish-IMST",
]  # fmt: skip
SENTENCES, EPOCHS = 600, 5
COLUMNS = [
    "treebank", "parser", "input", "sentences", "errors without rules", "errors with rules",
    "found by us alone or by udtools alone", "sentences searched", "certified",
    "trees decoded a sentence", "LAS without rules", "LAS with rules",
    "seconds without rules", "seconds with rules",
]  # fmt: skip


def part(treebank, name):
    """The sentences of a part of a treebank; none if it lacks the part."""
    files = sorted((TREEBANKS / treebank).glob(f"*-{name}.conllu*"))
    return [sentence for file in files for sentence in read(file)]


def checked(sentences):
    """How many errors the validator finds, and how many only one of both finds."""
    text = "".join(map(str, sentences))
    official = broken_rules(text)
    ours = list(validate(read(io.BytesIO(text.encode()))))
    return len(official), len(agree(official, ours))


def timed(parser, sentences, rules):
    """Parse; return the trees and the seconds of processor time."""
    start = time.process_time()
    parsed = list(parser.parse(sentences, rules=rules))
    return parsed, time.process_time() - start


def row(treebank, name, parser, kind):
    """A row of the table: what rules change on the test part of a treebank."""
    gold = part(treebank, "test")
    tags = dict.fromkeys(("lemmas", "upos", "xpos", "feats")) if kind == "words" else {}
    given = [sentence.replace(heads=None, deprels=None, **tags) for sentence in gold]
    timed(parser, given[:50], "ud")  # what is compiled at the first call
    rounds = []
    for _ in range(3):
        keeper = Keeper("ud")
        rounds.append((timed(parser, given, "none"), timed(parser, given, keeper)))
    (own, _), (kept, _) = rounds[0]
    before, after = checked(own), checked(kept)
    counts = keeper.counts
    return [
        treebank, name, kind, len(gold), before[0], after[0], before[1] + after[1],
        counts.changed + counts.failed, counts.changed - counts.uncertified,
        counts.decodes / len(gold),
        *(100 * evaluate(gold, trees).las.f1 for trees in (own, kept)),
        *(min(times[way][1] for times in rounds) for way in (0, 1)),
    ]  # fmt: skip


def main():
    quick = options(__doc__).quick
    results = Results(
        "rules", "parses that keep the rules of UD, and the official validator", quick
    )
    rows = []
    for name, (model, treebank) in list(MODELS.items())[: 1 if quick else None]:
        parser = arb.load(model)
        for kind in ("gold tags", "words"):
            rows.append(row(treebank, name, parser, kind))
            print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    for treebank in [] if quick else TRAINED:
        training = part(treebank, "train")[:SENTENCES]
        if training:
            parser = LinearParser.train(training, epochs=EPOCHS, rng=0)
            rows.append(row(treebank, f"linear, {len(training)} sentences", parser, "gold tags"))
            print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    results.table(
        "parses", COLUMNS, rows, unit="words that break a rule; percent of words; seconds",
        condition="test parts; the least of three times, of processor time, parsing alone",
    )  # fmt: skip
    gold = []
    for treebank in (
        ["French-Sequoia"] if quick else sorted(path.name for path in TREEBANKS.iterdir())
    ):
        sentences = part(treebank, "test")
        if sentences:
            words = sum(map(len, sentences))
            gold.append([treebank, len(sentences), words, *checked(sentences)])
    results.table(
        "gold", ["treebank", "sentences", "words", "errors", COLUMNS[6]], gold,
        unit="words that break a rule", condition="whole test parts as annotated",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
