"""Commands about the lawful bases on which something is kept: consent grant, list, withdraw."""

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
    TheSubject,
    fail,
    named,
    note_nobody,
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
    reconsider: Annotated[
        bool,
        typer.Option(
            "--reconsider", help="Then decide again what had no basis so far; needs --by."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what --reconsider would decide; record nothing."),
    ] = False,
    note: Note = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Record a lawful basis for keeping memories of somebody. Twice is once."""
    if reconsider and by is None and not dry_run:
        fail(WHO, USAGE)
    terms: dict[str, Any] = {"purpose": purpose, "scope": scope, "expires_at": expires}
    terms |= {"categories": category} if category else {}
    if dry_run:
        with opened(ctx) as memory:
            previewed = memory.consent.preview_reconsider(subject, basis, **terms)
        output.show({"reconsidered": previewed}, json, _reconsidered)
        return
    with opened(ctx, create=True) as memory:
        who: dict[str, Any] = {} if by is None else {"by": by}
        grant_id = memory.consent.grant(subject, basis, note=note, **terms, **who)
        grants = memory.consent.list(subject)
        again = memory.consent.reconsider(subject, **who) if reconsider else ()
    answer: dict[str, Any] = next(
        (each.model_dump() for each in grants if each.grant_id == grant_id),
        {"grant_id": grant_id},
    )
    if reconsider:
        answer["reconsidered"] = again

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{subject}: {basis} for {', '.join(category or ['ordinary'])}"
            f" (grant {grant_id[: output.SHORT_ID]})."
        )
        if reconsider:
            yield from _reconsidered({"reconsidered": again})

    output.show(answer, json, page)


def _reconsidered(answer: dict[str, Any]) -> Iterator[Any]:
    if not answer["reconsidered"]:
        yield "Nothing to decide again. What a withdrawal revoked stays so, until it is said anew."
        return
    made = output.table(
        ("said", output.FIXED),
        "claim",
        ("was", output.FIXED),
        ("outcome", output.FIXED),
        ("reason", output.FIXED),
        ("memory", output.FIXED),
    )
    for each in answer["reconsidered"]:
        made.add_row(
            output.day(each.said_at),
            output.cell(each.claim),
            each.reason,
            output.outcome(each.outcome),
            each.new_reason,
            output.short(each.memory_id),
        )
    yield made


@consent.command("list")
def consent_list(
    ctx: typer.Context,
    subject: TheSubject,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """The lawful bases in force for somebody."""
    with opened(ctx) as memory:
        answer = memory.consent.list(subject, limit=limit, after=after)
        note_nobody(memory, subject, answer)
    output.show_page(answer, json, _consents, limit=limit, after=after)


def _consents(answer: Sequence[GrantAnswer]) -> Iterator[Any]:
    if not answer:
        yield (
            "No basis is in force: of what is said, nothing is kept but what a reviewer approves"
            " (conflicts review)."
        )
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
