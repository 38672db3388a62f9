"""What the tree over a log guarantees, in files and in Postgres."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger import canonical, envelope
from ledger.envelope import Address
from ledger.errors import CallerMistake, KeyMissing, LedgerError, LogCorrupted
from ledger.postgres import schema
from ledger.postgres.server import PostgresURL, Server, is_postgres
from ledger.postgres.store import PostgresEventStore
from ledger.postgres.tiles import PostgresTiles
from ledger.proofs import keyfile
from ledger.proofs.merkle import (
    EMPTY_ROOT,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from ledger.proofs.notes import (
    Checkpoint,
    CosignatureVerifier,
    Cosigner,
    Signer,
    Verifier,
    check,
    issue,
    with_signatures,
)
from ledger.proofs.tiles import DirectoryTiles, Tile, TileStore, tiles_of
from ledger.proofs.tree import Tree
from ledger.sealing import clear
from ledger.sqlite import SQLiteEventStore
from ledger.store import EventStore, Sealed

SIGNER = Signer("beliefledger/0123456789abcdef", bytes(range(32)))
ANA = "a" * 32
TYPE = "turn.parked.v1"


class Ledger:
    """A log and its tree, opened as another process would open them."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.opened: list[EventStore] = []
        self.appended = 0
        self.store = self.open_store()

    @property
    def on_postgres(self) -> bool:
        return is_postgres(self.place)

    def open_store(self) -> EventStore:
        store: EventStore
        if self.on_postgres:
            server = Server(PostgresURL.parse(self.place), size=4)
            schema.init(server)
            schema.check(server)
            store = PostgresEventStore(server)
        else:
            Path(self.place).mkdir(exist_ok=True)
            store = SQLiteEventStore(Path(self.place) / "log.db")
        self.opened.append(store)
        return store

    def tiles(self, store: EventStore | None = None) -> TileStore:
        store = store or self.store
        if isinstance(store, PostgresEventStore):
            return PostgresTiles(store.server)
        return DirectoryTiles(Path(self.place) / "proofs")

    def tree(self, signer: Signer | None = SIGNER) -> Tree:
        return Tree(self.store, self.tiles(), signer)

    def append(self, count: int, seed: str = "") -> None:
        head = self.store.head().position
        batch = [event(f"{seed}{number:031x}", 1) for number in range(head + 1, head + count + 1)]
        self.store.append(batch, {}, lambda: 1_772_355_600_000_000)

    def leaves(self, upto: int | None = None) -> list[bytes]:
        """What the tree is over, from the envelopes themselves."""
        rows = self.store.read(0, 10**6, upto)
        return [leaf_hash(row.envelope) for row in rows]

    def damage_tile(self, tile: Tile, data: bytes | None) -> None:
        """Put other bytes in the place of a tile, or none."""
        if isinstance(self.store, PostgresEventStore):
            name = self.store.server.url.schema
            where = f"level = {tile.level} AND number = {tile.number} AND width = {tile.width}"
            if data is None:
                self.owner(f"DELETE FROM {name}.tiles WHERE {where}")
            else:
                self.owner(f"UPDATE {name}.tiles SET hashes = '\\x{data.hex()}' WHERE {where}")
        else:
            path = Path(self.place) / "proofs" / tile.path
            path.unlink()
            if data is not None:
                path.write_bytes(data)

    def owner(self, *statements: str) -> None:
        """As the database's owner with the guards off: what an attacker with its files can do."""
        if isinstance(self.store, PostgresEventStore):
            with self.store.server.connection() as connection, connection.transaction():
                connection.execute("SET LOCAL session_replication_role = replica")
                for statement in statements:
                    connection.execute(statement)
        else:
            import sqlite3

            connection = sqlite3.connect(Path(self.place) / "log.db")
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            connection.commit()
            connection.close()

    @property
    def schema(self) -> str:
        return f"{PostgresURL.parse(self.place).schema}." if self.on_postgres else ""

    def forge(self, position: int) -> None:
        """Change a word of the event at this position, as if it had always been so."""
        [row] = self.store.read_at([position])
        forged = row.envelope.replace(b'"actor":"system"', b'"actor":"master"').hex()
        self.owner(
            f"UPDATE {self.schema}history SET envelope = "
            + (f"'\\x{forged}'" if self.on_postgres else f"x'{forged}'")
            + f" WHERE position = {position}"
        )

    def cut(self, position: int) -> None:
        """Delete what comes after this position, and the head knows of nothing else."""
        self.owner(
            f"DELETE FROM {self.schema}bodies WHERE position > {position}",
            f"DELETE FROM {self.schema}history WHERE position > {position}",
            f"UPDATE {self.schema}head SET position = {position}",
        )


def event(stream: str, version: int) -> Sealed:
    address = Address(os.urandom(16).hex(), TYPE, stream, version, "default", ANA)
    blob = clear(b"words")
    head, tail = envelope.split(
        address,
        actor="system",
        causation=None,
        correlation=None,
        body_digest=canonical.digest(blob),
        facts={},
    )
    return Sealed(address, head, tail, blob)


@pytest.fixture
def ledger(place: str) -> Iterator[Ledger]:
    made = Ledger(place)
    yield made
    for store in made.opened:
        store.close()


# The store


def test_the_leaves_are_the_hashes_of_all_envelopes(ledger):
    ledger.append(20)
    assert ledger.store.leaf_hashes(0, 20) == ledger.leaves()
    assert ledger.store.leaf_hashes(7, 9) == ledger.leaves()[7:9]
    assert ledger.store.leaf_hashes(9, 9) == []


def test_a_position_that_is_missing_is_named(ledger):
    ledger.append(5)
    with pytest.raises(LogCorrupted, match="position 6 is missing"):
        ledger.store.leaf_hashes(3, 8)
    ledger.owner(f"DELETE FROM {ledger.schema}history WHERE position = 3")
    with pytest.raises(LogCorrupted, match="position 3 is missing"):
        ledger.store.leaf_hashes(0, 5)


# Extending


def test_the_tree_of_nothing_is_signed_too(ledger):
    tree = ledger.tree()
    assert tree.latest() is None
    checkpoint = tree.extend()
    assert (checkpoint.size, checkpoint.root) == (0, EMPTY_ROOT)
    assert tree.latest() == checkpoint
    assert check(checkpoint, tree.verifiers()).vkey == SIGNER.vkey


def test_a_tree_extended_in_random_steps_is_that_of_one_step(ledger, new_place):
    dice = random.Random(7)
    tree = ledger.tree()
    while ledger.store.head().position < 1_700:
        ledger.append(dice.choice([1, 2, 5, 254, 255, 256, 257, 300]))
        checkpoint = tree.extend()
        assert checkpoint.root == root_of(ledger.leaves())
    other = PostgresTilesOf(ledger) if ledger.on_postgres else DirectoryTiles(new_place())
    at_once = Tree(ledger.store, other, SIGNER)
    assert at_once.extend().text == checkpoint.text
    for tile in tiles_of(checkpoint.size):
        assert other.tile(tile) == ledger.tiles().tile(tile) is not None


def PostgresTilesOf(ledger: Ledger) -> TileStore:
    """The tiles of another schema beside the same log."""
    server = Server(PostgresURL.parse(f"{ledger.place}_beside"))
    schema.init(server)
    schema.check(server)
    return PostgresTiles(server)
