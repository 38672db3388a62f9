"""Commands about the lawful bases on which something is kept: consent grant, list, withdraw."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import (
    By,
    Json,
    MaybeBy,
    Note,
    TheSubject,
    named,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.answers import (
        GrantAnswer,
    )


consent = noun("consent", "The lawful bases on which memories of somebody may be kept.")


@consent.command("grant")
def consent_grant(
    ctx: typer.Context,
    subject: TheSubject,
    basis: Annotated[str, typer.Option(help="The lawful basis.")] = "consent",
    category: Annotated[
        list[str] | None,
        typer.Option(help="ordinary (default), or a special one, e.g. health; for each, again."),
    ] = None,
    purpose: Annotated[str | None, typer.Option(help="Else the policy's.")] = None,
    scope: Annotated[
        str, typer.Option(help="Memories are visible no wider than this.")
    ] = "subject",
    expires: Annotated[str | None, typer.Option(metavar="TIME", help="When it ends.")] = None,
    note: Note = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Record a lawful basis for keeping memories of somebody. Twice is once."""
    with opened(ctx, create=True) as memory:
        optional: dict[str, Any] = {"categories": category} if category else {}
        if by is not None:
            optional["by"] = by
        grant_id = memory.consent.grant(
            subject,
            basis,
            purpose=purpose,
            scope=scope,
            expires_at=expires,
            note=note,
            **optional,
        )
        answer = next(
            (each for each in memory.consent.list(subject) if each.grant_id == grant_id),
            {"grant_id": grant_id},
        )

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{subject}: {basis} for {', '.join(category or ['ordinary'])}"
            f" (grant {grant_id[: output.SHORT_ID]})."
        )

    output.show(answer, json, page)


@consent.command("list")
def consent_list(ctx: typer.Context, subject: TheSubject, json: Json = False) -> None:
    """The lawful bases in force for somebody."""
    with opened(ctx) as memory:
        answer = memory.consent.list(subject)
    output.show(answer, json, _consents)


def _consents(answer: Sequence[GrantAnswer]) -> Iterator[Any]:
    if not answer:
        yield "No basis is in force: nothing is kept."
        return
    made = output.table(
        ("grant", output.FIXED), "basis", "categories", "purpose", "scope", ("until", output.FIXED)
    )
    for each in answer:
        made.add_row(
            output.short(each.grant_id),
            each.basis,
            ", ".join(each.categories),
            output.cell(each.purpose),
            output.cell(each.scope),
            output.day(each.expires_at),
        )
    yield made


@consent.command("withdraw")
def consent_withdraw(
    ctx: typer.Context,
    subject: TheSubject,
    by: By,
    grant: Annotated[
        str | None, typer.Option(metavar="ID", callback=named, help="Only this grant.")
    ] = None,
    basis: Annotated[str | None, typer.Option(help="Only grants of this basis.")] = None,
    note: Note = None,
    json: Json = False,
) -> None:
    """Withdraw consent; every memory that stood on it is revoked at once."""
    with opened(ctx) as memory:
        revoked = memory.consent.withdraw(subject, grant_id=grant, basis=basis, note=note, by=by)

    def page(_answer: Any) -> Iterator[Any]:
        yield f"Withdrawn; {output.count(revoked, 'memory', 'memories')} revoked."

    output.show({"subject": subject, "revoked": revoked}, json, page)
