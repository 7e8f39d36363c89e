"""BERT by our kernels: the vectors of PyTorch, any batch, files, damaged and hostile ones."""

import pickle

import numpy as np
import pytest

from arborescence.errors import ModelError
from tiny_encoders import make_bert, make_distilbert, make_electra, make_mpnet, make_roberta

torch = pytest.importorskip("torch", reason="encoders are made by torch")
for needed in ("transformers", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders are made by {needed}")

from arborescence.parsers.neural.bert import forward  # noqa: E402
from arborescence.parsers.neural.bert.blocks import Bits  # noqa: E402
from arborescence.parsers.neural.bert.encoder import BertEncoder, shares_of  # noqa: E402
from arborescence.parsers.neural.bert.families import is_bert  # noqa: E402
from arborescence.parsers.neural.encoder import Encoder  # noqa: E402

WORDS = [["birds", "sing"], ["old", "trees", "unum"] * 9, ["x"], ["cats", "!"]]
#: The last layer, the embeddings, and a mixture of both.
MIX = np.log(np.array([[1e-9, 1e-9, 1], [1, 1e-9, 1e-9], [0.5, 1e-9, 0.5]], dtype=np.float32))


FAMILIES = {
    "bert": make_bert,
    "electra": make_electra,
    "distilbert": make_distilbert,
    "roberta": make_roberta,
    "mpnet": make_mpnet,
}


@pytest.fixture(scope="module", params=FAMILIES.values(), ids=FAMILIES)
def pretrained(request, tmp_path_factory):
    folder = request.param(tmp_path_factory.mktemp("encoders") / "one")
    encoder = Encoder.load(folder, layers=3, fine_tune=True)
    torch.manual_seed(3)
    with torch.no_grad():  # biases are 0, and factors 1, at the start of training
        for parameter in encoder.model.parameters():
            parameter += torch.randn_like(parameter) / 5
    return encoder


@pytest.fixture(scope="module", params=[None, Bits(8, 8, 16), Bits(4, 4, 16)], ids=str)
def encoder(request, pretrained):
    return BertEncoder.of(pretrained, {}, shares_of(MIX), request.param)


def test_the_vectors_of_pytorch(pretrained, encoder):
    assert is_bert(pretrained.model)
    states = [each.astype(np.float64) for each in pretrained.features(WORDS)]
    expected = np.concatenate(states)[:, [2, 0]]
    found = encoder.features(WORDS)
    rounded = any(name.endswith(".scales") for name in encoder.arrays)
    spread = np.abs(expected).max()
    assert np.abs(found[:, :2] - expected).max() < spread * (0.4 if rounded else 1e-3)
    np.testing.assert_allclose(found[:, 2], found[:, :2].mean(axis=1), rtol=1e-3, atol=1e-4)


def test_neither_batch_nor_step_matters(encoder, monkeypatch):
    expected = encoder.features(WORDS)
    alone = np.concatenate([encoder.features([words]) for words in WORDS])
    assert np.array_equal(alone, expected)
    monkeypatch.setattr(forward, "_PIECES", 7)
    assert np.array_equal(encoder.features(WORDS), expected)


def test_stored_and_copied(encoder):
    fields = encoder.to_file()
    assert fields["format"] == "bert"
    for other in (
        BertEncoder(fields, encoder.arrays, encoder.layers, encoder.size),
        pickle.loads(pickle.dumps(encoder)),
    ):
        assert other.digest == encoder.digest
        assert np.array_equal(other.features(WORDS), encoder.features(WORDS))


def refused(encoder, arrays=None, layers=None, size=None, **fields):
    known = encoder.to_file()
    with pytest.raises(ModelError) as error:
        BertEncoder(
            known | fields,
            encoder.arrays | (arrays or {}),
            layers or encoder.layers,
            size or encoder.size,
        )
    return str(error.value)


def test_numbers_that_do_not_fit(encoder):
    assert "heads" in refused(encoder, heads=3)
    assert "heads" in refused(encoder, heads=0)
    assert "do not fit to 8" in refused(encoder, size=8)
    assert "places" in refused(encoder, room=33)
    assert refused(encoder, distances=5)
    assert "array 'mix'" in refused(encoder, layers=2)
    assert "is missing" in refused(encoder, depth=3)
    assert "array" in refused(encoder, depth=1)
    for name, value in {"inner": 31, "pieces": 9, "positions": 40, "types": 5, "size": 33}.items():
        assert refused(encoder, **{name: value}), name
    for name in ("depth", "inner", "pieces", "epsilon", "heads", "unknown", "room", "distances"):
        for value in (-1, 10**12, "1", None, [1], float("nan")):
            if (name, value) != ("unknown", None):
                assert name in refused(encoder, **{name: value}), (name, value)


def test_arrays_that_do_not_fit(encoder):
    for name, array in encoder.arrays.items():
        if name == "tokenizer":
            continue
        for other in (array[..., None], array[:0], array.astype(np.float64), array.reshape(-1)):
            if other.shape != array.shape or other.dtype != array.dtype:
                assert name.split(".")[-1][:3] in refused(encoder, {name: other}), name
        if array.dtype == np.float32:
            for value in (np.nan, np.inf, -np.inf, 1e30):
                bad = array.copy()
                bad.flat[-1] = value
                assert "not between" in refused(encoder, {name: bad}), (name, value)


def test_pieces_that_the_table_lacks(encoder):
    """The tokenizer of a stranger may have numbers beyond the table."""
    text = encoder.arrays["tokenizer"].tobytes()
    assert b'"birds":5' in text.replace(b" ", b"")
    bad = text.replace(b'"birds":5', b'"birds":99999').replace(b'"birds": 5', b'"birds": 99999')
    fields = encoder.to_file()
    arrays = encoder.arrays | {"tokenizer": np.frombuffer(bad, np.uint8)}
    other = BertEncoder(fields, arrays, encoder.layers, encoder.size)
    with pytest.raises(ModelError, match="pieces that the encoder does not know"):
        other.features([["birds"]])


def test_other_encoders_are_no_bert(pretrained):
    class Other:
        config = pretrained.model.config

    assert not is_bert(Other())
