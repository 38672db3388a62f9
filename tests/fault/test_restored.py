"""Backups, restores and rotations that are killed at any step, on both backends: begun again they
complete, nothing is lost, and no word of whoever was erased can be decrypted."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

import programs
import pytest

from beliefledger import open_memory
from beliefledger.backups import backup, restore, restore_vault, rotate
from beliefledger.ledger import backup as backups
from beliefledger.ledger import envelope, restoration
from beliefledger.ledger.encryption import NotAuthentic, Sealer, SubjectKeys
from beliefledger.ledger.errors import BehindWitness, KeyMissing, LedgerError
from beliefledger.ledger.events.ops import MasterKeyRotated
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.opening.backends import open_place
from beliefledger.opening.place import place_of
from beliefledger.settings import Settings

KILLED = 9
KEPT, TURN, PERSON = "Vilarinho", "xylographic", "Quarkbread"
CY = "cy.marlow@example.org"
STEPS = ["begun", "load", "sign", "remove", "compare", "finish", "vault"]


@pytest.fixture(autouse=True)
def keys(tmp_path, monkeypatch):
    """The keys and the living vault are where no ledger and no backup is."""
    file = tmp_path / "keys" / "master.key"
    file.parent.mkdir()
    MasterKey(bytes(range(32))).write(file)
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(file))
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(file.with_name("signing.key")))
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "living"))
    monkeypatch.setattr(backups, "PAGE", 11)
    monkeypatch.setattr(restoration, "PAGE", 11)
    return file


@pytest.fixture
def told(new_place, keys, monkeypatch):
    place = new_place()
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)  # a server's, of other tests
    with open_memory(place) as memory:
        for name in ("ana", CY):
            memory.consent.grant(name, "consent")
        memory.remember("ana", f"I live in {KEPT}.")
        memory.remember("ana", f"I collect {TURN} prints.")
        memory.remember(CY, f"My name is Cy. I like {PERSON}.")
    return place


def forget(place):
    with open_memory(place) as memory:
        turn = next(
            each.stream
            for each in memory.subscribe(follow=False, types=["turn.recorded.v2"])
            if each.event and TURN in each.event.content
        )
        memory.erase("ana", turn=turn, by="lea")
        memory.erase(CY, by="lea")


def killed_at(step, work):
    """Do the work in a process that dies at a step; False when it never came there."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work(lambda at: at == step and os._exit(KILLED))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, KILLED}
    return code == KILLED


def events(place):
    with open_memory(place, create=False) as memory:
        assert memory.proofs.verify().ok
        return list(memory.subscribe(follow=False))


def forgotten(place):
    said = " ".join(str(each.event) for each in events(place))
    return KEPT in said and TURN not in said and PERSON not in said


@pytest.mark.parametrize("erased", [False, True])
def test_a_backup_killed_at_any_step_completes(told, tmp_path, new_place, erased):
    if erased:  # bodies have to be taken out of an earlier one
        backup(told, tmp_path / "b", vault=tmp_path / "v")
        forget(told)
    reached = []
    for step in STEPS:
        where = tmp_path / ("b" if erased else f"b-{step}")
        vault = tmp_path / ("v" if erased else f"v-{step}")

        def work(die, where=where, vault=vault):
            backup(told, where, vault=vault, step=die)

        if killed_at(step, work):
            reached.append(step)
        if erased:  # the earlier one is whole, or the one that was under way
            with backups.opened(where) as (manifest, store):
                backups.check(where, store, manifest, lambda _: None)
                assert manifest.position
        done = backup(told, where, vault=vault)
        with backups.opened(where) as (manifest, store):
            backups.check(where, store, manifest, lambda _: None)
            assert manifest.position == done.position
        if erased:
            with open_memory(told) as memory:
                memory.remember("ana", f"I like {step}-music.")
            continue
        again = f"{tmp_path}/again-{step}"
        restore(where, again, vault=vault)
        assert [each.event for each in events(again)] == [each.event for each in events(told)]
    assert reached == STEPS


@pytest.mark.parametrize("with_vault", [False, True])
def test_a_restore_killed_at_any_step_completes_and_brings_back_nobody(
    told, tmp_path, new_place, with_vault, monkeypatch
):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    forget(told)
    vault = tmp_path / "v" if with_vault else None
    for step in ("vault", "tree", "load", "open"):
        again = new_place()
        monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)

        def work(die, again=again):
            restore(tmp_path / "b", again, vault=vault, step=die)

        assert killed_at(step, work)
        if step != "open":  # by then only the opening is left, which anybody's does
            restore(tmp_path / "b", again, vault=vault)
        assert forgotten(again)


def test_a_vault_restored_over_a_newer_log_killed_at_any_step_brings_back_nobody(told, tmp_path):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    forget(told)
    for step in ("vault", "open"):
        for each in (tmp_path / "living").iterdir():
            each.unlink()
        assert killed_at(step, lambda die: restore_vault(told, tmp_path / "v", step=die))
        restore_vault(told, tmp_path / "v")
        assert forgotten(told)


def test_no_key_that_is_left_decrypts_an_erased_body_of_an_old_backup(told, tmp_path):
    """Whole people: by no key of the living vault. Content of the living: never restored."""
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    before = events(told)
    erased = [each for each in before if each.subject_ref and PERSON in str(each.event)]
    forget(told)
    opened = open_place(place_of(told), Settings.read(), create=False)
    try:
        wrapper = Sealer(opened.master_key.key)
        living = [
            SubjectKeys.of(each[0], wrapper.open(each[4], each[0].encode()))
            for each in opened.vault.dump().keys
        ]
        with backups.opened(tmp_path / "b") as (manifest, store):
            rows = [row for row in store.read(0, manifest.position) if row.body is not None]
        readable = {row.position for row in rows if any(opens(keys, row) for keys in living)}
        positions = {each.position for each in erased}
        assert positions <= {row.position for row in rows}  # the backup still has the bodies
        assert not positions & readable
        assert {each.position for each in before if KEPT in str(each.event)} <= readable
    finally:
        opened.vault.close()
        opened.store.close()
    again = f"{tmp_path}/again"
    restore(tmp_path / "b", again)
    held = open_place(place_of(again), Settings.read(), create=False)
    try:
        gone = {each.position for each in before if TURN in str(each.event)}
        assert gone
        assert [row.body for row in held.store.read_at(sorted(gone))] == [None] * len(gone)
    finally:
        held.vault.close()
        held.store.close()


def opens(keys, row):
    """Whether a body is readable with this key."""
    said = envelope.read(row.envelope, row.position)
    names = ("event_id", "type", "stream", "version", "tenant", "subject_ref")
    bound_to = envelope.address_bytes(*(said[name] for name in names))
    try:
        return bool(keys.bodies.open(row.body, bound_to))
    except NotAuthentic:
        return False


@pytest.mark.parametrize("keep", [False, True])
def test_a_rotation_killed_at_any_step_loses_no_key(told, keys, keep):
    before = events(told)
    ids = [MasterKey.from_file(keys).id]
    for number, step in enumerate(
        ("write the new key", "wrap", "change the file", "record", "scrub"), 1
    ):
        assert killed_at(step, lambda die: rotate(told, keep_old=keep, step=die))
        assert [each.event for each in events(told)][: len(before)] == [e.event for e in before]
        rotate(told, keep_old=keep)  # one that never came to the vault is done now
        ids.append(MasterKey.from_file(keys).id)
        assert not keys.with_name("master.key.new").exists()
        recorded = [each.event for each in events(told) if each.type == MasterKeyRotated.NAME]
        assert recorded[-1].key == ids[-1]
        chain = [each.previous for each in recorded]
        assert chain == [ids[0], *(each.key for each in recorded[:-1])], (step, number)
    kept = sorted(each.name for each in keys.parent.iterdir() if "retired" in each.name)
    assert bool(kept) == keep


def test_a_rotation_to_a_named_file_killed_at_any_step_is_completed_by_the_same_command(
    told, keys, monkeypatch, tmp_path
):
    before = events(told)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", keys.read_text().strip())
    for number, step in enumerate(("write the new key", "wrap", "change the file", "record")):
        new = tmp_path / "keys" / f"next-{number}.key"
        assert killed_at(step, lambda die, new=new: rotate(told, new_key_file=new, step=die))
        rotate(told, new_key_file=new)
        with contextlib.suppress(LedgerError), pytest.raises(KeyMissing):
            open_memory(told)
        monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", new.read_text().strip())
        recorded = [each.event for each in events(told) if each.type == MasterKeyRotated.NAME]
        assert len(recorded) == number + 1
    assert [each.event for each in events(told)][: len(before)] == [e.event for e in before]


@contextlib.contextmanager
def witness_of(place, directory):
    """A witness of this ledger, started as a process: its URL and its key."""
    with open_memory(place) as memory:
        [key] = [each.vkey for each in memory.proofs.tree.verifiers()]
    command = [
        sys.executable,
        "-m",
        "beliefledger",
        "proof",
        "witness",
        "serve",
        "--json",
        "--store",
    ]
    process = programs.Program(
        [*command, str(directory), "--listen", "127.0.0.1:0", "--log", key],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        told = json.loads(process.stdout.readline())
        yield told["url"], told["verifier_key"]
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_log_and_vault_both_set_back_are_refused_by_the_witness(
    told, tmp_path, new_place, monkeypatch
):
    backup(told, tmp_path / "b", vault=tmp_path / "v")
    forget(told)
    with witness_of(told, tmp_path / "witness") as (url, key):
        monkeypatch.setenv("BELIEFLEDGER_WITNESS", url)
        monkeypatch.setenv("BELIEFLEDGER_WITNESS_KEY", key)
        with open_memory(told):
            pass  # its head is cosigned
        monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "another"))
        again = new_place()
        monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
        for attempt in (
            lambda: restore(tmp_path / "b", again, vault=tmp_path / "v"),
            lambda: open_memory(again),
            lambda: rotate(again),
            lambda: backup(again, tmp_path / "of-the-restored"),
        ):
            with pytest.raises(BehindWitness) as refused:
                attempt()
            if attempt.__code__.co_names[0] == "restore":
                assert "Nothing was served" in str(refused.value)
        monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "living"))
        backup(told, tmp_path / "newest")
        newest = new_place()
        restore(tmp_path / "newest", newest)
        assert forgotten(newest)
