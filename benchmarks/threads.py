"""Processor time of one thread: as the environment is, and with one thread for all libraries.

What a library does in threads that nobody asked for is in the processor time, too. Each work is
done in processes of its own, with and without the variables that limit NumPy's BLAS and PyTorch,
in turn: alone, and beside two processes that are always busy. ``threads=2`` is timed by the clock.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from arborescence import load
from arborescence.treebank import Sentence, read
from inputs import TREEBANKS
from recording import Results, options

FILES = TREEBANKS / "English-EWT"
LIMITS = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
PARTS = 60  # of the training part, one is learned from
CONNECTIONS = 64


def bare(step=1):
    """The sentences of the test part, without tags."""
    gold = list(read(FILES / "en_ewt-ud-test.conllu.gz"))[::step]
    return [Sentence.from_words(sentence.forms) for sentence in gold]


def parse(sentences, threads=1):
    """Parse, after some sentences to warm up; return processor and clock seconds."""
    parser = load("english")
    list(parser.parse(sentences[:50]))
    start, busy = time.perf_counter(), time.process_time()
    list(parser.parse(sentences, threads=threads))
    return time.process_time() - busy, time.perf_counter() - start


async def post_all(port, bodies):
    """Send all requests over a few connections, and read the answers."""
    waiting = iter(bodies)

    async def client():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in waiting:
            writer.write(
                b"POST /parse HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if head.split()[1] != "200":
                raise RuntimeError(head)
            await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))


def seconds_of(pid):
    """The processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def serve(sentences):
    """Ask a service for each sentence; return its processor time."""
    command = [sys.executable, "-m", "arborescence", "serve", "-m", "english", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = next(int(line.rsplit(":")[-1]) for line in server.stderr if "http://" in line)
            bodies = [json.dumps({"words": [each.forms]}).encode() for each in sentences]
            asyncio.run(post_all(port, bodies[:50]))
            busy, start = seconds_of(server.pid), time.perf_counter()
            asyncio.run(post_all(port, bodies))
            return seconds_of(server.pid) - busy, time.perf_counter() - start
        finally:
            server.terminate()


def spacy(sentences):
    """Parse in a pipeline of spaCy."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    nlp.add_pipe("arborescence")
    docs = [Doc(nlp.vocab, each.forms) for each in sentences]
    list(nlp.pipe(docs[:50]))
    start, busy = time.perf_counter(), time.process_time()
    list(nlp.pipe(docs[50:]))
    return time.process_time() - busy, time.perf_counter() - start


def train():
    """Learn for an epoch."""
    from arborescence.parsers import BiaffineParser

    treebank = list(read(FILES / "en_ewt-ud-train.conllu.gz"))[::PARTS]
    BiaffineParser.train(treebank[:20], epochs=1)
    start, busy = time.perf_counter(), time.process_time()
    BiaffineParser.train(treebank, epochs=1)
    return time.process_time() - busy, time.perf_counter() - start


WORKS = {
    "parse": lambda step: parse(bare(step)),
    "parse, two threads": lambda step: parse(bare(step), threads=2),
    "serve": lambda step: serve(bare(4 * step)),
    "spaCy": lambda step: spacy(bare(step)),
    "train": lambda _: train(),
}
NEEDS = {"spaCy": "spacy", "serve": "uvicorn", "train": "torch"}


@contextmanager
def beside(count):
    """Keep some processes busy meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def seconds(work, limits, step):
    """Do a work in a process of its own; return processor and clock seconds."""
    environment = {name: value for name, value in os.environ.items() if name not in LIMITS}
    done = subprocess.run(
        [sys.executable, __file__, "--work", work, str(step)],
        env=environment | limits, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return tuple(map(float, done.stdout.split()[-2:]))


def main():
    quick = options(__doc__).quick
    results = Results("threads", "processor time with and without limits on threads", quick)
    rows, by_clock = [], []
    for work in WORKS:
        if work in NEEDS and find_spec(NEEDS[work]) is None:
            print(f"(no {NEEDS[work]}: {work} is left out)\n")
            continue
        for count in (0, 2):
            with beside(count):
                turns = [
                    (seconds(work, LIMITS, 8 if quick else 2), seconds(work, {}, 8 if quick else 2))
                    for _ in range(1 if quick else 3)
                ]
            limited, free = (min(each) for each in zip(*turns, strict=True))
            where = "beside two busy processes" if count else "alone"
            rows.append((work, where, limited[0], free[0]))
            by_clock.append((work, where, limited[1], free[1]))
    columns = ("", "where", "one thread for all libraries", "nothing said")
    condition = "English-EWT, the model english; the least of three runs"
    results.table("processor", columns, rows, unit="s of processor time", condition=condition)
    results.table("clock", columns, by_clock, unit="s by the clock", condition=condition)
    results.save()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        print(*WORKS[sys.argv[2]](int(sys.argv[3])))
    else:
        main()
