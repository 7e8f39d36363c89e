"""Attack the library with ever new seeds: ``python fuzz``, or ``make fuzz SECONDS=600``.

A round of an attack depends on nothing but the seed, the attack's name and the round's number, so
every fault that is found can be had again. The rounds run in a process of their own: one that
crashes or hangs is a fault like others, and the next process goes on behind it.

With ``NUMBA_BOUNDSCHECK=1``, kernels also say where they leave their arrays.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parents[1] / "tests" / "support"))

import rounds
from arborescence.system.processes import stoppable
from rounds import INTERRUPTED

PROGRESS = 15.0  # seconds from one line of progress to the next
PATIENCE = 10.0  # seconds that a process has to clean up after itself
SLOWEST = 600.0  # seconds that a round may take; the first ones compile kernels


def main() -> int:
    parser = argparse.ArgumentParser("fuzz", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long; else a minute")
    parser.add_argument("--seed", type=int, help="what all rounds follow from; else a new one")
    parser.add_argument("--attack", choices=rounds.ATTACKS, help="one attack; else all")
    parser.add_argument("--round", type=int, help="this round of the attack, and no other")
    options = parser.parse_args()
    if options.round is not None and (options.attack is None or options.seed is None):
        parser.error("--round goes with --attack and --seed")
    seed = secrets.randbits(32) if options.seed is None else options.seed
    names = [options.attack] if options.attack else list(rounds.ATTACKS)
    print(f"seed {seed}: {', '.join(names)}", flush=True)

    context = multiprocessing.get_context("fork")
    state = rounds.State(context, len(names))
    if options.round is not None:
        state.rounds[0] = options.round
    stop = time.monotonic() + options.seconds
    once = options.round is not None
    faults = 0
    with stoppable(main.__code__), tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        while not state.done.value and time.monotonic() < stop:
            arguments = (names, seed, stop, state, once, folder)
            worker = context.Process(target=rounds.run, args=arguments)
            worker.start()
            try:
                faults += watch(worker, names, seed, state)
            except KeyboardInterrupt:
                worker.terminate()
                worker.join(PATIENCE)
                worker.kill()
                worker.join()
                break
            if once:
                break
    total = sum(state.rounds) - (options.round or 0)
    faults += state.faults.value
    print(f"seed {seed}: {total:,} rounds, {faults} faults", flush=True)
    return 1 if faults else 0


def watch(worker, names, seed, state) -> bool:
    """Wait for a process of rounds; tell whether it crashed or had to be stopped."""
    shown = time.monotonic()
    hung = False
    while worker.is_alive():
        worker.join(0.2)
        now = time.monotonic()
        if now - shown > PROGRESS:
            shown = now
            counts = ", ".join(f"{name} {state.rounds[i]:,}" for i, name in enumerate(names))
            print(f"  {counts}; {state.faults.value} faults", flush=True)
        if worker.is_alive() and now - state.started.value > SLOWEST and state.started.value:
            hung = True
            worker.kill()
            worker.join()
    if worker.exitcode == 0:
        return False
    if worker.exitcode == INTERRUPTED:
        raise KeyboardInterrupt
    name = names[state.attack.value]
    number = state.rounds[state.attack.value] - 1
    what = f"takes more than {SLOWEST:.0f} s" if hung else ended(worker.exitcode)
    print(f"FAULT in {name}, round {number}: {what}\n  {again(seed, name, number)}", flush=True)
    return True


def ended(status: int) -> str:
    if status < 0:
        return f"ends the process by {signal.Signals(-status).name}"
    return f"ends the process with status {status}"


def again(seed: int, name: str, number: int) -> str:
    return f"make fuzz SEED={seed} ATTACK={name} ROUND={number}"


if __name__ == "__main__":
    sys.exit(main())
