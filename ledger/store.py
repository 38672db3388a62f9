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
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ledger.envelope import Address
from ledger.times import Clock, Micros


@dataclass(frozen=True, slots=True)
class Sealed:
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
    """The last position (0 for an empty log) and when it was recorded."""

    position: int
    recorded_at: Micros


class EventStore(Protocol):
    """A database that keeps history and bodies."""

    def append(
        self, batch: Sequence[Sealed], expect: Mapping[str, int], clock: Clock
    ) -> Appended:
        """Append, if each stream of `expect` is at the version given there (0: does not exist).

        Raises `VersionConflict`, `ClockWentBack`, `EventIdReused`, `BackendUnavailable`,
        `AppendUncertain`.
        """
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

    def find(self, event_id: str) -> Row | None: ...

    def versions(self, streams: Sequence[str]) -> dict[str, int]:
        """The current version of each stream; 0 for one that does not exist."""
        ...

    def of_types(self, types: Sequence[str], subject_ref: str | None = None) -> list[Row]:
        """All events of these types, in order of position. For rare types."""
        ...

    def position_at(self, moment: Micros) -> int:
        """The last position recorded at or before the moment; 0 if there is none."""
        ...

    def delete_bodies(self, subject_ref: str) -> int:
        """Delete every body of the subject and leave no trace of it in the files; returns how
        many there were. Deleting again deletes nothing."""
        ...

    def damage(self) -> tuple[int | None, str] | None:
        """What is wrong with how the events are kept, though each reads well: the position, where
        there is one, and what it is. None when nothing is."""
        ...

    def wait(self, position: int, seconds: float) -> bool:
        """Wait until the head is past `position`; False when the time is over first."""
        ...

    def close(self) -> None: ...
