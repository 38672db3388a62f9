"""Arrays in Postgres' binary form, made in one go.

psycopg's own way of writing lists looks at every element's type; for the appending of events, which
sends ten arrays, that took longer than everything else together.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from psycopg import adapt
from psycopg.abc import Buffer
from psycopg.pq import Format

from beliefledger.ledger.postgres.server import Connection

_length = struct.Struct("!i").pack
_NULL = _length(-1)
_TEXT, _BYTEA, _INT4 = (25, 1009), (17, 1001), (23, 1007)
"""The types' own numbers and those of their arrays, from `pg_type`; they never change."""


class _Array:
    __slots__ = ("sent",)

    def __init__(self, element: int, items: Sequence[bytes | None]) -> None:
        if not items:
            self.sent = struct.pack("!iiI", 0, 0, element)
            return
        nulls = any(item is None for item in items)
        parts = [struct.pack("!iiIii", 1, nulls, element, len(items), 1)]
        for item in items:
            if item is None:
                parts.append(_NULL)
            else:
                parts += (_length(len(item)), item)
        self.sent = b"".join(parts)


class Texts(_Array):
    """text[]"""

    __slots__ = ()

    def __init__(self, items: Sequence[str | None]) -> None:
        super().__init__(_TEXT[0], [None if item is None else item.encode() for item in items])


class Blobs(_Array):
    """bytea[]"""

    __slots__ = ()

    def __init__(self, items: Sequence[bytes | None]) -> None:
        super().__init__(_BYTEA[0], items)


class Ints(_Array):
    """integer[]"""

    __slots__ = ()

    def __init__(self, items: Sequence[int]) -> None:
        super().__init__(_INT4[0], [_length(item) for item in items])


class _Dumper(adapt.Dumper):
    format = Format.BINARY

    def dump(self, obj: _Array) -> Buffer:
        return obj.sent


class _TextsDumper(_Dumper):
    oid = _TEXT[1]


class _BlobsDumper(_Dumper):
    oid = _BYTEA[1]


class _IntsDumper(_Dumper):
    oid = _INT4[1]


def prepare(connection: Connection) -> None:
    """Let a connection send these arrays. Changes nothing on the server."""
    connection.adapters.register_dumper(Texts, _TextsDumper)
    connection.adapters.register_dumper(Blobs, _BlobsDumper)
    connection.adapters.register_dumper(Ints, _IntsDumper)
