"""Tells a client how far work is that takes long."""

from __future__ import annotations

import asyncio

from mcp.server.session import ServerSession


class Teller:
    """Sends what a tool tells of its progress, the latest where it tells it faster than it can be
    sent. A client that did not ask for progress is sent nothing."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._next: tuple[int, int, str | None] | None = None
        self._sent = -1
        self._sending: asyncio.Task[None] | None = None
        self._ended = False

    def __call__(self, done: int, of: int, message: str | None = None) -> None:
        """From any thread: `done` of `of`."""
        self._loop.call_soon_threadsafe(self._note, done, of, message)

    def _note(self, done: int, of: int, message: str | None) -> None:
        if self._ended or done <= self._sent:  # the protocol wants it to grow
            return
        self._next = (done, of, message)
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        while self._next is not None:
            (done, of, message), self._next = self._next, None
            self._sent = done
            await self._session.report_progress(float(done), float(of), message)

    async def end(self) -> None:
        """Nothing is sent any more once this returns."""
        self._ended = True
        if self._sending is not None:
            await asyncio.wait([self._sending])
            self._sending.exception()
