"""``arborescence search`` into a Parquet table; all else is in transcripts."""

import pytest

from arborescence.treebank import write
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
