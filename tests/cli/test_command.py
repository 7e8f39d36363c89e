"""What holds for every command: versions, help, errors, pipes."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer
from rich.markup import escape

import arborescence
from arborescence.cli import app
from arborescence.cli.options import _escaped
from arborescence.cli.parse import parse
from command_line import ENVIRONMENT, without_progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

COMMANDS = ["parse", "draw", "train", "evaluate", "decode", "demo", "warmup", "integrations"]


def test_version(command: Command) -> None:
    assert command("--version").out == f"{arborescence.__version__}\n"


def test_the_version_needs_no_slow_import() -> None:
    script = (
        "import sys; sys.modules['typer'] = sys.modules['numpy'] = None; "
        "from arborescence.cli import main; main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{arborescence.__version__}\n", "")


def test_a_command_imports_no_other() -> None:
    script = (
        "import sys; from arborescence.cli import main\n"
        "try: main(['decode', '--help'])\n"
        "finally: print(*(name for name in sys.modules if name.startswith('arborescence.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    imported = done.stdout.splitlines()[-1].split()
    assert "arborescence.cli.decode" in imported
    assert not {"arborescence.cli.parsing", "arborescence.cli.models"} & set(imported)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(command: Command, name: str) -> None:
    assert name in command("--help").out
    result = command(name, "--help")
    assert result.status == 0
    assert "Usage: arborescence " + name in result.out


def test_commands_stand_by_task(command: Command) -> None:
    out = command("--help").out
    panels = re.findall(r"╭─ (\w+) ─", out)
    assert panels[:6] == ["Options", "Parse", "Train", "Inspect", "Annotate", "Teach"]
    assert out.index("│ train ") < out.index("│ search ")


def test_how_a_sentence_is_given(command: Command) -> None:
    given = ("-m", "english-fast", "--sentence", "The cat sleeps.")
    parsed = command("parse", *given).out
    assert "# text = The cat sleeps.\n" in parsed
    assert parsed.count("\n3\tsleeps\t") == 1
    words = command("parse", *given, "--format", "tokens").out
    assert "\n3\tsleeps.\t" in f"\n{words}"
    for name in ("explain", "trace"):
        assert "sleeps" in command(name, *given).out
    assert "not both" in command("parse", *given, "a.conllu").complaint(2)
    # the last ones: their output goes nowhere from then on
    said = command("parse", "The cat sleeps.").complaint()
    assert "The cat sleeps.: No such file or directory; a sentence is given with --sentence" in said
    assert "--sentence" not in command("parse", "cat.conllu").complaint()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    words = {"COMP_WORDS": "arborescence pa", "COMP_CWORD": "1"}
    words |= {"_TYPER_COMPLETE_ARGS": "arborescence pa", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    wanted = {**ENVIRONMENT, **words, "_ARBORESCENCE_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-c", "from arborescence.cli import main; main([])"],
        capture_output=True, text=True, env=wanted,
    )  # fmt: skip
    assert {"parse", "package"} <= set(re.findall(r"[\w-]+", done.stdout))
    assert not re.search(r"^.?train\b", done.stdout, re.MULTILINE)


def test_a_wrong_command_and_a_wrong_option(command: Command) -> None:
    assert "grow" in command("grow").complaint(2)
    assert "--branches" in command("parse", "--branches").complaint(2)
    assert "--root" in command("parse", "--root", "none").complaint(2)
    assert "--threads" in command("parse", "--threads", "0").complaint(2)
    assert "OUTPUT" in command("train", "a.conllu", "--dev", "b.conllu").complaint(2).upper()


@pytest.mark.races
def test_help_needs_no_numba() -> None:
    code = (
        "import sys; from arborescence.cli import run; run(['parse', '--help']); "
        "sys.exit(1 if {'numba', 'numpy'} & set(sys.modules) else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.races
@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from arborescence.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "arborescence: error: the command line needs the extra 'cli': "
        "pip install 'arborescence[cli]'\n"
    )


GOLD = "1\tBirds\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsing\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    return path


def test_evaluate(command: Command, gold: Path, tmp_path: Path) -> None:
    import json

    predicted = tmp_path / "predicted.conllu"
    predicted.write_text(GOLD.replace("nsubj", "obj"))
    scores = json.loads(command("evaluate", gold, predicted, "--json").out)
    assert scores["uas"]["f1"] == 1
    assert scores["las"]["f1"] == 0.5
    table = command("evaluate", gold, predicted).out
    assert "LAS" in table
    assert "50.00" in table


def test_evaluate_different_texts(command: Command, gold: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(GOLD.replace("Birds", "Bees"))
    assert "Bees" in command("evaluate", gold, other).complaint()


@pytest.mark.races
def test_a_full_disk(process: Command, gold: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "arborescence", "evaluate", str(gold), str(gold)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
    assert done.returncode == 1
    said = without_progress(done.stderr)
    assert said == "arborescence: error: No space left on device\n"


@pytest.mark.races
def test_a_reader_that_goes_away(gold: Path) -> None:
    done = subprocess.Popen(
        [sys.executable, "-m", "arborescence", "evaluate", str(gold), str(gold)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.close()
    assert done.wait() == 128 + signal.SIGPIPE
    assert without_progress(done.stderr.read()) == ""
    done.stderr.close()


@pytest.mark.races
def test_the_terminal_of_another_language(gold: Path) -> None:
    from_latin = {"PYTHONIOENCODING": "latin-1", "PATH": ""}
    text = GOLD.replace("Birds", "Ča").encode()
    gold.write_bytes(text)
    done = subprocess.run(
        [sys.executable, "-m", "arborescence", "evaluate", str(gold), "/dev/null"],
        capture_output=True,
        env=from_latin,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr.decode()
    assert "Ča" in done.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.txt", "b.txt"],
        ["-m", "x", "--model", "y", "--format", "lines", "--quiet"],
        ["--kbest", "2", "--threads", "2", "--max-words", "7", "--no-projective", "--tree"],
        ["--sentence", "Grow.", "--rules", "none", "--encoding", "cp1252", "--keep-words"],
    ],
)
def test_values_that_pass_without_a_conversion_are_as_typer_converts_them(
    arguments: list[str],
) -> None:
    plain = app._made("parse", parse).make_context("parse", list(arguments))
    assert app._own("parse").make_context("parse", list(arguments)).params == plain.params


def test_wrong_values_are_converted_by_typer() -> None:
    for wrong in (["--format", "nope"], ["--threads", "0"], ["--kbest", "x"]):
        with pytest.raises(typer.BadParameter):
            app._own("parse").make_context("parse", wrong)


def test_a_command_starts_without_pydantic() -> None:
    script = (
        "import sys; from arborescence.cli import run; "
        "status = run(['parse', '-m', 'none.model', '--format', 'lines', 'none.txt']); "
        "print(status, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "1 False\n", done.stderr
    assert "none.model" in done.stderr


@pytest.mark.parametrize(
    "text",
    ["", "[upos=VERB]", "[/x]", r"\[a]", r"\\[a]", "[=x] [1]", "[a", "a]", "[[b]]", "x\\", "x\\\\"],
)
def test_texts_of_help_pages_are_escaped_as_rich_does(text: str) -> None:
    """Square brackets in help pages are no markup."""
    assert _escaped(text) == escape(text)
