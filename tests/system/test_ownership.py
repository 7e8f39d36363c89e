"""What this user alone can have written, told from what others can have."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from arborescence.system import files
from arborescence.system.files import check_own

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a file in a folder, of which all could be trusted."""
    (tmp_path / "home" / "cache").mkdir(parents=True)
    (tmp_path / "home" / "cache" / "file").touch()
    for path in tmp_path.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "home"


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file, link or folder belong to another user, or look so to one who is not root."""
    if os.geteuid() == 0:
        os.chown(path, 54321, 54321, follow_symlinks=False)
        return

    def other(self: Path, real=Path.lstat) -> os.stat_result:
        found = list(real(self))
        found[stat.ST_UID] = 54321 if self == path else found[stat.ST_UID]
        return os.stat_result(found)

    monkeypatch.setattr(Path, "lstat", other)


def refused(path: Path, place: Path) -> None:
    with pytest.raises(PermissionError, match="can be changed by other users") as caught:
        check_own(path)
    assert caught.value.filename == str(place)


def test_what_is_ones_own(home: Path) -> None:
    check_own(home)
    check_own(home / "cache" / "file")
    check_own(Path(sys.prefix).anchor / Path())
    with pytest.raises(FileNotFoundError):
        check_own(home / "none")
    with pytest.raises(PermissionError, match="not an absolute path"):
        check_own(Path("cache"))


@pytest.mark.parametrize("place", [".", "cache", "cache/file"])
def test_what_belongs_to_others(home: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(home / place, monkeypatch)
    refused(home / "cache" / "file", home / place)


@pytest.mark.parametrize("mode", [0o757, 0o777, 0o775])
@pytest.mark.parametrize("place", [".", "cache", "cache/file"])
def test_what_others_can_write(
    home: Path, place: str, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_is_of", lambda group, user: False)
    (home / place).chmod(mode)
    refused(home / "cache" / "file", home / place)


def test_where_all_can_write_but_not_rename(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.chmod(0o1777)
    check_own(home / "cache" / "file")
    refused(home, home)  # itself it is open to all
    give_away(home / "cache", monkeypatch)
    refused(home / "cache" / "file", home / "cache")


def test_a_group_of_ones_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd

    home.chmod(0o775)
    user = pwd.getpwuid(os.geteuid()).pw_name
    for name, members, fine in [
        (user, [], True),
        (user, [user], True),
        (user, ["mallory"], False),
        ("team", [], False),
    ]:
        group = grp.struct_group((name, "", home.stat().st_gid, members))
        monkeypatch.setattr(grp, "getgrgid", lambda _, group=group: group)
        if fine:
            check_own(home)
        else:
            refused(home, home)


def test_links(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = home / "link"
    link.symlink_to(home / "cache")
    check_own(link / "file")
    (home / "cache").chmod(0o777)
    refused(link / "file", home / "cache")
    (home / "cache").chmod(0o755)
    give_away(link, monkeypatch)
    refused(link / "file", link)
