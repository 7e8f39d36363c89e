"""Rules that parsed trees keep. Only for a tree that breaks a rule, another tree is searched."""

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


#: The budget of the search for a tree. The hardest sentence of nine treebanks needs half of it.
WORK: Final = 4e7
#: A search begins only if its budget is enough for this number of decodes: with fewer decodes, it
#: finds no tree that keeps the rules.
_FEWEST: Final = 48
_FEW: Final = 0.2  # the largest share of training trees that may break a rule of their scheme


class Counts(NamedTuple):
    """The numbers of sentences and decodes that parsing by rules has taken.

    Attributes
    ----------
    sentences : int
        The number of sentences.
    changed : int
        The number of sentences that were searched with success: their best tree, or one of the k
        best, breaks a rule. A sentence keeps its tree if breaking a rule costs less than any
        change.
    uncertified : int
        The number of changed sentences without proof: the budget of the search ended, or the parser
        is transition-based. Their trees keep the rules, but better trees may also keep the rules.
    failed : int
        The number of sentences whose trees still break a rule: no tree keeps all rules, or the
        search found no tree within its budget.
    decodes : int
        The number of decoded trees, with the first tree of each sentence.
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
    #: (S + 1): the index of each sentence's root among all nodes, then the number of nodes
    ends: list[int]
    #: the numbers of the sentences that break a rule
    broken: NDArray[np.int64]
    #: the numbers of the sentences with a word that is cut into parts (``goeswith``)
    parted: NDArray[np.int64]

    def sentence(self, number: int) -> Trees:
        """Return the trees of one sentence, for `Keeper.best`."""
        return self.trees.of_sentence(*self.ends[number : number + 2])


class Keeper:
    """Rules for `Parser.parse`, with counts of the sentences that they change.

    Parameters
    ----------
    rules
        As in `arborescence.rules.rules_of`: ``"ud"``, a file, or a sequence of rules.
    work
        The budget of work for the search of one tree, in the units of `Budget`. If 48 decodes of a
        long sentence need more work, the sentence keeps the parser's own tree.
    strict
        Whether heads and relations that stay by ``keep=True`` must keep the rules, too. If not,
        they may break rules, and the sentence counts as failed.

    Attributes
    ----------
    rules : tuple of Rule
        The rules.
    work : float
    strict : bool
        The parameters `work` and `strict`.

    Raises
    ------
    OptionError
        If an item of the sequence is not a rule, or the file of rules has an error.

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
        """The counts so far."""
        return Counts(*np.sum([Counts(), *self._counts], axis=0).tolist())

    def yielding(self) -> Keeper:
        """Return a keeper that is not strict, and adds to the counts of this keeper."""
        other = copy(self)
        other.strict = False
        return other

    def count(self, sentences: int, solutions: Sequence[Sequence[Solution]]) -> None:
        """Add the counts of parsed sentences; `solutions` are the results of searches."""
        changed = [trees for trees in solutions if trees]
        certified = sum(all(tree.certified for tree in trees) for trees in changed)
        nodes = sum(trees[-1].nodes for trees in changed)
        failed = len(solutions) - len(changed)
        self.add(
            Counts(sentences, len(changed), len(changed) - certified, failed, sentences + nodes)
        )

    def add(self, counts: Counts) -> None:
        """Add counts from another keeper, such as that of another process."""
        self._counts.append(counts)

    def look(self, parsed: Sequence[Sentence], *, at_costs: bool = True) -> Looked:
        """Find sentences that break a rule; unless `at_costs`, only rules without a cost count."""
        trees = self.trees(parsed)
        broken, parts = np.zeros((2, len(trees.heads)), np.bool_)
        for rule in self.rules:
            if at_costs or rule.cost is None:
                broken[rule.found(trees)] = True
        for rule in self._parted:
            parts |= trees.labeled(rule.labels)
        starts = np.flatnonzero(trees.roots == np.arange(len(trees.roots)))
        numbers = [
            np.flatnonzero(np.logical_or.reduceat(nodes, starts))  # each sentence has its root
            for nodes in (broken, parts)
        ]
        return Looked(trees, [*starts.tolist(), len(trees.heads)], *numbers)

    def trees(self, sentences: Sequence[Sentence]) -> Trees:
        """Return the trees of sentences for rules; rules about tags ignore words without a tag."""
        return trees_to_keep(sentences, self.rules)

    def breaking(self, lists: Sequence[Sequence[Sentence]]) -> list[int]:
        """Return the numbers of the k-best lists with a tree that breaks a rule without a cost."""
        numbers = np.repeat(np.arange(len(lists)), [len(trees) for trees in lists])
        looked = self.look([tree for trees in lists for tree in trees], at_costs=False)
        lists_at_fault: list[int] = np.unique(numbers[looked.broken]).tolist()
        return lists_at_fault

    def broken(self, sentence: Sentence) -> dict[Rule, NDArray[np.int64]]:
        """Return the rules without a cost that a sentence breaks, each with the words at fault."""
        trees = self.trees([sentence])
        words_at_fault = ((rule, rule.found(trees)) for rule in self.rules if rule.cost is None)
        return {rule: words for rule, words in words_at_fault if words.size}

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
        """Return the k best trees that keep the rules; [] if the search finds no tree.

        There is no search if the budget is too small for 48 decodes.

        Parameters
        ----------
        sentence
            One sentence. Its heads and labels do not matter; `label_names` names the labels of
            the scores.
        scores : (n + 1, n + 1, L) or Lazy
            Weights of labeled edges.
        wanted
            The other constraints of the trees, with `root` and `projective`.
        budget, share
            The search may use this share of `work`, and no more than the budget.
        k, by_heads, decoder
            As in `solve`.
        """
        part = budget.part(share * self.work)
        if part.left < _FEWEST * work_of(len(sentence.heads), projective=wanted.projective):
            return []
        suspects = self._suspects(sentence.label_names, sentence.tag_names)
        wanted = constraints_of(self.rules, sentence, suspects, wanted)
        scores = scores if isinstance(scores, Lazy) else as_doubles(scores)
        how: Any = {"budget": part, "by_heads": by_heads, "decoder": decoder}
        try:
            return search(scores, wanted, k, **how)
        except (NoTreeError, StoppedError):
            return []

    def finished(self, tree: Sentence) -> Sentence:
        """Return a parsed sentence in which cut words have the tag of their rule, and no lemma."""
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
    """Return the keeper for an argument `rules` of `Parser.parse`; "none" and None stay."""
    return rules if rules in (None, "none") or isinstance(rules, Keeper) else Keeper(rules)


def scheme_of(labels: Iterable[str], treebank: Sequence[Sentence] = ()) -> str:
    """Return ``"ud"`` if trees with these labels should keep the rules of UD, else ``"none"``.

    Trees should keep the rules if the labels are those of Universal Dependencies, and at most a
    fifth of the training trees breaks a rule. In 50 of 52 treebanks, at most a tenth of the trees
    breaks one; in a treebank with the second conjunct as the head of coordinations, half do.
    """
    known = {*CONTENT_RELATIONS, *FUNCTIONAL_RELATIONS, "punct"}
    if not {re.split(f"[:{MARK}]", label)[0] for label in labels} <= known:
        return "none"
    few = not treebank or len(Keeper("ud").look(treebank).broken) <= _FEW * len(treebank)
    return "ud" if few else "none"
