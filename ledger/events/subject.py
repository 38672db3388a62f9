"""Events of one data subject: registration, lawful bases, forgetting."""

from typing import ClassVar

from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Name
from beliefledger.ledger.times import Micros


class SubjectRegistered(Event):
    """A person became known to the ledger; their key was made just before."""

    NAME: ClassVar = "subject.registered.v1"
    anew: Fact[bool] = False
    """Registered again by a named actor after an erasure."""


class ConsentGranted(Event):
    """A lawful basis for keeping memories of some categories for some purpose was recorded."""

    NAME: ClassVar = "consent.granted.v2"
    basis: Fact[Name[str]]
    special: Fact[bool]
    """Whether any of its categories is a special one."""
    purpose: Fact[Name[str]]
    scope: Fact[Name[str]]
    """The widest visibility that it allows."""
    expires_at: Fact[Micros | None] = None
    categories: tuple[str, ...]
    """`ordinary`, or names of special categories; each must be named."""
    note: str | None = None


class ConsentWithdrawn(Event):
    """A lawful basis was withdrawn; what stood on it is revoked in the same append."""

    NAME: ClassVar = "consent.withdrawn.v1"
    grants: Fact[tuple[str, ...]]
    """The event ids of the grants that end."""
    revoked: Fact[int]
    note: str | None = None


class ViewReceipt(Frozen):
    """What an erasure removed from one view: its position and digest afterwards, and how many rows
    went."""

    name: str
    position: int
    digest: str
    removed: int


class Probe(Frozen):
    """One way in which what was erased was looked for afterwards: how many were looked at, and how
    many were found."""

    name: str
    looked: int
    found: int


class ErasureRequested(Event):
    """Forgetting was asked for. From here on nothing more is written that would have to go, too."""

    NAME: ClassVar = "erasure.requested.v2"
    reach: Fact[str]
    """`subject`, or of a living one: `memory`, `turn`, `session`, `retention`, `revoked`, or
    `relation` (its far end is somebody who is erased)."""
    legal_basis: Fact[Name[str]]
    of: Fact[Name[str | None]] = None
    """What of a living subject: a memory's or a turn's id, a session's tag, a category."""
    positions: Fact[tuple[tuple[int, int], ...]] = ()
    """Of a living subject: first and last of each run of events whose bodies go."""
    because: Fact[str | None] = None
    """The event id of what led to it: a withdrawn consent, another erasure."""
    key_fingerprint: Fact[str] = ""
    """Of a whole subject: of the key that is to be destroyed."""
    master_key: Fact[str] = ""
    """The id of the master key under which that key is wrapped."""


class Erased(Event):
    """The facts shared by the events that end an erasure."""

    request: Fact[str]
    """The event id of its `ErasureRequested`."""
    bodies: Fact[int]
    """How many bodies were deleted."""
    counts: Fact[dict[str, int]]
    """How many events of each type lost their bodies."""
    commitment: Fact[str]
    """SHA-256 over the positions of these events: see `ledger.erasures.commitment`."""
    views: Fact[tuple[ViewReceipt, ...]]
    probes: Fact[tuple[Probe, ...]]


class SubjectErased(Erased):
    """The subject's key and bodies are destroyed, everywhere that this ledger keeps them."""

    NAME: ClassVar = "subject.erased.v2"
    key_fingerprint: Fact[str]
    master_key: Fact[str]
    """The id of the master key under which the key was wrapped."""


class ContentErased(Erased):
    """Bodies of a living subject were deleted: a memory's, a turn's, a session's."""

    NAME: ClassVar = "content.erased.v2"
    reach: Fact[str]
    positions: Fact[tuple[tuple[int, int], ...]]


class LegalHoldPlaced(Event):
    """Erasing this subject is forbidden until the hold is lifted."""

    NAME: ClassVar = "legal_hold.placed.v1"
    hold: Fact[Name[str]]
    reason: str


class LegalHoldLifted(Event):
    """A legal hold ended."""

    NAME: ClassVar = "legal_hold.lifted.v1"
    hold: Fact[Name[str]]


class SubjectExported(Event):
    """All that is held about a person was handed out, to answer a request for access. Recorded
    before the first word is."""

    NAME: ClassVar = "subject.exported.v1"
    withholding: Fact[tuple[str, ...]] = ()
    """What was left out at the wish of who exported: `actors`, `hold_reasons`."""
    note: str | None = None


class SubjectImported(Event):
    """Memories of a person were taken over from the export of another ledger; those that could be
    follow, each with a decision of its own."""

    NAME: ClassVar = "subject.imported.v1"
    memories: Fact[int]
    """How many the export has that held when it was made."""
    grants: Fact[int]
    """How many lawful bases were in force then."""
    export: str
    """The event id of the export, in the ledger that made it."""
    exported_at: Micros
    note: str | None = None


class TeamJoined(Event):
    """A person was made a member of a team: from here on they may see what another member has that
    is visible to the team, and that one what they have."""

    NAME: ClassVar = "team.joined.v1"
    team: Fact[str]
    """The team's id, which is random; its members have the same one."""
    name: Name[str]
    """What the team is called. It is kept with each member, and goes with them."""


class TeamLeft(Event):
    """A person is no longer a member of a team."""

    NAME: ClassVar = "team.left.v1"
    team: Fact[str]
