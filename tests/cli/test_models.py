"""`models`: what is installed, whoever brings it."""

import re
import shutil
from importlib.metadata import EntryPoint

import pytest

import arborescence as arb
from arborescence.parsers import packaging, registry
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
        f"english  7.2 MB  arborescence-en {version}  licence: CC-BY-SA-4.0",
        f"english-fast  6.3 MB  arborescence-en {version}  licence: CC-BY-SA-4.0",
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
    with pytest.raises(arb.ModelError, match=r"nothing\.npz.* is no file"):
        arb.load("german")


@pytest.fixture
def birds(tmp_path):
    """A model, and the folder of a treebank."""
    folder, model = tmp_path / "UD_Old_Bird-Nest", tmp_path / "best.npz"
    folder.mkdir()
    (folder / "README.md").write_text("License: CC BY-NC-SA 4.0\n", encoding="utf-8")
    arb.treebank.write(treebank(), folder / "test.conllu")
    small_parser("linear").save(model)
    return model, folder


def test_a_package_of_ones_own(birds, tmp_path, command):
    model, folder = birds
    given = ("package", model, "--name", "bd", "--treebank", folder, "-o", tmp_path / "bd")
    said = command(*given)
    assert "forbids commercial use" in said.err
    wheel = f"arborescence_bd-{arb.__version__}-py3-none-any.whl"
    assert said.out.strip() == str(tmp_path / "bd" / "dist" / wheel)
    assert (tmp_path / "bd" / "dist" / wheel).exists()
    assert "exists" in command(*given).complaint(2)
    said = command(*given[:-1], tmp_path / "other", "--no-wheel")
    assert said.out.strip() == str(tmp_path / "other")


def test_without_hatchling_no_package_is_begun(birds, tmp_path, monkeypatch, command):
    model, folder = birds
    given = ("package", model, "--name", "bd", "--treebank", folder, "-o", tmp_path / "bd")
    before = set(tmp_path.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(packaging, "find_spec", lambda _: None)
        patch.setattr(registry, "load", None)  # nothing is read, and nothing measured
        assert "a wheel needs hatchling" in command(*given).complaint()
    assert set(tmp_path.iterdir()) == before
    assert command(*given).status == 0


def test_calibrate(tmp_path, command):
    """Without training; the test part of a folder measures it."""
    folder, model = tmp_path / "UD_Old_Bird-Nest", tmp_path / "best.npz"
    folder.mkdir()
    small_parser("tree").save(model)
    lessons = treebank() * 30
    arb.treebank.write(lessons, folder / "dev.conllu")
    said = command("calibrate", model, folder, "-o", tmp_path / "fitted.npz")
    assert said.out == ""
    assert f"fitted on 210 sentences; saved in {tmp_path / 'fitted.npz'}" in said.err
    before, after = arb.load(model), arb.load(tmp_path / "fitted.npz")
    assert after.info["fitted"] == 210
    for name, value in after.fitted_temperatures(lessons, "single").items():
        assert getattr(after, name) == value != getattr(before, name)
    assert list(after.parse(lessons)) == list(before.parse(lessons))
    arb.treebank.write(lessons, folder / "test.conllu")
    said = command("calibrate", model, folder, "-o", tmp_path / "fitted.npz", "-q")
    assert re.fullmatch(
        r"calibration error on 210 sentences: edges [\d.]+, relations [\d.]+, trees [\d.]+; "
        r"now edges [\d.]+, relations [\d.]+, trees [\d.]+\n",
        said.out,
    )
    assert said.err == ""
    (folder / "dev.conllu").unlink()
    said = command("calibrate", model, folder, "-o", tmp_path / "other.npz").complaint()
    assert "the folder has no dev part" in said
    shutil.copy(folder / "test.conllu", folder / "dev.conllu")
    small_parser("greedy").save(model)
    said = command("calibrate", model, folder, "-o", tmp_path / "other.npz")
    assert "transition parser has no probabilities" in said.complaint()
    assert not (tmp_path / "other.npz").exists()
