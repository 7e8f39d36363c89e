"""CoNLL-U Plus: columns of other names."""

from __future__ import annotations

import io

import pytest

from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, read, write, write_kbest
from arborescence.treebank.evaluation import evaluate

TEN = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
PARSEME = f"""\
# global.columns = {TEN} PARSEME:MWE X
# text = He didn't take part.
1 He he PRON _ _ 3 nsubj _ _ * _
2-3 didn't _ _ _ _ _ _ _ SpaceAfter=No _ _
2 did do AUX _ _ 4 aux _ A=1 * a|b\\c
3 n't not PART _ _ 4 advmod _ _ * X=1
4 take take VERB _ _ 0 root _ _ 1:VID;2 _
4.1 _ _ _ _ _ _ _ 4:x _ * _
5 part part NOUN _ _ 4 obj _ X=2 1 =

# sent_id = 2
1 Go go VERB _ _ 0 root _ _ * _

"""


def file(text: str = PARSEME) -> bytes:
    lines = (one if one.startswith("#") else one.replace(" ", "\t") for one in text.split("\n"))
    return "\n".join(lines).encode()


def written(sentences: object) -> bytes:
    target = io.BytesIO()
    write(sentences, target)  # type: ignore[arg-type]
    return target.getvalue()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_file_comes_out_as_it_went_in(mark: bytes, end: bytes) -> None:
    data = mark + file().replace(b"\n", end)
    sentences = list(read(io.BytesIO(data)))
    assert written(sentences) == file()
    assert [sentence.line for sentence in sentences] == [1, 11]
    assert sentences[0].word(4).misc == {"PARSEME:MWE": "1:VID;2"}
    assert sentences[0].misc[1] == r"A=1|PARSEME:MWE=*|X=a\pb\\c"


def test_annotations_survive_changes_in_any_order() -> None:
    first, second = read(io.BytesIO(file()))
    changed = first.replace(
        heads=[2, 0, 2, 2, 2], misc=[f"EdgeProb=1|{misc}" for misc in first.misc]
    )
    again = written([second, changed]).decode().replace("\t", " ")
    assert again.startswith(f"# global.columns = {TEN} PARSEME:MWE X\n# sent_id = 2\n1 Go")
    assert again.count("global.columns") == 1
    assert "4 take take VERB _ _ 2 root _ EdgeProb=1 1:VID;2 _\n" in again
    assert "4.1 _ _ _ _ _ _ _ 4:x _ * _\n" in again
    target = io.BytesIO()
    write_kbest([[(second, 1.0), (second, 0.5)]], target)
    assert b"# kbest_rank = 2" in target.getvalue()
    assert target.getvalue().endswith(b"_\t*\t_\n\n")


def test_columns_that_are_missing_or_in_another_order() -> None:
    [sentence] = read(io.BytesIO(file("# global.columns = FORM ID UPOS MWE\nGo 1 VERB *\n\n")))
    assert (sentence.forms, sentence.upos, sentence.misc) == (["Go"], ["VERB"], ["MWE=*"])
    found = written([sentence.replace(heads=[0], deprels=["root"])])
    assert found == file(f"# global.columns = {TEN} MWE\n1 Go _ VERB _ _ 0 root _ _ *\n\n")


def test_a_file_of_the_ten_columns_stays_as_it_is() -> None:
    data = file(f"# global.columns =  {TEN}\n1 Go _ _ _ _ 0 root _ _\n\n")
    [sentence] = read(io.BytesIO(data))
    assert sentence.raw == data == written([sentence])
    plain = Sentence.from_words(["Go"])
    assert written([plain, *read(io.BytesIO(file()))]).count(b"PARSEME:MWE=") == 7


def test_lines_of_other_columns_have_a_fault() -> None:
    data = file(PARSEME.replace("1 He he PRON _ _ 3 nsubj _ _ * _", "1 He he PRON _ _ 3 nsubj _ _"))
    errors: list[TreebankError] = []
    [left] = read(io.BytesIO(data), skip_invalid=errors.append)
    assert left.forms == ["Go"]
    assert "<stream>:3: 10 columns where the first line of the file names 12" in str(errors[0])
    data = file().replace(b"\t1:VID;2\t_", b"\t1:VID;2")
    with pytest.raises(TreebankError, match=":7: 11 columns where the first line"):
        list(read(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("columns", "fault"), [("ID FORM FORM", "names FORM twice"), ("FORM", "does not name ID")]
)
def test_a_first_line_that_names_no_words(columns: str, fault: str) -> None:
    with pytest.raises(TreebankError, match=f"<stream>:1: '# global.columns' {fault}"):
        list(read(io.BytesIO(file(f"# global.columns = {columns}\n1 Go Go\n\n"))))


def test_evaluation_reads_it() -> None:
    gold = list(read(io.BytesIO(file())))
    assert evaluate(gold, gold).las.correct == 6
