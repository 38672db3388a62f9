"""A server on loopback that speaks OpenAI's Chat Completions, as Ollama, vLLM and others do.

`takes` says which formats of structured output it accepts: servers differ in that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from model_server import Answer, ModelServer, serving

USAGE = {
    "prompt_tokens": 5_000,
    "completion_tokens": 50,
    "total_tokens": 5_050,
    "prompt_tokens_details": {"cached_tokens": 4_000},
}
MODEL = "qwen3:8b"


def says(text: str | dict[str, Any] | None, stopped: str = "stop", **usage: Any) -> Answer:
    """The model's message."""
    return Answer(completion(text, stopped, **usage))


def completion(
    text: str | dict[str, Any] | None, stopped: str = "stop", **usage: Any
) -> dict[str, Any]:
    said = json.dumps(text) if isinstance(text, dict) else text
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_772_355_600,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": said},
                "finish_reason": stopped,
                "logprobs": None,
            }
        ],
        "usage": USAGE | usage,
    }


def error(status: int, said: Any = "no", code: str | None = None, **headers: str) -> Answer:
    """An error in OpenAI's own shape; the client is told to come back at once."""
    body = {"error": {"message": said, "type": "an_error", "param": None, "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body, status, {"retry-after-ms": "5"} | named)


def form(body: dict[str, Any]) -> str | None:
    """The format of output that a request asks for."""
    return body.get("response_format", {}).get("type")


class ChatAPI(ModelServer):
    """The server."""

    path = "/v1/chat/completions"
    unasked = error(500, "the test gave no answer for this request")

    def __init__(self) -> None:
        self.takes: set[str | None] = {"json_schema", "json_object", None}
        self.refusal = error(400, "This response_format type is unavailable now")
        super().__init__()

    def answer(self, body: dict[str, Any]) -> Answer:
        return super().answer(body) if form(body) in self.takes else self.refusal

    def missing(self, path: str) -> Answer:
        return error(404, path)


@contextmanager
def chat_api() -> Iterator[ChatAPI]:
    with serving(ChatAPI()) as api:
        yield api
