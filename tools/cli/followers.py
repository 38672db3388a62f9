"""Commands that follow the log until they are interrupted: ops tail, project."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.ledger.errors import CallerMistake
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    USAGE,
    Subject,
    fail,
    note,
    opened,
    route_of,
)
from beliefledger.tools.cli.ops import ops

if TYPE_CHECKING:
    from beliefledger.ledger.closeable import Closeable
    from beliefledger.ledger.codec import Recorded
    from beliefledger.ledger.consumer import Consumer
    from beliefledger.memory import MemoryLedger
    from beliefledger.tenants import TenantRoute
    from beliefledger.tools.server.configuration import Configuration

_LOOK_SECONDS = 0.2

Lines = Annotated[bool, typer.Option("--json", help="One JSON document for each line.")]
Lease = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="So soon after this process dies, another may take over."),
]


@contextmanager
def watched(settings: Configuration) -> Iterator[None]:
    """Log as a server does, and send traces where the environment says so, while this is entered. A
    process without the extra `server` logs as Python does by default."""
    from beliefledger.tools.server.traces import traced

    try:
        from beliefledger.tools.server.logs import configure
    except ModuleNotFoundError as missing:
        if missing.name != "structlog":
            raise
        if settings.log_format != "console":
            fail("Logs as JSON need an extra: pip install 'beliefledger[server]'.")
    else:
        configure(settings.log_format, settings.log_level)
    with traced():
        yield


@ops.command("tail")
def tail(
    ctx: typer.Context,
    after: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only events past this position.")
    ] = None,
    consumer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Go on where this consumer is, and move it along."),
    ] = None,
    types: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these, e.g. 'memory.*'.")
    ] = None,
    subject: Subject = None,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow",
            "-f",
            help="Then wait for more, until interrupted. With --consumer, that is the default.",
            show_default=False,
        ),
    ] = None,
    lease_seconds: Lease = 10.0,
    json: Lines = False,
) -> None:
    """The events of the log, in order; as a named consumer, each until it was written out."""
    wanted = None if types is None else _known_types(types)
    subjects = None if subject is None else [subject]
    if consumer is None:
        with (
            ended_by_a_supervisor(ctx),
            opened(ctx) as memory,
            memory.subscribe(
                after or 0, types=wanted, subjects=subjects, follow=bool(follow)
            ) as events,
            closed_by_a_supervisor(events),
        ):
            for event in events:
                _write(event, memory, json)
        return
    if after is not None:
        fail("ops tail: a consumer knows where it is: leave out --after, or --consumer.", USAGE)
    _consume(ctx, consumer, wanted, subjects, follow is not False, lease_seconds, json)


def _consume(
    ctx: typer.Context,
    name: str,
    types: Sequence[str] | None,
    subjects: Sequence[str] | None,
    follow: bool,
    lease_seconds: float,
    json: bool,
) -> None:
    with (
        ended_by_a_supervisor(ctx),
        opened(ctx) as memory,
        memory.consumer(
            name, types, subjects, lease_seconds=lease_seconds, follow=follow
        ) as events,
        closed_by_a_supervisor(events) as end,
    ):
        for event in _in_turn(events, follow):
            with end.put_off:
                if end.asked:
                    break
                _write(event, memory, json)
                events.ack(event)


def _in_turn(events: Consumer, follow: bool) -> Iterator[Recorded]:
    """The events, once no other process is this consumer. Says so where one is, and without
    `follow` ends there."""
    with suppress(StopIteration):
        first = events.look()
        if first is not None:
            yield first
        elif events.looked is None and events.trouble is None:
            held = f"Another process runs the consumer {events.name}"
            if not follow:
                fail(f"{held}. Try again once it has ended, or name another consumer.")
            note(f"{held}: waiting to take over.")
        yield from events


def _write(event: Recorded, memory: MemoryLedger, json: bool) -> None:
    """One event, out of this process when it returns."""
    from beliefledger.tools.cli.pages import event_document, event_line

    if json:
        output.write_json(event_document(event, memory), lines=True)
    else:
        output.console().print(event_line(event, memory), soft_wrap=True)


@contextmanager
def ended_by_a_supervisor(ctx: typer.Context | None = None) -> Iterator[None]:
    """End with 0 when a supervisor asks for it: what is held is let go of, so that another can take
    over at once. It ends wherever the process is; `closed_by_a_supervisor` is for work that is to
    be finished. Asking twice changes nothing.

    Where the ledger that the command line names is moved, the command ends so, too, and begins
    again in the same process, at the new place.
    """
    route = None if ctx is None else route_of(ctx)
    ended = threading.Event()
    moved = threading.Event()

    def look(route: TenantRoute) -> None:
        while not ended.wait(_LOOK_SECONDS):
            with suppress(CallerMistake):  # a table that is being edited
                if route.moved() is not None:
                    moved.set()
                    os.kill(os.getpid(), signal.SIGTERM)
                    return

    def end(_signal: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    if route is not None:
        threading.Thread(target=look, args=(route,), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.signal(signal.SIGTERM, before)
        if moved.is_set() and route is not None:
            note(f"The ledger of {route.name} has moved: going on at the new place.")
            sys.stdout.flush()
            os.execv(sys.executable, [sys.executable, "-m", "beliefledger", *sys.argv[1:]])  # noqa: S606


@dataclass
class _End:
    asked: bool = False
    interrupted: bool = False
    put_off: threading.Lock = field(default_factory=threading.Lock)
    """Held while something is done that has to be finished first."""


@contextmanager
def closed_by_a_supervisor(work: Closeable) -> Iterator[_End]:
    """Within `ended_by_a_supervisor`: SIGTERM closes `work`, whose loop then ends by itself. An
    exception wherever the process is could cut off a query, and the connection is then of no use
    for giving back the lease.

    SIGINT raises `KeyboardInterrupt` as always, and closes `work` besides: Python drops what is
    raised within a finalizer, and the loop would wait on. Then it is raised here.
    """
    end = _End()
    told: SimpleQueue[None] = SimpleQueue()  # unlike an event, it may be told within a signal

    def close() -> None:
        told.get()
        with end.put_off:
            work.close()

    def ask(_signal: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end.asked = True
        told.put(None)

    def interrupt(_signal: int, _frame: object) -> None:
        end.asked = end.interrupted = True
        told.put(None)
        raise KeyboardInterrupt

    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ThreadPoolExecutor(1, "closes the work") as pool:
        closing = pool.submit(close)
        signal.signal(signal.SIGTERM, ask)
        try:
            if interruptible:
                signal.signal(signal.SIGINT, interrupt)
            yield end
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends already
            if interruptible:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            told.put(None)
            closing.result()
    if end.interrupted:
        raise KeyboardInterrupt


def _known_types(types: str) -> list[str]:
    """The names in a list of event types, patterns among them. Ends with a usage error at one that
    no event has."""
    from beliefledger.ledger.errors import InvalidQuery
    from beliefledger.ledger.event_names import named

    try:
        return sorted(named(name.strip() for name in types.split(",")))
    except InvalidQuery as problem:
        fail(f"ops tail: {problem.detail}", USAGE)


@ops.command("project")
def project(ctx: typer.Context, lease_seconds: Lease = 10.0, json: Lines = False) -> None:
    """Keep the views up with the log, until interrupted. Of several, one does; another takes over.

    Questions catch up by themselves: this spares them the wait.
    """

    def tell(what: str, position: int, why: str) -> None:
        if json:
            document = {"state": what, "position": position, "reason": why or None}
            output.write_json(document, lines=True)
        else:
            output.console().print(output.cell(_sentence(what, position, why)))

    with (
        ended_by_a_supervisor(ctx),
        opened(ctx) as memory,
        memory.operations.keep_views(lease_seconds=lease_seconds, tell=tell) as projecting,
        closed_by_a_supervisor(projecting),
    ):
        projecting.run()


def _sentence(what: str, position: int, why: str) -> Any:
    return {
        "follows": f"The views are up with the log, at position {position:,}.",
        "waits": f"Waiting to take over: {why}",
        "retries": f"Trying again: {why}",
    }[what]
