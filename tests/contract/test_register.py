"""The vault's register: what it holds, and what `verify` finds of anything that was changed in a
vault behind its back. On both backends."""

from __future__ import annotations

import itertools
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from beliefledger.ledger import commitments
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.errors import LedgerError, LogCorrupted, NotPermitted
from beliefledger.ledger.key_rotation import RotationNote
from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres.server import PostgresURL
from beliefledger.ledger.vault_notes import Committed
from beliefledger.ledger.verify import Verified, verify

NEW = MasterKey(bytes(range(1, 33)))
COLUMNS = {
    "keys": "subject_ref tenant kek_id lookup wrapped sealed_id",
    "tombstones": "subject_ref lookup erased_at",
    "principals": "principal_ref lookup sealed_name",
    "erasures": "erasure subject_ref events erased_at",
    "register": "serial kind ref lookup detail chain mac",
    "meta": "name value",
}
"""The first is the key of the table."""


class Behind:
    """Writes to a vault's tables behind its back, past its triggers."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.sqlite = not place.startswith("postgres")

    def __call__(self, statement: str, *values: object) -> list[tuple]:
        if self.sqlite:
            with sqlite3.connect(Path(self._place) / "keys.db") as plain:
                found = plain.execute(statement.replace("vault.", ""), values).fetchall()
            plain.close()
            return found
        url = PostgresURL.parse(self._place)
        statement = statement.replace("vault.", f"{url.schema}_vault.").replace("?", "%s")
        with psycopg.connect(url.conninfo) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Nothing keeps the register from being changed; afterwards it is kept again, so that
        nobody sees that it was not."""
        if not self.sqlite:
            self("ALTER TABLE vault.register DISABLE TRIGGER ALL")
            yield
            self("ALTER TABLE vault.register ENABLE TRIGGER ALL")
            return
        made = self(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'register' AND type = 'trigger'"
        )
        assert len(made) == 3
        for name, _ in made:
            self(f"DROP TRIGGER {name}")
        yield
        for _, statement in made:
            self(statement)


class Ledger(NamedTuple):
    log: Log
    spoil: Behind
    reopen: Callable[[], Log]
    refs: dict[str, str]


@pytest.fixture
def ledger(place, log_at, clock) -> Iterator[Ledger]:
    """Two people who live, one who was erased, something erased of one who lives, and a name."""
    opened: list[Log] = []

    def open_() -> Log:
        opened.append(log_at(place, clock))
        return opened[-1]

    log = open_()
    refs = log.register(["ana", "bob", "cy"])
    refs["lea"] = log.principal("lea")
    log.erase(refs["cy"], actor=refs["lea"], legal_basis="request")
    at = log.head().position
    positions = [each.position for each in log.read() if each.subject_ref == refs["bob"]]
    [erasure] = log.eraser.request(
        lambda: [Wanted(refs["bob"], "turn", of="x", positions=tuple(positions))],
        actor=refs["lea"],
        legal_basis="request",
    )
    log.eraser.destroy(erasure)
    log.eraser.complete(erasure)
    refs["content"] = erasure.id
    assert log.head().position > at
    assert commitments.commit(log)
    yield Ledger(log, Behind(place), open_, refs)
    for each in opened:
        each.close()


def found(log: Log) -> str:
    """What verify says is wrong."""
    answer = verify(log)
    assert not answer.ok, "nothing was found"
    assert answer.problem is not None
    return answer.problem


def test_a_vault_that_nobody_changed_is_as_it_was_registered(ledger):
    answer = verify(ledger.log)
    assert answer == Verified(events=answer.events, bodies=0, destroyed=0, registered=6)
    assert verify(ledger.reopen()) == answer
    kinds = [each.kind for each in ledger.log.vault.dump().register]
    assert sorted(kinds) == ["content", "key", "key", "key", "principal", "tombstone"]


CHANGES = {
    "the lookup of a tombstone": ("UPDATE vault.tombstones SET lookup = ?", b"\x07" * 32, "cy"),
    "when somebody was erased": ("UPDATE vault.tombstones SET erased_at = ?", 1, "cy"),
    "a tombstone is gone": ("DELETE FROM vault.tombstones WHERE 1 = ?", 1, "cy"),
    "the lookup of a key": (
        "UPDATE vault.keys SET lookup = ? WHERE subject_ref = '{ana}'", b"\x07" * 32, "ana",
    ),
    "a sealed id": (
        "UPDATE vault.keys SET sealed_id = ? WHERE subject_ref = '{ana}'", b"\x01" * 40, "ana",
    ),
    "a wrapped key": (
        "UPDATE vault.keys SET wrapped = ? WHERE subject_ref = '{bob}'", b"\x01" * 61, "bob",
    ),
    "the master key that a key is said to be under": (
        "UPDATE vault.keys SET kek_id = ? WHERE subject_ref = '{bob}'", "0123456789abcdef", "bob",
    ),
    "a key is gone": ("DELETE FROM vault.keys WHERE subject_ref = ?", "{bob}", "bob"),
    "a sealed name": ("UPDATE vault.principals SET sealed_name = ?", b"\x01" * 40, "lea"),
    "the lookup of a name": ("UPDATE vault.principals SET lookup = ?", b"\x07" * 32, "lea"),
    "a name is gone": ("DELETE FROM vault.principals WHERE principal_ref = ?", "{lea}", "lea"),
    "which events were erased": ("UPDATE vault.erasures SET events = ?", b"[]", "content"),
    "whose events were erased": ("UPDATE vault.erasures SET subject_ref = ?", "{ana}", "content"),
    "what was erased is gone": (
        "DELETE FROM vault.erasures WHERE erasure = ?", "{content}", "content",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_in_a_vault_is_found_and_named(ledger, clock, change):
    statement, value, whose = CHANGES[change]
    value = value.format(**ledger.refs) if isinstance(value, str) else value
    ledger.spoil(statement.format(**ledger.refs), value)
    assert ledger.refs[whose] in found(ledger.log)
    clock.ahead(60)
    try:
        again = found(ledger.reopen())
    except LedgerError as problem:  # told as soon as it is opened
        again = str(problem)
    assert ledger.refs[whose] in again


def test_what_somebody_put_into_a_vault_is_found(ledger):
    ledger.spoil(
        "INSERT INTO vault.tombstones (subject_ref, lookup, erased_at) VALUES (?, ?, 1)"
        if ledger.spoil.sqlite
        else "INSERT INTO vault.tombstones (subject_ref, lookup, erased_at, tenant)"
        " VALUES (?, ?, 1, 'default')",
        "f" * 32,
        b"\x07" * 32,
    )
    assert "the tombstone of subject " + "f" * 32 in found(ledger.log)


SWAPS = ["lookup", "sealed_id", "wrapped"]


@pytest.mark.parametrize("column", SWAPS)
def test_columns_that_two_people_exchanged_are_found(ledger, column):
    ana, bob = ledger.refs["ana"], ledger.refs["bob"]
    [(one,)] = ledger.spoil(f"SELECT {column} FROM vault.keys WHERE subject_ref = ?", ana)
    [(other,)] = ledger.spoil(f"SELECT {column} FROM vault.keys WHERE subject_ref = ?", bob)
    for ref, value in ((bob, b"-"), (ana, other), (bob, one)):
        ledger.spoil(f"UPDATE vault.keys SET {column} = ? WHERE subject_ref = ?", value, ref)
    problem = found(ledger.log)
    assert ana in problem or bob in problem


ENTRIES = {
    "a lookup": ("UPDATE vault.register SET lookup = ? WHERE serial = 3", b"\x07" * 32),
    "a kind": ("UPDATE vault.register SET kind = ? WHERE serial = 3", "tombstone"),
    "a detail": ("UPDATE vault.register SET detail = ? WHERE serial = 5", "1"),
    "a chain": ("UPDATE vault.register SET chain = ? WHERE serial = 4", b"\x07" * 32),
    "a mac": ("UPDATE vault.register SET mac = ? WHERE serial = 4", b"\x07" * 32),
    "one in the middle is gone": ("DELETE FROM vault.register WHERE serial = ?", 3),
    "the last is gone": ("DELETE FROM vault.register WHERE serial = ?", 6),
    "all are gone": ("DELETE FROM vault.register WHERE serial > ?", 0),
}


@pytest.mark.parametrize("change", ENTRIES)
def test_what_was_changed_in_the_register_is_found(ledger, change):
    with ledger.spoil.let_go():
        ledger.spoil(*ENTRIES[change])
    assert "register" in found(ledger.log)
    assert "register" in found(ledger.reopen())


def test_rows_and_their_entries_that_are_cut_off_together_are_found(ledger):
    """Also where nothing was committed since: the log has the events."""
    [late] = ledger.log.register(["dora"]).values()
    with ledger.spoil.let_go():
        ledger.spoil("DELETE FROM vault.register WHERE ref = ?", late)
        ledger.spoil("DELETE FROM vault.keys WHERE subject_ref = ?", late)
    assert late in found(ledger.log)
    commitments.commit(ledger.log)
    with ledger.spoil.let_go():
        ledger.spoil("DELETE FROM vault.register WHERE ref = ?", ledger.refs["content"])
    ledger.spoil("DELETE FROM vault.erasures WHERE erasure = ?", ledger.refs["content"])
    assert "the log was told of 6" in found(ledger.log)


def test_random_flips_in_any_row_are_found(ledger):
    chosen = random.Random(13)
    missed = []
    for _ in range(80):
        table = chosen.choice(sorted(COLUMNS))
        key, *others = COLUMNS[table].split()
        if not ledger.spoil.sqlite and table == "keys":
            others.remove("tenant")  # of another tenant, it would be in their vault
        column = chosen.choice([key, *others])
        rows = ledger.spoil(f"SELECT {key}, {column} FROM vault.{table} ORDER BY 1")
        ref, value = chosen.choice([row for row in rows if row[1] not in (None, "", b"")])
        flipped = flip(value, chosen)
        change = f"UPDATE vault.{table} SET {column} = ? WHERE {key} = ?"
        with ledger.spoil.let_go():
            ledger.spoil(change, flipped, ref)
        if is_well(ledger.log):
            missed.append((table, column, ref, value, flipped))
        with ledger.spoil.let_go():
            ledger.spoil(change, value, flipped if column == key else ref)
    assert missed == []
    assert verify(ledger.log).ok


def is_well(log: Log) -> bool:
    try:
        return verify(log).ok
    except LedgerError:  # it does not even begin: without its pepper, say
        return False


def flip(value: object, chosen: random.Random) -> object:
    if isinstance(value, int):
        return value ^ 1 << chosen.randrange(20)
    raw = bytearray(value.encode() if isinstance(value, str) else value)
    at = chosen.randrange(len(raw))
    raw[at] ^= 1 << chosen.randrange(3)
    return raw.decode() if isinstance(value, str) else bytes(raw)


# The erased stay refused


@pytest.mark.parametrize(
    "statement",
    ["UPDATE vault.tombstones SET lookup = ?", "DELETE FROM vault.tombstones WHERE lookup <> ?"],
)
def test_the_erased_stay_refused_whatever_became_of_their_tombstone(ledger, statement):
    ledger.spoil(statement, b"\x07" * 32)
    for log in (ledger.log, ledger.reopen()):
        with pytest.raises(NotPermitted, match="was erased"):
            log.register(["cy"])
        with pytest.raises(NotPermitted, match="was erased"):
            log.vault.register("default", ["cy"])
        with pytest.raises(NotPermitted, match="was erased"):
            log.subject("cy")
        assert log.vault.is_erased(ledger.refs["cy"])
        assert ledger.refs["cy"] in found(log)


def test_who_is_erased_after_their_lookup_was_changed_is_refused(ledger):
    ana = ledger.refs["ana"]
    ledger.spoil("UPDATE vault.keys SET lookup = ? WHERE subject_ref = ?", b"\x07" * 32, ana)
    ledger.log.erase(ana, actor=ledger.refs["lea"], legal_basis="request")
    with pytest.raises(NotPermitted, match="was erased"):
        ledger.reopen().register(["ana"])
    assert verify(ledger.log).ok


def test_nobody_becomes_two_people_when_their_lookup_was_changed(ledger):
    ana = ledger.refs["ana"]
    ledger.spoil("UPDATE vault.keys SET lookup = ? WHERE subject_ref = ?", b"\x07" * 32, ana)
    with pytest.raises(LogCorrupted, match=ana):
        ledger.reopen().register(["ana"])
    lea = ledger.refs["lea"]
    ledger.spoil("UPDATE vault.principals SET lookup = ?", b"\x07" * 32)
    with pytest.raises(LogCorrupted, match=lea):
        ledger.log.principal("lea")


def test_the_erased_may_be_registered_anew_by_a_named_actor(ledger):
    [ref] = ledger.log.register(["cy"], actor=ledger.refs["lea"], anew=True).values()
    assert ref != ledger.refs["cy"]
    assert ledger.reopen().subject("cy") == ref
    assert verify(ledger.log).ok


# The register itself


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vault.register SET lookup = lookup",
        "UPDATE vault.register SET serial = serial + 1",
        "DELETE FROM vault.register",
        "INSERT OR REPLACE INTO vault.register SELECT * FROM vault.register WHERE serial = 1",
        "TRUNCATE vault.register",
    ],
)
def test_the_database_keeps_the_register_from_being_changed(ledger, statement):
    if ledger.spoil.sqlite and statement.startswith("TRUNCATE"):
        statement = "DELETE FROM vault.register WHERE serial = 6"
    if not ledger.spoil.sqlite and "OR REPLACE" in statement:
        statement = (
            "INSERT INTO vault.register SELECT * FROM vault.register WHERE serial = 1"
            " ON CONFLICT (tenant, serial) DO UPDATE SET kind = 'key'"
        )
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.RaiseException)):
        ledger.spoil(statement)
    assert verify(ledger.log).ok


def test_a_rotation_puts_every_entry_under_the_new_master_key(ledger):
    before = ledger.log.vault.dump().register
    ledger.log.vault.rotate(NEW, RotationNote("e" * 32, "system"))
    after = ledger.log.vault.dump().register
    assert [each[:-1] for each in before] == [each[:-1] for each in after]
    assert not {each.mac for each in before} & {each.mac for each in after}
    assert verify(ledger.log).ok
    ledger.log.register(["dora"])
    assert verify(ledger.log).ok


def test_a_rotation_does_not_make_good_what_was_changed(ledger):
    ledger.spoil("UPDATE vault.register SET mac = ? WHERE serial = 2", b"\x07" * 32)
    with pytest.raises(LogCorrupted, match="Entry 2"):
        ledger.log.vault.rotate(NEW, RotationNote("e" * 32, "system"))
    assert "entry 2" in found(ledger.log)


def test_the_log_is_told_when_the_register_has_grown_and_only_then(ledger):
    def told() -> list[int]:
        return [
            each.facts["serial"] for each in ledger.log.read() if each.type == "vault.committed.v1"
        ]

    assert told() == [6]
    assert not commitments.commit(ledger.log)
    ledger.log.register(["ana"])
    assert not commitments.commit(ledger.log)
    ledger.log.register(["dora"])
    assert commitments.commit(ledger.log)
    assert not commitments.commit(ledger.reopen())
    assert told() == [6, 7]
    ledger.spoil("DELETE FROM vault.meta WHERE name LIKE ?", "committed%")
    assert not commitments.commit(ledger.log), "what is noted in the vault only saves looking"


def test_two_who_tell_the_log_at_once_tell_it_once(ledger):
    ledger.log.register(["dora"])
    other = ledger.reopen()
    start = threading.Barrier(2)
    told: list[bool] = []

    def tell(log: Log) -> None:
        start.wait()
        told.append(commitments.commit(log))

    threads = [threading.Thread(target=tell, args=[log]) for log in (ledger.log, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == [False, True]


# A vault from before there was a register


def make_older(ledger: Ledger) -> None:
    ledger.spoil("DROP TABLE vault.register")
    if ledger.spoil.sqlite:
        ledger.spoil("PRAGMA user_version = 2")
    else:
        ledger.spoil("DROP FUNCTION vault.refuse_change")
        schema = ledger.log.store.server.url.schema
        ledger.spoil(f"COMMENT ON SCHEMA {schema}_vault IS 'beliefledger vault, version 2'")


def test_an_older_vault_gets_its_register_when_it_is_opened(place, log_at, clock):
    log = log_at(place, clock)
    refs = log.register(["ana", "cy"])
    log.principal("lea")
    log.erase(refs["cy"], actor="system", legal_basis="request")
    spoil = Behind(place)
    make_older(Ledger(log, spoil, lambda: log, refs))
    log.close()
    opened: list[Log] = []
    threads = [
        threading.Thread(target=lambda: opened.append(log_at(place, clock))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 2
    kinds = [each.kind for each in opened[0].vault.dump().register]
    assert kinds == ["key", "tombstone", "principal"]
    assert commitments.commit(opened[0])
    for each in opened:
        assert verify(each).ok
        with pytest.raises(NotPermitted):
            each.register(["cy"])
    for each in opened:
        each.close()


def test_filling_that_is_broken_off_leaves_nothing_and_is_done_again(
    place, log_at, clock, monkeypatch
):
    log = log_at(place, clock)
    refs = log.register(["ana", "cy"])
    make_older(Ledger(log, Behind(place), lambda: log, refs))
    log.close()
    from beliefledger.ledger import register as under_test

    wrote = under_test.write

    def half(transaction, rows):
        wrote(transaction, rows[:1])
        raise LogCorrupted("broken off")

    monkeypatch.setattr(under_test, "write", half)
    with pytest.raises(LogCorrupted, match="broken off"):
        log_at(place, clock)
    monkeypatch.undo()
    log = log_at(place, clock)
    assert [each.serial for each in log.vault.dump().register] == [1, 2]
    assert verify(log).ok
    log.close()


# What a trigger could do behind the vault's back


def test_a_trigger_that_keeps_what_is_deleted_is_named(ledger):
    if ledger.spoil.sqlite:
        ledger.spoil(
            "CREATE TRIGGER keeps BEFORE DELETE ON keys"
            " BEGIN INSERT INTO meta VALUES ('stash', old.wrapped); END"
        )
    else:
        ledger.spoil("CREATE RULE keeps AS ON DELETE TO vault.keys DO INSTEAD NOTHING")
    assert "'keeps'" in found(ledger.log)


def test_a_trigger_that_is_gone_is_named(ledger):
    with ledger.spoil.let_go():
        assert "'register_" in found(ledger.log)
    assert verify(ledger.log).ok


@pytest.mark.parametrize("kept_on", ["sqlite"], indirect=True)
def test_a_trigger_of_the_right_name_that_does_something_else_is_named(ledger):
    ledger.spoil("DROP TRIGGER register_refuses_delete")
    ledger.spoil(
        "CREATE TRIGGER register_refuses_delete BEFORE DELETE ON register"
        " BEGIN SELECT RAISE(IGNORE); END"
    )
    assert "'register_refuses_delete'" in found(ledger.log)


def test_a_note_is_guarded_also_where_its_hash_begins_as_the_notes_of_before_do(ledger):
    notes = ledger.log.vault.notes
    for serial in itertools.count(1):
        notes.note_committed("nobody", Committed(serial, 1))
        [(value,)] = ledger.spoil("SELECT value FROM vault.meta WHERE name = 'committed nobody'")
        if bytes(value)[:1] == b"[":
            break
    ledger.spoil(
        "UPDATE vault.meta SET name = 'committed somebody' WHERE name = 'committed nobody'"
    )
    assert "the note 'committed somebody' was changed" in found(ledger.log)
