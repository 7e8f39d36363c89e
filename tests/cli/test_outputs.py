"""-o of every command: no file that is read is overwritten, and an ending says what is written."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
import typer

from arborescence.cli.outputs import KINDS, check_kind
from arborescence.treebank import read
from lessons import BIRDS, CATS, TREES, write_lessons
from small_parsers import small_parser

if TYPE_CHECKING:
    from pathlib import Path

    from lessons import Command

TRAIN = ["train", "linear", "--bits", "10", "--epochs", "1", "--no-tagger", "--no-text"]
#: What each command reads, and the rest of what it is given: COMMAND, the file, where it stands.
COMMANDS = {
    "parse": ["parse", "-m", "small.model", "in.conllu"],
    "parse, after another": ["parse", "-m", "small.model", "other.conllu", "in.conllu"],
    "parse, tokens": ["parse", "-m", "small.model", "--format", "tokens", "in.conllu"],
    "split": ["split", "in.conllu"],
    "tag": ["tag", "in.conllu"],
    "convert": ["convert", "in.conllu"],
    "convert --heads": ["convert", "--heads", "function", "in.conllu"],
    "convert --with": ["convert", "--with", "small.model", "in.conllu"],
    "convert --with, the model": ["convert", "--with", "in.conllu", "other.conllu"],
    "convert --corrected": [
        "convert",
        "--with",
        "small.model",
        "other.conllu",
        "--corrected",
        "in.conllu",
    ],
    "convert --learn": ["convert", "--learn", "in.model", "other.conllu"],
    "repair": ["repair", "in.conllu"],
    "rank": ["rank", "-m", "small.model", "in.conllu"],
    "rules": ["parse", "-m", "small.model", "other.conllu", "--rules", "in.conllu"],
    "the model": ["parse", "-m", "in.conllu", "other.conllu"],
    "draw": ["draw", "in.svg"],
    "audit": ["audit", "in.html"],
    "trace": ["trace", "--treebank", "in.txt"],
    "decode": ["decode", "in.npy"],
    "decode --kbest": ["decode", "--kbest", "2", "in.npz"],
    "explain": ["explain", "in.json"],
    "train": [*TRAIN, "in.model"],
    "train --dev": [*TRAIN, "other.conllu", "--dev", "in.model"],
    "train, after a folder": [*TRAIN, "folder", "in.model"],
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_lessons(tmp_path, BIRDS, TREES, CATS).rename("other.conllu")
    (tmp_path / "folder").mkdir()
    shutil.copy("other.conllu", "folder/train.conllu")
    small_parser("projective").save("small.model")
    return tmp_path


def names_of(path: Path) -> list[str]:
    """Return names of a file: by a folder, a link, a hard link, and a link to its folder."""
    here = path.parent
    (here / f"link{path.suffix}").symlink_to(path.name)
    (here / f"hard{path.suffix}").hardlink_to(path)
    (here / "here").symlink_to(".")
    others = (f"../{here.name}/{path.name}", f"here/{path.name}", str(path))
    return [path.name, *others, f"link{path.suffix}", f"hard{path.suffix}"]


@pytest.mark.skipif(sys.platform == "win32", reason="other links")
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_what_is_read_is_not_overwritten(
    command: Command, place: Path, arguments: list[str]
) -> None:
    path = place / next(each for each in arguments if each.startswith("in."))
    shutil.copy("other.conllu", path)
    before = path.read_bytes()
    for name in names_of(path):
        said = command(*arguments, "-o", name).complaint(2)
        assert "writing would destroy the input; write into another file" in said
        assert name in said
    assert path.read_bytes() == before


def test_treebanks_in_a_folder_are_not_overwritten(command: Command, place: Path) -> None:
    before = (place / "folder" / "train.conllu").read_bytes()
    (place / "link.model").symlink_to("folder/train.conllu")
    said = command(*TRAIN, "folder", "-o", "link.model").complaint(2)
    assert "link.model and folder/train.conllu are the same file" in said
    assert (place / "folder" / "train.conllu").read_bytes() == before
    assert command(*TRAIN, "folder", "-o", "folder/new.model").status == 0
    assert command(*TRAIN, "folder", "-o", "folder/new.model").status == 0  # is not read


def test_a_checkpoint_overwrites_no_treebank(command: Command, place: Path) -> None:
    shutil.copy("other.conllu", "new.model.checkpoint")
    said = command(*TRAIN, "new.model.checkpoint", "-o", "new.model").complaint(2)
    assert "new.model.checkpoint is read, too" in said
    assert len(list(read("new.model.checkpoint"))) == 15


def test_a_model_may_be_replaced_by_what_goes_on_from_it(command: Command, place: Path) -> None:
    assert command(*TRAIN, "other.conllu", "-o", "my.model").status == 0
    before = (place / "my.model").read_bytes()
    write_lessons(place, CATS).rename("more.conllu")
    train = ("train", "linear", "more.conllu", "--from", "my.model", "--epochs", 1)
    assert command(*train, "-o", "my.model").status == 0
    assert (place / "my.model").read_bytes() != before


@pytest.mark.races
@pytest.mark.parametrize("how", ["< other.conllu -o other.conllu", "other.conllu >> other.conllu"])
def test_standard_streams_that_are_files(place: Path, how: str) -> None:
    before = (place / "other.conllu").read_bytes()
    convert = f"{sys.executable} -m arborescence convert --heads content {how}"
    done = subprocess.run(convert, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "writing would destroy the input" in done.stderr
    assert (place / "other.conllu").read_bytes() == before


OF_OTHERS = ("png", "pdf", "docx", "PNG", "html", "npz", "model", "xlsx", "zip")


@pytest.mark.parametrize("ending", OF_OTHERS)
def test_endings_of_other_kinds_are_refused(command: Command, place: Path, ending: str) -> None:
    said = command("parse", "-m", "small.model", "other.conllu", "-o", f"out.{ending}").complaint(2)
    assert f".{ending} is of another kind of file" in said
    assert "CoNLL-U (.conllu, .conllup, .cupt, .conll, .txt), JSON (.json, .jsonl), a draw" in said
    assert not (place / f"out.{ending}").exists()


@pytest.mark.parametrize(
    "ending", ["", ".txt", ".conll", ".conllu", ".conllu.gz", ".gz", ".v2", ".CONLLU"]
)
def test_endings_that_are_conllu(command: Command, place: Path, ending: str) -> None:
    target = place / f"out{ending}"
    done = command("parse", "-m", "small.model", "other.conllu", "-o", target)
    assert (done.status, done.out) == (0, "")
    assert len(list(read(target))) == 15
    assert target.read_bytes().startswith(b"\x1f\x8b") == ending.endswith(".gz")


#: Of each command, endings that it writes, and that it does not.
ENDINGS = {
    "draw other.conllu": (".svg .SVG .svg.gz", ".png .conllu .html .json"),
    "demo": (".svg", ".png"),
    "convert --heads function other.conllu": (".conllu .json .svg", ".spacy .html .npy"),
    "trace --treebank other.conllu": (".txt .json .html .htm", ".svg .conllu .pdf"),
    "explain scores.npy": (".txt .json .html", ".svg .npy"),
    "decode scores.npy": (".npy .json .json.gz", ".npz .npy.gz .conllu .csv"),
    "decode --kbest 2 scores.npy": (".npz .json", ".npy .npz.gz"),
    "audit other.conllu": ("", ".conllu .pdf .json"),
    " ".join([*TRAIN, "other.conllu"]): (".model .npz .bits", ".conllu .txt .html .model.gz .pt"),
}


@pytest.mark.parametrize("arguments", ENDINGS)
def test_endings_of_other_commands(command: Command, place: Path, arguments: str) -> None:
    pytest.importorskip("arborescence_en", reason="needs arborescence-en")
    np.save("scores.npy", np.arange(9.0).reshape(3, 3))
    good, bad = map(str.split, ENDINGS[arguments])
    for ending in bad:
        said = command(*arguments.split(), "-o", f"out{ending}").complaint(2)
        assert "is of another kind of file" in said
    assert not list(place.glob("out*"))
    for ending in good:
        assert command(*arguments.split(), "-o", f"out{ending}").status == 0
        assert (place / f"out{ending}").stat().st_size


def test_json_is_no_conllu(command: Command, place: Path) -> None:
    said = command("parse", "-m", "small.model", "other.conllu", "--json", "-o", "a.conllu")
    assert "--json does not write CoNLL-U: -o a.conllu" in said.complaint(2)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_knows_its_endings(kind: str) -> None:
    for ending in KINDS[kind].endings:
        check_kind(f"a{ending}", (kind,))
        other = next(each for each in KINDS if ending not in KINDS[each].endings)
        with pytest.raises(typer.BadParameter):
            check_kind(f"a{ending}", (other,))
    if KINDS[kind].packed:
        check_kind("a.gz", (kind,))


def test_a_file_of_another_encoding(command: Command, place: Path) -> None:
    text = (place / "other.conllu").read_text().replace("Birds", "Vögel")
    for encoding in ("cp1252", "utf-16", "utf-16-le"):
        (place / "in.conllu").write_bytes(text.encode(encoding))
        for arguments in (["repair"], ["convert", "--heads", "content"], ["draw"], ["validate"]):
            told = command(*arguments, "in.conllu").complaint()
            assert f"--encoding {encoding}" in told
            assert "Vögel" in command(*arguments, "in.conllu", "--encoding", encoding).out or (
                arguments == ["validate"]
            )
        done = command("evaluate", "in.conllu", "in.conllu", "--encoding", encoding)
        assert "LAS                100.00" in done.out
        done = command(*TRAIN, "in.conllu", "-o", "a.model", "--encoding", encoding)
        assert done.status == 0
    (place / "in.txt").write_bytes(gzip.compress("Vögel singen".encode("utf-16")))
    parse = ("parse", "-m", "small.model", "--format", "tokens", "in.txt")
    assert "--encoding utf-16" in command(*parse).complaint()
    assert "\tVögel\t" in command(*parse, "--encoding", "utf-16").out
    said = command(*parse, "--encoding", "klingon").complaint(2)
    assert "--encoding must be an encoding that Python knows" in said
