"""The most accurate English model, in ``models/en-xl``: it needs onnxruntime, and no PyTorch."""

import tomllib
from pathlib import Path

import pytest

import arborescence as arb
from arborescence.parsers.shared.given import untagged
from arborescence.treebank import evaluate, read

pytest.importorskip("onnxruntime", reason="english-xl needs onnxruntime")
pytest.importorskip("tokenizers", reason="english-xl needs tokenizers")

FOLDER = Path(__file__).parents[2] / "models" / "en-xl"
INSIDE = FOLDER / "src" / "arborescence_en_xl"
MODEL = INSIDE / "english-xl.npz"
pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="the source archive leaves it out")


@pytest.fixture(scope="module")
def parser():
    return arb.load(MODEL)


def test_the_hundred_sentences(parser):
    gold = list(read(Path(__file__).with_name("english.conllu")))
    assert evaluate(gold, parser(map(untagged, gold))).las.f1 > 0.985


def test_from_raw_text_to_trees(parser):
    first, second = parser("Old trees grow. Birds don't.")
    assert (first.heads.tolist(), first.lemmas) == ([2, 3, 0, 3], ["old", "tree", "grow", "."])
    assert second.forms == ["Birds", "do", "n't", "."]


def test_the_package():
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = project["entry-points"]["arborescence.models"]
    assert found == {"english-xl": "arborescence_en_xl:english_xl"}
    assert project["dependencies"] == ["arborescence[encoder]"]
    assert all((FOLDER / each).exists() for each in project["license-files"])
    assert MODEL.stat().st_size < 60e6
