"""All ways in which a derivation can go on: the slow and obvious dynamic oracle."""

import numpy as np

from arborescence.transitions import Transition


class EveryWay:
    """All states that can be reached from one, and the trees in which they can end."""

    def __init__(self, start):
        self.trees, self.states, self.next = {}, {}, {}
        self.first = self._visit(start)

    def _visit(self, state):
        key = (*state.stack, -2, *state.buffer, *state.tree.tolist())
        if key not in self.states:
            self.states[key] = state
            self.next[key] = {
                action: self._visit(state.apply(Transition(action))) for action in state.legal
            }
            ends = [self.trees[after] for after in self.next[key].values()]
            self.trees[key] = np.unique(np.concatenate(ends or [[state.tree]]), axis=0)
        return key

    def costs(self, heads):
        """Of each state, what its transitions cost."""
        loss = {key: (trees != heads).sum(axis=1).min() for key, trees in self.trees.items()}
        return {
            key: {action: loss[after] - loss[key] for action, after in self.next[key].items()}
            for key in self.states
        }
