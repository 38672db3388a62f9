"""Commands about what was searched for and shown: recalls list, show, replay."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.settings import one_thread_each
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    USAGE,
    After,
    AuditReason,
    Json,
    MaybeBy,
    Subject,
    fail,
    named,
    note_nobody,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.search.recall_replay import RecallReplay, RecallsReplay
    from beliefledger.search.recalls import RecallAnswer, RecallDetails


recalls = noun("recalls", "The record of what was searched for, and of what was shown to whom.")
TOLD = 50
"""So many differing searches a person is told of; the JSON has all."""


SHOWN = 20
"""Where nobody says how many."""


@recalls.command("list")
def recalls_list(
    ctx: typer.Context,
    subject: Subject = None,
    found: Annotated[
        str | None,
        typer.Option(
            callback=named,
            metavar="ID",
            help="Only those that found this memory or turn; its first characters do.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the last so many, and where the rest begins.")
    ] = None,
    after: After = None,
    json: Json = False,
) -> None:
    """What was searched for and shown, and who asked; newest first."""
    with opened(ctx) as memory:
        answer = memory.recalls.list(subject, found=found, limit=limit or SHOWN, after=after)
        note_nobody(memory, subject, answer)

    def page(_answer: Any) -> Iterator[Any]:
        if limit is None and after is None and answer.next is not None:
            yield f"The last {output.count(SHOWN, 'recall')}; --limit for more."
        else:
            yield output.count(len(answer), "recall") + ("" if answer else ".")
        if answer:
            yield _table(answer, whose=subject is None)

    output.show_page(answer, json, page, limit=limit, after=after)


def _table(answer: Sequence[RecallAnswer], *, whose: bool) -> Any:
    made = output.table(
        ("recall", output.FIXED),
        ("recorded", output.FIXED),
        *(["subject"] if whose else []),
        "by",
        "purpose",
        "ranked by",
        ("found", output.RIGHT),
        "query",
    )
    for each in answer:
        made.add_row(
            output.short(each.recall_id),
            output.when(each.recorded_at),
            *([output.cell(each.subject)] if whose else []),
            output.cell(each.by),
            output.cell(each.purpose),
            output.cell(each.ranker),
            f"{each.found:,}",
            output.cell(each.query) if each.searched else output.cell("– (chosen)", "dim"),
        )
    return made


Recall = Annotated[
    str,
    typer.Argument(metavar="ID", callback=named, help="A recall; its first characters do."),
]


@recalls.command("show")
def recalls_show(
    ctx: typer.Context,
    identifier: Recall,
    standing: Annotated[
        str,
        typer.Option(
            help="now: words that may be shown now. To audit, with --by and --reason, on record:"
            " then (as they could be shown at that time), all (also what was withheld)."
        ),
    ] = "now",
    reason: AuditReason = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Everything that was recorded of one recall."""
    from beliefledger.ledger.vault import SYSTEM

    with opened(ctx) as memory:
        answer = memory.recalls.get(
            identifier, standing=standing, by=SYSTEM if by is None else by, reason=reason
        )
    output.show(answer, json, _details)


def _details(answer: RecallDetails) -> Iterator[Any]:
    from beliefledger.tools.cli.pages import fact_table

    recall = answer.recall
    yield output.cell(_heading(answer), "bold")
    rows = {
        "recall": f"{recall.recall_id}, position {recall.position:,}",
        "of": recall.subject or "(erased)",
        "asked by": f"{recall.by}, {output.when(recall.recorded_at)} UTC",
        "purpose": recall.purpose,
        "ranked by": recall.ranker,
    }
    if recall.session_tag is not None:
        rows["session"] = f"tag {recall.session_tag[: output.SHORT_ID]}"
    if recall.searched:
        rows["as of"] = (
            f"position {answer.searched_position:,}, {output.when(answer.searched_at)} UTC"
        )
        rows["model"] = str(recall.embedder)
        rows["index"] = str(answer.index)
        if answer.unembedded:
            rows["no vector"] = output.count(answer.unembedded, "text")
    if answer.asked is not None:
        rows["asked for"] = ", ".join(
            f"{name} {_plain(value)}"
            for name, value in answer.asked.items()
            if name != "query" and value not in (None, (), "")
        )
    yield fact_table(rows)
    made = output.table(
        ("", output.RIGHT),
        ("id", output.FIXED),
        ("kind", output.FIXED),
        ("score", output.RIGHT),
        "what it said",
    )
    for each in answer.results:
        text = output.cell(each.text or "(withheld, or erased)")
        if each.shown is False:
            text.append(" [no room]", "yellow")
        made.add_row(
            str(each.rank),
            output.short(each.id),
            each.kind,
            "–" if each.score is None else f"{each.score:.6f}",
            text,
        )
    yield made
    if recall.searched:
        short = recall.recall_id[: output.SHORT_ID]
        yield output.cell(f"To make it again: beliefledger recalls replay {short}", "dim")


def _heading(answer: RecallDetails) -> str:
    if not answer.recall.searched:
        return "Shown by a caller's own choice"
    query = answer.recall.query
    return "(the query's words are erased)" if query is None else f"“{query}”"


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


@recalls.command("replay")
def recalls_replay(
    ctx: typer.Context,
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="ID", callback=named, help="A recall; its first characters do."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every search of the log, or of one subject.")
    ] = False,
    subject: Subject = None,
    json: Json = False,
) -> None:
    """Make past searches again as of then: same, different and why, or inputs destroyed."""
    if every == (identifier is not None):
        fail("recalls replay: name a recall, or say --all.", USAGE)
    if subject is not None and not every:
        fail("recalls replay: --subject goes with --all.", USAGE)
    one_thread_each()
    different: bool
    with opened(ctx) as memory:
        if identifier is not None:
            answer = memory.audit.replay_recall(identifier)
            different = answer.verdict == "different"
            output.show(answer, json, _replayed)
        else:
            with output.progress("replaying") as progress:
                summary = memory.audit.replay_recalls(subject, progress)
            different = summary.different > 0
            output.show(summary, json, _summary)
    if different:
        raise typer.Exit(COULD_NOT)


def _replayed(answer: RecallReplay) -> Iterator[Any]:
    asked = "" if answer.query is None else f" “{answer.query}”"
    yield output.cell(
        f"Recall {answer.recall_id[: output.SHORT_ID]} at position {answer.position:,}{asked}:"
        f" {answer.verdict}."
    )
    if answer.differs:
        made = output.table(("id", output.FIXED), "what", "how it differs")
        for each in answer.differs:
            made.add_row(
                output.short(each.id),
                output.cell(each.text or "(withheld, or erased)"),
                output.cell(each.says),
            )
        yield made
    for reason in answer.reasons:
        yield output.cell(reason)


def _summary(answer: RecallsReplay) -> Iterator[Any]:
    yield output.cell(
        f"{output.count(answer.recalls, 'search', 'searches')} made again: {answer.same:,} same,"
        f" {answer.different:,} different, {answer.inputs_destroyed:,} with inputs destroyed."
    )
    if answer.shown:
        chosen = output.count(answer.shown, "recall was", "recalls were")
        yield output.cell(f"{chosen} no search: a caller chose what to show.")
    if not answer.differing:
        return
    made = output.table(("recall", output.FIXED), ("position", output.RIGHT), "query", "why")
    for each in answer.differing[:TOLD]:
        made.add_row(
            output.short(each.recall_id),
            f"{each.position:,}",
            output.cell(each.query),
            output.cell(" ".join(each.reasons)),
        )
    yield made
    if len(answer.differing) > TOLD:
        yield f"… and {len(answer.differing) - TOLD:,} more; --json has all."
