"""Bytes that changed or went missing beneath the ledger: history and vault stop and name the place,
views are folded anew, and nothing is read as if it were whole."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
from pathlib import Path

import psycopg
import pytest
from own_postgres import OwnPostgres

from beliefledger import open_memory
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    KeyMissing,
    LogCorrupted,
    MustStop,
)
from beliefledger.ledger.postgres.server import PostgresURL

TURNS = 30


@pytest.fixture(autouse=True)
def master_key(monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", bytes(range(32)).hex())


def fill(place):
    """A ledger that was used and closed; returns what it answers."""
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        for n in range(TURNS):
            memory.record_turn("ana", f"I like album {n}, it is said {'again ' * 20}.")
        memory.remember("ana", "I live in Porto.")
        memory.store("ana", "tea", attribute="breakfast")
        memory.process()
        memory.status()
        return answers(memory)


def answers(memory):
    return sorted(
        (belief.text, belief.value, belief.confidence) for belief in memory.beliefs("ana")
    )


# Rows of a Postgres, changed by somebody who may do everything


@contextlib.contextmanager
def tampering(url, table):
    """As its superuser, with what guards the table put aside."""
    place = PostgresURL.parse(url)
    with psycopg.connect(place.conninfo) as connection:
        connection.execute(f"ALTER TABLE {place.schema}.{table} DISABLE TRIGGER ALL")
        yield connection, f"{place.schema}.{table}"
        connection.execute(f"ALTER TABLE {place.schema}.{table} ENABLE TRIGGER ALL")


def flip(url, table, column, position, offset):
    """One bit of one byte; an offset from the end if it is negative."""
    with tampering(url, table) as (connection, name):
        at = f"({offset} + CASE WHEN {offset} < 0 THEN length({column}) ELSE 0 END)"
        changed = connection.execute(
            f"UPDATE {name} SET {column} = set_byte({column}, {at},"
            f" get_byte({column}, {at}) # 1) WHERE position = %s",
            (position,),
        )
        assert changed.rowcount == 1


def said_of(url, position):
    """What `verify` and reading say of the position; what lies after it is read."""
    with open_memory(url) as memory:
        verified = memory.proofs.verify()
        with pytest.raises(LogCorrupted, match=f"position {position}") as said:
            list(memory.subscribe(follow=False))
        before = [event.position for event in memory._log.read(0, position - 1)]
        after = [event.position for event in memory.subscribe(position, follow=False)]
        head = memory._log.head().position
        assert [*before, position, *after] == list(range(1, head + 1))
    return verified, str(said.value)


def flip_after(url, words):
    """The byte that follows these words in the envelope at position 20."""
    with tampering(url, "history") as (connection, name):
        [(envelope,)] = connection.execute(f"SELECT envelope FROM {name} WHERE position = 20")
    flip(url, "history", "envelope", 20, envelope.index(words.encode()) + len(words))


STRINGS = ["event_id", "stream", "type", "tenant"]
NUMBERS = ["version", "recorded_at"]
PLACES = ["", '"facts"', *(f'"{name}":"' for name in STRINGS), *(f'"{name}":' for name in NUMBERS)]


@pytest.mark.parametrize("words", PLACES)
def test_a_byte_flipped_in_an_envelope_is_named(postgres_url, words):
    """Not one that makes an actor or a fact another one that could be: see `verify`."""
    fill(postgres_url)
    flip_after(postgres_url, words)
    verified, _ = said_of(postgres_url, 20)
    assert verified.position == 20


def test_a_byte_flipped_in_the_digest_of_a_body_is_named(postgres_url):
    """The body itself is what was sealed for this very event, so that it can still be read."""
    before = fill(postgres_url)
    flip_after(postgres_url, '"body_digest":"')
    with open_memory(postgres_url) as memory:
        assert memory.proofs.verify().position == 20
        assert answers(memory) == before


def test_a_byte_flipped_in_whom_an_event_is_about_stops_everything(postgres_url):
    fill(postgres_url)
    flip_after(postgres_url, '"subject_ref":"')
    with pytest.raises(KeyMissing), open_memory(postgres_url) as memory:
        list(memory.subscribe(follow=False))


@pytest.mark.parametrize("offset", [0, 1, 20, -1])
def test_a_byte_flipped_in_a_body_is_named(postgres_url, offset):
    fill(postgres_url)
    flip(postgres_url, "bodies", "body", 20, offset)
    verified, said = said_of(postgres_url, 20)
    assert verified.position == 20
    assert "Restore it from a backup" in said


@pytest.mark.parametrize("column", ["event_id", "stream", "type", "tenant", "subject_ref"])
def test_an_event_that_is_filed_under_something_else_is_named(postgres_url, column):
    fill(postgres_url)
    with tampering(postgres_url, "history") as (connection, name):
        connection.execute(f"UPDATE {name} SET {column} = 'another' WHERE position = 20")
    with contextlib.suppress(LogCorrupted):  # as far as it can be opened
        with open_memory(postgres_url) as memory:
            verified = memory.proofs.verify()
            # Of another tenant, it is not shown: what is missed is what follows in its stream.
            assert not verified.ok if column == "tenant" else verified.position == 20


def test_the_last_events_missing_are_noticed(postgres_url):
    fill(postgres_url)
    with tampering(postgres_url, "history") as (connection, name):
        [(last,)] = connection.execute(
            f"WITH gone AS (DELETE FROM {name} WHERE position > 20 RETURNING position)"
            " SELECT max(position) FROM gone"
        )
    with open_memory(postgres_url) as memory:
        assert memory.proofs.verify().position == 21
        with pytest.raises(LogCorrupted, match="21 is missing"):
            list(memory.subscribe(follow=False))
        with pytest.raises(LogCorrupted, match="21 is missing"):
            memory.operations.rebuild()
        assert memory._log.head().position == last, "nothing new takes their places"


# Files of a Postgres, changed while it is stopped


@pytest.fixture
def own():
    server = OwnPostgres()
    yield server
    server.close()


@contextlib.contextmanager
def file_of(own, table):
    """The file that has a table's rows, while the server is stopped."""
    with psycopg.connect(own.url, autocommit=True) as connection:
        [(data, path)] = connection.execute(
            "SELECT current_setting('data_directory'), pg_relation_filepath(%s)", (table,)
        )
    own.stop("fast")
    yield Path(data) / path
    own.start()


def flip_in_file(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("table", ["beliefledger.history", "beliefledger.bodies"])
def test_a_bit_flipped_in_a_file_of_history_is_told_with_the_file(own, table):
    fill(own.url)
    with file_of(own, table) as path:
        flip_in_file(path, 8000)
    where = rf"block 0 .*{path.parent.name}/{path.name}"
    with pytest.raises(MustStop, match=where):
        read_all(own.url, where)


def test_a_file_of_history_that_was_cut_short_is_not_taken_for_a_whole_one(own):
    fill(own.url)
    with file_of(own, "beliefledger.history") as path:
        os.truncate(path, path.stat().st_size - 8192)
    with pytest.raises(MustStop):
        read_all(own.url, "")


def read_all(url, problem):
    """Read a log that `verify` is to find a problem with."""
    with open_memory(url) as memory:
        assert re.search(problem, memory.proofs.verify().problem)
        list(memory.subscribe(follow=False))


def test_a_file_of_a_view_that_is_damaged_is_told_and_folded_anew(own):
    before = fill(own.url)
    with file_of(own, "beliefledger_views.belief_versions_1") as path:
        flip_in_file(path, 8000)
    with open_memory(own.url) as memory:
        with pytest.raises(BackendUnusable, match=r"block 0 .*beliefledger ops rebuild"):
            answers(memory)
        memory.operations.rebuild()
        assert answers(memory) == before
        assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_that_the_views_states_were_dropped_is_told_and_they_are_folded_anew(postgres_url):
    before = fill(postgres_url)
    drop(postgres_url, "view_state")
    with open_memory(postgres_url) as memory:
        with pytest.raises(BackendUnusable, match="beliefledger ops rebuild"):
            answers(memory)
        memory.operations.rebuild()
        assert answers(memory) == before
        assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_a_view_whose_table_was_dropped_is_folded_anew_when_the_ledger_is_opened(postgres_url):
    before = fill(postgres_url)
    drop(postgres_url, "belief_versions_1")
    with open_memory(postgres_url) as memory:
        assert answers(memory) == before
        assert all(view.same for view in memory.operations.rebuild(verify=True))


def drop(url, table):
    place = PostgresURL.parse(url)
    with psycopg.connect(place.conninfo) as connection:
        connection.execute(f"DROP TABLE {place.schema}_views.{table}")


# Files of SQLite


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A closed ledger in a directory, and what it answers."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BELIEFLEDGER_MASTER_KEY", bytes(range(32)).hex())
        directory = tmp_path_factory.mktemp("whole") / "ledger"
        return directory, fill(directory)


@pytest.fixture
def ledger(whole, tmp_path):
    """A copy of it."""
    return shutil.copytree(whole[0], tmp_path / "ledger"), whole[1]


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, 5000, -4096, -1])
def test_a_truncated_vault_is_not_taken_for_a_whole_one(ledger, kept):
    directory, before = ledger
    vault = directory / "keys.db"
    os.truncate(vault, kept if kept >= 0 else vault.stat().st_size + kept)
    with contextlib.suppress(MustStop, BackendUnavailable), open_memory(directory) as memory:
        if memory.proofs.verify().ok:  # what was cut off was not in use
            assert kept == -1
            assert answers(memory) == before


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, 5000, -4096, -1])
def test_truncated_views_are_folded_anew(ledger, kept):
    directory, before = ledger
    views = directory / "views" / "views.db"
    os.truncate(views, kept if kept >= 0 else views.stat().st_size + kept)
    check_views(directory, before)


@pytest.mark.parametrize("seed", range(25))
def test_a_bit_flipped_in_the_views_is_harmless_or_told_or_found_by_a_rebuild(ledger, seed):
    directory, before = ledger
    views = directory / "views" / "views.db"
    chance = random.Random(seed)
    flip_in_file(views, chance.randrange(views.stat().st_size))
    check_views(directory, before)


def check_views(directory, before):
    """What is not right is told, and as it says, a rebuild or deleting the views mends it."""
    try:
        with open_memory(directory) as memory:
            found = answers(memory)
            with memory._core.projector.reading() as connection:
                checked = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
            same = all(view.same for view in memory.operations.rebuild(verify=True))
            assert answers(memory) == before
            # In an index a bit may hide rows, which only SQLite's own check can see.
            assert found == before or not same or checked != "ok"
            assert all(view.same for view in memory.operations.rebuild(verify=True))
    except BackendUnusable as problem:
        if "views" not in str(problem):
            raise
        shutil.rmtree(directory / "views")
    with open_memory(directory) as memory:
        assert answers(memory) == before
        assert memory.proofs.verify().ok
        assert all(view.same for view in memory.operations.rebuild(verify=True))
