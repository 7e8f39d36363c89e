"""A run of training, with a learner that adds 1 to a weight at each step."""

from dataclasses import dataclass

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers import model_file
from arborescence.parsers.shared.options import OptionSet, Rng
from arborescence.parsers.shared.run import OnlineRun, Task, identity
from samples import treebank


@dataclass(frozen=True, kw_only=True)
class Settings(OptionSet):
    rng: Rng = 1


class Counter(OnlineRun):
    """Takes one step a sentence; `las` says what each epoch scores on dev."""

    kind = "counting"

    def __init__(self, las=(), settings=None):
        super().__init__(Task(treebank(), treebank()[2:], settings or Settings(), dict))
        self._las = las
        self._add_weights("count", (1,))
        self.orders = []
        self.prepared = 0

    def _fixed(self):
        return {"made": "of parts"}

    def _prepare(self, progress):
        self.prepared += 1

    def _epoch(self, number, tell):
        self.orders.append([])
        for b in self._shuffled(number, tell):
            self.orders[-1].append(b)
            self._weights["count"] += 1
            self._sums["count"] += self._clock

    def _score(self):
        return {"las": self._las[len(self.history)]} if self._las else {}

    @property
    def average(self):
        return self.best["count"].tolist()


def average_after(epochs):
    """The mean of the weight before each of the steps: 0, 1, 2, ..."""
    return [(epochs * len(treebank()) - 1) / 2]


@pytest.mark.parametrize(
    ("las", "patience", "run", "best"),
    [
        ((), 1, 5, 5),
        ((50.0, 60.0, 70.0, 80.0, 90.0), 1, 5, 5),
        ((50.0, 60.0, 60.0, 80.0, 90.0), 1, 3, 2),
        ((50.0, 60.0, 60.0, 80.0, 70.0), 2, 5, 4),
        ((90.0, 60.0, 60.0, 80.0, 90.0), 4, 5, 1),
        ((90.0, 60.0, 60.0, 80.0, 95.0), 3, 4, 1),
    ],
)
def test_the_best_epoch_and_patience(las, patience, run, best):
    counter = Counter(las)
    counter.run(5, patience)
    assert len(counter.orders) == run
    info = {
        "epoch": best,
        "dev": [{"las": score} for score in las[:run]] or [{}] * run,
        "sentences": len(treebank()),
    }
    assert counter.info() == info
    assert counter.average == average_after(best)
    parts = counter.parts()
    weights, unit = parts.pop("weights")["count"]
    assert weights * unit == pytest.approx(counter.average)
    assert parts == {"made": "of parts", "info": {"seed": 1} | info}


def test_without_patience_all_epochs_are_run():
    counter = Counter((90.0, 60.0, 60.0, 80.0, 90.0))
    counter.run(5)
    assert len(counter.orders) == 5


def test_each_epoch_goes_over_all_sentences_in_its_own_order():
    one, again, other = Counter(), Counter(), Counter(settings=Settings(rng=2))
    for counter in (one, again, other):
        counter.run(3, patience=1)
        assert [sorted(order) for order in counter.orders] == [list(range(len(treebank())))] * 3
        assert len(set(map(tuple, counter.orders))) == 3
    assert one.orders == again.orders != other.orders


def test_going_on_from_a_checkpoint(tmp_path):
    las = (50.0, 70.0, 60.0, 80.0)
    straight = Counter(las)
    straight.run(4, patience=2)
    path = tmp_path / "checkpoint"
    for epochs in (1, 3, 4):
        counter = Counter(las)
        counter.run(epochs, patience=2, checkpoint=path)
        assert counter.prepared == 1
    assert counter.orders == straight.orders[3:]
    assert counter.info() == straight.info()
    assert counter.best == straight.best
    done = Counter(las)
    done.run(4, patience=2, checkpoint=path)
    assert (done.orders, done.prepared) == ([], 1)
    assert done.best == straight.best


def test_progress_ends_each_epoch_with_its_scores():
    said = []
    Counter((50.0, 62.5)).run(2, patience=1, progress=lambda *args: said.append(args))
    total = len(treebank())
    assert said == [
        ("epoch 1", 0, total),
        ("epoch 1: LAS 50.00", total, total),
        ("epoch 2", 0, total),
        ("epoch 2: LAS 62.50", total, total),
    ]


@pytest.mark.parametrize("name", ["count", "sums/count", "best/count", "history"])
def test_a_checkpoint_that_lacks_a_part(tmp_path, name):
    path = tmp_path / "checkpoint"
    Counter().run(1, 1, checkpoint=path)
    header, arrays = model_file.load(path)
    header.pop(name, None)
    arrays.pop(name, None)
    model_file.save(path, header, arrays)
    with pytest.raises(ModelError, match=rf"checkpoint: the checkpoint is damaged \(.*{name}"):
        Counter().run(2, 1, checkpoint=path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("history", {}),
        ("history", []),
        ("history", [{"uas": 50.0}]),
        ("history", [{"las": "good"}]),
        ("count", np.array([np.nan], dtype=np.float32)),
        ("sums/count", np.zeros(2, dtype=np.float32)),
    ],
)
def test_a_checkpoint_with_something_else(tmp_path, name, value):
    path = tmp_path / "checkpoint"
    Counter().run(1, 1, checkpoint=path)
    header, arrays = model_file.load(path)
    (arrays if name in arrays else header)[name] = value
    model_file.save(path, header, arrays)
    with pytest.raises(ModelError, match=rf"checkpoint: the checkpoint is damaged \(.*{name}"):
        Counter().run(2, 1, checkpoint=path)


@pytest.mark.parametrize("name", ["kind", "identity"])
def test_a_checkpoint_that_says_nothing_of_itself(tmp_path, name):
    path = tmp_path / "checkpoint"
    Counter().run(1, 1, checkpoint=path)
    header, arrays = model_file.load(path)
    del header[name]
    model_file.save(path, header, arrays)
    with pytest.raises(ModelError, match="checkpoint"):
        Counter().run(2, 1, checkpoint=path)


def test_a_checkpoint_of_another_kind_of_parser(tmp_path):
    class Other(Counter):
        kind = "lazy"

    path = tmp_path / "checkpoint"
    Counter().run(1, 1, checkpoint=path)
    with pytest.raises(ModelError, match="checkpoint of a lazy parser, but of the kind"):
        Other().run(1, 1, checkpoint=path)


@pytest.mark.parametrize("name", ["epochs", "patience"])
def test_numbers_that_make_no_sense(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        Counter().run(**({"epochs": 1, "patience": 1} | {name: 0}))


def test_everything_that_decides_is_in_the_identity():
    some, rest = treebank()[:3], treebank()[3:]
    found = {
        identity(Settings(), some, rest),
        identity(Settings(rng=2), some, rest),
        identity(Settings(), some, rest[1:]),
        identity(Settings(), some[1:], rest),
        identity(Settings(), [*some, rest[0]], rest[1:]),
    }
    assert len(found) == 5
    assert identity(Settings(), some, rest) in found
