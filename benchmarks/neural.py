"""How fast does a neural parser parse, with our kernels and with PyTorch?

One thread, with random weights: the time does not depend on the weights, except that of decoding,
which is a small part. ``python benchmarks/neural.py``
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import arborescence as arb
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.parser import BiaffineParser
from arborescence.parsers.neural.settings import Settings
from arborescence.parsers.neural.stored import shapes
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.treebank import Sentence, read
from inputs import TREEBANKS
from recording import Results, options
from timing import least_seconds


def random_parser(treebank, settings, tagger):
    """Return a parser for a treebank, with random weights."""
    generator = np.random.default_rng(0)
    labels = sorted({label for sentence in treebank for label in sentence.deprels})
    vocabulary = Vocabulary.of(treebank, settings.columns)
    sizes = shapes(settings, vocabulary, hinted=True, relations=len(labels))
    weights = {
        name: generator.normal(0, 0.05, shape).astype(np.float32) for name, shape in sizes.items()
    }
    return BiaffineParser(
        settings=settings,
        vocabulary=vocabulary,
        labels=labels,
        allowed=np.ones((2, len(labels)), dtype=np.bool_),
        weights=stored.to_arrays(weights, settings.precision),
        tagger=tagger,
    )


def main():
    quick = options(__doc__).quick
    files = {part: [*(TREEBANKS / "English-EWT").glob(f"*{part}*")] for part in ("train", "test")}
    if not all(files.values()):
        print("(no ../shared/ud/English-EWT: nothing to parse)\n")
        return
    treebank, gold = (list(read(path)) for [path] in files.values())
    results = Results("neural", "parsing with a neural parser by kernels and PyTorch", quick)
    gold = gold[:: 40 if quick else 4]
    words = sum(map(len, gold))
    bare = [Sentence.from_words(sentence.forms) for sentence in gold]
    devices = {"NumPy and kernels": None}
    try:
        import torch
    except ImportError:
        print("(no PyTorch: nothing to compare with)\n")
    else:
        torch.set_num_threads(1)
        devices["PyTorch, on the CPU"] = "cpu"
    tagger = arb.load("english").tagger
    rows = []
    for scorer in ("biaffine", "mlp"):
        parser = random_parser(treebank, Settings(scorer=scorer), tagger)
        for name, device in devices.items():
            parser.to(device)
            seconds = [
                least_seconds(
                    lambda p=parser, some=some: list(p.parse(some)), clock=time.process_time
                )
                for some in (bare, gold)
            ]
            rows.append([scorer, name, *(int(words / each) for each in seconds)])
    results.table(
        "speed", ["scorer", "run by", "words alone", "with gold tags"], rows,
        unit="words a second", condition="a quarter of English-EWT test, processor time",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
