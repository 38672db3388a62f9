"""Backups of a ledger and of its vault: what is in them, and that nobody comes back by them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import programs
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.backups import backup, restore, restore_vault, rotate
from beliefledger.ledger.errors import (
    CallerMistake,
    KeyMissing,
    LogCorrupted,
    MasterKeyReplaced,
    NotPermitted,
)
from beliefledger.ledger.events.ops import MasterKeyRotated
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres.server import is_postgres
from beliefledger.opening.backends import open_place
from beliefledger.opening.place import NoLedger, place_of
from beliefledger.settings import Settings
from beliefledger.tools.cli import app

ROOT = Path(__file__).parents[2]
MASTER = bytes(range(32)).hex()
KEPT = "I live in Vilarinho."
ERASED = "I collect xylographic prints."
CY = "cy.marlow@example.org"
WORDS = ["Vilarinho", "xylographic", "Quarkbread", "cy.marlow", "kitchen-session", "lea.reviewer"]


@pytest.fixture(autouse=True)
def keys(tmp_path, monkeypatch):
    """The master key and the signing key lie where no ledger and no backup is."""
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER)
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))


@pytest.fixture
def backed(tmp_path):
    return tmp_path / "backup"


@pytest.fixture
def vault(tmp_path):
    return tmp_path / "vault-backup"


@pytest.fixture
def told(place):
    tell(place)
    return place


def tell(place):
    """A ledger of somebody who stays and somebody who will be erased; returns a turn's id."""
    with open_memory(place) as memory:
        for name in ("ana", CY):
            memory.consent.grant(name, "consent")
        memory.remember("ana", KEPT, session="kitchen-session")
        receipt, _ = memory.remember("ana", ERASED)
        memory.remember(CY, "My name is Cy. I like Quarkbread.")
        memory.revoke(memory.beliefs("ana")[0].memory_id, by="lea.reviewer")
        with memory.consumer("mailer", follow=False) as events:
            events.ack(next(events))
        return receipt.turn_id


def forget(place):
    """Erase one turn of who stays, and the other one whole."""
    with open_memory(place) as memory:
        turn = next(
            each for each in memory.subscribe(follow=False, types=["turn.recorded.v2"])
            if each.event and "xylographic" in each.event.content
        )  # fmt: skip
        turn_id = turn.stream
        memory.erase("ana", turn=turn_id, by="lea.reviewer")
        memory.erase(CY, by="lea.reviewer")


def asked(place):
    """What tells one ledger from another."""
    with open_memory(place, create=False) as memory:
        assert memory.proofs.verify().ok
        assert all(each.same for each in memory.operations.rebuild(verify=True))
        return {
            "events": list(memory.subscribe(follow=False)),
            "beliefs": memory.beliefs(),
            "consumers": {each.name: each.position for each in memory.status().consumers},
        }


def words_of(place):
    """All that can still be read."""
    with open_memory(place, create=False) as memory:
        events = list(memory.subscribe(follow=False))
        return " ".join(str(each.event) for each in events) + str(memory.beliefs())


def assert_forgotten(place):
    said = words_of(place)
    assert "Vilarinho" in said
    assert "xylographic" not in said
    assert "Quarkbread" not in said
    with open_memory(place, create=False) as memory:
        assert memory.proofs.verify().ok
        with pytest.raises(NotPermitted, match="erased"):
            memory.remember(CY, "I am back.")
        assert all(each.same for each in memory.operations.rebuild(verify=True))


def every_byte(directory):
    return b"".join(each.read_bytes() for each in directory.rglob("*") if each.is_file())


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The living vault is in a place of its own."""
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "living"))
    return tmp_path / "living"


# There and back


def test_a_backup_is_restored_as_it_was(told, new_place, backed, vault):
    before = asked(told)
    done = backup(told, backed, vault=vault)
    assert (done.position, done.already, done.keys) == (len(before["events"]), 0, 2)
    assert done.signed == done.position
    again = new_place()
    restored = restore(backed, again, vault=vault)
    assert (restored.position, restored.with_body) == (done.position, done.with_body)
    assert (restored.withheld, restored.keyless, restored.unheard) == (0, (), 0)
    assert restored.head == done.position
    assert restored.warnings == ()
    assert asked(again) == before
    with open_memory(again) as memory:
        memory.remember("ana", "I play the cello.")
        assert memory.proofs.verify().ok


def test_a_server_is_restored_to_a_directory_and_back(postgres_place, tmp_path, backed, vault):
    tell(postgres_place)
    before = asked(postgres_place)
    backup(postgres_place, backed, vault=vault)
    restore(backed, tmp_path / "directory", vault=vault)
    assert asked(tmp_path / "directory") == before
    backup(tmp_path / "directory", tmp_path / "second", vault=tmp_path / "second-vault")
    restore(tmp_path / "second", f"{postgres_place}_back", vault=tmp_path / "second-vault")
    assert asked(f"{postgres_place}_back") == before


def test_a_backup_has_no_key_and_no_word(told, backed, vault, tmp_path):
    backup(told, backed, vault=vault)
    assert {each.name for each in backed.iterdir()} == {
        "backup.json", "log.db", "proofs", "write.lock",
    }  # fmt: skip
    assert {each.name for each in vault.iterdir()} == {"keys.db", "vault.json"}
    opened = open_place(place_of(told), Settings.read(), create=False)
    contents = opened.vault.dump()
    opened.vault.close()
    opened.store.close()
    secret = (tmp_path / "signing.key").read_text().strip().split("+", 4)[4].encode()
    held = every_byte(backed)
    for bytes_ in (
        secret,
        bytes.fromhex(MASTER),
        MASTER.encode(),
        *(each[4] for each in contents.keys),
    ):
        assert bytes_ not in held
    both = held + every_byte(vault)
    for word in WORDS:
        assert word.encode() not in both
    assert bytes.fromhex(MASTER) not in both
    assert MASTER.encode() not in both
    assert secret not in both
    said = json.loads((backed / "backup.json").read_text())
    assert said["master_key"] == MasterKey(bytes(range(32))).id
    assert set(said) == set(
        "bodies checkpoint format history made_at master_key origin position tenant"
        " with_body".split()
    )
    assert {each.stat().st_mode & 0o077 for each in (*backed.iterdir(), *vault.iterdir())} == {0}


def test_a_second_backup_goes_on_and_lets_go_of_what_was_erased(told, new_place, backed, vault):
    first = backup(told, backed)
    forget(told)
    with open_memory(told) as memory:
        memory.remember("ana", "I moved to Freixo.")
    second = backup(told, backed, vault=vault)
    assert second.already == first.position < second.position
    assert second.removed > 0
    assert second.keys == 1
    third = backup(told, backed)
    assert (third.already, third.removed) == (second.position, 0)
    again = new_place()
    restored = restore(backed, again, vault=vault)
    assert (restored.withheld, restored.head) == (0, third.position)
    assert_forgotten(again)
    assert asked(again)["beliefs"] == asked(told)["beliefs"]


def test_writers_go_on_while_it_is_backed_up(told, new_place, backed, vault):
    with open_memory(told) as memory:

        def interfere(step):
            if step in {"begun", "load", "sign", "compare"}:
                memory.remember("ana", f"I like {step}-music.")

        done = backup(told, backed, vault=vault, step=interfere)
        assert done.position < memory.status().position
    again = new_place()
    assert restore(backed, again, vault=vault).head == done.position
    assert len(asked(again)["events"]) == done.position


# Where a backup may go


def test_a_backup_goes_to_no_place_with_anything_else(told, new_place, backed, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("words")
    other = new_place()
    tell(other)
    backup(other, tmp_path / "other", vault=tmp_path / "other-vault")
    for where in ("full", "other", "other-vault"):
        before = every_byte(tmp_path / where)
        with pytest.raises(CallerMistake):
            backup(told, tmp_path / where)
        with pytest.raises(CallerMistake):
            backup(told, backed, vault=tmp_path / ("full" if where == "other" else where))
        assert every_byte(tmp_path / where) == before


def test_the_vault_is_kept_apart(told, backed):
    for where in (backed, backed / "vault", backed.parent):
        with pytest.raises(CallerMistake, match="not apart"):
            backup(told, backed, vault=where)
    assert not backed.exists()


def test_a_backup_is_neither_in_its_ledger_nor_in_another_backup(place, backed, vault):
    tell(place)
    backup(place, backed, vault=vault)
    before = every_byte(backed)
    for where in (backed, vault):
        with pytest.raises(CallerMistake, match="in another backup"):
            backup(place, where / "more" / "deep")
    if not is_postgres(place):
        with pytest.raises(CallerMistake, match="in the ledger itself"):
            backup(place, Path(place) / "backup")
    assert every_byte(backed) == before
    backup(place, backed, vault=vault)


def test_the_living_vault_is_no_place_for_its_backup(place, elsewhere, backed):
    tell(place)
    before = every_byte(elsewhere)
    with pytest.raises(CallerMistake, match=r"keys\.db"):
        backup(place, backed, vault=elsewhere)
    assert every_byte(elsewhere) == before


def test_there_has_to_be_a_ledger(tmp_path, backed):
    with pytest.raises(NoLedger):
        backup(tmp_path / "nothing", backed)
    with pytest.raises(CallerMistake, match="no backup at"):
        restore(backed, tmp_path / "again", vault=None)
    assert not backed.exists()


# Nobody comes back


def test_an_old_backup_brings_back_nobody_whom_the_living_vault_forgot(
    place, new_place, elsewhere, backed
):
    tell(place)
    old = backup(place, backed)
    forget(place)
    again = new_place()
    restored = restore(backed, again)
    assert restored.people == 1
    assert restored.content > 0
    assert restored.withheld > restored.content
    assert restored.head > old.position == restored.position
    assert_forgotten(again)
    with open_memory(again) as memory:
        done = [each.type for each in memory.subscribe(old.position, follow=False)]
        assert "subject.erased.v2" in done
        assert "content.erased.v2" in done


def test_with_both_backups_old_the_living_vault_still_decides(
    place, new_place, elsewhere, backed, vault
):
    tell(place)
    backup(place, backed, vault=vault)
    forget(place)
    again = new_place()
    restored = restore(backed, again, vault=vault)
    assert restored.people == 1
    assert_forgotten(again)


def test_an_old_vault_over_a_newer_log_brings_back_nobody(
    place, elsewhere, backed, vault, tmp_path
):
    tell(place)
    backup(place, backed, vault=vault)
    forget(place)
    beliefs = asked(place)["beliefs"]
    for each in elsewhere.iterdir():
        each.unlink()
    with pytest.raises(KeyMissing):
        open_memory(place)
    done = restore_vault(place, vault)
    assert (done.keys, done.keyless, done.erased) == (1, (), 1)
    assert_forgotten(place)
    assert [each.text for each in asked(place)["beliefs"]] == [each.text for each in beliefs]


def test_an_old_vault_beside_the_living_one_changes_nothing(told, backed, vault):
    backup(told, backed, vault=vault)
    with open_memory(told) as memory:
        memory.remember("dan", "I live in Faro.", consent="consent")
    forget(told)
    before = asked(told)
    done = restore_vault(told, vault)
    assert (done.keys, done.erased) == (0, 1)
    assert asked(told) == before
    assert_forgotten(told)


def test_a_newer_backup_over_an_old_vault_obeys_the_log(told, new_place, backed, vault, tmp_path):
    backup(told, tmp_path / "older", vault=vault)
    forget(told)
    backup(told, backed)
    again = new_place()
    restore(backed, again, vault=vault)
    assert_forgotten(again)


def test_people_the_vault_never_heard_of_are_told_of(place, elsewhere, backed, vault, new_place):
    tell(place)
    backup(place, backed.with_name("older"), vault=vault)
    with open_memory(place) as memory:
        for number in range(3):
            memory.remember(f"late {number}", "I live in Faro.", consent="consent")
    backup(place, backed)
    for each in elsewhere.iterdir():
        each.unlink()
    again = new_place()
    with pytest.raises(KeyMissing, match="3 of its people have neither key nor tombstone") as told:
        restore(backed, again, vault=vault)
    assert "Nothing was served" in str(told.value)
    assert "late" not in str(told.value)


def test_people_the_log_never_had_are_told_of(place, new_place, elsewhere, backed):
    tell(place)
    backup(place, backed)
    with open_memory(place) as memory:
        memory.remember("late", "I live in Faro.", consent="consent")
    again = new_place()
    restored = restore(backed, again)
    assert (restored.unheard, restored.keyless) == (1, ())
    with open_memory(again) as memory:
        memory.remember("late", "I live in Faro.", consent="consent")
        assert memory.beliefs("late")


# What is refused


def test_a_ledger_is_never_restored_over(told, backed, vault, new_place):
    backup(told, backed, vault=vault)
    before = asked(told)
    with pytest.raises(NotPermitted, match="already"):
        restore(backed, told)
    other = new_place()
    with open_memory(other) as memory:
        memory.remember("eve", "I live in Beja.", consent="consent")
    with pytest.raises(NotPermitted, match="already"):
        restore(backed, other)
    assert asked(told) == before


def test_without_a_vault_nothing_is_restored(told, backed, tmp_path):
    backup(told, backed)
    with pytest.raises(KeyMissing, match="no vault at"):
        restore(backed, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_another_master_key_opens_nothing(told, backed, vault, tmp_path, monkeypatch):
    backup(told, backed, vault=vault)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "ab" * 32)
    with pytest.raises(KeyMissing, match="under the master key"):
        restore(backed, tmp_path / "again", vault=vault)
    with pytest.raises(KeyMissing):
        restore_vault(told, vault)
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    with pytest.raises(KeyMissing, match="no backup has one"):
        restore(backed, tmp_path / "again", vault=vault)
    assert not (tmp_path / "again").exists()


def test_the_vault_of_another_ledger_is_refused(told, new_place, backed, vault, tmp_path):
    backup(told, backed)
    other = new_place()
    with open_memory(other) as memory:
        memory.remember("eve", "I live in Beja.", consent="consent")
    backup(other, tmp_path / "other", vault=vault)
    with pytest.raises(KeyMissing, match="another ledger"):
        restore(backed, new_place(), vault=vault)
    with pytest.raises(KeyMissing, match="another"):
        restore_vault(told, vault)
    assert KEPT[:6] in words_of(told)


@pytest.mark.parametrize("what", ["envelope", "body", "checkpoint", "history"])
def test_a_changed_backup_is_refused(tmp_path, backed, vault, what):
    place = tmp_path / "ledger"
    tell(place)
    backup(place, backed, vault=vault)
    if what == "checkpoint":
        for each in (backed / "proofs").rglob("checkpoint*"):
            for file in each.iterdir() if each.is_dir() else [each]:
                file.write_text(file.read_text().replace("\n", "\nx", 1))
    elif what == "history":
        file = backed / "backup.json"
        said = json.loads(file.read_text())
        file.write_text(json.dumps(said | {"position": said["position"] - 1}))
    else:
        change(backed / "log.db", what)
    with pytest.raises(LogCorrupted):
        restore(backed, tmp_path / "again", vault=vault)
    assert not (tmp_path / "again" / "views" / "views.db").exists()


def change(path: Path, what: str) -> None:
    import sqlite3

    plain = sqlite3.connect(path)
    plain.execute("DROP TRIGGER IF EXISTS history_refuses_update")
    plain.execute("DROP TRIGGER IF EXISTS bodies_refuse_update")
    if what == "envelope":
        plain.execute(
            "UPDATE history SET envelope = CAST(envelope || ' ' AS BLOB) WHERE position = 5"
        )
    else:
        plain.execute("UPDATE bodies SET body = CAST(x'01' || body AS BLOB) WHERE position = 5")
    plain.commit()
    plain.close()


# Another master key


def key_files(monkeypatch, tmp_path):
    """The master key is in a file."""
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    file = tmp_path / "keys" / "master.key"
    file.parent.mkdir()
    MasterKey(bytes(range(32))).write(file)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(file))
    return file


def rotations(place):
    with open_memory(place, create=False) as memory:
        found = memory.subscribe(types=[MasterKeyRotated.NAME], follow=False)
        return [
            (each.event.previous, each.event.key, each.event.subjects, each.actor) for each in found
        ]


def test_rotating_puts_a_new_key_in_the_place_of_the_old(
    told, tmp_path, monkeypatch, backed, vault
):
    file = key_files(monkeypatch, tmp_path)
    backup(told, backed, vault=vault)
    before = asked(told)
    old = file.read_text()
    done = rotate(told, by="lea.reviewer")
    assert old not in [each.read_text() for each in file.parent.iterdir()]
    assert [each.name for each in file.parent.iterdir()] == ["master.key"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert MasterKey.from_file(file).id == done.key
    assert (done.previous, done.subjects) == (MasterKey(bytes(range(32))).id, 2)
    [(previous, key, subjects, actor)] = rotations(told)
    assert (previous, key, subjects) == (done.previous, done.key, 2)
    with open_memory(told) as memory:
        assert memory.actor_name(actor) == "lea.reviewer"
    assert asked(told)["beliefs"] == before["beliefs"]
    with pytest.raises(KeyMissing, match="rotated since"):
        restore_vault(told, vault)


def test_the_old_key_may_be_kept_and_opens_old_backups(
    tmp_path, monkeypatch, backed, vault, new_place
):
    place = new_place()
    file = key_files(monkeypatch, tmp_path)
    tell(place)
    before = asked(place)
    backup(place, backed, vault=vault)
    done = rotate(place, keep_old=True)
    assert Path(done.retired).name == f"master.key.{done.previous}.retired"
    assert Path(done.retired).stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", done.retired)
    again = new_place()
    restore(backed, again, vault=vault)
    assert asked(again) == before
    rotate(again, new_key_file=file)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(file))
    assert asked(again)["beliefs"] == before["beliefs"]


def test_a_key_in_the_environment_needs_a_file_for_the_next(told, tmp_path, monkeypatch):
    with pytest.raises(CallerMistake, match="BELIEFLEDGER_MASTER_KEY_FILE"):
        rotate(told)
    done = rotate(told, new_key_file=tmp_path / "next.key")
    assert (done.to_set, done.to_unset) == (
        "BELIEFLEDGER_MASTER_KEY_FILE", "BELIEFLEDGER_MASTER_KEY",
    )  # fmt: skip
    with pytest.raises(KeyMissing):
        open_memory(told)
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(tmp_path / "next.key"))
    assert "Vilarinho" in words_of(told)
    assert len(rotations(told)) == 1
    with pytest.raises(CallerMistake, match="in use"):
        rotate(told, new_key_file=tmp_path / "next.key")


def test_other_tenants_keep_the_key_that_they_share(postgres_place, tmp_path, monkeypatch):
    file = key_files(monkeypatch, tmp_path)
    one, other = f"{postgres_place}&tenant=one", f"{postgres_place}&tenant=other"
    tell(one)
    tell(other)
    done = rotate(one)
    assert done.retired is not None
    with pytest.raises(KeyMissing):
        open_memory(other)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", done.retired)
    second = rotate(other, new_key_file=file)
    assert second.key == done.key
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(file))
    assert "Vilarinho" in words_of(one)
    assert "Vilarinho" in words_of(other)


def test_who_has_the_ledger_open_goes_on_with_the_new_key_in_the_file(told, tmp_path, monkeypatch):
    key_files(monkeypatch, tmp_path)
    with open_memory(told) as memory:
        for name in ("dan", "eli"):  # twice: each rotation takes the place of the one before
            done = rotate(told)
            assert memory.beliefs("ana")
            memory.remember(name, "I live in Faro.", consent="consent")
            assert memory.status().master_key == done.key
        memory.erase("dan", by="dpo")
        assert memory.proofs.verify().ok
    with open_memory(told) as memory:
        assert memory.beliefs("eli")


def test_who_has_the_ledger_open_and_cannot_read_the_new_key_is_told(told, tmp_path):
    with open_memory(told) as memory:  # its key is in the environment
        rotate(told, new_key_file=tmp_path / "new.key")
        with pytest.raises(MasterKeyReplaced, match="open it again"):
            memory.remember("dan", "I live in Faro.", consent="consent")


def test_followers_outlast_a_rotation(told, tmp_path, monkeypatch):
    key_files(monkeypatch, tmp_path)
    head, reached = 0, threading.Event()

    def tell(_what, position, _why):
        if head and position >= head:
            reached.set()

    with (
        open_memory(told) as memory,
        memory.subscribe(memory.status().position, types=["turn.*"]) as events,
        memory.consumer("mailer", types=["turn.*"]) as mailer,
        memory.operations.keep_views(tell=tell) as projecting,
    ):
        rotate(told)
        with open_memory(told) as other:
            other.remember("fay", "I live in Evora.", consent="consent")
        assert "Evora" in next(events).event.content
        seen = ""
        while "Evora" not in seen:
            event = next(mailer)
            seen = event.event.content if event.event else ""
            mailer.ack(event)
        head = memory.status().position
        thread = threading.Thread(target=projecting.run)
        thread.start()
        assert reached.wait(60)
        projecting.close()
        thread.join(60)
        assert memory.beliefs("fay")


@pytest.mark.parametrize("words", [("tail", "--follow"), ("tail", "--consumer", "mailer")])
def test_a_follower_of_its_own_outlasts_a_rotation(told, tmp_path, monkeypatch, words):
    key_files(monkeypatch, tmp_path)
    command = [sys.executable, "-m", "beliefledger", "--ledger", str(told), "ops", *words]
    with programs.Program(
        [*command, "--types", "turn.*", "--json"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            assert process.stdout.readline()
            rotate(told)
            with open_memory(told) as memory:
                memory.remember("fay", "I live in Evora.", consent="consent")
            for line in process.stdout:
                if "Evora" in line:
                    break
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_one_who_opens_it_again_goes_on(told, tmp_path, monkeypatch):
    key_files(monkeypatch, tmp_path)
    rotate(told)
    with open_memory(told) as memory:
        memory.remember("dan", "I live in Faro.", consent="consent")
        assert memory.beliefs("dan")


# As it is typed


def run(place, *words, code=0):
    result = CliRunner().invoke(app, ["--ledger", str(place), *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def test_the_commands_answer_in_words_and_in_json(
    told, tmp_path, monkeypatch, backed, vault, new_place
):
    key_files(monkeypatch, tmp_path)
    answer = json.loads(run(told, "ops", "backup", backed, "--vault", vault, "--json").stdout)
    assert set(answer) == set(
        "destination vault position with_body already removed signed keys".split()
    )
    assert "were there before" in run(told, "ops", "backup", backed).stdout
    again = new_place()
    restored = json.loads(
        run(told, "ops", "restore", backed, again, "--vault", vault, "--json").stdout
    )
    assert set(restored) == set(
        "source destination position with_body already withheld people content keyless unheard"
        " signed head warnings".split()
    )
    assert "already" in run(told, "ops", "restore", backed, again, code=3).stderr
    answer = json.loads(run(told, "ops", "vault", "restore", vault, "--json").stdout)
    assert answer == {"keys": 0, "keyless": [], "erased": 0}
    assert "came back" in run(told, "ops", "vault", "restore", vault).stdout
    answer = json.loads(run(told, "ops", "vault", "rotate", "--by", "lea", "--json").stdout)
    assert set(answer) == set("previous key subjects key_file retired to_set to_unset left".split())
    page = run(
        told, "ops", "vault", "rotate", "--by", "lea", "--keep-old", "--by", "lea.reviewer"
    ).stdout
    assert "is kept in" in page
    assert "open nothing" in run(told, "ops", "vault", "rotate", "--by", "lea").stdout
    assert (
        "no ledger"
        in run(tmp_path / "none", "ops", "vault", "rotate", "--by", "lea", code=3).stderr
    )
    for nobody in ("", "   "):
        refused = run(told, "ops", "vault", "rotate", "--by", nobody, code=3).stderr
        assert "Name who acts." in refused
        with pytest.raises(NotPermitted, match="Name who acts"):
            rotate(told, by=nobody)
    assert "not apart" in run(told, "ops", "backup", backed, "--vault", backed, code=2).stderr
