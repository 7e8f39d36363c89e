"""The examples at the end of each help page: at least two of each command run."""

import gzip
import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from inspect import isfunction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, get_args, get_origin
from unittest import mock

import numpy as np
import pytest

from arborescence.cli import run as run_command
from arborescence.cli.app import _MODULES
from arborescence.cli.models import EXAMPLES, all_options, described
from arborescence.cli.options import _parameters_of, _section
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


def function_of(name):
    """The function of a command."""
    module, _, attribute = _MODULES[name].partition(":")
    function = getattr(import_module(f"arborescence.cli.{module}"), attribute or name)
    assert isfunction(function)
    return function


def shown(*words):
    """A help page, on a screen so wide that no line is broken; its columns are parted by spaces."""
    wide = mock.patch.dict(os.environ, COLUMNS="5000")
    with wide, redirect_stdout(io.StringIO()) as page:
        assert run_command([*words, "--help"]) == 0
    return page.getvalue()


@cache
def examples(name):
    """The examples that a command's help shows."""
    words = ("train", "linear") if name == "train" else (name,)
    lines = shown(*words).split("\n Examples", 1)[1].splitlines()
    return [line.strip() for line in lines if line.strip()]


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


@pytest.mark.parametrize("name", sorted({*_MODULES} - {"train"}))
def test_help_is_shown_as_it_is_written(name):
    function = function_of(name)
    texts = [get_args(each.annotation)[1].help for each in _parameters_of(function)
             if get_origin(each.annotation) is Annotated]  # fmt: skip
    page = " ".join(shown(name).split())
    for text in (*filter(None, texts), _section(function)):
        assert " ".join(text.split()) in page
    written = _section(function, "Examples").splitlines()
    assert examples(name) == [line.strip() for line in written if line.strip()]


def test_paragraphs_are_as_wide_as_the_window():
    assert "requests in work have 5 seconds; then they" in shown("serve")
    assert len(re.findall(r"^ V.*  .*", shown("search"), re.MULTILINE)) == 7  # a list


@pytest.mark.parametrize("kind", [None, *TRAINABLE])
def test_help_of_train_is_shown_as_it_is_written(kind):
    page = " ".join(shown("train", kind or "auto").split())
    helps = [each.help for each in all_options(kind).values() if each.command]
    for text in (*helps, described(kind), *EXAMPLES.get(kind, ())):
        assert " ".join(text.split()) in page


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_the_other_commands_have_two_examples(name):
    assert len(examples(name)) == 2


@pytest.mark.parametrize("kind", TRAINABLE)
def test_each_kind_of_parser_has_two_examples(kind):
    assert len(EXAMPLES[kind]) >= 2
    assert all(line.startswith(f"arborescence train {kind} ") for line in EXAMPLES[kind])
