"""What rotating the master key guarantees, wherever the vault lies."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest

from beliefledger.ledger import key_rotation
from beliefledger.ledger.encryption import NotAuthentic, Sealer
from beliefledger.ledger.errors import (
    BackendUnavailable,
    KeyMissing,
    LogCorrupted,
    MasterKeyReplaced,
)
from beliefledger.ledger.key_rotation import RotationNote
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.vault import PostgresVault
from beliefledger.ledger.vault import Vault

OLD, NEW = MasterKey(bytes(range(32))), MasterKey(bytes(range(1, 33)))
NOTE = RotationNote("e" * 32, "system")


@pytest.fixture(params=["sqlite", "postgres"])
def open_vault(request, tmp_path) -> Iterator[Callable[..., Vault]]:
    opened: list[Vault] = []

    def open_(master=OLD) -> Vault:
        if request.param == "sqlite":
            made = Vault(tmp_path / "keys.db", master)
        else:
            server = Server(PostgresURL.parse(request.getfixturevalue("postgres_url")))
            postgres_vault.init(server)
            made = Vault(PostgresVault(server, patience=0.5), master)
        opened.append(made)
        return made

    yield open_
    for vault in opened:
        vault.close()


@pytest.fixture
def vault(open_vault) -> Vault:
    return open_vault()


def known(vault):
    """All that the master key opens."""
    refs = vault.subjects("default")
    return {
        "keys": {ref: vault.keys(ref).ids for ref in refs},
        "people": {ref: vault.real_id(ref) for ref in refs},
        "names": [vault.principal_name(each[0]) for each in vault.dump().principals],
        "found": [vault.find("default", name) for name in ("ana", "bob")],
    }


def test_everything_is_as_it_was_under_the_new_key_and_nothing_under_the_old(vault, open_vault):
    vault.register("default", ["ana", "bob", "cy"])
    vault.principal("lea")
    vault.destroy(vault.find("default", "cy"), 1)
    before = known(vault)
    rotation = vault.rotate(NEW, NOTE)
    assert (rotation.previous, rotation.key, rotation.subjects) == (OLD.id, NEW.id, 2)
    assert known(vault) == before == known(open_vault(NEW))
    assert open_vault(NEW).was_erased("default", "cy")
    assert {each[2] for each in vault.dump().keys} == {NEW.id}
    with pytest.raises(KeyMissing, match=OLD.id):
        open_vault(OLD)
    old = Sealer(OLD.key)
    contents = vault.dump()
    wrapped = [(each[0], each[4]) for each in contents.keys]
    wrapped += [(each[0], each[2]) for each in contents.principals]
    wrapped += [each for each in contents.meta if each[0] == "pepper"]
    assert len(wrapped) == 4
    for name, blob in wrapped:
        with pytest.raises(NotAuthentic):
            old.open(blob, name.encode())


def test_more_people_than_one_statement_takes(vault, open_vault, monkeypatch):
    monkeypatch.setattr(key_rotation, "_AT_ONCE", 7)
    vault.register("default", [f"person {number}" for number in range(30)])
    before = known(vault)
    assert vault.rotate(NEW, NOTE).subjects == 30
    assert known(open_vault(NEW)) == before


@pytest.mark.parametrize(
    "ask",
    [
        lambda vault, ref: vault.keys(ref),
        lambda vault, ref: vault.real_id(ref),
        lambda vault, ref: vault.destroy(ref, 1),
        lambda vault, _ref: vault.register("default", ["dan"]),
        lambda vault, _ref: vault.principal("max"),
        lambda vault, _ref: vault.principal_name(vault.dump().principals[0][0]),
        lambda vault, _ref: vault.rotate(MasterKey(bytes(32)), NOTE),
    ],
)
def test_who_has_it_open_is_told_that_the_key_was_replaced(vault, open_vault, ask):
    [ref] = vault.register("default", ["ana"])
    vault.principal("lea")
    other = open_vault()
    other.rotate(NEW, NOTE)
    with pytest.raises(MasterKeyReplaced, match="open it again"):
        ask(vault, ref)
    again = open_vault(NEW)
    assert again.real_id(ref) == "ana"
    assert again.find("default", "dan") is None


def test_a_damaged_key_is_still_called_damaged(vault):
    [ref] = vault.register("default", ["ana"])
    change = "UPDATE vault.keys SET wrapped = ? WHERE subject_ref = ?"
    vault._database.write(lambda transaction: transaction.run(change, (b"\x01" * 61, ref)))
    with pytest.raises(LogCorrupted, match="was changed"):
        vault.keys(ref)
    with pytest.raises(LogCorrupted, match="was changed"):
        vault.rotate(NEW, NOTE)
    assert vault.dump().meta[0][1] == vault._secrets._sealed  # nothing was written


def test_a_lost_reply_to_the_commit_is_no_second_rotation(vault, open_vault):
    vault.register("default", ["ana"])
    write = vault._database.write

    def twice(work):
        write(work)
        return write(work)

    vault._database.write = twice
    assert vault.rotate(NEW, NOTE).subjects == 1
    vault._database.write = write
    assert known(open_vault(NEW)) == known(vault)


def test_it_is_remembered_until_the_log_has_it(vault, open_vault):
    vault.register("default", ["ana"])
    rotation = vault.rotate(NEW, NOTE)
    again = open_vault(NEW)
    assert again.unrecorded_rotation() == rotation
    again.rotation_is_recorded(rotation)
    assert vault.unrecorded_rotation() is None


def test_left_by_an_error_nothing_is_rotated(vault, open_vault, monkeypatch):
    vault.register("default", ["ana", "bob"])
    before = known(vault)

    def broken(*_):
        raise BackendUnavailable

    monkeypatch.setattr(key_rotation, "_told", broken)
    with pytest.raises(BackendUnavailable):
        vault.rotate(NEW, NOTE)
    assert known(vault) == before == known(open_vault(OLD))


def test_old_wrappings_are_in_no_file_of_a_directory(tmp_path):
    with_keys = Vault(tmp_path / "keys.db", OLD)
    with_keys.register("default", [f"person {number}" for number in range(200)])
    old = [each[4] for each in with_keys.dump().keys]
    with_keys.rotate(NEW, NOTE)
    files = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert not [each for each in old if each in files]
    with_keys.close()
    plain = sqlite3.connect(tmp_path / "keys.db")
    assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    plain.close()
