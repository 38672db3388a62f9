"""The view of what is believed: bitemporal rectangles, and the evidence of each memory.

The rules, for an event recorded at position p:
  admit        open a row
  change       close the old row; open it again, valid until the new value begins; open the new row
  correction   close the old row; open the new one from the old one's valid_from
  confirm      close the row and open it again with the new confidence
  backdated    open a row that is past already; the current one stays
  revoke       close the row
  expire       close the row and open it again with its end
  move         close the row here, open one there
  consolidate  close the originals' rows, each naming the merged memory; open its row
  quarantine   open a row apart; it names the memory that it disagrees with, if it does

Of an event whose body is erased only the facts are left:
  a memory written    leaves no row; what it promoted, or united here, is closed all the same
  change              the old row is closed, and opened again until the change was recorded, at the
                      latest: it ends loosely, and gives way to whatever is found to begin before
  correction          close the old row
  confirm             nothing
  expire              close the row and open it again with the earliest end that is known of it
A later event about a memory that left no row finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Table, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.belief import (
    NAMES,
    WRITING,
    BeliefContested,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
    Written,
)
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.ledger.memory import Memory
from beliefledger.projections import tables
from beliefledger.projections.rows import delete_subjects, insert_rows, update_rows
from beliefledger.projections.view import FIRST_GENERATION, Tagger

ROWS_PER_EVENT = 1 << 10
"""Row ids leave room for this many rows opened by one event."""
_KEPT_BELIEFS = 200_000
_WEAKER = "truth.weaker_than_current"
_UNSURE = "truth.below_threshold"
"""The reasons for which a sincere statement that disagrees with what stands is kept apart."""


@dataclass(slots=True)
class Version:
    """One rectangle; the fields are the columns of `belief_versions`, in their order."""

    row_id: int
    subject_ref: str
    belief: str
    memory_id: str
    words_at: int
    type: str
    topic_tag: str | None
    entity_tag: str | None
    context_tag: str | None
    session_tag: str | None
    quarantined: bool
    contested: bool
    confidence: int
    importance: int
    mentions: int
    visibility_scope: str
    basis: str
    grant_id: str
    decision: str
    valid_from: int
    valid_from_stated: bool
    valid_to: int | None
    valid_to_stated: bool
    expires_at: int | None
    event_from: int | None
    event_to: int | None
    precision: str
    said_at: int
    supersedes: str | None
    superseded_by: str | None
    contradicts: str | None
    ends_loosely: bool
    """The event that ended it is erased, so `valid_to` is only the latest possible end."""
    opened: int
    opened_at: int
    closed: int | None = None
    closed_at: int | None = None
    closed_by: str | None = None


COLUMNS = tuple(field.name for field in fields(Version))
_values = attrgetter(*COLUMNS)


class Fold:
    """The open rows of one belief, and one more event. Pure: no clock, no database.

    After `apply`, `opened` and `closed` hold the rows that the event opened and closed.
    """

    def __init__(self, rows: Iterable[Version], tag: Tagger) -> None:
        self.rows = list(rows)
        self.opened: list[Version] = []
        self.closed: list[Version] = []
        self._tag = tag

    def apply(self, event: Recorded) -> None:
        happened = event.event
        match happened:
            case MemoryAdmitted():
                if happened.promotes:
                    for row in self._of(happened.promotes):
                        self._close(row, event)
                self._open_written(event, happened)
            case MemorySuperseded():
                self._supersede(event, happened)
            case MemoryQuarantined():
                row = self._open_written(event, happened, quarantined=True)
                row.contradicts = self._against(happened, row)
            case MemoryConfirmed():
                for row in self._of(happened.memory_id):
                    self._reopen(
                        row,
                        event,
                        confidence=happened.confidence,
                        mentions=happened.mentions,
                        said_at=max(row.said_at, happened.said_at),
                    )
            case MemoryRevoked() | ConsolidationUndone():
                for row in self._of(happened.memory_id):
                    self._close(row, event)
            case MemoryMovedOut():
                for row in self._of(happened.memory_id):
                    self._close(row, event, by=happened.into)
            case MemoryExpired():
                for row in self._of(happened.memory_id):
                    self._reopen(
                        row,
                        event,
                        valid_to=happened.valid_to,
                        valid_to_stated=True,
                        ends_loosely=False,
                    )
            case MemoryMovedIn():
                self._open_written(event, happened, quarantined=happened.quarantined)
            case MemoriesConsolidated():
                for original in happened.originals:  # of this belief; the others move out after it
                    for row in self._of(original):
                        self._close(row, event, by=happened.memory_id)
                self._open_written(event, happened)
            case BeliefContested():
                for row in list(self.rows):
                    if not row.quarantined and row.valid_to is None:
                        self._reopen(row, event, contested=True)
            case ConflictResolved():
                by = happened.memories[0] if happened.memories else None
                for row in list(self.rows):
                    if row.memory_id in happened.closes:
                        self._reopen(
                            row,
                            event,
                            valid_to=max(row.valid_from, happened.resolved_at),
                            valid_to_stated=False,
                            superseded_by=by,
                            contested=False,
                        )
            case None:
                self._without_words(event)
            case _:
                pass

    def _without_words(self, event: Recorded) -> None:
        """Apply an event whose body is erased, from its envelope."""
        facts = event.facts
        if event.type == MemoryExpired.NAME:
            for row in self._of(facts["memory_id"]):
                self._end(row, event, [row.valid_to, row.expires_at, event.recorded_at])
            return
        if event.type not in WRITING:
            return
        merged = facts.get("originals", ())
        for memory_id in dict.fromkeys((facts["memory_id"], facts.get("promotes"), *merged)):
            for row in self._of(memory_id):
                self._close(row, event, by=facts["memory_id"] if memory_id in merged else None)
        if event.type == MemorySuperseded.NAME:
            for row in self._of(facts["supersedes"]):
                if facts["kind"] == "correction":
                    self._close(row, event, by=facts["memory_id"])
                else:
                    ends = [row.valid_to, event.recorded_at]
                    self._end(row, event, ends, superseded_by=facts["memory_id"])

    def _end(
        self, row: Version, event: Recorded, known: Sequence[int | None], **changed: Any
    ) -> None:
        """Let a row end at the first of these times at the latest; when exactly is erased."""
        ends = min(each for each in known if each is not None)
        changed |= {"valid_to": max(row.valid_from, ends), "valid_to_stated": False}
        self._reopen(row, event, **changed, contested=False, ends_loosely=True)

    def _of(self, memory_id: str | None) -> list[Version]:
        return [row for row in self.rows if row.memory_id == memory_id]

    def _against(self, happened: MemoryQuarantined, row: Version) -> str | None:
        """The memory that these words contradict without being strong enough to replace it."""
        unsure = happened.reason == _UNSURE and not happened.memory.negated
        if happened.capped or not (unsure or happened.reason == _WEAKER):
            return None
        for each in self.rows:
            ended = each.valid_to is not None and each.valid_to <= row.valid_from
            before = unsure and row.valid_from < each.valid_from
            if not (each.quarantined or ended or before) and each.context_tag == row.context_tag:
                return each.memory_id
        return None

    def _supersede(self, event: Recorded, happened: MemorySuperseded) -> None:
        memory = happened.memory
        if happened.promotes:
            for row in self._of(happened.promotes):
                self._close(row, event)
        inherits = False
        for row in self._of(happened.supersedes):
            if happened.kind == "correction":
                inherits = row.valid_from == memory.valid_from and row.valid_from_stated
                self._close(row, event, by=happened.memory_id)
            else:
                self._reopen(
                    row,
                    event,
                    valid_to=max(row.valid_from, memory.valid_from),
                    valid_to_stated=_stated(memory),
                    superseded_by=happened.memory_id,
                    contested=False,
                    ends_loosely=False,
                )
        new = self._open_written(event, happened)
        new.supersedes = happened.supersedes
        new.valid_from_stated = new.valid_from_stated or inherits

    def _close(self, row: Version, event: Recorded, by: str | None = None) -> None:
        row.closed, row.closed_at, row.closed_by = event.position, event.recorded_at, by
        self.rows.remove(row)
        self.closed.append(row)

    def _reopen(self, row: Version, event: Recorded, **changed: Any) -> None:
        again = Version(*_values(row))
        for name, value in changed.items():
            setattr(again, name, value)
        self._close(row, event, by=changed.get("superseded_by"))
        self._open(again, event)

    def _open(self, row: Version, event: Recorded) -> None:
        row.row_id = event.position * ROWS_PER_EVENT + len(self.opened)
        row.opened, row.opened_at = event.position, event.recorded_at
        self.rows.append(row)
        self.opened.append(row)

    def _open_written(
        self, event: Recorded, happened: Written, *, quarantined: bool = False
    ) -> Version:
        memory, subject, tag = happened.memory, event.subject_ref or "", self._tag
        stated = _stated(memory)
        context_tag = tag(subject, "context", memory.context)
        said_at = memory.said_at
        if isinstance(happened, (MemoryMovedIn, MemoriesConsolidated)):
            said_at = happened.last_said_at
        if not quarantined:
            self._take_time(event, context_tag, memory.valid_from)
        row = Version(
            0,
            subject,
            event.stream,
            happened.memory_id,
            event.position,
            happened.type,
            tag(subject, "topic", memory.topic),
            tag(subject, "entity", memory.entity),
            context_tag,
            tag(subject, "session", memory.session),
            quarantined,
            False,  # noqa: FBT003  (contested)
            happened.confidence,
            happened.importance,
            happened.mentions,
            happened.visibility_scope,
            happened.basis,
            happened.grant,
            happened.decision,
            memory.valid_from,
            stated,
            memory.valid_to,
            stated and memory.valid_to is not None,
            memory.expires_at,
            memory.when.start,
            memory.when.end,
            memory.when.precision.value,
            said_at,
            None,
            None,
            None,
            False,  # noqa: FBT003  (ends_loosely)
            event.position,
            event.recorded_at,
        )
        self._open(row, event)
        return row

    def _take_time(self, event: Recorded, context_tag: str | None, valid_from: int) -> None:
        """Let a row whose end is unknown end where another value of the same context begins."""
        for row in list(self.rows):
            if (
                row.ends_loosely
                and row.context_tag == context_tag
                and row.valid_to is not None
                and row.valid_from <= valid_from < row.valid_to
            ):
                self._reopen(row, event, valid_to=valid_from)


def _stated(memory: Memory) -> bool:
    """Whether somebody stated when it began; otherwise `valid_from` comes from a clock."""
    return memory.said_at_stated or memory.valid_from == memory.when.start


class BeliefsView:
    """`belief_versions` and `evidence`, kept up with the log."""

    name = "belief_versions"
    types = frozenset({SubjectErased.NAME, *NAMES})
    of_bodies = True

    def __init__(self, tag: Tagger) -> None:
        self._tag = tag
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.belief_versions(generation), tables.evidence(generation))

    def start(self, generation: int, *, empty: bool) -> None:
        self._versions, self._evidence = self.tables(generation)
        self._empty = empty
        self._open: dict[str, list[Version]] = {}
        self._new: dict[int, Version] = {}
        self._closed: dict[int, Version] = {}
        self._new_evidence: list[tuple[int, str, str]] = []
        self._gone: list[str] = []
        self._bare: frozenset[str] = frozenset()
        """Subjects who have no row in the tables: what they have since is in `_open`."""

    def apply(self, event: Recorded, connection: Connection) -> None:
        if event.type == SubjectErased.NAME:
            self.forget(event.subject_ref or "")
            return
        happened = event.event
        fold = Fold(self._rows(event, connection), self._tag)
        fold.apply(event)
        self._open[event.stream] = fold.rows
        for row in fold.closed:
            if row.row_id not in self._new:
                self._closed[row.row_id] = row
        for row in fold.opened:
            self._new[row.row_id] = row
        moved = isinstance(happened, MemoryMovedIn)  # its evidence came with its id
        if isinstance(happened, (Written, MemoryConfirmed)) and not moved:
            self._new_evidence.append((event.position, event.subject_ref or "", happened.memory_id))

    def _rows(self, event: Recorded, connection: Connection) -> list[Version]:
        belief = event.stream
        known = self._open.get(belief)
        if known is not None:
            return known
        if self._empty or event.subject_ref in self._bare:
            return []
        table = self._versions
        query = select(table).where(table.c.belief == belief, table.c.closed.is_(None))
        return [Version(*row) for row in connection.execute(query.order_by(table.c.row_id))]

    def forget(self, subject_ref: str) -> None:
        self._open = {
            belief: rows
            for belief, rows in self._open.items()
            if not any(row.subject_ref == subject_ref for row in rows)
        }
        for kept in (self._new, self._closed):
            for row_id in [i for i, row in kept.items() if row.subject_ref == subject_ref]:
                del kept[row_id]
        self._new_evidence = [each for each in self._new_evidence if each[1] != subject_ref]
        self._gone.append(subject_ref)

    def flush(self, connection: Connection) -> None:
        for table in (self._versions, self._evidence):
            delete_subjects(connection, table, self._gone)
        insert_rows(connection, self._versions, [_values(row) for row in self._new.values()])
        update_rows(
            connection,
            self._versions,
            "row_id",
            ("closed", "closed_at", "closed_by"),
            [
                (row.closed, row.closed_at, row.closed_by, row.row_id)
                for row in self._closed.values()
            ],
        )
        insert_rows(connection, self._evidence, self._new_evidence)
        self._bare = frozenset(self._gone) - {row.subject_ref for row in self._new.values()}
        self._new, self._closed, self._new_evidence, self._gone = {}, {}, [], []
        if len(self._open) > _KEPT_BELIEFS:
            self._open, self._empty = {}, False
