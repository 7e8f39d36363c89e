"""`arborescence explain` with models; all else is in transcripts."""

import json
import re
from io import BytesIO
from pathlib import Path

import arborescence as arb

ROOT = Path(__file__).parents[2]


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


def test_a_model_of_ones_own(command, tmp_path):
    from arborescence.parsers import LinearParser
    from arborescence.treebank import read

    lines = (
        "1\tOiseaux\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tchantent\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    [birds] = read(BytesIO(lines.encode()))
    model = tmp_path / "own.model"
    LinearParser.train([birds] * 3, epochs=1, bits=10).save(model)
    out = command("explain", "-m", model, "--sentence", "Oiseaux chantent", "--json").out
    assert json.loads(out)["words"] == ["root", "Oiseaux", "chantent"]
