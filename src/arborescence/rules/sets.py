"""Sets of rules by name or from a file, and what is wrong with a tree by all of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from arborescence.errors import OptionError
from arborescence.rules.kinds import Rule
from arborescence.rules.trees import matching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arborescence.rules.conflicts import Alternative
    from arborescence.rules.trees import Nodes, Trees

    #: The name of a set, a file, or rules.
    AnyRules = str | os.PathLike[str] | Sequence[Rule]


def rules_of(rules: AnyRules) -> tuple[Rule, ...]:
    """Return rules from a name (``"ud"``), a TOML file, or a sequence of rules.

    Raises
    ------
    OptionError
        If the file has an error (the message names the line and the key), or what is given is no
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

        return read_rules(rules)
    found = tuple(rules)
    for rule in found:
        if not isinstance(rule, Rule):
            raise OptionError(f"rules must be 'ud', a file, or a sequence of rules, not {rule!r}")
    return found


def conflicts_of(
    rules: Sequence[Rule], sentence: Trees
) -> Callable[[Nodes, Nodes], list[Sequence[Alternative]]]:
    """Return the conflicts of any tree of a sentence, as `decode_constrained` asks for them.

    Labels are indices of the names in `sentence`, whose own heads and labels do not matter.
    """
    names = sentence.label_names
    needed = np.zeros((len(rules), len(names) + 1), np.bool_)
    for row, rule in zip(needed, rules, strict=True):
        row[:] = matching(names, rule.needed) if rule.needed else True

    def conflicts(heads: Nodes, labels: Nodes) -> list[Sequence[Alternative]]:
        heads[0] = 0
        trees = sentence._replace(heads=heads, labels=labels)
        concerned = np.flatnonzero(needed[:, labels[1:]].any(axis=1)).tolist()
        return [
            rules[r].conflict(trees, int(word)) for r in concerned for word in rules[r].found(trees)
        ]

    return conflicts
