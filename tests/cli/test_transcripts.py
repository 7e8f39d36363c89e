"""Commands and what they say, as a user sees it: the files in `transcripts`.

A file has tests, each with a heading `## NAME`. What stands before the first heading belongs to all
of them. Each test runs in an empty folder, in this process:

- `--- NAME`, lines and `---` make a file. In CoNLL-U, spaces stand for tabs; a file `.npy` has the
  rows of a matrix. `--- NAME = KIND` makes a small model (`small_parsers`).
- `$ COMMAND` runs a command, and the lines below it are what it says: its standard output, then its
  standard error, then its exit status in brackets, unless it is 0. `...` stands for any text.
  `arborescence`, `cat` and `ls` are known, and `< FILE`, `<<< TEXT` and `> FILE`.

A command with a status of 1 or 2 and a last line `arborescence: error:` says nothing else.

With ACCEPT_TRANSCRIPTS=1 in the environment, what the commands say now is written into the files,
where it differs: look at the changes.
"""

from __future__ import annotations

import os
import re
import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from small_parsers import small_parser

FILES = sorted(Path(__file__).with_name("transcripts").glob("*.txt"))
ACCEPT = os.environ.get("ACCEPT_TRANSCRIPTS") == "1"


class Made(NamedTuple):
    """A file that is made."""

    name: str
    kind: str  # of a model, or nothing
    text: str

    def run(self, _command):
        path = Path(self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.kind:
            small_parser(self.kind).save(path)
        elif path.suffix == ".npy":
            np.save(path, [[float(cell) for cell in row.split()] for row in self.text.splitlines()])
        else:
            words = path.suffix == ".conllu"
            text = re.sub(r"(?m)^\d.*", lambda row: re.sub(" +", "\t", row[0]), self.text)
            path.write_text(text if words else self.text, encoding="utf-8")


class Step(NamedTuple):
    """A command, and what it says."""

    command: str
    said: list[str]

    def run(self, command):
        """Return what it says now."""
        words, given, target = shlex.split(self.command), b"", None
        while len(words) > 2 and words[-2] in ("<", "<<<", ">"):
            how, text = words[-2:]
            if how == ">":
                target = Path(text)
            else:
                given = Path(text).read_bytes() if how == "<" else f"{text}\n".encode()
            del words[-2:]
        if words[0] == "cat":
            return "".join(Path(name).read_text("utf-8") for name in words[1:])
        if words[0] == "ls":
            return "".join(f"{path}\n" for path in sorted(Path().rglob("*")) if path.is_file())
        assert words[0] == "arborescence", self.command
        result = command(*words[1:], stdin=given)
        if result.status and "arborescence: error: " in result.err:
            result.complaint(result.status)
        if target:
            target.write_text(result.out, encoding="utf-8")
        out = "" if target else result.out
        return f"{out}{result.err}" + f"[{result.status}]\n" * (result.status > 0)


@cache
def steps_of(file):
    """Return the steps of each test of a file, by its name."""
    found, said = {"": []}, []
    steps, lines = found[""], iter(file.read_text("utf-8").splitlines())
    for line in lines:
        if line.startswith("## "):
            assert line[3:] not in found, line
            steps = found[line[3:]] = []
            said = []
        elif line.startswith("--- "):
            name, _, kind = line[4:].partition(" = ")
            content = [] if kind else iter(lambda: next(lines), "---")
            steps.append(Made(name, kind, "".join(f"{each}\n" for each in content)))
            said = []
        elif line.startswith("$ "):
            said = []
            steps.append(Step(line[2:], said))
        else:
            said.append(line)
    first = found.pop("")
    return {name: first + steps for name, steps in found.items()}


def matches(said, expected):
    """Tell whether this was expected, with `...` for any text."""
    pattern = ".*".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, said, re.DOTALL) is not None


def accept(file, name, step, said):
    """Write what a command of a test says now into its file."""
    shown = "\n".join([f"$ {step.command}", *step.said]).rstrip("\n")
    before, heading, after = file.read_text("utf-8").partition(f"## {name}\n")
    assert f"{shown}\n" in after, shown
    after = after.replace(f"{shown}\n", f"$ {step.command}\n{said}\n", 1)
    file.write_text(f"{before}{heading}{after}", "utf-8")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        pytest.param(file, name, id=f"{file.stem}: {name}")
        for file in FILES
        for name in steps_of(file)
    ],
)
def test_transcript(file, name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for step in steps_of(file)[name]:
        said = step.run(command)
        if isinstance(step, Made):
            continue
        said, expected = said.rstrip("\n"), "\n".join(step.said).rstrip("\n")
        if ACCEPT and not matches(said, expected):
            accept(file, name, step, said)
        else:
            assert matches(said, expected), f"$ {step.command}\n{said}\n--- expected:\n{expected}"
