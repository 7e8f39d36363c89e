"""Processes that are told to stop, or whose parent has gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from arborescence.system import processes
from arborescence.system.processes import STOPS, stoppable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.races,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
]


@pytest.fixture(autouse=True)
def defaults():
    """Signals as in a new process, whatever the tests were started by."""
    signals = [*STOPS, *processes._ALARM]
    before = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("first", STOPS)
def test_the_first_of_several_signals_is_raised(first: int, monkeypatch) -> None:
    monkeypatch.setattr(processes, "_TOGETHER", float("inf"))
    others = [number for number in STOPS if number != first]

    def work() -> None:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(first)
        for number in others:
            signal.raise_signal(number)

    with stoppable(work.__code__) as came:
        work()
    assert came == [first, *others]
    assert {signal.getsignal(number) for number in STOPS} == {signal.SIG_DFL}


def test_each_is_raised_if_there_is_time_between_them(monkeypatch) -> None:
    monkeypatch.setattr(processes, "_TOGETHER", 0.0)

    def work() -> None:
        for number in STOPS * 2:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)

    with stoppable(work.__code__):
        work()


@pytest.mark.parametrize("number", STOPS)
def test_before_and_after_the_work_they_are_noted(number: int, monkeypatch) -> None:
    monkeypatch.setattr(processes, "_TOGETHER", 0.0)

    def work() -> None:
        pass

    with stoppable(work.__code__) as came:
        signal.raise_signal(number)
        work()
        signal.raise_signal(number)
    assert came == [number, number]


class Finalized:
    """A signal comes while it is deleted, or while what that deletes is."""

    def __init__(self, number: int, others: int = 0) -> None:
        self.number, self.others = number, others

    def __del__(self) -> None:
        if self.others:
            Finalized(self.number, self.others - 1)
        signal.raise_signal(self.number)


def deleted(number: int) -> None:
    Finalized(number)


def deleted_with_others(number: int) -> None:
    Finalized(number, others=2)


def deleted_generator(number: int) -> None:
    def generate() -> Iterator[None]:
        try:
            yield
        finally:
            signal.raise_signal(number)

    next(generate())


#: A callback of LLVM.
within_llvm = FunctionType(
    deleted.__code__, {"__name__": "llvmlite.binding.ffi", "Finalized": signal.raise_signal}
)


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("meet", [deleted, deleted_with_others, deleted_generator, within_llvm])
def test_one_that_cannot_be_raised_at_once_is_raised_later(meet, number: int, capsys) -> None:
    reading, writing = os.pipe()

    def wait() -> None:
        meet(number)
        os.read(reading, 1)  # nobody ever writes

    try:
        with stoppable(wait.__code__) as came, pytest.raises(KeyboardInterrupt):
            wait()
    finally:
        os.close(reading)
        os.close(writing)
    assert set(came) == {number}
    assert capsys.readouterr().err == ""


def test_none_is_raised_after_the_end(monkeypatch) -> None:
    monkeypatch.setattr(processes, "_SOON", 3600.0)
    with stoppable(deleted.__code__) as came:
        deleted(signal.SIGTERM)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert came == [signal.SIGTERM]


def test_what_is_ignored_or_handled_remains_so() -> None:
    found = []
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # by nohup
    signal.signal(signal.SIGTERM, lambda number, _frame: found.append(number))

    def work() -> None:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)

    with stoppable(work.__code__) as came:
        work()
    assert (found, came) == ([signal.SIGTERM], [])


def test_other_threads_leave_signals_alone() -> None:
    handlers = []

    def look() -> None:
        with stoppable(look.__code__):
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
