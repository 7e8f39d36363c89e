"""CKY step by step, and the bilexical grammar whose best derivation it finds (Smith 2017)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb, prod
from typing import TYPE_CHECKING, Any

from arborescence.core.tree import is_projective, is_tree
from arborescence.errors import TreeError
from arborescence.explaining.eisner import Chart, Way, weight_name
from arborescence.explaining.problem import counted, edges_of, problem_of
from arborescence.explaining.steps import Detail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Pair, Step


@dataclass(frozen=True)
class Production:
    """A rule of the grammar of a sentence.

    Attributes
    ----------
    left : int
        The nonterminal that is rewritten: v stands for N_v, and 0 for S.
    right : tuple of int
        The nonterminals that take its place. Only the right side of N_v → v, which is ``(v,)``, is
        the word v itself.
    """

    left: int
    right: tuple[int, ...]

    @property
    def is_word(self) -> bool:
        """Whether this is a rule N_v → v."""
        return self.right == (self.left,)

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The edges that the rule stands for; none for N_v → v."""
        return tuple((self.left, d) for d in self.right if d != self.left)


@dataclass(frozen=True)
class Grammar:
    """The bilexical grammar of a sentence: each word v has a nonterminal N_v.

    In the first grammar of the lecture, a rule has a head with all its dependents,
    N_h → N_l ... N_h ... N_r; the other rules are N_v → v and S → N_v (`whole_rules`). A rule of
    the bilexical grammar has only one dependent: N_h → N_d N_h for d to the left of h, and
    N_h → N_h N_d for d to the right of h (`rules`). The grammar derives exactly the projective
    trees with one root edge. The weight of a rule is the weight of its edges.

    A derivation is a tuple of rules, each of which rewrites the leftmost nonterminal. A tree has
    several derivations: a head with l dependents to its left and r dependents to its right can take
    them in (l + r over l) orders. The lecture does not mention this. For the best tree, the order
    is not important, as all derivations of a tree have the same weight; for sums over trees, it is.
    Eisner's algorithm, the next one in the lecture, builds the two sides of a head separately, so
    that each tree is built once.

    Attributes
    ----------
    problem : ScoredSentence
        The sentence: its words, and the scores of its edges.

    Examples
    --------
    >>> grammar = Grammar.of([[0, 2, 9], [0, 0, 3], [0, 4, 0]], words=["Birds", "sing"])
    >>> print(*map(grammar.name, grammar.rules), sep="; ")
    S → N_Birds; S → N_sing; N_Birds → Birds; N_Birds → N_Birds N_sing; N_sing → N_Birds N_sing; \
N_sing → sing
    >>> derivation = grammar.derivation([-1, 2, 0])
    >>> print(*grammar.forms(derivation), sep=" ⇒ ")
    S ⇒ N_sing ⇒ N_Birds N_sing ⇒ Birds N_sing ⇒ Birds sing
    >>> grammar.tree(derivation), int(grammar.weight(derivation))
    ((-1, 2, 0), 13)
    """

    problem: ScoredSentence

    @classmethod
    def of(cls, scores: Any, words: Sequence[str] | None = None) -> Grammar:
        """Return the grammar of a sentence.

        Parameters
        ----------
        scores, words
            As in `explain`: of one sentence, of at most 30 words.

        Raises
        ------
        ScoresError, OptionError
            As in `explain`.
        """
        return cls(problem_of(scores, words))

    @property
    def rules(self) -> tuple[Production, ...]:
        """The rules of the present edges and words, in the order of their left and right sides."""
        productions = [rule_of(edge) for edge in self.problem.scores]
        productions += [Production(v, (v,)) for v in range(1, self.problem.n + 1)]
        return tuple(sorted(productions, key=lambda rule: (rule.left, rule.right)))

    def derivations(self, heads: Sequence[int]) -> Iterator[tuple[Production, ...]]:
        """Yield all derivations of a tree; in the first one, heads take left dependents first.

        Raises
        ------
        TreeError
            If the heads are no projective tree of this sentence with one root edge.
        """
        below = self._dependents(heads)

        def build(h: int, left: list[int], right: list[int]) -> Iterator[tuple[Production, ...]]:
            if not left and not right:
                yield (Production(h, (h,)),)
            for d in left[:1]:  # the outermost dependent
                for first in build(d, *below[d]):
                    for rest in build(h, left[1:], right):
                        yield (rule_of((h, d)), *first, *rest)
            for d in right[-1:]:
                for first in build(h, left, right[:-1]):
                    for rest in build(d, *below[d]):
                        yield (rule_of((h, d)), *first, *rest)

        [top] = below[0][1]
        for rest in build(top, *below[top]):
            yield (rule_of((0, top)), *rest)

    def derivation(self, heads: Sequence[int]) -> tuple[Production, ...]:
        """Return the derivation in which each head takes its dependents on the left first."""
        return next(self.derivations(heads))

    def count(self, heads: Sequence[int]) -> int:
        """Return the number of derivations of a tree, without making them."""
        sides = [(len(left), len(right)) for left, right in self._dependents(heads)]
        return prod(comb(left + right, left) for left, right in sides)

    def whole_rules(self, heads: Sequence[int]) -> tuple[Production, ...]:
        """Return the derivation of a tree by rules that have a head with all its dependents."""
        below = self._dependents(heads)

        def build(h: int) -> Iterator[Production]:
            left, right = below[h]
            if left or right:
                yield Production(h, (*left, h, *right))
            for d in left:
                yield from build(d)
            yield Production(h, (h,))
            for d in right:
                yield from build(d)

        [top] = below[0][1]
        return (rule_of((0, top)), *build(top))

    def tree(self, derivation: Sequence[Production]) -> tuple[int, ...]:
        """Return the head vector of a derivation, by either kind of rules.

        Raises
        ------
        TreeError
            If a rule does not rewrite the leftmost nonterminal, or stands for an absent edge, or
            the derived words are not the words of the sentence in their order.
        """
        heads = [-1] * (self.problem.n + 1)
        waiting, words = [0], []
        for place, rule in enumerate(derivation):
            if not waiting or waiting.pop() != rule.left:
                raise TreeError(
                    f"rule {place}, {self.name(rule)}, does not rewrite the leftmost nonterminal"
                )
            if rule.is_word:
                words.append(rule.left)
                continue
            waiting.extend(reversed(rule.right))
            for h, d in rule.edges:
                if (h, d) not in self.problem.scores:
                    raise TreeError(f"rule {place}, {self.name(rule)}: there is no such edge")
                heads[d] = h
        if waiting or words != list(range(1, len(heads))):
            raise TreeError("the rules do not derive the words of the sentence, in their order")
        return tuple(heads)

    def weight(self, derivation: Sequence[Production]) -> Fraction:
        """Return the exact weight of a derivation: the sum of the weights of its rules.

        Raises
        ------
        TreeError
            As in `tree`.
        """
        return self.problem.weight(self.tree(derivation))

    def name(self, rule: Production) -> str:
        """Return a rule as text."""
        right = [self.problem.words[rule.left]] if rule.is_word else map(self._symbol, rule.right)
        return f"{self._symbol(rule.left)} → {' '.join(right)}"

    def forms(self, derivation: Sequence[Production]) -> Iterator[str]:
        """Yield the sentential forms of a derivation, as text: S, then the form after each rule."""
        done: list[str] = []
        waiting = [0]
        yield "S"
        for rule in derivation:
            waiting.pop()
            if rule.is_word:
                done.append(self.problem.words[rule.left])
            else:
                waiting.extend(reversed(rule.right))
            yield " ".join([*done, *map(self._symbol, reversed(waiting))])

    def _symbol(self, v: int) -> str:
        return f"N_{self.problem.words[v]}" if v else "S"

    def _dependents(self, heads: Sequence[int]) -> list[tuple[list[int], list[int]]]:
        """Return the dependents to the left and to the right of each node, in their order."""
        n, nodes = self.problem.n, range(1, len(heads))
        if len(heads) != n + 1 or n == 0 or not (is_tree(heads) and is_projective(heads)):
            raise TreeError(f"heads must be a projective tree of {n} words with one root edge")
        if absent := [edge for edge in edges_of(heads) if edge not in self.problem.scores]:
            raise TreeError(f"heads have the absent edge {self.problem.edge(absent[0])}")
        return [
            ([d for d in nodes if heads[d] == h > d], [d for d in nodes if heads[d] == h < d])
            for h in range(len(heads))
        ]


def rule_of(edge: Pair) -> Production:
    """Return the rule of an edge: S → N_d, N_h → N_d N_h or N_h → N_h N_d."""
    h, d = edge
    return Production(h, (d,) if h == 0 else (d, h) if d < h else (h, d))


#: A constituent by its first and last word and its head; the head of S, over all words, is 0.
Item = tuple[int, int, int]


@dataclass(frozen=True)
class Constituent:
    """A cell of the chart."""

    #: the first word
    first: int
    #: the last word
    last: int
    #: the head, a word of the constituent, which is built from N_head; 0 for S
    head: int
    #: the best weight; None if the constituent does not exist
    weight: float | None
    #: the rule of the best way to build the constituent; empty if there is no way
    rule: str
    #: the back pointers: first word, last word and head of each part
    parts: tuple[Item, ...]


@dataclass(frozen=True)
class Constituents(Detail):
    """Constituents that a step fills or opens. The chart has those of all steps so far."""

    #: the constituents
    constituents: tuple[Constituent, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each constituent."""
        rows = [["constituent", "weight", "rule", "of"]]
        for item in self.constituents:
            parts = " + ".join(item_name(part, names) for part in item.parts)
            name = item_name((item.first, item.last, item.head), names)
            rows.append([name, weight_name(item.weight), item.rule, parts])
        return rows


def item_name(item: Item, names: Sequence[str]) -> str:
    """Return a constituent as text, as on the page on projective trees: B[first, last, head]."""
    first, last, head = (names[word] for word in item)
    return f"B[{first}, {last}, {head}]" if item[2] else f"S[{first}, {last}]"


class ConstituentChart(Chart[Item]):
    """The best weight of each constituent, and the rule that builds it."""

    def rule(self, item: Item) -> str:
        """Return the rule that builds a constituent, as text."""
        first, last, head = item
        way, grammar = self.ways.get(item), Grammar(self.problem)
        if first == last == head:
            return grammar.name(Production(head, (head,)))
        return "" if way is None or way.edge is None else grammar.name(rule_of(way.edge))

    def show(self, items: Iterable[Item]) -> Constituents:
        """Return constituents for steps."""
        none: Way[Item] = Way(())
        return Constituents(
            tuple(
                Constituent(*item, self.weight(item), self.rule(item), way.parts)
                for item in items
                for way in (self.ways.get(item, none),)
            )
        )

    def tell(self, item: Item) -> str:
        """Return a sentence about the rule that built a constituent."""
        return f"{item_name(item, self.problem.words)} was built by the rule {self.rule(item)}."


def ways_of(item: Item) -> Iterator[Way[Item]]:
    """Yield the ways to build a constituent: each place where it is split, and each dependent."""
    first, last, head = item
    if head == 0:
        for top in range(first, last + 1):
            yield Way(((first, last, top),), None, (0, top))
        return
    for split in range(first, last):
        if head <= split:
            for d in range(split + 1, last + 1):
                yield Way(((first, split, head), (split + 1, last, d)), split, (head, d))
        else:
            for d in range(first, split + 1):
                yield Way(((first, split, d), (split + 1, last, head)), split, (head, d))


def steps(problem: ScoredSentence) -> Iterator[Step]:
    """Yield the steps to the best derivation, O(n⁵), and to its tree."""
    chart = ConstituentChart(problem)
    words = range(1, problem.n + 1)
    alone = [(v, v, v) for v in words]
    top = (1, problem.n, 0)
    chart.weights.update(dict.fromkeys([*alone, top], 0))  # nothing to build if there are no words
    yield problem.step(
        "start",
        "The smallest constituents: each word v alone, by its rule N_v → v, which weighs nothing. "
        "Then longer ones, with each of their words as the head: each takes the split and the rule "
        "that give the most.",
        detail=chart.show(alone),
    )
    for width in words[:-1]:
        for first in words[:-width]:
            yield fill(chart, first, first + width)
    if problem.n:
        chart.fill(top, ways_of(top))
    *others, last = chart.read_back(top, single=True)
    yield from others
    if last.kind == "tree" and problem.n:
        count = Grammar(problem).count([h or 0 for h in last.heads])
        orders = counted(count, "derivation")
        text = f"{last.text} The grammar has {orders} of it: one for each order in which heads can "
        last = replace(last, text=f"{text}take dependents from their two sides.")
    yield last


def fill(chart: ConstituentChart, first: int, last: int) -> Step:
    """Fill the constituents over the words from first to last: one constituent for each head."""
    problem, inside = chart.problem, range(first, last + 1)
    items = [(first, last, head) for head in inside]
    for item in items:
        chart.fill(item, ways_of(item))
    existing = {item: weight for item in items if (weight := chart.weights[item]) is not None}
    if existing:
        best = max(existing, key=lambda item: existing[item])
        text = (
            f"the heaviest constituent has the head {problem.words[best[2]]} and weighs "
            f"{weight_name(chart.weight(best))}."
        )
    else:
        text = "there is no constituent."
    return problem.step(
        "fill",
        f"From {problem.words[first]} to {problem.words[last]}: {text}",
        looks_at=tuple((h, d) for h in inside for d in inside if h != d),
        detail=chart.show(items),
    )
