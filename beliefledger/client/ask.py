"""A request to a server, and how its answer is read: pure, so that both clients make the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import date
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, JsonValue, TypeAdapter

from beliefledger.answers import (
    BeliefAnswer,
    ConflictAnswer,
    DecisionAnswer,
    GrantAnswer,
    TurnReceipt,
)
from beliefledger.ledger.dataclass import dataclass
from beliefledger.pages import Page
from beliefledger.reading.queries import Snapshot

T = TypeVar("T")
MOST = 1_000
"""How many answers a page of a server has at most."""
NOTHING: Mapping[str, JsonValue] = {}


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """A request, and how its answer is read. Of a list that is asked for as a whole, the pages are
    put together, `backwards` where the first one is the last."""

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    sent: Mapping[str, Any] | None = None
    whole: bool = False
    backwards: bool = False


@cache
def reader(kind: Any) -> Callable[[bytes], Any]:
    return TypeAdapter(kind).validate_json


class _Listed(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


def paged(kind: Any) -> Callable[[bytes], Any]:
    """Reads a page of answers."""

    def read(answer: bytes) -> Page[Any]:
        told: _Listed[Any] = reader(_Listed[kind])(answer)
        return Page(told.items, told.next)

    return read


class _Remembered(BaseModel):
    receipt: TurnReceipt
    decisions: list[DecisionAnswer]


Remembered = tuple[TurnReceipt, list[DecisionAnswer]]


def read_remembered(answer: bytes) -> Remembered:
    told: _Remembered = reader(_Remembered)(answer)
    return told.receipt, told.decisions


read_receipt = reader(TurnReceipt)
read_receipts = paged(TurnReceipt)
read_belief = reader(BeliefAnswer)
read_beliefs = paged(BeliefAnswer)
read_decision = reader(DecisionAnswer)
read_decisions = paged(DecisionAnswer)
read_conflicts = paged(ConflictAnswer)
read_grants = paged(GrantAnswer)


def given(**values: Any) -> dict[str, Any]:
    """What was given; a time as text, and what is None left out."""
    return {name: said(value) for name, value in values.items() if value is not None}


def said(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Snapshot):
        return value.position
    return dict(value) if isinstance(value, Mapping) else value


def id_of(given: str) -> str:
    return quote(given, safe="") or "-"


def one_field(name: str, kind: Any) -> Callable[[bytes], Any]:
    """Reads the only field of an answer."""
    return lambda answer: reader(dict[str, kind])(answer)[name]
