"""A streaming standby of a Postgres: what it has of the log."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from beliefledger.ledger.postgres.server import Connection, Server
from beliefledger.ledger.replica import Seen
from beliefledger.ledger.store import Row

_SECONDS = 1.0
"""How long a connection to it is waited for: the primary answers while it is not there."""


class Standby:
    """The standby that the URL of `primary` names. It acts in the same role, for the same tenant.

    Safe to use from several threads. Nothing is connected before it is asked.
    """

    def __init__(self, primary: Server) -> None:
        self._primary = primary
        self._renewing = threading.Lock()
        self.server = self._new()
        self.name = str(self.server)
        schema = primary.url.schema
        self.head = f"SELECT position, erasures, pg_is_in_recovery() FROM {schema}.head"
        self._rows = (
            f"SELECT h.position, h.envelope, b.body, h.type FROM {schema}.history h"
            f" LEFT JOIN {schema}.bodies b ON b.position = h.position"
            " WHERE h.position = ANY (%s) ORDER BY 1"
        )
        self._event_id = f"SELECT {schema}.event_id_at(%s)"
        self._before = (
            f"SELECT {schema}.position_at("
            "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint - %s)"
        )
        self._age = (
            "SELECT extract(epoch FROM clock_timestamp())::float8 - h.recorded_at / 1e6"
            f" FROM {schema}.history h WHERE h.position > %s ORDER BY h.position LIMIT 1"
        )

    def _new(self) -> Server:
        server = Server(self._primary.url.of_replica(), patience=_SECONDS)
        server.act_as(self._primary.acts_as)
        return server

    def connect(self) -> Connection:
        """A connection of one's own, as for the views' pool."""
        return self.server.connect()

    def renew(self) -> None:
        """Begin anew: a pool that has lost its server tries again more and more seldom."""
        with self._renewing:
            lost, self.server = self.server, self._new()
        lost.close()

    def look(self) -> Seen:
        return Seen(*self.server.ask_plain(self.head)[0])

    def rows_at(self, positions: Sequence[int]) -> tuple[Seen, list[Row]]:
        # Its head first: what is read after that is no older.
        [head], rows = self.server.ask_all((self.head, ()), (self._rows, (list(positions),)))
        return Seen(*head), [Row(*row) for row in rows]

    def has_same(self, position: int) -> bool:
        here = self.server.ask_plain(self._event_id, (position,))
        return bool(here == self._primary.ask_plain(self._event_id, (position,)))

    def recorded_before(self, seconds: float) -> int:
        [(position,)] = self._primary.ask_plain(self._before, (int(seconds * 1_000_000),))
        return abs(int(position))  # below 0 where one is missing: reading it says so

    def seconds_behind(self, position: int) -> float:
        found = self._primary.ask_plain(self._age, (position,))
        return max(float(found[0][0]), 0.0) if found else 0.0

    def close(self) -> None:
        self.server.close()
