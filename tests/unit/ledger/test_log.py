"""What a log makes of damaged, restored and lost files, and of conflicts. The rest is in
tests/contract, for every backend."""

from __future__ import annotations

import os
import sqlite3

import pytest

from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import (
    BackendUnavailable,
    KeyMissing,
    LogCorrupted,
    NotPermitted,
    VersionConflict,
)
from beliefledger.ledger.events.subject import ErasureRequested, SubjectErased
from beliefledger.ledger.events.turn import TurnParked, TurnRecorded
from beliefledger.ledger.log import CONFLICT_TRIES, new_id
from beliefledger.ledger.vault import SYSTEM
from beliefledger.ledger.verify import verify


def said(words="I ski.", **fields):
    return TurnRecorded(
        role="user",
        channel="conversation",
        secrets=0,
        session_tag="",
        said_at_stated=False,
        content=words,
        **fields,
    )


def parked(stream="s", attempts=1):
    return New(TurnParked(attempts=attempts), new_id(), stream, None)


def turn(log, ref, words="I ski.", stream=None):
    stream = stream or new_id()
    return log.append([New(said(words), new_id(), stream, ref)], {stream: 0})


def subject(log, name="ana"):
    return log.register([name])[name]


# Appending and reading


def test_nothing_is_appended_behind_a_head_past_the_last_event(log, tmp_path):
    log.append([parked()], {"s": 0})
    with sqlite3.connect(tmp_path / "log.db") as plain:
        plain.execute("UPDATE head SET position = 3")
    plain.close()
    with pytest.raises(LogCorrupted, match="not the next one"):
        log.append([parked()], {"s": 1})


# Conflicts


def test_a_conflict_that_does_not_end_is_raised_after_its_tries(log):
    tries = []

    def attempt():
        tries.append(1)
        raise VersionConflict("s", 0, 1)

    with pytest.raises(VersionConflict):
        log.decide_again(attempt)
    assert len(tries) == CONFLICT_TRIES


def test_nothing_else_is_tried_again(log):
    tries = []

    def attempt():
        tries.append(1)
        raise LogCorrupted("x")

    with pytest.raises(LogCorrupted):
        log.decide_again(attempt)
    assert len(tries) == 1


# Forgetting


def test_an_erasure_that_a_reader_held_up_can_be_asked_for_again(log, tmp_path):
    ana = subject(log)
    turn(log, ana)
    body = next(log.raw(1)).body
    with log._store.datastore.get_connection(commit=False) as connection:
        connection._sqlite_conn.execute("PRAGMA busy_timeout=1")
    reader = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM bodies").fetchall()
    with pytest.raises(BackendUnavailable, match="does not let go"):
        log.erase(ana, actor=SYSTEM, legal_basis="x")
    assert SubjectErased.NAME not in [each.type for each in log.read_stream(ana)]
    assert body in (tmp_path / "log.db-wal").read_bytes()
    reader.close()
    log.erase(ana, actor=SYSTEM, legal_basis="x")
    assert [each.type for each in log.read_stream(ana)][1:] == [
        ErasureRequested.NAME,
        SubjectErased.NAME,
    ]
    assert not [path.name for path in tmp_path.iterdir() if body in path.read_bytes()]


def test_a_vault_from_before_an_erasure_does_not_bring_anybody_back(log, open_log, tmp_path):
    ana = subject(log)
    turn(log, ana)
    backup = (tmp_path / "keys.db").read_bytes()
    log.erase(ana, actor=SYSTEM, legal_basis="x")
    log.close()
    (tmp_path / "keys.db").write_bytes(backup)
    again = open_log()
    assert again.keys(ana) is None
    with pytest.raises(NotPermitted):
        again.register(["ana"])


# Lost files


def test_a_vault_that_was_lost_is_not_made_anew_in_silence(log, open_log, tmp_path):
    turn(log, subject(log))
    log.close()
    (tmp_path / "keys.db").unlink()
    for _ in range(2):  # the first attempt made an empty one
        with pytest.raises(KeyMissing, match="no key for subject"):
            open_log()


def test_a_vault_older_than_the_log_is_refused(log, open_log, tmp_path):
    subject(log, "ana")
    backup = (tmp_path / "keys.db").read_bytes()
    subject(log, "ben")
    log.close()
    (tmp_path / "keys.db").write_bytes(backup)
    with pytest.raises(KeyMissing, match="no key for subject"):
        open_log()


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_a_log_that_was_lost_is_not_begun_anew_in_silence(log, open_log, tmp_path, how):
    subject(log)
    log.close()
    if how == "deleted":
        (tmp_path / "log.db").unlink()
    else:
        os.truncate(tmp_path / "log.db", 0)
    for _ in range(2):
        with pytest.raises(LogCorrupted, match="the vault knows"):
            open_log()


# Verification


def test_damage_that_is_not_even_text_is_told_without_its_bytes(log, tmp_path):
    turn(log, subject(log))
    with sqlite3.connect(tmp_path / "log.db") as plain:
        plain.execute("DROP TRIGGER bodies_refuse_update")
        plain.execute("UPDATE bodies SET body = CAST(body AS TEXT)")
    plain.close()
    with pytest.raises(LogCorrupted, match=r"Could not decode to UTF-8 column 'body'\."):
        list(log.read())
    assert not verify(log).ok


# Following


def test_a_follower_is_told_of_a_damaged_body_only_where_it_wants_the_event(log, tmp_path):
    turn(log, subject(log))
    log.append([parked()], {"s": 0})
    with sqlite3.connect(tmp_path / "log.db") as plain:
        plain.execute("DROP TRIGGER bodies_refuse_update")
        plain.execute(
            "UPDATE bodies SET body = CAST(x'01' || zeroblob(60) AS BLOB) WHERE position = 2"
        )
    plain.close()
    with log.subscribe(types=[TurnParked.NAME], follow=False) as events:
        assert [each.position for each in events] == [3]
    with log.subscribe(types=[TurnRecorded.NAME], follow=False) as events:
        for _ in range(2):  # it is not passed over when asked again
            with pytest.raises(LogCorrupted, match="position 2"):
                next(events)
        assert events.position < 2
