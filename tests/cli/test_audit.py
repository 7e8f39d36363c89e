"""`audit`: the words whose annotation should be checked."""

import json

import arborescence as arb
from samples import treebank


def test_lines_json_and_a_page(command, tmp_path):
    arb.treebank.write(treebank(), tmp_path / "gold.conllu")
    given = ("audit", tmp_path / "gold.conllu", "--folds", "2", "--budget", "3")
    lines = command(*given).out.splitlines()
    entries = [json.loads(line) for line in command(*given, "--json").out.splitlines()]
    assert len(lines) == len(entries) == 3
    for line, entry in zip(lines, entries, strict=True):
        assert line.startswith(f"{entry['value']:.2f}  {entry['source']}:{entry['line']}  ")
        words = entry["sentence"]["words"]
        assert f"{words[entry['word'] - 1]} ({entry['word']}): " in line
        assert len(entry["proposed"]["heads"]) == len(words)
    page = tmp_path / "audit.html"
    command(*given, "-o", page)
    assert page.read_text(encoding="utf-8").count("<svg") == 3


def test_it_says_what_it_does(command, tmp_path):
    arb.treebank.write(treebank(), tmp_path / "gold.conllu")
    given = ("audit", tmp_path / "gold.conllu", "--folds", "3", "--budget", "2")
    said = command(*given, "-o", tmp_path / "audit.html")
    *folds, whole, last = said.err.splitlines()
    for number, line in enumerate(folds, 1):
        assert f"judging: fold {number} of 3, by a parser that learns from the others" in line
    assert len(folds) == 3
    assert whole.endswith("judging: all 7 sentences")
    assert last == f"2 words to check, in {tmp_path / 'audit.html'}"
    assert command(*given, "-o", tmp_path / "audit.html", "--quiet").err == ""
