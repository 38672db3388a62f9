"""What the tree over a log guarantees, in files and in Postgres."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

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
NOW = 1_772_355_600_000_000


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
        self.store.append(batch, {}, lambda: NOW)

    def append_anything(self, seed: str) -> None:
        """One event that no other writer is in the way of."""
        self.store.append([event(f"{seed}{os.urandom(15).hex()}", 1)], {}, lambda: NOW)

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
    other = tiles_beside(ledger) if ledger.on_postgres else DirectoryTiles(new_place())
    at_once = Tree(ledger.store, other, SIGNER)
    assert at_once.extend().text == checkpoint.text
    for tile in tiles_of(checkpoint.size):
        assert other.tile(tile) == ledger.tiles().tile(tile) is not None


def tiles_beside(ledger: Ledger) -> TileStore:
    """The tiles of another schema beside the same log."""
    server = Server(PostgresURL.parse(f"{ledger.place}_beside"))
    schema.init(server)
    schema.check(server)
    return PostgresTiles(server)


def test_nothing_new_is_the_same_checkpoint(ledger):
    ledger.append(3)
    tree = ledger.tree()
    first = tree.extend()
    assert tree.extend() == first == ledger.tree().extend() == ledger.tree(None).latest()


def test_a_tree_is_extended_up_to_a_position(ledger):
    ledger.append(30)
    tree = ledger.tree()
    assert tree.extend(upto=10).size == 10
    assert tree.extend(upto=5).size == 10
    assert tree.extend(upto=99).size == 30


def test_a_backlog_leaves_a_checkpoint_in_history_each_thousand(ledger):
    ledger.append(2_300)
    tree = ledger.tree()
    latest = tree.extend()
    history = tree.checkpoints()
    assert [each.size for each in history] == [1_000, 2_000]
    assert latest.size == 2_300
    leaves = ledger.leaves()
    assert [each.root for each in history] == [root_of(leaves[:1_000]), root_of(leaves[:2_000])]
    assert tree.kept(1_000) == history[0]
    assert tree.kept(2_300) == latest
    assert tree.kept(1_500) is None


def test_what_is_asked_to_be_kept_stays_when_the_tree_grows(ledger):
    tree = ledger.tree()
    ledger.append(5)
    five = tree.extend(keep=True)
    ledger.append(5)
    ten = tree.extend()
    assert tree.extend(keep=True) == ten
    ledger.append(5)
    tree.extend()
    assert ledger.tree(None).checkpoints() == [five, ten]


def test_partial_tiles_of_the_latest_size_are_there_and_those_made_full_are_gone(ledger):
    tree, tiles = ledger.tree(), ledger.tiles()
    for count in (100, 100, 100):
        ledger.append(count)
        size = tree.extend().size
        assert all(len(tiles.tile(tile)) == 32 * tile.width for tile in tiles_of(size))
    # Who still reads the tree of 200 finds its leaves in the tile that is full now.
    assert tiles.tile(Tile(0, 0, 200)) == tiles.tile(Tile(0, 0))[: 200 * 32]
    if not ledger.on_postgres:
        found = {str(path) for path in (Path(ledger.place) / "proofs/tile").rglob("*")}
        assert not any("000.p" in path for path in found if "/tile/0/" in path)


def test_a_signer_is_needed_to_extend_and_not_to_read(ledger):
    ledger.append(3)
    with pytest.raises(KeyMissing, match="BELIEFLEDGER_SIGNING_KEY_FILE"):
        ledger.tree(None).extend()
    with pytest.raises(KeyMissing):
        _ = ledger.tree(None).origin
    made = ledger.tree().extend()
    reader = ledger.tree(None)
    assert reader.latest() == made
    assert reader.origin == SIGNER.name
    assert len(reader.inclusion(2, 3)) == 2


def test_another_key_cannot_sign(ledger):
    ledger.append(3)
    ledger.tree().extend()
    with pytest.raises(KeyMissing, match="name the right file"):
        ledger.tree(Signer.generate(SIGNER.name)).extend()


# Proofs


def test_every_proof_leads_to_the_root(ledger):
    ledger.append(700)
    tree = ledger.tree()
    size = tree.extend().size
    leaves = ledger.leaves()
    for at in (1, 256, 257, 512, 513, 699, 700):
        assert tree.root(at) == root_of(leaves[:at])
        for position in {1, at // 2 or 1, at}:
            proof = tree.inclusion(position, at)
            verify_inclusion(position - 1, at, leaves[position - 1], proof, root_of(leaves[:at]))
        proof = tree.consistency(at, size)
        verify_consistency(at, size, root_of(leaves[:at]), root_of(leaves), proof)


def test_what_no_tree_has_cannot_be_asked_for(ledger):
    ledger.append(5)
    tree = ledger.tree()
    tree.extend()
    for ask in (
        lambda: tree.inclusion(0, 5),
        lambda: tree.inclusion(6, 5),
        lambda: tree.inclusion(6, 6),
        lambda: tree.consistency(5, 4),
        lambda: tree.consistency(5, 6),
        lambda: tree.root(6),
    ):
        with pytest.raises(CallerMistake):
            ask()


# Damage


@pytest.mark.parametrize("damage", ["flipped", "short", "missing"])
@pytest.mark.parametrize("tile", [Tile(0, 0), Tile(0, 2, 188), Tile(1, 0, 2)])
def test_a_damaged_tile_is_computed_again_from_the_log(ledger, tile, damage):
    ledger.append(700)
    before = ledger.tree().extend()
    right = ledger.tiles().tile(tile)
    wrong = {
        "flipped": right[:40] + bytes([right[40] ^ 1]) + right[41:],
        "short": right[:-7],
        "missing": None,
    }[damage]
    ledger.damage_tile(tile, wrong)
    assert ledger.tiles().tile(tile) == wrong
    leaves = ledger.leaves()
    verify_inclusion(0, 700, leaves[0], ledger.tree(None).inclusion(1, 700), before.root)
    assert ledger.tiles().tile(tile) == right
    ledger.damage_tile(tile, wrong)
    ledger.append(5)
    after = ledger.tree().extend()
    assert after.root == root_of(ledger.leaves())
    assert ledger.tree().mend() == (tile == Tile(0, 0))  # nothing that it extended is wrong
    for at in tiles_of(705):
        assert ledger.tiles().tile(at) is not None


def test_an_event_changed_after_it_was_signed_is_named(ledger):
    ledger.append(700)
    ledger.tree().extend()
    ledger.forge(690)
    ledger.append(1)
    with pytest.raises(LogCorrupted, match="position 690 is not the event that was signed"):
        ledger.tree().extend()
    with pytest.raises(LogCorrupted, match="position 690 is not the event that was signed"):
        ledger.tree(None).inclusion(690, 700)
    assert ledger.tree(None).latest().size == 700


def test_an_older_event_changed_is_named_when_it_is_asked_for_and_by_mending(ledger):
    ledger.append(700)
    ledger.tree().extend()
    ledger.forge(17)
    with pytest.raises(LogCorrupted, match="position 17 is not the event that was signed"):
        ledger.tree(None).inclusion(17, 700)
    with pytest.raises(LogCorrupted, match="position 17 is not the event that was signed"):
        ledger.tree(None).mend()


def test_an_event_changed_with_its_leaf_is_found_between_two_checkpoints(ledger):
    tree = ledger.tree()
    for _ in range(3):
        ledger.append(200)
        tree.extend(keep=True)
    ledger.forge(300)
    forged = ledger.leaves()
    tile = b"".join(forged[256:512])
    ledger.damage_tile(Tile(0, 1), tile)
    with pytest.raises(LogCorrupted, match="of the positions 201 to 400 one is not"):
        ledger.tree(None).inclusion(300, 600)


def test_a_log_whose_end_was_deleted_is_refused(ledger):
    ledger.append(20)
    ledger.tree().extend()
    ledger.cut(15)
    with pytest.raises(LogCorrupted, match="position 16 is missing"):
        ledger.tree().extend()


def test_an_end_that_was_deleted_and_written_again_is_refused(ledger):
    ledger.append(20)
    tree = ledger.tree()
    tree.extend()
    ledger.cut(15)
    ledger.append(9, seed="f")
    for each in (tree, ledger.tree()):
        with pytest.raises(LogCorrupted, match="position 16 is not the event that was signed"):
            each.extend()


def forged_head(ledger: Ledger, checkpoint: Checkpoint) -> None:
    if ledger.on_postgres:
        ledger.owner(
            f"UPDATE {ledger.schema}tree_head SET note = '{checkpoint.text}',"
            f" size = {checkpoint.size}, root = '\\x{checkpoint.root.hex()}'"
        )
    else:
        (Path(ledger.place) / "proofs" / "checkpoint").write_text(checkpoint.text)


def test_a_checkpoint_that_nobody_known_signed_is_refused(ledger):
    ledger.append(20)
    ledger.tree().extend()
    forged_head(ledger, issue(SIGNER.name, 20, bytes(32), Signer.generate(SIGNER.name)))
    for ask in (ledger.tree().extend, ledger.tree(None).latest):
        with pytest.raises(LogCorrupted, match="not signed by a known key"):
            ask()


def test_a_checkpoint_that_the_log_contradicts_is_not_extended(ledger):
    ledger.append(20)
    ledger.tree().extend()
    forged_head(ledger, issue(SIGNER.name, 20, bytes(32), SIGNER))
    ledger.append(1)
    with pytest.raises(LogCorrupted, match="contradicts its checkpoint of 20 events"):
        ledger.tree().extend()


def test_two_heads_of_one_size_cannot_be_published(ledger):
    ledger.append(20)
    head = ledger.tree().extend()
    for size, root in ((20, bytes(32)), (19, head.root)):
        with pytest.raises(LogCorrupted):
            with ledger.tiles().extending() as writer:
                writer.publish(issue(SIGNER.name, size, root, SIGNER), keep=True)
    assert ledger.tree().latest() == head
    assert ledger.tree().checkpoints() == []


# Keys


def test_rotation_keeps_old_keys_for_what_they_signed(ledger):
    ledger.append(20)
    tree = ledger.tree()
    old = tree.extend(keep=True)
    new = Signer.generate(SIGNER.name)
    both = tree.rotate(new)
    assert [each.vkey for each in tree.verifiers()] == [SIGNER.vkey, new.vkey]
    for verifier in tree.verifiers():
        assert check(both, [verifier]) == verifier
    assert (both.size, both.root) == (old.size, old.root)
    ledger.append(1)
    after = tree.extend(keep=True)
    assert check(after, [Verifier.parse(new.vkey)])
    assert ledger.tree(None).checkpoints() == [both, after]
    assert ledger.tree(None).origin == SIGNER.name
    with pytest.raises(KeyMissing):
        ledger.tree(SIGNER).extend()
    with pytest.raises(CallerMistake):
        tree.rotate(SIGNER)
    with pytest.raises(CallerMistake):
        tree.rotate(Signer.generate("another"))


def test_the_last_cosigned_checkpoint_does_not_go_back(ledger):
    tiles = ledger.tiles()
    assert tiles.cosigned() is None
    witness = Cosigner.generate("witness.example/w1")
    heads = []
    for _ in range(2):
        ledger.append(4)
        head = ledger.tree().extend()
        heads.append(with_signatures(head, [witness.cosign(head, 1_679_315_147)]))
    tiles.keep_cosigned(heads[1].text)
    tiles.keep_cosigned(heads[0].text)
    assert ledger.tiles().cosigned() == heads[1].text
    found = Checkpoint.parse(tiles.cosigned())
    assert CosignatureVerifier.parse(witness.vkey).check(found) == 1_679_315_147


# One at a time


def test_threads_that_extend_at_once_publish_one_history(ledger):
    ledger.append(50)
    trees = [ledger.tree() for _ in range(6)]
    failed: list[Exception] = []

    def extend(tree: Tree, seed: str) -> None:
        try:
            for _ in range(5):
                ledger.append_anything(seed)
                tree.extend(keep=True)
        except Exception as problem:  # noqa: BLE001  a thread's error is the test's
            failed.append(problem)

    threads = [
        threading.Thread(target=extend, args=(tree, f"{at:x}")) for at, tree in enumerate(trees)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    leaves = ledger.leaves()
    assert ledger.tree().extend().root == root_of(leaves)
    sizes = [each.size for each in ledger.tree().checkpoints()]
    assert sizes == sorted(set(sizes))
    for each in ledger.tree().checkpoints():
        assert each.root == root_of(leaves[: each.size])


EXTENDING = """
import sys
from tests_of_tree import Ledger, SIGNER
ledger = Ledger(sys.argv[1])
tree = ledger.tree()
if sys.argv[2] == "killed":
    import os, signal
    from ledger.proofs.tiles import DirectoryTiles
    from ledger.postgres import tiles as postgres_tiles
    steps = iter(range(int(sys.argv[3])))
    def die(*_):
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
    def dying(method):
        def run(*given, **named):
            die()
            done = method(*given, **named)
            die()
            return done
        return run
    kind = type(tree.tiles)
    if kind is DirectoryTiles:
        from ledger.proofs import tiles
        tiles._make = dying(tiles._make)
        for name in ("write", "_replace", "drop_partial"):
            setattr(kind, name, dying(getattr(kind, name)))
    else:
        for name in ("write", "publish", "drop_partial"):
            setattr(postgres_tiles._Writing, name, dying(getattr(postgres_tiles._Writing, name)))
    tree.extend(keep=True)
else:
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(20):
        ledger.append_anything(sys.argv[3])
        print(tree.extend(keep=True).text, end="\\0", flush=True)
"""


def extending(place: str, tmp_path: Path, *given: str) -> subprocess.Popen[str]:
    (tmp_path / "tests_of_tree.py").write_text(Path(__file__).read_text())
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(tmp_path), str(root)])
    return subprocess.Popen(
        [sys.executable, "-c", EXTENDING, place, *given],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_that_extend_at_once_never_show_two_heads_of_one_size(ledger, tmp_path):
    ledger.append(10)
    both = [extending(ledger.place, tmp_path, "running", seed) for seed in ("a", "b")]
    for each in both:
        assert each.stdout.readline() == "ready\n"
    for each in both:
        each.stdin.write("go\n")
        each.stdin.flush()
    said = [each.communicate(timeout=120)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0]
    leaves = ledger.leaves()
    assert len(leaves) == 50
    shown = [Checkpoint.parse(text) for all_ in said for text in all_.split("\0")[:-1]]
    assert len(shown) == 40
    for each in shown:
        assert each.root == root_of(leaves[: each.size])
    assert {each.text for each in ledger.tree().checkpoints()} == {each.text for each in shown}


def test_killed_at_any_step_the_next_extends_as_if_nothing_was(ledger, tmp_path):
    ledger.append(300)
    ledger.tree().extend()
    steps = 0
    while True:
        ledger.append(260)
        process = extending(ledger.place, tmp_path, "killed", str(steps))
        process.communicate(timeout=60)
        assert process.returncode in {0, -signal.SIGKILL}
        size = ledger.tree(None).latest().size
        leaves = ledger.leaves()
        assert ledger.tree(None).root(size) == root_of(leaves[:size])  # readable all along
        assert ledger.tree().extend().root == root_of(leaves)
        assert ledger.tree().mend() == 0
        if process.returncode == 0:
            break
        steps += 1
    assert steps > 4


def test_a_new_key_is_adopted_by_the_file_once_the_log_knows_it(ledger, tmp_path):
    file = tmp_path / "signing.key"
    old = keyfile.create(file)
    tree = ledger.tree(old)
    ledger.append(3)
    tree.extend()
    new = Signer.generate(old.name)
    keyfile.prepare(file, new)
    assert keyfile.read(file, ledger.tiles().vkeys()[-1]).vkey == old.vkey
    tree.rotate(new)  # and killed here
    found = keyfile.read(file, ledger.tiles().vkeys()[-1])
    assert found.vkey == new.vkey
    ledger.append(1)
    assert ledger.tree(keyfile.read(file)).extend().size == 4


def test_errors_of_the_place_are_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        with DirectoryTiles(tmp_path / "file" / "proofs").extending():
            pass


def test_a_history_of_checkpoints_may_lose_one_with_the_power(tmp_path):
    ledger = Ledger(str(tmp_path / "ledger"))
    ledger.append(2_300)
    tree = ledger.tree()
    latest = tree.extend()
    (tmp_path / "ledger/proofs/checkpoints/1000").write_text("")
    assert [each.size for each in tree.checkpoints()] == [2_000]
    assert tree.kept(1_000) is None
    (tmp_path / "ledger/proofs/checkpoint").unlink()
    assert ledger.tree().latest().size == 2_000
    assert ledger.tree().extend() == latest
    ledger.store.close()


# What Postgres itself refuses, and to whom


@pytest.fixture
def app(postgres_url: str) -> Iterator[Ledger]:
    """A ledger with 20 events of two tenants, over a login that has the app's rights alone."""
    made = Ledger(postgres_url)
    made.append(10)
    store = made.store
    assert isinstance(store, PostgresEventStore)
    schema_ = store.server.url.schema
    with store.server.connection() as connection:
        connection.execute(f"CREATE ROLE {schema_}_login LOGIN IN ROLE {schema_}_app")
    parts = urlsplit(postgres_url)
    login = parts._replace(netloc=f"{schema_}_login@{parts.hostname or ''}").geturl()
    other = Server(PostgresURL.parse(f"{login}&tenant=other"), size=2)
    schema.init(Server(PostgresURL.parse(f"{postgres_url}&tenant=other"), size=2))
    schema.check(other)
    made.store = PostgresEventStore(other)
    made.opened.append(made.store)
    made.append(10, seed="f")
    yield made
    for each in made.opened:
        each.close()


def test_a_tenant_extends_the_tree_of_all_and_sees_no_other(app):
    assert len(app.store.read(0, 100)) == 10
    tree = app.tree()
    checkpoint = tree.extend(keep=True)
    everything = app.opened[0].leaf_hashes(0, 20)
    assert checkpoint.size == 20
    assert checkpoint.root == root_of(everything)
    verify_inclusion(2, 20, everything[2], tree.inclusion(3, 20), checkpoint.root)
    assert Tree(app.opened[0], app.tiles(app.opened[0])).latest() == checkpoint
    app.append(10, seed="e")
    assert tree.extend().size == 30


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {}.tree_head SET size = size - 1",
        "UPDATE {}.tree_head SET root = sha256('')",
        "DELETE FROM {}.tree_head",
        "UPDATE {}.checkpoints SET note = ''",
        "DELETE FROM {}.checkpoints",
        "TRUNCATE {}.checkpoints",
        "UPDATE {}.signing_keys SET vkey = ''",
        "DELETE FROM {}.signing_keys",
        "DELETE FROM {}.cosigned",
        "UPDATE {}.cosigned SET size = size - 1",
    ],
)
def test_postgres_refuses_to_unsay_what_was_signed(app, statement):
    head = app.tree().extend(keep=True)
    app.tiles().keep_cosigned(head.text)
    for store in app.opened:  # the owner, too
        server = store.server
        with pytest.raises(LedgerError, match=r"refused|permission denied|rights"):
            with server.connection() as connection:
                connection.execute(statement.format(server.url.schema))
    assert app.tree().latest() == head
    assert app.tree().checkpoints() == [head]
