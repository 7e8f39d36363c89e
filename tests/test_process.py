"""What belongs to the whole process stays as it is: the caller's, not the library's."""

import subprocess
import sys

SCRIPT = """
import decimal, gc, locale, os, random, signal, sys, threading, warnings
import numpy as np

def state():
    mask = os.umask(0o22)
    os.umask(mask)
    return {
        "umask": mask,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "path": [*sys.path],
        "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "warnings": [*warnings.filters],
        "floats": np.geterr(),
        "printing": np.get_printoptions(),
        "decimals": str(decimal.getcontext()),
        "garbage": (gc.isenabled(), gc.get_threshold()),
        "recursion": sys.getrecursionlimit(),
        "switching": sys.getswitchinterval(),
        "locale": locale.setlocale(locale.LC_ALL),
        "random": (random.getstate(), str(np.random.get_state())),
        "hooks": (sys.excepthook, threading.excepthook, sys.gettrace(), sys.getprofile()),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "threads": threading.active_count(),
    }

if {jit}:
    import numba.core.caching  # it adds filters of its own for warnings
before = state()

import arborescence as arb
from arborescence import drawing, explaining, second_order, transitions, treebank, undirected

scores = np.random.default_rng(0).normal(size=(3, 6, 6))
arb.decode(scores, [5, 4, 3], threads=2), arb.kbest(scores, 3), arb.explain(scores[0])
arb.TreeDistribution(scores).sample(2, 1), arb.TreeDistribution(scores).entropy()
undirected.decode(scores), second_order.decode(scores), arb.decode(scores, projective=True)
heads = transitions.get_system("swap").derivation([-1, 2, 0])
parser = arb.load("english-fast")
sentences = parser.parse("Old trees don't grow. Birds sing.")
treebank.write(sentences, "parsed.conllu")
parser.save("copy.model"), arb.load("copy.model")
after = state()
for name, value in before.items():
    assert after[name] == value, (name, value, after[name])
"""


def test_the_process_stays_as_it_was(tmp_path):
    from modes import NATIVE

    command = [sys.executable, "-c", SCRIPT.replace("{jit}", str(not NATIVE))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
