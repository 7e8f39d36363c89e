"""`arborescence parse --rules`."""

import pytest

from arborescence.treebank import read, validate
from arborescence.treebank.conllu import read_kbest
from lessons import BIRDS, CATS, write_lessons

RULES = '[[rule]]\nname = "objects-are-verbs"\nlabels = ["obj"]\ntags = ["VERB"]\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from arborescence.cli import run

    folder = tmp_path_factory.mktemp("rules")
    lessons = write_lessons(folder, BIRDS, CATS)
    options = ["--epochs", "3", "--bits", "12", "--no-tagger"]
    model = str(folder / "lessons.model")
    assert run(["train", "linear", str(lessons), "--dev", str(lessons), "-o", model, *options]) == 0
    (folder / "rules.toml").write_text(RULES)
    return folder


def parse(command, folder, *options, rules):
    model, lessons = folder / "lessons.model", folder / "lessons.conllu"
    return command(
        "parse", "-m", model, lessons, "-o", folder / "out.conllu", "--rules", rules, *options
    )


def test_trees_keep_the_rules_of_a_file(command, folder):
    rules = folder / "rules.toml"
    result = parse(command, folder, rules=rules)
    assert result.status == 0
    assert result.err.splitlines()[-1] == (
        "5 of 10 sentences changed, 5 certified to have the best trees that keep the rules; "
        "20 trees decoded"
    )
    parsed = list(read(folder / "out.conllu"))
    assert len(list(validate(folder / "lessons.conllu", rules))) == 5
    assert not list(validate(parsed, rules))
    assert parse(command, folder, "--quiet", rules=rules).err == ""


def test_rules_of_ud_and_none(command, folder):
    result = parse(command, folder, rules="ud")
    assert "0 of 10 sentences changed, 0 certified" in result.err
    with_rules = (folder / "out.conllu").read_bytes()
    result = parse(command, folder, rules="none")
    assert "sentences changed" not in result.err
    assert (folder / "out.conllu").read_bytes() == with_rules


def test_with_the_k_best_trees_and_probabilities(command, folder):
    rules = folder / "rules.toml"
    result = parse(command, folder, "--kbest", 3, "--confidence", rules=rules)
    assert "5 of 10 sentences changed" in result.err
    lists = [[tree for tree, _ in trees] for trees in read_kbest(folder / "out.conllu")]
    assert [len(trees) for trees in lists] == [3] * 10
    assert not list(validate((tree for trees in lists for tree in trees), rules))
    assert all("EdgeProb=" in trees[0].misc[0] for trees in lists)


@pytest.mark.races
def test_in_several_processes(command, folder, tmp_path):
    rules, lessons = folder / "rules.toml", (folder / "lessons.conllu").read_bytes()
    alone = parse(command, folder, rules=rules)
    (tmp_path / "in").mkdir()
    for name in ("one.conllu", "two.conllu"):
        (tmp_path / "in" / name).write_bytes(lessons)
    result = command(
        "parse", "--shards", tmp_path / "in", tmp_path / "out", "-m", folder / "lessons.model",
        "--rules", rules, "--workers", 2,
    )  # fmt: skip
    assert result.status == 0, result.err
    for name in ("one.conllu", "two.conllu"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / "out.conllu").read_bytes()
    assert alone.err.splitlines()[-1].startswith("5 of 10 sentences changed, 5 certified")
    assert result.err.splitlines()[-1].startswith("10 of 20 sentences changed, 10 certified")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rules", "no/such.toml"), "no/such.toml"),
        (("--rules", "no/such.toml", "--shards"), "no/such.toml"),
    ],
)
def test_errors(command, folder, options, message):
    result = command("parse", "-m", folder / "lessons.model", folder, folder / "to", *options)
    assert result.status != 0
    assert message in result.err


def test_a_broken_file_of_rules(command, folder):
    path = folder / "broken.toml"
    path.write_text('[[rule]]\nname = "x"\nat_most = ["obj"]\n')
    result = parse(command, folder, rules=path)
    assert result.status == 2
    assert f"{path}:" in result.err
