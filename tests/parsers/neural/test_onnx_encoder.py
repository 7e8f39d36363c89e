"""Fine-tuned encoders in ONNX: the trees that PyTorch finds, files, damaged ones, extras."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import arborescence
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import model_file
from arborescence.parsers.neural.inputs import BatchLayout
from arborescence.parsers.neural.onnx_encoder import OnnxEncoder
from arborescence.parsers.neural.parser import BiaffineParser
from arborescence.parsers.packaging import package
from arborescence.treebank import Sentence, write
from small_treebanks import sentences
from tiny_encoders import make_bert

for needed in ("torch", "transformers", "onnx", "onnxscript", "onnxruntime", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders in ONNX need {needed}")

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
    return tuned.to_onnx(quantized=False)


@pytest.fixture(scope="module")
def rounded(tuned):
    return tuned.to_onnx()


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
    assert b".py" not in exact.encoder.arrays["onnx"].tobytes()  # nothing of this machine


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
    with pytest.raises(
        OptionError, match="only a parser with a fine-tuned encoder can be converted to ONNX"
    ):
        further.to_onnx()


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
        ("torch,transformers,onnx,onnxscript", "[2, 0]"),
        ("onnxruntime", "pip install 'arborescence[encoder]'"),
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

    def refused(changed, name="onnx", **fields):
        new = header | {"encoder": header["encoder"] | fields}
        model_file.save(tmp_path / "bad", new, arrays | {f"encoder/{name}": changed})
        with pytest.raises(ModelError) as error:
            arborescence.load(tmp_path / "bad")
        return str(error.value)

    network, cut = arrays["encoder/onnx"], arrays["encoder/tokenizer"]
    assert "the encoder cannot be read: " in refused(network[: len(network) // 2])
    assert "the encoder cannot be read: " in refused(network[:0])
    assert "the encoder cannot be read: " in refused(cut[:-9], "tokenizer")
    assert "the encoder cannot be read: " in refused(cut[::-1].copy(), "tokenizer")
    assert "array 'onnx' is float32" in refused(network.astype(np.float32))
    assert "room is 0, not a whole number from 1" in refused(network, room=0)
    assert "the encoder has room for 3 pieces only" in refused(network, room=3)
    assert "unknown is 'x'" in refused(network, unknown="x")
    whole = OnnxEncoder(header["encoder"], {"onnx": network, "tokenizer": cut}, 2, 16)
    assert whole.digest == exact.encoder.digest
    for layers, size in ((3, 16), (2, 8)):
        with pytest.raises(
            ModelError, match=r"the encoder returns float32 \(3, 2, 16\), not float32 \("
        ):
            OnnxEncoder(header["encoder"], whole.arrays, layers, size)
    del arrays["encoder/onnx"]
    assert "array 'onnx' is missing" in refused(cut, "tokenizer")


def test_bytes_that_were_changed_are_refused_or_harmless(exact):
    generator = np.random.default_rng(1)
    fields, size = exact.encoder.to_file(), exact.encoder.size
    for _ in range(30):
        network = exact.encoder.arrays["onnx"].copy()
        network[generator.integers(len(network), size=20)] = generator.integers(256, size=20)
        try:
            encoder = OnnxEncoder(fields, exact.encoder.arrays | {"onnx": network}, 2, size)
            assert np.isfinite(encoder.features([LONG])).all()
        except ModelError:
            continue


def test_no_other_file_is_read(exact, tmp_path, monkeypatch):
    import onnx
    from onnx import external_data_helper

    graph = onnx.load_model_from_string(exact.encoder.arrays["onnx"].tobytes())
    external_data_helper.convert_model_to_external_data(graph, location="weights", size_threshold=0)
    onnx.save_model(graph, tmp_path / "graph.onnx")
    assert (tmp_path / "weights").exists()
    monkeypatch.chdir(tmp_path)
    outside = np.frombuffer((tmp_path / "graph.onnx").read_bytes(), np.uint8)
    with pytest.raises(ModelError, match="the encoder cannot be read"):
        OnnxEncoder(exact.encoder.to_file(), exact.encoder.arrays | {"onnx": outside}, 2, 16)


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
    assert isinstance(arborescence.load(stored).encoder, OnnxEncoder)


def test_errors(tuned, folder):
    with pytest.raises(
        OptionError, match="only a parser with a fine-tuned encoder can be converted to ONNX"
    ):
        BiaffineParser.train(TREEBANK, encoder=folder, **TINY | {"epochs": 1}).to_onnx()
    script = (
        "import sys; sys.modules['onnx'] = None; import arborescence; "
        "arborescence.load(sys.argv[1], encoder=sys.argv[2]).to_onnx()"
    )
    path = folder / "tuned.npz"
    tuned.save(path)
    done = subprocess.run(
        [sys.executable, "-c", script, path, folder], capture_output=True, text=True
    )
    assert "MissingExtraError" in done.stderr
    assert "pip install 'arborescence[onnx]'" in done.stderr
