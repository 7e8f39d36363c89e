"""MPNet with tables of positions: the vectors of the package transformers, also in ONNX."""

import numpy as np
import pytest

from tiny_encoders import make_mpnet

torch = pytest.importorskip("torch", reason="encoders in ONNX are made by torch")
for needed in ("transformers", "onnx", "onnxscript", "onnxruntime", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders in ONNX need {needed}")

Encoder = pytest.importorskip("arborescence.parsers.neural.encoder").Encoder
with_tables = pytest.importorskip("arborescence.parsers.neural.mpnet").with_tables
onnx_export = pytest.importorskip("arborescence.parsers.neural.onnx_export")

ROOM = 32
#: In a window, no piece is padding: MPNet counts the others only.
LEAST = 5


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = make_mpnet(tmp_path_factory.mktemp("encoders") / "mpnet", room=ROOM)
    return Encoder.load(folder, layers=2, fine_tune=True)


@pytest.mark.parametrize("length", [1, 2, 9, ROOM])
def test_tables_give_the_same_vectors(encoder, length):
    ids = torch.from_numpy(np.random.default_rng(length).integers(LEAST, 30, (1, length)))
    model = encoder.model
    with torch.inference_mode():
        expected = model(input_ids=ids, output_hidden_states=True).hidden_states
        found = with_tables(model, ROOM)(input_ids=ids, output_hidden_states=True).hidden_states
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_graph_gives_the_same_vectors(encoder):
    words = ["birds", "sing", "under", "old", "trees"] * 3
    graph = onnx_export.exported(encoder, onnx_export.States(encoder.model, 2), 2, None)
    np.testing.assert_allclose(
        graph.features([words]), encoder.features([words])[0].astype(float), atol=5e-3
    )


def test_other_models_stay_as_they_are():
    model = torch.nn.Linear(2, 3)
    assert with_tables(model, ROOM) is model
