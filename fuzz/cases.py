"""Cases: graphs and options, for which a check is made; and smaller ones that fail likewise."""

from __future__ import annotations

import time
from functools import wraps
from inspect import signature
from typing import NamedTuple

import numpy as np

from rounds import Fault, described

SECONDS = 5.0  # for making a case smaller
PATIENCE = 3600.0  # seconds after which a process hangs: busy machines take minutes for a second


class WrongError(AssertionError):
    """What a check says: a text that names the fault, not the case."""


class Case(NamedTuple):
    """What a check looks at."""

    graphs: tuple
    """Scores, (N, N) or (N, N, L) each, of as many nodes; or none."""
    options: dict
    """Plain values: the options of `decode`, numbers, names, lists."""

    @property
    def scores(self):
        return self.graphs[0]

    @property
    def trees(self):
        """The options of `decode`."""
        return {name: self.options[name] for name in ("root", "projective") if name in self.options}

    def code(self):
        """Show the case as Python."""
        graphs = [
            f"graph_{i} = np.array({graph.tolist()}, np.{graph.dtype})"
            for i, graph in enumerate(self.graphs)
        ]
        return "\n".join(["from numpy import inf, nan", *graphs, f"options = {self.options}"])


def examine(check, case):
    """Make a check; yield a fault, with a smaller case, if it fails."""
    fault = failure(check, case)
    if fault is None:
        return
    what, text = fault

    def code():
        small = shrunk(case, lambda other: (failure(check, other) or ("",))[0] == what)
        return f"{small.code()}\n# {(failure(check, small) or (what, text))[1]}"

    yield Fault(f"{check.__name__}: {what}", code)


def examine_laws(case, *laws):
    """Examine laws of `tests/support/laws`, which take a case's graphs and options by name."""
    for law in laws:

        @wraps(law)
        def check(case, law=law):
            wanted = signature(law).parameters
            law(*case.graphs, **{k: v for k, v in case.options.items() if k in wanted})

        yield from examine(check, case)


def failure(check, case):
    """Return what is wrong, in general and in this case, or None."""
    try:
        check(case)
    except WrongError as error:
        what, *more = error.args
        return what, " ".join(map(str, [what, *more]))
    except Exception as error:
        return described(error), f"{type(error).__name__}: {error}"
    return None


def shrunk(case, fails):
    """Return a case that fails too: with fewer words and simpler scores, for some seconds."""
    stop = time.monotonic() + SECONDS
    smaller = True
    while smaller:
        smaller = False
        for candidate in simpler(case):
            if time.monotonic() > stop:
                return case
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def simpler(case):
    """Yield cases that are simpler by one step."""
    if not case.graphs:
        return
    size = len(case.scores)
    for node in range(size - 1, 0, -1):
        if size > 2:
            rest = [x for x in range(size) if x != node]
            yield case._replace(graphs=tuple(g[np.ix_(rest, rest)] for g in case.graphs))
    for i, graph in enumerate(case.graphs):
        for value in (0, 1, -np.inf):
            if value != 0 and graph.dtype.kind != "f":
                continue
            # All scores of a word at once, then one by one.
            groups = [(slice(None), d) for d in range(size)]
            for index in [*groups, *np.ndindex(graph.shape[:2])]:
                old = graph[index]
                # Steps go one way only, so that they end: towards 0, then 1, then no edge.
                if (rank(old) <= RANKS[value]).all():
                    continue
                other = graph.copy()
                other[index] = value
                yield case._replace(graphs=(*case.graphs[:i], other, *case.graphs[i + 1 :]))


RANKS = {0: 0, 1: 1, -np.inf: 2}


def rank(values):
    """Say how complicated scores are."""
    return np.select([values == 0, values == 1, np.isneginf(values)], [0, 1, 2], 3)
