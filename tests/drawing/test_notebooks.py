"""What draws itself in a notebook."""

import numpy as np

import arborescence as arb
from arborescence.rules import Alternative, Edges
from arborescence.treebank import Sentence
from arborescence.treebank.conllu import Ranked, read_kbest, write_kbest

WORDS = Sentence.from_words(["Trees", "grow"])
TREE = WORDS.replace(heads=[-1, 2, 0], deprels=["nsubj", "root"])


def test_a_sentence():
    assert TREE._repr_svg_() == arb.drawing.draw_svg(TREE)
    assert WORDS._repr_svg_() is None  # so that its `repr` is shown


def test_a_list_of_the_k_best(tmp_path):
    other = WORDS.replace(heads=[-1, 0, 1], deprels=["root", "obj"])
    write_kbest([[(TREE, 7.5), (other, -2)]], tmp_path / "kbest.conllu")
    [analyses] = read_kbest(tmp_path / "kbest.conllu")
    assert isinstance(analyses, Ranked)
    picture = analyses._repr_svg_()
    assert picture.count(">Trees<") == picture.count(">grow<") == 2
    assert "1. weight 7.5" in picture
    assert "2. weight -2" in picture


def test_steps():
    scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    steps = arb.explain(scores, words=["<Trees>", "grow"])
    drawn = steps._repr_html_()
    assert drawn.count("<li>") == len(steps)
    assert drawn.count("<svg") == 1
    assert "<Trees>" not in drawn
    assert "&lt;Trees&gt;" in drawn


def test_steps_of_a_search():
    def conflicts(heads, labels):
        return [[Alternative(forbid=[Edges(0, 1)])]] if heads[1] == 0 else []

    steps = arb.explaining.explain_constrained(np.zeros((3, 3, 2)), conflicts)
    assert steps._repr_html_().count("<li>") == len(steps)
    assert type(steps)()._repr_html_() == "<ol>\n</ol>\n"
