"""Runs the application under uvicorn until the process is told to end."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable

import uvicorn
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette

from beliefledger.ledger.errors import Retryable
from beliefledger.memory import MemoryLedger
from beliefledger.tenants import TenantRoute
from beliefledger.tools.server.app import application
from beliefledger.tools.server.configuration import Configuration
from beliefledger.tools.server.connection import Connection
from beliefledger.tools.server.routed import RoutedApplication

_YOUNG_OBJECTS = 20_000
"""So many more objects than before start the garbage collector; Python's own 700 are there with
every other call."""


class CannotListen(Retryable):
    """Give another address with --host and --port, or end what has this one."""


def listen(settings: Configuration) -> socket.socket:
    """The port, taken from now on. Raises `CannotListen`."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((settings.host, settings.port), family=family, backlog=512)
    except OSError as problem:
        raise CannotListen(
            f"{settings.host}:{settings.port} cannot be listened at: {problem.strerror}."
        ) from problem
    # Connections inherit it. Without it the second piece of an answer waits 40 ms for the first.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Server(uvicorn.Server):
    """Says goodbye first when it stops: then it waits for open answers."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app = self.config.app
        if isinstance(app, Starlette):
            await app.state.say_goodbye()
        elif isinstance(app, RoutedApplication):
            await app.say_goodbye()
        await super().shutdown(sockets)


def url(settings: Configuration, at: socket.socket) -> str:
    """Where agents reach it."""
    host, port = at.getsockname()[:2]
    scheme = "https" if settings.tls_cert else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/mcp"


def routed(
    memory: MemoryLedger, settings: Configuration, route: TenantRoute | None
) -> Starlette | RoutedApplication:
    """The application, which goes along with a tenant whose ledger moves."""
    if route is None:
        return application(memory, settings)
    return RoutedApplication(
        memory, lambda each: application(each, settings), route, stop_seconds=settings.stop_seconds
    )


def serve(
    memory: MemoryLedger,
    settings: Configuration,
    tell: Callable[[str], None] = lambda _url: None,
    route: TenantRoute | None = None,
) -> None:
    """Answer until SIGINT or SIGTERM: then nothing new is taken, and calls that were begun have
    `stop_seconds` to end. `tell` is given the URL once it listens. With a `route`, it goes along
    when the ledger moves."""
    at = listen(settings)
    # It would cut every stream off on the signal, calls in the middle too. Ours end with a word.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    server = Server(
        uvicorn.Config(
            routed(memory, settings, route),
            http=Connection,
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=settings.behind_proxy,
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
            timeout_graceful_shutdown=settings.stop_seconds,
            limit_concurrency=2_000,
        )
    )
    _settle()
    tell(url(settings, at))
    server.run(sockets=[at])


def _settle() -> None:
    """Spare the garbage collector what is loaded by now and stays until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 10, 10)
