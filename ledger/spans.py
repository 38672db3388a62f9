"""Spans: where time goes, told to a tracer where a process has one, and else to nobody."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, Protocol, TypeVar

Facts = Mapping[str, str | int]
"""What is told of a span: counts and ids that are ours, never what somebody said or is called."""
SEARCH, UPSERT, UPDATE, DELETE = "search_memory", "upsert_memory", "update_memory", "delete_memory"
"""Operations on memories, as OpenTelemetry's conventions for generative AI name them."""
DECIDE, PROJECT = "decide_turns", "project_events"
"""Operations of our own."""
COUNT, RECORD = "gen_ai.memory.record.count", "gen_ai.memory.record.id"

P = ParamSpec("P")
R = TypeVar("R")


class Span(Protocol):
    """A piece of work, from its begin to its end."""

    def tell(self, facts: Facts) -> None: ...


class Request(Span, Protocol):
    """A span that began with a request, and is the parent of what is done for it."""

    @property
    def traceparent(self) -> str: ...

    def end(self, error: str | None) -> None:
        """`error` says what kind of error it ended with, if it did."""
        ...


class Tracer(Protocol):
    """Takes spans. It hears of an error which class it has, and not what it says."""

    def span(self, name: str) -> AbstractContextManager[Span]:
        """A span, within the one that is open here."""
        ...

    def request(self, name: str, traceparent: str, facts: Facts) -> Request:
        """A span of a request, within the caller's, and open here from now on."""
        ...


class _Taking:
    """Whichever tracer this process has."""

    tracer: Tracer | None = None


def take(tracer: Tracer | None) -> None:
    """Tell spans of this process to a tracer from now on; None for nobody."""
    _Taking.tracer = tracer


def tracer() -> Tracer | None:
    return _Taking.tracer


def traced(
    name: str, told: Callable[[Any], Facts] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function whose calls are spans. `told` makes what is told of an answer."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if _Taking.tracer is None:
                return function(*args, **kwargs)
            with _Taking.tracer.span(name) as span:
                answer = function(*args, **kwargs)
                if told is not None:
                    span.tell(told(answer))
                return answer

        return call

    return decorated
