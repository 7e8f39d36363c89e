"""``arborescence search``."""

import csv
import json
import re

import pytest

from arborescence.treebank import Sentence, write

SENTENCES = [
    Sentence.from_words(
        ["Dogs", "chase", "cats"], lemmas=["dog", "chase", "cat"], upos=["NOUN", "VERB", "NOUN"],
        heads=[2, 0, 2], deprels=["nsubj", "root", "obj"], misc=["EdgeProb=0.9"] * 3,
        comments=["# sent_id = one"],
    ),
    Sentence.from_words(
        ["=1", "sees", "cats", "!"], lemmas=["=1", "see", "cat", "!"],
        upos=["NUM", "VERB", "NOUN", "PUNCT"], heads=[2, 0, 2, 2],
        deprels=["nsubj", "root", "obj", "punct"],
        misc=["EdgeProb=0.9", "EdgeProb=0.4", "SpaceAfter=No|EdgeProb=0.9", "EdgeProb=0.9"],
        comments=["# sent_id = two"],
    ),
]  # fmt: skip
OBJECTS = "V [upos=VERB]; V -[obj]-> O"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bank" / "more").mkdir(parents=True)
    write(SENTENCES[:1], tmp_path / "bank" / "a.conllu")
    write(SENTENCES[1:], tmp_path / "bank" / "more" / "b.conllu.gz")
    return tmp_path / "bank"


def test_lines_and_counts(command, folder):
    done = command("search", OBJECTS, folder)
    assert done.out == "one\tDogs [V chase] [O cats]\ntwo\t=1 [V sees] [O cats]!\n"
    done = command("search", OBJECTS, folder / "a.conllu", folder, "--count", "O.lemma")
    assert done.out == "3\tcat\n"
    done = command(
        "search", f"e: V -> S; {OBJECTS}", folder, "--count", "S.form", "--count", "e.label"
    )
    assert sorted(done.out.splitlines()) == ["1\t!\tpunct", "1\t=1\tnsubj", "1\tDogs\tnsubj"]


def test_a_feature_that_no_word_has_is_named(command, folder):
    done = command("search", OBJECTS, folder, "--count", "O.foo", "--count", "O.form")
    assert (done.out, done.err) == (
        "2\t_\tcats\n",
        "O.foo: no word of a match has such a feature\n",
    )


def test_tables(command, folder, tmp_path):
    command("search", "S; V -[nsubj]-> S", folder, "-o", tmp_path / "found.csv")
    with (tmp_path / "found.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["left"], first["match"], first["right"]) == ("", "Dogs chase", "cats")
    assert (first["sent_id"], first["S.id"], first["S.lemma"]) == ("one", "1", "dog")
    assert (second["match"], second["S.form"]) == ("'=1 sees", "'=1")  # no formulas
    done = command("search", OBJECTS, folder, "--json")
    assert [json.loads(line)["O.form"] for line in done.out.splitlines()] == ["cats", "cats"]


def test_a_parquet_table(command, folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    command("search", OBJECTS, folder, "-o", tmp_path / "found.parquet")
    table = parquet.read_table(tmp_path / "found.parquet").to_pylist()
    assert [row["match"] for row in table] == ["chase cats", "sees cats"]


def test_sentences_with_a_match_come_once(command, folder, tmp_path):
    command("search", "V -> N; V [upos=VERB]", folder, "-o", tmp_path / "found.conllu")
    text = (tmp_path / "found.conllu").read_text("utf-8")
    assert text == "".join(map(str, SENTENCES))
    command("search", OBJECTS, folder, "-o", tmp_path / "found.svg")
    assert (tmp_path / "found.svg").read_text("utf-8").startswith("<svg")


def test_a_page_of_trees_with_the_match_in_colour(command, folder, tmp_path):
    command("search", OBJECTS, folder, "-o", tmp_path / "found.html")
    first, second = (tmp_path / "found.html").read_text("utf-8").split('class="item"')[1:]
    assert "<p>one</p><p>Dogs [V chase] [O cats]</p>" in first
    for item, words in ((first, ["chase", "cats"]), (second, ["sees", "cats"])):
        found = re.findall(r'class="form( root)? marked"[^>]*>([^<]*)', item)
        assert [word for _, word in found] == words
        assert re.findall(r'class="label marked"[^>]*>([^<]*)', item) == ["obj"]


def test_counts_as_a_table(command, folder, tmp_path):
    asked = ("search", OBJECTS, folder, "--count", "V.lemma", "--count", "O.lemma")
    command(*asked, "-o", tmp_path / "counts.csv")
    with (tmp_path / "counts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"count": "1", "V.lemma": "chase", "O.lemma": "cat"}
    lines = command(*asked, "--json").out.splitlines()
    assert [json.loads(line)["V.lemma"] for line in lines] == ["chase", "see"]
    assert "another kind of file" in command(*asked, "-o", tmp_path / "x.svg").complaint(2)


def test_collocations(command, folder, tmp_path):
    asked = ("search", OBJECTS, folder, "--association", "--count")
    done = command(*asked, "V.lemma", "--count", "O.lemma")
    assert done.out == "1\tchase\tcat\t1.0\t0.0\n1\tsee\tcat\t1.0\t0.0\n"
    assert "--association takes two --count" in command(*asked, "V.lemma").complaint(2)


def test_only_sure_matches(command, folder):
    done = command("search", OBJECTS, folder, "--confidence", "0.5", "--count", "V.lemma")
    assert done.out == "1\tchase\n"
    assert command("search", OBJECTS, folder, "--confidence", "0.5").out.count("\n") == 1
    assert command("search", OBJECTS, folder, "--confidence", "0.95").out == ""


def test_text_is_parsed_first(command):
    done = command(
        "search", OBJECTS, "--format", "text", "-m", "english-fast", "--confidence", "0.01",
        stdin=b"She wrote long letters. Nobody read them.",
    )  # fmt: skip
    assert done.out == "1\tShe [V wrote] long [O letters].\n2\tNobody [V read] [O them].\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["V [upos="], "character 9: 'the end' stands where a value is expected"),
        ([OBJECTS, "--count", "X.lemma"], "no such node; try V.lemma, O.lemma"),
        ([""], "write 'V [upos=VERB]', for example"),
        ([OBJECTS, "-o", "found.png"], "another kind of file"),
    ],
)
def test_errors_are_a_line(command, arguments, said):
    assert said in command("search", *arguments).complaint(2)
