"""`arborescence trace`: of treebanks and models, as text, JSON and a web page."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.treebank import Sentence, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

CATS = """\
# system = arc-standard
step           stack  buffer          action     edge         relation
   0            ROOT  Cats see birds  SHIFT
   1       ROOT Cats  see birds       SHIFT
   2   ROOT Cats see  birds           LEFT-ARC   see → Cats   nsubj
   3        ROOT see  birds           SHIFT
   4  ROOT see birds                  RIGHT-ARC  see → birds  obj
   5        ROOT see                  RIGHT-ARC  ROOT → see   root
   6            ROOT

"""


def actions(line: str) -> list[str | None]:
    return [step["action"] for step in json.loads(line)["steps"]]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three trees; the last one has edges that cross."""
    path = tmp_path_factory.mktemp("treebank") / "gold.conllu"
    cats = Sentence.from_words(
        ["Cats", "see", "birds"], upos=["NOUN", "VERB", "NOUN"], heads=[-1, 2, 0, 2],
        deprels=["nsubj", "root", "obj"],
    )  # fmt: skip
    birds = Sentence.from_words(
        ["Birds", "sing"], upos=["NOUN", "VERB"], heads=[-1, 2, 0], deprels=["nsubj", "root"],
        comments=["# sent_id = garden-2", "# text = Birds sing"],
    )  # fmt: skip
    talk = Sentence.from_words(
        ["Talks", "began", "on", "trees"], upos=["NOUN", "VERB", "ADP", "NOUN"],
        heads=[-1, 2, 0, 4, 1], deprels=["nsubj", "root", "case", "nmod"],
        comments=["# sent_id = garden-3"],
    )  # fmt: skip
    write([cats, birds, talk], path)
    return path


def test_a_tree_of_a_treebank(command: Command, gold: Path, tmp_path: Path) -> None:
    result = command("trace", "--treebank", gold)
    assert (result.status, result.out, result.err) == (0, CATS, "")
    table = tmp_path / "table.txt"
    assert command("trace", "--treebank", gold, "-o", table).out == ""
    assert table.read_text(encoding="utf-8") == CATS
    bare = command("trace", "--treebank", "-", "--no-relations", stdin=gold.read_bytes()).out
    edges = [line.split()[-3:] for line in bare.splitlines() if "→" in line]
    assert edges == [["see", "→", "Cats"], ["see", "→", "birds"], ["ROOT", "→", "see"]]


def test_sentences_of_a_treebank_by_place_and_name(command: Command, gold: Path) -> None:
    second = command("trace", "--treebank", gold, "--which", 2, "--system", "arc-eager").out
    assert second.startswith("# sent_id = garden-2\n# text = Birds sing\n# system = arc-eager\n")
    named = ("--treebank", gold, "--which", "garden-2", "--system", "arc-eager")
    assert command("trace", *named).out == second
    every = command("trace", "--treebank", gold, "--which", "all", "--system", "swap").out
    assert every.count("# system = swap\nstep ") == 3
    assert "SWAP" in every
    message = command("trace", "--treebank", gold, "--which", 4).complaint()
    assert f"{gold} has no sentence 4, but 3 others" in message
    message = command("trace", "--treebank", gold, "--which", "hedge-1").complaint()
    assert "no sentence with the sent_id 'hedge-1'" in message


def test_crossing_edges_need_swap(command: Command, gold: Path) -> None:
    message = command("trace", "--treebank", gold, "--which", 3).complaint()
    assert f"{gold}:" in message
    assert "edges of the tree cross" in message
    assert "system swap" in message


def test_json(command: Command, gold: Path, tmp_path: Path) -> None:
    result = command("trace", "--treebank", gold, "--which", 2, "--json")
    described = json.loads(result.out)
    lines = tmp_path / "steps.json"
    command("trace", "--treebank", gold, "--which", 2, "-o", lines)
    assert lines.read_text(encoding="utf-8") == result.out
    states = [(step["stack"], step["buffer"]) for step in described["steps"]]
    edges = [(step["edge"], step["deprel"]) for step in described["steps"]]
    assert described["words"] == ["Birds", "sing"]
    assert described["system"] == "arc-standard"
    assert actions(result.out) == ["SHIFT", "SHIFT", "LEFT-ARC", "RIGHT-ARC", None]
    assert states == [([0], [1, 2]), ([0, 1], [2]), ([0, 1, 2], []), ([0, 2], []), ([0], [])]
    assert edges[2:] == [([2, 1], "nsubj"), ([0, 2], "root"), (None, None)]


def test_a_web_page(command: Command, gold: Path, tmp_path: Path) -> None:
    page = tmp_path / "derivations.html"
    arguments = ("--treebank", gold, "--which", "all", "--system", "swap", "-o", page)
    result = command("trace", *arguments)
    assert (result.status, result.out, result.err) == (0, "", "")
    assert page.read_text().count("<table>") == 3
    page.write_text("as before")
    command("trace", "--treebank", gold, "--which", "all", "-o", page).complaint()
    assert page.read_text() == "as before"


def test_lines_fit_the_terminal(
    command: Command, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    colored = command("trace", "--treebank", gold).out
    assert "\033[" in colored
    assert "…" in colored
    monkeypatch.setenv("NO_COLOR", "1")
    bare = command("trace", "--treebank", gold).out
    assert "\033[" not in bare
    assert max(map(len, bare.splitlines())) <= 60


def test_a_transition_based_model_shows_what_it_does(
    command: Command, gold: Path, tmp_path: Path
) -> None:
    from arborescence.parsers import TransitionParser
    from arborescence.treebank import read

    birds = list(read(gold))[:2]
    parser = TransitionParser.train(birds * 3, system="arc-eager", epochs=2, bits=10)
    model = tmp_path / "eager.model"
    parser.save(model)
    own = command("trace", "-m", model, "--sentence", "Birds see cats")
    assert own.out.startswith("# system = arc-eager\n")
    [line] = command("trace", "-m", model, "--json", stdin="Birds see cats\n").out.splitlines()
    words = Sentence.from_words(["Birds", "see", "cats"])
    assert actions(line) == [*(step.action for step in parser.derivation(words)), None]
    other = command("trace", "-m", model, "--sentence", "Birds see cats", "--system", "swap")
    assert other.out.startswith("# system = swap\n")
    again = command("trace", "-m", model, "--treebank", gold, "--which", 2, "--json").out
    assert actions(again) == ["SHIFT", "LEFT-ARC", "SHIFT", "LEFT-ARC", None]


def test_the_tree_of_a_graph_based_model(command: Command) -> None:
    """The built-in model: what it finds is derived by the oracle of the system."""
    sentence = ("--sentence", "we vigorously wash our cats who stink")
    table = command("trace", "--format", "tokens", *sentence).out
    assert table.startswith("# system = arc-standard\nstep ")
    *_, last, end = table.split("\n\n")[0].splitlines()
    assert last.split()[-5:] == ["RIGHT-ARC", "ROOT", "→", "wash", "root"]
    assert end.split() == ["14", "ROOT"]
    lines = "Birds sing .\nCats see birds ."
    both = command("trace", "--system", "arc-hybrid", stdin=lines).out
    assert both.count("# system = arc-hybrid\nstep ") == 2
    second = command("trace", "--system", "arc-hybrid", "--which", 2, stdin=lines).out
    assert second.startswith("# system = arc-hybrid\nstep ")
    assert both.endswith(f"\n\n{second}")


def test_raw_text(command: Command) -> None:
    result = command("trace", "--sentence", "Birds sing. Cats see birds!")
    assert "# text = Birds sing.\n" in result.out
    assert "ROOT  Cats see birds !  SHIFT" in result.out


def test_what_does_not_go_together(command: Command, gold: Path) -> None:
    pages = ("-o", gold.with_name("page.html"), "--json")
    assert "a web page is no JSON" in command("trace", "--treebank", gold, *pages).complaint(2)
    assert "not both" in command("trace", "--treebank", gold, "--sentence", "Birds").complaint(2)
    word = b"na\xefve".decode(errors="surrogateescape")
    message = command("trace", "--sentence", word).complaint()
    assert "byte 0xef is not UTF-8" in message
