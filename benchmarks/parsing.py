"""How fast are treebanks read and written, and parsed with the models of the package?

One thread unless it says otherwise. ``python benchmarks/parsing.py``
"""

from __future__ import annotations

import gzip
import resource
import tempfile
from pathlib import Path

import arborescence as arb
from arborescence.treebank import Sentence, evaluate, read, write
from inputs import TREEBANKS
from recording import Results, options
from timing import least_seconds


def main():
    quick = options(__doc__).quick
    files = sorted((TREEBANKS / "English-EWT").glob("*test*"))
    if not files:
        print("(no ../shared/ud/English-EWT: nothing to parse)\n")
        return
    results = Results("parsing", "reading, parsing and writing English-EWT test", quick)
    with tempfile.TemporaryDirectory() as folder:
        plain, out = Path(folder) / "gold.conllu", Path(folder) / "out.conllu"
        plain.write_bytes(gzip.decompress(files[0].read_bytes()))
        gold = list(read(plain))
        if quick:
            gold = gold[:200]
            write(gold, plain)
        words = sum(map(len, gold))
        bare = [Sentence.from_words(sentence.forms) for sentence in gold]
        fast, neural = arb.load("english-fast"), arb.load("english")
        fast.rules = neural.rules = "none"
        jobs = {
            "read CoNLL-U": lambda: list(read(plain)),
            "write it": lambda: write(gold, out),
            "read, parse with `english-fast`, write": lambda: write(fast.parse(read(plain)), out),
            "the same with two threads": lambda: write(fast.parse(read(plain), threads=2), out),
            "tag and parse words that have no tags, `english-fast`": lambda: list(fast.parse(bare)),
            "read, parse with `english`, write": lambda: write(neural.parse(read(plain)), out),
            "tag and parse words that have no tags, `english`": lambda: list(neural.parse(bare)),
        }
        rows = [[name, words / least_seconds(job, budget=2)] for name, job in jobs.items()]
        results.table(
            "speed", ["job", "words a second"], rows, unit="words a second",
            condition=f"English-EWT test, {words:,} words, one thread if not said otherwise",
        )  # fmt: skip
        rows = []
        for model in (fast, neural):
            for name, sentences in (("gold tags", gold), ("words alone", bare)):
                found = evaluate(gold, model.parse(sentences))
                rows.append([model.kind, name, 100 * found.uas.f1, 100 * found.las.f1])
        results.table(
            "accuracy", ["model", "input", "UAS", "LAS"], rows, unit="%",
            condition="English-EWT test, gold words",
        )  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.table("memory", ["peak memory"], [[peak]], unit="MiB", condition="of this process")
    results.save()


if __name__ == "__main__":
    main()
