"""Training of neural parsers: losses, seeds, checkpoints, what treebanks may lack."""

import itertools
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from arborescence.errors import ModelError, OptionError, TreebankError
from arborescence.parsers import BiaffineParser
from arborescence.parsers.shared.run import Task
from arborescence.treebank import Sentence
from samples import treebank

torch = pytest.importorskip("torch", reason="training needs the extra 'torch'")

from arborescence.parsers.neural.optimizer import similar  # noqa: E402
from arborescence.parsers.neural.settings import Settings  # noqa: E402
from arborescence.parsers.neural.training import Trainer  # noqa: E402
from arborescence.parsers.neural.vocabulary import Vocabulary  # noqa: E402
from small_networks import hints_for  # noqa: E402
from tiny_networks import TINY  # noqa: E402

FEW = treebank()[:3]


def trainer(sentences=FEW, dev=(), *, hinted=False, **settings):
    chosen = Settings(**{**TINY, **settings})
    vocabulary = Vocabulary.of(sentences, chosen.columns)
    hints = hints_for(sentences, vocabulary) if hinted else None
    made = Trainer(Task(sentences, list(dev), chosen, BiaffineParser), hints, vocabulary)
    made.run = partial(made.run, chosen.epochs)
    return made


def weights(run):
    return {name: value.tolist() for name, value in run.best.items()}


@pytest.mark.parametrize("loss", ["head", "tree", "margin"])
@pytest.mark.parametrize("scorer", ["biaffine", "mlp"])
def test_each_loss_learns_a_tiny_treebank_by_heart(loss, scorer):
    run = trainer(epochs=60, loss=loss, scorer=scorer)
    run.run()
    run._dev = FEW
    scores = run._score()
    assert scores["las"] == scores["las_of_words"] == scores["upos"] == 100


@pytest.mark.parametrize("hinted", [False, True])
def test_an_interrupted_training_continues_bit_for_bit(tmp_path, hinted):
    settings = {"epochs": 4, "batch": 12, "dropout": 0.3, "word_dropout": 0.3, "hinted": hinted}
    straight = trainer(treebank(), [] if hinted else FEW, **settings)
    straight.run()
    path = tmp_path / "checkpoint"
    for stop in (1, 3):
        run = trainer(treebank(), [] if hinted else FEW, **settings)
        interrupted = pytest.raises(KeyboardInterrupt)
        with interrupted:
            run.run(checkpoint=path, progress=interrupts_in(stop + 1))
    rest = trainer(treebank(), [] if hinted else FEW, **settings)
    said = []
    rest.run(checkpoint=path, progress=lambda phase, *_: said.append(phase))
    assert said[0] == "epoch 4"
    assert weights(rest) == weights(straight)
    assert rest.history == straight.history
    assert all(
        (one == two).all()
        for one, two in zip(rest._network.parameters(), straight._network.parameters(), strict=True)
    )
    done = trainer(treebank(), [] if hinted else FEW, **settings)
    done.run(checkpoint=path, progress=lambda *_: pytest.fail("has nothing to do"))
    assert weights(done) == weights(straight)


def interrupts_in(epoch):
    def progress(phase, done, _total):
        if phase == f"epoch {epoch}" and done:
            raise KeyboardInterrupt

    return progress


def test_a_checkpoint_of_other_settings_or_data(tmp_path):
    path = tmp_path / "checkpoint"
    trainer(epochs=1).run(checkpoint=path)
    for other in (
        trainer(epochs=2),
        trainer(epochs=1, rng=2),
        trainer(treebank()[:2], epochs=1),
        trainer(dev=FEW, epochs=1),
        trainer(hinted=True, epochs=1),
    ):
        with pytest.raises(ModelError, match="of another treebank, other settings"):
            other.run(checkpoint=path)


def test_the_seed_decides_and_nothing_else():
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    runs = [trainer(treebank(), epochs=2, batch=12, dropout=0.3, rng=seed) for seed in (5, 5, 6)]
    for run in runs:
        run.run()
    one, two, other = map(weights, runs)
    assert one == two != other
    assert (torch.random.get_rng_state() == before).all()  # the caller's own random numbers


def test_a_failure_leaves_the_random_numbers_of_the_caller(tmp_path):
    before = torch.random.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        trainer(epochs=1, batch=3).run(progress=interrupts_in(1))
    assert (torch.random.get_rng_state() == before).all()


def test_what_progress_says():
    said = []
    trainer(dev=FEW, epochs=2).run(progress=lambda *args: said.append(args))
    assert said[0] == ("epoch 1", 0, 3)
    assert said[-1][1:] == (3, 3)
    number = r"\d+\.\d\d"
    assert re.fullmatch(
        rf"epoch 2: UAS {number}, LAS {number}, LAS of words {number}, LAS of tags {number}, "
        rf"UPOS {number}, [\d,]+ words/s",
        said[-1][0],
    )
    trainer(epochs=1).run(progress=lambda *args: said.append(args))
    assert re.fullmatch(r"epoch 1: [\d,]+ words/s", said[-1][0])


def interrupts_at(start):
    def progress(phase, *_):
        if phase == start:
            raise KeyboardInterrupt

    return progress


def stripped(sentence, *columns):
    return sentence.replace(**dict.fromkeys(columns, ["_"] * len(sentence)))


@pytest.mark.parametrize(
    "columns",
    [("xpos",), ("feats", "lemmas"), ("upos",), ("lemmas", "upos", "xpos", "feats")],
)
def test_treebanks_that_lack_columns(columns):
    sentences = [stripped(sentence, *columns) for sentence in treebank()]
    everything = ("form", "lemma", "upos", "xpos", "feats")
    run = trainer(sentences, sentences, epochs=2, columns=everything)
    run.run()
    tags = {"upos", "xpos", "feats"} - set(columns)
    assert set(run._vocabulary.tags) == tags
    assert bool(run._vocabulary.lemmas) == ("lemmas" not in columns)
    scores = run.history[-1]
    assert ("upos" in scores) == ("upos" in tags)
    assert ("las_of_words" in scores) == bool(tags)


def test_some_sentences_without_tags():
    """They are never shown as tagged, and nothing is learned from what they lack."""
    untagged = [stripped(sentence, "lemmas", "upos", "xpos", "feats") for sentence in treebank()]
    everything = ("form", "lemma", "upos", "xpos", "feats")
    run = trainer([*untagged, *treebank()], epochs=1, batch=8, given=1.0, columns=everything)
    assert run._vocabulary == Vocabulary.of(treebank() * 2, everything)._replace(
        lemmas=Vocabulary.of(treebank(), everything).lemmas
    )
    numbers = range(14)
    assert [run._tags_of(b, "upos")[0] >= 0 for b in numbers] == [b >= 7 for b in numbers]
    run.run()  # some batches have no tags
    assert all(np.isfinite(value).all() for value in run.best.values())


@pytest.mark.parametrize("loss", ["head", "tree", "margin"])
def test_single_sentences_and_single_words(loss):
    word = Sentence.from_words(["Grow"], heads=[-1, 0], deprels=["root"])
    for sentences in ([FEW[0]], [word], [word, FEW[0]]):
        run = trainer(sentences, sentences, epochs=1, loss=loss)
        run.run()
        assert all(np.isfinite(score) for score in run.history[0].values())


def test_nothing_to_learn_from():
    with pytest.raises(TreebankError, match="the treebank is empty"):
        BiaffineParser.train([])


def test_every_parameter_learns():
    """Adam has moments of all parameters: none is left out of the loss, or of checkpoints."""
    run = trainer(hinted=True, epochs=1, columns=("form", "lemma", "upos", "xpos", "feats"))
    before = {name: value.clone() for name, value in run._network.named_parameters()}
    for _ in range(3):  # the first weights of edges and relations are 0
        run._run_epoch(lambda *_: None)
    for name, value in run._network.named_parameters():
        assert (value != before[name]).any(), name
        assert set(run._optimizer._adam.state[value]) == {"step", "exp_avg", "exp_avg_sq"}


def test_checkpoints_of_frozen_parameters(tmp_path):
    path = tmp_path / "checkpoint"
    runs = [trainer(epochs=2) for _ in range(2)]
    for run in runs:
        run._network.words.weight.requires_grad_(requires_grad=False)
    with pytest.raises(KeyboardInterrupt):
        runs[0].run(checkpoint=path, progress=interrupts_at("epoch 2"))
    runs[0].run(checkpoint=path)
    runs[1].run()
    assert weights(runs[0]) == weights(runs[1])


def test_mixed_precision_is_close():
    losses = []
    for mixed in (False, True):
        run = trainer(epochs=1, mixed=mixed)
        found = []
        learn = run._loss
        run._loss = lambda *args, learn=learn, found=found: found.append(learn(*args)) or found[-1]
        run.run()
        assert found[0].dtype == torch.float32
        losses.append(found[0].item())
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.01)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("loss", ["head", "tree", "margin"])
def test_training_on_a_gpu(tmp_path, loss, mixed):
    before = torch.cuda.get_rng_state()
    settings = {**TINY, "epochs": 60, "loss": loss, "mixed": mixed}
    parser = BiaffineParser.train(
        FEW, dev=FEW, device="cuda", checkpoint=tmp_path / "checkpoint", **settings
    )
    assert max(scores["las"] for scores in parser.info["dev"]) == 100
    again = BiaffineParser.train(
        FEW, dev=FEW, device="cuda", checkpoint=tmp_path / "checkpoint", **settings
    )
    parsed = [tree.raw for tree in parser.parse(FEW)]
    assert parsed == [tree.raw for tree in again.to("cuda").parse(FEW)]
    assert (torch.cuda.get_rng_state() == before).all()


def test_too_little_memory(monkeypatch):
    run = trainer(epochs=1)

    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(run, "_learn", fail)
    with pytest.raises(OptionError, match=r"not enough memory: lower .* \(batch=\)"):
        run.run()


@pytest.mark.parametrize("weight", [np.nan, -np.inf, 1e6])
def test_weights_that_become_too_large(weight):
    run = trainer(epochs=1)
    run._network.edge_weights.data[0] = weight
    with pytest.raises(OptionError, match=r"lower rate=0\.03"):
        run.run()


def test_a_device_that_is_not_there():
    with pytest.raises(OptionError, match="device='tpu' is not available"):
        BiaffineParser.train(FEW, device="tpu", **TINY)


def test_without_torch_the_extra_is_named():
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from arborescence.parsers import BiaffineParser\n"
        "BiaffineParser.train([])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "MissingExtraError: training a neural parser needs PyTorch: install it" in done.stderr
    assert "pip install 'arborescence[torch]'" in done.stderr


def test_batches_hold_each_sentence_once_and_are_not_too_large():
    nodes = np.array([len(sentence) + 1 for sentence in treebank() * 20])
    orders = [
        list(similar(nodes, nodes, nodes, 50, 10**6, np.random.default_rng(seed)))
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    for batches in orders:
        assert sorted(itertools.chain.from_iterable(batches)) == list(range(len(nodes)))
        sizes = [nodes[batch].sum() for batch in batches]
        assert max(sizes) <= 50
        assert np.mean(sizes) > 35


def test_sentences_of_a_batch_are_of_similar_length():
    pieces = np.random.default_rng(1).integers(5, 60, 2000)
    nodes = np.full(2000, 10)
    for batch in similar(pieces, nodes, nodes, 200, 10**6, np.random.default_rng(1)):
        assert len(batch) == 20
        assert np.ptp(pieces[batch]) < 15


@pytest.mark.parametrize(("scorer", "most"), [("biaffine", 2**20), ("mlp", 2**17)])
def test_batches_of_long_sentences_have_few_edges(scorer, most):
    nodes = np.full(20, 301)
    limits = 10**6, Settings(scorer=scorer).most_edges
    batches = list(similar(nodes, nodes, nodes, *limits, np.random.default_rng(1)))
    assert max(map(len, batches)) == most // 301**2
