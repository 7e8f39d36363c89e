"""`arborescence explain`: scores and sentences; as text, JSON and a page; sheets of exercises."""

import json
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import arborescence as arb

ROOT = Path(__file__).parents[2]
SCORES = "root,Birds,sing\n0,9,8\n0,0,2\n,4,\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def test_text(command, table, tmp_path):
    out = command("explain", table).out
    lines = out.splitlines()
    assert lines[0] == "1. [greedy] Each word takes its best head: this is the greedy graph."
    assert lines[-4] == "6. [tree] This is the best tree, of weight 12."
    assert lines[-1].split() == ["sing", "root", "→", "sing", "8"]
    assert command("explain", table, "-o", tmp_path / "steps").out == ""
    assert (tmp_path / "steps").read_text(encoding="utf-8") == out


def test_json(command, table, tmp_path):
    [line] = command("explain", table, "--json", "--algorithm", "kbest", "-k", 2).out.splitlines()
    made = json.loads(line)
    assert made["words"] == ["root", "Birds", "sing"]
    assert made["steps"][-1]["detail"]["weights"] == [12, 11]
    steps = tmp_path / "steps.json"
    done = command("explain", table, "-o", steps, "--algorithm", "kbest", "-k", 2)
    assert (done.out, steps.read_text(encoding="utf-8")) == ("", f"{line}\n")
    path = tmp_path / "scores.npy"
    np.save(path, np.array([[0, 9, 8], [0, 0, 2], [0, 4, 0]]))
    other = json.loads(command("explain", path, "--json", "--algorithm", "kbest", "-k", 2).out)
    assert other["words"] == ["root", "1", "2"]
    assert other["steps"][-1]["heads"] == made["steps"][-1]["heads"]


def test_the_search_for_a_tree_with_demands(command, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text(",5,4\n,,3\n,2,\n")
    shown = command("explain", file, "--require", "2:1", "--forbid", "1:2").out
    assert "[demands] All trees are without 1 → 2 and with 2 → 1" in shown
    assert "So this is the best tree that keeps the rules: it weighs 6, certified" in shown
    wrong = command("explain", file, "--require", "2:1", "--algorithm", "kbest", "-k", 2)
    assert wrong.status
    assert "go with no --algorithm or -k" in wrong.err
    sentence = ("explain", "-m", "english-fast", "--sentence", "Birds sing", "--rules", "ud")
    assert "with root → Birds" in command(*sentence, "--require", "0:1").out


def test_the_search_for_a_tree_that_keeps_rules(command, tmp_path):
    given = ("explain", "--sentence", "the letters she sent her friends were lost", "--rules")
    out = command(*given, "ud").out
    assert out.startswith("1. [first-tree] The best tree of all weighs ")
    assert "[tree] No part" in out
    [*_, last] = json.loads(command(*given, "ud", "--json").out)["steps"]
    assert last["kind"] == "tree"
    command(*given, "ud", "-o", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<svg") >= 3
    assert "with no --algorithm or -k" in command(*given, "ud", "-k", "3").complaint(2)
    (tmp_path / "own.toml").write_text('[[rule]]\nname = "x"\nat_most_one = 3\n')
    assert "at_most_one" in command(*given, str(tmp_path / "own.toml")).complaint(2)


def test_a_sentence(command):
    out = command("explain", "--sentence", "we wash our cats", "--algorithm", "transitions").out
    first, headings, row, *_ = out.splitlines()
    assert first == "1. [start] The stack has the root, and the buffer all words."
    assert headings.split() == ["stack", "buffer", "actions"]
    assert row.split() == ["root", "we", "wash", "our", "cats"]
    assert "the edge root → wash joins" in out


#: README's sentence for teachers.
TAUGHT = re.search(
    r'arborescence explain -m (\S+) --sentence "(.*?)" -o', (ROOT / "README.md").read_text("utf-8")
)


def test_the_sentence_for_teachers_has_a_cycle_and_a_root_decision(command):
    model, sentence = TAUGHT.groups()
    [line] = command("explain", "-m", model, "--sentence", sentence, "--json").out.splitlines()
    made = json.loads(line)
    kinds = [step["kind"] for step in made["steps"]]
    assert {"cycle", "contract", "reduction", "other-heads", "optimization", "expand"} <= set(kinds)
    [parsed] = arb.load(model).parse([sentence.split()])
    assert made["steps"][-1]["heads"] == [-1, *parsed.heads]


def test_a_model_and_raw_text(command, tmp_path):
    from arborescence.parsers import LinearParser, TransitionParser
    from arborescence.treebank import read

    lines = (
        "1\tOiseaux\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tchantent\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    [birds] = read(BytesIO(lines.encode()))
    model = tmp_path / "own.model"
    LinearParser.train([birds] * 3, epochs=1, bits=10).save(model)
    out = command("explain", "-m", model, "--sentence", "Oiseaux chantent", "--json").out
    assert json.loads(out)["words"] == ["root", "Oiseaux", "chantent"]
    two = ("--sentence", "Birds sing.\nCats sing.")
    assert "has 2 sentences, but explain needs one" in command("explain", *two).complaint()
    raw = command("explain", "--format", "text", "--sentence", "Birds don't sing.", "--json").out
    assert json.loads(raw)["words"] == ["root", "Birds", "do", "n't", "sing", "."]
    TransitionParser.train([birds] * 3, epochs=1, bits=10).save(model)
    said = command("explain", "-m", model, "--sentence", "Oiseaux chantent").complaint()
    assert "own.model: this model has no scores of edges" in said
    assert "are for --sentence" in command("explain", "-m", model, "scores.csv").complaint(2)


@pytest.mark.parametrize(
    "content",
    [
        "root,Birds,sing\n0,9,8\n0,0,2\n,4,\n",
        "root,0,9,8\nBirds,0,0,2\nsing,,4,\n",
        ",root,Birds,sing\nroot,0,9,8\nBirds,0,0,2\nsing,,4,\n",
        "\ufeff,root, Birds,sing\n\nroot,0,9,8\nBirds ,0,0,2\nsing,,4,\n",
    ],
)
def test_names_in_a_line_and_in_a_column(command, tmp_path, content):
    path = tmp_path / "scores.csv"
    path.write_text(content, encoding="utf-8")
    made = json.loads(command("explain", path, "--json").out)
    assert made["words"] == ["root", "Birds", "sing"]
    assert (made["steps"][-1]["heads"], made["steps"][-1]["weight"]) == ([-1, 2, 0], 12)


def test_names_that_are_numbers(command, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(",0,1,2\n0,0,9,8\n1,0,0,2\n2,0,4,0\n")
    assert json.loads(command("explain", path, "--json").out)["steps"][-1]["weight"] == 12
    path.write_text("0,9,8\n0,0,2\n0,4,0\n")
    assert json.loads(command("explain", path, "--json").out)["steps"][-1]["weight"] == 12


def test_a_page(command, table, tmp_path):
    path = tmp_path / "page.html"
    done = command("explain", table, "-o", path, "--algorithm", "kbest", "-k", 2)
    assert done.out == ""
    page = path.read_text(encoding="utf-8")
    assert '"names":["root","Birds","sing"]' in page
    assert '"algorithm":"kbest"' in page


def test_a_sheet(command, tmp_path):
    command("explain", "--exercise", 4, "--seed", 5, "-o", tmp_path / "sheet.html")
    sheet, solutions = (
        (tmp_path / name).read_text(encoding="utf-8")
        for name in ("sheet.html", "sheet-solutions.html")
    )
    for number in range(5, 9):
        assert f"<h2>Exercise {number}</h2>" in sheet
        assert f"<h2>Exercise {number}</h2>" in solutions


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0,1\n0,x\n", "scores.csv:2: could not convert string to float: 'x'; an absent edge"),
        ("0,1\n0\n", "scores.csv:2: 1 cells, and 2 lines in the file: N lines"),
        (",root,a\nroot,0,1\nb,0,0\n", "scores.csv:3: the row is of 'b', and its column of 'a'"),
        ("0,1\n0,0\n0,0\n0,0\n", "scores.csv:1: 2 cells, and 4 lines in the file"),
        ("", "scores.csv: no scores"),
        ("0,nan\n0,0\n", "the edge 0 -> 1, is nan"),
    ],
)
def test_bad_tables(command, tmp_path, content, message):
    path = tmp_path / "scores.csv"
    path.write_text(content)
    assert message in command("explain", path).complaint()


def test_bad_options(command, table):
    assert "give a file of scores, or --sentence" in command("explain").complaint(2)
    assert "k is for" in command("explain", table, "-k", 2).complaint(2)
    assert "root constraint" in command(
        "explain", table, "--algorithm", "chu-liu-edmonds", "--root", "single"
    ).complaint(2)
    page = ("-o", "x.html")
    assert "a web page is no JSON" in command("explain", table, "--json", *page).complaint(2)
    for options in ([], [table, *page], ["--json", *page], ["-o", "-"], ["-o", "x.txt"]):
        said = command("explain", "--exercise", 2, *options).complaint(2)
        assert "--exercise goes with -o FILE.html and --seed" in said
    assert "--seed is for" in command("explain", table, "--seed", 2).complaint(2)
    assert "a sheet has 1 to 100" in command("explain", "--exercise", 101, *page).complaint(2)
