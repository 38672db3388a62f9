"""What the tree over a log guarantees, in files and in Postgres."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import programs
import pytest
from stores import store_at

from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import (
    CallerMistake,
    KeyMissing,
    LedgerError,
    LogCorrupted,
    SigningKeyMissing,
)
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server, is_postgres
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.postgres.tiles import PostgresTiles
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.proofs.keyfile import KeyFile
from beliefledger.ledger.proofs.merkle import (
    EMPTY_ROOT,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    CosignatureVerifier,
    Cosigner,
    Signer,
    Verifier,
    check,
    issue,
    with_signatures,
)
from beliefledger.ledger.proofs.tiles import (
    DirectoryTiles,
    Tile,
    TileStore,
    grow,
    hashes_of,
    tiles_of,
)
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.proofs.tree_check import TreeCheck
from beliefledger.ledger.store import EventStore, Sealed

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
        store = store_at(self.place)
        self.opened.append(store)
        return store

    def tiles(self, store: EventStore | None = None) -> TileStore:
        store = store or self.store
        if isinstance(store, PostgresEventStore):
            return PostgresTiles(store.server)
        return DirectoryTiles(Path(self.place) / "proofs")

    def tree(self, signer: Signer | None = SIGNER) -> Tree:
        return Tree(self.store, self.tiles(), signer)

    def keyed(self, file: Path) -> Tree:
        """With the file of its key, as another process would open it."""
        tiles = self.tiles()
        vkeys = tiles.vkeys()
        key = KeyFile(file, "here")
        return Tree(self.store, tiles, key.signer(vkeys[-1] if vkeys else None), key)

    def take_tree_away(self, *, keys: bool = True) -> None:
        """All of it, or all but what its keys are."""
        if self.on_postgres:
            names = ["tiles", "checkpoints", "tree_head", *(["signing_keys"] if keys else [])]
            self.owner(*(f"DELETE FROM {self.schema}{name}" for name in names))
        else:
            known = (Path(self.place) / "proofs/keys").read_text()
            shutil.rmtree(Path(self.place) / "proofs")
            if not keys:
                (Path(self.place) / "proofs").mkdir()
                (Path(self.place) / "proofs/keys").write_text(known)

    def set_back(self, checkpoint: Checkpoint) -> None:
        """Let the tree be what it was at a checkpoint, its history included."""
        size, leaves = checkpoint.size, self.leaves()
        if self.on_postgres:
            self.owner(
                f"DELETE FROM {self.schema}checkpoints WHERE size > {size}",
                f"DELETE FROM {self.schema}tiles",
            )
        else:
            for each in (Path(self.place) / "proofs/checkpoints").iterdir():
                if int(each.name) > size:
                    each.unlink()
            shutil.rmtree(Path(self.place) / "proofs/tile")
        forged_head(self, checkpoint)
        wanted = set(tiles_of(size))
        made = {at: data for at, data in grow(0, [], leaves[:size])[1].items() if at in wanted}
        with self.tiles().extending() as writer:
            writer.mend(made)

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
        first = self.opened[0]
        if isinstance(first, PostgresEventStore):
            with first.server.connection() as connection, connection.transaction():
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


def test_a_tree_extended_in_random_steps_is_that_of_one_step(ledger, tmp_path):
    dice = random.Random(7)
    tree = ledger.tree()
    while ledger.store.head().position < 1_700:
        ledger.append(dice.choice([1, 2, 5, 254, 255, 256, 257, 300]))
        checkpoint = tree.extend()
        assert checkpoint.root == root_of(ledger.leaves())
    other = DirectoryTiles(tmp_path / "beside")
    at_once = Tree(ledger.store, other, SIGNER)
    assert at_once.extend().text == checkpoint.text
    for tile in tiles_of(checkpoint.size):
        assert other.tile(tile) == ledger.tiles().tile(tile) is not None


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


def test_keys_that_follow_each_other_at_one_size_lose_no_history(ledger):
    ledger.append(5)
    tree = ledger.tree()
    first = tree.extend(keep=True)
    ledger.append(1)
    keys = [SIGNER, *(Signer.generate(SIGNER.name) for _ in range(3))]
    for each in keys[1:]:
        both = tree.rotate(each)
        for verifier in tree.verifiers():
            assert check(both, [verifier]) == verifier
    ledger.append(1)
    last = tree.extend(keep=True)
    reader = ledger.tree(None)
    assert [each.vkey for each in reader.verifiers()] == [each.vkey for each in keys]
    assert reader.checkpoints() == [first, both, last]
    checked = TreeCheck(tree)
    checked.feed(ledger.leaves())
    assert checked.end(7) is None
    assert checked.checkpoints == 3


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
    from beliefledger.ledger.proofs.tiles import DirectoryTiles
    from beliefledger.ledger.postgres import tiles as postgres_tiles
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
        from beliefledger.ledger.proofs import tiles
        tiles._make = dying(tiles._make)
        for name in ("write", "_replace", "drop_partial"):
            setattr(kind, name, dying(getattr(kind, name)))
    else:
        for name in ("leaves", "write", "publish"):
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
    path = os.pathsep.join([str(tmp_path), str(root), str(root / "tests")])
    return programs.Program(
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


def test_a_key_that_a_reader_adopted_first_is_adopted(tmp_path):
    file = tmp_path / "signing.key"
    old = keyfile.create(file)
    new = Signer.generate(old.name)
    keyfile.prepare(file, new)
    assert keyfile.read(file, new.vkey).vkey == new.vkey  # another process, just now
    keyfile.adopt(file)
    assert keyfile.read(file).vkey == new.vkey


def test_what_is_prepared_next_is_not_adopted_in_the_place_of_what_was(tmp_path, monkeypatch):
    """A reader that found the key of one rotation must not move that of the next."""
    file = tmp_path / "signing.key"
    old = keyfile.create(file)
    second, third = Signer.generate(old.name), Signer.generate(old.name)
    keyfile.prepare(file, second)
    others: list[threading.Thread] = []
    read = keyfile._read

    def slowly(path):
        found = read(path)
        if path.name.endswith(".next") and not others:

            def rotate_again():
                keyfile.adopt(file)
                keyfile.prepare(file, third)

            others.append(threading.Thread(target=rotate_again))
            others[0].start()
            others[0].join(0.3)  # as far as it comes
        return found

    monkeypatch.setattr(keyfile, "_read", slowly)
    keyfile.read(file, second.vkey)
    others[0].join()
    assert read(file).vkey == second.vkey


# What is known beside the key


@pytest.fixture
def file(tmp_path) -> Path:
    keyfile.create(tmp_path / "signing.key")
    return tmp_path / "signing.key"


def test_the_head_that_was_signed_last_is_kept_beside_the_key(ledger, file):
    ledger.append(5)
    for _ in range(2):
        head = ledger.keyed(file).extend()
        mark = KeyFile(file).mark()
        assert (mark.place, mark.head) == ("here", head)
        ledger.append(5)
    kept = file.with_name("signing.key.head")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text("torn")
    with pytest.raises(LogCorrupted, match=r"signing\.key\.head"):
        ledger.keyed(file).extend()


@pytest.mark.parametrize("keys", [True, False])
def test_a_tree_that_was_taken_away_is_made_again_from_the_same_log_alone(ledger, file, keys):
    ledger.append(300)
    head = ledger.keyed(file).extend()
    ledger.take_tree_away(keys=keys)
    found = TreeCheck(ledger.keyed(file))
    found.feed(ledger.leaves())
    assert "nothing that it signed" in found.end(300).problem
    assert ledger.keyed(file).extend() == head
    ledger.take_tree_away(keys=keys)
    ledger.forge(17)
    for ask in (ledger.keyed(file).extend, lambda: ledger.keyed(file).sign("words\n")):
        with pytest.raises(LogCorrupted, match="of the positions 1 to 300 one is not the event"):
            ask()
    assert ledger.tiles().checkpoint() is None
    check_ = TreeCheck(ledger.keyed(file))
    check_.feed(ledger.leaves())
    assert check_.end(300).first == 1


def test_a_tree_that_was_set_back_goes_on_with_the_same_log_alone(ledger, file):
    ledger.append(200)
    old = ledger.keyed(file).extend(keep=True)
    ledger.append(200)
    open_all_along = ledger.keyed(file)
    head = open_all_along.extend(keep=True)
    ledger.set_back(old)
    assert ledger.keyed(file).extend() == head
    ledger.set_back(old)
    ledger.forge(301)
    ledger.append(1)
    for tree in (open_all_along, ledger.keyed(file)):
        for ask in (tree.extend, lambda tree=tree: tree.sign("words\n")):
            with pytest.raises(LogCorrupted, match="of the positions 201 to 400 one is not the ev"):
                ask()
    assert ledger.tree(None).latest() == old
    found = TreeCheck(ledger.keyed(file))
    found.feed(ledger.leaves())
    assert found.end(401).first == 201


def test_a_log_that_was_set_back_with_its_tree_is_not_signed(ledger, file):
    ledger.append(200)
    old = ledger.keyed(file).extend(keep=True)
    ledger.append(200)
    ledger.keyed(file).extend()
    ledger.cut(250)
    ledger.set_back(old)
    with pytest.raises(LogCorrupted, match="position 251 is missing"):
        ledger.keyed(file).extend()


def test_a_key_that_handed_over_signs_nothing_after_that(ledger, file):
    ledger.append(20)
    tree = ledger.keyed(file)
    old = tree.signer
    before = tree.extend(keep=True)
    handed_over = tree.rotate(Signer.generate(old.name))
    ledger.append(20)
    tree.extend(keep=True)
    reader = ledger.tree(None)
    assert [each.size for each in reader.checkpoints()] == [before.size, 40]
    leaves = ledger.leaves()
    ledger.set_back(handed_over)
    forged_head(ledger, issue(old.name, 40, root_of(leaves), old))
    with pytest.raises(LogCorrupted, match="not signed by a known key"):
        ledger.tree(None).latest()
    with pytest.raises(LogCorrupted, match="not signed by a known key"):
        tree.extend()
    found = TreeCheck(ledger.tree(None))
    found.feed(leaves)
    assert f"{old.vkey} had handed over before" in found.end(40).problem
    forged_head(ledger, issue(old.name, 20, root_of(leaves[:20]), old))
    assert ledger.tree(None).latest().size == 20


def rotated(ledger: Ledger, file: Path) -> Signer:
    tree = ledger.keyed(file)
    new = Signer.generate(tree.origin)
    keyfile.prepare(file, new)
    tree.rotate(new)
    keyfile.adopt(file)
    return new


def forget_handover(ledger: Ledger, before: Checkpoint, vkey: str) -> None:
    """As a backup has it that was made before."""
    if ledger.on_postgres:
        ledger.owner(
            f"DELETE FROM {ledger.schema}signing_keys WHERE vkey <> '{vkey}'",
            f"DELETE FROM {ledger.schema}checkpoints",
        )
    else:
        (Path(ledger.place) / "proofs/keys").write_text(vkey + "\n")
        shutil.rmtree(Path(ledger.place) / "proofs/checkpoints")
    forged_head(ledger, before)


def test_a_tree_from_before_two_rotations_is_told_of_them_by_the_key_file(ledger, file):
    ledger.append(20)
    tree = ledger.keyed(file)
    before = tree.extend()
    first = tree.signer
    new = [rotated(ledger, file), rotated(ledger, file)]
    forget_handover(ledger, before, first.vkey)
    found = TreeCheck(ledger.keyed(file))
    found.feed(ledger.leaves())
    assert (found.end(20), found.keys) == (None, "key file")
    ledger.append(1)
    assert ledger.keyed(file).extend().size == 21
    assert [each.vkey for each in ledger.tree(None).verifiers()] == [
        first.vkey,
        *(each.vkey for each in new),
    ]
    found = TreeCheck(ledger.tree(None))
    found.feed(ledger.leaves())
    assert (found.end(21), found.keys) == (None, "listed")


def test_a_log_that_does_not_lead_to_the_handover_is_told_what_to_do(ledger, file):
    ledger.append(20)
    tree = ledger.keyed(file)
    before = tree.extend()
    first = tree.signer
    ledger.append(1)
    rotated(ledger, file)
    ledger.cut(20)
    forget_handover(ledger, before, first.vkey)
    with pytest.raises(SigningKeyMissing) as told:
        ledger.keyed(file).extend()
    assert "Restore a backup that was made after the rotation" in str(told.value)
    assert "master key" not in str(told.value)
    assert [each.vkey for each in ledger.tree(None).verifiers()] == [first.vkey]


def test_a_tree_that_stays_open_goes_on_with_a_key_that_another_rotated(ledger, file):
    ledger.append(5)
    tree = ledger.keyed(file)
    tree.extend()
    new = rotated(ledger, file)
    assert tree.sign("words\n") == new.sign("words\n")
    stale = ledger.keyed(file)
    newer = rotated(ledger, file)
    ledger.append(5)
    assert check(stale.extend(), [newer.verifier])
    assert tree.signer.vkey == newer.vkey


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


def note_of(size: int, root: bytes = bytes(32), signer: Signer = SIGNER) -> str:
    return issue(signer.name, size, root, signer).text


STRANGER = Signer("beliefledger/fedcba9876543210", bytes(range(1, 33)))
OTHER = Signer(SIGNER.name, bytes(range(2, 34)))
HUGE = 9 * 10**18


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("INSERT INTO {}.signing_keys (vkey) VALUES (%s)", (OTHER.vkey,)),
        ("UPDATE {}.tree_head SET size = size + 1", ()),
        ("INSERT INTO {}.checkpoints (size, note) VALUES (1, %s)", (note_of(1),)),
        ("INSERT INTO {}.cosigned VALUES (1, 1, %s)", (note_of(1),)),
        ("UPDATE {}.cosigned SET size = size + 1", ()),
        ("SELECT {}.know_key(%s)", ("nonsense",)),
        ("SELECT {}.know_key(%s)", (STRANGER.vkey,)),
        ("SELECT {}.know_key(%s)", (OTHER.vkey.replace("+", "+00", 1)[:-2],)),
        ("SELECT {}.know_key(%s)", (OTHER.vkey.replace(OTHER.key_id.hex(), "0" * 8),)),
        ("SELECT {}.know_key(%s)", (Cosigner(SIGNER.name, bytes(range(32))).vkey,)),
        (
            "SELECT {0}.publish_head((SELECT note FROM {0}.tree_head), %s, %s, %s)",
            (HUGE, bytes(32), note_of(HUGE)),
        ),
        (
            "SELECT {0}.publish_head((SELECT note FROM {0}.tree_head), %s, %s, %s)",
            (19, bytes(32), note_of(19)),
        ),
        (
            "SELECT {0}.publish_head((SELECT note FROM {0}.tree_head), %s, %s, %s)",
            (20, bytes(32), note_of(20)),
        ),
        (
            "SELECT {0}.publish_head((SELECT note FROM {0}.tree_head), %s, %s, %s)",
            (20, bytes(32), "x"),
        ),
        ("SELECT {}.keep_checkpoint(%s, %s, %s)", (21, bytes(32), note_of(21))),
        ("SELECT {}.keep_checkpoint(%s, %s, %s)", (4, bytes(32), note_of(5))),
        ("SELECT {}.keep_checkpoint(%s, %s, %s)", (4, bytes(32), note_of(4, signer=STRANGER))),
        ("SELECT {}.keep_cosigned(%s, %s)", (21, note_of(21))),
        ("SELECT {}.keep_cosigned(%s, %s)", (20, note_of(HUGE))),
        ("SELECT {}.keep_cosigned(%s, %s)", (20, "garbage")),
    ],
)
def test_a_login_cannot_spoil_what_is_signed_for_all(app, statement, values):
    head = app.tree().extend(keep=True)
    app.tiles().keep_cosigned(head.text)
    server = app.store.server
    with pytest.raises(LedgerError, match=r"refused|permission denied|rights"):
        with server.connection() as connection:
            connection.execute(statement.format(server.url.schema), values)
    app.append(1, seed="d")
    later = app.tree().extend(keep=True)
    app.tiles().keep_cosigned(later.text)
    assert later.size == 21
    assert app.tree().checkpoints() == [head, later]
    assert app.tiles().vkeys() == [SIGNER.vkey]
    assert app.tiles().cosigned() == later.text


def test_a_key_that_nobody_handed_over_to_is_none_of_the_logs(app):
    app.tree().extend()
    server = app.store.server
    with server.connection() as connection:
        connection.execute(f"SELECT {server.url.schema}.know_key(%s)", (OTHER.vkey,))
        fake = issue(SIGNER.name, 5, bytes(32), OTHER, OTHER)
        connection.execute(
            f"SELECT {server.url.schema}.keep_checkpoint(%s, %s, %s)",
            (5, bytes(32), fake.text),
        )
    assert app.tiles().vkeys() == [SIGNER.vkey]
    app.append(1, seed="d")
    tree = app.tree()
    assert tree.extend().size == 21
    new = Signer.generate(SIGNER.name)
    tree.rotate(new)
    assert app.tiles().vkeys() == [SIGNER.vkey, new.vkey]
    app.append(1, seed="c")
    assert app.tree(new).extend().size == 22
    with pytest.raises(KeyMissing):
        app.tree(SIGNER).extend()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO {}.tiles VALUES (0, 0, 256, 'x')",
        "UPDATE {}.tiles SET hashes = ''",
        "DELETE FROM {}.tiles",
        "TRUNCATE {}.tiles",
        "SELECT {}.put_tile(0, 0, 20, 'x')",
        "SELECT {}.tile_of(0, 0, 20)",
        "SELECT {}.tile_roots('x')",
    ],
)
def test_a_login_can_neither_garble_nor_delete_the_tiles_of_all(app, statement):
    app.tree().extend()
    server = app.store.server
    with pytest.raises(LedgerError, match=r"permission denied"):
        with server.connection() as connection:
            connection.execute(statement.format(server.url.schema))
    assert Tree(app.opened[0], app.tiles(app.opened[0])).mend() == 0


EXTENDED = [(0, 300), (0, 513), (255, 256), (256, 512), (600, 620), (5, 10), (300, 100), (-1, 5)]
MENDED = [(0, 0, 256), (0, 0, 3), (0, 2, 7), (1, 0, 1), (1, 0, 2), (1, 0, 256), (2, 0, 1)]
NO_TILES = [
    (0, 10**15, 1),
    (0, 2**62, 9),
    (0, -1, 1),
    (0, 0, 0),
    (0, 0, 257),
    (7, 0, 1),
    (-1, 0, 1),
]
ASKED_FOR = [
    *(("extend_tiles", given) for given in [*EXTENDED, (-600, 0), (0, 10**15)]),
    *(("mend_tile", given) for given in [*MENDED, *NO_TILES]),
]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("signed", [True, False])
def test_whatever_tiles_a_login_asks_for_are_those_of_the_log(app, order, signed):
    app.append(605, seed="e")
    if signed:
        app.tree().extend()
    server = app.store.server
    with server.connection() as connection:
        for function, given in ASKED_FOR[::order]:
            marks = ", ".join(["%s"] * len(given))
            connection.execute(f"SELECT {server.url.schema}.{function}({marks})", given)
    leaves = app.opened[0].leaf_hashes(0, 625)
    full = [b"".join(leaves[at : at + 256]) for at in (0, 256)]
    there = app.opened[0].server.ask_plain(
        f"SELECT level, number, width, hashes FROM {server.url.schema}.tiles"
    )
    assert {Tile(0, 0), Tile(0, 1), Tile(1, 0, 2)} <= {Tile(*row[:3]) for row in there}
    for level, number, width, hashes in there:
        below = [root_of(hashes_of(each)) for each in full] if level else leaves
        assert hashes == b"".join(below[256 * number :][:width])
        assert width == 256 or (level, number) not in {(0, 0), (0, 1)}
    other = Tree(app.opened[0], app.tiles(app.opened[0]), SIGNER)
    assert other.extend().root == root_of(leaves)
    assert other.mend() == 0
    verify_inclusion(300, 625, leaves[300], other.inclusion(301, 625), root_of(leaves))


def test_a_garbled_tile_is_computed_anew_for_a_login_that_is_not_its_owner(app):
    app.append(605, seed="e")
    head = app.tree().extend()
    for tile in (Tile(0, 1), Tile(1, 0, 2), Tile(0, 2, 113)):
        right = app.tiles().tile(tile)
        app.damage_tile(tile, right[::-1])
        assert app.tree().mend() == 1
        assert app.tiles().tile(tile) == right
    app.damage_tile(Tile(0, 0), None)
    app.damage_tile(Tile(1, 0, 2), bytes(64))
    assert app.tree().mend() == 2
    assert app.tree().latest() == head
    assert app.tree().mend() == 0
