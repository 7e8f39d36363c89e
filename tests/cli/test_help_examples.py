"""The examples at the end of each help page: at least two of each command run."""

import gzip
import os
import shlex
import shutil
import subprocess
import tempfile
from inspect import isfunction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from arborescence.cli.app import _MODULES
from arborescence.cli.models import EXAMPLES
from arborescence.cli.options import examples_of
from arborescence.parsers import LinearParser, Tagger
from arborescence.parsers.shared.options import TRAINABLE
from arborescence.parsers.text import Text
from arborescence.treebank import write
from command_line import COMMAND, ENVIRONMENT
from modes import FEW
from samples import treebank
from small_parsers import small_parser

RULES = """\
[[rule]]
kind = "at-most-one"
name = "one-subject"
relations = ["nsubj"]
"""
TEXT = "The old trees grow slowly. She ate the bread."
#: What runs until somebody ends it, and what compiles every kernel.
ELSEWHERE = {"serve", "warmup"}
OURS = {"arborescence"}


def examples(name):
    """The examples of a command's help."""
    if name == "train":
        return list(EXAMPLES[None] + EXAMPLES["linear"])
    module, _, attribute = _MODULES[name].partition(":")
    function = getattr(__import__(f"arborescence.cli.{module}", fromlist=["x"]), attribute or name)
    assert isfunction(function)
    shown = examples_of(function)
    return [line.split("[cyan]")[1].split("[/cyan]")[0] for line in shown.splitlines()[2:] if line]


def shell_words(line):
    """The words of a line, with the signs of a shell as words of their own."""
    return list(shlex.shlex(line, posix=True, punctuation_chars="|>&"))


def programs(line):
    """The programs that a line runs."""
    words = ["|", *shell_words(line)]
    return {word for sign, word in pairwise(words) if sign in ("|", "&&")}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    """A folder with what the examples read."""
    folder = tmp_path_factory.mktemp("sandbox")
    sentences = treebank()
    for name in ("treebank", "gold", "parsed", "other", "test", "train", "dev", "old", "new",
                 "predicted", "first", "second", "third", "letters", "a", "old-sample",
                 "new-sample"):  # fmt: skip
        write(sentences, folder / f"{name}.conllu")
    write(sentences, folder / "b.conllu.gz")
    for bank, code in (
        ("UD_French-Sequoia", "fr"),
        ("UD_Portuguese-Bosque", "pt"),
        ("UD_Turkish-IMST", "tr"),
    ):
        (folder / bank).mkdir()
        for part in ("train", "dev", "test"):
            write(sentences, folder / bank / f"{code}_x-ud-{part}.conllu")
        (folder / bank / "README.md").write_text("# Summary\n\nLicense: CC BY-SA 4.0\n")
        (folder / bank / "LICENSE.txt").write_text("CC BY-SA 4.0")
    (folder / "treebank").mkdir()
    write(sentences, folder / "treebank" / "x.conllu")
    for name in ("letter", "novel"):
        (folder / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    for name in ("sentences", "mektup"):
        (folder / f"{name}.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "decisions.jsonl").write_text("", encoding="utf-8")
    (folder / "rules.toml").write_text(RULES, encoding="utf-8")
    (folder / "trees").mkdir()
    for name in ("trees.mrg", "trees/one.mrg"):
        (folder / name).write_text("( (S (NP (NNS Birds)) (VP (VBP sing))) )", encoding="utf-8")
    (folder / "texts").mkdir()
    write(sentences, folder / "texts" / "a.conllu")
    how = {"text": Text.train(sentences), "tagger": Tagger.train(sentences, epochs=1)}
    parser = LinearParser.train(sentences, bits=10, epochs=1, **how)
    write(parser.parse(sentences, confidence=True), folder / "converted.conllu")
    for name in ("old.npz", "pt.npz", "my.model", "turkish.model", "graph.model"):
        parser.save(folder / name)
    small_parser("greedy").save(folder / "transition.model")
    scores = np.random.default_rng(0).normal(size=(6, 6))
    np.save(folder / "scores.npy", scores)
    np.savetxt(folder / "scores.csv", scores, delimiter=",")
    np.savez(folder / "batch.npz", scores=scores[None], lengths=[5])
    return folder


@pytest.fixture
def run(command, sandbox, tmp_path, monkeypatch):
    """Run an example in a new folder: in this process, or by a shell if it needs one."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "arborescence"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    def run(line):
        folder = Path(tempfile.mkdtemp(dir=tmp_path)) / "sandbox"
        shutil.copytree(sandbox, folder)
        monkeypatch.chdir(folder)
        words = shell_words(line)
        if words[0] == "arborescence" and not {*words} & {"|", ">", "&&"} and "*" not in line:
            done = command(*shlex.split(line)[1:])
            assert done.status == 0, (line, done.err)
            return
        script = ["bash", "-euo", "pipefail", "-c", line]
        subprocess.run(script, check=True, capture_output=True, env={**ENVIRONMENT, **os.environ})

    return run


@pytest.mark.parametrize("name", sorted(set(_MODULES) - ELSEWHERE))
def test_two_examples_run(run, name):
    lines = [each for each in examples(name) if all(map(shutil.which, programs(each) - OURS))]
    assert sum(f"arborescence {name}" in line for line in lines) >= 1
    assert len(lines) >= 2
    for line in lines[: 1 if FEW else 2]:
        run(line)


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_the_other_commands_have_two_examples(name):
    assert len(examples(name)) == 2


@pytest.mark.parametrize("kind", TRAINABLE)
def test_each_kind_of_parser_has_two_examples(kind):
    assert len(EXAMPLES[kind]) >= 2
    assert all(line.startswith(f"arborescence train {kind} ") for line in EXAMPLES[kind])
