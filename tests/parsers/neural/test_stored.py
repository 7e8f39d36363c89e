"""Weights in model files: their shapes, how much is lost by rounding, and files that are wrong."""

import numpy as np
import pytest

from arborescence import ModelError
from arborescence.parsers.neural.stored import from_arrays, shapes_of, to_arrays
from small_networks import RELATIONS, settings_of, vocabulary_of, weights_of

COLUMNS = [
    ("form",),
    ("form", "upos"),
    ("form", "lemma", "upos", "xpos", "feats"),
]


def rounded(weights, precision):
    """Return the weights as they are after storing and loading them."""
    sizes = {name: array.shape for name, array in weights.items()}
    return from_arrays(to_arrays(weights, precision), sizes)


@pytest.mark.parametrize("scorer", ["biaffine", "mlp"])
@pytest.mark.parametrize("hinted", [True, False])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("pretrained", [{}, {"vector": 4, "encoded": 6, "encoder_layers": 3}])
def test_shapes_are_those_of_the_network(columns, hinted, scorer, pretrained):
    pytest.importorskip("torch", reason="needs PyTorch")
    from arborescence.parsers.neural.network import Network

    settings = settings_of(columns, scorer=scorer, lower=2, upper=3, **pretrained)
    vocabulary = vocabulary_of(settings)._replace(vectors={"trees": 1, "of": 2})
    network = Network(settings, vocabulary, hinted=hinted, relations=RELATIONS)
    real = {name: tuple(value.shape) for name, value in network.named_parameters()}
    assert shapes_of(settings, vocabulary, hinted=hinted, relations=RELATIONS) == real


def some_weights():
    settings = settings_of(COLUMNS[-1])
    return weights_of(settings, vocabulary_of(settings))


@pytest.mark.parametrize("precision", ["int8", "float16"])
def test_rounding_twice_is_rounding_once(precision):
    once = rounded(some_weights(), precision)
    again = rounded(once, precision)
    for name, array in once.items():
        assert array.dtype == np.float32
        assert (again[name] == array).all()


def test_error_of_float16():
    weights = some_weights()
    for name, array in rounded(weights, "float16").items():
        assert (np.abs(array - weights[name]) <= np.abs(weights[name]) / 2048 + 1e-7).all()


def test_error_of_int8():
    weights = some_weights()
    for name, array in rounded(weights, "int8").items():
        assert (np.abs(array - weights[name]) <= np.abs(weights[name]).max() / 253).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_scales_of_rows_or_columns(axis):
    """Rows of very different sizes lose less by scales of rows, and columns by those of columns."""
    table = np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32)
    sizes = np.float32(10) ** np.arange(5, dtype=np.float32)
    table *= sizes[:, None] if axis == 0 else sizes
    arrays = to_arrays({"table": table}, "int8")
    assert arrays["table.scales"].shape == ((5, 1) if axis == 0 else (1, 5))
    assert np.abs(rounded({"table": table}, "int8")["table"] / table - 1).max() < 0.2


def test_zeros_and_vectors():
    weights = {"zeros": np.zeros((2, 3), np.float32), "bias": np.ones(3, np.float32)}
    arrays = to_arrays(weights, "int8")
    assert arrays["bias"].dtype == np.float16
    assert (rounded(weights, "int8")["zeros"] == 0).all()


def wrong_files():
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    arrays = to_arrays({"table": table}, "int8")
    scales = arrays["table.scales"]
    yield "missing", {}
    yield "missing", {"table": arrays["table"]}
    yield "not float16", {"table": table}
    yield "not float16", {"table": table.astype(np.float16).T}
    yield "not float16", {"table": np.float16(1)}
    yield "not between", {"table": np.full((2, 3), np.nan, np.float16)}
    yield "not between", {"table": np.full((2, 3), np.inf, np.float16)}
    for bad in (np.nan, np.inf, -1, 1e9):
        yield "not between", arrays | {"table.scales": np.full_like(scales, bad)}
    for shape in ((), (1,), (2,), (3,), (1, 1), (3, 1), (1, 2), (2, 3), (1, 2, 1)):
        yield "not float32", arrays | {"table.scales": np.ones(shape, np.float32)}
    yield "not float32", arrays | {"table.scales": scales.astype(np.float64)}


@pytest.mark.parametrize(("message", "arrays"), list(wrong_files()))
def test_wrong_files(message, arrays):
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    with pytest.raises(ModelError, match=message):
        from_arrays(arrays, {"table": (2, 3)})


def test_vectors_are_float16():
    arrays = {"bias": np.array([2, 4], np.int8), "bias.scales": np.ones((1, 2), np.float32)}
    with pytest.raises(ModelError, match="not float16"):
        from_arrays(arrays, {"bias": (2,)})
