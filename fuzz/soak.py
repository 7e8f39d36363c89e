"""A soak of ``arborescence serve``: many requests, a tenth of them hostile; what honest ones get.

``python fuzz/soak.py`` or ``make soak`` sends 20,000 requests from 16 clients, each with an address
of its own (127.0.0.11 and on, where the system allows it), to a service that it starts and ends. It
counts answers by their status, compares those to honest requests with what the service said of
the same before, and watches the memory of the process. It fails if an honest request gets no
answer, another one or a status that is not 200; if 99 % of them take more than 5 s; if the memory
reaches 1.2 GB; or if the process does not end within 9 s after SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parents[1] / "tests" / "support"))

import numpy as np

from hostile_requests import good, hostile

MODEL = "english-fast"
LATE = 5.0  # seconds
MEMORY = 1.2e9  # bytes
END = 9.0  # seconds: 5 for requests, and to end
PATIENCE = 120.0  # seconds for an answer
DIFFERENT = 200  # honest requests


class Clients:
    """Clients that send requests, and what they got."""

    def __init__(self, port, options):
        self.port, self.options = port, options
        self.rng = np.random.default_rng(options.seed)
        self.honest = [good(self.rng) for _ in range(DIFFERENT)]
        self.expected = {}
        self.left = options.requests
        self.statuses = defaultdict(Counter)  # of each name of a request
        self.seconds = {True: [], False: []}  # of honest and other requests
        self.wrong = 0

    async def learn(self):
        """Ask each honest request once; again while kernels compile for longer than the limit."""
        for request in self.honest:
            status, answer = 503, b""
            while status == 503:
                status, answer = await self.ask(request, None)
            if status != 200:
                raise SystemExit(f"{request}: {status} {answer[:300]!r}")
            self.expected[request.path, request.body] = answer

    async def run(self):
        """Send all requests."""
        numbers = range(self.options.clients)
        await asyncio.gather(*(self.client(f"127.0.0.{11 + number}") for number in numbers))

    async def client(self, address):
        """Send requests, one after the other."""
        while self.left > 0:
            self.left -= 1
            is_good = self.rng.random() >= self.options.hostile
            chosen = self.honest[int(self.rng.integers(DIFFERENT))]
            request = chosen if is_good else hostile(self.rng)
            start = time.perf_counter()
            try:
                async with asyncio.timeout(PATIENCE):
                    status, answer = await self.ask(request, address)
            except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
                status, answer = type(error).__name__, b""
            self.seconds[is_good].append(time.perf_counter() - start)
            self.statuses[("" if is_good else "hostile: ") + request.name][status] += 1
            if is_good:
                self.wrong += answer != self.expected[request.path, request.body]

    async def ask(self, request, address):
        """Send a request over a connection of its own; return the status and the answer."""
        local = (address, 0) if address and sys.platform == "linux" else None
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=local)
        head, body = request.head, request.body or b""
        parts = {"head": head[: len(head) // 2], "slow": head + body[: len(body) // 2]}
        try:
            writer.write(parts.get(request.how, head + body))
            if request.how == "gone":
                await writer.drain()
                return "gone", b""
            with suppress(ConnectionError):  # it may be refused before all is sent
                await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            lines = answer.decode("latin-1").lower().split("\r\n")
            told = [line[15:] for line in lines if line.startswith("content-length:")]
            return int(lines[0].split()[1]), await reader.readexactly(int(told[0]))
        finally:
            writer.close()


def memory_of(pid):
    """The largest memory that a process has had, in bytes (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def seconds_of(pid):
    """The processor time of a process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def report(clients, taken):
    """Print what the clients got; return what is not as it should be."""
    for name, statuses in sorted(clients.statuses.items()):
        print(f"  {name}: " + ", ".join(f"{count:,} × {said}" for said, count in statuses.items()))
    faults = []
    for is_good, what in ((True, "honest"), (False, "hostile")):
        found = clients.seconds[is_good]
        if found:
            half, most, last = np.quantile(found, [0.5, 0.99, 1.0])
            print(f"{len(found):,} {what} requests: half within {half:.3f} s, 99 % within "
                  f"{most:.2f} s, all within {last:.2f} s")  # fmt: skip
            if is_good and most > LATE:
                faults.append(f"99 % of the honest requests took up to {most:.2f} s")
    others = Counter()
    for name, statuses in clients.statuses.items():
        if not name.startswith("hostile"):
            others.update({said: count for said, count in statuses.items() if said != 200})
        elif statuses[500]:
            faults.append(f"{name}: status 500")
    if others:
        faults.append(f"honest requests got {dict(others)}")
    if clients.wrong:
        faults.append(f"{clients.wrong} honest requests got no or another answer")
    print(f"{clients.options.requests / taken:.0f} requests a second")
    return faults


def main():
    parser = argparse.ArgumentParser("soak", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--hostile", type=float, default=0.1, help="their share")
    parser.add_argument("--timeout", type=float, default=10.0, help="of the service")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    command = [sys.executable, "-m", "arborescence", "serve", "-m", options.model, "--port", "0"]
    command += ["--timeout", str(options.timeout)]
    start = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        try:
            port = next(int(line.rsplit(":")[-1]) for line in service.stderr if "http://" in line)
            log = Counter()
            reading = asyncio.to_thread(lambda: log.update(map(kind_of, service.stderr)))

            async def soak():
                task = asyncio.ensure_future(reading)
                clients = Clients(port, options)
                try:
                    await clients.learn()
                    begun = time.perf_counter()
                    await clients.run()
                    taken = time.perf_counter() - begun
                    memory, busy = memory_of(service.pid), seconds_of(service.pid)
                finally:  # also after an error: the log is read to its end
                    service.terminate()
                    told = time.perf_counter()
                    await asyncio.to_thread(service.wait)
                    await task
                return clients, taken, memory, busy, time.perf_counter() - told

            clients, taken, memory, busy, ended = asyncio.run(soak())
        finally:
            service.kill()
    faults = report(clients, taken)
    print(f"memory {memory / 1e6:,.0f} MB; {busy:.0f} s of processor time; ended after "
          f"{ended:.1f} s with status {service.returncode}; log: "
          + ", ".join(f"{count:,} × {kind}" for kind, count in log.items()))  # fmt: skip
    if memory > MEMORY:
        faults.append(f"{memory / 1e6:,.0f} MB of memory")
    if ended > END or service.returncode:
        faults.append(f"ended after {ended:.1f} s with status {service.returncode}")
    for fault in faults:
        print(f"FAULT: {fault}")
    print(f"{len(faults)} faults after {time.perf_counter() - start:.0f} s")
    return 1 if faults else 0


def kind_of(line):
    """The first words of a line of the log, after the date and the time."""
    return " ".join(line.split()[2:4])


if __name__ == "__main__":
    sys.exit(main())
