"""Other decoders, if they are installed: ``pip install ufal.chu-liu-edmonds stanza``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np


def _ufal():
    """Cython; no root constraint."""
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    def run(scores):
        heads, _ = chu_liu_edmonds(np.ascontiguousarray(scores.T, np.float64))
        return heads

    return run


def _stanza():
    """NumPy; a single root. Its file is loaded by itself, since the package needs torch."""
    package = importlib.util.find_spec("stanza")
    if package is None:
        raise ImportError("stanza")
    file = Path(package.origin).parent / "models" / "common" / "chuliu_edmonds.py"
    spec = importlib.util.spec_from_file_location("stanza_chuliu_edmonds", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def run(scores):
        heads = module.chuliu_edmonds_one_root(np.array(scores.T))
        heads[0] = -1
        return heads

    return run


def installed():
    """Return {name: decoder of one (N, N) matrix} for the peers that can be imported."""
    found = {}
    for name, load in (("ufal.chu-liu-edmonds", _ufal), ("stanza", _stanza)):
        try:
            found[name] = load()
        except ImportError:
            print(f"({name} is not installed: left out)")
    return found
