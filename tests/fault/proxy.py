"""Between a client and a Postgres on a unix socket: cuts a connection where a test says so."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from pathlib import Path

SOCKET = ".s.PGSQL.5432"
MARK = b'"event_id":"'
"""What a request has in it that is to be cut off: envelopes, as only an append sends them."""


class Proxy:
    """Forwards every connection to `directory`/.s.PGSQL.5432 to the server's socket.

    `cut` says what happens to connections that send an append, so many times: `request` is not
    forwarded, `reply` is awaited and thrown away, `wait` is forwarded and nobody waits for it, and
    with `gone` nobody can connect any more once the reply was thrown away.
    """

    def __init__(self, directory: Path, server: Path) -> None:
        self.cuts: list[str] = []
        self.done: list[str] = []
        self._server = server
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(directory / SOCKET))
        self._listening.listen(64)
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, what: str, times: int = 1) -> None:
        self.cuts += [what] * times

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(str(self._server / SOCKET))
                except OSError:  # as the client would find it
                    client.close()
                    server.close()
                    continue
                self._ends += [client, server]
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError), selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    came = key.fileobj.recv(1 << 16)
                    if not came:
                        return self._end(client, server)
                    if key.fileobj is client and MARK in came and self.cuts:
                        return self._cut(self.cuts.pop(0), came, client, server)
                    key.data.sendall(came)

    def _cut(self, what: str, came: bytes, client: socket.socket, server: socket.socket) -> None:
        self.done.append(what)
        if what != "request":
            server.sendall(came)
        if what in {"reply", "gone"}:
            self._await_reply(client, server)
        if what == "gone":
            self._end(self._listening, *self._ends)
            self._listening.close()
        if what == "wait":  # the server goes on with what it was asked
            client.shutdown(socket.SHUT_RDWR)
        else:
            self._end(client, server)

    def _await_reply(self, client: socket.socket, server: socket.socket) -> None:
        """A request may come in several parts."""
        with selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ)
            ready.register(server, selectors.EVENT_READ)
            while all(key.fileobj is client for key, _ in ready.select()):
                server.sendall(client.recv(1 << 16))

    def _end(self, *ends: socket.socket) -> None:
        for each in ends:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._end(self._listening, *self._ends)
        for each in (self._listening, *self._ends):
            each.close()
