"""Requests to ``arborescence serve`` at the same time: none lost or mixed up, and how fast.

The sentences of a test part go out as 10,000 requests of a sentence, and as requests of ten, over
64 connections; each answer is compared with what the parser says of its sentence. Beside them
stands the parser itself, on the same sentences. Client and server share the cores, so the
processor time of each is counted, too (Linux).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from arborescence import load
from arborescence.treebank import read
from inputs import TREEBANKS
from recording import Results, options

FILE = TREEBANKS / "English-EWT" / "en_ewt-ud-test.conllu.gz"
MODEL = "english-fast"
CONNECTIONS = 64
REQUESTS = 10_000


async def answers(port, bodies):
    """Send all bodies over a few connections; return the answers in their order."""
    found, waiting = [None] * len(bodies), iter(enumerate(bodies))

    async def client():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number, body in waiting:
            writer.write(
                b"POST /parse HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode().lower().split("\r\n")
            size = next(int(line[15:]) for line in lines if line.startswith("content-length:"))
            found[number] = int(lines[0].split()[1]), json.loads(await reader.readexactly(size))
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    return found


def asked(port, groups):
    """Ask for groups of sentences; return the seconds, and the heads and relations, or None."""
    bodies = [json.dumps({"words": group}).encode() for group in groups]
    start = time.perf_counter()
    found = asyncio.run(answers(port, bodies))
    seconds = time.perf_counter() - start
    trees = []
    for group, (status, answer) in zip(groups, found, strict=True):
        given = answer["sentences"] if status == 200 else [None] * len(group)
        trees += [tree and (tree["words"], tree["heads"], tree["deprels"]) for tree in given]
    return seconds, trees


def seconds_of(pid):
    """The processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def main():
    short = options(__doc__).quick
    results = Results("serving", "a service under load", short)
    sentences = [sentence.forms for sentence in read(FILE)]
    count = REQUESTS // 50 if short else REQUESTS
    many = [sentences[number % len(sentences)] for number in range(count)]
    words = sum(map(len, many))
    parser = load(MODEL)
    list(parser.parse(many[:100]))
    start, busy = time.perf_counter(), time.process_time()
    expected = [
        (each.forms, each.heads.tolist(), each.deprels)
        for each in parser.parse(many, confidence=False)
    ]
    alone = time.perf_counter() - start
    busy = time.process_time() - busy
    rows = [("the parser itself", "", words / alone, 1.0, 1e3 * busy / count, 1.0, "")]
    command = [sys.executable, "-m", "arborescence", "serve", "-m", MODEL, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = next(int(line.rsplit(":")[-1]) for line in server.stderr if "http://" in line)
            for size in (1, 10):
                groups = [many[i : i + size] for i in range(0, count, size)]
                before = seconds_of(server.pid)
                seconds, trees = asked(port, groups)
                used = seconds_of(server.pid) - before
                wrong = sum(tree != right for tree, right in zip(trees, expected, strict=True))
                speed = words / seconds, alone / seconds, 1e3 * used / count, busy / used
                rows.append((f"requests of {size}", len(groups), *speed, wrong))
        finally:
            server.terminate()
    columns = ("", "requests", "words/s", "of the parser's speed",
               "ms of processor time a sentence",
               "of the parser's speed by that", "sentences lost or mixed up")  # fmt: skip
    results.table(
        "speed", columns, rows, condition=f"{count:,} sentences, {CONNECTIONS} connections, {MODEL}"
    )
    results.save()


if __name__ == "__main__":
    main()
