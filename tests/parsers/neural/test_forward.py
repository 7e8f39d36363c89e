"""The network without PyTorch: near the results of PyTorch, however sentences are batched."""

import numpy as np
import pytest

from arborescence import decode
from arborescence.compiling.native import has_vnni
from arborescence.core import byte_products
from arborescence.parsers.neural import forward, kernels
from arborescence.parsers.neural.forward import Forward
from arborescence.parsers.neural.inputs import BatchLayout, Inputs
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.treebank import read
from modes import UNCOMPILED
from small_networks import (
    RELATIONS,
    hints_for,
    inputs_of,
    sentences,
    settings_of,
    vocabulary_of,
    weights_of,
)

ALL = ("form", "lemma", "upos", "xpos", "feats")
BATCHES = [[1], [2, 1, 1], [1, 3, 40, 7, 7]]


def on_device(settings, vocabulary, weights, relations=RELATIONS):
    pytest.importorskip("torch", reason="compares with PyTorch")
    from arborescence.parsers.neural.network import OnDevice

    return OnDevice(settings, vocabulary, weights, relations, "cpu")


def edges_of_trees(found, inputs):
    """Return the rows of both ends of the edges of the best trees."""
    layout = inputs.layout
    trees = decode(found.edges, layout.lengths - 1)
    there = trees >= 0
    sentence, _ = np.nonzero(there)
    return layout.rows[sentence, trees[there]], layout.rows[there]


def assert_near(found, wanted, inputs):
    """Without PyTorch, numbers are rounded to bytes: here the error is 2 %, and at most 19 %."""
    assert found.tags.keys() == wanted.tags.keys()
    words = slice(len(inputs.layout.lengths), None)
    for column, values in wanted.tags.items():
        assert (found.tags[column][words] == values[words]).mean() > 0.9
    real = wanted.edges > -1e8
    assert ((found.edges > -1e8) == real).all()
    assert_close(found.edges[real], wanted.edges[real])
    ends = edges_of_trees(wanted, inputs)
    assert_close(found.relations(*ends), wanted.relations(*ends))


def assert_close(found, wanted):
    assert np.linalg.norm(found - wanted) < 0.2 * np.linalg.norm(wanted)


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
@pytest.mark.parametrize("hinted", [True, False], ids=["hinted", "unhinted"])
@pytest.mark.parametrize("columns", [ALL, ("form",), ("form", "xpos")], ids=",".join)
@pytest.mark.parametrize("scorer", ["biaffine", "mlp"])
def test_near_pytorch(scorer, columns, hinted, lengths):
    settings = settings_of(columns, scorer=scorer)
    vocabulary = vocabulary_of(settings)
    weights = weights_of(settings, vocabulary, hinted)
    inputs = inputs_of(sentences(lengths), vocabulary, hinted)
    wanted = on_device(settings, vocabulary, weights).run(inputs)
    assert_near(Forward(settings, vocabulary, weights).run(inputs), wanted, inputs)


@pytest.mark.parametrize("layers", [(1, 1), (2, 3)])
def test_near_pytorch_with_other_numbers_of_layers(layers):
    settings = settings_of(lower=layers[0], upper=layers[1])
    vocabulary = vocabulary_of(settings)
    weights = weights_of(settings, vocabulary)
    inputs = inputs_of(sentences([4, 9, 30]), vocabulary)
    wanted = on_device(settings, vocabulary, weights).run(inputs)
    assert_near(Forward(settings, vocabulary, weights).run(inputs), wanted, inputs)


@pytest.mark.parametrize("name", ["English-EWT", "Gothic-PROIEL", "Turkish-IMST"])
@pytest.mark.skipif(UNCOMPILED, reason="takes long uncompiled")
def test_near_pytorch_on_real_sentences(treebanks, name):
    [path] = (treebanks / name).glob("*test*")
    gold = [sentence for sentence, _ in zip(read(path), range(200), strict=False)]
    settings = settings_of(ALL, hidden=24, arc=40, label=17)
    vocabulary = Vocabulary.of(gold, ALL)
    weights = weights_of(settings, vocabulary)
    shown = np.arange(len(gold)) % 2 == 0
    given = dict.fromkeys([*vocabulary.tags, "lemma"], shown)
    inputs = Inputs.of(gold, vocabulary, hints_for(gold, vocabulary), given)
    wanted = on_device(settings, vocabulary, weights).run(inputs)
    assert_near(Forward(settings, vocabulary, weights).run(inputs), wanted, inputs)


@pytest.mark.parametrize("scorer", ["biaffine", "mlp"])
def test_batches_do_not_matter(scorer):
    settings = settings_of(ALL, scorer=scorer)
    vocabulary = vocabulary_of(settings)
    network = Forward(settings, vocabulary, weights_of(settings, vocabulary))
    some = sentences([5, 1, 12, 5])
    hints = hints_for(some, vocabulary)

    def run(numbers):
        shown = np.array(numbers) % 2 == 0
        given = dict.fromkeys([*vocabulary.tags, "lemma"], shown)
        inputs = Inputs.of(
            [some[b] for b in numbers], vocabulary, [hints[b] for b in numbers], given
        )
        return inputs.layout, network.run(inputs)

    layout, together = run(range(len(some)))
    for b, sentence in enumerate(some):
        n = len(sentence) + 1
        _, alone = run([b])
        assert (together.edges[b, :n, :n] == alone.edges[0]).all()
        rows, own = layout.rows[b, 1:n], np.arange(1, n)
        for column in vocabulary.tags:
            assert (together.tags[column][rows] == alone.tags[column][own]).all()
        scores = together.relations(rows[::-1].copy(), rows)
        assert (scores == alone.relations(own[::-1].copy(), own)).all()


@pytest.mark.parametrize("kept", [0, 3, 1000])
def test_kept_forms_change_nothing_and_are_not_too_many(kept, monkeypatch):
    settings = settings_of(("form", "upos"))
    vocabulary = vocabulary_of(settings)
    weights = weights_of(settings, vocabulary)
    monkeypatch.setattr(forward, "_KEPT", kept * 8 * settings.hidden)
    network, read = Forward(settings, vocabulary, weights), []
    read_forms = network._read_forms
    network._read_forms = lambda inputs, new: read.append(len(new)) or read_forms(inputs, new)
    for lengths in ([5, 1], [3], [4, 9], [5, 1], [9, 4, 2]):
        inputs = inputs_of(sentences(lengths), vocabulary)
        found = network.run(inputs)
        fresh = Forward(settings, vocabulary, weights).run(inputs)
        assert (found.edges == fresh.edges).all()
        assert (found.tags["upos"] == fresh.tags["upos"]).all()
        assert len(network._known) <= kept
    assert kept < 1000 or sum(read) == len(network._known)
    before = len(read)
    network.run(inputs)
    assert (len(read) == before) == (kept == 1000)


@pytest.mark.skipif(not has_vnni() and not UNCOMPILED, reason="the processor has no VNNI")
@pytest.mark.parametrize("scorer", ["biaffine", "mlp"])
def test_same_bits_on_all_processors(scorer, monkeypatch):
    """With and without the instruction for bytes, and with registers of all sizes."""
    settings = settings_of(ALL, scorer=scorer)
    vocabulary = vocabulary_of(settings)
    weights = weights_of(settings, vocabulary)
    inputs = inputs_of(sentences([9, 1, 30, 7]), vocabulary)
    found = []
    for vnni, wide in ((True, True), (False, True), (False, False)):
        monkeypatch.setattr(byte_products, "has_vnni", lambda vnni=vnni: vnni)
        for module in (byte_products, forward):
            monkeypatch.setattr(module, "has_wide_registers", lambda wide=wide: wide)
        output = Forward(settings, vocabulary, weights).run(inputs)
        relations = output.relations(*edges_of_trees(output, inputs))
        found.append([output.edges, relations, *output.tags.values()])
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert one.tobytes() == other.tobytes()


def test_edges_may_be_repeated_and_in_any_order():
    settings = settings_of()
    vocabulary = vocabulary_of(settings)
    network = Forward(settings, vocabulary, weights_of(settings, vocabulary))
    found = network.run(inputs_of(sentences([200]), vocabulary))
    heads, dependents = np.random.default_rng(0).integers(201, size=(2, 500))
    scores = found.relations(heads, dependents)
    for edge in range(0, 500, 50):
        at = slice(edge, edge + 1)
        assert (scores[edge] == found.relations(heads[at], dependents[at])[0]).all()
    assert found.relations(heads[:0], dependents[:0]).shape == (0, RELATIONS)


def test_no_edges_beyond_the_end():
    settings = settings_of()
    vocabulary = vocabulary_of(settings)
    network = Forward(settings, vocabulary, weights_of(settings, vocabulary))
    edges = network.run(inputs_of(sentences([1, 2]), vocabulary)).edges
    real = [[[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]]
    assert ((edges > -1e8) == np.array(real)).all()


def as_exact(x):
    """Compute e^x, sigmoid(x) and tanh(x) in float64."""
    x = x.astype(np.float64)
    e = np.exp(np.clip(x, -87, 88))
    return np.stack([e, e / (1 + e), np.tanh(x)])


def test_curves():
    """The error is below 3e-7 of the result; for subnormal results, it is far below 1e-37."""
    x = np.concatenate(
        [
            np.linspace(-90, 90, 2001),
            np.linspace(-1, 1, 1001),
            10.0 ** np.arange(-40, 38),
            -(10.0 ** np.arange(-40, 38)),
            [0, -0.0, np.inf, -np.inf],
        ]
    ).astype(np.float32)
    curves = (
        kernels.exp,
        lambda x: np.float32(1) / kernels._one_by_sigmoid(x),
        lambda x: kernels._tanh_by(x, np.float32(1)),
    )
    found = np.array([[curve(value) for value in x] for curve in curves])
    exact = as_exact(x)
    assert (np.abs(found - exact) <= 3e-7 * np.abs(exact) + 2e-38).all()
    assert np.abs(found[1:]).max() == 1


@pytest.mark.parametrize("weight", [np.int16, np.int8])
def test_lstm(weight, monkeypatch):
    """Two sentences of 2 and 1 nodes, against the definition of Hochreiter and Schmidhuber.

    The weights and inputs are integers times a scale, so only outputs are rounded.
    """
    if weight == np.int8 and not has_vnni() and not UNCOMPILED:
        pytest.skip("the processor has no VNNI")
    monkeypatch.setattr(byte_products, "has_vnni", lambda: weight == np.int8)
    generator = np.random.default_rng(0)
    hidden, size, layout = 20, 6, BatchLayout.of([1, 0])
    inputs = generator.integers(-127, 128, (3, size))
    integers = generator.integers(-127, 128, (2, hidden + size, 4 * hidden))
    integers[:, 0] = 127  # the largest of each column
    scales = generator.uniform(0.001, 0.003, (2, 1, 4 * hidden))
    units = generator.uniform(0.01, 0.02, size)
    weights = {
        "layer.recurrent": integers[:, :hidden] * scales,
        "layer.input": integers[:, hidden:] * scales / (127 * units[:, None]),
        "layer.bias": generator.normal(size=(2, 1, 4 * hidden)),
    }
    weights = {name: each.astype(np.float32) for name, each in weights.items()}
    gates = generator.normal(size=(2, 8 * hidden)).astype(np.float32)
    which = np.array([1, 0, 1])
    layer = forward._BiLSTM("layer", weights, slice(None), units.astype(np.float32))
    rows = (inputs + 128).astype(np.uint8)
    found = layer.run(rows, layout, 1, gates, which)
    assert found.shape == (3, 2 * hidden + 1)
    for direction, nodes in enumerate([(0, 2), (2, 0), (1,)]):
        direction %= 2
        cell = output = np.zeros(hidden)
        for row in nodes:
            of = gates[which[row]].reshape(2, -1)[direction]
            of = of + output @ weights["layer.recurrent"][direction]
            of = of + (inputs[row] * units) @ weights["layer.input"][direction]
            enter, forget, leave, new = of.reshape(4, hidden)
            cell = as_exact(forget)[1] * cell + as_exact(enter)[1] * np.tanh(new)
            exact = as_exact(leave)[1] * np.tanh(cell)
            part = found[row, direction * hidden : (direction + 1) * hidden].astype(int) - 128
            assert np.abs(part - 127 * exact).max() < 0.51
            output = part / 127


def test_tags_and_their_vectors():
    """The best tags, and the mean of vectors by the probabilities; no vector for roots."""
    generator = np.random.default_rng(0)
    logits = generator.normal(0, 3, (7, 9)).astype(np.float32)
    logits[3, 2:6], logits[4, 2:6] = (5, 5, 1, 5), (-100, 100, -100, 0)
    vectors = generator.normal(size=(4, 5)).astype(np.float32)
    units = (np.abs(vectors).max(axis=0) / 127).astype(np.float32)
    rows, best = np.full((7, 8), 9, dtype=np.uint8), np.empty(7, dtype=np.int64)
    kernels.choose_tags(logits, 2, vectors, units, 1, 2, rows, best)
    assert (best == logits[:, 2:6].argmax(axis=1)).all()
    chances = np.exp(logits[:, 2:6].astype(np.float64))
    chances /= chances.sum(axis=1, keepdims=True)
    assert (rows[:2, 1:6] == 128).all()
    assert np.abs(rows[2:, 1:6] - 128.0 - chances[2:] @ vectors / units).max() < 0.51
    assert (rows[:, [0, 6, 7]] == 9).all()


def test_shares_of_vectors():
    """Number -1 is the last vector; what is larger than the largest becomes 127."""
    vectors = np.array([[1, -2], [3, 4], [0, 0]], dtype=np.float32)
    units = np.array([3 / 127, 4 / 127], dtype=np.float32)
    rows = np.zeros((2, 3), dtype=np.uint8)
    shares = np.array([[0.5, 0.25, 0.25], [2, 2, 2]], dtype=np.float32)
    kernels.average(np.array([[0, 1, -1], [1, 1, 1]]), shares, vectors, units, 1, rows)
    assert rows.tolist() == [[0, 128 + 53, 128], [0, 255, 255]]


def test_spell():
    """Convolutions, by the definition."""
    generator = np.random.default_rng(0)
    letters = np.array([[4, 0, 0, 0, 0], [2, 5, 3, 0, 0], [2, 6, 5, 7, 3]])
    vectors = generator.normal(size=(8, 3))
    vectors[0] = 0
    windows = [generator.normal(size=(4, 3, width)) for width in (3, 5)]
    bias = generator.normal(size=8)
    places = [place for window in windows for place in window.transpose(2, 1, 0)]
    table = np.concatenate([vectors @ place for place in places], axis=1)
    found = np.empty((3, 8), dtype=np.float32)
    kernels.spell(
        letters, table.astype(np.float32), np.array([3, 5]), bias.astype(np.float32), found
    )
    for word, length, of_word in zip(letters, (1, 3, 5), found, strict=True):
        padded = np.zeros((9, 3))
        padded[2 : 2 + length] = vectors[word[:length]]
        wanted = []
        for window in windows:
            width = window.shape[2]
            first = 2 - width // 2
            wanted.append(
                np.max(
                    [
                        np.tensordot(window, padded[i : i + width].T, 2)
                        for i in range(first, first + length)
                    ],
                    axis=0,
                )
            )
        wanted = np.maximum(np.concatenate(wanted) + bias, 0)
        assert of_word == pytest.approx(wanted, abs=1e-5)
