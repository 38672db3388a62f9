"""Questions about ageing: accesses, the scores of all memories, what is over, runs of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, and_, case, delete, func, literal, or_, select

from ledger import canonical
from ledger.times import DAY, Micros
from projections import tables
from projections.beliefs import Version
from projections.decay import OTHER_HALF_LIFE, Profile
from projections.rows import insert_rows


@dataclass(frozen=True, slots=True)
class Access:
    """How often a memory was shown, and when last."""

    count: int
    last_at: Micros


NEVER = Access(0, 0)
_PAGE = 20_000


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
    """Of those of these memories that were ever shown."""
    c = tables.access(generation).c
    found: dict[str, Access] = {}
    for start in range(0, len(memories), 500):
        query = select(c.memory_id, c["count"], c.last_at).where(
            c.memory_id.in_(memories[start : start + 500])
        )
        found.update((row[0], Access(row[1], row[2])) for row in connection.execute(query))
    return found


def refreshed(connection: Connection, rows: Sequence[Version]) -> dict[int, int]:
    """The scores, in millionths, that were last computed for these rows; some have none."""
    c = tables.decay_scores.c
    found: dict[int, int] = {}
    for start in range(0, len(rows), 500):
        some = [row.row_id for row in rows[start : start + 500]]
        query = select(c.row_id, c.score).where(c.row_id.in_(some))
        found.update((row[0], row[1]) for row in connection.execute(query))
    return found


# Scores of all memories


def refresh(
    connection: Connection, beliefs: int, access: int, profile: Profile, now: Micros
) -> int:
    """Compute the score of every memory that holds, in one pass, and keep it; returns how many.

    `beliefs` and `access` are the views' generations. Be the only writer.
    """
    import numpy as np  # noqa: PLC0415  (a tenth of a second, and questions need none of it)

    table = tables.belief_versions(beliefs)
    ids, lives, last, counts = _columns(connection, table, tables.access(access), profile)
    days = np.maximum(0, now - last) / DAY
    scores = np.rint(profile.scores(lives, days, counts) * 1_000_000).astype(np.int64)
    _empty(connection)
    refreshed_at = np.full(len(ids), now)
    rows = list(zip(ids.tolist(), scores.tolist(), refreshed_at.tolist(), strict=True))
    insert_rows(connection, tables.decay_scores, rows)
    return len(rows)


def _columns(connection: Connection, table: Table, access: Table, profile: Profile) -> Any:
    """Arrays: row ids, half-lives, last accesses, how often shown; of each memory that holds."""
    import numpy as np  # noqa: PLC0415

    a, c = access.c, table.c
    # Joined here and not by the database, which would look up each memory by itself.
    shown = {
        row[0]: (row[1], row[2])
        for row in connection.execute(select(a.memory_id, a["count"], a.last_at))
    }
    lives = {type_: literal(float(days)) for type_, days in profile.half_lives.items()}
    life: Any = case(lives, value=c.type, else_=OTHER_HALF_LIFE) if lives else OTHER_HALF_LIFE
    query = select(c.row_id, life, c.said_at, c.memory_id).where(
        c.closed.is_(None), c.valid_to.is_(None), c.quarantined.is_(False)
    )
    never = (0, 0)
    found = connection.execute(query, execution_options={"yield_per": _PAGE})
    kind = np.dtype(
        [("id", "i8"), ("life", "f8"), ("said", "i8"), ("count", "i8"), ("shown", "i8")]
    )

    def rows() -> Iterator[tuple[Any, ...]]:
        for row_id, days, said_at, memory_id in found:
            yield (row_id, days, said_at, *shown.get(memory_id, never))

    read = np.fromiter(rows(), kind)
    return read["id"], read["life"], np.maximum(read["said"], read["shown"]), read["count"]


def _empty(connection: Connection) -> None:
    # A DELETE of everything costs nothing on SQLite; on Postgres it would leave the rows behind.
    how = "TRUNCATE" if connection.dialect.name == "postgresql" else "DELETE FROM"
    connection.exec_driver_sql(f"{how} {tables.decay_scores.name}")


def forget_scores(connection: Connection, beliefs: int) -> int:
    """Delete the scores of rows that are there no more: of whoever was erased. How many."""
    there = select(tables.belief_versions(beliefs).c.row_id)
    gone = delete(tables.decay_scores).where(tables.decay_scores.c.row_id.not_in(there))
    return connection.execute(gone).rowcount


# What is over


def over(
    connection: Connection, generation: int, lives: Mapping[str, Micros], now: Micros
) -> list[tuple[Version, Micros]]:
    """The memories whose time has passed without their end being recorded, and when it was.

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
        c.closed.is_(None), c.valid_to.is_(None), c.quarantined.is_(False), or_(*conditions)
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
    """From when a memory's natural time runs, in SQL; `_begins` says the same of a row."""
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
    """What was kept apart, and has not been said again since `before` or is over anyway."""
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
    """The run of a job that was due then, if there was one."""
    table = tables.jobs(generation)
    query = select(table).where(table.c.job == job, table.c.due == due)
    row = connection.execute(query.order_by(table.c.position)).first()
    return None if row is None else _job(row)


def _job(row: Any) -> JobRow:
    fields = list(row)
    fields[4] = canonical.decode(fields[4])
    return JobRow(*fields)
