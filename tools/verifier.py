"""`beliefledger-verify FILE`: checks proofs, certificates and checkpoints without the ledger.

One file on the standard library and `cryptography`, which imports nothing else of beliefledger: it
can be copied anywhere and read in one sitting. docs/proofs.md says all that it needs to know, so
that it can also be written anew. Exit codes: 0 it holds, 1 it does not, 2 it could not be checked.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

INCLUSION = "beliefledger.inclusion.v1"
CONSISTENCY = "beliefledger.consistency.v1"
CERTIFICATE = "beliefledger.certificate.v2"
FIRST_CERTIFICATE = "beliefledger.certificate.v1"
"""Which did not tell of consumers that were written off."""

HOLDS, REFUTED, UNUSABLE = 0, 1, 2

SIGNED = 0x01
"""The type of an Ed25519 key that signs notes, and of one that cosigns them with a time."""
COSIGNED = 0x04
LARGEST = 100_000_000
"""Of a file, in bytes: what is longer is none of ours."""

MAX_SIGNATURES = 100
SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
NAME = re.compile(r"[^\s+]+")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")

MAYBE = (str, type(None))
ENVELOPE: dict[str, tuple[type, ...]] = {
    "actor": (str,),
    "body_digest": MAYBE,
    "causation": MAYBE,
    "correlation": MAYBE,
    "event_id": (str,),
    "facts": (dict,),
    "recorded_at": (int,),
    "stream": (str,),
    "subject_ref": MAYBE,
    "tenant": (str,),
    "type": (str,),
    "version": (int,),
}
PROOF = frozenset("format handovers hashes origin verifier_keys".split())
FIELDS = {
    INCLUSION: PROOF | {"checkpoint", "envelope", "position"},
    CONSISTENCY: PROOF | {"new", "old"},
    CERTIFICATE: frozenset(
        "after backup_horizon basis because before bodies cannot_prove commitment completed_at"
        " completion consistency consumers counts erasure format handovers issued_at"
        " key_fingerprints of origin probes reach remains request requested_at requested_by"
        " signature state subject_ref verifier_keys views".split()
    ),
}
"""Each file has these fields and no others: nothing is slipped in beside what is checked."""
FIELDS[FIRST_CERTIFICATE] = FIELDS[CERTIFICATE]
INCLUDED = frozenset({"envelope", "hashes", "position"})
HORIZON = frozenset("in_force_since master_key rotated_at rotated_since text".split())

REQUESTS = frozenset({"erasure.requested.v1", "erasure.requested.v2"})
WITHOUT_RECEIPTS = "subject.erased.v1"
COMPLETIONS = frozenset({WITHOUT_RECEIPTS, "subject.erased.v2", "content.erased.v2"})

CAVEATS = (
    "that no copy was made outside of the ledger: exports, printed pages, what a model was shown,"
    " logs of other systems",
    "that receipts and probes are true, and what the lines with a question mark say: that is the"
    " ledger's own word",
    "that a consumer which acknowledged did delete what it had, or that all who had copies are"
    " listed",
    "that memory of processes, swap, core dumps and spare blocks of a disk hold nothing",
)
"""What no certificate proves, whatever it says of that itself."""


class Refuted(Exception):
    """What the file says does not hold."""


class Unusable(Exception):
    """It cannot be checked: no file of ours, no key to check it with."""


# Signed notes


def decode64(text: object, what: str) -> bytes:
    """Standard base64, with padding, and only in the one way to write it."""
    try:
        data = base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise Refuted(f"{what} is not base64") from None
    if base64.b64encode(data).decode() != text:
        raise Refuted(f"{what} is not base64 as it is written")
    return data


def key_id(name: str, kind: int, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


@dataclass(frozen=True)
class Key:
    """A verifier key: `NAME+ID+BASE64`, where the base64 is a type byte and 32 bytes of Ed25519."""

    name: str
    id: bytes
    kind: int
    public: bytes
    text: str

    @classmethod
    def parse(cls, text: object) -> Key:
        name, _, rest = str(text).partition("+")
        said, _, encoded = rest.partition("+")
        data = decode64(encoded, "a verifier key")
        if not NAME.fullmatch(name) or len(data) != 33:
            raise Refuted(f"{text!r} is no verifier key")
        if data[0] not in {SIGNED, COSIGNED}:
            raise Refuted(f"the verifier key of {name} is of another kind than Ed25519")
        made = key_id(name, data[0], data[1:])
        if made.hex() != said:
            raise Refuted(f"the verifier key of {name} does not have the id that it says")
        return cls(name, made, data[0], data[1:], str(text))

    def verify(self, signature: bytes, message: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class Signature:
    """One line `— NAME BASE64`: four bytes of key id, then the signature."""

    name: str
    id: bytes
    blob: bytes

    @classmethod
    def parse(cls, line: object) -> Signature:
        parts = str(line).split(" ")
        if len(parts) != 3 or parts[0] != "\N{EM DASH}" or not NAME.fullmatch(parts[1]):
            raise Refuted(f"{line!r} is no signature line")
        data = decode64(parts[2], f"the signature by {parts[1]}")
        if len(data) < 5:
            raise Refuted(f"the signature by {parts[1]} is too short")
        return cls(parts[1], data[:4], data[4:])

    def is_by(self, key: Key) -> bool:
        return (self.name, self.id) == (key.name, key.id)


@dataclass(frozen=True)
class Note:
    """A checkpoint: origin, size and root of the tree, and who signed that."""

    origin: str
    size: int
    root: bytes
    body: bytes
    signatures: tuple[Signature, ...]

    @classmethod
    def parse(cls, text: object) -> Note:
        if not isinstance(text, str) or "\n\n" not in text or not text.endswith("\n"):
            raise Refuted("a checkpoint is not a signed note")
        if CONTROL.search(text):
            raise Refuted("a checkpoint has control characters")
        body, _, rest = text.rpartition("\n\n")
        said, lines = body.split("\n"), rest[:-1].split("\n")
        if len(said) < 3 or "" in said or not SIZE.fullmatch(said[1]):
            raise Refuted("a checkpoint is not of origin, size and root, each on a line")
        root, size = decode64(said[2], "the root of a checkpoint"), int(said[1])
        if len(root) != 32:
            raise Refuted("the root of a checkpoint is not 32 bytes")
        if size == 0 and root != hashlib.sha256().digest():
            raise Refuted("the root of the empty tree is another one")
        if len(lines) > MAX_SIGNATURES:
            raise Refuted(f"a checkpoint has {len(lines)} signatures")
        signatures = tuple(map(Signature.parse, lines))
        return cls(said[0], size, root, body.encode() + b"\n", signatures)


# RFC 9162, section 2.1


def leaf_hash(envelope: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + envelope).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_by_inclusion(index: int, size: int, leaf: bytes, hashes: Sequence[bytes]) -> bytes:
    """The root of a tree in which the leaf is at this index, by RFC 9162, 2.1.3.2."""
    if not 0 <= index < size:
        raise Refuted("the position lies outside of the tree")
    at, last, root = index, size - 1, leaf
    for each in hashes:
        if last == 0:
            raise Refuted("the proof is too long")
        if at & 1 or at == last:
            root = node_hash(each, root)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            root = node_hash(root, each)
        at, last = at >> 1, last >> 1
    if last:
        raise Refuted("the proof is too short")
    return root


def roots_by_consistency(
    old: int, new: int, old_root: bytes, hashes: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """The roots of the trees of both sizes, by RFC 9162, 2.1.4.2; the old one is given where the
    proof leaves it out."""
    path = list(hashes)
    if not 0 < old < new or not path:
        raise Refuted("the proof is too short")
    if old & (old - 1) == 0:  # a whole subtree: the proof does not repeat its root
        path.insert(0, old_root)
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    first = second = path[0]
    for each in path[1:]:
        if last == 0:
            raise Refuted("the proof is too long")
        if at & 1 or at == last:
            first, second = node_hash(each, first), node_hash(each, second)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            second = node_hash(second, each)
        at, last = at >> 1, last >> 1
    if last:
        raise Refuted("the proof is too short")
    return first, second


def check_consistent(old: Note, new: Note, hashes: Sequence[bytes]) -> None:
    if old.size > new.size:
        raise Refuted(f"the old tree has {old.size} events, the new one only {new.size}")
    if old.size == new.size:
        if old.root != new.root:
            raise Refuted(f"there are two histories of {old.size} events")
        first, second = old.root, new.root
    elif old.size == 0:
        first, second = old.root, new.root
    else:
        first, second = roots_by_consistency(old.size, new.size, old.root, hashes)
        hashes = ()
    if hashes:
        raise Refuted("the proof is too long")
    if first != old.root:
        raise Refuted("the proof does not lead to the old root")
    if second != new.root:
        raise Refuted("the proof does not lead to the new root: history was changed")


# What a file says


def canonical(value: Any) -> str:
    """JSON as an envelope has it: sorted keys, no spaces, characters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def as_file(document: Any) -> str:
    """JSON as the files are written."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


def read_json(text: str) -> Any:
    def refuse(_: str) -> NoReturn:
        raise ValueError

    try:
        return json.loads(text, parse_constant=refuse, parse_float=refuse)
    except (ValueError, RecursionError):
        return None


def item(document: Any, name: str, kind: type) -> Any:
    """A field of an object, which must be there and of this type."""
    if not isinstance(document, dict) or type(document.get(name)) is not kind:
        raise Refuted(f"there is no {name} as it has to be")
    return document[name]


def exactly(document: Any, names: frozenset[str], what: str) -> dict[str, Any]:
    """An object with these fields and no others."""
    if not isinstance(document, dict):
        raise Refuted(f"{what} is not an object")
    if document.keys() != names:
        other = ", ".join(sorted(document.keys() ^ names))
        raise Refuted(f"{what} has other fields than it has to have: {other}")
    return document


def same(one: Any, other: Any) -> bool:
    """Whether two values are written alike: true is not 1."""
    return canonical(one) == canonical(other)


def hashes_of(document: Any) -> list[bytes]:
    found = [decode64(each, "a hash of the proof") for each in item(document, "hashes", list)]
    if any(len(each) != 32 for each in found):
        raise Refuted("a hash of the proof is not 32 bytes")
    return found


def envelope_of(document: Any) -> tuple[bytes, dict[str, Any]]:
    """The bytes of an envelope, and what it says."""
    text = item(document, "envelope", str)
    fields = read_json(text)
    try:
        right = isinstance(fields, dict) and canonical(fields) == text and is_plain(fields)
    except RecursionError:
        right = False
    if not right or fields.keys() != ENVELOPE.keys():
        raise Refuted("the envelope is not one, or not in canonical form")
    if not all(type(fields[name]) in kinds for name, kinds in ENVELOPE.items()):
        raise Refuted("the envelope has a field of another type than it has to have")
    if fields["recorded_at"] < 0 or fields["version"] < 1:
        raise Refuted("the envelope has a time or a version that is none")
    return text.encode(), fields


def is_plain(value: Any) -> bool:
    """Whether integers are below 2^53 and names are ASCII, all the way down."""
    if isinstance(value, dict):
        return all(map(str.isascii, value)) and all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return type(value) is not int or abs(value) < 1 << 53


def is_empty(value: object) -> bool:
    return value is None or value == ""


def moment(micros: object) -> str:
    """A recorded time as a person reads it."""
    try:
        at = datetime.fromtimestamp(int(str(micros)) / 1e6, UTC)
    except (ValueError, OverflowError, OSError):
        return f"at {micros}"
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def iso(micros: object) -> str:
    """A recorded time as a certificate has it."""
    if type(micros) is not int or not 0 <= micros < 1 << 53:
        raise Refuted("a recorded time is none")
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    return at.isoformat().replace("+00:00", "Z")


@dataclass
class Checked:
    """What is known of a file so far: the lines to be printed."""

    keys: tuple[Key, ...]
    """Those that the reader trusts; without any, the last that the file lists stands in."""
    witness: Key | None = None
    lines: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    own_word: bool = False
    listed: tuple[Key, ...] = ()
    """The keys that the file lists, oldest first."""
    handovers: tuple[Note, ...] = ()
    """The checkpoints that each of them signed together with the next."""

    def ok(self, line: str) -> None:
        self.lines.append(f"  ok  {line}")

    def told(self, line: str) -> None:
        """What was not checked, or cannot be."""
        self.lines.append(f"  ?   {line}")

    # Who signed

    def trust(self, document: Any, origin: str, head: Note) -> None:
        """Settle whose signatures count, and up to where: a key that handed over counts no
        further. Each handover is a part of the history of the head, or the other way round."""
        listed = tuple(Key.parse(each) for each in item(document, "verifier_keys", list))
        for key in listed:
            if key.name != origin or key.kind != SIGNED:
                raise Refuted(f"the file lists a key of {key.name}, not of {origin}")
        if not listed or len(set(listed)) < len(listed):
            raise Refuted("the file lists no key, or one of them twice")
        if not self.keys:
            self.keys, self.own_word = listed[-1:], True
            for key in listed:
                self.told(f"the file says that its key is {key.text}")
        else:
            for key in (each for each in listed if each not in self.keys):
                self.told(f"the file lists a key that was not given: {key.text}")
            for key in (each for each in self.keys if each not in listed):
                self.told(f"this key that was given is not one that the file lists: {key.text}")
        self.listed = listed
        told = item(document, "handovers", list)
        if len(told) != len(listed) - 1:
            raise Refuted("the file does not have one handover between each key and the next")
        self.handovers = tuple(
            self._handover(each, pair, origin, head)
            for each, pair in zip(told, pairwise(listed), strict=True)
        )
        if any(one.size > other.size for one, other in pairwise(self.handovers)):
            raise Refuted("the handovers are not in the order of the keys")

    @classmethod
    def _handover(cls, document: Any, pair: tuple[Key, Key], origin: str, head: Note) -> Note:
        exactly(document, frozenset({"hashes", "note"}), "a handover")
        note = Note.parse(item(document, "note", str))
        if note.origin != origin:
            raise Refuted(f"a handover is of {note.origin}, not of {origin}")
        for key in pair:
            if not any(cls._by(each, key, note.body, "a handover") for each in note.signatures):
                raise Refuted(f"a handover is not signed by key {key.id.hex()}")
        old, new = sorted((note, head), key=lambda each: each.size)
        check_consistent(old, new, hashes_of(document))
        return note

    def _in_force(self, key: Key, size: int) -> bool:
        """Whether a key may have signed so many events. What no file lists has no end."""
        if key not in self.listed[: len(self.handovers)]:
            return True
        return size <= self.handovers[self.listed.index(key)].size

    def signed(
        self, note: Note, what: str, origin: str | None = None, *, led_to: bool = False
    ) -> None:
        """Check the signatures of a checkpoint by every key that is known. There must be one by
        a key that is trusted, and that had not handed over by then. One by a listed key will do
        where a proof leads from the checkpoint to what a trusted key signed: for the older of two
        (`led_to`), and up to a handover to such a key."""
        if origin is not None and note.origin != origin:
            raise Refuted(f"{what} is of {note.origin}, not of {origin}")
        known = dict.fromkeys((*self.keys, *self.listed))
        by = [
            key
            for signature in note.signatures
            for key in known
            if key.kind == SIGNED and self._by(signature, key, note.body, what)
        ]
        if any(key.name != note.origin for key in by):
            raise Refuted(f"{what} is of {note.origin}, and signed by a key of {by[0].name}")
        good = [key for key in by if self._in_force(key, note.size)]
        if by and not good:
            raise Refuted(f"{what} is signed by key {by[0].id.hex()}, which had handed over before")
        how = ""
        if not any(key in self.keys for key in good):
            over = next(filter(None, map(self._trusted_over, self._from(note.size))), None)
            if good and over is not None:
                how = f", which handed over to key {over.id.hex()}"
            elif not (good and led_to):
                names = ", ".join(
                    f"{each.name}+{each.id.hex()}"
                    for each in note.signatures
                    if len(each.blob) == 64
                )
                raise Refuted(f"{what} is not signed by a key that is trusted, but by {names}")
        ids = ", ".join(dict.fromkeys(key.id.hex() for key in good))
        self.ok(f"{what}: {note.size:,} events of {note.origin}, signed by key {ids}{how}")

    def _from(self, size: int) -> list[Note]:
        return [each for each in self.handovers if each.size >= size]

    def _trusted_over(self, handover: Note) -> Key | None:
        """The trusted key that signed a handover, in force then."""
        for key in self.keys:
            if self._in_force(key, handover.size) and any(
                self._by(each, key, handover.body, "a handover") for each in handover.signatures
            ):
                return key
        return None

    @staticmethod
    def _by(signature: Signature, key: Key, body: bytes, what: str) -> bool:
        if not signature.is_by(key):
            return False
        if not key.verify(signature.blob, body):
            raise Refuted(f"the signature of {what} by {key.name} is not good")
        return True

    def cosigned(self, note: Note, what: str) -> None:
        """Check the witness's cosignature; tell of others that nobody gave a key for."""
        known = {key.id for key in (*self.keys, *self.listed)}
        if self.witness is not None:
            known.add(self.witness.id)
            self._cosigned_by(self.witness, note, what)
        for each in note.signatures:
            if each.id not in known:
                self.told(f"{what} has a signature by {each.name}, which was not checked")

    def _cosigned_by(self, witness: Key, note: Note, what: str) -> None:
        times = []
        for each in note.signatures:
            if not each.is_by(witness):
                continue
            at = int.from_bytes(each.blob[:8], "big")
            message = b"cosignature/v1\ntime %d\n" % at + note.body
            if len(each.blob) != 72 or not witness.verify(each.blob[8:], message):
                raise Refuted(f"the cosignature of {what} by {witness.name} is not good")
            times.append(at)
        if not times:
            raise Refuted(f"{what} is not cosigned by the witness {witness.name}")
        seen = moment(max(times) * 1_000_000)
        self.ok(f"{what}: cosigned by the witness {witness.name}, {seen}")

    # The kinds of files

    def checkpoint(self, text: str) -> None:
        note = Note.parse(text)
        if not self.keys:
            raise Unusable("a checkpoint does not bring its key along: give --key")
        self.signed(note, "the checkpoint")
        self.cosigned(note, "the checkpoint")
        self.unproven.append("which events these are: that takes a proof of inclusion")
        self._one_history()

    def inclusion(self, document: dict[str, Any]) -> None:
        origin = item(document, "origin", str)
        note = Note.parse(item(document, "checkpoint", str))
        self.trust(document, origin, note)
        self.signed(note, "the checkpoint", origin)
        self.cosigned(note, "the checkpoint")
        self.included(document, note, "the envelope")
        self.unproven.append(
            "that what the event says is true, or that its body was ever as somebody says; a body"
            " at hand is the right one if its SHA-256 is the envelope's body_digest"
        )
        self._one_history()

    def included(self, document: Any, note: Note, what: str) -> dict[str, Any]:
        """Check one inclusion proof; returns the envelope's fields."""
        position = item(document, "position", int)
        data, fields = envelope_of(document)
        hashes = hashes_of(document)
        root = root_by_inclusion(position - 1, note.size, leaf_hash(data), hashes)
        if root != note.root:
            raise Refuted(f"{what} is not what the log has at position {position}")
        self.ok(
            f"{what}: {fields['type']} is at position {position:,} of the log, recorded"
            f" {moment(fields['recorded_at'])}"
        )
        return fields

    def consistency(self, document: dict[str, Any]) -> None:
        origin = item(document, "origin", str)
        old = Note.parse(item(document, "old", str))
        new = Note.parse(item(document, "new", str))
        self.trust(document, origin, new)
        self.signed(new, "the new checkpoint", origin)
        self.cosigned(new, "the new checkpoint")
        check_consistent(old, new, hashes_of(document))
        self.signed(old, "the old checkpoint", origin, led_to=True)
        self.ok(
            f"the first {old.size:,} of the {new.size:,} events are those of the old checkpoint:"
            " none was changed, removed or moved"
        )
        self._one_history()

    def certificate(self, document: dict[str, Any]) -> None:
        origin = item(document, "origin", str)
        after = Note.parse(item(document, "after", str))
        self.trust(document, origin, after)
        self._signed_whole(document, after)
        self.signed(after, "the checkpoint after", origin)
        self.cosigned(after, "the checkpoint after")
        asked = exactly(document["request"], INCLUDED, "the request")
        done = exactly(document["completion"], INCLUDED, "the completion")
        request = self.included(asked, after, "the request")
        completion = self.included(done, after, "the completion")
        if not asked["position"] < done["position"]:
            raise Refuted("the events are not in the order of an erasure")
        self._went_on(document, after, asked["position"])
        self._belong_together(request, completion)
        self._agrees(document, request, completion)
        whole = request["facts"]["reach"] == "subject"
        if completion["type"] == WITHOUT_RECEIPTS:
            if completion["facts"].get("probes") is not None:
                raise Refuted("the completion has probes, of a version that had none")
            self.told("the completion is of a version that wrote no receipts")
            self.unproven.append("what was deleted, one by one: there are no receipts")
        else:
            for each in item(completion["facts"], "probes", list):
                if item(each, "found", int) != 0:
                    raise Refuted(f"the probe {each.get('name')} found what was to be gone")
            self.ok("the probes that the completion records found nothing")
        self._own_word(document, request, whole=whole)
        self.unproven += CAVEATS
        self.unproven.append(
            "that no backup of the vault exists together with a master key that opens it"
            if whole
            else "that no backup of the history from before exists: the person's key, which lives,"
            " opens it"
        )
        self._one_history()

    def _went_on(self, document: dict[str, Any], after: Note, asked: int) -> None:
        """Check that the history before the request is still there; a ledger may have kept no
        checkpoint from so early."""
        if document["before"] is None and document["consistency"] is None:
            self.told("no checkpoint from before the request was kept")
            self.unproven.append(
                "that the history before the erasure is unchanged: there is no earlier checkpoint"
            )
            return
        before = Note.parse(item(document, "before", str))
        consistency = exactly(document["consistency"], frozenset({"hashes"}), "the consistency")
        if not 0 < before.size < asked:
            raise Refuted("the checkpoint before is of no events, or has the request in it")
        check_consistent(before, after, hashes_of(consistency))
        self.signed(before, "the checkpoint before", document["origin"], led_to=True)
        self.ok("the history before the erasure is still there, unchanged, after it")

    def _signed_whole(self, document: dict[str, Any], after: Note) -> None:
        """Check the signature over everything else that the certificate says. A key that had
        handed over by then certifies nothing more."""
        rest = {name: value for name, value in document.items() if name != "signature"}
        message = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        signature = Signature.parse(item(document, "signature", str))
        signers = [key for key in self.keys if key.kind == SIGNED and signature.is_by(key)]
        if not signers or signature.name != document["origin"]:
            raise Refuted(f"the certificate is signed by {signature.name}, whose key is not known")
        if not signers[0].verify(signature.blob, message.encode()):
            raise Refuted("the signature of the certificate is not good: something was changed")
        if not self._in_force(signers[0], after.size):
            raise Refuted(
                f"the certificate is signed by key {signers[0].id.hex()}, which had handed over"
                " before"
            )
        self.ok(f"the certificate: signed as a whole by key {signers[0].id.hex()}")

    def _belong_together(self, request: dict[str, Any], completion: dict[str, Any]) -> None:
        if request["type"] not in REQUESTS:
            raise Refuted(f"the request is a {request['type']}")
        if completion["type"] not in COMPLETIONS:
            raise Refuted(f"the completion is a {completion['type']}")
        asked, facts = item(request, "facts", dict), item(completion, "facts", dict)
        item(request, "subject_ref", str)
        # The first version of these events did not name its request.
        older = completion["type"] == WITHOUT_RECEIPTS
        if not older and not same(item(facts, "request", str), request["event_id"]):
            raise Refuted("the completion is of another request")
        if not all(same(request[name], completion[name]) for name in ("subject_ref", "tenant")):
            raise Refuted("the completion is of another request: of another subject or tenant")
        reach, whole = item(asked, "reach", str), completion["type"].startswith("subject.")
        if whole != (reach == "subject") or not (whole or same(facts.get("reach"), reach)):
            raise Refuted("what was completed is not what was requested")
        for name in ("key_fingerprint", "master_key"):
            there = whole and not older and not is_empty(asked.get(name))
            if there and not same(asked[name], facts.get(name)):
                raise Refuted(f"the completion has another {name} than the request")
        self.ok("the completion is that of this request")

    def _agrees(
        self, document: dict[str, Any], request: dict[str, Any], completion: dict[str, Any]
    ) -> None:
        """What the certificate tells again must be what the log recorded."""
        facts = completion["facts"]
        asked = request["facts"]
        recorded = {name: facts.get(name) for name in TOLD}
        recorded |= {"basis": asked.get("legal_basis"), "reach": asked.get("reach")}
        recorded |= {"of": asked.get("of"), "because": asked.get("because")}
        recorded |= {"erasure": request["event_id"], "subject_ref": request["subject_ref"]}
        recorded["requested_by"] = request["actor"]
        recorded["requested_at"] = iso(request["recorded_at"])
        recorded["completed_at"] = iso(completion["recorded_at"])
        fingerprint = facts.get("key_fingerprint")
        recorded["key_fingerprints"] = [] if is_empty(fingerprint) else [fingerprint]
        for name, value in recorded.items():
            if not same(document[name], value):
                raise Refuted(f"its {name} is not what the log recorded")
        self.ok(f"as the log recorded them: {', '.join(sorted(recorded))}")

    def _own_word(self, document: dict[str, Any], request: dict[str, Any], *, whole: bool) -> None:
        """What only the ledger says, and nothing in the file proves; it has to be well formed."""
        horizon = exactly(document["backup_horizon"], HORIZON, "its backup_horizon")
        wrapped = request["facts"].get("master_key")
        if whole and not is_empty(wrapped) and not same(horizon["master_key"], wrapped):
            raise Refuted("its backup_horizon has another master key than the request")
        item(horizon, "in_force_since", str)
        if item(horizon, "rotated_since", bool) != (horizon["rotated_at"] is not None):
            raise Refuted("its backup_horizon contradicts itself")
        answered = ["acknowledged"]
        answered += ["written_off"] if document["format"] == CERTIFICATE else []
        consumers = exactly(document["consumers"], frozenset([*answered, "open"]), "its consumers")
        for name in answered:
            for each in item(consumers, name, list):
                exactly(each, frozenset({"at", "by", "consumer", "position"}), f"one of {name}")
        left, state = item(consumers, "open", list), item(document, "state", str)
        if state != ("open" if left else "closed"):
            raise Refuted(f"its state is {state!r}, and {len(left)} consumers are open")
        said = [str(each["consumer"]) for each in consumers["acknowledged"]]
        off = [str(each["consumer"]) for each in consumers.get("written_off", ())]
        self.told(
            f"the ledger says that it is {state}; acknowledged by {', '.join(said) or 'nobody'},"
            + (f" written off without that: {', '.join(off)}," if off else "")
            + f" waiting for {', '.join(map(str, left)) or 'nobody'}"
        )
        remains = [
            exactly(each, frozenset({"count", "what", "why"}), "what remains")
            for each in item(document, "remains", list)
        ]
        self.told(f"it says what remains: {', '.join(str(each['what']) for each in remains)}")
        text = item(horizon, "text", str).removesuffix(".")
        self.told(f"it says of backups, under master key {horizon['master_key']}: {text}")
        if not all(type(each) is str for each in item(document, "cannot_prove", list)):
            raise Refuted("its cannot_prove has something that is no sentence")
        self.told(f"it says that this certificate was made at {item(document, 'issued_at', str)}")

    def _one_history(self) -> None:
        if self.witness is None:
            self.unproven.append(
                "that everybody is shown this same history: that takes a witness (--witness-key),"
                " or comparing checkpoints with others"
            )
        if self.own_word:
            self.unproven.append(
                "whose key it is: it stands in the file itself; compare it with one that you got"
                " elsewhere, or give that as --key"
            )


TOLD = ("commitment", "counts", "views", "probes", "bodies")
"""What a certificate tells of its completion in the same words."""
KINDS: dict[str, Callable[[Checked, dict[str, Any]], None]] = {
    INCLUSION: Checked.inclusion,
    CONSISTENCY: Checked.consistency,
    CERTIFICATE: Checked.certificate,
    FIRST_CERTIFICATE: Checked.certificate,
}


def check(data: bytes, checked: Checked) -> None:
    """Raises `Refuted` or `Unusable`."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Unusable("it is not text") from None
    if not text.lstrip().startswith("{"):
        if "\n\n\N{EM DASH} " not in text:
            raise Unusable("it is neither a proof, nor a certificate, nor a checkpoint")
        checked.checkpoint(text)
        return
    document = read_json(text)
    kind = document.get("format") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise Unusable("it is not a proof or a certificate of a format that is known here")
    try:
        written = as_file(document)
    except RecursionError:
        raise Refuted("it is nested deeper than any file of ours") from None
    if written != text:
        raise Refuted("its bytes are not as they were written")
    try:
        KINDS[kind](checked, exactly(document, FIELDS[kind], "the file"))
    except UnicodeEncodeError:  # half of a surrogate pair
        raise Refuted("it has characters that are none") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Check one file and print what holds, what does not, and what nobody can tell from it."""
    parser = argparse.ArgumentParser(
        prog="beliefledger-verify",
        description="Check a proof, a certificate or a checkpoint of a ledger, without the ledger.",
        epilog="Exit codes: 0 it holds, 1 it does not hold, 2 it could not be checked.",
    )
    parser.add_argument("file", metavar="FILE", help="the file; - is standard input")
    parser.add_argument(
        "--key",
        metavar="VKEY",
        action="append",
        default=[],
        help="the verifier key of the ledger, got elsewhere; after a rotation, that in force",
    )
    parser.add_argument(
        "--witness-key", metavar="VKEY", help="that of a witness, whose cosignature must be there"
    )
    given = parser.parse_args(arguments)
    checked = Checked(())
    try:
        checked = Checked(
            tuple(_key(each, SIGNED, "--key") for each in given.key),
            None
            if given.witness_key is None
            else _key(given.witness_key, COSIGNED, "--witness-key"),
        )
        check(_read(given.file), checked)
    except (Refuted, Unusable, OSError) as problem:
        refuted = isinstance(problem, Refuted)
        _say(checked.lines)
        _say([f"{'NO' if refuted else 'CANNOT BE CHECKED'}: {problem}."])
        return REFUTED if refuted else UNUSABLE
    _say([*checked.lines, "YES: everything that was checked holds."])
    _say(["What this cannot prove:", *(f"  -   {each}." for each in checked.unproven)])
    return HOLDS


def _key(text: str, kind: int, option: str) -> Key:
    try:
        key = Key.parse(text.strip())
    except UnicodeEncodeError:
        raise Unusable(f"{option}: it is not text") from None
    except Refuted as problem:
        raise Unusable(f"{option}: {problem}") from None
    if key.kind != kind:
        raise Unusable(f"{option}: the key of {key.name} is of another kind")
    return key


def _read(name: str) -> bytes:
    if name == "-":
        data = sys.stdin.buffer.read(LARGEST + 1)
    else:
        with open(name, "rb") as file:  # noqa: PTH123  also for what is not a regular file
            data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Unusable("it is too large")
    return data


def _say(lines: Sequence[str]) -> None:
    """Control characters of the file do nothing to a terminal. Whoever stops reading has heard
    enough: the exit code says the rest."""
    try:
        for line in lines:
            shown = "".join(each if each.isprintable() else "?" for each in line)
            data = shown.encode(sys.stdout.encoding, "backslashreplace")
            sys.stdout.buffer.write(data + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
