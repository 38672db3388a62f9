"""The stored freshness scores of all memories, computed at once and written in bulk.

They are beside the views and not folded from events, since they change with time. What a memory's
score is now, a question computes; these are for ranking many.

A million of them go through the database's own driver: rows as objects would cost more than all
the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, case, cast, delete, func, literal, select, types

from beliefledger.ledger.times import DAY, Micros
from beliefledger.projections import tables
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decay import OTHER_HALF_LIFE, Profile
from beliefledger.projections.projector import Projector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_READ = (("id", "i8"), ("life", "f8"), ("last", "i8"), ("count", "i8"))
_SHOWN = (("id", "i8"), ("last", "i8"), ("count", "i8"))
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"


def refresh(projector: Projector, access: str, profile: Profile, now: Micros) -> int:
    """Compute the score of every memory that holds, and keep it; returns how many there are.

    `access` is the name of the view of accesses.
    """
    import numpy as np  # noqa: PLC0415  (a tenth of a second, and other questions need none of it)

    with projector.reading() as connection:
        states = projector.states(connection)
        beliefs = states[BeliefsView.name]
        read = _read(connection, beliefs.generation, states[access].generation, profile)
    days = np.maximum(0, now - read["last"]) / DAY
    scores = profile.scores(read["life"], days, read["count"])
    with projector.home.filling([tables.decay_scores]) as connection:
        _write(connection, read["id"], np.rint(scores * 1_000_000).astype(np.int64))
        after = projector.states(connection)[BeliefsView.name]
        if after != beliefs:  # somebody may have been erased meanwhile
            forget(connection, after.generation)
    return len(read)


def forget(connection: Connection, beliefs: int) -> int:
    """Delete scores of rows that no longer exist; returns how many."""
    there = select(tables.belief_versions(beliefs).c.row_id)
    gone = delete(tables.decay_scores).where(tables.decay_scores.c.row_id.not_in(there))
    return connection.execute(gone).rowcount


def forget_subject(connection: Connection, beliefs: int, subject_ref: str) -> None:
    """Delete the scores of one subject's memories, while their rows are still there."""
    c = tables.belief_versions(beliefs).c
    theirs = select(c.row_id).where(c.subject_ref == subject_ref)
    connection.execute(delete(tables.decay_scores).where(tables.decay_scores.c.row_id.in_(theirs)))


def kept(connection: Connection, rows: Sequence[Version]) -> dict[int, int]:
    """The scores, in millionths, that were last computed for these rows; some have none."""
    c = tables.decay_scores.c
    found: dict[int, int] = {}
    for start in range(0, len(rows), 500):
        some = [row.row_id for row in rows[start : start + 500]]
        query = select(c.row_id, c.score).where(c.row_id.in_(some))
        found.update((row[0], row[1]) for row in connection.execute(query))
    return found


def _read(connection: Connection, beliefs: int, access: int, profile: Profile) -> NDArray[Any]:
    """Of each memory that holds: its row, half-life, last access, and how often it was shown."""
    table, shown = tables.belief_versions(beliefs), tables.access(access)
    c, a = table.c, shown.c
    life = _life(c.type, profile.half_lives)
    holds = (c.closed.is_(None), c.valid_to.is_(None), c.quarantined.is_(False))
    if connection.dialect.name == "postgresql":
        last = func.greatest(c.said_at, func.coalesce(a.last_at, 0))
        count = cast(func.coalesce(a["count"], 0), types.BigInteger)
        joined = table.outerjoin(shown, c.memory_id == a.memory_id)
        query = select(c.row_id, life, last, count).select_from(joined).where(*holds)
        return _copied(connection, _sql(connection, query))
    query = select(c.row_id, life, c.said_at, literal(0)).where(*holds)
    return _joined(connection, query, table.name, shown.name)


def _life(type_: Any, half_lives: Mapping[str, float]) -> Any:
    other = literal(OTHER_HALF_LIFE)
    lives = {name: literal(float(days)) for name, days in half_lives.items()}
    return cast(case(lives, value=type_, else_=other) if lives else other, types.Double)


def _sql(connection: Connection, query: Select[Any]) -> str:
    """The query with its values inlined: type names (which the registry has checked) and
    numbers."""
    compiled = query.compile(connection, compile_kwargs={"literal_binds": True})
    return str(compiled)


# SQLite


def _joined(connection: Connection, query: Select[Any], beliefs: str, access: str) -> NDArray[Any]:
    """The rows of a query with how often each was shown, added here: only few were shown, so
    joining all takes longer than the rest."""
    import numpy as np  # noqa: PLC0415

    raw: Any = connection.connection.driver_connection
    read = np.fromiter(raw.execute(_sql(connection, query)), np.dtype(list(_READ)))
    read = read[np.argsort(read["id"], kind="stable")]
    shown = (
        f"SELECT b.row_id, a.last_at, a.count FROM {access} AS a"
        f" CROSS JOIN {beliefs} AS b ON b.memory_id = a.memory_id"  # looked up in this order
        " WHERE b.closed IS NULL AND b.valid_to IS NULL AND b.quarantined = 0"
    )
    some = np.fromiter(raw.execute(shown), np.dtype(list(_SHOWN)))
    at = np.searchsorted(read["id"], some["id"])
    read["last"][at] = np.maximum(read["last"][at], some["last"])
    read["count"][at] = some["count"]
    return read


# Postgres


def _copied(connection: Connection, query: str) -> NDArray[Any]:
    """The rows of a query, as COPY sends them: each with the number of its fields, and each field
    with its length, which are all the same."""
    import numpy as np  # noqa: PLC0415

    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as copy:
        data = b"".join(copy)
    row = [("fields", ">i2")]
    for name, kind in _READ:
        row += [(f"{name} length", ">i4"), (name, f">{kind}")]
    sent = np.frombuffer(data[len(_HEADER) : -len(_END)], np.dtype(row))
    read = np.empty(len(sent), np.dtype(list(_READ)))
    for name, _ in _READ:
        read[name] = sent[name]
    return read


def _write(connection: Connection, ids: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
    """Replace all stored scores by these."""
    import numpy as np  # noqa: PLC0415

    name = tables.decay_scores.name
    raw: Any = connection.connection.driver_connection
    if connection.dialect.name != "postgresql":
        connection.exec_driver_sql(f"DELETE FROM {name}")
        raw.executemany(
            f"INSERT INTO {name} (row_id, score) VALUES (?, ?)",
            zip(ids.tolist(), scores.tolist(), strict=True),
        )
        return
    connection.exec_driver_sql(f"TRUNCATE {name}")  # a DELETE would leave the rows behind
    kind = [("fields", ">i2"), ("8", ">i4"), ("id", ">i8"), ("4", ">i4"), ("score", ">i4")]
    rows = np.empty(len(ids), np.dtype(kind))
    rows["fields"], rows["8"], rows["4"] = 2, 8, 4
    rows["id"], rows["score"] = ids, scores
    statement = f"COPY {name} (row_id, score) FROM STDIN (FORMAT BINARY)"
    with raw.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_HEADER + rows.tobytes() + _END)
