"""Parsers and results go to other processes, as people send them: pickles, joblib, pools.

What large arrays become on the way is read-only, and mapped into memory or part of a buffer.
"""

from __future__ import annotations

import multiprocessing
from functools import partial
from itertools import chain

import numpy as np
import pytest

import arborescence as arb
from arborescence import errors, second_order, transitions
from arborescence.parsers.registry import KINDS as IN_FILES
from arborescence.treebank.phrase_structure.reading import PhraseTree
from compiled import undeclared
from modes import UNCOMPILED
from samples import treebank
from small_parsers import KINDS, parsed, small_parser
from ways import WAYS

SCORES = np.random.default_rng(1).normal(size=(2, 5, 5))


def test_there_is_a_small_parser_of_every_kind():
    # A multilingual parser needs PyTorch to be made: neural/joint/test_multilingual.py sends one.
    assert {small_parser(kind).kind for kind in KINDS} | {"multilingual"} == {*IN_FILES}


@pytest.mark.parametrize("kind", KINDS)
def test_parsers(kind):
    parser = small_parser(kind)
    with undeclared() as found:
        for send in WAYS.values():
            assert parsed(send(parser)) == parsed(parser)
    assert found == []


@pytest.mark.parametrize("name", ["english", "english-fast"])
@pytest.mark.skipif(UNCOMPILED, reason="takes minutes without compiled kernels")
def test_the_models_that_come_along(name):
    parser = arb.load(name)
    text = "Old trees don't grow. Birds sing in the old trees."
    right = [*map(bytes, parser.parse(text))]
    with undeclared() as found:
        for way in WAYS.keys() & {"buffers", "joblib"}:
            assert [*map(bytes, WAYS[way](parser).parse(text))] == right
    assert found == []


def _seen(sentence):
    return bytes(sentence), sentence.tree.tolist(), sentence.source, sentence.line, sentence.forms


def _drawn(dist):
    return dist.marginals().tolist(), dist.argmax().tolist(), dist.sample(2, 0).tolist()


def _listed(arrays):
    return [np.asarray(array).tolist() for array in arrays]


#: What makes an object that the library gives, and what is to be the same of a copy.
RESULTS = {
    "a sentence": (lambda: treebank()[0], _seen),
    "a distribution": (lambda: arb.TreeDistribution(SCORES, [4, 3]), _drawn),
    "second-order trees": (lambda: second_order.decode(SCORES), _listed),
    "second-order sums": (lambda: second_order.sum_trees(SCORES), _listed),
    "steps": (lambda: arb.explain(SCORES[0]), repr),
    "a derivation": (lambda: transitions.get_system("swap").derivation([-1, 2, 0]), repr),
    "a phrase": (
        lambda: PhraseTree("NP", [PhraseTree("DT", word="the"), PhraseTree("NN", word="tree")]),
        str,
    ),
}


@pytest.mark.parametrize("what", RESULTS)
def test_results(what):
    make, shown = RESULTS[what]
    value = make()
    with undeclared() as found:
        for send in WAYS.values():
            assert shown(send(value)) == shown(value)
    assert found == []


class OwnError(arb.ScoresError):
    """An error class of a caller's."""


ERRORS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and not issubclass(each, Warning)
]


@pytest.mark.parametrize("kind", [*ERRORS, OwnError], ids=lambda kind: kind.__name__)
def test_errors(kind):
    error = kind("no edge\x1b enters word 3")
    error.add_note("of my graph")
    error.word = 3
    if isinstance(error, ImportError):
        error.name, error.path = "numba", "here"
    for send in WAYS.values():
        other = send(error)
        assert type(other) is kind
        assert other.args == error.args == ("no edge\\x1b enters word 3",)
        assert str(other) == str(error)
        assert vars(other) == vars(error) == {"__notes__": ["of my graph"], "word": 3}
        assert getattr(other, "name", None) == getattr(error, "name", None)


def test_the_libraries_own_errors_have_public_names():
    assert {f"{kind.__module__}.{kind.__name__}" for kind in ERRORS} == {
        f"arborescence.{name}" for name in vars(arb)["__all__"] if name.endswith("Error")
    }
    assert OwnError.__module__ == __name__


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of a fork beside threads
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(method):
    parsers = list(map(small_parser, KINDS))
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(parsed, parsers) == list(map(parsed, parsers))


@pytest.mark.long
def test_joblib():
    joblib = pytest.importorskip("joblib")
    parsers = [*map(small_parser, KINDS), arb.load("english-fast")]
    pool = joblib.Parallel(n_jobs=2, max_nbytes=1)
    assert pool(map(joblib.delayed(parsed), parsers)) == list(map(parsed, parsers))
    # Its processes would stay for the next call.
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)


@pytest.mark.long
def test_a_data_loader():
    data = pytest.importorskip("torch.utils.data")
    for kind in ("linear", "beam", "biaffine"):
        parser = small_parser(kind)
        loader = data.DataLoader(
            treebank(), batch_size=3, num_workers=1, multiprocessing_context="spawn",
            collate_fn=partial(parsed, parser),
        )  # fmt: skip
        assert list(chain.from_iterable(loader)) == parsed(parser)
