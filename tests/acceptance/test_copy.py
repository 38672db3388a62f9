"""A ledger that is copied to another place is the same ledger there; nobody comes back by it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import programs
import psycopg
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.backups import backup
from beliefledger.ledger import ledger_copy
from beliefledger.ledger.errors import (
    CallerMistake,
    CopyUnfinished,
    KeyMissing,
    LogCorrupted,
    NotPermitted,
)
from beliefledger.ledger.postgres.server import PostgresURL
from beliefledger.opening.backends import open_place
from beliefledger.opening.place import place_of
from beliefledger.operations.copy import copy
from beliefledger.settings import Settings
from beliefledger.tools.cli import app

KINDS = ["sqlite", "postgres"]
KILLED = 9
COPY_AND_DIE = """
import itertools, os, sys, traceback
import beliefledger.opening.postgres
from beliefledger.ledger import ledger_copy
from beliefledger.operations.copy import copy

ledger_copy.PAGE = 15
source, destination = sys.argv[1:]
for steps in range(1, 100):
    child = os.fork()  # a process of its own each time, without loading everything again
    if not child:
        counted = itertools.count(1)
        try:
            copy(source, destination, progress=lambda *_: next(counted) == steps and os._exit(9))
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended != 9:
        break
print(steps, ended)
"""


@pytest.fixture
def places(tmp_path, postgres_place):
    """A place of each kind for the source and for the copy; the environment has the master key."""
    return {
        ("sqlite", "source"): str(tmp_path / "source"),
        ("sqlite", "copy"): str(tmp_path / "copy"),
        ("postgres", "source"): postgres_place,
        ("postgres", "copy"): f"{postgres_place}_copy",
    }


@pytest.fixture(params=KINDS)
def source(request, places):
    place = places[request.param, "source"]
    tell(place)
    return place


@pytest.fixture(params=KINDS)
def destination(request, places):
    return places[request.param, "copy"]


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(ledger_copy, "PAGE", 5)


def tell(place):
    """A ledger with a history: beliefs that changed, somebody erased, consumers, a reviewer."""
    with open_memory(place) as memory:
        for name in ("ana", "bob", "cy"):
            memory.consent.grant(name, "consent")
            memory.remember(name, f"My name is {name.title()}. I live in Lisbon.")
        memory.remember("ana", "I moved to Porto.")
        memory.erase("cy", by="lea")
        memory.revoke(memory.beliefs("bob")[0].memory_id, by="lea")
        with memory.consumer("mailer", follow=False) as events:
            events.ack(next(events))
            events.ack(next(events))
        with memory.consumer("counter", follow=False) as events:
            for event in events:
                events.ack(event)


def told(place):
    """All that somebody who asks could tell one ledger from another by."""
    with open_memory(place, create=False) as memory:
        status = memory.status(digests=True)
        assert memory.proofs.verify().ok
        return {
            "events": list(memory.subscribe(follow=False)),
            "beliefs": memory.beliefs(),
            "before": memory.beliefs(as_of=status.position // 2),
            "decisions": memory.decisions(),
            "views": {each.name: (each.digest, each.content_digest) for each in status.views},
            "consumers": {each.name: each.position for each in status.consumers},
            "subjects": status.subjects,
        }


def contents(place):
    """The stored rows, and what the vault holds."""
    opened = open_place(place_of(place), Settings.read(), create=False, unfinished="read")
    try:
        rows = opened.store.read(0, 1_000)
        return rows, opened.vault.dump(), opened.store.cursors.all()
    finally:
        opened.store.close()
        opened.vault.close()


def bodies_of(place, subject_ref):
    rows, vault, _ = contents(place)
    return (
        [row.body for row in rows if subject_ref.encode() in row.envelope and row.body],
        [each for each in vault.keys if each[0] == subject_ref],
    )


def test_the_copy_is_the_same_ledger(source, destination):
    done = copy(source, destination)
    assert done.source == done.copy
    assert (done.already, done.meanwhile, done.consumers) == (0, 0, 2)
    assert (done.subjects, done.erased) == (2, 1)
    assert contents(destination)[0] == contents(source)[0]
    assert told(destination) == told(source)
    beliefs = len(told(source)["beliefs"])  # before the same key signs more events of the copy
    with open_memory(destination) as memory:
        with pytest.raises(NotPermitted, match="erased"):
            memory.remember("cy", "I am back.")
        memory.remember("ana", "I play the cello.")
        assert len(memory.beliefs("ana")) > beliefs - 1
        assert all(each.same for each in memory.operations.rebuild(verify=True))


def test_copied_again_it_takes_in_what_came(source, destination):
    first = copy(source, destination)
    with open_memory(source) as memory:
        memory.consent.grant("dan", "consent")
        memory.remember("dan", "I live in Faro.")
        with memory.consumer("mailer", follow=False) as events:
            events.ack(next(events))
    second = copy(source, destination)
    assert second.already == first.events < second.events
    assert told(destination) == told(source)


def test_killed_at_any_page_it_goes_on(source, destination):
    done = programs.run(
        [sys.executable, "-c", COPY_AND_DIE, source, destination],
        check=True,
        stdout=subprocess.PIPE,
        timeout=280,
        cwd=Path(__file__).parents[2],
    )
    steps, ended = map(int, done.stdout.split())
    assert ended == 0
    assert steps > 5
    assert copy(source, destination).already == len(contents(source)[0])
    assert told(destination) == told(source)


COPY_AND_BE_KILLED = """
import os, signal, sys
import beliefledger.operations.copy
from beliefledger.ledger import ledger_copy

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

ledger_copy.PAGE = 15
source, destination, when = sys.argv[1:]
if when == "at the beginning":
    ledger_copy._Copying._bring_people = die
if when == "at the end":
    beliefledger.operations.copy.bring_vectors = die
halfway = lambda done, total: done > total // 2 and die()
beliefledger.operations.copy.copy(source, destination, progress=halfway)
"""


def killed(source, destination, when):
    script = COPY_AND_BE_KILLED
    if when != "half-way":
        script = script.replace("done > total // 2 and die()", "None")
    command = [sys.executable, "-c", script, source, destination, when]
    assert programs.run(command, check=False).returncode == -KILLED


def told_by(place):
    """As `told`, without what only asking writes."""
    return {name: each for name, each in told(place).items() if name != "views"}


def command_in(text):
    """The arguments of the command that a sentence names between backticks."""
    words = shlex.split(text.split("`")[1])
    assert words[0] == "beliefledger"
    return words[1:]


@pytest.mark.parametrize("when", ["half-way", "at the end"])
def test_a_copy_that_was_killed_is_only_read_and_names_the_command_that_completes_it(
    source, destination, when, tmp_path
):
    killed(source, destination, when)
    with open_memory(destination, create=False) as memory:
        head = memory.status().position
        assert head
        assert memory.proofs.verify().ok or when == "half-way"  # its key may know of later heads
        assert memory.search("ana", "Lisbon").results or when == "half-way"
        memory.beliefs()
        [told] = [each for each in memory.status().warnings if "unfinished copy" in each]
        for write in (
            lambda: memory.record_turn("ana", "I live in Faro."),
            lambda: memory.record_turn("new", "I live in Faro."),
            lambda: memory.store("ana", "red", attribute="colour"),
            lambda: memory.erase("ana", by="system"),
            lambda: memory.erasure.holds.place("ana", "a law suit", by="eva"),
            lambda: next(memory.consumer("late", follow=False)),
            lambda: memory._log.store.delete_bodies("0" * 32),
            lambda: memory.operations.keep_views().run(),
        ):
            with pytest.raises(
                CopyUnfinished, match=r"beliefledger ops copy .*only|be read and not"
            ):
                write()
        assert memory.status().position == head
    elsewhere = tmp_path / "elsewhere"
    for other in (lambda: copy(destination, elsewhere), lambda: backup(destination, elsewhere)):
        with pytest.raises(CopyUnfinished, match="beliefledger ops copy"):
            other()
    done = CliRunner().invoke(app, command_in(told))
    assert done.exit_code == 0, done.output
    assert told_by(destination) == told_by(source)
    with open_memory(destination) as memory:
        assert not [each for each in memory.status().warnings if "unfinished" in each]
        assert memory.record_turn("ana", "I live in Faro.").position > head


def test_a_copy_that_was_killed_before_its_first_event_is_no_empty_ledger(source, destination):
    killed(source, destination, "at the beginning")
    with pytest.raises(CopyUnfinished, match="nothing in it yet") as told:
        open_memory(destination)
    done = CliRunner().invoke(app, command_in(str(told.value)))
    assert done.exit_code == 0, done.output
    assert told_by(destination) == told_by(source)


def test_the_command_names_the_vault_and_no_password(places, tmp_path, monkeypatch):
    source = places["sqlite", "source"]
    tell(source)
    destination, vault = str(tmp_path / "a copy"), str(tmp_path / "its vault")
    command = [sys.executable, "-c", COPY_AND_BE_KILLED.replace(
        "copy(source, destination,", f"copy(source, destination, vault={vault!r},"
    ), source, destination, "half-way"]  # fmt: skip
    assert programs.run(command, check=False).returncode == -KILLED
    monkeypatch.setenv("BELIEFLEDGER_VAULT", vault)
    with pytest.raises(CopyUnfinished) as told:
        copy(destination, tmp_path / "third")
    words = command_in(str(told.value))
    assert words == ["ops", "copy", source, destination, "--vault", vault]
    url = "postgresql://eva:se%20cret@db:5433/app?schema=s&tenant=t&sslmode=require&prepare=no"
    shown = PostgresURL.parse(url).without_passwords
    assert "cret" not in shown
    again = PostgresURL.parse(shown)
    assert (again.schema, again.tenant, again.prepare) == ("s", "t", False)
    said = psycopg.conninfo.conninfo_to_dict(again.conninfo)
    assert said == {"user": "eva", "host": "db", "port": "5433", "dbname": "app",
                    "sslmode": "require"}  # fmt: skip


def test_who_was_erased_between_two_attempts_is_not_in_the_copy(source, destination, small_pages):
    class Interrupted(Exception):
        pass

    def interrupt(done, total):
        if done > 0.6 * total:
            raise Interrupted

    with pytest.raises(Interrupted):
        copy(source, destination, progress=interrupt)
    with open_memory(source) as memory:
        ref = memory.subscribe(types=["turn.recorded.v2"], subjects=["ana"], follow=False)
        ana = next(ref).subject_ref
        assert all(bodies_of(destination, ana))  # words and key were copied
        memory.erase("ana", by="lea")
    copy(source, destination)
    assert bodies_of(destination, ana) == ([], [])
    assert told(destination) == told(source)


def test_who_is_erased_while_it_is_copied_is_not_in_the_copy(source, destination, small_pages):
    with open_memory(source) as memory:
        turns = memory.subscribe(types=["turn.recorded.v2"], subjects=["bob"], follow=False)
        bob = next(turns).subject_ref

        def meanwhile(done, total):
            if done > 0.9 * total and memory.beliefs("bob"):
                memory.remember("ana", "I play the cello.")
                memory.erase("bob", by="lea")

        done = copy(source, destination, progress=meanwhile)
        assert done.meanwhile > 0
        assert done.events == len(contents(source)[0])
    copy(source, destination)  # closing told the log of the vault's register
    assert bodies_of(destination, bob) == ([], [])
    assert told(destination) == told(source)


# What is refused, with nothing written


@pytest.fixture
def refused(source, destination):
    def refuse(error, match, **how):
        before = contents(destination)
        with pytest.raises(error, match=match):
            copy(source, destination, **how)
        assert contents(destination) == before

    return refuse


def test_another_ledger_is_not_overwritten(source, destination, refused):
    with open_memory(destination) as memory:
        memory.remember("eve", "I live in Rome.", consent="consent")
    refused(NotPermitted, "something else at position 1 ")


def test_a_copy_that_was_used_is_not_copied_to(source, destination, refused):
    copy(source, destination)
    with open_memory(destination) as memory:
        memory.remember("ana", "I play the cello.")
    refused(NotPermitted, "was used since")
    with open_memory(source) as memory:
        for day in range(20):
            memory.remember("ana", f"I play the cello on day {day}.")
    refused(NotPermitted, "was used since")


def test_a_vault_of_other_people_is_not_filled(source, destination, refused):
    opened = open_place(place_of(destination), Settings.read(), create=True)
    opened.vault.register("default", ["eve"])
    opened.store.close()
    opened.vault.close()
    refused(CallerMistake, "people of its own")


def test_another_master_key_is_refused(places, monkeypatch, tmp_path):
    source = places["sqlite", "source"]
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    tell(source)
    with pytest.raises(KeyMissing, match="needs the key of what it is copied from"):
        copy(source, places["postgres", "copy"])
    open_memory(tmp_path / "other").close()
    with pytest.raises(KeyMissing, match="not the master key"):
        copy(source, tmp_path / "other")
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "cd" * 32)
    with pytest.raises(KeyMissing, match="does not open the vault"):
        copy(source, tmp_path / "copy")
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", f"{source}/master.key")
    copy(source, places["postgres", "copy"])
    assert told(places["postgres", "copy"]) == told(source)


def test_a_directory_gets_the_key_file_of_the_directory_it_is_copied_from(
    places, monkeypatch, tmp_path
):
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    source = places["sqlite", "source"]
    tell(source)
    copy(source, tmp_path / "copy")
    key = tmp_path / "copy" / "master.key"
    assert key.read_bytes() == (Path(source) / "master.key").read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    assert told(tmp_path / "copy") == told(source)


def test_a_tenant_of_a_shared_log_is_not_copied_nor_another_tenants_ledger(places):
    base = places["postgres", "source"]
    for tenant in ("a", "b", "a"):
        with open_memory(f"{base}&tenant={tenant}") as memory:
            memory.remember("ana", "I live in Porto.", consent="consent")
    with pytest.raises(CallerMistake, match="keeps its tenant"):
        copy(f"{base}&tenant=a", places["sqlite", "copy"])
    with pytest.raises(NotPermitted, match="shares its log with other tenants"):
        copy(f"{base}&tenant=a", f"{places['postgres', 'copy']}&tenant=a")
    tell(places["sqlite", "source"])
    with pytest.raises(NotPermitted, match=r"shares its log|something else"):
        copy(places["sqlite", "source"], base)


def test_the_only_tenant_of_a_log_is_copied_whatever_its_name(places):
    source, destination = (f"{places['postgres', which]}&tenant=a" for which in ("source", "copy"))
    tell(source)
    copy(source, destination)
    assert told(destination) == told(source)


def test_a_place_is_not_copied_to_itself_and_nothing_is_not_copied(places):
    source = places["sqlite", "source"]
    with pytest.raises(CallerMistake, match="to itself"):
        copy(source, Path(source) / ".." / "source")
    for nothing in (source, places["postgres", "source"]):
        with pytest.raises(Exception, match="There is no ledger at"):
            copy(nothing, places["sqlite", "copy"])
    assert not Path(source).exists()
    assert not Path(places["sqlite", "copy"]).exists()


def test_a_directory_is_not_copied_to_itself_by_another_name(places, tmp_path):
    source = places["sqlite", "source"]
    tell(source)
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(CallerMistake, match="to itself"):
        copy(source, tmp_path / "link")


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda url: url.replace("postgresql://", "postgres://"),
        lambda url: f"{url}&application_name=other",
        lambda url: f"{url}&tenant=default",
    ],
)
def test_a_server_is_not_copied_to_itself_by_another_name(places, rewritten):
    source = places["postgres", "source"]
    tell(source)
    with pytest.raises(CallerMistake, match="to itself"):
        copy(source, rewritten(source))


def test_another_database_of_a_server_is_another_place(places, postgres):
    source = places["postgres", "source"]
    tell(source)
    name = f"other_{place_of(source).schema}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    destination = source.replace("/postgres?", f"/{name}?")
    assert destination != source
    copy(source, destination)
    assert told(destination) == told(source)


def test_a_forgotten_vault_can_be_named_afterwards(source, monkeypatch, tmp_path, places):
    """Without it nothing is made beside the log that would be taken for it."""
    expected = told(source)
    log, vault = f"{source}_log", str(tmp_path / "vault")
    copy(source, log, vault=vault)
    for create in (False, True):
        with pytest.raises(KeyMissing, match=r"There is no vault at .*set BELIEFLEDGER_VAULT"):
            open_memory(log, create=create)
    monkeypatch.setenv("BELIEFLEDGER_VAULT", vault)
    copy(log, places["sqlite", "copy"], vault=str(tmp_path / "third"))
    assert told(log) == expected


def test_a_source_without_its_key_gets_none(places, monkeypatch, tmp_path):
    source = places["sqlite", "source"]
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "vault"))
    tell(source)
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    with pytest.raises(KeyMissing, match="There is no master key"):
        copy(source, places["sqlite", "copy"])
    assert not (Path(source) / "master.key").exists()


def test_a_vault_that_is_not_the_ledgers_is_told_before_anything_is_written(
    places, monkeypatch, tmp_path
):
    source = places["sqlite", "source"]
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "vault"))
    tell(source)
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "other"))
    third = str(tmp_path / "third")
    with pytest.raises(KeyMissing, match=r"There is no vault at .*other"):
        copy(source, places["sqlite", "copy"], vault=third)
    with open_memory(tmp_path / "elsewhere"):
        pass  # the environment's vault is of that ledger now
    with pytest.raises(KeyMissing, match="is it the vault of this ledger"):
        copy(source, places["sqlite", "copy"], vault=third)
    monkeypatch.delenv("BELIEFLEDGER_VAULT")
    with pytest.raises(KeyMissing, match="no vault beside it"):
        copy(source, places["sqlite", "copy"])


def test_the_vault_may_go_to_a_place_of_its_own(places, monkeypatch, tmp_path):
    source, destination = places["sqlite", "source"], places["postgres", "copy"]
    tell(source)
    expected = told(source)
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "vault"))
    copy(source, destination)
    assert (tmp_path / "vault" / "keys.db").exists()
    assert told(destination) == expected
    elsewhere = str(tmp_path / "vault, too")
    copy(destination, places["sqlite", "copy"], vault=elsewhere)
    monkeypatch.setenv("BELIEFLEDGER_VAULT", elsewhere)
    assert told(places["sqlite", "copy"]) == expected


def test_a_copy_that_is_written_to_meanwhile_is_told_of(places, small_pages):
    source, destination = places["sqlite", "source"], places["sqlite", "copy"]
    tell(source)
    copying_too = []

    def meanwhile(done, total):
        if done > 0.6 * total and not copying_too:
            copying_too.append(True)
            copy(source, destination)

    with pytest.raises(NotPermitted, match="Somebody else writes"):
        copy(source, destination, progress=meanwhile)
    copy(source, destination)


def test_a_source_that_lost_words_is_told_of(places, small_pages):
    source, destination = places["sqlite", "source"], places["sqlite", "copy"]
    tell(source)
    copy(source, destination)
    opened = open_place(place_of(source), Settings.read(), create=False)
    ana = opened.vault.find("default", "ana")
    opened.store.delete_bodies(ana)
    opened.store.close()
    opened.vault.close()
    with pytest.raises(LogCorrupted, match="no erasure explains it"):
        copy(source, destination)


def test_a_key_that_a_backup_brought_back_is_not_copied(source, destination):
    opened = open_place(place_of(source), Settings.read(), create=False)
    backup = opened.vault.dump()
    opened.store.close()
    opened.vault.close()
    with open_memory(source) as memory:
        memory.erase("ana", by="lea")
    opened = open_place(place_of(source), Settings.read(), create=False)
    living = {each[0] for each in opened.vault.dump().keys}

    def bring_back(transaction):
        for table, rows in (("tombstones", backup.tombstones), ("keys", backup.keys)):
            transaction.run(f"DELETE FROM vault.{table}", ())
            marks = ", ".join("?" * len(rows[0]))
            columns = {
                "keys": "subject_ref, tenant, kek_id, lookup, wrapped, sealed_id",
                "tombstones": "subject_ref, lookup, erased_at",
            }[table]
            transaction.run(f"INSERT INTO vault.{table} ({columns}) VALUES ({marks})", *rows)

    opened.vault._database.write(bring_back)
    opened.store.close()
    opened.vault.close()
    copy(source, destination)
    assert {each[0] for each in contents(destination)[1].keys} == living
