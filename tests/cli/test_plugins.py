"""Commands of other distributions: found, and no harm if they are broken."""

from importlib.metadata import EntryPoint

import pytest

from arborescence.cli import app
from arborescence.parsers import registry

MODULE = """
import typer

app = typer.Typer()


@app.callback()
def birds():
    \"\"\"Do what birds do.\"\"\"


@app.command()
def sing(loud: bool = typer.Option(False, help="As in V -[obj]-> O, or [lemma=cry].")):
    \"\"\"Sing [upos=VERB].\"\"\"
    print("tweet" + "!" * loud)


number = 3
"""


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Add commands by their names and where they are."""
    (tmp_path / "someones_birds.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "leaving_birds.py").write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def add(**places):
        points = [EntryPoint(name, place, app.GROUP) for name, place in places.items()]
        monkeypatch.setattr(app, "entry_points", lambda group: points)

    return add


def test_a_command_is_added(added, command):
    added(birds="someones_birds:app")
    assert " birds " in command("--help").out
    assert command("birds", "sing", "--loud").out == "tweet!\n"
    assert "Sing [upos=VERB]." in command("birds", "--help").out  # no markup of Rich
    assert "V -[obj]-> O, or [lemma=cry]." in command("birds", "sing", "--help").out
    assert "--install-completion" not in command("birds", "--help").out
    assert "'cheep'" in command("cheep").complaint(2)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("nobodys_birds:app", "ModuleNotFoundError: No module named 'nobodys_birds'"),
        ("someones_birds:cats", "AttributeError: "),
        ("someones_birds:number", "AttributeError: "),
        ("leaving_birds:app", "SystemExit: 3"),
    ],
)
def test_a_broken_one_is_left_out(added, command, place, why):
    added(birds=place)
    help_page = command("--help")
    assert (help_page.status, " decode " in help_page.out) == (0, True)
    line, missing = command("birds").err.splitlines()
    assert help_page.err == f"{line}\n"
    assert line.startswith(f"arborescence: the command 'birds' of {place} is left out: {why}")
    assert "No such command" in missing


def test_our_own_commands_come_first(added, command):
    added(decode="nobodys_birds:app")
    assert command("decode", "--help").err == ""


def test_without_the_papers_it_is_said_how_to_get_them(added, command):
    added()
    assert " experiment " not in command("--help").out
    assert "pip install arborescence-papers" in command("experiment", "root").complaint(1)


KIND = '''
from arborescence.parsers.linear.parser import LinearParser
from arborescence.parsers.linear.settings import Settings as OfLinear


class Settings(OfLinear):
    """Options of a parser that attaches words as birds would."""


class BirdParser(LinearParser):
    kind = "birds"
    settings_class = Settings
'''
BIRDS = "1\tBirds\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsing\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


def test_a_kind_of_parsers_is_added(command, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "someones_kinds.py").write_text(KIND, encoding="utf-8")
    places = {"birds": "someones_kinds:BirdParser", "odd": "someones_kinds:Absent"}
    points = [EntryPoint(name, place, registry.KINDS_GROUP) for name, place in places.items()]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    help_page = command("train", "--help")
    assert " birds " in help_page.out
    assert "left out, the kind of parsers odd: someones_kinds:Absent is broken" in help_page.err
    assert "attaches words as birds would" in command("train", "birds", "--help").out
    treebank, model = tmp_path / "train.conllu", tmp_path / "birds.model"
    treebank.write_text(BIRDS * 5, encoding="utf-8")
    command("train", "birds", treebank, "-o", model, "--epochs", 2, "--bits", 10, "--no-text")
    assert "2\tnsubj" in command("parse", "-m", model, treebank).out
