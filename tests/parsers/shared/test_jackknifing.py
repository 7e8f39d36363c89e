"""Folds, and what is left for each."""

from arborescence.parsers.shared.training_trees import folds_of


def test_each_item_is_in_one_fold_and_in_the_rest_of_all_others():
    dealt = list(folds_of(range(10), folds=3, rng=4))
    assert sorted(i for part, _ in dealt for i in part) == list(range(10))
    for part, rest in dealt:
        assert sorted(part + rest) == list(range(10))
        assert len(part) in (3, 4)
