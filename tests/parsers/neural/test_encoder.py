"""Pretrained encoders: pooling, windows, cache, layers, training frozen and fine-tuned, errors."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import arborescence
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import model_file
from arborescence.parsers.neural.inputs import BatchLayout, Inputs
from arborescence.parsers.neural.parser import BiaffineParser
from arborescence.parsers.neural.settings import Settings
from arborescence.parsers.neural.vocabulary import Vocabulary
from arborescence.treebank import Sentence
from small_treebanks import sentences
from tiny_encoders import make_bert

torch = pytest.importorskip("torch", reason="encoders need torch")
transformers = pytest.importorskip("transformers", reason="encoders need transformers")

from arborescence.parsers.neural.devices import moved  # noqa: E402
from arborescence.parsers.neural.encoder import Encoder, encode  # noqa: E402
from arborescence.parsers.neural.network import Network, load_state, state_of  # noqa: E402

TREEBANK = sentences()
FEW = TREEBANK[:3]
TINY = {"word": 8, "letter": 4, "filters": 8, "tag": 4, "hidden": 16, "arc": 16, "label": 16}
TINY |= {
    "precision": "float16",
    "encoder_layers": 2,
    "dropout": 0,
    "word_dropout": 0,
    "columns": ("form", "upos"),
}
LONG = ["Birds", "under", "\u200b", "old", "trees", "sing", "!"] * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_bert(tmp_path_factory.mktemp("encoders") / "bert")


@pytest.fixture
def encoder(folder):
    return Encoder.load(folder, layers=2)


def slow_vectors(folder, words, layers):
    """Encode a sentence that fits, one word after the other."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    pieces = [tokenizer.tokenize(word) or ["[UNK]"] for word in words]
    flat = ["[CLS]", *(piece for each in pieces for piece in each), "[SEP]"]
    ids = torch.tensor([tokenizer.convert_tokens_to_ids(flat)])
    with torch.no_grad():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states
    place, found = 1, []
    for each in pieces:
        found.append(
            [
                np.mean([states[layer][0, place + i].numpy() for i in range(len(each))], axis=0)
                for layer in range(-layers, 0)
            ]
        )
        place += len(each)
    return np.array(found)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_pooling_against_a_slow_reference(folder, layers):
    encoder = Encoder.load(folder, layers=layers)
    texts = [["Birds", "sing", "."], ["under", "\u200b", "Xyz"], ["old"]]
    for words, rows in zip(texts, encoder.features(texts), strict=True):
        assert rows.dtype == np.float16
        assert rows.shape == (len(words), layers, 16)
        np.testing.assert_allclose(rows, slow_vectors(folder, words, layers), atol=2e-3)


def test_long_sentences(folder, encoder):
    [rows] = encoder.features([LONG])
    assert rows.shape == (84, 2, 16)
    # The first window has 30 pieces; the first words have most context in it.
    pieces = transformers.AutoTokenizer.from_pretrained(folder)
    counts = [len(pieces.tokenize(word) or "?") for word in LONG]
    first = int((np.cumsum(counts) <= 30).sum())
    expected = slow_vectors(folder, LONG[:first], 2)
    np.testing.assert_allclose(rows[: first // 2], expected[: first // 2], atol=2e-3)


def test_the_company_does_not_matter(encoder):
    texts = [["Birds", "sing"], LONG, ["old"], ["Birds", "sing"], LONG[:9]]
    for words, rows in zip(texts, encoder.features(texts), strict=True):
        np.testing.assert_allclose(rows, encoder.features([words])[0], atol=2e-3)
    assert encoder.features([]) == []


def test_read_puts_vectors_into_rows(encoder):
    layout = BatchLayout.of([len(sentence) for sentence in TREEBANK])
    encoded = encoder.read(TREEBANK, layout)
    assert not encoded[layout.rows[:, 0]].any()
    for sentence, rows, length in zip(TREEBANK, layout.rows, layout.lengths, strict=True):
        [expected] = encoder.features([sentence.forms])
        np.testing.assert_allclose(encoded[rows[1:length]], expected, atol=2e-3)


def test_kept_vectors_are_the_same_and_are_not_computed_again(folder, tmp_path):
    texts = [sentence.forms for sentence in TREEBANK]
    fresh = Encoder.load(folder, layers=2).features(texts)
    writing = Encoder.load(folder, layers=2).keep_in(tmp_path)
    missed = writing.features(texts)
    writing.model = None  # nothing is to be computed
    found = [writing.features(texts[3:4])[0], *writing.features(texts)]
    for rows, others in zip(fresh, missed, strict=True):
        assert np.array_equal(rows, others)
    for rows, others in zip([fresh[3], *fresh], found, strict=True):
        assert np.array_equal(rows, others)
    reading = Encoder.load(folder, layers=2).keep_in(tmp_path)
    reading.model = None
    assert np.array_equal(reading.features(texts)[0], fresh[0])


def test_other_encoders_and_layers_do_not_share_what_is_kept(folder, tmp_path):
    other = make_bert(tmp_path / "other", seed=2)
    for each, layers in ((folder, 1), (folder, 2), (other, 1)):
        Encoder.load(each, layers=layers).keep_in(tmp_path / "cache").features([["Birds"]])
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_the_digest_depends_on_content_only(folder, tmp_path):
    digest = Encoder.load(folder, layers=2).digest
    assert Encoder.load(make_bert(tmp_path / "same"), layers=1).digest == digest
    other = make_bert(tmp_path / "other", seed=2)
    assert Encoder.load(other, layers=2).digest != digest
    with pytest.raises(ModelError, match="not the encoder that the parser was trained with"):
        Encoder.load(other, layers=2, digest=digest)
    assert Encoder.load(folder, layers=2, digest=digest).size == 16


def make_network(encoder, **settings):
    chosen = Settings(**TINY, encoded=16, fine_tune=encoder.fine_tune, **settings)
    vocabulary = Vocabulary.of(TREEBANK, chosen.columns)
    torch.manual_seed(1)
    network = Network(chosen, vocabulary, hinted=False, relations=3, encoder=encoder)
    torch.nn.init.normal_(network.edge_weights)
    layout = BatchLayout.of([len(sentence) for sentence in TREEBANK])
    given = dict.fromkeys(("upos", "lemma"), np.ones(len(TREEBANK), bool))
    inputs = Inputs.of(TREEBANK, vocabulary, None, given)
    return network, inputs._replace(encoded=encoder.read(TREEBANK, layout))


def test_frozen_and_tuned_are_the_same_before_training(folder):
    edges, states = [], []
    for fine_tune in (False, True):
        encoder = Encoder.load(folder, layers=2, fine_tune=fine_tune)
        network, inputs = make_network(encoder)
        state = {k: v for k, v in state_of(network).items() if not k.startswith("encoder.")}
        if edges:
            load_state(network, {**state_of(network), **states[0]})
        states.append(state)
        assert any(name.startswith("encoder.") for name in state_of(network)) == fine_tune
        edges.append(network.eval()(moved(inputs, "cpu")).edges.detach().numpy())
    np.testing.assert_allclose(*edges, atol=0.02)


def test_the_encoder_reaches_the_output(folder, encoder):
    network, inputs = make_network(encoder)
    network.eval()
    before = network(moved(inputs, "cpu"))
    for layer in range(2):
        changed = inputs.encoded.copy()
        changed[20, layer] += np.arange(16, dtype=np.float16)
        after = network(moved(inputs._replace(encoded=changed), "cpu"))
        assert not torch.allclose(before.edges, after.edges)
        assert not torch.allclose(before.tags["upos"], after.tags["upos"])
    network.encoder_mix.data[0] = 5
    assert not torch.allclose(before.edges, network(moved(inputs, "cpu")).edges)


def test_gradients_of_a_tuned_encoder(folder):
    encoder = Encoder.load(folder, layers=3, fine_tune=True)
    layout = BatchLayout.of([4, len(LONG)])
    words = [Sentence.from_words(["Birds", "sing", "under", "\u200b"]), Sentence.from_words(LONG)]
    pieces = encoder.read(words, layout)
    found = encode(encoder.model, moved(pieces, "cpu"), 3, len(layout.flat))
    frozen = Encoder.load(folder, layers=3).read(words, layout)
    np.testing.assert_allclose(found.detach().numpy(), frozen, atol=2e-3)
    found.square().sum().backward()
    unused = [name for name, each in encoder.model.named_parameters() if each.grad is None]
    assert unused == ["embeddings.word_embeddings.weight"]  # they are frozen


def right(parser, treebank=FEW):
    parsed = parser.parse([sentence.replace(upos=["_"] * len(sentence)) for sentence in treebank])
    return [
        (tree.tree.tolist(), tree.deprels, tree.upos)
        == (gold.tree.tolist(), gold.deprels, gold.upos)
        for tree, gold in zip(parsed, treebank, strict=True)
    ]


@pytest.mark.parametrize("fine_tune", [False, True])
def test_training_and_files(folder, tmp_path, fine_tune):
    before = Encoder.load(folder, layers=2).model.state_dict()
    parser = BiaffineParser.train(
        FEW,
        encoder=folder,
        encoder_cache=None if fine_tune else tmp_path / "cache",
        fine_tune=fine_tune,
        encoder_rate=1e-3,
        epochs=60,
        rate=0.02,
        **TINY,
    )
    assert parser.device == "cpu"  # not NumPy
    assert all(right(parser))
    tuned = {name for name in parser.weights if name.startswith("encoder.")}
    assert bool(tuned) == fine_tune
    if fine_tune:
        assert tuned == {f"encoder.{name}" for name, _ in parser.encoder.model.named_parameters()}
        name = "encoder.layer.1.output.dense.weight"
        moved = parser.weights[f"encoder.{name}"] - before[name].numpy()
        assert np.abs(moved).max() > 1e-3
    after = Encoder.load(folder, layers=2).model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    parser.save(tmp_path / "model")
    loaded = BiaffineParser.load(tmp_path / "model", encoder=folder)
    for sentence in TREEBANK:
        assert (loaded.scores(sentence) == parser.scores(sentence)).all()
    assert loaded.encoder.name == str(folder)
    assert loaded.to(None).device == "cpu"


def test_a_model_without_its_encoder(folder, tmp_path):
    place, model = tmp_path / "bert", tmp_path / "model"
    shutil.copytree(folder, place)
    parser = BiaffineParser.train(FEW, encoder=place, epochs=1, **TINY)
    parser.save(model)
    for load in (arborescence.load, BiaffineParser.load):
        assert load(model, encoder=folder).encoder.digest == parser.encoder.digest
    # The user says where it is; the file names a folder, which is not looked into.
    with pytest.raises(ModelError, match=r"bert: the encoder was not downloaded before: give its"):
        arborescence.load(model)
    make_bert(place, seed=2)
    with pytest.raises(ModelError, match="not the encoder that the parser was trained with"):
        arborescence.load(model, encoder=place)
    shutil.rmtree(place)
    with pytest.raises(ModelError, match="bert: the encoder cannot be loaded"):
        arborescence.load(model, encoder=place)
    # Nor is a place that the file gives.
    header, arrays = parser.to_file()
    header["encoder"]["place"] = str(folder)
    model_file.save(model, header, arrays)
    with pytest.raises(ModelError, match="bert: the encoder was not downloaded before"):
        arborescence.load(model)


OF_A_STRANGER = """
import socket, sys
import arborescence

def refuse(*_):
    print("asked the network")
    raise OSError

socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
try:
    print(arborescence.load(sys.argv[1]).encoder.name)
except arborescence.ModelError as error:
    print(error)
"""


def test_a_file_does_not_choose_what_is_downloaded(folder, tmp_path):
    parser = BiaffineParser.train(FEW, encoder=folder, epochs=1, **TINY)
    parser.encoder.name = "someone/something"
    parser.save(tmp_path / "model")

    def said():
        script = [sys.executable, "-c", OF_A_STRANGER, tmp_path / "model"]
        kept = {"HF_HOME": str(tmp_path / "hub"), "HF_HUB_CACHE": str(tmp_path / "hub" / "hub")}
        return subprocess.run(
            script, capture_output=True, text=True, check=True, env=os.environ | kept
        ).stdout

    assert said() == (
        f"{tmp_path / 'model'}: someone/something: the encoder was not downloaded before: give its "
        "folder or its name (encoder=)\n"
    )
    # As the hub's own package keeps what it has downloaded.
    cache = tmp_path / "hub" / "hub" / "models--someone--something"
    shutil.copytree(folder, cache / "snapshots" / ("0" * 40))
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("0" * 40)
    assert said() == "someone/something\n"


def test_weights_are_read_as_safetensors_only(folder, tmp_path):
    place = tmp_path / "bert"
    shutil.copytree(folder, place)
    state = transformers.AutoModel.from_pretrained(place).state_dict()
    (place / "model.safetensors").unlink()
    torch.save(state, place / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"cannot be loaded: .*safetensors"):
        Encoder.load(place, layers=2)


def test_an_interrupted_training_continues_bit_for_bit(folder, tmp_path):
    (tmp_path / "vectors").write_text("birds 1 2\nold 3 4\nunder 5 6\n")

    def train(checkpoint=None, progress=None):
        return BiaffineParser.train(
            FEW,
            encoder=folder,
            fine_tune=True,
            vectors=tmp_path / "vectors",
            encoder_rate=1e-3,
            epochs=3,
            checkpoint=checkpoint,
            progress=progress,
            **TINY,
        )

    def interrupt(phase, done, _total):
        if phase.startswith("epoch 3") and not done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "checkpoint", interrupt)
    parser, straight = train(tmp_path / "checkpoint"), train()
    assert parser.weights.keys() == straight.weights.keys()
    for name, weights in parser.weights.items():
        assert np.array_equal(weights, straight.weights[name])
    with pytest.raises(ModelError, match="of another treebank, other settings"):
        BiaffineParser.train(FEW, epochs=3, checkpoint=tmp_path / "checkpoint", **TINY)


def test_errors(folder, tmp_path):
    with pytest.raises(ModelError, match="nowhere: the encoder cannot be loaded"):
        Encoder.load(tmp_path / "nowhere")
    with pytest.raises(OptionError, match=r"encoder_layers is 4, but .* has 3 layers only"):
        Encoder.load(folder)
    with pytest.raises(OptionError, match="fine_tune=True goes with an encoder only"):
        BiaffineParser.train(FEW, fine_tune=True)
    with pytest.raises(OptionError, match="device='gpu' is not available"):
        BiaffineParser.train(FEW, encoder=folder, device="gpu")
    with pytest.raises(OptionError, match="encoder_layers"):
        Encoder.load(folder, layers=0)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="the encoder cannot be loaded"):
        Encoder.load(tmp_path)


def test_without_transformers_the_extra_is_named():
    script = (
        "import sys; sys.modules['transformers'] = None; "
        "from arborescence.parsers.neural.encoder import Encoder; Encoder.load('bert')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'arborescence[transformers]'" in done.stderr
