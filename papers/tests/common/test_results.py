"""Results are made once, unless what they depend on changes."""

from __future__ import annotations

import json

import pytest

from arborescence_papers.common.experiment import Results


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "deep" / "results")


def fail():
    raise AssertionError("made again")


def test_made_once(results, tmp_path):
    made = {"heads": [[-1, 0]], "name": "ü"}
    assert results.once("a/b", {"epochs": 2, "name": "x"}, lambda: made) == made
    again = Results(tmp_path / "deep" / "results")
    assert again.once("a/b", {"name": "x", "epochs": 2}, fail) == made
    assert [path.name for path in tmp_path.rglob("*.*")] == ["b.json"]


def test_other_settings_replace_it(results):
    assert results.once("a", {"epochs": 2}, lambda: 2) == 2
    assert results.once("a", {"epochs": 3}, lambda: 3) == 3
    assert results.once("a", {"epochs": 2}, lambda: 4) == 4
    with pytest.raises(AssertionError, match="made again"):
        results.once("a", {"epochs": 2, "bits": 3}, fail)
    assert results.once("a", {"epochs": 2}, fail) == 4  # what failed has changed nothing


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", "null", '{"settings": {"epochs": 2}}'])
def test_damaged_files_count_as_missing(results, tmp_path, content):
    file = tmp_path / "deep" / "results" / "a.json"
    file.write_text(content)
    assert results.once("a", {"epochs": 2}, lambda: 5) == 5
    assert json.loads(file.read_bytes()) == {"settings": {"epochs": 2}, "result": 5}


def test_an_interruption_leaves_nothing(results, tmp_path):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results.once("a", {}, interrupted)
    assert not list(tmp_path.rglob("*.*"))


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Results(tmp_path / "file" / "results")
