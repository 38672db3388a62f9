"""Commands that carry events out until they are interrupted: relay webhooks, relay nats."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import USAGE, fail, noun, opened
from beliefledger.tools.cli.followers import (
    Lease,
    Lines,
    closed_by_a_supervisor,
    ended_by_a_supervisor,
    watched,
)

relay = noun("relay", "Carry events out: to webhooks, or to a stream of NATS JetStream.")


@relay.command("webhooks")
def relay_webhooks(
    ctx: typer.Context,
    attempts: Annotated[
        int, typer.Option(min=1, max=100, help="So often a delivery is tried, then given up.")
    ] = 16,
    first_delay: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="Before the second; then doubling.")
    ] = 0.5,
    longest_delay: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="No longer than this.")
    ] = 3_600.0,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=300, help="So long one delivery may take.")
    ] = 10.0,
    senders: Annotated[
        int, typer.Option(min=1, max=64, help="Deliveries of a webhook under way at once.")
    ] = 4,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="NETWORK", help="May be called though not public; more than once."),
    ] = None,
    allow_http: Annotated[
        bool, typer.Option("--allow-http", help="Deliver without TLS where a URL says http.")
    ] = False,
    ca_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificates to trust besides the system's.")
    ] = None,
    lease_seconds: Lease = 10.0,
    json: Lines = False,
) -> None:
    """Deliver to all webhooks, until interrupted. Of several processes, one delivers to each."""
    from ipaddress import ip_network

    from beliefledger.tools.relay.callout import Rules
    from beliefledger.tools.relay.delivery import Trying
    from beliefledger.tools.relay.webhooks import WebhookRelay
    from beliefledger.tools.server.configuration import configuration

    try:
        networks = tuple(ip_network(each) for each in allow or ())
    except ValueError as problem:
        fail(f"relay webhooks: --allow: {problem}", USAGE)
    trying = Trying(
        attempts=attempts,
        first_seconds=first_delay,
        longest_seconds=longest_delay,
        senders=senders,
        lease_seconds=lease_seconds,
        rules=Rules(seconds=seconds, allow_http=allow_http, allow=networks, ca_file=ca_file),
    )

    def tell(webhook: str, what: str, why: str) -> None:
        _tell({"webhook": webhook, "state": what, "reason": why or None}, json)

    with (
        ended_by_a_supervisor(ctx),
        watched(configuration()),
        opened(ctx) as ledger,
        WebhookRelay(ledger, trying, tell) as relaying,
        closed_by_a_supervisor(relaying),
    ):
        relaying.run()


@relay.command("nats")
def relay_nats(
    ctx: typer.Context,
    server: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="Of NATS; may be given more than once.")
    ] = None,
    stream: Annotated[str, typer.Option(help="The stream; it is made where there is none.")] = (
        "BELIEFLEDGER"
    ),
    prefix: Annotated[
        str, typer.Option(help="Begins the subjects; the event's type follows.")
    ] = "beliefledger",
    replicas: Annotated[int, typer.Option(min=1, max=5, help="Of a stream that is made.")] = 3,
    source: Annotated[
        str, typer.Option(help="The CloudEvents' source: which ledger it is.")
    ] = "urn:beliefledger",
    credentials: Annotated[
        str | None, typer.Option(metavar="FILE", help="NATS credentials.")
    ] = None,
    ca_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificates that NATS is known by.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Then wait for more; else end there.")
    ] = True,
    lease_seconds: Lease = 10.0,
    json: Lines = False,
) -> None:
    """Publish all events as CloudEvents to NATS JetStream, until interrupted; no bodies, no names.
    It needs the extra `nats`."""
    try:
        from beliefledger.tools.relay.nats import NatsRelay, Target
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "nats":
            raise
        fail("The relay needs an extra: pip install 'beliefledger[nats]'.")
    from beliefledger.tools.server.configuration import configuration

    target = Target(
        servers=tuple(server or Target().servers),
        stream=stream,
        prefix=prefix,
        replicas=replicas,
        source=source,
        lease_seconds=lease_seconds,
        credentials=credentials,
        ca_file=ca_file,
    )

    def tell(what: str, why: str) -> None:
        _tell({"state": what, "reason": why or None}, json)

    with ended_by_a_supervisor(ctx), watched(configuration()), opened(ctx) as ledger:
        relaying = NatsRelay(ledger, target, tell)
        with _stopped_by_signals(relaying.stop):
            relaying.run(follow=follow)


def _tell(document: dict[str, str | None], json: bool) -> None:
    if json:
        output.write_json(document, lines=True)
    else:
        told = (each for each in document.values() if each)
        output.console().print(output.cell(": ".join(told)), soft_wrap=True)


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM end the relay once its batch is through."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop()

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
