"""The questions that the views answer: which rows hold, as of when, valid when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    bindparam,
    false,
    func,
    not_,
    or_,
    select,
)

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.names import check_text, shown
from beliefledger.ledger.times import Micros
from beliefledger.projections import tables
from beliefledger.projections.beliefs import ROWS_PER_EVENT, Version
from beliefledger.projections.decisions import WAITING


class DecisionRow(NamedTuple):
    """One decision; the fields are the columns of `decisions`, in their order."""

    position: int
    decision_id: str
    subject_ref: str
    turn_id: str
    candidate_version: int
    outcome: str
    reason: str
    mentions: int
    belief: str
    memory_id: str | None
    policy: str
    recorded_at: Micros
    waits: bool
    settled: int | None


class ChurnRow(NamedTuple):
    """One change of a belief; the fields are the columns of `churn`, in their order."""

    position: int
    subject_ref: str
    belief: str
    happened: str
    said_at: Micros | None
    said_at_stated: bool
    old_memory: str | None
    new_memory: str | None
    decision: str | None
    actor: str
    recorded_at: Micros


class MemoryFilter(NamedTuple):
    """Which memories are asked for; scores are millionths."""

    type: str | None = None
    topic_tag: str | None = None
    min_confidence: int = 0
    min_importance: int = 0
    quarantined: bool = False
    """Whether those in quarantine are asked for too."""
    session_tag: str | None = None
    after: int = 0
    """Only rows of higher numbers."""
    limit: int | None = None
    """The first so many of them."""
    memories: tuple[str, ...] | None = None
    """Only those of these ids."""


ALL_MEMORIES = MemoryFilter()


class DecisionFilter(NamedTuple):
    """Which decisions are asked for."""

    subject_ref: str | None = None
    outcome: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    waits: bool | None = None
    as_of: int | None = None
    """As they were at a position: what was settled since waited still."""
    before: int | None = None
    """Only those of lower positions."""
    limit: int | None = None
    """The last so many of them."""


ALL_DECISIONS = DecisionFilter()


def held(
    connection: Connection,
    generation: int,
    subject_ref: str | None,
    *,
    valid_at: Micros,
    as_of: int | None = None,
    which: MemoryFilter = ALL_MEMORIES,
) -> list[Version]:
    """The memories of a subject (None: of all) that hold at `valid_at`, as recorded up to `as_of`
    (None: now).

    A row's end that was recorded after `as_of` is left out.
    """
    table = tables.belief_versions(generation)
    c = table.c
    query: Select[Any] = select(table).where(
        holds(table, valid_at),
        c.confidence >= which.min_confidence,
        c.importance >= which.min_importance,
    )
    if subject_ref is not None:
        query = query.where(c.subject_ref == subject_ref)
    if not which.quarantined:
        query = query.where(c.quarantined.is_(False))
    for column, wanted in (
        (c.type, which.type), (c.topic_tag, which.topic_tag), (c.session_tag, which.session_tag),
    ):  # fmt: skip
        if wanted is not None:
            query = query.where(column == wanted)
    if which.after:
        query = query.where(c.row_id > which.after, c.opened >= which.after // ROWS_PER_EVENT)
    batches: list[dict[str, Any]] = [{}]
    if which.memories is not None:
        query = query.where(c.memory_id.in_(bindparam("memories", expanding=True)))
        ids = list(dict.fromkeys(which.memories))
        batches = [{"memories": ids[at : at + 500]} for at in range(0, len(ids), 500)]
    rows = []
    # Rows that are open, and those closed since, are each in the order of an index: a page of them
    # is read without the others.
    for part in (open_then(table, as_of),) if which.limit is None else _parts(table, as_of):
        of_part = query.where(part).order_by(*_order(table, subject_ref, which.limit))
        for some in batches:
            found = connection.execute(of_part.limit(which.limit), some)
            rows += [Version(*row) for row in found]
    if which.limit is not None:
        rows = sorted(rows, key=lambda row: row.row_id)[: which.limit]
    return rows if as_of is None else as_known(rows, as_of)


def _parts(table: FromClause, as_of: int | None) -> Sequence[ColumnElement[bool]]:
    """`open_then` in parts that do not overlap."""
    c = table.c
    if as_of is None:
        return (c.closed.is_(None),)
    return and_(c.closed.is_(None), c.opened <= as_of), and_(c.closed > as_of, c.opened <= as_of)


def _order(
    table: FromClause, subject_ref: str | None, limit: int | None
) -> Sequence[ColumnElement[Any]]:
    """By number; of one subject, a page by the index that begins with the position."""
    of_one = subject_ref is not None and limit is not None
    return (table.c.opened, table.c.row_id) if of_one else (table.c.row_id,)


def as_known(rows: Sequence[Version], as_of: int) -> list[Version]:
    """Those of the rows that were recorded up to a position, without an end that came later."""
    known = [row for row in rows if row.opened <= as_of]
    for row in known:
        if row.closed is not None and row.closed > as_of:
            row.closed = row.closed_at = row.closed_by = None
    return known


def touched(
    connection: Connection, generation: int, subject_ref: str, after: int, upto: int
) -> list[Version]:
    """The rows of a subject that were opened or closed at positions in (after, upto]."""
    table = tables.belief_versions(generation)
    c = table.c
    within = or_(c.opened.between(after + 1, upto), c.closed.between(after + 1, upto))
    query = select(table).where(c.subject_ref == subject_ref, within).order_by(c.row_id)
    return [Version(*row) for row in connection.execute(query)]


def versions_of(connection: Connection, generation: int, belief: str) -> list[Version]:
    """Every row of one belief, in the order they were opened."""
    rows = connection.execute(_versions_of(generation, "belief"), {"given": belief})
    return [Version(*row) for row in rows]


def versions_of_memory(connection: Connection, generation: int, memory_id: str) -> list[Version]:
    """Every row of one memory, in the order they were opened."""
    rows = connection.execute(_versions_of(generation, "memory_id"), {"given": memory_id})
    return [Version(*row) for row in rows]


def versions_beside(connection: Connection, generation: int, memory_id: str) -> list[Version]:
    """Every row of the belief that a memory was in last, in the order they were opened; none for
    an id that is no memory's."""
    rows = connection.execute(_versions_beside(generation), {"given": memory_id})
    return [Version(*row) for row in rows]


@tables.of_generations
def _versions_of(generation: int, column: str) -> Select[Any]:
    """Made once: every history asks it."""
    table = tables.belief_versions(generation)
    return select(table).where(table.c[column] == bindparam("given")).order_by(table.c.row_id)


@tables.of_generations
def _versions_beside(generation: int) -> Select[Any]:
    """Made once, too."""
    table = tables.belief_versions(generation)
    own = table.alias("own")
    last = (
        select(own.c.belief)
        .where(own.c.memory_id == bindparam("given"))
        .order_by(own.c.row_id.desc())
        .limit(1)
    )
    return select(table).where(table.c.belief == last.scalar_subquery()).order_by(table.c.row_id)


def versions_of_memories(
    connection: Connection, generation: int, memories: Sequence[str]
) -> dict[str, list[Version]]:
    """Every row of these memories, in the order they were opened; a memory without any is left
    out."""
    found: dict[str, list[Version]] = {}
    wanted = list(dict.fromkeys(memories))
    for start in range(0, len(wanted), 500):
        some = {"memories": wanted[start : start + 500]}
        for row in connection.execute(_of_memories(generation), some):
            version = Version(*row)
            found.setdefault(version.memory_id, []).append(version)
    return found


@tables.of_generations
def _of_memories(generation: int) -> Select[Any]:
    """Made once: it is asked for every reading of the past."""
    table = tables.belief_versions(generation)
    c = table.c
    return (
        select(table)
        .where(c.memory_id.in_(bindparam("memories", expanding=True)))
        .order_by(c.row_id)
    )


def versions_with(connection: Connection, generation: int, ids: Sequence[int]) -> list[Version]:
    """The rows of these numbers."""
    found: list[Version] = []
    for start in range(0, len(ids), 500):
        some = {"ids": ids[start : start + 500]}
        found += [Version(*row) for row in connection.execute(_with(generation), some)]
    return found


@tables.of_generations
def _with(generation: int) -> Select[Any]:
    """Made once: it is asked for every search."""
    table = tables.belief_versions(generation)
    return select(table).where(table.c.row_id.in_(bindparam("ids", expanding=True)))


def standing(connection: Connection, generation: int, subject_ref: str) -> list[Version]:
    """Every row of a subject that is not closed, quarantined and past ones too."""
    rows = connection.execute(_standing(generation), {"subject": subject_ref})
    return [Version(*row) for row in rows]


@tables.of_generations
def _standing(generation: int) -> Select[Any]:
    """Made once: it is asked for every turn that is decided."""
    table = tables.belief_versions(generation)
    c = table.c
    return (
        select(table)
        .where(c.subject_ref == bindparam("subject"), c.closed.is_(None))
        .order_by(c.row_id)
    )


def evidence_of(
    connection: Connection, generation: int, memories: Sequence[str], as_of: int | None = None
) -> dict[str, list[int]]:
    """The positions of the events that gave each memory its words."""
    found: dict[str, list[int]] = {memory: [] for memory in memories}
    query = _evidence(generation, upto=as_of is not None)
    given = {} if as_of is None else {"upto": as_of}
    for start in range(0, len(memories), 500):
        some = given | {"memories": memories[start : start + 500]}
        for memory_id, position in connection.execute(query, some):
            found[memory_id].append(position)
    return found


@tables.of_generations
def _evidence(generation: int, *, upto: bool) -> Select[Any]:
    """Made once: it is asked for every search."""
    c = tables.evidence(generation).c
    query = (
        select(c.memory_id, c.position)
        .where(c.memory_id.in_(bindparam("memories", expanding=True)))
        .order_by(c.position)
    )
    return query.where(c.position <= bindparam("upto")) if upto else query


def contradictions(
    connection: Connection, generation: int, rows: Sequence[Version], as_of: int | None = None
) -> dict[int, list[str]]:
    """By row, the memory that it disagrees with, if any; both as recorded up to `as_of` (None:
    now)."""
    if not rows:
        return {}
    subjects = {row.subject_ref for row in rows}
    query = _contradicting(generation, of_one=len(subjects) == 1, upto=as_of is not None)
    given = {"upto": as_of, "subject": min(subjects)}
    against: dict[str, list[str]] = {}
    for weak, stands in connection.execute(query, given):
        against.setdefault(weak, []).append(stands)
        against.setdefault(stands, []).append(weak)
    return {row.row_id: against[row.memory_id] for row in rows if row.memory_id in against}


@tables.of_generations
def _contradicting(generation: int, *, of_one: bool, upto: bool) -> Select[Any]:
    """Made once: every list of beliefs asks it, and to make it costs more than to run it."""
    table = tables.belief_versions(generation)
    one, other = table.alias("one"), table.alias("other")
    as_of: BindParameter[int] | None = bindparam("upto") if upto else None
    query: Select[Any] = (
        select(one.c.memory_id, other.c.memory_id)
        .select_from(one.join(other, one.c.contradicts == other.c.memory_id))
        .where(one.c.contradicts.is_not(None), open_then(one, as_of), open_then(other, as_of))
        .order_by(one.c.row_id)
    )
    return query.where(one.c.subject_ref == bindparam("subject")) if of_one else query


def contradicted_within(rows: Sequence[Version]) -> dict[int, list[str]]:
    """As `contradictions`, among the versions of one belief that were recorded at the same time."""
    against: dict[int, list[str]] = {}
    for weak in rows:
        for stands in rows if weak.contradicts is not None else ():
            if stands.memory_id == weak.contradicts and (
                (stands.closed is None or stands.closed > weak.opened)
                and (weak.closed is None or weak.closed > stands.opened)
            ):
                against.setdefault(weak.row_id, []).append(stands.memory_id)
                against.setdefault(stands.row_id, []).append(weak.memory_id)
    return {row_id: list(dict.fromkeys(found)) for row_id, found in against.items()}


def holds(table: FromClause, valid_at: Micros) -> ColumnElement[bool]:
    """Rows of `belief_versions` that are true at a time."""
    c = table.c
    return and_(
        c.valid_from <= valid_at,
        or_(c.valid_to.is_(None), c.valid_to > valid_at),
        or_(c.expires_at.is_(None), c.expires_at > valid_at),
    )


def open_then(table: FromClause, as_of: int | BindParameter[int] | None) -> ColumnElement[bool]:
    """Rows that are recorded up to a position, and not closed by then."""
    c = table.c
    if as_of is None:
        return c.closed.is_(None)
    return and_(c.opened <= as_of, or_(c.closed.is_(None), c.closed > as_of))


def decided(
    connection: Connection, generation: int, which: DecisionFilter = ALL_DECISIONS
) -> list[DecisionRow]:
    """Decisions in order of position; with a limit, the last so many."""
    table = tables.decisions(generation)
    c = table.c
    query: Select[Any] = select(table)
    for column, wanted in (
        (c.subject_ref, which.subject_ref),
        (c.outcome, which.outcome),
        (c.reason, which.reason),
        (c.turn_id, which.turn_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    waited: ColumnElement[bool] = c.waits.is_(True)
    if which.as_of is not None:
        query = query.where(c.position <= which.as_of)
        waited = and_(c.outcome.in_(sorted(WAITING)), or_(waited, c.settled > which.as_of))
    if which.waits is not None:
        query = query.where(waited if which.waits else not_(func.coalesce(waited, false())))
    if which.before is not None:
        query = query.where(c.position < which.before)
    if which.limit is not None:
        query = query.order_by(c.position.desc()).limit(which.limit)
        rows = [DecisionRow(*row) for row in connection.execute(query)][::-1]
    else:
        rows = [DecisionRow(*row) for row in connection.execute(query.order_by(c.position))]
    return rows if which.as_of is None else [_then(row, which.as_of) for row in rows]


def _then(row: DecisionRow, as_of: int) -> DecisionRow:
    """A decision as it was: what was settled since waited still."""
    later = row.settled is not None and row.settled > as_of
    return row._replace(waits=row.outcome in WAITING and (row.waits or later))


def decisions_with(
    connection: Connection, generation: int, ids: Sequence[str]
) -> list[DecisionRow]:
    """The decisions of these ids, in order of position."""
    rows: list[DecisionRow] = []
    for start in range(0, len(ids), 500):
        some = {"ids": ids[start : start + 500]}
        rows += [DecisionRow(*row) for row in connection.execute(_decided_with(generation), some)]
    return sorted(rows, key=lambda row: row.position)


@tables.of_generations
def _decided_with(generation: int) -> Select[Any]:
    """Made once: it is asked for every search."""
    table = tables.decisions(generation)
    return select(table).where(table.c.decision_id.in_(bindparam("ids", expanding=True)))


def counts(connection: Connection, generation: int, column: str) -> dict[str, int]:
    """How many decisions there are by outcome, or by reason."""
    c = tables.decisions(generation).c
    counted = func.count().desc()
    query = select(c[column], func.count()).group_by(c[column]).order_by(counted, c[column])
    return {row[0]: row[1] for row in connection.execute(query)}


def reasons(connection: Connection, generation: int, upto: int) -> dict[tuple[str, str], int]:
    """How many decisions there are up to a position, by outcome and reason."""
    c = tables.decisions(generation).c
    query = select(c.outcome, c.reason, func.count()).where(c.position <= upto)
    rows = connection.execute(query.group_by(c.outcome, c.reason))
    return {(row[0], row[1]): row[2] for row in rows}


def changes(
    connection: Connection,
    generation: int,
    *,
    subject_ref: str | None = None,
    belief: str | None = None,
) -> list[ChurnRow]:
    """What changed, in order of position."""
    table = tables.churn(generation)
    query: Select[Any] = select(table)
    if subject_ref is not None:
        query = query.where(table.c.subject_ref == subject_ref)
    if belief is not None:
        query = query.where(table.c.belief == belief)
    return [ChurnRow(*row) for row in connection.execute(query.order_by(table.c.position))]


def check_id(given: object) -> None:
    """Raises `InvalidQuery` for what cannot be an id or its first characters."""
    if not isinstance(given, str) or not given.strip():
        raise InvalidQuery(f"{shown(given)} is no id. Give the id, or its first characters.")
    check_text("The id", given)


def starting_with(
    connection: Connection, table: Any, column: str, prefix: str, limit: int = 2
) -> list[str]:
    """Ids that begin with a prefix. Raises `InvalidQuery` for what is no id, or empty: with that
    all begin."""
    check_id(prefix)
    c = table.c[column]
    query = select(c).where(and_(c >= prefix, c < prefix + "~")).distinct().limit(limit)
    return list(connection.scalars(query))
