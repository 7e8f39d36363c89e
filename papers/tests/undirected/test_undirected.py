"""The tables of *undirected*, from the trees of four models."""

from __future__ import annotations

import errno
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import arborescence as arb
from arborescence import TreebankError
from arborescence.parsers import LinearParser
from arborescence.treebank import Sentence, evaluate
from arborescence.undirected import enhance
from arborescence_papers.common import scores as scores_module
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.report import files_of, write
from arborescence_papers.common.scores import Scores, counted_words
from arborescence_papers.common.treebanks import LeftOut
from arborescence_papers.undirected import plots, report, reproduce
from arborescence_papers.undirected.measure import (
    FINDINGS,
    MODELS,
    Counts,
    Outcome,
    oracle_uas,
    wins,
)
from brute_force import all_trees
from reports import rows_of, table_rows
from small_treebanks import sentences, write_treebanks

RECIPE = Recipe(loss="mira", root="single", epochs=2, bits=10)
OPTIONS = {"recipe": RECIPE}
DIRECTED = "mira-single-seed1"
UNDIRECTED = "mira-single-undirected-undirected-features-seed1"
ENCODED = "mira-single-undirected-directed-features-seed1"


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


def sentence(heads, relations):
    return Sentence.from_words(["word"] * len(heads), heads=[-1, *heads], deprels=relations.split())


def counts_of(gold, trees):
    return Counts.of([one.tree for one in gold], map(counted_words, gold), trees)


GOLD = [
    sentence([2, 0, 2, 3, 2], "nsubj root obj nmod punct"),
    sentence([0, 1], "root obj"),
    sentence([0], "punct:odd"),
]


def test_gold_itself():
    counts = counts_of(GOLD, [gold.tree for gold in GOLD])
    assert counts.words.tolist() == counts.directed.tolist() == [4, 2, 0]
    assert counts.undirected.tolist() == [4, 2, 0]
    assert (counts.uas, counts.undirected_uas, counts.right_roots) == (100, 100, 100)


def test_turned_edges():
    # 1: root in place of 2; 3 -> 4 turned, so that 3 hangs from 4 and 4 from 2; the point is wrong.
    trees = [[-1, 0, 1, 4, 2, 3], [-1, 2, 0], [-1, 0]]
    counts = counts_of(GOLD, trees)
    assert counts.directed.tolist() == [0, 0, 0]
    # 1-2 is there (turned), and 3-4 (turned); the edge from the root is another, and 2-3 is not.
    assert counts.undirected.tolist() == [2, 1, 0]
    assert counts.roots.tolist() == [False, False, True]
    assert counts.undirected_uas == 50


def test_no_words():
    counts = counts_of(GOLD[2:], [[-1, 0]])
    assert counts.uas == oracle_uas(counts, counts) == 0


def test_wins_and_the_oracle():
    ours = counts_of(GOLD, [[-1, 2, 0, 2, 2, 2], [-1, 2, 0], [-1, 0]])
    theirs = counts_of(GOLD, [[-1, 2, 0, 4, 2, 2], [-1, 0, 1], [-1, 0]])
    assert ours.directed.tolist() == [3, 0, 0]
    assert theirs.directed.tolist() == [2, 2, 0]
    assert wins(ours, theirs) == wins(theirs, ours) == pytest.approx(100 / 3)
    assert wins(ours, ours) == 0
    assert oracle_uas(ours, theirs) == pytest.approx(100 * 5 / 6)


def test_directed_uas_is_that_of_evaluate():
    trees = all_trees(4, True)
    generator = np.random.default_rng(3)
    gold = [
        sentence(trees[i][1:], " ".join(relations))
        for i, relations in zip(
            generator.integers(len(trees), size=50),
            generator.choice(["obj", "punct", "nmod:poss"], (50, 4)),
            strict=True,
        )
    ]
    found = [trees[i] for i in generator.integers(len(trees), size=50)]
    parsed = [one.replace(heads=tree) for one, tree in zip(gold, found, strict=True)]
    counts = counts_of(gold, found)
    assert counts.uas == pytest.approx(100 * evaluate(gold, parsed, punctuation=False).uas.f1)
    assert 0 < counts.uas < counts.undirected_uas < 100


def test_undirected_edges_by_sets():
    """The obvious way: an edge is a set of two nodes."""
    trees = all_trees(4, True)
    generator = np.random.default_rng(4)
    for _ in range(200):
        heads, found = (trees[i] for i in generator.integers(len(trees), size=2))
        relations = generator.choice(["obj", "punct"], 4).tolist()
        edges = {frozenset((d, int(found[d]))) for d in range(1, 5)}
        right = [
            frozenset((d, int(heads[d]))) in edges
            for d, relation in enumerate(relations, 1)
            if relation != "punct"
        ]
        counts = counts_of([sentence(heads[1:], " ".join(relations))], [found])
        assert (counts.words.item(), counts.undirected.item()) == (len(right), sum(right))


def test_findings():
    birdish, arboric = ([finding.of(one.counts) for finding in FINDINGS] for one in OUTCOMES)
    assert birdish == pytest.approx([-5, 0, 25, 5, 50, 50, 0, 10])
    assert arboric == [0] * 8
    assert FINDINGS[0].average(OUTCOMES) == pytest.approx(-2.5)
    paper = [finding.paper for finding in FINDINGS]
    assert paper == [0.97, 0.67, 2.35, 0.26, 22.2, 22.2, 55, 1.2]


def test_which_parses_more_sentences_better():
    [finding] = [one for one in FINDINGS if one.paper == 55]
    words, roots = np.array([2, 2, 2]), np.array([True] * 3)
    one, other = (
        Counts(words, np.array(right), np.array(right), roots) for right in ([1, 1, 2], [2, 2, 1])
    )
    assert finding.of({"D-MST": one, "U-MST-uf-lep": other}) == 100
    assert finding.of({"D-MST": other, "U-MST-uf-lep": one}) == 0
    assert finding.of({"D-MST": one, "U-MST-uf-lep": one}) == 0


def test_tables(tmp_path):
    left_out = [LeftOut("Grove", "no test part", failed=False)]
    texts = files_of(
        report.parts(OUTCOMES, ["uas.svg"], recipe=Recipe(epochs=7, seed=3, bits=12)), left_out
    )
    write(tmp_path, texts)
    text = texts["report.md"]
    assert text.endswith("\n- Grove: no test part\n")
    assert "epochs 7, bits 12, seed 3" in text
    assert "![uas.svg](uas.svg)" in text
    directed, undirected, _, pair = table_rows(text, "Birdish")
    assert directed == ["Birdish", "1,200 (train)", "80.00", "85.00", "60.00", "70.00"]
    assert undirected == ["Birdish", "1,200 (train)", "90.00", "90.00", "85.00", "80.00"]
    assert pair == ["Birdish", "1,200 (train)", "50.00", "50.00", "90.00", "10.00"]
    averages = table_rows(text, "**average of 2**")
    assert averages[0][2:] == ["65.00", "67.50", "55.00", "60.00"]
    [enhancement] = table_rows(text, "what local enhancement adds, directed UAS")
    assert enhancement[1:] == ["2.35", "12.50", "25.00"]  # the paper's, all, with a train part

    birdish, arboric, *_ = rows_of(tmp_path / "directed-uas.csv")
    assert list(birdish) == ["treebank", "sentences to learn from", *MODELS]
    assert (birdish["treebank"], arboric["treebank"]) == ("Birdish", "Arboric")
    assert birdish["U-MST-uf-lep"] == "85.00"


def test_one_kind_of_treebank_has_one_average():
    text = files_of(report.parts(OUTCOMES[:1], [], recipe=Recipe(epochs=1, bits=10)), [])[
        "report.md"
    ]
    assert text.count("average of") == 5
    assert "left out\n" not in text


def test_plots(tmp_path):
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
    left_out = reproduce(treebanks, tmp_path, **OPTIONS, progress=lambda *step: seen.append(step))
    assert [one.treebank for one in left_out] == ["Empty", "Untaught", "Untested"]
    assert not any(one.failed for one in left_out)
    three = [("undirected", "undirected"), ("exact", "directed"), ("undirected", "directed")]
    assert trained == 2 * three
    assert seen[-1] == ("parsers: all done", 6, 6)
    assert (f"parsers: Birdish, {DIRECTED}", 1, 6) in seen
    assert any(what == "this one: epoch 2" for what, _, _ in seen)
    for treebank, test in (("Birdish", sentences()[2:]), ("Arboric", sentences()[:3])):
        for name in (DIRECTED, UNDIRECTED, ENCODED):
            scores = Scores.read(tmp_path / "scores" / name / f"{treebank}.npz")
            assert scores.lengths.tolist() == list(map(len, test))
            assert all(map(arb.is_tree, scores.single))
            assert (scores.matrices is None) == (name != DIRECTED)
    birdish, arboric, *_ = rows_of(tmp_path / "directed-uas.csv")
    learned = [row["sentences to learn from"] for row in (birdish, arboric)]
    assert learned == ["4 (train)", "5 (dev)"]
    directed, undirected = (
        Scores.read(tmp_path / "scores" / name / "Birdish.npz") for name in (DIRECTED, UNDIRECTED)
    )
    pairs = zip(directed.matrices, undirected.single, strict=True)
    trees = [enhance(matrix, heads, 5, changes="best") for matrix, heads in pairs]
    enhanced = Counts.of(directed.gold, directed.counted, trees).uas
    assert birdish["U-MST-uf-lep"] == f"{enhanced:.2f}"
    # The training sentences of Arboric hold two of its test set.
    assert min(float(arboric["D-MST"]), float(arboric["U-MST-df"])) > 50


def test_what_is_done_is_not_done_again(treebanks, trained, tmp_path):
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    report = (tmp_path / "report.md").read_bytes()
    del trained[:]
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    assert not trained
    assert (tmp_path / "report.md").read_bytes() == report

    (tmp_path / "scores" / DIRECTED / "Birdish.npz").unlink()
    reproduce(treebanks, tmp_path, **OPTIONS, only=["Birdish"])
    assert trained == [("exact", "directed")]
    assert (tmp_path / "report.md").read_bytes() == report

    del trained[:]
    reproduce(treebanks, tmp_path, recipe=replace(RECIPE, epochs=1), only=["Birdish"])
    assert len(trained) == 3


def test_an_interruption_keeps_what_is_done(treebanks, trained, tmp_path):
    def interrupt(what, _done, _total):
        if what.startswith(f"parsers: Birdish, {ENCODED}"):
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
    [arboric] = reproduce(treebanks, tmp_path / "out", **OPTIONS, only=only)
    assert (arboric.treebank, arboric.failed) == ("Arboric", True)
    assert str(broken) in arboric.reason
    assert f"- Arboric: {broken}" in (tmp_path / "out" / "report.md").read_text()
    assert len(rows_of(tmp_path / "out" / "directed-uas.csv")) == 2

    def full(path, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(scores_module.model_file, "save", full)
    with pytest.raises(TreebankError, match=r"no treebank that can be used: .*\.npz: No space"):
        reproduce(treebanks, tmp_path / "full", **OPTIONS, only=["Birdish"])


@pytest.mark.parametrize("wrong", [{"models": "models"}, {"recipe": Recipe(parser="transition")}])
def test_parsers_that_cannot_be_compared(treebanks, tmp_path, wrong):
    with pytest.raises(ValueError, match="parsers must be linear ones that are trained here"):
        reproduce(treebanks, tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()
