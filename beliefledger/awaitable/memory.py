"""The front door, awaitable: the verbs and parts of `MemoryLedger`, under the same names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from beliefledger.awaitable.calls import Calls, Part, awaited
from beliefledger.awaitable.growth import Growth
from beliefledger.awaitable.streams import AsyncConsumer, AsyncSubscription, Stream
from beliefledger.ledger.closeable import AsyncCloseable
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.made_once import made_once
from beliefledger.memory import MemoryLedger

# ruff: noqa: PLC0415  a part is imported when it is first asked for, as in `beliefledger/parts.py`
if TYPE_CHECKING:
    from beliefledger.awaitable.exports import AsyncExports, AsyncPersonExport
    from beliefledger.awaitable.parts import (
        AsyncAudit,
        AsyncConflicts,
        AsyncConsent,
        AsyncEntities,
        AsyncErasures,
        AsyncOperations,
        AsyncPolicyInForce,
        AsyncProofs,
        AsyncRecalls,
        AsyncTasks,
        AsyncTeams,
        AsyncTokens,
        AsyncTypes,
        AsyncVectors,
        AsyncWebhooks,
    )


class AsyncMemoryLedger(Part[MemoryLedger], AsyncCloseable):
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
    update = awaited(MemoryLedger.update)
    correct = awaited(MemoryLedger.correct)
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
        self._growth = Growth(memory.wait)
        self._streams: WeakSet[Stream] = WeakSet()

    @made_once
    def erasure(self) -> AsyncErasures:
        """What would be erased, legal holds, certificates, and who was erased."""
        from beliefledger.awaitable.parts import AsyncErasures

        return AsyncErasures(self._part.erasure, self._calls)

    @made_once
    def consent(self) -> AsyncConsent:
        """The lawful bases that memories stand on."""
        from beliefledger.awaitable.parts import AsyncConsent

        return AsyncConsent(self._part.consent, self._calls)

    @made_once
    def conflicts(self) -> AsyncConflicts:
        """What contradicts itself or waits for a person, and settling it."""
        from beliefledger.awaitable.parts import AsyncConflicts

        return AsyncConflicts(self._part.conflicts, self._calls)

    @made_once
    def entities(self) -> AsyncEntities:
        """Whom and what a subject speaks of."""
        from beliefledger.awaitable.parts import AsyncEntities

        return AsyncEntities(self._part.entities, self._calls)

    @made_once
    def teams(self) -> AsyncTeams:
        """Who is in which team, and so may see what is visible to it."""
        from beliefledger.awaitable.parts import AsyncTeams

        return AsyncTeams(self._part.teams, self._calls)

    @made_once
    def types(self) -> AsyncTypes:
        """The types of memory."""
        from beliefledger.awaitable.parts import AsyncTypes

        return AsyncTypes(self._part.types, self._calls)

    @made_once
    def policy(self) -> AsyncPolicyInForce:
        """What is decided by."""
        from beliefledger.awaitable.parts import AsyncPolicyInForce

        return AsyncPolicyInForce(self._part.policy, self._calls)

    @made_once
    def recalls(self) -> AsyncRecalls:
        """What was searched for and shown."""
        from beliefledger.awaitable.parts import AsyncRecalls

        return AsyncRecalls(self._part.recalls, self._calls)

    @made_once
    def vectors(self) -> AsyncVectors:
        """What search compares meanings with."""
        from beliefledger.awaitable.parts import AsyncVectors

        return AsyncVectors(self._part.vectors, self._calls)

    @made_once
    def tokens(self) -> AsyncTokens:
        """Who may use a server's doors, as whom, for whom and for what."""
        from beliefledger.awaitable.parts import AsyncTokens

        return AsyncTokens(self._part.tokens, self._calls)

    @made_once
    def webhooks(self) -> AsyncWebhooks:
        """Who is told of events at an address of theirs, and what did not arrive."""
        from beliefledger.awaitable.parts import AsyncWebhooks

        return AsyncWebhooks(self._part.webhooks, self._calls)

    @made_once
    def tasks(self) -> AsyncTasks:
        """What agents asked the ledger to do."""
        from beliefledger.awaitable.parts import AsyncTasks

        return AsyncTasks(self._part.tasks, self._calls)

    @made_once
    def exports(self) -> AsyncExports:
        """What is handed out of the ledger, on record, and taken in from another one."""
        from beliefledger.awaitable.exports import AsyncExports

        return AsyncExports(self._part.exports, self._calls)

    @made_once
    def proofs(self) -> AsyncProofs:
        """Checkpoints, proofs and verification of the log."""
        from beliefledger.awaitable.parts import AsyncProofs

        return AsyncProofs(self._part.proofs, self._calls)

    @made_once
    def audit(self) -> AsyncAudit:
        """What an auditor asks: replay, counts, calibration, checklists."""
        from beliefledger.awaitable.parts import AsyncAudit

        return AsyncAudit(self._part.audit, self._calls)

    @made_once
    def operations(self) -> AsyncOperations:
        """What an operator does: rebuild, jobs, ageing, consolidation, extraction."""
        from beliefledger.awaitable.parts import AsyncOperations

        return AsyncOperations(self._part.operations, self._calls)

    async def export(
        self,
        subject: str,
        *,
        by: str,
        note: str | None = None,
        withholding: Sequence[str] = (),
    ) -> AsyncPersonExport:
        """Everything held about one person, to answer their request for access: as JSON, as a page,
        or to a file with `await export.write(…)`. See `MemoryLedger.export`."""
        return await self.exports.person(subject, by=by, note=note, withholding=withholding)

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
