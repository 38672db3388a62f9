"""What is sent to a server to ask, and to settle what waits for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

import orjson
from pydantic import BaseModel

from beliefledger.answers import (
    BeliefAnswer,
    ConflictAnswer,
    DecisionAnswer,
    Explanation,
    GrantAnswer,
    StatusAnswer,
)
from beliefledger.client.ask import (
    MOST,
    Ask,
    given,
    id_of,
    one_field,
    read_beliefs,
    read_conflicts,
    read_decision,
    read_decisions,
    read_grants,
    reader,
    said,
)
from beliefledger.filters import Where
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.pages import Page
from beliefledger.reading.candidates import WhyNotAnswer
from beliefledger.reading.changes import DiffAnswer
from beliefledger.reading.queries import Snapshot
from beliefledger.reading.subjects import SubjectsPage
from beliefledger.reading.turns import TurnAnswer
from beliefledger.search.answers import SearchAnswer
from beliefledger.search.context import ContextAnswer
from beliefledger.search.options import DEFAULT, SearchOptions
from beliefledger.times import Moment, micros

_ELSEWHERE = ("scope", "standing", "reason", "rerank")
"""Options of a search that only an embedded ledger has."""


def beliefs(
    subject: str | None = None,
    *,
    as_of: Moment | Snapshot | None = None,
    valid_at: Moment | None = None,
    type: str | None = None,
    topic: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    metadata: Mapping[str, object] | None = None,
    min_confidence: float | None = None,
    min_importance: float = 0.0,
    quarantined: bool = False,
    limit: int | None = None,
    after: str | None = None,
) -> Ask[Page[BeliefAnswer]]:
    """What is believed now, was believed as of then, and was true at a time."""
    query = given(
        subject=subject, as_of=as_of, valid_at=valid_at, type=type, topic=topic, session=session,
        agent=agent, metadata=None if metadata is None else orjson.dumps(metadata).decode(),
        min_confidence=min_confidence, min_importance=min_importance, quarantined=quarantined,
        limit=limit or MOST, after=after,
    )  # fmt: skip
    return Ask("GET", "beliefs", read_beliefs, query, whole=limit is None)


class _Seen(BaseModel):
    position: int
    at: datetime


def as_of(moment: Moment | Snapshot) -> Ask[Snapshot]:
    """The ledger as it was: the last position recorded at or before a time, or a position."""

    def read(answer: bytes) -> Snapshot:
        told: _Seen = reader(_Seen)(answer)
        return Snapshot(told.position, micros(told.at, "at") or 0)

    return Ask("GET", "as-of", read, {"moment": said(moment)})


def history(
    belief_or_memory: str,
    *,
    as_of: Moment | Snapshot | None = None,
    limit: int | None = None,
    after: str | None = None,
) -> Ask[Page[BeliefAnswer]]:
    """Every version of a belief, oldest first. Takes whole ids."""
    query = given(as_of=as_of, limit=limit or MOST, after=after)
    path = f"beliefs/{id_of(belief_or_memory)}/history"
    return Ask("GET", path, read_beliefs, query, whole=limit is None)


def decisions(
    subject: str | None = None,
    *,
    outcome: str | None = None,
    reason: str | None = None,
    turn_id: str | None = None,
    waits: bool | None = None,
    as_of: Moment | Snapshot | None = None,
    limit: int | None = None,
    after: str | None = None,
) -> Ask[Page[DecisionAnswer]]:
    """What the gate decided, in order; with `limit` the last so many."""
    query = given(
        subject=subject, outcome=outcome, reason=reason, turn_id=turn_id, waits=waits, as_of=as_of,
        limit=limit or MOST, after=after,
    )  # fmt: skip
    return Ask("GET", "decisions", read_decisions, query, whole=limit is None, backwards=True)


def decision(decision_id: str) -> Ask[DecisionAnswer]:
    """One decision, by its whole id."""
    return Ask("GET", f"decisions/{id_of(decision_id)}", read_decision)


def explain(
    memory_id: str, *, proof: bool = False, as_of: Moment | Snapshot | None = None
) -> Ask[Explanation]:
    """Why a memory is there: the decision, the candidate, the words."""
    read: Callable[[bytes], Explanation] = reader(Explanation)
    path = f"memories/{id_of(memory_id)}/explanation"
    return Ask("GET", path, read, given(proof=proof, as_of=as_of))


def turn(turn_id: str) -> Ask[TurnAnswer]:
    """What was said, with the words marked that the gate decided about."""
    read: Callable[[bytes], TurnAnswer] = reader(TurnAnswer)
    return Ask("GET", f"turns/{id_of(turn_id)}", read)


def diff(
    subject: str, start: Moment | Snapshot, end: Moment | Snapshot | None = None
) -> Ask[DiffAnswer]:
    """What changed in belief between two moments, and the event that changed it."""
    read: Callable[[bytes], DiffAnswer] = reader(DiffAnswer)
    return Ask("GET", "diff", read, given(subject=subject, start=start, end=end))


def why_not(subject: str, claim: str, *, limit: int = 10) -> Ask[WhyNotAnswer]:
    """Why something is not believed: the statements like it, and what stopped each."""
    read: Callable[[bytes], WhyNotAnswer] = reader(WhyNotAnswer)
    return Ask("POST", "why-not", read, sent=given(subject=subject, claim=claim, limit=limit))


def subjects(*, limit: int | None = None, after: str | None = None) -> Ask[SubjectsPage]:
    """Who is known and not erased, a page at a time."""
    read: Callable[[bytes], SubjectsPage] = reader(SubjectsPage)
    return Ask("GET", "subjects", read, given(limit=limit, after=after))


def status() -> Ask[StatusAnswer]:
    """How the ledger is: positions, the queue, what waits for a person, the views."""
    read: Callable[[bytes], StatusAnswer] = reader(StatusAnswer)
    return Ask("GET", "status", read)


def search(
    subject: str,
    query: str,
    k: int = 10,
    *,
    as_of: Moment | Snapshot | None = None,
    valid_at: Moment | None = None,
    types: Sequence[str] = (),
    session: str | None = None,
    purpose: str | None = None,
    max_tokens: int | None = None,
    record: bool = True,
    by: str | None = None,
    options: SearchOptions = DEFAULT,
) -> Ask[SearchAnswer]:
    """Find what a person's memories and turns say about a query: the best `k`, best first."""
    sent = given(
        subject=subject, query=query, k=k, as_of=as_of, valid_at=valid_at, types=list(types),
        session=session, purpose=purpose, max_tokens=max_tokens, record=record, by=by,
    )  # fmt: skip
    read: Callable[[bytes], SearchAnswer] = reader(SearchAnswer)
    return Ask("POST", "search", read, sent=sent | _options(options))


def context(
    subject: str,
    query: str,
    *,
    max_tokens: int = 1_000,
    purpose: str | None = None,
    as_of: Moment | Snapshot | None = None,
    session: str | None = None,
    format: str = "markdown",
    tokenizer: str | None = None,
    k: int = 20,
    record: bool = True,
    by: str | None = None,
    options: SearchOptions = DEFAULT,
) -> Ask[ContextAnswer]:
    """What an agent puts before a model, within a budget of tokens."""
    sent = given(
        subject=subject, query=query, max_tokens=max_tokens, purpose=purpose, as_of=as_of,
        session=session, format=format, tokenizer=tokenizer, k=k, record=record, by=by,
    )  # fmt: skip
    read: Callable[[bytes], ContextAnswer] = reader(ContextAnswer)
    return Ask("POST", "context", read, sent=sent | _options(options))


def _options(options: SearchOptions) -> dict[str, Any]:
    """Those that a server takes. Raises `InvalidQuery` for another one."""
    chosen = {each.name: getattr(options, each.name) for each in fields(options)}
    for name in (*_ELSEWHERE, "reader"):
        if chosen.pop(name) != getattr(DEFAULT, name):
            raise InvalidQuery(f"options: {name} is not taken over HTTP.")
    where = None if chosen["where"] is None else asdict(Where.of(chosen["where"]))
    told = chosen | {"topics": list(options.topics), "include": list(options.include)}
    return given(**told | {"where": where})


# Parts


def grant(
    subject: str,
    basis: str,
    *,
    categories: Sequence[str] = ("ordinary",),
    purpose: str | None = None,
    scope: str = "subject",
    expires_at: Moment | None = None,
    note: str | None = None,
    by: str | None = None,
) -> Ask[str]:
    """Record a lawful basis for keeping memories; returns the grant's id."""
    sent = given(
        subject=subject, basis=basis, categories=list(categories), purpose=purpose, scope=scope,
        expires_at=expires_at, note=note, by=by,
    )  # fmt: skip
    return Ask("POST", "consent", one_field("grant_id", str), sent=sent)


def grants(
    subject: str, *, limit: int | None = None, after: str | None = None
) -> Ask[Page[GrantAnswer]]:
    """The lawful bases in force for a person."""
    query = given(subject=subject, limit=limit or MOST, after=after)
    return Ask("GET", "consent", read_grants, query, whole=limit is None)


def withdraw(
    subject: str,
    *,
    grant_id: str | None = None,
    basis: str | None = None,
    note: str | None = None,
    by: str | None = None,
) -> Ask[int]:
    """Withdraw a person's consents; returns how many memories were revoked with them."""
    query = given(subject=subject, grant_id=grant_id, basis=basis, note=note, by=by)
    return Ask("DELETE", "consent", one_field("revoked", int), query)


def conflicts(
    subject: str | None = None, *, limit: int | None = None, after: str | None = None
) -> Ask[Page[ConflictAnswer]]:
    """The beliefs about which a person has to choose."""
    query = given(subject=subject, limit=limit or MOST, after=after)
    return Ask("GET", "conflicts", read_conflicts, query, whole=limit is None)


def resolve(
    belief_id: str,
    *,
    by: str | None = None,
    choose: str | None = None,
    contexts: Mapping[str, str] | None = None,
    note: str | None = None,
) -> Ask[list[BeliefAnswer]]:
    """Settle a contested belief; returns what holds from now on."""
    sent = given(by=by, choose=choose, contexts=contexts, note=note)
    return Ask("POST", f"conflicts/{id_of(belief_id)}/resolution", read_beliefs, sent=sent)


def review(
    decision_id: str,
    *,
    approve: bool,
    by: str | None = None,
    basis: str = "explicit_consent",
    note: str | None = None,
) -> Ask[str | None]:
    """Approve or refuse a statement that waits; returns the memory written."""
    sent = given(approve=approve, by=by, basis=basis, note=note)
    read: Callable[[bytes], str | None] = one_field("memory_id", str | None)
    return Ask("POST", f"reviews/{id_of(decision_id)}", read, sent=sent)
