"""Compiled kernels on disk: used by later processes, and not when the code has changed."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import arborescence as arb
from arborescence.compiling import kernels, native

jit = pytest.importorskip("arborescence.compiling.jit")
kept = pytest.importorskip("arborescence.compiling.kept")
digests = pytest.importorskip("arborescence.compiling.digests")
from numba.core import config, event  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

TEXT = '''
import numpy as np
from typing import NamedTuple

FACTOR = 2
TABLE = np.array([1.0, 2.0])

class Pair(NamedTuple):
    left: np.ndarray

def inner(pair, k):
    """What it does."""
    return pair.left[k] * FACTOR + TABLE[k]

def outer(array):
    total = 0.0
    for k in range(len(array)):
        total += inner(Pair(array), k)
    return total
'''


def load(text: str = TEXT, **options: Any) -> Any:
    """The kernel `outer` of a module with this text."""
    names: dict[str, Any] = {"__name__": "sample"}
    exec(text, names)
    options = jit._OPTIONS | options
    names["inner"] = jit.Kernel(names["inner"], options)
    return jit.Kernel(names["outer"], options)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found = [tmp_path / "package", tmp_path / "user"]
    monkeypatch.setattr(kept, "folders", lambda: found)
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 2", "FACTOR = 3"),
        ("1.0, 2.0", "1.0, 3.0"),
        ("* FACTOR", "- FACTOR"),
        ("left", "first"),
        ("total = 0.0", "total = 1.0"),
        ("total += inner", "total -= inner"),
        ("range(len(array))", "range(1, len(array))"),
    ],
)
def test_a_change_of_anything_inside_is_noticed(old: str, new: str) -> None:
    assert digests.digest(load()) != digests.digest(load(TEXT.replace(old, new)))


def test_options_are_noticed_and_words_are_not() -> None:
    assert digests.digest(load()) != digests.digest(load(fastmath={"nsz"}))
    assert digests.digest(load()) != digests.digest(load(TEXT, _nrt=False))
    text = TEXT.replace("What it does.", "In other words.").replace("\ndef", "\n# More.\n\ndef")
    assert digests.digest(load()) == digests.digest(load(text))


def test_all_kernels_have_a_digest() -> None:
    from arborescence.nonprojective.decode import decode_kernel
    from arborescence.transitions.systems import oracle

    for kernel in (decode_kernel, oracle):
        if isinstance(kernel, jit.Kernel):
            assert len(digests.digest(kernel)) == 32


def test_is_compiled_once(folders: list[Path]) -> None:
    array = np.arange(1.0, 3.0)
    for hits in (0, 1):
        kernel = load()
        assert kernel(array) == 9.0
        assert kernel.stats.cache_hits.total() == hits
        assert len(list(folders[0].glob("*.nbc"))) == 1
    changed = load(TEXT.replace("FACTOR = 2", "FACTOR = 3"))
    assert changed(array) == 12.0
    assert len(list(folders[0].glob("*.nbc"))) == 1
    assert not folders[1].exists()


def test_what_others_have_kept_is_read(folders: list[Path]) -> None:
    load()(np.ones(2))
    folders.reverse()
    kernel = load()
    kernel(np.ones(2))
    assert kernel.stats.cache_hits.total() == 1


def test_the_next_folder_is_taken(folders: list[Path]) -> None:
    folders[0].write_text("a file, where no folder can be made")
    load()(np.ones(2))
    assert len(list(folders[1].glob("*.nbc"))) == 1
    kernel = load()
    kernel(np.ones(2))
    assert kernel.stats.cache_hits.total() == 1


def test_nowhere_to_keep_it(
    folders: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARBORESCENCE_QUIET", raising=False)
    for folder in folders:
        folder.write_text("a file, where no folder can be made")
    for _ in range(2):
        assert load()(np.ones(2)) == 7.0
    lines = [line for line in capsys.readouterr().err.splitlines() if "kept" in line]
    assert len(lines) == 1
    assert f"({folders[0]}: File exists; {folders[1]}: File exists)" in lines[0]
    assert lines[0].endswith("set NUMBA_CACHE_DIR to a folder that you can write, and nobody else")


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
def test_what_others_could_have_written_is_not_read(
    folders: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARBORESCENCE_QUIET", raising=False)
    mask = os.umask(0)  # as careless as can be
    try:
        load()(np.ones(2))
        [path] = folders[0].glob("*.nbc")
        for place, mode in [(path, 0o646), (folders[0], 0o757)]:
            before = place.stat().st_mode
            for hits in (1, 0):  # only what we make ourselves is read
                kernel = load()
                kernel(np.ones(2))
                assert kernel.stats.cache_hits.total() == hits
                place.chmod(mode)
            place.chmod(before)
        assert len(list(folders[1].glob("*.nbc"))) == 1  # while the first was open to all
    finally:
        os.umask(mask)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
def test_it_says_why_nothing_is_kept(
    folders: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARBORESCENCE_QUIET", raising=False)
    for folder in folders:
        folder.mkdir()
        folder.chmod(0o777)
    for _ in range(2):
        load()(np.ones(2))
    [line] = [line for line in capsys.readouterr().err.splitlines() if "kept" in line]
    assert f"{folders[0]}: can be changed by other users; {folders[1]}: can be" in line
    assert not list(folders[0].iterdir())


@pytest.mark.parametrize("value", ["", "cache", "./cache", "../cache"])
def test_cache_folders_are_absolute(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert all(folder.is_absolute() for folder in kept.folders())
    monkeypatch.setenv("HOME", "home")
    if sys.platform == "linux":
        with pytest.raises(PermissionError, match="not an absolute path"):
            kept._check(kept.folders()[1])


def test_a_file_of_settings_in_the_working_directory_names_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # as from `.numba_config.yaml`
    assert not any(folder.is_relative_to(tmp_path) for folder in kept.folders())


def test_a_damaged_file_is_replaced(folders: list[Path]) -> None:
    load()(np.ones(2))
    [path] = folders[0].glob("*.nbc")
    content = path.read_bytes()
    for damaged in (content[:-1], content[:20], b"", content[:-9] + bytes(9)):
        path.write_bytes(damaged)
        assert load()(np.ones(2)) == 7.0
        kernel = load()
        kernel(np.ones(2))
        assert kernel.stats.cache_hits.total() == 1


def test_checked_code_is_another_file(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    load()(np.ones(2))
    monkeypatch.setattr(config, "BOUNDSCHECK", 0 if config.BOUNDSCHECK else 1)
    kernel = load()
    kernel(np.ones(2))
    assert kernel.stats.cache_hits.total() == 0
    assert len(list(folders[0].glob("*.nbc"))) == 2


AT_ONCE = """
import sys, numpy as np
from arborescence.core import tree
print(tree.is_tree([-1, 0, 1]))
"""


@pytest.mark.races
def test_processes_do_not_compile_the_same(tmp_path: Path) -> None:
    if native.KERNELS is not None:
        pytest.skip("nothing is compiled")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop("ARBORESCENCE_QUIET", None)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    results = [process.communicate() for process in processes]
    assert [out for out, _ in results] == ["True\n"] * 3
    assert sum("arborescence: compiling" in err for _, err in results) == 1


def test_decorators_make_kernels() -> None:
    if native.KERNELS is None:
        assert isinstance(kernels.kernel(lambda x: x), jit.Kernel)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_while_a_thread_compiles() -> None:
    compiled, other, busy = load(), load(), load()
    array = np.ones(2)
    compiled(array)
    compiles, fork_is_done = threading.Event(), threading.Event()

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            if event.data["dispatcher"] is busy:
                compiles.set()
                fork_is_done.wait(60)

        def on_end(self, event: Any) -> None:
            pass

    ours, theirs = multiprocessing.Pipe()

    def use() -> None:
        try:
            theirs.send(compiled(array))
            other(array)
        except arb.ArborescenceError as error:
            theirs.send(str(error))

    with event.install_listener("numba:compile", Listener()), ThreadPoolExecutor(1) as pool:
        result = pool.submit(busy, array.astype(np.float32))
        assert compiles.wait(60)
        child = multiprocessing.get_context("fork").Process(target=use)
        child.start()
        child.join(30)
        fork_is_done.set()
        child.kill()
        child.join()
        assert child.exitcode == 0
        assert result.result() == other(array) == ours.recv() == 7.0
    assert "outer cannot be compiled in this process" in ours.recv()
