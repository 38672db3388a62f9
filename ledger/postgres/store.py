"""History and bodies in Postgres: the server store.

It stands on eventsourcing's Postgres datastore and implements its `ApplicationRecorder`; the ledger
uses the richer `append`, one round trip to the function of that name, which works under the head
row's lock.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    IntegrityError,
    Notification,
    StoredEvent,
)
from eventsourcing.postgres import PostgresApplicationRecorder
from psycopg.sql import SQL, Identifier

from beliefledger.ledger import envelope
from beliefledger.ledger.errors import (
    CopyUnfinished,
    LogCorrupted,
)
from beliefledger.ledger.fence import Fence
from beliefledger.ledger.group_commit import AppendRequest
from beliefledger.ledger.postgres.appender import (
    SETTLE_SECONDS,
    AppendRefused,
    Opaque,
    PostgresAppender,
)
from beliefledger.ledger.postgres.cursors import PostgresCursors
from beliefledger.ledger.postgres.fence import put_up, take_down
from beliefledger.ledger.postgres.schema import channel, owner_role
from beliefledger.ledger.postgres.server import Connection, Server
from beliefledger.ledger.postgres.turns import Turns
from beliefledger.ledger.postgres.waker import Waker
from beliefledger.ledger.postgres.woken_subscription import WokenSubscription
from beliefledger.ledger.store import (
    ERASURE_TYPES,
    FILED,
    RARE_LISTED,
    RARE_TYPES,
    Activity,
    Appended,
    Cursors,
    Head,
    Row,
    Sealed,
)
from beliefledger.ledger.streams import stream_of
from beliefledger.ledger.times import Clock, Micros
from beliefledger.ledger.unfinished import ReadOnlyCursors

_EVERYTHING = 2**62
_HISTORY_TYPES = ["int8", "text", "int8", "text", "text", "text", "text", "int8", "bytea"]
_DAMAGE = [
    (
        "SELECT min(position) FROM (SELECT *, convert_from(envelope, 'UTF8')::jsonb AS said"
        " FROM {schema}.history) AS h WHERE (said->>'event_id', said->>'stream', said->>'type',"
        " said->>'tenant', said->>'subject_ref', (said->>'version')::bigint,"
        " (said->>'recorded_at')::bigint) IS DISTINCT FROM"
        " (event_id, stream, type, tenant, subject_ref, version, recorded_at)",
        "it is filed under something else than its envelope says",
    ),
    (
        "SELECT min(position) FROM {schema}.bodies b WHERE NOT EXISTS"
        " (SELECT FROM {schema}.history h WHERE h.position = b.position)",
        "there is a body and no event",
    ),
]


class PostgresEventStore(PostgresApplicationRecorder):
    """History and bodies of one tenant. See `ledger.store.EventStore` for the guarantees.

    The schema has to be there (`ledger.postgres.schema`).
    """

    step: Callable[[str], None] = staticmethod(lambda _: None)
    """Called around each step of a write with its name: where tests let it fail."""

    def __init__(self, server: Server, *, settle_seconds: float = SETTLE_SECONDS) -> None:
        super().__init__(server, events_table_name="history")
        self.server = server
        self.cursors: Cursors = PostgresCursors(server)
        self._read_only: str | None = None
        self.erasures = 0
        self._hearing = threading.Lock()
        self.channel_name = channel(server.url.schema)
        self._waker = Waker(server, self.channel_name)
        schema = server.url.schema
        self._turns = Turns(server)
        self._appender = PostgresAppender(
            server, self._turns, ask=self._ask, heard=self._heard, wake=self._waker.wake,
            step=self._told_step, settle_seconds=settle_seconds,
        )  # fmt: skip
        self._head = f"SELECT position, recorded_at, erasures FROM {schema}.head"
        self._row = (
            "SELECT h.position, h.envelope, b.body, h.type"
            f" FROM {schema}.history h LEFT JOIN {schema}.bodies b ON b.position = h.position"
        )
        self._history = f"{schema}.history"
        self._schema = schema

    def _told_step(self, name: str) -> None:
        self.step(name)

    # Writing

    def append(
        self,
        batch: Sequence[Sealed],
        expect: Mapping[str, int],
        clock: Clock,
        erasures: int | None = None,
    ) -> Appended:
        self._check_writable()
        self.server.check_process()
        return self._appender.append(AppendRequest(batch, expect, clock, erasures))

    def _heard(self, erasures: int) -> None:
        with self._hearing:
            self.erasures = max(self.erasures, erasures)

    def clock_warnings(self) -> list[str]:
        """None: the server has a clock of its own."""
        return []

    def unfinished(self) -> str | None:
        [(note,)] = self.server.ask_plain(
            "SELECT obj_description(to_regclass(%s), 'pg_class')", (f"{self._schema}.head",)
        )
        return None if note is None else str(note)

    def note_unfinished(self, note: str | None) -> None:
        """As a comment on the head, which takes part in the transaction and goes along with a dump.
        Needs the owner's rights."""
        self._check_writable()
        with self.server.connection() as connection, connection.transaction():
            connection.execute(
                "SELECT set_config('role', %s, true), set_config('synchronous_commit', 'on', true)",
                (owner_role(self._schema),),
            )
            head = SQL("COMMENT ON TABLE {} IS {}").format(Identifier(self._schema, "head"), note)
            connection.execute(head)

    def put_up_fence(self, fence: Fence) -> None:
        """Needs the owner's rights."""
        self._check_writable()
        put_up(self.server, fence)

    def take_down_fence(self) -> None:
        """Needs the owner's rights."""
        take_down(self.server)

    def only_read(self, why: str) -> None:
        self._read_only = why
        self.cursors = ReadOnlyCursors(self.cursors, why)

    def _check_writable(self) -> None:
        if self._read_only is not None:
            raise CopyUnfinished(self._read_only)

    def load(self, rows: Sequence[Row]) -> None:
        """Needs the owner's rights."""
        self._check_writable()
        schema = self._schema
        fields = [envelope.read(row.envelope, row.position) for row in rows]
        owner = owner_role(schema)
        with self.server.connection() as connection, connection.transaction():
            connection.execute(
                "SELECT set_config('role', %s, true), set_config('synchronous_commit', 'on', true)",
                (owner,),
            )
            [(last,)] = connection.execute(f"SELECT position FROM {schema}.head FOR UPDATE")
            if rows and rows[0].position != last + 1:
                raise LogCorrupted(f"{self.server} ends at {last}: it cannot go on from there.")
            with connection.cursor().copy(
                f"COPY {schema}.history FROM STDIN (FORMAT BINARY)"
            ) as copied:
                copied.set_types(_HISTORY_TYPES)
                for row, its in zip(rows, fields, strict=True):
                    filed = [its[name] for name in FILED]
                    copied.write_row((row.position, *filed, its["recorded_at"], row.envelope))
            with connection.cursor().copy(
                f"COPY {schema}.bodies FROM STDIN (FORMAT BINARY)"
            ) as copied:
                copied.set_types(["int8", "text", "bytea"])
                for row, its in zip(rows, fields, strict=True):
                    if row.body is not None:
                        copied.write_row((row.position, its["tenant"], row.body))
            if rows:
                connection.execute(
                    f"UPDATE {schema}.head SET position = %s, recorded_at = %s,"
                    " erasures = erasures + %s",
                    (
                        rows[-1].position,
                        fields[-1]["recorded_at"],
                        sum(its["type"] in ERASURE_TYPES for its in fields),
                    ),
                )
        self._waker.wake()

    def delete_bodies(self, subject_ref: str) -> int:
        return self._deleted("delete_bodies", subject_ref)

    def delete_bodies_of(self, event_ids: Sequence[str]) -> int:
        return self._deleted("delete_bodies_of", list(event_ids))

    def _deleted(self, function: str, what: object) -> int:
        self._check_writable()
        statement = f"SELECT {self._schema}.{function}(%s, %s, %s)"
        values = (self.server.url.tenant, what, self._turns.patience)

        def delete(connection: Connection) -> list[Any]:
            return self._turns.take(
                connection,
                lambda: connection.execute(statement, values, binary=True).fetchall(),
            )

        [(deleted,)] = self.server.again(delete)
        return int(deleted)

    # Reading

    def _ask(self, statement: str, values: Sequence[object]) -> list[Any]:
        """The rows of a question; what the head says of erasures comes along, unless asked last."""
        rows, [(erasures,)] = self.server.ask_all(
            (statement, values), (f"SELECT erasures FROM {self._schema}.head", ())
        )
        self._heard(erasures)
        return rows

    def _rows(self, condition: str, values: Sequence[object]) -> list[Row]:
        return [Row(*row) for row in self._ask(f"{self._row} {condition}", values)]

    def head(self) -> Head:
        head = Head(*self.server.ask_plain(self._head)[0])
        self._heard(head.erasures)
        return head

    def read(
        self, after: int, limit: int, upto: int | None = None, *, desc: bool = False
    ) -> list[Row]:
        upto = _EVERYTHING if upto is None else upto
        return self._rows(
            # The range is repeated, or the planner would read all bodies.
            "AND b.position > %s AND b.position <= %s WHERE h.position > %s AND h.position <= %s"
            f" ORDER BY h.position {'DESC' if desc else 'ASC'} LIMIT %s",
            (after, upto, after, upto, limit),
        )

    def read_at(self, positions: Sequence[int]) -> list[Row]:
        if not positions:
            return []
        return self._rows("WHERE h.position = ANY (%s) ORDER BY 1", (list(positions),))

    def read_stream(self, stream: str, after: int = 0, upto: int | None = None) -> list[Row]:
        return self._rows(
            "WHERE h.stream = %s AND h.version > %s AND h.version <= %s ORDER BY h.version",
            (stream, after, _EVERYTHING if upto is None else upto),
        )

    def read_streams(self, streams: Sequence[str]) -> list[Row]:
        return self._rows("WHERE h.stream = ANY (%s) ORDER BY h.position", (list(streams),))

    def read_subject(
        self, subject_ref: str, after: int, limit: int, upto: int | None = None
    ) -> list[Row]:
        upto = _EVERYTHING if upto is None else upto
        return self._rows(
            "WHERE h.subject_ref = %s AND h.position > %s AND h.position <= %s"
            " ORDER BY h.position LIMIT %s",
            (subject_ref, after, upto, limit),
        )

    def positions_of(self, event_ids: Sequence[str]) -> dict[str, int]:
        return dict(
            self._ask(
                f"SELECT event_id, position FROM {self._history} WHERE event_id = ANY (%s)",
                (list(event_ids),),
            )
        )

    def activity(self, subject_refs: Sequence[str]) -> dict[str, Activity]:
        rows = self._ask(
            f"SELECT subject_ref, count(*), min(position), max(position) FROM {self._history}"
            " WHERE subject_ref = ANY (%s) GROUP BY subject_ref",
            (list(subject_refs),),
        )
        return {row[0]: Activity(*row[1:]) for row in rows}

    def find(self, event_id: str) -> Row | None:
        rows = self._rows("WHERE h.event_id = %s", (event_id,))
        return rows[0] if rows else None

    def versions(self, streams: Sequence[str]) -> dict[str, int]:
        found = dict.fromkeys(streams, 0)
        if streams:
            found.update(
                self._ask(
                    f"SELECT stream, max(version) FROM {self._history} WHERE stream = ANY (%s)"
                    " GROUP BY stream",
                    (list(streams),),
                )
            )
        return found

    def of_types(
        self, types: Sequence[str], subject_ref: str | None = None, after: int = 0
    ) -> list[Row]:
        rare = f" AND h.type IN {RARE_LISTED}" if set(types) <= set(RARE_TYPES) else ""
        mine = "" if subject_ref is None else " AND h.subject_ref = %s"
        return self._rows(
            f"WHERE h.type = ANY (%s){rare}{mine} AND h.position > %s ORDER BY h.position",
            (list(types), *([] if subject_ref is None else [subject_ref]), after),
        )

    def position_at(self, moment: Micros) -> int:
        [(position,)] = self.server.ask_plain(
            f"SELECT {self._schema}.position_at(%s)", (max(moment, 0),)
        )
        if position < 0:
            raise LogCorrupted(f"{self.server}: position {-position} is missing.")
        return int(position)

    def first_missing(self, after: int, upto: int) -> int | None:
        [(position,)] = self.server.ask_plain(
            f"SELECT {self._schema}.first_missing(%s, %s)", (after, upto)
        )
        return None if position is None else int(position)

    def leaf_hashes(self, after: int, upto: int) -> list[bytes]:
        [(joined,)] = self.server.ask_plain(
            f"SELECT {self._schema}.leaf_hashes(%s, %s)", (after, upto)
        )
        if len(joined) != max(upto - after, 0) * 32:
            missing = self.first_missing(after, upto)
            raise LogCorrupted(f"{self.server}: position {missing} is missing.")
        return [joined[at : at + 32] for at in range(0, len(joined), 32)]

    def event_id_at(self, position: int) -> str | None:
        [(event_id,)] = self.server.ask_plain(f"SELECT {self._schema}.event_id_at(%s)", (position,))
        return None if event_id is None else str(event_id)

    def damage(self) -> tuple[int | None, str] | None:
        for statement, problem in _DAMAGE:
            [(at,)] = self.server.ask(statement.format(schema=self._schema))
            if at is not None:
                return at, problem
        return None

    def flush_wal(self) -> None:
        """Nothing: the server does it by itself."""

    def wait(self, position: int, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            woken = self._waker.woken
            if self.head().position > position:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._waker.wait(woken, left)

    def close(self) -> None:
        self._waker.close()
        self.server.close()

    # eventsourcing's recorder port

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> Sequence[int] | None:
        """Append events whose state is opaque and whose versions the caller gives."""
        events = [
            Opaque(
                stream_of(event.originator_id),
                event.originator_version,
                event.topic,
                os.urandom(16).hex(),
                event.state,
            )
            for event in stored_events
        ]
        try:
            first = self._appender.append_opaque(events)
        except AppendRefused as problem:
            raise IntegrityError(f"refused: {problem}") from problem
        return list(range(first, first + len(events)))

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        rows = self._ask(
            f"SELECT stream, version, type, envelope FROM {self._history}"
            " WHERE stream = %s AND version > %s AND version <= %s"
            f" ORDER BY version {'DESC' if desc else 'ASC'} LIMIT %s",
            (
                stream_of(originator_id),
                -1 if gt is None else gt,
                _EVERYTHING if lte is None else lte,
                limit,
            ),
        )
        return [
            StoredEvent(UUID(stream), version, topic, state)
            for stream, version, topic, state in rows
        ]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        only = "AND type = ANY (%s)" if topics else ""
        rows = self._ask(
            f"SELECT position, stream, version, type, envelope FROM {self._history}"
            f" WHERE position >= %s AND position <= %s {only} ORDER BY position LIMIT %s",
            (
                (start or 0) + (0 if inclusive_of_start else 1),
                _EVERYTHING if stop is None else stop,
                *([list(topics)] if topics else []),
                limit,
            ),
        )
        return [
            Notification(UUID(stream), version, topic, state, position)
            for position, stream, version, topic, state in rows
        ]

    def max_notification_id(self) -> int | None:
        return self.head().position or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> WokenSubscription:
        return WokenSubscription(self, self._waker, gt, topics)
