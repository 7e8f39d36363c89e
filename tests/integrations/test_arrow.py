"""Arrow tables and Parquet files: the trees of `Parser.parse`, rows kept, errors that name rows."""

import pickle
import re

import pytest

pa = pytest.importorskip("pyarrow", reason="needs the extra 'arrow'")

import pyarrow.parquet as pq  # noqa: E402

import arborescence as arb  # noqa: E402
from arborescence.integrations import arrow  # noqa: E402
from arborescence.parsers import Keeper  # noqa: E402
from arborescence.rules import Direction  # noqa: E402
from arborescence.treebank import Sentence  # noqa: E402
from samples import treebank  # noqa: E402

WORDS = [["Old", "trees", "grow", "slowly", "."], ["Small", "birds", "sing", "in", "them", "."]]
TEXT = "Old trees grow slowly. They don't mind!"


@pytest.fixture(scope="module")
def english():
    return arb.load("english")


@pytest.fixture(scope="module")
def parse(english):
    return arrow.Parse(english)


def test_a_treebank_there_and_back(tmp_path):
    sentences = [
        sentence.replace(
            comments=[
                *(["# newdoc id = d"] if n in (0, 3) else []),
                f"# sent_id = {n}",
                "# text = T",
            ]
        )
        for n, sentence in enumerate(treebank())
    ]
    sentences[3] = sentences[3].replace(
        comments=["# newdoc id = e", "# sent_id = 3", "# text = T"], misc=["EdgeProb=0.2500"] * 4
    )
    table = arrow.to_table(sentences)
    assert table.schema == arrow.schema()
    assert table["doc_id"].to_pylist() == ["d"] * 3 + ["e"] * (len(sentences) - 3)
    assert table["heads"].to_pylist()[6] == [0, 1]
    arrow.write(sentences, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet") == table
    plain = [s.replace(misc=["_"] * len(s)) for s in sentences]
    assert list(arrow.to_sentences(table)) == plain
    assert list(arrow.read(tmp_path / "t.parquet")) == plain
    one = arrow.to_table(sentences[3:4], confidence=True)
    assert one["confidences"].to_pylist() == [[0.25] * 4]
    assert list(arrow.to_sentences(one)) == sentences[3:4]


def test_unknown_heads_are_null():
    table = arrow.to_table([Sentence.from_words(["Trees", "grow"], heads=[-1, 2, -1])])
    assert table["heads"].to_pylist() == [[2, None]]
    assert next(arrow.to_sentences(table)).tree.tolist() == [-1, 2, -1]


def test_words(english, parse):
    table = pa.table({"n": [7, 8, 9, 10], "forms": [WORDS[0], [], None, WORDS[1]]})
    parsed = parse(table)
    assert parsed.schema == parse.schema(table.schema)
    assert parsed["n"].to_pylist() == [7, 8, 9, 10]
    for row, tree in zip([0, 3], english.parse(WORDS), strict=True):
        found = parsed.slice(row, 1).to_pylist()[0]
        assert found["heads"] == tree.heads.tolist()
        assert [found[name] for name in ("deprels", "upos", "xpos", "feats", "lemmas")] == [
            tree.deprels, tree.upos, tree.xpos, tree.feats, tree.lemmas,
        ]  # fmt: skip
    assert parsed["heads"].to_pylist()[1:3] == parsed["forms"].to_pylist()[1:3] == [[], []]


def test_tags_that_are_given_are_used(english, parse):
    tags = ["ADJ", "VERB", None, "ADV", ""]
    parsed = parse(pa.table({"forms": [WORDS[0]], "upos": [tags]})).to_pylist()[0]
    given = Sentence.from_words(WORDS[0], upos=["ADJ", "VERB", "_", "ADV", "_"])
    [tree] = english.parse([given])
    assert parsed["upos"] == tree.upos
    assert parsed["heads"] == tree.heads.tolist()


def test_text_becomes_sentences(english, parse):
    table = pa.table(
        {"doc_id": ["a", "b", None, None], "text": [TEXT, "", None, "Sing!"], "url": list("wxyz")}
    )
    parsed = parse(table)
    assert parsed["url"].to_pylist() == ["w", "w", "x", "y", "z"]
    assert parsed["sent_id"].to_pylist() == ["a-1", "a-2", None, None, "3-1"]
    assert parse(table, 100)["sent_id"].to_pylist()[-1] == "103-1"
    trees = [*english.parse(TEXT), *english.parse("Sing!")]
    rows = [row for row in parsed.to_pylist() if row["forms"]]
    for row, tree in zip(rows, trees, strict=True):
        assert (row["forms"], row["text"]) == (tree.forms, tree.text)
        assert row["heads"] == tree.heads.tolist()
    assert parsed["text"].to_pylist()[2:4] == ["", None]


def test_text_of_one_sentence_a_row(english):
    lines = arrow.Parse(english, lines=True)
    table = pa.table({"sent_id": ["s", "t"], "text": ["Trees grow. They\ndo", "Sing!"]})
    parsed = lines(table)
    assert parsed["sent_id"].to_pylist() == ["s", "t"]
    assert parsed["text"].to_pylist() == table["text"].to_pylist()
    assert parsed["forms"].to_pylist() == [["Trees", "grow", ".", "They", "do"], ["Sing", "!"]]


def test_probabilities_and_the_k_best(english):
    parse = arrow.Parse(english, confidence=True, kbest=3)
    [row] = parse(pa.table({"forms": WORDS[:1]})).to_pylist()
    [analyses] = english.kbest(WORDS[:1], 3, confidence=True)
    assert [tree["weight"] for tree in row["kbest"]] == [weight for _, weight in analyses]
    assert [tree["heads"] for tree in row["kbest"]] == [tree.heads.tolist() for tree, _ in analyses]
    assert row["confidences"] == row["kbest"][0]["confidences"]
    assert len(row["confidences"]) == 5
    assert 0 < min(row["confidences"]) <= max(row["confidences"]) <= 1


def test_trees_that_keep_rules(english):
    rules = [Direction("left", ("nsubj", "amod"), right=False)]
    table = pa.table({"forms": WORDS})
    rows = pickle.loads(pickle.dumps(arrow.Parse("english", rules=rules)))(table).to_pylist()
    trees = english.parse(WORDS, rules=rules)
    assert [row["deprels"] for row in rows] == [tree.deprels for tree in trees]
    keeper, other = (Keeper([Direction("right", ("nsubj",))]) for _ in range(2))
    arrow.Parse(english, rules=keeper)(table)
    list(english.parse(WORDS, rules=other))
    assert keeper.counts == other.counts
    assert keeper.counts.sentences == 2
    assert keeper.counts.changed


@pytest.mark.parametrize("kbest", [None, 2])
def test_equal_sentences_of_several_tables_once(english, kbest):
    keeper, tables = Keeper("ud"), [pa.table({"forms": WORDS}), pa.table({"forms": WORDS[::-1]})]
    each = arrow.Parse(english, rules="ud", kbest=kbest)
    once = arrow.Parse(english, rules=keeper, kbest=kbest, once=True)
    assert [once(table) for table in tables] == [each(table) for table in tables]
    assert keeper.counts.sentences == len(WORDS)


def test_batches_of_records_and_empty_tables(parse):
    """Spark gives an iterator of batches: `map` takes one for another."""
    batches = pa.table({"forms": WORDS, "n": [1, 2]}).to_batches(max_chunksize=1)
    parsed = list(map(parse, batches))
    assert all(isinstance(batch, pa.RecordBatch) for batch in parsed)
    assert pa.Table.from_batches(parsed) == parse(pa.table({"forms": WORDS, "n": [1, 2]}))
    empty = batches[0].slice(0, 0)
    assert parse(empty).num_rows == parse(pa.Table.from_batches([empty])).num_rows == 0
    assert parse(empty).schema == parsed[0].schema


def test_large_types_are_taken(parse):
    strings = pa.large_list(pa.large_string())
    large = pa.table({"forms": pa.array(WORDS, strings)})
    assert parse(large) == parse(pa.table({"forms": WORDS}))


def test_errors_name_the_row(parse, english):
    table = pa.table({"sent_id": ["a", "b"], "forms": [["Trees"], ["a\tb"]]})
    with pytest.raises(arb.TreebankError, match=re.escape("row 1 (b): FORM of word 1")):
        parse(table)
    with pytest.raises(arb.TreebankError, match=re.escape("row 101 (b)")):
        parse(table, first=100)
    with pytest.raises(arb.TreebankError, match=r"row 0: 5 words; max_words is 4"):
        arrow.Parse(english, max_words=4)(pa.table({"forms": WORDS}))
    with pytest.raises(arb.OptionError, match=r"neither a column 'forms' .* but 'words'"):
        parse(pa.table({"words": WORDS}))
    with pytest.raises(arb.OptionError, match="batch_format='pyarrow'"):
        parse({"forms": WORDS})
    errors = []
    tolerant = arrow.Parse(english, skip_invalid=errors.append)
    rows = tolerant(table).to_pylist()
    assert rows[0]["heads"] == [0]
    assert rows[1]["forms"] == ["a\tb"]
    assert rows[1]["heads"] is None
    assert [error.lost for error in errors] == [(1, 1, 1)]


def test_what_is_pickled_are_the_arguments():
    parse = arrow.Parse("english", confidence=True)
    pickled = pickle.dumps(parse)
    assert len(pickled) < 1000
    table = pa.table({"forms": WORDS})
    assert pickle.loads(pickled)(table) == parse(table)


def test_models_that_parse_together(english):
    both = arrow.Parse([english, english], weights=[1.0, 0.5])
    table = pa.table({"forms": WORDS})
    assert both(table)["heads"] == arrow.Parse(english)(table)["heads"]


def test_files_that_are_no_parquet(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no such thing")
    with pytest.raises(arb.TreebankError, match=r"a\.parquet: not a whole Parquet file"):
        list(arrow.read(tmp_path / "a.parquet"))


def test_a_folder_of_parquet(tmp_path, english, parse):
    pytest.importorskip("typer", reason="needs the extra 'cli'")
    from arborescence.cli import run

    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    table = pa.table({"text": [TEXT, "Sing!"] * 1100, "n": range(2200)})
    pq.write_table(table, folder / "a.parquet")
    (folder / "b.parquet").write_bytes(b"no such thing")
    (folder / "c.txt").write_text(TEXT)
    assert (
        run(["parse", "-q", "--shards", "--parquet", str(folder), str(out), "--workers", "1"]) == 1
    )
    assert {path.name for path in out.iterdir()} == {"a.parquet", "c.parquet"}
    assert pq.read_table(out / "a.parquet") == parse(table)
    of_text = pq.read_table(out / "c.parquet")
    assert of_text["doc_id"].to_pylist() == ["c", "c"]
    assert of_text["sent_id"].to_pylist() == ["c-1", "c-2"]
    assert of_text["heads"].to_pylist() == parse(pa.table({"text": [TEXT]}))["heads"].to_pylist()
