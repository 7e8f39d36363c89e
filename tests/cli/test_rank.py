"""`rank`: what a person should look at first."""

import json

import arborescence as arb
from samples import treebank
from small_parsers import small_parser


def test_words_with_both_readings(command, tmp_path):
    bare = [sentence.replace(heads=None, deprels=None) for sentence in treebank()]
    small_parser("tree").save(tmp_path / "small.npz")
    arb.treebank.write(bare, tmp_path / "bare.conllu")
    given = ("rank", "-m", tmp_path / "small.npz", tmp_path / "bare.conllu", "--words")
    lines = command(*given).out.splitlines()
    assert len(lines) == sum(map(len, bare))
    first = json.loads(command(*given, "--json", "--budget", "1").out)
    assert f"({first['word']}): " in lines[0]
    assert first["sentence"] in lines[0]


def test_what_to_annotate_next_is_a_file(command, tmp_path):
    sentences = [treebank()[0], *(one.replace(heads=None, deprels=None) for one in treebank()[1:])]
    small_parser("tree").save(tmp_path / "small.npz")
    arb.treebank.write(sentences, tmp_path / "some.conllu")
    command("rank", "-m", tmp_path / "small.npz", tmp_path / "some.conllu", "-o", tmp_path / "next")
    found = list(arb.treebank.read(tmp_path / "next"))
    assert sorted(map(str, found)) == sorted(map(str, sentences[1:]))  # the first one is done
    budget = ("--words", "--budget", "3", "-o", "-")
    lines = command("rank", "-m", tmp_path / "small.npz", tmp_path / "some.conllu", *budget).out
    assert 0 < lines.count("1\t") <= 3


def test_a_treebank_without_gaps_is_told(command, tmp_path):
    small_parser("tree").save(tmp_path / "small.npz")
    arb.treebank.write(treebank(), tmp_path / "whole.conllu")
    for more in ((), ("--words",), ("-o", tmp_path / "next")):
        said = command("rank", "-m", tmp_path / "small.npz", tmp_path / "whole.conllu", *more)
        assert (said.status, said.out) == (0, "")
        assert said.err == "no head is missing (_ in HEAD), so there is nothing to rank\n"


def test_by_probabilities_that_are_written(command, tmp_path):
    sentence = arb.treebank.Sentence.from_words(
        ["Trees", "grow", "here"],
        heads=[2, 0, 2],
        misc=["EdgeProb=0.9|RelationProb=0.5", "EdgeProb=0.2|RelationProb=1|Corrected=Yes",
              "EdgeProb=0.7|RelationProb=1"],
    )  # fmt: skip
    sure = sentence.replace(misc=["EdgeProb=1"] * 3)
    arb.treebank.write([sure, sentence], tmp_path / "some.conllu")
    given = ("rank", "--written", tmp_path / "some.conllu")
    lines = [json.loads(line) for line in command(*given, "--words", "--json").out.splitlines()]
    assert [(each["word"], each["head"], round(each["value"], 2)) for each in lines] == [
        (1, 2, 0.55), (3, 2, 0.3),
    ]  # fmt: skip
    assert command(*given, "-o", "-").out == str(sentence) + str(sure)
    arb.treebank.write([sentence.replace(misc=None)], tmp_path / "some.conllu")
    assert "word 1 has no probability EdgeProb=" in command(*given).complaint()
