"""One thread means one thread, and the user's libraries keep their own.

A test's process has one thread for NumPy anyway. So these count in processes of their own.
"""

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import arborescence
from arborescence.parsers.shared.base import _run
from modes import UNCOMPILED
from waking import SCHEDSTAT, unlimited

counted = pytest.mark.skipif(
    UNCOMPILED or not SCHEDSTAT.exists(),
    reason="counts the threads of compiled code, by Linux",
)
two_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="with one core, no library starts threads",
)

BEGIN = """
import threading
import numpy as np
import arborescence as arb
from samples import treebank
from small_networks import sentences
from small_parsers import small_parser
from tiny_networks import random_parser
from waking import times, woken

square = np.ones((1500, 1500), np.float32)
own = lambda: square @ square
sizes = dict(word=100, letter=32, filters=100, tag=32, hidden=200, arc=300, label=64)
many = sentences([25] * 160)
"""


def run(script, **environment):
    """Run a script in a process that may have as many threads as there are cores."""
    command = [sys.executable, "-c", BEGIN + script]
    done = subprocess.run(
        command, env=unlimited() | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


PARSERS = {
    "biaffine": "random_parser(treebank(), **sizes)",
    "mlp": "random_parser(treebank(), scorer='mlp', **sizes)",
    "linear": "small_parser('linear')",
    "english": "arb.load('english')",
}


@counted
@two_cores
@pytest.mark.parametrize("name", PARSERS)
def test_parsing_wakes_no_thread(name):
    """Not even with text, k-best lists, rules and probabilities; and NumPy's threads stay."""
    if name == "english":
        pytest.importorskip("arborescence_en", reason="needs arborescence-en")
    run(f"""
parser = {PARSERS[name]}
list(parser.parse(many[:20], confidence=True))
theirs = woken(own)
assert theirs, "NumPy has one thread: this shows nothing"
assert not woken(lambda: {PARSERS[name]})
assert not woken(lambda: list(parser.parse(many, confidence=True)))
assert not woken(lambda: list(parser.kbest(many[:40], 3, rules="none")))
assert woken(own) == theirs
""")


@counted
@two_cores
def test_the_users_threads_during_parses_and_after_errors():
    run("""
parser = random_parser(treebank(), **sizes)
list(parser.parse(many[:20]))
theirs = woken(own)
assert theirs
found, parsing, enough = [], threading.Barrier(3), threading.Event()

def parse():
    list(parser.parse(many[:50]))
    parsing.wait()
    while not enough.is_set():
        list(parser.parse(many[:50]))

def broken():
    yield from many
    assert woken(own) >= theirs  # between two batches
    raise ValueError

threads = [threading.Thread(target=parse) for _ in range(2)]
for thread in threads:
    thread.start()
parsing.wait()
try:
    for _ in range(5):
        before = times()
        own()
        now = times()
        found.append(all(now[thread] != before[thread] for thread in theirs))
finally:
    enough.set()
for thread in threads:
    thread.join()
assert all(found) and woken(own) == theirs
for threads in (1, 3):
    try:
        list(parser.parse(broken(), threads=threads))
    except ValueError:
        pass
    else:
        raise AssertionError
    assert woken(own) == theirs
try:
    from threadpoolctl import threadpool_info
except ImportError:
    pass
else:
    before = threadpool_info()
    assert any(pool["num_threads"] > 1 for pool in before)
    seen = []
    list(parser.parse(map(lambda each: seen.append(threadpool_info()) or each, many)))
    assert all(each == before for each in [*seen, threadpool_info()])
""")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_so_many_threads_and_no_more(threads):
    """All of them work at the same time, the calling one among them."""
    meeting, seen = threading.Barrier(threads), set()

    def parse(batch):
        seen.add(threading.get_ident())
        if batch[0] < threads:
            meeting.wait()
        return batch

    numbers = list(range(40))
    assert list(_run(parse, ([number] for number in numbers), threads)) == numbers
    assert len(seen) == threads
    assert threading.get_ident() in seen


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_what_comes_before_an_error_is_there(threads):
    def parse(batch):
        if batch[0] == 10:
            raise ValueError("the tenth")
        return batch

    found = _run(parse, ([number] for number in range(40)), threads)
    assert [next(found) for _ in range(10)] == list(range(10))
    with pytest.raises(ValueError, match="the tenth"):
        next(found)


def test_no_product_is_left_to_numpy():
    """Each is a sum of `core.products`, or of PyTorch within `own_threads`, or is no BLAS's."""
    root = Path(arborescence.__file__).parent
    names = {"dot", "vdot", "inner", "matmul", "tensordot", "linalg", "convolve", "correlate"}
    found = set()
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            product = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(
                node.op, ast.MatMult
            )
            named = isinstance(node, ast.Attribute) and node.attr in names
            if product or (named and ast.unparse(node.value) not in ("self", "sizes")):
                found.add(path.relative_to(root).as_posix())
    joint = {f"parsers/neural/joint/{name}.py" for name in ("network", "training")}
    assert found == {"distribution/tensors.py", "parsers/neural/network.py", *joint}


TRAINED = """
import torch
from concurrent.futures import ThreadPoolExecutor
from arborescence.parsers import BiaffineParser
from tiny_networks import TINY

def of_new():
    with ThreadPoolExecutor(1) as new:
        return new.submit(torch.get_num_threads).result()

def train(seen, fail=False, **settings):
    def progress(*_):
        seen.append((torch.get_num_threads(), of_new()))
        if fail:
            raise KeyError
    BiaffineParser.train(treebank(), epochs=1, progress=progress, **TINY, **settings)
"""


def test_training_has_one_thread_unless_more_are_asked_for():
    """Other threads have the user's number of threads meanwhile, and all have after an error."""
    pytest.importorskip("torch")
    run(
        TRAINED
        + """
torch.set_num_threads(4)
for asked, wanted in (({}, 1), ({"threads": 1}, 1), ({"threads": 3}, 3)):
    for fail in (False, True):
        seen = []
        try:
            train(seen, fail, **asked)
        except KeyError:
            assert fail
        assert seen and set(seen) == {(wanted, 4)}, seen
        assert (torch.get_num_threads(), of_new()) == (4, 4)
with ThreadPoolExecutor(2) as pool:
    both = [[], []]
    list(pool.map(train, both))
# A thread that begins while another training begins may have its number for a moment.
assert {own for seen in both for own, _ in seen} == {1}
assert (torch.get_num_threads(), of_new()) == (4, 4)
"""
    )


@counted
@two_cores
def test_pytorch_wakes_no_thread():
    pytest.importorskip("torch")
    run(
        TRAINED
        + """
big = torch.ones(1500, 1500)
assert woken(lambda: big @ big), "PyTorch has one thread: this shows nothing"
parser = random_parser(treebank(), **sizes).to("cpu")
list(parser.parse(many[:20]))
assert not woken(lambda: list(parser.parse(many)))
train([])
big = treebank() * 10
assert not woken(lambda: BiaffineParser.train(big, epochs=1, **sizes))
"""
    )


@counted
@two_cores
def test_an_encoder_wakes_no_thread(tmp_path):
    pytest.importorskip("transformers")
    run(
        """
from pathlib import Path
from arborescence.parsers.neural.encoder import Encoder
from tiny_encoders import make_bert, WORDS

encoder = Encoder.load(make_bert(Path({folder!r}) / "bert"), layers=2)
words = [[word + str(number)] for number in range(2000) for word in WORDS]
assert woken(lambda: encoder.tokenizer([word for [word] in words])), "this shows nothing"
encoder.features(words[:10])
assert not woken(lambda: encoder.features(words))
""".replace("{folder!r}", repr(str(tmp_path)))
    )
