"""Compare native kernels with Numba's JIT: the same results, bit for bit.

    python native/compare.py [LEVEL or FILE ...]

Each side computes the same things in a process of its own, or on another machine, where `--write
FILE` keeps what it found. Sums that may be added in any order
(`reordered_kernel`) depend on the processor: they are compared to nine digits.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64-v2")
SUMS = ("marginals", "log_partition", "entropy", "log_prob", "covariance", "confidence")
TEXT = (
    "The letters she sent were lost. Don't trees grow? Nobody knew what he wanted, and 3.5 "
    "of them didn't ask.\n\nA hearing is scheduled on the issue today!"
)


def graphs(dtype: type) -> list[np.ndarray]:
    """Return graphs of many kinds: ties, absent edges, huge, tiny and nested scores."""
    rng = np.random.default_rng(1)
    found = []
    for n in (1, 2, 3, 5, 8, 13, 25, 40):
        for kind in range(8):
            scores = rng.normal(size=(n + 1, n + 1))
            if kind == 1:
                scores = np.round(scores)
            elif kind == 2:
                scores[0] += 10
            elif kind == 3:
                scores *= 1e30
            elif kind == 4:
                scores *= 1e-30
            elif kind == 5:
                scores[(rng.random(scores.shape) < 0.2) & (np.arange(n + 1)[:, None] > 0)] = -np.inf
            elif kind == 6:
                scores = np.round(scores) + 1e-12 * rng.integers(-2, 3, scores.shape)
            elif kind == 7:
                places = np.arange(n + 1)
                scores += 5 * np.exp2(-np.abs(places[:, None] - places))
            found.append(scores.astype(dtype))
    return found


def compute() -> dict[str, Any]:
    """Return all results by name."""
    import arborescence as arb
    from arborescence import transitions, undirected

    results: dict[str, Any] = {}
    for dtype in (np.float32, np.float64):
        for place, scores in enumerate(graphs(dtype)):
            n = len(scores) - 1
            for root in ("single", "multi"):
                name = f"{dtype.__name__} {place} {root}"
                for layout in (scores, np.asfortranarray(scores), np.repeat(scores, 2, 1)[:, ::2]):
                    heads = arb.decode(layout, root=root)
                    results.setdefault(f"{name} decode", []).append(heads)
                results[f"{name} projective"] = arb.decode(scores, root=root, projective=True)
                results[f"{name} kbest"] = arb.kbest(scores, 7, root=root)
                results[f"{name} kbest projective"] = arb.kbest(
                    scores, 5, root=root, projective=True
                )
                h, d = np.nonzero(np.isfinite(scores) & (np.arange(n + 1) > 0))
                keep = h != d
                results[f"{name} sparse"] = arb.decode_sparse(
                    n, h[keep], d[keep], scores[h[keep], d[keep]], root=root
                )
                results[f"{name} undirected"] = undirected.decode(scores, root=root)
                for projective in (False, True):
                    dist = arb.TreeDistribution(scores, root=root, projective=projective)
                    kind = f"{name} {projective}"
                    results[f"{kind} log_partition"] = dist.log_partition()
                    results[f"{kind} marginals"] = dist.marginals()
                    results[f"{kind} entropy"] = dist.entropy()
                    results[f"{kind} log_prob"] = dist.log_prob(dist.argmax())
                    if np.abs(scores[np.isfinite(scores)]).max() < 1e3:
                        results[f"{kind} sample"] = dist.sample(5, rng=0)
                        results[f"{kind} covariance"] = dist.covariance(np.ones_like(scores))
            results[f"{dtype.__name__} {place} labeled"] = arb.decode_labeled(
                np.stack([scores, scores.T, scores - 1], axis=-1)
            )
            results[f"{dtype.__name__} {place} lifted"] = arb.projectivize(heads)
    rng = np.random.default_rng(2)
    u, v, weight = (rng.integers(0, 60, 400), rng.integers(0, 60, 400), rng.integers(0, 9, 400))
    for algorithm in ("boruvka", "kruskal", "prim", "kkt"):
        results[f"spanning tree {algorithm}"] = undirected.spanning_tree(
            60, u, v, weight.astype(float), algorithm=algorithm
        )
    for system in ("arc-standard", "arc-eager", "arc-hybrid", "swap"):
        results[f"transitions {system}"] = transitions.get_system(system).derivation(
            [-1, 2, 0, 2, 3]
        )
    parser = arb.load("english")
    parsed = list(parser.parse(TEXT))
    results["parsed"] = [str(sentence) for sentence in parsed]
    results["parsed projective"] = [s.tree for s in parser.parse(parsed, projective=True)]
    results["parsed confidence"] = [
        [float(found) for found in re.findall(r"EdgeProb=([\d.]+)", str(sentence))]
        for sentence in parser.parse(parsed, confidence=True)
    ]
    return results


def same(name: str, one: Any, other: Any) -> bool:
    """Tell whether two results are the same, or nearly so if they are sums."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, [name] * len(one), one, other))
    if isinstance(one, str):
        return bool(one == other)
    one, other = np.asarray(one), np.asarray(other)
    if one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes():
        return True
    if one.dtype == object:
        return bool(np.all(one == other))
    return name.endswith(SUMS) and np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True)


def run(folder: Path, name: str, **environment: str) -> dict[str, Any]:
    """Compute in a process with these settings."""
    path = folder / name
    command = [sys.executable, __file__, "--write", str(path)]
    subprocess.run(command, env=os.environ | environment, check=True)
    results: dict[str, Any] = pickle.loads(path.read_bytes())
    return results


def main() -> None:
    """Compare, and fail if anything differs."""
    levels = sys.argv[1:] or LEVELS
    with tempfile.TemporaryDirectory() as scratch:
        truth = run(Path(scratch), "jit", ARBORESCENCE_JIT="1")
        wrong = 0
        for level in levels:
            kept = Path(level)
            found = (
                pickle.loads(kept.read_bytes())
                if kept.is_file()
                else run(Path(scratch), level, ARBORESCENCE_LEVEL=level)
            )
            if not found.pop("native"):
                print(f"{level}: not here, or not for this processor")
                continue
            differ = [
                name
                for name in truth
                if name != "native" and not same(name, truth[name], found[name])
            ]
            rounded = sum(
                name.endswith(SUMS) and pickle.dumps(truth[name]) != pickle.dumps(found[name])
                for name in found
            )
            print(
                f"{level}: of {len(found)} results {len(differ)} differ from the JIT's"
                f", and {rounded} sums differ in their last digits {differ[:5] or ''}"
            )
            wrong += len(differ)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        from arborescence.compiling import native

        Path(sys.argv[2]).write_bytes(
            pickle.dumps(compute() | {"native": native.KERNELS is not None})
        )
    else:
        main()
