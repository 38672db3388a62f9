"""What an agent is told of an error: the protocol's error, without what was sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from a2a.utils.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from beliefledger.ledger.errors import (
    CallerMistake,
    LedgerError,
    NotPermitted,
    Retryable,
    UnknownMemory,
)
from beliefledger.ledger.redact import redact

logger = logging.getLogger("beliefledger.server")
NOT_HERE = "There is no such thing here, or this token is not for it."
WENT_WRONG = "This went wrong here. Whoever runs the server finds the cause."
TIMEOUT, STOPPED = "TOOL_TIMEOUT", "SERVER_STOPPED"


class NoSuchTask(UnknownMemory):
    """There is no such task, or the token is not for it."""


def refusal(problem: LedgerError | A2AError, given: Any = None) -> tuple[A2AError, str]:
    """The protocol's error for one of ours, and the code that goes on record."""
    if isinstance(problem, A2AError):
        return problem, ""
    if isinstance(problem, NoSuchTask):
        return TaskNotFoundError(), ""
    if isinstance(problem, UnknownMemory):
        return InvalidParamsError(NOT_HERE), "MEMORY_NOT_FOUND"
    if isinstance(problem, Retryable):
        return InternalError("The ledger cannot do this now. Try again."), "UNAVAILABLE"
    if isinstance(problem, CallerMistake):
        says = without(problem.detail or str(problem), given)
        if isinstance(problem, NotPermitted):
            return UnsupportedOperationError(says), "NOT_PERMITTED"
        return InvalidParamsError(says), ""
    logger.error("A call failed: %s", problem)
    return InternalError(WENT_WRONG), "FAILED"


def without(text: str, given: Any) -> str:
    """A sentence in which nothing stands that was sent, nor any secret."""
    for sent in sorted(set(_texts(given)), key=len, reverse=True):
        for written in (sent, repr(sent)[1:-1], json.dumps(sent)[1:-1]):
            if len(written.strip()) > 2:
                text = text.replace(written, "…")
    return redact(text).text


def _texts(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given, *given.split()] if len(given) < 10_000 else [given]
    if isinstance(given, Mapping):
        return [text for each in given.values() for text in _texts(each)]
    if isinstance(given, list | tuple):
        return [text for each in given for text in _texts(each)]
    return []
