"""The vault through the front door: what was changed in it is named, an older one that was put back
is told of, and what `vault restore`, `copy` and `vault rotate` leave is as it was registered."""

from __future__ import annotations

import itertools
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.backups import backup, restore, restore_vault, rotate
from beliefledger.ledger import commitments
from beliefledger.ledger.backup import VAULT_MANIFEST, _read_keys
from beliefledger.ledger.errors import BackendUnavailable, NotPermitted
from beliefledger.ledger.events.ops import VaultCommitted
from beliefledger.ledger.ledger_copy import vault_digest
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.operations.copy import copy
from beliefledger.proofs import notary
from beliefledger.tools.cli import app

COULD_NOT = 3


@pytest.fixture(autouse=True)
def keys(tmp_path, monkeypatch):
    """The keys lie where no ledger and no vault is, and the vault apart, in a directory."""
    file = tmp_path / "keys" / "master.key"
    file.parent.mkdir()
    MasterKey(bytes(range(32))).write(file)
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(file))
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "keys" / "signing.key"))


@pytest.fixture
def apart(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "vault"))
    return tmp_path / "vault" / "keys.db"


@pytest.fixture
def told(new_place, keys, monkeypatch):
    """Ana, and Cy who was erased."""
    place = new_place()
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)  # a server's, of other tests
    with open_memory(place) as memory:
        for name in ("ana", "cy"):
            memory.consent.grant(name, "consent")
        memory.remember("ana", "I live in Porto.")
        memory.remember("cy", "I like tea.")
        memory.erase("cy", by="lea")
    return place


def run(place, *arguments):
    return CliRunner().invoke(app, ["--ledger", place, *arguments], env={"COLUMNS": "400"})


def committed(place):
    with open_memory(place, create=False) as memory:
        events = memory.subscribe(follow=False, types=[VaultCommitted.NAME])
        return [(each.facts["serial"], each.facts["restored"]) for each in events]


def spoil(file, statement, *values):
    with sqlite3.connect(file) as plain:
        plain.execute(statement, values)
    plain.close()


def verified(place):
    with open_memory(place, create=False) as memory:
        return memory.proofs.verify()


def test_closing_tells_the_log_once_for_each_growth(told):
    assert committed(told) == [(4, False)]  # two keys, a tombstone, a name
    with open_memory(told) as memory:
        memory.record_turn("ana", "I like coffee.")
    with open_memory(told) as memory:
        before = memory.status().position
        assert memory.proofs.verify().ok
    with open_memory(told) as memory:
        assert memory.status().position == before, "who only looks writes nothing"
        memory.record_turn("dora", "I like jam.")
    assert committed(told) == [(4, False), (5, False)]


def test_while_it_is_open_the_log_is_told_every_ten_minutes(told, monkeypatch):
    assert notary.COMMIT_EVERY == 600
    monkeypatch.setattr(notary, "COMMIT_EVERY", 0.0)
    monkeypatch.setattr(notary, "EVERY", 0.0)
    with open_memory(told) as memory:
        memory.record_turn("dora", "I like jam.")
        for event in memory.subscribe(types=[VaultCommitted.NAME]):
            if event.facts["serial"] == 5:
                break
        position = memory.status().position
    with open_memory(told) as memory:
        assert memory.status().position == position, "there is nothing more to tell on closing"


def test_a_close_that_cannot_tell_the_log_still_closes(told, monkeypatch):
    def fail(_log):
        raise BackendUnavailable("The log did not answer.")

    with monkeypatch.context() as failing, open_memory(told) as memory:
        memory.record_turn("dora", "I like jam.")
        failing.setattr(commitments, "commit", fail)
    assert committed(told) == [(4, False)]
    with open_memory(told) as memory:
        memory.record_turn("ana", "I like coffee.")
    assert committed(told) == [(4, False), (5, False)], "whoever writes next tells it"


def test_verify_names_what_was_changed_in_a_vault_that_is_kept_apart(apart, told):
    assert run(told, "proof", "verify").exit_code == 0
    with open_memory(told) as memory:
        [(ref, lookup, _)] = memory._log.vault.dump().tombstones
    spoil(apart, "UPDATE tombstones SET lookup = ?", b"\x07" * 32)
    result = run(told, "proof", "verify")
    assert result.exit_code == COULD_NOT
    said = " ".join(result.stdout.split())
    assert f"the tombstone of subject {ref} has another lookup than the register" in said
    assert not json.loads(run(told, "proof", "verify", "--json").stdout)["ok"]
    with open_memory(told) as memory, pytest.raises(NotPermitted, match="was erased"):
        memory.record_turn("cy", "I am back.")
    spoil(apart, "UPDATE tombstones SET lookup = ?", lookup)
    assert run(told, "proof", "verify").exit_code == 0


def test_an_older_vault_that_is_put_back_is_told_of_until_that_is_on_record(apart, told, tmp_path):
    shutil.copy(apart, tmp_path / "older.db")
    with open_memory(told) as memory:
        memory.consent.grant("ana", "consent", by="dora")
        memory.erase("ana", by="lea")
        assert memory.proofs.verify().ok
    shutil.copy(tmp_path / "older.db", apart)
    answer = verified(told)
    assert not answer.ok
    assert "the log was told of 6" in answer.problem
    assert "beliefledger ops vault restored" in answer.problem
    done = run(told, "ops", "vault", "restored", "--by", "lea", "--json")
    assert json.loads(done.stdout) == {"restored": True}
    assert verified(told).ok
    assert committed(told)[-1][1]
    done = run(told, "ops", "vault", "restored", "--by", "lea")
    assert "nothing to record" in done.stdout
    with open_memory(told) as memory, pytest.raises(NotPermitted):
        memory.record_turn("ana", "I am back.")  # the log knew of it


def test_an_older_backup_of_the_vault_is_restored_on_record(apart, told, tmp_path):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    with open_memory(told) as memory:
        memory.consent.grant("ana", "consent", by="dora")
        memory.erase("ana", by="lea")
    apart.unlink()
    restore_vault(told, tmp_path / "v")
    assert verified(told).ok
    assert committed(told)[-1] == (5, True)  # ana's tombstone is made again, dora's name is not
    with open_memory(told) as memory:
        memory.record_turn("eve", "I like jam.")
    assert committed(told)[-1] == (6, False)
    assert verified(told).ok


def test_a_backup_of_the_vault_puts_right_what_was_changed_in_it(apart, told, tmp_path):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    for table, column in itertools.product(("tombstones", "principals", "keys"), ("lookup",)):
        spoil(apart, f"UPDATE {table} SET {column} = ?", b"\x07" * 32)
    spoil(apart, "UPDATE principals SET sealed_name = ?", b"\x01" * 40)
    assert not verified(told).ok
    restore_vault(told, tmp_path / "v")
    assert verified(told).ok
    assert committed(told) == [(4, False)]


def test_a_backup_brings_the_register_along(apart, told, tmp_path, new_place, monkeypatch):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    monkeypatch.delenv("BELIEFLEDGER_VAULT")
    there = new_place()
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
    restore(tmp_path / "b", there, vault=tmp_path / "v")
    answer = verified(there)
    assert (answer.ok, answer.registered) == (True, 4)
    assert committed(there) == [(4, False)]


def test_a_backup_from_before_there_was_a_register_is_restored(told, tmp_path, new_place):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    make_older(tmp_path / "v")
    place = new_place()
    restore(tmp_path / "b", place, vault=tmp_path / "v")
    with open_memory(place) as memory:
        assert len(memory._log.vault.dump().register) == 3, "of Cy a tombstone is left, and no key"
        with pytest.raises(NotPermitted):
            memory.record_turn("cy", "I am back.")
    assert verified(place).ok


def make_older(directory: Path) -> None:
    """As the version before wrote it."""
    for name in ("only_grows", "refuses_delete", "refuses_update"):
        spoil(directory / "keys.db", f"DROP TRIGGER register_{name}")
    spoil(directory / "keys.db", "DROP TABLE register")
    spoil(directory / "keys.db", "PRAGMA user_version = 0")
    manifest = json.loads((directory / VAULT_MANIFEST).read_text())
    manifest["format"] = "beliefledger.vault-backup.v1"
    manifest["digest"] = vault_digest(_read_keys(directory / "keys.db"))
    (directory / VAULT_MANIFEST).write_text(json.dumps(manifest))


def test_a_copy_has_the_register_of_its_source(told, postgres, tmp_path):
    for place in (f"{postgres}&schema=copied_{id(told)}", str(tmp_path / "copied")):
        copy(told, place)
        answer = verified(place)
        assert (answer.ok, answer.registered) == (True, 4)
        copy(told, place)  # again, where everything is already
        with open_memory(told) as one, open_memory(place) as other:
            mine, its = one._log.vault.dump(), other._log.vault.dump()
        assert mine.register == its.register


def test_what_the_log_was_told_holds_after_a_rotation(told):
    rotate(told, new_key_file=None, by="lea")
    answer = verified(told)
    assert (answer.ok, answer.registered) == (True, 4)
    assert committed(told) == [(4, False)]
