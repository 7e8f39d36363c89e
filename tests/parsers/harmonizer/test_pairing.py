"""Sentences and words of two treebanks are paired, whatever their scripts and cuts."""

import io

import pytest

from arborescence.errors import TreebankError
from arborescence.parsers import pair
from arborescence.treebank import Sentence, read
from modes import thinned
from real import TREEBANKS

MORE = TREEBANKS.parent / "ud-more"
NDT = "Norwegian-NDT/{}-ndt-all.conll"
# old files, new treebank, and how many in a hundred words of the sentences in both are paired
NINE = {
    "Bokmaal": ([NDT.format("nob")], "Norwegian-Bokmaal", 99.9),
    "Nynorsk": ([NDT.format("nno")], "Norwegian-Nynorsk", 99.9),
    "Danish": (["Danish-CDT/da-cdt.conll"], "Danish-DDT", 98.8),
    "Dutch": (["Dutch-LassySmall/train-2017.conllu"], "Dutch-LassySmall", 99.9),
    "Chinese": (["Chinese-GSD/test-old.conllu"], "Chinese-GSD", 99.9),
    "Swedish": (["Swedish-Talbanken/test-old.conllu"], "Swedish-Talbanken", 99.9),
    "Korean": (["Korean-GSD/test-old.conllu"], "Korean-GSD", 99.9),
    "Indonesian": (["Indonesian-GSD/test-old.conllu"], "Indonesian-GSD", 95.3),
    "Romanian": (
        ["Romanian-RRT/dev-2016.conllu", "Romanian-RRT/test-2016.conllu"], "Romanian-RRT", 99.9,
    ),
}  # fmt: skip


def words(text, **columns):
    return Sentence.from_words(text.split(), **columns)


def paired(old, new):
    found = pair([words(old)], [words(new)])
    return [found.pairs[0].words.tolist(), round(found.share, 2)] if found.pairs else None


@pytest.mark.parametrize(
    ("old", "new", "numbers"),
    [
        ("Owls hoot .", "Owls hoot .", [0, 1, 2]),
        ("OWLS hoot .", "owls hoot .", [0, 1, 2]),
        ("Ôwls hoot « now »", "Owls hoot « now »", [0, 1, 2, 3, 4]),
        ("10% hoot", "10 % hoot", [-1, 2]),  # another cut
        ("in_spite_of owls", "in spite of owls", [-1, 3]),
        ("10 % hoot", "10% hoot", [-1, -1, 1]),
        ("貓頭鷹 叫 。", "猫头鹰 叫 。", [0, 1, 2]),  # another script
        ("owls hoot ''", 'owls hoot "', [0, 1, -1]),
    ],
)
def test_words(old, new, numbers):
    assert paired(old, new)[0] == numbers


def test_sentences_in_another_order_with_others_between():
    old = [words("Owls hoot ."), words("Mice run ."), words("Nobody knows this one .")]
    new = [words("mice run ."), words("Another one here !"), words("owls hoot .")]
    found = pair(old, new)
    assert [(each.old, each.new) for each in found.pairs] == [(old[1], new[0]), (old[0], new[2])]
    assert found.share == pytest.approx(6 / 10)


def test_sentences_that_occur_twice_are_paired_once_each():
    old, new = [words("Owls hoot")] * 2, [words("owls hoot")] * 3
    assert len(pair(old, new).pairs) == 2


def test_sentences_by_their_ids():
    old = words("I can n't", comments=["# sent_id = owl"])
    new = words("I cannot", comments=["# sent_id = owl"])
    [found] = pair([words("x y z"), old], [new]).pairs
    assert found.old is old
    assert found.words.tolist() == [0, -1, -1]


def test_multiword_tokens_stand_for_their_words():
    raw = "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n1\tzu\t_\t_\t_\t_\t3\tcase\t_\t_\n"
    raw += "2\tdem\t_\t_\t_\t_\t3\tdet\t_\t_\n3\tBaum\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    [new] = read(io.BytesIO(raw.encode()))
    [found] = pair([words("zum Baum"), words("Ein Haus")], [new]).pairs
    assert found.words.tolist()[1] == 2


def test_by_order_between_sentences_that_are_paired():
    old = [words("Owls hoot ."), words("鳥 叫 。"), words("Mice run .")]
    new = [words("Owls hoot ."), words("鸟 叫 。"), words("Mice run .")]
    assert [each.words.tolist() for each in pair(old, new).pairs] == [[0, 1, 2]] * 3
    with_another = [*new[:2], words("One more ."), new[2]]
    assert len(pair(old, with_another).pairs) == 2  # which is the same, the order does not say


def test_nothing_in_common_is_an_error():
    with pytest.raises(TreebankError, match="no word of these sentences is in these sentences"):
        pair([words("Owls hoot .")], [words("A sentence that is much longer than the other")])


@pytest.mark.parametrize("name", thinned([*NINE], 4))
def test_nine_treebanks(name):
    old, new, least = NINE[name]
    if not (MORE / new).is_dir():
        pytest.skip("the treebanks in ../shared/ud-more are not here")
    skipped = []
    ours = [s for file in old for s in read(MORE / f"{file}.gz", skip_invalid=skipped.append)]
    found = pair(ours, read(MORE / new / "test.conllu.gz"))
    right = sum(int((each.words >= 0).sum()) for each in found.pairs)
    assert 100 * right / sum(len(each.new) for each in found.pairs) > least
    assert right > 4000
