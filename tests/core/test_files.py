"""Output files appear whole or not at all."""

from __future__ import annotations

import errno

import pytest

from arborescence.core.files import replacing


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
