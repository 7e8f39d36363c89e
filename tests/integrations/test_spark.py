"""`Parse` in Spark's `mapInArrow`, as on the page."""

import os
import shutil
import sys
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow", reason="needs the extra 'arrow'")
pyspark = pytest.importorskip("pyspark", reason="needs the package pyspark")
if not shutil.which("java"):
    pytest.skip("needs Java", allow_module_level=True)

from arborescence.integrations.arrow import Parse  # noqa: E402

WORDS = [["Old", "trees", "grow", "slowly", "."], ["Small", "birds", "sing", "in", "them", "."]]


@pytest.mark.filterwarnings("ignore")
def test_map_in_arrow(monkeypatch):
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema

    sources = str(Path(__file__).parents[2] / "src")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([sources, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        rows = [(n, f"s{n}", WORDS[n % 2]) for n in range(40)]
        words = spark.createDataFrame(rows, "n int, sent_id string, forms array<string>")
        parse = Parse("english")
        columns = from_arrow_schema(parse.schema(words.toArrow().schema))
        parsed = words.mapInArrow(lambda batches: map(parse, batches), columns).toArrow()
    finally:
        spark.stop()
    assert sorted(parsed["n"].to_pylist()) == list(range(40))
    found = sorted(parsed.to_pylist(), key=lambda row: row["n"])
    expected = parse(pa.table({"forms": WORDS}))["heads"].to_pylist()
    assert [row["heads"] for row in found] == expected * 20
