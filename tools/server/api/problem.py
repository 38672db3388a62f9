"""What a program is told of an error: problem+json (RFC 9457) with the remedy, and nothing that
was sent."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse

from beliefledger.ledger.errors import (
    CallerMistake,
    EventIdReused,
    InvalidQuery,
    LedgerError,
    MustStop,
    NotPermitted,
    OlderProgram,
    Retryable,
    UnknownMemory,
    VersionConflict,
)
from beliefledger.tools.server import causes
from beliefledger.tools.server.causes import FAILED, NOT_FOUND

logger = logging.getLogger("beliefledger.server")
MEDIA = "application/problem+json"
_STATUS: tuple[tuple[type[LedgerError], int], ...] = (
    (UnknownMemory, 404),
    (NotPermitted, 403),
    (EventIdReused, 409),
    (VersionConflict, 409),
    (Retryable, 503),
    (OlderProgram, 503),  # another server may be newer
    (CallerMistake, 422),
    (MustStop, 500),
)


class Problem(BaseModel):
    """An error. `code` is the class of the error here, `remedy` what to do about it."""

    model_config = ConfigDict(frozen=True)

    type: str
    title: str
    status: int
    detail: str
    code: str
    remedy: str


class Told(JSONResponse):
    """A problem as an answer; `outcome` is what goes on record."""

    media_type = MEDIA

    def __init__(self, problem: Problem, outcome: str) -> None:
        headers = {"Cache-Control": "no-store"}
        if problem.status == 503:
            headers["Retry-After"] = "1"
        super().__init__(problem.model_dump(), problem.status, headers)
        self.outcome = outcome


def told(kind: str, status: int, detail: str, remedy: str, outcome: str) -> Told:
    """A problem that is no error of the ledger's."""
    title = HTTPStatus(status).phrase
    made = Problem(
        type=f"urn:beliefledger:problem:{kind}",
        title=title,
        status=status,
        detail=detail,
        code=kind,
        remedy=remedy,
    )
    return Told(made, outcome)


def refused(problem: LedgerError, given: Mapping[str, Any]) -> Told:
    """The answer for an error of ours: its class, its sentence without what was sent, its remedy,
    which is what the class says."""
    # The names of fields are ours, and may be told.
    sent = {n: list(v.values()) if isinstance(v, Mapping) else v for n, v in given.items()}
    kind = type(problem)
    code, detail = causes.told(problem, sent)
    if code == NOT_FOUND:  # alike for what is not there and for what is somebody else's
        kind = UnknownMemory
    elif code == FAILED:
        logger.error("A call failed: %s", problem)
    status = next((status for known, status in _STATUS if issubclass(kind, known)), 500)
    public = _public(kind)
    remedy = " ".join((public.__doc__ or "").split())
    return told(public.__name__, status, detail, remedy, code)


def _public(kind: type[LedgerError]) -> type[LedgerError]:
    """The class that `beliefledger` names: errors of single modules are told as what they are."""
    for each in kind.__mro__:
        if each.__module__ == LedgerError.__module__ and issubclass(each, LedgerError):
            return each
    return LedgerError


UNASKED = "unasked"
"""The kind of error of what an endpoint does not take: a name in its query, or a body."""


def invalid(
    errors: Iterable[Mapping[str, Any]],
    known: Iterable[str],
    fields: Mapping[tuple[str, ...], Sequence[str]],
) -> Told:
    """The answer for arguments that cannot be taken: which, and how, without what was sent.
    `known` are the names of arguments, `fields` those of each object in the body."""
    names, sentences = set(known).union(*fields.values()), []
    for each in errors:
        if each["type"] == "json_invalid":
            return told("InvalidQuery", 400, "The body is no JSON.", "Send JSON.", "INVALID_PARAM")
        if each["type"] == UNASKED:
            sentences.append(each["msg"])
            continue
        unknown = each["type"] == "extra_forbidden"
        loc = each["loc"][1:-1] if unknown else each["loc"][1:]
        path = [part for part in loc if isinstance(part, int) or part in names]
        where = "".join(f"[{e}]" if isinstance(e, int) else f".{e}" for e in path).lstrip(".")
        if unknown:
            at = tuple(part for part in loc if isinstance(part, str))
            may = ", ".join(fields.get(at, ())) or "nothing"
            sentences.append(f"{where or 'The body'} may have {may}, and has more")
        elif path:
            sentences.append(f"{where}: {each['msg']}")
        elif each["type"] == "missing":
            sentences.append("The body is missing: send a JSON object")
        elif isinstance(each["input"], bytes):
            sentences.append("The body is not sent as JSON: set Content-Type: application/json")
        else:
            sentences.append("The body is no JSON object")
    detail = ". ".join(dict.fromkeys(sentences)) + "."
    remedy = " ".join((InvalidQuery.__doc__ or "").split())
    return told("InvalidQuery", 422, detail, remedy, "INVALID_PARAM")
