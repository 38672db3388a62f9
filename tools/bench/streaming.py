"""How soon subscribers to a server are told of an event, and how two hundred clients at once are
answered."""

from __future__ import annotations

import json
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from statistics import median
from urllib.parse import urlsplit

from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.wire import ledger_server

SUBSCRIBERS, CLIENTS = 100, 200
_NAME, _SUBJECT = "bench", "ana"
_WARM = 5
_SECONDS = 30.0


class _Subscribers:
    """Open streams of events, all read by one thread."""

    def __init__(self, url: str, token: str, many: int) -> None:
        at = urlsplit(url)
        self._ends = [b""] * many
        self._arrived: list[float] = []
        self._more = threading.Condition()
        self._selector = selectors.DefaultSelector()
        asked = (
            "GET /v1/events?types=turn.recorded.v2 HTTP/1.1\r\n"
            f"Host: {at.netloc}\r\nAuthorization: Bearer {token}\r\n"
            "Accept: text/event-stream\r\n\r\n"
        )
        for number in range(many):
            made = socket.create_connection((at.hostname or "", at.port or 0))
            made.sendall(asked.encode())
            begun = made.recv(65_536)
            while b": begins" not in begun:
                if not begun.startswith(b"HTTP/1.1 200"):
                    raise RuntimeError(f"a stream was answered with {begun[:200]!r}")
                begun += made.recv(65_536)
            self._selector.register(made, selectors.EVENT_READ, number)
        self._closed = False
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while not self._closed:
            for key, _ in self._selector.select(0.1):
                assert isinstance(key.fileobj, socket.socket)
                said = self._ends[key.data] + key.fileobj.recv(65_536)
                now = time.monotonic()
                whole, newline, self._ends[key.data] = said.rpartition(b"\n")
                told = (whole + newline).count(b"event: turn.recorded.v2\n")
                if told:
                    with self._more:
                        self._arrived += [now] * told
                        self._more.notify()

    def told(self) -> list[float]:
        """When each of them was told of the next event."""
        with self._more:
            count = len(self._ends)
            if not self._more.wait_for(lambda: len(self._arrived) >= count, _SECONDS):
                raise RuntimeError(f"{len(self._arrived)} of {count} subscribers were told")
            arrived, self._arrived = self._arrived, []
            return arrived

    def close(self) -> None:
        self._closed = True
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._selector.close()


def streams(run: Run) -> Iterator[Measured]:
    """Another process appends; from its durable append to each of a hundred subscribers."""
    p50, p99 = [], []
    with ExitStack() as closing:
        place = run.place("streams")
        memory = closing.enter_context(open_memory(place, consent="consent"))
        made = memory.tokens.create(_NAME, role="auditor", by=_NAME, subjects=[_SUBJECT])
        server = closing.enter_context(ledger_server(str(place), WORKER="false"))
        subscribers = _Subscribers(server.url, made.token, SUBSCRIBERS)
        closing.callback(subscribers.close)
        for number in run.rounds(f"events to {SUBSCRIBERS} subscribers"):
            taken: list[float] = []
            for at in range(_WARM + run.sizes.streamed):
                memory.record_turn(_SUBJECT, f"Said in {number}, {at}.")
                appended = time.monotonic()
                told = subscribers.told()
                if at >= _WARM:
                    taken += [(each - appended) * 1e3 for each in told]
            taken.sort()
            p50.append(median(taken))
            p99.append(taken[len(taken) * 99 // 100])
    name = f"p50 of an append → {SUBSCRIBERS} subscribers have it"
    yield Measured(name, "ms", p50, Target("≤", 20))
    yield Measured(name.replace("p50", "p99"), "ms", p99)


class _Client(threading.Thread):
    """Records and looks, over one connection, as soon as it is answered."""

    def __init__(self, url: str, token: str, at: int, ends: float) -> None:
        super().__init__(daemon=True)
        self._netloc = urlsplit(url).netloc
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._at = at
        self._ends = ends
        self.taken: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        connection = HTTPConnection(self._netloc, timeout=60)
        number = 0
        while time.monotonic() < self._ends:
            number += 1
            said = json.dumps({"content": f"Said by {self._at} in {number}."}).encode()
            method, path, body = "GET", "/v1/beliefs", None
            if number % 4 == 0:
                method, path, body = "POST", "/v1/turns", said
            begun = time.monotonic()
            try:
                connection.request(method, path, body, self._headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException) as problem:
                self.errors.append(str(problem) or type(problem).__name__)
                connection.close()
                continue
            self.taken.append(time.monotonic() - begun)
            if answer.status >= 300:
                self.errors.append(f"{path} answered {answer.status}")
        connection.close()


def crowd(run: Run) -> Iterator[Measured]:
    """Two hundred clients of one server: three looks to one turn recorded."""
    errors, ratios, notes = [], [], []
    with ExitStack() as closing:
        place = run.place("crowd")
        with open_memory(place, consent="consent") as memory:
            memory.store(_SUBJECT, "red", attribute="colour")
            token = memory.tokens.create(_NAME, by=_NAME, subjects=[_SUBJECT]).token
        server = closing.enter_context(ledger_server(str(place), WORKER="false"))
        for _ in run.rounds(f"{CLIENTS} clients at once"):
            ends = time.monotonic() + run.sizes.crowd_seconds
            clients = [_Client(server.url, token, at, ends) for at in range(CLIENTS)]
            for each in clients:
                each.start()
            for each in clients:
                each.join(120)
            for problem in [problem for each in clients for problem in each.errors][:5]:
                run.fail(problem)
            errors.append(_errors(clients))
            taken = sorted(taken for each in clients for taken in each.taken)
            middle, slow = median(taken), taken[len(taken) * 99 // 100]
            ratios.append(slow / middle)
            notes.append(f"{middle * 1e3:.0f} and {slow * 1e3:.0f} ms")
    name = f"{CLIENTS} clients at once"
    yield Measured(f"errors of {name}", "", errors, Target("=", 0))
    yield Measured(f"p99 of {name}, of the p50", "×", ratios, Target("≤", 20), note=notes[-1])


def _errors(clients: Sequence[_Client]) -> int:
    """Of calls, and of clients that still wait."""
    return sum(len(each.errors) + each.is_alive() for each in clients)
