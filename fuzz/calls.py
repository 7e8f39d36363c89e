"""Public functions with arguments that make no sense: an answer, or an error on purpose."""

from __future__ import annotations

import itertools
import pickle

import numpy as np

import arborescence as arb
from arborescence import undirected
from arborescence.rules import Alternative, Edges
from arborescence.transitions import get_system
from cases import Case, WrongError, examine
from rounds import on_purpose

NUMBERS = (-1, 0, 1, 2, 7, 2**31, 2**62, 2**63, 2**64, 10**30, 0.5, 2.0, np.nan, True, None, "3")


def attack(rng):
    for _ in range(40):
        name = str(rng.choice([*CALLS]))
        case = Case((), {"call": name, "seed": int(rng.integers(2**31))})
        yield from examine(refused_or_answered, case)
    case = Case((rng.normal(size=(2, 2)),), {"value": float(rng.choice([np.nan, np.inf]))})
    yield from examine(bad_scores, case)


def refused_or_answered(case):
    rng = np.random.default_rng(case.options["seed"])
    arguments = []

    def note(value):
        arguments.append(value.tolist() if isinstance(value, np.ndarray) else value)
        return value

    name = case.options["call"]
    try:
        CALLS[name](rng, note)
    except arb.ArborescenceError as error:
        one_line(name, error)
    except TypeError:
        pass  # what Python itself says where an argument is of another type is clear enough
    except ValueError as error:
        if not on_purpose(error):
            raise WrongError(
                f"{name}: ValueError that is not on purpose", error, arguments
            ) from None
        one_line(name, error)
    except Exception as error:
        raise WrongError(f"{name}: {type(error).__name__}", error, arguments) from error


def bad_scores(case):
    """NaN and +inf are errors wherever scores are looked at, with the position."""
    scores = case.scores.copy()
    scores[0, 1] = case.options["value"]
    dist = arb.TreeDistribution(scores)
    for name, call in {
        "decode": lambda: arb.decode(scores),
        "decode of projective trees": lambda: arb.decode(scores, projective=True),
        "kbest": lambda: arb.kbest(scores, 2),
        "kbest of projective trees": lambda: arb.kbest(scores, 2, projective=True),
        "trees": lambda: next(arb.trees(scores)),
        "log_partition": lambda: dist.log_partition(),
        "marginals": lambda: dist.marginals(),
        "log_count": lambda: arb.TreeDistribution(scores).log_count(),
        "draws": lambda: arb.TreeDistribution(scores).sample(1, 0),
        "mbr": lambda: arb.TreeDistribution(scores).mbr(),
    }.items():
        try:
            call()
        except arb.ScoresError as error:
            if "[0, 1]" not in str(error):
                raise WrongError(f"{name} does not say where", error) from None
        else:
            raise WrongError(f"{name} takes {case.options['value']}")


def one_line(name, error):
    if not str(error).strip() or "\n" in str(error):
        raise WrongError(f"{name}: a message that is not one line", error)


def scores_of(rng, note, more=()):
    """Scores that can be used, oftener than not."""
    n = int(rng.integers(0, 5))
    scores = rng.integers(-2, 3, (n + 1, n + 1, *more)).astype(float)
    turn = int(rng.integers(14))
    if turn == 0:
        scores[tuple(rng.integers(0, size) for size in scores.shape)] = rng.choice([np.nan, np.inf])
    elif turn == 1:
        scores = scores[..., None]
    elif turn == 2:
        scores = scores[:0] if rng.random() < 0.5 else scores[..., :0]
    elif turn == 3:
        scores = scores.astype(rng.choice([complex, object, "U3", "M8[s]", np.longdouble]))
    elif turn == 4:
        scores = np.ma.masked_less(scores, 0)
    elif turn == 5:
        scores = np.zeros((0, 3, 3, *more))
    elif turn == 6:
        scores = rng.choice([2**60, -(2**63), 2**53], scores.shape)
    elif turn == 7:
        scores = None if rng.random() < 0.3 else [[1, 2], [3]] if rng.random() < 0.5 else "scores"
    elif turn == 8:
        scores = np.stack([scores, scores])
    elif turn == 9:
        scores[..., 0] = -np.inf
        scores[0] = -np.inf
    return note(scores)


def lengths_of(rng, note):
    choices = (None, None, None, 1, [1], [1, 2], [[1]], -1, [9], 1.5, ["a"], [True], [2**63], [])
    return note(choices[int(rng.integers(len(choices)))])


def number(rng, note):
    return note(NUMBERS[int(rng.integers(len(NUMBERS)))])


def heads_of(rng, note):
    n = int(rng.integers(0, 5))
    choices = (
        rng.integers(-2, n + 2, n + 1),
        rng.integers(-1, n + 1, (2, n + 1)),
        np.array([-1, *rng.integers(0, n + 1, n)]),
        [-1, 0, 2**40],
        [-1, 0, 2**63],
        [],
        [[]],
        [0.0, 1.0],
        "heads",
        None,
        np.zeros((0, 3), int),
        [[-1, 0], [0]],
    )
    return note(choices[int(rng.integers(len(choices)))])


def options(rng, note):
    return {
        name: note(value)
        for name, value in (
            (
                "root",
                ("single", "multi", "sinlge", None, 3)[
                    int(rng.choice(5, p=[0.4, 0.3, 0.1, 0.1, 0.1]))
                ],
            ),
            ("projective", bool(rng.random() < 0.3)),
        )
        if rng.random() < 0.7
    }


def distribution(rng, note):
    return arb.TreeDistribution(scores_of(rng, note), lengths_of(rng, note), **options(rng, note))


def of_values(name, rng, note):
    """Call a method of a distribution with values of edges, which mostly fit the scores."""
    scores = scores_of(rng, note)
    values = scores if rng.random() < 0.8 else scores_of(rng, note)
    return getattr(arb.TreeDistribution(scores, **options(rng, note)), name)(values)


def log_prob(rng, note):
    """Ask for the probability of trees, which mostly fit the scores."""
    scores = scores_of(rng, note)
    dist = arb.TreeDistribution(scores, **options(rng, note))
    fits = rng.random() < 0.7
    heads = np.zeros(np.shape(dist.marginals())[:-1], int) if fits else heads_of(rng, note)
    return dist.log_prob(note(heads))


def stopped(rng, note):
    """Search for a tree whose words have one dependent each, and stop at some call."""
    asked, calls = itertools.count(), note(int(rng.integers(40)))
    scores = rng.normal(size=(7, 7))

    def conflicts(heads):
        twice = [h for h in range(1, 7) if (heads == h).sum() > 1]
        return [
            [Alternative(forbid=[Edges(h, int(d))]) for d in np.flatnonzero(heads == h)]
            for h in twice
        ]

    budget = arb.Budget(note(float(rng.choice([0, 1e5, 1e7]))), lambda: next(asked) >= calls)
    projective = note(bool(rng.random() < 0.5))
    found = arb.decode_constrained(scores, conflicts, budget=budget, projective=projective)
    if conflicts(found.heads) or found.weight > found.bound or not arb.is_tree(found.heads):
        raise WrongError("a stopped search gives no tree with a bound", found)


def edges_of(rng, note):
    choices = (
        [(0, 1)],
        [(0.5, 1)],
        [(1, 1)],
        [(0, 99)],
        [(0,)],
        [0, 1],
        None,
        [("a", 1)],
        [(-1, 1)],
        [],
    )
    return note(choices[int(rng.integers(len(choices)))])


CALLS = {
    "decode": lambda r, n: arb.decode(scores_of(r, n), lengths_of(r, n), **options(r, n)),
    "decode over threads": lambda r, n: arb.decode(scores_of(r, n), threads=number(r, n)),
    "undirected.decode": lambda r, n: undirected.decode(
        scores_of(r, n), encoding=n(r.choice(["mean", "product", "sum"])), rounds=number(r, n)
    ),
    "kbest": lambda r, n: arb.kbest(
        scores_of(r, n), number(r, n), lengths_of(r, n), **options(r, n)
    ),
    "trees": lambda r, n: list(arb.trees(scores_of(r, n), **options(r, n))),
    "second_best": lambda r, n: arb.second_best(scores_of(r, n), **options(r, n)),
    "decode_labeled": lambda r, n: arb.decode_labeled(scores_of(r, n, (2,)), **options(r, n)),
    "kbest_labeled": lambda r, n: arb.kbest_labeled(
        scores_of(r, n, (2,)), number(r, n), **options(r, n)
    ),
    "decode_where": lambda r, n: arb.decode_where(
        scores_of(r, n), lambda heads: heads.sum() % 3 == 0, limit=number(r, n)
    ),
    "decode_constrained, stopped": stopped,
    "decode_sparse": lambda r, n: arb.decode_sparse(
        number(r, n) if r.random() < 0.3 else 3, heads_of(r, n), heads_of(r, n), [0.0, 1.0, 2.0]
    ),
    "require": lambda r, n: arb.require(scores_of(r, n), edges_of(r, n)),
    "forbid": lambda r, n: arb.forbid(scores_of(r, n), edges_of(r, n)),
    "tree_weight": lambda r, n: arb.tree_weight(scores_of(r, n), heads_of(r, n)),
    "is_tree": lambda r, n: arb.is_tree(heads_of(r, n)),
    "is_projective": lambda r, n: arb.is_projective(heads_of(r, n)),
    "root_count": lambda r, n: arb.root_count(heads_of(r, n)),
    "projectivize": lambda r, n: arb.projectivize(heads_of(r, n)),
    "marginals": lambda r, n: distribution(r, n).marginals(),
    "log_partition": lambda r, n: distribution(r, n).log_partition(),
    "log_count": lambda r, n: distribution(r, n).log_count(),
    "entropy": lambda r, n: distribution(r, n).entropy(),
    "mbr": lambda r, n: distribution(r, n).mbr(),
    "log_prob": log_prob,
    **{
        name: lambda r, n, name=name: of_values(name, r, n)
        for name in ("expectation", "covariance", "second_moment")
    },
    "kl": lambda r, n: distribution(r, n).kl(distribution(r, n)),
    "sample": lambda r, n: distribution(r, n).sample(
        n(int(r.choice([1, 3, 1000]))), n(int(r.integers(9))), replace=bool(r.random() < 0.5)
    ),
    "sample without replacement": lambda r, n: distribution(r, n).sample(
        number(r, n), 0, replace=False
    ),
    "pickle": lambda r, n: pickle.loads(pickle.dumps(distribution(r, n))).log_count(),
    "spanning_tree": lambda r, n: undirected.spanning_tree(
        number(r, n) if r.random() < 0.3 else 3, heads_of(r, n), heads_of(r, n), [0.0, 1.0, 2.0]
    ),
    "spanning_tree of a matrix": lambda r, n: undirected.spanning_tree(scores_of(r, n)),
    "orient": lambda r, n: undirected.orient(
        number(r, n) if r.random() < 0.3 else 3, heads_of(r, n), heads_of(r, n)
    ),
    "derivation": lambda r, n: get_system("swap").derivation(heads_of(r, n)),
}
