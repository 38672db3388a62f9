"""The command that searches: what it found, and why."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from beliefledger.settings import one_thread_each
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    ASK,
    AuditReason,
    Beside,
    Json,
    MaybeBy,
    Reader,
    SaidIn,
    TheSubject,
    ToAgent,
    app,
    json_object,
    note,
    note_empty,
    opened,
    seen_at,
)

if TYPE_CHECKING:
    from beliefledger.search.answers import FoundAnswer, SearchAnswer, StandingAnswer
    from beliefledger.search.options import Included


@app.command(rich_help_panel=ASK)
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    subject: TheSubject,
    k: Annotated[int, typer.Option("-k", help="At most so many results.")] = 10,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="POSITION|TIME",
            help="Search what was known then. Only digits are a position.",
        ),
    ] = None,
    valid_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only memories that were true then.")
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(help="Only memories of this type, and turns; for each, again."),
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(help="Only memories of this topic, and turns; for each, again."),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(help="Only memories visible so widely, as public; for team say who asks."),
    ] = None,
    reader: Reader = None,
    said_in: SaidIn = None,
    agent: ToAgent = None,
    metadata: Beside = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(help="Memories at least this sure; else the policy's recall_floor."),
    ] = None,
    min_importance: Annotated[float, typer.Option(help="Memories at least this important.")] = 0.0,
    recency_weight: Annotated[
        float, typer.Option(help="How much fresh memories come first, 0 to 1.")
    ] = 0.3,
    diversity: Annotated[float, typer.Option(help="How much results are to differ, 0 to 1.")] = 0.0,
    max_tokens: Annotated[
        int | None, typer.Option(help="Only as many results as fit into so many tokens.")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(help="memories or episodes; both by default. Again for both."),
    ] = None,
    profile: Annotated[str, typer.Option(help="How to rank: default or recall.")] = "default",
    session: Annotated[
        str | None,
        typer.Option(help="Asked in it: finds what is for it alone, and counts as shown there."),
    ] = None,
    purpose: Annotated[
        str | None, typer.Option(help="For what, on the record; else the policy's.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Whether to record what was shown.")
    ] = True,
    why: Annotated[
        bool, typer.Option("--why", help="Of each result also its scores, decision, evidence.")
    ] = False,
    standing: Annotated[
        str,
        typer.Option(
            help="now: what an agent may be shown. To audit, with --by and --reason, on record:"
            " then (what could be shown as of --as-of), all (also what is withheld)."
        ),
    ] = "now",
    reason: AuditReason = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Find what somebody's memories and turns say about something, and why each was found."""
    from beliefledger.filters import Where
    from beliefledger.ledger.vault import SYSTEM
    from beliefledger.search.options import EVERYTHING, SearchOptions

    options = SearchOptions(
        topics=topic or (),
        reader=reader,
        scope=scope,
        where=Where(said_in, agent, metadata=json_object(metadata)),
        min_confidence=min_confidence,
        min_importance=min_importance,
        recency_weight=recency_weight,
        diversity=diversity,
        include=cast("list[Included]", include) if include else EVERYTHING,
        profile=profile,
        standing=cast("Any", standing),
        reason=reason,
    )
    one_thread_each()
    with opened(ctx) as memory:
        then = seen_at(memory, as_of)
        answer = memory.search(
            subject,
            query,
            k,
            as_of=then,
            valid_at=valid_at,
            types=type or (),
            max_tokens=max_tokens,
            session=session,
            purpose=purpose,
            record=record,
            by=SYSTEM if by is None else by,
            options=options,
        )
        if then is not None:
            note_empty(memory, subject, answer.results, then, "known")
    for each in answer.notes:
        note(each)
    output.show(answer, json, lambda answer: _found(answer, why=why))


def _found(answer: SearchAnswer, *, why: bool) -> Iterator[Any]:
    if not answer.results:
        if answer.left_out:
            yield output.cell(
                "Not even the first result fits into so few tokens: give more with --max-tokens."
            )
        elif answer.embedder is not None:
            searched = output.count(answer.candidates, "text was", "texts were")
            yield output.cell(f"Nothing was found; {searched} searched.")
    else:
        yield output.cell(_head(answer))
        yield found_table(answer)
        if why:
            for each in answer.results:
                yield from _why(each)
    if answer.results and answer.left_out:
        left = output.count(answer.left_out, "further result")
        yield output.cell(f"{left} did not fit into the tokens (--max-tokens).")
    if answer.recall_id is not None:
        short = answer.recall_id[: output.SHORT_ID]
        yield output.cell(f"recall {short}: beliefledger recalls show {short}", "dim")


def _head(answer: SearchAnswer) -> str:
    head = (
        f"{output.count(len(answer.results), 'result')} of"
        f" {output.count(answer.candidates, 'text')}, about {answer.tokens:,} tokens; as of"
        f" position {answer.position:,}, true at {output.when(answer.valid_at)} UTC"
    )
    return f"{head}; {answer.route} → {', '.join(answer.routed)}" if answer.route else head


def _mark(standing: StandingAnswer) -> str:
    """What a reader has to know of a result besides its words."""
    parts = []
    if standing.state == "contested":
        parts.append("contested")
    if standing.state == "outdated":
        by = standing.superseded_by
        parts.append("outdated" if by is None else f"superseded by {by[: output.SHORT_ID]}")
        if standing.since is not None:
            parts[-1] += f" since {standing.since:%Y-%m-%d}"
    if standing.reasons:
        parts.append(f"withheld from agents: {', '.join(standing.reasons)}")
    return "; ".join(parts)


def found_table(answer: SearchAnswer) -> Any:
    made = output.table(
        ("", output.RIGHT),
        ("id", output.FIXED),
        "kind",
        ("said", output.FIXED),
        "what, and why",
        ("score", output.RIGHT),
    )
    for each in answer.results:
        text = output.cell(each.text).append("\n")
        if mark := _mark(each.standing):
            text.append_text(output.cell(mark, "yellow")).append("; ")
        text.append_text(output.cell(each.why, "dim"))
        made.add_row(
            str(each.rank),
            output.short(each.id),
            _kind(each),
            _said(each),
            text,
            _score(each.score),
        )
    return made


def _kind(found: FoundAnswer) -> Any:
    if found.memory is not None:
        return output.cell(found.memory.type)
    return output.cell(None if found.episode is None else f"turn, {found.episode.speaker}")


def _said(found: FoundAnswer) -> str:
    if found.episode is not None:
        return output.day(found.episode.said_at)
    return output.day(None if found.memory is None else found.memory.valid_from)


def _score(score: float) -> str:
    return f"{score:.4f}" if score < 1 else f"{score:.2f}"


def _why(found: FoundAnswer) -> Iterator[Any]:
    """How one result came to its score, and on what it stands."""
    from beliefledger.tools.cli.pages import fact_table

    yield output.cell(f"{found.rank}. {found.text}", "bold")
    arms = output.table(("by", output.FIXED), ("rank", output.RIGHT), ("score", output.RIGHT))
    for name, arm in found.arms.items():
        arms.add_row(name, f"{arm.rank:,}" if arm.rank else "–", f"{arm.score:.4f}")
    yield arms
    rows = {}
    if found.components:
        rows["score"] = " + ".join(f"{name} {each:.4f}" for name, each in found.components.items())
    if found.decision is not None:
        decided = found.decision
        rows["decision"] = (
            f"{decided.decision_id[: output.SHORT_ID]}: {decided.outcome}, because"
            f" {decided.reason}, confidence {output.number(decided.confidence)}"
        )
    if found.memory is not None:
        rows["evidence"] = "; ".join(
            f"turn {each.turn_id[: output.SHORT_ID]} [{each.start}, {each.end}),"
            f" {output.when(each.said_at)}"
            for each in found.memory.evidence
        )
        rows["visible to"] = found.memory.visibility_scope
    if found.episode is not None:
        said = found.episode
        session = "" if said.session is None else f", session {said.session}"
        rows["turn"] = f"position {said.position:,}, {output.when(said.said_at)}{session}"

    yield fact_table(rows)
