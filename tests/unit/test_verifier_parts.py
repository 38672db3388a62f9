"""The verifier's own parts: what each refuses, to the byte, and what it prints."""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from dataclasses import dataclass

import pytest

from beliefledger.ledger.proofs import merkle
from beliefledger.ledger.proofs.notes import Cosigner, Signer, issue, with_signatures
from beliefledger.tools import verifier
from beliefledger.tools.verifier import (
    HOLDS,
    REFUTED,
    UNUSABLE,
    Key,
    Note,
    Refuted,
    Signature,
    main,
)

ORIGIN = "example.org/log"
AT = 1_800_000_000_000_000
"""2027-01-15 08:00:00 UTC, in microseconds."""


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def written(**other) -> str:
    """An envelope as ledgers write it, with some fields of another value or left out."""
    fields = {
        "actor": "ops",
        "body_digest": None,
        "causation": None,
        "correlation": None,
        "event_id": "1",
        "facts": {},
        "recorded_at": AT,
        "stream": "s",
        "subject_ref": None,
        "tenant": "default",
        "type": "turn.parked.v1",
        "version": 1,
    } | other
    kept = {name: value for name, value in fields.items() if value is not ...}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass
class Ledger:
    """Signed trees over envelopes, without a ledger."""

    signer: Signer
    envelopes: list[str]

    @property
    def vkey(self) -> str:
        return self.signer.verifier.vkey

    @property
    def leaves(self) -> list[bytes]:
        return [merkle.leaf_hash(each.encode()) for each in self.envelopes]

    def note(self, size: int):
        return issue(ORIGIN, size, merkle.root_of(self.leaves[:size]), self.signer)

    def _node(self, level: int, index: int) -> bytes:
        return merkle.root_of(self.leaves[index << level : (index + 1) << level])

    def inclusion(self, position: int, size: int, /, **other) -> dict:
        hashes = merkle.inclusion_proof(position - 1, size, self._node)
        return {
            "format": "beliefledger.inclusion.v1",
            "origin": ORIGIN,
            "position": position,
            "envelope": self.envelopes[position - 1],
            "hashes": list(map(coded, hashes)),
            "checkpoint": self.note(size).text,
            "verifier_keys": [self.vkey],
            "handovers": [],
        } | other

    def consistency(self, old: int, new: int, /, **other) -> dict:
        hashes = merkle.consistency_proof(old, new, self._node) if 0 < old < new else []
        return {
            "format": "beliefledger.consistency.v1",
            "origin": ORIGIN,
            "hashes": list(map(coded, hashes)),
            "old": self.note(old).text,
            "new": self.note(new).text,
            "verifier_keys": [self.vkey],
            "handovers": [],
        } | other


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return Ledger(Signer.generate(ORIGIN), [written(event_id=str(n)) for n in range(1, 1301)])


@pytest.fixture
def check(tmp_path, capsys):
    """Writes a file and checks it: the exit code, and what was said."""

    def checked(document: object, *given: str) -> tuple[int, str]:
        path = tmp_path / "file"
        text = document if isinstance(document, str) else verifier.as_file(document)
        path.write_bytes(text.encode())
        code = main([str(path), *given])
        return code, capsys.readouterr().out

    return checked


def refused(call, *given) -> str:
    with pytest.raises(Refuted) as told:
        call(*given)
    return str(told.value)


# What is printed


PAST_INCLUSION = (
    "  -   that what the event says is true, or that its body was ever as somebody says; a body at"
    " hand is the right one if its SHA-256 is the envelope's body_digest.\n"
)
SAME_HISTORY = (
    "  -   that everybody is shown this same history: that takes a witness (--witness-key), or"
    " comparing checkpoints with others.\n"
)
WHOSE_KEY = (
    "  -   whose key it is: it stands in the file itself; compare it with one that you got"
    " elsewhere, or give that as --key.\n"
)
YES = "YES: everything that was checked holds.\nWhat this cannot prove:\n"


def test_a_proof_of_inclusion_is_told_to_the_letter(ledger, check):
    key = ledger.signer.verifier.key_id.hex()
    said = (
        f"  ok  the checkpoint: 1,300 events of {ORIGIN}, signed by key {key}\n"
        "  ok  the envelope: turn.parked.v1 is at position 1,234 of the log, recorded"
        " 2027-01-15 08:00:00 UTC\n"
    )
    document = ledger.inclusion(1234, 1300)
    assert check(document, "--key", ledger.vkey) == (
        HOLDS,
        said + YES + PAST_INCLUSION + SAME_HISTORY,
    )
    own = f"  ?   the file says that its key is {ledger.vkey}\n"
    assert check(document) == (
        HOLDS,
        own + said + YES + PAST_INCLUSION + SAME_HISTORY + WHOSE_KEY,
    )


def test_a_proof_of_consistency_is_told_to_the_letter(ledger, check):
    key = ledger.signer.verifier.key_id.hex()
    assert check(ledger.consistency(1100, 1300), "--key", ledger.vkey) == (
        HOLDS,
        f"  ok  the new checkpoint: 1,300 events of {ORIGIN}, signed by key {key}\n"
        f"  ok  the old checkpoint: 1,100 events of {ORIGIN}, signed by key {key}\n"
        "  ok  the first 1,100 of the 1,300 events are those of the old checkpoint: none was"
        " changed, removed or moved\n" + YES + SAME_HISTORY,
    )


def test_a_checkpoint_and_its_witness_are_told_to_the_letter(ledger, check):
    witness = Cosigner.generate("witness.example")
    other = Cosigner.generate("other.example")
    note = ledger.note(7)
    lines = [
        witness.cosign(note, 1_800_000_000), witness.cosign(note, 1_800_000_060),
        witness.cosign(note, 1_700_000_000), other.cosign(note, 1_800_000_000),
    ]  # fmt: skip
    text = with_signatures(note, lines).text
    key = ledger.signer.verifier.key_id.hex()
    signed = f"  ok  the checkpoint: 7 events of {ORIGIN}, signed by key {key}\n"
    unchecked = "  ?   the checkpoint has a signature by {}, which was not checked\n"
    which = "  -   which events these are: that takes a proof of inclusion.\n"
    assert check(text, "--key", ledger.vkey, "--witness-key", witness.verifier.vkey) == (
        HOLDS,
        signed
        + "  ok  the checkpoint: cosigned by the witness witness.example, 2027-01-15 08:01:00 UTC\n"
        + unchecked.format("other.example")
        + YES
        + which,
    )
    assert check(text, "--key", ledger.vkey) == (
        HOLDS,
        signed
        + unchecked.format("witness.example") * 3
        + unchecked.format("other.example")
        + YES
        + which
        + SAME_HISTORY,
    )


def test_a_no_is_told_with_what_was_good_until_then(ledger, check):
    document = ledger.inclusion(3, 7, position=4)
    key = ledger.signer.verifier.key_id.hex()
    assert check(document, "--key", ledger.vkey) == (
        REFUTED,
        f"  ok  the checkpoint: 7 events of {ORIGIN}, signed by key {key}\n"
        "NO: the envelope is not what the log has at position 4.\n",
    )
    assert check("{}\n") == (
        UNUSABLE,
        "CANNOT BE CHECKED: it is not a proof or a certificate of a format that is known here.\n",
    )
    assert check("hello\n\nworld\n") == (
        UNUSABLE,
        "CANNOT BE CHECKED: it is neither a proof, nor a certificate, nor a checkpoint.\n",
    )


def test_help_says_how_it_is_used(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    for part in (
        "usage: beliefledger-verify [-h] [--key VKEY] [--witness-key VKEY] FILE\n",
        "\nCheck a proof, a certificate or a checkpoint of a ledger, without the ledger.\n",
        "\nExit codes: 0 it holds, 1 it does not hold, 2 it could not be checked.\n",
        " the file; - is standard input\n",
        " the verifier key of the ledger, got elsewhere; after a rotation, that in force\n",
        " that of a witness, whose cosignature must be there\n",
    ):
        assert part in out, part


def test_what_a_terminal_cannot_show_is_told_in_its_letters(ledger, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text(verifier.as_file(ledger.inclusion(3, 7, origin="Málaga\x1b[2J")), "utf-8")
    said = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(said, "ascii"))
    assert main([str(path)]) == REFUTED
    assert b"not of M\\xe1laga?[2J.\n" in said.getvalue()


def test_who_stops_reading_has_the_exit_code(ledger, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text(verifier.as_file(ledger.inclusion(3, 7)))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main([str(path)]) == HOLDS
        assert main([str(path), "--key", Signer.generate(ORIGIN).verifier.vkey]) == REFUTED


def test_a_file_may_be_as_large_as_it_may_be(ledger, tmp_path, monkeypatch, capsys):
    assert verifier.LARGEST == 10**8
    data = verifier.as_file(ledger.inclusion(3, 7)).encode()
    path = tmp_path / "file"
    path.write_bytes(data)
    for largest, verdict in ((len(data), HOLDS), (len(data) - 1, UNUSABLE)):
        monkeypatch.setattr(verifier, "LARGEST", largest)
        assert main([str(path)]) == verdict
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["-"]) == verdict
    assert "CANNOT BE CHECKED: it is too large.\n" in capsys.readouterr().out


def test_a_file_is_as_it_was_written(ledger, check):
    document = ledger.inclusion(3, 7)
    text = verifier.as_file(document)
    assert text == json.dumps(document, indent=2, sort_keys=True) + "\n"
    for other in (
        json.dumps(document, indent=2) + "\n",
        json.dumps(document, indent=1, sort_keys=True) + "\n",
        text[:-1],
        text + "\n",
        "\n" + text,
        text.replace('"position": 3', '"position": 3, "position": 3'),
    ):
        code, said = check(other)
        assert (code, said) == (REFUTED, "NO: its bytes are not as they were written.\n")


# Keys, signatures, notes


@pytest.mark.parametrize("text", ["AA=A", "AAB=", "AAA", "A A=", "AAA=\n", "AA-_", "", "é", None])
def test_base64_is_written_in_one_way(text):
    if text == "":
        assert verifier.decode64(text, "it") == b""
        return
    said = refused(verifier.decode64, text, "the root")
    how = "as it is written" if text in {"AAB=", None} else ""
    assert said == f"the root is not base64 {how}".strip()


def test_of_what_is_decoded_every_bit_counts():
    assert verifier.decode64("AAA=", "it") == bytes(2)
    assert verifier.decode64("AQID", "it") == b"\x01\x02\x03"


def keyed(name=ORIGIN, kind=1, public=bytes(32), said=None, rest="") -> str:
    told = verifier.key_id(name, kind, public).hex() if said is None else said
    return f"{name}+{told}+{coded(bytes([kind]) + public)}{rest}"


def test_a_verifier_key_is_taken_apart(ledger):
    signer = ledger.signer.verifier
    key = Key.parse(ledger.vkey)
    assert key == Key(ORIGIN, signer.key_id, verifier.SIGNED, signer.public, ledger.vkey)
    cosigner = Cosigner.generate("w.example").verifier
    key = Key.parse(cosigner.vkey)
    assert (key.name, key.kind, key.id) == ("w.example", verifier.COSIGNED, cosigner.key_id)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (keyed(name="a b"), "is no verifier key"),
        (keyed(name=""), "is no verifier key"),
        (keyed(public=bytes(31)), "is no verifier key"),
        (keyed(public=bytes(33)), "is no verifier key"),
        (keyed(kind=2), "is of another kind than Ed25519"),
        (keyed(kind=0), "is of another kind than Ed25519"),
        (keyed(kind=5), "is of another kind than Ed25519"),
        (keyed(said="00000000"), "does not have the id that it says"),
        (keyed(said=keyed().split("+")[1].upper() + "0"), "does not have the id that it says"),
        (keyed(rest="+AA=="), "a verifier key is not base64"),
        (ORIGIN, "is no verifier key"),
        (5, "is no verifier key"),
    ],
)
def test_what_is_no_verifier_key_is_refused(text, why):
    assert why in refused(Key.parse, text)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"— a {coded(bytes(4))}", "the signature by a is too short"),
        (f"- a {coded(bytes(68))}", "is no signature line"),
        (f"— a+b {coded(bytes(68))}", "is no signature line"),
        (f"— a {coded(bytes(68))} b", "is no signature line"),
        (f"—  a {coded(bytes(68))}", "is no signature line"),
        ("— a", "is no signature line"),
        ("— a ?", "the signature by a is not base64"),
        (None, "is no signature line"),
    ],
)
def test_what_is_no_signature_is_refused(line, why):
    assert why in refused(Signature.parse, line)


def test_a_signature_is_by_the_key_of_its_name_and_id():
    found = Signature.parse(f"— a {coded(b'12345')}")
    assert found == Signature("a", b"1234", b"5")
    assert found.is_by(Key("a", b"1234", 1, b"", ""))
    assert not found.is_by(Key("b", b"1234", 1, b"", ""))
    assert not found.is_by(Key("a", b"1235", 1, b"", ""))


def note_text(origin=ORIGIN, size="7", root=bytes(32), more="", lines=1, ending="\n") -> str:
    signatures = "\n".join(f"— a {coded(bytes(68))}" for _ in range(lines))
    return f"{origin}\n{size}\n{coded(root)}\n{more}\n{signatures}{ending}"


def test_a_note_is_taken_apart():
    for size in (0, 7, 10**19 - 1):
        root = merkle.EMPTY_ROOT if size == 0 else b"\x05" * 32
        found = Note.parse(note_text(size=str(size), root=root, more="more\n", lines=100))
        assert (found.origin, found.size, found.root) == (ORIGIN, size, root)
        assert found.body == f"{ORIGIN}\n{size}\n{coded(root)}\nmore\n".encode()
        assert len(found.signatures) == 100
        assert found.signatures[0] == Signature("a", bytes(4), bytes(64))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "is not a signed note"),
        ("a\n7\n", "is not a signed note"),
        (note_text(ending=""), "is not a signed note"),
        (note_text(origin="a\x00"), "has control characters"),
        (note_text(origin="a\tb"), "has control characters"),
        (note_text(origin="a\x1fb"), "has control characters"),
        (note_text(origin="a\rb"), "has control characters"),
        (note_text(size="07"), "is not of origin, size and root, each on a line"),
        (note_text(size="-7"), "is not of origin, size and root, each on a line"),
        (note_text(size="1" * 20), "is not of origin, size and root, each on a line"),
        (note_text(origin=""), "is not of origin, size and root, each on a line"),
        (note_text(more="a\n\nb\n"), "is not of origin, size and root, each on a line"),
        ("a\n7\n\n— a AAAAAAAA\n", "is not of origin, size and root, each on a line"),
        (note_text(root=bytes(31)), "the root of a checkpoint is not 32 bytes"),
        (note_text(root=bytes(33)), "the root of a checkpoint is not 32 bytes"),
        (note_text().replace("AAA=", "AAB="), "the root of a checkpoint is not base64"),
        (note_text(size="0"), "the root of the empty tree is another one"),
        (note_text(lines=101), "a checkpoint has 101 signatures"),
        (note_text(lines=0), "is not of origin, size and root, each on a line"),
        (note_text(ending="\n\n"), "is not of origin, size and root, each on a line"),
    ],
)
def test_what_is_no_note_is_refused(text, why):
    assert why in refused(Note.parse, text)


# Trees


def test_positions_outside_of_the_tree_and_proofs_of_another_length_are_refused(ledger):
    leaf = ledger.leaves[0]
    for index, size in ((-1, 7), (7, 7), (8, 7), (0, 0)):
        said = refused(verifier.root_by_inclusion, index, size, leaf, [])
        assert said == "the position lies outside of the tree"
    for index in range(7):
        hashes = merkle.inclusion_proof(index, 7, ledger._node)
        for more in (1, 2):
            given = [*hashes, *[leaf] * more]
            said = refused(verifier.root_by_inclusion, index, 7, leaf, given)
            assert said == "the proof is too long"
        for less in range(len(hashes)):
            said = refused(verifier.root_by_inclusion, index, 7, leaf, hashes[:less])
            assert said == "the proof is too short"


def test_proofs_of_consistency_of_another_length_are_refused(ledger):
    root = merkle.root_of(ledger.leaves[:1])
    for old, new in ((0, 7), (7, 7), (8, 7)):
        said = refused(verifier.roots_by_consistency, old, new, root, [root])
        assert said == "the proof is too short"
    for old in range(1, 13):
        root = merkle.root_of(ledger.leaves[:old])
        hashes = merkle.consistency_proof(old, 13, ledger._node)
        said = refused(verifier.roots_by_consistency, old, 13, root, [*hashes, root])
        assert said == "the proof is too long"
        for less in range(len(hashes)):
            said = refused(verifier.roots_by_consistency, old, 13, root, hashes[:less])
            assert said == "the proof is too short"


def note_of(size: int, root: bytes) -> Note:
    return Note(ORIGIN, size, root, b"", ())


def test_two_checkpoints_are_of_one_history_or_not(ledger):
    def note(size):
        return note_of(size, merkle.root_of(ledger.leaves[:size]))

    hashes = merkle.consistency_proof(3, 7, ledger._node)
    check = verifier.check_consistent
    check(note(3), note(7), hashes)
    check(note(7), note(7), [])
    check(note(0), note(7), [])
    check(note(0), note(0), [])
    assert refused(check, note(7), note(3), hashes) == (
        "the old tree has 7 events, the new one only 3"
    )
    assert refused(check, note(7), note_of(7, bytes(32)), []) == (
        "there are two histories of 7 events"
    )
    for size in (0, 7):
        assert refused(check, note(size), note(7), hashes) == "the proof is too long"
    assert refused(check, note_of(3, bytes(32)), note(7), hashes) == (
        "the proof does not lead to the old root"
    )
    assert refused(check, note(3), note_of(7, bytes(32)), hashes) == (
        "the proof does not lead to the new root: history was changed"
    )
    assert refused(check, note(3), note(7), []) == "the proof is too short"


# Envelopes


@pytest.mark.parametrize(
    "other",
    [
        {"facts": ...},
        {"more": 1},
        {"actor": None},
        {"actor": 1},
        {"body_digest": 1},
        {"causation": 1},
        {"correlation": {}},
        {"event_id": None},
        {"facts": []},
        {"facts": None},
        {"recorded_at": "1"},
        {"recorded_at": True},
        {"recorded_at": None},
        {"recorded_at": -1},
        {"stream": 5},
        {"subject_ref": 5},
        {"tenant": None},
        {"type": None},
        {"version": 0},
        {"version": True},
        {"version": "1"},
        {"facts": {"a": 1 << 53}},
        {"facts": {"a": -(1 << 53)}},
        {"facts": {"a": [{"b": 1 << 53}]}},
        {"facts": {"é": 1}},
        {"facts": {"a": [{"é": 1}]}},
        {"facts": {"a": 1.5}},
    ],
)
def test_what_is_no_envelope_is_refused(other):
    assert "the envelope" in refused(verifier.envelope_of, {"envelope": written(**other)})


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"recorded_at": 0},
        {"version": (1 << 53) - 1},
        {"facts": {"a": [{"b": (1 << 53) - 1, "c": 1 - (1 << 53), "d": "é", "e": [None, True]}]}},
        {"body_digest": "x", "causation": "x", "correlation": "x", "subject_ref": "x"},
    ],
)
def test_an_envelope_is_read(other):
    text = written(**other)
    assert verifier.envelope_of({"envelope": text}) == (text.encode(), json.loads(text))


def test_an_envelope_is_in_canonical_form():
    text = written(facts={"a": 1, "b": "é"})
    for other in (
        text.replace('"a":1,', '"a": 1,'),
        text.replace('{"a":1,"b":"é"}', '{"b":"é","a":1}'),
        text.replace("é", "\\u00e9"),
        text.replace('"a":1', '"a":1e0'),
        text.replace('"a":1', '"a":NaN'),
        text.replace('"a":1', '"a":Infinity'),
        text + " ",
        f"[{text}]",
        "",
    ):
        assert refused(verifier.envelope_of, {"envelope": other}) == (
            "the envelope is not one, or not in canonical form"
        )
    assert refused(verifier.envelope_of, {"envelope": 5}) == (
        "there is no envelope as it has to be"
    )
    assert refused(verifier.envelope_of, []) == "there is no envelope as it has to be"


# Small parts


def test_fields_are_these_and_no_others():
    names = frozenset({"a", "b"})
    assert verifier.exactly({"a": 1, "b": 2}, names, "it") == {"a": 1, "b": 2}
    assert refused(verifier.exactly, [], names, "the request") == "the request is not an object"
    assert refused(verifier.exactly, {"d": 1, "b": 1, "c": 1}, names, "the request") == (
        "the request has other fields than it has to have: a, c, d"
    )


def test_values_are_the_same_when_they_are_written_alike():
    assert verifier.same({"a": 1, "b": [None]}, {"b": [None], "a": 1})
    assert not verifier.same([True], [1])
    assert not verifier.same("1", 1)
    assert not verifier.same([1, 2], [2, 1])


def test_only_nothing_is_empty():
    assert [verifier.is_empty(each) for each in (None, "", 0, [], False, "x")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


def test_times_are_told():
    assert verifier.moment(AT) == "2027-01-15 08:00:00 UTC"
    assert verifier.moment(AT + 999_999) == "2027-01-15 08:00:00 UTC"
    assert verifier.moment(10**30) == f"at {10**30}"
    assert verifier.moment("soon") == "at soon"
    assert verifier.iso(AT + 1) == "2027-01-15T08:00:00.000001Z"
    assert verifier.iso(0) == "1970-01-01T00:00:00Z"
    assert verifier.iso((1 << 53) - 1).startswith("2255-")
    for wrong in (-1, 1 << 53, True, "1", None):
        assert refused(verifier.iso, wrong) == "a recorded time is none"


@pytest.mark.parametrize("size", [31, 33])
def test_a_hash_is_32_bytes(size):
    good = verifier.hashes_of({"hashes": [coded(bytes(32))]})
    assert good == [bytes(32)]
    said = refused(verifier.hashes_of, {"hashes": [coded(bytes(32)), coded(bytes(size))]})
    assert said == "a hash of the proof is not 32 bytes"


# Who signed


def test_listed_keys_are_of_the_log_and_each_once(ledger, check):
    other = Signer.generate("elsewhere.example").verifier.vkey
    cosigner = Cosigner.generate(ORIGIN).verifier.vkey
    for listed, why in (
        ([], "the file lists no key, or one of them twice"),
        ([ledger.vkey, ledger.vkey], "the file lists no key, or one of them twice"),
        ([other], f"the file lists a key of elsewhere.example, not of {ORIGIN}"),
        ([cosigner], f"the file lists a key of {ORIGIN}, not of {ORIGIN}"),
    ):
        document = ledger.inclusion(3, 7, verifier_keys=listed)
        assert check(document, "--key", ledger.vkey) == (REFUTED, f"NO: {why}.\n")


def test_keys_that_are_known_on_one_side_only_are_told(ledger, check):
    other = Signer.generate(ORIGIN).verifier.vkey
    document = ledger.inclusion(3, 7)
    code, said = check(document, "--key", other, "--key", ledger.vkey)
    assert code == HOLDS
    assert f"  ?   this key that was given is not one that the file lists: {other}\n" in said
    assert f"not one that the file lists: {ledger.vkey}" not in said
    assert "a key that was not given" not in said
    code, said = check(document, "--key", other)
    assert code == REFUTED
    assert f"  ?   the file lists a key that was not given: {ledger.vkey}\n" in said
    assert said.endswith(
        "NO: the checkpoint is not signed by a key that is trusted, but by"
        f" {ORIGIN}+{ledger.signer.verifier.key_id.hex()}.\n"
    )


def handed_over(ledger: Ledger, sizes: list[int]) -> tuple[list[Signer], list[dict]]:
    """Keys of which each handed over to the next at these sizes, the last the ledger's own; and
    the handovers as they are in a proof in the checkpoint of 40 events."""
    keys = [*(Signer.generate(ORIGIN) for _ in sizes), ledger.signer]
    told = []
    for size, old, new in zip(sizes, keys, keys[1:], strict=False):
        note = issue(ORIGIN, size, merkle.root_of(ledger.leaves[:size]), old, new)
        hashes = ledger.consistency(*sorted((size, 40)))["hashes"]
        told.append({"note": note.text, "hashes": hashes})
    return keys, told


def test_handovers_are_one_between_each_key_and_the_next_in_their_order(ledger, check):
    keys, told = handed_over(ledger, [10, 20])
    listed = [key.verifier.vkey for key in keys]
    document = ledger.inclusion(3, 40, verifier_keys=listed, handovers=told)
    given = ("--key", ledger.vkey)
    assert check(document, *given)[0] == HOLDS
    for handovers in (told[:1], [], [*told, told[0]]):
        code, said = check(document | {"handovers": handovers}, *given)
        assert code == REFUTED
        assert "does not have one handover between each key and the next" in said
    keys, told = handed_over(ledger, [20, 10])
    listed = [key.verifier.vkey for key in keys]
    document = ledger.inclusion(3, 40, verifier_keys=listed, handovers=told)
    assert check(document, *given) == (
        REFUTED,
        "".join(f"  ?   the file lists a key that was not given: {each}\n" for each in listed[:2])
        + "NO: the handovers are not in the order of the keys.\n",
    )
    keys, told = handed_over(ledger, [20, 20])
    listed = [key.verifier.vkey for key in keys]
    document = ledger.inclusion(3, 40, verifier_keys=listed, handovers=told)
    assert check(document, *given)[0] == HOLDS


def test_a_key_signs_up_to_its_handover_and_not_one_event_more(ledger, check):
    keys, told = handed_over(ledger, [40])
    old = keys[0]
    listed = [key.verifier.vkey for key in keys]
    for size, verdict in ((39, HOLDS), (40, HOLDS), (41, REFUTED)):
        note = issue(ORIGIN, size, merkle.root_of(ledger.leaves[:size]), old)
        between = ledger.consistency(*sorted((40, size)))["hashes"]
        handovers = [told[0] | {"hashes": between}]
        document = ledger.inclusion(
            3, size, checkpoint=note.text, verifier_keys=listed, handovers=handovers
        )
        for given in ([], ["--key", ledger.vkey], ["--key", old.verifier.vkey]):
            assert check(document, *given)[0] == verdict, (size, given)


def test_a_handover_is_of_this_log_and_signed_by_both(ledger, check):
    keys, told = handed_over(ledger, [10])
    listed = [key.verifier.vkey for key in keys]
    root = merkle.root_of(ledger.leaves[:10])
    for note, why in (
        (issue("elsewhere.example", 10, root, *keys), "a handover is of elsewhere.example"),
        (issue(ORIGIN, 10, root, keys[0]), "a handover is not signed by key"),
        (issue(ORIGIN, 10, root, keys[1]), "a handover is not signed by key"),
        (issue(ORIGIN, 10, bytes(32), *keys), "the proof does not lead to the old root"),
    ):
        document = ledger.inclusion(
            3, 40, verifier_keys=listed, handovers=[told[0] | {"note": note.text}]
        )
        code, said = check(document, "--key", ledger.vkey)
        assert code == REFUTED
        assert why in said


def test_a_checkpoint_of_another_log_is_refused(ledger, check):
    other = Signer.generate("elsewhere.example")
    note = issue("elsewhere.example", 7, merkle.root_of(ledger.leaves[:7]), other)
    code, said = check(ledger.inclusion(3, 7, checkpoint=note.text), "--key", ledger.vkey)
    assert (code, said) == (
        REFUTED,
        f"NO: the checkpoint is of elsewhere.example, not of {ORIGIN}.\n",
    )


def test_a_bad_signature_is_refused_beside_a_good_one(ledger, check):
    note = ledger.note(7)
    elsewhere = ledger.signer.sign(ledger.note(8).body)
    text = with_signatures(note, [elsewhere]).text
    assert check(text, "--key", ledger.vkey) == (
        REFUTED,
        f"NO: the signature of the checkpoint by {ORIGIN} is not good.\n",
    )


def test_a_cosignature_is_over_its_time_and_the_checkpoint(ledger, check):
    witness = Cosigner.generate("witness.example")
    note = ledger.note(7)
    good = Signature.parse(witness.cosign(note, 1_800_000_000))
    later = (1_800_000_001).to_bytes(8, "big") + good.blob[8:]
    elsewhere = Signature.parse(witness.cosign(ledger.note(8), 1_800_000_000)).blob
    given = ("--key", ledger.vkey, "--witness-key", witness.verifier.vkey)
    for blob in (later, elsewhere, good.blob + b"\0", good.blob[:-1]):
        line = f"— witness.example {coded(good.id + blob)}"
        code, said = check(f"{note.text}{line}\n", *given)
        assert code == REFUTED
        assert "the cosignature of the checkpoint by witness.example is not good" in said
    code, said = check(note.text, *given)
    assert code == REFUTED
    assert "the checkpoint is not cosigned by the witness witness.example" in said


def test_the_new_checkpoint_of_two_is_signed_by_a_trusted_key_the_old_by_a_listed_one(
    ledger, check
):
    """A proof leads from the old one to what the trusted key signed; nothing leads on."""
    keys, _ = handed_over(ledger, [10])
    old = keys[0]
    notes = {
        size: issue(ORIGIN, size, merkle.root_of(ledger.leaves[:size]), old).text
        for size in (5, 10)
    }
    told = {
        "note": issue(ORIGIN, 10, merkle.root_of(ledger.leaves[:10]), *keys).text,
        "hashes": ledger.consistency(10, 40)["hashes"],
    }
    listed = {"verifier_keys": [key.verifier.vkey for key in keys], "handovers": [told]}
    document = ledger.consistency(5, 40, old=notes[5], **listed)
    code, said = check(document, "--key", ledger.vkey)
    assert code == HOLDS
    assert f"handed over to key {ledger.signer.verifier.key_id.hex()}" in said
    stranger = Signer.generate(ORIGIN)
    note = issue(ORIGIN, 40, merkle.root_of(ledger.leaves[:40]), stranger).text
    code, said = check(ledger.consistency(5, 40, new=note), "--key", ledger.vkey)
    assert code == REFUTED
    assert "the new checkpoint is not signed by a key that is trusted" in said
