"""The parts of a parser of several languages that belong to one language, and their storage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from arborescence.errors import ModelError
from arborescence.parsers.shared import reading, scheme
from arborescence.parsers.shared.graph_parser import TEMPERATURES
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.text.model import Text
from arborescence.parsers.text.xpos import XposTable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    #: The header and the arrays of a language.
    Stored = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]

_FIELDS: Final = {
    "treebank": scheme.VALUE,
    **dict.fromkeys(TEMPERATURES, scheme.real(1e-4, 1e4, 1.0)),
    "rules": scheme.one_of(("ud", "none"), "none"),
    "reading": reading.FIELD,
    "text": scheme.MAPPING_OR_NULL,
    "xpos": replace(scheme.MAPPING_OR_NULL, default=None),
    "info": scheme.INFO,
}


class Language(NamedTuple):
    """The parts of a parser that belong to one language; all languages share the network."""

    #: The treebank whose annotation is predicted.
    treebank: str
    #: The temperature of edges, as in `GraphParser`.
    temperature: float = 1.0
    #: The temperature of relations.
    relation_temperature: float = 1.0
    #: The temperature of trees.
    tree_temperature: float = 1.0
    #: The rules that trees keep by default.
    rules: str = "none"
    #: How the parser reads forms.
    reading: Reading = Reading()
    #: The models that split raw text into words and find lemmas; None without such models.
    text: Text | None = None
    #: Finds XPOS, which the network does not; None without such tags.
    xpos: XposTable | None = None
    #: As in `LinearParser`.
    info: Mapping[str, Any] | None = None

    def stored(self) -> Stored:
        """Return the header and the arrays of a model file."""
        text, arrays = (None, {}) if self.text is None else self.text.to_file()
        xpos = None if self.xpos is None else self.xpos.to_file()
        parts = {"reading": self.reading.known, "text": text, "xpos": xpos}
        return self._asdict() | parts, arrays

    @classmethod
    def restored(cls, stored: Stored, treebanks: Collection[str]) -> Self:
        """Restore a language from the output of `stored`; ModelError if it is damaged."""
        header, arrays = stored
        fields = scheme.fields_of(header, _FIELDS)
        if fields["treebank"] not in treebanks:
            raise ModelError(f"the network does not know the treebank {fields['treebank']}")
        fields["reading"] = Reading(fields["reading"])
        if fields["text"] is not None:
            fields["text"] = Text.from_file(fields["text"], arrays)
        if fields["xpos"] is not None:
            fields["xpos"] = XposTable.from_file(fields["xpos"])
        return cls(**fields)
