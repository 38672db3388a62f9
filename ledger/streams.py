"""Stream ids: 128 bits, as 32 hex digits. They name nobody.

An id derived from personal words is an HMAC under a key of that subject, so that destroying the key
leaves an id that cannot be guessed back.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any
from uuid import UUID

SLOT_VERSION = 1
"""Goes into every belief stream; a new way of writing slots gets a new number."""


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


class IdKey(bytes):
    """The key of a subject's ids, with what HMAC makes of it before any words: so a tag takes half
    the time, and several are made for each memory."""

    _begun: tuple[Any, Any] | None = None

    def mac(self, words: bytes) -> bytes:
        """HMAC-SHA-256 (RFC 2104) of these words."""
        if self._begun is None:
            key = self if len(self) <= _BLOCK else hashlib.sha256(self).digest()
            block = key.ljust(_BLOCK, b"\x00")
            self._begun = (
                hashlib.sha256(block.translate(_INNER)),
                hashlib.sha256(block.translate(_OUTER)),
            )
        inner, outer = (each.copy() for each in self._begun)
        inner.update(words)
        outer.update(inner.digest())
        digest: bytes = outer.digest()
        return digest


_BLOCK = 64
_INNER = bytes(each ^ 0x36 for each in range(256))
_OUTER = bytes(each ^ 0x5C for each in range(256))


def tag(key: bytes, *parts: str) -> str:
    """HMAC-SHA-256 of the parts under a subject's id key, cut to 128 bits."""
    words = "\x1f".join(parts).encode()
    made = key.mac(words) if isinstance(key, IdKey) else hmac.digest(key, words, "sha256")
    return made[:16].hex()


def stream_of(originator_id: UUID | str) -> str:
    """The stream of what eventsourcing calls an originator."""
    return originator_id.hex if isinstance(originator_id, UUID) else originator_id


def policy_stream(tenant: str) -> str:
    return _hash("policy", tenant)


def ops_stream(tenant: str) -> str:
    return _hash("ops", tenant)


def consumers_stream(tenant: str) -> str:
    """The stream that records which consumers were written off."""
    return _hash("consumers", tenant)


def tokens_stream(tenant: str) -> str:
    """The stream that records which tokens were issued and revoked."""
    return _hash("tokens", tenant)


def webhooks_stream(tenant: str) -> str:
    """The stream of webhooks: who registered each, its secrets, and what was not delivered."""
    return _hash("webhooks", tenant)


def teams_stream(tenant: str) -> str:
    """The stream that records who joined and left which team; each event is of who did."""
    return _hash("teams", tenant)


def exports_stream(tenant: str) -> str:
    """The stream that records when all events were handed out."""
    return _hash("exports", tenant)


def redactions_stream(tenant: str, digest: str) -> str:
    """The stream that says what a set of redactions of one's own was: one event."""
    return _hash("redactions", tenant, digest)


def embedder_stream(tenant: str) -> str:
    return _hash("embedder", tenant)


def subject_stream(subject_ref: str) -> str:
    """A subject's stream is their reference, which is random already."""
    return subject_ref


def recall_stream(subject_ref: str) -> str:
    return _hash("recall", subject_ref)


def task_stream(key: bytes, principal: str, message: str, text: str) -> str:
    """The stream of a task: the same message of the same principal is the same task."""
    return tag(key, "task", principal, message, text)


def turn_stream(key: bytes, idempotency_key: str) -> str:
    return tag(key, "turn", idempotency_key)


def told_again(key: bytes, turn: str) -> str:
    """The stream of an erased turn that is told again. Its id alone does not give it away."""
    return tag(key, "told again", turn)


def session_tag(key: bytes, session: str | None) -> str:
    return tag(key, "session", session or "")


def query_digest(key: bytes, salt: str, query: str) -> str:
    """What says which words were searched for. The salt is the event's own and erased with its
    words, so that the subject's key, which lives on, does not confirm a guess."""
    return tag(key, "query", salt, query)


def entity_stream(key: bytes, canonical_name: str) -> str:
    return tag(key, "entity", canonical_name)


def directory_stream(key: bytes) -> str:
    """The stream of everything known about a subject's entities and their names."""
    return tag(key, "directory")


def belief_stream(key: bytes, entity_id: str, canonical_attribute: str) -> str:
    """The type is not part of a slot, nor is the context."""
    return tag(key, "belief", str(SLOT_VERSION), entity_id, canonical_attribute)


def memory_id(key: bytes, turn: str, index: int, part: str = "") -> str:
    return tag(key, "memory", turn, str(index), part)
