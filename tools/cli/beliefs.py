"""Commands about what is believed and why: beliefs, events, history, explain, decisions, revoke."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    ASK,
    TAKE,
    After,
    AsOf,
    Beside,
    By,
    InSession,
    Json,
    Limit,
    MinConfidence,
    Note,
    OfType,
    OnTopic,
    Reader,
    Subject,
    TheSubject,
    ToAgent,
    app,
    json_object,
    moment,
    named,
    note,
    note_empty,
    note_without,
    opened,
    seen_at,
)
from beliefledger.tools.cli.rows import belief_table, decision_table, history_table, since

if TYPE_CHECKING:
    from beliefledger.answers import BeliefAnswer
    from beliefledger.filters import Where


def where(
    session: str | None,
    agent: str | None,
    metadata: str | None,
    topic: str | None = None,
    type: str | None = None,
) -> Where:
    """The filter that a command line asks for."""
    from beliefledger.filters import Where

    return Where(session, agent, topic, type, json_object(metadata))


HINTED = 7
"""Beyond so many lines of advice, a list gives none."""


@app.command(rich_help_panel=ASK)
def beliefs(
    ctx: typer.Context,
    subject: Subject = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="POSITION|TIME",
            help="What was believed then. Only digits are a position; a date is its first moment.",
        ),
    ] = None,
    valid_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="What was true then, as far as is believed.")
    ] = None,
    type: OfType = None,
    topic: Annotated[str | None, typer.Option(help="Only this topic; needs --subject.")] = None,
    min_confidence: MinConfidence = None,
    min_importance: Annotated[
        float, typer.Option(min=0, max=1, help="At least this important.")
    ] = 0.0,
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="Also what is kept but not believed.")
    ] = False,
    session: InSession = None,
    agent: ToAgent = None,
    metadata: Beside = None,
    reader: Reader = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """What is believed: now, as of a past moment, or of a past date."""
    with opened(ctx) as memory:
        snapshot = seen_at(memory, as_of)
        answer = memory.beliefs(
            subject,
            as_of=snapshot,
            valid_at=valid_at,
            type=type,
            topic=topic,
            min_confidence=min_confidence,
            min_importance=min_importance,
            quarantined=quarantined,
            where=where(session, agent, metadata),
            limit=limit,
            after=after,
            reader=reader,
        )
        if not note_empty(memory, subject, answer, snapshot, "believed"):
            only: dict[str, object] = {
                "session": session, "agent": agent, "metadata": metadata, "topic": topic,
                "type": type, "min-confidence": min_confidence, "valid-at": valid_at,
                "min-importance": min_importance, "after": after,
            }  # fmt: skip
            note_without(only, answer, lambda: memory.beliefs(subject, as_of=snapshot))
        elif snapshot is not None and memory.audit.began(subject) is not None:
            one = f" --subject {shlex.quote(subject)}" if subject else ""
            note(
                "What was true then, as far as is known now, tells: beliefledger"
                f" beliefs{one} --valid-at {snapshot.recorded_at[:10]}"
            )

    def page(_answer: Any) -> Iterator[Any]:
        head = output.count(len(answer), "belief")
        if snapshot is not None:
            head += f", as of position {snapshot.position}, {snapshot.recorded_at[:16]} UTC"
        if valid_at is not None:
            head += f", valid at {valid_at}"
        yield output.cell(head + ("." if not answer else ""))
        if answer:
            yield belief_table(answer, whose=subject is None)

    output.show_page(answer, json, page, limit=limit, after=after)


@app.command(rich_help_panel=ASK)
def events(
    ctx: typer.Context,
    subject: TheSubject,
    on: Annotated[
        str | None, typer.Option(metavar="WORDS", help="last tuesday, in May, 2026-03-01 …")
    ] = None,
    start: Annotated[str | None, typer.Option(metavar="TIME", help="From then on.")] = None,
    end: Annotated[str | None, typer.Option(metavar="TIME", help="Before then.")] = None,
    participant: Annotated[
        str | None, typer.Option(metavar="ENTITY", help="With them, under any of their names.")
    ] = None,
    as_of: AsOf = None,
    min_confidence: MinConfidence = None,
    topic: OnTopic = None,
    session: InSession = None,
    agent: ToAgent = None,
    metadata: Beside = None,
    reader: Reader = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """What happened, when and with whom."""
    with opened(ctx) as memory:
        then = seen_at(memory, as_of)
        answer = memory.events(
            subject,
            start=start,
            end=end,
            on=on,
            participant=participant,
            as_of=then,
            min_confidence=min_confidence,
            where=where(session, agent, metadata, topic),
            limit=limit,
            after=after,
            reader=reader,
        )
        if not note_empty(memory, subject, answer, then, "known"):
            only: dict[str, object] = {
                "on": on, "start": start, "end": end, "participant": participant,
                "min-confidence": min_confidence, "topic": topic, "session": session,
                "agent": agent, "metadata": metadata, "after": after,
            }  # fmt: skip
            note_without(only, answer, lambda: memory.events(subject, as_of=then))
    output.show_page(answer, json, _events, limit=limit, after=after)


def _events(answer: Sequence[BeliefAnswer]) -> Iterator[Any]:
    yield output.count(len(answer), "event") + ("" if answer else ".")
    if not answer:
        return
    made = output.table(
        ("memory", output.FIXED),
        ("when", output.FIXED),
        ("known to the", output.FIXED),
        "event",
        ("conf.", output.RIGHT),
    )
    for each in answer:
        made.add_row(
            output.short(each.memory_id),
            output.day(each.event_from),
            each.event_precision,
            since(output.cell(each.text), each.became),
            output.number(each.confidence),
        )
    yield made


@app.command(rich_help_panel=ASK)
def history(
    ctx: typer.Context,
    identifier: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            callback=named,
            help="A belief or a memory in it; its first characters do.",
        ),
    ],
    as_of: AsOf = None,
    topic: OnTopic = None,
    session: InSession = None,
    agent: ToAgent = None,
    metadata: Beside = None,
    reader: Reader = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """Every version of a belief, oldest first."""
    with opened(ctx) as memory:
        answer = memory.history(
            identifier,
            as_of=moment(as_of),
            where=where(session, agent, metadata, topic),
            limit=limit,
            after=after,
            reader=reader,
        )
    output.show_page(answer, json, _history, limit=limit, after=after)


def _history(answer: Sequence[BeliefAnswer]) -> Iterator[Any]:
    if answer:
        first = answer[0]
        yield output.cell(
            f"{first.subject}: {first.attribute} (belief {first.belief_id[: output.SHORT_ID]})"
        )
    yield history_table(answer)


@app.command(rich_help_panel=ASK)
def explain(
    ctx: typer.Context,
    identifier: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            callback=named,
            help="A memory, a decision or a turn; its first characters do.",
        ),
    ],
    proof: Annotated[
        bool,
        typer.Option("--proof", help="Also prove that turn, decision and admission are recorded."),
    ] = False,
    as_of: AsOf = None,
    json: Json = False,
) -> None:
    """Why a memory is there, or why something was refused: decision, scores, words."""
    from beliefledger.ledger.errors import UnknownMemory
    from beliefledger.tools.cli.moments import turn_page
    from beliefledger.tools.cli.pages import explanation, refusal

    with opened(ctx) as memory:
        try:
            answer = memory.explain(identifier, proof=proof, as_of=moment(as_of))
        except UnknownMemory as no_memory:
            try:
                decision = memory.decision(identifier)
            except UnknownMemory:
                try:
                    said = memory.turn(identifier)
                except UnknownMemory:
                    raise no_memory from None
                output.show(said, json, turn_page)
                return
            erased = decision.became is not None and decision.became.what == "erased"
            if decision.memory_id is None or erased:
                output.show(memory.audit.refusal(decision.decision_id), json, refusal)
                return
            answer = memory.explain(decision.memory_id, proof=proof, as_of=moment(as_of))
    output.show(answer, json, explanation)


@app.command(rich_help_panel=ASK)
def decisions(
    ctx: typer.Context,
    subject: Subject = None,
    outcome: Annotated[
        str | None,
        typer.Option(help="admit, confirm, supersede, quarantine, escalate, queue or reject."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="A reason code, e.g. permission.no_consent.")
    ] = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only those that wait for a person.")
    ] = False,
    type: OfType = None,
    topic: OnTopic = None,
    session: InSession = None,
    agent: ToAgent = None,
    metadata: Beside = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Only the last so many, and where the rest begins."),
    ] = None,
    after: After = None,
    as_of: AsOf = None,
    json: Json = False,
) -> None:
    """What the gate did with each statement, and why."""
    with opened(ctx) as memory:
        then = seen_at(memory, as_of)
        answer = memory.decisions(
            subject,
            outcome=outcome,
            reason=reason,
            waits=True if waiting else None,
            where=where(session, agent, metadata, topic, type),
            limit=limit,
            after=after,
            as_of=then,
        )
        if not note_empty(memory, subject, answer, then, "decided"):
            only: dict[str, object] = {
                "outcome": outcome, "reason": reason, "waiting": waiting, "type": type,
                "topic": topic, "session": session, "agent": agent, "metadata": metadata,
                "after": after,
            }  # fmt: skip
            note_without(only, answer, lambda: memory.decisions(subject, as_of=then))

    def page(_answer: Any) -> Iterator[Any]:
        yield output.count(len(answer), "decision") + ("" if answer else ".")
        if answer:
            yield decision_table(answer, whose=subject is None)
        hints = list(output.hints(answer))
        if len(hints) <= HINTED:
            yield from hints

    output.show_page(answer, json, page, limit=limit, after=after)


@app.command(rich_help_panel=TAKE)
def revoke(
    ctx: typer.Context,
    memory_id: Annotated[
        str,
        typer.Argument(
            metavar="MEMORY", callback=named, help="A memory's id; its first characters do."
        ),
    ],
    by: By,
    note: Note = None,
    json: Json = False,
) -> None:
    """Take a memory back. It stays in the history."""
    with opened(ctx) as memory:
        answer = memory.revoke(memory_id, by=by, note=note)

    def page(_answer: BeliefAnswer) -> Iterator[Any]:
        yield output.cell(f"Revoked: {answer.text}")

    output.show(answer, json, page)
