"""Whether nobody else can have changed a file: what is unpickled runs as code.

As OpenSSH does, each folder on the way and the links in it are looked at, too: whoever can write
one of these can put another file in its place.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def check_own(path: Path) -> None:
    """Check that only this user or root can have made or changed a path, else PermissionError."""
    # In a folder like ``/tmp`` all may write, but none can rename what belongs to others. On
    # Windows only that the path is absolute is checked
    if not path.is_absolute():
        raise PermissionError(errno.EPERM, "is not an absolute path", str(path))
    if sys.platform == "win32":
        return
    real, me = path.resolve(), os.geteuid()
    for place in (path, *path.parents, real, *real.parents):
        status = place.lstat()
        mode = status.st_mode
        shared = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_of(status.st_gid, me))
        guarded = stat.S_ISLNK(mode) or (mode & stat.S_ISVTX and place not in (path, real))
        if status.st_uid not in (0, me) or (shared and not guarded):
            raise PermissionError(errno.EPERM, "can be changed by other users", str(place))


def _is_of(group: int, user: int) -> bool:
    """Return whether a group is a user's own, as many systems make one for each."""
    import grp  # not on Windows
    import pwd

    with suppress(KeyError):
        found, name = grp.getgrgid(group), pwd.getpwuid(user).pw_name
        return found.gr_name == name and {*found.gr_mem} <= {name}
    return False
