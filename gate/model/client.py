"""What a model is asked through: the port that each provider's file implements."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import mktime_tz, parsedate_tz
from typing import Any, NamedTuple, Protocol, runtime_checkable

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import ExtractionUnavailable, NotPermitted

MAX_TOKENS = 8_000
"""The longest answer."""
LONGEST_WAIT = 60.0
"""Seconds. A service that asks for more is not waited for: the turn stays queued."""


class Tokens(NamedTuple):
    """Tokens of one or more calls. `fresh` ones were neither written to the cache nor read."""

    fresh: int = 0
    written: int = 0
    read: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.written + self.read

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(*(mine + more for mine, more in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class Question:
    """One call: the instructions, the JSON schema of the answer, and the conversation so far.

    Instructions and schema are the same from turn to turn, so a provider may cache them. A message
    has a `role` (`user` or `assistant`) and a `content`.
    """

    system: str
    schema: Mapping[str, Any]
    messages: tuple[Mapping[str, str], ...]

    def after(self, answer: str, told: str) -> Question:
        """The question that follows an answer: what the user says to it."""
        more = ({"role": "assistant", "content": answer}, {"role": "user", "content": told})
        return replace(self, messages=(*self.messages, *more))


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and why it stopped in the provider's word; its tokens."""

    text: str
    stopped: str | None
    tokens: Tokens
    cut_off: bool = False
    """It was too long, and ends in the middle."""
    refused: bool = False
    """The model, or a filter before it, declined to answer."""


class Client(Protocol):
    """One model of one provider. Used from several threads at once."""

    @property
    def provider(self) -> str:
        """The name that its extractor is registered under, and recorded with each outcome."""
        ...

    @property
    def model(self) -> str: ...

    def ask(self, question: Question) -> Reply:
        """Raises `ExtractionUnavailable`, after retries of its own, where there is no answer now,
        and `NotPermitted` for what only a person can mend, such as a refused key."""
        ...

    def cost(self, tokens: Tokens, *, batch: bool = False) -> int | None:
        """Micro-dollars, rounded up; None for a model whose price is not known."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class BatchClient(Client, Protocol):
    """A client that can also hand over many questions at once, to be answered within a day."""

    def send_batch(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions by an id each; returns the batch's id. Whatever becomes of the
        answer, they are not handed over twice."""
        ...

    def batch_size(self, question: Question) -> int:
        """How many bytes a question takes in a batch."""
        ...

    def batch_left(self, batch_id: str) -> int | None:
        """How many questions of a batch are still worked on; None once it has ended."""
        ...

    def batch_replies(
        self, batch_id: str
    ) -> Iterator[tuple[str, Reply | ExtractionUnavailable | None]]:
        """Each question's id with its reply, or why there is none; None for one that expired or
        was cancelled, which nobody looked at."""
        ...


def error_of_status(
    status: int, said: str, *, url: object, model: str, key: str, missing: str | None = None
) -> ExtractionUnavailable | NotPermitted:
    """The error of ours for a service's HTTP status. `said` is its own explanation, `key` the
    variable that holds the key, and `missing` what a 404 means where it is not the model."""
    match status:
        case 401 | 403:
            return NotPermitted(
                f"{url} refused the key ({said}). Set {key} to one that may use the model; the"
                " turns stay queued."
            )
        case 402:
            return NotPermitted(
                f"{url} asks to be paid first ({said}). See to the account's credit; the turns stay"
                " queued."
            )
        case 404:
            return NotPermitted(
                missing
                or f"{url} has no model {model!r} ({said}). Choose one with --model or"
                " BELIEFLEDGER_MODEL; the turns stay queued."
            )
        case _:
            return ExtractionUnavailable(f"The service answered {status}: {said}.")


def timed_out() -> ExtractionUnavailable:
    return ExtractionUnavailable("The service did not answer in time.")


def unreachable(problem: Exception) -> ExtractionUnavailable:
    return ExtractionUnavailable(
        f"The service could not be reached: {problem.__cause__ or problem}."
    )


def unreadable(said: object) -> ExtractionUnavailable:
    return ExtractionUnavailable(f"The service's answer could not be read: {said}.")


def give_up_on_long_waits(response: Any) -> None:
    """Hook of an HTTP client: told to come back in an hour, the vendors' libraries would sleep for
    an hour. They obey this header."""
    if asked_to_wait(response.headers) > LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"


def asked_to_wait(headers: Mapping[str, str]) -> float:
    """Seconds, from the headers in the order in which the libraries look at them; 0 for none."""
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        with suppress(ValueError):
            return float(headers.get(name, "")) / unit
    date = parsedate_tz(headers.get("retry-after", ""))
    return 0.0 if date is None else mktime_tz(date) - time.time()
