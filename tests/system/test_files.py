"""Output files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading

import pytest

from arborescence.system.files import replacing, unfinished_name


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_no_room_names_the_file(tmp_path, number):
    target = tmp_path / "scores.npz"
    target.write_bytes(b"before")

    def fail():
        with replacing(target) as file:
            file.write(b"af")
            raise OSError(number, "no room")  # as write() raises it

    with pytest.raises(OSError, match="no room") as caught:
        fail()
    assert caught.value.filename == str(target)
    assert target.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [target]


def test_other_errors_are_left_alone(tmp_path):
    with pytest.raises(OSError, match="gone") as caught, replacing(tmp_path / "scores.npz"):
        raise OSError(errno.EPIPE, "gone")
    assert caught.value.filename is None
    with pytest.raises(OSError, match="no room") as caught, replacing(tmp_path / "scores.npz"):
        raise OSError(errno.ENOSPC, "no room", "elsewhere")
    assert caught.value.filename == "elsewhere"


@pytest.mark.races
def test_other_threads_files_keep_their_rights(tmp_path, monkeypatch):
    """The umask is the whole process's: a file of another thread shows whether it was changed."""
    mask = os.umask(0o022)
    theirs = tmp_path / "theirs"

    def another():
        theirs.touch()
        modes.append(theirs.stat().st_mode & 0o777)
        theirs.unlink()

    def changed(new, umask=os.umask):
        old = umask(new)
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
        return old

    modes = []
    try:
        monkeypatch.setattr(os, "umask", changed)
        for _ in range(2):  # a new file, and one that is replaced
            with replacing(tmp_path / "ours"):
                another()
        assert modes == [0o644] * len(modes)
        monkeypatch.undo()
        assert os.umask(mask) == 0o022
    finally:
        os.umask(mask)


@pytest.mark.skipif(sys.platform == "win32", reason="other rights")
def test_rights(tmp_path):
    mask = os.umask(0o027)
    try:
        with replacing(tmp_path / "new") as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o640
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
        for mode in (0o600, 0o664, 0o400):  # those of a file that is replaced, and never more
            (tmp_path / "new").chmod(mode)
            with replacing(tmp_path / "new") as file:
                assert not stat.S_IMODE(os.fstat(file.fileno()).st_mode) & ~mode
            assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode
    finally:
        os.umask(mask)


@pytest.mark.parametrize("name", ["n" * 250, "ä" * 125, "n" * 100])
def test_long_names(tmp_path, name):
    target = tmp_path / name
    with replacing(target) as file:
        file.write(b"first")
        [begun] = tmp_path.iterdir()
        assert len(os.fsencode(begun.name)) <= 143  # as long as any file system takes
    assert target.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [target]


def test_temporary_names_of_alike_names_are_told_apart(tmp_path):
    names = ["n" * 250, "n" * 249 + "m", "n" * 100, "a", "a.b"]
    begun = {unfinished_name(tmp_path / name) for name in names}
    assert len(begun) == len(names)
