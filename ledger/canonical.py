"""Canonical JSON (RFC 8785) for values without floats, and the digests taken over it.

With ASCII keys, no floats and integers below 2**53, orjson with sorted keys writes the bytes that
RFC 8785 asks for; the tests hold it against the `rfc8785` package.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

_SORTED = orjson.OPT_SORT_KEYS


def encode(value: Any) -> bytes:
    """Canonical bytes of dicts, lists, strings, ints, bools and None. The caller keeps floats out:
    the event models have none."""
    return orjson.dumps(value, option=_SORTED)


def decode(data: bytes | str) -> Any:
    """Raises `ValueError` when the bytes are not JSON."""
    return orjson.loads(data)


def digest(data: bytes) -> str:
    """SHA-256, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()
