"""The document that answers a request for access: its parts, and their JSON Schema.

Times are datetimes in UTC, scores are from 0 to 1. What is erased is None, and said to be erased.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field, JsonValue

from beliefledger.answers import BeliefAnswer, DecisionAnswer
from beliefledger.ledger.candidate import Frozen

FORMAT = "beliefledger.person.v1"


class Exported(Frozen):
    """The export itself: the last event that it tells of."""

    event_id: str
    position: int
    at: datetime
    by: str
    note: str | None
    withholding: tuple[str, ...]
    """What was left out at the wish of who exported."""


class Person(Frozen):
    """Whom it is about."""

    subject: str
    subject_ref: str
    """What the log calls them. It is random."""
    registered_at: datetime
    anew: bool
    """Whether they were registered again after an erasure."""


class ExportedTurn(Frozen):
    """Something that was said."""

    turn_id: str
    position: int
    recorded_at: datetime
    by: str | None
    """Who recorded it; None where that is withheld."""
    channel: str
    """`conversation`, or `store` for a memory written with chosen fields."""
    role: str
    speaker: str | None
    session: str | None
    agent: str | None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    said_at: datetime | None
    content: str | None
    redacted: dict[str, int]
    """How many secrets of each kind were taken out before it was recorded."""
    erased: bool
    """Its words are erased."""


class ExportedVersion(BeliefAnswer):
    """One version of a memory, with what its type asks for besides a value."""

    category: str | None
    """The special category of personal data that it is of."""
    participants: tuple[str, ...]
    fields: dict[str, str]


class ExportedMemory(Frozen):
    """A memory and its history. Of one whose words are erased only `record` tells."""

    memory_id: str
    belief_id: str
    """The belief that it is, or was last, in."""
    holds: bool
    """Whether it is believed now."""
    versions: tuple[ExportedVersion, ...]
    """Oldest first."""


class ExportedDecision(DecisionAnswer):
    """A decision about a statement, with what it was made from."""

    scores: dict[str, float]
    """Parts of the confidence; none are left once the words are erased."""
    trace: tuple[str, ...]
    """Each check in order."""


class ExportedConsent(Frozen):
    """A lawful basis that was recorded."""

    grant_id: str
    basis: str
    categories: tuple[str, ...]
    purpose: str
    scope: str
    expires_at: datetime | None
    note: str | None
    granted_at: datetime
    by: str | None
    withdrawn_at: datetime | None
    in_force: bool


class ExportedWithdrawal(Frozen):
    """A withdrawal of lawful bases."""

    withdrawal_id: str
    grants: tuple[str, ...]
    revoked: int
    """How many memories it took back."""
    note: str | None
    at: datetime
    by: str | None


class ExportedRecall(Frozen):
    """One time that memories were searched for, or shown."""

    recall_id: str
    position: int
    at: datetime
    by: str
    purpose: str
    ranker: str
    """The profile and its version; `shown` where the caller chose by itself."""
    asked: dict[str, Any] | None
    """The query and its parameters; None where they are erased, and where the caller chose."""
    session_tag: str | None
    found: tuple[str, ...]
    """Ids of memories and turns, best first."""
    shown: tuple[str, ...]
    """Ids of the memories among these that the caller was given."""


class Recipient(Frozen):
    """Somebody to whom something of the person was told, or may have been."""

    who: str
    how: str
    """`search`; `shown` by the choice of the caller; `audit`; `export`; `ledger_export`; or
    `consumer`, a program that follows the log under a name and may have been given it."""
    purpose: str | None
    times: int | None
    """None where it is not on record."""
    first: datetime | None
    last: datetime | None


class ExportedHold(Frozen):
    """A legal hold: while it is in force, nothing of the person is erased."""

    hold: str
    reason: str | None
    """None where it is withheld."""
    placed_at: datetime
    by: str | None
    lifted_at: datetime | None
    lifted_by: str | None


class ExportedErasure(Frozen):
    """An erasure of something of the person. `completed_at` is None while it is under way."""

    erasure: str
    reach: str
    of: str | None
    legal_basis: str
    requested_at: datetime
    by: str | None
    completed_at: datetime | None
    counts: dict[str, int]
    """How many events of each type lost their words."""


class Handed(Frozen):
    """An export of the person, or an import of what another ledger exported."""

    event_id: str
    at: datetime
    by: str | None
    what: str
    """`exported` or `imported`."""
    note: str | None


class ExportedEvent(Frozen):
    """An event that no other part tells whole: what was noticed, how memories came to be and what
    became of them, names, reviews."""

    position: int
    event_id: str
    type: str
    stream: str
    at: datetime
    by: str | None
    facts: dict[str, Any]
    """What stays for ever."""
    body: dict[str, Any] | None
    """What can be erased; None where it is, or where there is none."""
    erased: bool


class Withheld(Frozen):
    """Something that is not in the document, and why."""

    what: str
    why: str
    count: int | None = None


class PersonDocument(Frozen):
    """Everything that a ledger holds about one person, as of the moment of its export."""

    format: str = FORMAT
    exported: Exported
    person: Person
    turns: tuple[ExportedTurn, ...]
    memories: tuple[ExportedMemory, ...]
    decisions: tuple[ExportedDecision, ...]
    consents: tuple[ExportedConsent, ...]
    withdrawals: tuple[ExportedWithdrawal, ...]
    recalls: tuple[ExportedRecall, ...]
    told: tuple[Recipient, ...]
    holds: tuple[ExportedHold, ...]
    erasures: tuple[ExportedErasure, ...]
    exports: tuple[Handed, ...]
    record: tuple[ExportedEvent, ...]
    withheld: tuple[Withheld, ...]
    counts: dict[str, int]
    """How many events of each type there are about the person."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the document (draft 2020-12)."""
    made = PersonDocument.model_json_schema(mode="serialization")
    made["properties"]["format"] = {"const": FORMAT, "title": "Format"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{FORMAT.replace('.', ':')}",
        **made,
    }
