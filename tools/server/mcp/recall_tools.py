"""The tools under the names that agents know from Recall: storing, searching, deleting."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from beliefledger.filters import Where
from beliefledger.gate.orders import instruction_like
from beliefledger.ledger.errors import InvalidTurn, NotPermitted
from beliefledger.ledger.redact import redact
from beliefledger.search.answers import FoundAnswer
from beliefledger.search.context import plan_is_over
from beliefledger.search.options import SearchOptions
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.mcp.tool import (
    CONFIRM_REQUIRED,
    Answer,
    Share,
    ToolProblem,
    schema,
    tool,
)
from beliefledger.tools.server.shown import TOPIC, Shown, times_of, topic_of

PHRASE = "DELETE MY DATA"
GENERAL = "general"

Subject = Annotated[
    str, Field(description="Whom it is about; may be left out where the token is for one person.")
]
_MEMORIES = {
    "type": "array",
    "items": schema("id", "text", "topic", "importance", "type", "created_at"),
}


@tool("record_turn", result=schema(queued=bool, job_id=str, cached=bool))
def store_memory(
    caller: Caller,
    text: str,
    topic: Annotated[str, Field(max_length=100)],
    idempotency_key: str = "",
    session_id: str = "",
    agent_id: str = "",
    subject: Subject = "",
) -> Answer:
    """Record what somebody said. It is durable on return; what is to be believed of it is decided
    afterwards, and job_status tells how far that is. The same idempotency_key records it once. A
    topic that the policy does not know is kept as the word it is."""
    person = caller.subject(subject)
    agent = caller.principal.agent
    if agent_id and agent_id != agent:
        raise NotPermitted("agent_id: the token says which agent calls; leave it out.")
    if not topic.strip():
        raise InvalidTurn("topic is empty.")
    if not topic.isprintable() or instruction_like(topic):
        raise InvalidTurn("topic: give a word or two on one line, and no instruction.")
    known = topic in caller.memory.policy.current.topics
    caller.grant_first(person)
    receipt = caller.memory.record_turn(
        person,
        text,
        session=session_id or None,
        agent=agent,
        idempotency_key=caller.own_key(idempotency_key),
        metadata={} if known else {TOPIC: redact(topic.strip()).text},
    )
    return {"queued": receipt.pending, "job_id": receipt.turn_id, "cached": receipt.already}


@tool("search", result=schema(results=_MEMORIES, total=int), repeats=True)
def search_memories(
    caller: Caller,
    query: str,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    recency_weight: Annotated[float, Share] = 0.3,
    mmr_lambda: Annotated[float, Share] = 0.5,
    score_threshold: Annotated[float, Share] = 0.0,
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None,
    session_id: str = "",
    subject: Subject = "",
    topic: str = "",
    type: str = "",
    said_in: str = "",
    agent_id: str = "",
) -> Answer:
    """Find memories about a query, best first. recency_weight is how much fresh ones come first,
    mmr_lambda how much likeness to the query counts against variety, score_threshold the least
    confidence, max_tokens a bound for all texts together. topic, type, said_in (a session)
    and agent_id pick memories. Of somebody who shares a team with whom the token is for, it finds
    what is visible to the team."""
    person, reader = caller.asks_of(subject)
    found = caller.memory.search(
        person,
        query,
        limit,
        session=session_id or None,
        max_tokens=max_tokens,
        by=caller.principal.name,
        options=SearchOptions(
            include=("memories",),
            reader=reader,
            where=_where(caller, topic, type, said_in, agent_id),
            recency_weight=recency_weight,
            diversity=1 - mmr_lambda,
            min_confidence=score_threshold or None,
        ),
    )
    if topic and not found.results and not found.pending:
        _check_topic(caller, person, reader, topic)
    results = [_found(each, found.valid_at) for each in found.results]
    return {"results": results, "total": len(results)}


def _check_topic(caller: Caller, person: str, reader: str | None, topic: str) -> None:
    """Raises `InvalidQuery` for a topic that neither the policy knows nor any memory has that may
    be told."""
    held = Shown(caller.memory).beliefs(caller.memory.beliefs(person, reader=reader))
    if redact(topic.strip()).text not in {each["topic"] for each in held}:
        caller.memory.beliefs(person, topic=topic, limit=1)


def _where(caller: Caller, topic: str, type: str, session: str, agent: str) -> Where:
    """The filter; by a topic as it was stored."""
    known = not topic or topic in caller.memory.policy.current.topics
    return Where(
        session or None,
        agent or None,
        topic=topic or None if known else None,
        type=type or None,
        metadata={} if known else {TOPIC: redact(topic.strip()).text},
    )


def _found(found: FoundAnswer, now: datetime) -> Answer:
    """A memory, which is outdated, too, where it was planned for a time that is over."""
    memory = found.memory
    assert memory is not None, "only memories were asked for"
    return {
        "id": found.id,
        "text": found.text,
        "topic": topic_of(memory),
        "importance": memory.importance,
        "type": memory.type,
        "created_at": memory.recorded_from.isoformat(),
        "access_count": found.accesses,
        "decay_score": found.left,
        "standing": "outdated" if plan_is_over(memory, now) else found.standing.state,
        **times_of(memory),
    }


@tool(
    "beliefs",
    result=schema(memories=_MEMORIES, total=int, has_more=bool, next_offset={}),
    reads=True,
)
def inspect_memories(
    caller: Caller,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0,
    subject: Subject = "",
) -> Answer:
    """List what is believed now, the newest first, a page at a time."""
    person = caller.subject(subject)
    held = list(caller.memory.recalls.showable(caller.memory.beliefs(person)))
    held.sort(key=lambda each: (each.recorded_from, each.memory_id), reverse=True)
    some = held[offset : offset + limit]
    left = caller.memory.operations.ageing.left([each.memory_id for each in some])
    now = datetime.now(UTC)
    page = [
        {
            "id": each.memory_id,
            "text": each.text,
            "topic": topic_of(each),
            "importance": each.importance,
            "type": each.type,
            "created_at": each.recorded_from.isoformat(),
            "access_count": left.get(each.memory_id, (0, 0.0))[0],
            "decay_score": round(left.get(each.memory_id, (0, 1.0))[1], 6),
            "standing": "outdated" if plan_is_over(each, now) else "current",
            **times_of(each),
        }
        for each in some
    ]
    more = offset + limit < len(held)
    return {
        "memories": page,
        "total": len(held),
        "has_more": more,
        "next_offset": offset + limit if more else None,
    }


@tool("revoke", result=schema(deleted=bool), destroys=True, repeats=True)
def delete_memory(caller: Caller, memory_id: str) -> Answer:
    """Take a memory back: it is no longer believed or shown. It stays in the history, which forget
    erases."""
    known = caller.versions(memory_id)
    if all(each.recorded_to is not None for each in known):
        return {"deleted": False}
    caller.memory.revoke(known[-1].memory_id, by=caller.principal.name)
    return {"deleted": True}


@tool("beliefs", result=schema(by_type=dict, total=int, pending_extractions=int), reads=True)
def get_memory_stats(caller: Caller, subject: Subject = "") -> Answer:
    """Count what is believed now, by type, and the texts that are not decided yet."""
    person = caller.subject(subject)
    by_type: dict[str, int] = {}
    held = Shown(caller.memory).beliefs(caller.memory.beliefs(person))
    for each in held:
        by_type[each["type"]] = by_type.get(each["type"], 0) + 1
    pending = caller.memory.search(person, "pending", 1, record=False).pending
    return {"by_type": by_type, "total": len(held), "pending_extractions": pending}


@tool(
    "operations.consolidation.consolidate",
    result=schema(
        groups_found=int, memories_consolidated=int, memories_created=int, deleted_ids=list,
        created=list, dry_run=bool,
    ),
    destroys=True,
)  # fmt: skip
def consolidate_memories(
    caller: Caller,
    topic: str,
    similarity_threshold: Annotated[float, Field(gt=0, le=1)] = 0.85,
    dry_run: bool = False,
    subject: Subject = "",
) -> Answer:
    """Merge memories of one topic that say one thing in several ways. With dry_run nothing is
    changed. The merged ones stay in the history."""
    known = caller.memory.policy.current.topics
    done = caller.memory.operations.consolidation.consolidate(
        caller.subject(subject),
        topic=topic if topic in known else GENERAL,
        threshold=similarity_threshold,
        apply=not dry_run,
        by=caller.principal.name,
        progress=caller.tell,
    )
    words = Shown(caller.memory).words(
        each.memory_id for cluster in done.clusters for each in cluster.members
    )
    merged = [each for each in done.clusters if each.memory_id is not None]
    gone = [] if dry_run else [m.memory_id for each in merged for m in each.members]
    told = {each.memory_id: each.after for each in merged if each.members[0].memory_id in words}
    created = [] if dry_run else [{"id": name, "text": text} for name, text in told.items()]
    return {
        "groups_found": len(done.clusters),
        "memories_consolidated": len(gone),
        "memories_created": 0 if dry_run else len(merged),
        "deleted_ids": gone,
        "created": created,
        "dry_run": dry_run,
    }


@tool("erase", result=schema(tokens_revoked=int), destroys=True)
def delete_namespace_data(caller: Caller, confirm: str, subject: Subject = "") -> Answer:
    """Erase everything about a person for good, and end the tokens that are for them alone. confirm
    has to be DELETE MY DATA."""
    if confirm != PHRASE:
        raise ToolProblem(CONFIRM_REQUIRED, f"confirm has to be {PHRASE}.")
    person = caller.subject(subject)
    alone = [each.token_id for each in caller.memory.tokens.list() if each.subjects == (person,)]
    caller.memory.erase(person, by=caller.principal.name)
    caller.subject_ref = None
    for token_id in alone:
        caller.memory.tokens.revoke(token_id, by=caller.principal.name)
    return {"tokens_revoked": len(alone)}
