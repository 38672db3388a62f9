"""The tree and its signed heads in the Postgres of the log: one for all tenants of a schema.

Who extends it holds an advisory lock for one transaction, and what it publishes the database
compares with the head that is there; tiles the database computes itself, from the log: see the
functions of the schema. A key that was put beside them without a checkpoint that hands over to it
is none of the log's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.postgres.server import Connection, Server
from beliefledger.ledger.proofs.merkle import HASH_BYTES
from beliefledger.ledger.proofs.notes import Checkpoint, Verifier
from beliefledger.ledger.proofs.terms import handover, parsed
from beliefledger.ledger.proofs.tiles import WIDTH, Tile, TileWriter, check_goes_on, hashes_of
from beliefledger.ledger.store import EventStore

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
        rows = self._ask(f"SELECT vkey FROM {self._schema}.signing_keys ORDER BY id")
        keys = [vkey for (vkey,) in rows]
        return keys if len(keys) < 2 else handed_over(keys, self._by_two(keys[0]))

    @property
    def keys_at(self) -> str:
        return f"The table {self._schema}.signing_keys"

    def _by_two(self, vkey: str) -> list[Checkpoint]:
        """The checkpoints that seem to be signed by two keys of the log."""
        name = f"— {vkey.partition('+')[0]} "
        rows = self._ask(
            f"SELECT note FROM {self._schema}.checkpoints"
            " WHERE strpos(substr(note, strpos(note, %s) + 1), %s) > 0 ORDER BY id",
            (name, name),
        )
        return parsed(note for (note,) in rows)

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


def handed_over(vkeys: Sequence[str], notes: Sequence[Checkpoint]) -> list[str]:
    """The first key, and of the others those that a checkpoint hands over to, signed by the key
    before and by it."""
    chain = [Verifier.parse(vkeys[0])]
    for other in map(Verifier.parse, vkeys[1:]):
        if handover(chain[-1], other, notes) is not None:
            chain.append(other)
    return [each.vkey for each in chain]


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
                "SELECT set_config('idle_in_transaction_session_timeout', '60s', true),"
                f" pg_advisory_xact_lock(hashtextextended(%s, 0)), {_DURABLY}",
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

    def leaves(self, store: EventStore, after: int, upto: int) -> list[bytes]:
        if after == upto:
            return []
        [(joined,)] = self._ask(f"SELECT {self._schema}.extend_tiles(%s, %s)", (after, upto))
        leaves = hashes_of(joined)
        # What is missing is named by the store.
        return leaves if len(leaves) == upto - after else store.leaf_hashes(after, upto)

    def write(self, tiles: dict[Tile, bytes]) -> None:
        """They are there: `leaves` had them computed where no login can change them."""

    def mend(self, tiles: dict[Tile, bytes]) -> None:
        """Has them computed from the log there, too. That log has been compared with the tree."""
        for tile in sorted(tiles):
            [(there,)] = self._ask(f"SELECT {self._schema}.mend_tile(%s, %s, %s)", tile)
            if not there:
                raise LogCorrupted(f"{self._schema}: the log has no events for {tile.path}.")

    def publish(self, checkpoint: Checkpoint, *, keep: bool) -> None:
        latest = self._latest
        size, root, text = checkpoint.size, checkpoint.root, checkpoint.text
        if latest is not None:
            check_goes_on(latest, checkpoint)
        [(published,)] = self._ask(
            f"SELECT {self._schema}.publish_head(%s, %s, %s, %s)", (latest, size, root, text)
        )
        if not published:
            raise LogCorrupted(
                f"{self._schema}: another published a checkpoint under the lock of this one."
            )
        self._latest = text
        if keep:
            self.keep([checkpoint])

    def keep(self, passed: Sequence[Checkpoint]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(
                f"SELECT {self._schema}.keep_checkpoint(%s, %s, %s)",
                [(each.size, each.root, each.text) for each in passed],
            )

    def know(self, vkey: str) -> None:
        self._ask(f"SELECT {self._schema}.know_key(%s)", (vkey,))

    def keep_cosigned(self, text: str) -> None:
        size = Checkpoint.parse(text).size
        self._ask(f"SELECT {self._schema}.keep_cosigned(%s, %s)", (size, text))

    def drop_partial(self, tiles: Sequence[Tile]) -> None:
        """They went when the full ones came."""
