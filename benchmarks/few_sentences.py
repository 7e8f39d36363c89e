"""What does a parser learn from few sentences: from nothing, or from the model of many languages?

``python benchmarks/few_sentences.py [--quick]``: LAS from given words of the first 300 sentences of
test parts, after training on 20 to 400 sentences. The sentences are drawn from train, or from dev
where there is no train part; more sentences include the fewer ones. Parsers have the defaults of
`train` (neural ones from nothing have 30 epochs), no dev part, and find tags themselves. This needs
``arborescence-multi``, PyTorch and ``../shared/ud``. Each figure is written at once; a second run
goes on where the first one stopped.
"""

from __future__ import annotations

import json
import time
from itertools import product

import numpy as np

from arborescence.parsers import train
from arborescence.parsers.shared.given import untagged
from arborescence.treebank import evaluate, read
from inputs import TREEBANKS
from recording import FOLDER, Results, options

#: The ways to train and the numbers of sentences, in the order in which they are measured.
STEPS = (
    *(("linear", size) for size in (20, 50, 100, 200, 400)),
    ("from multi", 20),
    ("neural", 20),
    ("from multi", 100),
    ("neural", 100),
    *((name, size) for size in (400, 50, 200) for name in ("from multi", "neural")),
)
#: The model to go on from, for each treebank; multi has learned Maltese, but no other of them.
FROM = {
    "Maltese-MUDT": "multi:mt",
    "Gothic-PROIEL": "multi:got",
    "Basque-BDT": "multi:eu",
    "Estonian-EDT": "multi:et=fi",
    "Bulgarian-BTB": "multi:bg=ru",
    "Hebrew-HTB": "multi:he",
}
TESTED = 300


def part(treebank, *names):
    """Return the sentences of the first part of a treebank that exists."""
    files = (file for name in names for file in (TREEBANKS / treebank).glob(f"*-{name}.conllu.gz"))
    return list(read(next(files)))


def drawn(treebank):
    """Return the sentences to learn from, in an order of chance that is always the same."""
    sentences = part(treebank, "train", "dev")
    return [sentences[number] for number in np.random.default_rng(1).permutation(len(sentences))]


def kinds(treebank):
    """Return the ways to train, by name."""
    return {
        "linear": {"kind": "linear"},
        "neural": {"kind": "neural", "epochs": 30},
        "from multi": {"kind": "neural", "start": FROM[treebank], "mixed": True},
    }


def measured(treebank, name, size, tested):
    """Train and test a parser; return a row of the table."""
    learned = drawn(treebank)[:size]
    start = time.process_time()
    parser = train(learned, text=False, **kinds(treebank)[name])
    seconds = time.process_time() - start
    las = evaluate(tested, list(parser.parse(untagged(each) for each in tested))).las
    return [treebank, name, size, sum(map(len, learned)), round(100 * las.f1, 2), round(seconds)]


def main():
    quick = options(__doc__).quick
    results = Results("few_sentences", "LAS after training on few sentences", quick)
    kept = FOLDER / "few_sentences.json"
    rows = []
    if kept.exists() and not quick:
        rows = json.loads(kept.read_text("utf-8"))["tables"]["las"]["rows"]
    tests = {name: part(name, "test")[: 50 if quick else TESTED] for name in FROM}
    for (name, size), treebank in product(STEPS, FROM):
        if [treebank, name, size] in [row[:3] for row in rows] or (quick and size > 20):
            continue
        rows = sorted([*rows, measured(treebank, name, size, tests[treebank])])
        results.table(
            "las",
            ("treebank", "parser", "sentences", "words", "LAS", "seconds"),
            rows,
            unit="percent",
            condition="given words, no tags; processor seconds of training",
        )
        results.save()


if __name__ == "__main__":
    main()
