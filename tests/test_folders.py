"""A family, or a kind of parser, goes when its folder goes: the rest works without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arborescence
from modes import thinned

PACKAGE = Path(arborescence.__file__).parent

# Uncompiled, which for a graph of five nodes takes less time than compiling does.
WORKS = """
import numpy as np
import arborescence as arb
from arborescence.treebank import Sentence

scores = np.arange(25.0).reshape(5, 5) % 7
scores[0, 1:] -= 9
for projective in (False, True):
    distribution = arb.TreeDistribution(scores, projective=projective)
    print(arb.decode(scores, projective=projective))
    print(arb.kbest(scores, 3, projective=projective)[1])
    print(distribution.log_partition(), distribution.marginals().sum())
    print(distribution.sample(2, rng=0))
english = arb.load("english")
words = Sentence.from_words(["Trees", "grow", "slowly"])
print([parsed.raw for parsed in english.parse([words], confidence=True)])
print([parsed.forms for parsed in english.parse("Old trees grow. Birds don't.")])
"""

# What is deleted; a use of it; what the command line says, for which arguments.
DELETED = {
    "undirected": (
        ("undirected",),
        "arborescence.undirected.spanning_trees",
        None,
    ),
    "second-order": (
        ("second_order", "parsers/second_order"),
        "arborescence.parsers.SecondOrderParser",
        ("train", "second-order", "TREEBANK", "--dev", "TREEBANK", "-o", "MODEL"),
    ),
    "transitions": (
        ("transitions", "parsers/transition"),
        "arborescence.parsers.TransitionParser",
        ("trace", "--treebank", "TREEBANK"),
    ),
    "reranker": (
        ("parsers/reranker",),
        "arborescence.parsers.Reranker",
        None,
    ),
    "integrations": (
        ("integrations",),
        "arborescence.integrations.patch",
        ("integrations",),
    ),
    "phrase structure": (
        ("treebank/phrase_structure",),
        "__import__('arborescence.treebank.phrase_structure')",
        ("convert", "TREEBANK"),
    ),
    "explaining": (
        ("explaining",),
        "arborescence.explain",
        ("explain", "--sentence", "Birds sing"),
    ),
    "page": (
        ("explaining/page",),
        "__import__('arborescence.explaining.page')",
        ("explain", "--exercise", "1", "-o", "REPORT"),
    ),
}


def run(script, package, *arguments):
    settings = {"PYTHONPATH": str(package.parent), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "ignore", *(("-c", script) if script else ()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A copy of the package."""
    copy = tmp_path_factory.mktemp("whole") / "arborescence"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("kernels"))
    return copy


def test_the_rest_works_without_all_of_them(whole, tmp_path):
    expected = run(WORKS, whole)
    assert expected.returncode == 0, expected.stderr
    package = tmp_path / "arborescence"
    shutil.copytree(whole, package)
    for folder in sorted(folder for folders, *_ in DELETED.values() for folder in folders):
        shutil.rmtree(package / folder, ignore_errors=True)  # some stand in others
    done = run(WORKS, package)
    assert done.stdout == expected.stdout, done.stderr


@pytest.mark.parametrize("name", thinned(DELETED, 4))
def test_what_is_lost_is_named(whole, tmp_path, name):
    folders, use, arguments = DELETED[name]
    package = tmp_path / "arborescence"
    shutil.copytree(whole, package)
    for folder in folders:
        shutil.rmtree(package / folder)
    done = run(f"import arborescence; {use}", package)
    lost = "arborescence." + folders[-1].replace("/", ".")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: No module named 'arborescence.")
    assert lost in last

    if arguments:
        paths = {"TREEBANK": "t.conllu", "MODEL": "m", "REPORT": "r.html"}
        (tmp_path / "t.conllu").write_text("1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n")
        command = [str(tmp_path / paths[word]) if word in paths else word for word in arguments]
        done = run(None, package, "-m", "arborescence", *command)
        assert done.returncode == 1
        [line] = done.stderr.splitlines()
        assert line.startswith("arborescence: error: this installation lacks arborescence.")
