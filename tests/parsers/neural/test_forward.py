"""The network without PyTorch: the results of PyTorch, however sentences are batched."""

import numpy as np
import pytest

from arborescence import decode
from arborescence.core.products import PanelMatrix
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


def assert_same(found, wanted, inputs):
    assert found.tags.keys() == wanted.tags.keys()
    for column, values in wanted.tags.items():
        words = slice(len(inputs.layout.lengths), None)
        assert (found.tags[column][words] == values[words]).all()
    real = wanted.edges > -1e8
    largest = np.abs(wanted.edges[real]).max()
    assert ((found.edges > -1e8) == real).all()
    assert np.abs(found.edges - wanted.edges).max() < 1e-5 * largest
    ends, others = edges_of_trees(found, inputs), edges_of_trees(wanted, inputs)
    assert (np.stack(ends) == np.stack(others)).all()
    scores = wanted.relations(*ends)
    assert np.abs(found.relations(*ends) - scores).max() < 1e-5 * np.abs(scores).max()


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
@pytest.mark.parametrize("hinted", [True, False], ids=["hinted", "unhinted"])
@pytest.mark.parametrize("columns", [ALL, ("form",), ("form", "xpos")], ids=",".join)
@pytest.mark.parametrize("scorer", ["biaffine", "mlp"])
def test_same_as_pytorch(scorer, columns, hinted, lengths):
    settings = settings_of(columns, scorer=scorer)
    vocabulary = vocabulary_of(settings)
    weights = weights_of(settings, vocabulary, hinted)
    inputs = inputs_of(sentences(lengths), vocabulary, hinted)
    wanted = on_device(settings, vocabulary, weights).run(inputs)
    assert_same(Forward(settings, vocabulary, weights).run(inputs), wanted, inputs)


@pytest.mark.parametrize("layers", [(1, 1), (2, 3)])
def test_same_as_pytorch_with_other_numbers_of_layers(layers):
    settings = settings_of(lower=layers[0], upper=layers[1])
    vocabulary = vocabulary_of(settings)
    weights = weights_of(settings, vocabulary)
    inputs = inputs_of(sentences([4, 9, 30]), vocabulary)
    wanted = on_device(settings, vocabulary, weights).run(inputs)
    assert_same(Forward(settings, vocabulary, weights).run(inputs), wanted, inputs)


@pytest.mark.parametrize("name", ["English-EWT", "Gothic-PROIEL", "Turkish-IMST"])
@pytest.mark.skipif(UNCOMPILED, reason="takes long uncompiled")
def test_same_as_pytorch_on_real_sentences(treebanks, name):
    [path] = (treebanks / name).glob("*test*")
    gold = [sentence for sentence, _ in zip(read(path), range(200), strict=False)]
    settings = settings_of(ALL, hidden=24, arc=40, label=17)
    vocabulary = Vocabulary.of(gold, ALL)
    weights = weights_of(settings, vocabulary)
    shown = np.arange(len(gold)) % 2 == 0
    given = dict.fromkeys([*vocabulary.tags, "lemma"], shown)
    inputs = Inputs.of(gold, vocabulary, hints_for(gold, vocabulary), given)
    wanted = on_device(settings, vocabulary, weights).run(inputs)
    assert_same(Forward(settings, vocabulary, weights).run(inputs), wanted, inputs)


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
        assert np.abs(together.edges[b, :n, :n] - alone.edges[0]).max() < 1e-5
        rows, own = layout.rows[b, 1:n], np.arange(1, n)
        for column in vocabulary.tags:
            assert (together.tags[column][rows] == alone.tags[column][own]).all()
        scores = together.relations(rows[::-1].copy(), rows)
        assert np.abs(scores - alone.relations(own[::-1].copy(), own)).max() < 1e-5


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
        assert len(network._known) <= max(kept, 1)
    assert kept < 1000 or sum(read) == len(network._known)
    before = len(read)
    network.run(inputs)
    assert (len(read) == before) == (kept == 1000)


def test_edges_may_be_repeated_and_in_any_order():
    settings = settings_of()
    vocabulary = vocabulary_of(settings)
    network = Forward(settings, vocabulary, weights_of(settings, vocabulary))
    found = network.run(inputs_of(sentences([200]), vocabulary))
    heads, dependents = np.random.default_rng(0).integers(201, size=(2, 500))
    scores = found.relations(heads, dependents)
    for edge in range(0, 500, 50):
        at = slice(edge, edge + 1)
        assert scores[edge] == pytest.approx(
            found.relations(heads[at], dependents[at])[0], abs=1e-5
        )
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
    curves = (kernels._exp, kernels._sigmoid, kernels._tanh)
    found = np.array([[curve(value) for value in x] for curve in curves])
    exact = as_exact(x)
    assert (np.abs(found - exact) <= 3e-7 * np.abs(exact) + 2e-38).all()
    assert np.abs(found[1:]).max() == 1


@pytest.mark.parametrize("wide", [True, False])
def test_lstm(wide):
    """Two sentences of 2 and 1 nodes, against the definition of Hochreiter and Schmidhuber."""
    generator = np.random.default_rng(0)
    hidden, layout = 20, BatchLayout.of([1, 0])
    gates, weights = generator.normal(size=(3, 8 * hidden)), generator.normal(size=(2, 20, 80))
    bias = generator.normal(size=(2, 80))
    found = np.empty((3, 2 * hidden + 1), dtype=np.float32)
    kernels.lstm(
        gates.astype(np.float32),
        np.stack([PanelMatrix(each).panels for each in weights]),
        bias.astype(np.float32),
        layout.mirrored,
        np.array(layout.sizes),
        found,
        wide,
    )
    for direction, nodes in enumerate([(0, 2), (2, 0)]):
        cell = output = np.zeros(hidden)
        for row in nodes:
            of = gates[row].reshape(2, -1)[direction] + output @ weights[direction]
            enter, forget, leave, new = (of + bias[direction]).reshape(4, hidden)
            cell = as_exact(forget)[1] * cell + as_exact(enter)[1] * np.tanh(new)
            output = as_exact(leave)[1] * np.tanh(cell)
            part = slice(direction * hidden, (direction + 1) * hidden)
            assert found[row, part] == pytest.approx(output, abs=1e-5)


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
