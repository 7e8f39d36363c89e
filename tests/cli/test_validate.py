import json

from arborescence.treebank import Sentence

GOOD = Sentence.from_words(
    ["She", "saw", "him"],
    upos=["PRON", "VERB", "PRON"],
    heads=[-1, 2, 0, 2],
    deprels=["nsubj", "root", "obj"],
)
BAD = Sentence.from_words(
    ["She", "he", "sang"],
    upos=["PRON", "PRON", "VERB"],
    heads=[-1, 3, 3, 0],
    deprels=["nsubj", "nsubj:pass", "root"],
    comments=["# sent_id = two"],
)
NO_TREE = Sentence.from_words(["One", "two"], heads=[-1, 2, 1], deprels=["x", "y"])


def test_a_line_for_a_broken_rule(command, tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_bytes(bytes(GOOD) + bytes(BAD) + bytes(NO_TREE))
    result = command("validate", path)
    assert result.status == 1
    subjects = "nsubj 3:sang → 1:She, nsubj:pass 3:sang → 2:he"
    assert result.out.splitlines() == [
        f"{path}:8: too-many-subjects: sentence two, word 3: {subjects}",
        f"{path}:10: non-tree: sentence 3: the heads are no tree with one root edge",
    ]
    assert result.err == "2 broken rules: too-many-subjects 1, non-tree 1\n"


def test_json(command):
    result = command("validate", "--json", "--quiet", stdin=bytes(BAD))
    assert result.status == 1
    assert result.err == ""
    assert json.loads(result.out) == {
        "rule": "too-many-subjects",
        "source": "<stdin>",
        "line": 4,
        "sentence": "two",
        "word": 3,
        "edges": [[3, "sang", 1, "She", "nsubj"], [3, "sang", 2, "he", "nsubj:pass"]],
        "cost": None,
    }


def test_nothing_is_wrong(command):
    result = command("validate", stdin=bytes(GOOD))
    assert result.status == 0
    assert result.out == ""
    assert result.err == "no broken rules\n"


def test_rules_of_a_file(command, tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nname = "left"\nleft = ["obj"]\n')
    result = command("validate", "--rules", path, stdin=bytes(GOOD))
    assert "left: sentence 1, word 3: obj 2:saw → 3:him" in result.out
    path.write_text("[[rule]]\nname = 3\n")
    assert f"{path}:1: rule" in command("validate", "--rules", path, stdin=bytes(GOOD)).complaint()
    assert "No such file" in command("validate", "--rules", tmp_path / "x", stdin=b"").complaint()


def test_rules_that_cost_are_warnings(command, tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nname = "left"\nleft = ["obj"]\ncost = 2\n')
    result = command("validate", "--rules", path, stdin=bytes(GOOD))
    assert (result.status, result.err) == (0, "1 broken rules: left 1\n")
    assert "<stdin>:3: warning: left: sentence 1, word 3: obj 2:saw → 3:him" in result.out
    path.write_text(path.read_text() + '[[rule]]\nname = "right"\nright = ["nsubj"]\n')
    assert command("validate", "--rules", path, stdin=bytes(GOOD)).status == 1
