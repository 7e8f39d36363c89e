"""Rules of annotation schemes: conflicts of a tree with the rules, and their alternatives."""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily

if TYPE_CHECKING:
    from arborescence.inference.branching import Due as Due
    from arborescence.inference.branching import Solution as Solution
    from arborescence.inference.conflicts import Alternative as Alternative
    from arborescence.inference.conflicts import Conflict as Conflict
    from arborescence.inference.conflicts import Edges as Edges
    from arborescence.inference.demands import Charge as Charge
    from arborescence.inference.demands import Limit as Limit
    from arborescence.rules.files import read_rules as read_rules
    from arborescence.rules.kinds import AtMostOne as AtMostOne
    from arborescence.rules.kinds import Contiguous as Contiguous
    from arborescence.rules.kinds import Dependents as Dependents
    from arborescence.rules.kinds import Direction as Direction
    from arborescence.rules.kinds import LabelTags as LabelTags
    from arborescence.rules.kinds import Nominal as Nominal
    from arborescence.rules.kinds import NotOfTags as NotOfTags
    from arborescence.rules.kinds import Projective as Projective
    from arborescence.rules.kinds import RootLabel as RootLabel
    from arborescence.rules.kinds import Rule as Rule
    from arborescence.rules.kinds import Spaced as Spaced
    from arborescence.rules.kinds import TagLabels as TagLabels
    from arborescence.rules.sets import conflicts_of as conflicts_of
    from arborescence.rules.sets import rules_of as rules_of
    from arborescence.rules.trees import Trees as Trees

__all__, __getattr__, __dir__ = lazily(__name__)
