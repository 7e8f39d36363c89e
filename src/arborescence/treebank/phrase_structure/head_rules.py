"""Head rules, which find the head of a phrase (Magerman 1995; Collins 1999, Appendix A)."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from arborescence.core.choices import Coordination, check_choice
from arborescence.errors import TreebankError
from arborescence.treebank.phrase_structure.reading import Label

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

Direction = Literal["left", "right"]
#: The tables that come with the package.
TABLES: Final = ("collins", "yamada-matsumoto")


class TableRow(NamedTuple):
    """A row of a table."""

    #: The side where the search begins.
    direction: Direction
    #: The categories in order of priority, as in the file; a group has one priority.
    groups: tuple[str, ...]


class HeadChoice(NamedTuple):
    """The child that has the head of a phrase."""

    #: The index of the child that has the head.
    child: int
    #: Whether a row named the child, or there was no choice. Else the direction of the last row
    #: decided alone.
    decided: bool


class HeadRules:
    """A table of head rules.

    Attributes
    ----------
    name : str
        The name in messages.
    rows : dict of str to list of TableRow
        The rows of each category of phrases.
    punctuation, coordinators : frozenset of str
        The parts of speech of punctuation, which is the head of a phrase only if a row names it or
        the phrase has nothing else; and the categories that join the parts of a coordination.
    coordination : {"rules", "before", "first"}
        The head of a coordination. ``"rules"``: the child that the rows find, as in every phrase.
        ``"before"``: if a coordinator stands directly before that child, the child before the
        coordinator (Collins 1999). ``"first"``: the head of the first conjunct.

    Examples
    --------
    >>> rules = HeadRules.load("collins")
    >>> rules.find("VP", ["MD", "RB", "VP"])
    HeadChoice(child=0, decided=True)
    >>> rules.find("NP", ["DT", "NN", "CC", "NN"])
    HeadChoice(child=1, decided=True)
    """

    def __init__(
        self,
        name: str,
        rows: dict[str, list[TableRow]],
        *,
        punctuation: frozenset[str] = frozenset(),
        coordinators: frozenset[str] = frozenset(),
        coordination: Coordination = "rules",
    ) -> None:
        check_choice("coordination", coordination, get_args(Coordination))
        self.name = name
        self.rows = rows
        self.punctuation = punctuation
        self.coordinators = coordinators
        self.coordination = coordination
        self._known: dict[tuple[str, ...], HeadChoice] = {}

    @classmethod
    def load(
        cls, source: str | os.PathLike[str], *, coordination: Coordination | None = None
    ) -> HeadRules:
        """Load a table.

        Parameters
        ----------
        source
            ``"collins"`` (Collins 1999, Appendix A), ``"yamada-matsumoto"`` (Yamada and Matsumoto
            2003), or the path of a file of your own.
        coordination
            Replaces the setting of the table.

        Raises
        ------
        TreebankError
            If a line of the file is not a row; the message names the file and the line.
        OSError
            If the file cannot be read.
        """
        if source in TABLES:
            home = resources.files("arborescence.treebank.phrase_structure")
            text, name = (home / f"{source}.rules").read_text(encoding="utf-8"), str(source)
        else:
            path = Path(source)
            name = str(path)
            try:
                text = path.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise TreebankError(f"{name}: the head rules are not UTF-8 text") from error
        return cls.parse(text, name, coordination=coordination)

    @classmethod
    def parse(
        cls, text: str, name: str = "<text>", *, coordination: Coordination | None = None
    ) -> HeadRules:
        r"""Make a table from the text of a file; parameters and errors are those of `load`.

        A row has a category of phrases, a direction and categories of children, best first. The
        first category that a child has decides; of several children with this category, ``left``
        takes the leftmost. Categories joined by ``|`` have the same priority. Several rows of a
        phrase are tried one after the other; the phrase ``*`` is every phrase without rows. In a
        category, ``*`` stands for any characters; alone it is any child except punctuation. ``-HD``
        is a child with this function tag. ``@punctuation``, ``@coordinators`` and ``@coordination``
        set the attributes of these names.

        Examples
        --------
        >>> rules = HeadRules.parse("NP right NN|NNS  NP\nVP left VB*")
        >>> rules.find("NP", ["DT", "NNS", "POS"])
        HeadChoice(child=1, decided=True)
        """
        rows: dict[str, list[TableRow]] = {}
        settings: dict[str, list[str]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            key, *rest = words
            place = f"{name}:{number}: "
            if key in ("@punctuation", "@coordinators", "@coordination"):
                settings[key[1:]] = rest
                if key == "@coordination" and " ".join(rest) not in get_args(Coordination):
                    raise TreebankError(f"{place}@coordination is rules, before or first")
            elif key.startswith("@"):
                raise TreebankError(
                    f"{place}{key!r} is not @punctuation, @coordinators or @coordination"
                )
            elif rest and rest[0] in get_args(Direction):
                direction: Direction = "left" if rest[0] == "left" else "right"
                rows.setdefault(key, []).append(TableRow(direction, tuple(rest[1:]) or ("*",)))
            else:
                raise TreebankError(
                    f"{place}after the phrase {key!r} comes left or right, then categories"
                )
        if not rows:
            raise TreebankError(f"{name}: no head rules")
        [of_table] = settings.get("coordination", ["rules"])
        return cls(
            name,
            rows,
            punctuation=frozenset(settings.get("punctuation", ())),
            coordinators=frozenset(settings.get("coordinators", ())),
            coordination=coordination or of_table,  # type: ignore[arg-type]
        )

    def find(self, phrase: str, children: Sequence[str]) -> HeadChoice:
        """Find the child that has the head of a phrase.

        Parameters
        ----------
        phrase
            The label of the phrase.
        children
            The labels of its children, at least one, without empty nodes.
        """
        key = (phrase, *children)
        choice = self._known.get(key)
        if choice is None:
            labels = [Label.of(child) for child in children]
            choice = self._known[key] = self._find(Label.of(phrase).category, labels)
        return choice

    def _find(self, phrase: str, children: list[Label]) -> HeadChoice:
        choice = self._by_rows(phrase, children)
        if self.coordination == "before":
            return choice._replace(child=self._before_coordinator(children, choice.child))
        if self.coordination == "first":
            for place, child in enumerate(children):
                conjunct = [other for other in children[:place] if self._may_be_head(other)]
                if child.category in self.coordinators and conjunct:
                    choice = self._by_rows(phrase, children[:place])
                    return choice._replace(child=self._back_over_commas(children, choice.child))
        return choice

    def _by_rows(self, phrase: str, children: list[Label]) -> HeadChoice:
        rows = self.rows.get(phrase) or self.rows.get("*", [])
        direction: Direction = "left"
        for direction, groups in rows:
            places = range(len(children))
            for group in groups:
                fits = _test(group, self.punctuation)
                for place in places if direction == "left" else reversed(places):
                    if fits(children[place]):
                        return HeadChoice(place, True)
        words = [i for i, child in enumerate(children) if child.category not in self.punctuation]
        words = words or list(range(len(children)))
        return HeadChoice(words[0 if direction == "left" else -1], len(words) == 1)

    def _before_coordinator(self, children: list[Label], head: int) -> int:
        words = [
            i
            for i, child in enumerate(children)
            if i == head or child.category not in self.punctuation
        ]
        at = words.index(head)
        if at > 1 and children[words[at - 1]].category in self.coordinators:
            return words[at - 2]
        return head

    def _back_over_commas(self, children: list[Label], head: int) -> int:
        """Return the first part of a list whose last part is given; punctuation separates parts."""
        while (
            head > 1
            and children[head - 1].category in self.punctuation
            and children[head - 2].category == children[head].category
        ):
            head -= 2
        return head

    def _may_be_head(self, child: Label) -> bool:
        return child.category not in self.punctuation and child.category not in self.coordinators


@cache
def _test(group: str, punctuation: frozenset[str]) -> Callable[[Label], bool]:
    """Return the function that tests whether a child is of a group of categories."""
    if group == "*":
        return lambda child: child.category not in punctuation
    parts = group.split("|")
    functions = {part[1:] for part in parts if re.fullmatch(r"-\w+", part)}
    categories = re.compile("|".join(translate(part) for part in parts if part))
    return lambda child: bool(
        categories.match(child.category) or functions.intersection(child.functions)
    )
