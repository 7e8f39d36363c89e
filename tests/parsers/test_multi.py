"""The model of many languages, in ``models/multi``: it needs tokenizers, and no PyTorch."""

import tomllib
from pathlib import Path

import pytest

import arborescence as arb

pytest.importorskip("tokenizers", reason="multi needs tokenizers")

FOLDER = Path(__file__).parents[2] / "models" / "multi"
MODEL = FOLDER / "src" / "arborescence_multi" / "multi.npz"
pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="the source archive leaves it out")
TEXTS = {
    "de": "Die alte Frau liest ein Buch. Ihr Hund schläft.",
    "es": "La vieja mujer lee un libro. Su hija trabaja mucho.",
    "it": "La donna legge un libro. Il suo cane dorme.",
    "nl": "De oude vrouw leest een boek. Haar hond slaapt.",
    "sv": "Den gamla kvinnan läser en bok. Hennes hund sover.",
}
VERBS = ["liest", "schläft", "lee", "trabaja", "legge", "dorme"]
VERBS += ["leest", "slaapt", "läser", "sover"]


def test_each_document_is_read_in_its_language():
    parser = arb.load(MODEL, language="auto")
    sentences = list(parser(texts=list(TEXTS.values())))
    languages = [each.comments[-1].removeprefix("# language = ") for each in sentences]
    assert languages == [code for code in TEXTS for _ in range(2)]
    roots = [each.forms[each.heads.tolist().index(0)] for each in sentences]
    assert roots == VERBS
    assert sum("VERB" in each.upos for each in sentences) >= 9
    for sentence in sentences:
        assert arb.is_tree(sentence.tree)
        assert {"nsubj", "root", "punct"} <= set(sentence.deprels)


def test_the_package():
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["arborescence.models"] == {"multi": "arborescence_multi:multi"}
    assert project["dependencies"] == ["arborescence[encoder]"]
    assert MODEL.stat().st_size < 39.5e6  # the wheel has at most 40 MB
    cards = {path.stem for path in (FOLDER / "languages").glob("*.md")}
    assert cards == set(arb.load(MODEL, language="de").languages)
