"""The key-encryption key: it wraps every subject's key and is kept apart from the vault."""

from __future__ import annotations

import binascii
import hashlib
from pathlib import Path

from beliefledger.ledger import files
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.encryption import KEY_BYTES, new_key
from beliefledger.ledger.errors import KeyMissing


@dataclass(frozen=True, slots=True)
class MasterKey:
    """32 bytes, and an id that tells keys apart without telling anything of the key."""

    key: bytes

    @property
    def id(self) -> str:
        return hashlib.sha256(b"beliefledger master key" + self.key).hexdigest()[:16]

    @classmethod
    def from_hex(cls, text: str, origin: str) -> MasterKey:
        """Raises `KeyMissing` naming `origin` when the text is not 64 hex digits."""
        try:
            key = binascii.unhexlify(text.strip())
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != KEY_BYTES:
            raise KeyMissing(f"{origin} does not hold a master key (64 hexadecimal digits).")
        return cls(key)

    @classmethod
    def from_file(cls, path: Path) -> MasterKey:
        try:
            text = path.read_text("ascii", errors="replace")
        except OSError as problem:
            raise KeyMissing(f"The master key file {path} cannot be read: {problem}.") from problem
        return cls.from_hex(text, f"The master key file {path}")

    @classmethod
    def create_file(cls, path: Path) -> MasterKey:
        """Make a new key in a new file that only its owner can read. An existing file is left."""
        key = cls(new_key())
        key.write(path)
        return key

    def write(self, path: Path) -> None:
        """Keep it in a new file that only its owner can read, and that nobody sees half written.

        Raises `FileExistsError`.
        """
        files.create(path, self.key.hex() + "\n")

    def __repr__(self) -> str:
        return f"MasterKey(id={self.id})"
