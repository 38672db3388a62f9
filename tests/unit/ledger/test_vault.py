"""The vault: who a subject is, their key, and what remains once it is destroyed."""

from __future__ import annotations

import base64
import sqlite3
import stat
import threading

import pytest

from ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    KeyMissing,
    LogCorrupted,
    NotPermitted,
)
from ledger.masterkey import MasterKey
from ledger.sealing import NotAuthentic, Sealer
from ledger.vault import SYSTEM, Vault


def register(vault, *names):
    return vault.register("default", names)


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


def test_tenants_do_not_know_each_other_s_subjects(vault):
    [ours] = vault.register("one", ["ana"])
    [theirs] = vault.register("two", ["ana"])
    assert ours != theirs
    assert vault.subjects("one") == [ours]


def test_subjects_have_different_keys_and_references_that_tell_nothing(vault):
    refs = register(vault, "ana", "anna", "ana ")
    assert len(set(refs)) == 3
    assert len({vault.keys(ref).ids for ref in refs}) == 3


def test_everything_is_there_after_opening_again(vault, tmp_path, master):
    [ref] = register(vault, "ana")
    ids = vault.keys(ref).ids
    vault.close()
    again = Vault(tmp_path / "keys.db", master)
    assert again.find("default", "ana") == ref
    assert again.keys(ref).ids == ids
    again.close()


def test_the_file_is_its_owner_s_alone_and_names_nobody(vault, tmp_path):
    register(vault, "ana.pereira@example.org")
    data = (tmp_path / "keys.db").read_bytes()
    assert stat.S_IMODE((tmp_path / "keys.db").stat().st_mode) == 0o600
    assert b"ana.pereira" not in data


def test_a_wrong_master_key_is_refused_before_anything_is_written(vault, tmp_path):
    register(vault, "ana")
    vault.close()
    before = (tmp_path / "keys.db").read_bytes()
    with pytest.raises(KeyMissing, match="does not open the vault"):
        Vault(tmp_path / "keys.db", MasterKey(bytes(32)))
    assert (tmp_path / "keys.db").read_bytes() == before
    assert not (tmp_path / "keys.db-journal").exists()


# Destroying


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


def test_no_byte_of_a_destroyed_key_stays_in_the_file_however_it_was_filled(vault, tmp_path):
    path = tmp_path / "keys.db"
    refs = register(vault, *(f"person {number}" for number in range(120)))
    with sqlite3.connect(path) as plain:
        rows = plain.execute("SELECT subject_ref, wrapped, sealed_id FROM keys").fetchall()
    plain.close()
    stored = {ref: (wrapped, sealed) for ref, wrapped, sealed in rows}
    gone = []
    for ref in refs[::-2]:  # pages empty, merge and move what is left
        vault.destroy(ref, 1)
        gone.append(ref)
    data = path.read_bytes()
    for ref in gone:
        for blob in stored[ref]:
            for form in (blob, blob[1:13], blob[13:], blob.hex().encode(), base64.b64encode(blob)):
                assert form not in data
    assert all(vault.keys(ref) for ref in refs if ref not in gone)
    assert not (tmp_path / "keys.db-journal").exists()


def test_an_erasure_in_another_process_reaches_what_is_cached_here(vault, tmp_path, master):
    [ref] = register(vault, "ana")
    other = Vault(tmp_path / "keys.db", master)
    assert vault.find("default", "ana") == ref
    assert vault.keys(ref)
    other.destroy(ref, 1)
    vault.refresh()
    assert vault.keys(ref) is None
    with pytest.raises(NotPermitted):
        vault.find("default", "ana")
    other.close()


def test_a_key_that_is_being_read_while_it_is_destroyed_is_not_kept(vault, monkeypatch):
    [ref] = register(vault, "ana")
    reading, go_on = threading.Event(), threading.Event()
    read = vault._key

    def slow(subject_ref):
        found = read(subject_ref)
        reading.set()
        go_on.wait(0.2)  # as long as the other thread could need, if it did not have to wait for us
        return found

    monkeypatch.setattr(vault, "_key", slow)
    reader = threading.Thread(target=vault.keys, args=(ref,))
    reader.start()
    reading.wait()
    monkeypatch.setattr(vault, "_key", read)
    vault.destroy(ref, 1)
    go_on.set()
    reader.join()
    assert vault.keys(ref) is None


def test_whom_the_log_says_was_erased_stays_erased_in_a_restored_vault(vault, tmp_path, master):
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


# Damage


@pytest.mark.parametrize("column", ["wrapped", "sealed_id"])
def test_a_changed_row_is_told_as_changed(vault, tmp_path, column):
    [ref] = register(vault, "ana")
    with sqlite3.connect(tmp_path / "keys.db") as plain:
        [blob] = plain.execute(f"SELECT {column} FROM keys").fetchone()
        flipped = blob[:-1] + bytes([blob[-1] ^ 1])
        plain.execute(f"UPDATE keys SET {column} = ?", (flipped,))
    plain.close()
    vault.refresh()
    with pytest.raises(LogCorrupted, match="was changed"):
        vault.keys(ref) if column == "wrapped" else vault.real_id(ref)


def test_a_key_written_in_clear_by_somebody_else_is_not_taken(vault, tmp_path):
    [ref] = register(vault, "ana")
    with sqlite3.connect(tmp_path / "keys.db") as plain:
        plain.execute("UPDATE keys SET wrapped = ?", (b"\x00" + bytes(32),))
    plain.close()
    vault.refresh()
    with pytest.raises(LogCorrupted, match="was changed"):
        vault.keys(ref)


def test_a_key_moved_to_another_subject_is_not_taken(vault, tmp_path):
    ana, ben = register(vault, "ana", "ben")
    with sqlite3.connect(tmp_path / "keys.db") as plain:
        plain.execute(
            "UPDATE keys SET wrapped = (SELECT wrapped FROM keys WHERE subject_ref = ?)", (ben,)
        )
    plain.close()
    vault.refresh()
    assert vault.keys(ben)
    with pytest.raises(LogCorrupted):
        vault.keys(ana)


def test_a_file_that_is_no_vault_is_damage_and_one_that_cannot_be_opened_is_not(tmp_path, master):
    (tmp_path / "keys.db").write_bytes(b"not a database at all, but long enough to be one" * 20)
    with pytest.raises(LogCorrupted, match="is damaged"):
        Vault(tmp_path / "keys.db", master)
    with pytest.raises(BackendUnavailable, match="did not answer"):
        Vault(tmp_path / "nowhere" / "keys.db", master)


def test_a_locked_vault_is_unavailable(vault, tmp_path):
    vault._db.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(tmp_path / "keys.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BackendUnavailable, match="locked"):
        register(vault, "ana")
    other.execute("ROLLBACK")
    other.close()
    assert register(vault, "ana")


def test_a_closed_vault_says_so(vault):
    vault.close()
    with pytest.raises(CallerMistake, match="was closed"):
        register(vault, "ana")
    vault.close()


# Principals


def test_a_principal_keeps_a_reference_that_is_not_their_name(vault, tmp_path):
    ref, fresh = vault.principal("dora")
    assert fresh
    assert vault.principal("dora") == (ref, False)
    assert vault.principal_name(ref) == "dora"
    assert b"dora" not in (tmp_path / "keys.db").read_bytes()


def test_the_system_and_strangers_are_called_what_they_are(vault):
    assert vault.principal(SYSTEM) == (SYSTEM, False)
    assert vault.principal_name(SYSTEM) == SYSTEM
    assert vault.principal_name("f" * 32) == "f" * 32


def test_a_sealer_opens_nothing_that_nobody_sealed():
    with pytest.raises(NotAuthentic):
        Sealer(bytes(32)).open(b"\x00words", b"")
