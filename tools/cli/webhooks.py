"""Commands about webhooks: webhooks register, list, rotate, remove, dead-letters, redeliver,
replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import After, By, Json, Limit, note, noun, opened

if TYPE_CHECKING:
    from beliefledger.access.webhooks import DeadLetter, RegisteredWebhook, WebhookAnswer

webhooks = noun("webhooks", "Webhooks: who is told of events at a URL, and what did not arrive.")

Webhook = Annotated[
    str, typer.Argument(metavar="WEBHOOK", help="As `webhooks list` names it, or how that begins.")
]


@webhooks.command("register")
def register(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="Where to post; https.")],
    name: Annotated[str, typer.Argument(help="Whom it is for; the name goes on record.")],
    by: By,
    role: Annotated[
        str, typer.Option(help="What they may see: bodies go to auditor and admin.")
    ] = "agent",
    types: Annotated[
        str, typer.Option(metavar="A,B", help="Only these event types, e.g. 'memory.*'.")
    ] = "*",
    subject: Annotated[
        list[str] | None,
        typer.Option("--subject", "-s", help="Whom it is about; may be given more than once."),
    ] = None,
    outcome: Annotated[
        list[str] | None, typer.Option(help="Of what has an outcome, only this; more than once.")
    ] = None,
    begin: Annotated[
        int | None,
        typer.Option("--begin", min=0, metavar="N", help="Past this position; else what comes."),
    ] = None,
    json: Json = False,
) -> None:
    """Have somebody told of events at a URL. The secret is shown this once."""
    with opened(ctx) as ledger:
        unknown = [each for each in subject or () if ledger.tokens.subject(each) is None]
        made = ledger.webhooks.register(
            url,
            name,
            by=by,
            role=role,
            types=[each.strip() for each in types.split(",")],
            subjects=subject,
            outcomes=outcome or (),
            after=begin,
        )
    for each in unknown:
        note(
            f"Nobody knew {each!r} until now; `beliefledger subjects` has them from here on. If"
            " somebody else is meant, remove this webhook and register another one."
        )
    output.show(made, json, _made)


def _made(made: RegisteredWebhook) -> Iterator[Any]:
    yield output.whole(made.secret)
    note(
        f"This is shown once. The webhook is {made.answer.webhook}; deliver with: beliefledger"
        " relay webhooks"
    )


@webhooks.command("list")
def list_webhooks(
    ctx: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Also removed ones.")] = False,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """The webhooks: for whom, where to, how far each is, and how many dead letters it has."""
    with opened(ctx) as ledger:
        answer = ledger.webhooks.list(all=everything, limit=limit, after=after)
    output.show_page(answer, json, _webhooks, limit=limit, after=after)


def _webhooks(answer: Sequence[WebhookAnswer]) -> Iterator[Any]:
    if not answer:
        yield "There is no webhook."
        return
    made = output.table(
        ("webhook", output.FIXED), "who", "role", "url", "types", "position", "lag", "dead", "state"
    )
    for each in answer:
        made.add_row(
            output.cell(each.webhook[:12]),
            output.cell(each.name),
            output.cell(each.role),
            output.cell(each.url),
            output.cell(", ".join(each.types)),
            f"{each.position:,}",
            f"{each.lag:,}",
            f"{each.dead_letters:,}",
            "active" if each.removed_at is None else "removed",
        )
    yield made
    for each in answer:
        if each.last_problem is not None:
            yield output.cell(
                f"{each.webhook[:12]}: deliveries failed, last noted at"
                f" {output.when(each.last_problem_at)} UTC: {each.last_problem}",
                "yellow",
            )


@webhooks.command("rotate")
def rotate(
    ctx: typer.Context,
    webhook: Webhook,
    by: By,
    overlap: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="So long the older secrets are in force too."),
    ] = 86_400.0,
    json: Json = False,
) -> None:
    """Give a webhook another secret, shown this once. Deliveries are signed with both for a day."""
    with opened(ctx) as ledger:
        made = ledger.webhooks.rotate_secret(webhook, by=by, overlap_seconds=overlap)
    output.show(made, json, _made)


@webhooks.command("remove")
def remove(ctx: typer.Context, webhook: Webhook, by: By, json: Json = False) -> None:
    """Tell a webhook of nothing any more. No certificate waits for it."""
    with opened(ctx) as ledger:
        answer = ledger.webhooks.remove(webhook, by=by)

    def page(answer: WebhookAnswer) -> Iterator[Any]:
        yield output.cell(f"The webhook {answer.webhook} of {answer.name} is removed.")

    output.show(answer, json, page)


@webhooks.command("dead-letters")
def dead_letters(
    ctx: typer.Context,
    webhook: Annotated[
        str | None, typer.Argument(metavar="WEBHOOK", help="Of this one; else of all.")
    ] = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """What did not arrive, was tried often enough, and was given up."""
    with opened(ctx) as ledger:
        answer = ledger.webhooks.dead_letters(webhook, limit=limit, after=after)
    output.show_page(answer, json, _letters, limit=limit, after=after)


def _letters(answer: Sequence[DeadLetter]) -> Iterator[Any]:
    if not answer:
        yield "There is no dead letter."
        return
    made = output.table(
        ("webhook", output.FIXED), "position", ("since", output.FIXED), "tried", "why", "state"
    )
    for each in answer:
        made.add_row(
            output.cell(each.webhook[:12]),
            f"{each.position:,}",
            output.when(each.at),
            f"{each.attempts:,}",
            output.cell(each.reason),
            "waits" if each.waiting else "given up",
        )
    yield made


@webhooks.command("redeliver")
def redeliver(
    ctx: typer.Context,
    webhook: Webhook,
    by: By,
    position: Annotated[
        list[int] | None, typer.Option(min=1, help="Only this one; may be given more than once.")
    ] = None,
    json: Json = False,
) -> None:
    """Send dead letters once more: some, or all."""
    with opened(ctx) as ledger:
        answer = ledger.webhooks.redeliver(webhook, by=by, positions=position)
    output.show(answer, json, _letters)


@webhooks.command("replay")
def replay(
    ctx: typer.Context,
    webhook: Webhook,
    by: By,
    begin: Annotated[
        int, typer.Option("--begin", min=0, metavar="N", help="Everything past this position.")
    ],
    json: Json = False,
) -> None:
    """Tell a webhook again of everything past a position."""
    with opened(ctx) as ledger:
        answer = ledger.webhooks.replay(webhook, by=by, after=begin)

    def page(answer: WebhookAnswer) -> Iterator[Any]:
        yield output.cell(f"The webhook {answer.webhook} goes on after position {begin:,}.")

    output.show(answer, json, page)
