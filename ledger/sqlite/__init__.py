"""The ledger in SQLite files: the embedded store."""

from ledger.sqlite.store import SQLiteEventStore

__all__ = ["SQLiteEventStore"]
