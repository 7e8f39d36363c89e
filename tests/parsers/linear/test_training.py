import pytest

from arborescence.errors import ModelError
from arborescence.parsers import LinearParser
from samples import treebank

BITS = 12


def train(path=None, **options):
    options = {"epochs": 5, "bits": BITS, "dev": treebank()[2:], "patience": 5} | options
    return LinearParser.train(treebank(), checkpoint=path, **options)


class InterruptedTrainingError(Exception):
    pass


@pytest.mark.parametrize(
    "options",
    [{}, {"loss": "perceptron"}, {"joint": True}],
    ids=["mira", "perceptron", "joint"],
)
@pytest.mark.parametrize("stop", ["epoch 1", "epoch 2", "epoch 5"])
def test_a_training_that_is_started_again_ends_as_if_never_stopped(tmp_path, options, stop):
    def interrupt(phase, done, total):
        if phase == stop:
            raise InterruptedTrainingError

    path = tmp_path / "checkpoint"
    with pytest.raises(InterruptedTrainingError):
        train(path, progress=interrupt, **options)
    resumed = train(path, **options)
    straight = train(**options)
    resumed.save(tmp_path / "resumed")
    straight.save(tmp_path / "straight")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "straight").read_bytes()


def test_more_epochs_can_be_added(tmp_path):
    path = tmp_path / "checkpoint"
    train(path, epochs=2)
    phases = []
    longer = train(path, epochs=4, progress=lambda phase, *_: phases.append(phase))
    assert longer.info == train(epochs=4).info
    assert phases[0] == "epoch 3"


@pytest.mark.parametrize(
    "other",
    [{"rng": 9}, {"bits": 13}, {"joint": True}, {"loss": "perceptron"}, {"dev": treebank()[:1]}],
)
def test_a_checkpoint_of_another_training(tmp_path, other):
    path = tmp_path / "checkpoint"
    train(path, epochs=1)
    with pytest.raises(ModelError, match=r"checkpoint: the checkpoint is of another"):
        train(path, **other)


def test_a_checkpoint_that_is_none(tmp_path):
    path = tmp_path / "model"
    train(epochs=1).save(path)
    with pytest.raises(ModelError, match="model: not a checkpoint of a linear parser"):
        train(path)
    path.write_bytes(b"PK")
    with pytest.raises(ModelError, match="model: "):
        train(path)
