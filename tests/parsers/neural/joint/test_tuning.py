"""Training goes on with a packaged network: on a language that it reads, or a new one."""

import numpy as np
import pytest

import arborescence
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import train
from arborescence.parsers.packaging import package
from arborescence.treebank import Sentence, write
from small_treebanks import sentences
from tiny_encoders import make_bert, make_mpnet

for needed in ("torch", "transformers", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders are trained by {needed}")

import torch  # noqa: E402

from arborescence.parsers.neural.bert.blocks import Bits  # noqa: E402
from arborescence.parsers.neural.encoder import Encoder  # noqa: E402
from arborescence.parsers.neural.joint.export import parser_of  # noqa: E402
from arborescence.parsers.neural.joint.inventory import Inventory, TreebankValues  # noqa: E402
from arborescence.parsers.neural.joint.languages import Language  # noqa: E402
from arborescence.parsers.neural.joint.network import JointNetwork  # noqa: E402
from arborescence.parsers.text import Text  # noqa: E402

FEW = [each.replace(lemmas=[form.lower() for form in each.forms]) for each in sentences()[:4]]
#: Another annotation of the same words: one relation is new, one is a subtype, and XPOS is new.
NEW = [
    each.replace(
        deprels=["root" if head == 0 else "obj:new" if head == 1 else "new" for head in each.heads],
        xpos=[f"{tag}-{form[0]}" for tag, form in zip(each.upos, each.forms, strict=True)],
        feats=["Mood=Ind"] * len(each),
    )
    for each in FEW
]
RATES = {"rate": 5e-3, "encoder_rate": 2e-3, "dropout": 0.0, "batch": 60}
LONG = RATES | {"epochs": 80, "varied": False}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = make_bert(tmp_path_factory.mktemp("encoders") / "bert")
    loaded = Encoder.load(folder, layers=3, fine_tune=True)
    torch.manual_seed(2)
    with torch.no_grad():  # a graph has equal parameters, such as biases of 0, only once
        for parameter in loaded.model.parameters():
            parameter += torch.randn_like(parameter) / 20
    return loaded


@pytest.fixture(scope="module")
def weights(encoder):
    torch.manual_seed(1)
    network = JointNetwork(encoder, inventory(), arc=24, label=16, dropout=0)
    with torch.no_grad():
        network.mix.copy_(torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]]))
        network.treebanks.weight.copy_(torch.randn_like(network.treebanks.weight))
    return {name: each.detach().numpy() for name, each in network.named_parameters()}


def inventory():
    return Inventory({name: TreebankValues.of(name, FEW) for name in ("Bird", "Cat", "Dog")})


@pytest.fixture(scope="module", params=[None, Bits(4, 4, 16)], ids=["floats", "bits"])
def model(request, encoder, weights, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "three.npz"
    languages = {"bi": Language("Bird", text=Text.train(FEW)), "ca": Language("Cat")}
    parser_of(encoder, inventory(), weights, languages, bits=request.param).save(path)
    return path


def test_the_weights_are_those_that_were_exported(model, weights):
    parser = arborescence.load(model, language="bi")
    found = parser.encoder.weights()
    rounded = any(name.endswith(".scales") for name in parser.encoder.arrays)
    assert found.keys() == {"mix", *(name for name in weights if name.startswith("encoder."))}
    for name, array in found.items():
        expected = weights[name]
        if name == "mix":
            array, expected = (np.exp(each) for each in (array, expected))
            expected /= expected.sum(axis=1, keepdims=True)
        spread = 0.2 * np.abs(expected).max() if rounded else 1e-6
        assert np.abs(array - expected).max() <= spread, name


def test_as_written_so_read(model):
    parser = arborescence.load(model, language="bi")
    words = [each.forms for each in FEW]
    before = parser.encoder
    other = before.written(before.weights() | {"mix": np.log([[1.0, 1e-9, 1e-9]] * 2)})
    features = other.features(words)
    assert np.abs(features - parser.encoder.features(words)).max() > 0.1
    assert np.allclose(features[:, 0], features[:, 1], atol=1e-5)  # both mix the same layers


@pytest.mark.parametrize("begun", ["bi", "xx=bi", "xx"])
def test_a_treebank_is_learned_by_heart(model, begun, tmp_path):
    trained = train(NEW, kind="neural", start=f"{model}:{begun}", **LONG)
    trained.save(tmp_path / "new.npz")
    parser = arborescence.load(tmp_path / "new.npz")  # with one language, it need not be named
    assert parser.language == begun[:2]
    found = list(parser.parse([Sentence.from_words(each.forms) for each in NEW]))
    for parsed, gold in zip(found, NEW, strict=True):
        assert parsed.heads.tolist() == gold.heads.tolist()
        assert (parsed.deprels, parsed.upos) == (gold.deprels, gold.upos)
        assert parsed.feats == gold.feats
        # The model for text of "bi" has learned lemmas without XPOS.
        assert parsed.xpos == (["_"] * len(gold) if begun == "bi" else gold.xpos)
    [first, *_] = parser(" ".join(FEW[0].forms))
    assert first.forms == FEW[0].forms


def test_the_card_is_of_one_language_and_names_the_base(model, tmp_path):
    folder = tmp_path / "UD_Owlish-Few"
    folder.mkdir()
    (folder / "README.md").write_text("License: CC BY-SA 4.0\n", encoding="utf-8")
    for part in ("train", "test"):
        write(NEW, folder / f"xx-ud-{part}.conllu")
    options = {"epochs": 1, "batch": 60, "text": False}
    train(folder, kind="neural", start=f"{model}:xx", output=tmp_path / "owl.npz", **options)
    chosen = {"name": "owl", "output": tmp_path / "owl"}
    with pytest.raises(OptionError, match="learned from 3 treebanks, whose licences also hold"):
        package([tmp_path / "owl.npz"], folder, **chosen)
    terms = "CC-BY-SA-4.0 AND MIT"
    made = package([tmp_path / "owl.npz"], folder, licence=terms, **chosen)
    assert made.licence == terms
    card = (made.folder / "README.md").read_text(encoding="utf-8")
    assert "Owlish for Arborescence" in card
    assert "has learned from these treebanks, whose licences also hold: Bird, Cat, Dog." in card
    assert "train neural UD_Owlish-Few -o owl.npz --from three.npz:xx" in card
    assert "--epochs 1 --batch 60" in card
    assert not (made.folder / "languages").exists()


def test_an_encoder_that_is_no_bert(tmp_path):
    """It parses, and cannot be trained further."""
    mpnet = Encoder.load(make_mpnet(tmp_path / "mpnet"), layers=3, fine_tune=True)
    network = JointNetwork(mpnet, inventory(), arc=24, label=16, dropout=0)
    weights = {name: each.detach().numpy() for name, each in network.named_parameters()}
    parser_of(mpnet, inventory(), weights, {"bi": Language("Bird")}).save(tmp_path / "one.npz")
    parser = arborescence.load(tmp_path / "one.npz")
    assert [len(each) for each in parser.parse(NEW)] == [len(each) for each in NEW]
    with pytest.raises(ModelError, match="the encoder is an MPNet, not a BERT"):
        train(NEW, kind="neural", start=parser, text=False)


def test_beginnings(model):
    parser = arborescence.load(model, language="bi")
    new = parser.beginning("xx")
    assert (new.language, new.treebank, new.text) == ("xx", "xx", None)
    assert set(new.labels) == set(parser.labels)
    as_bird = parser.beginning("xx=bi")
    assert np.array_equal(as_bird.network._treebank, parser.network._treebank)
    every = [parser.in_language(code).network._treebank for code in ("bi", "ca")]
    assert not np.allclose(new.network._treebank, every[0])
    assert list(parser.beginning("ca").languages) == ["ca"]
    with pytest.raises(ModelError, match="does not read 'yy'"):
        parser.beginning("xx=yy")


def test_errors(model, encoder, tmp_path):
    with pytest.raises(ModelError, match="does not read 'zz'"):
        train(NEW, kind="neural", start=f"{model}:xx=zz")
    with pytest.raises(OptionError, match="hidden does not go with a model of several languages"):
        train(NEW, kind="neural", start=f"{model}:bi", hidden=7)
    with pytest.raises(OptionError, match="is of the kind neural, not linear"):
        train(NEW, kind="linear", start=f"{model}:bi")
    parser = arborescence.load(model, language="bi")
    with pytest.raises(OptionError, match="only go on from another"):
        type(parser).train(NEW)


def test_an_interrupted_training_goes_on(model, tmp_path):
    write(NEW, tmp_path / "new.conllu")

    def stops(phase, *_):
        if phase == "epoch 2":
            raise KeyboardInterrupt

    given = {"start": f"{model}:xx=bi", "kind": "neural", "epochs": 3, **RATES, "text": False}
    output = tmp_path / "one.npz"
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "new.conllu", output=output, progress=stops, **given)
    resumed = train(tmp_path / "new.conllu", output=output, resume=True, **given)
    straight = train(tmp_path / "new.conllu", output=tmp_path / "two.npz", **given)
    assert resumed.info == straight.info
    assert output.read_bytes() == (tmp_path / "two.npz").read_bytes()
