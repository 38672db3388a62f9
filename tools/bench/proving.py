"""What the tree over the log costs for each event, and how long a proof takes among many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from beliefledger.ledger import envelope
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server, is_postgres
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.postgres.tiles import PostgresTiles
from beliefledger.ledger.proofs.merkle import verify_inclusion
from beliefledger.ledger.proofs.notes import Signer
from beliefledger.ledger.proofs.tiles import DirectoryTiles
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.store import EventStore, Row
from beliefledger.ledger.times import SECOND
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

_A_CHECKPOINT = 1_000
_CHECKPOINTS = 10
"""In each round."""
_PROOFS = 100
"""In each round."""
_LOADED = 20_000
_START = 1_772_355_600 * SECOND


def proving(run: Run) -> Iterator[Measured]:
    """Nothing of it is on the path of an append: it is done beside."""
    for backend in run.backends:
        yield from _proved(run, backend)


def _proved(run: Run, backend: Backend) -> Iterator[Measured]:
    extending = f"tree and checkpoint on {backend.name}, of each event"
    included = f"inclusion proof among 1,000,000 events on {backend.name}"
    few, quick = Target("≤", 5), Target("≤", 2)
    if backend.missing:
        yield Measured(extending, "µs", target=few, note=backend.missing)
        yield Measured(included, "ms", target=quick, note=backend.missing)
        return
    count = run.sizes.proved
    costs, syncs = [], []
    with _opened(backend.place("proving")) as (store, tree):
        run.tell(f"loading {count:,} events on {backend.name}")
        _load(store, count)
        backlog = seconds(tree.extend) / count * 1e6
        for _ in run.rounds(f"extending the tree on {backend.name}"):
            costs.append(_extended(store, tree))
            syncs.append(_synced(run))
        dice = Random(1)
        rounds = run.rounds(f"proving on {backend.name}")
        proofs = [_included(store, tree, dice) for _ in rounds]
    yield Measured(
        extending,
        "µs",
        costs,
        few,
        note=f"{_A_CHECKPOINT:,} events a checkpoint, after {count:,}, whose backlog cost"
        f" {backlog:.2f} µs each; two syncs of a file are {min(syncs):.2f} µs each here",
    )
    yield Measured(
        included, "ms", proofs, quick, note=f"at {count:,} events, verified before it is given"
    )


@contextmanager
def _opened(place: Path | str) -> Iterator[tuple[EventStore, Tree]]:
    signer = Signer.generate("bench")
    store: EventStore
    if is_postgres(str(place)):
        server = Server(PostgresURL.parse(str(place)))
        schema.init(server)
        schema.check(server)
        store = PostgresEventStore(server)
        tree = Tree(store, PostgresTiles(server), signer)
    else:
        Path(place).mkdir()
        store = SQLiteEventStore(Path(place) / "log.db")
        tree = Tree(store, DirectoryTiles(Path(place) / "proofs"), signer)
    try:
        yield store, tree
    finally:
        store.close()


def _load(store: EventStore, count: int) -> None:
    last = store.head().position
    for start in range(last + 1, last + count + 1, _LOADED):
        positions = range(start, min(start + _LOADED, last + count + 1))
        store.load([Row(position, _envelope(position), None) for position in positions])


def _envelope(position: int) -> bytes:
    """Of the size that a turn's has."""
    head, tail = envelope.split(
        Address(f"{position:032x}", "turn.recorded.v2", f"{position:032x}", 1, "default", "a" * 32),
        actor="0123456789abcdef0123456789abcdef",
        causation="0123456789abcdef0123456789abcdef",
        correlation="0123456789abcdef0123456789abcdef",
        body_digest="0123456789abcdef" * 4,
        facts={"said_at": _START, "ordinal": position},
    )
    return envelope.stamp(head, _START + position, tail)


def _extended(store: EventStore, tree: Tree) -> float:
    """µs of each event, when the tree is extended after each thousand."""
    taken = 0.0
    for _ in range(_CHECKPOINTS):
        _load(store, _A_CHECKPOINT)
        taken += seconds(tree.extend)
    return taken / (_CHECKPOINTS * _A_CHECKPOINT) * 1e6


def _synced(run: Run) -> float:
    """What two syncs cost by themselves, of each of a thousand events, in µs."""

    def sync() -> None:
        for _ in range(2):
            os.pwrite(file, b"x" * 200, 0)
            os.fsync(file)

    file = os.open(run.place("synced-file"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        return _mean(sync, _CHECKPOINTS) / _A_CHECKPOINT * 1e6
    finally:
        os.close(file)


def _included(store: EventStore, tree: Tree, dice: Random) -> float:
    """ms of a proof that an event at any position is in the latest tree."""
    latest = tree.latest()
    assert latest is not None
    position = dice.randint(1, latest.size)
    [leaf] = store.leaf_hashes(position - 1, position)
    proof = tree.inclusion(position, latest.size)
    verify_inclusion(position - 1, latest.size, leaf, proof, latest.root)
    return _mean(lambda: tree.inclusion(dice.randint(1, latest.size), latest.size), _PROOFS) * 1e3


def _mean(work: Callable[[], object], times: int) -> float:
    return sum(seconds(work) for _ in range(times)) / times
