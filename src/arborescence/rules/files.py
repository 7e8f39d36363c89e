"""Rules in a TOML file: each rule is a table ``[[rule]]``, and a key tells its kind."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arborescence.errors import OptionError, brief
from arborescence.rules.kinds import (
    AtMostOne,
    Contiguous,
    Dependents,
    Direction,
    LabelTags,
    Projective,
    RootLabel,
    Rule,
    Spaced,
    TagLabels,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable


class _Kind(NamedTuple):
    """A kind of rule, as a file of rules names it."""

    #: the function that makes the rule
    make: Callable[..., Rule]
    #: the keys that the rule must have besides the kind's own key: their values are lists, too
    needed: tuple[str, ...] = ()
    #: the keys that the rule may have, with their types
    optional: tuple[tuple[str, type], ...] = ()


#: The kinds of rules, by the key that tells the kind. The key's value is the first argument of
#: `make` after the name.
_KINDS: Final = {
    "at_most_one": _Kind(AtMostOne, optional=(("but", list), ("but_misc", str))),
    "tags": _Kind(lambda name, tags, labels: LabelTags(name, labels, tags), ("labels",)),
    "not_tags": _Kind(
        lambda name, tags, labels: LabelTags(name, labels, tags, refused=True), ("labels",)
    ),
    "tagged": _Kind(TagLabels, ("labels",)),
    "right": _Kind(Direction),
    "left": _Kind(lambda name, labels: Direction(name, labels, right=False)),
    "leaves": _Kind(Dependents, optional=(("allowed", list), ("negation", bool))),
    "contiguous": _Kind(Contiguous),
    "spaced": _Kind(Spaced),
    "projective": _Kind(lambda name, labels: Projective(name, labels, causes=False)),
    "crosses_nothing": _Kind(lambda name, labels: Projective(name, labels, causes=True)),
    "of_root": _Kind(lambda name, labels: RootLabel(name, labels[0], of_root=True)),
    "only_of_root": _Kind(lambda name, labels: RootLabel(name, labels[0], of_root=False)),
}
#: TOML takes O(n²) for a key of n parts, so that lines are limited, too.
_LONGEST: Final = 1 << 16  # bytes
_LONGEST_LINE: Final = 1000  # characters
_MOST_DOTS: Final = 100  # of a line
_NAMES: Final = {
    list: "a list of strings that can be printed",
    str: "a string that can be printed",
    bool: "true or false",
    float: "a positive number",
}


def read_rules(path: str | os.PathLike[str]) -> tuple[Rule, ...]:
    r"""Read rules from a TOML file.

    Raises
    ------
    OptionError
        If the file is not TOML, or a key or a value is invalid: the message names the line and the
        key. Or if the file has more than 65,536 bytes, or a line of more than 1,000 characters or
        100 dots.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "rules.toml")
    ...     _ = path.write_text('[[rule]]\nname = "one-object"\nat_most_one = ["obj"]')
    ...     read_rules(path)
    (AtMostOne(name='one-object', cost=None, labels=('obj',), but=(), but_misc=''),)
    """
    return _File(path).rules()


class _File:
    """A file of rules, and the lines of its keys."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with Path(path).open("rb") as file:
            data = file.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise OptionError(f"{path}: a file of rules has at most {_LONGEST} bytes: divide it")
        try:
            text = data.decode("utf-8-sig")
            self.lines = text.split("\n")
            for number, line in enumerate(self.lines, 1):
                if len(line) > _LONGEST_LINE or line.count(".") > _MOST_DOTS:
                    raise OptionError(
                        f"{path}:{number}: a line has at most {_LONGEST_LINE} characters, "
                        f"{_MOST_DOTS} of them dots: break it"
                    )
            self.table = tomllib.loads(text.replace("\r\n", "\n"))
        except ValueError as error:  # also for a number with more digits than Python reads
            raise OptionError(f"{path}: not TOML: {error}") from error
        except RecursionError as error:
            raise OptionError(f"{path}: not TOML: brackets within too many brackets") from error
        header = re.compile(r"\s*\[\[\s*rule\s*\]\]")
        self.begins = [number for number, line in enumerate(self.lines) if header.match(line)]

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of the included set, and the rules of the tables."""
        rules: list[Rule] = []
        for key, value in self.table.items():
            if key not in ("include", "without", "costs", "rule"):
                raise self.error(
                    key, "is unknown: there are include, without, [costs] and [[rule]]"
                )
            if key == "rule" and not (isinstance(value, list) and all(map(_is_table, value))):
                raise self.error(key, "must be tables [[rule]]")
        if "include" in self.table:
            from arborescence.rules.ud import RULES

            if self.table["include"] != "ud":
                raise self.error("include", "must be 'ud'")
            rules += RULES
        included = {rule.name: rule for rule in rules}
        for name in self.checked("without", self.table.get("without", []), list):
            if included.pop(name, None) is None:
                raise self.error("without", f"names {name!r}, which is no included rule")
        included |= self.at_costs(included)
        tables = enumerate(self.table.get("rule", []))
        return (*included.values(), *(self.rule(n, table) for n, table in tables))

    def at_costs(self, included: dict[str, Rule]) -> dict[str, Rule]:
        """Return the included rules that have a cost, with their costs."""
        costs = self.table.get("costs", {})
        if not _is_table(costs):
            raise self.error("costs", "must be a table of rules' names and numbers")
        for name in costs:
            if name not in included:
                raise self.error(name, "is no included rule, so it cannot have a cost")
        return {
            name: replace(included[name], cost=self.checked(name, cost, float))
            for name, cost in costs.items()
        }

    def rule(self, number: int, table: dict[str, Any]) -> Rule:
        """Return the rule of a table."""
        kinds = [key for key in table if key in _KINDS]
        if len(kinds) != 1:
            raise self.error(
                kinds[1] if kinds else "rule",
                f"the keys are {_listed(table)}; one must tell the kind of rule: "
                f"{', '.join(_KINDS)}",
                number,
            )
        [key] = kinds
        kind = _KINDS[key]
        known = {"name": str, key: list, **dict.fromkeys(kind.needed, list), **dict(kind.optional)}
        known["cost"] = float
        for name in ("name", *kind.needed):
            if name not in table:
                raise self.error(key, f"needs the key {name}, too", number)
        values = {}
        for name, value in table.items():
            if name not in known:
                raise self.error(name, f"is unknown in a rule with {key}", number)
            values[name] = self.checked(name, value, known[name], number)
        if "of_root" in key and len(values[key]) != 1:
            raise self.error(key, "must have one label", number)
        cost = values.pop("cost", None)
        return replace(kind.make(values.pop("name"), values.pop(key), **values), cost=cost)

    def checked(self, key: str, value: Any, kind: type, number: int = -1) -> Any:
        """Return a value, a list as a tuple; raise OptionError if the value has another type."""
        if kind is float and type(value) in (int, float) and 0 < value <= sys.float_info.max:
            return float(value)
        strings = value if isinstance(value, list) else [value] if kind is str else []
        printable = all(isinstance(string, str) and string.isprintable() for string in strings)
        if kind is float or not isinstance(value, kind) or not printable:
            raise self.error(key, f"must be {_NAMES[kind]}, not {brief(value)}", number)
        return tuple(value) if isinstance(value, list) else value

    def error(self, key: str, fault: str, number: int = -1) -> OptionError:
        """Return an error that names the line and the key; `number` is the number of the rule."""
        first = self.begins[number] if 0 <= number < len(self.begins) else 0
        name = rf"[\"']?{re.escape(key)}[\"']?\s*"
        # In a header, in a line of its own, or in a table within a line.
        wanted = re.compile(rf"\s*(\[+\s*{name}\]|([^#]*[\s.{{,])?{name}[=.])")
        lines = range(first, len(self.lines))
        line = next((n for n in lines if wanted.match(self.lines[n])), first)
        return OptionError(f"{self.path}:{line + 1}: {_listed([key])}: {fault}")


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _listed(keys: Iterable[str]) -> str:
    """Return some keys as a text of one line; long keys are cut."""
    shown = [key if key.isprintable() else ascii(key) for key in islice(keys, 11)]
    return ", ".join([key[:60] for key in shown[:10]] + ["..."] * (len(shown) > 10))
