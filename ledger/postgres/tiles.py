"""The tree and its signed heads in the Postgres of the log: one for all tenants of a schema.

Who extends it holds an advisory lock for one transaction, and what it publishes the database
compares with the head that is there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from ledger.errors import LogCorrupted
from ledger.postgres.server import Connection, Server
from ledger.proofs.merkle import HASH_BYTES
from ledger.proofs.notes import Checkpoint
from ledger.proofs.tiles import WIDTH, Tile, TileWriter, check_goes_on

_DURABLY = (
    "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')"
    " THEN set_config('synchronous_commit', 'on', true) END"
)

# Threads of one process wait for their turn before they take a connection: whoever has the turn
# needs another one of the same pool, to read the log.
_turns: WeakKeyDictionary[Server, threading.Lock] = WeakKeyDictionary()
_making = threading.Lock()


class _Reading:
    """What is read the same within a transaction and outside. The widest tile of a place holds
    what the narrower ones do."""

    _schema: str

    def _ask(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        raise NotImplementedError

    def tile(self, tile: Tile) -> bytes | None:
        rows = self._ask(
            f"SELECT hashes FROM {self._schema}.tiles WHERE level = %s AND number = %s"
            " AND width IN (%s, %s) ORDER BY width LIMIT 1",
            (tile.level, tile.number, tile.width, WIDTH),
        )
        return bytes(rows[0][0])[: tile.width * HASH_BYTES] if rows else None

    def checkpoint(self) -> str | None:
        return self._one(f"SELECT note FROM {self._schema}.tree_head")

    def vkeys(self) -> list[str]:
        return [
            vkey
            for (vkey,) in self._ask(f"SELECT vkey FROM {self._schema}.signing_keys ORDER BY id")
        ]

    def cosigned(self) -> str | None:
        return self._one(f"SELECT note FROM {self._schema}.cosigned")

    def kept(self) -> list[str]:
        rows = self._ask(
            f"SELECT DISTINCT ON (size) note FROM {self._schema}.checkpoints ORDER BY size, id DESC"
        )
        return [note for (note,) in rows]

    def kept_at(self, size: int) -> str | None:
        return self._one(
            f"SELECT note FROM {self._schema}.checkpoints WHERE size = %s ORDER BY id DESC LIMIT 1",
            (size,),
        )

    def _one(self, statement: str, values: Sequence[object] = ()) -> str | None:
        rows = self._ask(statement, values)
        return str(rows[0][0]) if rows else None


class PostgresTiles(_Reading):
    """See `ledger.proofs.tiles.TileStore` for the guarantees."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._schema = server.url.schema
        with _making:
            self._turn = _turns.setdefault(server, threading.Lock())

    def __str__(self) -> str:
        return str(self._server)

    def _ask(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        return self._server.ask_plain(statement, values)  # it is nobody's in particular

    @contextmanager
    def extending(self) -> Iterator[TileWriter]:
        with self._writing() as writing:
            yield writing

    @contextmanager
    def _writing(self) -> Iterator[_Writing]:
        with self._turn, self._server.as_tenant() as connection:
            connection.execute(
                f"SELECT pg_advisory_xact_lock(hashtextextended(%s, 0)), {_DURABLY}",
                (f"beliefledger tree {self._schema}",),
            )
            yield _Writing(connection, self._schema)

    def keep_cosigned(self, text: str) -> None:
        with self._writing() as writing:
            writing.keep_cosigned(text)


class _Writing(_Reading):
    """The transaction of the one who extends the tree."""

    def __init__(self, connection: Connection, schema: str) -> None:
        self._connection = connection
        self._schema = schema
        # Nobody else changes it while this one holds the lock.
        self._latest = super().checkpoint()

    def checkpoint(self) -> str | None:
        return self._latest

    def _ask(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        return self._connection.execute(statement, values, binary=True).fetchall()

    def write(self, tiles: dict[Tile, bytes]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {self._schema}.tiles VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (level, number, width) DO UPDATE SET hashes = excluded.hashes",
                [(*tile, data) for tile, data in tiles.items()],
            )

    def publish(self, checkpoint: Checkpoint, *, keep: bool) -> None:
        latest = self._latest
        size, root, text = checkpoint.size, checkpoint.root, checkpoint.text
        if latest is None:
            changed = self._connection.execute(
                f"INSERT INTO {self._schema}.tree_head VALUES (1, %s, %s, %s)"
                " ON CONFLICT (id) DO NOTHING",
                (size, root, text),
            )
        else:
            check_goes_on(latest, checkpoint)
            changed = self._connection.execute(
                f"UPDATE {self._schema}.tree_head SET size = %s, root = %s, note = %s"
                " WHERE id = 1 AND note = %s",
                (size, root, text, latest),
            )
        if changed.rowcount != 1:
            raise LogCorrupted(
                f"{self._schema}: another published a checkpoint under the lock of this one."
            )
        self._latest = text
        if keep:
            self.keep([checkpoint])

    def keep(self, passed: Sequence[Checkpoint]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {self._schema}.checkpoints (size, note) VALUES (%s, %s)",
                [(checkpoint.size, checkpoint.text) for checkpoint in passed],
            )

    def know(self, vkey: str) -> None:
        self._connection.execute(
            f"INSERT INTO {self._schema}.signing_keys (vkey) VALUES (%s)", (vkey,)
        )

    def keep_cosigned(self, text: str) -> None:
        self._connection.execute(
            f"INSERT INTO {self._schema}.cosigned AS there VALUES (1, %s, %s)"
            " ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note"
            " WHERE there.size <= excluded.size",
            (Checkpoint.parse(text).size, text),
        )

    def drop_partial(self, tiles: Sequence[Tile]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(
                f"DELETE FROM {self._schema}.tiles WHERE level = %s AND number = %s AND width < %s",
                [(tile.level, tile.number, WIDTH) for tile in tiles],
            )
