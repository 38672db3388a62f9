"""Claude, by Anthropic's Messages API, or a local model behind the same API. The only file that
knows the vendor's library.

The prices are from platform.claude.com/docs/en/about-claude/pricing, as of November 2026; an
invoice may say otherwise. A write to the cache of five minutes costs 1.25 times the input, a read
from it a tenth; a batch is half of everything. Haiku 4.5 caches a prompt from 4,096 tokens on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import anthropic

from beliefledger.gate.extractor import ExtractorSettings
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
_DOLLARS_PER_MILLION = {  # by the beginning of the model's name: input, output
    "claude-haiku-4-5": (1, 5),
    "claude-sonnet-4-5": (3, 15),
    "claude-opus-4-5": (5, 25),
}


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
    ) -> None:
        self.model = model
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

    def cost(self, tokens: Tokens, *, batch: bool = False) -> int:
        """Micro-dollars, rounded up; 0 for a model whose price is not known (a local one)."""
        return cost(self.model, tokens, batch=batch)

    def ask(self, question: Question) -> Reply:
        """Raises `ExtractionUnavailable`, or `NotPermitted`."""
        try:
            return _reply(self._client.messages.create(**self._parameters(question)))
        except (anthropic.AnthropicError, ValueError) as problem:
            raise self._meaning(problem) from problem

    def _parameters(self, question: Question) -> dict[str, Any]:
        """Of one call. The system prompt is the same for all: it is cached."""
        return {
            "model": self.model,
            "max_tokens": MAX_TOKENS,
            "system": [
                {"type": "text", "text": question.system, "cache_control": {"type": "ephemeral"}}
            ],
            "messages": list(question.messages),
            "output_config": {
                "format": {
                    "type": "json_schema",
                    "schema": anthropic.transform_schema({**question.schema}),
                }
            },
        }

    # Batches

    def send_batch(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions by an id each; returns the batch's id."""
        listed: list[Any] = [
            {"custom_id": id_, "params": self._parameters(each)} for id_, each in questions.items()
        ]
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


def cost(model: str, tokens: Tokens, *, batch: bool = False) -> int:
    """Micro-dollars, rounded up; 0 for a model whose price is not known (a local one)."""
    for name, (input_, output) in _DOLLARS_PER_MILLION.items():
        if model.startswith(name):
            twentieths = (
                input_ * (20 * tokens.fresh + 25 * tokens.written + 2 * tokens.read)
                + output * 20 * tokens.output
            )
            return -(-twentieths // (40 if batch else 20))
    return 0


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
