"""`arborescence explain` with models; all else is in transcripts."""

import json
import re
from io import BytesIO
from pathlib import Path

import arborescence as arb

ROOT = Path(__file__).parents[2]

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
