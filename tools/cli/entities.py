"""Commands about whom and what somebody speaks of: entities list, show, related …"""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    After,
    AsOf,
    By,
    Json,
    Limit,
    MinConfidence,
    Reader,
    TheSubject,
    moment,
    note_nobody,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.reading.entities import EntityAnswer
    from beliefledger.reading.relations import PathAnswer, StepAnswer


entities = noun(
    "entities", "The people, places and things that somebody speaks of, and how they are related."
)
Entity = Annotated[
    str, typer.Argument(metavar="ENTITY", help="One of its names, its id or how that begins.")
]


@entities.command("list")
def entities_list(
    ctx: typer.Context,
    subject: TheSubject,
    kind: Annotated[str | None, typer.Option(help="Only persons, places …")] = None,
    questions: Annotated[
        bool, typer.Option("--questions", help="Only those who may be one with another.")
    ] = False,
    as_of: AsOf = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """Everybody and everything, those spoken of most first."""
    with opened(ctx) as memory:
        answer = memory.entities.list(
            subject,
            kind=kind,
            questions=questions,
            as_of=moment(as_of),
            limit=limit,
            after=after,
        )
        note_nobody(memory, subject, answer)
    output.show_page(answer, json, _entities, limit=limit, after=after)


def _entities(answer: Sequence[EntityAnswer]) -> Iterator[Any]:
    yield output.count(len(answer), "entity", "entities") + ("" if answer else ".")
    if not answer:
        return
    made = output.table(
        ("entity", output.FIXED),
        "name",
        "also",
        ("kind", output.FIXED),
        ("mentions", output.RIGHT),
        ("last said", output.FIXED),
        "may be",
    )
    for each in answer:
        also = (name.name for name in each.names if name.name != each.name)
        made.add_row(
            output.short(each.entity_id),
            output.cell(each.name),
            output.cell(", ".join(also) or "–"),
            output.cell(each.kind or "–"),
            f"{each.mentions:,}",
            output.day(each.last_said),
            output.cell(", ".join(one.name or "" for one in each.questions) or "–"),
        )
    yield made


@entities.command("show")
def entities_show(
    ctx: typer.Context,
    subject: TheSubject,
    entity: Entity,
    as_of: AsOf = None,
    json: Json = False,
) -> None:
    """One of them: names, attributes, how often and when it was spoken of, open questions."""
    with opened(ctx) as memory:
        answer = memory.entities.get(subject, entity, as_of=moment(as_of))
    output.show(answer, json, _entity)


def _entity(answer: EntityAnswer) -> Iterator[Any]:
    yield output.cell(
        f"{answer.name} ({answer.kind or 'of no known kind'}, entity"
        f" {answer.entity_id[: output.SHORT_ID]}): {output.count(answer.mentions, 'mention')},"
        f" first {output.day(answer.first_said)}, last {output.day(answer.last_said)}"
    )
    names = (f"{each.name} ({each.how})" for each in answer.names)
    yield output.cell(f"Names: {', '.join(names)}")
    if answer.absorbed:
        ids = (each[: output.SHORT_ID] for each in answer.absorbed)
        yield output.cell(f"Merged into it: {', '.join(ids)}")
    if answer.attributes:
        made = output.table(
            ("memory", output.FIXED), "attribute", "value", "context", ("conf.", output.RIGHT)
        )
        for each in answer.attributes:
            made.add_row(
                output.short(each.memory_id),
                output.cell(each.attribute),
                output.cell(f"not {each.value}" if each.negated else each.value),
                output.cell(each.context or "–"),
                output.number(each.confidence),
            )
        yield made
    for question in answer.questions:
        yield output.cell(
            f"May be {question.name} ({question.entity_id[: output.SHORT_ID]}, alike"
            f" {output.number(question.similarity)}): merge the two, or keep them apart."
        )


@entities.command("related")
def related(
    ctx: typer.Context,
    subject: TheSubject,
    entity: Annotated[
        str, typer.Argument(help="One of its names, or its id; else the subject.")
    ] = "User",
    relation: Annotated[
        list[str] | None,
        typer.Option(help="reports-to, works-with …; given again, one for each hop."),
    ] = None,
    attribute: Annotated[
        str | None, typer.Option(help="Only paths that end in this fact, e.g. role.")
    ] = None,
    hops: Annotated[
        int | None, typer.Option(min=1, max=3, help="The most memories of a path.")
    ] = None,
    as_of: AsOf = None,
    valid_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="What was true then, as far as is believed.")
    ] = None,
    min_confidence: MinConfidence = None,
    limit: Limit = None,
    after: After = None,
    reader: Reader = None,
    json: Json = False,
) -> None:
    """Who and what somebody is related to, over up to three memories, as a tree."""
    with opened(ctx) as memory:
        answer = memory.related(
            subject,
            entity,
            relation[0] if relation is not None and len(relation) == 1 else relation,
            attribute=attribute,
            hops=hops,
            as_of=moment(as_of),
            valid_at=valid_at,
            min_confidence=min_confidence,
            limit=limit,
            after=after,
            reader=reader,
        )
        note_nobody(memory, subject, answer)

    def page(_answer: Any) -> Iterator[Any]:
        if not answer:
            yield output.cell(f"Nothing is believed of how {entity} is related.")
        else:
            yield path_tree(answer)

    output.show_page(answer, json, page, limit=limit, after=after)


def path_tree(answer: Sequence[PathAnswer]) -> Any:
    """Paths that begin alike share their branches."""
    from rich.tree import Tree

    root = Tree(output.cell(answer[0].entity or answer[0].entity_id, "bold"))
    branches: dict[tuple[str, ...], Any] = {(): root}
    for path in answer:
        way: tuple[str, ...] = ()
        for step in path.steps:
            above, way = branches[way], (*way, step.memory.memory_id)
            if way not in branches:
                branches[way] = above.add(_step(step))
    return root


def _step(step: StepAnswer) -> Any:
    words = step.memory
    if step.relation is None:
        text = output.cell(f"{step.attribute}: {step.value}", "cyan")
    else:
        text = output.cell(f"{step.relation} →").append(" ")
        text.append_text(output.cell(step.entity, "bold"))
    said = words.evidence[0].said_at if words.evidence else None
    text.append("  ").append_text(
        output.cell(
            f"{output.number(words.confidence)}, memory {words.memory_id[: output.SHORT_ID]},"
            f" said {output.day(said)}",
            "dim",
        )
    )
    return text


@entities.command("alias")
def entities_alias(
    ctx: typer.Context,
    subject: TheSubject,
    entity: Entity,
    name: Annotated[str, typer.Argument(help="Another name of it.")],
    by: By,
    json: Json = False,
) -> None:
    """Give one another name. Whoever was first known by that name becomes part of it."""
    with opened(ctx) as memory:
        answer = memory.entities.add_alias(subject, entity, name, by=by)
    output.show(answer, json, _entity)


@entities.command("merge")
def entities_merge(
    ctx: typer.Context,
    subject: TheSubject,
    entity: Entity,
    absorbed: Annotated[str, typer.Argument(help="Who is the same; its memories move.")],
    by: By,
    json: Json = False,
) -> None:
    """Say that two are one."""
    with opened(ctx) as memory:
        moved = memory.entities.merge(subject, entity, absorbed, by=by)
        answer = memory.entities.get(subject, entity)

    def page(_answer: Any) -> Iterator[Any]:
        yield f"They are one; {output.count(moved, 'memory', 'memories')} moved."
        yield from _entity(answer)

    output.show({"moved": moved, "entity": answer}, json, page)


@entities.command("split")
def entities_split(
    ctx: typer.Context,
    subject: TheSubject,
    entity: Entity,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The other's names.")],
    by: By,
    json: Json = False,
) -> None:
    """Say that one is two: the other gets these names, and what was said under them."""
    with opened(ctx) as memory:
        other = memory.entities.split(subject, entity, names, by=by)
        answer = memory.entities.get(subject, other)

    def page(_answer: Any) -> Iterator[Any]:
        yield "They are two. The other one:"
        yield from _entity(answer)

    output.show({"entity": answer}, json, page)


@entities.command("apart")
def entities_apart(
    ctx: typer.Context,
    subject: TheSubject,
    entity: Entity,
    other: Annotated[str, typer.Argument(help="Somebody of nearly the same name.")],
    by: By,
    json: Json = False,
) -> None:
    """Say that two of nearly one name are two; nobody is asked again."""
    with opened(ctx) as memory:
        memory.entities.keep_apart(subject, entity, other, by=by)

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"{entity} and {other} are kept apart.")

    output.show({"entity": entity, "other": other, "apart": True}, json, page)
