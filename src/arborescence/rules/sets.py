"""Sets of rules, by name or from a file, and the conflicts of a tree with the rules."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.errors import OptionError
from arborescence.inference.conflicts import Conflict
from arborescence.inference.constraints import Constraints
from arborescence.inference.demands import Charge
from arborescence.rules.kinds import Rule
from arborescence.rules.signs import Suspects, places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arborescence.rules.trees import Nodes, Trees

    #: The name of a set, a file, or rules.
    AnyRules = str | os.PathLike[str] | Sequence[Rule]


_NOTHING: Final = Constraints()


def rules_of(rules: AnyRules) -> tuple[Rule, ...]:
    """Return rules from a name (``"ud"``), a TOML file, or a sequence of rules.

    Raises
    ------
    OptionError
        If the file has an error (the message names the line and the key), or the argument is not a
        sequence of rules.

    Examples
    --------
    >>> len(rules_of("ud")), rules_of("ud")[0].name
    (34, '0-is-not-root')
    """
    if rules == "ud":
        from arborescence.rules.ud import RULES

        return RULES
    if isinstance(rules, (str, os.PathLike)):
        from arborescence.rules.files import read_rules

        return _named(read_rules(rules))
    sequence = tuple(rules)
    for rule in sequence:
        if not isinstance(rule, Rule):
            raise OptionError(f"rules must be 'ud', a file, or a sequence of rules, not {rule!r}")
    return _named(sequence)


def _named(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return rules; raise OptionError if two rules with a cost have the same name."""
    names: set[str] = set()
    for rule in rules:
        if rule.cost is not None and rule.name in names:
            raise OptionError(f"two rules with a cost are named {rule.name!r}: rename one")
        names |= {rule.name} if rule.cost is not None else set()
    return rules


def suspects_of(rules: Sequence[Rule], labels: tuple[str, ...], tags: tuple[str, ...]) -> Suspects:
    """Return tables of the edges that can break each rule, for the names of labels and tags."""
    return Suspects([rule.signs(labels, tags) for rule in rules], len(labels), len(tags))


def conflicts_of(
    rules: Sequence[Rule],
    sentence: Trees,
    suspects: Suspects | None = None,
    *,
    projective: bool = False,
) -> Callable[[Nodes, Nodes], list[Conflict]]:
    """Return the function for ``Constraints.conflicts``: it returns the conflicts of a tree.

    Labels are indices of the names in `sentence`; the heads and labels of `sentence` do not matter.
    `suspects`, if given, is the result of `suspects_of` for these rules and names. `projective`
    tells whether all trees are projective.
    """
    suspected = suspects or suspects_of(rules, sentence.label_names, sentence.tag_names)
    of_words = suspected.of_words(sentence.tags, projective=projective)

    def conflicts(heads: Nodes, labels: Nodes) -> list[Conflict]:
        numbers = suspected(heads, labels, of_words)
        trees = sentence._replace(heads=np.maximum(heads, 0), labels=labels)
        return [
            Conflict(rules[r].conflict(trees, word), rules[r].name, word, rules[r].cost)
            for r in numbers
            for word in rules[r].found(trees).tolist()
        ]

    return conflicts


def constraints_of(
    rules: Sequence[Rule],
    sentence: Trees,
    suspects: Suspects | None = None,
    wanted: Constraints = _NOTHING,
) -> Constraints:
    """Return constraints of the trees of a sentence: those that are `wanted`, and the rules.

    If a rule has a cost, and single edges can break it, the rule becomes a charge for these edges.
    All other rules become a function that returns conflicts.

    Parameters
    ----------
    rules, sentence, suspects
        As for `conflicts_of`.
    wanted
        The other constraints.
    """
    names = sentence.label_names, sentence.tag_names
    priced = [rule for rule in rules if rule.cost is not None]
    charged = [rule for rule in priced if rule.signs(*names).exact]
    if charged:
        rules, suspects = [rule for rule in rules if rule not in charged], None
    conflicts = conflicts_of(rules, sentence, suspects, projective=wanted.projective)
    return replace(
        wanted,
        charges=(*wanted.charges, *(_charge(rule, sentence) for rule in charged)),
        conflicts=(*wanted.conflicts, conflicts),
    )


def _charge(rule: Rule, sentence: Trees) -> Charge:
    """Return the charge for the edges that break a rule about single edges."""
    signs = rule.signs(sentence.label_names, sentence.tag_names)
    nodes = np.arange(len(sentence.heads))
    places = signs.places[places_of(nodes[:, None], nodes)]
    words = ~sentence.waived.get(rule.name, np.zeros(len(nodes), np.bool_))
    if signs.tags is not None:
        words = words & signs.tags[sentence.tags]
    edges = places[..., None] & words[:, None] & signs.labels[:-1]
    return Charge(edges, rule.cost or 0.0, name=rule.name)
