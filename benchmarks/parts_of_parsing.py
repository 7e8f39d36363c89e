"""Where the processor time of ``parse`` from raw text goes, by part, and the limit of each part.

A timer interrupts each millisecond of processor time; the time since the last interruption is that
of the innermost function in `PARTS`. So a kernel's time is that of its caller. The limit of matrix
products is their multiply-adds at the rate of the largest product (`peak`), of bytes or, for scores
of attention, of floats; the limit of reading and writing is the bytes at the rate of copying.
``python benchmarks/parts_of_parsing.py [--quick]``
"""

from __future__ import annotations

import io
import signal
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import arborescence
from arborescence import load
from arborescence.core import byte_products, products
from arborescence.parsers.neural import kernels
from arborescence.parsers.neural.bert import kernels as bert
from arborescence.treebank import raw_text, read, write
from inputs import TREEBANKS, file_of
from recording import Results, options
from timing import least_seconds

#: The models, and the treebanks that they read.
MODELS = {
    "english": "English-EWT",
    "english-fast": "English-EWT",
    "english-large": "English-EWT",
    "multi:de": "German-GSD",
}
PACKAGE = Path(arborescence.__file__).parent
EVERY = 1e-3  # seconds of processor time between two samples
RUNS = 3

PRODUCTS, LSTMS, COPIED = "network: products", "network: LSTMs", "reading and writing"
ATTENTION, PIECES = "encoder: attention and GELU", "encoder: pieces"
FORMS, REST = "forms: vectors and characters", "network: the rest"
#: Parts by file, or by file and function. What has no part belongs to the part of its caller.
PARTS = {
    "core/byte_products.py": PRODUCTS,
    "parsers/neural/forward.py:Forward.run": REST,
    "parsers/neural/forward.py:Forward._gates": FORMS,
    "parsers/neural/forward.py:Forward._hinted": FORMS,
    "parsers/neural/forward.py:_BiLSTM.run": LSTMS,
    "parsers/neural/inputs.py": FORMS,
    "parsers/neural/pieces.py": PIECES,
    "parsers/neural/bert/forward.py": "encoder: the rest",
    "parsers/neural/bert/forward.py:_Norm.add": "encoder: norms",
    "parsers/neural/bert/forward.py:_BertLayer.run": ATTENTION,
    "parsers/neural/joint/forward.py": REST,
    "parsers/neural/graphs.py": REST,
    "parsers/tagger": "tagger",
    "parsers/text/lemmas.py": "lemmas",
    "parsers/text/rewriting.py": None,
    "parsers/text/candidates.py": None,
    "parsers/text/rules.py": None,
    "parsers/text": "sentences and words",
    "parsers/shared/features.py": "scores of edges",
    "parsers/linear": "scores of edges",
    "parsers/linear/graphs.py:LinearGraphs.decode": "decoding",
    "parsers/shared/graphs.py:Graphs.decode": "decoding",
    "parsers/shared/keeping.py": "rules",
    "parsers/shared/base.py:annotated": COPIED,
    "treebank/plain.py": COPIED,
    "treebank/conllu.py:write": COPIED,
    "treebank/conllu.py:_pieces": COPIED,
}
OTHER = "the rest"


def part_of(frame):
    """Return the part of the innermost function that has one."""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(PACKAGE):
            name = file.relative_to(PACKAGE)
            keys = (
                f"{name.as_posix()}:{frame.f_code.co_qualname}",
                name.as_posix(),
                *map(Path.as_posix, name.parents),
            )
            part = next((PARTS[key] for key in keys if key in PARTS), None)
            if part:
                return part
        frame = frame.f_back
    return OTHER


@contextmanager
def sampled(parts):
    """Add the processor seconds of what is done meanwhile to `parts`."""
    since = time.process_time()

    def count(_, frame):
        nonlocal since
        parts[part_of(frame)] += time.process_time() - since
        since = time.process_time()  # without the time of this function

    old = signal.signal(signal.SIGPROF, count)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


@contextmanager
def counted(work):
    """Add the multiply-adds of the network's kernels to `work`."""
    multiply, lstm, attend = byte_products.multiply_bytes, kernels.lstm, bert.attend

    def multiply_bytes(numbers, scales, panels, *others):
        work[PRODUCTS] += len(numbers) * panels.size
        multiply(numbers, scales, panels, *others)

    def run_lstm(inputs, gates, which, panels, *others):
        work[LSTMS] += len(inputs) * panels.size
        lstm(inputs, gates, which, panels, *others)

    def run_attention(vectors, starts, *others):
        work[ATTENTION] += int((np.diff(starts) ** 2).sum()) * vectors.shape[1] * 2 // 3
        attend(vectors, starts, *others)

    byte_products.multiply_bytes, kernels.lstm = multiply_bytes, run_lstm
    bert.attend = run_attention
    try:
        yield
    finally:
        byte_products.multiply_bytes, kernels.lstm, bert.attend = multiply, lstm, attend


def peak():
    """Return the multiply-adds a second of the largest product of a network: of bytes, floats."""
    matrix, floats = np.ones((512, 1600), np.float32), np.ones((2048, 512), np.float32)
    rows = byte_products.ByteRows.of(floats, 512)
    of_bytes, of_floats = byte_products.ByteMatrix(matrix), products.PanelMatrix(matrix)
    calls = (lambda: of_bytes.after_bytes(rows)), (lambda: of_floats.after(floats))
    seconds = [least_seconds(call, clock=time.process_time) for call in calls]
    return [len(floats) * matrix.size / each for each in seconds]


def copying():
    """Return the bytes a second of a copy that stays in the cache."""
    data = np.zeros(1 << 20, np.uint8)
    return data.size / least_seconds(data.copy, clock=time.process_time)


def parsed(parser, text):
    """Parse a text; return the bytes of its trees."""
    file = io.BytesIO()
    write(parser.parse(parser.read_text(io.BytesIO(text))), file)
    return file.getvalue()


def main():
    quick = options(__doc__).quick
    results = Results(
        "parts_of_parsing", "parse from raw text to CoNLL-U, after a first run, one thread", quick
    )
    (of_bytes, of_floats), copied = peak(), copying()
    for model, treebank in MODELS.items():
        [file] = (TREEBANKS / treebank).glob("*-test.conllu.gz")
        gold = list(read(file))[: 200 if quick else 1000]
        text, words = raw_text(gold).encode(), sum(map(len, gold))
        name, _, language = model.partition(":")
        parser = load(file_of(name), language=language or None)
        work, parts = Counter(), Counter()
        with counted(work):
            out = parsed(parser, text)
        with sampled(parts):
            for _ in range(RUNS):
                parsed(parser, text)
        rates = {ATTENTION: of_floats}
        limits = {part: each / rates.get(part, of_bytes) for part, each in work.items()}
        limits[COPIED] = (len(text) + len(out)) / copied
        rows = [
            [part, seconds / RUNS / words * 1e6, f"{limits[part] / words * 1e6:.2g}"]
            if part in limits
            else [part, seconds / RUNS / words * 1e6, "–"]
            for part, seconds in [("all", parts.total()), *parts.most_common()]
        ]
        results.table(
            model, ["part", "time", "limit"], rows, unit="µs a word",
            condition=f"processor time; at most {of_bytes / 1e9:.0f} billion multiply-adds "
            f"a second of bytes, {of_floats / 1e9:.0f} of floats",
        )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
