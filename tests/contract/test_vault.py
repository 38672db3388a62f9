"""What every vault guarantees, wherever it lies."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from beliefledger.ledger.errors import CallerMistake, KeyMissing, LogCorrupted, NotPermitted
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.vault import PostgresVault
from beliefledger.ledger.vault import SYSTEM, Vault

BACKENDS = ["sqlite", "postgres"]
MASTER = MasterKey(bytes(range(32)))


class InFiles:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def open(self, which: str, tenant: str, master: MasterKey) -> Vault:
        return Vault(self._directory / f"{which}.db", master)

    def spoil(self, statement: str, *values: object) -> None:
        with sqlite3.connect(self._directory / "keys.db") as plain:
            plain.execute(statement.replace("vault.", ""), values)
        plain.close()


class OnPostgres:
    def __init__(self, url: str) -> None:
        self._url = url

    def open(self, which: str, tenant: str, master: MasterKey) -> Vault:
        server = Server(PostgresURL.parse(f"{self._url}_{which}&tenant={tenant}"))
        postgres_vault.init(server)
        return Vault(PostgresVault(server), master)

    def spoil(self, statement: str, *values: object) -> None:
        url = PostgresURL.parse(f"{self._url}_keys")
        statement = statement.replace("vault.", f"{url.schema}_vault.").replace("?", "%s")
        with psycopg.connect(url.conninfo) as connection:
            connection.execute(statement, values)


@pytest.fixture
def place_of(request, tmp_path) -> Callable[[str], InFiles | OnPostgres]:
    def place(backend: str) -> InFiles | OnPostgres:
        if backend == "sqlite":
            return InFiles(tmp_path)
        return OnPostgres(request.getfixturevalue("postgres_url"))

    return place


@pytest.fixture
def open_vault(place_of) -> Iterator[Callable[..., Vault]]:
    opened: list[Vault] = []

    def open_(backend: str, which="keys", tenant="default", master=MASTER) -> Vault:
        opened.append(place_of(backend).open(which, tenant, master))
        return opened[-1]

    yield open_
    for vault in opened:
        vault.close()


@pytest.fixture(params=BACKENDS)
def backend(request) -> str:
    return request.param


@pytest.fixture
def connect(backend, place_of, open_vault) -> Callable[..., Vault]:
    place_of(backend)  # makes the server here: fixtures are not to be made in threads
    return lambda tenant="default", **more: open_vault(backend, tenant=tenant, **more)


@pytest.fixture
def vault(connect) -> Vault:
    return connect()


@pytest.fixture
def spoil(backend, place_of) -> Callable[..., None]:
    """Changes rows behind the vault's back."""
    return place_of(backend).spoil


def register(vault, *names):
    return vault.register("default", names)


def together(*calls):
    """Run the calls at the same time, each in a thread; what they returned or raised."""
    told = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(number, call):
        start.wait()
        try:
            told[number] = call()
        except Exception as problem:  # noqa: BLE001 - handed back to the test, which looks at it
            told[number] = problem

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def test_somebody_registered_twice_keeps_their_reference_and_key(vault):
    [ref] = register(vault, "ana")
    key = vault.keys(ref)
    assert register(vault, "ana", "ana") == [ref, ref]
    assert vault.find("default", "ana") == ref
    assert vault.keys(ref) is key
    assert vault.real_id(ref) == "ana"


def test_a_stranger_is_nobody(vault):
    assert vault.find("default", "nobody") is None
    assert not vault.was_erased("default", "nobody")
    with pytest.raises(KeyMissing, match="no key for subject"):
        vault.keys("f" * 32)


def test_subjects_have_different_keys_and_references_that_tell_nothing(vault):
    refs = register(vault, "ana", "anna", "ana b")
    assert len(set(refs)) == 3
    assert len({vault.keys(ref).ids for ref in refs}) == 3


def test_a_destroyed_key_is_gone_for_everybody_who_asks(vault):
    [ref] = register(vault, "ana")
    vault.keys(ref)
    assert len(vault.destroy(ref, 1)) == 64
    assert vault.keys(ref) is None
    assert vault.real_id(ref) is None
    assert vault.is_erased(ref)
    assert vault.was_erased("default", "ana")
    assert vault.subjects("default") == []
    with pytest.raises(NotPermitted, match="named actor"):
        vault.find("default", "ana")


def test_destroying_twice_changes_nothing(vault):
    [ref] = register(vault, "ana")
    assert vault.destroy(ref, 1)
    assert vault.destroy(ref, 2) == ""
    assert vault.is_erased(ref)


def test_destroying_a_stranger_s_key_is_not_an_erasure(vault):
    with pytest.raises(KeyMissing):
        vault.destroy("f" * 32, 1)
    assert not vault.is_erased("f" * 32)


def test_the_erased_come_back_only_anew_and_as_somebody_else(vault):
    [ref] = register(vault, "ana")
    vault.destroy(ref, 1)
    with pytest.raises(NotPermitted):
        register(vault, "ana")
    [anew] = vault.register("default", ["ana"], anew=True)
    assert anew != ref
    assert vault.find("default", "ana") == anew
    assert vault.keys(ref) is None
    assert vault.is_erased(ref)


def test_one_who_may_not_be_registered_keeps_the_others_out_too(vault):
    [ref] = register(vault, "ana")
    vault.destroy(ref, 1)
    with pytest.raises(NotPermitted):
        register(vault, "ben", "ana")
    assert vault.find("default", "ben") is None


def test_whom_the_log_says_was_erased_stays_erased_in_a_restored_vault(vault):
    [ana] = register(vault, "ana")
    [ben] = register(vault, "ben")
    vault.keep_erased({ana, "e" * 32}, 5)
    assert vault.keys(ana) is None
    assert vault.is_erased("e" * 32)
    assert vault.keys(ben)
    with pytest.raises(NotPermitted):
        vault.find("default", "ana")


def test_threads_register_and_erase_side_by_side(vault):
    refs = {}

    def come_and_go(number):
        for turn in range(5):
            name = f"{number}-{turn}"
            [refs[name]] = register(vault, name)
            assert vault.keys(refs[name])
            if turn % 2:
                vault.destroy(refs[name], 1)

    threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(vault.subjects("default")) == sorted(
        ref for name, ref in refs.items() if not int(name[-1]) % 2
    )
    assert all((vault.keys(ref) is None) == bool(int(name[-1]) % 2) for name, ref in refs.items())


def test_a_closed_vault_says_so(vault):
    vault.close()
    with pytest.raises(CallerMistake, match="was closed"):
        register(vault, "ana")
    vault.close()


def test_the_system_and_strangers_are_called_what_they_are(vault):
    assert vault.principal(SYSTEM) == (SYSTEM, False)
    assert vault.principal_name(SYSTEM) == SYSTEM
    assert vault.principal_name("f" * 32) == "f" * 32


def test_tenants_do_not_know_each_other_s_subjects(connect):
    one, two = connect("one"), connect("two")
    [ours] = one.register("one", ["ana"])
    assert two.find("two", "ana") is None
    [theirs] = two.register("two", ["ana"])
    assert ours != theirs
    assert one.subjects("one") == [ours]
    assert two.subjects("two") == [theirs]


def test_subjects_are_told_in_pages_without_one_twice(vault):
    refs = register(vault, *(f"person {number}" for number in range(7)))
    found, after = [], ""
    while page := vault.subjects("default", after, 3):
        assert len(page) <= 3
        found += page
        after = page[-1]
    assert found == vault.subjects("default")
    assert sorted(found) == sorted(refs)


def test_everything_is_there_after_opening_again(vault, connect):
    [ref] = register(vault, "ana")
    ids = vault.keys(ref).ids
    vault.notes.note_log_begun()
    vault.close()
    again = connect()
    assert again.find("default", "ana") == ref
    assert again.keys(ref).ids == ids
    assert again.notes.log_has_begun()


def test_a_wrong_master_key_opens_nothing(vault, connect):
    register(vault, "ana")
    with pytest.raises(KeyMissing, match="does not open the vault"):
        connect(master=MasterKey(bytes(32)))


def test_a_vault_that_lost_its_pepper_gets_no_other(vault, connect, spoil):
    register(vault, "ana")
    spoil("DELETE FROM vault.meta")
    with pytest.raises(LogCorrupted, match="lost its pepper"):
        connect()
    with pytest.raises(LogCorrupted, match="lost its pepper"):
        register(vault, "ben")


# Several at once


def test_an_erasure_in_another_process_reaches_what_is_cached_here(vault, connect):
    [ref] = register(vault, "ana")
    other = connect()
    assert vault.find("default", "ana") == ref
    assert vault.keys(ref)
    other.destroy(ref, 1)
    vault.refresh()
    assert vault.keys(ref) is None
    with pytest.raises(NotPermitted):
        vault.find("default", "ana")


def test_the_log_s_count_of_erasures_is_as_good_as_asking(vault, connect):
    [ref] = register(vault, "ana")
    other = connect()
    vault.refresh(4)
    assert vault.find("default", "ana") == ref
    assert vault.keys(ref)
    other.destroy(ref, 1)
    vault.refresh(5)
    assert vault.keys(ref) is None
    with pytest.raises(NotPermitted):
        vault.find("default", "ana")


def test_one_person_registered_by_many_at_once_gets_one_reference(connect):
    vaults = [connect() for _ in range(4)]
    names = [f"person {number}" for number in range(10)]
    told = together(*(lambda vault=vault: register(vault, *names) for vault in vaults))
    assert told == [told[0]] * 4
    assert sorted(vaults[0].subjects("default")) == sorted(told[0])


def test_one_principal_named_by_many_at_once_is_made_once(connect):
    vaults = [connect() for _ in range(4)]
    told = together(*(lambda vault=vault: vault.principal("dora") for vault in vaults))
    assert len({ref for ref, _ in told}) == 1
    assert sorted(fresh for _, fresh in told) == [False, False, False, True]


def test_a_new_vault_opened_by_many_at_once_has_one_pepper(connect):
    vaults = together(*[connect] * 4)
    refs = [register(vault, "ana") for vault in vaults]
    assert refs == [refs[0]] * 4


def test_who_is_erased_and_registered_at_once_is_not_half_there(vault, connect):
    other = connect()
    for number in range(5):
        [ref] = register(vault, f"person {number}")

        def again(name=f"person {number}"):
            return register(other, name)

        told, _ = together(again, lambda ref=ref: vault.destroy(ref, 1))
        assert told == [ref] or isinstance(told, NotPermitted)
    assert vault.subjects("default") == []


# Damage


@pytest.mark.parametrize("column", ["wrapped", "sealed_id"])
def test_a_changed_row_is_told_as_changed(vault, spoil, column):
    [ref] = register(vault, "ana")
    [(_, _, _, _, *blobs)] = vault.dump().keys
    blob = blobs[column == "sealed_id"]
    spoil(f"UPDATE vault.keys SET {column} = ?", blob[:-1] + bytes([blob[-1] ^ 1]))
    vault.refresh()
    with pytest.raises(LogCorrupted, match="was changed"):
        vault.keys(ref) if column == "wrapped" else vault.real_id(ref)


def test_a_key_written_in_clear_by_somebody_else_is_not_taken(vault, spoil):
    [ref] = register(vault, "ana")
    spoil("UPDATE vault.keys SET wrapped = ?", b"\x00" + bytes(32))
    vault.refresh()
    with pytest.raises(LogCorrupted, match="was changed"):
        vault.keys(ref)


def test_a_key_moved_to_another_subject_is_not_taken(vault, spoil):
    ana, ben = register(vault, "ana", "ben")
    spoil(
        "UPDATE vault.keys SET wrapped ="
        " (SELECT wrapped FROM vault.keys AS other WHERE other.subject_ref = ?)",
        ben,
    )
    vault.refresh()
    assert vault.keys(ben)
    with pytest.raises(LogCorrupted):
        vault.keys(ana)


def test_a_key_deleted_by_hand_is_missed(vault, spoil):
    [ref] = register(vault, "ana")
    assert vault.keys(ref)
    spoil("DELETE FROM vault.keys")
    vault.refresh()
    with pytest.raises(KeyMissing, match="no key for subject"):
        vault.keys(ref)


# Copying


WAYS = [(one, other) for one in BACKENDS for other in BACKENDS]


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_a_copy_knows_the_same_people(open_vault, source, target):
    original, copy = open_vault(source), open_vault(target, "copy")
    ana, ben, cid = register(original, "ana", "ben", "cid")
    original.destroy(cid, 7)
    dora, _ = original.principal("dora")
    ids = original.keys(ana).ids
    copy.restore(original.dump())
    assert copy.find("default", "ana") == ana
    assert copy.keys(ana).ids == ids
    assert copy.real_id(ben) == "ben"
    assert sorted(copy.subjects("default")) == sorted([ana, ben])
    assert copy.is_erased(cid)
    with pytest.raises(NotPermitted):
        register(copy, "cid")
    assert copy.principal("dora") == (dora, False)
    assert register(copy, "ana") == [ana]
    assert replace(copy.dump(), meta=[]) == replace(original.dump(), meta=[])
    [back] = [open_vault(source, "back")]
    back.restore(copy.dump())
    assert back.dump() == copy.dump()


def test_a_copy_made_again_takes_in_what_came_and_lets_go_of_who_went(connect):
    original, copy = connect(), connect(which="copy")
    ana, _ = register(original, "ana", "ben")
    before = original.dump()
    copy.restore(before)
    copy.restore(before)
    assert copy.dump() == before
    assert copy.keys(ana)
    [cid] = register(original, "cid")
    original.destroy(ana, 7)
    copy.restore(original.dump())
    assert copy.keys(ana) is None
    assert copy.keys(cid)
    assert copy.dump() == original.dump()
    copy.restore(before.__class__(before.meta, [*before.keys, *original.dump().keys], [], []))
    assert copy.keys(ana) is None, "who was erased does not come back from an older copy"


def test_another_that_is_open_while_a_copy_comes_in_finds_the_people_too(connect):
    original, copy, beside = connect(), connect(which="copy"), connect(which="copy")
    [ana] = register(original, "ana")
    dora, _ = original.principal("dora")
    copy.restore(original.dump())
    assert register(beside, "ana") == [ana]
    assert beside.principal("dora") == (dora, False)
    assert beside.find("default", "ana") == ana


def test_a_copy_under_another_master_key_is_refused(connect):
    original = connect()
    register(original, "ana")
    other = connect(which="copy", master=MasterKey(bytes(32)))
    with pytest.raises(KeyMissing, match="does not open"):
        other.restore(original.dump())
    assert other.subjects("default") == []


def test_a_copy_does_not_come_in_among_others(connect):
    original = connect()
    register(original, "ana")
    contents = original.dump()
    strangers, erased, acting, later = (connect(which=each) for each in ("a", "b", "c", "d"))
    register(strangers, "ben")
    erased.destroy(register(erased, "ben")[0], 1)
    acting.principal("dora")
    later.restore(contents)
    register(later, "ben")
    for each in (strangers, erased, acting, later):
        before = each.dump()
        with pytest.raises(CallerMistake, match="of its own"):
            each.restore(contents)
        assert each.dump() == before


def test_contents_without_a_pepper_are_no_vault_s(vault):
    with pytest.raises(CallerMistake, match="no pepper"):
        vault.restore(replace(vault.dump(), meta=[]))


# Principals


def test_a_principal_keeps_a_reference_that_is_not_their_name(vault):
    ref, fresh = vault.principal("dora")
    assert fresh
    assert vault.principal("dora") == (ref, False)
    assert vault.principal_name(ref) == "dora"
    assert all(b"dora" not in sealed for _, _, sealed in vault.dump().principals)
