"""A streaming standby of a Postgres: what it has of the log."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.ledger.postgres.server import Server
from beliefledger.ledger.replica import Seen
from beliefledger.ledger.store import Row

_SECONDS = 1.0
"""How long a connection to it is waited for: the primary answers while it is not there."""


class Standby:
    """The standby that the URL of `primary` names. It acts in the same role, for the same tenant.

    Safe to use from several threads. Nothing is connected before it is asked.
    """

    def __init__(self, primary: Server) -> None:
        self.server = Server(primary.url.of_replica(), patience=_SECONDS)
        self.server.act_as(primary.acts_as)
        self.name = str(self.server)
        self._primary = primary
        schema = primary.url.schema
        self._head = f"SELECT position, erasures, pg_is_in_recovery() FROM {schema}.head"
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

    def look(self) -> Seen:
        return Seen(*self.server.ask_plain(self._head)[0])

    def rows_at(self, positions: Sequence[int]) -> list[Row]:
        return [Row(*row) for row in self.server.ask(self._rows, (list(positions),))]

    def has_same(self, position: int) -> bool:
        here = self.server.ask_plain(self._event_id, (position,))
        return bool(here == self._primary.ask_plain(self._event_id, (position,)))

    def recorded_before(self, seconds: float) -> int:
        [(position,)] = self._primary.ask_plain(self._before, (int(seconds * 1_000_000),))
        return abs(int(position))  # below 0 where one is missing: reading it says so

    def close(self) -> None:
        self.server.close()
