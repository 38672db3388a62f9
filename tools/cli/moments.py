"""Commands about a moment, a turn and a refusal: diff, why-not, turn, reasons."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    ASK,
    Json,
    TheSubject,
    app,
    moment,
    named,
    note_empty,
    opened,
    seen_at,
)
from beliefledger.tools.cli.pages import fact_table, highlighted
from beliefledger.tools.cli.rows import since

if TYPE_CHECKING:
    from beliefledger.gate.reasons import Meaning
    from beliefledger.reading.candidates import LikeCandidate, NearTurn, WhyNotAnswer
    from beliefledger.reading.changes import ChangeStep, DiffAnswer, MomentAnswer
    from beliefledger.reading.turns import TurnAnswer

MOST = 5
"""How many of each `why-not` shows, unless told."""


@app.command(rich_help_panel=ASK)
def diff(
    ctx: typer.Context,
    subject: TheSubject,
    start: Annotated[
        str, typer.Option(metavar="POSITION|TIME", help="What changed after this moment.")
    ],
    end: Annotated[
        str | None,
        typer.Option(metavar="POSITION|TIME", help="Up to and with this one; by default now."),
    ] = None,
    json: Json = False,
) -> None:
    """What changed in belief between two moments, and what changed it."""
    with opened(ctx) as memory:
        begin = int(start) if start.isdecimal() else start
        answer = memory.diff(subject, begin, moment(end))
        then = seen_at(memory, end)
        note_empty(memory, subject, answer.changes, then, "known")
    output.show(answer, json, _diff)


def _diff(answer: DiffAnswer) -> Iterator[Any]:
    begin = _moment(answer.start) if answer.start.position else "the beginning"
    yield output.cell(
        f"{output.count(len(answer.changes), 'change')} of {answer.subject} between"
        f" {begin} and {_moment(answer.end)}" + ("" if answer.changes else ".")
    )
    if not answer.changes:
        return
    made = output.table(
        ("on", output.FIXED),
        ("what", output.FIXED),
        "belief",
        "because",
        ("memory", output.FIXED),
    )
    steps = [(change, step) for change in answer.changes for step in change.steps]
    for change, step in sorted(steps, key=lambda each: (each[1].event.position, each[1].on)):
        made.add_row(
            f"{output.day(step.on)} #{step.event.position}",
            step.what.replace("_", " ") + _since(step),
            output.cell(change.text or "(erased)").append(_confidence(step), "dim"),
            output.cell(step.reason or f"by {step.event.actor}"),
            output.short(change.memory_id),
        )
    yield made


def _moment(at: MomentAnswer) -> str:
    if not at.position and at.at.year > 1970:
        return f"{output.when(at.at)} UTC, when nothing was recorded"
    if not at.position:
        return "the beginning"
    return f"position {at.position} ({output.when(at.at)} UTC)"


def _since(step: ChangeStep) -> str:
    return "" if step.since is None else f" {output.day(step.since)}"


def _confidence(step: ChangeStep) -> str:
    before, after = step.confidence_before, step.confidence_after
    if before is not None and after is not None and before != after:
        return f" {output.number(before)} → {output.number(after)}"
    return ""


@app.command("why-not", rich_help_panel=ASK)
def why_not(
    ctx: typer.Context,
    subject: TheSubject,
    claim: Annotated[str, typer.Argument(help="What is not believed, in a sentence or a word.")],
    limit: Annotated[int, typer.Option(min=1, help="At most so many of each.")] = MOST,
    json: Json = False,
) -> None:
    """Why something is not believed: what like it was said, and what stopped it."""
    with opened(ctx) as memory:
        answer = memory.why_not(subject, claim, limit=limit)
    output.show(answer, json, _why_not)


def _why_not(answer: WhyNotAnswer) -> Iterator[Any]:
    yield output.cell(answer.text)
    for title, found in (("Stopped", answer.stopped), ("Got in", answer.got_in)):
        if found:
            yield output.cell(title, "bold")
        for each in found:
            yield _candidate(each)
    for title, turns in (("Not read", answer.waiting), ("The nearest turns", answer.nearest)):
        if turns:
            yield output.cell(title, "bold")
            yield _turns(turns)
    if answer.left_out:
        yield f"{answer.left_out} more are left out: say --limit."
    if answer.erased:
        yield (
            f"The words of {output.count(answer.erased, 'decision')} are erased: whether one was"
            " like it, nobody knows."
        )
    yield from output.hints(each.decision for each in answer.stopped)


def _candidate(like: LikeCandidate) -> Any:
    decision = like.decision
    fate = "it holds" if decision.memory_id else None
    if decision.became is not None:
        fate = decision.became.text
    facts = {
        output.short(decision.decision_id).plain: decision.claim or "(erased)",
        "said": f"{like.speaker}, {output.when(like.said_at)}: “{like.sentence}”"
        if like.sentence
        else "(erased)",
        decision.outcome: f"{decision.reason}: {decision.says}",
        "since then": fate if decision.outcome != "quarantine" or decision.became else None,
        "what to do": like.advice,
    }
    return fact_table({name: value for name, value in facts.items() if value})


def _turns(turns: Sequence[NearTurn]) -> Any:
    made = output.table(
        ("turn", output.FIXED), ("said on", output.FIXED), ("by", {}), "words", "why not"
    )
    for each in turns:
        made.add_row(
            output.short(each.turn_id),
            output.day(each.said_at),
            output.cell(each.speaker),
            output.cell(f"“{each.sentence}”"),
            output.cell(each.why),
        )
    return made


@app.command(rich_help_panel=ASK)
def turn(
    ctx: typer.Context,
    turn_id: Annotated[
        str,
        typer.Argument(metavar="ID", callback=named, help="A turn's id; its first characters do."),
    ],
    json: Json = False,
) -> None:
    """What was said in a turn, and what the gate did with its words."""
    with opened(ctx) as memory:
        answer = memory.turn(turn_id)
    output.show(answer, json, turn_page)


def turn_page(answer: TurnAnswer) -> Iterator[Any]:
    """A turn with its marked words, and each decision about them."""
    facts = {
        "turn": f"{answer.turn_id}, position {answer.position}",
        "said by": f"{answer.speaker} ({answer.role})" if answer.speaker else answer.role,
        "of": answer.subject or "(erased)",
        "on": output.when(answer.said_at) if answer.said_at else None,
        "recorded": None if answer.said_at else output.when(answer.recorded_at),
        "session": answer.session,
        "agent": answer.agent,
        "state": answer.state + (f", {answer.skipped}" if answer.skipped else ""),
        "read by": answer.extractor,
        "not read": answer.not_read,
    }
    yield fact_table({name: value for name, value in facts.items() if value})
    if answer.marked is None:
        yield output.cell("Its words are erased.", "dim")
    else:
        yield highlighted(answer.marked)
    if not answer.decisions:
        if answer.not_read:
            yield output.cell(output.NOT_READ)
        else:
            yield output.cell("Nothing was noticed in it." if answer.extractor else "")
        return
    made = output.table(
        ("no.", output.FIXED),
        ("decision", output.FIXED),
        ("outcome", output.FIXED),
        ("reason", output.FIXED),
        "claim",
    )
    for number, each in enumerate(answer.decisions, 1):
        made.add_row(
            str(number),
            output.short(each.decision_id),
            output.outcome(each.outcome),
            each.reason,
            since(output.cell(each.claim or "(erased)"), each.became if each.claim else None),
        )
    yield made
    yield from output.hints(answer.decisions)


@app.command(rich_help_panel=ASK)
def reasons(
    code: Annotated[
        str | None,
        typer.Argument(help="One of the codes, or the checks of one kind: truth, durability …"),
    ] = None,
    json: Json = False,
) -> None:
    """What each reason code means, with an example."""
    from beliefledger.gate.reasons import meanings
    from beliefledger.ledger.errors import InvalidQuery

    found = [
        each
        for each in meanings().values()
        if code is None or code in {each.code.value, each.code.value.partition(".")[0]}
    ]
    if not found:
        raise InvalidQuery(f"{code!r} is no reason code. List them: beliefledger reasons")
    output.show([each._asdict() for each in found], json, lambda _answer: _reasons(found, code))


def _reasons(found: Sequence[Meaning], code: str | None) -> Iterator[Any]:
    if code is not None and len(found) == 1:
        [one] = found
        facts = {
            "code": one.code.value,
            "it says": one.sentence,
            "example": one.example,
            "what to do": one.advice,
        }
        yield fact_table({name: value for name, value in facts.items() if value})
        return
    made = output.table(("code", output.FIXED), "what it says", "example")
    for each in found:
        made.add_row(each.code.value, output.cell(each.sentence), output.cell(each.example))
    yield made
