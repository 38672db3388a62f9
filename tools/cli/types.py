"""Commands about the types of memory: types list, show, add …"""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    USAGE,
    After,
    Json,
    Limit,
    MaybeBy,
    Subject,
    fail,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.curation.backfill import BackfillAnswer
    from beliefledger.curation.types import TypeAnswer


types = noun("types", "The types of memory: what each holds, and types of your own.")
Name = Annotated[str, typer.Argument(metavar="TYPE", help="The type's name.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would move.")]
Apply = Annotated[bool, typer.Option("--apply", help="Move it.")]
Attribute = Annotated[
    str | None,
    typer.Option(help="The key they get, such as constraint.eat.{value}; else the type's own."),
]


@types.command("list")
def types_list(
    ctx: typer.Context,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """The types there are, and how many memories stand of each."""
    with opened(ctx) as memory:
        answer = memory.types.list(limit=limit, after=after)
    output.show_page(answer, json, _types, limit=limit, after=after)


def _types(answer: Sequence[TypeAnswer]) -> Iterator[Any]:
    made = output.table(
        ("type", output.FIXED),
        "slot",
        "ended by",
        ("prior", output.RIGHT),
        ("half-life", output.RIGHT),
        ("threshold", output.RIGHT),
        ("memories", output.RIGHT),
        "",
    )
    for each in answer:
        made.add_row(
            output.cell(each.name),
            output.cell(each.attribute or each.slot),
            _ENDED[each.supersession],
            output.number(each.prior),
            f"{each.half_life_days} d",
            "–" if each.threshold is None else output.number(each.threshold),
            f"{each.memories:,}",
            "retired" if each.retired else "" if each.built_in else "added",
        )
    yield made


_ENDED = {"value": "another value", "removal": "removal", "never": "–"}


@types.command("show")
def types_show(ctx: typer.Context, name: Name, json: Json = False) -> None:
    """One type: its fields, slot, rules, patterns."""
    with opened(ctx) as memory:
        answer = memory.types.get(name)
    output.show(answer, json, _type)


def _type(answer: TypeAnswer) -> Iterator[Any]:
    state = " (retired)" if answer.retired else ""
    yield output.cell(f"{answer.name}{state}: {answer.description}", "bold")
    yield from _types([answer])
    if answer.fields:
        fields = output.table(("field", output.FIXED), ("required", output.FIXED), "what")
        for name, each in answer.fields.items():
            required = "yes" if each.get("required") else "–"
            fields.add_row(output.cell(name), required, output.cell(each.get("description")))
        yield fields
    for name, text in (("key", answer.attribute), ("value", answer.value)):
        if text:
            yield output.cell(f"{name}: {text}")
    for pattern in answer.patterns:
        yield output.cell(f"said as: {pattern}")
    if answer.relations:
        relations = output.table(("relation", output.FIXED), "one at a time", "inverse", "role")
        for name, each in answer.relations.items():
            relations.add_row(
                output.cell(name),
                "yes" if each.get("stateful") else "–",
                output.cell(each.get("inverse") or "–"),
                output.cell(each.get("role") or "–"),
            )
        yield relations


@types.command("add")
def types_add(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A YAML file, or the name of a retired type.")
    ],
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Add a type of memory, give it a new definition, or bring a retired one back."""
    source: str | Path = Path(file) if Path(file).is_file() else file
    with opened(ctx) as memory:
        answer = memory.types.add(source, **_by(by))

    def page(_answer: Any) -> Iterator[Any]:
        yield from _type(answer)
        yield output.cell(
            "To move what stands already to it: "
            f"beliefledger types backfill {answer.name} --dry-run"
        )

    output.show(answer, json, page)


@types.command("backfill")
def types_backfill(
    ctx: typer.Context,
    name: Name,
    from_type: Annotated[
        str | None, typer.Option("--from", metavar="TYPE", help="Only memories of this type.")
    ] = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option(help="Such as 'takes {dose} of {name}', in place of the type's; again."),
    ] = None,
    attribute: Attribute = None,
    subject: Subject = None,
    dry_run: DryRun = False,
    apply: Apply = False,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Move what stands already to a type that it fits; the rest stays as it is."""
    _run(
        ctx,
        name,
        dry_run=dry_run,
        apply=apply,
        json=json,
        from_type=from_type,
        patterns=pattern,
        attribute=attribute,
        subject=subject,
        **_by(by),
    )


@types.command("split")
def types_split(
    ctx: typer.Context,
    from_type: Annotated[str, typer.Argument(metavar="FROM", help="The type to take from.")],
    to: Annotated[str, typer.Argument(metavar="TO", help="The type to move to.")],
    pattern: Annotated[
        list[str], typer.Option(help="What moves, such as 'does not eat {value}'; again.")
    ],
    attribute: Attribute = None,
    subject: Subject = None,
    dry_run: DryRun = False,
    apply: Apply = False,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Move part of a type's memories to another type, by what they say."""
    _run(
        ctx,
        to,
        dry_run=dry_run,
        apply=apply,
        json=json,
        from_type=from_type,
        patterns=pattern,
        attribute=attribute,
        subject=subject,
        **_by(by),
    )


@types.command("retire")
def types_retire(ctx: typer.Context, name: Name, by: MaybeBy = None, json: Json = False) -> None:
    """Write no more memories of a type; those that there are stay."""
    with opened(ctx) as memory:
        answer = memory.types.retire(name, **_by(by))

    def page(_answer: Any) -> Iterator[Any]:
        kept = output.count(answer.memories, "memory stays", "memories stay")
        yield output.cell(f"{answer.name} is retired; {kept}.")

    output.show(answer, json, page)


def _by(by: str | None) -> dict[str, str]:
    return {} if by is None else {"by": by}


def _run(
    ctx: typer.Context, name: str, *, dry_run: bool, apply: bool, json: bool, **wanted: Any
) -> None:
    if dry_run == apply:
        fail("types: say either --dry-run or --apply.", USAGE)
    with opened(ctx) as memory, output.progress(f"Looking for {name}") as progress:
        answer = memory.types.backfill(name, apply=apply, progress=progress, **wanted)
    output.show(answer, json, _backfilled)


def _backfilled(answer: BackfillAnswer) -> Iterator[Any]:
    if answer.moves:
        made = output.table(
            ("memory", output.FIXED), "says", ("from", output.FIXED), "key", "value"
        )
        for each in answer.moves:
            made.add_row(
                output.short(each.memory_id),
                output.cell(f"{each.subject}: {each.text}"),
                output.cell(each.from_type),
                output.cell(each.attribute),
                output.cell(each.value),
            )
        yield made
    if answer.incomplete:
        yield "Not complete, so they stay as they are:"
        lacking = output.table(("memory", output.FIXED), "says", "lacks")
        for short in answer.incomplete:
            lacking.add_row(
                output.short(short.memory_id),
                output.cell(short.text),
                output.cell(", ".join(short.missing)),
            )
        yield lacking
    if answer.not_permitted:
        yield output.cell(
            f"{output.count(len(answer.not_permitted), 'memory', 'memories')} of people without a"
            " lawful basis for this type's category: record one first (beliefledger"
            " consent grant --category)."
        )
    verb = "moved" if answer.applied else "would move"
    yield output.cell(
        f"{answer.looked_at:,} looked at · {answer.matched:,} fit · {answer.moved:,} {verb} ·"
        f" {len(answer.incomplete):,} not complete · {answer.untouched:,} untouched"
    )
    if not answer.applied and answer.moved:
        yield output.cell("Nothing has changed. To move them, say --apply instead of --dry-run.")
