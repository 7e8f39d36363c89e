"""Packages of models: what they hold, and that they are found where they are installed."""

import subprocess
import sys
import tomllib
import zipfile

import pytest

from arborescence.errors import OptionError, TreebankError
from arborescence.parsers import Tagger
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.packaging import build_wheel, package
from arborescence.parsers.text import Text
from arborescence.treebank import write
from samples import treebank

README = """# Summary

A treebank of birds.

<pre>
=== Machine-readable metadata (DO NOT REMOVE!) ================================
License: {licence}
Genre: news wiki
Contributors: Bird, Small; Bird, Old
===============================================================================
</pre>
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "best.npz"
    sentences = treebank()
    tagger, text = Tagger.train(sentences, epochs=1), Text.train(sentences)
    LinearParser.train(sentences, tagger=tagger, text=text, bits=10, epochs=2).save(path)
    return path


@pytest.fixture
def folder(tmp_path):
    return treebank_in(tmp_path / "UD_Old_Bird-Nest")


def treebank_in(folder, licence="CC BY-SA 4.0"):
    folder.mkdir()
    (folder / "README.md").write_text(README.format(licence=licence), encoding="utf-8")
    (folder / "LICENSE.txt").write_text("Share alike.", encoding="utf-8")
    for part in ("train", "test"):
        write(treebank(), folder / f"bd_nest-ud-{part}.conllu")
    return folder


def test_the_card_has_the_options_that_were_used(folder, tmp_path):
    path, columns = tmp_path / "best.npz", ("form", "upos")
    how = {"columns": columns, "projective": True, "bits": 10, "epochs": 1, "joint": True}
    LinearParser.train(treebank(), **how).save(path)
    card = (
        package([path], folder, name="bd", output=tmp_path / "bd").folder / "README.md"
    ).read_text()
    [command] = [line for line in card.splitlines() if line.startswith("$ arborescence train")]
    for option in ("--columns form,upos", "--projective yes", "--joint", "--bits 10"):
        assert f"{option} " in f"{command} "


def test_what_it_holds(model, folder, tmp_path):
    made = package([model], folder, name="bd", output=tmp_path / "bd")
    assert (made.licence, made.commercial) == ("CC-BY-SA-4.0", True)
    project = tomllib.loads((made.folder / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["license"]) == ("arborescence-bd", "CC-BY-SA-4.0")
    assert project["entry-points"]["arborescence.models"] == {"bd": "arborescence_bd:bd"}
    assert (made.folder / "LICENSE").read_text() == "Share alike."
    card = (made.folder / "README.md").read_text()
    for said in (
        "Old Bird",
        "UD_Old_Bird-Nest",
        "Bird, Small; Bird, Old",
        "news wiki",
        "| raw text |",
    ):
        assert said in card
    assert "forbids" not in card
    assert "$ arborescence train linear UD_Old_Bird-Nest -o bd.npz --bits 10" in card


def test_it_is_found_where_it_is_installed(model, folder, tmp_path):
    made = package([model], folder, name="bd", output=tmp_path / "bd")
    wheel = build_wheel(made.folder)
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    code = "import arborescence as arb; print(arb.load('bd')('Birds sing.')[0].heads)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "installed", capture_output=True, text=True
    )
    assert done.stdout, done.stderr


def test_several_have_the_names_of_their_files(model, folder, tmp_path):
    other = tmp_path / "bird-fast.npz"
    other.write_bytes(model.read_bytes())
    made = package([model, other], folder, name="bd", output=tmp_path / "bd")
    inside = made.folder / "src" / "arborescence_bd"
    assert {file.name for file in inside.iterdir()} == {"__init__.py", "best.npz", "bird-fast.npz"}
    project = tomllib.loads((made.folder / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["arborescence.models"]
    assert points == {"best": "arborescence_bd:best", "bird-fast": "arborescence_bd:bird_fast"}


def test_a_licence_that_forbids_commerce_is_said(model, tmp_path):
    folder = treebank_in(tmp_path / "UD_Bird-Nest", "CC BY-NC-SA 3.0")
    assert not package([model], folder, name="bd", output=tmp_path / "bd").commercial
    assert "forbids commercial use" in (tmp_path / "bd" / "README.md").read_text()


@pytest.mark.parametrize("licence", ["", "all rights reserved"])
def test_an_unknown_licence_must_be_named(model, tmp_path, licence):
    folder = treebank_in(tmp_path / "UD_Bird-Nest", licence)
    with pytest.raises(OptionError, match="licence"):
        package([model], folder, name="bd", output=tmp_path / "bd")
    assert not (tmp_path / "bd").exists()
    named = package([model], folder, name="bd", output=tmp_path / "bd", licence="MIT")
    assert named.licence == "MIT"


def test_what_is_refused(model, folder, tmp_path):
    with pytest.raises(OptionError, match="name must be of small letters"):
        package([model], folder, name="Bird!")
    with pytest.raises(OptionError, match="exists"):
        package([model], folder, name="bd", output=tmp_path)
    with pytest.raises(TreebankError, match="no part of a treebank"):
        package([model], tmp_path, name="bd", output=tmp_path / "bd")
    assert not (tmp_path / "bd").exists()
