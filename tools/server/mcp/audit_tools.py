"""The tools for whoever audits and pays: verification, reports, costs, exports, scores."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from beliefledger.exports.exports import write_text
from beliefledger.ledger.errors import InvalidQuery, UnknownMemory
from beliefledger.ledger.events.subject import ConsentGranted, ConsentWithdrawn
from beliefledger.ledger.events.turn import ReviewDecided
from beliefledger.ledger.times import to_datetime
from beliefledger.projections.search_terms import terms
from beliefledger.search.answers import FoundAnswer, OutdatedWords
from beliefledger.times import micros
from beliefledger.tools.server.bucket import NoKeys
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.costs import costs_of
from beliefledger.tools.server.mcp.recall_tools import Subject
from beliefledger.tools.server.mcp.tool import NOT_CONFIGURED, Answer, ToolProblem, schema, tool
from beliefledger.tools.server.shown import Shown

_COUNTED = {
    "consents": {"granted": ConsentGranted.NAME, "withdrawn": ConsentWithdrawn.NAME},
    "reviews": {"decided": ReviewDecided.NAME},
}
"""What is counted of events, by record."""
_TELL_EVERY = 1_000
"""Events of an export between two notices of its progress."""


@tool(
    "proofs.verify",
    result=schema(status=str, records_checked=int, broken_at={}, message=str),
    reads=True,
)
def verify_audit_chain(
    caller: Caller,
    start_id: str = "",  # noqa: ARG001  agents send it
    end_id: str = "",  # noqa: ARG001
) -> Answer:
    """Check every event of the log and the tree over it. start_id and end_id are taken and not
    needed: the whole log is checked at once. A token for some people is told how many of the
    events are theirs."""
    allowed = caller.principal.subjects
    found = caller.memory.proofs.verify(caller.tell if allowed is None else None)
    good = "Every event is as it was written."
    if allowed is None:
        events, position, said = found.events, found.position, found.problem or good
    else:  # how much there is of everybody is nothing for it
        people = [name for each in allowed if (name := caller.memory.name_of(each)) is not None]
        with caller.memory.subscribe(subjects=people, follow=False) as theirs:
            events, position = sum(1 for _ in theirs), None
        said = good if found.ok else "The log is not as it was written. Whoever runs it sees where."
    return {
        "status": "ok" if found.ok else "broken",
        "records_checked": events,
        "broken_at": position,
        "message": said,
    }


@tool(
    "audit.counts",
    "tokens.calls",
    "erasure.list",
    result=schema(record_count=int, from_date=str, to_date=str, ndjson=str),
    reads=True,
    of_everybody=True,
)
def export_compliance_report(caller: Caller, from_date: str = "", to_date: str = "") -> Answer:
    """Report in lines of JSON: decisions by reason, consents granted and withdrawn, reviews,
    conflicts, access by principal, erasures with the time they took, what models cost. Calls, costs
    and erasures are those of the dates, counts those up to now."""
    memory = caller.memory
    counts = memory.audit.counts()
    lines: list[dict[str, Any]] = [
        {"record": "decisions", "outcome": outcome, "reason": reason, "count": count}
        for outcome, reasons in counts.decisions.items()
        for reason, count in reasons.items()
    ]
    lines += [
        {"record": "events", "type": name, "count": count} for name, count in counts.types.items()
    ]
    lines += [
        {"record": record, **{what: counts.types.get(name, 0) for what, name in named.items()}}
        for record, named in _COUNTED.items()
    ]
    lines.append({"record": "conflicts", "loops": counts.loops.model_dump(mode="json")})
    lines += [
        {"record": "access", **each.model_dump(mode="json")}
        for each in memory.tokens.calls(from_date or None, to_date or None)
    ]
    start, end = _bounds(from_date, to_date)
    for erasure in memory.erasure.list():
        asked, done = erasure.requested_at, erasure.completed_at
        if (start is None or asked >= start) and (end is None or asked < end):
            seconds = None if done is None else (done - asked).total_seconds()
            lines.append(
                {
                    "record": "erasure",
                    "erasure": erasure.erasure,
                    "reach": erasure.reach,
                    "legal_basis": erasure.legal_basis,
                    "requested_at": asked.isoformat(),
                    "seconds_to_completion": seconds,
                }
            )
    lines.append({"record": "model_costs", **_costs(caller, "", from_date, to_date)[0]})
    return {
        "record_count": len(lines),
        "from_date": from_date,
        "to_date": to_date,
        "ndjson": "".join(f"{json.dumps(each, sort_keys=True)}\n" for each in lines),
    }


@tool(
    "audit.counts",
    "tokens.calls",
    result=schema(sessions=list, total_cost_usd={}, total_tool_calls=int),
    reads=True,
)
def get_cost_summary(
    caller: Caller, session_id: str = "", from_date: str = "", to_date: str = ""
) -> Answer:
    """Sum what models cost for reading what was said, by session, and count calls of tools: of the
    people and of the name that the token is for. A cost is null where the price of a model is not
    known."""
    total, sessions = _costs(caller, session_id, from_date, to_date)
    principal = caller.principal
    calls = caller.memory.tokens.calls(
        from_date or None, to_date or None,
        token=None if principal.subjects is None else principal.token,
    )  # fmt: skip
    return {
        "sessions": sessions,
        "total_cost_usd": total["cost_usd"],
        "total_tool_calls": sum(each.calls for each in calls),
        "input_tokens": total["input_tokens"],
        "output_tokens": total["output_tokens"],
    }


def _costs(
    caller: Caller, session_id: str, from_date: str, to_date: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    start, end = _bounds(from_date, to_date)
    sums: dict[str, dict[str, Any]] = {}
    named = caller.principal.may("turn")  # a session's name is words of a person
    if session_id and not named:
        caller.principal.require("turn")
    for each in costs_of(caller.memory).until_now():
        allowed = caller.principal.subjects
        if allowed is not None and each.subject_ref not in allowed:
            continue
        if not _within(each.at, start, end):
            continue
        session = _session(caller, each.turn_id) if named else ""
        if session_id and session != session_id:
            continue
        of = sums.setdefault(session, {"input_tokens": 0, "output_tokens": 0, "micro": 0})
        of["input_tokens"] += each.input_tokens
        of["output_tokens"] += each.output_tokens
        of["micro"] = _added(of["micro"], each.micro_usd)
    sessions = [{"session_id": name, **_told([each])} for name, each in sums.items()]
    return _told(sums.values()), sessions


def _session(caller: Caller, turn_id: str) -> str:
    """The session of a text; none of one that is erased."""
    try:
        return caller.memory.turn(turn_id).session or ""
    except UnknownMemory:
        return ""


def _told(sums: Iterable[dict[str, Any]]) -> dict[str, Any]:
    micro: int | None = 0
    read = written = 0
    for each in sums:
        micro = _added(micro, each["micro"])
        read += each["input_tokens"]
        written += each["output_tokens"]
    cost = None if micro is None else micro / 1e6
    return {"cost_usd": cost, "input_tokens": read, "output_tokens": written}


def _added(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _within(at: int, start: datetime | None, end: datetime | None) -> bool:
    moment = to_datetime(at)
    return (start is None or moment >= start) and (end is None or moment < end)


def _bounds(from_date: str, to_date: str) -> tuple[datetime | None, datetime | None]:
    start, end = micros(from_date or None, "from_date"), micros(to_date or None, "to_date")
    if start is not None and end is not None and start >= end:
        raise InvalidQuery("to_date has to come after from_date.")
    return _when(start), _when(end)


def _when(moment: int | None) -> datetime | None:
    return None if moment is None else to_datetime(moment)


@tool(
    "exports.events",
    result=schema(files_uploaded=int, records_exported=int, errors=list),
    of_everybody=True,
)
def trigger_audit_export(caller: Caller) -> Answer:
    """Write every event to a file in the directory, or the bucket, that the server's configuration
    names. That it was handed out is on record."""
    to = caller.exports
    if to is None:
        raise ToolProblem(
            NOT_CONFIGURED, "The server's configuration names no directory or bucket: set exports."
        )
    name = datetime.now(UTC).strftime("events-%Y%m%dT%H%M%S%fZ.ndjson")
    records, expected = 0, caller.memory.status().position

    def counted() -> Iterator[str]:
        nonlocal records
        for line in caller.memory.exports.events(by=caller.principal.name):
            records += 1
            if not records % _TELL_EVERY:
                caller.tell(records, max(records, expected))
            yield line

    try:
        if isinstance(to, Path):
            write_text(to / name, counted())
        else:
            to.write_text(name, counted())
    except NoKeys as problem:
        raise ToolProblem(NOT_CONFIGURED, problem.detail) from None
    except OSError as problem:
        said = f"The file cannot be written: {problem.strerror}."
        return {"files_uploaded": 0, "records_exported": 0, "errors": [said]}
    return {"files_uploaded": 1, "records_exported": records, "errors": []}


@tool("search", result=schema(score=float, reasoning=str, issues=list), reads=True)
def score_response(
    caller: Caller,
    query: str,
    response: str,
    context_used: str = "",
    session_id: str = "",
    subject: Subject = "",
) -> Answer:
    """Score from 0 to 1 how far a response rests on what was used for it and on what is believed:
    the share of its telling words that stand there. What it says that is believed no more is an
    issue, "outdated: …". No model is asked, and nothing is kept."""
    person, session = caller.subject(subject), session_id or None
    found = {
        each.id: each
        for asked in (query, response)
        if asked.strip()
        for each in caller.memory.search(person, asked, 20, session=session, record=False).results
    }.values()
    shown = " ".join(_current(each) for each in found if each.standing.state != "outdated")
    said = set(terms(response)) - set(terms(query))
    ground = set(terms(context_used)) | set(terms(shown))
    bare = sorted(said - ground)
    score = 1.0 if not said else round(1 - len(bare) / len(said), 4)
    issues = [f"{len(bare)} of {len(said)} telling words rest on nothing known."] if bare else []
    issues += _outdated(caller, found, said)
    return {
        "score": score,
        "reasoning": f"{len(said) - len(bare)} of {len(said)} telling words of the response stand"
        " in what was used or is believed.",
        "issues": issues,
    }


def _outdated(caller: Caller, found: Collection[FoundAnswer], said: set[str]) -> list[str]:
    """What a response says that is believed no more: of an outdated result a telling word that no
    result has which holds."""
    held = {
        word
        for each in found
        if each.standing.state != "outdated" and each.kind == "memory"
        for word in terms(each.text)
    }
    past = [
        part for each in found for part in _past(each) if (said & set(terms(part.words))) - held
    ]
    told = Shown(caller.memory).words([part.superseded_by or "" for part in past])
    issues = []
    for part in past:
        now = told.get(part.superseded_by or "")
        since = f" since {part.since:%Y-%m-%d}" if part.since else ""
        after = f"; now: {now}" if now else ""
        issues.append(f"outdated: {part.words} (believed no more{since}{after})")
    return list(dict.fromkeys(issues))


def _past(found: FoundAnswer) -> Sequence[OutdatedWords]:
    """What a result says that is outdated."""
    standing = found.standing
    if standing.parts or standing.state != "outdated":
        return standing.parts
    by, since = standing.superseded_by, standing.since
    return [OutdatedWords(words=found.text, superseded_by=by, since=since)]


def _current(found: FoundAnswer) -> str:
    """What a result says without what is outdated."""
    text = found.text
    for part in found.standing.parts:
        text = text.replace(part.words, " ")
    return text
