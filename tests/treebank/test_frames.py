"""Words of sentences as the rows of a table, and the texts in a column."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.errors import OptionError, TreebankError
from arborescence.treebank import Sentence, read, tables, to_frame
from arborescence.treebank.frames import WordTable
from arborescence.treebank.tables import harmless, read_columns, write_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def rows_of(sentences: Any, *names: str, comments: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    features = [name for name in names if name[0].isupper()]
    rows = WordTable.of(sentences, features, comments).rows
    return [tuple(row[name] for name in names) for row in rows]


def trees() -> Sentence:
    return Sentence.from_words(
        ["Old", "trees", "grow"], lemmas=["old", "tree", "grow"], upos=["ADJ", "NOUN", "VERB"],
        feats=["_", "Case=Nom|Number=Plur", "_"], heads=[2, 3, 0],
        deprels=["amod", "nsubj", "root"], misc=["EdgeProb=0.5", "Gloss=x", "_"],
        comments=["# sent_id = s1"],
    )  # fmt: skip


def test_a_row_a_word() -> None:
    names = ("sentence", "word", "form", "head", "deprel", "head_form", "head_lemma", "head_upos")
    assert rows_of([trees()], *names) == [
        ("s1", 1, "Old", 2, "amod", "trees", "tree", "NOUN"),
        ("s1", 2, "trees", 3, "nsubj", "grow", "grow", "VERB"),
        ("s1", 3, "grow", 0, "root", None, None, None),
    ]
    assert rows_of([trees()], "depth", "start", "end", "probability", "Number", "Gloss") == [
        (3, 0, 3, 0.5, None, None), (2, 4, 9, None, "Plur", "x"), (1, 10, 14, None, None, None)
    ]  # fmt: skip
    bare = Sentence.from_words(["Go"])
    assert rows_of([bare], "lemma", "head", "depth", "sentence") == [(None, None, None, "1")]


def test_comments_hold_for_their_documents(tmp_path: Path) -> None:
    def said(form: str, *comments: str) -> str:
        blanks = "\t_" * 8
        return "".join(f"# {comment}\n" for comment in comments) + f"1\t{form}{blanks}\n\n"

    path = tmp_path / "talk.conllu"
    path.write_text(
        said("Hm") + said("Hi", "newdoc id = a", "genre = talk", "speaker = Ann")
        + said("Yo", "speaker = Bo") + said("Oh", "newdoc id = b")
    )  # fmt: skip
    found = rows_of(
        read(path), "document", "form", "genre", "speaker", "start", comments=["genre", "speaker"]
    )
    assert found == [
        ("talk.conllu", "Hm", None, None, 0), ("a", "Hi", "talk", "Ann", 4),
        ("a", "Yo", "talk", "Bo", 7), ("b", "Oh", None, None, 11),
    ]  # fmt: skip


def test_a_name_that_is_taken() -> None:
    for name in ("form", "genre"):
        with pytest.raises(OptionError, match=f"already.*|has a column '{name}' already"):
            WordTable.of([trees()], [name], ["genre"])


def test_texts_keep_their_numbers() -> None:
    numbered = [trees().derived(item=0), trees().derived(item=2)]
    assert {row["row"] for row in WordTable.of(numbered).rows} == {0, 2}
    assert "row" not in WordTable.of([trees()]).types


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_file_without_words_has_the_names_of_columns(tmp_path: Path, ending: str) -> None:
    table, path = WordTable.of([]), tmp_path / f"words{ending}"
    write_table(table.rows, path, ending, table.types)
    [names] = csv.reader(io.StringIO(path.read_text()), delimiter=",\t"[ending == ".tsv"])
    assert names[:4] == ["document", "sentence", "word", "form"]


@pytest.mark.parametrize(
    ("library", "module"), [("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")]
)
def test_frames(library: Any, module: str) -> None:
    pytest.importorskip(module, reason=f"makes tables of {module}")
    frame = to_frame([trees()], library=library, features=["Case"])
    assert [str(form) for form in frame["form"]] == ["Old", "trees", "grow"]
    assert frame.shape == (3, 18)
    empty = to_frame([], library=library)
    assert empty.shape == (0, 17)


def test_parquet_has_the_types_of_columns_without_values(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'arrow'")
    path = tmp_path / "words.parquet"
    table = WordTable.of([Sentence.from_words(["Go"])] * 70_000)
    write_table(table.rows, path, ".parquet", table.types)
    found = pq.read_table(path)
    assert found.num_rows == 70_000
    assert {str(found.schema.field(name).type) for name in ("head", "start")} == {"int64"}
    assert str(found.schema.field("probability").type) == "double"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_texts_of_a_column(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "reviews.csv"
    rows = ["stars,review,x", '5,"Great.\r\nIt ""is""!",', "1", "", "2,,y", f"3,{'b ' * 99_000},"]
    text = "\ufeff" + "\r\n".join(rows)
    path.write_bytes(text.replace(",", separator).encode())
    texts = [cell for [cell] in read_columns(path, ["review"])]
    assert texts == ['Great.\r\nIt "is"!', None, "", "b " * 99_000]
    assert [cells[::-1] for cells in read_columns(path, ["stars", "x"])][2] == ["y", "2"]
    path.write_text("review\nGreat\n\nBad\n")
    assert list(read_columns(path, ["review"])) == [["Great"], [None], ["Bad"]]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("stars,review\n5,Great\n", OptionError, "no column 'text'; the columns are 'stars', 're"),
        ("text,x,text\n", OptionError, "2 columns 'text'; the columns are 'text', 'x', 'text'"),
        ("", TreebankError, "the file or its first line is empty"),
        ("\nGood\n", TreebankError, "the file or its first line is empty"),
        ('text\nfine\n"\n"\n"b\n\nc\n', TreebankError, r"reviews.csv:5: the row that begins here"),
        ('x,text\n1,a\n2,"b\n3,"c"\n', TreebankError, r"reviews.csv:3: .*ends with one, and has"),
        ('text\nfine\n"' + "b\n" * (1 << 18), TreebankError, r"csv:3: .*field larger than"),
        ("text\n\udcff\n", TreebankError, r"reviews.csv:2: byte 0xff is not UTF-8"),
    ],
)
def test_tables_without_the_column_or_with_a_broken_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, error: type[Exception], said: str
) -> None:
    monkeypatch.setattr(tables, "_LONGEST_CELL", 1 << 18)
    path = tmp_path / "reviews.csv"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(error, match=said):
        list(read_columns(path, ["text"]))


def test_only_what_can_run_in_a_spreadsheet_gets_an_apostrophe() -> None:
    formulas = ("=SUM", "+1", "-cmd|' /C calc'!A0", "@x", "\t=1", "-LRB-1", "-2\n")
    assert [harmless(cell) for cell in formulas] == [f"'{cell}" for cell in formulas]
    for cell in ("-LRB-", "-", "--", "=", "+", "@", "...", "a-b", "'s", "-_-"):
        assert harmless(cell) == cell
