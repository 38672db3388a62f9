"""The front door, awaitable: the verbs and parts of `MemoryLedger`, under the same names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self
from weakref import WeakSet

from beliefledger.awaitable.calls import Calls, Part, awaited
from beliefledger.awaitable.growth import Growth
from beliefledger.awaitable.parts import (
    AsyncAudit,
    AsyncConflicts,
    AsyncConsent,
    AsyncEntities,
    AsyncErasures,
    AsyncExports,
    AsyncOperations,
    AsyncPolicyInForce,
    AsyncProofs,
    AsyncRecalls,
    AsyncTokens,
    AsyncTypes,
    AsyncVectors,
)
from beliefledger.awaitable.streams import AsyncConsumer, AsyncSubscription, Stream
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger


class AsyncMemoryLedger(Part[MemoryLedger]):
    """A ledger that is open, for asyncio. Use it with `async with`, or await its `close`.

    Each verb is that of `MemoryLedger`, made in one of a few threads: the event loop goes on
    meanwhile. A task that is cancelled before its call began has done nothing; a call that began
    goes on to its end, so that nothing is ever half done. Functions that are given (progress, a
    tokeniser) are called in that thread. Several tasks and several loops may use one ledger.
    """

    record_turn = awaited(MemoryLedger.record_turn)
    record_turns = awaited(MemoryLedger.record_turns)
    process = awaited(MemoryLedger.process)
    remember = awaited(MemoryLedger.remember)
    store = awaited(MemoryLedger.store)
    store_many = awaited(MemoryLedger.store_many)
    beliefs = awaited(MemoryLedger.beliefs)
    as_of = awaited(MemoryLedger.as_of)
    history = awaited(MemoryLedger.history)
    decisions = awaited(MemoryLedger.decisions)
    decision = awaited(MemoryLedger.decision)
    explain = awaited(MemoryLedger.explain)
    turn = awaited(MemoryLedger.turn)
    diff = awaited(MemoryLedger.diff)
    why_not = awaited(MemoryLedger.why_not)
    subjects = awaited(MemoryLedger.subjects)
    export = awaited(MemoryLedger.export)
    related = awaited(MemoryLedger.related)
    events = awaited(MemoryLedger.events)
    typed = awaited(MemoryLedger.typed)
    search = awaited(MemoryLedger.search)
    context = awaited(MemoryLedger.context)
    revoke = awaited(MemoryLedger.revoke)
    erase = awaited(MemoryLedger.erase)
    status = awaited(MemoryLedger.status)
    name_of = awaited(MemoryLedger.name_of)
    actor_name = awaited(MemoryLedger.actor_name)

    def __init__(self, memory: MemoryLedger, calls: Calls) -> None:
        super().__init__(memory, calls)
        self.place = memory.place
        self.made_key_file = memory.made_key_file
        self.erasure = AsyncErasures(memory.erasure, calls)
        self.consent = AsyncConsent(memory.consent, calls)
        self.conflicts = AsyncConflicts(memory.conflicts, calls)
        self.entities = AsyncEntities(memory.entities, calls)
        self.types = AsyncTypes(memory.types, calls)
        self.policy = AsyncPolicyInForce(memory.policy, calls)
        self.recalls = AsyncRecalls(memory.recalls, calls)
        self.vectors = AsyncVectors(memory.vectors, calls)
        self.exports = AsyncExports(memory.exports, calls)
        self.proofs = AsyncProofs(memory.proofs, calls)
        self.audit = AsyncAudit(memory.audit, calls)
        self.operations = AsyncOperations(memory.operations, calls)
        self.tokens = AsyncTokens(memory.tokens, calls)
        self._growth = Growth(memory.wait)
        self._streams: WeakSet[Stream] = WeakSet()

    def subscribe(
        self,
        after: int = 0,
        *,
        types: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        follow: bool = True,
    ) -> AsyncSubscription:
        """Decoded events past a position, for `async for`: first those that are there, then those
        that come. See `MemoryLedger.subscribe`."""
        made = self._part.subscribe(after, types=types, subjects=subjects, follow=follow)
        stream = AsyncSubscription(made, self._calls, self._growth)
        self._streams.add(stream)
        return stream

    def consumer(
        self,
        name: str,
        types: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        *,
        lease_seconds: float = LEASE_SECONDS,
        follow: bool = True,
    ) -> AsyncConsumer:
        """As `subscribe`, from a cursor that is kept under a name: each event is delivered at least
        once, until it is acknowledged with `ack`. See `MemoryLedger.consumer`."""
        made = self._part.consumer(
            name, types, subjects, lease_seconds=lease_seconds, follow=follow
        )
        stream = AsyncConsumer(made, self._calls, self._growth)
        self._streams.add(stream)
        return stream

    async def close(self) -> None:
        """End what is followed, wait for calls that were begun, and let go of files and
        connections. Closing again does nothing."""
        if self._calls.closed:
            return
        for stream in list(self._streams):
            with suppress(LedgerError):
                await stream.close()
        await self._calls.close(self._let_go)

    def _let_go(self) -> None:
        self._growth.close()
        self._part.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()
