"""Does the time grow as n²? Adversarial graphs up to n = 4,000.

Large matrices do not fit the processor's caches, and then reading a column of ``scores[h, d]``
takes longer for each score. So each time also stands beside the time of turning the same matrix
round, which is n² by definition; and graphs are decoded in both layouts.

One process, one thread. ``python benchmarks/growth.py [--quick]``
"""

from __future__ import annotations

import argparse

import numpy as np

import arborescence as arb
from inputs import ADVERSARIAL
from timing import least_seconds, table


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="only up to n = 1,000")
    sizes = (250, 500, 1000) if options.parse_args().quick else (250, 500, 1000, 2000, 4000)
    for dtype in (np.float32, np.float64):
        for turned in (False, True):
            rows = []
            for name, make in ADVERSARIAL.items():
                seconds, cells = [], []
                for n in sizes:
                    scores = make(n, dtype)
                    plain = least_seconds(lambda s=scores: s.T.copy(), at_least=2)
                    if turned:
                        scores = scores.T.copy().T
                    took = least_seconds(lambda s=scores: arb.decode(s), at_least=2)
                    seconds.append(took)
                    cells.append(f"{took * 1e3:.1f} ({took / n**2 * 1e9:.1f}, {took / plain:.1f}×)")
                power = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
                rows.append([name, *cells, f"{power:.2f}"])
            layout = "[dependent, head]" if turned else "[head, dependent]"
            print(f"### Single root, {np.dtype(dtype).name}, kept as {layout}\n")
            print("Milliseconds (in brackets: ns a score; multiples of turning the matrix)\n")
            table(["graph", *(f"n = {n:,}" for n in sizes), "grows as n to the"], rows)


if __name__ == "__main__":
    main()
