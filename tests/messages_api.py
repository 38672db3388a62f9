"""A server on loopback that speaks the Messages API, so that the real client can be tested."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from model_server import Answer, ModelServer, serving, statement

USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 4_000,
    "output_tokens": 50,
}


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


class MessagesAPI(ModelServer):
    """The server, with Message Batches."""

    path = "/v1/messages"
    unasked = error(500, "api_error", "the test gave no answer for this request")

    def __init__(self) -> None:
        self.batches: dict[str, dict[str, Any]] = {}
        self.batch_polls = 1
        """How often a batch is looked at until it has ended."""
        self.batch_trouble: list[Answer] = []
        """Answers to the next batches that are handed over."""
        self.batch_taken = True
        """Whether a batch is taken all the same where its answer is trouble."""
        self.batch_result: Callable[[str, dict[str, Any]], dict[str, Any]] = self._as_if_asked
        super().__init__()

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
            "created_at": held["created_at"],
            "expires_at": held["created_at"],
            "ended_at": held["created_at"] if ended else None,
            "results_url": f"{self.url}/v1/messages/batches/{id_}/results" if ended else None,
        }

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        if path != "/v1/messages/batches":
            return self.missing(path)
        trouble = self.batch_trouble.pop(0) if self.batch_trouble else None
        if trouble is not None and not self.batch_taken:
            return trouble
        id_ = f"msgbatch_{len(self.batches) + 1}"
        self.batches[id_] = {
            "requests": body["requests"],
            "polls": 0,
            "created_at": datetime.now(UTC).isoformat(),
        }
        if trouble is not None:
            return trouble
        return Answer(self.batch(id_) | {"processing_status": "in_progress"})

    def get(self, path: str) -> Answer:
        parts = path.split("?", maxsplit=1)[0].strip("/").split("/")
        if parts == ["v1", "messages", "batches"]:
            listed = [self.batch(id_) for id_ in reversed(self.batches)]
            return Answer({"data": listed, "has_more": False, "first_id": None, "last_id": None})
        if parts[:3] != ["v1", "messages", "batches"] or parts[3] not in self.batches:
            return self.missing(path)
        if parts[4:] != ["results"]:
            return Answer(self.batch(parts[3]))
        lines = [
            {
                "custom_id": each["custom_id"],
                "result": self.batch_result(each["custom_id"], each["params"]),
            }
            for each in reversed(self.batches[parts[3]]["requests"])
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return Answer(text, headers={"content-type": "application/x-jsonl"})

    def missing(self, path: str) -> Answer:
        return error(404, "not_found_error", path)


@contextmanager
def messages_api() -> Iterator[MessagesAPI]:
    with serving(MessagesAPI()) as api:
        yield api


@contextmanager
def asked_by_claude(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesAPI]:
    """The server, to which every ledger that is opened now turns for extraction."""
    with messages_api() as served:
        monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", "claude")
        monkeypatch.setenv("BELIEFLEDGER_MODEL_URL", served.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        yield served


def now(body: dict[str, Any]) -> str:
    """The words of the turn that a request asks about."""
    said: str = json.loads(body["messages"][0]["content"])["now"]["content"]
    return said


def by_city(body: dict[str, Any]) -> Answer:
    """Takes the last word of a turn for the city where its speaker lives."""
    city = now(body).split()[-1].rstrip(".")
    return says({"statements": [statement(f"I live in {city}", city)]})
