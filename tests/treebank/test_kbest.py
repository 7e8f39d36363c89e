"""Lists of the k best analyses, in files."""

import io

import pytest

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, read, read_kbest, write, write_kbest

WORDS = Sentence.from_words(["Birds", "sing"], comments=["# newpar", "# text = Birds sing"])
SUBJECT = WORDS.replace(heads=[-1, 2, 0], deprels=["nsubj", "root"])
NAME = WORDS.replace(heads=[-1, 0, 1], deprels=["root", "flat"])
SHORT = Sentence.from_words(["Sing"], heads=[-1, 0], deprels=["root"])
BLOCK = "# kbest_rank = {}\n# kbest_weight = {}\n1\tSing\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def written(lists):
    file = io.BytesIO()
    write_kbest(lists, file)
    file.seek(0)
    return file


def test_there_and_back():
    lists = [
        [(SUBJECT, 0.1 + 0.2), (NAME, -1e-300)],
        [(SHORT, -0.0)],
        [(SUBJECT, float("-inf"))],
        [(SHORT, 12.5)],
    ]
    again = list(read_kbest(written(lists)))
    assert [[repr(weight) for _, weight in analyses] for analyses in again] == [
        ["0.30000000000000004", "-1e-300"],
        ["-0.0"],
        ["-inf"],
        ["12.5"],
    ]
    assert again[0][1][0].tree.tolist() == [-1, 0, 1]
    assert written(again).getvalue() == written(lists).getvalue()


def test_comments_follow_the_others_and_replace_older_ones():
    old = WORDS.replace(comments=["#kbest_rank=7", "# kind", "# kbest_weight = x", "# kbest_ranks"])
    [first, second] = read(written([[(SUBJECT, 1.0), (old, 0.5)]]))
    assert first.comments == [
        *("# newpar", "# text = Birds sing"),
        *("# kbest_rank = 1", "# kbest_weight = 1.0"),
    ]
    assert second.comments == [
        *("# kind", "# kbest_ranks"),
        *("# kbest_rank = 2", "# kbest_weight = 0.5"),
    ]
    assert first.comment("kbest_weight") == "1.0"


def test_a_stream_is_read_as_it_comes():
    lists = read_kbest(io.BytesIO((BLOCK.format(1, 2.5) * 2 + "broken\n\n").encode()))
    assert next(lists)[0][1] == 2.5
    with pytest.raises(TreebankError, match="<stream>:9: "):
        list(lists)


def test_no_sentences():
    assert list(read_kbest(io.BytesIO(b""))) == []
    assert written([]).getvalue() == b""


@pytest.mark.parametrize(
    ("blocks", "line", "fault"),
    [
        ([(2, 1)], 1, "kbest_rank is 2 at the start"),
        ([(1, 1), (3, 1)], 5, "kbest_rank is 3 after 1"),
        ([(1, 1), (2, 1), (2, 1)], 9, "kbest_rank is 2 after 2"),
        ([(1, 1), (0, 1)], 5, "kbest_rank is 0 after 1"),
        ([("one", 1)], 1, "kbest_rank is 'one', which is not a number"),
        ([(1, "")], 1, "kbest_weight is '', which is not a number"),
    ],
)
def test_wrong_ranks_and_weights_are_named(tmp_path, blocks, line, fault):
    path = tmp_path / "kbest.conllu"
    path.write_text("".join(BLOCK.format(*block) for block in blocks))
    with pytest.raises(TreebankError) as caught:
        list(read_kbest(path))
    assert str(caught.value).startswith(f"{path}:{line}: {fault}")


def test_a_treebank_is_no_list(tmp_path):
    write([SUBJECT], tmp_path / "gold.conllu")
    with pytest.raises(TreebankError, match=r"gold\.conllu:1: no comment '# kbest_rank = ...'"):
        list(read_kbest(tmp_path / "gold.conllu"))


def test_other_words_are_named(tmp_path):
    path = tmp_path / "kbest.conllu"
    write_kbest([[(SUBJECT, 2.0), (SHORT, 1.0)]], path)
    with pytest.raises(TreebankError) as caught:
        list(read_kbest(path))
    assert str(caught.value).startswith(f"{path}:8: kbest_rank is 2, but the words are not those")
