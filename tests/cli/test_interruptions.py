"""A command that is interrupted between any two calls of Python ends, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("typer", reason="needs the extra 'cli'")

from arborescence.treebank import write
from interrupts import DEFAULTS
from samples import treebank
from small_parsers import small_parser

if TYPE_CHECKING:
    from pathlib import Path

#: This many calls and returns are interrupted of all from where the output is opened, in which
#: kernels are loaded; each fourth of the `LAST` before the work is done; and each fourth after it.
MANY, LAST = 12, 20

# The first child counts them; each other one is interrupted at one.
EACH = f"""{DEFAULTS}
import inspect, os, random, sys
from pathlib import Path
from arborescence import cli

def count(frame, event, _arg):
    global at
    # A deleted generator is called and returns, too. Python handles no signal there.
    at[-1] += event in ("call", "return") and not frame.f_code.co_flags & inspect.CO_GENERATOR
    if (len(at), at[-1]) == place:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGTERM)
    if event == "return" and frame.f_code is cli._run.__code__:
        at.append(0)  # the work is done: from here, the calls are counted from 0 again

def forked(path, flags, *rest):
    global at, place, told
    if not flags & os.O_EXCL:
        return opened(path, flags, *rest)
    places = [None]
    while places:
        at, place = [0], places.pop()
        reading, told = os.pipe()
        if os.fork() == 0:
            os.open = opened
            os.close(reading)
            sys.setprofile(count)
            return opened(path, flags, *rest)
        os.close(told)
        with open(reading) as file:
            said = list(map(int, file.read().split()))
        status = os.waitstatus_to_exitcode(os.wait()[1])
        left = {{file.name: file.read_text() for file in Path("out").iterdir()}}
        for name in left:
            os.remove(Path("out", name))
        if place is None:
            finished, (work, after) = left, said
            places = [(1, n) for n in random.Random(0).sample(range(1, work), {MANY})]
            places += [(1, n) for n in range(work - {LAST}, work, 4)]
            places += [(2, n) for n in range(1, after, 4)]
        elif not said or (len(said), said[-1]) == place:  # not said: the run had ended
            print(status, {{(): "nothing", tuple(finished): "all"}}[tuple(left)], flush=True)
            assert left in ({{}}, finished)
    os._exit(0)

opened, os.open = os.open, forked
status = cli.run(sys.argv[1:])
sys.setprofile(None)
os.write(told, " ".join(map(str, at)).encode())
os._exit(status)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_none_is_lost_and_none_crashes(tmp_path: Path) -> None:
    small_parser("linear").save(tmp_path / "small.npz")
    write(treebank(), tmp_path / "a.conllu")
    (tmp_path / "out").mkdir()
    command = ["parse", "-m", "small.npz", "a.conllu", "-o", "out/b.conllu"]

    def run(*python: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *python, *command],
            cwd=tmp_path,
            env={**os.environ, "ARBORESCENCE_QUIET": "1"},
            capture_output=True,
            text=True,
        )

    assert run("-m", "arborescence").returncode == 0  # kernels are compiled, and kept
    (tmp_path / "out" / "b.conllu").unlink()
    done = run("-c", EACH)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    ends = Counter(done.stdout.splitlines())
    # One that comes at the very end meets no command any more, but Python.
    assert ends.keys() <= {"143 nothing", "143 all", "0 all", f"{-signal.SIGTERM} all"}, done.stderr
    assert ends["143 nothing"] > MANY / 2
    assert ends["0 all"]
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_python_ends_without_a_traceback() -> None:
    code = "from arborescence import cli; cli.run = lambda _: signal.raise_signal(2); cli.main()"
    ended = subprocess.run([sys.executable, "-c", DEFAULTS + code], capture_output=True)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")
