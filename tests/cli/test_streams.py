"""Closed standard streams, and input that would steer the terminal on which messages end up."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

from arborescence.errors import TreebankError, printable
from command_line import COMMAND, ENVIRONMENT, without_progress
from modes import rarely

if TYPE_CHECKING:
    from pathlib import Path

WORD = "1\tGrow\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, which has a treebank and scores."""
    (tmp_path / "a.conllu").write_text(WORD)
    np.save(tmp_path / "s.npy", np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(folder: Path):
    """Run a command by way of a shell."""

    def shell(arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f'"$0" -m arborescence {arguments}', COMMAND[0]],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
        )

    return shell


@pytest.mark.races
@pytest.mark.parametrize(
    "arguments",
    [
        "draw a.conllu >&-",
        "draw <&-",
        rarely("evaluate a.conllu a.conllu >&-"),
        "evaluate a.conllu - <&-",
        "decode s.npy >&-",
        "trace --treebank a.conllu >&-",
        rarely("trace --treebank a.conllu --json >&-"),
        rarely("--help >&-"),
        "--version >&-",
    ],
)
def test_a_closed_stream_that_is_needed(shell, arguments):
    done = shell(arguments)
    stream = "<stdout>" if ">&-" in arguments else "<stdin>"
    assert done.returncode == 1
    assert without_progress(done.stderr) == f"arborescence: error: {stream}: is closed\n"


@pytest.mark.races
def test_closed_streams_that_are_not_needed(shell, folder):
    assert shell("decode s.npy 2>&-").stdout == "2 0\n"
    assert shell("decode missing.npy 2>&-").returncode == 1
    done = shell("decode s.npy -o h.npy <&- >&- 2>&-")
    assert (done.returncode, done.stdout, without_progress(done.stderr)) == (0, "", "")
    assert np.load(folder / "h.npy").tolist() == [-1, 2, 0]


def test_a_symbolic_link_that_leads_to_itself(command, folder):
    for name in ("loop.svg", "loop.npy"):
        (folder / name).symlink_to(name)
    for arguments in ("decode s.npy -o loop.npy", "draw a.conllu -o loop.svg", "draw loop.svg"):
        said = command(*arguments.split()).complaint()
        name = arguments.split()[-1]
        assert said == f"arborescence: error: {name}: Too many levels of symbolic links\n"
        assert (folder / name).is_symlink()


def test_messages_escape_what_they_quote(command, folder):
    (folder / "b.conllu").write_text("1\x1b[31mx\u202e\x85" + WORD[1:], encoding="utf-8")
    for arguments in ("draw b.conllu", "draw --skip-invalid b.conllu", "evaluate b.conllu a"):
        assert "word number '1\\x1b[31mx\\u202e\\x85' where" in command(*arguments.split()).err
    said = command("draw", "a\x1b[31m\udcff\nb").complaint()
    assert said == "arborescence: error: a\\x1b[31m\\udcff b: No such file or directory\n"
    assert "\x1b" not in command("draw", "--a\x1b[31m").err


def test_errors_of_the_library_escape_it_too():
    assert str(TreebankError("a\x1b[31m\nb\u2066")) == "a\\x1b[31m\\nb\\u2066"
    assert printable("Bäume wachsen \N{EVERGREEN TREE} 木") == "Bäume wachsen \N{EVERGREEN TREE} 木"
    assert printable("x" * 1500) == "x" * 1500
    for character in "9\0":
        long = str(TreebankError(f"some.conllu:1: head '{character * 100_000}': use '_' for none"))
        assert len(long) < 1500
        assert long.startswith("some.conllu:1: head ")
        assert long.endswith("': use '_' for none")
