"""A write under an `Idempotency-Key`: done once, and answered again as it was.

What is kept of an answer are ids, counts and codes. Words are read anew, as far as they may be told
now: kept, they would be words that no erasure finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from beliefledger.access.requests import Done, KeyedRequest, UnderWay
from beliefledger.answers import BeliefAnswer, DecisionAnswer
from beliefledger.ledger.errors import LedgerError
from beliefledger.tools.server.api.endpoint import Listed
from beliefledger.tools.server.api.outlet import Outlet, hidden
from beliefledger.tools.server.api.problem import Told, told
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.causes import INVALID_PARAM, UNAVAILABLE

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
"""The header that tells an answer that is given again."""
_PROBLEM = "problem"
"""The text of an error, which may quote words: it is not kept."""


class KeyRefused(Exception):
    """The key of a request keeps it from being done; `answer` says so."""

    def __init__(self, answer: Told) -> None:
        super().__init__(answer.outcome)
        self.answer = answer

    @classmethod
    def reused(cls) -> KeyRefused:
        says = f"{HEADER}: it was used for something else before."
        remedy = "Send a new key with each new request, and the same one only to try again."
        return cls(told("IdempotencyKeyReused", 422, says, remedy, INVALID_PARAM))

    @classmethod
    def under_way(cls) -> KeyRefused:
        says = f"{HEADER}: a request with it is under way."
        answer = told("IdempotencyKeyInUse", 409, says, "Try again a little later.", UNAVAILABLE)
        answer.headers["Retry-After"] = "1"
        return cls(answer)

    @classmethod
    def erased(cls) -> KeyRefused:
        says = f"{HEADER}: it was done, and whom it was about is erased since."
        remedy = "There is nothing to do. Send a new key with a new request."
        return cls(told("IdempotencyKeyErased", 409, says, remedy, INVALID_PARAM))


def done_once(
    caller: Caller, asked: KeyedRequest, seconds: float, kind: Any, do: Callable[[], Any]
) -> tuple[Any, bool]:
    """What was answered, and whether it was done before. Raises `KeyRefused`, and what `do` raises:
    then the key is free again."""
    tokens = caller.memory.tokens
    begun = tokens.begin_request(asked, seconds)
    if isinstance(begun, UnderWay):
        raise KeyRefused.under_way()
    if isinstance(begun, Done):
        if begun.same is None:
            raise KeyRefused.erased()
        if not begun.same:
            raise KeyRefused.reused()
        return _again(Outlet(caller.memory), caller, kind, begun.answer), True
    try:
        value = do()
    except BaseException:  # it is raised on, once the key is free
        with suppress(LedgerError):  # else it is free when its time is over
            tokens.end_request(asked, begun, None, None)
        raise
    tokens.end_request(asked, begun, _kept(value), caller.subject_ref)
    return value, False


def _kept(value: BaseModel) -> Any:
    """An answer without words."""
    match value:
        case DecisionAnswer():
            return value.decision_id
        case BeliefAnswer():
            return value.memory_id
        case _:
            fields = {name: getattr(value, name) for name in type(value).model_fields}
            return {
                name: [_kept(one) for one in each] if _are_models(each) else _plain(value, name)
                for name, each in fields.items()
                if name != _PROBLEM
            }


def _are_models(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, BaseModel) for each in value)


def _plain(value: BaseModel, name: str) -> Any:
    return value.model_dump(mode="json", include={name})[name]


def _again(outlet: Outlet, caller: Caller, kind: Any, kept: Any) -> Any:
    """The same answer, of the type that it was of."""
    if kind is DecisionAnswer:
        return outlet.decision(caller.memory.decision(kept))
    if kind is BeliefAnswer:
        return _belief(outlet, caller, kept)
    made: Mapping[str, Any] = kept
    for name, field in kind.model_fields.items():
        inner = getattr(field.annotation, "__args__", ())
        if inner and isinstance(kept.get(name), list) and _is_model(inner[0]):
            items = [_again(outlet, caller, inner[0], each) for each in kept[name]]
            made = {**made, name: items}
    if issubclass(kind, Listed):
        return kind.model_construct(**made)
    return kind.model_validate(made)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _belief(outlet: Outlet, caller: Caller, memory_id: str) -> BeliefAnswer:
    """The last version of a memory; without its words where they may not be told now."""
    versions = caller.memory.history(memory_id)
    known = [each for each in versions if each.memory_id == memory_id][-1]
    return known if outlet.beliefs([known]) else hidden(known)
