"""The command that merges memories which say one thing: ops consolidate."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    USAGE,
    Json,
    MaybeBy,
    Note,
    Subject,
    fail,
    opened,
)
from beliefledger.tools.cli.ops import ops

if TYPE_CHECKING:
    from beliefledger.answers import (
        BeliefAnswer,
    )
    from beliefledger.curation.consolidation import ClusterAnswer, ConsolidationAnswer


MOST_APART = 20
"""Pairs that are not merged, shown in a terminal."""


@ops.command("consolidate")
def consolidate(
    ctx: typer.Context,
    subject: Subject = None,
    type: Annotated[str | None, typer.Option(help="Only this type, e.g. preference.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="The least cosine; else each type's own (.85)."),
    ] = None,
    model: Annotated[
        bool,
        typer.Option("--model/--words", help="Let a model word it, or take the surest wording."),
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply/--dry-run", help="Merge, or only show what would be merged.")
    ] = False,
    undo: Annotated[
        str | None,
        typer.Option(metavar="MEMORY", help="Take the merge into this memory back; needs --by."),
    ] = None,
    by: MaybeBy = None,
    note: Note = None,
    json: Json = False,
) -> None:
    """Merge memories that say one thing in several ways; by default only show what would be."""
    if undo is not None:
        if by is None:
            fail("ops consolidate: --undo needs --by NAME.", USAGE)
        with opened(ctx) as memory:
            output.show(memory.operations.consolidation.undo(undo, by=by, note=note), json, _undone)
        return
    with opened(ctx) as memory, output.progress("comparing") as progress:
        answer = memory.operations.consolidation.consolidate(
            subject,
            type=type,
            threshold=threshold,
            how="model" if model else "words",
            apply=apply,
            **({} if by is None else {"by": by}),
            progress=progress,
        )
    output.show(answer, json, _consolidated)


def _undone(answer: Sequence[BeliefAnswer]) -> Iterator[Any]:
    from beliefledger.tools.cli.rows import belief_table

    yield f"Taken apart: {output.count(len(answer), 'memory', 'memories')} again."
    yield belief_table(answer, whose=True)


def _consolidated(answer: ConsolidationAnswer) -> Iterator[Any]:
    compared = output.count(answer.memories, "memory", "memories")
    merged = [each for each in answer.clusters if each.memory_id is not None]
    if not answer.clusters:
        yield f"Nothing to merge among {compared}."
    elif answer.applied:
        yield f"Merged {output.count(len(merged), 'group')} of {compared}:"
    else:
        yield f"Would merge {output.count(len(answer.clusters), 'group')} of {compared}:"
    for each in answer.clusters:
        yield _diff(each)
    if answer.apart:
        yield from _apart(answer)
    if answer.input_tokens or answer.output_tokens:
        yield (
            f"{answer.input_tokens:,} tokens in, {answer.output_tokens:,} out,"
            f" {output.cost(answer.cost_micro_usd)}."
        )
    if answer.clusters and not answer.applied:
        yield output.cell("Nothing is changed. To merge: the same with --apply.", "dim")
    elif merged:
        yield output.cell(
            "To take one apart: beliefledger ops consolidate --undo MEMORY --by NAME.", "dim"
        )


def _diff(cluster: ClusterAnswer) -> Any:
    """The memories that go, and the one that takes their place."""
    title = f"{cluster.subject}, {cluster.type}, {cluster.topic}"
    made = output.table(
        ("", output.FIXED),
        ("memory", output.FIXED),
        "words",
        ("conf.", output.RIGHT),
        ("cosine", output.RIGHT),
    )
    made.title = output.cell(title, "bold")
    for each in cluster.members:
        made.add_row(
            output.cell("-", "red"),
            output.short(each.memory_id),
            output.cell(each.text, "red"),
            output.number(each.confidence),
            output.number(each.similarity),
        )
    after = cluster.after or "(as the model words it, once it is asked)"
    least = min(each.confidence for each in cluster.members)
    made.add_row(
        output.cell("+", "green"),
        output.short(cluster.memory_id),
        output.cell(after, "green"),
        output.number(least),
        "",
    )
    if cluster.note:
        made.add_row("", "", output.cell(cluster.note, "yellow"), "", "")
    return made


def _apart(answer: ConsolidationAnswer) -> Iterator[Any]:
    made = output.table("sounds like", "but", "why", ("cosine", output.RIGHT), title="Not merged")
    for each in answer.apart[:MOST_APART]:
        made.add_row(
            output.cell(each.texts[0]),
            output.cell(each.texts[1]),
            output.cell(each.reason),
            output.number(each.similarity),
        )
    yield made
    if len(answer.apart) > MOST_APART:
        yield f"… and {output.count(len(answer.apart) - MOST_APART, 'pair')} more; all with --json."
