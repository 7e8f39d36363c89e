"""Does the time grow as n²? Adversarial graphs up to n = 4,000.

Large matrices do not fit the processor's caches, and then reading a column of ``scores[h, d]``
takes longer for each score. So each time also stands beside the time of turning the same matrix
round, which is n² by definition; and graphs are decoded in both layouts.

One process, one thread. ``python benchmarks/growth.py [--quick]``
"""

from __future__ import annotations

import numpy as np

import arborescence as arb
from inputs import ADVERSARIAL
from recording import Results, options
from timing import least_seconds

SIZES = (250, 500, 1000, 2000, 4000)


def main():
    quick = options(__doc__).quick
    results = Results("growth", "decode on graphs that are made to be hard, as they grow", quick)
    rows = []
    for dtype in (np.float32, np.float64):
        for name, make in ADVERSARIAL.items():
            for n in SIZES[: 3 if quick else None]:
                scores = make(n, dtype)
                turned = scores.T.copy().T
                seconds = [
                    least_seconds(call, at_least=2, budget=0.4)
                    for call in (
                        lambda s=scores: s.T.copy(), lambda s=scores: arb.decode(s),
                        lambda s=turned: arb.decode(s),
                    )
                ]  # fmt: skip
                rows.append([name, np.dtype(dtype).name, n, *(1e3 * each for each in seconds)])
    results.table(
        "growth", ["graph", "type", "n", "transpose", "single", "single, [dependent, head]"], rows,
        unit="ms", condition="one graph, exactly one root edge, one thread, least of runs",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
