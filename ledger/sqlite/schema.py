"""The tables of history and bodies, and the triggers that keep them append-only."""

from __future__ import annotations

import sqlite3

from beliefledger.ledger.sqlite.upgrades import Upgrade, columns
from beliefledger.ledger.store import RARE_LISTED


def _gather(db: sqlite3.Connection) -> None:
    """Version 1 was several: columns were added to it without another number."""
    for table, column in (("head", "erasures"), ("consumers", "since")):
        there = columns(db, table)
        if there and column not in there:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
    db.execute("DROP INDEX IF EXISTS history_rare")  # of fewer types than `history_rare_2`


UPGRADES = (
    Upgrade(
        2,
        "marks of unfinished copies and of the clock; versions of events that say less of words",
        _gather,
    ),
)
"""How an older `log.db` becomes one of today. Whatever an older program would misread needs a step
here, and one among the migrations of Postgres: another table, column, index or trigger, and every
new event or version of one, for which the step has no statements."""
SCHEMA_VERSION = UPGRADES[-1].version

SCHEMA = [
    """CREATE TABLE IF NOT EXISTS head (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        position INTEGER NOT NULL,
        recorded_at INTEGER NOT NULL,
        erasures INTEGER NOT NULL)""",
    "INSERT INTO head SELECT 1, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM head)",
    """CREATE TABLE IF NOT EXISTS history (
        position INTEGER PRIMARY KEY,
        stream TEXT NOT NULL,
        version INTEGER NOT NULL,
        type TEXT NOT NULL,
        event_id TEXT NOT NULL,
        tenant TEXT NOT NULL,
        subject_ref TEXT,
        recorded_at INTEGER NOT NULL,
        envelope BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS history_stream ON history (stream, version)",
    "CREATE UNIQUE INDEX IF NOT EXISTS history_event ON history (event_id)",
    "CREATE INDEX IF NOT EXISTS history_rare_2 ON history (type, subject_ref)"
    f" WHERE type IN {RARE_LISTED}",
    "CREATE INDEX IF NOT EXISTS history_subject ON history (subject_ref, position)",
    "CREATE TABLE IF NOT EXISTS bodies (position INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    """CREATE TABLE IF NOT EXISTS consumers (
        name TEXT PRIMARY KEY,
        position INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        holder TEXT NOT NULL,
        held_until INTEGER NOT NULL,
        since INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE IF NOT EXISTS unfinished_copy (
        id INTEGER PRIMARY KEY CHECK (id = 1), note TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS clock_mark (
        id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, ahead INTEGER NOT NULL)""",
    """CREATE TRIGGER IF NOT EXISTS history_refuses_update BEFORE UPDATE ON history
        BEGIN SELECT RAISE(ABORT, 'history is append-only'); END""",
    """CREATE TRIGGER IF NOT EXISTS history_refuses_delete BEFORE DELETE ON history
        BEGIN SELECT RAISE(ABORT, 'history is append-only'); END""",
    # Also stops INSERT OR REPLACE, which fires neither of the two above.
    """CREATE TRIGGER IF NOT EXISTS history_only_grows BEFORE INSERT ON history BEGIN
        SELECT RAISE(ABORT, 'position is not the next one')
            WHERE NEW.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM history);
        -- A stream begins at 1 (or at 0, as eventsourcing's own aggregates may).
        SELECT RAISE(ABORT, 'version is not the next one of its stream')
            WHERE NEW.version IS NOT (
                SELECT coalesce(max(version) + 1, NEW.version = 1) FROM history
                WHERE stream = NEW.stream);
        SELECT RAISE(ABORT, 'event id exists')
            WHERE EXISTS (SELECT 1 FROM history WHERE event_id = NEW.event_id);
        END""",
    """CREATE TRIGGER IF NOT EXISTS head_only_grows BEFORE UPDATE ON head
        WHEN NEW.position < OLD.position OR NEW.recorded_at < OLD.recorded_at
            OR NEW.erasures < OLD.erasures
        BEGIN SELECT RAISE(ABORT, 'the head does not go back'); END""",
    """CREATE TRIGGER IF NOT EXISTS head_stays BEFORE DELETE ON head
        BEGIN SELECT RAISE(ABORT, 'the head does not go back'); END""",
    # INSERT OR REPLACE fires neither of the two above.
    """CREATE TRIGGER IF NOT EXISTS head_is_one BEFORE INSERT ON head
        WHEN EXISTS (SELECT 1 FROM head)
        BEGIN SELECT RAISE(ABORT, 'the head does not go back'); END""",
    """CREATE TRIGGER IF NOT EXISTS bodies_refuse_update BEFORE UPDATE ON bodies
        BEGIN SELECT RAISE(ABORT, 'a body is written once'); END""",
    """CREATE TRIGGER IF NOT EXISTS bodies_refuse_replace BEFORE INSERT ON bodies
        WHEN EXISTS (SELECT 1 FROM bodies WHERE position = NEW.position)
        BEGIN SELECT RAISE(ABORT, 'a body is written once'); END""",
]

DAMAGE = [
    (
        "SELECT min(position) FROM history WHERE"
        " json_array(event_id, recorded_at, stream, subject_ref, tenant, type, version) IS NOT"
        " json_extract(CAST(envelope AS TEXT), '$.event_id', '$.recorded_at', '$.stream',"
        " '$.subject_ref', '$.tenant', '$.type', '$.version')",
        "it is filed under something else than its envelope says",
    ),
    (
        "SELECT min(position) FROM bodies WHERE position NOT IN (SELECT position FROM history)",
        "there is a body and no event",
    ),
]
