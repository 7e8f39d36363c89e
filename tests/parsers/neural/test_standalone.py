"""Parsers that contain their fine-tuned encoder: PyTorch's trees, files, damaged ones, extras."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import arborescence
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import model_file
from arborescence.parsers.neural.bert.encoder import BertEncoder
from arborescence.parsers.neural.inputs import BatchLayout
from arborescence.parsers.neural.parser import BiaffineParser
from arborescence.parsers.packaging import package
from arborescence.parsers.shared import scheme
from arborescence.treebank import Sentence, write
from small_treebanks import sentences
from tiny_encoders import make_bert

for needed in ("torch", "transformers", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders are trained by {needed}")

import transformers  # noqa: E402

TINY = {"word": 8, "letter": 4, "filters": 8, "tag": 4, "hidden": 16, "arc": 16, "label": 16}
TINY |= {"encoder_layers": 2, "columns": ("form", "upos"), "epochs": 5, "rate": 0.02}
TREEBANK = sentences()
LONG = ["Birds", "under", "\u200b", "old", "trees", "sing", "!"] * 12  # several windows
NEW = [
    *map(Sentence.from_words, (["Birds"], LONG, ["Xyz", "漢字", "\u200b", "un" * 40])),
    *TREEBANK,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_bert(tmp_path_factory.mktemp("encoders") / "bert")


@pytest.fixture(scope="module")
def tuned(folder):
    return BiaffineParser.train(TREEBANK, encoder=folder, fine_tune=True, encoder_rate=1e-3, **TINY)


@pytest.fixture(scope="module")
def exact(tuned):
    return tuned.standalone(quantized=False)


@pytest.fixture(scope="module")
def rounded(tuned):
    return tuned.standalone()


@pytest.fixture(scope="module")
def model(exact, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tuned.npz"
    exact.save(path)
    return path


def trees(parser):
    return [(each.heads.tolist(), each.deprels, each.upos) for each in parser.parse(NEW)]


def test_same_as_pytorch(tuned, exact):
    assert (tuned.device, exact.device) == ("cpu", None)
    moved = pickle.loads(pickle.dumps(exact)).to("cpu")  # PyTorch runs the rest of the network
    for sentence in NEW:
        expected = tuned.scores(sentence)
        np.testing.assert_allclose(moved.scores(sentence), expected, atol=1e-4)
        assert np.abs(exact.scores(sentence) - expected).max() < 0.1 * np.abs(expected).max()
    assert trees(moved) == trees(tuned)
    assert list(exact.parse([])) == []


def test_int8_is_near(tuned, rounded):
    for sentence in NEW:
        expected = tuned.scores(sentence)
        far = np.abs(rounded.scores(sentence) - expected).max()
        assert far < 0.1 * np.abs(expected).max()


def test_the_company_does_not_matter(rounded):
    encoder = rounded.encoder
    layout = BatchLayout.of([len(sentence) for sentence in NEW])
    together = encoder.read(NEW, layout)
    assert not together[layout.rows[:, 0]].any()  # the roots
    for sentence, rows, length in zip(NEW, layout.rows, layout.lengths, strict=True):
        assert (together[rows[1:length]] == encoder.features([sentence.forms])).all()


def test_one_file_has_all(tuned, exact, model):
    loaded = arborescence.load(model)
    assert trees(loaded) == trees(exact)
    assert loaded.encoder.digest == exact.encoder.digest
    assert not any(name.startswith("encoder.") for name in loaded.weights)
    assert loaded.settings.fine_tune  # as it was trained


def test_training_goes_on_but_not_that_of_the_encoder(exact):
    further = BiaffineParser.train(TREEBANK, start=exact, epochs=2)
    assert further.encoder is exact.encoder
    further.to(None)
    assert len(trees(further)) == len(NEW)
    with pytest.raises(OptionError, match="only a parser with a fine-tuned encoder can contain it"):
        further.standalone()


ALONE = """
import sys
for name in sys.argv[2].split(","):
    sys.modules[name] = None
import arborescence
try:
    [parsed] = arborescence.load(sys.argv[1]).parse([["Birds", "sing"]])
    print(parsed.heads.tolist())
except arborescence.MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("absent", "said"),
    [
        ("torch,transformers", "[2, 0]"),
        ("tokenizers", "pip install 'arborescence[encoder]'"),
    ],
)
def test_what_must_be_there(exact, model, absent, said):
    done = subprocess.run(
        [sys.executable, "-c", ALONE, model, absent], capture_output=True, text=True, check=True
    )
    if said == "[2, 0]":
        said = str(exact.parse([["Birds", "sing"]]).__next__().heads.tolist())
    assert said in done.stdout


def test_damaged_files(exact, model, tmp_path):
    header, arrays = model_file.load(model)

    def refused(name, changed, **fields):
        new = header | {"encoder": header["encoder"] | fields}
        model_file.save(tmp_path / "bad", new, arrays | {f"encoder/{name}": changed})
        with pytest.raises(ModelError) as error:
            arborescence.load(tmp_path / "bad")
        return str(error.value)

    cut, mix = arrays["encoder/tokenizer"], arrays["encoder/mix"]
    assert "the encoder cannot be read: " in refused("tokenizer", cut[:-9])
    assert "the encoder cannot be read: " in refused("tokenizer", cut[::-1].copy())
    assert "array 'mix' is float64" in refused("mix", mix.astype(np.float64))
    assert "room is 0, not a whole number from 1" in refused("mix", mix, room=0)
    assert "the encoder has room for 3 pieces only" in refused("mix", mix, room=3)
    assert "unknown is 'x'" in refused("mix", mix, unknown="x")
    own = scheme.part(arrays, "encoder/")
    assert BertEncoder(header["encoder"], own, 2, 16).digest == exact.encoder.digest
    for layers, size in ((3, 16), (2, 8)):
        with pytest.raises(ModelError):
            BertEncoder(header["encoder"], own, layers, size)


def test_a_package_needs_no_pytorch(folder, tuned, tmp_path):
    tuned.save(tmp_path / "tuned.npz")
    treebank = tmp_path / "UD_Old_Bird-Nest"
    treebank.mkdir()
    write(TREEBANK, treebank / "bd_nest-ud-test.conllu")
    made = package(
        [tmp_path / "tuned.npz"],
        treebank,
        name="bd",
        output=tmp_path / "bd",
        licence="CC-BY-4.0",
        encoder=folder,
    )
    assert (
        'dependencies = ["arborescence[encoder]"]' in (made.folder / "pyproject.toml").read_text()
    )
    assert f"--fine-tune --encoder {folder}" in (made.folder / "README.md").read_text()
    stored = made.folder / "src" / "arborescence_bd" / "bd.npz"
    assert stored.stat().st_size < 1e6
    assert isinstance(arborescence.load(stored).encoder, BertEncoder)


def test_errors(tuned, folder):
    with pytest.raises(OptionError, match="only a parser with a fine-tuned encoder can contain it"):
        BiaffineParser.train(TREEBANK, encoder=folder, **TINY | {"epochs": 1}).standalone()


def test_encoders_of_another_kind(folder, tmp_path):
    """BERT with another function between its layers."""
    config = transformers.BertConfig.from_pretrained(folder, hidden_act="relu")
    transformers.BertModel(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    parser = BiaffineParser.train(TREEBANK, encoder=tmp_path, fine_tune=True, **TINY)
    with pytest.raises(OptionError, match="a model file can have the encoders BERT"):
        parser.standalone()
