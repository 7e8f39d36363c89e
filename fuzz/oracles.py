"""Transition systems and their oracles, and lifting, on random trees."""

from __future__ import annotations

import numpy as np

import arborescence as arb
from arborescence.transitions import SYSTEMS, Transition, get_system
from cases import Case, WrongError, examine
from every_derivation import EveryWay


def attack(rng):
    for _ in range(10):
        root = str(rng.choice(["single", "multi"]))
        heads = random_tree(rng, int(rng.integers(1, 25)), root)
        case = Case((), {"heads": heads, "root": root, "seed": int(rng.integers(10**6))})
        yield from examine(lifting, case)
        for name in SYSTEMS:
            yield from examine(derivation, case._replace(options={**case.options, "system": name}))
    name = str(rng.choice(["arc-eager", "arc-hybrid"]))
    heads = random_tree(rng, int(rng.integers(1, 6)), root)
    options = {"heads": heads, "root": root, "system": name, "seed": int(rng.integers(10**6))}
    yield from examine(costs, Case((), options))


def random_tree(rng, n, root):
    """Words in any order, each below one that came before it."""
    order = (rng.permutation(n) + 1).tolist()
    heads = [-1] * (n + 1)
    for i, word in enumerate(order):
        above = order[:i] if root == "single" else [0, *order[:i]]
        heads[word] = int(rng.choice(above)) if above else 0
    return heads


def lifting(case):
    heads, root = case.options["heads"], case.options["root"]
    labels = [f"l{d % 3}" for d in range(1, len(heads))]
    lifted, marked = arb.projectivize(heads, labels)
    if not (arb.is_projective(lifted) and arb.is_tree(lifted, root=root)):
        raise WrongError("projectivize returns no projective tree", lifted.tolist())
    for d, (old, new) in enumerate(zip(heads, lifted.tolist(), strict=True)):
        while old != new and old > 0:
            old = heads[old]
        if old != new:
            raise WrongError("a new head is no ancestor of the old one", d, lifted.tolist())
    back, plain = arb.deprojectivize(lifted, marked)
    if not arb.is_tree(back, root="multi") or plain != labels:
        raise WrongError("deprojectivize returns no tree, or other labels", back.tolist(), plain)
    if arb.is_projective(heads) and back.tolist() != heads:
        raise WrongError("a projective tree is changed", back.tolist())


def derivation(case):
    name, root = case.options["system"], case.options["root"]
    heads = case.options["heads"]
    known = get_system(name)
    if known.projective and not arb.is_projective(heads):
        try:
            known.derivation(heads, root=root)
        except arb.TreeError:
            heads = arb.projectivize(heads).tolist()
        else:
            raise WrongError("no TreeError for crossing edges")
    labels = [f"l{d % 3}" for d in range(1, len(heads))]
    steps = known.derivation(heads, labels, root=root)
    found = known.replay(len(heads) - 1, steps, root=root)
    if found.tree.tolist() != heads or found.deprels != labels:
        raise WrongError("the derivation makes another tree", found.tree.tolist())
    # Any legal transitions end in a tree of the system's kind.
    rng = np.random.default_rng(case.options["seed"])
    state = known.start(len(heads) - 1, root)
    for _ in range(4 * len(heads) ** 2):
        if state.finished:
            break
        state = state.apply(Transition(str(rng.choice(state.legal))))
    if state.finished and not arb.is_tree(state.tree, root=root):
        raise WrongError("legal transitions end in no tree", state.tree.tolist())
    if known.projective and not (state.finished and arb.is_projective(state.tree)):
        raise WrongError("legal transitions do not end in a projective tree", state.tree.tolist())


def costs(case):
    """The dynamic oracle, against all ways in which a derivation can go on."""
    root, rng = case.options["root"], np.random.default_rng(case.options["seed"])
    heads = arb.projectivize(case.options["heads"])
    state = get_system(case.options["system"]).start(len(heads) - 1, root)
    for _ in range(int(rng.integers(0, 2 * len(heads)))):
        if not state.finished:
            state = state.apply(Transition(str(rng.choice(state.legal))))
    ways = EveryWay(state)
    right = ways.costs(heads)[ways.first]
    if state.costs(heads) != right:
        raise WrongError("costs", state, state.costs(heads), right)
