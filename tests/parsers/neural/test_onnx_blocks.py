"""Weights of an encoder in blocks of 4 or 8 bits: what they stand for, and what strangers write."""

import json
from contextlib import suppress

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.neural.onnx_blocks import Bits, round_weights, rounded
from arborescence.parsers.neural.onnx_encoder import OnnxEncoder

for needed in ("onnxruntime", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders in ONNX need {needed}")
onnx = pytest.importorskip("onnx", reason="graphs are made by onnx")
helper = onnx.helper
from onnx_graphs import BERT, FIELDS, PIECES, constant, network  # noqa: E402

RNG = np.random.default_rng(1)
MATRIX = RNG.normal(size=(5, 96)).astype(np.float32)


def unpacked(numbers, bits):
    if bits == 8:
        return numbers.astype(int)
    both = np.stack([numbers & 15, numbers >> 4], axis=-1)
    return both.reshape(*numbers.shape[:-1], -1).astype(int)


def restored(blocks, bits):
    """The weights that rounded numbers stand for, by the definition."""
    rows, count = blocks.scales.shape
    zeros = unpacked(blocks.zeros, bits)[:, :count, None]
    numbers = unpacked(blocks.numbers, bits).reshape(rows, count, -1)
    return ((numbers - zeros) * blocks.scales[..., None]).reshape(rows, -1)


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_are_near(bits):
    blocks = rounded(MATRIX, bits, 32)
    spans = np.ptp(MATRIX.reshape(5, 3, 32), axis=2)
    errors = np.sqrt(np.square(restored(blocks, bits) - MATRIX).reshape(5, 3, 32).mean(axis=2))
    assert (errors < 0.4 * spans / (2**bits - 1)).all()  # a uniform error has 0.29
    assert not (blocks.scales.view(np.uint32) & 0xFFFF).any()  # a file packs two of four bytes


def test_zero_is_exact():
    weights = np.abs(MATRIX)
    weights[:, ::2] = 0
    weights[0] = 0
    for bits in (4, 8):
        assert not restored(rounded(weights, bits, 16), bits)[weights == 0].any()


def run(model, ids):
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"ids": np.array([ids])})[0]


def wide_network():
    """Vectors of 96 numbers, and a product."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(len(PIECES), 96)).astype(np.float32)
    matrix = rng.normal(size=(96, 32)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["wide", "row"], ["vectors"]),
        helper.make_node("MatMul", ["vectors", "matrix"], ["product"]),
        helper.make_node("Slice", ["product", "none", "eight", "one"], ["last"]),
    ]
    few = [constant("none", [0]), constant("eight", [8]), constant("one", [1])]
    constants = [constant("wide", table, np.float32), constant("matrix", matrix, np.float32), *few]
    return network(*nodes, constants=constants, last="last"), table, matrix


@pytest.mark.parametrize("bits", [4, 8])
def test_onnxruntime_reads_what_was_written(bits):
    model, table, matrix = wide_network()
    plain = run(model, [4, 9, 17])
    round_weights(model, Bits(bits, bits, 32))
    kinds = [node.op_type for node in model.graph.node]
    assert "MatMulNBits" in kinds
    assert "GatherBlockQuantized" in kinds
    assert "MatMul" not in kinds
    near = restored(rounded(table, 8, 32), 8)[[4, 9, 17]]  # few rows: 8 bits
    expected = near @ restored(rounded(np.ascontiguousarray(matrix.T), bits, 32), bits).T
    found = run(model, [4, 9, 17]).reshape(3, -1)
    np.testing.assert_allclose(found, expected[:, :8], atol=0.02 * np.abs(expected).max())
    assert np.abs(found - plain.reshape(3, -1)).max() < 0.5 * np.abs(plain).max()


def test_a_table_of_four_bits(monkeypatch):
    monkeypatch.setattr("arborescence.parsers.neural.onnx_blocks._FEW_ROWS", 5)
    model, table, matrix = wide_network()
    round_weights(model, Bits(4, 8, 32))
    expected = restored(rounded(table, 4, 32), 4)[[4, 9, 17]] @ matrix
    found = run(model, [4, 9, 17]).reshape(3, -1)
    np.testing.assert_allclose(found, expected[:, :8], atol=0.02 * np.abs(expected).max())
    encoder(model)  # it is allowed in a file


def encoder(model):
    data, text = model.SerializeToString(), json.dumps(BERT).encode()
    arrays = {"onnx": np.frombuffer(data, np.uint8), "tokenizer": np.frombuffer(text, np.uint8)}
    return OnnxEncoder(FIELDS, arrays, 2, 4)


NUMBERS = constant("numbers", np.zeros((30, 16)), np.uint8)
SCALES = constant("scales", np.ones((30, 2)), np.float32)
ZEROS = constant("zeros", np.zeros((30, 1)), np.uint8)
HOW = {"bits": 4, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}


def gathered(
    numbers=NUMBERS, scales=SCALES, zeros=ZEROS, places="row", last="table_of_words", **how
):
    names = ["numbers", places, "scales", *(["zeros"] if zeros else [])]
    kind = "GatherBlockQuantized"
    node = helper.make_node(kind, names, ["x"], domain="com.microsoft", **HOW | how)
    constants = [each for each in (numbers, scales, zeros) if each]
    return network(node, constants=[*constants, constant("far", [40])], last=last)


@pytest.mark.parametrize(
    "model",
    [
        gathered(block_size=8),
        gathered(bits=2),
        gathered(bits=8),
        gathered(block_size=32),
        gathered(gather_axis=1),
        gathered(quantize_axis=0),
        gathered(own=1),
        gathered(zeros=None),
        gathered(zeros=constant("zeros", np.zeros((30, 2)), np.uint8)),
        gathered(zeros=constant("zeros", np.zeros((3, 1)), np.uint8)),
        gathered(scales=constant("scales", np.ones((30, 1)), np.float32)),
        gathered(scales=constant("scales", np.ones((3, 2)), np.float32)),
        gathered(numbers=constant("numbers", np.zeros((30, 15)), np.uint8)),
        gathered(numbers=constant("numbers", np.zeros((30, 4, 4)), np.uint8)),
        gathered(numbers=constant("numbers", np.zeros((30, 16)), np.int8)),
        gathered(places="scales"),
    ],
)
def test_tables_of_other_sizes(model):
    with pytest.raises(ModelError, match="the encoder cannot be read"):
        encoder(model)


def test_the_table_is_read():
    encoder(gathered())


def test_a_row_that_is_not_there():
    """ONNX Runtime reads nothing beyond a table: it raises an error, or finds zeros."""
    ones = constant("numbers", np.full((30, 16), 255), np.uint8)
    assert run(gathered(numbers=ones, last="x"), [4]).all()
    found = np.zeros(1)
    with suppress(RuntimeError):
        found = run(gathered(numbers=ones, places="far", last="x"), [4])
    assert not found.any()


@pytest.mark.parametrize("zeros", [(8, 2), (4, 1), (8, 1, 1)])
def test_zeros_of_a_matrix(zeros):
    node = helper.make_node(
        "MatMulNBits",
        ["table_of_words", "bits", "scales", "zeros"],
        ["x"],
        domain="com.microsoft",
        N=8,
        K=8,
        bits=4,
        block_size=16,
    )
    weights = constant("bits", np.zeros((8, 1, 8)), np.uint8)
    scales = constant("scales", np.zeros((8, 1)), np.float32)

    def made(shape):
        constants = [weights, scales, constant("zeros", np.zeros(shape), np.uint8)]
        return encoder(network(node, constants=constants))

    made((8, 1))
    with pytest.raises(ModelError, match="zeros that do not fit"):
        made(zeros)
