"""Processes that are told to stop, or whose parent has gone."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from arborescence.system import processes
from arborescence.system.processes import STOPS, stoppable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.races,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
]


@pytest.fixture(autouse=True)
def defaults():
    """Signals as in a new process, whatever the tests were started by."""
    before = {number: signal.getsignal(number) for number in STOPS}
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("first", STOPS)
def test_the_first_of_several_signals_is_raised(first: int, monkeypatch) -> None:
    monkeypatch.setattr(processes, "_TOGETHER", float("inf"))
    others = [number for number in STOPS if number != first]
    with stoppable() as came:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(first)
        for number in others:
            signal.raise_signal(number)
    assert came == [first, *others]
    assert {signal.getsignal(number) for number in STOPS} == {signal.SIG_DFL}


def test_each_is_raised_if_there_is_time_between_them(monkeypatch) -> None:
    monkeypatch.setattr(processes, "_TOGETHER", 0.0)
    with stoppable():
        for number in STOPS * 2:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)


def test_what_is_ignored_or_handled_remains_so() -> None:
    found = []
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # by nohup
    signal.signal(signal.SIGTERM, lambda number, _frame: found.append(number))
    with stoppable() as came:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
    assert (found, came) == ([signal.SIGTERM], [])


def test_other_threads_leave_signals_alone() -> None:
    handlers = []

    def look() -> None:
        with stoppable():
            handlers.extend(signal.getsignal(number) for number in STOPS)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handlers == [signal.SIG_DFL] * len(STOPS)


LEFT_ALONE = """
import sys, threading
from arborescence.system.files import replacing
from arborescence.system.processes import end_with

with replacing(sys.argv[1]) as file:
    file.write(b"half")
    end_with(sys.stdin.read)
    print("begun", flush=True)
    threading.Event().wait()
"""


def test_the_end_of_what_is_waited_for_is_the_end(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LEFT_ALONE, tmp_path / "file"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        assert len(list(tmp_path.iterdir())) == 1
        assert process.communicate() == ("", "")
    assert process.returncode == 1
    assert not list(tmp_path.iterdir())
