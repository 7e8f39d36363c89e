"""Local enhancement of a tree step by step: Levi, Reichart and Rappoport (2016), Section 4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arborescence.explaining.problem import edges_of, number
from arborescence.explaining.steps import Detail, number_name

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

#: The number of rounds in the paper.
ROUNDS = 5
#: What an absent edge counts as.
_LOWEST = -1.7976931348623157e308
# As in `undirected.enhance`: a gain that may be due to rounding counts as 0.
_ROUNDING, _TINY = 2.0**-51, 2.0**-1022


@dataclass(frozen=True)
class Change:
    """Above → between → word becomes above → word → between."""

    # the gain is None if an edge is absent

    above: int
    between: int
    word: int
    gain: float | None
    made: bool


@dataclass(frozen=True)
class Changes(Detail):
    """The changes that a round looks at; one or none is made."""

    changes: tuple[Change, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each change; the one that is made has a star."""
        rows = [["", "path", "becomes", "gain"]]
        for change in self.changes:
            t, u, v = (names[x] for x in (change.above, change.between, change.word))
            made = "*" if change.made else ""
            gain = "an edge is absent" if change.gain is None else number_name(change.gain)
            rows.append([made, f"{t} → {u} → {v}", f"{t} → {v} → {u}", gain])
        return rows


def enhance(problem: Problem, heads: list[int | None]) -> Generator[Step, None, list[int | None]]:
    """Make the best change of edges as long as it gains, at most five times."""
    for turn in range(1, ROUNDS + 1):
        changes = changes_of(problem, heads)
        made = [change for change in changes if change.made]
        for change in made:  # one, or none
            heads[change.word], heads[change.between] = change.above, change.word
        weight = None
        if all(edge in problem.scores for edge in edges_of(heads)):
            weight = number(problem.weight(heads))
        text = f"Round {turn} of enhancement, by the directed scores: "
        text += "the best change is made." if made else "no change gains anything."
        yield problem.step(
            "enhance",
            text,
            heads=tuple(heads),
            weight=weight,
            looks_at=tuple(
                cell
                for c in changes
                for cell in (
                    (c.above, c.between),
                    (c.between, c.word),
                    (c.above, c.word),
                    (c.word, c.between),
                )
            ),
            detail=Changes(tuple(changes)),
        )
        if not made:
            break
    return heads


def changes_of(problem: Problem, heads: Sequence[int | None]) -> list[Change]:
    """Return the changes of a round: the one that gains most is made; of equal ones, the first."""

    def quarter(h: int, d: int) -> float:  # of a score: no difference overflows
        score = problem.scores.get((h, d))
        return 0.25 * (_LOWEST if score is None else float(score))

    gains: dict[int, float] = {}
    found = []
    for v, u in enumerate(heads):
        if v == 0 or u is None or u <= 0:
            continue
        t = heads[u]
        if t is None:
            raise AssertionError(f"{u} has no head")
        entering = quarter(t, v) - quarter(t, u)
        between = quarter(v, u) - quarter(u, v)
        if entering + between > _ROUNDING * (abs(entering) + abs(between)) + _TINY:
            gains[v] = entering + between
        known = all(edge in problem.scores for edge in ((t, u), (u, v), (t, v), (v, u)))
        gain = 4 * (entering + between) if known else None
        found.append(Change(t, u, v, gain, made=False))

    best = max(gains, key=lambda v: (gains[v], -v), default=None)
    return [replace(c, made=c.word == best) for c in found]
