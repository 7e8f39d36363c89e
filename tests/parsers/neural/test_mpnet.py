"""MPNet with tables of positions: the vectors of the package transformers, also in ONNX."""

import numpy as np
import pytest

from tiny_encoders import PIECES, make_bert

torch = pytest.importorskip("torch", reason="encoders in ONNX are made by torch")
transformers = pytest.importorskip("transformers", reason="MPNet is of the package transformers")
for needed in ("onnx", "onnxscript", "onnxruntime", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders in ONNX need {needed}")

Encoder = pytest.importorskip("arborescence.parsers.neural.encoder").Encoder
with_tables = pytest.importorskip("arborescence.parsers.neural.mpnet").with_tables
onnx_export = pytest.importorskip("arborescence.parsers.neural.onnx_export")

ROOM = 32
#: In a window, no piece is padding: MPNet counts the others only.
LEAST = 5


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """An MPNet with its own tokenizer, which has the special pieces of RoBERTa."""
    folder = make_bert(tmp_path_factory.mktemp("encoders") / "mpnet", room=ROOM)
    renamed = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[MASK]": "<mask>"}
    vocabulary = {renamed.get(piece, piece): number for number, piece in enumerate(PIECES)}
    tokenizer = transformers.MPNetTokenizer(vocab=vocabulary, model_max_length=ROOM)
    tokenizer.save_pretrained(folder)
    config = transformers.MPNetConfig(
        vocab_size=len(PIECES),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=ROOM + 2,
        pad_token_id=1,
    )
    torch.manual_seed(1)
    model = transformers.MPNetModel(config)
    with torch.no_grad():  # larger than at the start of training, so that distances matter
        model.encoder.relative_attention_bias.weight.normal_()
    model.save_pretrained(folder)
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
