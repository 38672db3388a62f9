"""What an agent is told of an error: the protocol's error, without what was sent."""

from __future__ import annotations

import logging
from typing import Any

from a2a.utils.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from beliefledger.ledger.errors import LedgerError, UnknownMemory
from beliefledger.tools.server.causes import (
    FAILED,
    NOT_FOUND,
    NOT_HERE,
    NOT_PERMITTED,
    UNAVAILABLE,
    WENT_WRONG,
    cause,
    sentence,
)

logger = logging.getLogger("beliefledger.server")


class NoSuchTask(UnknownMemory):
    """There is no such task, or the token is not for it."""


def refusal(problem: LedgerError | A2AError, given: Any = None) -> tuple[A2AError, str]:
    """The protocol's error for one of ours, and the code that goes on record where the error itself
    says less."""
    if isinstance(problem, A2AError):
        return problem, ""
    if isinstance(problem, NoSuchTask):
        return TaskNotFoundError(), ""
    code = cause(problem)
    if code == NOT_FOUND:
        return InvalidParamsError(NOT_HERE), code
    if code == UNAVAILABLE:
        return InternalError("The ledger cannot do this now. Try again."), code
    if code == FAILED:
        logger.error("A call failed: %s", problem)
        return InternalError(WENT_WRONG), code
    says = sentence(problem, given, names=False)  # the protocol names the fields
    if code == NOT_PERMITTED:
        return UnsupportedOperationError(says), code
    return InvalidParamsError(says), ""
