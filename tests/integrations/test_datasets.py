"""`Parse` in Hugging Face datasets, as on the page."""

import pytest

datasets = pytest.importorskip("datasets", reason="needs the package datasets")

from arborescence.integrations.arrow import Parse  # noqa: E402

TEXTS = ["Old trees grow slowly. They don't mind!", "", "Birds sing."]


def test_map(tmp_path):
    datasets.disable_progress_bars()
    texts = datasets.Dataset.from_dict({"doc_id": ["a", "b", "c"], "text": TEXTS, "n": [1, 2, 3]})
    parse = Parse("english")
    parsed = texts.with_format("arrow").map(
        parse, batched=True, cache_file_name=str(tmp_path / "cache.arrow")
    )
    assert parsed.with_format(None)["sent_id"][:] == ["a-1", "a-2", None, "c-1"]
    assert parsed.with_format(None)["n"][:] == [1, 1, 2, 3]
    expected = parse(texts.with_format("arrow")[:])
    assert parsed.with_format("arrow")[:]["heads"].to_pylist() == expected["heads"].to_pylist()
