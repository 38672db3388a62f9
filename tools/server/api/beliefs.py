"""Questions: beliefs now, as of and valid at; history, decisions, changes, search, context."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field, JsonValue

from beliefledger.answers import BeliefAnswer, DecisionAnswer, StatusAnswer
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.times import to_datetime
from beliefledger.pages import Page
from beliefledger.reading.candidates import WhyNotAnswer
from beliefledger.reading.changes import DiffAnswer
from beliefledger.reading.subjects import SubjectsPage
from beliefledger.reading.turns import RefusalAnswer
from beliefledger.search.answers import SearchAnswer
from beliefledger.search.context import ContextAnswer
from beliefledger.search.context_text import Format
from beliefledger.search.options import EVERYTHING, Included, SearchOptions
from beliefledger.tools.server.api.endpoint import (
    After,
    AsOf,
    Body,
    Id,
    Limit,
    Listed,
    Metadata,
    Share,
    Share01,
    Subject,
    Text,
    acting,
    asked_at,
    endpoint,
    filters,
    moment,
)
from beliefledger.tools.server.api.outlet import Outlet
from beliefledger.tools.server.caller import Caller, whole_id
from beliefledger.tools.server.shown import Shown, cut


class Question(Body):
    """What is asked of one person's memories and turns."""

    subject: str = ""
    query: str
    as_of: str | int | None = None
    session: str | None = None
    purpose: str | None = None
    record: bool = True
    by: str | None = None
    topics: list[str] = Field(default_factory=list, max_length=100)
    where: dict[str, JsonValue] | None = None
    min_confidence: Share01 | None = None
    min_importance: Share01 = 0.0
    recency_weight: Share01 = 0.3
    diversity: Share01 = 0.0
    include: tuple[Included, ...] = Field(EVERYTHING, max_length=2)
    profile: Literal["default", "recall"] = "default"

    def options(self, reader: str | None) -> SearchOptions:
        return SearchOptions(
            topics=tuple(self.topics),
            reader=reader,
            where=self.where,
            min_confidence=self.min_confidence,
            min_importance=self.min_importance,
            recency_weight=self.recency_weight,
            diversity=self.diversity,
            include=self.include,
            profile=self.profile,
        )


class SearchQuestion(Question):
    """What to search for: the best `k`."""

    k: int = Field(10, ge=1, le=100)
    valid_at: str | None = None
    types: list[str] = Field(default_factory=list, max_length=100)
    max_tokens: int | None = Field(None, ge=1, le=1_000_000)


class ContextQuestion(Question):
    """What an agent wants to put before a model."""

    k: int = Field(20, ge=1, le=100)
    max_tokens: int = Field(1_000, ge=1, le=100_000)
    format: Format = "markdown"
    tokenizer: Literal["estimate", "bytes"] | None = None


class Claim(Body):
    """What is not believed, and is asked about."""

    subject: str = ""
    claim: str
    limit: int = Field(10, ge=1, le=200)


class Seen(BaseModel):
    """A position of the log, and the time it stands for."""

    position: int
    at: Any


@endpoint("GET", "/beliefs", "beliefs", tagged=True, table=True)
def beliefs(
    caller: Caller,
    subject: Subject = "",
    as_of: AsOf = None,
    valid_at: Text = None,
    type: Text = None,
    topic: Text = None,
    session: Text = None,
    agent: Text = None,
    metadata: Metadata = None,
    min_confidence: Share = None,
    min_importance: Annotated[float, Query(ge=0, le=1)] = 0.0,
    quarantined: bool = False,
    limit: Limit = 100,
    after: After = None,
) -> Listed[BeliefAnswer]:
    """What is believed of a person now; with as_of what was believed then, with valid_at what of it
    was true then. All pages tell what the first one saw. Of somebody who shares a team with whom
    the token is for, it has what is visible to the team."""
    person, reader = caller.asks_of(subject)
    held = partial(
        caller.memory.beliefs,
        person,
        as_of=asked_at(caller, as_of),
        valid_at=valid_at,
        type=type,
        topic=topic,
        min_confidence=min_confidence,
        min_importance=min_importance,
        quarantined=quarantined,
        where=filters(session, agent, metadata),
        reader=reader,
    )

    def ask(most: int, cursor: str | None) -> Page[BeliefAnswer]:
        return held(limit=most, after=cursor)

    return Listed.of(Outlet(caller.memory).page(ask, limit, after))


@endpoint("GET", "/beliefs/{belief_id}/history", "history", tagged=True, table=True)
def history(
    caller: Caller, belief_id: Id, as_of: AsOf = None, limit: Limit = 100, after: After = None
) -> Listed[BeliefAnswer]:
    """Every version of a belief, oldest first, as far as it may be told. Takes the id of a belief
    or of a memory in it."""
    whole, then = whole_id(belief_id, "belief"), asked_at(caller, as_of)

    def ask(most: int, cursor: str | None) -> Page[BeliefAnswer]:
        page = caller.memory.history(whole, as_of=then, limit=most, after=cursor)
        if not page or not all(caller.owns(each.subject) for each in page):
            raise UnknownMemory("There is no such belief.")
        return page

    return Listed.of(Outlet(caller.memory).page(ask, limit, after))


@endpoint("GET", "/as-of", "as_of", whole=True)
def as_of(caller: Caller, moment_: Annotated[str, Query(alias="moment", max_length=100)]) -> Seen:
    """The ledger as it was: the last position recorded at or before a time, or a position."""
    found = caller.memory.as_of(moment(moment_) or moment_)
    return Seen(position=found.position, at=to_datetime(found.at))


@endpoint("GET", "/decisions", "decisions", table=True)
def decisions(
    caller: Caller,
    subject: Subject = "",
    outcome: Text = None,
    reason: Text = None,
    turn_id: Text = None,
    waits: bool | None = None,
    as_of: AsOf = None,
    session: Text = None,
    agent: Text = None,
    limit: Limit = 100,
    after: After = None,
) -> Listed[DecisionAnswer]:
    """What the gate decided, with reasons: the last ones; `next` leads to those before them. A
    claim is told only where its words may be."""
    page = caller.memory.decisions(
        caller.subject(subject),
        outcome=outcome,
        reason=reason,
        turn_id=turn_id,
        waits=waits,
        as_of=asked_at(caller, as_of),
        where=filters(session, agent),
        limit=limit,
        after=after,
    )
    return Listed.of(page, Outlet(caller.memory).decisions(page))


def owned_decision(caller: Caller, decision_id: str) -> DecisionAnswer:
    """A decision that the caller may ask for. Raises `UnknownMemory`."""
    found = caller.memory.decision(whole_id(decision_id, "decision"))
    if not caller.owns(found.subject):
        raise UnknownMemory("There is no such decision.")
    return found


@endpoint("GET", "/decisions/{decision_id}", "decision")
def decision(caller: Caller, decision_id: Id) -> DecisionAnswer:
    """One decision; its claim only where its words may be told."""
    return Outlet(caller.memory).decision(owned_decision(caller, decision_id))


@endpoint("GET", "/decisions/{decision_id}/refusal", "audit.refusal")
def refusal(caller: Caller, decision_id: Id) -> RefusalAnswer:
    """Why a statement is no memory: the decision, its scores, and the words around it, as far as
    they may be told."""
    owned_decision(caller, decision_id)
    found = caller.memory.audit.refusal(decision_id)
    told = Outlet(caller.memory).decision(found.decision)
    words = Outlet(caller.memory).words([found.decision.turn_id])
    turn = found.turn
    if turn is not None and words.get(turn["turn_id"]) != turn["content"]:
        shown = words.get(turn["turn_id"])
        turn = turn | {"content": shown, "marked": shown, "metadata": {}}
    return found.model_copy(update={"decision": told, "turn": turn})


@endpoint("POST", "/why-not", "why_not")
def why_not(caller: Caller, asked: Claim) -> WhyNotAnswer:
    """Why something is not believed: the statements like it and what stopped each, what got in, and
    which turns wait. An agent is told only of statements whose words may be told."""
    like = Shown(caller.memory).like(caller, asked.claim, asked.subject)
    found = Outlet(caller.memory).why_not(like)
    lists: dict[str, Sequence[BaseModel]] = {
        name: getattr(found, name) for name in ("stopped", "got_in", "waiting", "nearest")
    }
    told, left_out = cut(lists, asked.limit)
    return found.model_copy(update={**told, "left_out": found.left_out + left_out})


@endpoint("GET", "/diff", "diff")
def diff(caller: Caller, start: AsOf = None, end: AsOf = None, subject: Subject = "") -> DiffAnswer:
    """What changed in belief between two moments, and the event that changed it. What was erased or
    may not be told has no words."""
    person = caller.subject(subject)
    begin = asked_at(caller, start, "start")
    found = caller.memory.diff(person, 0 if begin is None else begin, asked_at(caller, end, "end"))
    return Outlet(caller.memory).diff(found)


@endpoint("POST", "/search", "search")
def search(caller: Caller, asked: SearchQuestion) -> SearchAnswer:
    """Find what a person's memories and turns say about a query, best first. What was found goes on
    record as shown, unless `record` is false. Of somebody who shares a team with whom the token is
    for, it finds what is visible to the team."""
    by = acting(caller, asked.by)
    person, reader = caller.asks_of(asked.subject)
    return caller.memory.search(
        person,
        asked.query,
        asked.k,
        as_of=asked_at(caller, asked.as_of),
        valid_at=asked.valid_at,
        types=tuple(asked.types),
        session=asked.session,
        purpose=asked.purpose,
        max_tokens=asked.max_tokens,
        record=asked.record,
        by=by,
        options=asked.options(reader),
    )


@endpoint("POST", "/context", "context")
def context(caller: Caller, asked: ContextQuestion) -> ContextAnswer:
    """Compose what is worth knowing for a query, within a budget of tokens: constraints, a short
    profile and what was found, with dates."""
    by = acting(caller, asked.by)
    person, reader = caller.asks_of(asked.subject)
    return caller.memory.context(
        person,
        asked.query,
        max_tokens=asked.max_tokens,
        purpose=asked.purpose,
        as_of=asked_at(caller, asked.as_of),
        session=asked.session,
        format=asked.format,
        tokenizer=asked.tokenizer,
        k=asked.k,
        record=asked.record,
        by=by,
        options=asked.options(reader),
    )


@endpoint("GET", "/subjects", "subjects", whole=True, table=True)
def subjects(caller: Caller, limit: Limit = 100, after: After = None) -> SubjectsPage:
    """Who is known and not erased, a page at a time: how much there is of each."""
    return caller.memory.subjects(limit=limit, after=after)


@endpoint("GET", "/status", "status", whole=True)
def status(caller: Caller) -> StatusAnswer:
    """How the ledger is: positions, the queue, what waits for a person, the views."""
    return caller.memory.status()
