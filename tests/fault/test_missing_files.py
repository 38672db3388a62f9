"""Every file of a ledger's directory deleted, emptied or replaced by something else: what is told
names the file and says what to do, or nothing is lost and everything goes on."""

from __future__ import annotations

import shutil

import pytest

from beliefledger import open_memory
from beliefledger.backups import backup
from beliefledger.ledger.errors import KeyMissing, LogCorrupted, MustStop


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A ledger with everything that one can have in its directory."""
    place = tmp_path_factory.mktemp("whole") / "ledger"
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
        memory.search("ana", "Porto")
        memory.proofs.rotate_signing_key(by="eva")
        memory.remember("ana", "I play the cello.")
    return place


@pytest.fixture
def ledger(template, tmp_path):
    return shutil.copytree(template, tmp_path / "ledger")


def delete(path):
    path.unlink()


def empty(path):
    path.write_bytes(b"")


def spoil(path):
    path.write_bytes(b"\xff\xfe no such thing \xff" * 40)


def replace_by_directory(path):
    path.unlink()
    path.mkdir()


OPENING = {
    ("master.key", delete): (KeyMissing, r"put the key file back at .*/master\.key"),
    ("master.key", empty): (KeyMissing, r"master\.key does not hold a master key"),
    ("master.key", spoil): (KeyMissing, r"master\.key does not hold a master key"),
    ("master.key", replace_by_directory): (KeyMissing, r"master\.key cannot be read: .*directory"),
    ("keys.db", delete): (KeyMissing, r"no vault at .*/keys\.db: put it back from its backup"),
    ("keys.db", empty): (KeyMissing, r"The vault .*/keys\.db has no key .*restore the vault"),
    ("keys.db", spoil): (LogCorrupted, r"The vault .*/keys\.db is damaged"),
    ("keys.db", replace_by_directory): (MustStop, r"keys\.db.*put the file back"),
    ("log.db", delete): (LogCorrupted, r"log\.db is missing.*put the file back, or restore"),
    ("log.db", empty): (LogCorrupted, r"log\.db.* is empty, but the vault.*Restore it"),
    ("log.db", spoil): (LogCorrupted, r"log\.db: file is not a database"),
    ("log.db", replace_by_directory): (MustStop, r"log\.db.*put the file back"),
    ("write.lock", replace_by_directory): (MustStop, r"write\.lock.*move it away"),
    ("views/views.db", replace_by_directory): (MustStop, r"views\.db.*move it away"),
}


@pytest.mark.parametrize(("name", "how"), OPENING)
def test_what_cannot_be_done_without_is_named_on_opening(ledger, name, how):
    kind, said = OPENING[name, how]
    how(ledger / name)
    with pytest.raises(kind, match=said):
        open_memory(ledger, create=False)


VERIFYING = {
    ("proofs/keys", delete): r"proofs/keys, the list of the keys .*missing or empty: put it back",
    ("proofs/keys", empty): r"proofs/keys, the list of the keys .*missing or empty: put it back",
    ("proofs/keys", spoil): r"proofs/keys is not text: put it back from a backup",
    ("proofs/keys", replace_by_directory): r"proofs/keys cannot be read: Is a directory",
    ("proofs/checkpoint", empty): r"latest checkpoint at .*/proofs cannot be read: put it back",
    ("proofs/checkpoint", spoil): r"proofs/checkpoint is not text: put it back from a backup",
    ("proofs/checkpoint", replace_by_directory): r"proofs/checkpoint cannot be read: Is a direct",
    ("signing.key", empty): r"signing\.key: There is no signing key",
    ("signing.key", spoil): r"signing\.key: There is no signing key",
    ("signing.key", replace_by_directory): r"signing\.key cannot be read.*Put the key back",
    ("signing.key.head", spoil): r"signing\.key\.head, the head that was signed last, cannot be",
    ("signing.key.head", replace_by_directory): r"signing\.key\.head cannot be read: Is a direct",
}


def verified(memory):
    """What `verify` finds, or why it cannot look."""
    try:
        answer = memory.proofs.verify()
    except MustStop as problem:
        return None, str(problem)
    return answer.position, answer.problem


@pytest.mark.parametrize(("name", "how"), VERIFYING)
def test_what_proves_the_history_is_named_by_verify(ledger, name, how):
    how(ledger / name)
    with open_memory(ledger, create=False) as memory:
        position, problem = verified(memory)
    assert position is None  # no event is wrong
    with pytest.raises(MustStop, match=VERIFYING[name, how]):
        raise MustStop(problem)


def test_a_list_of_keys_that_was_deleted_is_whole_again_from_a_backup(ledger, tmp_path):
    backup(ledger, tmp_path / "backup")
    (ledger / "proofs" / "keys").unlink()
    with open_memory(ledger) as memory:
        assert any("proofs/keys" in each for each in memory.status(digests=False).warnings)
        memory.record_turn("ana", "I live in Faro.")  # which needs no proof
    (kept,) = [each for each in (tmp_path / "backup").rglob("keys") if each.is_file()]
    shutil.copy(kept, ledger / "proofs" / "keys")
    with open_memory(ledger) as memory:
        assert memory.proofs.verify().ok
        memory.operations.tidy()
        assert memory.proofs.verify().ok


def test_a_signing_key_that_was_deleted_is_named_to_whoever_wants_to_sign(ledger):
    (ledger / "signing.key").unlink()
    with open_memory(ledger) as memory:
        memory.record_turn("ana", "I live in Faro.")
        [told] = memory.status(digests=False).warnings
        assert f"{ledger / 'signing.key'} is missing: put it back" in told
        assert memory.proofs.verify().ok


HARMLESS = [
    ("write.lock", delete),
    ("write.lock", spoil),
    ("proofs/lock", delete),
    ("proofs/checkpoint", delete),  # the last of its history is as good
    ("signing.key.head", delete),  # `checkpoint` remembers it again
    ("signing.key.head", empty),
    ("views/views.db", delete),
    ("views/views.db", empty),
    ("views/views.db", spoil),
    ("views/vectors.db", delete),
    ("views/vectors.db", spoil),
]


@pytest.mark.parametrize(("name", "how"), HARMLESS)
def test_without_the_rest_everything_goes_on(ledger, name, how):
    how(ledger / name)
    with open_memory(ledger) as memory:
        assert memory.proofs.verify().ok
        assert memory.beliefs("ana")
        assert memory.search("ana", "Porto").results
        memory.record_turn("ana", "I live in Faro.")
        memory.process()
        assert memory.proofs.verify().ok


def test_a_file_where_the_proofs_are_is_told(ledger):
    for name in ("proofs/checkpoints", "proofs"):
        shutil.rmtree(ledger / name)
        (ledger / name).write_text("")
        with open_memory(ledger) as memory:
            with pytest.raises(MustStop, match=f"{ledger / name}.*a directory belongs"):
                memory.proofs.verify()
