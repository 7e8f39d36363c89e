"""The tables of *undirected*, from the trees of four models."""

from __future__ import annotations

import builtins
import csv
import errno
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import arborescence as arb
from arborescence import TreebankError
from arborescence.experiments.common import results
from arborescence.experiments.common.measures import Counts
from arborescence.experiments.common.treebanks import LeftOut
from arborescence.experiments.undirected import plots, reproduce, tables
from arborescence.experiments.undirected.findings import FINDINGS
from arborescence.experiments.undirected.models import MODELS, Outcome, Settings
from arborescence.parsers import LinearParser
from small_treebanks import sentences, write_treebanks

OPTIONS = {"epochs": 2, "bits": 10}
TREES = ["D-MST.json", "U-MST-df.json", "U-MST-uf-lep.json", "U-MST-uf.json"]


def counts(directed, undirected):
    """Of two sentences of ten words."""
    return Counts(
        np.array([10, 10]), np.array(directed), np.array(undirected), np.array([True, False])
    )


OUTCOMES = [
    Outcome(
        "Birdish",
        "train",
        1200,
        {
            "D-MST": counts([9, 7], [10, 8]),
            "U-MST-uf-lep": counts([8, 9], [8, 10]),
            "U-MST-uf": counts([6, 6], [8, 9]),
            "U-MST-df": counts([7, 7], [8, 8]),
        },
    ),
    Outcome("Arboric", "dev", 50, dict.fromkeys(MODELS, counts([5, 5], [6, 7]))),
]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def table_rows(report, first):
    """The cells of the table rows of a report whose first cell is this."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report.splitlines()]
    return [row for row in rows if row and row[0] == first]


def test_findings():
    birdish, arboric = ([finding.of(one.counts) for finding in FINDINGS] for one in OUTCOMES)
    assert birdish == pytest.approx([-5, 0, 25, 5, 50, 50, 5])
    assert arboric == [0] * 7
    assert FINDINGS[0].average(OUTCOMES) == pytest.approx(-2.5)
    paper = [finding.paper for finding in FINDINGS]
    assert paper == [0.97, 0.67, 2.35, 0.26, 22.2, 22.2, 1.2]


def test_tables(tmp_path):
    left_out = [LeftOut("Grove", "no test part", failed=False)]
    tables.write(OUTCOMES, left_out, Settings(epochs=7, seed=3, bits=12), ["uas.svg"], tmp_path)
    report = (tmp_path / "report.md").read_text()
    assert report.endswith("\n- Grove: no test part\n")
    assert "epochs 7, seed 3, bits 12" in report
    assert "![uas.svg](uas.svg)" in report
    directed, undirected, _, pair = table_rows(report, "Birdish")
    assert directed == ["Birdish", "1,200 (train)", "80.00", "85.00", "60.00", "70.00"]
    assert undirected == ["Birdish", "1,200 (train)", "90.00", "90.00", "85.00", "80.00"]
    assert pair == ["Birdish", "1,200 (train)", "50.00", "50.00", "90.00", "5.00"]
    averages = table_rows(report, "**average of 2**")
    assert averages[0][2:] == ["65.00", "67.50", "55.00", "60.00"]
    [enhancement] = table_rows(report, "what local enhancement adds, directed UAS")
    assert enhancement[1:] == ["2.35", "12.50", "25.00"]  # the paper's, all, with a train part

    models = rows_of(tmp_path / "models.csv")
    assert [(row["treebank"], row["model"]) for row in models] == [
        (outcome.treebank, model) for outcome in OUTCOMES for model in MODELS
    ]
    assert models[1]["uas"] == "85.00"
    assert models[1]["words"] == "20"
    assert [row["gain"] for row in rows_of(tmp_path / "pairs.csv")] == ["5.00", "0.00"]


def test_one_kind_of_treebank_has_one_average(tmp_path):
    tables.write(OUTCOMES[:1], [], Settings(epochs=1, seed=1, bits=10), [], tmp_path)
    report = (tmp_path / "report.md").read_text()
    assert report.count("average of") == 5
    assert "left out\n" not in report


def test_plots(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra 'experiments'")
    assert plots.draw(OUTCOMES, tmp_path) == ["uas.svg", "wins.svg"]
    drawn = {name: (tmp_path / name).read_bytes() for name in ("uas.svg", "wins.svg")}
    for picture in drawn.values():
        words = "".join(ET.fromstring(picture).itertext())
        assert "Birdish" in words
        assert "Arboric" in words
    plots.draw(OUTCOMES, tmp_path)
    assert drawn == {name: (tmp_path / name).read_bytes() for name in drawn}


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory):
    return write_treebanks(tmp_path_factory.mktemp("treebanks"))


@pytest.fixture
def trained(monkeypatch):
    """What was asked of each training."""
    asked = []
    train = LinearParser.train

    def noted(treebank, **options):
        asked.append((options["inference"], options["features"]))
        return train(treebank, **options)

    monkeypatch.setattr(LinearParser, "train", noted)
    return asked


def test_from_treebanks_to_tables(treebanks, trained, tmp_path):
    seen = []
    plotted, left_out = reproduce(
        treebanks, tmp_path, **OPTIONS, progress=lambda *step: seen.append(step)
    )
    assert plotted == (tmp_path / "uas.svg").exists()
    assert [one.treebank for one in left_out] == ["Empty", "Untaught", "Untested"]
    assert not any(one.failed for one in left_out)
    three = [("undirected", "undirected"), ("exact", "directed"), ("undirected", "directed")]
    assert trained == 2 * three
    assert seen[-1] == ("models: all done", 8, 8)
    assert ("models: Birdish, U-MST-uf-lep", 2, 8) in seen
    assert any(what == "this one: epoch 2" for what, _, _ in seen)
    for treebank, exams in (("Birdish", sentences()[2:]), ("Arboric", sentences()[:3])):
        files = sorted((tmp_path / "trees" / treebank).iterdir())
        assert [file.name for file in files] == TREES
        for file in files:
            trees = json.loads(file.read_bytes())["result"]
            assert [len(tree) - 1 for tree in trees] == list(map(len, exams))
            assert all(map(arb.is_tree, trees))
    assert [row["lessons"] for row in rows_of(tmp_path / "models.csv")] == 4 * ["4"] + 4 * ["5"]
    # The lessons of Arboric hold two of its exams.
    by_model = {row["model"]: float(row["uas"]) for row in rows_of(tmp_path / "models.csv")[4:]}
    assert min(by_model["D-MST"], by_model["U-MST-df"]) > 50


def test_what_is_done_is_not_done_again(treebanks, trained, tmp_path):
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    report = (tmp_path / "report.md").read_bytes()
    del trained[:]
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    assert not trained
    assert (tmp_path / "report.md").read_bytes() == report

    (tmp_path / "trees" / "Birdish" / "U-MST-uf-lep.json").unlink()
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    assert trained == [("exact", "directed")]  # its scores are needed for the enhancement
    assert (tmp_path / "report.md").read_bytes() == report

    del trained[:]
    reproduce(treebanks, tmp_path, epochs=1, bits=10, only=["Birdish"])
    assert len(trained) == 3


def test_an_interruption_keeps_what_is_done(treebanks, trained, tmp_path):
    def interrupt(what, _done, _total):
        if what.startswith("models: Birdish, U-MST-df"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"], progress=interrupt)
    assert len(trained) == 2
    assert not (tmp_path / "report.md").exists()
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    assert len(trained) == 3


def test_what_fails_is_left_out(tmp_path, monkeypatch):
    treebanks = write_treebanks(tmp_path / "treebanks")
    broken = treebanks / "Arboric" / "ar-ud-test.conllu.gz"
    broken.write_bytes(b"no gzip")
    only = ["Birdish", "Arboric"]
    _, [arboric] = reproduce(treebanks, tmp_path / "out", **OPTIONS, only=only)
    assert (arboric.treebank, arboric.failed) == ("Arboric", True)
    assert str(broken) in arboric.reason
    assert f"- Arboric: {broken}" in (tmp_path / "out" / "report.md").read_text()
    assert len(rows_of(tmp_path / "out" / "models.csv")) == 4

    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(results, "replacing", full)
    with pytest.raises(TreebankError, match=r"no treebank that can be used: .*\.json: No space"):
        reproduce(treebanks, tmp_path / "full", **OPTIONS, only=["Birdish"])


def test_without_matplotlib(treebanks, trained, tmp_path, monkeypatch):
    load = builtins.__import__

    def refusing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refusing)
    assert reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"]) == (False, [])
    assert "svg" not in (tmp_path / "report.md").read_text()
    assert not list(tmp_path.glob("*.svg"))
