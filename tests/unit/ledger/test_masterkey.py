"""The master key: 64 hex digits in a file of its owner alone."""

from __future__ import annotations

import stat

import pytest

from beliefledger.ledger.errors import KeyMissing
from beliefledger.ledger.masterkey import MasterKey


def test_a_new_key_file_is_for_its_owner_alone_and_reads_back(tmp_path):
    made = MasterKey.create_file(tmp_path / "master.key")
    assert stat.S_IMODE((tmp_path / "master.key").stat().st_mode) == 0o600
    assert MasterKey.from_file(tmp_path / "master.key") == made
    assert len(made.key) == 32


def test_an_existing_key_file_is_left_as_it_is(tmp_path):
    made = MasterKey.create_file(tmp_path / "master.key")
    with pytest.raises(FileExistsError):
        MasterKey.create_file(tmp_path / "master.key")
    assert MasterKey.from_file(tmp_path / "master.key") == made


@pytest.mark.parametrize("text", ["", "ab" * 31, "ab" * 33, "zz" * 32, "ab" * 31 + "a", "é" * 64])
def test_what_is_not_64_hex_digits_is_refused_by_name(text):
    with pytest.raises(KeyMissing, match="The variable X does not hold a master key"):
        MasterKey.from_hex(text, "The variable X")


def test_white_space_around_the_digits_does_not_matter():
    assert MasterKey.from_hex(" " + "AB" * 32 + "\n", "x").key == b"\xab" * 32


def test_a_key_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(KeyMissing, match=r"nowhere\.key cannot be read"):
        MasterKey.from_file(tmp_path / "nowhere.key")
    (tmp_path / "binary.key").write_bytes(b"\xff\x00\xfe")
    with pytest.raises(KeyMissing, match=r"binary\.key does not hold"):
        MasterKey.from_file(tmp_path / "binary.key")


def test_neither_its_id_nor_its_repr_tells_the_key():
    key = MasterKey(bytes(range(32)))
    assert key.id != MasterKey(bytes(32)).id
    for told in (key.id, repr(key), str(key)):
        assert key.key.hex()[:8] not in told
