"""`evaluate`: what is printed beside the scores, and the page of wrong sentences."""

import json

import pytest

from arborescence.treebank import Sentence, evaluate, write

GOLD = Sentence.from_words(
    ["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"], heads=[2, 3, 0],
    deprels=["amod", "nsubj", "root"],
)  # fmt: skip
WRONG = GOLD.replace(deprels=["amod", "obj", "root"], upos=["ADJ", "ADJ", "VERB"])


@pytest.fixture
def files(tmp_path):
    write([GOLD] * 20, tmp_path / "gold.conllu")
    write([WRONG] * 20, tmp_path / "parsed.conllu")
    write([GOLD] * 15 + [WRONG] * 5, tmp_path / "other.conllu")
    return [tmp_path / f"{name}.conllu" for name in ("gold", "parsed", "other")]


def test_scores_and_what_is_asked_for(command, files):
    gold, parsed, other = files
    plain = command("evaluate", gold, parsed).out
    assert plain == f"{evaluate(gold, parsed, details=True)}\n"
    more = command(
        "evaluate", gold, parsed, "--against", other, "--intervals", "--confusions"
    ).out.removeprefix(plain)
    blocks = [block.splitlines() for block in more.strip().split("\n\n")]
    intervals, differences, relations, tags = blocks
    assert intervals[2].split() == ["LAS", "66.67", "66.67"]
    name, value, low, high, p = differences[2].split()
    assert (name, value) == ("LAS", "-25.00")
    assert float(low) < -25 < float(high) < 0
    assert 0 < float(p) < 0.01
    assert relations[1].split() == ["20", "nsubj", "obj"]
    assert tags[1].split() == ["20", "NOUN", "ADJ"]


def test_json(command, files):
    gold, parsed, other = files
    asked = ["--against", other, "--intervals", "--confusions", "--json"]
    found = json.loads(command("evaluate", gold, parsed, *asked).out)
    assert found["confusions"]["relations"] == [["nsubj", "obj", 20]]
    assert found["intervals"]["uas"] == [1, 1]
    assert found["differences"]["las"]["value"] == pytest.approx(-0.25)
    assert "confusions" not in json.loads(command("evaluate", gold, parsed, "--json").out)


def test_a_page_of_wrong_sentences(command, files, tmp_path):
    gold, _, other = files
    page = tmp_path / "errors.html"
    out = command("evaluate", gold, other, "--errors", "-o", page).out
    assert out == command("evaluate", gold, other).out
    assert page.read_text("utf-8").count('class="item"') == 5
    piped = command("evaluate", gold, "-", "--errors", "-o", page, stdin=other.read_bytes())
    assert piped.out == out
    assert page.read_text("utf-8").count('class="item"') == 5
