"""All that is used of the protocol's package without being public there, for want of another way.

`tests/unit/server/test_private.py` fails when a version has it no more.
"""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.session import ServerSession
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MOST_SESSIONS_OF_TOKEN = 100


class Sessions(StreamableHTTPSessionManager):
    """The sessions of older clients, of which no token may have them all.

    Only all sessions can be limited by what is public.
    """

    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        same = sum(each == requestor for each in self._session_owners.values())
        return None if same >= MOST_SESSIONS_OF_TOKEN else super()._admit_session(requestor)


def connection(session: ServerSession) -> int:
    """Which connection a request came by: the session itself is another for each request."""
    return id(session._connection)  # noqa: SLF001


def at_end(session: ServerSession, call: Callable[[], None]) -> None:
    """Have something called when the connection of a session ends: nothing public tells it."""
    session._connection.exit_stack.callback(call)  # noqa: SLF001
