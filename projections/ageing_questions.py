"""Questions about ageing: accesses, what is over, runs of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, and_, bindparam, case, func, or_, select

from beliefledger.ledger import canonical
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import Micros
from beliefledger.projections import tables
from beliefledger.projections.beliefs import Version


@dataclass(frozen=True, slots=True)
class Access:
    """How often a memory was shown, and when last."""

    count: int
    last_at: Micros


NEVER = Access(0, 0)


@dataclass(frozen=True, slots=True)
class JobRow:
    """One run of a job; the fields are the columns of `jobs`, in their order."""

    position: int
    job: str
    due: Micros
    outcome: str
    counts: dict[str, int]
    duration_micros: int
    error: str | None
    actor: str
    recorded_at: Micros


def accesses(connection: Connection, generation: int, memories: Sequence[str]) -> dict[str, Access]:
    """The accesses of these memories, without those that were never shown."""
    c = tables.access(generation).c
    found: dict[str, Access] = {}
    for start in range(0, len(memories), 500):
        query = select(c.memory_id, c["count"], c.last_at).where(
            c.memory_id.in_(memories[start : start + 500])
        )
        found.update((row[0], Access(row[1], row[2])) for row in connection.execute(query))
    return found


@dataclass(frozen=True, slots=True)
class Aged:
    """A memory that holds: since when it fades, and how often it was shown."""

    memory_id: str
    type: str
    said_at: Micros
    count: int
    last_at: Micros


def aged(
    connection: Connection,
    generations: tuple[int, int],
    memories: Sequence[str],
    now: Micros,
) -> list[Aged]:
    """Of these memories those that hold now. `generations` are those of beliefs and accesses."""
    found: list[Aged] = []
    for start in range(0, len(memories), 500):
        asked = {"memories": list(memories[start : start + 500]), "now": now}
        found += (Aged(*row) for row in connection.execute(_aged(*generations), asked))
    return found


@tables.of_generations
def _aged(beliefs: int, access: int) -> Select[Any]:
    """Made once: each search through a server's door asks it."""
    of, shown = tables.belief_versions(beliefs), tables.access(access)
    c = of.c
    now: BindParameter[int] = bindparam("now")
    return (
        select(
            c.memory_id,
            c.type,
            c.said_at,
            func.coalesce(shown.c["count"], 0),
            func.coalesce(shown.c.last_at, 0),
        )
        .select_from(of.outerjoin(shown, c.memory_id == shown.c.memory_id))
        .where(
            c.memory_id.in_(bindparam("memories", expanding=True)),
            c.closed.is_(None),
            c.quarantined.is_(False),
            c.valid_from <= now,
            or_(c.valid_to.is_(None), c.valid_to > now),
            or_(c.expires_at.is_(None), c.expires_at > now),
        )
    )


# What is over


def over(
    connection: Connection, generation: int, lives: Mapping[str, Micros], now: Micros
) -> list[tuple[Version, Micros]]:
    """The memories whose time is over but whose end is not recorded, with when it was over.

    `lives` is how long memories of a type hold by nature: an event from its end, another from when
    it began or was last said. An `expires_at` of its own comes first.
    """
    table = tables.belief_versions(generation)
    c = table.c
    conditions = [c.expires_at <= now]
    conditions += [
        and_(c.expires_at.is_(None), c.type == type_, _since(c, type_) <= now - life)
        for type_, life in lives.items()
    ]
    query = select(table).where(
        c.closed.is_(None),
        or_(c.valid_to.is_(None), c.valid_to > c.expires_at),
        c.quarantined.is_(False),
        or_(*conditions),
    )
    found = []
    for row in connection.execute(query.order_by(c.row_id)):
        version = Version(*row)
        end = version.expires_at
        if end is None:
            end = _begins(version) + lives[version.type]
        found.append((version, max(version.valid_from, end)))
    return found


_EVENT = "event"


def _since(c: Any, type_: str) -> Any:
    """The beginning of a memory's default lifetime, in SQL; `_begins` says the same of a row."""
    if type_ == _EVENT:
        return func.coalesce(c.event_to, c.event_from, c.valid_from)
    return case((c.valid_from > c.said_at, c.valid_from), else_=c.said_at)


def _begins(version: Version) -> Micros:
    if version.type == _EVENT:
        stated = version.event_from if version.event_to is None else version.event_to
        return version.valid_from if stated is None else stated
    return max(version.valid_from, version.said_at)


def stale_in_quarantine(
    connection: Connection, generation: int, before: Micros, now: Micros
) -> list[Version]:
    """Quarantined memories that were not said again since `before`, or whose time is over."""
    table = tables.belief_versions(generation)
    c = table.c
    query = select(table).where(
        c.closed.is_(None),
        c.quarantined.is_(True),
        or_(c.opened_at <= before, c.expires_at <= now),
    )
    return [Version(*row) for row in connection.execute(query.order_by(c.row_id))]


# Jobs


def last_runs(connection: Connection, generation: int) -> list[JobRow]:
    """The last run of each job, by name."""
    table = tables.jobs(generation)
    last = select(func.max(table.c.position)).group_by(table.c.job)
    query = select(table).where(table.c.position.in_(last)).order_by(table.c.job)
    return [_job(row) for row in connection.execute(query)]


def run_of(connection: Connection, generation: int, job: str, due: Micros) -> JobRow | None:
    """The run of a job for a due time, if there was one."""
    table = tables.jobs(generation)
    query = select(table).where(table.c.job == job, table.c.due == due)
    row = connection.execute(query.order_by(table.c.position)).first()
    return None if row is None else _job(row)


def _job(row: Any) -> JobRow:
    fields = list(row)
    fields[4] = canonical.decode(fields[4])
    return JobRow(*fields)
