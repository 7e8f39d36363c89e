"""Tags as new sentences will get them."""

import pytest

from arborescence.errors import TreebankError
from arborescence.parsers.tagger.tagging import jackknife
from arborescence.treebank import Sentence
from samples import bare, treebank


def numbered(sentences):
    return [s.replace(comments=[f"# {i}"]) for i, s in enumerate(sentences)]


def with_noisy_tags(sentences):
    """Give each word a tag that no other sentence has."""
    return [s.replace(upos=[f"{tag}{i}" for tag in s.upos]) for i, s in enumerate(sentences)]


@pytest.mark.parametrize("folds", [2, 3, len(treebank())])
def test_a_tagger_has_not_seen_what_it_tags(folds):
    tagged = with_noisy_tags(numbered(treebank()))
    new = jackknife(tagged, folds=folds, columns=["upos"])
    assert [s.comments for s in new] == [s.comments for s in tagged]
    for before, after in zip(tagged, new, strict=True):
        assert not set(before.upos) & set(after.upos)
        assert after.replace(upos=before.upos) == before  # all else is as it was


def test_the_seed_decides():
    tagged = with_noisy_tags(numbered(treebank()))
    first, again, other = (jackknife(tagged, columns=["upos"], rng=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_too_few_sentences_have_no_copy():
    assert jackknife(treebank()[:4], folds=5) == []


def test_one_fold_would_leave_nothing_to_learn_from():
    with pytest.raises(ValueError, match="folds must be at least 2, not 1"):
        jackknife(treebank(), folds=1)


def test_without_tags_there_is_nothing_to_learn():
    with pytest.raises(TreebankError, match="no tags"):
        jackknife([bare(sentence) for sentence in treebank()])


def test_progress():
    said = []
    jackknife(treebank(), epochs=2, progress=lambda *what: said.append(what))
    assert {phase for phase, _, _ in said} == {"jackknifing"}
    done = [done for _, done, _ in said]
    assert done == sorted(done)
    assert said[-1][1] == said[-1][2]


def test_words_that_the_others_do_not_know_get_other_tags():
    noun = Sentence.from_words(["a", "saw"], upos=["DET", "NOUN"])
    verb = Sentence.from_words(["I", "saw"], upos=["PRON", "VERB"])
    new = jackknife([noun] * 6 + [verb], folds=7, columns=["upos"])
    assert new[:6] == [noun] * 6
    assert new[6].upos == ["DET", "NOUN"]
