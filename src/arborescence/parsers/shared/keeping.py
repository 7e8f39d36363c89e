"""Rules that parsed trees keep: only sentences whose own tree breaks one are searched."""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.budget import Budget, work_of
from arborescence.core.conversion import as_doubles
from arborescence.errors import NoTreeError, StoppedError
from arborescence.inference.parts import Lazy
from arborescence.inference.solver import search
from arborescence.projective.pseudo import MARK
from arborescence.rules.kinds import Spaced
from arborescence.rules.sets import constraints_of, rules_of, suspects_of
from arborescence.rules.trees import matching
from arborescence.treebank.tally import CONTENT_RELATIONS, FUNCTIONAL_RELATIONS
from arborescence.treebank.validation import trees_to_keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.inference.branching import Solution
    from arborescence.inference.constraints import Constraints
    from arborescence.inference.parts import Decoder
    from arborescence.rules.kinds import Rule
    from arborescence.rules.sets import AnyRules
    from arborescence.rules.trees import Trees
    from arborescence.treebank import Sentence


#: The budget of the search for a tree. The hardest sentence of nine treebanks takes half.
WORK: Final = 4e7
#: A search that cannot decode so many trees is not begun: it would find none that keeps the rules.
_FEWEST: Final = 48
_FEW: Final = 0.2  # the largest share of training trees that may break a rule of their scheme


class Counts(NamedTuple):
    """What it took to keep rules.

    Attributes
    ----------
    sentences : int
        The number of sentences.
    changed : int
        Those whose own best tree (or one of the k best) breaks a rule, and that got others, or the
        same where breaking it costs less.
    uncertified : int
        Those of them for which the budget of the search ended, or that a transition-based parser
        has parsed: their trees keep the rules, but others that do may be better.
    failed : int
        Those whose trees still break a rule: none that keeps all exists, or the search found none
        within its budget.
    decodes : int
        The number of trees decoded, the first one of each sentence included.
    """

    sentences: int = 0
    changed: int = 0
    uncertified: int = 0
    failed: int = 0
    decodes: int = 0

    def __str__(self) -> str:
        best = self.changed - self.uncertified
        line = (
            f"{self.changed:,} of {self.sentences:,} sentences changed, {best:,} certified to have "
            f"the best trees that keep the rules; {self.decodes:,} trees decoded"
        )
        return line + (f"; {self.failed:,} still break a rule" if self.failed else "")


class Looked(NamedTuple):
    """The trees of S parsed sentences, as rules read them."""

    #: the trees of all sentences
    trees: Trees
    #: the roots of the sentences, as indices among all nodes, and the number of nodes
    ends: list[int]
    #: the numbers of the sentences that break a rule
    broken: NDArray[np.int64]
    #: the numbers of the sentences with words in parts
    parted: NDArray[np.int64]

    def sentence(self, number: int) -> Trees:
        """Return one sentence, for `Keeper.best`."""
        return self.trees.of_sentence(*self.ends[number : number + 2])


class Keeper:
    """Rules for `Parser.parse`, which also counts what it takes to keep them.

    Parameters
    ----------
    rules
        As in `arborescence.rules.rules_of`: ``"ud"``, a file, or a sequence of rules.
    work
        The budget of work for the search of one tree, in the units of `Budget`. A sentence that
        is so long that this does not suffice for 48 decodes keeps the parser's own tree.
    strict
        Whether what trees keep by ``keep=True`` must keep the rules, too. If not, it wins, and the
        sentence is counted.

    Attributes
    ----------
    rules : tuple of Rule
        The rules.
    work : float
    strict : bool
        As given.

    Raises
    ------
    OptionError
        If a rule is none, or the file of rules has an error.

    Examples
    --------
    >>> keeper = Keeper("ud")
    >>> keeper.counts
    Counts(sentences=0, changed=0, uncertified=0, failed=0, decodes=0)
    """

    def __init__(self, rules: AnyRules = "ud", *, work: float = WORK, strict: bool = True) -> None:
        self.rules, self.strict = rules_of(rules), strict
        self.work = Budget(work).work
        self._suspects = lru_cache(4)(partial(suspects_of, self.rules))
        self._parted = [rule for rule in self.rules if isinstance(rule, Spaced) and rule.tag]
        self._counts: list[Counts] = []  # a list, since threads append to it

    @property
    def counts(self) -> Counts:
        """What it took so far."""
        return Counts(*np.sum([Counts(), *self._counts], axis=0).tolist())

    def yielding(self) -> Keeper:
        """Return one that is not strict, and counts together with this one."""
        other = copy(self)
        other.strict = False
        return other

    def count(self, sentences: int, found: Sequence[Sequence[Solution]]) -> None:
        """Add up what some sentences took, and the searches in some of them."""
        changed = [trees for trees in found if trees]
        certified = sum(all(tree.certified for tree in trees) for trees in changed)
        nodes = sum(trees[-1].nodes for trees in changed)
        failed = len(found) - len(changed)
        self.add(
            Counts(sentences, len(changed), len(changed) - certified, failed, sentences + nodes)
        )

    def add(self, counts: Counts) -> None:
        """Add up what was counted elsewhere, such as in another process."""
        self._counts.append(counts)

    def look(self, parsed: Sequence[Sentence], *, at_costs: bool = True) -> Looked:
        """Find which parsed sentences break a rule, or one of those that have no cost."""
        trees = self.trees(parsed)
        broken, parts = np.zeros((2, len(trees.heads)), np.bool_)
        for rule in self.rules:
            if at_costs or rule.cost is None:
                broken[rule.found(trees)] = True
        for rule in self._parted:
            parts |= trees.labeled(rule.labels)
        starts = np.flatnonzero(trees.roots == np.arange(len(trees.roots)))
        numbers = [
            np.unique(np.searchsorted(starts, np.flatnonzero(nodes), side="right") - 1)
            for nodes in (broken, parts)
        ]
        return Looked(trees, [*starts.tolist(), len(trees.heads)], *numbers)

    def trees(self, sentences: Sequence[Sentence]) -> Trees:
        """Return what rules read in sentences; words without a tag are excused from rules on it."""
        return trees_to_keep(sentences, self.rules)

    def breaking(self, lists: Sequence[Sequence[Sentence]]) -> list[int]:
        """Return the numbers of those lists of parses in which a tree breaks what it must keep."""
        numbers = np.repeat(np.arange(len(lists)), [len(trees) for trees in lists])
        looked = self.look([tree for trees in lists for tree in trees], at_costs=False)
        found: list[int] = np.unique(numbers[looked.broken]).tolist()
        return found

    def broken(self, sentence: Sentence) -> dict[Rule, NDArray[np.int64]]:
        """Return the rules without a cost that a sentence breaks, and the words that do."""
        trees = self.trees([sentence])
        found = ((rule, rule.found(trees)) for rule in self.rules if rule.cost is None)
        return {rule: words for rule, words in found if words.size}

    def best(
        self,
        sentence: Trees,
        scores: NDArray[Any] | Lazy,
        wanted: Constraints,
        k: int = 1,
        *,
        budget: Budget,
        share: float = 1,
        by_heads: bool = False,
        decoder: Decoder | None = None,
    ) -> list[Solution]:
        """Return the k best trees that keep the rules, or none if none was found.

        Where the budget is too small for a few trees, none is looked for.

        Parameters
        ----------
        sentence
            One sentence; its heads and labels do not matter, and `label_names` are those of the
            scores.
        scores : (n + 1, n + 1, L) or Lazy
            Weights of labeled edges.
        wanted
            What trees keep beside the rules, and whether they have one root edge or may cross.
        budget, share
            A share of `work`, within this budget, is for the search.
        k, by_heads, decoder
            As in `solve`.
        """
        suspects = self._suspects(sentence.label_names, sentence.tag_names)
        rules = constraints_of(self.rules, sentence, suspects, root=wanted.root)
        part = budget.part(share * self.work)
        if part.left < _FEWEST * work_of(len(sentence.heads), projective=wanted.projective):
            return []
        scores = scores if isinstance(scores, Lazy) else as_doubles(scores)
        how: Any = {"budget": part, "by_heads": by_heads, "decoder": decoder}
        try:
            return search(scores, wanted & rules, k, **how)
        except (NoTreeError, StoppedError):
            return []

    def finished(self, tree: Sentence) -> Sentence:
        """Return a parsed sentence with the columns that rules want beside a relation."""
        for rule in self._parted:
            part = matching(tuple(tree.deprels), rule.labels)[:-1].tolist()
            if any(part):
                tags = [rule.tag if yes else tag for yes, tag in zip(part, tree.upos, strict=True)]
                lemmas, feats = (
                    ["_" if yes else value for yes, value in zip(part, column, strict=True)]
                    for column in (tree.lemmas, tree.feats)
                )
                tree = tree.replace(upos=tags, lemmas=lemmas, feats=feats)
        return tree


def plain(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of relations without the marks of lifted edges."""
    return tuple(name.partition(MARK)[0] for name in names)


def keeper_of(rules: AnyRules | Keeper | None) -> Keeper | str | None:
    """Return what keeps rules, as they are given to `Parser.parse`; "none" and None stay."""
    return rules if rules in (None, "none") or isinstance(rules, Keeper) else Keeper(rules)


def scheme_of(labels: Iterable[str], treebank: Sequence[Sentence] = ()) -> str:
    """Return ``"ud"`` if trees with these labels are to keep its rules, else ``"none"``."""
    # They are if the labels are those of Universal Dependencies, and of the trees to learn from a
    # fifth breaks a rule at most. Of 52 treebanks, two have more than a tenth; with the second
    # conjunct as the head of coordinations, it is half of them.
    known = {*CONTENT_RELATIONS, *FUNCTIONAL_RELATIONS, "punct"}
    if not {re.split(f"[:{MARK}]", label)[0] for label in labels} <= known:
        return "none"
    few = not treebank or len(Keeper("ud").look(treebank).broken) <= _FEW * len(treebank)
    return "ud" if few else "none"
