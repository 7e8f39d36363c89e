"""``arborescence search`` into a Parquet table; all else is in transcripts."""

import pytest

from arborescence.cli import searching
from arborescence.treebank import write
from arborescence.treebank.patterns import find, pattern
from samples import treebank


def test_a_parquet_table(command, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    write(treebank(), tmp_path / "bank.conllu")
    asked = ("search", "V -[nsubj]-> S", tmp_path / "bank.conllu")
    lines = command(*asked, "--count", "S.form").out.splitlines()
    assert lines
    command(*asked, "-o", tmp_path / "found.parquet")
    table = parquet.read_table(tmp_path / "found.parquet").to_pylist()
    assert {row["S.form"] for row in table} == {line.split("\t")[1] for line in lines}


def test_a_feature_that_no_word_has_is_named(command, tmp_path):
    write(treebank(), tmp_path / "bank.conllu")
    done = command(
        "search",
        "V -[nsubj]-> S",
        tmp_path / "bank.conllu",
        "--count",
        "S.foo",
        "--count",
        "S.upos",
    )
    assert done.err == "S.foo: no word of a match has such a feature\n"
    assert "\t_\t" in done.out


def test_a_pattern_without_a_node(command):
    assert "write 'V [upos=VERB]', for example" in command("search", "").complaint(2)


@pytest.mark.parametrize("more", [[], ["--count", "S.form"]])
def test_the_pattern_is_read_once(monkeypatch, tmp_path, more):
    write(treebank(), tmp_path / "bank.conllu")
    read = []

    def parse(text, parse=pattern.parse):
        read.append(text)
        return parse(text)

    monkeypatch.setattr(pattern, "parse", parse)
    monkeypatch.setattr(find, "parse", parse)
    searching.search("V -[nsubj]-> S", [str(tmp_path / "bank.conllu")], more[1:] or None)
    assert read == ["V -[nsubj]-> S"]
