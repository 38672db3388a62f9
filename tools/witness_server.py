"""The server of a witness: requests over HTTP, bounded in size, time and number.

It speaks the protocol of c2sp.org/tlog-witness; `tools.witness` says what is cosigned.
"""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from beliefledger.ledger.errors import BackendUnavailable, LogCorrupted
from beliefledger.tools.witness import Conflict, Refused, Witness

MAX_BODY = 1 << 18
"""Bytes: sixteen signatures of the largest kind and a proof are less than half."""
BODY_SECONDS = 10.0
"""How long a request may take to arrive."""
HEAD_SECONDS = 10.0
"""And its headers, on a connection that was made or that said something."""
MAX_CONNECTIONS = 100
MAX_CONNECTIONS_OF_ONE = 20
"""From one address, which may be a proxy's."""


async def _body(request: Request) -> bytes:
    """Raises `Refused` for one that is too large or comes too slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise Refused(413, f"A request has at most {MAX_BODY:,} bytes.")
    except TimeoutError:
        raise Refused(408, "The request took too long to arrive.") from None
    except ClientDisconnect:
        raise Refused(400, "The request broke off.") from None
    return bytes(body)


class _Connection(H11Protocol):
    """A connection that is closed when the headers of a request do not arrive in time, and that
    gives way to a new one, where there are too many, when it has waited for a request longest."""

    since = 0.0
    """When it was made, or answered last."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self.since = self.loop.time()
        self._expect()
        host = self.client and self.client[0]
        there = [each for each in self.connections if isinstance(each, _Connection)]
        of_one = [each for each in there if (each.client and each.client[0]) == host]
        if len(of_one) > MAX_CONNECTIONS_OF_ONE:
            _give_way(of_one, self)
        elif len(there) > MAX_CONNECTIONS:
            _give_way(there, self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._asked:
            self._stop()
        elif self._deadline is None:
            self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def end(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    @property
    def waits(self) -> bool:
        """For the client, to send a request or the rest of one."""
        return not self._asked or self.cycle.more_body

    @property
    def _asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.end)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _give_way(connections: list[_Connection], new: _Connection) -> None:
    waiting = [each for each in connections if each is not new and each.waits]
    min(waiting, key=lambda each: each.since, default=new).end()


def application(witness: Witness) -> Starlette:
    """POST /add-checkpoint."""

    async def answer(request: Request) -> Response:
        try:
            body = await _body(request)
            return PlainTextResponse(await run_in_threadpool(witness.add_checkpoint, body))
        except Conflict as conflict:
            # The library would add a charset, and clients compare the whole of it.
            headers = {"content-type": "text/x.tlog.size"}
            return Response(f"{conflict.size}\n", 409, headers)
        except Refused as refused:
            return PlainTextResponse(f"{refused.sentence}\n", refused.status)
        except (OSError, LogCorrupted) as problem:
            witness.tell(f"Nothing was cosigned: {problem}")
            return PlainTextResponse(
                "The witness cannot read or write what it knows. Nothing was cosigned.\n", 503
            )

    return Starlette(routes=[Route("/add-checkpoint", answer, methods=["POST"])])


def listen(host: str, port: int) -> socket.socket:
    """A port that is taken from now on; with 0, any. Raises `BackendUnavailable`."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as problem:
        raise BackendUnavailable(
            f"{host}:{port} cannot be listened at: {problem}. Give another one with --listen."
        ) from problem


def serve(witness: Witness, at: socket.socket) -> None:
    """Answer until the process is told to end."""
    config = uvicorn.Config(
        application(witness),
        http=_Connection,
        ws="none",
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=[at])
