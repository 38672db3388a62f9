"""History, bodies and proofs rewritten by somebody who may do everything but sign: on both backends
`verify` finds it and names the first position."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import psycopg
import pytest

from beliefledger import open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.postgres.server import PostgresURL, is_postgres
from beliefledger.ledger.proofs.merkle import leaf_hash, root_of
from beliefledger.ledger.proofs.notes import Signer, issue
from beliefledger.ledger.proofs.tiles import Tile, grow, tiles_of

FIRST, SECOND = 40, 300
"""Turns before the first checkpoint that is kept, and before the second."""


class Ledger:
    """A ledger that was used, signed and closed, and what somebody with all rights does to it."""

    def __init__(self, place):
        self.place = place
        with open_memory(place) as memory:
            memory.remember("ana", "I live in Porto.", consent="consent")
            memory.record_turns(TurnInput("ana", f"I like album {n}.") for n in range(FIRST))
            self.old = memory.proofs.checkpoint()
            memory.record_turns(TurnInput("ana", f"I heard song {n}.") for n in range(SECOND))
            self.new = memory.proofs.checkpoint()
            memory.record_turn("ana", "Nobody has signed this yet.")
            self.verified = memory.proofs.verify()
            self.new_keys = memory.proofs.signing_key().verifier_keys

    def verify(self, **how):
        with open_memory(self.place) as memory:
            return memory.proofs.verify(**how)

    def ask(self, statement, *values):
        return self._run([(statement, values)])

    def change(self, *statements):
        """With what guards the tables put aside."""
        for statement in statements:
            self._run([(statement, ())])

    def _run(self, statements):
        rows = []
        if is_postgres(self.place):
            url = PostgresURL.parse(self.place)
            with psycopg.connect(url.conninfo) as connection:
                connection.execute("SET session_replication_role = replica")  # no triggers
                connection.execute(f"SET search_path = {url.schema}")
                for statement, values in statements:
                    found = connection.execute(statement.replace("?", "%s"), values)
                    rows = found.fetchall() if found.description else []
            return rows
        plain = sqlite3.connect(Path(self.place) / "log.db", isolation_level=None)
        guards = plain.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        guards = guards.fetchall()
        for name, _ in guards:
            plain.execute(f"DROP TRIGGER {name}")
        for statement, values in statements:
            rows = plain.execute(statement, values).fetchall()
        for _, guard in guards:
            plain.execute(guard)
        plain.close()
        return rows

    def envelopes(self):
        rows = self.ask("SELECT envelope FROM history ORDER BY position")
        return [bytes(envelope) for (envelope,) in rows]

    def set_envelope(self, position, envelope):
        """With its columns, as if it had always been so."""
        fields = json.loads(envelope)
        columns = ("stream", "version", "type", "event_id", "tenant", "subject_ref", "recorded_at")
        assignments = ", ".join(f"{name} = ?" for name in columns)
        self.ask(
            f"UPDATE history SET envelope = ?, {assignments} WHERE position = ?",
            envelope,
            *(fields[name] for name in columns),
            position,
        )

    def tile(self, tile, data):
        if is_postgres(self.place):
            self.ask(
                "UPDATE tiles SET hashes = ? WHERE level = ? AND number = ? AND width = ?",
                data,
                *tile,
            )
        else:
            (Path(self.place) / "proofs" / tile.path).write_bytes(data)

    def publish(self, text):
        """Show another checkpoint as the latest one."""
        if is_postgres(self.place):
            self.ask("UPDATE tree_head SET note = ?, size = ?", text, int(text.split()[1]))
        else:
            (Path(self.place) / "proofs" / "checkpoint").write_text(text)

    def keep(self, size, text):
        """Put another checkpoint into the history."""
        if is_postgres(self.place):
            self.ask("UPDATE checkpoints SET note = ? WHERE size = ?", text, size)
        else:
            (Path(self.place) / "proofs" / "checkpoints" / str(size)).write_text(text)

    def sizes(self):
        if is_postgres(self.place):
            return [size for (size,) in self.ask("SELECT DISTINCT size FROM checkpoints")]
        return [int(each.name) for each in (Path(self.place) / "proofs/checkpoints").iterdir()]


@pytest.fixture(autouse=True)
def keys(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", bytes(range(32)).hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))


@pytest.fixture
def ledger(place, monkeypatch):
    with monkeypatch.context() as slow:
        slow.setattr("beliefledger.proofs.notary.EVERY", 3600.0)  # or it signs what nobody has
        made = Ledger(place)
    assert made.verified.ok
    assert made.verified.signed == made.new.size
    return made


def forged(envelope):
    """Another actor: still canonical, and still an event."""
    fields = json.loads(envelope)
    fields["actor"] = "f" * 32
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def rewrite_from(ledger, position):
    """Forge an envelope and compute every tile anew, as far as the tree went."""
    ledger.set_envelope(position, forged(ledger.envelopes()[position - 1]))
    leaves = [leaf_hash(each) for each in ledger.envelopes()]
    signed = ledger.verified_size = tree_size(ledger)
    wanted = set(tiles_of(signed))
    for tile, data in grow(0, [], leaves[:signed])[1].items():
        if tile in wanted:
            ledger.tile(tile, data)
    return leaves


def tree_size(ledger):
    with open_memory(ledger.place) as memory:
        return memory.proofs.tree.latest().size


def test_an_envelope_that_was_changed_canonically_is_named(ledger):
    at = ledger.old.size + 20
    ledger.set_envelope(at, forged(ledger.envelopes()[at - 1]))
    found = ledger.verify()
    assert found.position == at
    assert "not the one that was signed" in found.problem
    assert ledger.verify(checkpoint=ledger.old.text).position == at


def test_an_envelope_that_was_changed_before_the_first_checkpoint_is_named(ledger):
    ledger.set_envelope(3, forged(ledger.envelopes()[2]))
    found = ledger.verify()
    assert (found.position, found.problem) == (3, "the event is not the one that was signed")


def test_an_envelope_with_a_byte_that_breaks_it_is_named(ledger):
    at = ledger.old.size + 20
    broken = ledger.envelopes()[at - 1].replace(b'"actor"', b'"Actor"')
    ledger.ask("UPDATE history SET envelope = ? WHERE position = ?", broken, at)
    found = ledger.verify()
    assert found.position == at
    assert "other fields" in found.problem


def test_a_body_that_was_changed_is_named(ledger):
    at = ledger.old.size + 20
    [[body]] = ledger.ask("SELECT body FROM bodies WHERE position = ?", at)
    body = bytearray(body)
    body[-1] ^= 1
    ledger.ask("UPDATE bodies SET body = ? WHERE position = ?", bytes(body), at)
    found = ledger.verify()
    assert (found.position, found.problem) == (at, "the body is not the one that was written")


def test_a_body_that_is_gone_and_was_not_erased_is_named(ledger):
    at = ledger.old.size + 20
    ledger.ask("DELETE FROM bodies WHERE position = ?", at)
    assert "no erasure explains it" in ledger.verify().problem
    assert ledger.verify().position == at


@pytest.mark.parametrize("index", [0, 77, 255])
def test_a_tile_that_was_changed_is_told_from_a_changed_event(ledger, index):
    data = bytearray(b"".join(leaf_hash(each) for each in ledger.envelopes()[:256]))
    data[32 * index] ^= 1
    ledger.tile(Tile(0, 0), bytes(data))
    found = ledger.verify()
    assert found.position == index + 1
    assert "the tile tile/0/000 was changed; the event is as it was signed" in found.problem


def test_a_tile_above_the_leaves_that_was_changed_is_named(ledger):
    tile = next(each for each in tiles_of(tree_size(ledger)) if each.level == 1)
    ledger.tile(tile, b"\1" * 32 * tile.width)
    found = ledger.verify()
    assert found.position == 1
    assert tile.path in found.problem


def test_the_tail_is_missed_though_the_head_was_set_back(ledger):
    kept = ledger.new.size - 10
    ledger.change(
        f"DELETE FROM bodies WHERE position > {kept}",
        f"DELETE FROM history WHERE position > {kept}",
        f"UPDATE head SET position = {kept}",
    )
    found = ledger.verify()
    assert found.position == kept + 1
    assert "this position is missing" in found.problem


def test_two_events_that_changed_places_are_named(ledger):
    at = ledger.old.size + 20
    one, other = ledger.envelopes()[at - 1 : at + 1]
    [[a], [b]] = ledger.ask(
        f"SELECT body FROM bodies WHERE position IN ({at}, {at + 1}) ORDER BY position"
    )
    columns = "stream, version, type, event_id, tenant, subject_ref, recorded_at, envelope"
    rows = ledger.ask(f"SELECT {columns} FROM history WHERE position IN ({at}, {at + 1})")
    assert {bytes(row[-1]) for row in rows} == {one, other}
    ledger.ask(f"DELETE FROM history WHERE position IN ({at}, {at + 1})")
    for row in rows:
        position = at + 1 if bytes(row[-1]) == one else at
        marks = ", ".join("?" * (1 + len(row)))
        ledger.ask(f"INSERT INTO history (position, {columns}) VALUES ({marks})", position, *row)
    ledger.ask("UPDATE bodies SET body = ? WHERE position = ?", b, at)
    ledger.ask("UPDATE bodies SET body = ? WHERE position = ?", a, at + 1)
    found = ledger.verify()
    assert found.position == at
    assert "not the one that was signed" in found.problem


def test_all_history_rewritten_with_its_tiles_is_found_by_the_checkpoints(ledger):
    """Between two that were signed: which event it is, nothing tells any more."""
    rewrite_from(ledger, ledger.old.size + 20)
    found = ledger.verify()
    assert found.position == ledger.old.size + 1
    assert f"positions {ledger.old.size + 1} to {ledger.new.size}" in found.problem


def test_all_history_rewritten_and_signed_with_another_key_is_found(ledger):
    leaves = rewrite_from(ledger, 3)
    mallory = Signer.generate(ledger.new.origin)
    for size in ledger.sizes():
        ledger.keep(size, issue(mallory.name, size, root_of(leaves[:size]), mallory).text)
    size = ledger.verified_size
    ledger.publish(issue(mallory.name, size, root_of(leaves[:size]), mallory).text)
    found = ledger.verify()
    assert found.position == 1
    assert "not signed by this ledger's key" in found.problem


def test_another_key_put_beside_the_tree_is_not_believed(ledger):
    leaves = rewrite_from(ledger, 3)
    mallory = Signer.generate(ledger.new.origin)
    size = ledger.verified_size
    for each in ledger.sizes():
        ledger.keep(each, issue(mallory.name, each, root_of(leaves[:each]), mallory).text)
    ledger.publish(issue(mallory.name, size, root_of(leaves[:size]), mallory).text)
    if is_postgres(ledger.place):
        ledger.ask("INSERT INTO signing_keys (vkey) VALUES (?)", mallory.vkey)
    else:
        (Path(ledger.place) / "proofs" / "keys").write_text(mallory.vkey + "\n")
    found = ledger.verify()
    assert found.position == 1
    assert "not signed by this ledger's key" in found.problem


def test_history_rewritten_and_signed_with_the_stolen_key_is_found_by_who_kept_a_checkpoint(ledger):
    with open_memory(ledger.place) as memory:
        signer = memory.proofs.tree.signer
    leaves = rewrite_from(ledger, 3)
    size = ledger.verified_size
    for each in ledger.sizes():
        ledger.keep(each, issue(signer.name, each, root_of(leaves[:each]), signer).text)
    ledger.publish(issue(signer.name, size, root_of(leaves[:size]), signer).text)
    assert "the key's file knows of" in ledger.verify().problem
    Path(os.environ["BELIEFLEDGER_SIGNING_KEY_FILE"] + ".head").unlink()  # stolen with the key
    assert ledger.verify().ok, "nothing in the ledger tells"
    found = ledger.verify(checkpoint=ledger.old.text)
    assert found.position == 1
    assert "kept elsewhere" in found.problem


def test_an_older_checkpoint_in_the_place_of_the_latest_is_named(ledger):
    size = tree_size(ledger)
    ledger.publish(ledger.old.text)
    found = ledger.verify()
    assert found.position == ledger.old.size + 1
    kept = size - 2  # closing told the log of the vault's register, and opening signed that
    assert f"one of {kept} was signed" in found.problem  # which stays in the history
    Path(os.environ["BELIEFLEDGER_SIGNING_KEY_FILE"] + ".head").unlink()
    assert f"one of {max(ledger.sizes())} was signed" in ledger.verify().problem


def test_a_tree_that_was_taken_away_does_not_let_a_forged_history_be_signed(ledger):
    """By somebody who may write the ledger, and not where its key is."""
    at = ledger.old.size + 20
    ledger.set_envelope(at, forged(ledger.envelopes()[at - 1]))
    if is_postgres(ledger.place):
        ledger.change(
            *(
                f"DELETE FROM {name}"
                for name in ("tiles", "checkpoints", "tree_head", "signing_keys")
            )
        )
    else:
        shutil.rmtree(Path(ledger.place) / "proofs")
    found = ledger.verify()
    assert (found.ok, found.position) == (False, 1)
    assert "the key's file knows of" in found.problem
    with open_memory(ledger.place) as memory:
        memory.record_turn("ana", "One more.")
        with pytest.raises(LogCorrupted, match="the log does not lead there"):
            memory.proofs.checkpoint()
        assert not memory.proofs.verify().ok
    assert not ledger.verify().ok


def test_a_tree_that_was_set_back_does_not_let_a_forged_history_be_signed(ledger):
    at = ledger.old.size + 20
    ledger.set_envelope(at, forged(ledger.envelopes()[at - 1]))
    if is_postgres(ledger.place):
        ledger.change(
            f"DELETE FROM checkpoints WHERE size > {ledger.old.size}", "DELETE FROM tiles"
        )
    else:
        (Path(ledger.place) / f"proofs/checkpoints/{ledger.new.size}").unlink()
        shutil.rmtree(Path(ledger.place) / "proofs/tile")
    ledger.publish(ledger.old.text)
    with open_memory(ledger.place) as memory:
        memory.record_turn("ana", "One more.")
        with pytest.raises(LogCorrupted, match="the log does not lead there"):
            memory.proofs.checkpoint()
        assert memory.proofs.verify().problem
    assert not ledger.verify().ok


def test_a_key_without_anything_that_it_signed_is_told(ledger):
    if is_postgres(ledger.place):
        ledger.change("DELETE FROM checkpoints", "DELETE FROM tree_head")
    else:
        (Path(ledger.place) / "proofs/checkpoint").unlink()
        shutil.rmtree(Path(ledger.place) / "proofs/checkpoints")
    Path(os.environ["BELIEFLEDGER_SIGNING_KEY_FILE"] + ".head").unlink()
    assert ledger.verify().problem == "there is a signing key, and nothing that it signed"


def test_keys_beside_the_tree_are_not_believed_against_those_that_were_given(ledger, monkeypatch):
    given = ledger.new_keys
    leaves = rewrite_from(ledger, 3)
    mallory = Signer.generate(ledger.new.origin)
    size = ledger.verified_size
    for each in ledger.sizes():
        ledger.keep(each, issue(mallory.name, each, root_of(leaves[:each]), mallory).text)
    ledger.publish(issue(mallory.name, size, root_of(leaves[:size]), mallory).text)
    if is_postgres(ledger.place):
        ledger.ask("UPDATE signing_keys SET vkey = ?", mallory.vkey)
    else:
        (Path(ledger.place) / "proofs" / "keys").write_text(mallory.vkey + "\n")
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", "/nowhere/signing.key")  # an auditor's
    assert (ledger.verify().ok, ledger.verify().keys) == (True, "listed")
    found = ledger.verify(keys=given)
    assert (found.ok, found.position, found.keys) == (False, 1, "pinned")
    assert "not signed by a key that was given" in found.problem


def test_a_checkpoint_that_is_no_note_is_told(ledger):
    ledger.keep(ledger.old.size, "not a note\n")
    assert "cannot be read" in ledger.verify().problem


def test_the_earlier_of_two_wrongs_is_named(ledger):
    early, late = ledger.old.size + 5, ledger.old.size + 50
    ledger.ask("DELETE FROM bodies WHERE position = ?", late)
    ledger.set_envelope(early, forged(ledger.envelopes()[early - 1]))
    assert ledger.verify().position == early
    ledger.ask("DELETE FROM bodies WHERE position = ?", early - 3)
    assert ledger.verify().position == early - 3


def test_what_is_not_signed_yet_is_found_by_nobody_and_said_to_be_so(place, monkeypatch):
    """The documented limit: what came after the last checkpoint."""
    monkeypatch.setattr("beliefledger.proofs.notary.Notary.heard", lambda _notary, _position: None)
    ledger = Ledger(place)
    at = ledger.new.size + 1
    ledger.set_envelope(at, forged(ledger.envelopes()[at - 1]))
    found = ledger.verify()
    assert (found.ok, found.signed, found.events) == (True, ledger.new.size, at)
