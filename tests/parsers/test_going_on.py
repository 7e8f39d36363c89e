"""Training that goes on from a parser: it keeps what it knew, and learns new words and labels."""

from importlib.util import find_spec

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import train
from arborescence.parsers.neural import stored
from arborescence.parsers.shared.options import settings_from
from arborescence.parsers.shared.run import Task
from arborescence.treebank import Sentence, write
from samples import bare, treebank
from small_parsers import parsed, small_parser

WITHOUT_TORCH = pytest.mark.skipif(
    find_spec("torch") is None, reason="training needs the extra 'torch'"
)
NEURAL = [pytest.param(kind, marks=WITHOUT_TORCH) for kind in ("biaffine", "mlp")]
KINDS = ("linear", "joint", "tree", "undirected", "greedy", "beam", *NEURAL)
NEW = Sentence.from_words(
    ["Quokkas", "hop"], upos=["NOUN", "X"], heads=[2, 0], deprels=["nsubj:new", "root"]
)
BATCH = {"biaffine": {"batch": 20}, "mlp": {"batch": 20}}
EPOCHS = {"biaffine": 200, "mlp": 200}


def trained(kind, sentences, epochs, start=None, **options):
    parser = start or small_parser(kind)
    return type(parser).train(
        sentences, start=parser, epochs=epochs, **(BATCH.get(kind, {}) | options)
    )


def untrained(kind, sentences):
    """The parser that training begins with: after no epoch, or after one of no steps."""
    start = small_parser(kind)
    if start.kind == "biaffine":
        return trained(kind, sentences, 1, rate=1e-30)
    settings = start.settings_class.of(settings_from(start))
    trainer = start._trainer(Task(sentences, [], settings, type(start), start))
    trainer.best = trainer._result()
    return type(start)(**trainer.parts(), tagger=start.tagger, text=start.text)


@pytest.mark.parametrize("kind", [*KINDS, "second-order"])
def test_after_no_epoch_it_is_the_same_parser(kind):
    again = untrained(kind, treebank())
    again.rules = "none"
    before, after = small_parser(kind).to_file(), again.to_file()
    assert before[1].keys() == after[1].keys()
    assert all((array == after[1][name]).all() for name, array in before[1].items())
    assert before[0]["labels"] == after[0]["labels"]
    assert parsed(again) == parsed(small_parser(kind))


@pytest.mark.parametrize("kind", [*KINDS, "second-order"])
def test_new_relations_are_learned_and_the_file_goes_on_as_well(kind, tmp_path):
    small_parser(kind).save(tmp_path / "model")
    start = arb.load(tmp_path / "model")
    start.rules = "none"
    one, two = (
        trained(kind, [NEW] * 6, EPOCHS.get(kind, 30), start=each, rng=3) for each in (start, None)
    )
    same = [parser.to_file()[1] for parser in (one, two)]
    assert all((array == same[1][name]).all() for name, array in same[0].items())
    assert one.labels[: len(start.labels)] == start.labels
    [found] = one.parse([NEW.replace(heads=None, deprels=None)])
    assert found.deprels == NEW.deprels
    assert (one.tagger is None) == (start.tagger is None)


@pytest.mark.parametrize("kind", NEURAL)
def test_new_words_and_tags_of_a_network_come_beside_the_old_ones(kind):
    start = small_parser(kind)
    grown = untrained(kind, [NEW, NEW])
    old, new = start.vocabulary, grown.vocabulary
    assert {"quokkas", "hop"} <= new.words.keys() - old.words.keys()
    assert all(new.words[word] == number for word, number in old.words.items())
    assert "X" in new.tags["upos"].values
    before, after = (stored.from_arrays(each.weights, each.shapes) for each in (start, grown))
    unit = 2.0**-6  # of rounding: rows that are new may change the scales
    unknown = before["words.weight"][0]
    assert np.abs(after["words.weight"][new.words["hop"]] - unknown).max() < unit
    for tag, number in ((tag, i) for i, tag in enumerate(old.tags["upos"].values)):
        rows = after["taggers.upos.weight"][new.tags["upos"].values.index(tag)]
        assert np.abs(rows - before["taggers.upos.weight"][number]).max() < unit
    texts = [list(parser.parse(map(bare, treebank()))) for parser in (start, grown)]
    assert len(texts[0]) == len(texts[1])


def test_the_recipe_goes_on_from_a_file(tmp_path):
    pytest.importorskip("typer", reason="needs the extra 'cli'")
    from arborescence.cli import run

    small_parser("linear").save(tmp_path / "model")
    write([NEW, *treebank()], tmp_path / "new.conllu")
    new, model = tmp_path / "new.conllu", tmp_path / "model"
    command = f"train {new} --dev {new} --from {model} -o {tmp_path / 'better'} -q --seed 5"
    assert run(command.split()) == 0
    better = train(new, new, start=model, rng=5)
    better.save(tmp_path / "same")
    assert (tmp_path / "same").read_bytes() == (tmp_path / "better").read_bytes()
    assert better.info["bits"] == 10
    assert better.info["sentences"] == 2 * (1 + len(treebank()))  # with tags of the tagger, too
    assert better.pruning is not None


def test_what_does_not_go_on(tmp_path):
    with pytest.raises(OptionError, match="is of the kind linear, not transition"):
        train([NEW], kind="transition", start=small_parser("linear"))
    with pytest.raises(OptionError, match="the kind of the parser to continue from must be"):
        train([NEW], start=small_parser("reranker"))
    with pytest.raises(OptionError, match="weights of another shape: leave out"):
        trained("linear", [NEW], 1, bits=12)
    with pytest.raises(OptionError, match="weights of another shape: leave out"):
        trained("linear", [NEW], 1, joint=True)
    state, small = tmp_path / "state", {"checkpoint": tmp_path / "state"}
    trained("tree", treebank(), 1, **small)
    assert state.exists()
    other = trained("tree", treebank(), 1)
    with pytest.raises(ModelError, match="the checkpoint is of another"):
        trained("tree", treebank(), 2, start=other, **small)
