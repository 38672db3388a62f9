"""The turn to write, which is whoever holds the head row.

One that holds it and does not go on keeps all others waiting, so its session is ended, where that
may be done.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from psycopg import errors

from beliefledger.ledger.backoff import delays
from beliefledger.ledger.errors import HeldUp
from beliefledger.ledger.postgres.schema import owner_role
from beliefledger.ledger.postgres.server import Connection, Server

T = TypeVar("T")

_LOCK_TRIES = 3
"""Of a write that waited in vain for the head row. After each, who held it is looked for."""


class Turns:
    """Lets writes wait for the head row of a log, for `patience` milliseconds each time."""

    def __init__(self, server: Server) -> None:
        self.patience = max(1, round(server.url.lock_timeout * 1_000))
        self._server = server
        self._schema = server.url.schema
        self._end_holder = f"SELECT * FROM {self._schema}.end_holder()"

    def take(self, connection: Connection, attempt: Callable[[], T]) -> T:
        """Run `attempt`, which waits for the head row, and return its result. This is the one place
        that tries again when the wait was in vain, after ending the session that holds the row, if
        that is allowed.

        Raises `HeldUp` after some tries, naming who held it.
        """
        for tries_left, delay in zip(reversed(range(_LOCK_TRIES)), delays(), strict=False):
            try:
                return attempt()
            except errors.LockNotAvailable as problem:
                held = _Held(*connection.execute(self._end_holder, binary=True).fetchall()[0])
                if not tries_left:
                    raise HeldUp(self._held_up(held)) from problem
                if held.what != "ended":
                    time.sleep(delay)
        raise AssertionError("unreachable")

    def _held_up(self, held: _Held) -> str:
        waited = f"{self._server}: writers wait for each other"
        owner = owner_role(self._schema)
        end = f"as a superuser, SELECT pg_terminate_backend({held.pid})"
        match held.what:
            case "superuser":
                return f"{waited}, and process {held.pid} of {held.login} does not go on: {end}."
            case "unable":
                return (
                    f"{waited}, and process {held.pid} of {held.login} does not go on: {end}; and"
                    f" GRANT pg_signal_backend TO {owner}, so that such a one is ended by itself."
                )
            case "prepared":
                return (
                    f"{waited}, and a prepared transaction does not go on: find it in"
                    " pg_prepared_xacts, and ROLLBACK PREPARED it."
                )
            case "ended":
                return (
                    f"{waited}: the last that did not go on, of {held.login}, was ended just now."
                    " If more come, take that login's right away: ALTER ROLE … NOLOGIN."
                )
        return f"{waited}, and none of them for long: there are more than it can take."


class _Held(NamedTuple):
    """The row that the SQL function `end_holder` returns: see `migrations`."""

    what: str
    pid: int | None
    login: str | None
