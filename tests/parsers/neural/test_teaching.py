"""Learning from the probabilities of larger parsers (`parsers.neural.teaching`)."""

import numpy as np
import pytest

from arborescence.parsers import BiaffineParser
from arborescence.parsers.shared.given import untagged
from arborescence.parsers.shared.run import Task
from arborescence.treebank import Sentence
from samples import treebank

torch = pytest.importorskip("torch", reason="training needs the extra 'torch'")

from arborescence.errors import OptionError  # noqa: E402
from arborescence.parsers.neural.settings import Settings  # noqa: E402
from arborescence.parsers.neural.teaching import (  # noqa: E402
    Likely,
    SoftTargets,
    expected_loss,
    padded,
    soft_targets,
)
from arborescence.parsers.neural.training import Trainer  # noqa: E402
from arborescence.parsers.neural.vocabulary import Vocabulary  # noqa: E402
from tiny_networks import TINY  # noqa: E402


@pytest.fixture(scope="module")
def teacher():
    return BiaffineParser.train(treebank(), **TINY | {"epochs": 4})


def test_lessons_are_the_marginals_of_the_teachers(teacher):
    sentences = treebank()
    taught = list(soft_targets([teacher], sentences, teacher.labels))
    assert len(taught) == len(sentences)
    for sentence, (parsed, targets) in zip(sentences, taught, strict=True):
        marginals = teacher.distribution(untagged(sentence), root="single").marginals()
        values, chances = targets.heads
        right = np.take_along_axis(marginals, values, axis=0)[:, 1:]
        np.testing.assert_allclose(chances[:, 1:], right / right.sum(axis=0), atol=1e-4)
        np.testing.assert_allclose(targets.relations.chances[:, 1:].sum(axis=0), 1, atol=1e-5)
        best = [teacher.labels[number] for number in targets.relations.values[0, 1:]]
        assert parsed.deprels == best
        assert (parsed.heads == 0).sum() == 1


def test_two_teachers_count_the_same(teacher):
    other = BiaffineParser.train(treebank(), **TINY | {"epochs": 2, "rng": 2})
    sentence = treebank()[0]
    [(_, targets)] = soft_targets([teacher, other], [sentence], teacher.labels)
    mean = sum(
        each.distribution(untagged(sentence), root="single").marginals()
        for each in (teacher, other)
    )
    assert (targets.heads.values[0, 1:] == mean[:, 1:].argmax(axis=0)).all()


def test_unknown_relations_get_no_probability(teacher):
    [(_, targets)] = soft_targets([teacher], treebank()[:1], [*teacher.labels, "unheard"])
    chances = np.where(
        targets.relations.values == len(teacher.labels), targets.relations.chances, 0
    )
    assert chances.max() == 0


def test_a_teacher_without_probabilities_is_refused():
    class Silent:
        labels = ()
        relation_temperature = 1.0

        def _graphs(self, sentences, options):
            graphs = type("Graphs", (), {"groups": [], "starts": np.array([0, 2])})()
            graphs.relations = lambda heads: None
            return graphs

    with pytest.raises(OptionError, match="probabilities of relations"):
        list(soft_targets([Silent()], [Sentence.from_words(["Owls"])], ["root"]))


def test_padding_and_sentences_without_a_lesson_count_nothing():
    part = Likely(np.array([[0, 0, 1]]), np.array([[0, 1, 1]], dtype=np.float32))
    values, chances = padded([part, None], 5)
    assert values.shape == chances.shape == (4, 2, 5)
    assert (chances.sum(axis=(0, 2)) == [2, 0]).all()
    logits = torch.zeros(5, 2, 5)
    loss = expected_loss(logits, Likely(torch.from_numpy(values), torch.from_numpy(chances)))
    assert loss.item() == pytest.approx(np.log(5))


def test_a_parser_learns_how_sure_its_teachers_are():
    """With heads at 0.7 and 0.3, and no sure tree, the new parser's shares come near to these."""
    sentence = Sentence.from_words(["Owls", "hoot", "often"], heads=[2, 0, 2], deprels=["a"] * 3)
    heads = Likely(
        np.array([[0, 2, 0, 2], [0, 3, 3, 1]]),
        np.array([[0, 0.7, 0.7, 0.7], [0, 0.3, 0.3, 0.3]], dtype=np.float32),
    )
    relations = Likely(np.zeros((1, 4), dtype=np.int64), np.ones((1, 4), dtype=np.float32))
    settings = Settings(**TINY | {"epochs": 150})

    def shares(said):
        made = Trainer(
            Task([sentence], [], settings, BiaffineParser),
            None,
            Vocabulary.of([sentence], settings.columns),
            targets=said,
        )
        made.run(settings.epochs)
        scores = BiaffineParser(**made.parts()).scores(untagged(sentence))
        scores = np.where(np.eye(4, dtype=bool), -np.inf, scores)[:, 1:]
        powers = np.exp(scores - scores.max(axis=0))
        return (powers / powers.sum(axis=0))[[2, 0, 2], range(3)]

    # half of the loss is the gold tree's: 0.85 is the optimum
    assert shares([SoftTargets(heads, relations)]) == pytest.approx(0.85, abs=0.06)
    assert (shares(None) > 0.95).all()
