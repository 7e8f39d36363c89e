"""How fast are treebanks read and written, and parsed with the built-in model?

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
from timing import least_seconds, table


def main():
    files = sorted((TREEBANKS / "English-EWT").glob("*test*"))
    if not files:
        print("(no ../shared/ud/English-EWT: nothing to parse)\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        plain, out = Path(folder) / "gold.conllu", Path(folder) / "out.conllu"
        plain.write_bytes(gzip.decompress(files[0].read_bytes()))
        gold = list(read(plain))
        words = sum(map(len, gold))
        bare = [Sentence.from_words(sentence.forms) for sentence in gold]
        parser = arb.load("english")
        jobs = {
            "read": lambda: list(read(plain)),
            "write, as read": lambda: write(gold, out),
            "read, parse, write": lambda: write(parser.parse(read(plain)), out),
            "read, parse, write, 2 threads": lambda: write(
                parser.parse(read(plain), threads=2), out
            ),
            "tag and parse words alone": lambda: list(parser.parse(bare)),
        }
        rows = []
        for name, job in jobs.items():
            seconds = least_seconds(job, budget=3)
            rows.append([name, f"{seconds * 1e3:,.0f}", f"{words / seconds:,.0f}"])
        print(f"### English-EWT test, {len(gold):,} sentences, {words:,} words\n")
        table(["", "ms", "words a second"], rows)
        rows = []
        for name, sentences in (("gold tags", gold), ("words alone", bare)):
            result = evaluate(gold, parser.parse(sentences))
            rows.append([name, f"{100 * result.uas.f1:.2f}", f"{100 * result.las.f1:.2f}"])
        table(["input", "UAS", "LAS"], rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory of this process: {peak:,.0f} MiB\n")


if __name__ == "__main__":
    main()
