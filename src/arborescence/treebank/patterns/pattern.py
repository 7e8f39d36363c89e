"""Patterns over trees, read from the notation of Grew (Guillaume 2021).

A pattern names nodes, and has conditions on a node, and on two nodes. This module reads:

==========================================  ======================================================
``V [upos=VERB|AUX, lemma<>"be", !Mood]``   a word and its features; ``V []`` is any word
``V [upos=VERB] | [upos=AUX]``              either list of features
``V -[nsubj]-> S``, ``V -> S``              an edge from the head V to S: with a relation, or any
``V -[nsubj|obj]-> S``, ``V -[^punct]-> S`` one of several relations; any relation but these
``V -[1=nsubj]-> S``, ``-[2=pass]->``       the part before the colon; its subtype (``!2``: none)
``e: V -[nsubj]-> S``                       an edge with a name; ``e.label`` is its relation
``* -[root]-> V``, ``V -[obj]-> *``         ``*`` is any head, the root too; any dependent
``V ->> S``                                 S is below V: there is a path of edges from V to S
``V < S``, ``V << S``                       V stands right before S; anywhere before S
``V.lemma = S.lemma``, ``V.form <> "is"``   features that are equal or differ
==========================================  ======================================================

Values are words, strings in quotes, or regular expressions (``re"un.*"``), which match the whole
value. The blocks ``pattern { ... }`` and ``without { ... }`` are as in Grew; conditions outside of
blocks belong to the pattern. Two names are two different words. Left out are ``global``, ``delta``,
``length``, enhanced dependencies, empty nodes, lexicons, and rules that rewrite.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Any word, without a name; as a head, also the root.
ANY: Final = "*"

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|%[^\n]*)
    |(?P<regex>re"(?:\\.|[^"\\])*")
    |(?P<string>"(?:\\.|[^"\\])*")
    |(?P<sign>-\[|->>|->|<>|<<|>>|[][{},;|=!<>*:.^])
    |(?P<word>[^\s\][{},;|=!<>*:.^"-]+(?:[-:][^\s\][{},;|=!<>*:.^"-]+)*)
    """,
    re.VERBOSE,
)
_ORDERS: Final = ("<", "<<", ">", ">>")


class Feature(NamedTuple):
    """A condition on the value of a feature of a word."""

    #: its name: form, lemma, upos, xpos, a name of FEATS or of MISC
    name: str
    #: tells whether a value is right; None stands for no value
    holds: Callable[[str | None], bool]


class NodePattern(NamedTuple):
    """A node of a pattern."""

    #: its name
    name: str
    #: lists of conditions: all conditions of one list must hold; without lists, any word fits
    choices: list[list[Feature]]


class EdgePattern(NamedTuple):
    """An edge of a pattern."""

    #: the name of its head
    head: str
    #: the name of its dependent
    dependent: str
    #: the condition on its relation, as a feature of the dependent
    relation: Feature
    #: the name of the edge; "" for none
    name: str


class Below(NamedTuple):
    """A path of edges."""

    #: the name of the node where the path begins
    above: str
    #: the name of the node where the path ends
    below: str


class Order(NamedTuple):
    """The order of two words."""

    #: the name of the first word
    first: str
    #: the name of the second word
    second: str
    #: whether no word stands between them
    adjacent: bool


class Equal(NamedTuple):
    """Two features that are equal, or differ."""

    #: the name of a node
    one: str
    #: the feature of this node
    one_feature: str
    #: the name of another node
    other: str
    #: the feature of the other node
    other_feature: str
    #: whether the features differ
    differ: bool


class GraphPattern(NamedTuple):
    """Nodes, and conditions between them, that a pattern demands or forbids."""

    #: the nodes by name
    nodes: dict[str, NodePattern]
    #: the edges between them
    edges: list[EdgePattern]
    #: the paths between them
    paths: list[Below]
    #: their order
    orders: list[Order]
    #: their equal or different features
    equal: list[Equal]


class Pattern(NamedTuple):
    """A pattern: a block that a tree must match, and blocks that it must not match."""

    #: the block that a tree must match
    demanded: GraphPattern
    #: the blocks that a tree must not match
    forbidden: list[GraphPattern]


def parse(text: str) -> Pattern:
    """Read a pattern.

    Parameters
    ----------
    text
        The pattern in the notation of Grew; ``%`` begins a comment.

    Returns
    -------
    Pattern
        Its nodes, edges and conditions.

    Raises
    ------
    OptionError
        If the pattern cannot be read: the message names the place.

    Examples
    --------
    >>> pattern = parse("V [upos=VERB]; V -[nsubj]-> S; S << V")
    >>> list(pattern.demanded.nodes)
    ['V', 'S']
    """
    reader = _Reader(text)
    demanded, forbidden = _empty(), []
    while not reader.at_end:
        if reader.takes_word("pattern", "{"):
            reader.block(demanded, "}")
        elif reader.takes_word("without", "{"):
            block = _empty()
            reader.block(block, "}")
            forbidden.append(block)
        else:
            reader.block(demanded, "")
    if all(name.startswith(ANY) for name in demanded.nodes):
        raise OptionError(f"the pattern {text!r} names no node: write 'V [upos=VERB]', for example")
    return Pattern(demanded, forbidden)


def _empty() -> GraphPattern:
    return GraphPattern({}, [], [], [], [])


class _Reader:
    """The tokens of a pattern, read from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._scanned())
        self._at = 0
        self._unnamed = 0

    def _scanned(self) -> Iterator[tuple[str, str, int]]:
        """Yield kind, text and place of each token."""
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise self._error(at, "is not understood here")
            if match.lastgroup != "space":
                yield str(match.lastgroup), match[0], at
            at = match.end()
        yield "end", "", at

    def _error(self, at: int, problem: str) -> OptionError:
        shown = self._text[at : at + 20].split("\n")[0] or "the end"
        return OptionError(f"pattern, character {at + 1}: {shown!r} {problem}")

    @property
    def at_end(self) -> bool:
        """Whether all tokens are read."""
        return self._tokens[self._at][0] == "end"

    def takes_word(self, *texts: str) -> bool:
        """Read these tokens if they come next."""
        coming = [text for _, text, _ in self._tokens[self._at : self._at + len(texts)]]
        if coming != list(texts):
            return False
        self._at += len(texts)
        return True

    def _expect(self, text: str) -> None:
        if not self.takes_word(text):
            raise self._error(self._tokens[self._at][2], f"stands where {text!r} is expected")

    def _word(self, what: str) -> str:
        """Read a name."""
        kind, text, at = self._tokens[self._at]
        if kind != "word":
            raise self._error(at, f"stands where {what} is expected")
        self._at += 1
        return text

    def block(self, block: GraphPattern, end: str) -> None:
        """Read conditions up to the end of a block."""
        while not (self.at_end if not end else self.takes_word(end)):
            if self.at_end:
                raise self._error(self._tokens[self._at][2], f"comes before {end!r}")
            if not end and self._tokens[self._at][1] in ("pattern", "without"):
                return
            if not self.takes_word(";"):
                self._condition(block)

    def _condition(self, block: GraphPattern) -> None:
        """Read a node, an edge, an order, or an equation."""
        edge_name = ""
        if self._tokens[self._at + 1][1] == ":":
            edge_name = self._word("the name of an edge")
            self._expect(":")
        name = self._node(block, head=True)
        sign = self._tokens[self._at][1]
        if sign in ("->", "-["):
            self._edge(block, name, edge_name)
        elif edge_name:
            raise self._error(self._tokens[self._at][2], "stands where an edge is expected")
        elif self.takes_word("->>"):
            block.paths.append(Below(name, self._node(block)))
        elif sign in _ORDERS:
            self._at += 1
            pair = (name, self._node(block))
            first, second = pair if sign[0] == "<" else pair[::-1]
            block.orders.append(Order(first, second, len(sign) == 1))
        elif self.takes_word("."):
            self._equation(block, name)
        elif sign not in ("", ";", "}", "pattern", "without"):
            raise self._error(self._tokens[self._at][2], "is not understood here: is ';' missing?")

    def _node(self, block: GraphPattern, head: bool = False) -> str:
        """Read the name of a node, and its features if there are any."""
        if self.takes_word(ANY):
            if head:
                return ANY
            self._unnamed += 1
            name = f"{ANY}{self._unnamed}"
        else:
            name = self._word("the name of a node")
        choices = block.nodes[name].choices if name in block.nodes else []
        if self._tokens[self._at][1] == "[":
            given = [self._features()]
            while self.takes_word("|"):
                given.append(self._features())
            # the earlier and the new conditions of this node
            choices = [old + new for old in choices or [[]] for new in given]
        block.nodes[name] = NodePattern(name, choices)
        return name

    def _features(self) -> list[Feature]:
        """Read a list of features in brackets."""
        self._expect("[")
        features: list[Feature] = []
        while not self.takes_word("]"):
            if features:
                self._expect(",")
            absent = self.takes_word("!")
            name = self._word("the name of a feature")
            if absent:
                features.append(Feature(name, _is_absent))
            elif self.takes_word("="):
                features.append(Feature(name, _is_some(self._values())))
            elif self.takes_word("<>"):
                features.append(Feature(name, _is_none(self._values())))
            else:
                features.append(Feature(name, lambda value: value is not None))
        return features

    def _values(self) -> list[Callable[[str], bool]]:
        """Read values with ``|`` between them, each as a test of a string."""
        values = [self._value()]
        while self.takes_word("|"):
            values.append(self._value())
        return values

    def _value(self) -> Callable[[str], bool]:
        kind, text, at = self._tokens[self._at]
        if kind not in ("word", "string", "regex"):
            raise self._error(at, "stands where a value is expected")
        self._at += 1
        if kind == "regex":
            try:
                expression = re.compile(text[3:-1].replace('\\"', '"'))
            except re.error as error:
                raise self._error(at, f"is no regular expression: {error}") from error
            return lambda value: expression.fullmatch(value) is not None
        right = re.sub(r"\\(.)", r"\1", text[1:-1]) if kind == "string" else text
        return right.__eq__

    def _edge(self, block: GraphPattern, head: str, name: str) -> None:
        """Read an edge after its head."""
        holds: Callable[[str | None], bool] = _any_relation
        if not self.takes_word("->"):
            self._expect("-[")
            holds = self._relation()
            self._expect("]")
            self._expect("->")
        block.edges.append(EdgePattern(head, self._node(block), Feature("deprel", holds), name))

    def _relation(self) -> Callable[[str | None], bool]:
        """Read the conditions of a relation: ``nsubj|obj``, ``^punct``, ``1=nsubj, 2=pass``."""
        excluded = self.takes_word("^")
        tests: list[Callable[[str | None], bool]] = []
        while True:
            absent = self.takes_word("!")
            part, following = (text for _, text, _ in self._tokens[self._at : self._at + 2])
            if absent:
                self._expect("2")
                tests.append(_of_part(1, _is_absent))
            elif part in ("1", "2") and following in ("=", "<>"):
                self._at += 2
                values = self._values()
                test = _is_some(values) if following == "=" else _is_none(values)
                tests.append(_of_part(int(part) - 1, test))
            else:
                tests.append(_is_some(self._values()))
            if not self.takes_word(","):
                break
        return lambda relation: all(test(relation) for test in tests) != excluded

    def _equation(self, block: GraphPattern, name: str) -> None:
        """Read ``.feature = value``, or ``.feature = NODE.feature``, after a node."""
        feature = self._word("the name of a feature")
        differ = self.takes_word("<>")
        if not differ:
            self._expect("=")
        if self._tokens[self._at][0] == "word" and self._tokens[self._at + 1][1] == ".":
            other = self._node(block)
            self._expect(".")
            other_feature = self._word("the name of a feature")
            block.equal.append(Equal(name, feature, other, other_feature, differ))
            return
        test = (_is_none if differ else _is_some)(self._values())
        choices = block.nodes[name].choices or [[]]
        block.nodes[name] = NodePattern(name, [[*old, Feature(feature, test)] for old in choices])


def _any_relation(_: str | None) -> bool:
    return True


def _is_some(tests: list[Callable[[str], bool]]) -> Callable[[str | None], bool]:
    """Make a test that one of several values is there."""
    return lambda value: value is not None and any(test(value) for test in tests)


def _is_none(tests: list[Callable[[str], bool]]) -> Callable[[str | None], bool]:
    """Make a test that a value exists, and is not among several values."""
    return lambda value: value is not None and not any(test(value) for test in tests)


def _is_absent(value: str | None) -> bool:
    return value is None


def _of_part(part: int, test: Callable[[str | None], bool]) -> Callable[[str | None], bool]:
    """Make a test of the relation before the colon, or of its subtype."""

    def holds(relation: str | None) -> bool:
        parts = (relation or "").split(":", 1)
        return test(parts[part] if part < len(parts) else None)

    return holds
