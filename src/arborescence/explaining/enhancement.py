"""Local enhancement of a tree step by step: Levi, Reichart and Rappoport (2016), Section 4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arborescence.explaining.problem import counted, edges_of, number
from arborescence.explaining.steps import Detail, number_name

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

#: The paper's number of rounds of enhancement, and the default of `undirected.decode`.
ROUNDS = 5
#: What an absent edge counts as.
_LOWEST = -1.7976931348623157e308
# As in `undirected.enhance`: a gain that may be due to rounding counts as 0.
_ROUNDING, _TINY = 2.0**-51, 2.0**-1022


@dataclass(frozen=True)
class Change:
    """A change of enhancement: above → between → word becomes above → word → between.

    The gain is None if one of the edges is absent.
    """

    above: int
    between: int
    word: int
    gain: float | None
    made: bool


@dataclass(frozen=True)
class Changes(Detail):
    """The changes that a round looks at."""

    changes: tuple[Change, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each change; those that are made have a star."""
        rows = [["", "path", "becomes", "gain"]]
        for change in self.changes:
            t, u, v = (names[x] for x in (change.above, change.between, change.word))
            made = "*" if change.made else ""
            gain = "an edge is absent" if change.gain is None else number_name(change.gain)
            rows.append([made, f"{t} → {u} → {v}", f"{t} → {v} → {u}", gain])
        return rows


def enhance(problem: Problem, heads: list[int | None]) -> Generator[Step, None, list[int | None]]:
    """Reverse edges where that gains, at most five rounds."""
    for turn in range(1, ROUNDS + 1):
        changes = changes_of(problem, heads)
        made = [change for change in changes if change.made]
        for change in made:
            heads[change.word], heads[change.between] = change.above, change.word
        weight = None
        if all(edge in problem.scores for edge in edges_of(heads)):
            weight = number(problem.weight(heads))
        text = f"Round {turn} of enhancement, by the directed scores: "
        text += (
            f"{counted(len(made), 'edge')} turned around." if made else "no change gains anything."
        )
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
    """Return the changes of a round: of those that share a word the one that gains most is made."""

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

    def comes_first(change: Change) -> bool:
        """Tell whether no other change with one of its words gains more; of equal ones, lowest."""
        mine = {change.between, change.word}
        rivals = [c for c in found if c.word in gains and mine & {c.between, c.word}]
        return change == min(rivals, key=lambda c: (-gains[c.word], c.word))

    return [replace(c, made=c.word in gains and comes_first(c)) for c in found]
