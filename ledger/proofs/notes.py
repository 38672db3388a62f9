"""Signed notes and checkpoints: c2sp.org/signed-note, tlog-checkpoint and tlog-cosignature.

A checkpoint says how many events there are and what the root of the tree over them is, in a text
that whoever has the key may sign, and a witness cosign.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import ClassVar, NamedTuple, Self

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.encryption import KEY_BYTES, SigningKey, is_signed, new_key
from beliefledger.ledger.proofs.merkle import HASH_BYTES

ED25519 = 0x01
"""The type of a signature by a log, in its key's id."""
COSIGNATURE = 0x04
"""The type of a timestamped signature by a witness."""
MAX_SIGNATURES = 100
_SIGNATURE_BYTES = 64
_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/=]+)")
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_PRIVATE = "PRIVATE+KEY+"


class NoteInvalid(ValueError):
    """The text is no signed note, or is not signed by who should have signed it."""


class Signature(NamedTuple):
    """One signature line of a note."""

    name: str
    key_id: bytes
    value: bytes

    @property
    def line(self) -> str:
        return f"— {self.name} {_base64(self.key_id + self.value)}"

    @classmethod
    def parse(cls, line: str) -> Signature:
        """Raises `NoteInvalid`."""
        found = _LINE.fullmatch(line)
        if found is None:
            raise NoteInvalid(f"{line!r} is not a line of a signature.")
        raw = _bytes(found[2])
        if len(raw) < 5:  # four of the key's id, and a signature
            raise NoteInvalid(f"The signature of {found[1]} is too short.")
        return cls(found[1], raw[:4], raw[4:])


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """SHA-256(key name || 0x0A || signature type || public key)[:4], signed-note."""
    return sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


@dataclass(frozen=True, slots=True)
class _PublicKey:
    """A public key by whose signatures notes are known, and whose it is."""

    name: str
    public: bytes

    kind: ClassVar[int]

    @property
    def key_id(self) -> bytes:
        return key_id(self.name, self.kind, self.public)

    @property
    def vkey(self) -> str:
        """`<name>+<hex key id>+base64(type || public key)`."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(bytes([self.kind]) + self.public)}"

    @classmethod
    def parse(cls, vkey: str) -> Self:
        """Raises `NoteInvalid`."""
        return cls(*_parsed_vkey(vkey, cls.kind))

    def made(self, signature: Signature) -> bool:
        """Whether the line claims to be by this key."""
        return (signature.name, signature.key_id) == (self.name, self.key_id)


class Verifier(_PublicKey):
    """A public key by whose signatures a log's notes are known."""

    __slots__ = ()
    kind = ED25519

    def verify(self, body: str, signature: Signature) -> None:
        """Raises `NoteInvalid` unless it is this key's signature over the body."""
        if not (self.made(signature) and is_signed(self.public, signature.value, body.encode())):
            raise NoteInvalid(f"The signature is not one of {self.name} over this text.")


class Signer:
    """A private key that signs the notes of a log, whose origin is the key's name."""

    def __init__(self, name: str, private: bytes) -> None:
        _check_name(name)
        self._key = SigningKey(private)
        self.name = name
        self.verifier = Verifier(name, self._key.public)
        self.key_id = self.verifier.key_id
        self.vkey = self.verifier.vkey

    @classmethod
    def generate(cls, name: str) -> Signer:
        return cls(name, new_key())

    @classmethod
    def parse(cls, text: str) -> Signer:
        """Reads what `private_text` gives. Raises `NoteInvalid`, which quotes nothing of it."""
        try:
            if not text.startswith(_PRIVATE):
                raise NoteInvalid("")
            name, id_, coded = text.removeprefix(_PRIVATE).split("+", 2)
            raw = _bytes(coded)
            if len(raw) != 1 + KEY_BYTES or raw[0] != ED25519:
                raise NoteInvalid("")
            signer = cls(name, raw[1:])
            if signer.key_id.hex() != id_:
                raise NoteInvalid("")
        except ValueError:
            raise NoteInvalid("There is no signing key (PRIVATE+KEY+name+id+base64).") from None
        return signer

    @property
    def private_text(self) -> str:
        """`PRIVATE+KEY+<name>+<hex key id>+base64(type || private key)`."""
        coded = _base64(bytes([ED25519]) + self._key.private)
        return f"{_PRIVATE}{self.name}+{self.key_id.hex()}+{coded}"

    def sign(self, body: str) -> str:
        """The signature line over a text that ends in a newline."""
        return Signature(self.name, self.key_id, self._key.sign(body.encode())).line

    def __repr__(self) -> str:
        return f"Signer({self.vkey})"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a tree: `size` leaves under `root`. `text` is the whole signed note."""

    origin: str
    size: int
    root: bytes
    text: str

    @property
    def body(self) -> str:
        """What is signed: origin, size, root, each on a line."""
        return self.text[: self.text.rindex("\n\n") + 1]

    @property
    def signatures(self) -> list[Signature]:
        return split(self.text)[1]

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Reads a note without looking whether it is rightly signed: see `check`.

        Raises `NoteInvalid`.
        """
        body, _signatures = split(text)
        lines = body.removesuffix("\n").split("\n")
        if len(lines) < 3 or "" in lines:
            raise NoteInvalid("A checkpoint has three lines or more: origin, size and root.")
        if not _SIZE.fullmatch(lines[1]):
            raise NoteInvalid(f"{lines[1]!r} is not the size of a tree.")
        root = _bytes(lines[2])
        if len(root) != HASH_BYTES:
            raise NoteInvalid(f"{lines[2]!r} is not the root of a tree.")
        return cls(lines[0], int(lines[1]), root, text)


def split(text: str) -> tuple[str, list[Signature]]:
    """A note's text, final newline included, and its signatures. Raises `NoteInvalid`."""
    if _CONTROL.search(text):
        raise NoteInvalid("A note has no control characters but newlines.")
    at = text.rfind("\n\n")
    if at < 0 or not text.endswith("\n"):
        raise NoteInvalid("A note is a text, an empty line, and lines of signatures.")
    lines = text[at + 2 : -1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteInvalid(f"A note with {len(lines)} signatures is not looked at.")
    return text[: at + 1], [Signature.parse(line) for line in lines]


def body_of(origin: str, size: int, root: bytes) -> str:
    return f"{origin}\n{size}\n{_base64(root)}\n"


def issue(origin: str, size: int, root: bytes, *signers: Signer) -> Checkpoint:
    body = body_of(origin, size, root)
    lines = "".join(signer.sign(body) + "\n" for signer in signers)
    return Checkpoint.parse(f"{body}\n{lines}")


def check(checkpoint: Checkpoint, verifiers: Iterable[Verifier]) -> Verifier:
    """The first of these keys that signed the checkpoint. Signatures of other keys are ignored.

    Raises `NoteInvalid` when none did, and when a signature that claims to be by one of them is
    not.
    """
    body, signatures = split(checkpoint.text)
    first = None
    for verifier in verifiers:
        for signature in filter(verifier.made, signatures):
            verifier.verify(body, signature)
            first = first or verifier
    if first is None:
        raise NoteInvalid(
            f"The checkpoint of {checkpoint.origin} at {checkpoint.size} is not signed by a known"
            " key."
        )
    return first


def with_signatures(checkpoint: Checkpoint, lines: Sequence[str]) -> Checkpoint:
    """The checkpoint with more signatures; those it has already are not repeated."""
    body, there = split(checkpoint.text)
    together = dict.fromkeys([*there, *map(Signature.parse, lines)])
    text = "".join(each.line + "\n" for each in together)
    return Checkpoint.parse(f"{body}\n{text}")


# Witnesses


class CosignatureVerifier(_PublicKey):
    """A public key by whose cosignatures a witness is known."""

    __slots__ = ()
    kind = COSIGNATURE

    def check(self, checkpoint: Checkpoint) -> int:
        """When this witness cosigned it last, in seconds since 1970.

        Raises `NoteInvalid` when it did not, or when a cosignature that claims to be its is not.
        """
        body, signatures = split(checkpoint.text)
        times = []
        for signature in signatures:
            if self.made(signature):
                seconds = int.from_bytes(signature.value[:8], "big")
                message = _cosigned(body, seconds).encode()
                if len(signature.value) != 8 + _SIGNATURE_BYTES or not is_signed(
                    self.public, signature.value[8:], message
                ):
                    raise NoteInvalid(f"The cosignature is not one of {self.name} over this text.")
                times.append(seconds)
        if not times:
            raise NoteInvalid(
                f"The checkpoint of {checkpoint.origin} at {checkpoint.size} is not cosigned by"
                f" {self.name}."
            )
        return max(times)


class Cosigner:
    """The private key of a witness."""

    def __init__(self, name: str, private: bytes) -> None:
        _check_name(name)
        self._key = SigningKey(private)
        self.name = name
        self.private = private
        self.verifier = CosignatureVerifier(name, self._key.public)
        self.key_id = self.verifier.key_id
        self.vkey = self.verifier.vkey

    @classmethod
    def generate(cls, name: str) -> Cosigner:
        return cls(name, new_key())

    @classmethod
    def parse(cls, text: str) -> Cosigner:
        """Reads the text of a signing key's file, as `Signer.parse` does."""
        signer = Signer.parse(text)
        return cls(signer.name, signer._key.private)  # noqa: SLF001  one module

    @property
    def private_text(self) -> str:
        return Signer(self.name, self.private).private_text

    def cosign(self, checkpoint: Checkpoint, seconds: int) -> str:
        """The signature line that says: at this time (seconds since 1970) this was the largest
        consistent head that the witness saw of this origin."""
        signed = self._key.sign(_cosigned(checkpoint.body, seconds).encode())
        value = seconds.to_bytes(8, "big") + signed
        return Signature(self.name, self.key_id, value).line

    def __repr__(self) -> str:
        return f"Cosigner({self.vkey})"


def _cosigned(body: str, seconds: int) -> str:
    """The message of a cosignature: its two lines, then the text of the note."""
    return f"cosignature/v1\ntime {seconds}\n{body}"


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[^\s+]+", name):
        raise NoteInvalid(f"{name!r} cannot be a key's name: no spaces, no +.")


def _parsed_vkey(vkey: str, kind: int) -> tuple[str, bytes]:
    name, _, rest = vkey.strip().partition("+")
    id_, _, coded = rest.partition("+")
    raw = _bytes(coded)
    if len(raw) != 1 + KEY_BYTES or raw[0] != kind:
        raise NoteInvalid(f"{vkey!r} is not a verifier key of type {kind:#04x}.")
    _check_name(name)
    if key_id(name, kind, raw[1:]).hex() != id_:
        raise NoteInvalid(f"The id {id_!r} is not that of the key {vkey!r}.")
    return name, raw[1:]


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(coded: str) -> bytes:
    try:
        raw = base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not raw or _base64(raw) != coded:
        raise NoteInvalid(f"{coded!r} is not base64.")
    return raw
