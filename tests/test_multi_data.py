"""The treebanks for all languages: what is learned from, what chooses, what is never seen."""

import gzip
import json
from importlib import import_module
from pathlib import Path

import pytest

from arborescence.treebank import Sentence, read
from real import TREEBANKS

MODELS = Path(__file__).parents[1] / "models"
COLOURS = ["red", "green", "blue", "black", "white", "brown", "grey", "pink"]
BIRDS = ["owl", "crow", "swan", "duck", "hawk", "wren", "gull", "tern"]
LATER = ["sang", "slept", "flew", "ate", "drank", "hid", "left", "rose"]


def sentence(number, extra=""):
    """Each number gives other words, of which no seven in a row are in two sentences."""
    a, b, c = (number // 8**i % 8 for i in range(3))
    words = [COLOURS[a], BIRDS[b], LATER[c], f"tree{number}", "and", f"nest{number}", "at", "night"]
    words += [extra] if extra else []
    return Sentence.from_words(
        words, heads=[0, *[1] * (len(words) - 1)], deprels=["root", *["dep"] * (len(words) - 1)]
    )


@pytest.fixture
def data(monkeypatch):
    monkeypatch.syspath_prepend(str(MODELS))
    return import_module("multi_data")


@pytest.fixture
def shared(tmp_path):
    """Write parts; return a function that does it: name of a file, numbers of sentences."""

    def write(**files):
        (tmp_path / "ud").mkdir(exist_ok=True)
        (tmp_path / "ud-more").mkdir(exist_ok=True)
        row = "| Galician-TreeGal | 1 | 1 | 1 | LGPL-LR |"
        (tmp_path / "ud" / "README.md").write_text(row)
        for name, numbers in files.items():
            place = tmp_path / f"{name}.conllu.gz"
            place.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(place, "wb") as file:
                file.write(b"".join(bytes(sentence(*numbers_of(each))) for each in numbers))
        return tmp_path

    return write


def numbers_of(each):
    return each if isinstance(each, tuple) else (each,)


def made(data, folder, *names, text=()):
    places = [str(folder / name) for name in ("", "converted", "out")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["multi_data.py", *places, *names, *text])
        data.main()
    listed = json.loads((folder / "out" / "treebanks.json").read_text())
    parts = {
        name: {part: list(read(folder / "out" / name / f"{part}.conllu")) for part in data._PARTS}
        for name in names
    }
    return listed, parts


def forms(sentences):
    return [each.forms for each in sentences]


def test_a_tenth_of_dev_chooses_in_blocks_and_the_rest_is_learned_from(data, shared):
    files = {
        "ud/Galician-TreeGal/gl-ud-train": range(50),
        "ud/Galician-TreeGal/gl-ud-dev": range(100, 300),
    }
    listed, parts = made(data, shared(**files), "Galician-TreeGal")
    chosen = forms(parts["Galician-TreeGal"]["dev"])
    assert len(chosen) == data.BLOCK == len(forms(parts["Galician-TreeGal"]["train"])) - 210
    dev = forms(sentence(number) for number in range(100, 300))
    assert chosen == dev[dev.index(chosen[0]) :][: data.BLOCK]
    assert listed["licence"] == "LGPLLR"
    assert listed["treebanks"]["Galician-TreeGal"] == {
        "language": "gl", "licences": ["LGPLLR"], "train": [230, 1840], "dev": [20, 160],
        "test": [0, 0],
    }  # fmt: skip


def test_nothing_of_any_test_part_is_learned_from(data, shared):
    """Neither the same letters nor seven words in a row; also of treebanks that are left out."""
    folder = shared(
        **{
            "ud/Galician-TreeGal/gl-ud-train": [*range(40), (100, "now"), 200],
            "ud/Galician-TreeGal/gl-ud-dev": range(300, 320),
            "ud/Basque-BDT/eu-ud-test": [100],
            "ud/Galician-TreeGal/gl-ud-test": [(200, "!")],
        }
    )
    _, parts = made(data, folder, "Galician-TreeGal")
    learned = forms(parts["Galician-TreeGal"]["train"])
    assert sentence(3).forms in learned
    assert sentence(200).forms not in learned
    assert sentence(100, "now").forms not in learned
    assert forms(parts["Galician-TreeGal"]["test"]) == [sentence(200, "!").forms]


def test_old_parts_are_no_parts_of_today(data, shared):
    folder = shared(
        **{
            "ud-more/Latvian-LVTB/train-2017": range(50),
            "ud-more/Latvian-LVTB/dev-old": range(60, 70),
            "ud/Latvian-LVTB/lv-ud-dev": range(400, 500),
        }
    )
    found = data.Shared(folder)
    assert not found.part("Latvian-LVTB", "train")
    assert len(found.part("Latvian-LVTB", "dev")) == 100


def test_documents_are_kept_whole(data):
    documents = [
        [
            sentence(9 * number + i)._with_comments(["# newdoc id = d"] if i == 0 else [])
            for i in range(9)
        ]
        for number in range(40)
    ]
    every = [each for document in documents for each in document]
    assert data.blocks(every) == documents
    taken, rest = data.shared_out(every, 400)
    assert sum(map(len, taken)) in range(350, 450)
    assert all(document[0] in taken or document[0] in rest for document in documents)
    for document in documents:
        assert [each in taken for each in document] == [document[0] in taken] * 9
    assert data.shared_out([], 10) == ([], [])


@pytest.mark.skipif(
    not (TREEBANKS.parent / "ud-more").is_dir(), reason="needs the folders ../shared/ud and ud-more"
)
def test_all_treebanks_have_licences_that_allow_commerce(data):
    shared = data.Shared(TREEBANKS.parent)
    licences = {name: shared.licences(name) for name in data.SOURCES}
    for name, some in licences.items():
        assert some, name
        assert not any("NC" in each or "GPL-3" in each for each in some), name
    assert set(licences["Danish-DDT"]) == {"CC-BY-SA-4.0", "MIT"}


@pytest.mark.skipif(
    not (TREEBANKS.parent / "ud-more").is_dir(), reason="needs the folders ../shared/ud and ud-more"
)
def test_real_parts_of_both_scripts_choose_the_same_sentences(data):
    shared = data.Shared(TREEBANKS.parent)
    both = [
        data.shared_out(shared.part(name, "dev"), 1200)[0]
        for name in ("Chinese-GSD", "Chinese-GSDSimp")
    ]
    assert [each.sent_id for each in both[0]] == [each.sent_id for each in both[1]]


def test_parsed_text_is_one_more_training_part(data, shared):
    folder = shared(**{"ud/Galician-TreeGal/gl-ud-train": range(50)})
    files = [folder / "a.conllu", folder / "b.conllu"]
    for number, file in enumerate(files, 700):
        file.write_bytes(bytes(sentence(number)))
    listed, _ = made(data, folder, "Galician-TreeGal", text=["--text", *map(str, files)])
    assert listed["treebanks"]["Text"] == {
        "language": "gl", "licences": [], "train": [2, 16], "dev": [0, 0], "test": [0, 0],
    }  # fmt: skip
    train = list(read(folder / "out" / "Text" / "train.conllu"))
    assert forms(train) == [sentence(700).forms, sentence(701).forms]
