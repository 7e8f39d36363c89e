"""The words of sentences as the rows of a table."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from arborescence.core.choices import check_choice
from arborescence.errors import MissingExtraError, OptionError
from arborescence.treebank.dictionaries import probabilities
from arborescence.treebank.spaces import placed
from arborescence.treebank.tables import arrow, arrow_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arborescence.treebank.sentence import Sentence

#: The libraries that make frames, in the order in which they are looked for.
_MODULES: Final = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
_COLUMNS: Final[dict[str, type]] = {
    "document": str, "sentence": str, "word": int, "form": str, "lemma": str, "upos": str,
    "xpos": str, "feats": str, "head": int, "deprel": str, "head_form": str, "head_lemma": str,
    "head_upos": str, "depth": int, "start": int, "end": int, "probability": float,
}  # fmt: skip


class WordTable(NamedTuple):
    """The table of words: its columns with their types, and its rows."""

    #: the type of each column, by its name
    types: dict[str, type]
    #: the cells of each word, by the names of the columns
    rows: Iterator[Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sentence],
        features: Sequence[str] = (),
        comments: Sequence[str] = (),
        *,
        of_rows: bool = False,
    ) -> WordTable:
        """Make the table of `to_frame`; with `of_rows`, sentences are from texts in table rows."""
        known = placed(sentences)
        first = list(islice(known, 1))
        several = of_rows or (bool(first) and first[0].item is not None)
        types = ({"row": int} if several else {}) | _COLUMNS
        for name in (*features, *comments):
            if name in types:
                raise OptionError(f"the table has a column {name!r} already")
            types[name] = str
        rows = _rows(chain(first, known), features, comments)
        return cls(types, ({name: row[name] for name in types} for row in rows))


def to_frame(
    sentences: Iterable[Sentence],
    *,
    library: Literal["pandas", "polars", "arrow"] | None = None,
    features: Sequence[str] = (),
    comments: Sequence[str] = (),
) -> Any:
    """Make a table with a row for each word.

    Parameters
    ----------
    sentences
        Sentences, with or without trees.
    library
        The library of the table: a ``pandas.DataFrame``, a ``polars.DataFrame`` or a
        ``pyarrow.Table``. None: the first of pandas, polars and pyarrow that is installed.
    features
        Names in FEATS or MISC, such as ``"Case"``: each becomes a column.
    comments
        Names of comments, such as ``"speaker"``: each becomes a column. A comment in a sentence
        with ``# newdoc`` holds for the whole document, unless a sentence has its own.

    Returns
    -------
    table
        With the columns ``document`` (of ``# newdoc id``, or the file), ``sentence`` (``sent_id``,
        or the number of the sentence), ``word`` (from 1), ``form``, ``lemma``, ``upos``, ``xpos``,
        ``feats``, ``head`` (0 is the root), ``deprel``, ``head_form``, ``head_lemma``,
        ``head_upos``, ``depth`` (1 for a word that hangs from the root), ``start`` and ``end`` (see
        `word_ranges`), and ``probability`` of the edge, if the sentences were parsed with
        confidence. Missing values are null. Sentences of several texts have the number of the text
        in a first column, ``row``.

    Raises
    ------
    OptionError
        If two columns have the same name.
    MissingExtraError
        If there is no such library.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(["Trees", "grow"], heads=[2, 0], deprels=["nsubj", "root"])
    >>> to_frame([sentence])[["form", "head_form"]]  # doctest: +SKIP
        form head_form
    0  Trees      grow
    1   grow      <NA>
    """
    installed = (name for name, module in _MODULES.items() if find_spec(module))
    name: str = library or next(installed, "pandas")
    check_choice("library", name, tuple(_MODULES))
    if not find_spec(_MODULES[name]):
        raise MissingExtraError(f"a table needs {_MODULES[name]}: pip install {_MODULES[name]}")
    types, rows = WordTable.of(sentences, features, comments)
    columns: dict[str, list[Any]] = {name: [] for name in types}
    for row in rows:
        for column, value in row.items():
            columns[column].append(value)
    if name == "pandas":
        import pandas as pd

        names = {str: "string", int: "Int64", float: "float64"}
        return pd.DataFrame(
            {
                column: pd.Series(values, dtype=names[types[column]])
                for column, values in columns.items()
            }
        )
    if name == "polars":
        import polars as pl

        kinds = {str: pl.String, int: pl.Int64, float: pl.Float64}
        return pl.DataFrame(columns, schema={each: kinds[kind] for each, kind in types.items()})
    return arrow().table(columns, schema=arrow_types(types))


def _rows(
    sentences: Iterable[Sentence], features: Sequence[str], comments: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each word, with the columns of `to_frame`."""
    document: str | None = None
    source: str | None = None
    held: dict[str, str | None] = {}  # the comments of the document
    for number, sentence in enumerate(sentences, 1):
        said = _comments_of(sentence)
        begins = any(name.startswith("newdoc") for name in said)
        if begins or sentence.source != source:
            source, held = sentence.source, {}
            name = "" if source.startswith("<") else Path(source).name
            document = said.get("newdoc id") or name or None
        if begins:
            held = {name: said[name] for name in comments if name in said}
        shared = {
            "row": sentence.item,
            "document": document,
            "sentence": said.get("sent_id") or str(number),
            **{name: said.get(name, held.get(name)) for name in comments},
        }
        for word in _words(sentence, features):
            yield shared | word


def _words(sentence: Sentence, features: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the cells of a row that describe the word itself."""
    forms, heads = sentence.forms, sentence.heads.tolist()
    lemmas, upos, xpos = map(_nulls, (sentence.lemmas, sentence.upos, sentence.xpos))
    feats, deprels = _nulls(sentence.feats), _nulls(sentence.deprels)
    depths, ranges = sentence.depth.tolist(), sentence.ranges
    shares, misc = probabilities(sentence), sentence.misc if features else []
    for i, head in enumerate(heads):
        above = head - 1 if head > 0 else None
        word = {
            "word": i + 1, "form": forms[i], "lemma": lemmas[i], "upos": upos[i], "xpos": xpos[i],
            "feats": feats[i], "head": head if head >= 0 else None, "deprel": deprels[i],
            "head_form": None if above is None else forms[above],
            "head_lemma": None if above is None else lemmas[above],
            "head_upos": None if above is None else upos[above],
            "depth": depths[i] or None, "start": ranges[i][0], "end": ranges[i][1],
            "probability": shares[i],
        }  # fmt: skip
        if features:
            entries = f"{misc[i]}|{feats[i] or '_'}".split("|")
            values = dict(entry.split("=", 1) for entry in entries if "=" in entry)
            word |= {name: values.get(name) for name in features}
        yield word


def _comments_of(sentence: Sentence) -> dict[str, str]:
    """Return the values of comments by their names."""
    parted = (comment[1:].partition("=") for comment in sentence.comments)
    return {name.strip(): value.strip() for name, _, value in parted}


def _nulls(column: list[str]) -> list[str | None]:
    return [None if value == "_" else value for value in column]
