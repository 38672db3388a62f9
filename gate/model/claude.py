"""Claude, by Anthropic's Messages API, or a local model behind the same API. The only file that
knows the vendor's library.

The instructions are cached: for five minutes, and for an hour in a batch, whose requests are worked
on over that long. Haiku 4.5 caches a prompt from 4,096 tokens on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic

from beliefledger.gate.extractor import ExtractorSettings
from beliefledger.gate.model import prices
from beliefledger.gate.model.client import (
    MAX_TOKENS,
    Question,
    Reply,
    Tokens,
    error_of_status,
    give_up_on_long_waits,
    timed_out,
    unreachable,
    unreadable,
)
from beliefledger.gate.model.extractor import ModelExtractor
from beliefledger.ledger.errors import ExtractionUnavailable, NotPermitted

MODEL = "claude-haiku-4-5-20251001"
URL = "https://api.anthropic.com"
_NOT_TAKEN = frozenset({429, 503, 529})
"""What the service answers when it has taken nothing, so that a batch may be sent again."""
_SKEW = timedelta(minutes=2)
"""How far the service's clock may be from ours."""


def extractor(settings: ExtractorSettings) -> ModelExtractor:
    """The extractor "claude"."""
    client = ClaudeClient(
        settings.model_key, model=settings.model or MODEL, base_url=settings.model_url
    )
    return ModelExtractor(client, settings.registry, settings.policy)


class ClaudeClient:
    """Calls one model. Safe to use from several threads.

    `retries` are made with growing pauses on 408, 409, 429, 5xx and 529, on timeouts and on cut
    connections; then `ExtractionUnavailable` is raised. What no retry can mend (a refused key, an
    unknown model) is `NotPermitted`, saying what to do.
    """

    provider = "claude"

    def __init__(
        self,
        key: str | None,
        *,
        model: str = MODEL,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self._retries = retries
        self._sleep = sleep
        self._may_ask = bool(key) or base_url is not None
        self._made = anthropic.Anthropic(
            api_key=key or "none",
            base_url=base_url or URL,
            timeout=timeout,
            max_retries=retries,
            http_client=anthropic.DefaultHttpxClient(
                timeout=timeout, event_hooks={"response": [give_up_on_long_waits]}
            ),
        )

    @property
    def _client(self) -> anthropic.Anthropic:
        """Raises `NotPermitted` without a key, only now: whoever asks no model needs none."""
        if not self._may_ask:
            raise NotPermitted(
                "Extraction by Claude needs a key: set ANTHROPIC_API_KEY, or"
                " BELIEFLEDGER_MODEL_URL for a model of your own that needs none."
            )
        return self._made

    def close(self) -> None:
        self._made.close()

    def cost(self, tokens: Tokens, *, batch: bool = False) -> int | None:
        """Micro-dollars, rounded up; None for a model whose price is not known (a local one)."""
        return prices.cost(self.model, tokens, batch=batch)

    def ask(self, question: Question) -> Reply:
        """Raises `ExtractionUnavailable`, or `NotPermitted`."""
        try:
            return _reply(self._client.messages.create(**self._parameters(question)))
        except (anthropic.AnthropicError, ValueError) as problem:
            raise self._meaning(problem) from problem

    def _parameters(self, question: Question, *, batch: bool = False) -> dict[str, Any]:
        """Of one call. The system prompt is the same for all: it is cached."""
        cached = {"type": "ephemeral"} | ({"ttl": "1h"} if batch else {})
        return {
            "model": self.model,
            "max_tokens": MAX_TOKENS,
            "system": [{"type": "text", "text": question.system, "cache_control": cached}],
            "messages": list(question.messages),
            "output_config": {
                "format": {
                    "type": "json_schema",
                    "schema": anthropic.transform_schema({**question.schema}),
                }
            },
        }

    # Batches

    def batch_size(self, question: Question) -> int:
        """How many bytes a question takes in a batch."""
        return len(json.dumps(self._parameters(question, batch=True), ensure_ascii=False).encode())

    def send_batch(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions by an id each; returns the batch's id.

        Where the answer is lost, the service is asked which batches it has got since: if one is of
        this size, it is ours. The same batch is sent again only where it was certainly not taken.
        """
        listed: list[Any] = [
            {"custom_id": id_, "params": self._parameters(each, batch=True)}
            for id_, each in questions.items()
        ]
        client = self._client.with_options(max_retries=0)
        begun = datetime.now(UTC) - _SKEW
        for attempt in range(self._retries + 1):
            try:
                return client.messages.batches.create(requests=listed).id
            except (anthropic.AnthropicError, ValueError) as problem:
                status = getattr(problem, "status_code", None)
                if status is not None and status not in _NOT_TAKEN and status < 500:
                    raise self._meaning(problem) from problem
                if status not in _NOT_TAKEN:
                    taken = self._batch_taken(len(listed), begun)
                    if taken is not None:
                        return taken
                if attempt == self._retries:
                    raise self._meaning(problem) from problem
                self._sleep(0.5 * 2**attempt)
        raise AssertionError  # the loop returns or raises

    def _batch_taken(self, count: int, since: datetime) -> str | None:
        """The batch of this many requests that the service has got since a time; None if none.
        Raises `ExtractionUnavailable` where it does not say, or where there are several."""
        found: list[str] = []
        try:
            for each in self._client.messages.batches.list(limit=100):
                if each.created_at < since:
                    break
                counted = each.request_counts
                size = sum(
                    (counted.processing, counted.succeeded, counted.errored, counted.canceled,
                     counted.expired)
                )  # fmt: skip
                if size == count:
                    found.append(each.id)
        except (anthropic.AnthropicError, ValueError) as problem:
            raise ExtractionUnavailable(
                "The answer to a batch was lost, and the service does not say whether it has the"
                " batch. Look at its list of batches before you send another, and take up the one"
                " that is there with --resume."
            ) from problem
        if len(found) > 1:
            raise ExtractionUnavailable(
                f"The answer to a batch was lost, and {', '.join(found)} may be it. Take up the"
                " right one with --resume."
            )
        return found[0] if found else None

    def batch_left(self, batch_id: str) -> int | None:
        """How many requests of a batch are still worked on; None once it has ended."""
        try:
            batch = self._client.messages.batches.retrieve(batch_id)
        except (anthropic.AnthropicError, ValueError) as problem:
            raise self._meaning(problem, f"There is no batch {batch_id}.") from problem
        return None if batch.processing_status == "ended" else batch.request_counts.processing

    def batch_replies(
        self, batch_id: str
    ) -> Iterator[tuple[str, Reply | ExtractionUnavailable | None]]:
        """Each request's id with its reply, or why there is none; None for one that expired or was
        cancelled, which nobody looked at."""
        try:
            for each in self._client.messages.batches.results(batch_id):
                result = each.result
                if result.type == "succeeded":
                    try:
                        yield each.custom_id, _reply(result.message)
                    except ExtractionUnavailable as problem:
                        yield each.custom_id, problem
                elif result.type == "errored":
                    error = result.error.error
                    yield each.custom_id, ExtractionUnavailable(f"{error.type}: {error.message}.")
                else:
                    yield each.custom_id, None
        except (anthropic.AnthropicError, ValueError) as problem:
            raise self._meaning(problem, f"There is no batch {batch_id}.") from problem

    def _meaning(self, problem: Exception, missing: str | None = None) -> Exception:
        """The error of ours that says what to do."""
        said = getattr(problem, "api_message", None) or str(problem)
        match problem:
            case anthropic.APIStatusError():
                return error_of_status(
                    problem.status_code,
                    said,
                    url=self._made.base_url,
                    model=self.model,
                    key="ANTHROPIC_API_KEY",
                    missing=missing,
                )
            case anthropic.APITimeoutError():
                return timed_out()
            case anthropic.APIConnectionError():
                return unreachable(problem)
            case _:
                return unreadable(said)


def _reply(message: Any) -> Reply:
    """The text of a message. Raises `ExtractionUnavailable` where the service sent something else:
    the library does not check the shape of what comes."""
    if not isinstance(message, anthropic.types.Message) or not isinstance(message.content, list):
        raise ExtractionUnavailable("The service did not answer with a message.")
    text = "".join(block.text or "" for block in message.content if block.type == "text")
    usage = message.usage
    counts = (
        getattr(usage, name, None) or 0
        for name in (
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        )
    )
    return Reply(
        text,
        message.stop_reason,
        Tokens(*counts),
        cut_off=message.stop_reason == "max_tokens",
        refused=message.stop_reason == "refusal",
    )
