"""Trees with several roots: numbers by hand, and the whole on small treebanks."""

from __future__ import annotations

import errno
import xml.etree.ElementTree as ET
from math import isnan

import numpy as np
import pytest

from arborescence import TreebankError
from arborescence.treebank import write
from arborescence_papers.common import scores as scores_module
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.report import files_of, star
from arborescence_papers.common.report import write as write_texts
from arborescence_papers.common.scores import Scores
from arborescence_papers.common.statistics import holm
from arborescence_papers.common.treebanks import LeftOut
from arborescence_papers.root import learning_curve, methods, plots, report, reproduce
from arborescence_papers.root.measure import (
    MEASURES,
    Change,
    Effect,
    Findings,
    by_length,
    groups,
    root_edges,
    trend,
)
from reports import rows_of, table_rows
from small_treebanks import sentences, write_treebanks

RECIPE = Recipe(epochs=1, bits=10)
ONE = {"recipe": RECIPE, "seeds": 1, "curve": "", "losses": False}
UAS, EXACT = (f"{what}-without-and-with-the-constraint.csv" for what in ("uas", "exact-match"))
CURVE, LOSSES = "learning-curve.csv", "what-parsers-learn-by.csv"
FILES = [
    *("report.md", "treebanks.csv", "beside-the-paper.csv", "beside-the-paper-2.csv"),
    *("malformed-trees.csv", UAS, EXACT, CURVE, LOSSES),
]
FIGURES = ["change.svg", "curve.svg", "losses.svg", "rate.svg"]


def of_trees(multi, single, **about):
    """What a parser makes of three sentences; the last word of the second is punctuation."""
    gold = [[-1, 2, 0], [-1, 2, 0, 2], [-1, 0]]
    trees = {"gold": gold, "multi": multi, "single": single}
    return Scores(
        **{"treebank": "Birdish", "split": "train", "training_sentences": 500, "settings": {}}
        | about,
        projective=False,
        counted=[np.array([True, True]), np.array([True, True, False]), np.array([True])],
        matrices=None,
        **{name: [np.array(heads) for heads in those] for name, those in trees.items()},
    )


RIGHT = [[-1, 2, 0], [-1, 2, 0, 2], [-1, 0]]
WRONG = [[-1, 0, 1], [-1, 2, 0, 1], [-1, 0]]
SPLIT = [[-1, 0, 0], [-1, 0, 0, 0], [-1, 0]]
FIXED = Effect.of(
    of_trees(SPLIT, RIGHT)
)  # two of three are malformed, and three words of five right
STABLE = Effect.of(of_trees(WRONG, WRONG))


def synthetic(treebank, size, malformed, *, split="train", gain=0, parsers=2, loaded=False):
    """Of 40 sentences of ten words, so many are malformed, and the constraint mends `gain` each."""
    roots = np.ones((parsers, 40), dtype=np.int64)
    roots[:, :malformed] = 2
    ten = np.full(40, 10)
    right = np.full((parsers, 40), 5)
    exact = np.zeros_like(right)
    exact[:, -4:] = 1
    return Effect(
        treebank=treebank,
        split=split,
        size=size,
        loaded=loaded,
        lengths=ten.astype(np.int32),
        roots=roots,
        uas=Change(ten, right, right + gain * (roots - 1)),
        exact=Change(np.ones_like(ten), exact, np.maximum(exact, (gain > 0) * (roots - 1))),
    )


def test_what_the_constraint_changes():
    assert FIXED.roots.tolist() == [[2, 3, 1]]
    assert FIXED.rate == pytest.approx(200 / 3)
    assert FIXED.uas.whole.tolist() == [2, 2, 1]
    assert FIXED.uas.multi.tolist() == [[1, 1, 1]]
    assert (FIXED.uas.rate_multi, FIXED.uas.rate_single) == (60, 100)
    assert FIXED.uas.relative == pytest.approx(200 / 3)
    assert FIXED.exact.multi.tolist() == [[0, 0, 1]]
    assert FIXED.exact.relative == 200
    assert FIXED.uas.p == 0.5  # two differences: two of four patterns of signs are as far from 0
    # Punctuation counts for exact match only.
    assert STABLE.uas.multi.tolist() == [[0, 2, 1]]
    assert STABLE.exact.multi.tolist() == [[0, 0, 1]]
    assert (STABLE.rate, STABLE.uas.relative, STABLE.uas.p) == (0, 0, 1)
    assert not FIXED.loaded
    assert Effect.of(of_trees(SPLIT, RIGHT, settings={"model": "0"})).loaded


def test_parsers_together():
    both = Effect.join([FIXED, STABLE])
    assert both.rates == pytest.approx([200 / 3, 0])
    assert both.rate == pytest.approx(100 / 3)
    assert both.uas.each == pytest.approx([200 / 3, 0])
    assert (both.uas.rate_multi, both.uas.rate_single) == (60, 80)
    assert both.rate_interval == pytest.approx((0, 50))
    low, high = both.uas.interval
    assert 0 <= low < both.uas.relative < high <= 100


def test_nothing_right_has_no_change():
    never = Change(np.array([2, 1]), np.array([[0, 0]]), np.array([[1, 0]]))
    assert isnan(never.relative)
    assert isnan(never.each[0])
    assert all(map(isnan, never.interval))
    nothing = Change(np.array([0]), np.array([[0]]), np.array([[0]]))
    assert isnan(nothing.rate_multi)


MANY = [
    synthetic("A", 100, 16, gain=1),
    synthetic("B", 900, 8, split="dev"),
    synthetic("C", 5_000, 4),
    synthetic("D", 20_000, 2),
    synthetic("E", 0, 4, loaded=True),
]


def test_groups_and_trends():
    names = {name: [effect.treebank for effect in some] for name, some in groups(MANY).items()}
    assert names == {"all": list("ABCDE"), "low": ["A", "B"], "medium": ["C"], "high": ["D"]}
    assert list(groups(MANY[:1])) == ["all", "low"]
    rate = trend(MANY, MEASURES["malformed trees"])
    assert rate.treebanks == 4  # of E it is not known what it learned from
    assert rate.ranks.value == pytest.approx(-1)
    assert rate.logs.value < -0.9
    assert trend(MANY[4:], MEASURES["malformed trees"]).treebanks == 0


def test_what_malformed_trees_are_like():
    assert root_edges([FIXED, MANY[0]]) == {2: 33, 3: 1}
    lengths = by_length([FIXED, MANY[0]])
    assert list(lengths) == ["1 to 5", "6 to 10", "11 to 20", "21 to 40", "41 or more"]
    assert lengths["1 to 5"].value == pytest.approx(200 / 3)
    assert lengths["6 to 10"].value == 40
    assert lengths["11 to 20"].items == 0


def test_stars_are_for_all_tests_together():
    assert [star(p) for p in holm([0.02, 0.04, 0.5])] == ["", "", ""]
    assert [star(p) for p in holm([0.01, 0.04, 0.5])] == ["\\*", "", ""]


def test_samples_of_the_curve():
    two = [Recipe(seed=3), Recipe(seed=4)]
    curve = learning_curve(two, 60)
    assert list(curve) == ["20", "50", "60"]
    assert [(one.sentences, one.seed) for one in curve["20"]] == [(20, 3), (20, 4)]
    assert curve["60"] == two


def test_methods_of_neural_parsers():
    ways = methods(Recipe(parser="biaffine"))
    assert list(ways) == [
        *("biaffine-head", "biaffine-margin-multi", "biaffine-margin-single"),
        *("biaffine-tree-multi", "biaffine-tree-single"),
    ]
    assert not methods(Recipe(parser="transition"))


def test_methods_of_linear_parsers():
    assert list(methods(RECIPE)) == [
        *("head", "perceptron-multi", "perceptron-single", "mira-multi"),
        *("mira-single", "tree-multi", "tree-single"),
    ]


FINDINGS = Findings(
    recipes=[RECIPE],
    effects=MANY,
    curve=[synthetic("D", 20, 8), synthetic("D", 200, 4), synthetic("D", 2000, 2)],
    studied=dict.fromkeys(methods(RECIPE), MANY[:4]),
)
LEFT_OUT = [LeftOut("Brokish", "test.conllu:1: 2 columns", failed=True)]


def test_tables(tmp_path):
    write_texts(tmp_path, files_of(report.parts(FINDINGS, []), LEFT_OUT))
    first, second, *_ = rows_of(tmp_path / UAS)
    assert (first["treebank"], first["sentences to learn from"]) == ("A", "100")
    # 16 of 200 right words more; 16 sentences more than 4.
    assert (first["without, %"], first["with, %"]) == ("50.00", "54.00")
    assert first["relative change, %"].startswith("8.00 [")
    assert rows_of(tmp_path / EXACT)[0]["relative change, %"] == "400.00\\*"
    assert (second["p"], second["sentences to learn from"]) == ("1.00", "900 (dev)")
    everything, low, *_ = rows_of(tmp_path / "beside-the-paper.csv")
    assert (everything[""], everything["treebanks"]) == ("all", "5")
    assert low["malformed in the paper, %"] == "6.21"
    assert low["malformed trees, %"] == "30.00 [20.00, 40.00]"
    curve = rows_of(tmp_path / CURVE)
    assert [row["sentences to learn from"] for row in curve] == ["20", "200", "2,000"]
    assert [row["malformed, %"].split()[0] for row in curve] == ["20.00", "10.00", "5.00"]
    assert [row[""] for row in rows_of(tmp_path / LOSSES)] == list(methods(RECIPE))


def test_report():
    text = files_of(report.parts(FINDINGS, ["rate.svg"]), LEFT_OUT)["report.md"]
    assert "head, epochs 1, bits 10,\nseeds 1" in text
    assert "1 learned from the dev part" in text
    assert "1 were not trained, but loaded" in text
    assert "The most are 40.00 %, of A;\nin the paper 23.57 %, of Kurmanji" in text
    [low] = table_rows(text, "low: below 1,000")
    assert low[1:5] == ["2", "6.21", "– (0 treebanks)", "30.00 [20.00, 40.00]"]
    [medium] = table_rows(text, "medium: 1,000 or more, below 10,000")
    assert medium[1:5] == ["1", "1.02", "– (0 treebanks)", "10.00"]
    assert table_rows(text, "high: 10,000 or more")[0][4] == "5.00"
    assert "UAS is higher with the constraint on\n1 of 5 treebanks, and lower on 0." in text
    treebank, uas, _ = table_rows(text, "A")
    assert treebank[1:3] == ["100", "40"]
    assert uas[2:4] == ["50.00", "54.00"]
    assert uas[4].startswith("8.00 [")
    assert uas[4].endswith("]\\*")
    assert uas[6] == "< 0.001"
    assert table_rows(text, "B")[0][1] == "900 (dev)"
    assert table_rows(text, "E")[0][1] == "unknown (loaded)"
    assert "goes from 20.00 to 5.00, about as the size to the power of -0.30." in text
    assert "![rate.svg](rate.svg)" in text
    assert "curve.svg" not in text
    assert "- Brokish: test.conllu:1: 2 columns" in text


def test_beside_the_paper():
    """Its numbers are those of the same languages, treebank by treebank."""
    names = ("Gothic-PROIEL", "Greek-GDT", "Birdish")
    effects = [synthetic(name, 2000, 4 + k) for k, name in enumerate(names)]
    text = files_of(report.parts(Findings([RECIPE], effects, [], {}), []), [])["report.md"]
    [medium] = table_rows(text, "medium: 1,000 or more, below 10,000")
    assert medium[2:4] == ["1.02", "0.61 [0.44, 0.78] (2 treebanks)"]
    malformed, uas, exact = table_rows(text, "Gothic-PROIEL")
    assert (malformed[4], uas[5], exact[5]) == ("0.78", "0.01", "0.00")
    malformed, uas, exact = table_rows(text, "Birdish")
    assert (malformed[4], uas[5], exact[5]) == ("–", "–", "–")
    assert table_rows(text, "malformed trees")[0][2] == "-0.48"


def test_plots(tmp_path):
    drawn = plots.draw(FINDINGS, tmp_path)
    assert sorted(drawn) == FIGURES
    pictures = {name: (tmp_path / name).read_bytes() for name in drawn}
    words = {name: "".join(ET.fromstring(picture).itertext()) for name, picture in pictures.items()}
    for word in (
        "malformed trees, %",
        "10,000",
        "the paper's average",
        "learned from the dev part",
    ):
        assert word in words["rate.svg"]
    assert "relative change of exact match, %" in words["change.svg"]
    assert "UAS with the constraint, %" in words["curve.svg"]
    assert "tree-single" in words["losses.svg"]
    assert plots.draw(Findings([RECIPE], MANY[4:], [], {}), tmp_path) == []


@pytest.fixture
def undrawn(monkeypatch):
    """Plots take most of the time of tests that are about something else."""
    monkeypatch.setattr(plots, "draw", lambda *_: [])


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory):
    folder = write_treebanks(tmp_path_factory.mktemp("treebanks"))
    write(sentences() * 4, folder / "Birdish" / "train.conllu")
    return folder


@pytest.fixture(scope="module")
def done(treebanks, tmp_path_factory):
    output = tmp_path_factory.mktemp("root")
    seen = []
    left_out = reproduce(
        treebanks,
        output,
        recipe=RECIPE,
        seeds=1,
        curve_seeds=2,
        progress=lambda *step: seen.append(step),
    )
    assert [(one.treebank, one.failed) for one in left_out] == [
        ("Empty", False),
        ("Untaught", False),
        ("Untested", False),
    ]
    assert ("parsers: all done", 2 * 7, 2 * 7) in seen
    assert seen[-1] == ("parsers: all done", 4, 4)
    return output


def test_from_treebanks_to_a_report(done):
    assert sorted(path.name for path in done.iterdir()) == sorted([*FILES, *FIGURES, "scores"])
    birdish, arboric = rows_of(done / "treebanks.csv")
    assert [*birdish.values()][:3] == ["Birdish", "24", "4"]
    assert [*arboric.values()][:2] == ["Arboric", "5 (dev)"]
    scores = Scores.read(done / "scores" / "head-seed1" / "Arboric.npz")
    malformed = np.mean([(tree == 0).sum() > 1 for tree in scores.multi])
    rate, *_ = arboric["malformed trees, %"].split()
    assert float(rate) == pytest.approx(100 * malformed, abs=0.005)
    assert [row["sentences to learn from"] for row in rows_of(done / CURVE)] == ["20", "24"]
    assert len(rows_of(done / LOSSES)) == 7
    text = (done / "report.md").read_text()
    assert "Parsers of Birdish, 2 of each size." in text
    for word in ("Birdish", "5 (dev)", "- Untested: no test part", *FIGURES):
        assert word in text


def fail(*_):
    raise AssertionError("trained again")


def test_what_is_done_is_not_done_again(treebanks, done, monkeypatch):
    kept = {name: (done / name).read_bytes() for name in [*FILES, *FIGURES]}
    monkeypatch.setattr(Recipe, "train", fail)
    reproduce(treebanks, done, recipe=RECIPE, seeds=1, curve_seeds=2)
    assert kept == {name: (done / name).read_bytes() for name in kept}


def test_a_broken_treebank_is_left_out(undrawn, tmp_path):
    write_treebanks(tmp_path / "ud")
    broken = tmp_path / "ud" / "Birdish" / "bi-ud-test.conllu"
    broken.write_text("1\tx\n\n")
    *_, birdish = reproduce(tmp_path / "ud", tmp_path / "out", **ONE)
    assert (birdish.treebank, birdish.failed) == ("Birdish", True)
    assert birdish.reason.startswith(f"{broken}:1")
    assert [row["treebank"] for row in rows_of(tmp_path / "out" / "treebanks.csv")] == ["Arboric"]
    assert f"- Birdish: {broken}:1" in (tmp_path / "out" / "report.md").read_text()
    with pytest.raises(TreebankError, match=rf"no treebank that can be used: .*{broken.name}:1"):
        reproduce(tmp_path / "ud", tmp_path / "alone", only=["Birdish"], **ONE)


@pytest.mark.parametrize(
    ("full", "said"), [("seed2/Birdish", ""), ("sentences-seed1/Birdish", "learning curve: ")]
)
def test_a_part_that_is_missing(treebanks, undrawn, tmp_path, monkeypatch, full, said):
    save = scores_module.model_file.save

    def on_a_full_disk(path, *rest, **options):
        if path.with_suffix("").as_posix().endswith(full):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        save(path, *rest, **options)

    monkeypatch.setattr(scores_module.model_file, "save", on_a_full_disk)
    options = ONE | {"seeds": 2, "curve": None, "curve_seeds": 1}
    *_, birdish = reproduce(treebanks, tmp_path, **options)
    assert birdish.treebank == "Birdish"
    assert birdish.reason.startswith(f"{said}{tmp_path}")
    assert birdish.reason.endswith("No space left on device")
    names = [row["treebank"] for row in rows_of(tmp_path / "treebanks.csv")]
    assert names == (["Birdish", "Arboric"] if said else ["Arboric"])
    curve = "Parsers of Arboric, 1 of each size." in (tmp_path / "report.md").read_text()
    assert curve == (not said)


def test_loaded_parsers(treebanks, undrawn, tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    RECIPE.train(sentences()[:3]).save(models / "Birdish.npz")
    options = {"recipe": RECIPE, "seeds": 2, "curve_seeds": 1, "models": models}
    reproduce(treebanks, tmp_path / "out", **options)
    birdish, arboric = rows_of(tmp_path / "out" / "treebanks.csv")
    learned, seeds = "sentences to learn from", "least and most by seed"
    assert (birdish[learned], birdish[seeds]) == ("3 (loaded)", "–")
    assert arboric[learned] == "5 (dev)"
    assert ", " in arboric[seeds]
    # Only what is trained takes part in what is about training.
    text = (tmp_path / "out" / "report.md").read_text()
    assert "Parsers of Arboric, 1 of each size." in text
    assert "in other ways, over 1 treebanks." in text
    with pytest.raises(TreebankError, match="Birdish: no learning curve"):
        reproduce(treebanks, tmp_path / "out", **options, curve="Birdish")


def test_quick(treebanks, undrawn, tmp_path):
    reproduce(treebanks, tmp_path, **ONE | {"seeds": 5, "curve": "Arboric"}, quick=True)
    rows = rows_of(tmp_path / "treebanks.csv")
    assert [row["least and most by seed"] for row in rows] == ["–", "–"]
    [point] = rows_of(tmp_path / CURVE)
    assert point["sentences to learn from"] == "5"
    assert "Parsers of Arboric, 2 of each size." in (tmp_path / "report.md").read_text()


def test_transition_parsers(treebanks, undrawn, tmp_path):
    recipe = Recipe(parser="transition", epochs=1, bits=10)
    reproduce(treebanks, tmp_path, only=["Birdish"], recipe=recipe, seeds=1, curve_seeds=1)
    assert len(rows_of(tmp_path / CURVE)) == 2
    assert not (tmp_path / LOSSES).exists()
    assert "Trained parsers: transition-multi" in (tmp_path / "report.md").read_text()


def test_what_is_wrong(treebanks, tmp_path):
    for option in ("seeds", "curve_seeds"):
        with pytest.raises(ValueError, match=f"{option} must be at least 1, not 0"):
            reproduce(treebanks, tmp_path, **{option: 0})
    with pytest.raises(TreebankError, match="Untested: no learning curve"):
        reproduce(treebanks, tmp_path, curve="Untested")
