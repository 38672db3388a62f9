"""What a connection knows of the other side: how much of what was sent it has not taken yet."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if sys.platform == "linux":
    import fcntl
    import termios

_EXTENSION = "beliefledger.connection"


class Connection(HttpToolsProtocol):
    """Makes itself known to an application, by an extension of the scope: see `connection`."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {_EXTENSION: {"is": self}}

    def untaken(self) -> int:
        """Bytes that wait here, and on Linux those that wait in the system: it has megabytes of
        room, and says that there is some again only once a third of it is free."""
        if self.transport.is_closing():
            return 0
        waiting: int = self.transport.get_write_buffer_size()
        if sys.platform == "linux":
            at = self.transport.get_extra_info("socket").fileno()
            waiting += int.from_bytes(fcntl.ioctl(at, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        return waiting

    def leave(self) -> None:
        """End it now: what waits here is thrown away."""
        self.transport.abort()


def connection(scope: Mapping[str, Any]) -> Connection | None:
    """That of a request; None under a server that does not tell."""
    told = scope.get("extensions", {}).get(_EXTENSION, {})
    found: Connection | None = told.get("is")
    return found
