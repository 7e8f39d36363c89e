"""The best tree under constraints, step by step: the search reports its own steps."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.accumulator import BIAS_64, rounded_whole
from arborescence.core.budget import Budget
from arborescence.core.conversion import as_array, as_floats
from arborescence.errors import NoTreeError, OptionError, StoppedError
from arborescence.explaining.problem import number, problem_of
from arborescence.explaining.search_state import Branch, Condition, SearchState
from arborescence.explaining.search_texts import SearchTexts
from arborescence.explaining.steps import Steps
from arborescence.inference.constraints import Constraints
from arborescence.inference.solver import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arborescence.explaining.steps import Step
    from arborescence.inference.branching import Event
    from arborescence.inference.conflicts import Way
    from arborescence.inference.demands import AnyConflict
    from arborescence.inference.levels import LevelScale
    from arborescence.inference.parts import Part

#: The work that an explanation may do by default: 100 decoded trees (see `Budget`).
WORK = 1e6


def explain_constrained(
    scores: Any,
    constraints: Constraints | Callable[..., Sequence[AnyConflict]],
    *,
    words: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    budget: Budget | None = None,
    **which: Any,
) -> Steps:
    """Return the steps by which `solve` finds its tree: demands, prices, conflicts and bounds.

    Parameters
    ----------
    scores
        As in `solve`; one sentence of at most 30 words.
    constraints
        As in `solve`, or a function as in ``Constraints.conflicts``.
    words, labels : list of str, optional
        The words, without the root, and the names of labels, for texts; by default, numbers.
    budget : Budget, optional
        The limit on the work of the search; by default, the work of 100 decoded trees.
    **which
        If `constraints` is a function: `root` and `projective`, as in `Constraints`.

    Returns
    -------
    Steps: a list of Step that draws itself in a notebook
        The last step has the tree and its certificate, or the reason for no tree (``"no-tree"``).

    Raises
    ------
    ScoresError, OptionError
        As in `solve` and `explain`.

    Examples
    --------
    >>> import numpy as np
    >>> from arborescence.rules import Alternative, Edges
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> def conflicts(heads):  # Birds is not the head of sing
    ...     return [[Alternative(forbid=[Edges(1, 2)])]] if heads[2] == 1 else []
    >>> for step in explain_constrained(scores, conflicts, words=["Birds", "sing"]):
    ...     print(step.text)
    The best tree of all weighs 8. No tree that keeps the rules weighs more.
    A conflict has only one alternative: without Birds → sing. From here on, all trees take it.
    The best of all trees has an edge that was banned since. The best tree left weighs 6.
    This tree keeps the rules, and weighs 6.
    No part is left. So this is the best tree that keeps the rules: it weighs 6, certified after \
2 decoded trees.
    """
    array = as_floats(as_array(scores, absent=-np.inf)[0])
    problem = problem_of(array.max(axis=2, initial=-np.inf) if array.ndim == 3 else array, words)
    array = array if array.ndim == 3 else array[..., None]
    size = array.shape[2]
    label_names = tuple(labels or (map(str, range(size)) if size > 1 else ("",)))
    if labels and len(label_names) != size:
        raise OptionError(f"there are {len(label_names)} names of labels, and scores of {size}")
    steps: list[Step] = []
    wanted = constraints
    if not isinstance(wanted, Constraints):
        wanted = Constraints(conflicts=(wanted,), **which)
    elif which:
        raise OptionError(f"{' and '.join(which)} must be among the constraints")
    texts = SearchTexts(wanted, array.shape, problem.words, label_names)

    def tell(event: Event) -> None:
        scale = event.scale
        made = _sorted(_branch(bans, part, scale) for bans, part in event.below)
        waiting = _sorted(_branch(part.bans, part, scale) for part in event.waiting)
        part = _branch(event.part.bans, event.part, scale)
        dues = texts.dues(part)
        state = SearchState(part, made, waiting, label_names, event.nodes, event.rule, dues)
        exact = [Fraction(float(array[edge])) for edge in part.edges]
        steps.append(
            problem.step(
                event.kind,
                texts.of(event.kind, state),
                heads=part.heads,
                weight=number(sum(exact, Fraction(0))),
                looks_at=tuple((h, d) for h, d, _ in state.refused),
                detail=state,
            )
        )

    try:
        solve(scores, wanted, budget=budget or Budget(WORK), watch=tell)
    except (NoTreeError, StoppedError) as error:
        steps.append(problem.step("no-tree", f"There is no such tree: {error}."))
    return Steps(steps)


def _branch(bans: Way, part: Part | None, scale: LevelScale) -> Branch:
    """Return a part of the search as plain data."""
    conditions = tuple(
        Condition(required, *(tuple(axis.tolist()) for axis in axes)) for required, *axes in bans
    )
    if part is None:
        return Branch(conditions)
    gains, scores = scale.split(part.bound)
    bound, paid = rounded_whole(scores, BIAS_64), tuple(sorted(part.paid))
    tree = ((), ()) if part.later else (tuple(part.heads.tolist()), tuple(part.labels.tolist()))
    return Branch(conditions, bound, *tree, paid, tuple(-gain for gain in gains))


def _sorted(parts: Iterable[Branch]) -> tuple[Branch, ...]:
    """Return parts, the highest bound first, parts without a tree last."""
    return tuple(
        sorted(parts, key=lambda part: (part.bound is None, part.levels, -(part.bound or 0)))
    )
