"""The packages of models in ``models/``, each made by `arborescence package`."""

import tomllib
from pathlib import Path

import pytest

import arborescence as arb

MODELS = Path(__file__).parents[2] / "models"
TEXTS = {
    "af": "Die ou man slaap nie. Hy lees boeke.",
    "de": "Der alte Mann schläft nicht. Er liest Bücher.",
    "fr": "Le chat dort. Il parle du temps.",
    "id": "Seorang guru tidur. Dia membaca buku.",
    "it": "Il gatto dorme. Lui parla della casa.",
    "nb": "Den gamle mannen sover ikke. Han leser bøker.",
    "nl": "De oude man slaapt niet. Hij leest boeken.",
    "pt": "O gato dorme. Ele fala da casa.",
    "sv": "Den gamla katten sover inte. Han läser böcker.",
}
NAMES = sorted(path.parent.name for path in MODELS.glob("??/pyproject.toml"))
NAMES.remove("en")  # which tests of its own look at


@pytest.mark.parametrize("name", NAMES)
def test_from_raw_text_to_trees(name):
    folder = MODELS / name
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["arborescence.models"] == {name: f"arborescence_{name}:{name}"}
    path = folder / "src" / f"arborescence_{name}" / f"{name}.npz"
    assert path.stat().st_size < 5e6
    parser = arb.load(path)
    first, second = parser(TEXTS[name])
    for sentence in (first, second):
        assert arb.is_tree(sentence.tree)
        assert "_" not in sentence.upos + sentence.lemmas + sentence.deprels
    assert first.upos[0] == "DET"
    assert second.upos[:2] == ["PRON", "VERB"]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "| raw text |" in card
    assert (folder / "LICENSE").exists()
