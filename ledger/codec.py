"""Between an event and what the store keeps: sealing on the way in, opening on the way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.encryption import NotAuthentic, clear, is_clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import LogCorrupted, NotPermitted, UnknownEventType
from beliefledger.ledger.events import BY_NAME, Event
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.secret_filter import cleaned
from beliefledger.ledger.store import Row, Sealed
from beliefledger.ledger.times import Micros
from beliefledger.ledger.upcast import STEPS, upcast
from beliefledger.ledger.vault import SYSTEM, Vault

_OF_TODAY = frozenset(BY_NAME) - STEPS.keys()
"""The names of the events that need not be turned into those of today."""


@dataclass(slots=True)
class New:
    """An event to be appended, without secrets in its words. The caller makes the id, so that a
    retry is known for one. Nothing changes it but sealing, which notes its facts. Raises
    `SecretGiven` where a name or a text in clear holds one."""

    event: Event
    event_id: str
    stream: str
    subject_ref: str | None
    actor: str = SYSTEM
    causation: str | None = None
    correlation: str | None = None
    facts: dict[str, Any] = field(default_factory=dict, init=False, compare=False)
    """What stays of it for ever; known once it is sealed."""

    def __post_init__(self) -> None:
        event = self.event
        self.event = cleaned(event, event.FACTS, refusing=event.CLEAR)


@dataclass(frozen=True)
class Recorded:
    """An event that happened. `event` is None once its body is destroyed: a tombstone, of which the
    envelope's facts remain. (Where the body of somebody living held only a note, the event is read
    without it.)"""

    position: int
    type: str
    stream: str
    version: int
    event_id: str
    tenant: str
    subject_ref: str | None
    actor: str
    recorded_at: Micros
    causation: str | None
    correlation: str | None
    facts: dict[str, Any]
    event: Event | None
    body_digest: str | None = None
    """None where it was written without a body."""

    @property
    def destroyed(self) -> bool:
        """Whether its body is gone; one that is there is not opened to tell."""
        return "later" not in vars(self) and self.event is None

    def said(self) -> Mapping[str, Any] | None:
        """The fields of its body, without making the event, which takes longer than to open it;
        None once it is destroyed. For folds that want a word of many bodies: a field is only known
        to be there because the event was checked when it was written."""
        mine = vars(self)
        if "later" not in mine:
            return None if self.event is None else vars(self.event)
        row, vault = mine["later"]
        _, _, body, gone = _parts(row, vault, mine)
        return None if gone else body or {}


class _OpenedLater:
    """Opens an event's body when `event` is first asked for, where `unseal` left that for later.
    What it finds is kept in the object, which is looked at before this is."""

    def __get__(self, recorded: Recorded | None, owner: type[Recorded]) -> Any:
        mine = {} if recorded is None else vars(recorded)
        if "later" not in mine:
            raise AttributeError("event")
        row, vault = mine["later"]
        event = mine["event"] = _event(row, vault, mine)[2]
        del mine["later"]
        return event


if not TYPE_CHECKING:  # else it would be the default of the field
    Recorded.event = _OpenedLater()


def seal(new: New, version: int, tenant: str, vault: Vault) -> Sealed:
    """Write the event as envelope and body. Raises `NotPermitted` for an erased subject."""
    event = new.event
    address = Address(new.event_id, event.NAME, new.stream, version, tenant, new.subject_ref)
    facts, body = event.split()
    new.facts = facts
    blob = None
    if body is not None:
        words = canonical.encode(body)
        if event.CLEAR:
            blob = clear(words)
        else:
            keys = vault.keys(new.subject_ref) if new.subject_ref else None
            if keys is None:
                raise NotPermitted("Nothing can be written about a subject who was erased.")
            blob = keys.bodies.seal(words, address.bytes())
    head, tail = envelope.split(
        address,
        actor=new.actor,
        causation=new.causation,
        correlation=new.correlation,
        body_digest=None if blob is None else canonical.digest(blob),
        facts=facts,
    )
    return Sealed(address, head, tail, blob)


def written(new: New, version: int, position: int, recorded_at: Micros, tenant: str) -> Recorded:
    """An event that was just appended, for whoever appended it: as it is read back, but for
    `body_digest`, which is None."""
    fields = {
        "position": position,
        "type": new.event.NAME,
        "stream": new.stream,
        "version": version,
        "event_id": new.event_id,
        "tenant": tenant,
        "subject_ref": new.subject_ref,
        "actor": new.actor,
        "recorded_at": recorded_at,
        "causation": new.causation,
        "correlation": new.correlation,
        "facts": new.facts,
        "event": new.event,
        "body_digest": None,
    }
    return _recorded(fields)


def unseal(row: Row, vault: Vault, *, later: bool = False) -> Recorded:
    """Read an event back.

    With `later`, a body that is there is opened and checked only when `event` is asked for: most
    of a log's events tell a view all that it needs in their envelopes.

    Raises `LogCorrupted` naming the position, `UnknownEventType`, `KeyMissing`.
    """
    position, data, body, _ = row
    fields = envelope.read(data, position)
    there = body is not None or fields["body_digest"] is None
    if later and there and fields["type"] in _OF_TODAY:
        if body is not None and fields["subject_ref"]:
            vault.keys(fields["subject_ref"])  # a key that is missing is noticed now
        fields["later"] = row, vault
    else:
        fields["type"], fields["facts"], fields["event"] = _event(row, vault, fields)
    fields["position"] = position
    return _recorded(fields)


def _recorded(fields: dict[str, Any]) -> Recorded:
    """From all its fields; its constructor takes ten times as long."""
    recorded = object.__new__(Recorded)
    object.__setattr__(recorded, "__dict__", fields)
    return recorded


def unseal_page(rows: Iterable[Row], vault: Vault, *, later: bool = False) -> list[Recorded]:
    """Opens a page of rows. The page has to fit into memory."""
    with gc_paused():
        return [unseal(row, vault, later=later) for row in rows]


class Raw(NamedTuple):
    """An event as its parts, which nothing has checked but its seal. `body` is None once it is
    destroyed, and where there is none."""

    position: int
    type: str
    recorded_at: Micros
    facts: dict[str, Any]
    body: dict[str, Any] | None


def raw_page(rows: Iterable[Row], vault: Vault) -> list[Raw]:
    """As `unseal_page`, without making events: where thousands are read for a word of each, that is
    half of the time. What is sealed was checked when it was written."""
    with gc_paused():
        read = []
        for row in rows:
            fields = envelope.read(row.envelope, row.position)
            name, facts, body, _ = _parts(row, vault, fields)
            read.append(Raw(row.position, name, fields["recorded_at"], facts, body))
        return read


def _event(
    row: Row, vault: Vault, fields: dict[str, Any]
) -> tuple[str, dict[str, Any], Event | None]:
    """Today's name, facts and event."""
    name, facts, body, gone = _parts(row, vault, fields)
    kind = BY_NAME.get(name)
    if kind is None:
        raise UnknownEventType(f"Position {row.position} holds {name!r}.")
    try:
        if gone and not _only_notes_went(row, vault, fields, kind):
            return name, facts, None
        # As `model_validate`, without the call in between.
        event = kind.__pydantic_validator__.validate_python({**facts, **(body or {})})
        return name, facts, event
    except ValidationError as problem:
        raise LogCorrupted(
            f"The {name} at position {row.position} does not have its fields: {problem}."
        ) from problem


def _parts(
    row: Row, vault: Vault, fields: dict[str, Any]
) -> tuple[str, dict[str, Any], dict[str, Any] | None, bool]:
    """Today's name, facts and body, and whether there was a body that is gone."""
    facts: dict[str, Any] = fields["facts"]
    body: dict[str, Any] | None = None
    gone = False
    if fields["body_digest"] is not None:
        words = _open(row, fields, vault)
        if words is None:
            gone = True
        else:
            body = canonical.decode(words)
    return *upcast(fields["type"], facts, body), gone


def _only_notes_went(row: Row, vault: Vault, fields: dict[str, Any], kind: type[Event]) -> bool:
    """Whether an event of somebody living says all that matters without its erased body."""
    optional = all(
        name in kind.FACTS or not field.is_required() for name, field in kind.model_fields.items()
    )
    subject_ref = fields["subject_ref"]
    return optional and row.body is None and not (subject_ref and vault.is_erased(subject_ref))


def _open(row: Row, fields: dict[str, Any], vault: Vault) -> bytes | None:
    """The body's words, or None where an erasure explains that they are gone."""
    subject_ref = fields["subject_ref"]
    if row.body is None:
        if subject_ref and (
            vault.is_erased(subject_ref) or vault.is_content_erased(subject_ref, fields["event_id"])
        ):
            return None
        raise LogCorrupted(
            f"The body of position {row.position} is missing and no erasure explains it."
        )
    if is_clear(row.body):
        if canonical.digest(row.body) != fields["body_digest"]:
            raise LogCorrupted(f"The body of position {row.position} was changed.")
        return row.body[1:]
    keys = vault.keys(subject_ref)
    if keys is None:
        return None
    bound_to = envelope.address_bytes(
        fields["event_id"],
        fields["type"],
        fields["stream"],
        fields["version"],
        fields["tenant"],
        subject_ref,
    )
    try:
        return keys.bodies.open(row.body, bound_to)
    except NotAuthentic:
        raise LogCorrupted(
            f"The body of position {row.position} does not belong to its envelope."
        ) from None
