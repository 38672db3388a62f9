"""Any server that speaks OpenAI's Chat Completions: Ollama, vLLM, llama.cpp, LM Studio, OpenAI.
The only file that knows the vendor's library, which the extra `openai` installs.

Such servers differ in what they take for structured output, and some accept a schema and do not
keep to it. So the schema always stands in the instructions too, and every answer is validated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
from beliefledger.ledger.errors import ExtractionUnavailable, ExtractorMissing, NotPermitted

try:
    import openai
except ModuleNotFoundError as missing:
    if missing.name != "openai":
        raise
    raise ExtractorMissing(
        "The extractor 'openai' needs an extra: pip install 'beliefledger[openai]'."
    ) from missing

URL = "https://api.openai.com/v1"
_FORMATS = ("json_schema", "json_object", None)
"""Ways to ask for JSON, best first. Ollama and vLLM take a schema, DeepSeek only an object, LM
Studio a schema but no object, and what is older neither."""
_REFUSES_FORMAT = (400, 422)
_UNSUPPORTED = {"title", "default", "minLength", "maxLength", "minimum", "maximum"}
"""Keywords of JSON Schema that some servers refuse, or make huge grammars of. What they demand is
checked when the answer is read."""
_LONGEST_TOKEN = 6
"""Characters of our instructions to one token, at most; about four are usual."""


def extractor(settings: ExtractorSettings) -> ModelExtractor:
    """The extractor "openai"."""
    client = OpenAIClient(settings.model_key, model=settings.model, base_url=settings.model_url)
    return ModelExtractor(client, settings.registry, settings.policy)


class OpenAIClient:
    """Calls one model. Safe to use from several threads.

    `retries` are made with growing pauses on 408, 409, 429 and 5xx, on timeouts and on cut
    connections; then `ExtractionUnavailable` is raised. The timeout is long, since a model of one's
    own may have to be loaded first, and may read a prompt slowly.
    """

    provider = "openai"

    def __init__(
        self,
        key: str | None,
        *,
        model: str | None = None,
        base_url: str | None = None,
        timeout: float = 300.0,
        retries: int = 2,
    ) -> None:
        self.model = model or "(none)"
        self._model = model
        self._may_ask = bool(key) or base_url is not None
        self._format = 0
        """Of `_FORMATS`, the first that the server has not refused."""
        patience = openai.Timeout(timeout, connect=min(timeout, 10.0))
        self._made = openai.OpenAI(
            api_key=key or "none",
            base_url=base_url or URL,
            timeout=patience,
            max_retries=retries,
            http_client=openai.DefaultHttpxClient(
                timeout=patience, event_hooks={"response": [give_up_on_long_waits]}
            ),
        )

    def close(self) -> None:
        self._made.close()

    def cost(self, tokens: Tokens, *, batch: bool = False) -> int | None:
        """Always None: what these servers charge, if anything, is not known."""
        return None

    def ask(self, question: Question) -> Reply:
        """Raises `ExtractionUnavailable`, or `NotPermitted`."""
        if self._model is None:
            raise NotPermitted(
                "The extractor 'openai' needs the name of a model: set BELIEFLEDGER_MODEL, or give"
                " --model."
            )
        if not self._may_ask:
            raise NotPermitted(
                "OpenAI needs a key: set OPENAI_API_KEY, or BELIEFLEDGER_MODEL_URL for a server of"
                " your own (http://localhost:11434/v1 for Ollama)."
            )
        try:
            return self._reply(question, self._completed(question))
        except (openai.OpenAIError, ValueError) as problem:
            raise self._meaning(problem) from problem

    def _completed(self, question: Question) -> Any:
        """The server's answer, in the first format that it takes. When it refuses all of them, the
        format was not the reason: its first refusal is raised."""
        refused: openai.APIStatusError | None = None
        for at in range(self._format, len(_FORMATS)):
            parameters: Any = self._parameters(question, _FORMATS[at])
            try:
                answer = self._made.chat.completions.create(**parameters)
            except openai.APIStatusError as problem:
                if problem.status_code not in _REFUSES_FORMAT:
                    raise
                refused = refused or problem
            else:
                self._format = at
                return answer
        assert refused is not None
        raise refused

    def _parameters(self, question: Question, form: str | None) -> dict[str, Any]:
        schema = _strict(question.schema)
        # OpenAI's newer models refuse `max_tokens`; other servers may know nothing else.
        official = str(self._made.base_url).startswith(URL)
        parameters: dict[str, Any] = {
            "model": self._model,
            "max_completion_tokens" if official else "max_tokens": MAX_TOKENS,
            "messages": [
                {"role": "system", "content": _instructions(question)},
                *question.messages,
            ],
        }
        if form == "json_schema":
            named = {"name": "answer", "strict": True, "schema": schema}
            parameters["response_format"] = {"type": form, form: named}
        elif form is not None:
            parameters["response_format"] = {"type": form}
        return parameters

    def _reply(self, question: Question, answer: Any) -> Reply:
        """The text of an answer. Raises `ExtractionUnavailable` where the server sent something
        else (the library does not check the shape of what comes), and `NotPermitted` where the
        model has not read the whole question: that it found nothing would mean nothing."""
        choices = getattr(answer, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(choice, "message", None)
        content = getattr(message, "content", None)
        if message is None or not isinstance(content, str | None):
            raise ExtractionUnavailable("The service did not answer with a message.")
        tokens = _tokens(getattr(answer, "usage", None))
        asked = len(_instructions(question))
        if 0 < tokens.input * _LONGEST_TOKEN < asked:
            raise NotPermitted(
                f"{self._made.base_url} read only {tokens.input:,} tokens of a prompt of more than"
                f" {asked:,} characters: it cuts off what does not fit. Give the model a longer"
                " context, of 16,384 tokens or more (Ollama: OLLAMA_CONTEXT_LENGTH); the turns stay"
                " queued."
            )
        stopped = getattr(choice, "finish_reason", None)
        refusal = getattr(message, "refusal", None)
        return Reply(
            _spoken(content or ""),
            stopped,
            tokens,
            cut_off=stopped == "length",
            refused=bool(refusal) or stopped == "content_filter",
        )

    def _meaning(self, problem: Exception) -> Exception:
        """The error of ours that says what to do."""
        match problem:
            case openai.APIStatusError():
                said = _said(problem)
                status = problem.status_code
                if problem.code == "insufficient_quota":  # a 429 that no waiting mends
                    status = 402
                missing = (
                    f"{self._made.base_url} has no model {self.model!r}, or no API ({said}). Choose"
                    " a model with --model or BELIEFLEDGER_MODEL, and a URL, which mostly ends in"
                    " /v1, with BELIEFLEDGER_MODEL_URL; the turns stay queued."
                )
                return error_of_status(
                    status,
                    said,
                    url=self._made.base_url,
                    model=self.model,
                    key="OPENAI_API_KEY",
                    missing=missing,
                )
            case openai.APITimeoutError():
                return timed_out()
            case openai.APIConnectionError():
                return unreachable(problem)
            case _:
                return unreadable(problem)


def _instructions(question: Question) -> str:
    schema = json.dumps(_strict(question.schema), ensure_ascii=False)
    return (
        f"{question.system}\n\nAnswer with JSON that fits this JSON Schema, and with nothing else:"
        f"\n{schema}"
    )


def _strict(schema: Any) -> Any:
    """A schema as OpenAI's strict mode wants it: every object closed, every field required."""
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name in {"properties", "$defs"}:
            made[name] = {each: _strict(under) for each, under in value.items()}
        elif name not in _UNSUPPORTED:
            made[name] = _strict(value)
    if "properties" in made:
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made


def _spoken(text: str) -> str:
    """What a model says after thinking aloud, where the server does not take its thoughts out."""
    text = text.strip()
    return text if text.startswith(("{", "```")) else text.rpartition("</think>")[2].strip()


def _tokens(usage: Any) -> Tokens:
    """Servers may leave out the count, or parts of it."""
    details = getattr(usage, "prompt_tokens_details", None)
    prompt, cached, output = (
        count if isinstance(count, int) and count > 0 else 0
        for count in (
            getattr(usage, "prompt_tokens", None),
            getattr(details, "cached_tokens", None),
            getattr(usage, "completion_tokens", None),
        )
    )
    read = min(cached, prompt)
    return Tokens(fresh=prompt - read, read=read, output=output)


def _said(problem: openai.APIStatusError) -> str:
    """The server's own explanation: an object with a message, a bare text, or something else."""
    body = problem.body
    said = body.get("message") if isinstance(body, Mapping) else body
    return said if isinstance(said, str) and said else str(problem)
