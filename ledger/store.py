"""The port between the log and a database, and what a backend guarantees.

- An append is all or nothing over any number of streams, durable when it returns.
- Positions are dense (1, 2, 3 …) in commit order: no gap after a rollback, none visible out of
  order.
- The versions of a stream have no gaps. `recorded_at` never goes back.
- What was appended can be read and cannot be changed; only bodies can be deleted.
- A read sees everything committed before it began, from this process or another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.fence import Fence
from beliefledger.ledger.times import SECOND, Clock, Micros

CLOCK_TOLERANCE: Micros = 60 * SECOND
"""How far the clock may be behind the head."""
CLOCK_AHEAD: Micros = 300 * SECOND
"""How far the machine's clock may be ahead of the server's."""
ERASURE_TYPES = (
    "erasure.requested.v1",
    "erasure.requested.v2",
    "subject.erased.v1",
    "subject.erased.v2",
    "content.erased.v1",
    "content.erased.v2",
)
"""What moves `Head.erasures`, and has to be found again at every start."""
RARE_TYPES = (
    *ERASURE_TYPES,
    "consumer.acknowledged.v1",
    "legal_hold.lifted.v1",
    "legal_hold.placed.v1",
    "master_key.rotated.v1",
    "signing_key.rotated.v1",
)
"""What `of_types` finds by an index."""
RARE_LISTED = f"({', '.join(repr(name) for name in RARE_TYPES)})"
"""The same in SQL: a partial index serves only a query that repeats its condition."""
FILED = ("stream", "version", "type", "event_id", "tenant", "subject_ref")
"""The fields of an envelope that are columns of history, too, in their order."""


class Sealed(NamedTuple):
    """An event ready to be written: its envelope but for the recorded time, and its body."""

    address: Address
    head: bytes
    tail: bytes
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a batch lies: positions first to last, all recorded at one time.

    `already` is True when the very same batch had been appended before and nothing was written.
    """

    first: int
    last: int
    recorded_at: Micros
    already: bool = False


class Row(NamedTuple):
    """One event as it is stored."""

    position: int
    envelope: bytes
    body: bytes | None
    type: str = ""


class Head(NamedTuple):
    """The last position (0 for an empty log), when it was recorded, and how often an erasure was
    begun or finished so far."""

    position: int
    recorded_at: Micros
    erasures: int = 0


class Activity(NamedTuple):
    """How many events a subject has, and the positions of the first and the last."""

    events: int
    first: int
    last: int


class Cursor(NamedTuple):
    """How far a named consumer is. It may be moved by its holder alone, who has the epoch."""

    name: str
    position: int
    epoch: int
    holder: str
    held: bool
    """Whether somebody's lease on it is still running."""
    since: int = 0
    """The head of the log when it was begun; 0 for one from before that was kept."""


class OwnConsumer(StrEnum):
    """The consumers that are the ledger's own. Nobody else may claim their cursors."""

    PROJECTOR = "projector"
    """Keeps the views up with the log."""
    SCHEDULER = "scheduler"
    """Runs the jobs."""
    EXTRACTOR = "extractor"
    """Decides turns as they come."""


def lag(cursor: Cursor, head: int) -> int:
    """How many events a consumer is behind. That of the scheduler follows nothing: its cursor is
    only a lease, and stays where it was."""
    return 0 if cursor.name == OwnConsumer.SCHEDULER else max(head - cursor.position, 0)


def check_claim(name: str) -> None:
    """Raises `CallerMistake` for the name of one of the ledger's own, unless it is claimed as an
    `OwnConsumer`."""
    if not isinstance(name, OwnConsumer) and name in set(OwnConsumer):
        raise CallerMistake(
            f"{name!r} is a consumer of the ledger's own, and its cursor is not for others: choose"
            f" another name (taken: {', '.join(OwnConsumer)})."
        )


class ErasedMeanwhile(Exception):
    """Somebody was erased since the caller last looked. Seal the events again: a key may be gone.

    Never leaves the log.
    """


class Cursors(Protocol):
    """Where the cursors of named consumers are kept: in the database of the log."""

    def claim(self, name: str, holder: str, seconds: float) -> Cursor | None:
        """Hold the cursor for so long, beginning it at 0 when it is new; None while the lease of
        another holder runs. Each claim has a higher epoch than the one before.

        Raises `CallerMistake` for a name that is an `OwnConsumer`'s and is not given as one."""
        ...

    def renew(self, name: str, epoch: int, seconds: float) -> bool:
        """Hold it for so long from now; False when another claimed it in the meantime."""
        ...

    def acknowledge(self, name: str, epoch: int, position: int) -> bool:
        """Move the cursor forward, durably, if the epoch is still the one in force.

        A position behind the cursor leaves it where it is.
        """
        ...

    def release(self, name: str, epoch: int) -> None:
        """Let others claim it at once."""
        ...

    def all(self) -> list[Cursor]:
        """Every cursor, by name."""
        ...

    def restore(self, name: str, position: int, since: int = 0) -> None:
        """Set a cursor that nobody holds, as a copy of a ledger does."""
        ...

    def rewind(self, name: str, position: int) -> bool:
        """Set a cursor, whoever holds it: the lease on it is over, and the next claim begins there.
        False when there is no such cursor."""
        ...


class EventStore(Protocol):
    """A database that keeps history and bodies. Where it has several tenants, it shows one of
    them."""

    @property
    def cursors(self) -> Cursors: ...

    @property
    def erasures(self) -> int | None:
        """The highest `Head.erasures` that any answer so far brought along; None for a store that
        answers so fast that nothing need be brought along."""
        ...

    def append(
        self,
        batch: Sequence[Sealed],
        expect: Mapping[str, int],
        clock: Clock,
        erasures: int | None = None,
    ) -> Appended:
        """Append, if each stream of `expect` is at the version given there (0: does not exist).

        What other threads append at the same time may be committed together with it; each is
        refused alone. `erasures` is the `Head.erasures` that the sealing of the batch relied on.
        Raises `VersionConflict`, `ClockWentBack`, `ClockAhead`, `EventIdReused`,
        `BackendUnavailable`, `AppendUncertain`, `ErasedMeanwhile`.
        """
        ...

    def load(self, rows: Sequence[Row]) -> None:
        """Append events just as another store has them, positions and times included, after the
        last one here. For copying a ledger: nothing but their order is checked."""
        ...

    def clock_warnings(self) -> list[str]:
        """Warnings about the machine's clock, from a store that has no clock of its own."""
        ...

    def unfinished(self) -> str | None:
        """The note that marks this as an unfinished copy of another ledger, or as one that is
        moved; None for a whole one. See `ledger.unfinished` and `ledger.fence`."""
        ...

    def note_unfinished(self, note: str | None) -> None:
        """Mark it durably, or with None take the mark away. For copying a ledger."""
        ...

    def put_up_fence(self, fence: Fence) -> None:
        """From now on, in every process, refuse to write, cursors included, by a `LedgerMoved`.
        What is being written ends first. Done again, it changes nothing."""
        ...

    def take_down_fence(self) -> None:
        """Let everybody write again."""
        ...

    def only_read(self, why: str) -> None:
        """From now on refuse to write, cursors included, by a `CopyUnfinished` that says why."""
        ...

    def first_missing(self, after: int, upto: int) -> int | None:
        """The first position of (after, upto] that no tenant has an event at, if there is one."""
        ...

    def leaf_hashes(self, after: int, upto: int) -> list[bytes]:
        """SHA-256(0x00 || envelope), the leaf of RFC 9162, for every position of (after, upto], of
        all tenants. Raises `LogCorrupted` naming the first position that is missing."""
        ...

    def event_id_at(self, position: int) -> str | None:
        """The id of the event at a position, of any tenant."""
        ...

    def head(self) -> Head: ...

    def read(
        self, after: int, limit: int, upto: int | None = None, *, desc: bool = False
    ) -> list[Row]:
        """Up to `limit` events of positions in (after, upto]; newest first with `desc`."""
        ...

    def read_at(self, positions: Sequence[int]) -> list[Row]:
        """The events at these positions, in order of position."""
        ...

    def read_stream(self, stream: str, after: int = 0, upto: int | None = None) -> list[Row]:
        """The events of one stream of versions in (after, upto]."""
        ...

    def read_streams(self, streams: Sequence[str]) -> list[Row]:
        """The events of these streams, in order of position."""
        ...

    def read_subject(
        self, subject_ref: str, after: int, limit: int, upto: int | None = None
    ) -> list[Row]:
        """Up to `limit` events of one subject of positions in (after, upto]."""
        ...

    def activity(self, subject_refs: Sequence[str]) -> dict[str, Activity]:
        """How much there is of each of these subjects; one without events is left out."""
        ...

    def find(self, event_id: str) -> Row | None: ...

    def positions_of(self, event_ids: Sequence[str]) -> dict[str, int]:
        """Where these events are; those that are not there are left out."""
        ...

    def versions(self, streams: Sequence[str]) -> dict[str, int]:
        """The current version of each stream; 0 for one that does not exist."""
        ...

    def of_types(
        self, types: Sequence[str], subject_ref: str | None = None, after: int = 0
    ) -> list[Row]:
        """All events of these types past a position, in order. For rare types."""
        ...

    def position_at(self, moment: Micros) -> int:
        """The last position recorded at or before the moment; 0 if there is none."""
        ...

    def delete_bodies(self, subject_ref: str) -> int:
        """Delete every body of the subject and leave no trace of it in the files; returns how
        many there were. Deleting again deletes nothing."""
        ...

    def delete_bodies_of(self, event_ids: Sequence[str]) -> int:
        """Like `delete_bodies`, for the bodies of these events. Unknown ids are ignored."""
        ...

    def damage(self) -> tuple[int | None, str] | None:
        """What is wrong with how the events are kept, though each reads well: the position, where
        there is one, and what it is. None when nothing is."""
        ...

    def flush_wal(self) -> None:
        """Move what stands in a write-ahead file of its own into the database.

        Raises `BackendUnavailable` while another process reads it there.
        """
        ...

    def wait(self, position: int, seconds: float) -> bool:
        """Wait until the head is past `position`; False when the time is over first."""
        ...

    def close(self) -> None: ...
