"""The English models with encoders, in ``models``: they need tokenizers, and no PyTorch."""

import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import arborescence as arb
from arborescence.parsers.shared.given import untagged
from arborescence.treebank import evaluate, read

pytest.importorskip("tokenizers", reason="these models need tokenizers")

MODELS = Path(__file__).parents[2] / "models"


class Package(NamedTuple):
    """A package of a model: LAS of the hundred sentences is above `las`, bytes are below `size`."""

    name: str
    folder: str
    las: float
    size: float

    @property
    def module(self):
        return f"arborescence_{self.folder.replace('-', '_')}"

    @property
    def file(self):
        return MODELS / self.folder / "src" / self.module / f"{self.name}.npz"


PACKAGES = [
    Package("english-large", "en-large", las=0.97, size=18e6),
    Package("english-xl", "en-xl", las=0.985, size=60e6),
]


@pytest.fixture(scope="module", params=PACKAGES, ids=lambda package: package.name)
def package(request):
    if not request.param.file.exists():
        pytest.skip("the source archive leaves it out")
    return request.param


@pytest.fixture(scope="module")
def parser(package):
    return arb.load(package.file)


def test_the_hundred_sentences(package, parser):
    gold = list(read(Path(__file__).with_name("english.conllu")))
    assert evaluate(gold, parser(map(untagged, gold))).las.f1 > package.las


def test_from_raw_text_to_trees(parser):
    first, second = parser("Old trees grow. Birds don't.")
    assert (first.heads.tolist(), first.lemmas) == ([2, 3, 0, 3], ["old", "tree", "grow", "."])
    assert second.forms == ["Birds", "do", "n't", "."]


def test_the_package(package):
    folder = MODELS / package.folder
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    function = package.name.replace("-", "_")
    found = project["entry-points"]["arborescence.models"]
    assert found == {package.name: f"{package.module}:{function}"}
    assert project["dependencies"] == ["arborescence[encoder]"]
    assert all((folder / each).exists() for each in project["license-files"])
    assert package.file.stat().st_size < package.size
