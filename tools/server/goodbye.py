"""The server's goodbye: calls that wait and streams that are open hear that it stops."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FAREWELL = b": The server stops. Connect again.\r\n\r\n"


class Goodbye:
    """Said once, in the event loop of whoever hears it."""

    def __init__(self) -> None:
        self._said = asyncio.Event()

    @property
    def said(self) -> bool:
        return self._said.is_set()

    def say(self) -> None:
        self._said.set()

    async def heard(self, seconds: float) -> bool:
        """Whether it is said; waits for it so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._said.wait(), seconds)
        return self.said

    async def until(self, work: asyncio.Future[Any], seconds: float) -> bool:
        """Whether work is done; waits so long for it, or until goodbye is said."""
        hearing = asyncio.ensure_future(self._said.wait())
        try:
            await asyncio.wait({work, hearing}, timeout=seconds, return_when="FIRST_COMPLETED")
        finally:
            hearing.cancel()
        return work.done()

    async def stream(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a stream of events that nobody but the client would end. When goodbye is said
        a comment says so, and the answer is complete."""
        streams = False

        async def hear() -> Message:
            asked = asyncio.ensure_future(receive())
            try:
                while not await self.until(asked, 3_600):
                    if self.said:
                        return {"type": "http.disconnect"}
                return asked.result()
            finally:
                asked.cancel()

        async def tell(message: Message) -> None:
            nonlocal streams
            streams = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await app(scope, hear, tell)
        if streams and self.said:
            await send({"type": "http.response.body", "body": _FAREWELL, "more_body": False})
