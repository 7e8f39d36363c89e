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
