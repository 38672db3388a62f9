"""The tools of our own: context, belief as of a time, why, and what a person settles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from beliefledger.answers import BeliefAnswer, ConflictAnswer
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.reading.changes import MemoryChange, MomentAnswer
from beliefledger.search.options import SearchOptions
from beliefledger.tools.server.caller import Caller, is_position, whole_id
from beliefledger.tools.server.mcp.questions import PersonNeeded
from beliefledger.tools.server.mcp.recall_tools import Subject
from beliefledger.tools.server.mcp.tool import Answer, Unfinished, schema, tool
from beliefledger.tools.server.shown import Shown, cut

Limit = Annotated[int, Field(ge=1, le=200)]
AsOf = Annotated[
    str,
    Field(description="A time, such as 2026-03-01 or 2026-03-01T09:00:00Z, or a position."),
]
_BELIEFS = schema(beliefs=list)


@tool(
    "context",
    result=schema(content=str, lines=list, tokens=int, recall_id={}),
    repeats=True,
)
def context(
    caller: Caller,
    query: str,
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 1_000,
    format: Literal["text", "markdown", "xml"] = "markdown",
    as_of: AsOf = "",
    session_id: str = "",
    subject: Subject = "",
) -> Answer:
    """Compose what is worth knowing for a query, within a budget of tokens: constraints, a short
    profile and what was found, with dates. What is outdated or contested says so. Of somebody who
    shares a team with whom the token is for, it has what is visible to the team."""
    person, reader = caller.asks_of(subject)
    made = caller.memory.context(
        person,
        query,
        max_tokens=max_tokens,
        format=format,
        as_of=caller.moment(as_of),
        session=session_id or None,
        by=caller.principal.name,
        options=SearchOptions(reader=reader),
    )
    lines = [each.model_dump(mode="json") for each in made.lines]
    return {
        "content": made.content,
        "lines": lines,
        "tokens": made.tokens,
        "recall_id": made.recall_id,
    }


@tool("beliefs", result=_BELIEFS, reads=True)
def believe_as_of(
    caller: Caller, as_of: AsOf, valid_at: str = "", type: str = "", subject: Subject = ""
) -> Answer:
    """What was believed at a time, as far as it may still be told. valid_at asks what of it was
    true then."""
    if not as_of.strip():
        raise InvalidQuery("as_of is empty.")
    found = caller.memory.beliefs(
        caller.subject(subject),
        as_of=caller.moment(as_of),
        valid_at=valid_at or None,
        type=type or None,
    )
    return {"beliefs": Shown(caller.memory).beliefs(found)}


@tool("explain", result=schema("memory", "decision", holds=bool), reads=True)
def explain_memory(caller: Caller, memory_id: str) -> Answer:
    """Why a memory is there: the decision with its reason and scores, and the words it rests on, as
    far as they may be told."""
    memory = caller.memory_id(memory_id)
    told = caller.memory.explain(memory)
    turns = [each.turn_id for each in (*told.memory.evidence, *told.confirmed_by)]
    words = Shown(caller.memory).words([memory, *turns])
    if memory not in words:
        raise UnknownMemory("There is no such memory.")
    decided = None if told.decision is None else Shown(caller.memory).decisions([told.decision])[0]
    return {
        "memory": Shown(caller.memory).beliefs([told.memory])[0],
        "holds": told.holds,
        "decision": decided,
        "decided_by": told.decided_by,
        "scores": told.scores,
        "evidence": [{"turn_id": each, "words": words.get(each)} for each in dict.fromkeys(turns)],
        "extractor": told.extractor,
        "positions": told.positions if caller.for_everybody else None,
    }


@tool("history", result=schema(versions=list), reads=True)
def belief_history(caller: Caller, belief_id: str) -> Answer:
    """Every version of a belief, oldest first, as far as it may be told. Takes the id of a belief
    or of a memory in it."""
    return {"versions": Shown(caller.memory).beliefs(versions_of(caller, belief_id))}


def versions_of(caller: Caller, belief_id: str) -> Sequence[BeliefAnswer]:
    """Every version of a belief that a caller may ask for. Raises `UnknownMemory`."""
    versions = caller.memory.history(whole_id(belief_id, "belief"))
    if not versions or not all(caller.owns(each.subject) for each in versions):
        raise UnknownMemory("There is no such belief.")
    return versions


@tool("decisions", result=schema(decisions=list), reads=True)
def list_decisions(
    caller: Caller,
    outcome: str = "",
    reason: str = "",
    limit: Limit = 50,
    subject: Subject = "",
) -> Answer:
    """What the gate decided, the last ones, with reasons. A claim is told only where its words may
    be."""
    person = caller.subject(subject)
    made = caller.memory.decisions(
        person, outcome=outcome or None, reason=reason or None, limit=limit
    )
    return {"decisions": Shown(caller.memory).decisions(made)}


@tool("why_not", result=schema(stopped=list, got_in=list, waiting=list), reads=True)
def why_not(caller: Caller, claim: str, limit: Limit = 10, subject: Subject = "") -> Answer:
    """Why something is not believed: the statements like it and what stopped each, what got in, and
    which texts wait. Words are told only where they may be; an agent is told only of statements
    whose words may be."""
    shown = Shown(caller.memory)
    found = shown.like(caller, claim, subject)
    stopped = shown.decisions([each.decision for each in found.stopped])
    got_in = shown.decisions([each.decision for each in found.got_in])
    waiting = [
        {"job_id": each.turn_id, "state": each.state, "said_at": each.said_at.isoformat()}
        for each in found.waiting
    ]
    lists = {"stopped": stopped, "got_in": got_in, "waiting": waiting}
    told, left_out = cut(lists, limit)
    return {**told, "left_out": left_out}


@tool("diff", result=schema(changes=list, start={}, end={}), reads=True)
def diff(caller: Caller, start: AsOf, end: AsOf = "", subject: Subject = "") -> Answer:
    """What changed in belief between two times, and the event that changed it. What was erased or
    may not be told has no words."""
    begins = caller.moment(start)
    if begins is None:
        raise InvalidQuery("start is empty.")
    found = caller.memory.diff(caller.subject(subject), begins, caller.moment(end))
    words = Shown(caller.memory).words(each.memory_id or "" for each in found.changes)
    return {
        "start": _bound(caller, found.start, start),
        "end": _bound(caller, found.end, end),
        "changes": [_change(each, words) for each in found.changes],
    }


def _bound(caller: Caller, told: MomentAnswer, given: str) -> dict[str, Any]:
    """A moment; for a token for some people without its position, and without the time of one."""
    if caller.for_everybody:
        return told.model_dump(mode="json")
    return {"at": None if is_position(given) else told.at.isoformat()}


def _change(each: MemoryChange, words: dict[str, str]) -> dict[str, Any]:
    return {
        "memory_id": each.memory_id,
        "belief_id": each.belief_id,
        "what": each.what,
        "erased": each.erased,
        "text": words.get(each.memory_id or ""),
        "believed_before": each.before is not None,
        "believed_after": each.after is not None,
        "steps": [
            step.model_dump(
                mode="json", include={"what", "on", "since", "decision_id", "reason", "by"}
            )
            for step in each.steps
        ],
    }


@tool("conflicts.list", result=schema(conflicts=list), reads=True)
def list_conflicts(caller: Caller, subject: Subject = "") -> Answer:
    """The beliefs about which a person has to choose, with the values to choose from."""
    found = caller.memory.conflicts.list(caller.subject(subject))
    return {"conflicts": [_conflict(caller, each) for each in found]}


def _conflict(caller: Caller, conflict: ConflictAnswer) -> dict[str, Any]:
    shown = Shown(caller.memory)
    decided = shown.decisions(conflict.escalated)
    told = {each["decision_id"] for each in decided if each["claim"] is not None}
    told |= {each["memory_id"] for each in shown.beliefs(conflict.standing)}
    return {
        "belief_id": conflict.belief_id,
        "attribute": conflict.attribute if told & {each.id for each in conflict.choices} else None,
        "reason": conflict.reason,
        "choices": [
            {
                "id": each.id,
                "stands": each.stands,
                "value": each.value if each.id in told else None,
                "text": each.text if each.id in told else None,
                "confidence": each.confidence,
                "last_said": each.last_said.isoformat(),
            }
            for each in conflict.choices
        ],
    }


@tool("conflicts.resolve", result=_BELIEFS, repeats=True)
def resolve_conflict(
    caller: Caller,
    belief_id: str,
    choose: str = "",
    contexts: dict[str, str] | None = None,
    note: str = "",
    subject: Subject = "",
) -> Answer:
    """Settle a contested belief on the word of a person: choose one value by its id or its words,
    or say in contexts which value holds in which context. With neither, the client puts the choice
    to the person, where it can."""
    person = caller.subject(subject)
    belief = whole_id(belief_id, "belief")
    found = {each.belief_id: each for each in caller.memory.conflicts.list(person)}
    if belief not in found:
        raise UnknownMemory("There is no such conflict.")
    if not choose and not contexts:
        raise _question(_conflict(caller, found[belief]))
    settled = caller.memory.conflicts.resolve(
        belief,
        by=caller.principal.name,
        choose=choose or None,
        contexts=contexts or None,
        note=note or None,
    )
    return {"beliefs": Shown(caller.memory).beliefs(settled)}


def _question(conflict: Mapping[str, Any]) -> PersonNeeded | NotPermitted:
    """What to ask a person about a conflict: of its choices those that may be told."""
    otherwise = NotPermitted("Choose either one value or a value for each context.")
    told = {
        str(each["text"] or each["value"]): each["id"]
        for each in conflict["choices"]
        if each["value"] is not None
    }
    if not told:
        return otherwise
    said = f"Several things were said about {conflict['attribute']}. Which one holds?"
    return PersonNeeded(said, "choose", told, otherwise)


@tool("conflicts.review", result=schema(memory_id={}))
def review_candidate(
    caller: Caller,
    decision_id: str,
    approve: bool,
    basis: str = "explicit_consent",
    note: str = "",
) -> Answer:
    """Approve or refuse a statement that waits for a person, on the lawful basis that is named."""
    decision = caller.memory.decision(whole_id(decision_id, "decision"))
    if not caller.owns(decision.subject):
        raise UnknownMemory("There is no such decision.")
    written = caller.memory.conflicts.review(
        decision.decision_id,
        approve=approve,
        by=caller.principal.name,
        basis=basis,
        note=note or None,
    )
    return {"memory_id": written}


@tool("consent.grant", result=schema(grant_id=str), repeats=True)
def grant_consent(
    caller: Caller,
    basis: str,
    categories: list[str] | None = None,
    purpose: str = "",
    note: str = "",
    subject: Subject = "",
) -> Answer:
    """Record a lawful basis for keeping memories of a person. categories are ordinary, or special
    ones by name."""
    granted = caller.memory.consent.grant(
        caller.subject(subject),
        basis,
        categories=tuple(categories or ("ordinary",)),
        purpose=purpose or None,
        note=note or None,
        by=caller.principal.name,
    )
    return {"grant_id": granted}


@tool(
    "consent.reconsider",
    "consent.preview_reconsider",
    "decision",
    result=schema(reconsidered=list, dry_run=bool),
    repeats=True,
)
def reconsider(caller: Caller, dry_run: bool = False, subject: Subject = "") -> Answer:
    """Decide again about what was refused or queued for want of a lawful basis that was granted
    since, in the order in which it was said. dry_run only tells what would be decided."""
    person, memory = caller.subject(subject), caller.memory
    if dry_run:
        made = memory.consent.preview_reconsider(person)
    else:
        made = memory.consent.reconsider(person, by=caller.principal.name)
    new = [memory.decision(each.new_decision_id) for each in made if each.new_decision_id]
    claims = {each["decision_id"]: each["claim"] for each in Shown(memory).decisions(new)}
    return {
        "reconsidered": [
            {
                **each.model_dump(mode="json", exclude={"claim"}),
                "claim": claims.get(each.new_decision_id or ""),
            }
            for each in made
        ],
        "dry_run": dry_run,
    }


@tool("store", result=schema("decision"))
def remember_fact(
    caller: Caller,
    attribute: str,
    value: str,
    type: str = "fact",
    text: str = "",
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None,
    idempotency_key: str = "",
    subject: Subject = "",
) -> Answer:
    """Write one memory with chosen fields. Consent and contradiction are decided as for any
    other."""
    person = caller.subject(subject)
    caller.grant_first(person)
    decided = caller.memory.store(
        person,
        value,
        attribute=attribute,
        type=type,
        text=text or None,
        confidence=confidence,
        idempotency_key=caller.own_key(idempotency_key),
        by=caller.principal.name,
    )
    return {"decision": Shown(caller.memory).decisions([decided])[0]}


@tool("correct", result=schema(job_id=str, decisions=list))
def correct_memory(
    caller: Caller,
    memory_id: str,
    words: str,
    value: str = "",
    session_id: str = "",
    idempotency_key: str = "",
) -> Answer:
    """Record that a person says a memory about them is wrong, in their own words. What these say of
    the same thing takes its place; where they say nothing of it the memory ends. value is the right
    value, for words that need no reading."""
    memory = caller.memory_id(memory_id)
    receipt, made = caller.memory.correct(
        memory,
        words,
        value=value or None,
        session=session_id or None,
        agent=caller.principal.agent,
        idempotency_key=caller.own_key(idempotency_key),
        by=caller.principal.name,
    )
    return {"job_id": receipt.turn_id, "decisions": Shown(caller.memory).decisions(made)}


@tool("erase", result=schema("erasure", bodies=int), destroys=True)
def forget(
    caller: Caller,
    memory_id: str = "",
    turn_id: str = "",
    session_id: str = "",
    subject: Subject = "",
) -> Answer:
    """Erase one memory, one text or one session for good. The whole of a person is erased with
    delete_namespace_data."""
    given = [each for each in (memory_id, turn_id, session_id) if each]
    if len(given) != 1:
        raise InvalidTurn("Say one of memory_id, turn_id and session_id.")
    person = caller.subject(subject)
    if memory_id and caller.memory.history(whole_id(memory_id, "memory"))[-1].subject != person:
        raise UnknownMemory("There is no such memory.")
    if turn_id and caller.memory.turn(whole_id(turn_id, "text")).subject != person:
        raise UnknownMemory("There is no such text.")
    less = {"memory": memory_id, "turn": turn_id, "session": session_id}
    what: dict[str, Any] = {name: each for name, each in less.items() if each}
    erased = caller.memory.erase(person, by=caller.principal.name, **what)
    return {"erasure": erased.erasure, "bodies": erased.bodies}


@tool("turn", "decisions", result=schema(state=str, decisions=list), reads=True)
def job_status(
    caller: Caller, job_id: str, wait_seconds: Annotated[float, Field(ge=0, le=60)] = 0
) -> Answer:
    """Tell where a text is that store_memory took: pending, extracted or parked, and what was
    decided. wait_seconds is how long to wait for it to be decided."""
    turn = caller.memory.turn(whole_id(job_id, "job"))
    if not caller.owns(turn.subject):
        raise UnknownMemory("There is no such job.")
    made = caller.memory.decisions(turn.subject, turn_id=turn.turn_id)
    status = {
        "state": turn.state,
        "attempts": turn.attempts,
        "decisions": Shown(caller.memory).decisions(made),
    }
    if wait_seconds and turn.state == "pending":
        raise Unfinished(status, wait_seconds, f"pending, {turn.attempts} attempts")
    return status
