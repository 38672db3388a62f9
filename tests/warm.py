"""A process that has loaded our packages, and forks for each program that it is asked to run.

To load them takes longer than most programs of tests do. What it is asked for comes over a socket:
the words of the command, its directory and environment, and its three streams. It answers with the
process' id, and with its status once it has ended. It ends itself when its own input does.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

LENGTH = struct.Struct("!I")
STATUS = struct.Struct("!i")


def load() -> None:
    """What nearly every program needs; none of it reads the environment or starts a thread."""
    import faiss  # noqa: F401
    import rich.table  # noqa: F401

    import beliefledger.backups
    import beliefledger.ledger.postgres.store
    import beliefledger.opening.backends
    import beliefledger.operations.copy
    import beliefledger.projections.postgres
    import beliefledger.tools.cli
    import beliefledger.tools.cli.common  # noqa: F401


def use() -> None:
    """Use a ledger once: patterns are compiled, and modules imported, when they are first used.

    It is told nothing of the environment, and has ended its threads when this returns.
    """
    from beliefledger import open_memory

    ours = {name: each for name, each in os.environ.items() if name.startswith("BELIEFLEDGER_")}
    for name in ours:
        del os.environ[name]
    os.environ["BELIEFLEDGER_EMBEDDER"] = "hashed-1"
    with tempfile.TemporaryDirectory() as place, open_memory(place) as memory:
        memory.consent.grant("somebody", "consent")
        memory.remember("somebody", "I live in a town by the sea.")
        memory.search("somebody", "where is it?")
        memory.beliefs("somebody")
        memory.status()
    del os.environ["BELIEFLEDGER_EMBEDDER"]
    os.environ.update(ours)


def load_server() -> None:
    """What every server needs, for which the first one waits: it takes longer than the rest."""
    import beliefledger.tools.server.serving  # noqa: F401
    from beliefledger.tools.server.api import http

    http._routes()
    gc.freeze()


def asked(listening: socket.socket) -> dict[str, Any]:
    """Serve until a process is forked: in that, what it has to run."""
    wake, woken = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([listening, wake, 0], [], [])
        if 0 in ready:
            raise SystemExit
        if wake in ready:
            os.read(wake, 4096)
            _tell_ended(running)
        if listening not in ready:
            continue
        asking, _ = listening.accept()
        told, streams = _read(asking)
        if "serve" in told["words"]:
            load_server()
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for opened in (listening, asking, *running.values()):
                opened.close()
            os.close(wake)
            os.close(woken)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for stream in streams:
                os.close(stream)
            return told
        for stream in streams:
            os.close(stream)
        running[child] = asking
        asking.sendall(STATUS.pack(child))


def _read(asking: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, streams, _, _ = socket.recv_fds(asking, LENGTH.size, 3)
    (length,) = LENGTH.unpack(head)
    said = b""
    while len(said) < length:
        said += asking.recv(length - len(said))
    return json.loads(said), streams


def _tell_ended(running: dict[int, socket.socket]) -> None:
    while running:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if not ended:
            return
        with running.pop(ended) as asking:
            with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
                asking.sendall(STATUS.pack(status))


def run(told: dict[str, Any]) -> None:
    """Run a program as Python does: `-c` and its text, `-m` and its module, or its file."""
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["env"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        mode, lines = "w" if number else "r", 1 if number == 2 else -1
        new = open(number, mode, lines, old.encoding, old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    kind, *words = told["words"]
    path = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    if kind == "-m":
        sys.path[:0] = ["", *path]
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.path[:0] = ["", *path]
        sys.argv = ["-c", *words[1:]]
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        exec(compile(words[0], "<string>", "exec"), main.__dict__)  # as `-c` does
    else:
        sys.path[:0] = [str(Path(kind).parent), *path]
        sys.argv = [kind, *words]
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    sys.path.pop(0)  # this directory, which programs do not have
    load()
    use()
    gc.collect()
    gc.freeze()  # what programs share with this need not be looked through when they end
    with socket.socket(fileno=int(sys.argv[1])) as socket_:
        todo = asked(socket_)
    run(todo)
