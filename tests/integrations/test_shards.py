"""Folders of files: which are parsed, what is written, and what survives a kill and Ctrl-C."""

import gzip
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="needs the extra 'cli'")

from arborescence.cli import run, shards
from arborescence.errors import OptionError
from arborescence.system.files import replacing
from arborescence.treebank import Sentence, read, write
from interrupts import DEFAULTS, STOPS
from modes import rarely

pytestmark = pytest.mark.races

COMMAND = [sys.executable, "-m", "arborescence", "parse"]
ENVIRONMENT = {**os.environ, "ARBORESCENCE_QUIET": "1"}
WORDS = [["Old", "trees", "grow", "slowly", "."], ["Small", "birds", "sing", "in", "them", "."]]
SENTENCES = [
    Sentence.from_words(words, comments=[f"# sent_id = {n}"]) for n, words in enumerate(WORDS)
]


def parse(*arguments):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT
    )


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path):
    """A folder with files of all kinds, of which one is broken."""
    folder = tmp_path / "in"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    write(SENTENCES, folder / "one.conllu")
    write(SENTENCES[::-1], folder / "sub" / "two.conllu.gz")
    (folder / "sub" / "deep" / "three.txt.gz").write_bytes(gzip.compress(b"They grow. We don't."))
    (folder / "empty.conllu").touch()
    (folder / "empty.txt.gz").touch()
    (folder / "broken.conllu").write_text("1\tbroken\n\n")
    (folder / "notes.json").write_text("{}")
    (folder / ".hidden.txt").write_text("Hidden.")
    (folder / "_temporary" / "half.txt").write_text("Half.")
    return folder


RESULTS = [
    "empty.conllu",
    "empty.conllu.gz",
    "one.conllu",
    "sub/deep/three.conllu.gz",
    "sub/two.conllu.gz",
]


def test_each_file_is_as_parse_writes_it(folder, tmp_path):
    out = tmp_path / "out"
    done = parse("--shards", folder, out, "--workers", 2, "--confidence")
    assert done.returncode == 1
    assert done.stdout == ""
    assert files(out) == RESULTS
    for source, result in [
        ("one.conllu", "one.conllu"),
        ("sub/two.conllu.gz", "sub/two.conllu.gz"),
        ("sub/deep/three.txt.gz", "sub/deep/three.conllu.gz"),
    ]:
        alone = tmp_path / f"alone-{Path(result).name}"
        format_ = "text" if "txt" in source else "conllu"
        alone_too = ["parse", folder / source, "--format", format_, "-o", alone, "--confidence"]
        assert run([str(argument) for argument in alone_too]) == 0
        assert (out / result).read_bytes() == alone.read_bytes()

    lines = done.stderr.splitlines()
    assert lines[0] == f"left out {folder / 'notes.json'}: no file named .conllu, .txt or .parquet"
    assert re.fullmatch(r"\d:\d\d:\d\d  files parsed", lines[-4])
    assert re.fullmatch(r"5 files, 29 words, in [\d.]+ s: [\d,]+ words a second", lines[-3])
    assert lines[-2].startswith(f"not parsed: {folder / 'broken.conllu'}:1: 2 columns where")
    assert lines[-1] == ("arborescence: error: 1 file was not parsed; the same command tries again")

    # What is finished is not touched; what was broken is done when it is mended.
    times = {name: (out / name).stat().st_mtime_ns for name in files(out)}
    write(SENTENCES, folder / "broken.conllu")
    done = parse("--shards", folder, out, "--workers", 1, "--confidence")
    assert done.returncode == 0, done.stderr
    assert "5 files were finished before" in done.stderr
    assert times.items() < {n: (out / n).stat().st_mtime_ns for n in files(out)}.items()
    assert (out / "broken.conllu").read_bytes() == (out / "one.conllu").read_bytes()


def test_equal_sentences_of_several_files_once(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("one", "two"):
        write([each.replace(comments=[f"# sent_id = {name}"]) for each in SENTENCES], folder / name)
        (folder / name).rename(folder / f"{name}.conllu")
    options = ("--rules", "ud", "--workers", 1)
    each = parse("--shards", folder, tmp_path / "each", *options)
    once = parse("--shards", folder, tmp_path / "once", *options, "--once")
    assert (each.returncode, once.returncode) == (0, 0)
    for name in ("one.conllu", "two.conllu"):
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "each" / name).read_bytes()
    assert "of 4 sentences changed" in each.stderr
    assert "of 2 sentences changed" in once.stderr


def test_nothing_is_imported_from_the_current_folder(tmp_path):
    for name in ("numpy", "pickle", "socket", "runpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__file__} ran')")
    (tmp_path / "in").mkdir()
    write(SENTENCES, tmp_path / "in" / "one.conllu")
    script = "import sys; del sys.path[0]; from arborescence.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "parse", "--shards", "in", "out", "--workers", "1"],
        capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "out") == ["one.conllu"]


def test_options_that_cannot_be(folder, tmp_path):
    for arguments, status in [
        (["--shards", folder], 2),
        (["--shards", folder, tmp_path / "out", "--json"], 2),
        (["--workers", 2, folder / "one.conllu"], 2),
        (["--shards", folder, folder / "out"], 1),
        (["--shards", tmp_path / "none", tmp_path / "out"], 1),
        (["--shards", folder, tmp_path / "out", "-m", tmp_path / "no.model", "--workers", 1], 1),
    ]:
        assert run(["parse", *map(str, arguments)]) == status, arguments
    assert not (tmp_path / "out").exists()


def test_names(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name, size in [("a.txt", 1), ("b.parquet", 5), ("c.conllu.gz", 3), ("d.parquet.gz", 1)]:
        (folder / name).write_bytes(b"x" * size)
    found = shards.find(folder, out)
    assert [shard.target.name for shard in found.waiting] == [
        "b.parquet",
        "c.conllu.gz",
        "a.conllu",
    ]
    assert [path.name for path in found.others] == ["d.parquet.gz"]
    found = shards.find(folder, out, parquet=True)
    assert [shard.target.name for shard in found.waiting] == ["b.parquet", "c.parquet", "a.parquet"]
    (folder / "a.conllu").touch()
    with pytest.raises(OptionError, match=r"a\.conllu and .*a\.txt would both become .*a\.conllu"):
        shards.find(folder, out)


def test_what_a_killed_process_left_is_removed(tmp_path):
    targets = [tmp_path / name for name in ("a.conllu", "n" * 243 + ".conllu", "m" * 250)]
    left = []
    for target in targets:
        with replacing(target):
            [begun] = set(tmp_path.glob(".*")) - set(left)
            left.append(tmp_path / f"{begun.name[:-1]}0")
        left[-1].touch()
    mine = tmp_path / ".a.conllu.backup"
    mine.touch()
    for number, target in enumerate(targets, 1):
        shards.remove_unfinished([target])
        assert set(tmp_path.iterdir()) == {*targets, mine, *left[number:]}


def test_real_files_and_folders(tmp_path):
    folder, elsewhere = tmp_path / "in", tmp_path / "elsewhere"
    deep = folder / "sub" / "deep"
    deep.mkdir(parents=True)
    elsewhere.mkdir()
    for path in (folder / "a.txt", deep / "b.txt", elsewhere / "c.txt", elsewhere / "d.txt"):
        path.touch()
    (folder / "loop").symlink_to(".")
    (folder / "folder").symlink_to(elsewhere)
    (folder / "file.txt").symlink_to(elsewhere / "c.txt")
    (folder / "dangling.txt").symlink_to("nowhere")
    (folder / "itself.txt").symlink_to("itself.txt")
    os.mkfifo(folder / "pipe.txt")
    found = shards.find(folder, tmp_path / "out")
    assert {shard.source for shard in found.waiting} == {
        folder / "a.txt", folder / "file.txt", deep / "b.txt",
    }  # fmt: skip
    left_out = ["dangling.txt", "folder", "itself.txt", "loop", "pipe.txt"]
    assert [path.name for path in found.others] == left_out


@pytest.fixture
def held(tmp_path):
    """Start a run whose process stops where a file is half written; return it and its process."""

    def held(how):
        (tmp_path / "in").mkdir()
        write(SENTENCES, tmp_path / "in" / "file.conllu")
        process = subprocess.Popen(
            [
                *[sys.executable, "-c", f"{DEFAULTS}\nimport held; held.run()", "parse"],
                *["--shards", tmp_path / "in", tmp_path / "out", "--workers", "1"],
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**ENVIRONMENT, "HELD": how, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        processes.append(process)
        line = process.stderr.readline()
        assert line.startswith("held"), line + process.stderr.read()
        assert len([name for name in files(tmp_path / "out") if Path(name).name[0] == "."]) == 1
        return process, int(line.split()[1])

    processes = []
    yield held
    for process in processes:
        process.kill()
        process.communicate()


def rest(process):
    """Wait until a run and its processes have ended; return what they have said."""
    said = process.stderr.read()
    process.wait()
    return said


signals = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@signals
def test_a_worker_that_is_killed_is_replaced(held, tmp_path):
    process, worker = held(f"once {tmp_path / 'once'}")
    os.kill(worker, signal.SIGKILL)
    said = rest(process)
    assert process.returncode == 0, said
    assert (
        f"{tmp_path / 'in/file.conllu'}: its process was killed; the file is parsed again" in said
    )
    assert files(tmp_path / "out") == ["file.conllu"]
    assert [sentence.sent_id for sentence in read(tmp_path / "out/file.conllu")] == ["0", "1"]


@signals
@pytest.mark.parametrize("how", ["waiting", "deaf"])
@pytest.mark.parametrize("numbers", [*(rarely([one]) for one in STOPS), STOPS], ids=str)
def test_a_run_that_is_stopped_leaves_nothing(held, tmp_path, numbers, how):
    process, worker = held(how)
    for number in numbers:
        process.send_signal(number)
    assert process.stderr.readline() == "arborescence: error: interrupted\n"
    with pytest.raises(ProcessLookupError):  # before that is said
        os.kill(worker, 0)
    assert files(tmp_path / "out") == []
    assert rest(process) == ""
    assert process.returncode - 128 in numbers


@signals
def test_a_run_that_is_killed_leaves_nothing(held, tmp_path):
    process, _ = held("waiting")
    process.kill()
    assert rest(process) == ""
    assert files(tmp_path / "out") == []
