"""A server on loopback that speaks the Messages API, so that the real client can be tested.

A test says what it answers: for each request, in order, an `Answer`, or a function of the request's
body. What it was asked is in `asked`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 4_000,
    "output_tokens": 50,
}


@dataclass
class Answer:
    """One answer: a status with a body; `cut` breaks the connection in the middle of it."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: bool = False


def says(text: str | dict[str, Any], stopped: str = "end_turn", **usage: int) -> Answer:
    """The model's message."""
    return Answer(message(text, stopped, **usage))


def message(text: str | dict[str, Any], stopped: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text if isinstance(text, str) else json.dumps(text)}],
        "stop_reason": stopped,
        "stop_sequence": None,
        "usage": USAGE | usage,
    }


def error(status: int, kind: str, said: str = "no", **headers: str) -> Answer:
    """An error in the API's own shape; the client is told to come back at once."""
    body = {"type": "error", "error": {"type": kind, "message": said}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body, status, {"retry-after-ms": "5"} | named)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args: Any) -> None:
        """A client that was killed is no error of the server's."""


Script = Callable[[dict[str, Any]], Answer]


class MessagesAPI:
    """The server; `url` is where it listens."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Answer] = []
        self.always: Script | None = None
        self.batches: dict[str, dict[str, Any]] = {}
        self.batch_polls = 1
        """How often a batch is looked at until it has ended."""
        self.batch_result: Callable[[str, dict[str, Any]], dict[str, Any]] = self._as_if_asked
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        self._server = Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            if self.answers:
                return self.answers.pop(0)
        if self.always is None:
            return error(500, "api_error", "the test gave no answer for this request")
        return self.always(body)

    def _as_if_asked(self, _id: str, params: dict[str, Any]) -> dict[str, Any]:
        given = self.answer(params)
        if given.status == 200:
            return {"type": "succeeded", "message": given.body}
        return {"type": "errored", "error": given.body}

    def batch(self, id_: str) -> dict[str, Any]:
        held = self.batches[id_]
        ended = held["polls"] >= self.batch_polls
        held["polls"] += 1
        counts = dict.fromkeys(("canceled", "errored", "expired", "processing", "succeeded"), 0)
        counts["succeeded" if ended else "processing"] = len(held["requests"])
        return {
            "id": id_,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": "2026-03-01T09:00:00Z",
            "expires_at": "2026-03-02T09:00:00Z",
            "ended_at": "2026-03-01T10:00:00Z" if ended else None,
            "results_url": f"{self.url}/v1/messages/batches/{id_}/results" if ended else None,
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: Any) -> None:
                pass

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = json.loads(self.rfile.read(length))
                if self.path == "/v1/messages":
                    with api._lock:
                        api.asked.append(body)
                        api.headers.append({k.lower(): v for k, v in self.headers.items()})
                        api._busy += 1
                        api.busiest = max(api.busiest, api._busy)
                    given = api.answer(body)
                    time.sleep(given.wait)
                    with api._lock:
                        api._busy -= 1
                    self.give(given)
                elif self.path == "/v1/messages/batches":
                    id_ = f"msgbatch_{len(api.batches) + 1}"
                    api.batches[id_] = {"requests": body["requests"], "polls": 0}
                    self.give(Answer(api.batch(id_) | {"processing_status": "in_progress"}))
                else:
                    self.give(error(404, "not_found_error", self.path))

            def do_GET(self) -> None:
                parts = self.path.split("?")[0].strip("/").split("/")
                if parts[:3] != ["v1", "messages", "batches"] or parts[3] not in api.batches:
                    self.give(error(404, "not_found_error", self.path))
                elif parts[4:] == ["results"]:
                    lines = [
                        {
                            "custom_id": each["custom_id"],
                            "result": api.batch_result(each["custom_id"], each["params"]),
                        }
                        for each in reversed(api.batches[parts[3]]["requests"])
                    ]
                    text = "".join(json.dumps(line) + "\n" for line in lines)
                    self.give(Answer(text, headers={"content-type": "application/x-jsonl"}))
                else:
                    self.give(Answer(api.batch(parts[3])))

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


@contextmanager
def messages_api() -> Iterator[MessagesAPI]:
    api = MessagesAPI()
    thread = threading.Thread(target=api._server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api._server.shutdown()
        api._server.server_close()
        thread.join()
