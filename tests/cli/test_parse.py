"""`arborescence train` and `arborescence parse`: formats, pipes, drawings, faults."""

from __future__ import annotations

import gzip
import re
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

import arborescence as arb
from arborescence.treebank import Sentence, read, write
from command_line import ENVIRONMENT, without_progress
from interrupts import INTERRUPTIBLE, STOPS
from lessons import BIRDS, CATS, TREES, write_lessons

if TYPE_CHECKING:
    from pathlib import Path

    from lessons import Command

SLEEPERS = ("Small cats sleep", "ADJ NOUN VERB", [2, 3, 0], "amod nsubj root")
PARSED = "1\tOld\t_\tADJ\t_\t_\t2\tamod\t_\t_\n2\tcats\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"


@pytest.fixture(scope="session")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lessons(tmp_path_factory.mktemp("treebank"), BIRDS, TREES, CATS, SLEEPERS)


@pytest.fixture(scope="session")
def model(lessons: Path) -> Path:
    from arborescence.cli import run

    path = lessons.with_name("lessons.model")
    status = run(
        ["train", "linear", str(lessons), "--dev", str(lessons), "-o", str(path), "--epochs", "3"]
    )
    assert status == 0
    return path


def test_training_is_reproducible(
    command: Command, lessons: Path, model: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.model"
    result = command(
        "train", "linear", lessons, "--dev", lessons, "-o", again, "--epochs", 3, "--quiet"
    )
    assert result.status == 0
    assert result.err == ""
    assert again.read_bytes() == model.read_bytes()


def test_train_with_pruning(command: Command, lessons: Path, tmp_path: Path) -> None:
    model, parsed = tmp_path / "pruned.model", tmp_path / "parsed.conllu"
    options = ("--dev", lessons, "-o", model, "--epochs", 3, "--no-tagger", "--prune")
    assert command("train", "linear", lessons, *options).status == 0
    assert command("parse", lessons, "-m", model, "-o", parsed).status == 0
    gold, guessed = read(lessons), read(parsed)
    assert all(a.tree.tolist() == b.tree.tolist() for a, b in zip(gold, guessed, strict=True))
    assert command("train", "linear", lessons, *options, "--inference", "undirected").status == 0


def test_train_with_undirected_inference(command: Command, lessons: Path, tmp_path: Path) -> None:
    from arborescence.parsers import load

    model = tmp_path / "undirected.model"
    options = ("--dev", lessons, "-o", model, "--epochs", 1, "--no-tagger")
    features = ("--features", "undirected", "--rounds", 2)
    assert "goes with --inference" in command(
        "train", "linear", lessons, *options, *features
    ).complaint(2)
    options = (*options, "--inference", "undirected")
    assert command("train", "linear", lessons, *options, *features).status == 0
    parser = load(model)
    assert (parser.inference, parser.features, parser.rounds) == ("undirected", "undirected", 2)
    assert "does not go with" in command("train", "linear", lessons, *options, "--joint").complaint(
        2
    )
    assert (
        "the k best trees need" in command("parse", lessons, "-m", model, "--kbest", 2).complaint()
    )


def test_parse_words_from_a_pipe(command: Command, model: Path) -> None:
    result = command(
        "parse", "-m", model, "--format", "tokens", stdin="Old cats sleep\n\nCats sing ."
    )
    assert result.status == 0
    assert result.err == ""
    assert result.out.startswith(PARSED)
    assert result.out.count("\n\n") == 2


def test_parse_a_file_with_threads_into_a_file(
    command: Command, model: Path, lessons: Path, tmp_path: Path
) -> None:
    for target in (tmp_path / "parsed.conllu", tmp_path / "parsed.conllu.gz"):
        result = command("parse", "-m", model, lessons, "-o", target, "--threads", 2)
        assert (result.status, result.out, result.err) == (0, "", "")
        assert len(list(read(target))) == 20


@pytest.mark.parametrize("more", [(), ("--kbest", 2), ("--threads", 2), ("--ranges",)])
def test_equal_sentences_once(
    command: Command, model: Path, lessons: Path, more: tuple[str | int, ...]
) -> None:
    arguments = ("parse", "-m", model, lessons, "--rules", "ud", *more)
    each, once = command(*arguments), command(*arguments, "--once")
    assert (once.status, once.out) == (0, each.out)
    assert each.out.count("\n\n") >= 20
    assert "of 20 sentences changed" in each.err
    assert re.search(r"of \d sentences changed", once.err)


def test_several_files_and_a_gzipped_pipe(command: Command, model: Path, lessons: Path) -> None:
    packed = gzip.compress(lessons.read_bytes())
    result = command("parse", "-m", model, lessons, "-", stdin=packed)
    assert result.out.count("\n\n") == 40


def test_raw_text(command: Command, model: Path) -> None:
    result = command("parse", "-m", model, "--format", "text", stdin="Birds sing .\n\nCats  sleep")
    assert result.err == ""
    start = "# newdoc\n# newpar\n# sent_id = 1\n# text = Birds sing .\n1\tBirds\t_\tNOUN"
    assert result.out.startswith(start)
    assert "# newpar\n# sent_id = 2\n# text = Cats sleep\n" in result.out
    assert r"SpacesAfter=\s\s" in result.out
    result = command("parse", "--format", "text", stdin="Don't worry. It sleeps!")
    assert "1-2\tDon't\t_" in result.out
    assert "\tn't\tnot\tPART\t" in result.out
    assert "\tsleeps\tsleep\tVERB\t" in result.out


def test_lines_are_sentences_and_may_be_gzipped(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "songs.txt.gz"
    path.write_bytes(gzip.compress(b"Birds sing. Cats sleep\nIt rains\n\n" + b"tree " * 700))
    result = command("parse", "--format", "lines", path)
    assert "# sent_id = songs-1\n# text = Birds sing. Cats sleep\n" in result.out
    assert "# newpar" not in result.out
    assert re.fullmatch(
        r"arborescence: songs: sentence 3 has 700 words: it was cut .*\n", result.err
    )


def test_a_model_that_has_not_learned_to_read(
    command: Command, lessons: Path, tmp_path: Path
) -> None:
    path = tmp_path / "words.model"
    options = ("--dev", lessons, "-o", path, "--epochs", 1, "--no-text")
    assert command("train", "linear", lessons, *options).status == 0
    message = command("parse", "-m", path, "--format", "text", stdin="Birds sing.").complaint()
    assert "--no-text" in message
    assert "--format tokens" in message


SENTENCES = [
    "Birds sing.", "My sister gave me a book.", "I read it twice!", "Who washes our cats?",
    'He said "Go away."', "The old trees grow slowly.", "We went home early.", "The rain did stop.",
    "All of us slept well.", "Then the sun came out.", "It was late.",
]  # fmt: skip


def test_lines_that_are_items_are_said_once(command: Command, tmp_path: Path) -> None:
    parse = ("parse", "-m", "english-fast", "--format")
    headlines = "\n".join(sentence.rstrip(".!?") for sentence in SENTENCES)
    for path in (tmp_path / "a.txt", tmp_path / "b.txt"):
        path.write_text(headlines)
    files = (tmp_path / "a.txt", tmp_path / "b.txt")
    found = command(*parse, "text", *files)
    assert found.out.count("# text = ") == 2 * len(SENTENCES)
    assert found.out.count("# newpar") == 2
    assert found.err.count("\n") == 1
    assert found.err.startswith("arborescence: short lines are read as items, each by itself: ")
    assert "--format lines" in found.err
    assert "--format prose" in found.err
    quiet = command(*parse, "text", "--quiet", *files)
    assert (quiet.out, quiet.err) == (found.out, "")
    prose = command(*parse, "prose", files[0])
    assert prose.err == ""
    joined = arb.load("english-fast").read_text(files[0], lines=False)
    texts = [line for line in prose.out.splitlines() if line.startswith("# text = ")]
    assert texts == [f"# text = {sentence.text}" for sentence in joined]
    # Lines that are wrapped; sentences one after the other; paragraphs.
    wrapped = textwrap.fill(" ".join(SENTENCES), 15)
    assert wrapped.count("\n") > 10
    assert command(*parse, "text", stdin=wrapped).err == ""
    assert command(*parse, "text", stdin=" ".join(SENTENCES)).err == ""
    assert command(*parse, "text", stdin="\n\n".join(SENTENCES)).err == ""
    assert command(*parse, "lines", stdin=headlines).err == ""


def test_lemmas_that_are_given_are_kept(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "some.conllu"
    words = ["The", "cats", "slept", "well", "!"]
    given = ["_", "CAT", "_", "_", "_"]
    write([Sentence.from_words(words, lemmas=given), Sentence.from_words(words)], path)
    parsed = command("parse", path, "-o", tmp_path / "parsed.conllu")
    assert parsed.status == 0
    found = [sentence.lemmas for sentence in read(tmp_path / "parsed.conllu")]
    assert found == [given, ["the", "cat", "sleep", "well", "!"]]


def test_draw_trees(command: Command, model: Path, tmp_path: Path) -> None:
    svg, parsed = tmp_path / "trees.svg", tmp_path / "parsed.conllu"
    parse = ("parse", "-m", model, "--format", "tokens", "--tree", "-o")
    for path in (svg, parsed):
        assert command(*parse, path, stdin="Old cats sleep").out == (
            "      ╭─ Old    ADJ   amod\n    ╭─┴─ cats   NOUN  nsubj\n"
            "  ──┴─── sleep  VERB  root\n\n"
        )
    assert parsed.read_text().startswith(PARSED)
    assert ET.parse(svg).getroot().tag.endswith("svg")
    again = tmp_path / "again.svg"
    assert command("draw", parsed, "-o", again).out == ""
    assert again.read_text() == svg.read_text()


def test_no_input_gives_no_output(command: Command, model: Path) -> None:
    for kind in ("conllu", "tokens", "text", "lines"):
        result = command("parse", "-m", model, "--format", kind)
        assert (result.status, result.out, result.err) == (0, "", "")


BROKEN = "1\tBirds\n\n1\tsing\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tx\t_\t_\t_\t_\t9\t_\t_\t_\n\n"


def test_broken_input_is_named(command: Command, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.conllu"
    path.write_text(BROKEN)
    target = tmp_path / "parsed.conllu"
    target.write_text("as before")
    message = command("parse", "-m", model, path, "-o", target).complaint()
    assert f"{path}:1: " in message
    assert target.read_text() == "as before"
    assert sorted(tmp_path.iterdir()) == [path, target]


def test_broken_input_is_skipped_and_counted(command: Command, model: Path) -> None:
    result = command("parse", "-m", model, "--skip-invalid", stdin=BROKEN)
    assert result.status == 0
    assert result.out.count("\n\n") == 1
    assert result.err.startswith("skipped 2 broken sentences (2 words, 2 lines); the first: <")
    assert result.err.count("\n") == 1


def test_nothing_that_is_left_is_an_error(command: Command, model: Path, tmp_path: Path) -> None:
    target = tmp_path / "parsed.conllu"
    target.write_text("as before")
    broken = "1\tBirds\n\n1\tx\t_\t_\t_\t_\t9\t_\t_\t_\n\n"
    parse = ("parse", "-m", model, "--skip-invalid")
    for arguments in ([*parse, "-o", target], parse, ["draw", "--skip-invalid"]):
        said = command(*arguments, stdin=broken).complaint()
        assert "no sentence is left: skipped 2 broken sentences (2 words, 2 lines)" in said
    assert target.read_text() == "as before"
    assert command(*parse).status == 0  # nothing was there


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_files_of_other_programs(
    command: Command, model: Path, lessons: Path, tmp_path: Path, options: list[str]
) -> None:
    parse = ("parse", "-m", model, *options)
    plain = command(*parse, lessons)
    path = tmp_path / "odd.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + lessons.read_bytes().replace(b"\n", b"\r\n"))
    found = command(*parse, path, "--skip-invalid")
    assert (found.status, found.out, found.err) == (0, plain.out, plain.err)
    path.write_bytes(lessons.read_bytes().replace(b"\n\n", b"\n \t\n"))
    found = command(*parse, path, "--skip-invalid")
    assert (found.status, found.out) == (0, plain.out)
    note = f"arborescence: {path}:4: the line holds only blanks or tabs: it ends a sentence, as an "
    assert found.err.count(note) == found.err.count("blanks") == (not options)
    evaluated = command("evaluate", path, path)
    assert evaluated.err.count(note) == 2  # each time it is read
    assert "LAS                100.00" in evaluated.out


def test_words_that_are_not_utf8(command: Command, model: Path) -> None:
    message = command("parse", "-m", model, "--format", "tokens", stdin=b"na\xefve\n").complaint()
    assert "<stdin>:1: byte 0xef is not UTF-8" in message


def test_models_that_are_none(command: Command, tmp_path: Path, lessons: Path) -> None:
    assert "nowhere" in command("parse", "-m", "nowhere", lessons).complaint()
    assert str(lessons) in command("parse", "-m", lessons, lessons).complaint()
    assert str(tmp_path) in command("parse", "-m", tmp_path, lessons).complaint()
    empty = tmp_path / "empty.model"
    empty.touch()
    assert str(empty) in command("parse", "-m", empty, lessons).complaint()


def test_a_cut_model(command: Command, model: Path, tmp_path: Path, lessons: Path) -> None:
    cut = tmp_path / "cut.model"
    cut.write_bytes(model.read_bytes()[:-1000])
    assert str(cut) in command("parse", "-m", cut, lessons).complaint()


def test_a_treebank_without_trees(command: Command, tmp_path: Path, lessons: Path) -> None:
    bare = tmp_path / "bare.conllu"
    write([Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"])], bare)
    message = command(
        "train", "linear", bare, "--dev", lessons, "-o", tmp_path / "model"
    ).complaint()
    assert f"{bare}:1: " in message


@pytest.mark.races
def test_a_full_disk(process: Command, model: Path, lessons: Path) -> None:
    for arguments in (["-o", "/dev/full"], ["--json", "-o", "/dev/full"]):
        done = process("parse", "-m", model, lessons, *arguments)
        assert done.complaint() == "arborescence: error: No space left on device\n"


@pytest.mark.races
def test_a_reader_that_goes_away(model: Path, lessons: Path) -> None:
    many = lessons.read_bytes() * 200
    head = subprocess.Popen([sys.executable, "-c", "pass"], stdin=subprocess.PIPE)
    done = subprocess.run(
        [sys.executable, "-m", "arborescence", "parse", "--quiet", "-m", str(model)],
        input=many,
        stdout=head.stdin,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert head.stdin is not None
    head.stdin.close()
    head.wait()
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.races
@pytest.mark.parametrize("number", STOPS)
def test_an_interruption_leaves_nothing_behind(
    model: Path, lessons: Path, tmp_path: Path, number: int
) -> None:
    target = tmp_path / "parsed.conllu"
    running = subprocess.Popen(
        [*INTERRUPTIBLE, "parse", "-m", str(model), "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert running.stdin is not None
    running.stdin.write(lessons.read_text())
    running.stdin.flush()
    while not list(tmp_path.iterdir()):
        assert running.poll() is None
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) != [target]
    running.send_signal(number)
    assert running.stderr is not None
    said = without_progress(running.stderr.read())
    assert said == "arborescence: error: interrupted\n"
    assert running.wait() == 128 + number
    assert list(tmp_path.iterdir()) == []
    running.stdin.close()
    running.stderr.close()


@pytest.mark.races
def test_no_more_threads(
    command: Command, model: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def start(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    said = command("parse", "-m", model, lessons, "--threads", 2, "-o", tmp_path / "out.conllu")
    assert "can't start new thread: ask for fewer (--threads)" in said.complaint()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.races
def test_demo(process: Command, tmp_path: Path) -> None:
    demo = process("demo", "-o", tmp_path / "demo.svg")
    assert (demo.status, demo.err) == (0, "")
    assert re.search(r"^  ──.* lost +VERB +root$", demo.out, re.MULTILINE)
    assert len(ET.parse(tmp_path / "demo.svg").getroot().findall("{*}g")) == 5


def test_lines_of_words_point_to_the_format(command: Command, tmp_path: Path) -> None:
    said = command("parse", stdin="Hello world\n").complaint()
    assert "1 column where CoNLL-U has 10" in said
    assert "for raw text give --format text, for words with spaces between them" in said
    broken = "1\tGrow\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\tbroken\n\n"  # CoNLL-U, and a fault in it
    result = command("parse", "-o", tmp_path / "out.conllu", stdin=broken)
    assert result.status == 1
    assert "2 columns where" in result.err
    assert "--format" not in result.err
