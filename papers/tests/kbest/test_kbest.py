"""`experiment kbest`: counts against lists of all trees, reports by hand, and whole runs."""

from __future__ import annotations

import csv
import errno
import shutil
from math import isnan
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arborescence import TreebankError
from arborescence_papers.common import experiment
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.report import files_of
from arborescence_papers.common.scores import Scores
from arborescence_papers.kbest import plots, report, reproduce
from arborescence_papers.kbest.measure import Counts, Outcome, averages
from brute_force import tree_weights
from small_treebanks import sentences, write_treebanks

RECIPE = Recipe(epochs=1, bits=10)
KS = (1, 3, 8)


def scores_of(matrices, gold, counted, projective=False):
    return Scores("Birdish", "train", 4, {}, projective, gold, counted, gold, gold, matrices)


@pytest.mark.parametrize("projective", [False, True])
def test_counts_are_those_of_all_trees(projective):
    rng = np.random.default_rng(7)
    scores, gold, counted = [], [], []
    for n in (1, 2, 3, 4, 4, 4):
        scores.append(rng.normal(size=(n + 1, n + 1)).astype(np.float32))
        trees, _ = tree_weights(scores[-1], True, projective)
        gold.append(rng.choice(trees))
        counted.append(rng.random(n) < 0.7)
    counts = Counts.of(scores_of(scores, gold, counted, projective), KS)
    assert counts.words[:, 0].tolist() == [words.sum() for words in counted]
    for root in ("multi", "single"):
        for i, matrix in enumerate(scores):
            trees, weights = tree_weights(matrix, root == "single", projective)
            ranked = trees[np.argsort(-weights)]
            for column, k in enumerate(KS):
                some = ranked[:k]
                same = some[:, 1:] == gold[i][1:]
                assert getattr(counts, root)[i, column] == same[:, counted[i]].sum(axis=1).max()
                assert getattr(counts, f"{root}_exact")[i, column] == same.all(axis=1).any()
                if root == "multi":
                    malformed = ((some == 0).sum(axis=1) > 1).sum()
                    assert counts.trees[i, column] == len(some)
                    assert counts.malformed[i, column] == malformed
                    assert counts.touched[i, column] == (malformed > 0)


def counts_of(**columns):
    """Of two sentences of 4 and 6 words, at k = 1 and k = 50; what is not given is 0."""
    given = {"lists": [[1], [1]], "words": [[4], [6]], "trees": [[1, 50], [1, 50]]} | columns
    filled = {name: given.get(name, [[0, 0], [0, 0]]) for name in Counts._fields}
    return Counts.from_json(filled)


ONE = counts_of(
    malformed=[[1, 10], [0, 20]],
    touched=[[1, 1], [0, 1]],
    multi=[[2, 3], [5, 6]],
    single=[[3, 4], [5, 6]],
    multi_exact=[[0, 0], [0, 1]],
    single_exact=[[0, 1], [0, 1]],
)
OTHER = counts_of(malformed=[[0, 2], [0, 0]], touched=[[0, 1], [0, 0]], multi=[[4, 4], [6, 6]])
BIRDISH = Outcome("Birdish", "train", 12000, False, Counts.sum_of([ONE, OTHER]))
ARBORIC = Outcome("Arboric", "dev", 999, False, OTHER)
GIVEN = Outcome("Given", "train", 0, False, ONE)
ALL = [BIRDISH, ARBORIC, GIVEN]


def test_parsers_add_up():
    assert BIRDISH.counts.lists.tolist() == [[2], [2]]
    assert BIRDISH.rates.tolist() == [25, 16]
    assert BIRDISH.touched.tolist() == [25, 75]
    assert BIRDISH.well_formed.tolist() == [0.75, 42]
    assert BIRDISH.multi_uas.tolist() == [85, 95]
    assert BIRDISH.single_uas.tolist() == [40, 50]
    assert BIRDISH.multi_exact.tolist() == [0, 25]
    assert BIRDISH.single_exact.tolist() == [0, 50]
    assert BIRDISH.growth == pytest.approx(0.64)
    assert isnan(ARBORIC.growth)
    assert Counts.from_json(ONE.as_json()).malformed.tolist() == ONE.malformed.tolist()


def test_short_sentences_weigh_less_among_all_trees():
    counts = counts_of(trees=[[1, 1], [1, 3]], malformed=[[1, 1]] * 2)
    one = Outcome("Birdish", "train", 1, False, counts)
    assert one.rates.tolist() == [100, 50]


def test_averages():
    groups = averages(ALL)
    assert [(name, mean.treebanks) for name, mean in groups.items()] == [
        *(("all", 3), ("low", 1), ("high", 1)),
    ]
    mean = groups["all"]
    assert [rate.value for rate in mean.rates] == [25, 16]
    growth = mean.growths[1]
    assert growth.of_averages.value == pytest.approx(48 / 75)
    assert growth.of_treebanks.value == pytest.approx((0.64 + 0.6) / 2)
    assert growth.without == 1
    assert isnan(groups["low"].growths[1].of_averages.value)
    assert groups["low"].growths[1].without == 1


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


FIGURES = ["sizes.svg", "rates.svg", "oracle.svg"]


def texts_of(outcomes, ks=(1, 50)):
    return files_of(report.parts(outcomes, FIGURES, ks=ks, recipes=RECIPE.seeds(3)), [])


def report_of(outcomes, ks=(1, 50)):
    return texts_of(outcomes, ks)["report.md"]


def test_tables():
    texts = texts_of(ALL)
    rows = rows_of(texts["treebanks.csv"])
    assert [row["treebank"] for row in rows] == ["Birdish", "Arboric", "Given"]
    assert (rows[-1]["k = 50"], rows[-1]["tested on"]) == ("30.00", "2")
    rows = rows_of(texts["by-how-much-there-is-to-learn-from.csv"])
    assert [row["group"] for row in rows] == ["all", "low", "high"]
    assert rows[1]["growth of the average"] == "–"
    rows = rows_of(texts["malformed-trees-by-k.csv"])
    assert rows[1]["growth of the average"].startswith("0.6")
    assert rows[1]["mean of growths"].startswith("0.6")


def few(malformed):
    """A treebank of 200 sentences, so many of which have malformed trees, at both ks."""
    columns = np.zeros((2, 200, 2), np.int64)
    for k, some in enumerate(malformed):
        columns[0, :some, k] = 1
    rows = dict.fromkeys(Counts._fields, columns[1]) | {
        "lists": columns[1, :, :1] + 1,
        "words": columns[1, :, :1] + 1,
        "trees": columns[1] + 1,
        "malformed": columns[0],
    }
    return Counts.from_json(rows)


def test_report():
    text = report_of(ALL)
    assert "head, epochs 1, bits 10; averages over seeds 1 to 3" in text
    assert "25.00 % of the best trees are malformed, and 16.00 % of the 50 best" in text
    assert "In the paper 11.25 % of the 50 best are malformed, 6.23 times as many as" in text
    assert "of the 58 treebanks that have any are 13.04 on average and at most 43.76" in text
    assert "1 of the 3 treebanks have no malformed tree at k = 1" in text
    assert "| Birdish | 12,000 | 2 | 25.00 | 16.00 | 0.6 |" in text
    assert "| Arboric | 999 (dev) | 2 | 0.00 | 2.00 | – |" in text
    assert "| Given | not known | 2 | 80.00 (+10.00) | 100.00 (+10.00) |" in text
    assert "were given" not in text
    text = report_of([one._replace(loaded=True) for one in ALL])
    assert "The parsers of 3 of the treebanks were given" in text
    assert "epochs" not in text


@pytest.mark.parametrize(
    ("malformed", "what"),
    [
        ([(2, 26), (2, 27), (1, 12)], "Our average is no other beyond chance."),
        ([(2, 4), (2, 5), (1, 3)], "Our average is below it."),
        ([(1, 40), (2, 70), (1, 60)], "Our average is above it."),
        ([(0, 4), (0, 5), (0, 3)], "no growth to speak of"),
    ],
)
def test_what_is_said_of_growth(malformed, what):
    outcomes = [Outcome(f"T{i}", "train", 9, False, few(pair)) for i, pair in enumerate(malformed)]
    assert what in report_of(outcomes)
    assert "In the paper" not in report_of(outcomes, ks=(1, 40))


def test_beside_the_paper():
    """Of the same languages: Gothic 0.78, 14.86, and Greek 0.44, 5.82, at k = 1 and 50."""
    names = ("Gothic-PROIEL", "Greek-GDT", "Birdish")
    text = report_of([Outcome(name, "train", 9, False, few((2, 26))) for name in names])
    assert "*There*: the paper's, of the same languages (2)." in text
    [first, last] = [
        line.split(" | ") for line in text.splitlines() if line[:5] in ("| 1 |", "| 50 ")
    ][:2]
    assert (first[2], first[4], first[6]) == ("0.61", "1.0", "1.0")
    assert (last[2], last[4], last[6]) == ("10.34", "17.0", "16.1")


def test_stars_and_trends():
    gained = counts_of(
        lists=[[1]] * 40,
        words=[[4]] * 40,
        trees=[[1, 50]] * 40,
        malformed=[[0, 2]] * 20 + [[1, 4]] * 20,
        multi=[[3, 3]] * 40,
        single=[[3, 4]] * 40,
    )._replace(multi_exact=np.zeros((40, 2), np.int64), single_exact=np.zeros((40, 2), np.int64))
    names = ("Birdish", "Arboric", "Grove", "Copse")
    text = report_of(
        [
            Outcome(name, "train", 10**size, False, gained)
            for size, name in enumerate(names, start=2)
        ]
    )
    assert "| Birdish | 100 | 40 | 75.00 (+0.00) | 100.00 (+25.00\\*) |" in text
    assert "adds significantly on 4 of 4 treebanks" in text
    assert "| malformed trees, k = 50 | sentences to learn from | -0.38 | " in text
    assert "| growth to k = 50 | sentences to learn from | 0.51 | – | – |" in text
    assert "| growth to k = 50 | malformed trees, k = 1 | -0.78 | – | – |" in text
    assert "rank correlation" not in report_of(ALL)


def test_plots(tmp_path):
    pictures = []
    for outcomes in (ALL, ALL, [GIVEN]):
        drawn = plots.draw(outcomes, tmp_path, ks=(1, 50))
        assert drawn == FIGURES
        pictures.append([(tmp_path / name).read_bytes() for name in drawn[1:]])
    sizes = "".join(ET.parse(tmp_path / "sizes.svg").getroot().itertext())
    assert all(word in sizes for word in ("here", "in the paper", "k = 1", "k = 50"))
    assert pictures[0] == pictures[1]
    for picture in pictures[0] + pictures[2]:
        words = {"".join(text.itertext()) for text in ET.fromstring(picture).iter()}
        assert {"k", "1", "50", "mean", "a treebank"} <= words


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory):
    return write_treebanks(tmp_path_factory.mktemp("treebanks"))


@pytest.fixture(scope="module")
def done(treebanks, tmp_path_factory):
    output = tmp_path_factory.mktemp("done")
    left_out = reproduce(treebanks, output, recipe=RECIPE, seeds=2, ks=(1, 5))
    assert sorted(left_out) == [
        ("Empty", "no part to learn from (train or dev)", False),
        ("Untaught", "no part to learn from (train or dev)", False),
        ("Untested", "no test part", False),
    ]
    return output


def test_from_treebanks_to_tables(done):
    rows = rows_of((done / "treebanks.csv").read_text())
    assert [(row["treebank"], row["learned from"]) for row in rows] == [
        ("Birdish", "4"),
        ("Arboric", "5 (dev)"),
    ]
    scores = [Scores.read(done / "scores" / f"head-seed{seed}" / "Birdish.npz") for seed in (1, 2)]
    malformed = np.mean([(tree == 0).sum() != 1 for one in scores for tree in one.multi])
    assert float(rows[0]["k = 1"]) == pytest.approx(100 * malformed, abs=0.005)
    text = (done / "report.md").read_text()
    assert "Untested: no test part" in text
    assert "![The share of malformed trees, by k](rates.svg)" in text


def test_what_is_done_is_not_done_again(treebanks, done, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(done, copy)
    counted = []
    count = Counts.of
    monkeypatch.setattr(Recipe, "train", lambda *_: pytest.fail("trained again"))
    monkeypatch.setattr(Counts, "of", lambda *given: counted.append(given) or count(*given))
    (copy / "lists" / "head-seed2" / "Arboric.json").unlink()
    (copy / "report.md").unlink()
    reproduce(treebanks, copy, recipe=RECIPE, seeds=2, ks=(1, 5))
    assert [(scores.treebank, ks) for scores, ks in counted] == [("Arboric", (1, 5))]
    for name in ("treebanks.csv", "treebanks-2.csv", "report.md", "rates.svg", "oracle.svg"):
        assert (copy / name).read_bytes() == (done / name).read_bytes()
    reproduce(treebanks, copy, recipe=RECIPE, seeds=1, ks=(1, 2), only=["Birdish"])
    assert [ks for _, ks in counted] == [(1, 5), (1, 2)]


def test_treebanks_that_fail(tmp_path, monkeypatch):
    folder = write_treebanks(tmp_path / "ud")
    broken = folder / "Birdish" / "train.conllu"
    broken.write_text("1\tBirds\n\n")
    options = {"recipe": RECIPE, "seeds": 1, "ks": (1, 2)}
    left_out = reproduce(folder, tmp_path / "out", **options)
    [failed] = [one for one in left_out if one.failed]
    assert failed.treebank == "Birdish"
    assert failed.reason.startswith(f"{broken}:1")
    assert failed.reason in (tmp_path / "out" / "report.md").read_text()
    with pytest.raises(TreebankError, match=f"no treebank that can be used: {broken}:1"):
        reproduce(folder, tmp_path / "out", **options, only=["Birdish"])

    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(experiment, "replacing", full)
    with pytest.raises(TreebankError, match=r"Arboric.json: No space left on device"):
        reproduce(folder, tmp_path / "new", **options, only=["Arboric"])


def test_parsers_that_are_given(treebanks, tmp_path):
    (tmp_path / "models").mkdir()
    learned = sentences()
    RECIPE.train(learned).save(tmp_path / "models" / "Birdish.npz")
    Recipe(parser="transition", epochs=1, bits=10).train(learned).save(
        tmp_path / "models" / "Arboric.npz"
    )
    left_out = reproduce(
        treebanks, tmp_path / "out", seeds=3, ks=(1, 2), models=tmp_path / "models"
    )
    [failed] = [one for one in left_out if one.failed]
    assert failed.treebank == "Arboric"
    assert "take a graph-based parser" in failed.reason
    assert len(list((tmp_path / "out" / "lists").rglob("Birdish.json"))) == 1
    assert "The parsers of 1 of the treebanks were given" in (
        (tmp_path / "out" / "report.md").read_text()
    )


def test_quick(treebanks, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "_QUICK", 1)
    reproduce(treebanks, tmp_path, recipe=RECIPE, ks=(1, 2), quick=True)
    assert len(list((tmp_path / "lists").rglob("*.json"))) == 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"recipe": Recipe(parser="transition")},
            "parser must be linear or biaffine, not 'transition'",
        ),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"ks": (5, 10)}, "from 1 on, not 5, 10"),
        ({"ks": (1, 5, 5)}, "must increase"),
        ({"ks": ()}, "must increase"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        reproduce(tmp_path / "missing", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
