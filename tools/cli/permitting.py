"""Commands about what may be kept of whom: consent, erase, register, policy."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import By, Json, MaybeBy, Note, TheSubject, app, named, opened

if TYPE_CHECKING:
    from beliefledger.answers import GrantAnswer

PANEL = "Permitting"

consent = typer.Typer(no_args_is_help=True, help="On what basis something may be kept.")
app.add_typer(consent, name="consent", rich_help_panel=PANEL)


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


@consent.command("withdraw")
def consent_withdraw(
    ctx: typer.Context,
    subject: TheSubject,
    grant: Annotated[
        str | None, typer.Option(metavar="ID", callback=named, help="Only this grant.")
    ] = None,
    basis: Annotated[str | None, typer.Option(help="Only grants of this basis.")] = None,
    note: Note = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Withdraw consent; every memory that stood on it is revoked at once."""
    with opened(ctx) as memory:
        optional: dict[str, Any] = {} if by is None else {"by": by}
        revoked = memory.consent.withdraw(
            subject, grant_id=grant, basis=basis, note=note, **optional
        )

    def page(_answer: Any) -> Iterator[Any]:
        yield f"Withdrawn; {output.count(revoked, 'memory', 'memories')} revoked."

    output.show({"subject": subject, "revoked": revoked}, json, page)


@consent.command("show")
def consent_show(ctx: typer.Context, subject: TheSubject, json: Json = False) -> None:
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


@app.command(rich_help_panel=PANEL)
def register(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="Somebody who was erased.")],
    by: By,
    json: Json = False,
) -> None:
    """Let somebody who was erased be recorded again, as somebody new."""
    with opened(ctx) as memory:
        memory.erasure.register_anew(subject, by=by)

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"{subject} can be recorded again.")

    output.show({"subject": subject, "registered": True}, json, page)


policy = typer.Typer(no_args_is_help=True, help="The rules: what may be believed, as data.")
app.add_typer(policy, name="policy", rich_help_panel=PANEL)

PolicyFile = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A policy in YAML.")
]


@policy.command("show")
def policy_show(
    ctx: typer.Context,
    default: Annotated[
        bool, typer.Option("--default", help="The default one with its comments, to start from.")
    ] = False,
    json: Json = False,
) -> None:
    """The policy in force, in YAML."""
    if default:
        from importlib import resources

        from beliefledger.gate.policy import default_policy

        text = resources.files("beliefledger.gate").joinpath("policy.yaml").read_text("utf-8")
        chosen = default_policy()
    else:
        import yaml

        with opened(ctx) as memory:
            chosen = memory.policy.current
        fields = chosen.model_dump(mode="json")
        text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    if json:
        output.write_json({"digest": chosen.digest(), "policy": chosen})
    else:
        typer.echo(text.rstrip())


@policy.command("validate")
def policy_validate(file: PolicyFile, json: Json = False) -> None:
    """Check a policy without putting it in force."""
    from beliefledger.gate.policy import load

    chosen = load(file)
    _told("is a valid policy", chosen.name, chosen.digest(), json=json)


@policy.command("adopt")
def policy_adopt(ctx: typer.Context, file: PolicyFile, by: By, json: Json = False) -> None:
    """Put a policy in force. Later decisions follow it, and name it."""
    with opened(ctx) as memory:
        digest = memory.policy.adopt(file, by=by)
        name = memory.policy.current.name
    _told("is in force", name, digest, json=json)


def _told(what: str, name: str, digest: str, *, json: bool) -> None:
    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"{name} {what} (digest {digest[:16]}…).")

    output.show({"name": name, "digest": digest}, json, page)
