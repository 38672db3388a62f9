"""Commands about the server: serve, worker, mcp, config check."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.settings import one_thread_each, token
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import KEEP, Json, app, fail, note, noun, opened, route_of
from beliefledger.tools.cli.followers import Lines, ended_by_a_supervisor, watched

if TYPE_CHECKING:
    from beliefledger.tools.server.configuration import Configuration

logger = logging.getLogger("beliefledger.server")
config = noun("config", "The server's configuration: what holds, and whether it can be served so.")

File = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="YAML, one setting a line.")
]
Host = Annotated[str | None, typer.Option(help="Where to listen; the loopback unless told.")]
Port = Annotated[int | None, typer.Option(help="8321 unless told; 0 is any that is free.")]
Cert = Annotated[Path | None, typer.Option("--tls-cert", help="The certificate's file.")]
Key = Annotated[Path | None, typer.Option("--tls-key", help="The file of its key.")]
Proxy = Annotated[
    bool | None, typer.Option("--behind-proxy", help="A proxy in front has the certificate.")
]
Worker = Annotated[
    bool | None,
    typer.Option("--worker/--no-worker", help="Whether turns are decided in this process."),
]
Schedule = Annotated[
    bool | None,
    typer.Option("--schedule/--no-schedule", help="Whether jobs run in this process when due."),
]


@app.command("serve", rich_help_panel=KEEP)
def serve_doors(
    ctx: typer.Context,
    config_file: File = None,
    host: Host = None,
    port: Port = None,
    tls_cert: Cert = None,
    tls_key: Key = None,
    behind_proxy: Proxy = None,
    worker: Worker = None,
    schedule: Schedule = None,
) -> None:
    """Serve agents over HTTP (MCP at /mcp), until interrupted. It needs the extra `server`."""
    one_thread_each()
    settings = _settings(
        config_file,
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        behind_proxy=behind_proxy,
        worker=worker,
        schedule=schedule,
    )
    try:
        from beliefledger.tools.server.serving import serve
    except ModuleNotFoundError as missing:
        _without_extra(missing)

    def tell(url: str) -> None:
        if settings.log_format == "json":
            logger.info("serving", extra={"url": url})
        else:
            note(f"Serving at {url}")

    with watched(settings), opened(ctx) as ledger:
        serve(ledger, settings, tell, route_of(ctx))


@app.command("worker", rich_help_panel=KEEP)
def work(
    ctx: typer.Context,
    config_file: File = None,
    schedule: Schedule = None,
    lease_seconds: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="So soon after this dies, another may take over."),
    ] = None,
    json: Lines = False,
) -> None:
    """Decide turns, keep views up and run jobs, without serving anybody, until interrupted. Of
    several processes, servers too, one does each; another takes over."""
    one_thread_each()
    from beliefledger.tools.server.background import Background

    settings = _settings(config_file, schedule=schedule, lease_seconds=lease_seconds)

    def tell(who: str, what: str, why: str) -> None:
        if json:
            output.write_json({"part": who, "state": what, "reason": why or None}, lines=True)
        else:
            output.console().print(output.cell(f"{who}: {what}{f': {why}' if why else ''}"))

    with (
        ended_by_a_supervisor(ctx),
        watched(settings),
        opened(ctx) as ledger,
        Background(
            ledger,
            schedule=settings.schedule,
            lease_seconds=settings.lease_seconds,
            tell=tell,
        ) as running,
    ):
        running.wait()


@app.command("mcp", rich_help_panel=KEEP)
def mcp_stdio(ctx: typer.Context, config_file: File = None) -> None:
    """Serve one agent over standard input and output (MCP), with the token in BELIEFLEDGER_TOKEN.
    It needs the extra `server`."""
    one_thread_each()
    settings = _settings(config_file)
    try:
        from beliefledger.tools.server.mcp.stdio import serve
    except ModuleNotFoundError as missing:
        _without_extra(missing)
    given = token()
    if not given:
        fail("BELIEFLEDGER_TOKEN is not set: give it the token that `token create` shows.")
    with watched(settings), opened(ctx) as ledger:
        serve(ledger, given, seconds=settings.call_seconds, exports=settings.exports)


@config.command("check")
def config_check(config_file: File = None, json: Json = False) -> None:
    """Say what holds, from the file, the environment and the defaults, or what is wrong with it."""
    settings = _settings(config_file)

    def page(_answer: Any) -> Iterator[Any]:
        made = output.table("setting", "value")
        for name, value in settings.model_dump(mode="json").items():
            made.add_row(output.cell(name), output.cell(_told(value)))
        yield made

    output.show(settings, json, page)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value).lower() if value in {True, False} else str(value)


def _settings(file: Path | None, **given: Any) -> Configuration:
    from beliefledger.tools.server.configuration import configuration

    return configuration(file, **given)


def _without_extra(missing: ModuleNotFoundError) -> None:
    lacks = (missing.name or "").partition(".")[0]
    if lacks in {"", "beliefledger"}:
        raise missing
    fail(f"The server needs an extra ({lacks} is missing): pip install 'beliefledger[server]'.")
