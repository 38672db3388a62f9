"""How far each named consumer of a tenant is, in the Postgres of the log.

A row without a holder was released or restored: no epoch of it is in force until the next claim.
Leases run by the server's clock. Every statement may be run again when its reply was lost: a claim
is then found by its holder, with an epoch that is higher once more.
"""

from __future__ import annotations

from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.postgres.server import Server
from beliefledger.ledger.store import Cursor, check_claim

# A claim or an acknowledgement that a crash of the server took back would undo the fencing.
_DURABLY = (
    "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')"
    " THEN set_config('synchronous_commit', 'on', true) END"
)
_UNTIL = "clock_timestamp() + make_interval(secs => %s)"


class PostgresCursors:
    """See `ledger.store.Cursors` for the guarantees."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._tenant = server.url.tenant
        self._table = f"{server.url.schema}.consumers"
        self._head = f"{server.url.schema}.head"

    def claim(self, name: str, holder: str, seconds: float) -> Cursor | None:
        check_claim(name)
        # What another is seen to hold is not even tried: that would lock the row.
        rows = self._server.ask(
            f"INSERT INTO {self._table} AS mine"
            f" SELECT %s, %s, 0, 1, %s, {_UNTIL}, (SELECT position FROM {self._head})"
            " WHERE NOT EXISTS ("
            f"  SELECT FROM {self._table} WHERE tenant = %s AND name = %s AND holder <> %s"
            "  AND held_until > clock_timestamp())"
            " ON CONFLICT (tenant, name) DO UPDATE SET epoch = mine.epoch + 1,"
            "  holder = excluded.holder, held_until = excluded.held_until"
            "  WHERE mine.holder = excluded.holder OR mine.held_until <= clock_timestamp()"
            f" RETURNING name, position, epoch, holder, true, since, {_DURABLY}",
            (self._tenant, name, holder, float(seconds), self._tenant, name, holder),
        )
        return Cursor(*rows[0][:6]) if rows else None

    def renew(self, name: str, epoch: int, seconds: float) -> bool:
        return self._change(name, epoch, f"held_until = {_UNTIL}", float(seconds))

    def acknowledge(self, name: str, epoch: int, position: int) -> bool:
        return self._change(name, epoch, "position = greatest(position, %s)", position)

    def release(self, name: str, epoch: int) -> None:
        self._change(name, epoch, "holder = '', held_until = '-infinity'")

    def _change(self, name: str, epoch: int, change: str, *values: object) -> bool:
        """Change the cursor if the epoch is in force."""
        rows = self._server.ask(
            f"UPDATE {self._table} SET {change}"
            " WHERE tenant = %s AND name = %s AND epoch = %s AND holder <> ''"
            f" RETURNING {_DURABLY}",
            (*values, self._tenant, name, epoch),
        )
        return bool(rows)

    def all(self) -> list[Cursor]:
        rows = self._server.ask(
            "SELECT name, position, epoch, holder, held_until > clock_timestamp(), since"
            f" FROM {self._table} WHERE tenant = %s ORDER BY name",
            (self._tenant,),
        )
        return [Cursor(*row) for row in rows]

    def restore(self, name: str, position: int, since: int = 0) -> None:
        rows = self._server.ask(
            f"INSERT INTO {self._table} AS mine VALUES (%s, %s, %s, 0, '', '-infinity', %s)"
            " ON CONFLICT (tenant, name) DO UPDATE SET position = excluded.position,"
            "  holder = '', held_until = '-infinity', since = excluded.since"
            "  WHERE mine.held_until <= clock_timestamp()"
            f" RETURNING {_DURABLY}",
            (self._tenant, name, position, since),
        )
        if not rows:
            raise NotPermitted(f"Consumer {name} is running: stop it before its cursor is set.")

    def rewind(self, name: str, position: int) -> bool:
        rows = self._server.ask(
            f"UPDATE {self._table} SET position = %s, epoch = epoch + 1, holder = '',"
            f" held_until = '-infinity' WHERE tenant = %s AND name = %s RETURNING {_DURABLY}",
            (position, self._tenant, name),
        )
        return bool(rows)
