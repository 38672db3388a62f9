"""Encryption: AES-256-GCM for bodies and wrapped keys, HKDF for what is derived from a key, and
Ed25519 for what is signed.

A sealed blob is one format byte, a 12-byte random nonce, then ciphertext and tag. A clear body is
the format byte 0 and the bytes as they are.
"""

from __future__ import annotations

import os

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.streams import IdKey

KEY_BYTES = 32
_NONCE_BYTES = 12
_CLEAR = b"\x00"
_SEALED = b"\x01"


class NotAuthentic(Exception):
    """The blob was not sealed under this key for this place, or its bytes were changed."""


def new_key() -> bytes:
    return os.urandom(KEY_BYTES)


def derive(key: bytes, purpose: str) -> bytes:
    """HKDF-SHA-256 (RFC 5869) without salt: one key for each purpose."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose.encode()).derive(key)


def clear(data: bytes) -> bytes:
    return _CLEAR + data


def is_clear(blob: bytes) -> bool:
    return blob[:1] == _CLEAR


class Sealer:
    """Seals and opens under one key; keep it, since making one costs more than using it."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def seal(self, data: bytes, bound_to: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return _SEALED + nonce + self._cipher.encrypt(nonce, data, bound_to)

    def open(self, blob: bytes, bound_to: bytes) -> bytes:
        """Raises `NotAuthentic`, also for a clear blob: nobody vouches for it."""
        if blob[:1] != _SEALED:
            raise NotAuthentic
        try:
            # As a view: a copy of a large body takes longer than to open it.
            nonce, sealed = blob[1 : 1 + _NONCE_BYTES], memoryview(blob)[1 + _NONCE_BYTES :]
            return self._cipher.decrypt(nonce, sealed, bound_to)
        except (InvalidTag, ValueError):
            raise NotAuthentic from None


@dataclass(frozen=True, slots=True)
class SubjectKeys:
    """The keys derived from one subject's key: the sealer of their bodies, and the key of their
    ids."""

    subject_ref: str
    bodies: Sealer
    ids: bytes

    @classmethod
    def of(cls, subject_ref: str, key: bytes) -> SubjectKeys:
        return cls(subject_ref, Sealer(derive(key, "bodies")), IdKey(derive(key, "ids")))


class SigningKey:
    """An Ed25519 key (RFC 8032) of 32 private bytes; keep it, since making one costs time."""

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.private = private
        self.public = self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)


def is_signed(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether the Ed25519 signature over the data is by the holder of the public key."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True
