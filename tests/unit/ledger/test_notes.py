"""Signed notes against the vectors of the specification, of Go's notes and of a log at work."""

from __future__ import annotations

import base64

import pytest

from beliefledger.ledger.errors import KeyMissing
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.proofs.merkle import EMPTY_ROOT
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    CosignatureVerifier,
    Cosigner,
    NoteInvalid,
    Signature,
    Signer,
    Verifier,
    check,
    issue,
    key_id,
    split,
    with_signatures,
)

EXAMPLE_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
EXAMPLE = (
    "This is an example message.\n\n"
    "— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHj"
    "G1Yu72IneyaQM=\n"
)
GO_PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
GO_LINE = (
    "— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE"
    "6RyyBwJnAM="
)
LOG_KEY = (
    "arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f"
)
WITNESS_KEY = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2"
AT_WORK = (
    "arche2025h1.staging.ct.transparency.dev\n"
    "1432088532\n"
    "U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=\n"
    "\n"
    "— arche2025h1.staging.ct.transparency.dev "
    "zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbd"
    "Q3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=\n"
    "— arche2025h1.staging.ct.transparency.dev "
    "ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygN"
    "I75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=\n"
    "— remora.n621.de "
    "2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTyn"
    "k5XeU/zZ0WBxtqB0DrAWfBw==\n"
)
"""A head of a log at work, signed by it and cosigned by a witness that others run."""

ORIGIN = "beliefledger/0123456789abcdef"
SIGNER = Signer(ORIGIN, bytes(range(32)))
WITNESS = Cosigner("witness.example/w1", bytes(range(1, 33)))


def test_the_example_of_the_specification_verifies():
    verifier = Verifier.parse(EXAMPLE_KEY)
    assert verifier.vkey == EXAMPLE_KEY
    body, [signature] = split(EXAMPLE)
    verifier.verify(body, signature)
    with pytest.raises(NoteInvalid):
        verifier.verify(body.replace("example", "another"), signature)


def test_gos_key_signs_as_go_does():
    signer = Signer.parse(GO_PRIVATE)
    assert signer.private_text == GO_PRIVATE
    assert signer.vkey == GO_KEY
    assert signer.sign(GO_TEXT) == GO_LINE


def test_a_head_of_a_log_at_work_verifies_with_its_witness():
    checkpoint = Checkpoint.parse(AT_WORK)
    assert (checkpoint.size, checkpoint.origin) == (1432088532, LOG_KEY.split("+", 1)[0])
    assert check(checkpoint, [Verifier.parse(LOG_KEY)]).vkey == LOG_KEY
    assert CosignatureVerifier.parse(WITNESS_KEY).check(checkpoint) == 0x6A122120
    other = Checkpoint.parse(AT_WORK.replace("1432088532", "1432088533"))
    with pytest.raises(NoteInvalid):
        check(other, [Verifier.parse(LOG_KEY)])
    with pytest.raises(NoteInvalid):
        CosignatureVerifier.parse(WITNESS_KEY).check(other)


def test_a_checkpoint_is_read_as_it_was_issued():
    made = issue(ORIGIN, 70_000, EMPTY_ROOT, SIGNER)
    assert made.text == (
        f"{ORIGIN}\n70000\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n"
        f"{SIGNER.sign(made.body)}\n"
    )
    assert Checkpoint.parse(made.text) == made
    assert check(made, [Verifier.parse(SIGNER.vkey)]).name == ORIGIN


def test_extension_lines_are_read_and_signed():
    body = issue(ORIGIN, 3, EMPTY_ROOT, SIGNER).body + "extended\n"
    signed = Checkpoint.parse(f"{body}\n{SIGNER.sign(body)}\n")
    assert signed.body == body
    assert check(signed, [SIGNER.verifier])


GOOD = issue(ORIGIN, 7, EMPTY_ROOT, SIGNER).text


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "\n\n",
        GOOD.removesuffix("\n"),
        GOOD + "\n",
        GOOD + "x\n",
        GOOD.replace("\n\n", "\n"),
        GOOD.replace("\n7\n", "\n07\n"),
        GOOD.replace("\n7\n", "\n-7\n"),
        GOOD.replace("\n7\n", "\n7 \n"),
        GOOD.replace("\n7\n", "\n٧\n"),
        GOOD.replace("\n7\n", "\n"),
        GOOD.replace("\n7\n", "\n\n7\n"),
        GOOD.replace("FU=", "FU"),
        GOOD.replace("FU=", "FV="),  # the same bytes with bits that mean nothing
        GOOD.replace("47DEQpj8", "47DE"),
        GOOD.replace("— ", "- "),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("7", "7\t"),
        GOOD + "— name+plus AAAAAAAA\n",
        GOOD + "— name AAAA\n",
        GOOD + "— name\u2003wide AAAAAAAA\n",
        GOOD + 100 * "— name AAAAAAAA\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(wrong):
    assert wrong != GOOD
    with pytest.raises(NoteInvalid):
        Checkpoint.parse(wrong)


@pytest.mark.parametrize(
    "wrong", [GOOD.removesuffix("\n"), GOOD.replace("\n\n", "\n"), "no empty line\n", "x"]
)
def test_a_note_has_an_empty_line_and_a_last_one_that_ends(wrong):
    with pytest.raises(NoteInvalid, match="a text, an empty line, and lines of signatures"):
        split(wrong)


def vkey(name, kind, public):
    """A verifier key whose id is right, whatever it is a key of."""
    id_ = key_id(name, kind, public).hex()
    return f"{name}+{id_}+{base64.b64encode(bytes([kind]) + public).decode()}"


def test_a_verifier_key_has_its_type_and_length():
    public = SIGNER.verifier.public
    assert Verifier.parse(vkey(ORIGIN, 1, public)) == SIGNER.verifier
    assert Verifier.parse(f" {vkey(ORIGIN, 1, public)}\n") == SIGNER.verifier
    for kind, raw in ((1, public[:-1]), (1, public + b"0"), (2, public), (4, public), (1, b"")):
        with pytest.raises(NoteInvalid, match="not a verifier key of type 0x01"):
            Verifier.parse(vkey(ORIGIN, kind, raw))


def test_signatures_of_unknown_keys_are_ignored_and_wrong_ones_of_known_keys_are_not():
    other = Signer(ORIGIN, bytes(32))
    checkpoint = issue(ORIGIN, 7, EMPTY_ROOT, SIGNER)
    both = issue(ORIGIN, 7, EMPTY_ROOT, other, SIGNER)
    assert check(both, [SIGNER.verifier]) == SIGNER.verifier
    with pytest.raises(NoteInvalid, match="not signed by a known key"):
        check(checkpoint, [other.verifier])
    with pytest.raises(NoteInvalid, match="not signed by a known key"):
        check(checkpoint, [])
    wrong = Signature(ORIGIN, other.key_id, bytes(64)).line
    with pytest.raises(NoteInvalid, match="not one of"):
        check(with_signatures(checkpoint, [wrong]), [SIGNER.verifier, other.verifier])


def test_a_witness_says_when():
    checkpoint = issue(ORIGIN, 7, EMPTY_ROOT, SIGNER)
    cosigned = with_signatures(checkpoint, [WITNESS.cosign(checkpoint, 1_679_315_147)])
    assert cosigned.body == checkpoint.body
    verifier = CosignatureVerifier.parse(WITNESS.vkey)
    assert verifier.check(cosigned) == 1_679_315_147
    assert check(cosigned, [SIGNER.verifier])
    again = with_signatures(cosigned, [WITNESS.cosign(checkpoint, 1_679_315_200)])
    assert verifier.check(again) == 1_679_315_200
    assert with_signatures(again, [WITNESS.cosign(checkpoint, 1_679_315_200)]) == again
    with pytest.raises(NoteInvalid, match="not cosigned"):
        verifier.check(checkpoint)
    for change in (("\n7\n", "\n8\n"), (ORIGIN, ORIGIN + "0")):
        with pytest.raises(NoteInvalid):
            verifier.check(Checkpoint.parse(cosigned.text.replace(*change)))
    line = Signature.parse(WITNESS.cosign(checkpoint, 5))
    later = Signature(line.name, line.key_id, (6).to_bytes(8, "big") + line.value[8:])
    with pytest.raises(NoteInvalid):
        verifier.check(with_signatures(checkpoint, [later.line]))
    short = Signature(line.name, line.key_id, line.value[:-1])
    with pytest.raises(NoteInvalid):
        verifier.check(with_signatures(checkpoint, [short.line]))


def test_a_witness_key_is_no_log_key():
    assert Cosigner.parse(WITNESS.private_text).vkey == WITNESS.vkey
    with pytest.raises(NoteInvalid):
        Verifier.parse(WITNESS.vkey)
    with pytest.raises(NoteInvalid):
        CosignatureVerifier.parse(SIGNER.vkey)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "name",
        "name+c74f20a3",
        GO_KEY.replace("c74f20a3", "c74f20a4"),
        GO_KEY.replace("c74f20a3", "C74F20A3"),
        GO_KEY.replace("PeterNeumann", "Peter Neumann"),
        GO_KEY.replace("PeterNeumann", ""),
        GO_KEY.replace("PeterNeumann", "EnochRoot"),
        GO_KEY[:-4],
        GO_KEY + "AAAA",
    ],
)
def test_what_is_no_verifier_key_is_refused(wrong):
    with pytest.raises(NoteInvalid):
        Verifier.parse(wrong)


@pytest.mark.parametrize("name", ["", "two words", "a+b", "tab\t", "wide\u2003"])
def test_a_key_cannot_have_any_name(name):
    with pytest.raises(NoteInvalid):
        Signer.generate(name)


def test_a_private_key_is_not_shown():
    secret = SIGNER.private_text.rsplit("+", 1)[1]
    assert secret not in repr(SIGNER)
    with pytest.raises(NoteInvalid) as problem:
        Signer.parse(SIGNER.private_text.replace("KEY+", "KEY-"))
    assert secret not in str(problem.value)


# The file


def test_a_key_file_is_its_owners_alone(tmp_path):
    file = tmp_path / "signing.key"
    made = keyfile.create(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert made.name.startswith("beliefledger/")
    assert len(made.name) == len("beliefledger/") + 16
    assert keyfile.read(file).vkey == made.vkey
    with pytest.raises(FileExistsError):
        keyfile.create(file)
    assert keyfile.read(file).vkey == made.vkey
    assert [each.name for each in tmp_path.iterdir()] == [
        "signing.key"
    ]  # nothing half written is left


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_key_file_that_others_may_read_is_refused(tmp_path, mode):
    file = tmp_path / "signing.key"
    keyfile.create(file)
    file.chmod(mode)
    with pytest.raises(KeyMissing, match="chmod 600"):
        keyfile.read(file)


def test_a_key_file_without_a_key_is_refused(tmp_path):
    file = tmp_path / "signing.key"
    with pytest.raises(KeyMissing, match="BELIEFLEDGER_SIGNING_KEY_FILE"):
        keyfile.read(file)
    file.touch(0o600)
    with pytest.raises(KeyMissing, match="no signing key"):
        keyfile.read(file)
    file.write_text(WITNESS.vkey)
    with pytest.raises(KeyMissing, match="no signing key"):
        keyfile.read(file)


def test_a_key_that_was_prepared_waits_until_it_is_known(tmp_path):
    file = tmp_path / "signing.key"
    old = keyfile.create(file)
    keyfile.prepare(file, Signer.generate(old.name))
    new = Signer.generate(old.name)
    keyfile.prepare(file, new)
    assert keyfile.read(file, old.vkey).vkey == keyfile.read(file).vkey == old.vkey
    assert keyfile.read(file, new.vkey).vkey == keyfile.read(file).vkey == new.vkey
    assert [each.name for each in tmp_path.iterdir()] == ["signing.key"]


def test_the_checkpoint_of_no_events_is_one():
    signer = Signer.generate("example.org/log")
    text = issue("example.org/log", 0, EMPTY_ROOT, signer).text
    parsed = Checkpoint.parse(text)
    assert (parsed.size, parsed.text) == (0, text)


def test_a_signature_is_an_id_and_one_byte_at_least():
    coded = base64.b64encode(b"12345").decode()
    assert Signature.parse(f"— a {coded}") == Signature("a", b"1234", b"5")
    with pytest.raises(NoteInvalid, match="too short"):
        Signature.parse(f"— a {base64.b64encode(b'1234').decode()}")
