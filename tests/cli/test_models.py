"""`models`: what is installed, whoever brings it."""

import shutil
from importlib.metadata import EntryPoint

import pytest

import arborescence as arb
from arborescence.parsers import registry
from samples import treebank
from small_parsers import small_parser

MODULE = """
from importlib.resources import files


def german():
    return files(__name__) / "german.npz"


def nothing():
    return files(__name__) / "nothing.npz"


number = 3
"""


@pytest.fixture
def brought(tmp_path, monkeypatch):
    """Let a distribution bring models, by their names and where they are."""
    package = tmp_path / "someones_models"
    package.mkdir()
    (package / "__init__.py").write_text(MODULE, encoding="utf-8")
    small_parser("linear").save(package / "german.npz")
    monkeypatch.syspath_prepend(tmp_path)

    def bring(**places):
        points = [EntryPoint(name, place, registry.GROUP) for name, place in places.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)

    return bring


def test_those_of_this_project(command):
    pytest.importorskip("arborescence_en", reason="needs arborescence-en")
    lines = command("models").out.splitlines()
    version = arb.__version__
    assert lines == [
        f"english  6.8 MB  arborescence-en {version}  licence: CC-BY-SA-4.0",
        f"english-fast  4.7 MB  arborescence-en {version}  licence: CC-BY-SA-4.0",
    ]
    assert arb.load().kind == "biaffine"


def test_anybody_can_bring_one(brought, command):
    brought(german="someones_models:german")
    assert arb.load("german").kind == "linear"
    [line] = command("models").out.splitlines()
    assert line.startswith("german  0.0 MB  unknown")


def test_what_there_is_and_how_to_get_english(brought, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    brought()
    for model in (None, "english"):
        with pytest.raises(
            arb.ModelError,
            match=r"^english: .*none is installed\); .* pip install arborescence-en$",
        ):
            arb.load(model)
    assert "pip install arborescence-en" in command("models").err
    brought(german="someones_models:german", dutch="someones_models:german")
    with pytest.raises(arb.ModelError, match=r"installed: dutch, german\); for English, pip"):
        arb.load()
    shutil.copy("someones_models/german.npz", "english")
    assert arb.load("english").kind == "linear"  # a file
    with pytest.raises(arb.ModelError, match="english: no such file"):
        arb.load()


@pytest.mark.parametrize("place", ["nobodys:a", "someones_models:number", "someones_models:b"])
def test_a_broken_distribution_is_named(brought, place):
    brought(german=place)
    with pytest.raises(arb.ModelError, match=f"^german: {place} is broken: "):
        arb.load("german")


def test_a_missing_file_is_named(brought):
    brought(german="someones_models:nothing")
    with pytest.raises(arb.ModelError, match=r"nothing\.npz: No such file"):
        arb.load("german")


def test_a_package_of_ones_own(tmp_path, command):
    folder, model = tmp_path / "UD_Old_Bird-Nest", tmp_path / "best.npz"
    folder.mkdir()
    (folder / "README.md").write_text("License: CC BY-NC-SA 4.0\n", encoding="utf-8")
    arb.treebank.write(treebank(), folder / "test.conllu")
    small_parser("linear").save(model)
    given = ("package", str(model), "--name", "bd", "--treebank", str(folder), "--no-wheel")
    said = command(*given, "-o", str(tmp_path / "bd"))
    assert "forbids commercial use" in said.err
    assert said.out.strip() == str(tmp_path / "bd")
    assert "exists" in command(*given, "-o", str(tmp_path / "bd")).complaint(2)
