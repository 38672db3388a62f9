"""The Messages API. The only file that knows the vendor's library."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Any

import anthropic

from beliefledger.gate.claude.prices import Tokens
from beliefledger.ledger.errors import ExtractionUnavailable, NotPermitted

MODEL = "claude-haiku-4-5-20251001"
URL = "https://api.anthropic.com"
MAX_TOKENS = 4_000
LONGEST_WAIT = 60.0
"""Seconds. A service that asks for more is not waited for: the turn stays queued."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, why it stopped (`end_turn`, `max_tokens`, `refusal` …), its tokens."""

    text: str
    stopped: str | None
    tokens: Tokens


class Client:
    """Calls one model. Safe to use from several threads.

    `retries` are made with growing pauses on 408, 409, 429, 5xx and 529, on timeouts and on cut
    connections; then `ExtractionUnavailable` is raised. What no retry can mend (a refused key, an
    unknown model) is `NotPermitted`, saying what to do.
    """

    def __init__(
        self,
        key: str | None,
        *,
        model: str = MODEL,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        self.model = model
        self._may_ask = bool(key) or base_url is not None
        self._made = anthropic.Anthropic(
            api_key=key or "none",
            base_url=base_url or URL,
            timeout=timeout,
            max_retries=retries,
            http_client=anthropic.DefaultHttpxClient(
                timeout=timeout, event_hooks={"response": [_give_up_on_long_waits]}
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

    def request(
        self, system: str, schema: Mapping[str, Any], messages: Sequence[Mapping[str, str]]
    ) -> dict[str, Any]:
        """The parameters of one call. The system prompt is the same for all: it is cached."""
        return {
            "model": self.model,
            "max_tokens": MAX_TOKENS,
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            "messages": list(messages),
            "output_config": {
                "format": {"type": "json_schema", "schema": anthropic.transform_schema({**schema})}
            },
        }

    def ask(self, request: Mapping[str, Any]) -> Reply:
        """Raises `ExtractionUnavailable`, or `NotPermitted`."""
        try:
            return _reply(self._client.messages.create(**request))
        except (anthropic.AnthropicError, ValueError) as problem:
            raise self._meaning(problem) from problem

    # Batches

    def send_batch(self, requests: Mapping[str, Mapping[str, Any]]) -> str:
        """Hand over requests by an id each; returns the batch's id."""
        listed: list[Any] = [{"custom_id": id_, "params": each} for id_, each in requests.items()]
        try:
            return self._client.messages.batches.create(requests=listed).id
        except (anthropic.AnthropicError, ValueError) as problem:
            raise self._meaning(problem) from problem

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
            case anthropic.AuthenticationError() | anthropic.PermissionDeniedError():
                return NotPermitted(
                    f"{self._made.base_url} refused the key ({said}). Set ANTHROPIC_API_KEY to"
                    " one that may use the model; the turns stay queued."
                )
            case anthropic.PaymentRequiredError():
                return NotPermitted(
                    f"{self._made.base_url} asks to be paid first ({said}). See to the account's"
                    " credit; the turns stay queued."
                )
            case anthropic.NotFoundError():
                return NotPermitted(
                    missing
                    or f"{self._made.base_url} has no model {self.model!r} ({said}). Choose one"
                    " with --model or BELIEFLEDGER_MODEL; the turns stay queued."
                )
            case anthropic.APIStatusError():
                return ExtractionUnavailable(f"The service answered {problem.status_code}: {said}.")
            case anthropic.APITimeoutError():
                return ExtractionUnavailable("The service did not answer in time.")
            case anthropic.APIConnectionError():
                cause = problem.__cause__ or problem
                return ExtractionUnavailable(f"The service could not be reached: {cause}.")
            case _:
                return ExtractionUnavailable(f"The service's answer could not be read: {said}.")


def _give_up_on_long_waits(response: Any) -> None:
    """Told to come back in an hour, the library would sleep for an hour."""
    if _asked_to_wait(response.headers) > LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"


def _asked_to_wait(headers: Mapping[str, str]) -> float:
    """Seconds, from the headers in the order in which the library looks at them; 0 for none."""
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        with suppress(ValueError):
            return float(headers.get(name, "")) / unit
    date = parsedate_tz(headers.get("retry-after", ""))
    return 0.0 if date is None else mktime_tz(date) - time.time()


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
    return Reply(text, message.stop_reason, Tokens(*counts))
