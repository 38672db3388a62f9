"""Commands about tokens: token create, list, revoke."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import After, By, Json, Limit, note, noun, opened

if TYPE_CHECKING:
    from beliefledger.access.tokens import IssuedToken, TokenAnswer


token = noun("token", "Tokens: who may use the server, for whom, and for what.")


@token.command("create")
def token_create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Who acts with it; the name goes on record.")],
    by: By,
    role: Annotated[
        str, typer.Option(help="agent, reviewer, auditor, operator or admin.")
    ] = "agent",
    subject: Annotated[
        list[str] | None,
        typer.Option("--subject", "-s", help="Whom it is for; may be given more than once."),
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--all-subjects", help="For everybody, in place of --subject.")
    ] = False,
    agent: Annotated[
        str | None, typer.Option(help="Under whose name turns are recorded; else NAME.")
    ] = None,
    consent: Annotated[
        str | None,
        typer.Option(help="The lawful basis that is granted at a subject's first turn."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Only this part or verb of what the role may; more than once."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="Until when it is good; else until revoked.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a token. It is shown this once, and kept nowhere."""
    if bool(subject) == everybody:
        both = "not both" if everybody else "it needs one of them"
        raise typer.BadParameter(f"say for whom: --subject NAME or --all-subjects; {both}.")
    with opened(ctx) as ledger:
        made = ledger.tokens.create(
            name,
            by=by,
            role=role,
            subjects=subject,
            agent=agent,
            consent=consent,
            scopes=scope or (),
            expires_at=expires,
        )

    def page(answer: IssuedToken) -> Iterator[Any]:
        yield output.whole(answer.token)
        note(
            f"This is shown once. To end it: beliefledger token revoke {answer.answer.token_id}"
            " --by NAME"
        )

    output.show(made, json, page)


@token.command("list")
def token_list(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are expired or revoked.")
    ] = False,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """The tokens in force: who has each, for whom and for what, and when it was last used."""
    with opened(ctx) as ledger:
        answer = ledger.tokens.list(all=everything, limit=limit, after=after)
    output.show_page(answer, json, _tokens, limit=limit, after=after)


def _tokens(answer: Sequence[TokenAnswer]) -> Iterator[Any]:
    if not answer:
        yield "No token is in force."
        return
    made = output.table(
        ("token", output.FIXED), "who", "role", "for", ("expires", output.FIXED),
        ("last used", output.FIXED), "state",
    )  # fmt: skip
    for each in answer:
        scopes = f" ({', '.join(each.scopes)})" if each.scopes else ""
        whom = "everybody" if each.subjects is None else ", ".join(_names(each.subjects))
        made.add_row(
            output.cell(each.token_id),
            output.cell(each.name),
            output.cell(f"{each.role}{scopes}"),
            output.cell(whom),
            output.when(each.expires_at),
            output.when(each.last_used_at),
            output.cell(each.state),
        )
    yield made


def _names(subjects: Sequence[str | None]) -> list[str]:
    return ["someone erased" if each is None else each for each in subjects]


@token.command("revoke")
def token_revoke(
    ctx: typer.Context,
    token_id: Annotated[
        str, typer.Argument(metavar="TOKEN", help="As `token list` names it, or how that begins.")
    ],
    by: By,
    json: Json = False,
) -> None:
    """End a token. Every server refuses it within a second."""
    with opened(ctx) as ledger:
        answer = ledger.tokens.revoke(token_id, by=by)

    def page(answer: TokenAnswer) -> Iterator[Any]:
        yield output.cell(f"The token {answer.token_id} of {answer.name} is revoked.")

    output.show(answer, json, page)
