"""What the loopback servers that stand in for model providers have in common.

A test says what a server answers: for each request, in order, an `Answer`, or a function of the
request's body. What it was asked is in `asked`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


@dataclass
class Answer:
    """One answer: a status with a body; `cut` breaks the connection in the middle of it."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: bool = False


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args: Any) -> None:
        """A client that was killed is no error of the server's."""


Script = Callable[[dict[str, Any]], Answer]
Served = TypeVar("Served", bound="ModelServer")


class ModelServer:
    """A provider's API; `url` is where it listens. A subclass says at which path it is asked, and
    what else it can do."""

    path: str
    """Where a model is asked."""
    unasked: Answer
    """For a request that the test gave no answer for."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Answer] = []
        self.always: Script | None = None
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        self._server = Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            if self.answers:
                return self.answers.pop(0)
        return self.unasked if self.always is None else self.always(body)

    def busy_with(self, requests: int) -> None:
        """Wait, in an answer, until so many requests have been there at once."""
        last = time.monotonic() + 60
        while self.busiest < requests:
            assert time.monotonic() < last, f"{requests} requests at once never came"
            time.sleep(0.005)

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        """The answer to a POST to another path."""
        return self.missing(path)

    def get(self, path: str) -> Answer:
        return self.missing(path)

    def missing(self, path: str) -> Answer:
        """The answer at a path where there is nothing."""
        raise NotImplementedError

    def _ask(self, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            self.asked.append(body)
            self.headers.append(headers)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        given = self.answer(body)
        time.sleep(given.wait)
        with self._lock:
            self._busy -= 1
        return given

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: Any) -> None:
                pass

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = json.loads(self.rfile.read(length))
                if self.path.partition("?")[0] == api.path:
                    self.give(api._ask(body, {k.lower(): v for k, v in self.headers.items()}))
                else:
                    self.give(api.post(self.path, body))

            def do_GET(self) -> None:
                self.give(api.get(self.path))

            def give(self, given: Answer) -> None:
                text = given.body if isinstance(given.body, str) else json.dumps(given.body)
                payload = text.encode()
                try:
                    self.send_response(given.status)
                    for name, value in (
                        {"content-type": "application/json"} | given.headers
                    ).items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(payload)))
                    self.end_headers()
                    if given.cut:
                        self.wfile.write(payload[: len(payload) // 2])
                        self.wfile.flush()
                        self.close_connection = True
                        self.connection.shutdown(2)
                        return
                    self.wfile.write(payload)
                except OSError:
                    self.close_connection = True  # the client did not wait

        return Handler


def statement(
    words: str, value: str, attribute: str = "home.location", **fields: Any
) -> dict[str, Any]:
    """One statement, as a model of any provider is asked to note it."""
    return {
        "claim": f"User {words[2:]}".replace("User live ", "User lives "),
        "quotes": [{"turn": "now", "words": words}],
        "type": "fact",
        "attribute": attribute,
        "value": value,
        "topic": "home",
        "importance": 0.8,
        "confidence": 0.9,
    } | fields


PORTO = {"statements": [statement("I live in Porto", "Porto")]}


@contextmanager
def serving(api: Served) -> Iterator[Served]:
    thread = threading.Thread(target=api._server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api._server.shutdown()
        api._server.server_close()
        thread.join()
