"""What an earlier program wrote is opened, brought up to date, and is what it was; what a newer one
wrote is refused."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import kept
import psycopg
import pytest
from command_line import CliRunner
from told import ERASED, MOMENTS, told

from beliefledger import open_memory
from beliefledger.backups import restore
from beliefledger.erasure.certificate import text_of
from beliefledger.ledger.errors import NotPermitted, OlderProgram
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, is_postgres
from beliefledger.ledger.sqlite.schema import SCHEMA_VERSION
from beliefledger.ledger.sqlite.vault import UPGRADES as VAULT_UPGRADES
from beliefledger.tools import verifier
from beliefledger.tools.cli import app

NOW = kept.NOW
NEW_EVENTS = {"vault.committed.v1"}
"""What is appended to an older ledger when it is opened and closed."""


@pytest.fixture(params=["directory", "postgres"])
def ledger(request, tmp_path, monkeypatch):
    if request.param == "directory":
        return kept.in_directory(tmp_path)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(tmp_path / "master.key"))
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    return kept.on_server(tmp_path, request.getfixturevalue("postgres"))


def run(place, *words, code=0):
    result = CliRunner().invoke(app, ["--ledger", str(place), *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def upgraded(place):
    return json.loads(run(place, "ops", "upgrade", "--json").stdout)


def reopened(ledger, now=NOW):
    return open_memory(ledger.place, clock=lambda: now, create=False)


def history(place):
    """A digest of all envelopes and bodies, as they lie in the store."""
    both = "SELECT h.position, h.envelope, b.body FROM {0}history h"
    both += " LEFT JOIN {0}bodies b ON b.position = h.position ORDER BY 1"
    if is_postgres(place):
        with psycopg.connect(PostgresURL.parse(place).conninfo) as connection:
            rows = connection.execute(both.format("kept.")).fetchall()
    else:
        with closing(sqlite3.connect(Path(place) / "log.db")) as db:
            rows = db.execute(both.format("")).fetchall()
    return [
        (position, hashlib.sha256(envelope).digest(), body and hashlib.sha256(body).digest())
        for position, envelope, body in rows
    ]


def same(now, before):
    """Whether it tells what it told, but for what opening it appended."""
    added = now["position"] - before["position"]
    for name in ("events", "bodies", "destroyed", "decisions"):
        more = added if name == "events" else 0
        assert now["verified"].pop(name) == before["verified"].pop(name) + more, name
    now.pop("position"), before.pop("position")
    for name, value in before.items():
        assert now[name] == value, name


def test_what_the_version_before_wrote_is_what_it_was(ledger):
    lies = history(ledger.place)
    answer = upgraded(ledger.place)
    for name in ("log", "vault"):
        assert answer[name]["before"] <= answer[name]["after"]
        assert len(answer[name]["steps"]) == answer[name]["after"] - answer[name]["before"] or (
            answer[name]["before"] == 0  # a vault in a file had no version
        )
    if schema.VERSION > 5 or not is_postgres(ledger.place):
        assert answer["log"]["before"] < answer["log"]["after"]
    assert history(ledger.place)[: len(lies)] == lies
    with reopened(ledger) as memory:
        now = told(memory)
        added = memory.subscribe(len(lies), follow=False)
        assert {event.type for event in added} <= NEW_EVENTS
        same(now, json.loads(json.dumps(ledger.told)))
        assert all(view.same for view in memory.operations.rebuild(verify=True))
        for name in ERASED:
            with pytest.raises(NotPermitted):
                memory.record_turn(name, "It's me again.")
    assert history(ledger.place)[: len(lies)] == lies
    again = upgraded(ledger.place)
    assert not again["log"]["steps"]
    assert not again["vault"]["steps"]


def test_it_goes_on_where_it_was(ledger, tmp_path):
    upgraded(ledger.place)
    with reopened(ledger, NOW + 10**9) as memory:
        assert memory.process().turns == 1  # what waited
        assert "Faro" in {each.value for each in memory.beliefs("ana")}
        _, [decision] = memory.remember("ana", "I play the trumpet.", session="later")
        assert decision.outcome == "admit"
        assert memory.record_turn("ana", "I live in Faro.", idempotency_key="waiting").already
        with memory.consumer("crm", follow=False) as events:
            assert next(events).position == 151
        [conflict] = memory.conflicts.list("gil")
        choice = conflict.choices[0].id
        memory.conflicts.resolve(conflict.belief_id, choose=choice, by="the team lead")
        waiting = memory.decisions(outcome="queue", waits=True)
        memory.conflicts.review(waiting[0].decision_id, approve=True, by="dr. lima")
        with pytest.raises(NotPermitted):
            memory.erase("eva", by="dpo")
        for hold in memory.erasure.holds.list("eva"):
            memory.erasure.holds.lift(hold.hold, by="legal")
        part = memory.erase("ana", memory=decision.memory_id, by="dpo").erasure
        whole = memory.erase("eva", by="dpo").erasure
        for number, erasure in enumerate((part, whole)):
            file = tmp_path / f"certificate{number}.json"
            file.write_text(text_of(memory.erasure.certificates.issue(erasure)))
            verified(file)
        memory.proofs.rotate_signing_key(by="ops")
        assert memory.proofs.verify(decisions=True).ok
        assert memory.audit.replay_all().different == 0
    with reopened(ledger, NOW + 2 * 10**9) as memory:
        for name in (*ERASED, "eva"):
            with pytest.raises(NotPermitted):
                memory.record_turn(name, "It's me again.")
        assert memory.proofs.verify(decisions=True).ok
        assert all(view.same for view in memory.operations.rebuild(verify=True))


def verified(file):
    done = subprocess.run(
        [sys.executable, "-I", verifier.__file__, str(file)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_certificate_of_the_version_before_still_verifies():
    verified(kept.BEFORE / "certificate.json")


def test_a_backup_of_the_version_before_is_restored(tmp_path, monkeypatch):
    ledger = kept.in_directory(tmp_path)
    key = Path(ledger.place) / "master.key"
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(key))
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(Path(ledger.place) / "signing.key"))
    fresh = tmp_path / "restored"
    restore(tmp_path / "backup", fresh, vault=tmp_path / "vault-backup")
    with open_memory(fresh, clock=lambda: NOW, create=False) as memory:
        now = told(memory)
    before = ledger.told
    for name in ("beliefs", "histories", "decisions", "erasures", "holds", "views", "replayed"):
        assert now[name] == before[name], name


def test_a_directory_is_brought_up_to_date_when_it_is_opened(tmp_path):
    ledger = kept.in_directory(tmp_path)
    with reopened(ledger) as memory:
        same(told(memory), json.loads(json.dumps(ledger.told)))
    answer = upgraded(ledger.place)
    assert not answer["log"]["steps"]
    assert answer["log"]["before"] == SCHEMA_VERSION


def test_on_a_server_the_older_one_is_refused_with_the_command(tmp_path, monkeypatch, postgres):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(tmp_path / "master.key"))
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    ledger = kept.on_server(tmp_path, postgres)
    said = run(ledger.place, "status", code=3).stderr
    assert said.count("\n") == 1
    assert "has version 5 of its format" in said
    assert "beliefledger ops upgrade" in said
    run(ledger.place, "ops", "upgrade")
    run(ledger.place, "status")


# An older program


def raised(place, what):
    """Let the log or the vault say that a version to come has written to it; returns which."""
    if is_postgres(place):
        name, word, known = {
            "log": ("kept", "beliefledger", schema.VERSION),
            "vault": ("kept_vault", "beliefledger vault", postgres_vault.VERSION),
        }[what]
        with psycopg.connect(PostgresURL.parse(place).conninfo, autocommit=True) as admin:
            admin.execute(f"COMMENT ON SCHEMA {name} IS '{word}, version {known + 1}'")
        return known + 1
    file, known = {
        "log": ("log.db", SCHEMA_VERSION),
        "vault": ("keys.db", VAULT_UPGRADES[-1].version),
    }[what]
    with closing(sqlite3.connect(Path(place) / file)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (known,)
        db.execute(f"PRAGMA user_version = {known + 1}")
    return known + 1


@pytest.mark.parametrize("what", ["log", "vault"])
def test_what_a_newer_program_wrote_is_refused_in_one_line(ledger, what):
    run(ledger.place, "ops", "upgrade")
    newer = raised(ledger.place, what)
    lies = history(ledger.place)
    for words in (
        ["status"],
        ["ops", "upgrade"],
        ["proof", "verify"],
        ["remember", "-s", "ana", "I like tea."],
    ):
        said = run(ledger.place, *words, code=3).stderr
        assert said.count("\n") == 1
        assert f"has version {newer} of its format" in said
        assert "Upgrade beliefledger to a release that knows this version" in said
    with pytest.raises(OlderProgram):
        reopened(ledger)
    assert history(ledger.place) == lies


def test_new_events_have_a_version_of_the_format():
    """A program that does not know an event must refuse the ledger before it comes to it."""
    known = json.loads((kept.BEFORE / "events.json").read_text("utf-8"))
    if set(BY_NAME) - set(known):
        assert SCHEMA_VERSION > 1
        assert schema.VERSION > 5


def test_the_kept_ledgers_hold_something_of_everything():
    for name in ("directory", "postgres"):
        before = json.loads((kept.BEFORE / f"{name}.told.json").read_text("utf-8"))
        assert before["verified"]["ok"]
        assert before["replayed"]["same"] > before["replayed"]["inputs_destroyed"] > 0
        assert before["beliefs"].keys() == set(MOMENTS)
        outcomes = {each["outcome"] for each in before["decisions"]}
        assert outcomes == set("admit confirm supersede quarantine escalate queue reject".split())
        assert {each[2] for each in before["erasures"]} == {"subject", "memory", "turn", "session"}
        for what in ("holds", "conflicts", "parked_turns", "recalls", "pending"):
            assert before[what]
