"""The record of what was called through a door, by whom, and how it ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from beliefledger.access.principal import Principal
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.ledger.events.ops import AccessRefused, ToolCalled
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.streams import tag
from beliefledger.ledger.times import Micros

OTHERS = "others"
"""Stands for all sources beyond the first of a minute."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that ended."""

    principal: Principal
    door: str
    tool: str
    sent: str = field(repr=False)
    """What was sent, as canonical JSON. Only a keyed hash of it is kept."""
    outcome: str
    duration_micros: int
    subject: str | None = None
    """The reference of the person whom it was about, where it was about one."""
    model_tokens: int = 0
    cost_micro_usd: int | None = 0


class CallSum(Frozen):
    """Calls of one tool by one principal that ended alike."""

    name: str
    tool: str
    outcome: str
    calls: int
    seconds: float
    model_tokens: int
    cost_micro_usd: int
    last_at: datetime


def record_call(log: Log, call: Call) -> int:
    """Append a call. What waits at the same time shares one commit."""
    salt = secrets.token_hex(16)
    event = ToolCalled(
        door=call.door,
        tool=call.tool,
        token_digest=call.principal.token,
        inputs=inputs_digest(log, call.subject, salt, call.sent),
        salt=salt,
        outcome=call.outcome,
        duration_micros=call.duration_micros,
        model_tokens=call.model_tokens,
        cost_micro_usd=call.cost_micro_usd,
    )
    # In a stream of its own: calls of many processes never stand in each other's way.
    new = New(event, new_id(), new_id(), None, call.principal.ref)
    return _append(log, new)


def inputs_digest(log: Log, subject_ref: str | None, salt: str, sent: str) -> str:
    """The keyed hash of what was sent: whoever has the ledger can check a guess, until the subject
    whom it was about is erased."""
    keys = None if subject_ref is None else log.keys(subject_ref)
    if keys is not None:
        return tag(keys.ids, "call", salt, sent)
    return log.vault.notes.keyed_hash("call", salt, sent)


def record_refusals(log: Log, minute: Micros, counts: Mapping[str, int]) -> None:
    """Append how often each source came without a good token in a minute."""
    for source, count in counts.items():
        known = OTHERS if source == OTHERS else log.vault.notes.keyed_hash("source", source)
        event = AccessRefused(minute=minute, source=known, count=count)
        _append(log, New(event, new_id(), new_id(), None, "system"))


def _append(log: Log, new: New) -> int:
    try:
        return log.append([new], {new.stream: 0}).last
    except BackendUnavailable:
        found = log.find(new.event_id)  # its reply may be all that was lost
        if found is None:
            raise
        return found.position
