"""What `arborescence parse` writes and reads beside CoNLL-U: tables, places, contractions."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

import arborescence as arb
from arborescence.treebank import read

if TYPE_CHECKING:
    from pathlib import Path

    from lessons import Command

FAST = ("parse", "-m", "english-fast")


def rows_of(path: Path, separator: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


def test_a_table_has_a_row_a_word(command: Command, tmp_path: Path) -> None:
    texts = {"a": "They don't  sing.\r\n", "b": "=Birds 😀 sing!"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, newline="")
    path = tmp_path / "words.csv"
    files = (tmp_path / "a.txt", tmp_path / "b.txt")
    options = ("--features", "Number,Case", "--confidence", "-o", path)
    assert command(*FAST, "--format", "text", *files, *options).status == 0
    rows = rows_of(path)
    assert {row["document"] for row in rows} == {"a", "b"}
    for row in rows:
        written = texts[row["document"]][int(row["start"]) : int(row["end"])]
        assert written == ("don't" if row["form"] in ("do", "n't") else row["form"].lstrip("'"))
        assert 0 < float(row["probability"]) <= 1
    assert [row["Number"] for row in rows if row["form"] == "They"] == ["Plur"]
    parser = arb.load("english-fast")
    trees = [tree for file in files for tree in parser.parse(file)]
    assert [int(row["head"]) for row in rows] == [head for tree in trees for head in tree.heads]


def test_the_texts_of_a_column(command: Command, tmp_path: Path) -> None:
    path, found = tmp_path / "reviews.csv", tmp_path / "words.tsv"
    path.write_text('stars,review\n5,"Great.\nWe came back."\n1,\n2,Meh\n')
    result = command(*FAST, "--column", "review", path, "-o", found)
    assert result.status == 0
    assert result.err.startswith("arborescence: 1 of 3 texts are empty or missing")
    rows = rows_of(found, "\t")
    assert {(row["row"], row["sentence"]) for row in rows} == {
        ("0", "0-1"), ("0", "0-2"), ("2", "2-1")
    }  # fmt: skip
    piped = command(*FAST, "--column", "review", stdin=path.read_bytes())
    assert "# sent_id = 2-1\n# text = Meh\n" in piped.out
    message = command(*FAST, "--column", "text", path).complaint()
    assert message.endswith("no column 'text'; the columns are 'stars', 'review'\n")


def test_other_columns_of_the_table_are_comments(command: Command, tmp_path: Path) -> None:
    path, found = tmp_path / "reviews.csv", tmp_path / "words.csv"
    path.write_text('review,genre,id\nMeh,,a\n,news,b\n"Great. We came.","a\nb",c\n')
    asked = (*FAST, "--column", "review", path, "-o", found, "--comments")
    command(*asked, "genre, id")
    rows = {(row["row"], row["genre"], row["id"]) for row in rows_of(found)}
    assert rows == {("0", "", "a"), ("2", "a b", "c")}
    assert "no column 'speaker'" in command(*asked, "speaker").complaint()
    path.write_text("review\n")
    assert command(*FAST, "--column", "review", path, "-o", found).status == 0
    assert found.read_text().startswith("row,document,sentence,")


@pytest.mark.parametrize("more", [(), ("--threads", 2)])
def test_places_of_tokens(command: Command, tmp_path: Path, more: tuple[object, ...]) -> None:
    text = "Birds don't\r\nsing. 😀\r\n\r\nThey sing.\r\n" * 50
    path, out = tmp_path / "a.txt", tmp_path / "a.conllu"
    path.write_text(text, newline="")
    assert command(*FAST, "--format", "text", "--ranges", path, "-o", out, *more).status == 0
    sentences = list(read(out))
    assert len(sentences) > 90
    for sentence in sentences:
        assert str(sentence).count("TokenRange=") == len(sentence) - len(sentence.multiwords)
        for first, _, form in sentence.multiwords:
            start, end = sentence.ranges[first - 1]
            assert text[start:end] == form
        assert text[slice(*sentence.ranges[-1])] == sentence.forms[-1]
    again = command(*FAST, out, "--ranges").out
    assert again.count("TokenRange=") == out.read_text().count("TokenRange=")
    folder = tmp_path / "in"
    folder.mkdir()
    path.rename(folder / "a.txt")
    shards = ("--shards", folder, tmp_path / "out", "--workers", 2, "--ranges")
    assert command(*FAST, *shards).status == 0
    assert (tmp_path / "out" / "a.conllu").read_bytes() == out.read_bytes()


def test_json_is_that_of_python(command: Command) -> None:
    text = "Birds don't sing.\n\nThey sing."
    lines = command(*FAST, "--format", "text", "--json", "--confidence", stdin=text).out
    parsed = arb.load("english-fast").parse(text, confidence=True)
    expected = [tree.to_dict() for tree in parsed]
    found = [json.loads(line) for line in lines.splitlines()]
    assert [one | {"sent_id": ""} for one in found] == [one | {"sent_id": ""} for one in expected]
    assert found[1]["start"] == [19, 24, 28]
    assert found[0]["multiwords"] == [[2, 3, "don't"]]
    # in CoNLL-U, too, words count through the file
    conllu = "1\tGo\t_\t_\t_\t_\t_\t_\t_\t_\n\n" * 2
    lines = command(*FAST, "--json", stdin=conllu).out
    assert [json.loads(line)["start"] for line in lines.splitlines()] == [[0], [3]]


def test_contractions_in_words_that_are_given(command: Command, tmp_path: Path) -> None:
    words = "They don't sing\nBirds can't"
    result = command(*FAST, "--format", "tokens", stdin=words)
    assert "2-3\tdon't\t_" in result.out
    assert "2-3\tcan't\t_" in result.out
    assert result.err == (
        "<stdin>: 2 contractions were split into words; --keep-words keeps them whole\n"
    )
    assert command(*FAST, "--format", "tokens", "--quiet", stdin=words).err == ""
    kept = command(*FAST, "--format", "tokens", "--keep-words", stdin=words)
    assert (kept.out.count("\t_\n"), kept.err) == (5, "")
    conllu = tmp_path / "words.conllu"
    conllu.write_text("1\tThey\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert "2-3" not in command(*FAST, conllu).out
    assert "2-3\tdon't\t_" in command(*FAST, "--split-words", conllu).out


def test_columns_of_other_names_survive(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "a.cupt"
    columns = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
    rows = ["1 They they PRON _ _ 3 x _ _ *", "2 took take VERB _ _ 1 x _ _ 1:LVC.full",
            "3 part part NOUN _ _ 0 root _ _ 1"]  # fmt: skip
    lines = "\n".join(row.replace(" ", "\t") for row in rows)
    path.write_text(f"# global.columns = {columns}\n{lines}\n\n")
    out = tmp_path / "out.cupt"
    assert command(*FAST, path, "-o", out).status == 0
    found = out.read_text().splitlines()
    assert found[0] == f"# global.columns = {columns}"
    assert [line.split("\t")[-1] for line in found[1:4]] == ["*", "1:LVC.full", "1"]
    assert [line.split("\t")[6] for line in found[1:4]] == ["2", "0", "2"]
    folder = tmp_path / "in"
    folder.mkdir()
    path.rename(folder / "a.cupt")
    assert command(*FAST, "--shards", folder, tmp_path / "done").status == 0
    assert (tmp_path / "done" / "a.cupt").read_bytes() == out.read_bytes()
