"""One network for several treebanks: it learns, masks what a treebank lacks, and is resumed."""

import numpy as np
import pytest

from arborescence.errors import ModelError, OptionError
from arborescence.treebank import Sentence
from small_treebanks import sentences
from tiny_encoders import make_bert

torch = pytest.importorskip("torch", reason="training needs the extra 'torch'")
pytest.importorskip("transformers", reason="encoders need transformers")

from arborescence.parsers.neural.devices import moved, own_threads  # noqa: E402
from arborescence.parsers.neural.encoder import Encoder  # noqa: E402
from arborescence.parsers.neural.joint.inventory import Inventory, TreebankValues  # noqa: E402
from arborescence.parsers.neural.joint.network import JointInputs  # noqa: E402
from arborescence.parsers.neural.joint.settings import Settings  # noqa: E402
from arborescence.parsers.neural.joint.training import JointTrainer  # noqa: E402

FEW = [
    each.replace(
        xpos=[f"{tag}-{form[0]}" for tag, form in zip(each.upos, each.forms, strict=True)],
        feats=[f"Case={each.upos[i][0]}|Odd=Yes" if i % 2 else "_" for i in range(len(each))],
    )
    for each in sentences()[:4]
]
#: The same words in another annotation, without features and XPOS.
OTHER = [
    each.replace(
        deprels=["root" if head == 0 else "obj:other" for head in each.heads],
        xpos=None,
        feats=["_"] * len(each),
    )
    for each in FEW
]
TINY = {"arc": 24, "label": 16, "dropout": 0, "pieces": 60, "words": 80}
TINY |= {"rate": 5e-3, "encoder_rate": 2e-3, "warm_up": 1}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = make_bert(tmp_path_factory.mktemp("encoders") / "bert")
    return Encoder.load(folder, layers=3, fine_tune=True)


@pytest.fixture(scope="module")
def inventory():
    both = {"English-Few": FEW, "English-Other": OTHER}
    return Inventory({name: TreebankValues.of("en", each) for name, each in both.items()})


def trainer(encoder, inventory, dev=(), **settings):
    train = {"English-Few": FEW, "English-Other": OTHER}
    dev = {"English-Few": dev}
    return JointTrainer(encoder, inventory, train, dev, Settings(**TINY | settings))


def test_two_annotations_are_learned_by_heart(encoder, inventory):
    run = trainer(encoder, inventory, epochs=60)
    with own_threads(1):
        run.run(60)
        few, other = run.scores({"English-Few": FEW, "English-Other": OTHER}).values()
    assert few.words == other.words == sum(map(len, FEW))
    assert few[1:] == other[1:] == (100, 100, 100, 100)
    batch = moved(JointInputs.of(encoder, [each.forms for each in FEW], [0] * len(FEW)), "cpu")
    with torch.no_grad():
        numbers = run.network.eval()(batch).xpos.argmax(dim=2).tolist()
    for sentence, row in zip(FEW, numbers, strict=True):
        found = [inventory.xpos[number] for number in row[1 : len(sentence) + 1]]
        assert found == sentence.xpos


def test_only_named_parameters_learn(encoder, inventory):
    settings = Settings(**TINY | {"epochs": 1})
    run = JointTrainer(encoder, inventory, {"English-Few": FEW}, {}, settings, only=("xpos.",))
    before = {name: each.detach().numpy().copy() for name, each in run.network.named_parameters()}
    with own_threads(1):
        run.run(1)
    changed = {name for name, each in run.best.items() if not np.array_equal(each, before[name])}
    assert changed == {"xpos.weight", "xpos.bias"}
    assert run.best.keys() == {name for name in before if "word_embeddings" not in name}


def test_a_treebank_without_dev_sentences_has_no_scores(encoder, inventory):
    [few] = trainer(encoder, inventory).scores({"English-Few": []}).values()
    assert few == (0, 0, 0, 0, 0)


def test_nothing_is_predicted_that_a_treebank_lacks(encoder, inventory):
    run = trainer(encoder, inventory)
    words = [each.forms for each in FEW]
    batch = moved(JointInputs.of(encoder, words, [1] * len(words)), "cpu")
    with torch.no_grad():
        for parameter in run.network.parameters():
            parameter += torch.randn_like(parameter)
        outputs = run.network.eval()(batch)
        vectors = outputs.heads[0, :1].expand(3, -1), outputs.dependents[0, 1:4]
        is_root = torch.tensor([True, False, False])
        scores = run.network.relations(*vectors, batch.treebank[:1].expand(3), is_root)
    best = [inventory.relations[number] for number in scores.argmax(dim=1)]
    assert best == ["root", "obj:other", "obj:other"]
    assert not outputs.features.argmax(dim=3).any()
    assert (outputs.edges.diagonal(dim1=1, dim2=2) < -1e8).all()


def test_company_does_not_matter(encoder, inventory):
    run = trainer(encoder, inventory)
    network = run.network.eval()
    words = [each.forms for each in FEW] + [["owls"] * 40]
    with torch.no_grad():
        together = network(moved(JointInputs.of(encoder, words, [0] * len(words)), "cpu"))
        for b, each in enumerate(words):
            alone = network(moved(JointInputs.of(encoder, [each], [0]), "cpu"))
            n = len(each) + 1
            torch.testing.assert_close(
                together.edges[b, :n, :n], alone.edges[0], atol=1e-4, rtol=1e-4
            )
            torch.testing.assert_close(together.upos[b, :n], alone.upos[0], atol=1e-4, rtol=1e-4)


def test_an_interrupted_run_goes_on_bit_for_bit(encoder, inventory, tmp_path):
    settings = {"dropout": 0.3, "epochs": 3}
    with own_threads(1):
        straight = trainer(encoder, inventory, FEW, **settings)
        straight.run(3)
        first = trainer(encoder, inventory, FEW, **settings)

        def stops(phase, *_):
            if phase == "epoch 3":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            first.run(3, checkpoint=tmp_path / "run", progress=stops)
        second = trainer(encoder, inventory, FEW, **settings)
        second.run(3, checkpoint=tmp_path / "run")
    assert second.history == straight.history
    assert second.best.keys() == straight.best.keys()
    for name, array in straight.best.items():
        assert np.array_equal(array, second.best[name]), name


def test_a_checkpoint_of_other_data_is_refused_but_not_of_more_epochs(encoder, inventory, tmp_path):
    with own_threads(1):
        trainer(encoder, inventory, epochs=1).run(1, checkpoint=tmp_path / "run")
        longer = trainer(encoder, inventory, epochs=2)
        longer.run(2, checkpoint=tmp_path / "run")
        assert len(longer.history) == 2
        with pytest.raises(ModelError, match="another treebank, other settings"):
            trainer(encoder, inventory, epochs=2, arc=25).run(2, checkpoint=tmp_path / "run")


def test_every_parameter_learns_but_the_vectors_of_pieces(encoder, inventory):
    run = trainer(encoder, inventory)
    before = {name: value.clone() for name, value in run.network.named_parameters()}
    with own_threads(1):
        run.run(3)
    frozen = "encoder.embeddings.word_embeddings.weight"
    still = {name for name, each in run.network.named_parameters() if (each == before[name]).all()}
    assert still == {frozen}
    assert frozen not in run._result()


def test_errors(encoder, inventory):
    settings = Settings(**TINY)
    with pytest.raises(OptionError, match="not in the inventory: Other"):
        JointTrainer(encoder, inventory, {"Other": FEW}, {}, settings)
    with pytest.raises(OptionError, match="no sentence to learn from"):
        JointTrainer(encoder, inventory, {}, {}, settings)
    with pytest.raises(OptionError, match="lower rate=1e\\+06"):
        trainer(encoder, inventory, rate=1e6).run(2)
    with pytest.raises(OptionError, match="there is no treebank"):
        Inventory({})


def test_an_inventory_is_stored(inventory):
    again = Inventory.from_file(inventory.to_file())
    assert again.to_file() == inventory.to_file()
    assert again.features == inventory.features
    with pytest.raises(ModelError, match="language"):
        Inventory.from_file({"A": {"relations": []}})


def test_what_is_no_feature_is_left_out():
    """Old treebanks have it; a model file must not."""
    old = Sentence.from_words(
        ["Owls", "."], heads=[0, 1], deprels=["root", "punct"], feats=["Number=Plur|clb", "odd="]
    )
    values = TreebankValues.of("en", [old])
    assert values.features == ("Number=Plur",)
    known = Inventory({"English-Old": values})
    assert known.written(known.features_of(old, 0)) == ["Number=Plur", "_"]
    header = known.to_file()
    header["English-Old"]["features"] = ["clb"]
    with pytest.raises(ModelError, match="such as Case=Nom"):
        Inventory.from_file(header)


@pytest.mark.parametrize(
    ("tags", "learned"),
    [
        (["A", "B"] * 50, ("A", "B")),
        (["A"] * 100, ()),  # says nothing
        ([f"T{number % 65}" for number in range(100)], ()),  # repeats features
        (["A", "B"] * 48 + ["_"] * 4, ("A", "B")),
        (["A", "B"] * 45 + ["_"] * 10, ()),
    ],
)
def test_small_sets_of_xpos_are_learned(tags, learned):
    sentence = Sentence.from_words(["owl"] * 100, xpos=tags, heads=[0, *[1] * 99])
    values = TreebankValues.of("en", [sentence])
    assert values.xpos == learned
    known = Inventory({"English-Owls": values})
    numbers = known.xpos_of(sentence, 0)
    assert [known.xpos[i] if i >= 0 else "_" for i in numbers] == (tags if learned else ["_"] * 100)


def test_unknown_features_are_not_learned(inventory):
    without = Sentence.from_words(["Owls"], heads=[0], deprels=["root"])
    assert (inventory.features_of(without, 0) == -1).all()
    assert (inventory.features_of(OTHER[0], 1) == -1).all()
    known = inventory.features_of(FEW[0], 0)
    assert inventory.written(known) == FEW[0].feats
