"""Maps errors of the operating system about a file to ours: those that may pass, and those that
stay until somebody fixes the cause."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable

_COPY = (
    "or copy the whole directory of the ledger to a place that can be written, and open the copy:"
    " questions, too, write views and locks"
)
_OWNER = f"give the user who runs this the right to read and write it, {_COPY}"
_FILE = "a directory or device is where a file belongs: move it away, and put the file back"
_DIRECTORY = "a file is where a directory belongs: move it away, or name another place"
_READ_ONLY = f"its file system is mounted read-only: mount it for writing, {_COPY}"
REMEDIES = {
    errno.EACCES: _OWNER,
    errno.EPERM: _OWNER,
    errno.EROFS: _READ_ONLY,
    errno.EISDIR: _FILE,
    errno.ENXIO: _FILE,
    errno.ENODEV: _FILE,
    errno.ENOTEMPTY: _FILE,
    errno.ENOTDIR: _DIRECTORY,
    errno.EEXIST: _DIRECTORY,
    errno.ENOENT: "a directory on the way to it is missing: make it, or name another place",
    errno.ELOOP: "its links lead in a circle: mend them",
    errno.ENAMETOOLONG: "the name is too long for the file system: choose a shorter one",
}
"""What to do about an error that stays until somebody does it. Every other one may pass: a full
disk, too many open files, a disk that does not answer."""


def file_fault(what: str, problem: OSError) -> BackendUnavailable | BackendUnusable:
    """The error for what the system said. `what` names the file and says what cannot be done."""
    said = problem.strerror or str(problem)
    if problem.filename is not None and str(problem.filename) not in what:
        said += f" ({problem.filename})"
    remedy = REMEDIES.get(problem.errno or 0)
    if remedy is None:
        return BackendUnavailable(f"{what}: {said}.")
    return BackendUnusable(f"{what}: {said}. What to do: {remedy}.")


def obstacle(path: Path) -> str | None:
    """What to do about what keeps a database at this path from being opened and written until
    somebody does it; None where nothing is seen to. The file itself is not opened: closing it would
    drop the locks that SQLite has on it."""
    try:
        if not stat.S_ISDIR(path.parent.stat().st_mode):
            return _DIRECTORY
        there = path.exists()
        if there and not stat.S_ISREG(path.stat().st_mode):
            return _FILE
        if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
            return _READ_ONLY
    except OSError as problem:
        return REMEDIES.get(problem.errno or 0)
    beside = [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm", "-journal")]
    if any(each.is_dir() for each in beside):
        return f"a directory is where {path.name} keeps a file beside it: move it away"
    wanted = [path.parent, *(each for each in (path, *beside) if each.exists())]
    if not all(os.access(each, os.R_OK | os.W_OK, effective_ids=True) for each in wanted):
        return _OWNER
    return None
