"""The tools of `make fuzz`: cases become smaller, and what is reported can be had again."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"


@pytest.fixture
def cases(monkeypatch):
    monkeypatch.syspath_prepend(str(FUZZ))
    import cases

    return cases


def test_a_case_becomes_as_small_as_it_can(cases):
    def too_high(case):
        if (case.scores[1:, 1:] > 5).any():
            raise cases.WrongError("too high", case.scores.max())

    scores = np.random.default_rng(0).normal(size=(6, 6))
    scores[2, 4] = 7.5
    [fault] = cases.examine(too_high, cases.Case((scores,), {"root": "multi"}))
    assert fault.what == "too_high: too high"
    *_, graph, options, reason = fault.code().splitlines()
    zeros = "[0.0, 0.0, 0.0]"
    assert graph == f"graph_0 = np.array([{zeros}, [0.0, 0.0, 7.5], {zeros}], np.float64)"
    assert options == "options = {'root': 'multi'}"
    assert reason == "# too high 7.5"
    assert list(cases.examine(too_high, cases.Case((scores / 2,), {}))) == []


def test_any_exception_is_a_fault(cases):
    def divides(case):
        return 1 / len(case.options["list"])

    [fault] = cases.examine(divides, cases.Case((), {"list": []}))
    assert fault.what == "divides: ZeroDivisionError in test_fuzz.py:divides"


def run(folder, body):
    """Run `fuzz` with one attack more, of this text."""
    (folder / "planted.py").write_text(body)
    code = (
        f"import sys; sys.path[:0] = [{str(FUZZ)!r}, {str(folder)!r}]; import rounds, runpy; "
        "rounds.ATTACKS['planted'] = 1; "
        "sys.argv = ['fuzz', '--attack', 'planted', '--seed', '7', '--seconds', '600']; "
        f"runpy.run_path({str(FUZZ / '__main__.py')!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


ENDED = """
from pathlib import Path
def attack(rng):
    rounds = Path(__file__).with_name("rounds")
    with rounds.open("a") as file:
        file.write("x")
    if rounds.stat().st_size == 20:
        raise KeyboardInterrupt
"""


@pytest.mark.races
@pytest.mark.long
def test_a_round_that_crashes_is_a_fault_and_the_next_go_on(tmp_path):
    body = (
        f"import os\n{ENDED}"
        "    if int(rng.integers(3)) == 0:\n"
        "        os.kill(os.getpid(), 11)\n"
        "    return []\n"
    )
    done = run(tmp_path, body)
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if "FAULT" in line]
    assert len(lines) > 1
    assert all(line.endswith("ends the process by SIGSEGV") for line in lines)
    number = lines[0].split()[4].rstrip(":")
    assert f"make fuzz SEED=7 ATTACK=planted ROUND={number}" in done.stdout
    (tmp_path / "rounds").unlink()
    assert run(tmp_path, body).stdout.splitlines()[1] == lines[0]


@pytest.mark.races
@pytest.mark.long
def test_nothing_found(tmp_path):
    done = run(tmp_path, f"{ENDED}    return []\n")
    assert done.returncode == 0
    assert done.stdout.endswith("seed 7: 20 rounds, 0 faults\n")


SHARE = """
import faulthandler
import sharing
from cases import Case

faulthandler.enable()
for name in sharing.CHANGED:
    print(name, flush=True)
    for seed in range(5):
        sharing.changed(Case((), {"call": name, "seed": seed}))
sharing.shared(Case((), {"seed": 0}))
sharing.forked(Case((), {"seed": 0}))
"""


@pytest.mark.races
@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_arrays_that_another_thread_changes_and_forks():
    paths = (
        f"import sys; sys.path[:0] = [{str(FUZZ)!r}, {str(FUZZ.parent / 'tests' / 'support')!r}]"
    )
    command = [sys.executable, "-W", "ignore:.*fork:DeprecationWarning", "-c", paths + SHARE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout.split()[-1:], done.stderr[-3000:])
