"""Transition-based parsing and learning, slow and obvious: templates are read as they are spelled.

Weights are tables as those of the parser, and whole numbers, so that sums are exact in any order.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from arborescence.parsers.shared.features import COLUMNS, Batch, Sides, hash_bytes
from arborescence.parsers.shared.relations import RelationTemplates, list_rows
from arborescence.parsers.transition.features import PAIRS, templates_of
from arborescence.transitions import State, Transition, get_system

WORD = 2**64
SPREAD = 0x9E3779B97F4A7C15
BINS = [0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 6, 7]


@cache
def odd(atom):
    spelling = np.frombuffer(atom.encode(), dtype=np.uint8)
    return int(hash_bytes(spelling, 0, len(spelling), False)) | 1


class Words:
    """The hashed sides of a sentence's words, by name; None is a word that is not there."""

    def __init__(self, sentence):
        self._sentence = sentence
        self._sides = {}

    def __getitem__(self, side):
        if side not in self._sides:
            none = np.empty(0, dtype=np.uint64)
            batch = Batch.of([self._sentence], Sides.of([side]), none)
            self._sides[side] = batch.sides[:, 0].tolist()
        return self._sides[side]

    def hash(self, side, word):
        return self[side][-1 if word is None else word]


class Parse:
    """What is known of the words in a state."""

    def __init__(self, state, labels):
        self.stack, self.buffer = state.stack, state.buffer
        self.heads = state.tree.tolist()
        self.labels = [-1, *(-1 if x is None else labels.index(x) for x in state.deprels)]

    def children(self, word, side):
        found = [d for d, h in enumerate(self.heads) if h == word]
        return [d for d in found if d < word] if side == "l" else [d for d in found if d > word]

    def find(self, name):
        """Find a word by its name in a template, such as n0 or s0l2; None if it is not there."""
        place, where, second = re.fullmatch(r"([sn]\d)([hlr]?)(2?)", name).groups()
        row = self.stack[::-1] if place[0] == "s" else self.buffer
        word = row[int(place[1])] if int(place[1]) < len(row) else None
        if word is None or not where:
            return word
        if where == "h":
            head = self.heads[word]
            if second and head >= 0:
                head = self.heads[head]
            return head if head >= 0 else None
        children = self.children(word, where)
        if where == "r":
            children.reverse()
        number = 1 if second else 0
        return children[number] if number < len(children) else None

    def know(self, what, word):
        if word is None:
            return -1
        if what == "=":
            return self.labels[word]
        children = self.children(word, "l" if what in "<{" else "r")
        if what in "<>":
            return min(len(children), 6)
        labels = {self.labels[d] for d in children} - {-1}
        return sum(1 << bit for bit in {label % 31 for label in labels})


@dataclass
class Naive:
    """A model: tables of weights, and what they are of."""

    system: str
    columns: tuple
    labels: list
    allowed: np.ndarray
    actions: np.ndarray
    relations: np.ndarray
    root: str = "single"
    swaps: bool = True

    def __post_init__(self):
        fields = "".join(COLUMNS[column] for column in self.columns)
        self._templates = [
            template.split()
            for template in templates_of(self.system)
            if set(re.findall(r"[:,](\w)", template)) <= set(fields)
        ]
        self._sides = []
        self._relation_templates = RelationTemplates.of(self.columns, self._sides)
        self._names = get_system(self.system).actions

    def start(self, sentence):
        return get_system(self.system).start(len(sentence), self.root)

    def legal(self, state):
        return [a for a in state.legal if a != "SWAP" or self.swaps]

    def rows(self, words, state):
        """Return the rows of the state's features."""
        parse = Parse(state, self.labels)
        rows = []
        for template in self._templates:
            value = 0
            for atom in template:
                name, _, what = atom.partition(":")
                if atom == "gap":
                    a, b = map(parse.find, PAIRS[self.system][0])
                    gap = 0 if a is None or b is None else BINS[min(abs(a - b), len(BINS) - 1)]
                    seen = (gap + 2) * SPREAD
                elif what in "=<>{}":
                    seen = (parse.know(what, parse.find(name)) + 2) * SPREAD
                else:
                    seen = words.hash(what, parse.find(name))
                value ^= seen * odd(atom) % WORD
            many = 1 << len(self.actions).bit_length() - 1
            row = value * many // WORD
            large = any(re.search("[:,][wlms]", atom) for atom in template)
            rows.append(many // 8 + row if large else row // 8)
        return rows

    def score(self, words, state):
        """Return what each legal action scores; {} for an only one, which is not scored."""
        legal = self.legal(state)
        if len(legal) < 2:
            return dict.fromkeys(legal, 0)
        sums = self.actions[self.rows(words, state)].sum(axis=0, dtype=np.int64).tolist()
        return {action: sums[self._names.index(action)] for action in legal}

    def edge(self, state, action):
        """Return head and dependent of the edge that an action makes, or None."""
        before = state.tree
        after = state.apply(Transition(action)).tree
        [*dependents] = np.flatnonzero(before != after).tolist()
        return (int(after[dependents[0]]), dependents[0]) if dependents else None

    def relation_rows(self, words, state, head, dependent):
        parse = Parse(state, self.labels)

        def outermost(word, side):
            children = parse.children(word, side)
            return -1 if not children else children[0] if side == "l" else children[-1]

        side = "r" if head < dependent else "l"
        around = [dependent, head, parse.heads[head], outermost(dependent, "l")]
        around += [outermost(dependent, "r"), -1, -1]
        around[5 if side == "r" else 6] = outermost(head, side)
        sides = np.array([words[side] for side in self._sides], dtype=np.uint64).T.copy()
        rows = np.empty(len(self._relation_templates.roles), dtype=np.int64)
        mask = np.uint64(len(self.relations) - 1)
        list_rows(sides, 0, np.array(around), self._relation_templates, mask, rows)
        return rows

    def relation(self, words, state, edge):
        """Return the number of the best relation of an edge that is about to be made."""
        rows = self.relation_rows(words, state, *edge)
        sums = self.relations[rows].sum(axis=0, dtype=np.int64).astype(float)
        sums[~self.allowed[0 if edge[0] == 0 else 1]] = -np.inf
        return int(sums.argmax())

    def go(self, words, state, action):
        """Make an action, with the best relation of the edge."""
        edge = self.edge(state, action)
        label = None if edge is None else self.labels[self.relation(words, state, edge)]
        return state.apply(Transition(action, label)), Transition(action, label)


@dataclass
class Item:
    """A sequence of transitions that a beam follows."""

    state: State
    score: int = 0
    path: tuple = ()
    right: bool = True


def best_of(scores):
    """Return the best of named numbers; of equals, the first."""
    return max(scores, key=scores.get)


def parse_greedily(model, sentence):
    """Return the transitions that look best."""
    words, state = Words(sentence), model.start(sentence)
    path = []
    while not state.finished:
        state, transition = model.go(words, state, best_of(model.score(words, state)))
        path.append(transition)
    return path


def candidates(model, words, items):
    """Return all that the states of a beam can do next, best first; of equals, the first."""
    found = []
    for item in items:
        if item.state.finished:
            found.append((item.score, item, None))
        for action, score in model.score(words, item.state).items():
            found.append((item.score + score, item, action))
    return sorted(found, key=lambda candidate: -candidate[0])


def grown(model, words, score, item, action):
    if action is None:
        return replace(item, score=score)
    state, transition = model.go(words, item.state, action)
    return replace(item, state=state, score=score, path=(*item.path, transition))


def parse_with_beam(model, sentence, width):
    """Return the sequences in the last beam, best first."""
    words = Words(sentence)
    items = [Item(model.start(sentence))]
    while not all(item.state.finished for item in items):
        chosen = candidates(model, words, items)[:width]
        items = [grown(model, words, *candidate) for candidate in chosen]
    return items


def all_sequences(model, sentence):
    """Return every sequence of transitions to its end."""
    words = Words(sentence)
    found, going = [], [Item(model.start(sentence))]
    while going:
        item = going.pop()
        if item.state.finished:
            found.append(item)
        for score, parent, action in candidates(model, words, [item]):
            if action is not None:
                going.append(grown(model, words, score, parent, action))
    return found


def learn(model, treebank, *, epochs, seed, dynamic=False, beam=1):
    """Train by the perceptron; return the averages of both tables over all sentences.

    What is averaged are the weights as each sentence finds them.
    """
    sums = [np.zeros(table.shape) for table in (model.actions, model.relations)]
    for epoch in range(1, epochs + 1):
        order = np.random.default_rng((seed, epoch)).permutation(len(treebank))
        coins = iter(())
        if dynamic and beam == 1:
            count = 2 * sum(map(len, treebank))
            coins = iter(np.random.default_rng((seed, epoch, 1)).random(count).tolist())
        for b in order.tolist():
            sums[0] += model.actions
            sums[1] += model.relations
            if beam > 1:
                _learn_with_beam(model, treebank[b], dynamic, beam)
            else:
                _learn_greedily(model, treebank[b], dynamic, coins, 0.9 if epoch > 1 else 0)
    return [table / (epochs * len(treebank)) for table in sums]


def _learn_greedily(model, gold, dynamic, coins, exploration):
    words, state = Words(gold), model.start(gold)
    oracle = iter(_oracle(model, gold))
    while not state.finished:
        scores = model.score(words, state)
        guess = best_of(scores)
        if dynamic:
            costs = state.costs(gold.tree)
            right = best_of(
                {a: score for a, score in scores.items() if costs[a] == 0 or len(scores) == 1}
            )
            explores = next(coins) < exploration
        else:
            right, explores = next(oracle), False
        if guess != right:
            _move(model, words, state, right, 1)
            _move(model, words, state, guess, -1)
        state = _labelled(model, words, state, guess if explores else right, gold, explores)


def _learn_with_beam(model, gold, dynamic, width):
    words, state = Words(gold), model.start(gold)
    oracle = _oracle(model, gold)
    for action in oracle:
        state = _labelled(model, words, state, action, gold, False)
    items = [Item(model.start(gold))]
    step = 0
    while not all(item.state.finished for item in items):
        found = candidates(model, words, items)
        right = []
        for _, item, action in found:
            fits = action is None or (
                item.state.costs(gold.tree)[action] == 0
                if dynamic
                else oracle[step : step + 1] == [action]
            )
            right.append(item.right and fits)
        fallen = not any(right[:width])
        best_right = found[right.index(True)]
        items = [
            replace(grown(model, words, *candidate), right=fits)
            for candidate, fits in zip(found[:width], right, strict=False)
        ]
        if fallen:
            wanted = grown(model, words, *best_right)
            break
        step += 1
    else:
        wanted = next(item for item in items if item.right)
    if not items[0].right:
        for item, by in ((wanted, 1), (items[0], -1)):
            state = model.start(gold)
            for transition in item.path:
                _move(model, words, state, transition.action, by)
                state = state.apply(transition)


def _oracle(model, gold):
    return [t.action for t in get_system(model.system).derivation(gold.tree, root=model.root)]


def _move(model, words, state, action, by):
    """Move the weights of an action; not where there is no choice."""
    if len(model.legal(state)) > 1:
        column = get_system(model.system).actions.index(action)
        np.add.at(model.actions[:, column], model.rows(words, state), by)


def _labelled(model, words, state, action, gold, guessing):
    """Make an action; learn the relation of its edge if it is right; and give it."""
    edge = model.edge(state, action)
    if edge is None:
        return state.apply(Transition(action))
    label = model.relation(words, state, edge)
    head, dependent = edge
    if gold.tree[dependent] == head:
        right = model.labels.index(gold.deprels[dependent - 1])
        rows = model.relation_rows(words, state, head, dependent)
        if label != right:
            np.add.at(model.relations[:, right], rows, 1)
            np.add.at(model.relations[:, label], rows, -1)
        if not guessing:
            label = right
    return state.apply(Transition(action, model.labels[label]))
