"""Other programs, where installed: ``pip install ufal.chu-liu-edmonds stanza torch-struct``."""

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


class TorchStruct:
    """torch-struct, one thread. Its scores are (n, n), with those of root edges on the diagonal."""

    def __init__(self):
        import torch
        import torch_struct

        torch.set_num_threads(1)
        # Distributions without declared constraints are warned about, and checked for nothing.
        torch.distributions.Distribution.set_default_validate_args(False)
        self._torch = torch
        self._kinds = {
            True: torch_struct.DependencyCRF,
            False: torch_struct.NonProjectiveDependencyCRF,
        }

    def arguments(self, batch, lengths=None):
        """Return what `distribution` takes: scores that need gradients, as it fails without."""
        scores = self._torch.from_numpy(batch)
        words = self._torch.arange(scores.shape[1] - 1)
        edges = scores[:, 1:, 1:].clone()
        edges[:, words, words] = scores[:, 0, 1:]
        edges.requires_grad_()
        return (edges,) if lengths is None else (edges, self._torch.from_numpy(lengths))

    def distribution(self, arguments, projective, root="single"):
        """Return a distribution, with `argmax`, `marginals` and `partition`."""
        return self._kinds[projective](*arguments, multiroot=root == "multi")

    def as_edges(self, parts):
        """Return (B, N, N) numbers of edges as a NumPy array in our layout."""
        parts = parts.detach().numpy()
        edges = np.zeros((len(parts), parts.shape[1] + 1, parts.shape[1] + 1))
        edges[:, 1:, 1:] = parts
        words = np.arange(1, edges.shape[1])
        edges[:, 0, 1:] = edges[:, words, words]
        edges[:, words, words] = 0.0
        return edges


def torch_struct():
    """Return a `TorchStruct`, or None."""
    try:
        return TorchStruct()
    except ImportError:
        print("(torch-struct is not installed: left out)")
        return None
