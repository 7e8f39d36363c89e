import pytest

from arborescence import is_projective
from arborescence.errors import TreebankError
from arborescence.parsers.shared.training_trees import TrainingTrees, checked
from arborescence.treebank import Sentence, read
from arborescence.treebank.sentence import place
from samples import treebank


def sentence(heads, deprels=None):
    words = ["tree"] * (len(heads) - 1)
    return Sentence.from_words(words, heads=heads, deprels=deprels or ["dep"] * len(words))


def test_numbers_stand_for_the_relations_of_the_treebank():
    trees = TrainingTrees.of(treebank(), projective=False)
    for one, heads, relations in zip(treebank(), trees.heads, trees.relations, strict=True):
        assert heads.tolist() == one.tree.tolist()
        assert relations[0] == -1
        assert [trees.labels[number] for number in relations[1:]] == one.deprels
    of_root, of_words = (
        {label for label, may in zip(trees.labels, row, strict=True) if may}
        for row in trees.allowed
    )
    assert of_root == {"root"}
    assert of_words == set(trees.labels) - {"root"}


def test_edges_that_may_not_cross_are_lifted():
    assert not all(is_projective(one.tree) for one in treebank())
    plain = TrainingTrees.of(treebank(), projective=False)
    lifted = TrainingTrees.of(treebank(), projective=True)
    marked = TrainingTrees.of(treebank(), projective="pseudo")
    for trees in (lifted, marked):
        assert all(is_projective(heads) for heads in trees.heads)
    assert lifted.labels == plain.labels
    assert set(marked.labels) - set(plain.labels) == {"nmod↑nsubj"}


@pytest.mark.parametrize(
    ("heads", "root", "message"),
    [
        ([-1, 0, 0], "single", r"several words have the root .* train with root='multi'"),
        ([-1, 0, 0], "single", r"as their head: 1 and 2; train"),
        ([-1, 2, 1], "multi", "not a tree: the words 1, 2 form a cycle; correct the sentence, or"),
        ([-1, 0, 3, 4, 2, 2], "single", "not a tree: the words 2, 3, 4 form a cycle"),
        ([-1, 2, 3, 4, 5, 6, 1], "multi", "the words 1, 2, 3, 4, 5 and others form a cycle"),
        ([-1, -1, 0], "multi", "the heads are not a tree: word 1 has no head; give it one"),
        ([-1, 2, 0, -1], "single", "the heads are not a tree: word 3 has no head"),
    ],
)
def test_heads_that_cannot_be_learned(heads, root, message):
    with pytest.raises(TreebankError, match=message):
        checked([*treebank(), sentence(heads)], None, root)
    with pytest.raises(
        TreebankError, match=f"{message}.*trees that choose the epoch must be complete"
    ):
        checked(treebank(), [sentence(heads)], root)
    assert checked(iter(treebank()), iter(treebank()[:1]), root) == (treebank(), treebank()[:1])


@pytest.mark.parametrize(
    ("relations", "labels"),
    [
        (["_"] * 4, ["_", "_↑_"]),
        (["_", "root", "_", "_"], ["_", "_↑_", "root"]),
        (["a", "_", "b", "c"], ["_", "a", "b", "c↑a"]),
        (["a", "root", "b", "_"], ["_↑a", "a", "b", "root"]),  # "_" is unknown
    ],
)
def test_trees_without_relations(relations, labels):
    crossing = sentence([-1, 2, 0, 2, 1], relations)
    trees = TrainingTrees.of([crossing, crossing], "pseudo", in_part=True)
    assert sorted(trees.labels) == sorted(labels)
    assert trees.allowed.any(axis=1).all()


def test_several_root_edges_where_they_may_be():
    trees = TrainingTrees.of([sentence([-1, 0, 0])], projective=False)
    assert trees.allowed.tolist() == [[True], [False]]


def test_an_empty_treebank():
    with pytest.raises(TreebankError, match="the treebank is empty"):
        checked([], None, "single")


def test_relations_that_hold_the_mark_of_lifted_edges():
    marked = sentence([-1, 2, 0], ["a↑b", "root"])
    with pytest.raises(TreebankError, match="↑"):
        TrainingTrees.of([marked], projective="pseudo")
    assert TrainingTrees.of([marked], projective=True).labels == ["a↑b", "root"]


def test_where_a_sentence_stands(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_bytes(bytes(treebank()[0]) + bytes(treebank()[1]))
    _, second = read(path)
    assert place(second) == f"{path}:8"
    assert place(treebank()[0]) == repr(treebank()[0])
