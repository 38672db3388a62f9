"""Python programs of tests in processes of their own, forked from one that has loaded our packages.

`Program` is a `subprocess.Popen` and `run` a `subprocess.run`, for commands that begin with
`sys.executable`. Tests of how we are loaded, or of what only a new interpreter has, use those of
`subprocess`.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from warm import LENGTH, STATUS


class Program(subprocess.Popen[Any]):
    """A program, which is not our child: that it ended is told by whoever forked it."""

    _asked: socket.socket

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, *given: Any) -> None:
        _close, passed, cwd, env, _info, _flags, shell, *rest = given
        pipes = read, _, _, write, _, errors = rest[:6]
        python, *words = map(os.fspath, args)
        if (
            python != sys.executable
            or executable not in (None, python)
            or any((preexec_fn, passed, shell))
        ):
            raise ValueError("Only Python's own programs: use subprocess.")
        self._asked = socket.socket(socket.AF_UNIX)
        self._asked.connect(_warm())
        said = {
            "words": words,
            "cwd": os.fspath(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
        }
        text = json.dumps(said, default=os.fspath).encode()
        streams = [own if each == -1 else each for own, each in enumerate((read, write, errors))]
        socket.send_fds(self._asked, [LENGTH.pack(len(text))], streams)
        self._asked.sendall(text)
        (self.pid,) = STATUS.unpack(self._asked.recv(STATUS.size, socket.MSG_WAITALL))
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags & os.WNOHANG and not select.select([self._asked], [], [], 0)[0]:
            return 0, 0
        told = self._asked.recv(STATUS.size, socket.MSG_WAITALL)
        self._asked.close()
        (status,) = STATUS.unpack(told)
        return self.pid, status

    def _internal_poll(self, *_given: Any, **_named: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def run(
    command: list[Any], *, check: bool = False, capture_output: bool = False, **given: Any
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`."""
    if capture_output:
        given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    say, timeout = given.pop("input", None), given.pop("timeout", None)
    if say is not None:
        given["stdin"] = subprocess.PIPE
    with Program(command, **given) as program:
        try:
            out, errors = program.communicate(say, timeout=timeout)
        except BaseException:
            program.kill()
            raise
    done = subprocess.CompletedProcess(command, program.returncode, out, errors)
    if check:
        done.check_returncode()
    return done


@cache
def _warm() -> str:
    """The socket of the process that forks. It ends with this one, which holds its input."""
    path = tempfile.mkdtemp(prefix="warm-") + "/socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        _started.append(
            subprocess.Popen(
                [sys.executable, Path(__file__).with_name("warm.py"), str(listening.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,  # which is written to in blocks, as a pipe is
                pass_fds=[listening.fileno()],
                cwd="/",
            )
        )
    return path


_started: list[subprocess.Popen[bytes]] = []

_COMMAND = """\
#!{python} -IS
import json, os, socket, sys
said = {{"words": [*{words}, *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
text = json.dumps(said).encode()
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({path!r})
    socket.send_fds(asked, [len(text).to_bytes({length}, "big")], [0, 1, 2])
    asked.sendall(text)
    asked.recv({status}, socket.MSG_WAITALL)
    ended = int.from_bytes(asked.recv({status}, socket.MSG_WAITALL), sys.byteorder, signed=True)
sys.exit(os.waitstatus_to_exitcode(ended) & 255)
"""


def commands(directory: Path) -> None:
    """Write `beliefledger` and `python` there, for a shell whose PATH begins with it."""
    told = {"path": _warm(), "length": LENGTH.size, "status": STATUS.size, "python": sys.executable}
    directory.mkdir(exist_ok=True)
    for name, words in {"python": [], "beliefledger": ["-m", "beliefledger"]}.items():
        command = directory / name
        command.write_text(_COMMAND.format(words=words, **told), "utf-8")
        command.chmod(0o755)


def end() -> None:
    """End the process that forks, if there is one."""
    if _started:
        _started.pop().communicate()
        socket_ = Path(_warm())
        socket_.unlink()
        socket_.parent.rmdir()
        _warm.cache_clear()
