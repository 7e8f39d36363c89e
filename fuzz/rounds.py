"""Rounds of attacks, in turn, and reports of what they find."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import shutil
import time
import traceback
import warnings
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.system.processes import end_with

if TYPE_CHECKING:
    from collections.abc import Callable

#: The attacks, each a module with a function ``attack(rng)`` that yields faults, and their shares
#: of the time.
ATTACKS = {
    "inference": 5,
    "distributions": 4,
    "layouts": 1,
    "large": 2,
    "calls": 1,
    "oracles": 1,
    "repairs": 1,
    "spanning": 1,
    "scores": 1,
    "treebanks": 2,
    "models": 3,
    "packages": 1,
    "odd": 2,
    "strangers": 1,
    "pickles": 1,
    "interrupts": 2,
    "sharing": 2,
    "service": 1,
}
MEMORY = 12 * 2**30  # of address space; more than this is a fault
INTERRUPTED = 130  # the status of a process that Ctrl-C has ended


class Fault(NamedTuple):
    """What an attack found."""

    what: str
    """The same for the same fault of other cases."""
    code: Callable[[], str]
    """Shows a small case."""


class State:
    """What the process of rounds and the one that watches it both see."""

    def __init__(self, context, attacks):
        self.rounds = context.Array("q", attacks, lock=False)  # begun, of each attack
        self.spent = context.Array("d", attacks, lock=False)  # seconds, of each attack
        self.attack = context.Value("q", 0, lock=False)
        self.started = context.Value("d", 0.0, lock=False)  # when the round at hand began
        self.faults = context.Value("q", 0, lock=False)  # different ones
        self.done = context.Value("b", 0, lock=False)


def run(names, seed, stop, state, once, folder):
    """Run rounds until it is time to stop, or one round, in a folder below this one."""
    end_with(multiprocessing.parent_process().join)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    os.environ["ARBORESCENCE_QUIET"] = "1"
    warnings.simplefilter("error")
    place = Path(folder, "round")
    place.mkdir(exist_ok=True)
    os.chdir(place)
    seen = Counter()
    while time.monotonic() < stop:
        # Whose turn it is: the attack that is furthest behind its share.
        turn = min(range(len(names)), key=lambda i: state.spent[i] / ATTACKS[names[i]])
        number = state.rounds[turn]
        state.rounds[turn] += 1
        state.attack.value = turn
        state.started.value = start = time.monotonic()
        try:
            one_round(names[turn], seed, number, seen, state)
        except KeyboardInterrupt:
            os._exit(INTERRUPTED)
        state.started.value = 0.0
        state.spent[turn] += time.monotonic() - start
        if once:
            break
    state.done.value = 1
    for (name, what), count in seen.items():
        if count > 1:
            print(f"  {name}: {what}: {count} times", flush=True)


def one_round(name, seed, number, seen, state):
    """Run a round of an attack in an empty folder, and report what it finds."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    for leftover in Path().iterdir():
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    try:
        for fault in importlib.import_module(name).attack(rng):
            report(fault, name, seed, number, seen, state)
    except Exception as error:  # the attack itself failed, or what it called
        text = traceback.format_exc()
        report(Fault(described(error), lambda: text), name, seed, number, seen, state)


def report(fault, name, seed, number, seen, state):
    """Print a fault that has not been seen before, and count the others."""
    seen[name, fault.what] += 1
    if seen[name, fault.what] > 1:
        return
    state.faults.value += 1
    case = "\n".join(f"    {line}" for line in fault.code().splitlines())
    print(
        f"FAULT in {name}, round {number}: {fault.what}\n"
        f"  make fuzz SEED={seed} ATTACK={name} ROUND={number}\n{case}",
        flush=True,
    )


def described(error):
    """Say where an exception came from: the same text for the same fault."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}:{last.name}"


def on_purpose(error):
    """Tell whether the library itself raised this, and did not run into it."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    return "arborescence" in Path(last.filename).parts and (last.line or "").startswith("raise")
