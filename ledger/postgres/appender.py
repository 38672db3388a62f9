"""Appending in Postgres: one round trip to the function of that name, for one append or a group.

What became of an append whose reply was lost is found out by the ids of its events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import psycopg

from beliefledger.ledger.backoff import delays
from beliefledger.ledger.errors import (
    AppendUncertain,
    BackendUnavailable,
    ClockAhead,
    ClockWentBack,
    EventIdReused,
    LedgerError,
    LogCorrupted,
    VersionConflict,
)
from beliefledger.ledger.group_commit import AppendRequest, GroupCommit, Take, appended_before
from beliefledger.ledger.postgres import arrays
from beliefledger.ledger.postgres.arrays import Blobs, Ints, Texts
from beliefledger.ledger.postgres.server import Connection, Server, is_lost
from beliefledger.ledger.postgres.turns import Turns
from beliefledger.ledger.store import (
    CLOCK_AHEAD,
    CLOCK_TOLERANCE,
    ERASURE_TYPES,
    Appended,
    ErasedMeanwhile,
    Sealed,
)
from beliefledger.ledger.times import SECOND, Micros, system_clock

SETTLE_SECONDS = 30.0
"""How long an append whose reply was lost is looked for before it is given up as uncertain."""


class PostgresAppender:
    """Appends for one tenant, what threads append at the same time in one transaction.

    `ask` gives the rows of a question, `heard` is told the head's count of erasures, `step` is
    called around each step with its name, and `wake` once something was committed.
    """

    def __init__(
        self,
        server: Server,
        turns: Turns,
        *,
        ask: Callable[[str, Sequence[object]], list[Any]],
        heard: Callable[[int], None],
        step: Callable[[str], None],
        wake: Callable[[], None],
        settle_seconds: float,
    ) -> None:
        self._server = server
        self._turns = turns
        self._ask = ask
        self._heard = heard
        self._step = step
        self._wake = wake
        self._settle_seconds = settle_seconds
        self._schema = server.url.schema
        marks = ", ".join(["%s"] * 17)
        self.statement = f"SELECT * FROM {self._schema}.append({marks})"
        self.commits = GroupCommit(self._commit_group)

    def append(self, request: AppendRequest) -> Appended:
        """See `ledger.store.EventStore.append`."""
        return self.commits.append(request)

    def append_opaque(self, events: Sequence[Opaque]) -> int:
        """Append events whose versions the caller gives and whose content is none of ours; returns
        the position of the first. Raises `AppendRefused` where they cannot be appended.

        Not tried again when the reply is lost: that would find its own events and call them a
        conflict. The caller is told that nobody knows.
        """
        values = (
            self._server.url.tenant,
            system_clock(),
            CLOCK_TOLERANCE,
            CLOCK_AHEAD,
            self._turns.patience,
            None,
            0,
            Texts([]),
            Ints([]),
            Texts([event.stream for event in events]),
            Ints([event.version for event in events]),
            Texts([event.type for event in events]),
            Texts([event.event_id for event in events]),
            Texts([None] * len(events)),
            Blobs([event.content for event in events]),
            Blobs([None] * len(events)),
            Blobs([None] * len(events)),
        )
        with self._server.connection() as connection:
            arrays.prepare(connection)
            try:
                [row] = self._turns.take(
                    connection,
                    lambda: connection.execute(self.statement, values, binary=True).fetchall(),
                )
            except psycopg.Error as problem:
                if is_lost(problem):
                    raise AppendUncertain(f"{self._server}: {problem}") from problem
                raise
        answer = _Answer(*row)
        if answer.status != "ok":
            raise AppendRefused(answer.status)
        self._wake()
        return answer.first

    def _commit_group(self, take: Take) -> None:
        lost: psycopg.Error | None = None
        answers: list[_Answer] | None = None
        with self._server.connection() as connection:
            group: dict[AppendRequest, Sequence[object]] = {}

            def attempt() -> list[_Answer]:
                nonlocal group
                group = self._sendable(group or take())
                return self.send(connection, list(group.values())) if group else []

            try:
                answers = self._turns.take(connection, attempt)
            except psycopg.Error as problem:
                if is_lost(problem) or connection.closed:
                    lost = problem
                elif len(group) == 1:
                    raise  # rolled back as a whole, so nothing was written
        if answers is not None:
            for request, answer in zip(group, answers, strict=True):
                request.outcome = self._told(request, answer)
        else:
            # One of them has failed all, or nobody knows: each is offered again by itself.
            until = time.monotonic() + self._settle_seconds
            for request in group:
                request.outcome = self._settle(request, lost, until)
        self._wake()

    def _sendable(self, requests: Iterable[AppendRequest]) -> dict[AppendRequest, Sequence[object]]:
        """The values to send for each request. A request that cannot be sent gets its error,
        alone."""
        sendable = {}
        for request in requests:
            try:
                sendable[request] = self.values(request)
            except Exception as problem:  # noqa: BLE001  told to this one, as it is of its making
                request.outcome = problem
        return sendable

    def send(self, connection: Connection, group: Sequence[Sequence[object]]) -> list[_Answer]:
        """Append all of a group in one transaction and one round trip."""
        arrays.prepare(connection)
        self._step("send")
        if len(group) == 1:
            cursors = [connection.execute(self.statement, group[0], binary=True)]
        else:
            with connection.pipeline(), connection.transaction():
                cursors = [connection.execute(self.statement, each, binary=True) for each in group]
        self._step("committed")
        return [_Answer(*cursor.fetchall()[0]) for cursor in cursors]

    def _told(self, request: AppendRequest, answer: _Answer) -> Appended | Exception:
        """Like `_outcome`. An error while finding out why a request was refused goes to that
        request alone."""
        try:
            return self._outcome(request, answer)
        except LedgerError as problem:
            return problem

    def _outcome(self, request: AppendRequest, answer: _Answer) -> Appended | Exception:
        self._heard(answer.erasures)
        match answer.status:
            case "ok":
                last = answer.first + len(request.batch) - 1
                return Appended(answer.first, last, answer.at)
            case "clock":
                behind = (answer.at - request.clock()) // SECOND
                return ClockWentBack(f"The clock is {behind} seconds behind the last event.")
            case "ahead":
                ahead = (request.clock() - answer.at) // SECOND
                return ClockAhead(f"The clock is {ahead} seconds ahead of {self._server}.")
            case "erased":
                return ErasedMeanwhile()
            case "version":
                return LogCorrupted(f"{self._server}: version is not the next one of its stream.")
            case "known":
                return self._appended_before(request.batch) or EventIdReused()
        stream = list(request.expect)[answer.which - 1]
        return self._appended_before(request.batch) or VersionConflict(
            stream, request.expect[stream], answer.actual
        )

    def _settle(
        self, request: AppendRequest, lost: Exception | None, until: float
    ) -> Appended | Exception:
        """Find out what became of an append that was lost on the way, or failed with others.

        Its events are looked for by their ids. If they are not there the first attempt may still be
        under way, so the very same events are offered again, under the same ids: whichever comes
        second is refused by the ids and versions, and is found to be there already.
        """
        for delay in delays():
            try:
                there = self._appended_before(request.batch) if lost else None
                outcome = there or self._offer(request)
            except LedgerError as problem:
                was_lost = isinstance(problem, BackendUnavailable) and is_lost(problem.__cause__)
                if lost is None and not was_lost:
                    return problem
                lost = problem
                if not isinstance(problem, BackendUnavailable):
                    break  # it will not be answered, and the first attempt still is unknown
            else:
                if lost and isinstance(outcome, Appended):
                    return replace(outcome, already=False)
                return outcome
            if time.monotonic() + delay > until:
                break
            time.sleep(delay)
        ids = ", ".join(sealed.address.event_id for sealed in request.batch[:3])
        uncertain = AppendUncertain(f"{self._server} did not say whether it has events {ids} ….")
        uncertain.__cause__ = lost
        return uncertain

    def _offer(self, request: AppendRequest) -> Appended | Exception:
        with self._server.connection() as connection:
            [answer] = self._turns.take(
                connection, lambda: self.send(connection, [self.values(request)])
            )
        return self._outcome(request, answer)

    def _appended_before(self, batch: Sequence[Sealed]) -> Appended | Exception | None:
        """Where this very batch lies already, or None, or why its ids cannot be used."""
        rows = self._ask(
            f"SELECT event_id, position, recorded_at, envelope FROM {self._schema}.history"
            " WHERE event_id = ANY (%s)",
            ([sealed.address.event_id for sealed in batch],),
        )
        return appended_before(batch, {row[0]: row[1:] for row in rows})

    def values(self, request: AppendRequest) -> Sequence[object]:
        batch = request.batch
        addresses = [sealed.address for sealed in batch]
        return (
            self._server.url.tenant,
            request.clock(),
            CLOCK_TOLERANCE,
            # A clock that was put in the place of the machine's may tell whatever time it likes.
            CLOCK_AHEAD if request.clock is system_clock else None,
            self._turns.patience,
            request.erasures,
            sum(at.type in ERASURE_TYPES for at in addresses),
            Texts(list(request.expect)),
            Ints(list(request.expect.values())),
            Texts([at.stream for at in addresses]),
            Ints([at.version for at in addresses]),
            Texts([at.type for at in addresses]),
            Texts([at.event_id for at in addresses]),
            Texts([at.subject_ref for at in addresses]),
            Blobs([sealed.head for sealed in batch]),
            Blobs([sealed.tail for sealed in batch]),
            Blobs([sealed.body for sealed in batch]),
        )


class Opaque(NamedTuple):
    """An event of which only the address is known."""

    stream: str
    version: int
    type: str
    event_id: str
    content: bytes


class AppendRefused(Exception):
    """Opaque events could not be appended. The message is the status that Postgres answered."""


class _Answer(NamedTuple):
    """The row that the SQL function `append` returns: see `migrations`."""

    status: str
    first: int
    at: Micros
    erasures: int
    which: int
    actual: int
