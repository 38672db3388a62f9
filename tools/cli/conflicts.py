"""Commands about beliefs on which statements disagree: conflicts list, loops, resolve, review."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    USAGE,
    WHO,
    After,
    By,
    Json,
    Limit,
    MaybeBy,
    Note,
    Subject,
    fail,
    named,
    note_nobody,
    noun,
    opened,
)
from beliefledger.tools.cli.rows import belief_table, decision_table

if TYPE_CHECKING:
    from beliefledger.answers import (
        ConflictAnswer,
        LoopAnswer,
    )


conflicts = noun(
    "conflicts",
    "Beliefs on which statements disagree: what they are, and how a person settles them.",
)


@conflicts.command("list")
def conflicts_list(
    ctx: typer.Context,
    subject: Subject = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """What a person has to choose, and how."""
    with opened(ctx) as memory:
        answer = memory.conflicts.list(subject, limit=limit, after=after)
        note_nobody(memory, subject, answer)
    output.show_page(answer, json, _conflicts, limit=limit, after=after)


def _conflicts(answer: Sequence[ConflictAnswer]) -> Iterator[Any]:
    if not answer:
        yield "Nothing to choose."
    for each in answer:
        identifier = each.belief_id[: output.SHORT_ID]
        yield output.cell(f"{each.subject}: {each.attribute} (belief {identifier})", "bold")
        made = output.table(
            ("", output.FIXED),
            ("id", output.FIXED),
            "value",
            "context",
            ("conf.", output.RIGHT),
            ("said", output.RIGHT),
            ("last", output.FIXED),
            "words",
        )
        for choice in each.choices:
            made.add_row(
                "stands" if choice.stands else "against",
                output.short(choice.id),
                output.cell(f"not {choice.value}" if choice.negated else choice.value),
                output.cell(choice.context or "–"),
                output.number(choice.confidence),
                f"{choice.mentions} ×",
                output.day(choice.last_said),
                output.cell(choice.text),
            )
        yield made
        for choice in each.choices:
            yield output.command(
                f"beliefledger conflicts resolve {identifier} --choose"
                f" {choice.id[: output.SHORT_ID]} --by NAME"
            )
        yield output.command(
            f"beliefledger conflicts resolve {identifier} --context CONTEXT=VALUE_OR_ID"
            " --context CONTEXT=VALUE_OR_ID --by NAME"
        )


@conflicts.command("loops")
def loops(
    ctx: typer.Context,
    subject: Subject = None,
    window_days: Annotated[
        int | None, typer.Option(min=1, help="Days that count as together; else the policy's.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was said from then on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was said before then.")
    ] = None,
    least: Annotated[
        int | None, typer.Option(min=1, help="With at least so many changes; else the policy's.")
    ] = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """Beliefs that keep changing: their values in order, and who said so when."""
    with opened(ctx) as memory:
        answer = memory.conflicts.loops(
            subject,
            window_days=window_days,
            since=since,
            until=until,
            least=least,
            limit=limit,
            after=after,
        )
    output.show_page(answer, json, _loops, limit=limit, after=after)


def _loops(answer: Sequence[LoopAnswer]) -> Iterator[Any]:
    if not answer:
        yield "No belief goes round in circles."
    for each in answer:
        state = "contested" if each.contested else "not contested"
        made = output.table(
            ("memory", output.FIXED),
            ("said", output.FIXED),
            ("recorded", output.FIXED),
            "by",
            "value",
            "words",
        )
        for value in each.values:
            made.add_row(
                output.short(value["memory_id"]),
                output.day(value["said_at"]),
                f"{output.when(value['recorded_at'])[:10]} #{value['position']}",
                output.cell(value["actor"]),
                output.cell(
                    value["value"] + (f" ({value['context']})" if value["context"] else "")
                ),
                output.cell(value["text"]),
            )
        yield output.cell(
            f"{each.subject}: {each.attribute}, {output.count(each.supersessions, 'change')},"
            f" {each.together} of them together, {state}"
            f" (belief {each.belief_id[: output.SHORT_ID]})"
        )
        yield made
        if each.settle:
            yield output.command(each.settle)


@conflicts.command("resolve")
def resolve(
    ctx: typer.Context,
    belief: Annotated[
        str,
        typer.Argument(metavar="BELIEF", callback=named, help="Its id; the first characters do."),
    ],
    by: By,
    choose: Annotated[
        str | None, typer.Option(metavar="VALUE", help="The one value that holds; or its id.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONTEXT=VALUE", help="The value that holds in one context; for each, again."
        ),
    ] = None,
    note: Note = None,
    json: Json = False,
) -> None:
    """Settle a contested belief: one value, or one for each context."""
    if (choose is None) == (not context):
        fail(
            "conflicts resolve: give either --choose VALUE, or --context CONTEXT=VALUE for each.",
            USAGE,
        )
    contexts: dict[str, str] = {}
    for pair in context or ():
        name, equals, value = pair.partition("=")
        if not (name.strip() and equals and value.strip()):
            fail(f"conflicts resolve: write --context CONTEXT=VALUE, not {pair!r}.", USAGE)
        if name.strip() in contexts:
            said = f"the context {name.strip()!r} is given twice; give each context one value."
            fail(f"conflicts resolve: {said}", USAGE)
        contexts[name.strip()] = value.strip()
    with opened(ctx) as memory:
        answer = memory.conflicts.resolve(
            belief, by=by, choose=choose, contexts=contexts or None, note=note
        )

    def page(_answer: Any) -> Iterator[Any]:
        yield "What holds from now on:"
        yield belief_table(answer, whose=False)

    output.show(answer, json, page)


@conflicts.command("review")
def review(
    ctx: typer.Context,
    decision: Annotated[
        str | None,
        typer.Argument(callback=named, help="The queued decision; without it, lists what waits."),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="It may be kept.")] = False,
    refuse: Annotated[bool, typer.Option("--refuse", help="It may not be kept.")] = False,
    by: MaybeBy = None,
    basis: Annotated[
        str, typer.Option(help="The lawful basis that what is approved stands on.")
    ] = "explicit_consent",
    note: Note = None,
    json: Json = False,
) -> None:
    """Approve or refuse what the gate put in the queue for a person."""
    if approve and refuse:
        fail("conflicts review: say --approve or --refuse, not both.", USAGE)
    if decision is None:
        if approve or refuse:
            fail("conflicts review: name the decision that is approved or refused.", USAGE)
        with opened(ctx) as memory:
            waiting = memory.decisions(outcome="queue", waits=True)

        def waits(_answer: Any) -> Iterator[Any]:
            if not waiting:
                yield "Nothing waits for a review."
                return
            yield decision_table(waiting, whose=True)
            yield "beliefledger conflicts review DECISION --approve (or --refuse) --by NAME"

        output.show(waiting, json, waits)
        return
    if not (approve or refuse):
        fail("conflicts review: say --approve or --refuse, and --by NAME.", USAGE)
    if by is None:
        fail(WHO, USAGE)
    with opened(ctx) as memory:
        written = memory.conflicts.review(decision, approve=approve, by=by, basis=basis, note=note)
    answer = {"approved": approve, "memory_id": written}

    def page(_answer: Any) -> Iterator[Any]:
        yield f"Approved: memory {written}." if approve else "Refused; nothing is kept."

    output.show(answer, json, page)
