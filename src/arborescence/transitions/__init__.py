"""Transition systems with static and dynamic oracles: arc-standard, arc-eager, arc-hybrid, swap.

>>> from arborescence.transitions import get_system
>>> print(*get_system("arc-standard").derivation([-1, 2, 0]))
SHIFT SHIFT LEFT-ARC RIGHT-ARC
"""

from arborescence.transitions.system import (
    SYSTEMS,
    State,
    Transition,
    TransitionSystem,
    get_system,
)

__all__ = ["SYSTEMS", "State", "Transition", "TransitionSystem", "get_system"]
