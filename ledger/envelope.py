"""The envelope of an event: what is kept for ever, as canonical JSON.

Everything but `recorded_at` is written before the log is locked; `stamp` puts the time in.
The envelope holds: actor, body_digest, causation, correlation, event_id, facts, recorded_at,
stream, subject_ref, tenant, type, version.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from beliefledger.ledger import canonical
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.times import Micros

FIELDS = frozenset(
    "actor body_digest causation correlation event_id facts recorded_at stream subject_ref tenant"
    " type version".split()
)


class Address(NamedTuple):
    """Where an event belongs; a sealed body is bound to exactly this."""

    event_id: str
    type: str
    stream: str
    version: int
    tenant: str
    subject_ref: str | None

    def bytes(self) -> bytes:
        """The associated data of the body's encryption."""
        return address_bytes(
            self.event_id, self.type, self.stream, self.version, self.tenant, self.subject_ref
        )


def address_bytes(
    event_id: str, type_: str, stream: str, version: int, tenant: str, subject_ref: str | None
) -> bytes:
    return canonical.encode([event_id, type_, stream, version, tenant, subject_ref])


def split(
    address: Address,
    *,
    actor: str,
    causation: str | None,
    correlation: str | None,
    body_digest: str | None,
    facts: dict[str, Any],
) -> tuple[bytes, bytes]:
    """The bytes before and after the recorded time."""
    head = canonical.encode(
        {
            "actor": actor,
            "body_digest": body_digest,
            "causation": causation,
            "correlation": correlation,
            "event_id": address.event_id,
            "facts": facts,
        }
    )
    tail = canonical.encode(
        {
            "stream": address.stream,
            "subject_ref": address.subject_ref,
            "tenant": address.tenant,
            "type": address.type,
            "version": address.version,
        }
    )
    return head[:-1] + b',"recorded_at":', b"," + tail[1:]


def stamp(head: bytes, recorded_at: Micros, tail: bytes) -> bytes:
    return b"%b%d%b" % (head, recorded_at, tail)


def same_but_time(envelope: bytes, head: bytes, tail: bytes) -> bool:
    """True if the envelope is this one, whenever it was recorded."""
    middle = envelope[len(head) : len(envelope) - len(tail)]
    return envelope.startswith(head) and envelope.endswith(tail) and middle.isdigit()


def read(envelope: bytes, position: int) -> dict[str, Any]:
    """Raises `LogCorrupted` naming the position."""
    try:
        fields = canonical.decode(envelope)
    except ValueError:
        raise LogCorrupted(f"The envelope at position {position} is not JSON.") from None
    if type(fields) is not dict or fields.keys() != FIELDS:
        raise LogCorrupted(f"The envelope at position {position} has other fields than it must.")
    return fields
