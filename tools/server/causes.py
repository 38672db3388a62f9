"""Why a call was refused, as every door tells it: a code, and a sentence without what was sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from beliefledger.access.principal import TokenNotForThis
from beliefledger.answers import BeliefAnswer
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.errors import (
    CallerMistake,
    EmbedderMissing,
    LedgerError,
    NotPermitted,
    OlderProgram,
    Retryable,
    UnknownMemory,
)
from beliefledger.ledger.redact import redact

INVALID_PARAM, NOT_FOUND, TIMEOUT = "INVALID_PARAM", "MEMORY_NOT_FOUND", "TOOL_TIMEOUT"
NOT_PERMITTED, UNAVAILABLE, FAILED = "NOT_PERMITTED", "UNAVAILABLE", "FAILED"
STOPPED = "SERVER_STOPPED"
NOT_HERE = "There is no such thing here, or this token is not for it."
"""Alike for what is not there and for what is somebody else's."""
WENT_WRONG = "This went wrong here. Whoever runs the server finds the cause."
_CANNOT = "The ledger cannot do this now. Whoever runs it finds the cause in its log."


def cause(problem: LedgerError) -> str:
    """The code of an error of ours."""
    match problem:
        case UnknownMemory():
            return NOT_FOUND
        case NotPermitted():
            return NOT_PERMITTED
        case Retryable() | EmbedderMissing() | OlderProgram():
            return UNAVAILABLE
        case CallerMistake():
            return INVALID_PARAM
        case _:
            return FAILED


def told(problem: LedgerError, given: Mapping[str, Any]) -> tuple[str, str]:
    """The code of an error of ours, and what the caller is told, without what was sent."""
    code = cause(problem)
    if code == NOT_FOUND:
        return code, NOT_HERE
    if code == FAILED:
        return code, _CANNOT
    return code, sentence(problem, list(given.values()), names=True)


def sentence(problem: LedgerError, given: Any, *, names: bool) -> str:
    """What an error of ours says, `without` what was sent."""
    if isinstance(problem, TokenNotForThis):  # tells of the token alone: a verb looks like a word
        return problem.detail
    detail = problem.detail if isinstance(problem, CallerMistake) else ""
    return without(detail or str(problem), given, names=names)


def without(text: str, given: Any, *, names: bool) -> str:
    """A sentence in which nothing stands that was sent, nor any secret. `names`: what was sent
    chose the names of its fields, too, and they are left out as its values are."""
    for sent in sorted(set(_texts(given, names)), key=len, reverse=True):
        for written in dict.fromkeys((sent, repr(sent)[1:-1], json.dumps(sent)[1:-1])):
            if len(written.strip()) > 2 and written in text:
                text = _left_out(text, written)
    return redact(text).text


_PLAIN = re.compile(r"[a-z]+")


def _left_out(text: str, sent: str) -> str:
    """A sentence without what was sent; not within another word. A plain word that stands in quotes
    is left out there and where it follows an option: elsewhere the word is the sentence's own."""
    told = re.escape(sent)
    if _PLAIN.fullmatch(sent):
        quoted = re.sub(rf"(?<=['\"“]){told}(?=['\"”])", "…", text)
        return re.sub(rf"((?<![\w-])--[\w-]{{1,40}} ){told}(?!\w)", r"\1…", quoted)
    begins = r"(?<!\w)" if sent[0].isalnum() else ""
    ends = r"(?!\w)" if sent[-1].isalnum() else ""
    return re.sub(f"{begins}{told}{ends}", "…", text)


_FIELDS = frozenset(TurnInput.__dataclass_fields__) | BeliefAnswer.model_fields.keys()
"""Names of fields that are ours, whoever sent them."""


def _texts(given: Any, names: bool) -> list[str]:
    match given:
        case str():
            return [given, *given.split()] if len(given) < 10_000 else [given]
        case Mapping():
            inside = [*given.values(), *((set(given) - _FIELDS) if names else ())]
        case list() | tuple():
            inside = list(given)
        case _:
            return []
    return [text for each in inside for text in _texts(each, names)]
