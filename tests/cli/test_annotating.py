"""The page's way from some annotated sentences to more: its commands run, on such a treebank."""

import re
import shlex
from pathlib import Path

import pytest

import arborescence as arb
from samples import treebank

PAGE = Path(__file__).parents[2] / "docs" / "confidence.md"


@pytest.mark.long
def test_from_50_sentences_to_500(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gold = treebank() * 10
    begun = [
        one if place < 10 else one.replace(heads=None, deprels=None)
        for place, one in enumerate(gold)
    ]
    text = PAGE.read_text(encoding="utf-8").split("## From 50 sentences to 500")[1]
    first, second, third, *_ = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)

    def run(lines):
        for line in lines.splitlines():
            _, _, *words = shlex.split(line)
            done = command(*words)
            assert done.status == 0, done

    arb.treebank.write(begun, "treebank.conllu")
    arb.treebank.write(treebank(), "dev.conllu")
    run(first)
    asked, draft = (list(arb.treebank.read(f"{name}.conllu")) for name in ("next", "draft"))
    assert {one.forms[0] for one in asked} <= {one.forms[0] for one in gold}
    assert all((one.heads < 0).all() for one in asked)
    for before, after in zip(asked, draft, strict=True):
        assert arb.is_tree(after.tree)
        assert "EdgeProb=" in after.misc[0]
        assert before.forms == after.forms
    wrong = gold[0].replace(deprels=["amod", "det", *gold[0].deprels[2:]])
    arb.treebank.write([wrong, *gold[1:60], *begun[60:]], "treebank.conllu")
    run(second)
    assert arb.load("next.model").labels == arb.load("my.model").labels
    run(third)
    assert "the (1): amod" in Path("audit.html").read_text(encoding="utf-8")


def test_all_other_bytes_stay(command, tmp_path):
    """Comments, MISC, tokens of several words and empty nodes, of sentences that are completed."""
    from small_parsers import small_parser

    small_parser("linear").save(tmp_path / "small.npz")
    text = (
        "# sent_id =  odd \n#no space\n# text = Birds  sing.\n"
        "1-2\tBirdssing\t_\t_\t_\t_\t_\t_\t_\tA=é|b\n"
        "1\tBirds\tbird\tNOUN\tX\tNumber=Plur\t{}\t{}\t2:nsubj\tGloss=Vögel|z=1|A=2\n"
        "1.1\tdo\tdo\tAUX\tX\t_\t_\t_\t2:aux\tCopyOf=9\n"
        "2\tsing\tsing\tVERB\tX\t_\t0\troot\t0:root\tSpaceAfter=No\n\n"
    )
    (tmp_path / "half.conllu").write_bytes(text.format("_", "_").encode())
    command("parse", "-m", tmp_path / "small.npz", "--keep", tmp_path / "half.conllu", "-o",
            tmp_path / "whole.conllu")  # fmt: skip
    [deprel] = next(arb.treebank.read(tmp_path / "whole.conllu")).deprels[:1]
    assert (tmp_path / "whole.conllu").read_bytes() == text.format("2", deprel).encode()
