"""The data of an explanation: steps, the nodes and edges of a state, and their text and JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from html import escape
from math import isfinite
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from arborescence.drawing.derivation import GAP, pad
from arborescence.drawing.svg import draw_svg
from arborescence.drawing.text import screen_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: A cell of the score matrix, and so an edge of the original graph: head, dependent.
Pair = tuple[int, int]


@dataclass(frozen=True)
class Node:
    """A node of the current graph.

    Attributes
    ----------
    id : int
        0 is the root, 1 to n are words, and n + 1, n + 2, ... are contracted nodes.
    members : tuple of Node
        The nodes of the contracted cycle, in the order of the cycle: the best edge of each node
        comes from the next node. Empty for the root and for words.
    """

    id: int
    members: tuple[Node, ...] = ()

    @property
    def words(self) -> tuple[int, ...]:
        """The original nodes below this node, in the order of the sentence."""
        if not self.members:
            return (self.id,)
        return tuple(sorted(word for member in self.members for word in member.words))


@dataclass(frozen=True)
class Edge:
    """An edge of the current graph.

    Attributes
    ----------
    head, dependent : int
        The ids of two nodes.
    weight : float
        Its weight in this graph: the score, minus the weights of the edges that it replaces. With
        the root constraint, the weights of the edges that stay on the entered cycles are added. The
        weight is computed without rounding, and then rounded once.
    stands_for : (int, int)
        The edge of the original graph: head, dependent.
    kicks_out : tuple of (int, int)
        The original edges that the edge replaces, one for each contracted node that it enters (the
        *lecture*'s kicksOut), the innermost first.
    """

    head: int
    dependent: int
    weight: float
    stands_for: Pair
    kicks_out: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Detail:
    """The data of a step that only one algorithm has; each algorithm has its own class."""

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return the rows of a table, the headings first; `names` are for the nodes 0 to n."""
        raise NotImplementedError


@dataclass(frozen=True)
class Step:
    """A state of an algorithm, and the last action.

    Attributes
    ----------
    kind : str
        A short name for this kind of step, such as ``"contract"``.
    text : str
        One or a few sentences about the action.
    words : tuple of str
        The names of the root and the words.
    nodes : tuple of Node
        The nodes of the current graph.
    edges : tuple of Edge
        The edges of the current graph. Empty if the algorithm does not change the graph.
    chosen : tuple of Edge
        The currently chosen edges: at most one for each node (the *lecture*'s bestInEdge).
    heads : tuple
        The head vector as far as it is known: -1 for the root, None for an unknown head.
    looks_at : tuple of (int, int)
        The cells of the score matrix that this step looks at.
    required, forbidden : tuple of (int, int)
        The edges that each tree must have, and the edges that no tree may have. If a single root
        edge is required, the other root edges are not listed.
    weight : float or None
        The weight of the tree in `heads`, or None.
    detail : Detail or None
        The data that only this algorithm has.

    ``str(step)`` is the text, with the table.
    """

    kind: str
    text: str
    words: tuple[str, ...]
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    chosen: tuple[Edge, ...] = ()
    heads: tuple[int | None, ...] = ()
    looks_at: tuple[Pair, ...] = ()
    required: tuple[Pair, ...] = ()
    forbidden: tuple[Pair, ...] = ()
    weight: float | None = None
    detail: Detail | None = None

    def table(self) -> list[list[str]]:
        """Return the rows of the step's table, the headings first; [] without a table."""
        if self.detail is not None:
            return self.detail.table(self.words)
        if self.chosen:
            nodes = {node.id: node for node in self.nodes}
            rows = [
                [node_name(nodes[edge.dependent], self.words), *edge_cells(edge, self.words)]
                for edge in self.chosen
            ]
            return [["node", "best edge", "weight", "kicks out"], *rows]
        if not self.heads:
            return []
        heads = ["?" if h is None else self.words[h] for h in self.heads[1:]]
        return [["word", "head"], *map(list, zip(self.words[1:], heads, strict=True))]

    def __str__(self) -> str:
        return "\n".join([f"[{self.kind}] {self.text}", *lines_of(self.table())])


class Names(tuple[str, ...]):
    """The names of the root and the words; and perhaps names of edges."""

    edges: Mapping[Pair, str]

    def __new__(cls, words: Iterable[str], edges: Mapping[Pair, str] | None = None) -> Names:
        """Return names; an edge without a name gets its name from its ends."""
        named = super().__new__(cls, words)
        named.edges = dict(edges or {})
        return named


def node_name(node: Node, names: Sequence[str]) -> str:
    """Return the word of a node, or the words of a contracted node in braces.

    If the words are called V1, V2, V3, contracted nodes are called V4, V5, as in the *lecture*.
    """
    if not node.members:
        return names[node.id]
    letter = names[1].removesuffix("1")
    if letter and all(name == f"{letter}{d}" for d, name in enumerate(names[1:], 1)):
        return f"{letter}{node.id}"
    return "{" + " ".join(node_name(member, names) for member in node.members) + "}"


def edge_name(edge: Pair, names: Sequence[str]) -> str:
    """Return an original edge as text: its own name, or head → dependent."""
    own = names.edges.get(edge) if isinstance(names, Names) else None
    return own or f"{names[edge[0]]} → {names[edge[1]]}"


def full_name(edge: Pair, names: Sequence[str]) -> str:
    """Return an original edge as text: its own name, if it has one, and head → dependent."""
    ends = f"{names[edge[0]]} → {names[edge[1]]}"
    own = edge_name(edge, names)
    return ends if own == ends else f"{own}, {ends}"


def edges_name(edges: Sequence[Pair], names: Sequence[str]) -> str:
    """Return several original edges as text."""
    return ", ".join(edge_name(edge, names) for edge in edges)


def edge_cells(edge: Edge, names: Sequence[str]) -> list[str]:
    """Return the original edge, its weight now, and the edges that it kicks out, as text."""
    return [
        edge_name(edge.stands_for, names),
        number_name(edge.weight),
        edges_name(edge.kicks_out, names),
    ]


def number_name(number: float) -> str:
    """Return a number as short text, with six digits at most."""
    return "0" if number == 0 else f"{number:.6g}"


def lines_of(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their widest cell."""
    widths = [max(map(screen_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (pad(cell, room, right=False) for cell, room in zip(row, widths, strict=True))
        yield f"  {GAP.join(cells)}".rstrip()


def as_json(steps: Sequence[Step]) -> dict[str, Any]:
    """Return steps as dictionaries, lists, strings and numbers, ready for `json.dumps`.

    Parameters
    ----------
    steps : sequence of Step
        As `explain` returns them: at least one.

    Returns
    -------
    dict
        ``words``, a list of names; ``edges``, triples of head, dependent and name, if edges have
        names; and ``steps``, a list of dictionaries with the attributes of `Step` (without words).
        A detail has its class's name as ``type``. Numbers that are not finite are None.

    Examples
    --------
    >>> import arborescence as arb
    >>> steps = arb.explain([[0, 5], [0, 0]], words=["Birds"])
    >>> [step["kind"] for step in as_json(steps)["steps"]]
    ['greedy', 'root-edges', 'tree']
    """
    records = [_plain(step) for step in steps]
    for step in records:
        del step["words"]
    words = steps[0].words
    edges = (
        [[*edge, name] for edge, name in words.edges.items()] if isinstance(words, Names) else []
    )
    return {"words": list(words), **({"edges": edges} if edges else {}), "steps": records}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        plain = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"type": type(value).__name__, **plain} if isinstance(value, Detail) else plain
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


#: A list of steps with more characters than this is shown without its tables.
_LONGEST_LIST: Final = 100_000


class Steps(list[Step]):
    """The steps of an algorithm: in a notebook, their sentences and tables, and the last tree."""

    def _repr_html_(self) -> str:
        return f"<ol>\n{listed_steps(self)}</ol>\n{picture(self[-1]) if self else ''}"


def picture(step: Step, labels: Sequence[str] | None = None) -> str:
    """Return the tree of a step as SVG, or nothing if it has none."""
    if not step.heads or None in step.heads:
        return ""
    nothing = ["_"] * (len(step.heads) - 1)
    return draw_svg(
        SimpleNamespace(
            forms=step.words[1:], upos=nothing, heads=step.heads[1:], deprels=labels or nothing
        )
    )


def listed_steps(steps: Sequence[Step]) -> str:
    """Return the steps as items of a list: their sentences and, if there is room, their tables."""
    whole = "".join(f"<li>{escape(step.text)}{table(step.table())}</li>\n" for step in steps)
    if len(whole) <= _LONGEST_LIST:
        return whole
    return "".join(f"<li>{escape(step.text)}</li>\n" for step in steps)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table, the first row as its headings."""
    if not rows:
        return ""
    head, *body = rows
    cells = "".join(
        f'<th scope="col">{escape(text)}</th>' if text else "<td></td>" for text in head
    )
    lines = (f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in body)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
