"""`audit`: the words whose annotation should be checked."""

import json
import re
from html import unescape

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
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 6
    changes = [json.loads(unescape(each)) for each in re.findall('data-change="(.*?)"', text)]
    assert len(changes) == 3

    decisions, corrected = tmp_path / "decisions.jsonl", tmp_path / "corrected.conllu"
    decisions.write_text(json.dumps({"decision": "accept", **changes[0]}), encoding="utf-8")
    command("audit", "--apply", decisions, tmp_path / "gold.conllu", "-o", corrected)
    lines = zip(
        (tmp_path / "gold.conllu").read_text("utf-8").splitlines(),
        corrected.read_text("utf-8").splitlines(),
        strict=True,
    )
    different = [line.split("\t")[0] for line, other in lines if line != other]
    assert different == [str(each["word"]) for each in changes[0]["changes"]]


def test_what_is_written_where(command, tmp_path):
    arb.treebank.write(treebank(), tmp_path / "gold.conllu")
    (tmp_path / "d.jsonl").write_text("", encoding="utf-8")
    given = tmp_path / "gold.conllu"
    said = command("audit", given, "-o", tmp_path / "x.conllu").complaint(2)
    assert "another kind of file" in said
    asked = ("audit", given, "--apply", tmp_path / "d.jsonl")
    assert "another kind of file" in command(*asked, "-o", tmp_path / "x.html").complaint(2)
    assert command(*asked).out == given.read_text("utf-8")
    (tmp_path / "d.jsonl").write_text("{}", encoding="utf-8")
    assert (
        "d.jsonl:1: not a line of the file"
        in command(*asked, "-o", tmp_path / "x.conllu").complaint()
    )
    assert not (tmp_path / "x.conllu").exists()


def test_it_says_what_it_does(command, tmp_path):
    arb.treebank.write(treebank(), tmp_path / "gold.conllu")
    given = ("audit", tmp_path / "gold.conllu", "--folds", "3", "--budget", "2")
    said = command(*given, "-o", tmp_path / "audit.html")
    *folds, whole, last = said.err.splitlines()
    for number, line in enumerate(folds, 1):
        assert f"judging: fold {number} of 3, by a parser that learns from the other folds" in line
    assert len(folds) == 3
    assert whole.endswith("judging: all 7 sentences")
    assert last == f"2 words to check, in {tmp_path / 'audit.html'}"
    assert command(*given, "-o", tmp_path / "audit.html", "--quiet").err == ""
