"""The protocol over HTTP: one path, answers as streams of events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from beliefledger.access.principal import Principal
from beliefledger.tools.server.configuration import Configuration
from beliefledger.tools.server.gatekeeper import PRINCIPAL
from beliefledger.tools.server.mcp.door import Door, Request
from beliefledger.tools.server.mcp.private import Sessions

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


MOST_SESSIONS = 2_000
"""Sessions of older clients that are open at once; one that nobody uses ends after half an hour."""


def whose(request: Request) -> Principal:
    """Whose request it is, as the gatekeeper found."""
    asked = request.request
    if asked is None:
        raise AssertionError("over HTTP every request of the protocol comes with its own")
    principal: Principal = asked.scope[PRINCIPAL]
    return principal


class MCPOverHTTP:
    """ASGI for `/mcp`. Enter `running` while it serves."""

    def __init__(self, door: Door, settings: Configuration) -> None:
        self._door = door
        self._sessions = Sessions(
            door.server(),
            json_response=False,
            max_sessions=MOST_SESSIONS,
            max_request_body_size=settings.max_body_bytes,
            security_settings=TransportSecuritySettings(
                allowed_hosts=[*LOOPBACK, *(f"{each}:*" for each in LOOPBACK), *settings.hosts],
                allowed_origins=[
                    *(f"{scheme}://{each}:*" for scheme in ("http", "https") for each in LOOPBACK),
                    *settings.origins,
                ],
            ),
        )

    async def say_goodbye(self) -> None:
        """End what is open: the server waits for it when it stops."""
        await self._door.say_goodbye()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield
        await self._door.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A session belongs to the token that opened it: the protocol's package compares users.
        principal: Principal = scope[PRINCIPAL]
        told = AccessToken(token=principal.token, client_id=principal.token, scopes=[])
        scope = {**scope, "user": AuthenticatedUser(told)}
        if scope["method"] == "GET":  # an older client's, which lasts as long as its session
            await self._door.goodbye.stream(self._sessions.handle_request, scope, receive, send)
        else:
            await self._sessions.handle_request(scope, receive, send)
