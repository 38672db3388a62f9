"""Exports, awaitable: what they read of the ledger while it is written out is read in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Self

from beliefledger.awaitable.calls import Calls, Fetch, Part, awaited
from beliefledger.exports.exports import Exports, PersonExport

_AT_ONCE = 100
"""So many pieces are read in one call."""


class AsyncPieces:
    """The pieces of a text, for `async for`; iterate in one task.

    A task that is cancelled while it waits for a piece loses none.
    """

    def __init__(self, pieces: Iterator[str], calls: Calls) -> None:
        self._there: deque[str] = deque()
        """Read, and not delivered yet."""
        self._reading = Fetch(calls, lambda: list(islice(pieces, _AT_ONCE)))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        if not self._there:
            self._there.extend(await self._reading.answer())
        if not self._there:
            raise StopAsyncIteration
        return self._there.popleft()


class AsyncPersonExport(Part[PersonExport]):
    """As `PersonExport`, awaitable: everything held about one person, as it was when the export was
    recorded."""

    document = awaited(PersonExport.document)
    write = awaited(PersonExport.write)

    def __init__(self, part: PersonExport, calls: Calls) -> None:
        super().__init__(part, calls)
        self.exported = part.exported

    def json(self) -> AsyncPieces:
        """The document as JSON, in pieces for `async for`. See `PersonExport.json`."""
        return AsyncPieces(self._part.json(), self._calls)

    def html(self) -> AsyncPieces:
        """The same as a page that people read, in pieces for `async for`."""
        return AsyncPieces(self._part.html(), self._calls)


class AsyncExports(Part[Exports]):
    """As `Exports`, awaitable. What is handed out reads the ledger in threads too."""

    import_person = awaited(Exports.import_person)
    schema = staticmethod(Exports.schema)

    async def person(
        self,
        subject: str,
        *,
        by: str,
        note: str | None = None,
        withholding: Sequence[str] = (),
    ) -> AsyncPersonExport:
        """Everything held about a person, to answer their request for access. That it is handed
        out is on record before this returns. See `Exports.person`."""
        made = await self._calls.run(
            self._part.person, subject, by=by, note=note, withholding=withholding
        )
        return AsyncPersonExport(made, self._calls)

    async def events(self, *, by: str, after: int = 0) -> AsyncPieces:
        """Every event of the ledger past a position as a line of JSON, for `async for`. That they
        are handed out is on record before this returns. See `Exports.events`."""
        return AsyncPieces(
            await self._calls.run(self._part.events, by=by, after=after), self._calls
        )
