"""The Python interface of transition systems: states, derivations, static and dynamic oracles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.checks import check_root
from arborescence.core.tree import as_rows, projective_kernel, tree_kernel
from arborescence.errors import OptionError, TreeError
from arborescence.transitions import systems
from arborescence.transitions.state import (
    ACTIONS,
    BUFFER,
    COUNTERS,
    END,
    FIELDS,
    FRONT,
    HEAD,
    SIZE,
    STACK,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root


class Transition(NamedTuple):
    """One step of a derivation.

    Attributes
    ----------
    action : str
        ``"SHIFT"``, ``"LEFT-ARC"``, ``"RIGHT-ARC"``, ``"REDUCE"`` or ``"SWAP"``.
    label : str or None
        The label of the edge that the action adds, if any.

    Examples
    --------
    >>> print(Transition("SHIFT"), Transition("LEFT-ARC", "nsubj"))
    SHIFT LEFT-ARC(nsubj)
    """

    action: str
    label: str | None = None

    def __str__(self) -> str:
        return self.action if self.label is None else f"{self.action}({self.label})"


def get_system(name: str) -> TransitionSystem:
    """Return a transition system by its name.

    Parameters
    ----------
    name : {"arc-standard", "arc-eager", "arc-hybrid", "swap"}
        Nivre (2004); Nivre (2003), with the root at the end of the buffer; Kuhlmann,
        Gómez-Rodríguez and Satta (2011); Nivre (2009). In each system, only transitions that lead
        to exactly one root edge are legal, and every sequence of legal transitions ends in a tree.

    Raises
    ------
    OptionError
        If no system has this name.

    Examples
    --------
    >>> hybrid = get_system("arc-hybrid")
    >>> hybrid.actions, hybrid.projective, hybrid.dynamic
    (('SHIFT', 'LEFT-ARC', 'RIGHT-ARC'), True, True)
    """
    if name not in _SYSTEMS_BY_NAME:
        raise OptionError(f"system must be {_either(map(repr, SYSTEMS))}, not {name!r}")
    return _SYSTEMS_BY_NAME[name]


@dataclass(frozen=True)
class TransitionSystem:
    """A transition system: its initial states, derivations and oracle. See `get_system`.

    Attributes
    ----------
    name : str
        One of `SYSTEMS`.
    number : int
        Its index in `SYSTEMS`, which the kernels use.
    actions : tuple of str
        The names of the transitions, in the order of their numbers.
    dynamic : bool
        Whether the system has a dynamic oracle: `State.costs`.
    projective : bool
        Whether the system builds only projective trees. Otherwise it builds all trees.
    """

    name: str
    number: int
    actions: tuple[str, ...]
    dynamic: bool
    projective: bool = True

    def start(self, n: int, root: Root = "single") -> State:
        """Return the initial state of a sentence of n words.

        Parameters
        ----------
        n
            The number of words, the root not counted.
        root : {"single", "multi"}
            Exactly one root edge (the default), or one or more.

        Examples
        --------
        >>> get_system("arc-hybrid").start(3)
        <State [0] [1, 2, 3]>
        >>> get_system("arc-eager").start(3)
        <State [] [1, 2, 3, 0]>
        """
        if n < 0:
            raise OptionError(f"a sentence cannot have {n} words")
        array = np.empty((FIELDS, n + 4), np.int32)
        systems.begin(self.number, array)
        return State(self, check_root(root), array, (None,) * n)

    def derivation(
        self, heads: Any, deprels: Sequence[str] | None = None, root: Root = "single"
    ) -> list[Transition]:
        """Return the static oracle's transitions, which build a tree.

        Parameters
        ----------
        heads : (n + 1,) whole numbers
            A tree, which must be projective if the system is projective.
        deprels
            The label of each word, for the transitions that add edges.
        root : {"single", "multi"}
            As in `start`.

        Returns
        -------
        transitions
            2n transitions; in swap, two more for each SWAP.

        Raises
        ------
        TreeError
            If `heads` is not a tree that the system can build, or the labels do not fit the tree.

        Notes
        -----
        Arc-standard, arc-hybrid and swap add an edge as soon as the dependent has all its
        dependents. Arc-eager adds each edge as soon as possible, and makes REDUCE only if the next
        word has an edge with a node further down the stack (Nivre 2008). Swap makes a SWAP only
        when the component of s0 is complete (Nivre, Kuhlmann and Hall 2009). O(n), and O(1) for
        each SWAP.

        Examples
        --------
        >>> hybrid = get_system("arc-hybrid")
        >>> print(*hybrid.derivation([-1, 2, 0, 2], ["nsubj", "root", "obj"]))
        SHIFT LEFT-ARC(nsubj) SHIFT SHIFT RIGHT-ARC(obj) RIGHT-ARC(root)

        Edges that cross need SWAP:

        >>> print(*get_system("swap").derivation([-1, 2, 0, 1]))
        SHIFT SHIFT SHIFT SWAP RIGHT-ARC SHIFT LEFT-ARC RIGHT-ARC
        """
        tree = self._tree(heads, check_root(root))
        if deprels is not None and len(deprels) != len(tree) - 1:
            raise TreeError(
                f"{len(deprels)} labels do not fit {len(tree) - 1} words; the root has none"
            )
        guide = np.empty((3, len(tree)), np.int32)
        systems.prepare(self.number, tree, guide)
        array = np.empty((FIELDS, len(tree) + 3), np.int32)
        systems.begin(self.number, array)
        transitions = []
        while systems.legal(self.number, array, root == "single"):
            number = systems.oracle(self.number, array, tree, guide)
            _, dependent = systems.arc(self.number, array, number)
            label = None if deprels is None or dependent < 0 else deprels[dependent - 1]
            transitions.append(Transition(self.actions[number], label))
            systems.advance(self.number, array, number, -1)
        return transitions

    def replay(self, n: int, transitions: Iterable[Transition], root: Root = "single") -> State:
        """Return the last state of a derivation, with the complete tree.

        Parameters
        ----------
        n
            The number of words.
        transitions
            A complete derivation.
        root : {"single", "multi"}
            As in `start`.

        Raises
        ------
        OptionError
            If a transition is not legal in its state, or the tree is not complete.

        Examples
        --------
        >>> hybrid = get_system("arc-hybrid")
        >>> last = hybrid.replay(3, hybrid.derivation([-1, 2, 0, 2], ["nsubj", "root", "obj"]))
        >>> last.heads, last.deprels
        (array([2, 0, 2]), ['nsubj', 'root', 'obj'])
        """
        state = self.start(n, root)
        step = 0
        for step, transition in enumerate(transitions, 1):
            try:
                state = state.apply(transition)
            except ValueError as error:
                raise OptionError(f"step {step}: {error}") from None
        if not state.finished:
            raise OptionError(
                f"the tree is not finished after step {step}: {_either(state.legal)} comes next"
            )
        return state

    def _tree(self, heads: Any, single: bool) -> NDArray[np.int64]:
        """Check that the heads are one tree that the system can build; return its head vector."""
        rows, shape = as_rows(heads)
        tree = rows[0] if rows.size else rows
        if shape or tree[0] != -1 or not tree_kernel(tree, single, np.empty(len(tree), np.int64)):
            kind = "one root edge" if single else "root edges"
            raise TreeError(
                f"heads are not a tree with {kind}: each word needs a head, all paths must lead to "
                "the root, and heads[0] is -1"
            )
        if self.projective and not projective_kernel(tree):
            raise TreeError(
                f"edges of the tree cross, and {self.name} builds only projective trees: "
                "projectivize the tree first, or take the system swap"
            )
        return tree


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """A state of a derivation. States are immutable: `apply` returns a new state.

    Examples
    --------
    >>> state = get_system("arc-eager").start(2)
    >>> state = state.apply(Transition("SHIFT"))
    >>> state.legal
    ('LEFT-ARC', 'RIGHT-ARC')
    >>> state.costs([-1, 2, 0])
    {'LEFT-ARC': 0, 'RIGHT-ARC': 2}
    >>> state = state.apply(Transition("LEFT-ARC", "nsubj"))
    >>> state, state.heads, state.deprels
    (<State [] [2, 0]>, array([ 2, -1]), ['nsubj', None])
    """

    #: the transition system
    _system: TransitionSystem
    #: whether exactly one edge leaves the root
    _single: bool
    #: (FIELDS, n + 4): the state, as an array for the kernels
    _array: NDArray[np.int32]
    #: the label of each word so far
    _deprels: tuple[str | None, ...]

    @property
    def stack(self) -> list[int]:
        """The nodes on the stack, its top last."""
        nodes: list[int] = self._array[STACK, : self._array[COUNTERS, SIZE]].tolist()
        return nodes

    @property
    def buffer(self) -> list[int]:
        """The nodes in the buffer, the first node first."""
        front, end = self._array[COUNTERS, [FRONT, END]].tolist()
        nodes: list[int] = self._array[BUFFER, front:end].tolist()
        return nodes

    @property
    def heads(self) -> NDArray[np.int64]:
        """The head of each word, int64 (n,): -1 for words without a head so far."""
        return self.tree[1:]

    @property
    def tree(self) -> NDArray[np.int64]:
        """The head vector as from `decode`, int64 (n + 1,): -1 for the root, then `heads`."""
        return self._array[HEAD, : len(self._deprels) + 1].astype(np.int64)

    @property
    def deprels(self) -> list[str | None]:
        """The label of each word: None if the word has no head yet, or its edge has no label."""
        return list(self._deprels)

    @property
    def legal(self) -> tuple[str, ...]:
        """The legal actions; none if the derivation is complete."""
        mask = systems.legal(self._system.number, self._array, self._single)
        return tuple(
            action for number, action in enumerate(self._system.actions) if mask >> number & 1
        )

    @property
    def finished(self) -> bool:
        """Whether the tree is complete."""
        return not self.legal

    def apply(self, transition: Transition) -> State:
        """Return the state after a transition.

        Raises
        ------
        OptionError
            If the transition is not legal in this state.
        """
        action, label = transition
        if action not in self.legal:
            raise OptionError(f"{action} is not legal in {self}; {_either(self.legal)} is")
        number = self._system.actions.index(action)
        _, dependent = systems.arc(self._system.number, self._array, number)
        deprels = self._deprels
        if dependent > 0:
            deprels = (*deprels[: dependent - 1], label, *deprels[dependent:])
        elif label is not None:
            raise OptionError(f"{transition} adds no edge, so it takes no label")
        array = self._array.copy()
        systems.advance(self._system.number, array, number, -1)
        return replace(self, _array=array, _deprels=deprels)

    def costs(self, heads: Any) -> dict[str, int]:
        """Return the cost of each legal action: the number of additional wrong heads.

        The dynamic oracle (Goldberg and Nivre 2012, 2013): the number of wrong heads in the best
        tree within reach after the action, minus the number in the best tree within reach before
        the action. The costs are exact for trees with a single root edge, too. O(n · stack).

        Parameters
        ----------
        heads : (n + 1,) whole numbers
            A projective tree, with one root edge unless the derivation began with
            ``root="multi"``.

        Raises
        ------
        TreeError
            If `heads` is not a tree of this kind and length.
        OptionError
            If the system has no dynamic oracle (arc-standard and swap).
        """
        if not self._system.dynamic:
            raise OptionError(
                f"{self._system.name} has no dynamic oracle; take arc-eager or arc-hybrid"
            )
        tree = self._system._tree(heads, self._single)
        n = len(self._deprels)
        if len(tree) != n + 1:
            raise TreeError(f"a tree of {len(tree) - 1} words does not fit a sentence of {n} words")
        out = np.empty(ACTIONS, np.int32)
        # Take a copy, because transitions are tried in place.
        systems.costs(self._system.number, self._array.copy(), tree, self._single, out)
        return {action: int(out[self._system.actions.index(action)]) for action in self.legal}

    def __repr__(self) -> str:
        return f"<State {self.stack} {self.buffer}>"


def _either(names: Iterable[str]) -> str:
    *others, last = [*names] or ["nothing"]
    return f"{', '.join(others)} or {last}" if others else last


_ARCS = ("SHIFT", "LEFT-ARC", "RIGHT-ARC")
_SYSTEMS_BY_NAME = {
    system.name: system
    for system in (
        TransitionSystem("arc-standard", systems.ARC_STANDARD, _ARCS, dynamic=False),
        TransitionSystem("arc-eager", systems.ARC_EAGER, (*_ARCS, "REDUCE"), dynamic=True),
        TransitionSystem("arc-hybrid", systems.ARC_HYBRID, _ARCS, dynamic=True),
        TransitionSystem("swap", systems.SWAP_, (*_ARCS, "SWAP"), dynamic=False, projective=False),
    )
}

SYSTEMS: Final = tuple(_SYSTEMS_BY_NAME)
"""The names of the systems, in the order of their numbers."""
