"""The vault in a file: what SQLite leaves on the disk and says of it.

What every vault guarantees is in tests/contract/test_vault.py.
"""

from __future__ import annotations

import base64
import sqlite3
import stat
import threading

import pytest

from beliefledger.ledger.encryption import NotAuthentic, Sealer
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, KeyMissing, LogCorrupted
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.vault import Vault


def register(vault, *names):
    return vault.register("default", names)


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


def test_a_file_that_is_no_vault_is_damage_and_one_that_cannot_be_opened_is_not(tmp_path, master):
    (tmp_path / "keys.db").write_bytes(b"not a database at all, but long enough to be one" * 20)
    with pytest.raises(LogCorrupted, match="is damaged"):
        Vault(tmp_path / "keys.db", master)
    with pytest.raises(BackendUnusable, match="a directory on the way to it is missing"):
        Vault(tmp_path / "nowhere" / "keys.db", master)


def test_a_locked_vault_is_unavailable(vault, tmp_path):
    vault._database._db.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(tmp_path / "keys.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BackendUnavailable, match="locked"):
        register(vault, "ana")
    other.execute("ROLLBACK")
    other.close()
    assert register(vault, "ana")


def test_a_sealer_opens_nothing_that_nobody_sealed():
    with pytest.raises(NotAuthentic):
        Sealer(bytes(32)).open(b"\x00words", b"")
