"""Folders of files on a Ray cluster of this machine: nothing lost and nothing doubled."""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="needs the extra 'ray'")
pytest.importorskip("typer", reason="needs the extra 'cli'")
pa = pytest.importorskip("pyarrow", reason="needs the extra 'arrow'")

from arborescence.treebank import Sentence, read, write  # noqa: E402
from interrupts import DEFAULTS, STOPS  # noqa: E402

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "ARBORESCENCE_QUIET": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",  # a busy machine starts it slowly
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests" / "support")]),
}
WORDS = [["Old", "trees", "grow", "slowly", "."], ["Small", "birds", "sing", "in", "them", "."]]


@pytest.fixture
def folder(tmp_path):
    """A folder of eight files of 3000 words each, a broken one, and a text."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(8):
        write(
            (
                Sentence.from_words(WORDS[n % 2], comments=[f"# sent_id = {number}-{n}"])
                for n in range(600)
            ),
            folder / f"{number}.conllu",
        )
    (folder / "broken.conllu").write_text("1\tbroken\n\n")
    (folder / "text.txt").write_text("Old trees grow. They don't mind.")
    return folder


@pytest.fixture
def held(folder, tmp_path):
    """Start a run, one of whose actors waits where a file is half written; return both."""
    once = tmp_path / "once"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{DEFAULTS}\nimport held; held.run()", "parse",
         "--ray", "local", "--workers", "2", str(folder), str(tmp_path / "out")],
        stderr=subprocess.PIPE, text=True, env={**ENVIRONMENT, "HELD": f"once {once}"},
    )  # fmt: skip
    while not once.exists() or not (actor := once.read_text()).endswith("\n"):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    yield process, int(actor)
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.mark.parametrize("number", STOPS)
def test_a_run_that_is_stopped_leaves_nothing_half_written(held, tmp_path, number):
    process, actor = held
    process.send_signal(number)
    lines = iter(process.stderr.readline, "")
    assert "arborescence: error: interrupted\n" in lines
    with suppress(ProcessLookupError):  # Ray ends it by then, or soon
        select.select([os.pidfd_open(actor)], [], [])
    assert not list((tmp_path / "out").glob(".*"))
    assert process.wait() == 128 + number


def test_an_actor_that_is_killed(held, folder, tmp_path):
    out = tmp_path / "out"
    process, actor = held
    os.kill(actor, signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 1, said
    *_, broken, last = said.splitlines()
    assert broken.startswith(f"not parsed: {folder / 'broken.conllu'}:1: 2 columns where")
    assert last.startswith("arborescence: error: 1 file was not parsed")
    names = {path.name for path in out.iterdir()}
    assert names == {f"{n}.conllu" for n in range(8)} | {"text.conllu"}
    found = [sentence.sent_id for n in range(8) for sentence in read(out / f"{n}.conllu")]
    assert found == [f"{number}-{n}" for number in range(8) for n in range(600)]
    assert [len(sentence) for sentence in read(out / "text.conllu")] == [4, 5]


def test_trees_that_keep_rules(tmp_path):
    """The actors have the rules, and what they count is added up."""
    (tmp_path / "in").mkdir()
    (tmp_path / "rules.toml").write_text('[[rule]]\nname = "no"\nleft = ["amod", "nsubj"]\n')
    for name in "ab":
        write((Sentence.from_words(words) for words in WORDS), tmp_path / "in" / f"{name}.conllu")
    found = []
    for how, out in ((["--ray", "local"], "one"), (["--shards"], "other")):
        done = subprocess.run(
            [sys.executable, "-m", "arborescence", "parse", *how, tmp_path / "in", tmp_path / out,
             "--workers", "2", "--rules", tmp_path / "rules.toml"],
            env=ENVIRONMENT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append((tmp_path / out / "a.conllu").read_bytes())
        assert "of 4 sentences changed" in done.stderr.splitlines()[-1]
    assert found[0] == found[1]


def test_map_batches(tmp_path):
    """As on the page: Ray Data reads and writes, `Parse` is in between."""
    import pyarrow.parquet as pq

    script = f"""
import ray
from arborescence.integrations.arrow import Parse
ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False
tables = ray.data.read_parquet({str(tmp_path / "in")!r})
parsed = tables.map_batches(
    Parse,
    fn_constructor_kwargs={{"model": "english", "confidence": True}},
    batch_format="pyarrow",
    batch_size=64,
    compute=ray.data.ActorPoolStrategy(size=1),
    num_cpus=1,
)
parsed.write_parquet({str(tmp_path / "out")!r})
"""
    (tmp_path / "in").mkdir()
    table = pa.table({"sent_id": [str(n) for n in range(200)], "forms": WORDS * 100})
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    done = subprocess.run(
        [sys.executable, "-c", script], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    parsed = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted(int(row["sent_id"]) for row in parsed) == list(range(200))
    assert {len(row["confidences"]) for row in parsed} == {5, 6}
