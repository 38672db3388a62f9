"""Checkpoints, proofs and verification through the front door and the command line; and that what
is appended gets signed beside the appends."""

from __future__ import annotations

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.backups import backup, restore
from beliefledger.erasure.certificate import signed_text
from beliefledger.ledger.errors import CallerMistake, KeyMissing, SigningKeyMissing
from beliefledger.ledger.events.ops import SigningKeyRotated
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.proofs.merkle import (
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from beliefledger.ledger.proofs.notes import Checkpoint, Cosigner, Signer, with_signatures
from beliefledger.ledger.store import Head
from beliefledger.opening.signing import Signing
from beliefledger.proofs.notary import Notary
from beliefledger.tools import verifier
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.remember("ana", "I live in Porto.", consent="consent")
        yield opened


def leaves(memory):
    return [leaf_hash(row.envelope) for row in memory._log.raw()]


def talk(memory, times):
    for n in range(times):
        memory.record_turn("ana", f"I like album {n}.")


def signed(memory):
    """How many events the latest checkpoint is of."""
    latest = memory.proofs.tree.latest()
    return 0 if latest is None else latest.size


def until(true):
    """Wait for what another thread does."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def checked(text, tmp_path, *more):
    path = tmp_path / "proof"
    path.write_bytes(text.encode())
    return verifier.main([str(path), *more])


# Checkpoints and proofs


def test_a_checkpoint_is_the_root_over_every_envelope(memory):
    told = memory.proofs.checkpoint()
    note = Checkpoint.parse(told.text)
    assert (note.size, note.root) == (memory._log.head().position, root_of(leaves(memory)))
    assert told.origin == note.origin == memory.proofs.signing_key().origin
    assert memory.proofs.checkpoint() == told, "nothing new, nothing signed"


def test_every_position_is_proved(memory, tmp_path, capsys):
    talk(memory, 5)
    note = Checkpoint.parse(memory.proofs.checkpoint().text)
    size, root = note.size, note.root
    for position, leaf in enumerate(leaves(memory), 1):
        proof = memory.proofs.inclusion(position)
        hashes = verifier.hashes_of(proof.model_dump(mode="json") | {"hashes": list(proof.hashes)})
        verify_inclusion(position - 1, size, leaf, hashes, root)
    assert (
        checked(proof.text(), tmp_path, "--key", memory.proofs.signing_key().verifier_keys[0]) == 0
    )


def test_a_proof_of_what_is_not_signed_yet_signs_it(memory, monkeypatch):
    memory.proofs.checkpoint()
    talk(memory, 1)
    at = memory._log.head().position
    assert Checkpoint.parse(memory.proofs.inclusion(at).checkpoint).size >= at


def test_there_is_no_proof_of_a_position_without_an_event(memory):
    with pytest.raises(CallerMistake, match="no event at position 10000"):
        memory.proofs.inclusion(10_000)


def test_today_goes_on_from_every_checkpoint_that_was_kept(memory, tmp_path, capsys):
    kept = []
    for _ in range(3):
        talk(memory, 3)
        kept.append(Checkpoint.parse(memory.proofs.checkpoint().text))
    talk(memory, 1)
    for old in kept:
        proof = memory.proofs.consistency(old.size)
        new = Checkpoint.parse(proof.new)
        assert new.size == memory._log.head().position
        hashes = verifier.hashes_of({"hashes": list(proof.hashes)})
        verify_consistency(old.size, new.size, old.root, new.root, hashes)
    between = memory.proofs.consistency(kept[0].size, kept[1].size)
    assert (between.old, between.new) == (kept[0].text, kept[1].text)
    assert checked(between.text(), tmp_path) == 0


def test_for_a_size_that_was_not_kept_the_nearest_are_named(memory):
    first = memory.proofs.checkpoint().size
    talk(memory, 5)
    second = memory.proofs.checkpoint().size
    with pytest.raises(CallerMistake, match=f"the nearest: {first} and {second}"):
        memory.proofs.consistency(first + 1)
    with pytest.raises(CallerMistake, match="The old checkpoint is of"):
        memory.proofs.consistency(second, first)


def test_an_explanation_proves_turn_decision_and_admission(memory, tmp_path, capsys):
    [belief] = memory.beliefs("ana")
    assert memory.explain(belief.memory_id).proofs == {}
    proofs = memory.explain(belief.memory_id, proof=True).proofs
    types = {name: json.loads(proof.envelope)["type"] for name, proof in proofs.items()}
    assert types == {
        "turn": "turn.recorded.v2",
        "decision": "gate.decided.v2",
        "admission": "memory.admitted.v2",
    }
    assert [checked(proof.text(), tmp_path) for proof in proofs.values()] == [0, 0, 0]


def test_a_tenant_proves_their_own_events_alone(postgres_place, tmp_path, capsys):
    with (
        open_memory(postgres_place) as one,
        open_memory(f"{postgres_place}&tenant=other") as other,
    ):
        for memory in (one, other, one, other):
            memory.remember("ana", "I live in Porto.", consent="consent")
        mine = {event.position for event in one.subscribe(follow=False)}
        head = one._log.head().position
        [*_, last] = sorted(mine)
        assert checked(one.proofs.inclusion(last).text(), tmp_path) == 0
        for position in sorted(set(range(1, head + 1)) - mine)[:3]:
            with pytest.raises(CallerMistake):
                one.proofs.inclusion(position)
        for memory in (one, other):
            memory.proofs.checkpoint()
            found = memory.proofs.verify()
            assert (found.ok, found.signed) == (True, head)
        assert one.proofs.signing_key() == other.proofs.signing_key()


# The key


def test_a_rotated_key_signs_what_comes_and_the_one_before_vouches_for_what_was(
    place, memory, tmp_path, capsys
):
    old = memory.proofs.checkpoint()
    before = memory.proofs.signing_key()
    after = memory.proofs.rotate_signing_key(by="dora")
    assert after.origin == before.origin
    assert after.verifier_keys[:-1] == before.verifier_keys
    assert after.here
    talk(memory, 1)
    proof = memory.proofs.consistency(old.size)
    keys = [word for vkey in after.verifier_keys for word in ("--key", vkey)]
    assert checked(proof.text(), tmp_path, *keys) == 0
    assert checked(proof.text(), tmp_path, *keys[:2]) == 1
    assert checked(memory.proofs.inclusion(1).text(), tmp_path, *keys[2:]) == 0
    [event] = memory._log.of_types([SigningKeyRotated.NAME])
    assert event.facts == {"previous": before.verifier_keys[0], "key": after.verifier_keys[1]}
    assert memory.actor_name(event.actor) == "dora"
    assert memory.proofs.verify().ok
    with open_memory(place) as again:
        talk(again, 1)
        assert again.proofs.checkpoint().size == again._log.head().position
        assert again.proofs.verify().ok


def test_two_that_rotate_at_once_lose_no_key(place, memory):
    memory.proofs.checkpoint()
    with open_memory(place) as other:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: each.proofs.rotate_signing_key(by="dora"), (memory, other)))
    with open_memory(place) as again:
        assert len(again.proofs.signing_key().verifier_keys) == 3
        assert again.proofs.signing_key().here
        assert len(again._log.of_types([SigningKeyRotated.NAME])) == 2
        talk(again, 1)
        again.proofs.checkpoint()
        assert again.proofs.verify().ok


@pytest.mark.parametrize("step", ["prepare", "rotate", "adopt"])
def test_a_rotation_that_ends_anywhere_leaves_a_key_that_signs(place, memory, monkeypatch, step):
    memory.proofs.checkpoint()
    before = memory.proofs.signing_key().verifier_keys

    def end(*_given):
        raise KeyboardInterrupt

    where = (
        "beliefledger.ledger.proofs.tree.Tree.rotate"
        if step == "rotate"
        else f"beliefledger.opening.signing.keyfile.{step}"
    )
    with monkeypatch.context() as broken:
        broken.setattr(where, end)
        with pytest.raises(KeyboardInterrupt):
            memory.proofs.rotate_signing_key(by="dora")
    with open_memory(place) as again:
        talk(again, 1)
        assert again.proofs.checkpoint().size == again._log.head().position
        assert len(again.proofs.signing_key().verifier_keys) == len(before) + (step == "adopt")
        again.proofs.rotate_signing_key(by="dora")
        recorded = again._log.of_types([SigningKeyRotated.NAME])
        assert len(recorded) == len(again.proofs.signing_key().verifier_keys) - 1
        assert again.proofs.verify().ok


def test_another_process_goes_on_with_the_key_that_was_rotated(place, memory):
    with open_memory(place) as other:
        other.proofs.checkpoint()
        memory.proofs.rotate_signing_key(by="dora")
        talk(other, 1)
        until(lambda: signed(other) == other._log.head().position)
        assert other.status().warnings == memory.status().warnings


def test_a_ledger_that_stays_open_certifies_with_the_key_that_another_rotated(place, memory):
    memory._notary.close()  # nobody else asks for the key
    erased = memory.erase("ana", by="dora")
    memory.proofs.checkpoint()
    with open_memory(place) as other:
        other.proofs.rotate_signing_key(by="dora")
    with_new = memory.erasure.certificates.issue(erased.erasure)
    assert with_new["signature"] == memory.proofs.tree.sign(signed_text(with_new))
    with open_memory(place) as other:
        newest = other.proofs.rotate_signing_key(by="dora")
    assert memory.proofs.checkpoint().size == memory._log.head().position
    assert memory.proofs.signing_key() == newest
    assert memory.proofs.verify().keys == "key file"


def test_a_reader_that_comes_in_the_middle_of_a_rotation_is_in_nobodys_way(
    place, memory, monkeypatch
):
    memory.proofs.checkpoint()
    adopt, came = keyfile.adopt, []

    def after_another(path):
        if not came:
            came.append(True)
            with open_memory(place) as other:
                other.proofs.checkpoint()
        adopt(path)

    monkeypatch.setattr("beliefledger.opening.signing.keyfile.adopt", after_another)
    keys = memory.proofs.rotate_signing_key(by="dora")
    assert keys.here
    assert len(keys.verifier_keys) == 2
    assert len(memory._log.of_types([SigningKeyRotated.NAME])) == 1


def test_two_ledgers_do_not_become_one_log_by_one_key_file(place, memory, tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "named.key"))
    with open_memory(tmp_path / "one") as one:
        one.remember("ana", "I live in Porto.", consent="consent")
        origin = one.proofs.signing_key().origin
        one.proofs.checkpoint()
    with open_memory(tmp_path / "two") as two:
        two.remember("ana", "I live in Faro.", consent="consent")
        with pytest.raises(SigningKeyMissing, match="Name a file of its own for this ledger") as no:
            two.proofs.checkpoint()
        assert "master key" not in str(no.value)
        told = f"the key's file knows of, which was of the ledger at {tmp_path / 'one'}"
        assert told in two.proofs.verify().problem
        monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "other.key"))
    with open_memory(tmp_path / "two") as two:
        assert two.proofs.signing_key().origin != origin
        two.proofs.checkpoint()
        assert two.proofs.verify().ok
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "named.key"))
    with open_memory(tmp_path / "one") as one:
        one.consent.grant("cy", "consent")
        one.proofs.checkpoint()
        assert one.proofs.verify().ok


def test_a_key_that_cannot_sign_is_told_by_status(place, memory, tmp_path, monkeypatch):
    def told():
        with open_memory(place) as looking:
            return looking.status(digests=False).warnings[len(looking._core.warnings) :]

    assert told() == ()
    file = memory._core.signing.key_path()
    memory._notary.close()
    talk(memory, 1)
    assert told() == (), "it is signed when somebody next signs"
    file.chmod(0o644)
    assert "chmod 600" in told()[0]
    file.rename(tmp_path / "away.key")
    assert "is missing: put it back" in told()[0]
    (tmp_path / "away.key").rename(file)
    file.chmod(0o600)
    assert told() == ()
    memory.proofs.checkpoint()
    monkeypatch.setattr(type(memory._log.store), "head", lambda _self: Head(3, 0, 0))
    assert "position 4 is missing" in memory.status(digests=False).warnings[-1]


def test_the_key_of_another_ledger_is_told_by_status(place, memory, tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "named.key"))
    with open_memory(tmp_path / "one") as one:
        talk(one, 1)
    with open_memory(tmp_path / "two") as two:
        talk(two, 1)
    with open_memory(tmp_path / "two") as two:
        [warning] = two.status(digests=False).warnings
        assert "Name a file of its own for this ledger" in warning


def test_keys_beside_a_shared_master_key_know_their_trees_by_the_place(tmp_path, monkeypatch):
    """Whoever takes the tree away does not get a new key for it."""
    (tmp_path / "keys").mkdir()
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(tmp_path / "keys" / "master.key"))
    origins = []
    for name in ("one", "two"):
        with open_memory(tmp_path / name) as memory:
            memory.remember("ana", "I live in Porto.", consent="consent")
            memory.proofs.checkpoint()
            origins.append(memory.proofs.signing_key().origin)
    assert len(set(origins)) == 2
    shutil.rmtree(tmp_path / "two" / "proofs")
    with open_memory(tmp_path / "two") as memory:
        assert "nothing that it signed" in memory.proofs.verify().problem
        memory.proofs.checkpoint()
        assert memory.proofs.signing_key().origin == origins[1]
        assert memory.proofs.verify().ok


def test_a_backup_from_before_a_rotation_is_signed_again(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", bytes(range(32)).hex())
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "living"))
    place, again = tmp_path / "one", tmp_path / "again"
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
        memory.proofs.checkpoint()
    backup(place, tmp_path / "backup")
    rotated = Signing.rotate
    with open_memory(place) as memory:  # at the very head of the backup
        rotated(memory._core.signing)
        keys = memory.proofs.signing_key().verifier_keys
        talk(memory, 3)
        memory.proofs.checkpoint()
    done = restore(tmp_path / "backup", again)
    assert any("is given up" in each for each in done.warnings)
    with open_memory(again) as memory:
        talk(memory, 1)
        memory.proofs.checkpoint()
        assert memory.proofs.signing_key().verifier_keys == keys
        assert memory.proofs.verify().ok


def test_a_backup_from_before_a_rotation_that_lacks_events_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", bytes(range(32)).hex())
    monkeypatch.setenv("BELIEFLEDGER_VAULT", str(tmp_path / "living"))
    place, again = tmp_path / "one", tmp_path / "again"
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
        memory.proofs.checkpoint()
        old = memory.proofs.tree.signer
    backup(place, tmp_path / "backup")
    with open_memory(place) as memory:
        talk(memory, 1)
        memory.proofs.rotate_signing_key(by="dora")
    told = " ".join(restore(tmp_path / "backup", again).warnings)
    assert f"put the key {old.vkey} back" in told
    assert "master key" not in told
    (tmp_path / "signing.key").unlink()
    (tmp_path / "signing.key").touch(0o600)
    (tmp_path / "signing.key").write_text(old.private_text)
    with open_memory(again) as memory:
        memory.proofs.checkpoint()
        assert memory.proofs.verify().ok


def test_without_its_key_a_ledger_is_read_and_verified_and_signs_nothing(place, memory):
    memory.proofs.checkpoint()
    file = Path(memory.proofs.signing_key().file)
    file.rename(file.with_name("elsewhere"))
    with open_memory(place) as other:
        assert not other.proofs.signing_key().here
        assert other.proofs.inclusion(1).position == 1
        assert other.proofs.verify().ok
        talk(other, 1)
        with pytest.raises(KeyMissing, match="BELIEFLEDGER_SIGNING_KEY_FILE"):
            other.proofs.checkpoint()
        until(lambda: any("not signed yet" in each for each in other.status().warnings))
    file.with_name("elsewhere").rename(file)
    with open_memory(place) as again:
        again.proofs.checkpoint()
        assert again.proofs.verify().ok


def test_a_key_that_others_may_read_is_refused(place, memory):
    memory.proofs.checkpoint()
    file = Path(memory.proofs.signing_key().file)
    file.chmod(0o644)
    with open_memory(place) as other, pytest.raises(KeyMissing, match="chmod 600"):
        other.proofs.checkpoint()
    file.chmod(0o600)


# Signing beside the appends


def test_what_is_appended_is_signed_soon(memory):
    talk(memory, 3)
    until(lambda: signed(memory) == memory._log.head().position)
    assert memory.status().warnings == memory._core.warnings


def test_what_is_appended_is_signed_when_the_ledger_is_closed(place):
    with open_memory(place) as memory:
        talk(memory, 3)
        head = memory._log.head().position
    with open_memory(place) as memory:
        closed = head + 1  # the last event tells the log of the vault's register
        assert signed(memory) == closed
        assert memory.proofs.verify().signed == closed


def test_a_backlog_gets_a_checkpoint_for_each_thousand(place, monkeypatch):
    with monkeypatch.context() as asleep:
        asleep.setattr(Notary, "heard", lambda _notary, _position: None)
        with open_memory(place) as memory:
            memory.consent.grant("ana", "consent")
            for start in range(0, 2_500, 500):
                memory.record_turns([turn(f"I like album {n}.") for n in range(start, start + 500)])
            assert signed(memory) == 0
            head = memory._log.head().position
    with open_memory(place) as memory:
        talk(memory, 1)
    with open_memory(place) as memory:
        assert [each.size for each in memory.proofs.tree.checkpoints()] == [1_000, 2_000]
        assert signed(memory) == head + 2  # closing told the log of the vault's register


def turn(words):
    from beliefledger.gate.intake import TurnInput

    return TurnInput(subject="ana", content=words, role="user")


def test_a_ledger_that_is_only_read_signs_nothing_and_makes_no_key(place, memory, tmp_path):
    memory.close()
    with open_memory(place) as again:
        before = signed(again)
        again.beliefs("ana")
        again.proofs.verify()
        assert again._notary._thread is None
    with open_memory(place) as again:
        assert signed(again) == before


def test_a_failure_to_sign_never_reaches_who_appends_and_is_told(place, memory, monkeypatch):
    def fail(_tree, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("beliefledger.ledger.proofs.tree.Tree.extend", fail)
    talk(memory, 2)
    until(lambda: memory._notary.trouble)
    [told] = memory.status().warnings[len(memory._core.warnings) :]
    assert "events are not signed yet: OSError: [Errno 28] No space left" in told
    monkeypatch.undo()
    talk(memory, 1)
    until(lambda: memory._notary.trouble is None)
    assert memory.status().warnings == memory._core.warnings


def test_a_forked_child_leaves_the_notary_alone(place, memory):
    talk(memory, 1)
    child = os.fork()
    if child == 0:
        memory._notary.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    talk(memory, 1)
    until(lambda: signed(memory) == memory._log.head().position)


# Verifying


def test_verify_tells_up_to_where_it_is_signed(place, memory, monkeypatch):
    memory.proofs.checkpoint()
    at = memory._log.head().position
    monkeypatch.setattr(memory._notary, "sign", lambda: None)
    talk(memory, 2)
    found = memory.proofs.verify()
    assert (found.ok, found.signed, found.events) == (True, at, at + 2)


def test_verify_wants_the_cosignature_of_the_witness_that_is_named(memory):
    witness = Cosigner.generate("witness.example")
    told = memory.proofs.checkpoint()
    assert "never" not in (memory.proofs.verify().problem or "")
    assert (
        "no checkpoint was ever cosigned" in memory.proofs.verify(witness_key=witness.vkey).problem
    )
    note = Checkpoint.parse(told.text)
    cosigned = with_signatures(note, [witness.cosign(note, 1_800_000_000)])
    memory.proofs.tree.tiles.keep_cosigned(cosigned.text)
    assert memory.proofs.verify(witness_key=witness.vkey).ok
    other = Cosigner.generate("witness.example")
    assert "not cosigned by witness.example" in memory.proofs.verify(witness_key=other.vkey).problem
    with pytest.raises(CallerMistake):
        memory.proofs.verify(witness_key="nonsense")
    proof = memory.proofs.inclusion(1)
    assert proof.checkpoint == cosigned.text, "what a witness saw proves more"


def test_verify_says_by_whose_word_the_keys_are(place, memory, new_place, tmp_path, monkeypatch):
    memory.proofs.checkpoint()
    given = memory.proofs.signing_key().verifier_keys
    assert memory.proofs.verify().keys == "key file"
    assert memory.proofs.verify(keys=given).keys == "pinned"
    other = Signer.generate(memory.proofs.signing_key().origin).vkey
    found = memory.proofs.verify(keys=[other])
    assert (found.ok, found.keys) == (False, "pinned")
    memory.proofs.rotate_signing_key(by="dora")
    talk(memory, 1)
    memory.proofs.checkpoint()
    both = memory.proofs.signing_key().verifier_keys
    assert memory.proofs.verify(keys=both).ok
    assert not memory.proofs.verify(keys=both[:1]).ok, "it signs no more"
    with pytest.raises(CallerMistake, match="no verifier key"):
        memory.proofs.verify(keys=["words"])
    options = [word for vkey in both for word in ("--key", vkey)]
    run = CliRunner().invoke(app, ["--ledger", str(place), "proof", "verify", "--json", *options])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["keys"] == "pinned"
    run = CliRunner().invoke(
        app, ["--ledger", str(place), "proof", "verify", "--json", *options[:2]]
    )
    assert run.exit_code == 3
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "fresh.key"))
    with open_memory(new_place()) as fresh:
        assert fresh.proofs.verify().keys is None


def test_verify_takes_checkpoints_out_of_whatever_was_kept(memory):
    memory.proofs.checkpoint()
    first_size = memory.proofs.tree.latest().size
    first = memory.proofs.inclusion(3)
    talk(memory, 3)
    for kept in (first.checkpoint, first.text(), memory.proofs.consistency(first_size).text()):
        assert memory.proofs.verify(checkpoint=kept).ok
    for none in ("hello", "{}", '{"new": "x"}'):
        with pytest.raises(CallerMistake, match="checkpoint"):
            memory.proofs.verify(checkpoint=none)


def test_a_checkpoint_of_another_ledger_is_not_this_ones(memory, new_place, monkeypatch, tmp_path):
    memory.proofs.checkpoint()
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "other.key"))
    with open_memory(new_place()) as other:
        other.remember("ana", "I live in Faro.", consent="consent")
        kept = other.proofs.checkpoint()
    found = memory.proofs.verify(checkpoint=kept.text)
    assert not found.ok
    assert "kept elsewhere" in found.problem


def test_verify_makes_decisions_again_when_asked(memory):
    talk(memory, 3)
    memory.process()
    found = memory.proofs.verify(decisions=True)
    assert found.ok
    assert found.decisions == len(memory.decisions())
    assert memory.proofs.verify().decisions == 0


# The command line


def run(place, *words, code=0):
    result = CliRunner().invoke(app, ["--ledger", place, *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def test_the_commands_write_files_that_the_stand_alone_program_checks(place, memory, tmp_path):
    memory.close()
    note, inclusion, consistency = (
        str(tmp_path / name) for name in ("note", "inclusion.json", "consistency.json")
    )
    run(place, "proof", "checkpoint", "-o", note)
    told = json.loads(run(place, "proof", "checkpoint", "--json").stdout)
    assert told["text"] == Path(note).read_text()
    run(place, "remember", "--subject", "ana", "I use pytest.")
    run(place, "proof", "inclusion", "5", "-o", inclusion)
    run(place, "proof", "consistency", str(told["size"]), "-o", consistency)
    shown = json.loads(run(place, "proof", "signing-key", "show", "--json").stdout)
    for name in (note, inclusion, consistency):
        assert verifier.main([name, "--key", shown["verifier_keys"][-1]]) == 0
    assert run(place, "proof", "inclusion", "5").stdout == Path(inclusion).read_text()
    assert run(place, "proof", "verify", "--checkpoint", note).stdout.count("nothing is wrong") == 1
    assert (
        "No checkpoint of 3 events was kept"
        in run(place, "proof", "consistency", "3", code=2).stderr
    )
    run(place, "proof", "signing-key", "rotate", "--by", "dora")
    after = json.loads(run(place, "proof", "signing-key", "show", "--json").stdout)
    assert len(after["verifier_keys"]) == 2
    told = json.loads(run(place, "proof", "verify", "--json", "--decisions").stdout)
    assert (told["ok"], told["events"]) == (True, told["signed"])


def test_explain_shows_that_it_is_proved(place, memory):
    [belief] = memory.beliefs("ana")
    memory.close()
    page = run(place, "explain", belief.memory_id, "--proof").stdout
    assert "Proved to be in the log" in page
    answer = json.loads(run(place, "explain", belief.memory_id, "--proof", "--json").stdout)
    assert set(answer["proofs"]) == set(answer["positions"]) == {"turn", "decision", "admission"}
