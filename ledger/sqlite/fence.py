"""The fence around a ledger in a file that is moved: triggers on the head and on the cursors."""

from __future__ import annotations

import sqlite3

from beliefledger.ledger.fence import Fence

_WRITES = (("head", "UPDATE"), *(("consumers", each) for each in ("INSERT", "UPDATE", "DELETE")))
"""What every writer of the log and every consumer writes, and how."""


def put_up(cursor: sqlite3.Cursor, fence: Fence) -> None:
    """Within a transaction: whoever begins one after it is refused."""
    take_down(cursor)
    said = fence.refusal.replace("'", "''")
    for table, write in _WRITES:
        cursor.execute(
            f"CREATE TRIGGER {_name(table, write)} BEFORE {write} ON {table}"
            f" BEGIN SELECT RAISE(ABORT, '{said}'); END"
        )
    cursor.execute("INSERT INTO unfinished_copy VALUES (1, ?)", (fence.note,))


def take_down(cursor: sqlite3.Cursor) -> None:
    """Let everybody write again."""
    for table, write in _WRITES:
        cursor.execute(f"DROP TRIGGER IF EXISTS {_name(table, write)}")
    cursor.execute("DELETE FROM unfinished_copy")


def _name(table: str, write: str) -> str:
    return f"moved_{table}_refuses_{write.lower()}"
