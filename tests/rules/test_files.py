import re
from dataclasses import replace

import pytest

import arborescence as arb
from arborescence.rules import kinds, ud
from arborescence.rules.sets import rules_of
from effort import few_calls

ALL_KINDS = """
include = "ud"
without = ["leaf-det", "goeswith-gap"]

[[rule]]
name = "one-object"
at_most_one = ["obj", "iobj"]
but = ["obj:x"]
but_misc = "Second=Yes"

[[rule]]
name = "a"
labels = ["det"]
tags = ["DET"]
[[rule]]
name = "b"
labels = ["case"]
not_tags = ["NOUN"]
[[rule]]
name = "c"
tagged = ["PUNCT"]
labels = ["punct"]
[[rule]]
name = "d"
right = ["conj"]
[[rule]]
name = "e"
left = ["det"]
[[rule]]
name = "f"
leaves = ["cc"]
allowed = ["conj"]
negation = true
[[rule]]
name = "g"
contiguous = ["fixed"]
[[rule]]
name = "h"
spaced = ["goeswith"]
[[rule]]
name = "i"
projective = ["punct"]
[[rule]]
name = "j"
crosses_nothing = ["punct"]
[[rule]]
name = "k"
of_root = ["root"]
[[rule]]
name = "l"
only_of_root = ["root"]
cost = 2
[[rule]]
name = "m"
not_tags = ["NOUN"]
labels = ["mark"]
cost = 0.5
"""


def written(folder, text):
    path = folder / "rules.toml"
    path.write_text(text, "utf-8")
    return path


def test_all_kinds(tmp_path):
    rules = rules_of(written(tmp_path, ALL_KINDS))
    included = [rule for rule in ud.RULES if rule.name not in ("leaf-det", "goeswith-gap")]
    assert list(rules[: len(included)]) == included
    assert rules[len(included) :] == (
        kinds.AtMostOne("one-object", ("obj", "iobj"), but=("obj:x",), but_misc="Second=Yes"),
        kinds.LabelTags("a", ("det",), ("DET",)),
        kinds.LabelTags("b", ("case",), ("NOUN",), refused=True),
        kinds.TagLabels("c", ("PUNCT",), ("punct",)),
        kinds.Direction("d", ("conj",)),
        kinds.Direction("e", ("det",), right=False),
        kinds.Dependents("f", ("cc",), ("conj",), negation=True),
        kinds.Contiguous("g", ("fixed",)),
        kinds.Spaced("h", ("goeswith",)),
        kinds.Projective("i", ("punct",), causes=False),
        kinds.Projective("j", ("punct",), causes=True),
        kinds.RootLabel("k", "root", of_root=True),
        kinds.RootLabel("l", "root", of_root=False, cost=2.0),
        kinds.LabelTags("m", ("mark",), ("NOUN",), refused=True, cost=0.5),
    )


def test_costs_of_included_rules(tmp_path):
    text = 'include = "ud"\nwithout = ["leaf-det"]\n[costs]\ntoo-many-subjects = 2.5\nleaf-cc = 1'
    costs = {"too-many-subjects": 2.5, "leaf-cc": 1.0}
    assert rules_of(written(tmp_path, text)) == tuple(
        replace(rule, cost=costs.get(rule.name)) for rule in ud.RULES if rule.name != "leaf-det"
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('include = "sud"', 1, "include: must be 'ud'"),
        ('\nwithout = ["x"]', 2, "without: names 'x', which is no included rule"),
        ('include = "ud"\n\nwithot = ["x"]', 3, "withot: is unknown"),
        ("rule = 3", 1, "rule: must be tables"),
        ('include = "ud"\ncosts = 2', 2, "costs: must be a table of rules' names and numbers"),
        ('include = "ud"\n\n[costs]\nleaf-dt = 2', 4, "leaf-dt: is no included rule, so it"),
        ("[costs]\nleaf-det = 2", 2, "leaf-det: is no included rule"),
        ('include = "ud"\n[costs]\n\nleaf-det = 0', 4, "leaf-det: must be a positive number, not"),
        ('include = "ud"\n\ncosts = { leaf-cc = 1, leaf-det = "x" }', 3, "leaf-det: must be a pos"),
        ('include = "ud"\ncosts.leaf-cc = 1\ncosts.leaf-det = true', 3, "leaf-det: must be a pos"),
        (
            'include = "ud"\nwithout = ["leaf-cc"]\n[costs]\nleaf-cc = 2',
            4,
            "leaf-cc: is no included rule",
        ),
        ('[[rule]]\nname = "a"', 1, "rule: the keys are name; one must tell the kind of rule: at_"),
        ('[[rule]]\nname = "a"\nat_mst_one = ["x"]', 1, "rule: the keys are name, at_mst_one; one"),
        (
            '[[rule]]\nname = "a"\nright = ["x"]\nleft = ["x"]',
            4,
            "left: the keys are name, right, left; one ",
        ),
        ('[[rule]]\nright = ["x"]', 2, "right: needs the key name, too"),
        ('[[rule]]\nname = "a"\ntags = ["X"]', 3, "tags: needs the key labels, too"),
        ('[[rule]]\nname = "a"\nright = "conj"', 3, "right: must be a list of strings"),
        ('[[rule]]\nname = "a"\nright = [1]', 3, "right: must be a list of strings"),
        ('[[rule]]\nname = 7\nright = ["x"]', 2, "name: must be a string"),
        ('[[rule]]\nname = "a"\nleaves = ["x"]\nnegation = "yes"', 4, "negation: must be true or"),
        ('[[rule]]\nname = "a"\nright = ["x"]\nbut = ["y"]', 4, "but: is unknown in a rule with r"),
        ('[[rule]]\nname = "a"\nright = ["x"]\ncost = "2"', 4, "cost: must be a positive number"),
        ('[[rule]]\nname = "a"\nright = ["x"]\ncost = true', 4, "cost: must be a positive number"),
        ('[[rule]]\nname = "a"\nright = ["x"]\ncost = -1', 4, "cost: must be a positive number"),
        ('[[rule]]\nname = "a"\nright = ["x"]\n\ncost = nan', 5, "cost: must be a positive num"),
        ('[[rule]]\nname = "a"\nof_root = ["x", "y"]', 3, "of_root: must have one label"),
        (
            '[[rule]]\nname = "a"\nright = ["x"]\n\n[[rule]]\nname = "b"\nright = []\nbut = ["x"]',
            8,
            "but: is unknown",
        ),
    ],
)
def test_errors_name_the_line_and_the_key(tmp_path, text, line, said):
    path = written(tmp_path, text)
    with pytest.raises(arb.OptionError, match=re.escape(f"{path}:{line}: {said}")):
        rules_of(path)


RULE = '[[rule]]\nname = "a"\nright = ["x"]\ncost = '


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RULE + "1" * 900, "rules.toml:4: cost: must be a positive number, not 1111"),
        (
            RULE + "1" * 5000,
            "rules.toml:4: a line has at most 1000 characters, 100 of them dots: break it",
        ),
        (RULE + "1" + "0" * 400, "rules.toml:4: cost: must be a positive number, not 1000"),
        (RULE + "1e400", "rules.toml:4: cost: must be a positive number, not inf"),
        (RULE + "9" * 100_000, "a file of rules has at most 65536 bytes"),
        ("[" * 60_000, "rules.toml:1: a line has at most 1000 characters"),
        ("a = " + "[\n" * 30_000, "brackets within too many brackets"),
        ("a = " + "[\n" * 30_000 + "]\n" * 1000, "brackets within too many brackets"),
        ("a." * 20_000 + "b = 1", "rules.toml:1: a line has at most 1000 characters"),
        ("".join(f"{'a.' * 95}b{n} = 1\n" for n in range(310)), "rules.toml:1: a: is unknown"),
        ("".join(f"[{'a.' * 95}b{n}]\n" for n in range(310)), "rules.toml:1: a: is unknown"),
        ("rule = " + "[" * 90 + "]" * 90, "rules.toml:1: rule: must be tables"),
        ("include = " + "[" * 90 + "]" * 90, "rules.toml:1: include: must be 'ud'"),
        ("without = " + "[" * 90 + "]" * 90, "without: must be a list of strings that can be"),
        (RULE + "{a = " * 90 + "1" + "}" * 90, "rules.toml:4: cost: must be a positive number"),
        ("".join(f"a{n} = 1\n" for n in range(5000)), "rules.toml:1: a0: is unknown"),
        ("[[rule]]\n" + "".join(f"a{n} = 1\n" for n in range(5000)), "a9, ...; one must tell"),
        ("[[rule]]\n" * 7000, "rules.toml:1: rule: the keys are ; one must tell"),
        ('"a\\nb" = 1', "rules.toml:1: 'a\\nb': is unknown"),
        ('[[rule]]\nname = "a\\nb"\nright = ["x"]', "name: must be a string that can be printed"),
        ('[[rule]]\nname = "a"\nright = ["\\u001b"]', "right: must be a list of strings that can"),
    ],
    ids=range(21),
)
def test_files_of_strangers(tmp_path, text, said):
    """One line, at once, whatever the file has."""
    with few_calls(), pytest.raises(arb.OptionError) as error:
        rules_of(written(tmp_path, text))
    assert said in str(error.value)
    assert len(str(error.value)) < 700
    assert str(error.value).isprintable()


def test_not_toml(tmp_path):
    with pytest.raises(arb.OptionError, match=r"not TOML: .*line 2"):
        rules_of(written(tmp_path, 'include = "ud"\nwithout = \n'))


def test_what_is_no_rule():
    with pytest.raises(arb.OptionError, match="sequence of rules, not 3"):
        rules_of([*ud.RULES, 3])


def test_costs():
    with pytest.raises(arb.OptionError, match="cost must be a positive number, not 0"):
        kinds.Direction("d", ("conj",), cost=0)
    with pytest.raises(arb.OptionError, match="two rules with a cost are named 'd': rename one"):
        rules_of([kinds.Direction("d", (label,), cost=1) for label in ("conj", "flat")])
