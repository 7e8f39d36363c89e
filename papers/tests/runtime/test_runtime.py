"""What decoding takes: the arithmetic with a made-up clock, and the whole on small treebanks."""

from __future__ import annotations

import csv
import errno
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import arborescence as arb
from arborescence_papers.baselines import reweighted
from arborescence_papers.common.experiment import Results
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.report import files_of
from arborescence_papers.common.treebanks import LeftOut
from arborescence_papers.runtime import decoders, plots, report, reproduce
from arborescence_papers.runtime import measure as module
from arborescence_papers.runtime.clock import machine, race
from arborescence_papers.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    EISNER,
    FALLBACK,
    N_RUNS,
    NAIVE,
    REWEIGHTED,
    UNCONSTRAINED,
    count_worse,
)
from arborescence_papers.runtime.graphs import KINDS
from arborescence_papers.runtime.measure import (
    CONTESTANTS,
    OURS,
    Lists,
    Measured,
    Projective,
    Timed,
    Times,
    batch_of,
    enough,
    few_of,
    same_lists,
    time_decoders,
    time_lists,
    time_projective,
)
from arborescence_papers.runtime.published import (
    CAMERINI,
    KBEST,
    KBEST_DEP,
    LEAVING_OUT,
    N_STARTS,
)
from small_treebanks import write_treebanks

RECIPE = Recipe(epochs=1, bits=10)
SMALL = {"recipe": RECIPE, "sizes": (3, 5), "ks": (2, 3)}


class Clock:
    """Goes on when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_race():
    clock, log = Clock(), []

    def runner(name, seconds):
        left = iter(seconds)

        def run():
            log.append(name)
            clock.now += next(left)

        return run

    runners = [runner("a", [9, 3, 2, 4]), runner("b", [1, 5, 6, 7])]
    assert race(runners, 3, clock) == [2, 5]  # the first run of each is to warm up
    assert "".join(log) == "ababbaab"


def test_times_of_lists(monkeypatch):
    clock = Clock()

    def found(scores, call, tree, k):
        clock.now += call + tree * k * (len(scores) - 2)
        heads = np.arange(k * len(scores)).reshape(k, -1)
        return heads, np.arange(k, 0.0, -1)

    def fake_published(scores, k, name):
        heads, weights = found(scores, 10, {CAMERINI: 3}.get(name, 2), k)
        if name == CAMERINI and len(scores) == 4:
            heads[0, 1] += 1  # another tree
        if name == LEAVING_OUT and len(scores) == 7:
            heads, weights = heads[:2], weights[:2]
        return heads, weights

    def fake_kbest(scores, k, root):
        heads, weights = found(scores, 20, 1, k)
        heads[-1, 1] += 1  # a tree that may tie
        return heads, weights

    monkeypatch.setattr(module, "kbest", fake_kbest)
    monkeypatch.setattr(module, "kbest_published", fake_published)
    graphs = [np.zeros((size, size)) for size in (3, 4, 7)]
    lists = time_lists(graphs, "multi", 10, rounds=2, clock=clock)
    assert lists == Lists(
        "multi",
        10,
        words=[2, 3, 6],
        seconds={CAMERINI: [40, 70, 160], KBEST: [30, 50, 110], OURS: [30, 40, 70]},
        calls={CAMERINI: 3 * [10], KBEST: 3 * [10], OURS: 3 * [20]},
        unequal=1,
        unfinished=0,
    )
    assert lists.ratio(CAMERINI, KBEST) == pytest.approx(1.5)
    assert lists.microseconds(OURS) == pytest.approx(80e6 / 3)
    lists = time_lists(graphs, "single", 10, rounds=1, clock=clock)
    assert list(lists.seconds) == [N_STARTS, KBEST_DEP, LEAVING_OUT, OURS]
    assert (lists.unequal, lists.unfinished) == (0, 1)
    short = Lists("multi", 1, [1], {OURS: [1.0]}, {OURS: [2.0]}, 0, 0)
    assert short.microseconds(OURS) == 1e-3


def test_the_same_lists():
    heads, weights = np.array([[-1, 0, 1], [-1, 2, 0], [-1, 0, 0]]), np.array([3.0, 2.0, 2.0])
    lists = heads, weights
    assert same_lists(lists, lists)
    assert same_lists((heads[[0, 2, 1]], weights), lists)  # the last ones tie
    assert same_lists((heads[:2], weights[:2]), lists)
    assert same_lists((heads[:0], weights[:0]), lists)
    assert same_lists((heads, weights * (1 + 1e-15)), lists)
    assert not same_lists((heads[[1, 0, 2]], weights), lists)
    assert not same_lists((heads, weights - [0, 0, 1e-9]), lists)


def test_times_of_decoders():
    ticks = iter(range(1000))
    timed = time_decoders("uniform", 4, sentences=5, rounds=2, clock=lambda: next(ticks))
    assert timed.seconds == dict.fromkeys(DECODERS, 1 / 5)  # a batch takes one tick
    batch = batch_of("uniform", 4, 5)
    best = arb.decode(batch, root="multi")
    assert timed.several == (arb.root_count(best) > 1).sum()
    assert timed.easy == arb.is_tree(DECODERS[decoders.GREEDY](batch), root="multi").sum()


def test_times_of_projective_trees(monkeypatch):
    ticks = iter(range(1000))
    timed = time_projective(5, sentences=8, few=4, rounds=2, clock=lambda: next(ticks))
    seconds = {CONSTRAINED: 1 / 8, EISNER: 1 / 8, NAIVE: 1 / 4}
    assert timed == Projective(5, 8, 4, seconds, worse=0)
    monkeypatch.setitem(decoders.PROJECTIVE, NAIVE, lambda batch: arb.decode(-batch))
    assert time_projective(6, sentences=40, few=40, rounds=1).worse == 40
    assert [few_of(n) for n in (3, 20, 100)] == [1000, 62, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_decoders_find_what_they_should(kind):
    batch = batch_of(kind, 6, 60)
    best = arb.decode(batch)
    for name in (CONSTRAINED, N_RUNS, FALLBACK):
        trees = DECODERS[name](batch)
        assert arb.is_tree(trees).all()
        assert count_worse(batch, best, trees) == 0
    trees = DECODERS[REWEIGHTED](batch)
    assert np.array_equal(trees, [reweighted(scores) for scores in batch])
    assert (count_worse(batch, best, trees) > 0) == (kind == "masked")
    words = batch[:, :, 1:].copy()
    words[:, np.arange(1, 7), np.arange(6)] = -np.inf
    assert np.array_equal(DECODERS[decoders.GREEDY](batch)[:, 1:], words.argmax(axis=1))
    assert np.array_equal(DECODERS[UNCONSTRAINED](batch), arb.decode(batch, root="multi"))


def test_graphs():
    for kind in KINDS:
        graphs = batch_of(kind, 5, 3)
        assert graphs.shape == (3, 6, 6)
        assert graphs.dtype == np.float32
        assert np.array_equal(graphs, batch_of(kind, 5, 3))
    total = np.exp(batch_of("model-like", 5, 3)).sum(axis=1)
    np.testing.assert_allclose(total, 1, rtol=1e-5)
    share = (batch_of("masked", 9, 50) == np.finfo(np.float32).min).mean()
    assert 0.25 < share < 0.35
    roots = arb.root_count(arb.decode(batch_of("many root edges", 5, 3), root="multi"))
    assert roots.tolist() == [5, 5, 5]
    nested = batch_of("nested cycles", 5, 3)
    assert DECODERS[decoders.GREEDY](nested)[:, 1:].tolist() == 3 * [[2, 1, 2, 3, 4]]
    assert [enough(n) for n in (3, 50, 500)] == [1000, 153, 10]


def test_worse_trees():
    scores = np.array([[0, 5, 5], [0, 0, 3], [0, 3, 0]])
    graphs = np.array([scores, scores, scores, scores.astype(np.float64)])
    graphs[3, 1, 2] = np.nextafter(3, 0)
    best = np.array([[-1, 0, 1], [-1, 0, 1], [-1, 0, 1], [-1, 2, 0]])
    # As good; lighter by nothing but its roots; the same; worse by a bit.
    others = np.array([[-1, 2, 0], [-1, 0, 0], [-1, 0, 1], [-1, 0, 1]])
    assert count_worse(graphs, best, others) == 2


def lists(root, k, ratio):
    """Of two sentences: calls take 1; each contestant takes `ratio` times the next one's time."""
    names = CONTESTANTS[root]
    powers = [ratio**power for power in reversed(range(len(names)))]
    seconds = {name: [2 * x + 1, 4 * x + 1] for name, x in zip(names, powers, strict=True)}
    return Lists(root, k, [5, 60], seconds, {name: [1.0, 1.0] for name in names}, 0, 1)


def growing(root, k, n, seconds):
    return Lists(
        root,
        k,
        [n],
        {name: [seconds] for name in CONTESTANTS[root]},
        {name: [0.0] for name in CONTESTANTS[root]},
        0,
        0,
    )


TREEBANKS = [
    Measured(name, lists(root, k, ratio))
    for name, ratio in (("Birdish", 2.0), ("Arboric", 3.0))
    for root in ("multi", "single")
    for k in (10, 50)
]
DECODED = [
    Timed(
        kind,
        n,
        40,
        {name: 1e-9 * n**2 * (n if name == N_RUNS else 2) for name in DECODERS},
        easy=30,
        several=10,
        worse={N_RUNS: 0, FALLBACK: 0, REWEIGHTED: 3},
    )
    for kind in KINDS
    for n in (10, 20, 50, 100)
]
WITH_WORDS = [
    Measured(kind, growing(root, 50, n, n**2 * 1e-4))
    for kind in ("model-like", "uniform")
    for root in ("multi", "single")
    for n in (10, 100)
]
WITH_TREES = [
    Measured(kind, growing(root, k, 25, k * 1e-6))
    for kind in ("model-like", "uniform")
    for root in ("multi", "single")
    for k in (10, 100)
]
POWERS = {NAIVE: 5, EISNER: 3, CONSTRAINED: 2}
OF_PROJECTIVE = [
    Projective(n, 60, 30, {name: 1e-9 * n**power for name, power in POWERS.items()}, worse=0)
    for n in (10, 20, 50, 100)
]
ALL = Times(TREEBANKS, DECODED, WITH_WORDS, WITH_TREES, OF_PROJECTIVE)
FIGURES = dict.fromkeys(
    ("speed-ups.svg", "decoders.svg", "lists.svg", "projective.svg"), "what it shows"
)


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def cells(report, *first):
    """The cells of the table rows of a report that begin with these."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report.splitlines()]
    return [row[len(first) :] for row in rows if tuple(row[: len(first)]) == first]


def test_tables():
    texts = files_of(report.parts(ALL, FIGURES, recipe=RECIPE), [])
    text = texts["report.md"]
    assert all(version in text for version in machine().values())
    rows = cells(text, "10")
    assert [row[:3] for row in rows if len(row) == 6] == [
        ["1.42", "2.50 [2.00, 3.00], 2.00 to 3.00", "2.50 [2.00, 3.00], 2.00 to 3.00"]
    ]
    assert rows[0][3:] == ["19,500,000.0", "7,500,000.0", "3,000,000.0"]
    # n starts take the square of the ratio, and leaving trees out its inverse.
    [row] = [row for row in rows if len(row) == 7]
    assert row[1].endswith("0.33 to 0.50")
    assert "Of 16 lists,\n0 differ" in text
    assert "did not finish 8 of" in text
    # Of the sentences of 5 words: (8 + 18) / (4 + 6), and (4 + 6) / (2 + 2).
    assert cells(text, "1 to 10")[0] == ["2", *2 * ["2.60", "2.50"]]
    assert cells(text, "Birdish") == [
        ["2", *4 * ["2.00"]],
        ["2", *2 * ["2.00", "0.50", "4.00"]],
    ]

    assert cells(text, N_RUNS)[0] == [
        *("1.00 (5.0×)", "8.00 (10.0×)", "125.00 (25.0×)", "1,000.00 (50.0×)", "3.00", "3.00")
    ]
    assert cells(text, CONSTRAINED)[0][-2:] == ["2.00", "2.00"]
    assert f"*{N_RUNS}* takes 50.0 to 50.0 times as long as *{CONSTRAINED}*" in text
    assert cells(text, "*the greedy graph is a tree, %*")[0][:2] == ["75", "75"]
    assert cells(text, "*several root edges without the constraint, %*")[0][0] == "25"
    assert cells(text, "masked") == [["160", "0", "0", "12"]]
    grown = cells(text, "uniform", "one")
    assert [row[0] for row in grown] == 2 * list(CONTESTANTS["single"])
    assert grown[1][1:] == ["200.00", "20,000.00", "2.00", "2.00"]
    assert grown[-1][1:] == ["1.00", "1.00", "1.00", "1.00"]
    for name, power in POWERS.items():
        assert cells(text, name)[-1][-2:] == 2 * [f"{power}.00"]
    assert "Of 120 sentences, *bilexical CKY* finds a worse tree for 0" in text

    rows = rows_of(texts["all-treebanks.csv"])
    assert [(row[""], row["sentences"]) for row in rows] == [("Birdish", "2"), ("Arboric", "2")]
    assert rows[0][f"{CAMERINI} / {KBEST}, k = 10"] == "2.00"
    rows = rows_of(texts["by-length.csv"])
    assert [row[""] for row in rows] == ["1 to 10", "more than 50"]
    assert rows[0][f"{CAMERINI} / {KBEST}, k = 10"] == "2.60"


def test_plots(tmp_path):
    drawn = plots.draw(ALL, tmp_path)
    assert list(drawn) == list(FIGURES)
    words = {name: "".join(ET.parse(tmp_path / name).getroot().itertext()) for name in drawn}
    for name, expected in (
        ("speed-ups.svg", ("Birdish", "Arboric", "k = 50", "the paper", KBEST_DEP)),
        ("decoders.svg", (*KINDS, *DECODERS, "n³", "100")),
        ("lists.svg", (f"{OURS}, uniform", "Camerini et al., uniform", "n²")),
        ("projective.svg", (NAIVE, EISNER, f"{CONSTRAINED} (any tree)", "n⁵", "n³", "n²")),
    ):
        assert all(word in words[name] for word in expected)


@pytest.fixture
def small(monkeypatch):
    """Small batches and few rounds."""
    monkeypatch.setattr(module, "enough", lambda n: 4)
    monkeypatch.setattr(module, "few_of", lambda n: 2)
    monkeypatch.setattr(module, "_ROUNDS", 1)


@pytest.fixture
def undrawn(monkeypatch):
    """The plots that are asked for, which are not drawn: that takes long."""
    asked = []

    def draw(times, *rest):
        asked.append(len(times.treebanks))
        return FIGURES

    monkeypatch.setattr(plots, "draw", draw)
    return asked


@pytest.fixture
def timed(monkeypatch):
    """What is timed, in order."""
    asked = []

    def noted(function):
        def call(first, *rest, **options):
            asked.append(first if isinstance(first, (str, int)) else len(first))
            return function(first, *rest, **options)

        return call

    for name in ("time_lists", "time_decoders", "time_projective"):
        monkeypatch.setattr(module, name, noted(getattr(module, name)))
    return asked


@pytest.mark.usefixtures("small")
def test_from_treebanks_to_tables(timed, tmp_path, undrawn):
    treebanks = write_treebanks(tmp_path / "ud")
    (treebanks / "Arboric" / "ar-ud-test.conllu.gz").write_bytes(b"no gzip")
    seen = []
    left_out = reproduce(
        treebanks, tmp_path / "out", **SMALL, sentences=3, progress=lambda *step: seen.append(step)
    )
    assert [(one.treebank, one.failed) for one in left_out] == [
        *(("Empty", False), ("Untaught", False), ("Untested", False), ("Arboric", True))
    ]
    of_decoders = [kind for kind in KINDS for _ in range(2)]
    assert timed == [*4 * [3], *of_decoders, *2 * [*4 * [20], *10 * [20]], 3, 5]
    assert seen[-1] == ("times: all done", 19, 19)
    assert undrawn == [4]
    report = (tmp_path / "out" / "report.md").read_text()
    assert "- Arboric: " in report
    rows = rows_of((tmp_path / "out" / "all-treebanks.csv").read_text())
    assert [row[""] for row in rows].count("Birdish") == 1
    assert "\n0 differ between algorithms" in report

    # What is there is not timed again; what depends on other settings is.
    del timed[:]
    reproduce(treebanks, tmp_path / "out", **SMALL, sentences=3)
    assert not timed
    assert (tmp_path / "out" / "report.md").read_text() == report
    reproduce(treebanks, tmp_path / "out", **SMALL, sentences=2)
    assert timed == 4 * [2]


@pytest.mark.usefixtures("small", "undrawn")
def test_without_treebanks_on_another_machine(timed, tmp_path, monkeypatch):
    options = {"sizes": (3, 5), "ks": (2,)}
    assert reproduce(None, tmp_path, **options) == []
    assert "as published" not in (tmp_path / "report.md").read_text()
    once = len(timed)
    monkeypatch.setattr(module, "machine", lambda: {"processor": "another"})
    reproduce(None, tmp_path, **options)
    assert len(timed) == 2 * once


@pytest.mark.usefixtures("small", "undrawn")
def test_a_full_disk(tmp_path, monkeypatch):
    once = Results.once

    def refusing(self, name, settings, make):
        if name == "treebanks/Birdish":
            raise OSError(errno.ENOSPC, "No space left on device")
        return once(self, name, settings, make)

    monkeypatch.setattr(Results, "once", refusing)
    left_out = reproduce(write_treebanks(tmp_path / "ud"), tmp_path / "out", **SMALL)
    reason = "its times cannot be kept: No space left on device"
    assert left_out[-1] == LeftOut("Birdish", reason, failed=True)
    assert "Arboric" in (tmp_path / "out" / "all-treebanks.csv").read_text()


@pytest.mark.usefixtures("small", "undrawn")
def test_parsers_without_scores(tmp_path):
    with pytest.raises(ValueError, match="no scores"):
        reproduce(tmp_path, tmp_path, recipe=Recipe(parser="transition"))
    with pytest.raises(ValueError, match="at least 2, not 1"):
        reproduce(None, tmp_path, sizes=(1, 10))
    treebanks = write_treebanks(tmp_path / "ud")
    birds = list(arb.treebank.read(treebanks / "Birdish" / "train.conllu"))
    parser = Recipe(parser="transition", epochs=1, bits=10).train(birds)
    (tmp_path / "models").mkdir()
    parser.save(tmp_path / "models" / "Birdish.npz")
    options = {**SMALL, "only": ["Birdish"], "models": tmp_path / "models"}
    [left_out] = reproduce(treebanks, tmp_path / "out", **options)
    assert left_out == LeftOut("Birdish", "its parser gives edges no scores", failed=True)
